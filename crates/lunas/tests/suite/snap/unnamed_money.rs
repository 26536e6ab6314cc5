//! Banks that tell of money without an id of it: BRI's status answer may say no more than that a number is paid. The money is
//! booked, and it is booked once, whichever of status, notification and report tells of it first.

use std::{sync::Arc, time::Duration};

use demobank::{Fault, Knobs, Notification, PayOrder, Service};
use domain::{
    bank_difference::{DifferenceKind, Tally},
    bank_request::{jakarta_day, jakarta_day_begin},
    money::Rupiah,
};
use engine::Window;
use serde_json::Value;
use testkit::{Kit, on_every_database};

use crate::support::{
    acquirers::{AMOUNT, Acquired, ask_after, code_of, hosted_there, open_strays, silently},
    payments::{events_of, status, unapplied},
};

on_every_database![
    a_status_of_paid_alone_pays_its_payment,
    money_that_a_status_has_told_of_is_not_booked_again_under_the_banks_id,
    money_that_a_notification_has_named_is_not_booked_again_without_an_id,
    money_without_an_id_that_was_paid_later_is_other_money,
    money_without_an_id_that_was_paid_earlier_is_other_money,
    a_status_without_an_amount_is_about_the_money_that_the_bank_has_named,
    an_amount_that_the_bank_tells_later_is_of_the_same_money,
    an_amount_that_comes_later_is_of_the_same_money_also_where_the_status_had_an_id,
    a_settled_difference_is_open_again_when_the_bank_tells_another_amount,
    a_status_of_paid_beside_held_money_alone_is_told_to_a_person,
    money_that_has_got_its_id_takes_no_second_one,
    the_second_money_without_an_id_takes_its_name_too,
    a_name_that_other_money_has_had_names_money_without_an_id_too,
    a_message_without_an_id_is_about_the_money_of_its_amount,
    money_that_is_told_with_and_without_an_id_at_once_is_held_once,
    a_report_without_ids_is_compared_and_books_what_was_missed_once,
    money_without_an_id_for_a_number_of_nobody_is_one_stray,
    a_notification_that_names_the_customers_part_alone_finds_its_number,
];

/// All that BRI's status answer is known to leave out.
const BARE: &[&str] = &[
    "paymentRequestId",
    "paidAmount",
    "totalAmount",
    "trxDateTime",
    "latestTransactionStatus",
    "paymentFlagStatus",
    "paymentFlagReason",
];

/// What the bank says of a payment's money; without an id where `receipt_id` is empty.
fn word_of(acquired: &Acquired, payment: &Value, receipt_id: &str, paid_at_ms: i64) -> Notification {
    let code = acquired.asked.code(code_of(payment)).unwrap();
    Notification {
        reference: code.reference,
        number: code.content,
        amount: AMOUNT,
        paid_at_ms: Some(paid_at_ms),
        receipt_id: receipt_id.to_owned(),
        ..Notification::default()
    }
}

async fn tells(acquired: &Acquired, told: Notification) {
    let answer = acquired.tells(Service::VaNotify, told, Knobs::default()).await;
    assert_eq!(answer.code(), "2003400", "{}", answer.text);
}

/// Checks that the payment was paid once, and that no other money came in.
async fn is_paid_once(kit: &Kit, acquired: &Acquired, payment: &Value) {
    assert_eq!(status(&acquired.project, payment).await, "paid");
    assert_eq!(events_of(&acquired.project, payment, "payment.paid").await.len(), 1);
    assert_eq!((unapplied(&acquired.project).await, open_strays(kit).await.len()), (0, 0));
    let open = kit.engine.differences(true, Window { offset: 0, limit: 10 }).await.unwrap();
    assert!(open.items.is_empty(), "{:?}", open.items);
}

