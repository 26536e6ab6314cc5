//! Banks whose ids of money repeat: several issuers count for themselves, and some count anew each day. Money that has the
//! id of other money is neither lost nor taken for it.

use std::{sync::Arc, time::Duration};

use demobank::{Knobs, Notification, NotifyHabit, PayOrder, Service};
use domain::{
    bank_difference::Tally,
    bank_request::{jakarta_day, jakarta_day_begin},
    method::Method,
    money::Rupiah,
    receipt::Unapplied,
};
use engine::{LineClass, Window};
use serde_json::Value;
use store::UnappliedFilter;
use testkit::{Kit, on_every_database};

use super::money::lose_answer;
use crate::support::{
    acquirers::{AMOUNT, Acquired, acquired_for, ask_after, code_of, hosted_there, open_strays},
    json::{id, text},
    payments::{count_payments, events_of, status, unapplied},
};

on_every_database![
    money_with_the_id_of_other_money_is_held_on_its_payment_once,
    money_with_the_id_of_a_stray_is_held_on_its_payment,
    money_with_the_id_of_other_money_for_a_code_that_was_never_answered_is_kept,
    a_repeated_id_with_another_amount_is_other_money,
    money_for_what_is_not_ours_with_the_id_of_other_money_is_a_stray,
    a_comparison_tells_money_with_the_same_id_apart_on_one_day,
    a_comparison_tells_money_with_the_same_id_apart_on_two_days,
];

const REPEATED: &str = "123456789012";

/// QR codes whose money is known by the issuer's number of it.
async fn by_rrn(kit: &Kit) -> Acquired {
    acquired_for(kit, kit.production().await, "generic", Method::Qris, &[("receipt", "rrn")]).await
}

/// Pays with the id that repeats.
fn repeated(notice: NotifyHabit) -> PayOrder {
    PayOrder { receipt_id: Some(REPEATED.to_owned()), notice, ..PayOrder::default() }
}

fn tally(count: i64) -> Tally {
    Tally { count, amount: Rupiah::new(count * AMOUNT) }
}

/// The ids of the money that waits for a decision of the project; all of it for the one reason.
async fn held(kit: &Kit, acquired: &Acquired) -> Vec<(String, String)> {
    let window = Window { offset: 0, limit: 100 };
    let listed =
        kit.store.unapplied_receipts(acquired.project.id, UnappliedFilter::Undecided, None, window).await.unwrap();
    assert!(listed.items.iter().all(|held| held.reason == Unapplied::ReceiptReused));
    listed.items.into_iter().map(|held| (held.payment_id.to_string(), held.receipt.key.id)).collect()
}

/// How the bank's id is told apart.
fn own_id(acquired: &Acquired, payment: &Value) -> String {
    format!("{REPEATED}/{}", acquired.asked.code(code_of(payment)).unwrap().reference)
}

async fn money_with_the_id_of_other_money_is_held_on_its_payment_once(kit: Arc<Kit>) {
    for acquired in [by_rrn(&kit).await, hosted_there(&kit, "briva-ws").await] {
        let (first, second) = (acquired.payment().await, acquired.payment().await);
        acquired.pays_as(&first, repeated(NotifyHabit::Once)).await;
        let paid = acquired.pays_as(&second, repeated(NotifyHabit::Twice)).await;
        assert!(paid.answers.iter().all(|answer| answer.status == 200), "{:?}", paid.answers);
        let expected = [(id(&second).to_owned(), own_id(&acquired, &second))];
        let states = [status(&acquired.project, &first).await, status(&acquired.project, &second).await];
        assert_eq!((states, held(&kit, &acquired).await), (["paid".into(), "pending".into()], expected.to_vec()));
        // However often it is told, and when the bank is asked.
        for payment in [&first, &second] {
            acquired.asked.tell(code_of(payment), "00", Knobs::default()).await.unwrap();
        }
        ask_after(&kit, Duration::from_hours(25)).await;
        assert_eq!((held(&kit, &acquired).await, unapplied(&acquired.project).await), (expected.to_vec(), AMOUNT));
        assert_eq!(events_of(&acquired.project, &first, "payment.paid").await.len(), 1);
        assert!(open_strays(&kit).await.is_empty());
    }
}

