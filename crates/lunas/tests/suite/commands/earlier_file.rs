//! `lunas migrate` shortens the ids in a SQLite file of an earlier version, in every table and column that has them.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, params_from_iter, types::Value};

use super::{copy::fill_every_table, tables::TABLES};
use crate::support::{commands::program, repository::root, short_ids::id_of};

/// The last version whose ids were texts.
const EARLIER: u32 = 19;
/// Tables that have come since.
const NEWER: [&str; 18] = [
    "bank_undecided",
    "extra_events",
    "second_factors",
    "recovery_codes",
    "letters",
    "letter_choices",
    "letter_refusals",
    "receipt_letters",
    "letter_alerts",
    "notice_targets",
    "audit_heads",
    "reset_requests",
    "password_resets",
    "refunds",
    "refund_attempts",
    "refund_batches",
    "refund_counts",
    "refund_turns",
];

/// The migrations up to the earlier version, in their order.
fn migrations() -> Vec<PathBuf> {
    let files = root().join("crates/store/migrations/sqlite").read_dir().unwrap().map(|file| file.unwrap().path());
    let version = |file: &Path| -> u32 {
        let name = file.file_name().unwrap().to_str().unwrap();
        name.strip_prefix('V').unwrap().split_once("__").unwrap().0.parse().unwrap()
    };
    let mut files: Vec<(u32, PathBuf)> = files.map(|file| (version(&file), file)).collect();
    files.sort();
    files.into_iter().filter(|(version, _)| *version <= EARLIER).map(|(_, file)| file).collect()
}

