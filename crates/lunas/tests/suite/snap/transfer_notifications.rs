//! Services 75 and 76: what banks tell later of transfers by SKN and RTGS. A notice ends a refund only where the bank has signed it
//! and it shows our reference and our amount; what is told twice is booked once. No word of a bank, told or asked for, changes what a
//! person has recorded.

use std::{sync::Arc, time::Duration};

use demobank::{Answer, Fate, Fault, Knobs, MoneyRules, Notification, Service, TokenChoice, TransferTold};
use domain::{
    access::Role,
    refund::{
        PendingReason, Refund, RefundState, RefundStatus,
        transfer::{AttemptState, TransferAttempt},
    },
};
use engine::Window;
use futures_util::future::join;
use serde_json::Value;
use testkit::{Kit, on_every_database, on_sqlite_alone};

use super::acts::shaped;
use crate::support::{
    dashboard::leads,
    held::{contains_all, member},
    payments::balance,
    refund_bank::{CUSTOMER, OTHER_BANK, RefundBank},
    refund_pages::refund_page,
    wait::until,
};

on_every_database![
    a_transfer_that_is_told_to_be_done_ends_its_refund,
    money_that_comes_back_returns_its_refund_once,
    a_notice_of_another_amount_ends_nothing_and_is_a_difference,
    a_notice_changes_nothing_of_what_a_person_has_recorded_and_is_a_difference,
    an_answer_changes_nothing_of_what_a_person_has_recorded_and_is_a_difference,
];

on_sqlite_alone![
    a_transfer_that_fails_in_the_clearing_fails_its_refund,
    a_notice_without_an_amount_makes_us_ask,
    what_the_bank_has_not_signed_changes_nothing,
    a_transfer_that_nobody_has_ordered_changes_nothing,
    a_notice_at_the_door_of_another_account_changes_nothing,
    a_notice_that_names_no_transfer_is_refused,
    an_account_without_such_rails_has_no_such_doors,
];

const AMOUNT: i64 = 60_000;
const SECOND: Duration = Duration::from_secs(1);
/// How long the clearing takes, and so long after that the money is back.
const CLEARING: Duration = Duration::from_secs(60);
const BACK_AFTER: Duration = Duration::from_secs(600);

/// A bank whose refunds go by SKN.
async fn open_bank(kit: &Kit) -> (RefundBank, Value) {
    RefundBank::with_payment(kit, "generic", &[("transfer", "skn,rtgs")]).await
}

/// A refund that was ordered and is on its way through the clearing.
async fn order_refund(kit: &Kit, bank: &RefundBank, payment: &Value) -> (Refund, TransferAttempt) {
    let refund = bank.refund_to(payment, AMOUNT, OTHER_BANK).await;
    let (refund, attempts) = bank.follow(kit, &refund, (SECOND, 0)).await;
    assert_eq!(refund.state, RefundState::Pending(PendingReason::Processing), "{attempts:?}");
    assert_eq!((attempts.len(), attempts[0].state), (1, AttemptState::Unknown), "{attempts:?}");
    (refund, attempts.into_iter().next().unwrap())
}

/// What the bank tells by itself by now.
async fn notices_of(bank: &RefundBank) -> Vec<Answer> {
    bank.acquired.asked.tell_transfers(Knobs::default()).await.into_iter().map(shaped).collect()
}

fn codes(answers: &[Answer]) -> Vec<&str> {
    answers.iter().map(Answer::code).collect()
}

/// A notice about an attempt, with what a test says of it.
fn notice(attempt: &TransferAttempt, status: &str, amount: i64) -> Notification {
    Notification {
        reference: attempt.reference.clone(),
        amount,
        status: status.to_owned(),
        transfer: TransferTold {
            external_id: attempt.external_id.clone(),
            bank: OTHER_BANK.to_owned(),
            number: CUSTOMER.to_owned(),
            name: "SITI NURHALIZA".to_owned(),
            source: RefundBank::source().to_owned(),
        },
        ..Notification::default()
    }
}

async fn tell(bank: &RefundBank, told: Notification, knobs: Knobs) -> Answer {
    shaped(bank.acquired.tells(Service::SknNotify, told, knobs).await)
}

async fn state_of(kit: &Kit, bank: &RefundBank, refund: &Refund) -> (RefundStatus, AttemptState) {
    let attempts = kit.store.refund_attempts(refund.id).await.unwrap();
    (bank.engine.refund(bank.project.id, refund.id).await.unwrap().status(), attempts[0].state)
}

async fn differences(kit: &Kit) -> Vec<&'static str> {
    let open = kit.store.differences(true, Window { offset: 0, limit: 10 }).await.unwrap().items;
    open.iter().map(|one| one.key.kind.word()).collect()
}