async fn money_with_the_id_of_a_stray_is_held_on_its_payment(kit: Arc<Kit>) {
    let acquired = by_rrn(&kit).await;
    let told = Notification {
        reference: "ANOTHERS".to_owned(),
        bank_reference: "BANK1".to_owned(),
        receipt_id: REPEATED.to_owned(),
        amount: AMOUNT,
        status: "00".to_owned(),
        ..Notification::default()
    };
    assert_eq!(acquired.tells(Service::QrNotify, told, Knobs::default()).await.code(), "2005200");
    kit.clock.advance(Duration::from_mins(1));
    let payment = acquired.payment().await;
    acquired.pays_as(&payment, repeated(NotifyHabit::Twice)).await;
    assert_eq!(held(&kit, &acquired).await, [(id(&payment).to_owned(), own_id(&acquired, &payment))]);
    assert_eq!(open_strays(&kit).await.len(), 1);
}

async fn money_with_the_id_of_other_money_for_a_code_that_was_never_answered_is_kept(kit: Arc<Kit>) {
    let [qris, account] = [by_rrn(&kit).await, hosted_there(&kit, "briva-ws").await];
    for acquired in [&qris, &account] {
        let first = acquired.payment().await;
        acquired.pays_as(&first, repeated(NotifyHabit::Once)).await;
        let lost = lose_answer(acquired, "lost").await;
        acquired.asked.pay_code(&lost.reference, repeated(NotifyHabit::Twice)).await.unwrap();
        let own_id = format!("{REPEATED}/{}", lost.reference);
        if acquired.method == Method::Qris {
            // There is nothing to show to a customer, so there is no payment to hold it on.
            let strays = open_strays(&kit).await;
            assert_eq!((strays.len(), &strays[0].receipt_id), (1, &own_id));
            assert_eq!(count_payments(&acquired.project, "").await, 1);
        } else {
            let payment = acquired.pay("lost").await.expect(200);
            assert_eq!(text(&payment, "status"), "pending");
            assert_eq!(held(&kit, acquired).await, [(id(&payment).to_owned(), own_id)]);
        }
    }
    assert_eq!((open_strays(&kit).await.len(), unapplied(&qris.project).await), (1, 0));
}

/// Regression: an unknown number with the id of money that was booked was answered with success, and left nothing behind.
async fn money_for_what_is_not_ours_with_the_id_of_other_money_is_a_stray(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    acquired.pays_as(&acquired.payment().await, repeated(NotifyHabit::Once)).await;
    let told = |number: &str| Notification {
        number: number.to_owned(),
        amount: AMOUNT,
        receipt_id: REPEATED.to_owned(),
        ..Notification::default()
    };
    for (count, number) in ["777770000000000001", "777770000000000002"].into_iter().enumerate() {
        // Strays of one millisecond have no order.
        kit.clock.advance(Duration::from_millis(1));
        let told = Notification { paid_at_ms: Some(kit.engine.now().as_millis()), ..told(number) };
        // Twice, and kept once.
        for _ in 0..2 {
            assert_eq!(acquired.tells(Service::VaNotify, told.clone(), Knobs::default()).await.code(), "2003400");
        }
        let strays = open_strays(&kit).await;
        assert_eq!((strays.len(), strays[0].number.as_str()), (count + 1, number));
    }
    assert_eq!(unapplied(&acquired.project).await, 0);
}

