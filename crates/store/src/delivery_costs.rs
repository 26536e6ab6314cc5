//! Proves that leasing a delivery and saving its attempt look it up by its id, whatever the statistics say.

use std::time::Duration;

use domain::{
    delivery::{Attempt, AttemptOutcome, Delivery, DeliveryState},
    id::mint,
    time::Timestamp,
};
use pgcluster::{Cluster, ScratchDatabase};

use crate::{
    Store,
    change::WebhookWrite,
    plan::{self, Dialect},
};

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
/// All delivered, as on a server that has nothing to send at the moment.
const ROWS: &str = "SET session_replication_role = replica; \
    INSERT INTO deliveries (event_id, project_id, state, due_at, attempts, resent_after, urgent) \
    SELECT 'evt_' || CAST(100000 + i AS TEXT), 'prj_1', 'delivered', NULL, 1, 0, 0 FROM generate_series(1, 8000) i; ANALYZE;";

/// The updates that lease a delivery and save its attempt.
fn updates() -> Vec<&'static str> {
    let event_id = mint(NOW, [1; 10]);
    let delivery = Delivery {
        event_id,
        project_id: mint(NOW, [2; 10]),
        state: DeliveryState::Delivered,
        attempts: 1,
        resent_after: 0,
        urgent: false,
    };
    let outcome = AttemptOutcome::of_answer(Duration::ZERO, 200, String::new());
    let lease = WebhookWrite::DeliveryMoved { event_id, from: NOW, to: NOW, leased_by: None };
    let attempt = Attempt { at: NOW, outcome };
    let attempted = WebhookWrite::Attempted { leased_until: NOW, leased_by: None, delivery, attempt };
    let statements = [lease, attempted].map(|write| plan::of(write.into(), Dialect::Postgres).statements);
    statements.iter().flatten().map(|statement| statement.sql).filter(|sql| sql.starts_with("UPDATE ")).collect()
}

/// Regression: after PostgreSQL had analysed the table while nothing was pending, each lease and each attempt read all
/// pending deliveries, so that thousands which became due at once were sent at a crawl.
#[tokio::test]
async fn a_delivery_is_leased_and_saved_by_its_id_though_nothing_was_pending_when_postgres_looked() {
    let scratch = ScratchDatabase::empty();
    Store::migrate_postgres(&scratch.url().parse().unwrap()).await.unwrap();
    let run = |sql: &str| Cluster::shared().run(scratch.url(), sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    run(ROWS);
    let updates = updates();
    assert_eq!(updates.len(), 2);
    for sql in updates {
        // As the sessions that run these statements are set.
        let settings =
            "SET enable_seqscan = off; SET enable_bitmapscan = off; SET plan_cache_mode = force_generic_plan;";
        let parameters = (1..=7).filter(|number| sql.contains(&format!("${number}"))).count();
        let values = vec!["NULL"; parameters].join(", ");
        let plan = run(&format!("{settings} PREPARE s AS {sql}; EXPLAIN EXECUTE s({values});"));
        assert!(plan.contains("deliveries_pkey") && !plan.contains("deliveries_due"), "{plan}");
    }
}
