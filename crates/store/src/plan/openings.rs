//! Codes that banks issue.

use std::sync::LazyLock;

use domain::{
    bank_difference::{Difference, DifferenceKey, Reconciliation},
    bank_money::MoneyMarks,
    id::{BankAccountId, OpeningId},
    opening::{BankCode, BankJob, BankSend, JobKey, JobKind, MoneySource, Opening, OpeningAttempt, OpeningState},
    payment::Checkout,
    receipt::ReceiptKey,
    time::Timestamp,
};

use super::statement::{Dialect, Statement, insert, joined};
use crate::{
    change::OpeningWrite,
    error::Guard,
    terms_columns::{checkout_columns, checkout_values, terms_columns, terms_values},
    value::Value,
};

static OPENED: LazyLock<String> = LazyLock::new(|| {
    insert("openings", &["id, account_id, state, generation, created_at, version", terms_columns!("")])
});
static ATTEMPTED: LazyLock<String> =
    LazyLock::new(|| insert("opening_attempts", &["opening_id, visitor, network, replaces", checkout_columns!("")]));

/// Adds a job for the newest code of an opening. The rest of the statement says which openings. A job that is there already
/// is due no later, and in any case at another time than before: who holds its lease does not end it.
macro_rules! queue_job {
    ($which:literal) => {
        concat!(
            "INSERT INTO bank_jobs (opening_id, kind, generation, account_id, due_at, tries, created_at, outcome) \
             SELECT o.id, $1, o.generation, o.account_id, CAST($2 AS BIGINT), 0, CAST($2 AS BIGINT), '' FROM openings o ",
            $which,
            " ON CONFLICT (opening_id, kind, generation) DO UPDATE SET due_at = CASE \
             WHEN bank_jobs.due_at <= excluded.due_at THEN bank_jobs.due_at - 1 ELSE excluded.due_at END"
        )
    };
}

