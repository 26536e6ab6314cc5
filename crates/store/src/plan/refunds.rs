//! Refunds, the attempts to send them, and batches of transfers.

use std::sync::LazyLock;

use domain::{
    id::{PaymentId, ProjectId, RefundId},
    money::Rupiah,
    refund::{
        CLAIM_TRIES_MOST, PendingReason, Refund, RefundState, SumsMove,
        doubt::StatementReading,
        transfer::{AttemptState, TransferAttempt},
    },
    refund_settings::Party,
    time::Timestamp,
};

use super::statement::{Statement, insert};
use crate::{
    change::{RefundWrite, SealedClaim},
    error::Guard,
    metadata_column,
    value::Value,
};

/// The columns that never change.
const FIXED: &str = "id, project_id, payment_id, receipt_id, amount, from_pending, from_available, from_fee, \
    from_unapplied, reason, metadata, made_by, created_at";
/// The columns that do.
const CHANGING: &str = "status, pending_reason, road, destination_bank, destination_digits, destination_holder, \
    destination_checked, destination_by, claim_expires_at, claim_tries, approved_by, failing_by, bank_reference, failure_reason, batch, \
    simulated_at, updated_at, succeeded_at, fee_returned, failing_at, failing_attempt, failing_confirmed, found_done_at, \
    found_from_pending, found_from_unapplied, found_failure";

static CREATED: LazyLock<String> =
    LazyLock::new(|| insert("refunds", &[FIXED, CHANGING, "destination_number, claim_hash, claim_token, version"]));
static CHANGED: LazyLock<String> = LazyLock::new(|| {
    let set: Vec<String> =
        CHANGING.split(", ").zip(1..).map(|(column, place): (_, usize)| format!("{column} = ${place}")).collect();
    let next = set.len() + 1;
    let [number, hash, token, id, version] = [next, next + 1, next + 2, next + 3, next + 4];
    // The bank and the end of the claim are the fourth and the ninth.
    format!(
        "UPDATE refunds SET {}, destination_number = CASE WHEN CAST($4 AS TEXT) IS NULL THEN NULL \
         ELSE COALESCE(${number}, destination_number) END, \
         claim_hash = CASE WHEN CAST($9 AS BIGINT) IS NULL THEN NULL ELSE COALESCE(${hash}, claim_hash) END, \
         claim_token = CASE WHEN CAST($9 AS BIGINT) IS NULL THEN NULL ELSE COALESCE(${token}, claim_token) END, version = version + 1 \
         WHERE id = ${id} AND version = ${version}",
        set.join(", ")
    )
});

/// What is available is added up from the last checkpoint on. The statement before this one makes refunds of one project wait for
/// each other, so this one sees what the others have taken.
const COVERED: &str = "UPDATE refund_turns SET turns = turns + 1 WHERE project_id = $1 AND $2 <= \
    COALESCE((SELECT c.balance FROM balance_checkpoints c WHERE c.project_id = $1 AND c.account = 'available' \
    ORDER BY c.at DESC, c.posting_id DESC LIMIT 1), 0) + \
    (SELECT CAST(COALESCE(SUM(e.amount), 0) AS BIGINT) FROM entries e WHERE e.project_id = $1 AND e.account = 'available' \
    AND (e.at, e.posting_id) > (COALESCE((SELECT c.at FROM balance_checkpoints c WHERE c.project_id = $1 \
    AND c.account = 'available' ORDER BY c.at DESC, c.posting_id DESC LIMIT 1), -1), \
    COALESCE((SELECT c.posting_id FROM balance_checkpoints c WHERE c.project_id = $1 \
    AND c.account = 'available' ORDER BY c.at DESC, c.posting_id DESC LIMIT 1), '')))";

const SUMS: &str = "UPDATE payments SET refunded = refunded + $1, refunding = refunding + $2, version = version + 1 \
    WHERE id = $3 AND version = $4 AND state = 'paid'";
const BOUNDED_SUMS: &str = "UPDATE payments SET refunded = refunded + $1, refunding = refunding + $2, \
    version = version + 1 WHERE id = $3 AND version = $4 AND state = 'paid' AND refunded + refunding + $1 + $2 <= amount + \
    COALESCE((SELECT MAX(r.difference) FROM receipts r WHERE r.decided_payment_id = payments.id), 0)";

