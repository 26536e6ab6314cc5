//! List checkpoints, balance checkpoints, closed hours and the search index. The tables keep the names that they were released with:
//! checkpoints are in `payment_marks`, closed hours in `volumes`.

use std::hash::{BuildHasher, Hasher, RandomState};

use domain::id::PaymentId;

use super::statement::{Dialect, Statement};
use crate::{change::MaintenanceWrite, value::Value};

/// The clock may have been set back since the entries were read, and one was then posted among them. So they are counted
/// once more.
const BALANCE_CHECKPOINT: &str = "INSERT INTO balance_checkpoints (project_id, account, at, posting_id, lines, balance) \
    SELECT $1, $2, CAST($3 AS BIGINT), $4, CAST($5 AS BIGINT), CAST($6 AS BIGINT) WHERE $5 = \
    (SELECT COUNT(*) FROM entries WHERE project_id = $1 AND account = $2 \
    AND (at, posting_id) > ($7, $8) AND (at, posting_id) <= ($3, $4)) \
    + COALESCE((SELECT lines FROM balance_checkpoints WHERE project_id = $1 AND account = $2 \
    AND at = $7 AND posting_id = $8), 0) ON CONFLICT DO NOTHING";

pub(super) fn plan(statements: &mut Vec<Statement>, write: MaintenanceWrite, dialect: Dialect) {
    match write {
        MaintenanceWrite::ListCheckpoint { project_id, id, position, amount } => statements.push(Statement::new(
            "INSERT INTO payment_marks (project_id, id, position, amount) VALUES ($1, $2, $3, $4) \
             ON CONFLICT DO NOTHING",
            [Value::shown(project_id), Value::shown(id), position.into(), amount.into()],
        )),
        MaintenanceWrite::HourClosed { project_id, hour, payments, amount } => statements.push(Statement::new(
            "INSERT INTO volumes (project_id, hour, payments, amount) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
            [Value::shown(project_id), hour.into(), payments.into(), amount.into()],
        )),
        MaintenanceWrite::BalanceCheckpoint { project_id, account, after, at, posting_id, lines, balance } => {
            let of: [Value; 2] = [Value::shown(project_id), account.word().into()];
            let own: [Value; 4] = [at.into(), posting_id.into(), lines.into(), balance.into()];
            let after: [Value; 2] = [after.0.into(), after.1.into()];
            statements.push(Statement::new(BALANCE_CHECKPOINT, [&of[..], &own, &after].concat()));
        }
        MaintenanceWrite::SearchIndexed { until, most } => search_indexed(statements, until, most, dialect),
        MaintenanceWrite::CommitProbe => commit_probe(statements),
    }
}

/// Both statements are in one transaction, so nobody sees the row; but the databases write what they have changed meanwhile.
fn commit_probe(statements: &mut Vec<Statement>) {
    // A random name, so that nodes which probe at the same moment do not wait for each other.
    let name = format!("commit_probe_{:x}", RandomState::new().build_hasher().finish());
    statements.push(Statement::new("INSERT INTO installation (name, value) VALUES ($1, '')", [name.clone().into()]));
    statements.push(Statement::new("DELETE FROM installation WHERE name = $1", [name.into()]));
}

/// SQLite numbers payments in the order of their commits, so the index can follow that order. On PostgreSQL, only
/// payments from before `until` are known to be complete, and the first statement's lock lets one node at a time add
/// the next ones.
fn search_indexed(statements: &mut Vec<Statement>, until: PaymentId, most: i64, dialect: Dialect) {
    match dialect {
        Dialect::Sqlite => {
            statements.push(Statement::new(
                "INSERT INTO payment_search (rowid, search_text) SELECT number, search_text FROM payments \
                 WHERE number > (SELECT upto FROM payment_searchable) ORDER BY number LIMIT $1",
                [most.into()],
            ));
            statements.push(Statement::new(
                "UPDATE payment_searchable SET upto = COALESCE((SELECT MAX(number) FROM (SELECT number FROM payments \
                 WHERE number > upto ORDER BY number LIMIT $1) added), upto)",
                [most.into()],
            ));
        }
        Dialect::Postgres => {
            statements.push(Statement::new("UPDATE payment_searchable SET upto = upto", []));
            statements.push(Statement::new(
                "INSERT INTO payment_search (id, search_text) SELECT id, search_text FROM payments \
                 WHERE id > (SELECT upto FROM payment_searchable) AND id < $1 ORDER BY id LIMIT $2 \
                 ON CONFLICT DO NOTHING",
                [Value::shown(until), most.into()],
            ));
            statements.push(Statement::new(
                "UPDATE payment_searchable SET upto = COALESCE((SELECT MAX(id) FROM payment_search), upto)",
                [],
            ));
        }
    }
}
