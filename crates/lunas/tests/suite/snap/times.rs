//! Lateness goes by when the customer has paid, not by when the bank tells us.

use std::{sync::Arc, time::Duration};

use demobank::{Conclusion, Knobs, Style};
use serde_json::json;
use testkit::{Kit, on_every_database};

use super::acts::said;
use crate::support::{
    banks::{AMOUNT, contracted, number},
    json::at,
    links::{attempt, cancel_link, create_link},
    payments::status,
};

on_every_database![
    money_paid_in_time_and_told_late_is_taken,
    money_paid_late_is_refused_however_early_it_is_told,
    money_paid_before_a_cancellation_is_taken_after_it,
    a_payment_shows_when_the_customer_has_paid,
    money_that_a_slow_clock_dates_before_the_payment_counts_from_its_creation,
    a_time_without_an_offset_is_jakartas,
];

async fn money_paid_in_time_and_told_late_is_taken(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    for written_down in [false, true] {
        let payment = contracted.payment_for(60).await;
        let expires_at = at(&payment, "expires_at");
        kit.clock.set(expires_at.plus(Duration::from_secs(7_200)));
        if written_down {
            kit.engine.expire_due().await.unwrap();
        }
        assert_eq!(status(&contracted.project, &payment).await, "expired");
        assert_eq!(said(&contracted.ask(&number(&payment), Knobs::default()).await), ("4042419", "01"));
        let answer = contracted.pay_at(&number(&payment), expires_at, Knobs::default()).await;
        assert_eq!((said(&answer), answer.conclusion), (("2002500", "00"), Some(Conclusion::Booked)));
        let shown = contracted.shown(&payment).await;
        assert_eq!((&shown["status"], at(&shown, "paid_at")), (&json!("paid"), expires_at));
    }
}

async fn money_paid_late_is_refused_however_early_it_is_told(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let payment = contracted.payment_for(60).await;
    let late = at(&payment, "expires_at").plus(Duration::from_secs(1));
    // Our clock may be behind the bank's.
    kit.clock.set(at(&payment, "expires_at").minus(Duration::from_secs(10)));
    let answer = contracted.pay_at(&number(&payment), late, Knobs::default()).await;
    assert_eq!((said(&answer), answer.conclusion), (("4042519", "01"), Some(Conclusion::Reversed)));
    kit.clock.set(late.plus(Duration::from_secs(60)));
    let answer = contracted.pay_at(&number(&payment), late, Knobs::default()).await;
    assert_eq!((said(&answer), answer.conclusion), (("4042519", "01"), Some(Conclusion::Reversed)));
    contracted.has_no_money().await;
}

async fn money_paid_before_a_cancellation_is_taken_after_it(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let link = create_link(&contracted.project, json!({ "amount": AMOUNT })).await;
    let payment = attempt(&kit, &contracted.project, &link, contracted.method).await;
    let paid_at = kit.engine.now();
    kit.clock.advance(Duration::from_secs(10));
    cancel_link(&contracted.project, &link).await;
    let cancelled_at = kit.engine.now();
    kit.clock.advance(Duration::from_secs(10));
    let late = contracted.pay_at(&number(&payment), cancelled_at.plus(Duration::from_secs(1)), Knobs::default()).await;
    assert_eq!(said(&late), ("4042512", "01"));
    let timely = contracted.pay_at(&number(&payment), paid_at, Knobs::default()).await;
    assert_eq!((said(&timely), timely.conclusion), (("2002500", "00"), Some(Conclusion::Booked)));
    assert_eq!(status(&contracted.project, &payment).await, "paid");
}

async fn a_payment_shows_when_the_customer_has_paid(kit: Arc<Kit>) {
    for style in [Style::BCA, Style::BRIVA_ONLINE] {
        let contracted = contracted(&kit, style).await;
        let payment = contracted.payment().await;
        let paid_at = kit.engine.now().plus(Duration::from_secs(33));
        kit.clock.advance(Duration::from_secs(1_800));
        let answer = contracted.pay_at(&number(&payment), paid_at, Knobs::default()).await;
        assert_eq!(said(&answer), ("2002500", "00"));
        assert_eq!(at(&contracted.shown(&payment).await, "paid_at"), paid_at);
    }
}

async fn money_that_a_slow_clock_dates_before_the_payment_counts_from_its_creation(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let payment = contracted.payment().await;
    let before = at(&payment, "created_at").minus(Duration::from_secs(90));
    assert_eq!(said(&contracted.pay_at(&number(&payment), before, Knobs::default()).await), ("2002500", "00"));
    let shown = contracted.shown(&payment).await;
    assert_eq!(at(&shown, "paid_at"), at(&shown, "created_at"));
}

async fn a_time_without_an_offset_is_jakartas(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::GENERIC).await;
    let payment = contracted.payment().await;
    kit.clock.advance(Duration::from_secs(60));
    let paid_at = kit.engine.now();
    let local = gateway::snap::format_timestamp(paid_at, gateway::snap::Precision::Seconds);
    let members = vec![("trxDateTime".to_owned(), format!("\"{}\"", local.trim_end_matches("+07:00")))];
    assert_eq!(
        said(&contracted.pay(&number(&payment), Knobs { members, ..Knobs::default() }).await),
        ("2002500", "00")
    );
    assert_eq!(at(&contracted.shown(&payment).await, "paid_at"), paid_at);
}