/// `is_taken_over`: the same change creates a payment with what the opening has kept about a customer.
pub(super) fn plan(statements: &mut Vec<Statement>, write: OpeningWrite, is_taken_over: bool, dialect: Dialect) {
    let statement = match write {
        OpeningWrite::Opened { opening, code } => return opened(statements, *opening, code),
        OpeningWrite::Reopened { id, version, account_id, created_at, expires_at, code } => {
            let parameters = [
                code.generation.into(),
                Value::stored(account_id),
                created_at.into(),
                expires_at.into(),
                Value::stored(id),
                version.into(),
            ];
            statements.push(reopened(parameters));
            new_code(code)
        }
        OpeningWrite::Issued { id, version, payment_id } | OpeningWrite::Paid { id, version, payment_id } => {
            if is_taken_over {
                statements.push(taken_over(Value::stored(id)));
            }
            issued(Value::stored(id), version, Value::stored(payment_id))
        }
        OpeningWrite::Refused { id, version, at } => resolved("refused", Value::stored(id), version, at),
        OpeningWrite::Abandoned { id, version, at } => resolved("abandoned", Value::stored(id), version, at),
        OpeningWrite::CodeTold { account_id, reference, bank_reference, number } => {
            let account = Value::stored(account_id);
            // A number that a bank has given out again belongs to its newest code.
            statements.extend(
                number.clone().map(|number| number_left([account.clone(), number.into(), reference.clone().into()])),
            );
            code_told([bank_reference.into(), number.into(), account, reference.into()])
        }
        OpeningWrite::JobQueued(job) => queued(job),
        OpeningWrite::VoidQueued { payment_id, at } => void_queued(Value::stored(payment_id), at),
        OpeningWrite::JobLeased { key, from, to } => leased(key, from, to),
        OpeningWrite::JobPostponed { key, from, to, outcome } => postponed(key, from, to, outcome),
        OpeningWrite::JobDone { key, outcome } => job_done(key, outcome),
        OpeningWrite::JobEnded { key, leased_until, outcome } => job_ended(key, leased_until, outcome),
        OpeningWrite::Sent(send) => sent(send),
        OpeningWrite::Answered { account_id, day, external_id, code, at } => Statement::new(
            "UPDATE bank_sends SET code = $1, answered_at = $2 WHERE account_id = $3 AND day = $4 AND external_id = $5",
            [code.into(), at.into(), Value::stored(account_id), day.into(), external_id.into()],
        ),
        OpeningWrite::SendsForgotten { before, most } => sends_forgotten(before, most, dialect),
        OpeningWrite::AttemptsForgotten { before, most } => attempts_forgotten(Value::stored(before), most),
        OpeningWrite::SerialsReserved { account_id, day, from, upto } => {
            serials_reserved([Value::stored(account_id), day.into(), upto.into(), from.into()])
        }
        OpeningWrite::MoneyTold { receipt, bank_id, marks, source, amount, paid_at, at } => {
            money_told(receipt, bank_id, &marks, source, [amount.into(), paid_at.into(), at.into()])
        }
        OpeningWrite::MoneyMarked { receipt, marks } => money_marked(receipt, &marks),
        OpeningWrite::MoneyNotified { receipt, paid_at } => money_notified(receipt, paid_at),
        OpeningWrite::MoneyNamed { receipt, from, bank_id } => money_named(receipt, from, bank_id),
        OpeningWrite::MoneyCame { id, version } => money_came(id, version),
        OpeningWrite::ComparisonLeased { account_id, now, until } => {
            comparison_leased([Value::stored(account_id), until.into(), now.into()])
        }
        OpeningWrite::ComparisonRenewed { account_id, from, until } => comparison_renewed(account_id, from, until),
        OpeningWrite::ComparisonEnded { account_id, from, retry_at } => comparison_ended(account_id, from, retry_at),
        OpeningWrite::Reconciled(reconciliation) => reconciled(reconciliation),
        OpeningWrite::DifferenceFound(difference) => difference_found(difference),
        OpeningWrite::DifferenceSettled { key, at, note } => difference_settled(key, at, note),
    };
    statements.push(statement);
}

fn number_left(parameters: [Value; 3]) -> Statement {
    Statement::new(
        "UPDATE bank_codes SET number = NULL WHERE account_id = $1 AND number = $2 AND reference <> $3",
        parameters,
    )
}

fn code_told(parameters: [Value; 4]) -> Statement {
    Statement::new(
        "UPDATE bank_codes SET bank_reference = COALESCE($1, bank_reference), number = COALESCE($2, number) \
         WHERE account_id = $3 AND reference = $4",
        parameters,
    )
}

fn reopened(parameters: [Value; 6]) -> Statement {
    Statement::new(
        "UPDATE openings SET state = 'open', resolved_at = NULL, generation = $1, account_id = $2, created_at = $3, \
         expires_at = $4, version = version + 1 WHERE id = $5 AND version = $6",
        parameters,
    )
    .guarded(Guard::OpeningVersion)
}

fn issued(id: Value, version: i64, payment_id: Value) -> Statement {
    Statement::new(
        "UPDATE openings SET state = 'issued', payment_id = $1, resolved_at = NULL, version = version + 1 \
         WHERE id = $2 AND version = $3",
        [payment_id, id, version.into()],
    )
    .guarded(Guard::OpeningVersion)
}

fn void_queued(payment_id: Value, at: Timestamp) -> Statement {
    Statement::new(queue_job!("WHERE o.payment_id = $3"), [JobKind::Void.word().into(), at.into(), payment_id])
}

fn leased(key: JobKey, from: Timestamp, to: Timestamp) -> Statement {
    Statement::new(
        "UPDATE bank_jobs SET due_at = $1, tries = tries + 1 \
         WHERE opening_id = $2 AND kind = $3 AND generation = $4 AND due_at = $5",
        [to.into(), Value::stored(key.opening_id), key.kind.word().into(), key.generation.into(), from.into()],
    )
    .guarded(Guard::JobDue)
}

