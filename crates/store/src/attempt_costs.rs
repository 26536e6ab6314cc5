//! Proves that opening a link's page, starting a payment and closing a link read as much of a link with ten thousand
//! past attempts as of a fresh one.

use std::time::Duration;

use domain::{
    id::{LinkId, mint},
    time::Timestamp,
};
use pgcluster::{Cluster, ScratchDatabase};
use rusqlite::{Connection, StatementStatus};

use crate::{
    AttemptBounds, Change, LinkWrite, NetworkBound, PaymentWrite, Store,
    plan::{self, Dialect},
    read::{
        attempts::{LATEST, ROOM},
        links::SHOWN,
    },
    short_ids::{self, Projects, ShortIds},
    value::{Value, bind},
};

const PAST_ATTEMPTS: i64 = 10_000;
/// The largest difference in steps of SQLite's virtual machine. One row of a scan takes several steps.
const MORE_STEPS: i32 = 100;
const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const VISITOR: &str = "one";
const NETWORK: &str = "192.0.2.1";
/// As the sessions that run these statements are set.
const SETTINGS: &str = "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan;";

fn fresh_link() -> LinkId {
    mint(NOW, [1; 10])
}

fn old_link() -> LinkId {
    mint(NOW, [2; 10])
}

/// Two links. One of them has many attempts of the same visitor from the same network, all of which have ended.
fn rows() -> String {
    let (old, now) = (old_link(), NOW.as_millis());
    let link = |id| {
        format!(
            "INSERT INTO links (id, project_id, reference, title, description, search_text, amount, methods, \
             allow_multiple_payments, customer_fields, created_at, version) \
             VALUES ('{id}', 'prj', 'PL-1', 'Kopi', '', 'kopi', 10000, 'qris', 0, '', {now}, {PAST_ATTEMPTS}); "
        )
    };
    let numbers = format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {PAST_ATTEMPTS})");
    // A minute apart, the last of them an hour ago.
    let at = format!("{now} - 60000 * CAST({PAST_ATTEMPTS} + 60 - i AS BIGINT)");
    format!(
        "{}{}\
         INSERT INTO payments (id, project_id, link_id, reference, search_text, amount, fee, method, code, state, \
         created_at, expires_at, version) {numbers} SELECT 'pay_' || i, 'prj', '{old}', 'PL-1', 'pl-1', 10000, 70, \
         'qris', 'code ' || i, 'expired', {at}, {at} + 900000, 2 FROM n; \
         INSERT INTO link_attempts (link_id, link_version, payment_id, project_id, visitor, network, at) {numbers} \
         SELECT '{old}', i, 'pay_' || i, 'prj', '{VISITOR}', '{NETWORK}', {at} FROM n;",
        link(fresh_link()),
        link(old)
    )
}

/// Everything that is read and decided by for one attempt and one cancellation.
fn statements(link: LinkId, dialect: Dialect) -> Vec<(String, Vec<Value>)> {
    let network = NetworkBound { network: NETWORK.to_owned(), most: 20, window: Duration::from_mins(10) };
    let (from, until) = (NOW.minus(network.window), NOW.plus(network.window));
    let room = [20.into(), Value::stored(link), NOW.into(), 20.into(), NETWORK.into(), from.into(), until.into()];
    let mut statements = vec![
        (SHOWN.clone(), vec![Value::stored(link)]),
        (ROOM.to_owned(), room.into()),
        (LATEST.to_owned(), vec![Value::stored(link), "pay_1".into(), VISITOR.into()]),
    ];
    let change = Change::default()
        .with(PaymentWrite::VisitorReplaced { link_id: link, visitor: VISITOR.to_owned(), at: NOW })
        .with(LinkWrite::Attempted {
            id: link,
            at: NOW,
            bounds: AttemptBounds { pending_most: 20, network: Some(network) },
        })
        .with(PaymentWrite::PendingCancelled { link_id: link, but: None, at: NOW });
    let planned = plan::of(change, dialect).statements.into_iter();
    statements.extend(planned.map(|statement| (statement.sql.to_owned(), statement.parameters)));
    statements
}

#[tokio::test]
async fn past_attempts_cost_no_steps_on_sqlite() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lunas.db");
    Store::migrate_sqlite(&path).await.unwrap();
    let connection = Connection::open(&path).unwrap();
    short_ids::add_functions(&connection).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    connection.execute_batch(&rows()).unwrap();
    let steps = |sql: &str, parameters: &[Value]| {
        let mut statement = connection.prepare(sql).unwrap();
        bind(&mut statement, parameters, ShortIds::new(&connection, &Projects::default())).unwrap();
        let mut rows = statement.raw_query();
        while rows.next().unwrap().is_some() {}
        drop(rows);
        (statement.get_status(StatementStatus::VmStep), statement.get_status(StatementStatus::FullscanStep))
    };
    let pairs = statements(fresh_link(), Dialect::Sqlite).into_iter().zip(statements(old_link(), Dialect::Sqlite));
    for ((sql, fresh), (_, old)) in pairs {
        let ((fresh, _), (old, scanned)) = (steps(&sql, &fresh), steps(&sql, &old));
        assert!(old <= fresh + MORE_STEPS, "{sql}\ntakes {fresh} steps on a fresh link and {old} on an old one");
        assert!(i64::from(scanned) < PAST_ATTEMPTS / 10, "{sql}\nscans {scanned} rows");
    }
}

#[tokio::test]
async fn past_attempts_are_found_by_index_on_postgres() {
    let scratch = ScratchDatabase::empty();
    Store::migrate_postgres(&scratch.url().parse().unwrap()).await.unwrap();
    let run = |sql: &str| Cluster::shared().run(scratch.url(), sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    run(&format!("SET session_replication_role = replica; {} ANALYZE;", rows()));
    for (sql, parameters) in statements(old_link(), Dialect::Postgres) {
        let parameters: Vec<String> = parameters.iter().map(Value::literal).collect();
        let plan = run(&format!(
            "{SETTINGS} PREPARE s AS {sql}; BEGIN; \
             EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE s({}); ROLLBACK;",
            parameters.join(", ")
        ));
        assert!(!plan.contains("Seq Scan"), "{sql}\n{plan}");
        // The one row of a primary key may turn out to have another state.
        let removed = plan.lines().filter_map(|line| line.split_once("Rows Removed by Filter: ")?.1.parse().ok());
        let removed: i64 = removed.max().unwrap_or_default();
        assert!(removed <= 1, "{sql}\nreads rows that it does not need:\n{plan}");
        assert!(!plan.contains(&format!("rows={PAST_ATTEMPTS}")), "{sql}\n{plan}");
    }
}
