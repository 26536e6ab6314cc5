//! A bank's request id that comes again for other money. Ids of banks are unique for an account, a service and a day at best,
//! so a verdict is repeated only where number and amount agree too; other money is judged as such, and booked apart.

use std::{sync::Arc, time::Duration};

use demobank::{Answer, Conclusion, Knobs, Payment, Style};
use domain::money::Rupiah;
use engine::Window;
use serde_json::Value;
use testkit::{Kit, on_every_database};

use super::{acts::said, repeats::to_the_end_of_the_day};
use crate::support::{
    banks::{AMOUNT, COMPANY_CODE, Contracted, contracted, contracted_with, number},
    payments::{events_of, status, unapplied},
    rows::rows,
};

on_every_database![
    a_request_id_that_comes_again_for_another_bill_pays_that_bill,
    a_request_id_that_comes_again_with_another_amount_is_judged_by_that_amount,
    a_request_id_that_comes_again_on_another_day_for_another_bill_pays_that_bill,
    the_same_ids_for_other_money_are_a_conflict_and_book_nothing,
    money_with_the_request_id_of_other_money_is_kept_apart_where_refusals_return_nothing,
    two_bills_that_are_paid_at_once_under_one_request_id_are_both_paid on 2 threads,
];

const TAKEN: (&str, &str) = ("2002500", "00");

/// The same request id under an external id of its own.
fn same_request(answer: &Answer) -> Knobs {
    Knobs { request_id: Some(answer.sent.request_id.clone()), ..Knobs::default() }
}

/// A resend with the ids that were sent.
async fn resend(contracted: &Contracted, answer: &Answer) -> Answer {
    let sent = &answer.sent;
    let payment = Payment { paid_at_ms: Some(sent.paid_at_ms), ..Payment::of(&sent.number, sent.amount) };
    contracted.pay_as(payment, Knobs::resend_of(sent)).await
}

/// What the bank has booked under a request id that it uses twice is not looked at.
async fn is_paid(contracted: &Contracted, payment: &Value) {
    assert_eq!(status(&contracted.project, payment).await, "paid");
    assert_eq!(events_of(&contracted.project, payment, "payment.paid").await.len(), 1);
    assert_eq!(unapplied(&contracted.project).await, 0);
}

/// Regression: the second bill was answered with the first one's verdict, and its money was recorded nowhere.
async fn a_request_id_that_comes_again_for_another_bill_pays_that_bill(kit: Arc<Kit>) {
    for style in [Style::BCA, Style::BRIVA_ONLINE, Style::GENERIC] {
        let contracted = contracted(&kit, style).await;
        let bills = [contracted.payment().await, contracted.payment().await, contracted.payment().await];
        let mut answers: Vec<Answer> = Vec::new();
        for bill in &bills {
            let knobs = answers.first().map_or_else(Knobs::default, same_request);
            let answer = contracted.pay(&number(bill), knobs).await;
            assert_eq!((said(&answer), answer.conclusion), (TAKEN, Some(Conclusion::Booked)));
            answers.push(answer);
        }
        let before = rows(&kit.database);
        for (bill, answer) in bills.iter().zip(&answers) {
            contracted.is_paid_once(bill, &number(bill)).await;
            assert_eq!(resend(&contracted, answer).await.conclusion, Some(Conclusion::Booked));
        }
        assert_eq!(rows(&kit.database), before, "a resend leaves nothing behind");
        for (bill, answer) in bills.iter().zip(&answers) {
            // Under another external id it has the same verdict.
            assert_eq!(said(&contracted.pay(&number(bill), same_request(answer)).await), TAKEN);
            contracted.is_paid_once(bill, &number(bill)).await;
        }
    }
}

async fn a_request_id_that_comes_again_with_another_amount_is_judged_by_that_amount(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let (paid, bill) = (contracted.payment().await, contracted.payment().await);
    let first = contracted.pay(&number(&paid), Knobs::default()).await;
    // Of the bill that is paid, and of one that is not.
    for (of, code) in [(&paid, "4042513"), (&bill, "4042513")] {
        let more = Payment::of(number(of), AMOUNT + 1);
        let answer = contracted.pay_as(more, same_request(&first)).await;
        assert_eq!((said(&answer), answer.conclusion), ((code, "01"), Some(Conclusion::Reversed)));
    }
    assert_eq!(status(&contracted.project, &bill).await, "pending");
    is_paid(&contracted, &paid).await;
    // A refusal binds nothing but what was refused.
    assert_eq!(said(&contracted.pay(&number(&bill), same_request(&first)).await), TAKEN);
    is_paid(&contracted, &bill).await;
    let unknown = format!("{COMPANY_CODE}00000000001");
    assert_eq!(said(&contracted.pay(&unknown, same_request(&first)).await), ("4042512", "01"));
}

