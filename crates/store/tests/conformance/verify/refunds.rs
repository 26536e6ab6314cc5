//! Refunds, and how each of their invariants is broken.

use domain::{
    bank_account::BankAccount,
    payment::Payment,
    project::Project,
    receipt::Unapplied,
    refund::{Refund, RefundState, transfer::AttemptState},
};
use store::{Store, UnappliedFilter};

use super::Row;
use crate::{
    bank_samples::kept_account,
    database::keep,
    refund_attempts::{attempt, noted, sent},
    refund_samples::{
        PROCESSING, begun, cancelled, failed, finding_done, given_up, on_its_way, paid, returned, returning, settled,
        succeeded,
    },
    samples::{self, AMOUNT, EVERYTHING, after, kept_payment},
};

const COUNTS: &str = "I2 refunds are counted as they stand";
const CEILING: &str = "I26 refunds of a paid payment that were not failed, cancelled or returned do not exceed the money received for it, but for those found done";
const SUMS: &str = "I26 a payment keeps what was refunded of it, and what is being refunded";
const FEES: &str = "I26 with refunds that have succeeded, no more of a fee goes back than was taken, and it is posted";
const REFUNDING: &str = "I27 what is on its way back is the sum of the refunds that are unfinished";
const REFUNDED: &str = "I27 what was given back is the sum of the refunds that have succeeded";
const MONEY_IN: &str = "I28 the money that came for a project is on its accounts, but for what was returned elsewhere";
const POSTED: &str = "I29 a refund is posted once when it is made and once for each end that it has come to";
const OF_A_REFUND: &str = "I29 what is posted of refunds is of a refund";
const SPLIT: &str = "I29 a refund was taken from the accounts that it says";
const FOUND: &str = "I29 a refund that was found done was taken again from the accounts that it says";
const TOLD: &str =
    "I26 a refund that was found done after people had ended it as failed has succeeded, and has a difference";
const HELD: &str = "I29 held money is returned by a refund exactly while the refund stands";
const ATTEMPTS: &str =
    "I30 attempts to send a refund follow each other, each after the final refusal of the one before";
const SENT: &str = "I30 a refund that a bank may have carried out is neither cancelled nor waiting for an account, and one that it has has succeeded";

/// One of every end.
pub(super) struct RefundHistory {
    project: Project,
    payment: Payment,
    unfinished: Refund,
    succeeded: Refund,
    failed: Refund,
    cancelled: Refund,
    returned: Refund,
    sent: Refund,
    of_receipt: Refund,
    found: Refund,
}

pub(super) async fn refund_history(store: &Store) -> RefundHistory {
    let project = samples::kept_project(store).await;
    let (payment, other) = (paid(store, &project).await, paid(store, &project).await);
    let history = RefundHistory {
        unfinished: begun(store, &project, payment.id, 1_000, PROCESSING).await,
        succeeded: begun(store, &project, payment.id, 1_100, PROCESSING).await,
        failed: begun(store, &project, payment.id, 1_200, PROCESSING).await,
        cancelled: begun(store, &project, payment.id, 1_300, RefundState::RequiresAction).await,
        returned: begun(store, &project, payment.id, 1_400, PROCESSING).await,
        sent: on_its_way(store, &project, other.id, 1_500).await,
        of_receipt: held_history(store, &project).await,
        found: on_its_way(store, &project, other.id, 1_600).await,
        payment,
        project,
    };
    succeeded(store, &history.succeeded).await;
    failed(store, &history.failed).await;
    settled(store, history.payment.id, after(150)).await;
    cancelled(store, &history.cancelled).await;
    succeeded(store, &history.returned).await;
    returned(store, &history.returned).await;
    let account = kept_account(store).await;
    sent_history(store, &account, &history.sent).await;
    let sending = attempt(&account, &history.found, 1);
    let found = given_up(store, &history.found, &sending).await;
    keep(store, finding_done(store, &found, &sending).await).await;
    history
}

/// Held money that is on its way back.
async fn held_history(store: &Store, project: &Project) -> Refund {
    let payment = kept_payment(store, samples::payment(project)).await;
    keep(store, samples::surplus(&payment, "on its way back", AMOUNT, Unapplied::TooLate)).await;
    let held = store.unapplied_receipts(project.id, UnappliedFilter::All, None, EVERYTHING).await.unwrap();
    let (refund, change) = returning(project, &held.items[0]);
    keep(store, change).await;
    refund
}

/// Refused once, and not known the second time.
async fn sent_history(store: &Store, account: &BankAccount, refund: &Refund) {
    let first = attempt(account, refund, 1);
    keep(store, sent(first.clone(), refund)).await;
    keep(store, noted(&first, AttemptState::Refused)).await;
    let again = store.refund(refund.id).await.unwrap().unwrap();
    keep(store, sent(attempt(account, refund, 2), &again)).await;
}

pub(super) fn refund_rows(history: &RefundHistory, other: &Project) -> Vec<Row> {
    [money_rows(history), posting_rows(history, other), attempt_rows(history)].concat()
}

