//! A code that is paid twice: the second money is held, whichever member names receipts. Two notices are the same money only if
//! everything that both of them say agrees.

use std::{sync::Arc, time::Duration};

use demobank::{Knobs, Notification, NotifyHabit, PayOrder, Service};
use domain::{
    bank_request::{jakarta_day, jakarta_day_begin},
    method::Method,
    receipt::Unapplied,
};
use engine::Window;
use serde_json::Value;
use store::UnappliedFilter;
use testkit::{Kit, on_every_database};

use crate::support::{
    acquirers::{AMOUNT, Acquired, acquired, acquired_for, ask_after, code_of, open_strays, silently, word_of},
    payments::{events_of, status, unapplied},
};

on_every_database![
    a_qr_that_is_paid_twice_is_paid_and_the_second_money_is_held,
    a_second_notice_is_other_money_if_any_member_differs,
    a_notice_that_says_less_or_more_is_the_same_money,
    money_whose_time_the_bank_states_otherwise_when_it_is_asked_is_the_same,
    a_second_notice_is_other_money_also_where_the_bank_was_asked_first,
];

/// Every way of naming receipts, and what banks do by default.
async fn contracts(kit: &Kit) -> Vec<Acquired> {
    let mut contracts = vec![acquired(kit, "midtrans").await, acquired(kit, "dana").await, acquired(kit, "doku").await];
    for receipt in ["bank_reference", "rrn", "payment_reference"] {
        let settings = [("receipt", receipt)];
        contracts.push(acquired_for(kit, kit.production().await, "generic", Method::Qris, &settings).await);
    }
    contracts
}

/// Why money of the project is held, of which nobody has decided.
async fn held(kit: &Kit, acquired: &Acquired) -> Vec<Unapplied> {
    let window = Window { offset: 0, limit: 100 };
    let listed =
        kit.store.unapplied_receipts(acquired.project.id, UnappliedFilter::Undecided, None, window).await.unwrap();
    listed.items.into_iter().map(|held| held.reason).collect()
}

/// Regression: where receipts are known by the bank's reference of the code, the second notification was swallowed.
async fn a_qr_that_is_paid_twice_is_paid_and_the_second_money_is_held(kit: Arc<Kit>) {
    for acquired in contracts(&kit).await {
        let payment = acquired.payment().await;
        acquired.pays(&payment).await;
        kit.clock.advance(Duration::from_mins(2));
        let second = acquired.pays_as(&payment, PayOrder { notice: NotifyHabit::Twice, ..PayOrder::default() }).await;
        assert!(second.answers.iter().all(|answer| answer.status == 200), "{:?}", second.answers);
        for _ in 0..2 {
            assert_eq!(status(&acquired.project, &payment).await, "paid", "{}", acquired.name());
            assert_eq!(held(&kit, &acquired).await, [Unapplied::AlreadyPaid], "{}", acquired.name());
            assert_eq!(unapplied(&acquired.project).await, AMOUNT);
            // The first is told again, and the bank is asked.
            acquired.asked.tell(code_of(&payment), "00", Knobs::default()).await.unwrap();
            ask_after(&kit, Duration::from_hours(25)).await;
        }
        assert_eq!(events_of(&acquired.project, &payment, "payment.paid").await.len(), 1);
    }
    assert!(open_strays(&kit).await.is_empty());
}

/// A notice of money for a payment, whose time is fixed.
fn notice_of(kit: &Kit, acquired: &Acquired, payment: &Value) -> Notification {
    let paid_at_ms = Some(kit.engine.now().as_millis() / 1_000 * 1_000);
    Notification { paid_at_ms, ..word_of(acquired, payment) }
}

async fn a_second_notice_is_other_money_if_any_member_differs(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let payment = acquired.payment().await;
    let first = notice_of(&kit, &acquired, &payment);
    let other_time = first.paid_at_ms.map(|at| at + 1_000);
    let tell = async |told: &Notification| {
        let answer = acquired.tells(Service::QrNotify, told.clone(), Knobs::default()).await;
        assert_eq!(answer.code(), "2005200", "{}", answer.text);
    };
    tell(&first).await;
    assert_eq!((status(&acquired.project, &payment).await.as_str(), unapplied(&acquired.project).await), ("paid", 0));
    let others = [
        (Notification { receipt_id: "210987654321".to_owned(), ..first.clone() }, AMOUNT),
        (Notification { paid_at_ms: other_time, ..first.clone() }, 2 * AMOUNT),
        (Notification { amount: AMOUNT + 7, ..first.clone() }, 3 * AMOUNT + 7),
    ];
    for (other, sum) in &others {
        for _ in 0..2 {
            tell(other).await;
            assert_eq!(unapplied(&acquired.project).await, *sum, "{other:?}");
        }
    }
    for (told, _) in &others {
        tell(told).await;
    }
    tell(&first).await;
    assert_eq!((unapplied(&acquired.project).await, held(&kit, &acquired).await.len()), (3 * AMOUNT + 7, 3));
}

