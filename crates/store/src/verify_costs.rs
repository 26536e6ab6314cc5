//! Proves that `lunas verify` takes no more for each payment where there are many.

use std::borrow::Cow;

use domain::{
    id::{ProjectId, mint},
    time::Timestamp,
};
use rusqlite::{Connection, StatementStatus};

use crate::{Store, plan::Dialect, short_ids, verify::invariants};

const FEW: i32 = 200;
const MANY: i32 = 3_200;
/// Sorting takes some more steps for each of many rows than for each of few.
const MORE_STEPS: i32 = 2;

/// So many payments that are paid, posted and told, and as many that have failed, with money that is held.
fn rows(count: i32) -> String {
    let project: ProjectId = mint(Timestamp::from_millis(1_800_000_000_000), [1; 10]);
    let each = |into: &str, values: &str| {
        format!(
            "INSERT INTO {into} WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
             SELECT {values} FROM n, project_numbers p; "
        )
    };
    let mut sql =
        format!("INSERT INTO project_numbers (number, id, short) VALUES (1, '{project}', project_short(1)); ");
    sql += &each(
        "payments (id, project_id, reference, search_text, amount, fee, method, code, state, paid_at, settles_at, \
         created_at, expires_at, version)",
        "'pay_' || i, p.short, 'r', 'r', 1000, 7, 'qris', 'code ' || i, 'paid', i, i, 1, 1, 2",
    );
    sql += &each(
        "receipts (provider, id, kind, project_id, payment_id, amount, paid_at, received_at, outcome)",
        "'sandbox', i, 'money', p.short, 'pay_' || i, 1000, i, i, 'applied'",
    );
    sql += &each(
        "payments (id, project_id, reference, search_text, amount, fee, method, code, state, ended_at, created_at, \
         expires_at, version)",
        "'pay_f' || i, p.short, 'r', 'r', 1000, 7, 'qris', 'other code ' || i, 'failed', i, 1, 1, 2",
    );
    sql += &each(
        "receipts (provider, id, kind, project_id, payment_id, amount, paid_at, received_at, outcome, reason, public_id)",
        "'sandbox', 'held ' || i, 'money', p.short, 'pay_f' || i, 1000, i, i, 'unapplied', 'late', 'rcp_' || i",
    );
    let postings = "postings (id, project_id, payment_id, kind, at)";
    sql += &each(postings, "'paid:' || i, p.short, 'pay_' || i, 'paid', i");
    sql += &each(postings, "'unapplied:sandbox:held ' || i, p.short, 'pay_f' || i, 'unapplied', i");
    for (posting, account, amount) in [
        ("paid:", "clearing", -1000),
        ("paid:", "pending", 993),
        ("paid:", "fees", 7),
        ("unapplied:sandbox:held ", "clearing", -1000),
        ("unapplied:sandbox:held ", "unapplied", 1000),
    ] {
        let values = format!("p.short, '{account}', i, '{posting}' || i, {amount}");
        sql += &each("entries (project_id, account, at, posting_id, amount)", &values);
    }
    sql += &each(
        "events (id, project_id, kind, subject, created_at, paid_at, success_word)",
        "'evt_' || i, p.short, 'payment.paid', 'pay_' || i, i, i, 'paid'",
    );
    sql += &each(
        "events (id, project_id, kind, subject, created_at)",
        "'evt_f' || i, p.short, 'payment.failed', 'pay_f' || i, i",
    );
    sql += &each(
        "deliveries (event_id, project_id, state, due_at, attempts, resent_after)",
        "'evt_' || i, p.short, 'pending', i, 0, 0",
    );
    sql + &each(
        "idempotency (project_id, endpoint, key, request, resource)",
        "p.short, 'payments', i, x'00', 'pay_' || i",
    )
}

/// The steps that each invariant takes.
async fn steps(count: i32) -> Vec<(&'static str, i32)> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lunas.db");
    Store::migrate_sqlite(&path).await.unwrap();
    let connection = Connection::open(&path).unwrap();
    short_ids::add_functions(&connection).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    connection.execute_batch(&rows(count)).unwrap();
    let steps = |(invariant, sql): (&'static str, Cow<'static, str>)| {
        let mut statement = connection.prepare(&sql).unwrap();
        let mut rows = statement.query([]).unwrap();
        while rows.next().unwrap().is_some() {}
        drop(rows);
        (invariant, statement.get_status(StatementStatus::VmStep))
    };
    invariants(Dialect::Sqlite).map(steps).collect()
}

#[tokio::test]
async fn verifying_many_payments_costs_no_more_steps_for_each_on_sqlite() {
    let (few, many) = (steps(FEW).await, steps(MANY).await);
    let dear = few.iter().zip(&many).filter(|((_, few), (_, many))| *many > few * (MANY / FEW) * MORE_STEPS);
    let dear: Vec<String> =
        dear.map(|((invariant, few), (_, many))| format!("{many} for {few}: {invariant}")).collect();
    assert!(dear.is_empty(), "steps for {MANY} and for {FEW} payments: {dear:#?}");
}
