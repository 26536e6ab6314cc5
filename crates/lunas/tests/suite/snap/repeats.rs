//! The same call again: external ids, request ids and days. Money is judged once, and what was said stays said.

use std::{sync::Arc, time::Duration};

use demobank::{Answer, Conclusion, Inquiry, Knobs, Payment, Style};
use domain::time::Timestamp;
use testkit::{Kit, on_every_database};

use super::acts::{said, shaped};
use crate::support::{
    banks::{AMOUNT, Contracted, contracted, contracted_with, number},
    payments::status,
    rows::rows,
};

on_every_database![
    a_repeated_payment_echoes_the_first_flag_at_banks_that_ask_for_4042518,
    a_repeated_payment_gets_the_first_answer_wherever_4042518_may_reverse_it,
    a_repeated_refusal_is_refused_again_and_judged_once,
    an_inquiry_again_gets_the_same_answer,
    an_external_id_with_another_request_id_is_a_conflict,
    a_request_id_with_another_external_id_gets_the_first_result_and_no_second_receipt,
    money_that_was_booked_is_never_a_conflict,
    an_external_id_is_free_again_after_midnight_in_jakarta,
    a_resend_after_midnight_is_the_same_money,
];

/// Sends again with the same ids, as a bank does whose answer was lost.
async fn again(contracted: &Contracted, first: &Answer) -> Answer {
    let payment =
        Payment { paid_at_ms: Some(first.sent.paid_at_ms), ..Payment::of(&first.sent.number, first.sent.amount) };
    contracted.pay_as(payment, Knobs::resend_of(&first.sent)).await
}

async fn a_repeated_payment_echoes_the_first_flag_at_banks_that_ask_for_4042518(kit: Arc<Kit>) {
    for (style, settings) in [(Style::BCA, &[][..]), (Style::GENERIC, &[("repeat", "4042518")])] {
        let contracted = contracted_with(&kit, style, settings).await;
        let payment = contracted.payment().await;
        let number = number(&payment);
        let first = contracted.pay(&number, Knobs::default()).await;
        assert_eq!(said(&first), ("2002500", "00"));
        let before = rows(&kit.database);
        for _ in 0..3 {
            let repeated = again(&contracted, &first).await;
            assert_eq!((said(&repeated), repeated.conclusion), (("4042518", "00"), Some(Conclusion::Booked)));
        }
        assert_eq!(rows(&kit.database), before, "a repetition leaves nothing behind");
        contracted.is_paid_once(&payment, &number).await;
    }
}

/// Regression: BRI got 4042518, which it lists among the codes on which it gives the money back.
async fn a_repeated_payment_gets_the_first_answer_wherever_4042518_may_reverse_it(kit: Arc<Kit>) {
    for style in [Style::BSI, Style::BRIVA_ONLINE, Style::MANDIRI, Style::GENERIC] {
        let contracted = contracted(&kit, style).await;
        let payment = contracted.payment().await;
        let number = number(&payment);
        let first = contracted.pay(&number, Knobs::default()).await;
        let before = rows(&kit.database);
        for _ in 0..3 {
            let repeated = again(&contracted, &first).await;
            assert_eq!((said(&repeated), repeated.conclusion), (("2002500", "00"), Some(Conclusion::Booked)));
        }
        assert_eq!(rows(&kit.database), before, "a repetition leaves nothing behind");
        contracted.is_paid_once(&payment, &number).await;
    }
}

async fn a_repeated_refusal_is_refused_again_and_judged_once(kit: Arc<Kit>) {
    for (style, code) in [(Style::BCA, "4042518"), (Style::BSI, "4042513"), (Style::BRIVA_ONLINE, "4042513")] {
        let contracted = contracted(&kit, style).await;
        let payment = contracted.payment().await;
        let number = number(&payment);
        let first = contracted.pay_as(Payment::of(&number, AMOUNT + 1), Knobs::default()).await;
        assert_eq!(said(&first), ("4042513", "01"));
        let repeated = again(&contracted, &first).await;
        assert_eq!((said(&repeated), repeated.conclusion), ((code, "01"), Some(Conclusion::Reversed)));
        // What the bank has given back is not taken because it now names the right amount: that is other money, and the
        // external id is not its own.
        let corrected = contracted.pay(&number, Knobs::resend_of(&first.sent)).await;
        assert_eq!((corrected.code(), corrected.conclusion), ("4092500", Some(Conclusion::Reversed)));
        assert_eq!(status(&contracted.project, &payment).await, "pending");
        contracted.has_no_money().await;
    }
}

async fn an_inquiry_again_gets_the_same_answer(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::GENERIC).await;
    let payment = contracted.payment().await;
    let number = number(&payment);
    let inquiry =
        contracted.bank.prepare_inquiry(&contracted.contract, Inquiry::of(&number), &Knobs::default()).await.unwrap();
    let first = contracted.send(&inquiry).await;
    assert_eq!(said(&first), ("2002400", "00"));
    let before = rows(&kit.database);
    let repeated = contracted.send(&inquiry).await;
    assert_eq!(repeated.text, first.text);
    assert_eq!(rows(&kit.database), before);
    contracted.pay(&number, Knobs::default()).await;
    assert_eq!(contracted.send(&inquiry).await.text, first.text, "it answers what was asked then");
    // The same request under an external id of its own is answered anew.
    let anew = Knobs { request_id: Some(inquiry.request_id.clone()), ..Knobs::default() };
    assert_eq!(said(&contracted.ask(&number, anew).await), ("4042414", "01"));
}

