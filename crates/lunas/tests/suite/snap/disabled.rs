//! A disabled account: what it has judged stays said, since the bank gives back what it is refused. It takes nothing new.

use std::{sync::Arc, time::Duration};

use demobank::{Answer, Conclusion, Knobs, Payment, STALE_MS, Style, TokenChoice};
use testkit::{Kit, on_every_database, on_sqlite_alone};

use super::acts::said;
use crate::support::{
    banks::{AMOUNT, COMPANY_CODE, Contracted, contracted, number},
    payments::status,
    rows::rows,
};

on_every_database![a_disabled_account_tells_again_what_it_has_judged];

on_sqlite_alone![
    a_disabled_account_refuses_new_payments_and_inquiries_and_stores_nothing,
    a_disabled_account_checks_token_and_signature_as_ever,
];

/// Longer than a token lives.
const LATER: Duration = Duration::from_mins(20);

/// Asks again about the same money, as a bank does whose answer was lost.
async fn again(contracted: &Contracted, first: &Answer, knobs: Knobs) -> Answer {
    let payment =
        Payment { paid_at_ms: Some(first.sent.paid_at_ms), ..Payment::of(&first.sent.number, first.sent.amount) };
    contracted.pay_as(payment, knobs).await
}

async fn disable(kit: &Kit, contracted: &Contracted) {
    kit.engine.enable_bank_account(contracted.account, false).await.unwrap();
}

/// Regression: a disabled account refused every call, so that a bank which asked again about money that was booked here
/// gave the money back.
async fn a_disabled_account_tells_again_what_it_has_judged(kit: Arc<Kit>) {
    for (style, taken, refused) in [(Style::BCA, "4042518", "4042518"), (Style::BSI, "2002500", "4042513")] {
        let contracted = contracted(&kit, style).await;
        let (payment, other) = (contracted.payment().await, contracted.payment().await);
        let booked = contracted.pay(&number(&payment), Knobs::default()).await;
        let reversed = contracted.pay_as(Payment::of(number(&other), AMOUNT + 1), Knobs::default()).await;
        assert_eq!((said(&booked), said(&reversed)), (("2002500", "00"), ("4042513", "01")));
        disable(&kit, &contracted).await;
        let before = rows(&kit.database);
        let answer = again(&contracted, &booked, Knobs::resend_of(&booked.sent)).await;
        assert_eq!((said(&answer), answer.conclusion), ((taken, "00"), Some(Conclusion::Booked)));
        let answer = again(&contracted, &reversed, Knobs::resend_of(&reversed.sent)).await;
        assert_eq!((said(&answer), answer.conclusion), ((refused, "01"), Some(Conclusion::Reversed)));
        assert_eq!(rows(&kit.database), before);

        // The token that the bank had is over, and it has another external id for the same request.
        kit.clock.advance(LATER);
        assert_eq!(contracted.ask_token(Knobs::default()).await.code(), "2007300");
        let same_request = Knobs { request_id: Some(booked.sent.request_id.clone()), ..Knobs::default() };
        let answer = again(&contracted, &booked, same_request).await;
        assert_eq!((said(&answer), answer.conclusion), (("2002500", "00"), Some(Conclusion::Booked)));
        contracted.is_paid_once(&payment, &number(&payment)).await;
        assert_eq!(contracted.bank.booked(&contracted.contract, &number(&other)), 0);
    }
}

async fn a_disabled_account_refuses_new_payments_and_inquiries_and_stores_nothing(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let (payment, other) = (contracted.payment().await, contracted.payment().await);
    let asked = contracted.ask(&number(&other), Knobs::default()).await;
    let booked = contracted.pay(&number(&payment), Knobs::default()).await;
    disable(&kit, &contracted).await;
    let before = rows(&kit.database);
    let same_external_id = Knobs { external_id: Some(booked.sent.external_id.clone()), ..Knobs::default() };
    let nobodys = format!("{COMPANY_CODE}00000000000");
    for (row, number, knobs) in [
        ("a new payment", number(&other), Knobs::default()),
        ("a resend of what never came", number(&other), Knobs { flag_advise: true, ..Knobs::default() }),
        ("an external id of other money", number(&other), same_external_id),
        ("more money for what is paid", number(&payment), Knobs::default()),
        ("a number of nobody", nobodys, Knobs::default()),
    ] {
        let answer = contracted.pay(&number, knobs).await;
        assert_eq!((said(&answer), answer.conclusion), (("4012500", "01"), Some(Conclusion::Reversed)), "{row}");
        assert_eq!(answer.message(), "Unauthorized. [Unknown client]", "{row}");
    }
    for knobs in [Knobs::default(), Knobs::resend_of(&asked.sent)] {
        assert_eq!(contracted.ask(&number(&other), knobs).await.code(), "4012400");
    }
    assert_eq!(rows(&kit.database), before);
    assert_eq!(status(&contracted.project, &other).await, "pending");
    contracted.is_paid_once(&payment, &number(&payment)).await;
    // The bank has given the money back, so it is no different when the account is enabled again and the customer pays.
    kit.engine.enable_bank_account(contracted.account, true).await.unwrap();
    assert_eq!(said(&contracted.pay(&number(&other), Knobs::default()).await), ("2002500", "00"));
}

async fn a_disabled_account_checks_token_and_signature_as_ever(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let payment = contracted.payment().await;
    let booked = contracted.pay(&number(&payment), Knobs::default()).await;
    disable(&kit, &contracted).await;
    let before = rows(&kit.database);
    let resend = Knobs::resend_of(&booked.sent);
    for (knobs, code) in [
        (Knobs { missing_header: Some("CHANNEL-ID".to_owned()), ..resend.clone() }, "4002502"),
        (Knobs { skew_ms: STALE_MS, ..resend.clone() }, "4012500"),
        (Knobs { token: TokenChoice::Invented, ..resend.clone() }, "4012501"),
        (Knobs { changed_body: true, ..resend.clone() }, "4012500"),
        (Knobs { missing_member: Some("paidAmount".to_owned()), ..resend.clone() }, "4002502"),
    ] {
        let answer = again(&contracted, &booked, knobs).await;
        assert_eq!((answer.code(), answer.flag()), (code, "01"), "{:?}", answer.sent);
    }
    let forged = Knobs { signature: Some("AAAA".to_owned()), ..Knobs::default() };
    assert_eq!(contracted.ask_token(forged).await.code(), "4017300");
    assert_eq!(rows(&kit.database), before);
    contracted.set(&kit, "ips", "203.0.113.0/24").await;
    let answer = again(&contracted, &booked, resend).await;
    assert_eq!(answer.message(), "Unauthorized. [Connection not allowed]");
}
