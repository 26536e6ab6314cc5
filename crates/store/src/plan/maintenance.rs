//! List checkpoints, balance checkpoints, closed hours and the search index. The tables keep the names that they were released with:
//! checkpoints are in `payment_marks`, closed hours in `volumes`.

use std::{
    collections::BTreeSet,
    hash::{BuildHasher, Hasher, RandomState},
};

use super::statement::{Dialect, Statement};
use crate::{
    change::{FoldedCheckout, IndexedBatch, IndexedRow, MaintenanceWrite, SearchIndex},
    search_tokens,
    value::Value,
};

/// The clock may have been set back since the entries were read, and one was then posted among them. So they are counted
/// once more.
const BALANCE_CHECKPOINT: &str = "INSERT INTO balance_checkpoints (project_id, account, at, posting_id, lines, balance) \
    SELECT $1, $2, CAST($3 AS BIGINT), $4, CAST($5 AS BIGINT), CAST($6 AS BIGINT) WHERE $5 = \
    (SELECT COUNT(*) FROM entries WHERE project_id = $1 AND account = $2 \
    AND (at, posting_id) > ($7, $8) AND (at, posting_id) <= ($3, $4)) \
    + COALESCE((SELECT lines FROM balance_checkpoints WHERE project_id = $1 AND account = $2 \
    AND at = $7 AND posting_id = $8), 0) ON CONFLICT DO NOTHING";

/// Marks a checkpoint as summed if all payments since the one before have ended.
const LIST_SUMMED: &str = "UPDATE payment_marks SET is_summed = 1 WHERE project_id = $1 AND id = $2 \
    AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.project_id = $1 AND p.id > payment_marks.previous AND p.id <= $2 \
    AND p.state IN ('pending', 'processing'))";
/// Another node may have stored sums that were true when it read the payments.
const LIST_SUMS_BEFORE: &str = "DELETE FROM payment_sums WHERE project_id = $1 AND id = $2";
/// Stores its sums then.
const LIST_SUMS: &str = "INSERT INTO payment_sums (project_id, id, state, method, payments, amount, fee) \
    SELECT m.project_id, m.id, p.state, p.method, COUNT(*), CAST(SUM(p.amount) AS BIGINT), CAST(SUM(p.fee) AS BIGINT) \
    FROM payment_marks m CROSS JOIN payments p WHERE m.project_id = $1 AND m.id = $2 AND m.is_summed = 1 \
    AND p.project_id = $1 AND p.id > m.previous AND p.id <= $2 \
    GROUP BY m.project_id, m.id, p.state, p.method ON CONFLICT DO NOTHING";

/// The statements that add to an index what has waited for it. What waits once more since it was read has another number by
/// then, and is added once more.
struct Again {
    on_sqlite: &'static str,
    on_postgres: &'static str,
    done: &'static str,
}

macro_rules! again {
    ($index:literal) => {
        Again {
            on_sqlite: concat!("INSERT OR REPLACE INTO ", $index, " (rowid, tokens) VALUES ($1, $2)"),
            // One may wait twice.
            on_postgres: concat!(
                "INSERT INTO ",
                $index,
                " (id, tokens) SELECT DISTINCT ON (a.id) a.id, CAST(a.tokens AS INTEGER[]) \
                 FROM unnest(string_to_array($1, ' '), string_to_array($2, ' ')) AS a (id, tokens) \
                 ORDER BY a.id ON CONFLICT (id) DO UPDATE SET tokens = EXCLUDED.tokens"
            ),
            done: concat!("DELETE FROM ", $index, "_again WHERE number = $1"),
        }
    };
}

const PAYMENTS_AGAIN: Again = again!("payment_search");
const LINKS_AGAIN: Again = again!("link_search");