fn postponed(key: JobKey, from: Timestamp, to: Timestamp, outcome: String) -> Statement {
    let JobKey { opening_id, kind, generation } = key;
    Statement::new(
        "UPDATE bank_jobs SET due_at = $1, outcome = $2 \
         WHERE opening_id = $3 AND kind = $4 AND generation = $5 AND due_at = $6",
        [to.into(), outcome.into(), Value::stored(opening_id), kind.word().into(), generation.into(), from.into()],
    )
    .guarded(Guard::JobDue)
}

fn serials_reserved(parameters: [Value; 4]) -> Statement {
    Statement::new(
        "INSERT INTO bank_serials (account_id, day, upto) VALUES ($1, $2, $3) ON CONFLICT (account_id, day) \
         DO UPDATE SET upto = excluded.upto WHERE bank_serials.upto = $4",
        parameters,
    )
    .guarded(Guard::Serials)
}

fn money_told(
    receipt: ReceiptKey,
    bank_id: String,
    marks: &MoneyMarks,
    source: MoneySource,
    [amount, paid_at, at]: [Value; 3],
) -> Statement {
    let told = [receipt.provider.into(), receipt.id.into(), source.word().into(), amount, paid_at, at, bank_id.into()];
    Statement::new(
        "INSERT INTO bank_money (account_id, receipt_id, source, amount, paid_at, told_at, bank_id, reference, \
         bank_reference, number, rrn, payment_reference, stated_at, lacks_amount) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING",
        told.into_iter().chain(mark_values(marks)).chain([marks.lacks_amount.into()]).collect::<Vec<Value>>(),
    )
    .guarded(Guard::Receipt)
}

/// Another message may have said something else of the money meanwhile: then they are about different money.
fn money_marked(receipt: ReceiptKey, marks: &MoneyMarks) -> Statement {
    let key = [receipt.provider.into(), receipt.id.into()];
    Statement::new(
        "UPDATE bank_money SET reference = COALESCE(reference, $1), bank_reference = COALESCE(bank_reference, $2), \
         number = COALESCE(number, $3), rrn = COALESCE(rrn, $4), \
         payment_reference = COALESCE(payment_reference, $5), stated_at = COALESCE(stated_at, $6) \
         WHERE account_id = $7 AND receipt_id = $8 AND COALESCE(reference = $1, TRUE) \
         AND COALESCE(bank_reference = $2, TRUE) AND COALESCE(number = $3, TRUE) AND COALESCE(rrn = $4, TRUE) \
         AND COALESCE(payment_reference = $5, TRUE) \
         AND (source <> 'notification' OR COALESCE(ABS(stated_at - CAST($6 AS BIGINT)) < 1000, TRUE))",
        mark_values(marks).into_iter().chain(key).collect::<Vec<Value>>(),
    )
    .guarded(Guard::Receipt)
}

fn money_notified(receipt: ReceiptKey, paid_at: Timestamp) -> Statement {
    let notification = MoneySource::Notification.word();
    Statement::new(
        "UPDATE bank_money SET source = $1, stated_at = $2 WHERE account_id = $3 AND receipt_id = $4 AND source <> $1",
        [notification.into(), paid_at.into(), receipt.provider.into(), receipt.id.into()],
    )
    .guarded(Guard::Receipt)
}

fn money_named(receipt: ReceiptKey, from: String, bank_id: String) -> Statement {
    Statement::new(
        "UPDATE bank_money SET bank_id = $1 WHERE account_id = $2 AND receipt_id = $3 AND bank_id = $4",
        [bank_id.into(), receipt.provider.into(), receipt.id.into(), from.into()],
    )
    .guarded(Guard::Receipt)
}

