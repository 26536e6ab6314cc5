//! The checks of the invariants: they find nothing in a healthy database, and each finds the row that breaks its rule.

mod audit;
mod banks;
mod extra_events;
mod held;
mod openings;
mod people;
mod refunds;

use std::collections::BTreeSet;

use domain::{
    access::Role,
    api_key::ApiKey,
    delivery::{Delivery, Jitter},
    ledger::Posting,
    link::Link,
    payment::{Payment, State},
    project::Project,
    receipt::Unapplied,
    user::{Invite, Session, User},
};
use store::{
    Breach, Change, KeyWrite, LedgerWrite, Noted, PaymentWrite, PeopleWrite, ReceiptNote, Store, WebhookWrite,
};

use crate::{
    database::{Database, keep, on_every_database},
    samples::{
        self, AMOUNT, NOW, after, confirmation, kept_attempt, kept_key, kept_link, kept_payment, kept_project, refusal,
        settlement,
    },
};
use audit::{AuditHistory, audit_history, audit_rows};
use banks::{BankHistory, bank_history, bank_rows};
use extra_events::extra_event_rows;
use held::{HeldHistory, decided_rows, held_history};
use openings::{OpeningHistory, opening_history, opening_rows};
use people::people_rows;
use refunds::{RefundHistory, refund_history, refund_rows};

on_every_database![a_healthy_history_breaches_nothing, every_invariant_that_is_broken_is_reported];

const LEGS: &str = "I1 every posting has two legs or more that sum to zero";
const ENTRIES: &str = "I1 every entry belongs to a posting of its project and instant";
const WHOLE_LEDGER: &str = "I1 the whole ledger sums to zero";
const CHECKPOINT: &str = "I2 a list checkpoint has its position, and the checkpoint before it";
const LIST_SUMS: &str = "I2 the sums of a list checkpoint are those of the payments since the one before";
const BALANCE: &str = "I2 a balance checkpoint has the number and the sum of the entries up to it";
const VOLUME: &str = "I2 a closed hour has what was posted in it, and no hour before it was left out";
const RECEIPT: &str = "I3 a payment is paid exactly when one receipt was applied to it or accepted for it";
const POSTED: &str = "I3 a payment is paid exactly when it was posted once";
const AMOUNTS: &str = "I3 what was posted for a payment is the money that paid it, its fee and what is left";
const SETTLED: &str = "I3 a payment settles once at most, when it is paid, and not while it is still due to settle";
const PENDING: &str =
    "I3 what is pending for a payment is its net without what refunds have taken, and nothing once it has settled";
const PAID_AT: &str = "I4 paid_at is set exactly when the payment is paid";
const IDEMPOTENCY: &str = "I5 an idempotency key leads to something of its own project";
const ONE_KEY: &str = "I5 one idempotency key at most leads to a resource";
const LATE_ATTEMPT: &str = "I15 a link gains no payment once it is cancelled, claimed or past its expiry";
const ATTEMPT: &str = "I15 an attempt is a payment of its link, made at its time";
const SINGLE_USE: &str = "I6 a single-use link has at most one paid payment, the one that claims it";
const UNAPPLIED: &str = "I6 money that was not applied is posted as unapplied, once and in full";
const UNAPPLIED_RECEIPT: &str = "I6 what is posted as unapplied is a receipt that was not applied";
const PAID_EVENT: &str = "I7 every paid payment has exactly one event that says so";
const OTHER_EVENTS: &str = "I7 every failed payment and every revoked key has exactly one event that says so";
const DELIVERY: &str = "I7 a delivery belongs to an event of its project";
const ATTEMPTS: &str = "I7 a delivery has as many attempts as it says, and is delivered when the last one succeeded";
const REPORTS: &str =
    "I8 a report is of a payment of its project, and money under another payment's receipt id is held";
const OF_A_PROJECT: &str = "I13 every payment, event and posting belongs to an existing project";
const PIECES: &str = "I24 a payment for several pieces is of a link, and each piece costs the same";
const LIVE_CODES: &str = "I14 live account numbers and payloads are unique";

/// One of everything that can happen.
struct History {
    other: Project,
    live_key: ApiKey,
    revoked_key: ApiKey,
    pending: Payment,
    account: Payment,
    settled: Payment,
    due: Payment,
    failed: Payment,
    link: Link,
    winner: Payment,
    loser: Payment,
    owed: Delivery,
    held: HeldHistory,
    owner: User,
    session: Session,
    invite: Invite,
    /// Money under a receipt id that has paid another payment.
    reused: String,
    banks: BankHistory,
    openings: OpeningHistory,
    audit: AuditHistory,
    refunds: RefundHistory,
}