/// Compares the day that is over, twice: how much is in both books, and how much was missing here.
async fn compared(kit: &Kit, acquired: &Acquired) -> (Tally, Tally) {
    kit.clock.set(jakarta_day_begin(jakarta_day(kit.engine.now()) + 1).plus(Duration::from_mins(31)));
    let day = jakarta_day(kit.engine.now()) - 1;
    let first = kit.engine.compare_bank_day(acquired.account, day).await.unwrap().reconciliation;
    let second = kit.engine.compare_bank_day(acquired.account, day).await.unwrap().reconciliation;
    assert_eq!((first.missing_there.count, first.differing.count), (0, 0), "{first:?}");
    assert_eq!((second.matched, second.missing_here), (first.matched, first.missing_here));
    (first.matched, first.missing_here)
}

fn tally(count: i64) -> Tally {
    Tally { count, amount: Rupiah::new(count * AMOUNT) }
}

/// Regression: without paymentRequestId the bank was asked again and again, and nothing was ever booked.
async fn a_status_of_paid_alone_pays_its_payment(kit: Arc<Kit>) {
    for lacks in [&["paymentRequestId"][..], BARE] {
        let acquired = hosted_there(&kit, "briva-ws").await;
        acquired.asked.fail_every(Service::Status, Some(Fault::Lacks(lacks)));
        let (payment, unpaid) = (acquired.payment().await, acquired.payment().await);
        acquired.pays_as(&payment, silently()).await;
        ask_after(&kit, Duration::from_mins(5)).await;
        is_paid_once(&kit, &acquired, &payment).await;
        assert_eq!(status(&acquired.project, &unpaid).await, "pending");
    }
}

async fn money_that_a_status_has_told_of_is_not_booked_again_under_the_banks_id(kit: Arc<Kit>) {
    for lacks in [&["paymentRequestId"][..], BARE] {
        let acquired = hosted_there(&kit, "briva-ws").await;
        acquired.asked.fail_every(Service::Status, Some(Fault::Lacks(lacks)));
        let payment = acquired.payment().await;
        let paid_at = kit.engine.now().as_millis();
        acquired.pays_as(&payment, PayOrder { receipt_id: Some("P-1".to_owned()), ..silently() }).await;
        ask_after(&kit, Duration::from_mins(5)).await;
        for _ in 0..2 {
            tells(&acquired, word_of(&acquired, &payment, "P-1", paid_at)).await;
            is_paid_once(&kit, &acquired, &payment).await;
        }
        // The report has the bank's id, too.
        assert_eq!(compared(&kit, &acquired).await, (tally(1), tally(0)));
        is_paid_once(&kit, &acquired, &payment).await;
    }
}

async fn money_that_a_notification_has_named_is_not_booked_again_without_an_id(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    let payment = acquired.payment().await;
    let paid_at = kit.engine.now().as_millis();
    acquired.pays_as(&payment, PayOrder { receipt_id: Some(String::new()), ..silently() }).await;
    tells(&acquired, word_of(&acquired, &payment, "P-1", paid_at)).await;
    for _ in 0..2 {
        tells(&acquired, word_of(&acquired, &payment, "", paid_at)).await;
        is_paid_once(&kit, &acquired, &payment).await;
    }
    assert_eq!(compared(&kit, &acquired).await, (tally(1), tally(0)));
    is_paid_once(&kit, &acquired, &payment).await;
}

async fn money_without_an_id_that_was_paid_later_is_other_money(kit: Arc<Kit>) {
    for first in ["P-1", ""] {
        let acquired = hosted_there(&kit, "briva-ws").await;
        let payment = acquired.payment().await;
        let paid_at = kit.engine.now().as_millis();
        tells(&acquired, word_of(&acquired, &payment, first, paid_at)).await;
        kit.clock.advance(Duration::from_hours(1));
        let later = kit.engine.now().as_millis();
        for _ in 0..2 {
            tells(&acquired, word_of(&acquired, &payment, "", later)).await;
            tells(&acquired, word_of(&acquired, &payment, first, paid_at)).await;
            assert_eq!(unapplied(&acquired.project).await, AMOUNT, "held once: {first}");
        }
        assert_eq!(status(&acquired.project, &payment).await, "paid");
        assert_eq!(events_of(&acquired.project, &payment, "payment.paid").await.len(), 1);
    }
}

