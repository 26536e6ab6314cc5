//! Money at banks that do not give back what we refuse: it is taken, and kept until somebody decides about it.

use std::{sync::Arc, time::Duration};

use demobank::{Conclusion, Knobs, Payment, Style};
use domain::{
    money::Rupiah,
    stray::{Stray, StrayDecision},
};
use engine::{Error, Window};
use serde_json::Value;
use testkit::{Kit, on_every_database};

use super::acts::{payment_id, said};
use crate::support::{
    banks::{AMOUNT, COMPANY_CODE, Contracted, contracted, contracted_with, number},
    json::at,
    payments::{events_of, status, unapplied},
};

on_every_database![
    money_for_a_number_that_nobody_has_is_a_stray,
    the_same_stray_money_is_kept_once,
    money_that_fits_no_more_is_held_on_its_payment,
    money_for_a_paid_bill_is_held_on_its_payment,
    a_stray_that_fits_pays_the_payment_that_it_is_assigned_to,
    a_stray_that_does_not_fit_is_held_on_the_payment_that_it_is_assigned_to,
    a_stray_is_returned,
    of_two_decisions_at_once_one_wins on 2 threads,
    a_stray_belongs_to_production,
];

const NOTE: &str = "the customer typed another number";

/// An account at a bank that keeps what we refuse.
async fn keeping(kit: &Kit) -> Contracted {
    contracted_with(kit, Style::GENERIC, &[("refusal_reverses", "no")]).await
}

async fn open_strays(kit: &Kit) -> Vec<Stray> {
    kit.engine.strays(true, Window { offset: 0, limit: 100 }).await.unwrap().items
}

/// Pays a number that nobody has.
async fn stray(kit: &Kit, contracted: &Contracted) -> Stray {
    let number = format!("{COMPANY_CODE}00000000001");
    assert_eq!(said(&contracted.pay(&number, Knobs::default()).await), ("2002500", "00"));
    open_strays(kit).await.into_iter().next().unwrap()
}

async fn is_on_books(kit: &Kit, count: i64) {
    let open = kit.engine.open_strays().await.unwrap();
    assert_eq!((open.count, open.amount), (count, Rupiah::new(count * AMOUNT)));
}

async fn money_for_a_number_that_nobody_has_is_a_stray(kit: Arc<Kit>) {
    let contracted = keeping(&kit).await;
    let number = format!("{COMPANY_CODE}00000000001");
    // The inquiry says still that nobody has it.
    assert_eq!(said(&contracted.ask(&number, Knobs::default()).await), ("4042412", "01"));
    let answer = contracted.pay(&number, Knobs::default()).await;
    assert_eq!((said(&answer), answer.conclusion), (("2002500", "00"), Some(Conclusion::Booked)));
    let strays = open_strays(&kit).await;
    let [stray] = strays.as_slice() else { panic!("{strays:?}") };
    assert_eq!((&stray.number, stray.amount), (&number, Some(Rupiah::new(AMOUNT))));
    assert_eq!((stray.account_id, &stray.receipt_id), (contracted.account, &answer.sent.request_id));
    assert_eq!(stray.paid_at, kit.engine.now());
    is_on_books(&kit, 1).await;
    contracted.has_no_money().await;
}

async fn the_same_stray_money_is_kept_once(kit: Arc<Kit>) {
    let contracted = keeping(&kit).await;
    let number = format!("{COMPANY_CODE}00000000001");
    let prepared = contracted.prepared(&number, &Knobs::default()).await;
    for answer in contracted.bank.send_many(&prepared, 10).await {
        assert_eq!(answer.conclusion, Some(Conclusion::Booked), "{answer:?}");
    }
    let another_id = Knobs { request_id: Some(prepared.request_id.clone()), ..Knobs::default() };
    assert_eq!(said(&contracted.pay(&number, another_id.clone()).await), ("2002500", "00"));
    is_on_books(&kit, 1).await;
    // Also after it was decided about.
    let stray = open_strays(&kit).await.remove(0);
    kit.engine.return_stray(stray.id, NOTE.to_owned()).await.unwrap();
    assert_eq!(said(&contracted.pay(&number, another_id).await), ("2002500", "00"));
    is_on_books(&kit, 0).await;
}

async fn money_that_fits_no_more_is_held_on_its_payment(kit: Arc<Kit>) {
    let contracted = keeping(&kit).await;
    let payment = contracted.payment_for(60).await;
    let number = number(&payment);
    let wrong = contracted.pay_as(Payment::of(&number, AMOUNT + 5), Knobs::default()).await;
    assert_eq!((said(&wrong), wrong.conclusion), (("2002500", "00"), Some(Conclusion::Booked)));
    assert_eq!(unapplied(&contracted.project).await, AMOUNT + 5);
    assert_eq!(status(&contracted.project, &payment).await, "pending");
    kit.clock.set(at(&payment, "expires_at").plus(Duration::from_secs(1)));
    assert_eq!(said(&contracted.ask(&number, Knobs::default()).await), ("4042419", "01"));
    let late = contracted.pay(&number, Knobs::default()).await;
    assert_eq!((said(&late), late.conclusion), (("2002500", "00"), Some(Conclusion::Booked)));
    assert_eq!(unapplied(&contracted.project).await, 2 * AMOUNT + 5);
    assert_eq!(status(&contracted.project, &payment).await, "expired");
    let again = contracted.pay(&number, Knobs::resend_of(&late.sent)).await;
    assert_eq!(said(&again), ("2002500", "00"));
    assert_eq!(unapplied(&contracted.project).await, 2 * AMOUNT + 5);
    is_on_books(&kit, 0).await;
}