async fn a_notice_that_says_less_or_more_is_the_same_money(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let payment = acquired.payment().await;
    let full = notice_of(&kit, &acquired, &payment);
    let bare = Notification { receipt_id: String::new(), ..full.clone() };
    let timeless = Knobs { missing_member: Some("paidTime".to_owned()), ..Knobs::default() };
    for (told, knobs) in [
        (&bare, timeless.clone()),
        (&bare, Knobs::default()),
        (&full, timeless.clone()),
        (&full, Knobs::default()),
        (&bare, timeless),
    ] {
        assert_eq!(acquired.tells(Service::QrNotify, told.clone(), knobs).await.code(), "2005200");
        assert_eq!(status(&acquired.project, &payment).await, "paid");
        assert_eq!(unapplied(&acquired.project).await, 0, "{told:?}");
    }
    // What was said later tells other money apart too.
    let other = Notification { receipt_id: "210987654321".to_owned(), ..full };
    acquired.tells(Service::QrNotify, other, Knobs::default()).await;
    assert_eq!(unapplied(&acquired.project).await, AMOUNT);
}

/// Regression: DANA notifies when a transaction was finished and answers when it was paid, and the answer was booked as other
/// money.
async fn money_whose_time_the_bank_states_otherwise_when_it_is_asked_is_the_same(kit: Arc<Kit>) {
    for is_asked_first in [false, true] {
        let acquired = acquired(&kit, "dana").await;
        let payment = acquired.payment().await;
        let finished = notice_of(&kit, &acquired, &payment);
        let paid_at_ms = finished.paid_at_ms.map(|at| at - 2_000);
        let receipt_id = Some(finished.receipt_id.clone());
        acquired.pays_as(&payment, PayOrder { paid_at_ms, receipt_id, ..silently() }).await;
        if is_asked_first {
            // The bank is asked about a code when it has expired.
            ask_after(&kit, Duration::from_mins(20)).await;
            assert_eq!(status(&acquired.project, &payment).await, "paid");
        }
        let day = jakarta_day(kit.engine.now());
        for _ in 0..2 {
            acquired.tells(Service::DebitNotify, finished.clone(), Knobs::default()).await;
            assert_eq!(status(&acquired.project, &payment).await, "paid");
            kit.clock.set(jakarta_day_begin(day + 1).plus(Duration::from_mins(31)));
            let compared = kit.engine.compare_bank_day(acquired.account, day).await.unwrap().reconciliation;
            assert_eq!((compared.matched.count, compared.missing_here.count), (1, 0), "{compared:?}");
            assert_eq!((compared.missing_there.count, unapplied(&acquired.project).await), (0, 0), "{compared:?}");
        }
    }
}

/// Regression: where the bank's answer had booked the money, every notification within five minutes of it was taken for the same.
async fn a_second_notice_is_other_money_also_where_the_bank_was_asked_first(kit: Arc<Kit>) {
    let by_reference = [("receipt", "bank_reference")];
    let generic = acquired_for(&kit, kit.production().await, "generic", Method::Qris, &by_reference).await;
    for (acquired, service) in [(acquired(&kit, "dana").await, Service::DebitNotify), (generic, Service::QrNotify)] {
        let payment = acquired.payment().await;
        // Without an RRN, two payments of a code differ by their times alone.
        let first = Notification { receipt_id: String::new(), ..notice_of(&kit, &acquired, &payment) };
        let after = |seconds: i64| first.paid_at_ms.map(|at| at + 1_000 * seconds);
        let told = |seconds| Notification { paid_at_ms: after(seconds), ..first.clone() };
        let order = PayOrder { paid_at_ms: after(0), receipt_id: Some(String::new()), ..silently() };
        acquired.pays_as(&payment, order).await;
        ask_after(&kit, Duration::from_mins(20)).await;
        assert_eq!(status(&acquired.project, &payment).await, "paid", "{}", acquired.name());
        for (notice, sum) in [(told(2), 0), (told(92), AMOUNT), (told(2), AMOUNT), (told(92), AMOUNT)] {
            let answer = acquired.tells(service, notice.clone(), Knobs::default()).await;
            assert_eq!(answer.status, 200, "{}", answer.text);
            assert_eq!(unapplied(&acquired.project).await, sum, "{} {notice:?}", acquired.name());
        }
        ask_after(&kit, Duration::from_hours(25)).await;
        assert_eq!(held(&kit, &acquired).await, [Unapplied::AlreadyPaid], "{}", acquired.name());
    }
}