pub(super) fn plan(statements: &mut Vec<Statement>, write: RefundWrite) {
    match write {
        RefundWrite::Created { refund, sealed_number, claim } => created(statements, *refund, sealed_number, claim),
        RefundWrite::Changed { refund, from, sealed_number, claim } => {
            changed(statements, *refund, from, sealed_number, claim);
        }
        RefundWrite::Sums { payment_id, version, moved } => statements.push(sums(payment_id, version, moved, true)),
        RefundWrite::SumsFoundDone { payment_id, version, moved } => {
            statements.push(sums(payment_id, version, moved, false));
        }
        RefundWrite::Covered { project_id, needed } => {
            statements.push(turn(project_id));
            statements.push(
                Statement::new(COVERED, [Value::stored(project_id), needed.into()]).guarded(Guard::RefundCovered),
            );
        }
        RefundWrite::ReferenceFree { project_id, refund_id, reference } => {
            statements.push(turn(project_id));
            statements.push(reference_free(project_id, refund_id, reference));
        }
        RefundWrite::ClaimTried { id, hash, now } => statements.push(
            Statement::new(
                "UPDATE refunds SET claim_tries = claim_tries + 1 WHERE id = $1 AND claim_hash = $2 \
                 AND claim_expires_at >= $3 AND claim_tries < $4 AND status = 'requires_action'",
                [Value::stored(id), hash.0.to_vec().into(), now.into(), CLAIM_TRIES_MOST.into()],
            )
            .guarded(Guard::ClaimOpen),
        ),
        RefundWrite::AttemptSent { attempt, project_id, refund_version, from } => {
            attempt_sent(statements, attempt, project_id, refund_version, from);
        }
        RefundWrite::AloneOfPayment { payment_id, refund_id } => alone_of_payment(statements, payment_id, refund_id),
        RefundWrite::AttemptNoted { attempt, from, asked } => statements.push(attempt_noted(attempt, from, asked)),
        RefundWrite::StatementRead { refund_id, number, reading } => {
            statements.push(statement_read(refund_id, number, reading));
        }
        RefundWrite::Batch { project_id, number, made_by, at, refunds } => {
            batch(statements, (project_id, number), made_by, at, refunds);
        }
    }
}

/// `is_bounded`: whether the refunds may not exceed the money that was received. Only what adds to them can; their sum may do so
/// already, by one that was found done.
fn sums(payment_id: PaymentId, version: i64, moved: SumsMove, is_bounded: bool) -> Statement {
    let adds = is_bounded && moved.succeeded + moved.unfinished > Rupiah::ZERO;
    Statement::new(
        if adds { BOUNDED_SUMS } else { SUMS },
        [moved.succeeded.into(), moved.unfinished.into(), Value::stored(payment_id), version.into()],
    )
    .guarded(Guard::PaymentVersion)
}

fn created(
    statements: &mut Vec<Statement>,
    refund: Refund,
    sealed_number: Option<Vec<u8>>,
    claim: Option<SealedClaim>,
) {
    statements.extend(counted(refund.project_id, refund.state, 1, refund.amount));
    let fixed = [
        Value::stored(refund.id),
        Value::stored(refund.project_id),
        Value::stored(refund.of.about()),
        refund.of.receipt().map(Value::stored).unwrap_or(Value::Null),
        refund.amount.into(),
        refund.split.pending.into(),
        refund.split.available.into(),
        refund.split.fee.into(),
        refund.split.unapplied.into(),
        refund.reason.clone().into(),
        refund.metadata.as_ref().map(metadata_column::written).into(),
        refund.made_by.to_string().into(),
        refund.created_at.into(),
    ];
    let (hash, token) = claim.map(|claim| (claim.hash.0.to_vec(), claim.sealed)).unzip();
    let version = refund.version;
    let last: [Value; 4] = [sealed_number.into(), hash.into(), token.into(), version.into()];
    let values: Vec<Value> = fixed.into_iter().chain(changing(refund)).chain(last).collect();
    statements.push(Statement::new(&CREATED, values));
}

fn changed(
    statements: &mut Vec<Statement>,
    refund: Refund,
    from: RefundState,
    sealed_number: Option<Vec<u8>>,
    claim: Option<SealedClaim>,
) {
    let (id, project_id, version, state, amount) =
        (refund.id, refund.project_id, refund.version, refund.state, refund.amount);
    let (hash, token) = claim.map(|claim| (claim.hash.0.to_vec(), claim.sealed)).unzip();
    let last: [Value; 5] = [sealed_number.into(), hash.into(), token.into(), Value::stored(id), version.into()];
    let values: Vec<Value> = changing(refund).into_iter().chain(last).collect();
    statements.push(Statement::new(&CHANGED, values).guarded(Guard::RefundVersion));
    statements.extend(moved(project_id, from, state, amount));
}

