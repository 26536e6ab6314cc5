//! What banks were told while an outcome was not known, and what was found out later.

use domain::{
    bank_difference::DifferenceKey,
    money::Rupiah,
    time::Timestamp,
    undecided::{OpenWord, UndecidedFinding, UndecidedWord},
};

use super::statement::Statement;
use crate::{error::Guard, value::Value};

pub(super) fn insert_word(word: UndecidedWord) -> Statement {
    Statement::new(
        "INSERT INTO bank_undecided (account_id, external_id, request_id, number, amount, asked_at, said, said_at, \
         due_at, tries) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0) ON CONFLICT DO NOTHING",
        columns(word),
    )
}

/// It finds what `Store::booking_of` finds, too.
pub(super) fn insert_word_of_booked(word: UndecidedWord) -> Statement {
    let booked_until = word.booked_until();
    let mut parameters = columns(word).to_vec();
    parameters.push(booked_until.into());
    Statement::new(
        "INSERT INTO bank_undecided (account_id, external_id, request_id, number, amount, asked_at, said, said_at, \
         due_at, tries) SELECT $1, $2, $3, $4, CAST($5 AS BIGINT), CAST($6 AS BIGINT), $7, CAST($8 AS BIGINT), \
         CAST($9 AS BIGINT), 0 WHERE EXISTS (SELECT 1 FROM bank_requests WHERE account_id = $1 AND request_id = $3 \
         AND number = $4 AND amount = $5 AND is_first = 1 AND verdict = 'accepted' AND at <= $10) ON CONFLICT DO NOTHING",
        parameters,
    )
}

/// A word's columns. It is due at once.
fn columns(word: UndecidedWord) -> [Value; 9] {
    let due_at = word.said_at;
    [
        Value::stored(word.account_id),
        word.external_id.into(),
        word.request_id.into(),
        word.number.into(),
        word.amount.into(),
        word.asked_at.into(),
        word.said.into(),
        word.said_at.into(),
        due_at.into(),
    ]
}

pub(super) fn looked_after(open: OpenWord, finding: Option<UndecidedFinding>, due_at: Option<Timestamp>) -> Statement {
    Statement::new(
        "UPDATE bank_undecided SET finding = $1, due_at = $2, tries = tries + 1 \
         WHERE account_id = $3 AND external_id = $4 AND asked_at = $5 AND due_at = $6",
        [
            finding.map(UndecidedFinding::word).map(Value::from).unwrap_or(Value::Null),
            due_at.into(),
            Value::stored(open.word.account_id),
            open.word.external_id.into(),
            open.word.asked_at.into(),
            open.due_at.into(),
        ],
    )
    .guarded(Guard::JobDue)
}

/// What the bank has answered. A difference that a person has settled is open again if the bank knows another amount than we.
pub(super) fn difference_answered(key: DifferenceKey, theirs: Rupiah) -> Statement {
    Statement::new(
        "UPDATE bank_differences SET theirs = $1, \
         settled_at = CASE WHEN ours = $1 THEN settled_at ELSE NULL END, note = CASE WHEN ours = $1 THEN note ELSE NULL END \
         WHERE account_id = $2 AND subject = $3 AND kind = $4 AND theirs IS DISTINCT FROM $1",
        [theirs.into(), Value::stored(key.account_id), key.subject.into(), key.kind.word().into()],
    )
}