fn money_came(id: OpeningId, version: i64) -> Statement {
    Statement::new(
        "UPDATE openings SET version = version + 1 WHERE id = $1 AND version = $2",
        [Value::stored(id), version.into()],
    )
    .guarded(Guard::OpeningVersion)
}

fn mark_values(marks: &MoneyMarks) -> [Value; 6] {
    let MoneyMarks { reference, bank_reference, number, rrn, payment_reference, paid_at, .. } = marks;
    let [reference, bank_reference, number, rrn, payment_reference] =
        [reference, bank_reference, number, rrn, payment_reference].map(|text| Value::from(text.clone()));
    [reference, bank_reference, number, rrn, payment_reference, (*paid_at).into()]
}

fn comparison_leased(parameters: [Value; 3]) -> Statement {
    Statement::new(
        "INSERT INTO bank_comparisons (account_id, leased_until, retry_at) VALUES ($1, $2, 0) \
         ON CONFLICT (account_id) DO UPDATE SET leased_until = excluded.leased_until \
         WHERE bank_comparisons.leased_until <= $3",
        parameters,
    )
    .guarded(Guard::Comparing)
}

fn comparison_renewed(account_id: BankAccountId, from: Timestamp, until: Timestamp) -> Statement {
    Statement::new(
        "UPDATE bank_comparisons SET leased_until = $1 WHERE account_id = $2 AND leased_until = $3",
        [until.into(), Value::stored(account_id), from.into()],
    )
    .guarded(Guard::Comparing)
}

fn comparison_ended(account_id: BankAccountId, from: Timestamp, retry_at: Timestamp) -> Statement {
    Statement::new(
        "UPDATE bank_comparisons SET leased_until = 0, retry_at = $1 WHERE account_id = $2 AND leased_until = $3",
        [retry_at.into(), Value::stored(account_id), from.into()],
    )
}

/// Queues the void of every code of a link's pending payments that is about to be cancelled.
pub(super) fn voids_of_link(link_id: Value, but: Value, at: Timestamp) -> Statement {
    Statement::new(
        queue_job!(
            "JOIN payments p ON p.id = o.payment_id \
             WHERE p.link_id = $3 AND p.state = 'pending' AND p.expires_at >= $2 AND p.id <> $4"
        ),
        [JobKind::Void.word().into(), at.into(), link_id, but],
    )
}

/// Likewise for the pending payment of a visitor.
pub(super) fn void_of_visitor(link_id: Value, visitor: Value, at: Timestamp) -> Statement {
    Statement::new(
        queue_job!(
            "JOIN payments p ON p.id = o.payment_id WHERE p.id = (SELECT a.payment_id FROM link_attempts a \
             WHERE a.link_id = $3 AND a.visitor = $4 ORDER BY a.link_version DESC LIMIT 1) \
             AND p.state = 'pending' AND p.expires_at >= $2"
        ),
        [JobKind::Void.word().into(), at.into(), link_id, visitor],
    )
}

fn opened(statements: &mut Vec<Statement>, opening: Opening, code: BankCode) {
    let Opening { id, account_id, mut terms, attempt, state: _, generation, created_at, version } = opening;
    let checkout = terms.checkout.take();
    let own = [
        Value::stored(id),
        Value::stored(account_id),
        OpeningState::Open.word().into(),
        generation.into(),
        created_at.into(),
        version.into(),
    ];
    statements.push(Statement::new(&OPENED, own.into_iter().chain(terms_values(terms)).collect::<Vec<Value>>()));
    if let Some(attempt) = attempt {
        statements.push(attempted(Value::stored(id), checkout.unwrap_or_default(), attempt));
    }
    statements.push(new_code(code));
}

fn attempted(id: Value, checkout: Checkout, attempt: OpeningAttempt) -> Statement {
    let OpeningAttempt { visitor, network, replaces } = attempt;
    let own = [id, visitor.into(), network.into(), joined(replaces)];
    Statement::new(&ATTEMPTED, own.into_iter().chain(checkout_values(checkout)).collect::<Vec<Value>>())
}