const UNDER_WAY: (RefundStatus, AttemptState) = (RefundStatus::Pending, AttemptState::Unknown);
const DONE: (RefundStatus, AttemptState) = (RefundStatus::Succeeded, AttemptState::Done);
const BACK: (RefundStatus, AttemptState) = (RefundStatus::Returned, AttemptState::Done);

async fn a_transfer_that_is_told_to_be_done_ends_its_refund(kit: Arc<Kit>) {
    let (bank, payment) = open_bank(&kit).await;
    let (refund, attempt) = order_refund(&kit, &bank, &payment).await;
    assert!(notices_of(&bank).await.is_empty(), "it is in the clearing");
    kit.clock.advance(CLEARING);
    let answers = notices_of(&bank).await;
    assert_eq!(codes(&answers), ["2007500"]);
    let members: Vec<&String> = answers[0].body.as_object().unwrap().keys().collect();
    assert_eq!(members, ["responseCode", "responseMessage"]);
    assert_eq!(state_of(&kit, &bank, &refund).await, DONE);
    assert_eq!(bank.calls(Service::TransferStatus), 0, "nobody had to ask");
    let done = bank.engine.refund(bank.project.id, refund.id).await.unwrap();
    assert_eq!(done.bank_reference, Some(bank.acquired.asked.transfer(&attempt.reference).unwrap().bank_reference));
    // The same again changes nothing.
    let again = tell(&bank, notice(&attempt, "00", AMOUNT), Knobs::default()).await;
    assert_eq!((again.code(), state_of(&kit, &bank, &refund).await), ("2007500", DONE));
    assert_eq!(bank.calls(Service::Skn), 1);
    assert!(differences(&kit).await.is_empty());
}

async fn pending(bank: &RefundBank) -> i64 {
    balance(&bank.acquired.project, "pending").await
}

/// Money of transfers comes back after a while.
fn send_back(bank: &RefundBank) {
    let after_ms = i64::try_from(BACK_AFTER.as_millis()).unwrap();
    let rules = MoneyRules { clearing_returns_ms: Some(after_ms), ..MoneyRules::default() };
    bank.acquired.asked.set_money_rules(&bank.acquired.client_id, rules);
}

async fn money_that_comes_back_returns_its_refund_once(kit: Arc<Kit>) {
    let (bank, payment) = open_bank(&kit).await;
    send_back(&bank);
    let before = pending(&bank).await;
    let (refund, attempt) = order_refund(&kit, &bank, &payment).await;
    kit.clock.advance(CLEARING);
    assert_eq!(codes(&notices_of(&bank).await), ["2007500"]);
    assert_eq!((state_of(&kit, &bank, &refund).await, pending(&bank).await), (DONE, before - AMOUNT));
    kit.clock.advance(BACK_AFTER);
    assert_eq!(codes(&notices_of(&bank).await), ["2007500"]);
    assert_eq!((state_of(&kit, &bank, &refund).await, pending(&bank).await), (BACK, before));
    // Told again, and that it was done as well, out of its order.
    for status in ["04", "06", "00"] {
        let answer = tell(&bank, notice(&attempt, status, AMOUNT), Knobs::default()).await;
        assert_eq!((answer.code(), state_of(&kit, &bank, &refund).await), ("2007500", BACK), "{status}");
    }
    assert_eq!(pending(&bank).await, before, "it is booked once");
    assert_eq!((bank.acquired.asked.books_total(), differences(&kit).await.len()), (0, 0));
}

async fn a_notice_of_another_amount_ends_nothing_and_is_a_difference(kit: Arc<Kit>) {
    let (bank, payment) = open_bank(&kit).await;
    let (refund, attempt) = order_refund(&kit, &bank, &payment).await;
    for status in ["00", "04", "06"] {
        let answer = tell(&bank, notice(&attempt, status, AMOUNT - 1), Knobs::default()).await;
        assert_eq!((answer.code(), state_of(&kit, &bank, &refund).await), ("2007500", UNDER_WAY), "{status}");
    }
    assert_eq!(differences(&kit).await, ["amount"], "one, however often it is told");
    let other = TransferTold { number: "999999999".to_owned(), ..notice(&attempt, "00", AMOUNT).transfer };
    let elsewhere = Notification { transfer: other, ..notice(&attempt, "00", AMOUNT) };
    tell(&bank, elsewhere, Knobs::default()).await;
    assert_eq!(state_of(&kit, &bank, &refund).await, UNDER_WAY, "another account");
    // Of a refund that was done, no other amount comes back.
    kit.clock.advance(CLEARING);
    notices_of(&bank).await;
    tell(&bank, notice(&attempt, "04", AMOUNT + 1), Knobs::default()).await;
    assert_eq!(state_of(&kit, &bank, &refund).await, DONE);
}

