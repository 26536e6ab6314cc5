//! Amounts have a bound at every door, and a signed notice of money that cannot be read is a stray with the notice as it came: the
//! bank has the money, so nothing is gained by refusing it.

use std::{sync::Arc, time::Duration};

use demobank::{Knobs, Notification, PayOrder, Service, Style};
use domain::{money::Rupiah, stray::Stray};
use testkit::{Kit, on_every_database, on_sqlite_alone};

use super::acts::said;
use crate::support::{
    acquirers::{AMOUNT, Acquired, acquired, ask_after, code_of, hosted_there, open_strays, silently},
    banks::{contracted, contracted_with, number},
    payments::{status, unapplied},
    rows::rows,
};

on_every_database![
    a_notice_of_money_that_cannot_be_read_is_kept_once_as_it_came,
    a_notice_about_a_code_of_ours_that_cannot_be_read_is_kept_and_asked_about,
    an_amount_that_was_stated_can_be_assigned,
];

on_sqlite_alone![an_amount_above_the_most_is_refused_at_the_payment_door, a_notice_that_is_about_no_money_is_no_stray];

/// As large as the standard allows, and the least that is too much.
const TOO_MUCH: [&str; 2] = ["9999999999999999.00", "1000000000000.00"];

async fn an_amount_above_the_most_is_refused_at_the_payment_door(kit: Arc<Kit>) {
    for settings in [&[][..], &[("refusal_reverses", "no")]] {
        let contracted = contracted_with(&kit, Style::GENERIC, settings).await;
        let payment = contracted.payment().await;
        contracted.bank.token(&contracted.contract).await.unwrap();
        let before = rows(&kit.database);
        for value in TOO_MUCH {
            let members =
                ["paidAmount.value", "totalAmount.value"].map(|name| (name.to_owned(), format!("\"{value}\"")));
            let knobs = Knobs { members: members.to_vec(), ..Knobs::default() };
            let answer = contracted.pay(&number(&payment), knobs).await;
            assert_eq!(answer.code(), "4002501", "{}", answer.text);
            assert!(answer.message().contains("paidAmount.value"), "{}", answer.text);
        }
        assert_eq!(rows(&kit.database), before);
    }
    let contracted = contracted(&kit, Style::GENERIC).await;
    let payment = contracted.payment().await;
    assert_eq!(said(&contracted.pay(&number(&payment), Knobs::default()).await), ("2002500", "00"));
}

fn unknown(acquired: &Acquired) -> (Service, Notification, &'static str) {
    let told = Notification {
        reference: "ANOTHERS".to_owned(),
        bank_reference: "BANK1".to_owned(),
        amount: AMOUNT,
        status: "00".to_owned(),
        receipt_id: "123456789012".to_owned(),
        ..Notification::default()
    };
    match acquired.name() {
        "dana" => (Service::DebitNotify, told, "2005600"),
        "briva-ws" => {
            let (number, reference) = ("777770000000000001".to_owned(), String::new());
            (Service::VaNotify, Notification { number, reference, ..told }, "2003400")
        }
        _ => (Service::QrNotify, told, "2005200"),
    }
}

fn member(name: &str, json: &str) -> (String, String) {
    (name.to_owned(), json.to_owned())
}

const fn amount_member(service: Service) -> &'static str {
    if matches!(service, Service::VaNotify) { "additionalInfo.paymentAmount" } else { "amount" }
}

/// Each way in which a notice cannot be read.
fn spoiled(service: Service) -> [Vec<(String, String)>; 4] {
    // The number of a virtual account is known by its parts, too.
    let (amount, names) = match service {
        Service::VaNotify => (amount_member(service), &["virtualAccountNo", "customerNo", "trxId"][..]),
        _ => (amount_member(service), &["originalReferenceNo", "originalPartnerReferenceNo"][..]),
    };
    [
        vec![member(amount, "\"9999999999999999.00\"")],
        vec![member(amount, "{\"value\":\"10.50\",\"currency\":\"IDR\"}")],
        vec![member(amount, "null")],
        names.iter().map(|name| member(name, "{}")).collect(),
    ]
}

/// Tells it three times, also with other white space, which makes no other notice of it.
async fn tell(
    acquired: &Acquired,
    (service, told, success): (Service, &Notification, &str),
    members: &[(String, String)],
) {
    for white_space in [false, true, false] {
        let knobs = Knobs { members: members.to_vec(), white_space, ..Knobs::default() };
        let answer = acquired.tells(service, told.clone(), knobs).await;
        assert_eq!(answer.code(), success, "{} {members:?}: {}", acquired.name(), answer.text);
    }
}

