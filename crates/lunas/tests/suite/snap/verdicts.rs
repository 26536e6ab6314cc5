//! What a bank is told about a bill: the states of SNAP.md's table, at the inquiry (24) and at the payment (25).

use std::{sync::Arc, time::Duration};

use demobank::{Conclusion, Knobs, Payment, Style};
use domain::{payment::State, receipt::ReceiptKey};
use engine::Outcome;
use gateway::Observation;
use serde_json::{Value, json};
use testkit::{Kit, on_every_database, on_sqlite_alone};

use super::acts::{payment_id, said};
use crate::support::{
    banks::{AMOUNT, COMPANY_CODE, Contracted, contracted, number},
    json::at,
    links::{attempt, cancel_link, create_link},
    payments::{status, stored_state},
};

on_every_database![
    a_payable_bill_is_shown_with_its_amount_and_taken_after_the_commit,
    an_expired_bill_is_told_from_an_unknown_one_before_and_after_the_expiry_is_written_down,
    a_paid_bill_takes_no_more_money,
    a_bill_whose_link_another_payment_has_claimed_counts_as_paid,
    another_amount_is_refused_and_the_bill_stays_payable,
];

on_sqlite_alone![
    an_unknown_number_is_refused,
    a_cancelled_payment_is_as_unknown_as_a_number_that_nobody_has,
    a_failed_payment_is_as_unknown_as_a_number_that_nobody_has,
];

/// A payment of a link for the usual amount.
async fn of_link(kit: &Kit, contracted: &Contracted) -> (Value, Value) {
    let link = create_link(&contracted.project, json!({ "amount": AMOUNT })).await;
    let payment = attempt(kit, &contracted.project, &link, contracted.method).await;
    (link, payment)
}

async fn a_payable_bill_is_shown_with_its_amount_and_taken_after_the_commit(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let payment = contracted.payment().await;
    let number = number(&payment);
    let answer = contracted.ask(&number, Knobs::default()).await;
    assert_eq!(said(&answer), ("2002400", "00"));
    let bill = answer.account();
    assert_eq!(bill["totalAmount"], json!({ "value": format!("{AMOUNT}.00"), "currency": "IDR" }));
    assert_eq!((&bill["virtualAccountName"], &bill["virtualAccountTrxType"]), (&json!("TOKO KOPI"), &json!("C")));
    assert_eq!(
        (&bill["subCompany"], &bill["billDetails"], &bill["freeTexts"]),
        (&json!("00000"), &json!([]), &json!([]))
    );
    let sent: Value = serde_json::from_str(&answer.sent.text()).unwrap();
    for echoed in ["partnerServiceId", "customerNo", "virtualAccountNo", "inquiryRequestId"] {
        assert_eq!(bill[echoed], sent[echoed], "{echoed} comes back as it was sent");
    }
    let answer = contracted.pay(&number, Knobs::default()).await;
    assert_eq!(said(&answer), ("2002500", "00"));
    let sent: Value = serde_json::from_str(&answer.sent.text()).unwrap();
    for echoed in
        ["partnerServiceId", "customerNo", "virtualAccountNo", "paymentRequestId", "paidAmount", "trxDateTime"]
    {
        assert_eq!(answer.account()[echoed], sent[echoed], "{echoed} comes back as it was sent");
    }
    assert!(matches!(stored_state(&kit, &payment).await, State::Paid { .. }));
    contracted.is_paid_once(&payment, &number).await;
}

async fn an_unknown_number_is_refused(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let number = format!("{COMPANY_CODE}12345678901");
    assert_eq!(said(&contracted.ask(&number, Knobs::default()).await), ("4042412", "01"));
    let answer = contracted.pay(&number, Knobs::default()).await;
    assert_eq!((said(&answer), answer.conclusion), (("4042512", "01"), Some(Conclusion::Reversed)));
    assert_eq!(kit.engine.open_strays().await.unwrap().count, 0, "the bank gives it back");
    // A number of another account is as unknown.
    let other = self::contracted(&kit, Style::BRIVA_ONLINE).await;
    let foreign = self::number(&other.payment().await);
    assert_eq!(said(&contracted.ask(&foreign, Knobs::default()).await), ("4042412", "01"));
    assert_eq!(said(&contracted.pay(&foreign, Knobs::default()).await), ("4042512", "01"));
    contracted.has_no_money().await;
    other.has_no_money().await;
}

async fn a_cancelled_payment_is_as_unknown_as_a_number_that_nobody_has(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let (link, payment) = of_link(&kit, &contracted).await;
    cancel_link(&contracted.project, &link).await;
    kit.clock.advance(Duration::from_secs(1));
    assert_eq!(said(&contracted.ask(&number(&payment), Knobs::default()).await), ("4042412", "01"));
    let answer = contracted.pay(&number(&payment), Knobs::default()).await;
    assert_eq!((said(&answer), answer.conclusion), (("4042512", "01"), Some(Conclusion::Reversed)));
    assert_eq!(status(&contracted.project, &payment).await, "cancelled");
    contracted.has_no_money().await;
}

