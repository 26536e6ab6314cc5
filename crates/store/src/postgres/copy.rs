//! The target of a copy: one transaction that locks other writers out, checks the copy, and commits all of it or
//! nothing.

use std::pin::pin;

use deadpool_postgres::Transaction;
use futures_util::future::BoxFuture;
use tokio_postgres::{Error, binary_copy::BinaryCopyInWriter, error::SqlState, types::Type};

use super::{PostgresUrl, connect::Connector, fault, migrate};
use crate::{
    copy::{CopiedTable, CopyError, TABLES},
    error::StoreError,
    plan::Dialect,
    sqlite::Source,
    value::Value,
    verify::{Breach, invariants},
};

/// A copy may take any time, but does not wait long for the locks of others.
const SESSION: &str = "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET lock_timeout = '5s'; \
    SET enable_seqscan = on";

/// Migrates the tables of the database and fills them from `source`, unless they contain data.
pub(crate) fn fill<'a>(
    url: &'a PostgresUrl,
    source: &'a mut Source,
) -> BoxFuture<'a, Result<Vec<CopiedTable>, CopyError>> {
    Box::pin(filled(url, source))
}

async fn filled(url: &PostgresUrl, source: &mut Source) -> Result<Vec<CopiedTable>, CopyError> {
    let connector = Connector::new(url)?;
    migrate::run(&connector).await.map_err(CopyError::Target)?;
    let mut client = connector.session().await?;
    client.batch_execute(SESSION).await.map_err(fault::failure)?;
    let transaction = client.transaction().await.map_err(fault::failure)?;
    lock_tables(&transaction).await?;
    let mut copied = Vec::new();
    for table in TABLES {
        copied.push(fill_table(&transaction, source, table).await?);
    }
    // The checks below read whole tables, and the first servers will too, so the planner needs statistics.
    transaction.batch_execute(&format!("ANALYZE {}", TABLES.join(", "))).await.map_err(fault::failure)?;
    check(&transaction).await?;
    let warnings = connector.warnings().count();
    transaction.commit().await.map_err(fault::failure)?;
    match connector.warnings().count() == warnings {
        true => Ok(copied),
        false => Err(CopyError::StandbyUnconfirmed),
    }
}

/// Locks other writers out. Readers are not locked out; they do not see the copy before it is committed.
async fn lock_tables(transaction: &Transaction<'_>) -> Result<(), CopyError> {
    let lock = format!("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", TABLES.join(", "));
    transaction.batch_execute(&lock).await.map_err(|error| match error.code() {
        Some(&SqlState::LOCK_NOT_AVAILABLE) => CopyError::TargetBusy,
        _ => CopyError::Target(migrate::meaning_of(error)),
    })?;
    let filled = TABLES.map(|table| format!("SELECT '{table}' WHERE EXISTS (SELECT FROM {table})")).join(" UNION ALL ");
    match transaction.query_opt(&format!("{filled} LIMIT 1"), &[]).await.map_err(fault::failure)? {
        None => Ok(()),
        Some(row) => Err(CopyError::NotEmpty(row.get(0))),
    }
}

async fn fill_table(
    transaction: &Transaction<'_>,
    source: &mut Source,
    table: &'static str,
) -> Result<CopiedTable, CopyError> {
    let failed = |source| CopyError::Table { table, source };
    move_rows(transaction, source, table).await.map_err(failed)?;
    let source_rows = source.count(table).map_err(failed)?;
    let counted = transaction.query_one(&format!("SELECT COUNT(*) FROM {table}"), &[]).await;
    let target_rows = counted.map_err(|error| failed(fault::failure(error)))?.get(0);
    match source_rows == target_rows {
        true => Ok(CopiedTable { table, rows: target_rows }),
        false => Err(CopyError::Differs { table, source_rows, target_rows }),
    }
}

async fn move_rows(transaction: &Transaction<'_>, source: &mut Source, table: &str) -> Result<(), StoreError> {
    let statement = transaction.prepare(&format!("SELECT * FROM {table}")).await.map_err(fault::failure)?;
    let (columns, types): (Vec<String>, Vec<Type>) =
        statement.columns().iter().map(|column| (column.name().to_owned(), column.type_().clone())).unzip();
    source.check_columns(table, &columns)?;
    let copy = format!("COPY {table} ({}) FROM STDIN (FORMAT BINARY)", columns.join(", "));
    let mut writer = pin!(BinaryCopyInWriter::new(transaction.copy_in(&copy).await.map_err(fault::failure)?, &types));
    let texts = types.iter().map(|column| *column == Type::TEXT).collect();
    let mut rows = source.read(table, &columns, texts)?;
    let mut written = Ok(());
    while let Some(batch) = rows.batches.recv().await
        && written.is_ok()
    {
        for row in batch {
            if !row.iter().zip(&types).all(|(value, column)| fits(value, column)) {
                written = Err(StoreError::unexpected("a value is of another type than its column"));
                break;
            }
            if let Err(error) = writer.as_mut().write_raw(&row).await {
                written = Err(fault::failure(error));
                break;
            }
        }
    }
    let read = source.finish(rows).await;
    // After an error of the server, reading fails too; the server's error says more.
    match (read, written) {
        (Ok(()), Ok(())) => writer.finish().await.map(drop).map_err(fault::failure),
        (read, written) => written.and(read),
    }
}

fn fits(value: &Value, column: &Type) -> bool {
    match value {
        Value::Text(_) => *column == Type::TEXT,
        Value::Integer(_) => *column == Type::INT8,
        Value::Bytes(_) => *column == Type::BYTEA,
        Value::Payment(_) | Value::Project(_) => *column == Type::TEXT,
        Value::Null => true,
    }
}

/// Checks the copy as `lunas verify` does, before it is committed.
async fn check(transaction: &Transaction<'_>) -> Result<(), CopyError> {
    for (invariant, sql) in invariants(Dialect::Postgres) {
        let breach = first_text(transaction, &sql).await.map_err(fault::failure)?;
        if let Some(row) = breach {
            return Err(CopyError::Breached(Breach { invariant, row }));
        }
    }
    Ok(())
}

async fn first_text(transaction: &Transaction<'_>, sql: &str) -> Result<Option<String>, Error> {
    transaction.query(sql, &[]).await?.first().map(|row| row.try_get(0)).transpose()
}
