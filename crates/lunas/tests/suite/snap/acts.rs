//! What a bank does at the doors, and the shape that every answer must have.

use std::collections::BTreeMap;

use demobank::{Answer, Inquiry, Knobs, Payment, Prepared};
use domain::{id::PaymentId, time::Timestamp};
use serde_json::Value;
use testkit::Kit;

use crate::support::{
    banks::{AMOUNT, Contracted},
    json::{id, with},
    payments::{balance, create, events_of, fetch, status, unapplied},
    samples::virtual_account,
};

impl Contracted {
    pub(super) async fn ask(&self, number: &str, knobs: Knobs) -> Answer {
        shaped(self.bank.inquire(&self.contract, Inquiry::of(number), knobs).await)
    }

    /// The whole amount, paid now.
    pub(super) async fn pay(&self, number: &str, knobs: Knobs) -> Answer {
        self.pay_as(Payment::of(number, AMOUNT), knobs).await
    }

    pub(super) async fn pay_as(&self, payment: Payment, knobs: Knobs) -> Answer {
        shaped(self.bank.pay(&self.contract, payment, knobs).await)
    }

    /// The whole amount, paid at another time.
    pub(super) async fn pay_at(&self, number: &str, at: Timestamp, knobs: Knobs) -> Answer {
        let payment = Payment { paid_at_ms: Some(at.as_millis()), ..Payment::of(number, AMOUNT) };
        self.pay_as(payment, knobs).await
    }

    pub(super) async fn send(&self, prepared: &Prepared) -> Answer {
        shaped(self.bank.send(prepared).await)
    }

    /// A payment of the whole amount that is signed and not sent yet.
    pub(super) async fn prepared(&self, number: &str, knobs: &Knobs) -> Prepared {
        self.bank.prepare_payment(&self.contract, Payment::of(number, AMOUNT), knobs).await.unwrap()
    }

    pub(super) async fn ask_token(&self, knobs: Knobs) -> Answer {
        shaped(self.bank.ask_token(&self.contract, knobs).await)
    }

    /// A new payment that lives for so many minutes.
    pub(super) async fn payment_for(&self, minutes: i64) -> Value {
        let bank = self.method.bank().unwrap();
        let body = virtual_account(&self.project, bank.code(), AMOUNT);
        create(&self.project, &with(body, "expires_in_minutes", minutes)).await
    }

    /// Checks that a payment was paid once, by money that the bank has booked, and that nothing else came in.
    pub(super) async fn is_paid_once(&self, payment: &Value, number: &str) {
        assert_eq!(status(&self.project, payment).await, "paid");
        assert_eq!(events_of(&self.project, payment, "payment.paid").await.len(), 1);
        assert_eq!((self.bank.booked(&self.contract, number), unapplied(&self.project).await), (AMOUNT, 0));
    }

    /// Checks that no money came in for any payment of the project.
    pub(super) async fn has_no_money(&self) {
        assert_eq!((balance(&self.project, "pending").await, unapplied(&self.project).await), (0, 0));
    }

    pub(super) async fn shown(&self, payment: &Value) -> Value {
        fetch(&self.project, payment).await
    }

    pub(super) async fn set(&self, kit: &Kit, name: &str, value: &str) {
        let settings = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        kit.engine.set_bank_account(self.account, &settings).await.unwrap();
    }
}

pub(super) fn payment_id(payment: &Value) -> PaymentId {
    id(payment).parse().unwrap()
}

/// Response code and flag.
pub(super) fn said(answer: &Answer) -> (&str, &str) {
    (answer.code(), answer.flag())
}

/// The two services that are asked about a number.
pub(super) const SERVICES: [&str; 2] = ["24", "25"];

/// Asks for the bill of a number, or pays it, by the service's digits.
pub(super) async fn call(contracted: &Contracted, service: &str, number: &str, knobs: Knobs) -> Answer {
    match service {
        "24" => contracted.ask(number, knobs).await,
        _ => contracted.pay(number, knobs).await,
    }
}

/// Sends a spoiled call to both services; both must refuse it with this status and case, and say so in these words.
pub(super) async fn both_refuse(
    row: &str,
    contracted: &Contracted,
    number: &str,
    knobs: &Knobs,
    refusal: (u16, &str, &str),
) {
    let (status, case, words) = refusal;
    for service in SERVICES {
        let answer = call(contracted, service, number, knobs.clone()).await;
        assert_eq!(answer.code(), format!("{status}{service}{case}"), "{row}: {}", answer.text);
        assert!(answer.message().contains(words), "{row}: {}", answer.text);
        assert_ne!(answer.flag(), "00", "{row}: {}", answer.text);
    }
}

/// Checks what holds for every answer: SNAP's shape, a status that agrees with the code, and never the API's envelope.
pub(super) fn shaped(answer: Answer) -> Answer {
    let shown = format!("{} {:?} {}", answer.status, answer.headers, answer.text);
    assert!(!answer.is_silence(), "no answer to {:?}", answer.sent);
    assert_eq!(answer.code().len(), 7, "{shown}");
    assert_eq!(answer.code()[..3], answer.status.to_string(), "{shown}");
    assert!(!answer.message().is_empty(), "{shown}");
    assert_eq!(answer.header("content-type"), Some("application/json"), "{shown}");
    let timestamp = answer.header("x-timestamp").unwrap_or_default();
    assert!(timestamp.ends_with("+07:00") && Timestamp::parse(timestamp).is_ok(), "{shown}");
    assert!(answer.body.get("error").is_none(), "{shown}");
    assert!(!answer.headers.iter().any(|(name, _)| name.starts_with("access-control-")), "{shown}");
    if answer.sent.service == demobank::Service::Token {
        assert_eq!(answer.header("x-client-key"), answer.sent.header("x-client-key"), "{shown}");
    }
    answer
}
