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
    let due_at = word.said_at;
    Statement::new(
        "INSERT INTO bank_undecided (account_id, external_id, request_id, number, amount, asked_at, said, said_at, \
         due_at, tries) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0) ON CONFLICT DO NOTHING",
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
        ],
    )
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

pub(super) fn difference_answered(key: DifferenceKey, theirs: Rupiah) -> Statement {
    Statement::new(
        "UPDATE bank_differences SET theirs = $1 WHERE account_id = $2 AND subject = $3 AND kind = $4",
        [theirs.into(), Value::stored(key.account_id), key.subject.into(), key.kind.word().into()],
    )
}