/// Regression: messages arrive in any order, and money that was told late was taken for the money that had come after it.
async fn money_without_an_id_that_was_paid_earlier_is_other_money(kit: Arc<Kit>) {
    for first in ["P-1", ""] {
        let acquired = hosted_there(&kit, "briva-ws").await;
        let payment = acquired.payment().await;
        let earlier = kit.engine.now().as_millis();
        kit.clock.advance(Duration::from_hours(1));
        let paid_at = kit.engine.now().as_millis();
        tells(&acquired, word_of(&acquired, &payment, first, paid_at)).await;
        for _ in 0..2 {
            tells(&acquired, word_of(&acquired, &payment, "", earlier)).await;
            tells(&acquired, word_of(&acquired, &payment, first, paid_at)).await;
            assert_eq!(unapplied(&acquired.project).await, AMOUNT, "held once: {first}");
        }
        assert_eq!(status(&acquired.project, &payment).await, "paid");
        assert_eq!(events_of(&acquired.project, &payment, "payment.paid").await.len(), 1);
    }
}

/// Regression: the status was booked as money of the bill's amount, which nobody had sent, and paid the payment.
async fn a_status_without_an_amount_is_about_the_money_that_the_bank_has_named(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    acquired.asked.fail_every(Service::Status, Some(Fault::Lacks(BARE)));
    let payment = acquired.payment().await;
    let named = word_of(&acquired, &payment, "P-1", kit.engine.now().as_millis());
    acquired.pays_as(&payment, silently()).await;
    tells(&acquired, Notification { amount: AMOUNT + 2_500, ..named }).await;
    ask_after(&kit, Duration::from_mins(5)).await;
    assert_eq!(status(&acquired.project, &payment).await, "pending");
    assert_eq!((unapplied(&acquired.project).await, open_strays(&kit).await.len()), (AMOUNT + 2_500, 0));
}

/// The one difference that is open: what we have booked, and what the bank knows.
async fn open_difference(kit: &Kit) -> (Option<i64>, Option<i64>) {
    let open = kit.engine.differences(true, Window { offset: 0, limit: 10 }).await.unwrap().items;
    let [difference] = open.as_slice() else { panic!("{open:?}") };
    assert_eq!(difference.key.kind, DifferenceKind::Amount);
    (difference.ours.map(Rupiah::get), difference.theirs.map(Rupiah::get))
}

/// A status pays the payment in the bill's amount, since it has none of its own; the bank tells another one later.
async fn an_amount_comes_later(kit: &Kit, left_out: &'static [&'static str]) -> (Acquired, Notification) {
    let acquired = hosted_there(kit, "briva-ws").await;
    acquired.asked.fail_every(Service::Status, Some(Fault::Lacks(left_out)));
    let payment = acquired.payment().await;
    let named = word_of(&acquired, &payment, "P-1", kit.engine.now().as_millis());
    acquired.pays_as(&payment, PayOrder { receipt_id: Some("P-1".to_owned()), ..silently() }).await;
    ask_after(kit, Duration::from_mins(5)).await;
    is_paid_once(kit, &acquired, &payment).await;
    for _ in 0..2 {
        tells(&acquired, Notification { amount: AMOUNT + 2_500, ..named.clone() }).await;
        assert_eq!((unapplied(&acquired.project).await, open_strays(kit).await.len()), (0, 0));
        assert_eq!(open_difference(kit).await, (Some(AMOUNT), Some(AMOUNT + 2_500)));
    }
    (acquired, named)
}

/// Regression: the amount that came later was held as other money beside what had paid the payment.
async fn an_amount_that_the_bank_tells_later_is_of_the_same_money(kit: Arc<Kit>) {
    an_amount_comes_later(&kit, BARE).await;
}

/// Regression: the same, where the status named the money.
async fn an_amount_that_comes_later_is_of_the_same_money_also_where_the_status_had_an_id(kit: Arc<Kit>) {
    an_amount_comes_later(&kit, &["paidAmount", "totalAmount"]).await;
}