/// The values of [`CHANGING`].
fn changing(refund: Refund) -> [Value; 26] {
    let (split, doubt) = (refund.split, refund.doubt);
    let is_found = refund.found.is_some();
    let (found_at, found_failure) = refund.found.map(|found| (found.at, found.failure)).unzip();
    let destination = refund.destination;
    let is_checked = destination.as_ref().is_some_and(|destination| destination.is_checked);
    let bank = destination.as_ref().map(|destination| destination.bank.code);
    let (digits, holder) = destination.map(|destination| (destination.last_digits, destination.holder)).unzip();
    [
        refund.state.status().word().into(),
        refund.state.pending_reason().map(PendingReason::word).into(),
        refund.road.word().into(),
        bank.into(),
        digits.into(),
        holder.flatten().into(),
        is_checked.into(),
        refund.destination_by.map(|by| by.to_string()).into(),
        refund.claim.map(|claim| claim.expires_at).into(),
        refund.claim.map_or(0, |claim| claim.tries).into(),
        refund.approved_by.map(|by| by.to_string()).into(),
        doubt.map(|doubt| doubt.by.to_string()).into(),
        refund.bank_reference.into(),
        refund.failure_reason.into(),
        refund.batch.into(),
        refund.simulated_at.into(),
        refund.updated_at.into(),
        refund.state.succeeded_at().into(),
        refund.fee_returned.into(),
        doubt.map(|doubt| doubt.at).into(),
        doubt.map(|doubt| doubt.attempt).into(),
        doubt.map(|doubt| doubt.is_confirmed).into(),
        found_at.into(),
        is_found.then_some(split.pending).into(),
        is_found.then_some(split.unapplied).into(),
        found_failure.into(),
    ]
}

/// The word under which refunds in this state are counted.
fn standing(state: RefundState) -> &'static str {
    match state.pending_reason() {
        Some(reason) => reason.word(),
        None => state.status().word(),
    }
}

fn moved(project_id: ProjectId, from: RefundState, to: RefundState, amount: Rupiah) -> Vec<Statement> {
    if standing(from) == standing(to) {
        return Vec::new();
    }
    // Always in the same order, so that commits which move refunds to and fro do not lock each other out.
    let mut moves = [(standing(from), -1, -amount), (standing(to), 1, amount)];
    moves.sort_by_key(|(word, ..)| *word);
    moves.into_iter().map(|(word, refunds, amount)| count(project_id, word, refunds, amount)).collect()
}

fn counted(project_id: ProjectId, state: RefundState, refunds: i64, amount: Rupiah) -> Option<Statement> {
    Some(count(project_id, standing(state), refunds, amount))
}

fn count(project_id: ProjectId, word: &'static str, refunds: i64, amount: Rupiah) -> Statement {
    Statement::new(
        "INSERT INTO refund_counts (project_id, standing, refunds, amount) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (project_id, standing) DO UPDATE SET refunds = refund_counts.refunds + excluded.refunds, \
         amount = refund_counts.amount + excluded.amount",
        [Value::stored(project_id), word.into(), refunds.into(), amount.into()],
    )
}

/// Locks the project's row until the commit.
fn turn(project_id: ProjectId) -> Statement {
    Statement::new(
        "INSERT INTO refund_turns (project_id, turns) VALUES ($1, 0) \
         ON CONFLICT (project_id) DO UPDATE SET turns = refund_turns.turns + 1",
        [Value::stored(project_id)],
    )
}

fn reference_free(project_id: ProjectId, refund_id: RefundId, reference: String) -> Statement {
    Statement::new(
        "UPDATE refund_turns SET turns = turns + 1 WHERE project_id = $1 AND NOT EXISTS (SELECT 1 FROM refunds f \
         WHERE f.project_id = $1 AND f.bank_reference = $2 AND f.id <> $3)",
        [Value::stored(project_id), reference.into(), Value::stored(refund_id)],
    )
    .guarded(Guard::RefundReference)
}

/// The first statement makes others of the payment wait, so that the second sees what they have sent.
fn alone_of_payment(statements: &mut Vec<Statement>, payment_id: PaymentId, refund_id: RefundId) {
    let payment = Value::stored(payment_id);
    statements.push(Statement::new("UPDATE payments SET version = version WHERE id = $1", [payment.clone()]));
    statements.push(
        Statement::new(
            "UPDATE payments SET version = version WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM refunds f \
             JOIN refund_attempts a ON a.refund_id = f.id WHERE f.payment_id = $1 AND f.id <> $2 AND f.road = 'qris' \
             AND f.status = 'pending' AND a.state IN ('sent', 'unknown'))",
            [payment, Value::stored(refund_id)],
        )
        .guarded(Guard::RefundAlone),
    );
}