async fn a_request_id_that_comes_again_on_another_day_for_another_bill_pays_that_bill(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BSI).await;
    to_the_end_of_the_day(&kit);
    let (yesterdays, todays) = (contracted.payment().await, contracted.payment().await);
    let first = contracted.pay(&number(&yesterdays), Knobs::default()).await;
    kit.clock.advance(Duration::from_secs(2));
    // A bank that counts anew each day may send all of its ids again.
    let same_ids = Knobs { external_id: Some(first.sent.external_id.clone()), ..same_request(&first) };
    assert_eq!(said(&contracted.pay(&number(&todays), same_ids).await), TAKEN);
    contracted.is_paid_once(&todays, &number(&todays)).await;
    // The first one's is the same money still.
    assert_eq!(said(&contracted.pay(&number(&yesterdays), same_request(&first)).await), TAKEN);
    contracted.is_paid_once(&yesterdays, &number(&yesterdays)).await;
}

async fn the_same_ids_for_other_money_are_a_conflict_and_book_nothing(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let (paid, bill) = (contracted.payment().await, contracted.payment().await);
    let first = contracted.pay(&number(&paid), Knobs::default()).await;
    let before = rows(&kit.database);
    for payment in [Payment::of(number(&bill), AMOUNT), Payment::of(number(&paid), AMOUNT + 1)] {
        let answer = contracted.pay_as(payment, Knobs::resend_of(&first.sent)).await;
        assert_eq!((said(&answer), answer.conclusion), (("4092500", "01"), Some(Conclusion::Reversed)));
    }
    assert_eq!(rows(&kit.database), before);
    assert_eq!(status(&contracted.project, &bill).await, "pending");
    is_paid(&contracted, &paid).await;
}

async fn money_with_the_request_id_of_other_money_is_kept_apart_where_refusals_return_nothing(kit: Arc<Kit>) {
    let contracted = contracted_with(&kit, Style::GENERIC, &[("refusal_reverses", "no")]).await;
    let (paid, bill) = (contracted.payment().await, contracted.payment().await);
    let first = contracted.pay(&number(&paid), Knobs::default()).await;
    let nobodys = format!("{COMPANY_CODE}00000000001");
    // Each twice, and kept once.
    for _ in 0..2 {
        for payment in [
            Payment::of(number(&paid), AMOUNT + 1),
            Payment::of(number(&bill), AMOUNT + 2),
            Payment::of(&nobodys, AMOUNT),
            Payment::of(&nobodys, AMOUNT + 3),
        ] {
            assert_eq!(said(&contracted.pay_as(payment, same_request(&first)).await), TAKEN);
        }
    }
    assert_eq!(unapplied(&contracted.project).await, 2 * AMOUNT + 3);
    let strays = kit.engine.strays(true, Window { offset: 0, limit: 100 }).await.unwrap().items;
    let mut amounts: Vec<i64> = strays.iter().filter_map(|stray| stray.amount).map(Rupiah::get).collect();
    amounts.sort_unstable();
    assert_eq!(amounts, [AMOUNT, AMOUNT + 3]);
    assert_eq!(said(&contracted.pay(&number(&bill), same_request(&first)).await), TAKEN);
    for payment in [&paid, &bill] {
        assert_eq!(status(&contracted.project, payment).await, "paid");
        assert_eq!(events_of(&contracted.project, payment, "payment.paid").await.len(), 1);
    }
}

async fn two_bills_that_are_paid_at_once_under_one_request_id_are_both_paid(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::GENERIC).await;
    for _ in 0..5 {
        let bills = [contracted.payment().await, contracted.payment().await];
        let first = contracted.prepared(&number(&bills[0]), &Knobs::default()).await;
        let same = Knobs { request_id: Some(first.request_id.clone()), ..Knobs::default() };
        let second = contracted.prepared(&number(&bills[1]), &same).await;
        let (one, other) = tokio::join!(contracted.bank.send_many(&first, 6), contracted.bank.send_many(&second, 6));
        for answer in one.iter().chain(&other) {
            assert_eq!(answer.conclusion, Some(Conclusion::Booked), "{}", answer.text);
        }
        for bill in &bills {
            contracted.is_paid_once(bill, &number(bill)).await;
        }
    }
}