async fn history(store: &Store) -> History {
    let (project, other) = (kept_project(store).await, kept_project(store).await);
    let link = kept_link(store, &project, false).await;
    let (audit, refunds) = apart(store, &project).await;
    let history = History {
        live_key: kept_key(store, &project, "live").await,
        revoked_key: kept_key(store, &project, "revoked").await,
        pending: kept_payment(store, samples::payment(&project)).await,
        account: kept_payment(store, samples::account_payment(&project, "1100000001")).await,
        settled: kept_payment(store, samples::payment(&project)).await,
        due: kept_payment(store, samples::payment(&project)).await,
        failed: kept_payment(store, samples::payment(&project)).await,
        winner: kept_attempt(store, samples::attempt(&project, &link)).await,
        loser: kept_attempt(store, samples::attempt(&project, &link)).await,
        owed: samples::kept_delivery(store, &project).await,
        audit,
        refunds,
        held: held_history(store, &project).await,
        owner: samples::kept_member(store, &project, Role::Owner).await,
        session: samples::kept_session(store, &samples::kept_user(store).await, NOW).await,
        invite: samples::kept_invite(store, &project, NOW).await,
        reused: String::new(),
        banks: bank_history(store, &project).await,
        openings: opening_history(store, &project).await,
        link,
        other,
    };
    for change in [
        samples::revocation(&history.revoked_key, NOW),
        confirmation(&history.settled, None, "settled"),
        settlement(&history.settled, after(60_010)),
        confirmation(&history.due, None, "due"),
        samples::surplus(&history.due, "again", AMOUNT, Unapplied::AlreadyPaid),
        refusal(&history.failed, "failed"),
        confirmation(&history.winner, Some(&history.link), "winner"),
        samples::surplus(&history.loser, "loser", AMOUNT, Unapplied::LinkClaimed),
        samples::bind(&project, "payment", history.due.id).into(),
        samples::bind(&project, "link", history.link.id).into(),
        attempted(history.owed).into(),
        samples::surplus(&history.failed, "returned", AMOUNT, Unapplied::TooLate),
        samples::giving_back(&history.failed, "returned", AMOUNT, after(20)),
        PaymentWrite::Viewed { payment_id: history.due.id, project_id: project.id, at: NOW }.into(),
        KeyWrite::Used { key_id: history.live_key.id, project_id: project.id, at: NOW }.into(),
        PeopleWrite::InviteUsed { id: history.invite.id, user_id: history.owner.id, at: NOW }.into(),
    ] {
        keep(store, change).await;
    }
    let reused = rarer_events(store, &project).await;
    History { reused, ..history }
}

/// What has rows of its own.
async fn apart(store: &Store, project: &Project) -> (AuditHistory, RefundHistory) {
    (audit_history(store, project).await, refund_history(store).await)
}

fn attempted(delivery: Delivery) -> WebhookWrite {
    let attempt = samples::attempt_refused();
    let delivery = delivery.attempted(&attempt.outcome, after(10), Jitter::NONE);
    WebhookWrite::Attempted { leased_until: NOW, leased_by: None, delivery, attempt }
}