async fn an_external_id_with_another_request_id_is_a_conflict(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let (payment, other) = (contracted.payment().await, contracted.payment().await);
    let asked = contracted.ask(&number(&payment), Knobs::default()).await;
    let reused = Knobs { external_id: Some(asked.sent.external_id.clone()), ..Knobs::default() };
    assert_eq!(contracted.ask(&number(&payment), reused.clone()).await.code(), "4092400");
    // Inquiries and payments count for themselves.
    let paid = contracted.pay(&number(&payment), reused.clone()).await;
    assert_eq!(said(&paid), ("2002500", "00"));
    let before = rows(&kit.database);
    let conflict = contracted.pay(&number(&other), reused).await;
    assert_eq!((conflict.code(), conflict.conclusion), ("4092500", Some(Conclusion::Reversed)));
    assert_eq!(rows(&kit.database), before);
    assert_eq!(status(&contracted.project, &other).await, "pending");
    // At another account the same external id is another one.
    let elsewhere = self::contracted(&kit, Style::GENERIC).await;
    let free = Knobs { external_id: Some(asked.sent.external_id.clone()), ..Knobs::default() };
    let bill = elsewhere.payment().await;
    assert_eq!(said(&elsewhere.pay(&number(&bill), free).await), ("2002500", "00"));
}

async fn a_request_id_with_another_external_id_gets_the_first_result_and_no_second_receipt(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let payment = contracted.payment().await;
    let number = number(&payment);
    let refused = contracted.pay_as(Payment::of(&number, AMOUNT + 1), Knobs::default()).await;
    let same_request = |answer: &Answer| Knobs { request_id: Some(answer.sent.request_id.clone()), ..Knobs::default() };
    let again = contracted.pay_as(Payment::of(&number, AMOUNT + 1), same_request(&refused)).await;
    assert_eq!((said(&again), again.conclusion), (("4042513", "01"), Some(Conclusion::Reversed)));
    let taken = contracted.pay(&number, Knobs::default()).await;
    let again = contracted.pay(&number, same_request(&taken)).await;
    assert_eq!((said(&again), again.conclusion), (("2002500", "00"), Some(Conclusion::Booked)));
    contracted.is_paid_once(&payment, &number).await;
    // The refusal stays one.
    let again = contracted.pay_as(Payment::of(&number, AMOUNT + 1), same_request(&refused)).await;
    assert_eq!(said(&again), ("4042513", "01"));
}

/// Regression: a request whose external id another request had used today was a conflict, even when its money was booked
/// here before, and so the bank gave the money back.
async fn money_that_was_booked_is_never_a_conflict(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let (payment, other) = (contracted.payment().await, contracted.payment().await);
    let booked = contracted.pay(&number(&payment), Knobs::default()).await;
    let later = contracted.pay(&number(&other), Knobs::default()).await;
    let (external_id, request_id) = (later.sent.external_id.clone(), booked.sent.request_id.clone());
    let mixed =
        Knobs { external_id: Some(external_id), request_id: Some(request_id), flag_advise: true, ..Knobs::default() };
    let before = rows(&kit.database);
    let answer = contracted.pay(&number(&payment), mixed).await;
    assert_eq!((said(&answer), answer.conclusion), (("2002500", "00"), Some(Conclusion::Booked)));
    assert_eq!(rows(&kit.database), before);
    contracted.is_paid_once(&payment, &number(&payment)).await;
}

/// Moves the clock to a second before midnight in Jakarta.
pub(super) fn to_the_end_of_the_day(kit: &Kit) {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let jakarta = kit.engine.now().as_millis() + 7 * 60 * 60 * 1000;
    let midnight = (jakarta.div_euclid(DAY) + 1) * DAY - 7 * 60 * 60 * 1000;
    kit.clock.set(Timestamp::from_millis(midnight - 1000));
}

async fn an_external_id_is_free_again_after_midnight_in_jakarta(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    to_the_end_of_the_day(&kit);
    let (payment, other) = (contracted.payment().await, contracted.payment().await);
    let first = contracted.pay(&number(&payment), Knobs::default()).await;
    let asked = contracted.ask(&number(&other), Knobs::default()).await;
    let reused = Knobs { external_id: Some(first.sent.external_id.clone()), ..Knobs::default() };
    let asked_again = Knobs { external_id: Some(asked.sent.external_id.clone()), ..Knobs::default() };
    assert_eq!(contracted.pay(&number(&other), reused.clone()).await.code(), "4092500");
    assert_eq!(contracted.ask(&number(&other), asked_again.clone()).await.code(), "4092400");
    kit.clock.advance(Duration::from_secs(1));
    assert_eq!(said(&contracted.ask(&number(&other), asked_again).await), ("2002400", "00"));
    assert_eq!(said(&contracted.pay(&number(&other), reused).await), ("2002500", "00"));
    assert_eq!(status(&contracted.project, &other).await, "paid");
}

async fn a_resend_after_midnight_is_the_same_money(kit: Arc<Kit>) {
    for style in [Style::BCA, Style::BSI] {
        let contracted = contracted(&kit, style).await;
        to_the_end_of_the_day(&kit);
        let payment = contracted.payment().await;
        let number = number(&payment);
        // The bank has not read the answer, and asks again on the next day with the same ids.
        let lost = Knobs { lost_answer: true, ..Knobs::default() };
        let first = contracted.bank.pay(&contracted.contract, Payment::of(&number, AMOUNT), lost).await;
        assert!(first.is_silence());
        kit.clock.advance(Duration::from_secs(2));
        let resent = shaped(again(&contracted, &first).await);
        assert_eq!((said(&resent), resent.conclusion), (("2002500", "00"), Some(Conclusion::Booked)));
        contracted.is_paid_once(&payment, &number).await;
    }
}