fn texts(file: &Connection, sql: &str) -> Vec<String> {
    let mut statement = file.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// The rows of a table, as they are in the file.
fn rows(file: &Connection, table: &str) -> Vec<Vec<Value>> {
    let mut statement = file.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
    let mut rows: Vec<Vec<Value>> = statement.query_map([], row).unwrap().map(Result::unwrap).collect();
    rows.sort_by_key(|row| format!("{row:?}"));
    rows
}

/// A value as the earlier version had it.
fn earlier(file: &Connection, column: &str, is_text: bool, value: Value) -> Value {
    match value {
        Value::Blob(short) if is_text => id_of(file, &short).into(),
        Value::Text(bank) if column == "method" && bank != "qris" => format!("virtual_account:{bank}").into(),
        value => value,
    }
}

/// Makes a file of the earlier version with the rows of `file` in `tables`.
fn make_earlier(file: &Connection, tables: &[&str], at: &Path) -> Connection {
    let made = Connection::open(at).unwrap();
    made.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    for migration in migrations() {
        made.execute_batch(&std::fs::read_to_string(migration).unwrap()).unwrap();
    }
    // They would add rows to other tables.
    let triggers = texts(&made, "SELECT sql FROM sqlite_master WHERE type = 'trigger'");
    for name in texts(&made, "SELECT name FROM sqlite_master WHERE type = 'trigger'") {
        made.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    for table in tables {
        made.execute_batch(&format!("DELETE FROM {table}")).unwrap();
        // Columns that have come since were added behind these.
        let columns = texts(&made, &format!("SELECT name FROM pragma_table_info('{table}')"));
        let types = texts(&made, &format!("SELECT type FROM pragma_table_info('{table}')"));
        let places: Vec<String> = (1..=columns.len()).map(|number| format!("${number}")).collect();
        let insert = format!("INSERT INTO {table} ({}) VALUES ({})", columns.join(", "), places.join(", "));
        for row in rows(file, table) {
            let row = row.into_iter().zip(columns.iter().zip(&types));
            let row = row.map(|(value, (column, of))| earlier(file, column, of == "TEXT", value));
            made.execute(&insert, params_from_iter(row)).unwrap();
        }
    }
    made.execute_batch(&triggers.join(";")).unwrap();
    let history = texts(file, "SELECT sql FROM sqlite_master WHERE name = 'refinery_schema_history'");
    made.execute_batch(&history.concat()).unwrap();
    for row in rows(file, &format!("refinery_schema_history WHERE version <= {EARLIER}")) {
        made.execute("INSERT INTO refinery_schema_history VALUES ($1, $2, $3, $4)", params_from_iter(row)).unwrap();
    }
    made
}

/// Takes the seals from the lines of the audit log, which are sealed once and for all otherwise.
fn without_seals(file: &Connection) {
    let kept = "FROM sqlite_master WHERE name IN ('audit_seals_stay', 'audit_subjects_stay')";
    let triggers = texts(file, &format!("SELECT sql {kept}")).join(";");
    let dropped = texts(file, &format!("SELECT 'DROP TRIGGER ' || name {kept}")).join(";");
    let unsealed =
        "UPDATE audit SET position = NULL, seal_version = NULL, hash = NULL, subject_digest = NULL, salt = NULL";
    file.execute_batch(&format!("{dropped};{unsealed};{triggers}")).unwrap();
}

/// Takes refunds out of the ledger: the earlier version had no accounts for them.
fn without_refunds(file: &Connection) {
    let kept = "FROM sqlite_master WHERE name IN ('postings_remain', 'entries_remain')";
    let triggers = texts(file, &format!("SELECT sql {kept}")).join(";");
    let dropped = texts(file, &format!("SELECT 'DROP TRIGGER ' || name {kept}")).join(";");
    let removed =
        "DELETE FROM entries WHERE posting_id LIKE 'refund_%'; DELETE FROM postings WHERE kind LIKE 'refund_%'";
    file.execute_batch(&format!("{dropped};{removed};{triggers}")).unwrap();
}

#[tokio::test]
async fn a_file_of_an_earlier_version_has_short_ids_in_every_table_after_the_migration() {
    let program = program();
    fill_every_table(&program).await;
    let file = Connection::open(program.data().join("lunas.db")).unwrap();
    let by_account = "UPDATE payments SET method = 'bca' WHERE state = 'paid'; UPDATE openings SET method = 'bca'; \
                      UPDATE payment_sums SET method = 'bca'; \
                      UPDATE api_keys SET rights = 'payments,held-money'; UPDATE deliveries SET leased_by = NULL; \
                      UPDATE bank_money SET lacks_amount = 0; UPDATE sessions SET proved_at = NULL, by_factor = 0; \
                      UPDATE checkouts SET language = NULL; UPDATE opening_attempts SET language = NULL";
    file.execute_batch(by_account).unwrap();
    without_seals(&file);
    without_refunds(&file);
    let again = ["payment_search_again", "link_search_again"];
    for table in again {
        let waits = format!(
            "INSERT INTO {table} SELECT 7, project_id, id FROM {} LIMIT 1",
            table.replace("_search_again", "s")
        );
        file.execute_batch(&waits).unwrap();
    }
    let tables: Vec<&str> = TABLES.into_iter().filter(|table| !NEWER.contains(table)).chain(again).collect();
    let at = program.data().join("earlier.db");
    let made = make_earlier(&file, &tables, &at);
    let text = "SELECT typeof(id) || typeof(project_id) || length(id) FROM payments LIMIT 1";
    assert_eq!(texts(&made, text), ["texttext30"]);
    let objects = "SELECT COALESCE(sql, name) FROM sqlite_master ORDER BY 1";
    drop(made);
    program.json(&["migrate", "--json", "--database", &format!("sqlite:{}", at.display())]);
    let made = Connection::open(&at).unwrap();
    for table in tables.into_iter().chain(["project_numbers"]) {
        let rows = rows(&file, table);
        assert!(!rows.is_empty(), "there is something of everything to migrate, but not in {table}");
        assert_eq!(self::rows(&made, table), rows, "{table}");
    }
    assert_eq!(texts(&made, objects), texts(&file, objects), "tables, indexes and triggers");
}