/// Rare events, which must not break an invariant either; returns the receipt whose id had paid another payment.
async fn rarer_events(store: &Store, project: &Project) -> String {
    let reusable = kept_link(store, project, true).await;
    for receipt in ["first", "second"] {
        let payment = kept_attempt(store, samples::attempt(project, &reusable)).await;
        keep(store, confirmation(&payment, Some(&reusable), receipt)).await;
    }
    // Failed first and paid later: both events stay.
    let revived = kept_payment(store, samples::payment(project)).await;
    keep(store, refusal(&revived, "refused")).await;
    let refused = Payment { state: State::Failed { at: after(10) }, version: 2, ..revived };
    keep(store, confirmation(&refused, None, "revived")).await;
    // Processing, then paid.
    let slow = kept_payment(store, samples::payment(project)).await;
    let progress = samples::note(&slow, "slow", Noted::Progress);
    keep(store, Change::from(progress).with(samples::moved_to(&slow, State::Processing))).await;
    let slow = Payment { state: State::Processing, version: 2, ..slow };
    keep(store, confirmation(&slow, None, "slow but sure")).await;
    // The bank's receipt id has paid another payment.
    let (key, at) = (samples::receipt_key("eaten").reused_for(slow.id), after(10));
    let money = Noted::Money { amount: AMOUNT, paid_at: NOW, held: Some(samples::held(Unapplied::ReceiptReused)) };
    let (project_id, payment_id) = (project.id, slow.id);
    let note = ReceiptNote { key: key.clone(), project_id, payment_id, received_at: at, noted: money };
    let reused = format!("{}:{}", key.provider, key.id);
    let posting = Posting::unapplied(project_id, payment_id, key, AMOUNT, at);
    keep(store, Change::from(LedgerWrite::Receipt(note)).with(LedgerWrite::Posting(posting))).await;
    // A fee of the whole amount: nothing is left to settle.
    let eaten = kept_payment(store, samples::with_terms(samples::payment(project), |terms| terms.fee = AMOUNT)).await;
    keep(store, confirmation(&eaten, None, "eaten")).await;
    // Expired, and its account number issued again.
    let over =
        samples::with_terms(samples::account_payment(project, "1100000002"), |terms| terms.expires_at = after(-1));
    kept_payment(store, over).await;
    keep(store, PaymentWrite::PendingExpired { now: NOW, most: 10 }).await;
    kept_payment(store, samples::account_payment(project, "1100000002")).await;
    reused
}

async fn a_healthy_history_breaches_nothing(database: Database) {
    let store = database.open().await;
    assert_eq!(store.breaches().await.unwrap(), []);
    history(&store).await;
    assert_eq!(store.breaches().await.unwrap(), []);
}

