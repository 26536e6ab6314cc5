//! Proves that a page of payments of one status or method reads no more of a long list than of a short one.

use domain::{
    bank::Bank,
    id::{ProjectId, mint},
    method::Method,
    payment::Status,
    time::Timestamp,
};
use pgcluster::{Cluster, ScratchDatabase};
use rusqlite::{Connection, StatementStatus};

use crate::{
    Store, Window,
    read::{
        payment_kinds::{Kind, existing_kinds, ids, states},
        payment_list::{PaymentOrder, Range},
    },
    short_ids::{self, Projects, ShortIds},
    value::{Query, Value, bind},
};

pub(crate) const FEW: i64 = 1_000;
pub(crate) const MANY: i64 = 50_000;
/// The largest difference in steps of SQLite's virtual machine. One row takes several steps.
const MORE_STEPS: i32 = 100;
/// The most rows that a step of a plan on PostgreSQL may read: those of two pages and both kinds.
const ROWS_MOST: i64 = 80;
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
pub(crate) const WINDOW: Window = Window { offset: 20, limit: 20 };
const BCA: Method = Method::VirtualAccount(Bank::Bca);

pub(crate) fn project(payments: i64) -> ProjectId {
    mint(NOW, [u8::try_from(payments / FEW).unwrap(); 10])
}

/// A project with few payments and one with many. One payment in five is paid, and one in 25 by a virtual account.
fn rows() -> String {
    let of = |count: i64| {
        format!(
            "INSERT INTO payments (id, project_id, reference, search_text, amount, fee, method, code, state, paid_at, \
             created_at, expires_at, version) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \
             WHERE i < {count}) SELECT 'pay_{count}_' || CAST(1000000 + i AS TEXT), '{}', 'r', 'r', 1000, 7, \
             CASE WHEN i % 25 = 0 THEN 'bca' ELSE 'qris' END, 'code ' || '{count}' || CAST(i AS TEXT), \
             CASE WHEN i % 5 = 0 THEN 'paid' ELSE 'expired' END, CASE WHEN i % 5 = 0 THEN 1 END, 1, 1, 1 FROM n; ",
            project(count)
        )
    };
    of(FEW) + &of(MANY)
}

/// The statements for a page of what is paid, for one of all virtual accounts, and for the kinds that there are.
fn queries(count: i64) -> Vec<Query> {
    let kind = |state, method| Kind { state, method, expiry: None };
    let paid = [kind("paid", Method::Qris), kind("paid", BCA)];
    let by_account = ["pending", "processing", "paid", "failed", "expired", "cancelled"].map(|state| kind(state, BCA));
    let everything = Range { from: None, until: None };
    let mut queries = Vec::new();
    for kinds in [&paid[..], &by_account] {
        for order in [PaymentOrder::Newest, PaymentOrder::Oldest] {
            queries.extend(ids(project(count), kinds, (everything, order), WINDOW));
        }
    }
    queries.push(existing_kinds(project(count), &states(None)));
    queries.push(existing_kinds(project(count), &states(Some((Status::Expired, NOW)))));
    assert_eq!(queries.len(), 6);
    queries
}

#[tokio::test]
async fn a_long_list_costs_no_steps_on_sqlite() {
    let shortened = "UPDATE payments SET project_id = (SELECT n.short FROM project_numbers n WHERE n.id = project_id)";
    check_steps(&format!("{}; {shortened}", rows()), queries).await;
}

/// Checks that none of the statements takes more steps on SQLite for the project with many rows than for that with few. `rows` is
/// the SQL that inserts both.
pub(crate) async fn check_steps(rows: &str, queries: impl Fn(i64) -> Vec<Query>) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lunas.db");
    Store::migrate_sqlite(&path).await.unwrap();
    let connection = Connection::open(&path).unwrap();
    short_ids::add_functions(&connection).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    for count in [FEW, MANY] {
        let numbered = "INSERT INTO project_numbers (number, id, short) VALUES ($1, $2, project_short($1))";
        connection.execute(numbered, rusqlite::params![count, project(count).to_string()]).unwrap();
    }
    connection.execute_batch(rows).unwrap();
    let steps = |query: &Query| {
        let mut statement = connection.prepare(&query.sql).unwrap();
        bind(&mut statement, &query.parameters, ShortIds::new(&connection, &Projects::default())).unwrap();
        let mut rows = statement.raw_query();
        let mut found = 0;
        while rows.next().unwrap().is_some() {
            found += 1;
        }
        drop(rows);
        (found, statement.get_status(StatementStatus::VmStep))
    };
    for (few, many) in queries(FEW).iter().zip(&queries(MANY)) {
        let ((found, few_steps), (found_of_many, many_steps)) = (steps(few), steps(many));
        assert_eq!((found > 0, found), (true, found_of_many), "{}", few.sql);
        assert!(many_steps <= few_steps + MORE_STEPS, "{few_steps} steps, and {many_steps} of many: {}", few.sql);
    }
}

#[tokio::test]
async fn a_long_list_is_not_read_as_a_whole_on_postgres() {
    check_plans(&rows(), queries(MANY), |plan| {
        assert!(plan.contains("payments_by_state"), "{plan}");
        for part in ["Seq Scan", "Bitmap", "payments_of_project"] {
            assert!(!plan.contains(part), "{part}:\n{plan}");
        }
    })
    .await;
}

/// Checks that no step of the plans on PostgreSQL reads more than a few rows, and what `fits` says about each plan.
pub(crate) async fn check_plans(rows: &str, queries: Vec<Query>, fits: impl Fn(&str)) {
    let scratch = ScratchDatabase::empty();
    Store::migrate_postgres(&scratch.url().parse().unwrap()).await.unwrap();
    let run = |sql: &str| Cluster::shared().run(scratch.url(), sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    run(&format!("SET session_replication_role = replica; {rows} ANALYZE;"));
    // As the sessions that run these statements are set; also with the plan that is made for all parameters.
    for mode in ["force_custom_plan", "force_generic_plan"] {
        for query in &queries {
            let given: Vec<String> = query.parameters.iter().map(Value::literal).collect();
            let plan = run(&format!(
                "SET enable_seqscan = off; SET plan_cache_mode = {mode}; PREPARE s AS {}; \
                 EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE s({});",
                query.sql,
                given.join(", ")
            ));
            fits(&plan);
            for counted in ["rows=", "Removed by Filter: "] {
                let rows =
                    plan.split(counted).skip(1).map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap());
                assert!(rows.map(|rows| rows.parse::<i64>().unwrap()).all(|rows| rows <= ROWS_MOST), "{plan}");
            }
        }
    }
}