fn taken_over(id: Value) -> Statement {
    Statement::new("DELETE FROM opening_attempts WHERE opening_id = $1", [id])
}

fn attempts_forgotten(before: Value, most: i64) -> Statement {
    Statement::new(
        "DELETE FROM opening_attempts WHERE opening_id IN (SELECT a.opening_id FROM opening_attempts a \
         JOIN openings o ON o.id = a.opening_id WHERE a.opening_id < $1 AND o.resolved_at IS NOT NULL \
         ORDER BY a.opening_id LIMIT $2)",
        [before, most.into()],
    )
}

fn new_code(code: BankCode) -> Statement {
    Statement::new(
        "INSERT INTO bank_codes (account_id, reference, opening_id, generation, bank_reference, number, asked_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
        [
            Value::stored(code.account_id),
            code.reference.into(),
            Value::stored(code.opening_id),
            code.generation.into(),
            code.bank_reference.into(),
            code.number.into(),
            code.asked_at.into(),
        ],
    )
    .guarded(Guard::AccountNumber)
}

fn resolved(state: &'static str, id: Value, version: i64, at: Timestamp) -> Statement {
    Statement::new(
        "UPDATE openings SET state = $1, resolved_at = $2, version = version + 1 \
         WHERE id = $3 AND version = $4 AND state = 'open'",
        [state.into(), at.into(), id, version.into()],
    )
    .guarded(Guard::OpeningVersion)
}

fn queued(job: BankJob) -> Statement {
    Statement::new(
        "INSERT INTO bank_jobs (opening_id, kind, generation, account_id, due_at, tries, created_at, outcome) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, '') ON CONFLICT (opening_id, kind, generation) DO UPDATE SET \
         due_at = CASE WHEN bank_jobs.due_at <= excluded.due_at THEN bank_jobs.due_at - 1 ELSE excluded.due_at END",
        [
            Value::stored(job.key.opening_id),
            job.key.kind.word().into(),
            job.key.generation.into(),
            Value::stored(job.account_id),
            job.due_at.into(),
            job.tries.into(),
            job.created_at.into(),
        ],
    )
}

fn job_done(key: JobKey, outcome: String) -> Statement {
    Statement::new(
        "UPDATE bank_jobs SET due_at = NULL, outcome = $1 WHERE opening_id = $2 AND kind = $3 AND generation = $4",
        [outcome.into(), Value::stored(key.opening_id), key.kind.word().into(), key.generation.into()],
    )
}

fn job_ended(key: JobKey, leased_until: Timestamp, outcome: String) -> Statement {
    let JobKey { opening_id, kind, generation } = key;
    Statement::new(
        "UPDATE bank_jobs SET due_at = NULL, outcome = $1 \
         WHERE opening_id = $2 AND kind = $3 AND generation = $4 AND due_at = $5",
        [outcome.into(), Value::stored(opening_id), kind.word().into(), generation.into(), leased_until.into()],
    )
}

fn sent(send: BankSend) -> Statement {
    let (code, answered_at) = send.answer.unzip();
    let (opening_id, generation) = send.about.unzip();
    Statement::new(
        "INSERT INTO bank_sends (account_id, day, external_id, service, opening_id, generation, sent_at, code, \
         answered_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING",
        [
            Value::stored(send.account_id),
            send.day.into(),
            send.external_id.into(),
            send.service.into(),
            opening_id.map(Value::stored).unwrap_or(Value::Null),
            generation.into(),
            send.sent_at.into(),
            code.into(),
            answered_at.into(),
        ],
    )
    .guarded(Guard::ExternalId)
}