/// Regression: nobody was told of the second amount.
async fn a_settled_difference_is_open_again_when_the_bank_tells_another_amount(kit: Arc<Kit>) {
    let (acquired, named) = an_amount_comes_later(&kit, BARE).await;
    let open = kit.engine.differences(true, Window { offset: 0, limit: 10 }).await.unwrap().items;
    kit.engine.settle_difference(&open[0].key, "by phone".to_owned()).await.unwrap();
    tells(&acquired, Notification { amount: AMOUNT + 2_500, ..named.clone() }).await;
    let open = kit.engine.differences(true, Window { offset: 0, limit: 10 }).await.unwrap().items;
    assert_eq!(open, [], "the same amount again");
    tells(&acquired, Notification { amount: AMOUNT + 5_000, ..named }).await;
    assert_eq!(open_difference(&kit).await, (Some(AMOUNT), Some(AMOUNT + 5_000)));
}

/// Regression: a customer who paid too much first and then the right amount, of which the notification was lost, was forgotten.
async fn a_status_of_paid_beside_held_money_alone_is_told_to_a_person(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    acquired.asked.fail_every(Service::Status, Some(Fault::Lacks(BARE)));
    let payment = acquired.payment().await;
    let named = word_of(&acquired, &payment, "P-1", kit.engine.now().as_millis());
    acquired.pays_as(&payment, silently()).await;
    tells(&acquired, Notification { amount: AMOUNT + 2_500, ..named }).await;
    ask_after(&kit, Duration::from_mins(5)).await;
    assert_eq!(status(&acquired.project, &payment).await, "pending");
    assert_eq!(open_difference(&kit).await, (Some(AMOUNT + 2_500), None));
}

/// Regression: the name was looked for at the first money alone, and the second was booked once more.
async fn the_second_money_without_an_id_takes_its_name_too(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    let payment = acquired.payment().await;
    let first = kit.engine.now().as_millis();
    tells(&acquired, word_of(&acquired, &payment, "", first)).await;
    kit.clock.advance(Duration::from_mins(10));
    let second = kit.engine.now().as_millis();
    tells(&acquired, word_of(&acquired, &payment, "", second)).await;
    for (id, paid_at) in [("P-2", second), ("P-1", first), ("P-2", second), ("P-1", first)] {
        tells(&acquired, word_of(&acquired, &payment, id, paid_at)).await;
        assert_eq!(status(&acquired.project, &payment).await, "paid");
        assert_eq!(unapplied(&acquired.project).await, AMOUNT, "{id}");
    }
}

/// Regression: an id that the bank had used for another payment was taken for no name, and the money was held once more.
async fn a_name_that_other_money_has_had_names_money_without_an_id_too(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    let (first, second) = (acquired.payment().await, acquired.payment().await);
    let paid_at = kit.engine.now().as_millis();
    tells(&acquired, word_of(&acquired, &first, "P-1", paid_at)).await;
    for id in ["", "P-1", "", "P-1"] {
        tells(&acquired, word_of(&acquired, &second, id, paid_at)).await;
        assert_eq!(status(&acquired.project, &second).await, "paid");
        assert_eq!(unapplied(&acquired.project).await, 0, "{id}");
    }
    assert_eq!(status(&acquired.project, &first).await, "paid");
}

/// Regression: it was taken for money that was booked without an amount, which raised a difference that there is not.
async fn a_message_without_an_id_is_about_the_money_of_its_amount(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    acquired.asked.fail_every(Service::Status, Some(Fault::Lacks(&["paidAmount", "totalAmount"])));
    let payment = acquired.payment().await;
    acquired.pays_as(&payment, PayOrder { receipt_id: Some("P-1".to_owned()), ..silently() }).await;
    ask_after(&kit, Duration::from_mins(5)).await;
    is_paid_once(&kit, &acquired, &payment).await;
    let paid_at = kit.engine.now().as_millis();
    for id in ["P-2", "", "P-2", ""] {
        let told = Notification { amount: AMOUNT + 2_500, ..word_of(&acquired, &payment, id, paid_at) };
        tells(&acquired, told).await;
        assert_eq!(unapplied(&acquired.project).await, AMOUNT + 2_500, "{id}");
        let open = kit.engine.differences(true, Window { offset: 0, limit: 10 }).await.unwrap().items;
        assert!(open.is_empty(), "{open:?}");
    }
}