/// Regression: these were answered with success, and nothing was left of them.
async fn a_notice_of_money_that_cannot_be_read_is_kept_once_as_it_came(kit: Arc<Kit>) {
    let qris = [acquired(&kit, "midtrans").await, acquired(&kit, "dana").await];
    for acquired in qris.into_iter().chain([hosted_there(&kit, "briva-ws").await]) {
        let (service, told, success) = unknown(&acquired);
        let told = Notification { paid_at_ms: Some(kit.engine.now().as_millis() / 1_000 * 1_000), ..told };
        for members in spoiled(service) {
            // Those of one millisecond have no order.
            kit.clock.advance(Duration::from_millis(1));
            let before = open_strays(&kit).await.len();
            tell(&acquired, (service, &told, success), &members).await;
            let strays = open_strays(&kit).await;
            assert_eq!(strays.len(), before + 1, "{} {members:?}", acquired.name());
            let Stray { amount, body, account_id, .. } = &strays[0];
            assert_eq!((amount, account_id), (&None, &acquired.account));
            let body = body.as_deref().unwrap_or_default();
            assert!(body.starts_with('{') && body.contains(&told.receipt_id), "{body}");
        }
    }
    assert_eq!(kit.engine.open_strays().await.unwrap().amount, Rupiah::ZERO);
}

async fn a_notice_that_is_about_no_money_is_no_stray(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let (service, told, success) = unknown(&acquired);
    let failed = Notification { status: "06".to_owned(), ..told };
    tell(&acquired, (service, &failed, success), &[member(amount_member(service), "null")]).await;
    assert!(open_strays(&kit).await.is_empty());
}

async fn a_notice_about_a_code_of_ours_that_cannot_be_read_is_kept_and_asked_about(kit: Arc<Kit>) {
    for acquired in [acquired(&kit, "midtrans").await, hosted_there(&kit, "briva-ws").await] {
        let (service, ..) = unknown(&acquired);
        let amount = amount_member(service);
        for (json, is_kept) in [("\"9999999999999999.00\"", true), ("null", false)] {
            let before = open_strays(&kit).await.len();
            let payment = acquired.payment().await;
            let knobs = Knobs { members: vec![member(amount, json)], ..Knobs::default() };
            acquired.pays_as(&payment, PayOrder { knobs, ..PayOrder::default() }).await;
            assert_eq!(status(&acquired.project, &payment).await, "pending");
            assert_eq!(open_strays(&kit).await.len(), before + usize::from(is_kept), "{} {json}", acquired.name());
            ask_after(&kit, Duration::ZERO).await;
            assert_eq!(status(&acquired.project, &payment).await, "paid", "{} {json}", acquired.name());
            assert_eq!(unapplied(&acquired.project).await, 0);
        }
    }
}

async fn an_amount_that_was_stated_can_be_assigned(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let payment = acquired.payment().await;
    acquired.pays_as(&payment, silently()).await;
    let (service, told, _) = unknown(&acquired);
    let knobs = Knobs { members: vec![member("amount", "\"plenty\"")], ..Knobs::default() };
    acquired.tells(service, told, knobs).await;
    let stray = open_strays(&kit).await.remove(0);
    let note = || "the bank's letter of today".to_owned();
    let id = super::acts::payment_id(&payment);
    assert!(kit.engine.assign_stray(stray.id, id, note()).await.is_err());
    for wrong in [0, -1, 1_000_000_000_000] {
        assert!(kit.engine.state_stray(stray.id, Rupiah::new(wrong), note()).await.is_err(), "{wrong}");
    }
    let stated = kit.engine.state_stray(stray.id, Rupiah::new(AMOUNT), note()).await.unwrap();
    assert_eq!(stated.amount, Some(Rupiah::new(AMOUNT)));
    assert!(kit.engine.state_stray(stray.id, Rupiah::new(AMOUNT), note()).await.is_err(), "once");
    kit.engine.assign_stray(stray.id, id, note()).await.unwrap();
    assert_eq!((status(&acquired.project, &payment).await.as_str(), code_of(&payment).is_empty()), ("paid", false));
    assert!(open_strays(&kit).await.is_empty());
}