async fn a_repeated_id_with_another_amount_is_other_money(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    let payment = acquired.payment().await;
    acquired.pays_as(&payment, repeated(NotifyHabit::Once)).await;
    let code = acquired.asked.code(code_of(&payment)).unwrap();
    let told = Notification {
        reference: code.reference,
        number: code.content,
        amount: AMOUNT + 1,
        receipt_id: REPEATED.to_owned(),
        ..Notification::default()
    };
    for _ in 0..2 {
        assert_eq!(acquired.tells(Service::VaNotify, told.clone(), Knobs::default()).await.code(), "2003400");
    }
    let held = (status(&acquired.project, &payment).await, unapplied(&acquired.project).await);
    assert_eq!(held, ("paid".to_owned(), AMOUNT + 1));
    assert_eq!(events_of(&acquired.project, &payment, "payment.paid").await.len(), 1);
}

/// To a moment of the next day in Jakarta, after its comparison is due.
fn next_day(kit: &Kit) {
    kit.clock.set(jakarta_day_begin(jakarta_day(kit.engine.now()) + 1).plus(Duration::from_mins(31)));
}

/// The money of a day that ended yesterday: matched, and found to be missing here.
async fn compared(kit: &Kit, acquired: &Acquired, day: i64) -> (Tally, Tally) {
    let comparison = kit.engine.compare_bank_day(acquired.account, day).await.unwrap();
    let row = &comparison.reconciliation;
    assert_eq!((row.missing_there, row.differing), (tally(0), tally(0)), "{:?}", comparison.lines);
    let of_class = |class| comparison.lines.iter().filter(|line| line.class == class).count();
    assert_eq!(i64::try_from(of_class(LineClass::Matched)).unwrap(), row.matched.count);
    (row.matched, row.missing_here)
}

/// By the report, by questions about accounts, and by questions about QR codes.
async fn compared_in_all_ways(kit: &Kit) -> [Acquired; 3] {
    [hosted_there(kit, "briva-ws").await, hosted_there(kit, "doku").await, by_rrn(kit).await]
}

async fn a_comparison_tells_money_with_the_same_id_apart_on_one_day(kit: Arc<Kit>) {
    for acquired in compared_in_all_ways(&kit).await {
        let mut waiting = 0;
        // Whichever of the two the bank lists first.
        for is_first_told in [true, false] {
            let mut payments = [acquired.payment().await, acquired.payment().await];
            payments.rotate_left(usize::from(!is_first_told));
            let [told, missed] = payments;
            let order =
                |notice| PayOrder { receipt_id: Some(format!("{REPEATED}{waiting}")), notice, ..repeated(notice) };
            acquired.pays_as(&told, order(NotifyHabit::Once)).await;
            acquired.pays_as(&missed, order(NotifyHabit::Never)).await;
            let day = jakarta_day(kit.engine.now());
            next_day(&kit);
            waiting += 1;
            for _ in 0..2 {
                assert_eq!(compared(&kit, &acquired, day).await, (tally(1), tally(1)), "{}", acquired.name());
                assert_eq!(status(&acquired.project, &told).await, "paid");
                assert_eq!(held(&kit, &acquired).await.len(), waiting);
                kit.clock.advance(Duration::from_mins(3));
            }
            assert_eq!(events_of(&acquired.project, &told, "payment.paid").await.len(), 1);
        }
    }
}

async fn a_comparison_tells_money_with_the_same_id_apart_on_two_days(kit: Arc<Kit>) {
    for acquired in compared_in_all_ways(&kit).await {
        let first = acquired.payment().await;
        acquired.pays_as(&first, repeated(NotifyHabit::Once)).await;
        let day = jakarta_day(kit.engine.now());
        next_day(&kit);
        assert_eq!(compared(&kit, &acquired, day).await, (tally(1), tally(0)), "{}", acquired.name());
        let second = acquired.payment().await;
        acquired.pays_as(&second, repeated(NotifyHabit::Never)).await;
        next_day(&kit);
        assert_eq!(compared(&kit, &acquired, day + 1).await, (tally(0), tally(1)), "{}", acquired.name());
        assert_eq!(held(&kit, &acquired).await, [(id(&second).to_owned(), own_id(&acquired, &second))]);
        assert_eq!(compared(&kit, &acquired, day).await, (tally(1), tally(0)), "{}", acquired.name());
    }
}