/// Regression: where both tellings of held money were decided about at the same moment, under a key each, it was held twice.
async fn money_that_is_told_with_and_without_an_id_at_once_is_held_once(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    for count in 1..=12 {
        let payment = acquired.payment().await;
        kit.clock.advance(Duration::from_hours(25));
        let paid_at = kit.engine.now().as_millis();
        let (named, unnamed) =
            (word_of(&acquired, &payment, &format!("P-{count}"), paid_at), word_of(&acquired, &payment, "", paid_at));
        tokio::join!(tells(&acquired, named), tells(&acquired, unnamed));
        assert_eq!(unapplied(&acquired.project).await, count * AMOUNT);
    }
}

/// Regression: every id that the bank told for the number was taken as that of the money without one.
async fn money_that_has_got_its_id_takes_no_second_one(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    acquired.asked.fail_every(Service::Status, Some(Fault::Lacks(BARE)));
    let payment = acquired.payment().await;
    let paid_at = kit.engine.now().as_millis();
    acquired.pays_as(&payment, silently()).await;
    ask_after(&kit, Duration::from_mins(5)).await;
    tells(&acquired, word_of(&acquired, &payment, "P-1", paid_at)).await;
    is_paid_once(&kit, &acquired, &payment).await;
    for id in ["P-2", "P-1", "P-2"] {
        tells(&acquired, word_of(&acquired, &payment, id, paid_at)).await;
        assert_eq!(
            (status(&acquired.project, &payment).await.as_str(), unapplied(&acquired.project).await),
            ("paid", AMOUNT)
        );
    }
}

async fn a_report_without_ids_is_compared_and_books_what_was_missed_once(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    let unnamed = || PayOrder { receipt_id: Some(String::new()), ..silently() };
    let (asked, missed) = (acquired.payment().await, acquired.payment().await);
    acquired.pays_as(&asked, unnamed()).await;
    ask_after(&kit, Duration::from_mins(5)).await;
    is_paid_once(&kit, &acquired, &asked).await;
    acquired.pays_as(&missed, unnamed()).await;
    assert_eq!(compared(&kit, &acquired).await, (tally(1), tally(1)));
    for payment in [&asked, &missed] {
        is_paid_once(&kit, &acquired, payment).await;
    }
}

async fn money_without_an_id_for_a_number_of_nobody_is_one_stray(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    let told = Notification {
        reference: "SOMEBODY".to_owned(),
        number: "777771234567890123".to_owned(),
        amount: AMOUNT,
        paid_at_ms: Some(kit.engine.now().as_millis()),
        ..Notification::default()
    };
    for _ in 0..2 {
        tells(&acquired, told.clone()).await;
        assert_eq!(open_strays(&kit).await.len(), 1);
    }
    let later = told.paid_at_ms.map(|at| at + 1_000);
    tells(&acquired, Notification { paid_at_ms: later, ..told }).await;
    assert_eq!(open_strays(&kit).await.len(), 2, "other money");
}

/// The three numbers in the shapes that banks use, and some of them left out.
async fn a_notification_that_names_the_customers_part_alone_finds_its_number(kit: Arc<Kit>) {
    let zeros = demobank::Padding::Zeros;
    for knobs in [
        Knobs { padding: zeros, ..Knobs::default() },
        Knobs { whole_customer_no: true, padding: zeros, ..Knobs::default() },
        Knobs { left_out: vec!["virtualAccountNo", "trxId"], ..Knobs::default() },
        Knobs { left_out: vec!["virtualAccountNo", "trxId"], whole_customer_no: true, ..Knobs::default() },
        Knobs { left_out: vec!["trxId", "customerNo", "partnerServiceId"], padding: zeros, ..Knobs::default() },
    ] {
        let acquired = hosted_there(&kit, "briva-ws").await;
        let payment = acquired.payment().await;
        let told = word_of(&acquired, &payment, "P-1", kit.engine.now().as_millis());
        let answer = acquired.tells(Service::VaNotify, told, knobs).await;
        assert_eq!(answer.code(), "2003400", "{}", answer.text);
        is_paid_once(&kit, &acquired, &payment).await;
    }
}