fn sends_forgotten(before: i64, most: i64, dialect: Dialect) -> Statement {
    let sql = match dialect {
        Dialect::Sqlite => {
            "DELETE FROM bank_sends WHERE (account_id, day, external_id) IN \
             (SELECT account_id, day, external_id FROM bank_sends WHERE day < $1 ORDER BY day LIMIT $2)"
        }
        Dialect::Postgres => {
            "DELETE FROM bank_sends WHERE ctid = ANY (ARRAY \
             (SELECT ctid FROM bank_sends WHERE day < $1 ORDER BY day LIMIT $2 FOR UPDATE SKIP LOCKED))"
        }
    };
    Statement::new(sql, [before.into(), most.into()])
}

fn reconciled(reconciliation: Reconciliation) -> Statement {
    let Reconciliation { account_id, day, by, first_at, at, .. } = reconciliation;
    let Reconciliation { matched, missing_here, missing_there, differing, bank_fees, .. } = reconciliation;
    Statement::new(
        "INSERT INTO bank_reconciliations (account_id, day, compared_by, first_at, at, matched, matched_amount, \
         missing_here, missing_here_amount, missing_there, missing_there_amount, differing, differing_amount, bank_fees, \
         bank_fees_amount) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) \
         ON CONFLICT (account_id, day) DO UPDATE SET compared_by = excluded.compared_by, at = excluded.at, \
         matched = excluded.matched, matched_amount = excluded.matched_amount, missing_here = excluded.missing_here, \
         missing_here_amount = excluded.missing_here_amount, missing_there = excluded.missing_there, \
         missing_there_amount = excluded.missing_there_amount, differing = excluded.differing, \
         differing_amount = excluded.differing_amount, bank_fees = excluded.bank_fees, \
         bank_fees_amount = excluded.bank_fees_amount",
        [
            Value::stored(account_id),
            day.into(),
            by.word().into(),
            first_at.into(),
            at.into(),
            matched.count.into(),
            matched.amount.into(),
            missing_here.count.into(),
            missing_here.amount.into(),
            missing_there.count.into(),
            missing_there.amount.into(),
            differing.count.into(),
            differing.amount.into(),
            bank_fees.count.into(),
            bank_fees.amount.into(),
        ],
    )
}

/// A difference that is known is left as it is, settled or not, unless the figures are others now: then it is open again.
fn difference_found(difference: Difference) -> Statement {
    let Difference { key, day, payment_id, ours, theirs, found_at, settled } = difference;
    let (settled_at, note) = settled.unzip();
    Statement::new(
        "INSERT INTO bank_differences (account_id, subject, kind, day, payment_id, ours, theirs, found_at, settled_at, \
         note) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (account_id, subject, kind) DO UPDATE SET \
         ours = excluded.ours, theirs = COALESCE(excluded.theirs, bank_differences.theirs), \
         found_at = CASE WHEN bank_differences.settled_at IS NULL THEN bank_differences.found_at ELSE excluded.found_at END, \
         settled_at = excluded.settled_at, note = excluded.note \
         WHERE bank_differences.ours IS DISTINCT FROM excluded.ours \
         OR (excluded.theirs IS NOT NULL AND bank_differences.theirs IS DISTINCT FROM excluded.theirs)",
        [
            Value::stored(key.account_id),
            key.subject.into(),
            key.kind.word().into(),
            day.into(),
            payment_id.map(Value::stored).unwrap_or(Value::Null),
            ours.into(),
            theirs.into(),
            found_at.into(),
            settled_at.into(),
            note.into(),
        ],
    )
}

fn difference_settled(key: DifferenceKey, at: Timestamp, note: String) -> Statement {
    Statement::new(
        "UPDATE bank_differences SET settled_at = $1, note = $2 \
         WHERE account_id = $3 AND subject = $4 AND kind = $5 AND settled_at IS NULL",
        [at.into(), note.into(), Value::stored(key.account_id), key.subject.into(), key.kind.word().into()],
    )
    .guarded(Guard::DifferenceOpen)
}
