//! Proves that telling how many numbers of a bank account are taken reads no more of an account with many numbers than
//! of one with few.

use domain::{
    id::{BankAccountId, mint},
    time::Timestamp,
};
use pgcluster::{Cluster, ScratchDatabase};
use rusqlite::{Connection, StatementStatus, params_from_iter};

use crate::{Store, read::banks::FIRST_NUMBERS, value::Value};

const FEW: i64 = 1_000;
const MANY: i64 = 50_000;
const READ_MOST: i64 = 500;
/// The largest difference in steps of SQLite's virtual machine. One row takes several steps.
const MORE_STEPS: i32 = 100;
const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const PREFIX: &str = "12345";

fn account(numbers: i64) -> BankAccountId {
    mint(NOW, [u8::try_from(numbers / FEW).unwrap(); 10])
}

/// Two accounts with few and with many numbers, which all rest.
fn rows() -> String {
    let of = |count: i64| {
        format!(
            "INSERT INTO bank_numbers (account_id, number, project_id, payment_id, taken_at, free_at) \
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
             SELECT '{}', '{PREFIX}' || CAST(1000000 + i AS TEXT), 'prj', 'pay_{count}_' || i, 1, {} FROM n; ",
            account(count),
            NOW.as_millis()
        )
    };
    of(FEW) + &of(MANY)
}

fn parameters(count: i64) -> [Value; 5] {
    [NOW.into(), Value::stored(account(count)), PREFIX.into(), format!("{PREFIX}:").into(), READ_MOST.into()]
}

#[tokio::test]
async fn many_numbers_cost_no_steps_on_sqlite() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lunas.db");
    Store::migrate_sqlite(&path).await.unwrap();
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    connection.execute_batch(&rows()).unwrap();
    let steps = |count: i64| {
        let mut statement = connection.prepare(FIRST_NUMBERS).unwrap();
        let read: i64 = statement.query_row(params_from_iter(parameters(count)), |row| row.get(0)).unwrap();
        assert_eq!(read, READ_MOST);
        (statement.get_status(StatementStatus::VmStep), statement.get_status(StatementStatus::Sort))
    };
    let ((few, _), (many, sorted)) = (steps(FEW), steps(MANY));
    assert!(many <= few + MORE_STEPS, "{few} steps for few numbers and {many} for many");
    assert_eq!(sorted, 0, "they are read in the order of their index");
}

#[tokio::test]
async fn many_numbers_are_not_all_read_on_postgres() {
    let scratch = ScratchDatabase::empty();
    Store::migrate_postgres(&scratch.url().parse().unwrap()).await.unwrap();
    let run = |sql: &str| Cluster::shared().run(scratch.url(), sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    run(&format!("SET session_replication_role = replica; {} ANALYZE;", rows()));
    // As the sessions that run this statement are set.
    let settings = "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan;";
    let plan = run(&format!(
        "{settings} PREPARE s AS {FIRST_NUMBERS}; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) \
         EXECUTE s({}, '{}', '{PREFIX}', '{PREFIX}:', {READ_MOST});",
        NOW.as_millis(),
        account(MANY)
    ));
    assert!(plan.contains(&format!("rows={READ_MOST}")), "{plan}");
    for part in ["Seq Scan", "Sort", "Rows Removed", &format!("rows={MANY}")] {
        assert!(!plan.contains(part), "{part}:\n{plan}");
    }
}
