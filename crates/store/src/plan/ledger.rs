//! Reports about payments, decisions about them, and postings.

use domain::{
    id::{ProjectId, ReceiptId, RefundId},
    ledger::{Cause, Posting},
    receipt::{Decided, Decision, ReceiptKey},
    time::HOUR_MILLIS,
};

use super::statement::Statement;
use crate::{
    change::{LedgerWrite, Noted, ReceiptNote},
    error::Guard,
    value::Value,
};

pub(super) fn plan(statements: &mut Vec<Statement>, write: LedgerWrite) {
    match write {
        LedgerWrite::Receipt(note) => statements.push(receipt(note)),
        LedgerWrite::ReceiptDecided { key, project_id, decided } => {
            statements.push(receipt_decided(key, project_id, decided));
        }
        LedgerWrite::ReceiptHeldAgain { receipt_id, project_id, refund_id } => {
            statements.push(receipt_held_again(receipt_id, project_id, refund_id));
        }
        LedgerWrite::Posting(posting) => new_posting(statements, &posting),
    }
}

fn receipt(note: ReceiptNote) -> Statement {
    let statement = match note.noted {
        Noted::Money { amount, paid_at, held } => Statement::new(
            "INSERT INTO receipts (provider, id, kind, project_id, payment_id, amount, paid_at, received_at, outcome, \
             reason, public_id) VALUES ($1, $2, 'money', $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING",
            [
                note.key.provider.into(),
                note.key.id.into(),
                Value::stored(note.project_id),
                Value::stored(note.payment_id),
                amount.into(),
                paid_at.into(),
                note.received_at.into(),
                if held.is_some() { "unapplied".into() } else { "applied".into() },
                held.map(|held| held.reason.word()).into(),
                held.map(|held| held.id.to_string()).into(),
            ],
        ),
        Noted::Refusal => notice(note, "refusal"),
        Noted::Progress => notice(note, "progress"),
    };
    statement.guarded(Guard::Receipt)
}

fn notice(note: ReceiptNote, kind: &'static str) -> Statement {
    Statement::new(
        "INSERT INTO notices (payment_id, provider, id, kind, project_id, received_at) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
        [
            Value::stored(note.payment_id),
            note.key.provider.into(),
            note.key.id.into(),
            kind.into(),
            Value::stored(note.project_id),
            note.received_at.into(),
        ],
    )
}

fn receipt_decided(key: ReceiptKey, project_id: ProjectId, decided: Decided) -> Statement {
    let Decided { decision, at, note, by, refund } = decided;
    let (payment_id, difference) = match decision {
        Decision::Accepted { payment_id, difference } => (Value::stored(payment_id), difference.into()),
        Decision::Returned => (Value::Null, Value::Null),
    };
    Statement::new(
        "UPDATE receipts SET decision = $1, decided_at = $2, decision_note = $3, decided_by = $4, \
         decided_payment_id = $5, difference = $6, decided_refund_id = $7 \
         WHERE provider = $8 AND id = $9 AND project_id = $10 \
         AND kind = 'money' AND outcome = 'unapplied' AND decision IS NULL",
        [
            decision.word().into(),
            at.into(),
            note.into(),
            by.map(|by| by.to_string()).into(),
            payment_id,
            difference,
            refund.map(|refund| refund.to_string()).into(),
            key.provider.into(),
            key.id.into(),
            Value::stored(project_id),
        ],
    )
    .guarded(Guard::ReceiptUndecided)
}

fn receipt_held_again(receipt_id: ReceiptId, project_id: ProjectId, refund_id: RefundId) -> Statement {
    Statement::new(
        "UPDATE receipts SET decision = NULL, decided_at = NULL, decision_note = NULL, decided_by = NULL, \
         decided_refund_id = NULL WHERE public_id = $1 AND project_id = $2 AND decided_refund_id = $3",
        [Value::stored(receipt_id), Value::stored(project_id), refund_id.to_string().into()],
    )
    .guarded(Guard::ReceiptReturning)
}

fn new_posting(statements: &mut Vec<Statement>, posting: &Posting) {
    let id = posting.id();
    statements.push(Statement::new(
        "INSERT INTO postings (id, project_id, payment_id, kind, at) VALUES ($1, $2, $3, $4, $5)",
        [
            id.clone().into(),
            Value::stored(posting.project_id),
            Value::stored(posting.payment_id),
            posting.kind().into(),
            posting.at.into(),
        ],
    ));
    statements.extend(posting.legs().iter().map(|(account, amount)| {
        Statement::new(
            "INSERT INTO entries (project_id, account, at, posting_id, amount) VALUES ($1, $2, $3, $4, $5)",
            [
                Value::stored(posting.project_id),
                account.word().into(),
                posting.at.into(),
                id.clone().into(),
                (*amount).into(),
            ],
        )
    }));
    // An entry sorts below a checkpoint of its account only after the clock was set back; the checkpoints from there on
    // are then wrong.
    statements.push(Statement::new(
        "DELETE FROM balance_checkpoints WHERE project_id = $1 AND at >= $2",
        [Value::stored(posting.project_id), posting.at.into()],
    ));
    // Money is posted in a closed hour only after the clock was set back; that hour and those after it are then open
    // again.
    if let Cause::Paid(_) | Cause::Accepted(_) = posting.cause {
        statements.push(Statement::new(
            "DELETE FROM volumes WHERE project_id = $1 AND hour >= $2",
            [Value::stored(posting.project_id), (posting.at.as_millis() / HOUR_MILLIS).into()],
        ));
    }
}