async fn money_for_a_paid_bill_is_held_on_its_payment(kit: Arc<Kit>) {
    let contracted = keeping(&kit).await;
    let payment = contracted.payment().await;
    for held in [0, AMOUNT] {
        let answer = contracted.pay(&number(&payment), Knobs::default()).await;
        assert_eq!((said(&answer), answer.conclusion), (("2002500", "00"), Some(Conclusion::Booked)));
        assert_eq!(unapplied(&contracted.project).await, held);
    }
    assert_eq!(events_of(&contracted.project, &payment, "payment.paid").await.len(), 1);
    is_on_books(&kit, 0).await;
}

async fn is_assigned(kit: &Kit, stray: &Stray, payment: &Value) {
    let decided = kit.engine.stray(stray.id).await.unwrap().decided.unwrap();
    let StrayDecision::Assigned { payment_id: to, .. } = decided.decision else { panic!("{decided:?}") };
    assert_eq!((to, decided.note.as_str()), (payment_id(payment), NOTE));
}

async fn a_stray_that_fits_pays_the_payment_that_it_is_assigned_to(kit: Arc<Kit>) {
    let contracted = keeping(&kit).await;
    let payment = contracted.payment().await;
    kit.clock.advance(Duration::from_secs(60));
    let stray = stray(&kit, &contracted).await;
    kit.clock.advance(Duration::from_secs(3_600));
    kit.engine.assign_stray(stray.id, payment_id(&payment), NOTE.to_owned()).await.unwrap();
    is_assigned(&kit, &stray, &payment).await;
    let shown = contracted.shown(&payment).await;
    assert_eq!((shown["status"].as_str(), at(&shown, "paid_at")), (Some("paid"), stray.paid_at));
    assert_eq!(events_of(&contracted.project, &payment, "payment.paid").await.len(), 1);
    assert_eq!(unapplied(&contracted.project).await, 0);
    is_on_books(&kit, 0).await;
    let again = kit.engine.assign_stray(stray.id, payment_id(&payment), NOTE.to_owned()).await;
    assert!(matches!(again, Err(Error::AlreadyDecided)));
}

async fn a_stray_that_does_not_fit_is_held_on_the_payment_that_it_is_assigned_to(kit: Arc<Kit>) {
    let contracted = keeping(&kit).await;
    let payment = contracted.payment_for(60).await;
    kit.clock.set(at(&payment, "expires_at").plus(Duration::from_secs(1)));
    let stray = stray(&kit, &contracted).await;
    kit.engine.assign_stray(stray.id, payment_id(&payment), NOTE.to_owned()).await.unwrap();
    is_assigned(&kit, &stray, &payment).await;
    assert_eq!(status(&contracted.project, &payment).await, "expired");
    assert_eq!(unapplied(&contracted.project).await, AMOUNT);
    is_on_books(&kit, 0).await;
}

async fn a_stray_is_returned(kit: Arc<Kit>) {
    let contracted = keeping(&kit).await;
    let stray = stray(&kit, &contracted).await;
    kit.engine.return_stray(stray.id, NOTE.to_owned()).await.unwrap();
    let decided = kit.engine.stray(stray.id).await.unwrap().decided.unwrap();
    assert_eq!((decided.decision, decided.note.as_str()), (StrayDecision::Returned, NOTE));
    assert!(open_strays(&kit).await.is_empty());
    is_on_books(&kit, 0).await;
    let payment = contracted.payment().await;
    let late = kit.engine.assign_stray(stray.id, payment_id(&payment), NOTE.to_owned()).await;
    assert!(matches!(late, Err(Error::AlreadyDecided)));
    assert_eq!(status(&contracted.project, &payment).await, "pending");
    contracted.has_no_money().await;
}

async fn of_two_decisions_at_once_one_wins(kit: Arc<Kit>) {
    let contracted = keeping(&kit).await;
    for _ in 0..5 {
        let (first, second) = (contracted.payment().await, contracted.payment().await);
        let stray = stray(&kit, &contracted).await;
        let (one, other, returned) = tokio::join!(
            kit.engine.assign_stray(stray.id, payment_id(&first), NOTE.to_owned()),
            kit.engine.assign_stray(stray.id, payment_id(&second), NOTE.to_owned()),
            kit.engine.return_stray(stray.id, NOTE.to_owned()),
        );
        let outcomes = [one, other, returned];
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        assert_eq!(outcomes.iter().filter(|outcome| matches!(outcome, Err(Error::AlreadyDecided))).count(), 2);
        let mut paid = 0;
        for payment in [&first, &second] {
            paid += usize::from(status(&contracted.project, payment).await == "paid");
        }
        assert_eq!(paid, usize::from(outcomes[2].is_err()));
        is_on_books(&kit, 0).await;
    }
    assert_eq!(unapplied(&contracted.project).await, 0);
}

async fn a_stray_belongs_to_production(kit: Arc<Kit>) {
    let (keeping, sandbox) = (keeping(&kit).await, kit.sandbox().await);
    let stray = stray(&kit, &keeping).await;
    let payment = crate::support::payments::pending_qris(&sandbox, AMOUNT).await;
    assert!(kit.engine.assign_stray(stray.id, payment_id(&payment), NOTE.to_owned()).await.is_err());
    assert!(kit.engine.assign_stray(stray.id, payment_id(&payment), String::new()).await.is_err());
    assert_eq!(status(&sandbox, &payment).await, "pending");
    is_on_books(&kit, 1).await;
    // At a bank that gives back what we refuse there are none.
    let reversing = contracted(&kit, Style::BCA).await;
    let unknown = format!("{COMPANY_CODE}00000000002");
    assert_eq!(said(&reversing.pay(&unknown, Knobs::default()).await), ("4042512", "01"));
    is_on_books(&kit, 1).await;
}