/// An invariant, the SQL that breaks it, and the row that must be found.
type Row = (&'static str, String, String);

fn ledger_rows(history: &History) -> Vec<Row> {
    let due = format!("paid:{}", history.due.id);
    let elsewhere = history.other.id;
    vec![
        (LEGS, format!("DELETE FROM entries WHERE posting_id = '{due}'"), due.clone()),
        (LEGS, format!("DELETE FROM entries WHERE posting_id = '{due}' AND account = 'fees'"), due.clone()),
        (
            LEGS,
            format!("UPDATE entries SET amount = amount + 1 WHERE posting_id = '{due}' AND account = 'fees'"),
            due.clone(),
        ),
        (ENTRIES, format!("UPDATE entries SET at = at + 1 WHERE posting_id = '{due}'"), due.clone()),
        (ENTRIES, format!("UPDATE entries SET project_id = '{elsewhere}' WHERE posting_id = '{due}'"), due.clone()),
        (ENTRIES, format!("DELETE FROM postings WHERE id = '{due}'"), due.clone()),
        (
            WHOLE_LEDGER,
            format!("DELETE FROM entries WHERE posting_id = '{due}' AND account = 'fees'"),
            "the ledger".to_owned(),
        ),
    ]
}

fn paid_rows(history: &History) -> Vec<Row> {
    let (due, settled) = (history.due.id.to_string(), history.settled.id.to_string());
    let (pending, loser) = (history.pending.id.to_string(), history.loser.id.to_string());
    let another_receipt = |id: &str, amount: &str| {
        format!(
            "INSERT INTO receipts (provider, id, kind, project_id, payment_id, amount, paid_at, received_at, outcome) \
             SELECT provider, 'more', kind, project_id, '{id}', {amount}, paid_at, received_at, outcome FROM receipts \
             WHERE id = 'due' AND kind = 'money'"
        )
    };
    vec![
        (RECEIPT, "DELETE FROM receipts WHERE id = 'due'".to_owned(), due.clone()),
        (RECEIPT, "UPDATE receipts SET amount = amount + 1 WHERE id = 'due'".to_owned(), due.clone()),
        (RECEIPT, "UPDATE receipts SET outcome = 'applied' WHERE id = 'loser'".to_owned(), loser.clone()),
        (RECEIPT, another_receipt(&due, "amount"), due.clone()),
        (RECEIPT, another_receipt(&due, "amount + 1"), due.clone()),
        (RECEIPT, another_receipt(&pending, "amount"), pending.clone()),
        (RECEIPT, another_receipt(&pending, "amount + 1"), pending.clone()),
        (POSTED, format!("DELETE FROM postings WHERE id = 'paid:{due}'"), due.clone()),
        (POSTED, format!("UPDATE postings SET payment_id = '{pending}' WHERE id = 'paid:{due}'"), pending.clone()),
        (POSTED, format!("UPDATE postings SET payment_id = '{settled}' WHERE id = 'paid:{due}'"), settled.clone()),
        (POSTED, format!("UPDATE payments SET state = 'failed' WHERE id = '{due}'"), due.clone()),
        (AMOUNTS, format!("UPDATE payments SET fee = fee + 1 WHERE id = '{due}'"), due.clone()),
        (AMOUNTS, format!("UPDATE payments SET amount = amount - 1 WHERE id = '{due}'"), due.clone()),
        (
            AMOUNTS,
            format!("UPDATE entries SET account = 'available' WHERE posting_id = 'paid:{due}' AND account = 'pending'"),
            due.clone(),
        ),
        (PENDING, format!("UPDATE payments SET settles_at = NULL WHERE id = '{due}'"), due.clone()),
        (SETTLED, format!("UPDATE payments SET settles_at = 1 WHERE id = '{settled}'"), settled.clone()),
        (PENDING, format!("DELETE FROM postings WHERE id = 'settled:{settled}'"), settled.clone()),
        (
            PENDING,
            format!("UPDATE entries SET amount = amount * 2 WHERE posting_id = 'settled:{settled}'"),
            settled.clone(),
        ),
        (
            SETTLED,
            format!("UPDATE postings SET payment_id = '{pending}' WHERE id = 'settled:{settled}'"),
            pending.clone(),
        ),
        (PIECES, format!("UPDATE payments SET quantity = 2 WHERE id = '{pending}'"), pending.clone()),
        (PIECES, format!("UPDATE payments SET quantity = 3 WHERE id = '{loser}'"), loser.clone()),
        (PAID_AT, format!("UPDATE payments SET paid_at = NULL WHERE id = '{due}'"), due),
        (PAID_AT, format!("UPDATE payments SET paid_at = 1 WHERE id = '{pending}'"), pending),
    ]
}

fn other_rows(history: &History) -> Vec<Row> {
    let (due, failed) = (history.due.id.to_string(), history.failed.id.to_string());
    let (link, loser, winner) = (history.link.id.to_string(), history.loser.id.to_string(), &history.winner.id);
    let (live, revoked) = (history.live_key.id.to_string(), history.revoked_key.id.to_string());
    let elsewhere = history.other.id;
    let event_again = |subject: &str| {
        format!(
            "INSERT INTO events (id, project_id, kind, subject, created_at, paid_at, success_word) SELECT 'evt_more', \
             project_id, kind, subject, created_at, paid_at, success_word FROM events WHERE subject = '{subject}'"
        )
    };
    let owed = history.owed.event_id.to_string();
    let delivered = format!("UPDATE deliveries SET state = 'delivered', due_at = NULL WHERE event_id = '{owed}'");
    vec![
        (DELIVERY, format!("UPDATE deliveries SET project_id = '{elsewhere}' WHERE event_id = '{owed}'"), owed.clone()),
        (DELIVERY, format!("DELETE FROM events WHERE id = '{owed}'"), owed.clone()),
        (ATTEMPTS, format!("UPDATE deliveries SET attempts = 2 WHERE event_id = '{owed}'"), owed.clone()),
        (ATTEMPTS, format!("DELETE FROM attempts WHERE event_id = '{owed}'"), owed.clone()),
        (ATTEMPTS, delivered, owed.clone()),
        (ATTEMPTS, format!("UPDATE attempts SET failure = NULL, detail = NULL WHERE event_id = '{owed}'"), owed),
        (
            IDEMPOTENCY,
            format!("UPDATE idempotency SET project_id = '{elsewhere}' WHERE resource = '{due}'"),
            due.clone(),
        ),
        (
            IDEMPOTENCY,
            format!("UPDATE idempotency SET project_id = '{elsewhere}' WHERE resource = '{link}'"),
            link.clone(),
        ),
        (IDEMPOTENCY, "UPDATE idempotency SET resource = 'nothing'".to_owned(), "nothing".to_owned()),
        (ONE_KEY, format!("UPDATE idempotency SET resource = '{due}'"), due.clone()),
        (LATE_ATTEMPT, format!("UPDATE links SET cancelled_version = 2 WHERE id = '{link}'"), loser.clone()),
        (LATE_ATTEMPT, format!("UPDATE links SET claimed_version = 2 WHERE id = '{link}'"), loser.clone()),
        (LATE_ATTEMPT, format!("UPDATE links SET expires_at = created_at - 1 WHERE id = '{link}'"), loser.clone()),
        (ATTEMPT, format!("UPDATE link_attempts SET at = at + 1 WHERE payment_id = '{loser}'"), loser.clone()),
        (ATTEMPT, format!("UPDATE payments SET link_id = NULL WHERE id = '{loser}'"), loser.clone()),
        (ATTEMPT, format!("DELETE FROM payments WHERE id = '{loser}'"), loser.clone()),
        (SINGLE_USE, format!("UPDATE links SET claimed_by = NULL WHERE id = '{link}'"), link.clone()),
        (SINGLE_USE, format!("UPDATE links SET claimed_by = '{loser}' WHERE id = '{link}'"), link.clone()),
        (SINGLE_USE, format!("UPDATE payments SET state = 'paid' WHERE id = '{loser}'"), link),
        (UNAPPLIED, "DELETE FROM postings WHERE id = 'unapplied:sandbox:again'".to_owned(), "sandbox:again".to_owned()),
        (
            UNAPPLIED,
            "UPDATE entries SET amount = amount - 1 WHERE account = 'unapplied'".to_owned(),
            "sandbox:loser".to_owned(),
        ),
        (UNAPPLIED, "UPDATE receipts SET outcome = 'unapplied' WHERE id = 'due'".to_owned(), "sandbox:due".to_owned()),
        (
            UNAPPLIED,
            "UPDATE receipts SET outcome = 'applied' WHERE id = 'again'".to_owned(),
            "sandbox:again".to_owned(),
        ),
        (UNAPPLIED_RECEIPT, "DELETE FROM receipts WHERE id = 'again'".to_owned(), "unapplied:sandbox:again".to_owned()),
        (PAID_EVENT, format!("DELETE FROM events WHERE subject = '{due}'"), due.clone()),
        (PAID_EVENT, event_again(&due), due),
        (PAID_EVENT, format!("UPDATE events SET subject = '{loser}' WHERE subject = '{winner}'"), loser),
        (OTHER_EVENTS, format!("DELETE FROM events WHERE subject = '{failed}'"), failed.clone()),
        (OTHER_EVENTS, event_again(&failed), failed),
        (OTHER_EVENTS, format!("DELETE FROM events WHERE subject = '{revoked}'"), revoked.clone()),
        (OTHER_EVENTS, event_again(&revoked), revoked),
        (OTHER_EVENTS, format!("UPDATE api_keys SET revoked_at = 1 WHERE id = '{live}'"), live),
    ]
}

fn counted_rows(history: &History) -> Vec<Row> {
    let (due, pending) = (&history.due, history.pending.id.to_string());
    let (project, elsewhere, hour) = (due.terms.project_id, history.other.id, after(10).as_millis() / 3_600_000);
    // The oldest payment of the project.
    let checkpoint = |position: &str, previous: &str, is_summed: i64| {
        format!("INSERT INTO payment_marks VALUES ('{project}', '{pending}', {position}, '{previous}', {is_summed})")
    };
    let fee = history.pending.terms.fee.get();
    let sums = |state: &str, is_summed: i64, fee: i64| {
        format!(
            "{}; INSERT INTO payment_sums VALUES ('{project}', '{pending}', '{state}', 'qris', 1, 10000, {fee})",
            checkpoint("1", "", is_summed)
        )
    };
    // The only entry of its account.
    let balance = |lines: &str, amount: &str| {
        format!(
            "INSERT INTO balance_checkpoints SELECT e.project_id, e.account, e.at, e.posting_id, {lines}, {amount} \
             FROM entries e WHERE e.posting_id = 'settled:{}' AND e.account = 'available'",
            history.settled.id
        )
    };
    let settled_line = format!("{project}:available:settled:{}", history.settled.id);
    let balance_of_nothing =
        format!("INSERT INTO balance_checkpoints VALUES ('{project}', 'pending', 1, 'paid:nothing', 1, 1)");
    let closed = |hour: i64, more: i64| {
        format!(
            "INSERT INTO volumes SELECT project_id, {hour}, COUNT(*), -SUM(amount) + {more} FROM entries \
             WHERE account = 'clearing' AND posting_id LIKE 'paid:%' GROUP BY project_id"
        )
    };
    let named = |hour: i64| format!("{project}:{hour}");
    vec![
        (CHECKPOINT, checkpoint("0", "", 0), pending.clone()),
        (CHECKPOINT, checkpoint("1000", "", 0), pending.clone()),
        (
            CHECKPOINT,
            format!("INSERT INTO payment_marks VALUES ('{elsewhere}', '{}', 1, '', 0)", due.id),
            due.id.to_string(),
        ),
        (CHECKPOINT, checkpoint("1", "pay_0", 0), pending.clone()),
        (LIST_SUMS, sums("pending", 1, fee + 1), pending.clone()),
        (LIST_SUMS, sums("pending", 0, fee), pending.clone()),
        (LIST_SUMS, checkpoint("1", "", 1), pending.clone()),
        (BALANCE, balance("0", "e.amount"), settled_line.clone()),
        (BALANCE, balance("1", "e.amount + 1"), settled_line),
        (BALANCE, balance_of_nothing, format!("{project}:pending:paid:nothing")),
        // What was accepted is missing; all of it is; it is in another hour.
        (VOLUME, closed(hour, 0), named(hour)),
        (VOLUME, format!("INSERT INTO volumes VALUES ('{project}', {hour}, 0, 0)"), named(hour)),
        (VOLUME, format!("INSERT INTO volumes VALUES ('{project}', {}, 0, 0)", hour + 1), named(hour)),
        (VOLUME, closed(hour + 1, 0), named(hour + 1)),
    ]
}

fn report_rows(history: &History) -> Vec<Row> {
    let elsewhere = history.other.id;
    let own = |sql: String, report: &str| (REPORTS, sql, format!("sandbox:{report}"));
    vec![
        own(format!("UPDATE receipts SET project_id = '{elsewhere}' WHERE id = 'due'"), "due"),
        own("UPDATE receipts SET payment_id = 'pay_none' WHERE id = 'due'".to_owned(), "due"),
        own("UPDATE receipts SET kind = 'progress' WHERE id = 'due'".to_owned(), "due"),
        own(format!("UPDATE notices SET project_id = '{elsewhere}' WHERE id = 'failed'"), "failed"),
        (
            REPORTS,
            "UPDATE receipts SET outcome = 'applied' WHERE provider LIKE '%/%'".to_owned(),
            history.reused.clone(),
        ),
        (
            REPORTS,
            "DELETE FROM receipts WHERE id = 'eaten' AND provider = 'sandbox'".to_owned(),
            history.reused.clone(),
        ),
    ]
}

fn code_rows(history: &History) -> Vec<Row> {
    let (pending, account) = (&history.pending, &history.account);
    vec![
        (
            OF_A_PROJECT,
            format!("UPDATE payments SET project_id = 'prj_none' WHERE id = '{}'", pending.id),
            pending.id.to_string(),
        ),
        (
            LIVE_CODES,
            format!(
                "UPDATE payments SET code = '{}', state = 'pending', ended_at = NULL WHERE state = 'failed'",
                pending.code
            ),
            pending.code.clone(),
        ),
        (
            LIVE_CODES,
            format!(
                "DROP INDEX payments_live_account; UPDATE payments SET code = '{}' WHERE code = '1100000002'",
                account.code
            ),
            account.code.clone(),
        ),
    ]
}

async fn every_invariant_that_is_broken_is_reported(database: Database) {
    let every_row = |history: &History| {
        [
            ledger_rows(history),
            paid_rows(history),
            counted_rows(history),
            report_rows(history),
            decided_rows(&history.held, &history.other),
            other_rows(history),
            extra_event_rows(history),
            people_rows(history),
            code_rows(history),
            bank_rows(&history.banks),
            opening_rows(&history.openings),
            audit_rows(&history.audit),
            refund_rows(&history.refunds, &history.other),
        ]
        .concat()
    };
    let mut proven = BTreeSet::new();
    let store = database.open().await;
    let history = history(&store).await;
    store.close().await;
    for (invariant, sql, row) in every_row(&history) {
        // Each row damages a copy of its own.
        let database = database.copied();
        database.damage(&sql);
        let store = database.open().await;
        let breaches = store.breaches().await.unwrap();
        let expected = Breach { invariant, row };
        assert!(breaches.contains(&expected), "{sql}\nshould report {expected:?}\nbut reports {breaches:?}");
        proven.insert(invariant);
        store.close().await;
    }
    assert_eq!(proven.len(), Store::invariants_checked(), "an invariant is not proven here");
}