fn money_rows(history: &RefundHistory) -> Vec<Row> {
    let (project, payment) = (history.project.id.to_string(), history.payment.id.to_string());
    let (unfinished, done) = (history.unfinished.id, history.succeeded.id);
    let row = |invariant: &'static str, sql: String, row: &str| (invariant, sql, row.to_owned());
    vec![
        row(
            COUNTS,
            "UPDATE refund_counts SET refunds = refunds + 1 WHERE standing = 'failed'".to_owned(),
            &format!("{project}:failed"),
        ),
        row(COUNTS, "DELETE FROM refund_counts WHERE standing = 'returned'".to_owned(), &format!("{project}:returned")),
        row(CEILING, format!("UPDATE refunds SET amount = 9001 WHERE id = '{done}'"), &payment),
        row(CEILING, format!("UPDATE payments SET state = 'failed' WHERE id = '{payment}'"), &payment),
        row(SUMS, format!("UPDATE payments SET refunded = refunded + 1 WHERE id = '{payment}'"), &payment),
        row(SUMS, format!("UPDATE payments SET refunding = 0 WHERE id = '{payment}'"), &payment),
        row(FEES, format!("UPDATE refunds SET fee_returned = 71 WHERE id = '{done}'"), &payment),
        row(FEES, format!("UPDATE refunds SET fee_returned = 1 WHERE id = '{unfinished}'"), &payment),
        row(
            FEES,
            format!(
                "UPDATE entries SET account = 'fees' WHERE account = 'refunded' AND posting_id = 'refund_succeeded:{done}'"
            ),
            &payment,
        ),
        row(REFUNDING, format!("UPDATE refunds SET amount = amount + 1 WHERE id = '{unfinished}'"), &project),
        row(
            REFUNDING,
            format!(
                "UPDATE entries SET account = 'available' WHERE account = 'refunding' AND posting_id LIKE '%:{unfinished}'"
            ),
            &project,
        ),
        row(REFUNDED, format!("UPDATE refunds SET amount = amount + 1 WHERE id = '{done}'"), &project),
        row(MONEY_IN, "UPDATE receipts SET amount = amount + 1 WHERE id = 'on its way back'".to_owned(), &project),
        row(
            MONEY_IN,
            format!(
                "UPDATE entries SET amount = amount - 1 WHERE account = 'pending' AND posting_id = 'paid:{payment}'"
            ),
            &project,
        ),
    ]
}

fn posting_rows(history: &RefundHistory, other: &Project) -> Vec<Row> {
    let row = |invariant: &'static str, sql: String, of: &Refund| (invariant, sql, of.id.to_string());
    let delete = |kind: &str, of: &Refund| format!("DELETE FROM postings WHERE id = '{kind}:{}'", of.id);
    let RefundHistory { unfinished, succeeded, failed, cancelled, returned, of_receipt, found, .. } = history;
    let state = |status: &str, of: &Refund| {
        format!("UPDATE refunds SET status = '{status}', pending_reason = NULL WHERE id = '{}'", of.id)
    };
    vec![
        row(POSTED, delete("refund_started", unfinished), unfinished),
        row(POSTED, delete("refund_succeeded", succeeded), succeeded),
        row(POSTED, delete("refund_released", failed), failed),
        row(POSTED, delete("refund_released", cancelled), cancelled),
        row(POSTED, delete("refund_returned", returned), returned),
        row(POSTED, state("failed", succeeded), succeeded),
        row(POSTED, state("succeeded", unfinished), unfinished),
        (
            OF_A_REFUND,
            format!("UPDATE postings SET id = 'refund_started:rfd_x' WHERE id = 'refund_started:{}'", failed.id),
            "refund_started:rfd_x".to_owned(),
        ),
        (
            OF_A_REFUND,
            format!("UPDATE refunds SET project_id = '{}' WHERE id = '{}'", other.id, failed.id),
            format!("refund_released:{}", failed.id),
        ),
        row(
            SPLIT,
            format!("UPDATE refunds SET from_pending = 0, from_available = amount WHERE id = '{}'", unfinished.id),
            unfinished,
        ),
        row(
            SPLIT,
            format!(
                "UPDATE entries SET amount = amount + 1 WHERE posting_id = 'refund_started:{}' AND account = 'refunding'",
                failed.id
            ),
            failed,
        ),
        row(
            FOUND,
            format!("UPDATE refunds SET found_from_pending = found_from_pending - 1 WHERE id = '{}'", found.id),
            found,
        ),
        row(FOUND, format!("UPDATE refunds SET found_done_at = found_done_at + 1 WHERE id = '{}'", found.id), found),
        row(TOLD, format!("DELETE FROM bank_differences WHERE subject LIKE '{}%'", found.id), found),
        row(TOLD, state("failed", found), found),
        row(HELD, "UPDATE receipts SET decided_refund_id = NULL WHERE id = 'on its way back'".to_owned(), of_receipt),
        row(HELD, state("failed", of_receipt), of_receipt),
        (
            HELD,
            "UPDATE receipts SET decided_refund_id = 'rfd_x' WHERE id = 'on its way back'".to_owned(),
            "rfd_x".to_owned(),
        ),
    ]
}

fn attempt_rows(history: &RefundHistory) -> Vec<Row> {
    let sent = &history.sent;
    let row = |invariant: &'static str, sql: String| (invariant, sql, sent.id.to_string());
    let of = format!("WHERE refund_id = '{}' AND number", sent.id);
    let refund = |set: &str| format!("UPDATE refunds SET {set} WHERE id = '{}'", sent.id);
    vec![
        row(ATTEMPTS, format!("UPDATE refund_attempts SET number = 3 {of} = 2")),
        row(ATTEMPTS, format!("DELETE FROM refund_attempts {of} = 1")),
        row(
            ATTEMPTS,
            format!(
                "UPDATE refund_attempts SET number = number + 7, state = 'refused' {of} = 2; UPDATE refund_attempts SET state = 'done' {of} = 1"
            ),
        ),
        row(SENT, refund("status = 'requires_action', pending_reason = NULL")),
        row(SENT, refund("status = 'cancelled', pending_reason = NULL")),
        row(SENT, refund("pending_reason = 'awaiting_approval'")),
        row(SENT, format!("UPDATE refund_attempts SET state = 'done', ask_at = NULL {of} = 2")),
    ]
}