/// Regression: the refund came back by such a notice, and its money to the merchant, though the customer had been paid another way.
async fn a_notice_changes_nothing_of_what_a_person_has_recorded_and_is_a_difference(kit: Arc<Kit>) {
    let (bank, payment) = open_bank(&kit).await;
    let owner = member(&kit, &bank.acquired.project, Role::Owner).await;
    let before = pending(&bank).await;
    let (refund, attempt) = order_refund(&kit, &bank, &payment).await;
    let page = refund_page(&bank.acquired.project, &refund.id.to_string());
    leads(&owner.post(&format!("{page}/done"), &[("text", "FT-1")]).await, "refund-transferred");
    tell(&bank, notice(&attempt, "00", AMOUNT), Knobs::default()).await;
    assert!(differences(&kit).await.is_empty(), "the bank says the same");
    for status in ["06", "04", "06"] {
        let answer = tell(&bank, notice(&attempt, status, AMOUNT), Knobs::default()).await;
        assert_eq!((answer.code(), state_of(&kit, &bank, &refund).await), ("2007500", DONE), "{status}");
        assert_eq!(pending(&bank).await, before - AMOUNT, "{status}");
        assert_eq!(differences(&kit).await, ["missing_there"], "one, however often it is told");
    }
    contains_all(&owner.open(&page).await, &["FT-1", "Seseorang mencatat bahwa ini sudah terlaksana."]);
    // A person may still say that it came back.
    leads(&owner.post(&format!("{page}/returned"), &[("text", "rekening ditutup")]).await, "refund-returned");
    assert_eq!(pending(&bank).await, before);
    assert_eq!(kit.store.breaches().await.unwrap(), []);
}

/// The same where the bank is asked while the person records it.
async fn an_answer_changes_nothing_of_what_a_person_has_recorded_and_is_a_difference(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let (asked, project) = (&bank.acquired.asked, &bank.acquired.project);
    let owner = member(&kit, project, Role::Owner).await;
    let failed = Fate { fails: true, ..Fate::default() };
    let came_back = Fate { comes_back_ms: Some(0), ..Fate::default() };
    for (fate, reference) in [(failed, "FT-1"), (came_back, "FT-2")] {
        asked.fate_of_next(fate);
        asked.fail_next_of(Service::Interbank, Fault::LostAfter);
        let (refund, _) = order_refund(&kit, &bank, &payment).await;
        kit.clock.advance(SECOND * 60);
        let questions = bank.calls(Service::TransferStatus);
        asked.fail_next_of(Service::TransferStatus, Fault::HeldAfter);
        let record = async {
            until(async || bank.calls(Service::TransferStatus) > questions).await;
            let done = format!("{}/done", refund_page(project, &refund.id.to_string()));
            leads(&owner.post(&done, &[("text", reference)]).await, "refund-transferred");
            asked.release();
        };
        let (answered, ()) = join(bank.engine.ask_about_refunds(), record).await;
        assert_eq!((answered.unwrap(), state_of(&kit, &bank, &refund).await), (1, DONE), "{reference}");
    }
    assert_eq!(differences(&kit).await, ["missing_there"; 2]);
    assert_eq!(kit.store.balance(project.id, None).await.unwrap().refunded.get(), 2 * AMOUNT);
    assert_eq!(kit.store.breaches().await.unwrap(), []);
}

async fn a_transfer_that_fails_in_the_clearing_fails_its_refund(kit: Arc<Kit>) {
    let (bank, payment) = open_bank(&kit).await;
    bank.acquired.asked.fate_of_next(Fate { fails: true, ..Fate::default() });
    let before = balance(&bank.acquired.project, "pending").await;
    let (refund, _) = order_refund(&kit, &bank, &payment).await;
    kit.clock.advance(CLEARING);
    assert_eq!(codes(&notices_of(&bank).await), ["2007500"]);
    assert_eq!(state_of(&kit, &bank, &refund).await, (RefundStatus::Failed, AttemptState::Refused));
    assert_eq!(balance(&bank.acquired.project, "pending").await, before);
    assert_eq!((bank.arrived(OTHER_BANK), bank.calls(Service::Skn)), (0, 1));
}

