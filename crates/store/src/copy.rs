//! What a copy of an installation from SQLite to PostgreSQL consists of, and how it fails. `sqlite::copy` reads the
//! source, and `postgres::copy` fills the target.

use crate::{
    error::{OpenError, StoreError},
    verify::Breach,
};

/// Every table, after those that its rows refer to. The search indexes are not copied, as maintenance rebuilds them; the
/// numbers of projects are for short ids, which only SQLite has; and nodes are processes that run.
pub(crate) const TABLES: [&str; 69] = [
    "installation",
    "users",
    "projects",
    "members",
    "sessions",
    "invites",
    "sign_ins",
    "known_addresses",
    "forms",
    "second_factors",
    "recovery_codes",
    "reset_requests",
    "password_resets",
    "audit",
    "audit_heads",
    "allowed_origins",
    "extra_events",
    "logos",
    "api_keys",
    "key_uses",
    "links",
    "payments",
    "payment_marks",
    "payment_sums",
    "checkouts",
    "link_attempts",
    "views",
    "idempotency",
    "receipts",
    "notices",
    "postings",
    "entries",
    "balance_checkpoints",
    "volumes",
    "events",
    "deliveries",
    "attempts",
    "bank_accounts",
    "bank_settings",
    "bank_credentials",
    "bank_assignments",
    "bank_numbers",
    "bank_requests",
    "bank_calls",
    "strays",
    "stray_entries",
    "openings",
    "sales",
    "opening_attempts",
    "bank_codes",
    "bank_jobs",
    "bank_sends",
    "bank_money",
    "bank_serials",
    "bank_reconciliations",
    "bank_comparisons",
    "bank_differences",
    "bank_undecided",
    "refunds",
    "refund_attempts",
    "refund_batches",
    "refund_counts",
    "refund_turns",
    "letters",
    "letter_choices",
    "letter_refusals",
    "receipt_letters",
    "letter_alerts",
    "notice_targets",
];

/// A copied table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedTable {
    pub table: &'static str,
    pub rows: i64,
}

/// Why an installation was not copied. The target is left empty, unless it had data before.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error("the source cannot be opened: {0}")]
    Source(#[source] OpenError),
    #[error("the source has no tables of lunas; name the file of an installation")]
    SourceMissing,
    #[error("the source was made by an older version of lunas; run `lunas migrate` on it first")]
    SourceBehind,
    #[error("the source is being written by someone else; stop the server that uses it")]
    SourceBusy,
    #[error("the target cannot be opened: {0}")]
    Target(#[source] OpenError),
    #[error("the target has data already, in the table {0}; copy into an empty database")]
    NotEmpty(String),
    #[error("the target is in use by someone else; stop the servers that use it")]
    TargetBusy,
    #[error("the table {table} cannot be copied, and nothing was kept")]
    Table { table: &'static str, source: StoreError },
    #[error("the table {table} has {source_rows} rows in the source and {target_rows} in the copy; nothing was kept")]
    Differs { table: &'static str, source_rows: i64, target_rows: i64 },
    #[error("what was copied breaks a rule ({}: {}), and nothing was kept; run `lunas verify` on the source", .0.invariant, .0.row)]
    Breached(Breach),
    #[error("the copy was made, but the server warned that its standby may not have it; look at the server's log")]
    StandbyUnconfirmed,
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::Store;

    #[tokio::test]
    async fn every_table_is_copied_but_the_search_indexes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lunas.db");
        Store::migrate_sqlite(&path).await.unwrap();
        let connection = Connection::open(&path).unwrap();
        let names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'payment_search%' \
                     AND name NOT LIKE 'link_search%' AND name NOT IN ('nodes', 'project_numbers', 'refinery_schema_history') \
                     ORDER BY name";
        let mut statement = connection.prepare(names).unwrap();
        let names: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let mut copied = TABLES;
        copied.sort_unstable();
        assert_eq!(names, copied);
    }
}