fn attempt_sent(
    statements: &mut Vec<Statement>,
    attempt: TransferAttempt,
    project_id: ProjectId,
    refund_version: i64,
    from: RefundState,
) {
    let id = Value::stored(attempt.refund_id);
    statements.push(
        Statement::new(
            "UPDATE refunds SET pending_reason = 'processing', updated_at = $1, version = version + 1 WHERE id = $2 \
             AND version = $3 AND project_id = $4 AND status = 'pending' AND pending_reason <> 'awaiting_approval' \
             AND batch IS NULL",
            [attempt.sent_at.into(), id.clone(), refund_version.into(), Value::stored(project_id)],
        )
        .guarded(Guard::RefundVersion),
    );
    if from == RefundState::Pending(PendingReason::InsufficientBalance) {
        statements.push(Statement::new(
            "UPDATE refund_counts SET refunds = refunds - 1, amount = amount - (SELECT f.amount FROM refunds f WHERE f.id = $1) \
             WHERE project_id = $2 AND standing = 'insufficient_balance'",
            [id.clone(), Value::stored(project_id)],
        ));
        statements.push(Statement::new(
            "INSERT INTO refund_counts (project_id, standing, refunds, amount) \
             SELECT f.project_id, 'processing', 1, f.amount FROM refunds f WHERE f.id = $1 \
             ON CONFLICT (project_id, standing) DO UPDATE SET refunds = refund_counts.refunds + 1, \
             amount = refund_counts.amount + excluded.amount",
            [id.clone()],
        ));
    }
    statements.push(
        Statement::new(
            "INSERT INTO refund_attempts (refund_id, number, account_id, reference, rail, state, bank_reference, answer, \
             sent_at, updated_at, ask_at, asked, external_id) SELECT $1, CAST($2 AS BIGINT), $3, $4, $5, $6, $7, $8, \
             CAST($9 AS BIGINT), CAST($10 AS BIGINT), CAST($11 AS BIGINT), CAST($12 AS BIGINT), $13 \
             WHERE $2 = 1 + (SELECT COUNT(*) FROM refund_attempts a WHERE a.refund_id = $1 AND a.state = 'refused') \
             AND NOT EXISTS (SELECT 1 FROM refund_attempts a WHERE a.refund_id = $1 AND a.state <> 'refused') \
             ON CONFLICT DO NOTHING",
            [
                id,
                attempt.number.into(),
                Value::stored(attempt.account_id),
                attempt.reference.into(),
                attempt.rail.map(|rail| rail.word()).into(),
                AttemptState::Sent.word().into(),
                attempt.bank_reference.into(),
                attempt.answer.into(),
                attempt.sent_at.into(),
                attempt.updated_at.into(),
                attempt.ask_at.into(),
                attempt.asked.into(),
                attempt.external_id.into(),
            ],
        )
        .guarded(Guard::TransferAttempt),
    );
}

fn attempt_noted(attempt: TransferAttempt, from: AttemptState, asked: i64) -> Statement {
    Statement::new(
        "UPDATE refund_attempts SET state = $1, bank_reference = $2, answer = $3, updated_at = $4, ask_at = $5, asked = $6 \
         WHERE refund_id = $7 AND number = $8 AND state = $9 AND asked = $10 AND state IN ('sent', 'unknown')",
        [
            attempt.state.word().into(),
            attempt.bank_reference.into(),
            attempt.answer.into(),
            attempt.updated_at.into(),
            attempt.ask_at.into(),
            attempt.asked.into(),
            Value::stored(attempt.refund_id),
            attempt.number.into(),
            from.word().into(),
            asked.into(),
        ],
    )
    .guarded(Guard::TransferAttempt)
}

fn statement_read(refund_id: RefundId, number: i64, reading: StatementReading) -> Statement {
    Statement::new(
        "UPDATE refund_attempts SET statement_at = $1, statement_found = $2 WHERE refund_id = $3 AND number = $4 \
         AND (statement_at IS NULL OR statement_at < $1)",
        [reading.at.into(), reading.found.word().into(), Value::stored(refund_id), number.into()],
    )
}

fn batch(
    statements: &mut Vec<Statement>,
    (project_id, number): (ProjectId, i64),
    made_by: Party,
    at: Timestamp,
    refunds: Vec<(RefundId, i64)>,
) {
    statements.push(
        Statement::new(
            "INSERT INTO refund_batches (project_id, number, made_by, created_at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT DO NOTHING",
            [Value::stored(project_id), number.into(), made_by.to_string().into(), at.into()],
        )
        .guarded(Guard::RefundBatch),
    );
    statements.extend(refunds.into_iter().map(|(id, version)| {
        Statement::new(
            "UPDATE refunds SET batch = $1, updated_at = $2, version = version + 1 WHERE id = $3 AND version = $4 \
             AND project_id = $5 AND road = 'transfer' AND status = 'pending' AND pending_reason <> 'awaiting_approval' \
             AND batch IS NULL AND NOT EXISTS (SELECT 1 FROM refund_attempts a WHERE a.refund_id = refunds.id \
             AND a.state <> 'refused')",
            [number.into(), at.into(), Value::stored(id), version.into(), Value::stored(project_id)],
        )
        .guarded(Guard::RefundVersion)
    }));
}