async fn a_notice_without_an_amount_makes_us_ask(kit: Arc<Kit>) {
    let (bank, payment) = open_bank(&kit).await;
    let (refund, attempt) = order_refund(&kit, &bank, &payment).await;
    kit.clock.advance(CLEARING);
    let knobs = Knobs { missing_member: Some("amount".to_owned()), ..Knobs::default() };
    assert_eq!(tell(&bank, notice(&attempt, "00", AMOUNT), knobs).await.code(), "2007500");
    assert_eq!(state_of(&kit, &bank, &refund).await, UNDER_WAY);
    let _ = bank.follow(&kit, &refund, (SECOND, 0)).await;
    assert_eq!((state_of(&kit, &bank, &refund).await, bank.calls(Service::TransferStatus)), (DONE, 1));
}

async fn what_the_bank_has_not_signed_changes_nothing(kit: Arc<Kit>) {
    let (bank, payment) = open_bank(&kit).await;
    let (refund, attempt) = order_refund(&kit, &bank, &payment).await;
    for (knobs, code) in [
        (Knobs { signature: Some("AAAA".to_owned()), ..Knobs::default() }, "4017500"),
        (Knobs { changed_body: true, ..Knobs::default() }, "4017500"),
        (Knobs { missing_header: Some("X-SIGNATURE".to_owned()), ..Knobs::default() }, "4007502"),
        (Knobs { token: TokenChoice::Invented, ..Knobs::default() }, "4017501"),
    ] {
        let answer = tell(&bank, notice(&attempt, "00", AMOUNT), knobs).await;
        assert_eq!((answer.code(), state_of(&kit, &bank, &refund).await), (code, UNDER_WAY), "{}", answer.text);
    }
    let attempts = kit.store.refund_attempts(refund.id).await.unwrap();
    assert_eq!(attempts[0], attempt);
}

async fn a_transfer_that_nobody_has_ordered_changes_nothing(kit: Arc<Kit>) {
    let (bank, payment) = open_bank(&kit).await;
    let (refund, attempt) = order_refund(&kit, &bank, &payment).await;
    for status in ["00", "04", "06"] {
        let stray = Notification { reference: "ANOTHERS".to_owned(), ..notice(&attempt, status, AMOUNT) };
        assert_eq!(tell(&bank, stray, Knobs::default()).await.code(), "2007500", "{status}");
    }
    assert_eq!(state_of(&kit, &bank, &refund).await, UNDER_WAY);
    assert!(differences(&kit).await.is_empty());
    assert!(kit.engine.strays(true, Window { offset: 0, limit: 10 }).await.unwrap().items.is_empty());
}

async fn a_notice_at_the_door_of_another_account_changes_nothing(kit: Arc<Kit>) {
    let (bank, payment) = open_bank(&kit).await;
    let (other, _) = open_bank(&kit).await;
    let (refund, attempt) = order_refund(&kit, &bank, &payment).await;
    for status in ["00", "04", "06"] {
        assert_eq!(tell(&other, notice(&attempt, status, AMOUNT), Knobs::default()).await.code(), "2007500");
        assert_eq!(state_of(&kit, &bank, &refund).await, UNDER_WAY, "{status}");
    }
}

async fn a_notice_that_names_no_transfer_is_refused(kit: Arc<Kit>) {
    let (bank, payment) = open_bank(&kit).await;
    let (_, attempt) = order_refund(&kit, &bank, &payment).await;
    for member in ["originalPartnerReferenceNo", "latestTransactionStatus"] {
        let knobs = Knobs { missing_member: Some(member.to_owned()), ..Knobs::default() };
        let answer = tell(&bank, notice(&attempt, "00", AMOUNT), knobs).await;
        assert_eq!(answer.code(), "4007502", "{member}");
        assert!(answer.message().contains(member), "{}", answer.text);
    }
    let knobs = Knobs { raw_body: Some(b"[1".to_vec()), ..Knobs::default() };
    assert_eq!(tell(&bank, notice(&attempt, "00", AMOUNT), knobs).await.code(), "4007500");
    let rtgs = bank.acquired.tells(Service::RtgsNotify, notice(&attempt, "03", AMOUNT), Knobs::default()).await;
    assert_eq!(shaped(rtgs).code(), "2007600");
}

async fn an_account_without_such_rails_has_no_such_doors(kit: Arc<Kit>) {
    let bank = RefundBank::open(&kit, "generic", &[("transfer", "skn")]).await;
    let told = || Notification { reference: "R1".to_owned(), status: "00".to_owned(), ..Notification::default() };
    for (service, code) in [(Service::SknNotify, "2007500"), (Service::RtgsNotify, "4047600")] {
        assert_eq!(shaped(bank.acquired.tells(service, told(), Knobs::default()).await).code(), code);
    }
    let bank = RefundBank::open(&kit, "generic", &[]).await;
    assert_eq!(tell(&bank, told(), Knobs::default()).await.code(), "4047500");
}
