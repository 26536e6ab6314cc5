//! Refunds at a bank that wants the issuer's reference in partnerRefundNo. All refunds of a payment have that one, so an entry of the
//! history decides only where it can be about nothing else.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use demobank::{Fate, Fault, MoneyRules, RefundKey, RrnIn, Service};
use domain::refund::{
    PendingReason, Refund, RefundRoad, RefundState, RefundStatus,
    answer::AttemptFinding,
    transfer::{AttemptState, TransferAttempt},
};
use serde_json::Value;
use testkit::{Kit, on_every_database, on_sqlite_alone};

use crate::support::refund_bank::RefundBank;

on_every_database![
    a_refund_that_was_lost_is_not_ended_by_another_ones_entry,
    an_old_refusal_says_nothing_of_the_next_attempt,
];

on_sqlite_alone![
    the_entry_of_the_only_refund_decides,
    without_the_issuers_reference_the_customer_is_asked_for_an_account_at_once,
    a_refund_by_code_that_is_refused_again_and_again_leads_to_the_customers_account,
];

const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);
/// A round, and no other.
const ONCE: (Duration, usize) = (MINUTE, 0);
const AMOUNT: i64 = 30_000;
const PROCESSING: RefundState = RefundState::Pending(PendingReason::Processing);

/// A bank that tells each refund by 55, and to which no number tells two of them apart.
async fn open_bank(kit: &Kit, rrn_in: RrnIn, settings: &[(&str, &str)]) -> (RefundBank, Value) {
    let own = [("path.debit_status", "/v1.0/debit/status"), ("resend", "never")];
    let bank = RefundBank::open(kit, "generic", &[&own[..], settings].concat()).await;
    bank.acquired.asked.change_habits(&bank.acquired.client_id, |habits| {
        habits.refund.key = RefundKey::Nothing;
        (habits.rrn_in, habits.qr_notice) = (rrn_in, Service::DebitNotify);
    });
    let payment = bank.paid().await;
    (bank, payment)
}

const ISSUERS: &[(&str, &str)] = &[("refund_reference", "issuers")];

fn states(attempts: &[TransferAttempt]) -> Vec<AttemptState> {
    attempts.iter().map(|attempt| attempt.state).collect()
}

/// Nobody but a person ends it, and it goes no other way meanwhile.
fn check_open(refund: &Refund, attempts: &[TransferAttempt]) {
    assert_eq!((refund.state, refund.road), (PROCESSING, RefundRoad::Qris), "{attempts:?}");
    let last = attempts.last().unwrap();
    let heard = last.answer.as_deref().unwrap_or_default();
    assert!(heard.ends_with(AttemptFinding::NotSaid.words()), "{last:?}");
    assert_eq!(last.state, AttemptState::Unknown, "{last:?}");
}

async fn a_refund_that_was_lost_is_not_ended_by_another_ones_entry(kit: Arc<Kit>) {
    let (bank, payment) = open_bank(&kit, RrnIn::Both, ISSUERS).await;
    let made = bank.refund(&payment, AMOUNT).await;
    assert_eq!(bank.follow(&kit, &made, ONCE).await.0.status(), RefundStatus::Succeeded);
    let lost = bank.refund(&payment, AMOUNT).await;
    bank.acquired.asked.fail_next_of(Service::QrRefund, Fault::LostBefore);
    let (now, attempts) = bank.follow(&kit, &lost, (10 * MINUTE, 10)).await;
    check_open(&now, &attempts);
    // Nor is another sent while this one is uncertain, though no setting says that refunds go one at a time.
    let third = bank.refund(&payment, AMOUNT).await;
    assert_eq!(bank.follow(&kit, &third, (MINUTE, 2)).await.1, []);
    assert_eq!((bank.done().len(), bank.calls(Service::QrRefund)), (1, 2));
}