pub(super) fn plan(statements: &mut Vec<Statement>, write: MaintenanceWrite, dialect: Dialect) {
    match write {
        MaintenanceWrite::ListCheckpoint { project_id, id, position, previous } => statements.push(Statement::new(
            "INSERT INTO payment_marks (project_id, id, position, previous, is_summed) VALUES ($1, $2, $3, $4, 0) \
             ON CONFLICT DO NOTHING",
            [Value::stored(project_id), Value::stored(id), position.into(), previous.map_or("".into(), Value::stored)],
        )),
        // On PostgreSQL, the first statement also locks the checkpoint, as do another node that sums it and what removes
        // sums: so these have finished before the payments are read, or come afterwards.
        MaintenanceWrite::ListSums { project_id, id } => {
            let checkpoint = [Value::stored(project_id), Value::stored(id)];
            statements.push(Statement::new(LIST_SUMMED, checkpoint.clone()));
            statements.push(Statement::new(LIST_SUMS_BEFORE, checkpoint.clone()));
            statements.push(Statement::new(LIST_SUMS, checkpoint));
        }
        MaintenanceWrite::HourClosed { project_id, hour, payments, amount } => statements.push(Statement::new(
            "INSERT INTO volumes (project_id, hour, payments, amount) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
            [Value::stored(project_id), hour.into(), payments.into(), amount.into()],
        )),
        MaintenanceWrite::BalanceCheckpoint { project_id, account, after, at, posting_id, lines, balance } => {
            let of: [Value; 2] = [Value::stored(project_id), account.word().into()];
            let own: [Value; 4] = [at.into(), posting_id.into(), lines.into(), balance.into()];
            let after: [Value; 2] = [after.0.into(), after.1.into()];
            statements.push(Statement::new(BALANCE_CHECKPOINT, [&of[..], &own, &after].concat()));
        }
        MaintenanceWrite::SearchIndexed(batch) => search_indexed(statements, batch, dialect),
        MaintenanceWrite::SearchIndexedAgain { index, rows, numbers } => {
            let again = match index {
                SearchIndex::Payments => &PAYMENTS_AGAIN,
                SearchIndex::Links => &LINKS_AGAIN,
            };
            match dialect {
                Dialect::Sqlite => statements.extend(
                    rows.into_iter()
                        .map(|IndexedRow { key, tokens }| Statement::new(again.on_sqlite, [key, words(&tokens)])),
                ),
                Dialect::Postgres => {
                    let (ids, tokens) = arrays(rows);
                    statements.push(Statement::new(again.on_postgres, [ids, tokens]));
                }
            }
            statements.extend(numbers.into_iter().map(|number| Statement::new(again.done, [number.into()])));
        }
        MaintenanceWrite::CheckoutFolded(checkout) => statements.push(checkout_folded(checkout)),
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

/// The index goes on only where the batch begins: another node may have added these payments meanwhile. On PostgreSQL, the
/// first statement lets one node at a time add to it.
fn search_indexed(statements: &mut Vec<Statement>, batch: IndexedBatch, dialect: Dialect) {
    let IndexedBatch { payments, after, upto } = batch;
    match dialect {
        Dialect::Sqlite => statements.extend(payments.into_iter().map(|IndexedRow { key, tokens }| {
            Statement::new(
                "INSERT OR REPLACE INTO payment_search (rowid, tokens) SELECT $1, $2 FROM payment_searchable \
                 WHERE single = 1 AND upto = $3",
                [key, words(&tokens), after.clone()],
            )
        })),
        Dialect::Postgres => {
            statements.push(Statement::new("UPDATE payment_searchable SET upto = upto WHERE single = 1", []));
            let (ids, tokens) = arrays(payments);
            statements.push(Statement::new(
                "INSERT INTO payment_search (id, tokens) SELECT a.id, CAST(a.tokens AS INTEGER[]) \
                 FROM unnest(string_to_array($1, ' '), string_to_array($2, ' ')) AS a (id, tokens), payment_searchable s \
                 WHERE s.single = 1 AND s.upto = $3 ON CONFLICT (id) DO UPDATE SET tokens = EXCLUDED.tokens",
                [ids, tokens, after.clone()],
            ));
        }
    }
    statements
        .push(Statement::new("UPDATE payment_searchable SET upto = $1 WHERE single = 1 AND upto = $2", [upto, after]));
}

/// Tokens as words of SQLite's full-text index.
fn words(tokens: &BTreeSet<i32>) -> Value {
    tokens.iter().map(|token| search_tokens::word(*token)).collect::<Vec<_>>().join(" ").into()
}

/// Ids and arrays of tokens, each list in one text.
fn arrays(rows: Vec<IndexedRow>) -> (Value, Value) {
    let (mut ids, mut arrays) = (Vec::new(), Vec::new());
    for IndexedRow { key, tokens } in rows {
        if let Value::Text(id) = key {
            ids.push(id);
            arrays.push(search_tokens::array(tokens));
        }
    }
    (ids.join(" ").into(), arrays.join(" ").into())
}

fn checkout_folded(checkout: FoldedCheckout) -> Statement {
    let FoldedCheckout { payment_id, customer, search_text } = checkout;
    Statement::new(
        "UPDATE checkouts SET search_text = $1 WHERE payment_id = $2 AND search_text IS NULL AND customer_name = $3 \
         AND customer_email = $4 AND customer_phone = $5",
        [
            search_text.into(),
            Value::stored(payment_id),
            customer.name.into(),
            customer.email.into(),
            customer.phone.into(),
        ],
    )
}