async fn a_failed_payment_is_as_unknown_as_a_number_that_nobody_has(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let payment = contracted.payment().await;
    let receipt = ReceiptKey { provider: "a bank".to_owned(), id: "refusal".to_owned() };
    let failed = Observation { receipt, payment_id: payment_id(&payment), outcome: Outcome::Failed };
    kit.engine.observe(failed).await.unwrap();
    kit.clock.advance(Duration::from_secs(1));
    assert_eq!(said(&contracted.ask(&number(&payment), Knobs::default()).await), ("4042412", "01"));
    assert_eq!(said(&contracted.pay(&number(&payment), Knobs::default()).await), ("4042512", "01"));
    assert_eq!(status(&contracted.project, &payment).await, "failed");
    contracted.has_no_money().await;
}

async fn an_expired_bill_is_told_from_an_unknown_one_before_and_after_the_expiry_is_written_down(kit: Arc<Kit>) {
    // At BSI the inquiry has a code of its own for it.
    for (style, code) in [(Style::BCA, "4042419"), (Style::BSI, "4042420")] {
        let contracted = contracted(&kit, style).await;
        let payment = contracted.payment().await;
        kit.clock.set(at(&payment, "expires_at").plus(Duration::from_secs(1)));
        assert_eq!(stored_state(&kit, &payment).await, State::Pending);
        for _ in 0..2 {
            assert_eq!(said(&contracted.ask(&number(&payment), Knobs::default()).await), (code, "01"));
            let answer = contracted.pay(&number(&payment), Knobs::default()).await;
            assert_eq!((said(&answer), answer.conclusion), (("4042519", "01"), Some(Conclusion::Reversed)));
            kit.engine.expire_due().await.unwrap();
            assert_eq!(stored_state(&kit, &payment).await, State::Expired);
        }
        contracted.has_no_money().await;
    }
}

async fn a_paid_bill_takes_no_more_money(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let payment = contracted.payment().await;
    let number = number(&payment);
    assert_eq!(said(&contracted.pay(&number, Knobs::default()).await), ("2002500", "00"));
    assert_eq!(said(&contracted.ask(&number, Knobs::default()).await), ("4042414", "01"));
    let answer = contracted.pay(&number, Knobs::default()).await;
    assert_eq!((said(&answer), answer.conclusion), (("4042514", "01"), Some(Conclusion::Reversed)));
    // Also when it would have expired.
    kit.clock.set(at(&payment, "expires_at").plus(Duration::from_secs(1)));
    assert_eq!(said(&contracted.ask(&number, Knobs::default()).await), ("4042414", "01"));
    assert_eq!(said(&contracted.pay(&number, Knobs::default()).await), ("4042514", "01"));
    contracted.is_paid_once(&payment, &number).await;
}

async fn a_bill_whose_link_another_payment_has_claimed_counts_as_paid(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let (link, first) = of_link(&kit, &contracted).await;
    let second = attempt(&kit, &contracted.project, &link, contracted.method).await;
    assert_ne!(number(&first), number(&second));
    assert_eq!(said(&contracted.pay(&number(&first), Knobs::default()).await), ("2002500", "00"));
    assert_eq!(said(&contracted.ask(&number(&second), Knobs::default()).await), ("4042414", "01"));
    let answer = contracted.pay(&number(&second), Knobs::default()).await;
    assert_eq!((said(&answer), answer.conclusion), (("4042514", "01"), Some(Conclusion::Reversed)));
    contracted.is_paid_once(&first, &number(&first)).await;
    assert_eq!(contracted.bank.booked(&contracted.contract, &number(&second)), 0);
}

async fn another_amount_is_refused_and_the_bill_stays_payable(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let payment = contracted.payment().await;
    let number = number(&payment);
    for amount in [AMOUNT - 1, AMOUNT + 1, 1, 10 * AMOUNT] {
        let answer = contracted.pay_as(Payment::of(&number, amount), Knobs::default()).await;
        assert_eq!((said(&answer), answer.conclusion), (("4042513", "01"), Some(Conclusion::Reversed)), "{amount}");
    }
    assert_eq!(status(&contracted.project, &payment).await, "pending");
    contracted.has_no_money().await;
    assert_eq!(said(&contracted.ask(&number, Knobs::default()).await), ("2002400", "00"));
    assert_eq!(said(&contracted.pay(&number, Knobs::default()).await), ("2002500", "00"));
    contracted.is_paid_once(&payment, &number).await;
}