async fn an_old_refusal_says_nothing_of_the_next_attempt(kit: Arc<Kit>) {
    let (bank, payment) = open_bank(&kit, RrnIn::Both, ISSUERS).await;
    let (asked, client_id) = (&bank.acquired.asked, &bank.acquired.client_id);
    asked.set_money_rules(client_id, MoneyRules { is_cut_off: true, ..MoneyRules::default() });
    let refund = bank.refund(&payment, AMOUNT).await;
    assert_eq!(states(&bank.follow(&kit, &refund, ONCE).await.1), [AttemptState::Refused]);
    // The next one is made, and the history does not have it for two days.
    asked.set_money_rules(client_id, MoneyRules::default());
    asked.fate_of_next(Fate { hidden_ms: 48 * 3_600_000, ..Fate::default() });
    asked.fail_next_of(Service::QrRefund, Fault::StatusAfter(504));
    let (now, attempts) = bank.follow(&kit, &refund, (HOUR, 30)).await;
    assert_eq!(states(&attempts), [AttemptState::Refused, AttemptState::Unknown]);
    check_open(&now, &attempts);
    let (now, attempts) = bank.follow(&kit, &refund, (HOUR, 40)).await;
    check_open(&now, &attempts);
    assert_eq!((bank.done().len(), bank.calls(Service::QrRefund)), (1, 2));
}

async fn the_entry_of_the_only_refund_decides(kit: Arc<Kit>) {
    for (fails, status) in [(false, RefundStatus::Succeeded), (true, RefundStatus::RequiresAction)] {
        let (bank, payment) = open_bank(&kit, RrnIn::Both, ISSUERS).await;
        let refund = bank.refund(&payment, AMOUNT).await;
        bank.acquired.asked.fate_of_next(Fate { takes_ms: 60_000, fails, ..Fate::default() });
        bank.acquired.asked.fail_next_of(Service::QrRefund, Fault::LostAfter);
        let (now, attempts) = bank.follow(&kit, &refund, (MINUTE, 10)).await;
        assert_eq!((now.status(), attempts.len()), (status, 1), "{attempts:?}");
        assert_eq!((bank.done().len(), bank.calls(Service::QrRefund)), (usize::from(!fails), 1));
    }
}

async fn without_the_issuers_reference_the_customer_is_asked_for_an_account_at_once(kit: Arc<Kit>) {
    let (bank, payment) = open_bank(&kit, RrnIn::Nowhere, ISSUERS).await;
    assert_eq!(bank.refund(&payment, AMOUNT).await.state, RefundState::RequiresAction);
    // The same for a refund that was made before the bank wanted that reference.
    let (bank, payment) = open_bank(&kit, RrnIn::Nowhere, &[]).await;
    let refund = bank.refund(&payment, AMOUNT).await;
    assert_eq!((refund.state, refund.road), (PROCESSING, RefundRoad::Qris));
    let settings = BTreeMap::from([("refund_reference".to_owned(), "issuers".to_owned())]);
    bank.engine.set_bank_account(bank.acquired.account, &settings).await.unwrap();
    let (now, attempts) = bank.follow(&kit, &refund, ONCE).await;
    assert_eq!((now.state, now.claim.is_some()), (RefundState::RequiresAction, true));
    assert_eq!((attempts.len(), bank.calls(Service::QrRefund)), (0, 0));
}

/// Regression: the number of attempts was limited for transfers alone.
async fn a_refund_by_code_that_is_refused_again_and_again_leads_to_the_customers_account(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let refund = bank.refund(&payment, AMOUNT).await;
    bank.acquired.asked.fail_every(Service::QrRefund, Some(Fault::Case(403, "14")));
    let (now, attempts) = bank.follow(&kit, &refund, (11 * MINUTE, 40)).await;
    assert_eq!((now.state, now.road), (RefundState::RequiresAction, RefundRoad::Transfer));
    assert_eq!((attempts.len(), bank.calls(Service::QrRefund)), (30, 30));
}
