//! What banks tell us of codes that they have issued: services 52, 56, 34, and 25 of a bank that hosts the number. What is
//! signed is recorded and answered with success; what is not signed only makes us ask; nothing else leaves anything behind.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use demobank::{Answer, CodeState, Knobs, Notification, PayOrder, STALE_MS, Service, Signing, TokenChoice};
use domain::{bank::Bank, bank_difference::DifferenceKind, method::Method, payment::Checkout};
use engine::{Attempt, Window};
use serde_json::{Value, json};
use testkit::{Kit, on_every_database, on_sqlite_alone};

use super::acts::shaped;
use crate::support::{
    acquirers::{
        AMOUNT, Acquired, acquired, acquired_for, ask_after, code_of, hosted_there, open_strays, silently, word_of,
    },
    json::text,
    links::{cancel_link, create_link},
    nodes::Node,
    payments::{balance, events_of, status, unapplied},
    rows::rows,
    wait::until,
};

on_every_database![
    what_is_signed_by_a_key_or_by_a_token_books,
    what_is_not_signed_books_nothing_and_makes_us_ask,
    money_is_recorded_at_a_disabled_account,
    while_the_database_is_away_the_bank_is_told_to_come_again on 2 threads,
    a_payment_that_is_being_paid_is_processing_and_then_paid,
    a_code_that_failed_fails_its_payment_once,
    a_code_that_ends_after_our_own_void_leaves_its_payment_cancelled,
    what_is_not_final_changes_nothing,
    a_refund_is_a_difference_for_the_operator_and_the_money_stays,
    a_refund_that_is_not_signed_is_asked_about_first,
];

on_sqlite_alone![
    every_door_answers_success_in_snaps_shape,
    no_other_word_that_is_not_signed_is_believed,
    a_bank_that_is_found_by_its_own_reference_is_asked_by_what_it_tells,
    no_number_is_learnt_from_what_is_not_signed,
    what_nobody_has_proved_is_refused_before_it_is_read,
    what_cannot_be_read_is_refused_and_leaves_nothing_behind,
    a_token_of_another_account_tells_nothing,
    an_account_that_nobody_has_is_an_unknown_client,
];

/// Each door with a profile that uses it, and its answer.
const DOORS: [(&str, bool, Service, &str); 5] = [
    ("midtrans", true, Service::QrNotify, "52"),
    ("dana", true, Service::DebitNotify, "56"),
    ("briva-ws", false, Service::VaNotify, "34"),
    ("midtrans", false, Service::Payment, "25"),
    ("doku", true, Service::QrNotify, "52"),
];

async fn contract_for(kit: &Kit, profile: &str, is_qris: bool) -> Acquired {
    if is_qris { acquired(kit, profile).await } else { hosted_there(kit, profile).await }
}

fn says(answer: &Answer) -> (&str, &str) {
    (answer.code(), answer.message())
}

async fn every_door_answers_success_in_snaps_shape(kit: Arc<Kit>) {
    for (profile, is_qris, service, digits) in DOORS {
        let acquired = contract_for(&kit, profile, is_qris).await;
        let payment = acquired.payment().await;
        let told = word_of(&acquired, &payment);
        // The second word of the same money is answered like the first.
        for _ in 0..2 {
            let answer = shaped(acquired.tells(service, told.clone(), Knobs::default()).await);
            assert_eq!(says(&answer), (format!("200{digits}00").as_str(), "Successful"), "{}", answer.text);
            if service == Service::Payment {
                assert_eq!(answer.flag(), "00");
                let account = answer.account();
                assert_eq!(
                    (text(account, "paymentRequestId"), text(account, "trxId")),
                    (&*told.receipt_id, &*told.reference)
                );
                assert_eq!(text(account, "virtualAccountNo").trim_start(), told.number);
            } else {
                let members: Vec<&String> = answer.body.as_object().unwrap().keys().collect();
                assert_eq!(members, ["responseCode", "responseMessage"], "{}", answer.text);
            }
        }
        assert_eq!(status(&acquired.project, &payment).await, "paid", "{profile} {digits}");
        assert_eq!(events_of(&acquired.project, &payment, "payment.paid").await.len(), 1);
        assert_eq!((unapplied(&acquired.project).await, open_strays(&kit).await.len()), (0, 0));
    }
}

async fn what_is_signed_by_a_key_or_by_a_token_books(kit: Arc<Kit>) {
    // Type 2 with the bank's key, and type 1 with a token of ours, whose signature may be in hex.
    for (profile, knobs) in [
        ("midtrans", Knobs::default()),
        ("doku", Knobs::default()),
        ("doku", Knobs { hex_signature: true, ..Knobs::default() }),
        ("midtrans", Knobs { white_space: true, ..Knobs::default() }),
        ("doku", Knobs { white_space: true, ..Knobs::default() }),
    ] {
        let acquired = acquired(&kit, profile).await;
        let payment = acquired.payment().await;
        let answer = acquired.tells(Service::QrNotify, word_of(&acquired, &payment), knobs.clone()).await;
        assert_eq!(answer.code(), "2005200", "{profile} {knobs:?}");
        assert_eq!(status(&acquired.project, &payment).await, "paid", "{profile} {knobs:?}");
        assert!(acquired.asked.calls_of(Service::Query).is_empty(), "nobody had to ask");
    }
}

async fn what_is_not_signed_books_nothing_and_makes_us_ask(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "bri-qris").await;
    let payment = acquired.payment().await;
    // Somebody lies: the bank knows of no money.
    let told = word_of(&acquired, &payment);
    assert_eq!(acquired.tells(Service::QrNotify, told.clone(), Knobs::default()).await.code(), "2005200");
    assert_eq!(status(&acquired.project, &payment).await, "pending");
    assert!(acquired.asked.calls_of(Service::Query).is_empty(), "the bank does not wait for our question");
    ask_after(&kit, Duration::ZERO).await;
    assert_eq!(acquired.asked.calls_of(Service::Query).len(), 1);
    assert_eq!(status(&acquired.project, &payment).await, "pending");
}

async fn no_other_word_that_is_not_signed_is_believed(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "bri-qris").await;
    let payment = acquired.payment().await;
    let told = word_of(&acquired, &payment);
    for word in ["05", "06", "02", "04"] {
        let lie = Notification { status: word.to_owned(), ..told.clone() };
        acquired.tells(Service::QrNotify, lie, Knobs::default()).await;
        ask_after(&kit, Duration::ZERO).await;
        assert_eq!(status(&acquired.project, &payment).await, "pending", "{word}");
    }
    let stray = Notification { reference: "ANOTHERS".to_owned(), bank_reference: "BANK1".to_owned(), ..told.clone() };
    assert_eq!(acquired.tells(Service::QrNotify, stray, Knobs::default()).await.code(), "2005200");
    assert_eq!(open_strays(&kit).await.len(), 0);
    // The body may be anybody's, but not the call.
    let forged = Knobs { signature: Some("AAAA".to_owned()), ..Knobs::default() };
    let answer = acquired.tells(Service::QrNotify, told, forged).await;
    assert_eq!(says(&answer), ("4015200", "Unauthorized. [Signature]"));
    // Money comes, and the word of it has another amount: what the bank answers is booked.
    let order = PayOrder { told_amount: Some(1), ..PayOrder::default() };
    acquired.pays_as(&payment, order).await;
    assert_eq!(status(&acquired.project, &payment).await, "pending");
    ask_after(&kit, Duration::ZERO).await;
    assert_eq!((status(&acquired.project, &payment).await.as_str(), unapplied(&acquired.project).await), ("paid", 0));
}

async fn a_bank_that_is_found_by_its_own_reference_is_asked_by_what_it_tells(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "bri-qris").await;
    acquired.asked.fail_next_of(Service::Generate, demobank::Fault::LostAfter);
    acquired.pay("key").await.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
    // We have never read what the bank calls it; its notification says so.
    acquired.asked.pay_code(&acquired.last_code().reference, PayOrder::default()).await.unwrap();
    ask_after(&kit, Duration::ZERO).await;
    let payment = acquired.pay("key").await.expect(200);
    assert_eq!((text(&payment, "status"), acquired.asked_to_issue()), ("paid", 1));
}

async fn no_number_is_learnt_from_what_is_not_signed(kit: Arc<Kit>) {
    let (project, bri) = (kit.production().await, Method::VirtualAccount(Bank::Bri));
    let settings = [("numbers", "theirs"), ("sign_in", "client_ts")];
    let acquired = acquired_for(&kit, project, "doku", bri, &settings).await;
    acquired.asked.fail_next_of(Service::CreateVa, demobank::Fault::LostAfter);
    acquired.pay("key").await.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
    let code = acquired.last_code();
    let lie = "777779999999999999";
    assert_ne!(code.content, lie);
    let told = Notification {
        reference: code.reference,
        number: lie.to_owned(),
        amount: AMOUNT,
        receipt_id: "1".repeat(30),
        ..Notification::default()
    };
    let unsigned = Knobs { signing: Some(Signing::ClientTime), ..Knobs::default() };
    assert_eq!(acquired.tells(Service::Payment, told, unsigned).await.code(), "2002500");
    let stored = rows(&kit.database);
    assert!(!stored.iter().any(|row| row.contains(lie)), "{stored:?}");
}

/// Sends one spoiled notification; it must be refused with this status and case, and say so in these words.
async fn refuses(
    acquired: &Acquired,
    door: (Service, &str),
    told: &Notification,
    knobs: Knobs,
    refusal: (u16, &str, &str),
) {
    let ((service, digits), (status, case, words)) = (door, refusal);
    let answer = shaped(acquired.tells(service, told.clone(), knobs.clone()).await);
    assert_eq!(answer.code(), format!("{status}{digits}{case}"), "{knobs:?}: {}", answer.text);
    assert!(answer.message().contains(words), "{knobs:?}: {}", answer.text);
}

const SIGNATURE: (u16, &str, &str) = (401, "00", "Unauthorized. [Signature]");
const TIME: (u16, &str, &str) = (401, "00", "Unauthorized. [Timestamp]");

async fn what_nobody_has_proved_is_refused_before_it_is_read(kit: Arc<Kit>) {
    for (profile, is_qris, service, digits) in DOORS {
        let acquired = contract_for(&kit, profile, is_qris).await;
        let told = word_of(&acquired, &acquired.payment().await);
        acquired.token().await;
        let before = rows(&kit.database);
        let path = format!("/snap/{}/v1.0/elsewhere", acquired.account);
        for (knobs, refusal) in [
            (Knobs { signature: Some("A".repeat(88)), ..Knobs::default() }, SIGNATURE),
            (Knobs { changed_body: true, ..Knobs::default() }, SIGNATURE),
            (Knobs { signed_path: Some(path), ..Knobs::default() }, SIGNATURE),
            (Knobs { signature: Some("A".repeat(88)), raw_body: Some(b"{".to_vec()), ..Knobs::default() }, SIGNATURE),
            (Knobs { skew_ms: STALE_MS, ..Knobs::default() }, TIME),
            (Knobs { skew_ms: -STALE_MS, ..Knobs::default() }, TIME),
        ] {
            refuses(&acquired, (service, digits), &told, knobs, refusal).await;
        }
        let is_by_token = ["doku", "briva-ws"].contains(&profile);
        for name in is_by_token.then_some("Authorization").into_iter().chain(["X-TIMESTAMP", "X-SIGNATURE"]) {
            let missing = Knobs { missing_header: Some(name.to_owned()), ..Knobs::default() };
            let words = format!("Invalid Mandatory Field {name}");
            refuses(&acquired, (service, digits), &told, missing, (400, "02", &words)).await;
        }
        let yesterday = Knobs { timestamp: Some("yesterday".to_owned()), ..Knobs::default() };
        let words = "Invalid Field Format X-TIMESTAMP";
        refuses(&acquired, (service, digits), &told, yesterday, (400, "01", words)).await;
        assert_eq!(rows(&kit.database), before, "{profile} {digits}");
    }
}

async fn what_cannot_be_read_is_refused_and_leaves_nothing_behind(kit: Arc<Kit>) {
    for (profile, is_qris, service, digits) in DOORS {
        let acquired = contract_for(&kit, profile, is_qris).await;
        let payment = acquired.payment().await;
        let told = word_of(&acquired, &payment);
        acquired.token().await;
        let before = rows(&kit.database);
        let raw = |text: &str| Knobs { raw_body: Some(text.as_bytes().to_vec()), ..Knobs::default() };
        let name = if is_qris { "originalPartnerReferenceNo" } else { "virtualAccountNo" };
        let missing = format!("Invalid Mandatory Field {name}");
        for (knobs, refusal) in [
            (raw("{"), (400, "00", "Bad Request. [Invalid JSON]")),
            (raw(""), (400, "00", "Bad Request. [Invalid JSON]")),
            (raw("{}"), (400, "02", missing.as_str())),
            (raw("[]"), (400, "02", missing.as_str())),
            (Knobs { length: Some(65_537), ..Knobs::default() }, (400, "00", "Bad Request. [Body Too Large]")),
            (Knobs { method: Some("GET".to_owned()), ..Knobs::default() }, (405, "00", "Not Supported")),
        ] {
            refuses(&acquired, (service, digits), &told, knobs, refusal).await;
        }
        assert_eq!(rows(&kit.database), before, "{profile} {digits}");
        let longest = Knobs { length: Some(65_536), ..Knobs::default() };
        assert_eq!(acquired.tells(service, told, longest).await.code(), format!("200{digits}00"));
        assert_eq!(status(&acquired.project, &payment).await, "paid");
    }
}

async fn a_token_of_another_account_tells_nothing(kit: Arc<Kit>) {
    let (own, other) = (acquired(&kit, "doku").await, acquired(&kit, "doku").await);
    let payment = own.payment().await;
    let told = word_of(&own, &payment);
    own.token().await;
    let foreign = TokenChoice::Given(other.token().await);
    let before = rows(&kit.database);
    for token in [foreign, TokenChoice::Invented] {
        let knobs = Knobs { token, ..Knobs::default() };
        refuses(&own, (Service::QrNotify, "52"), &told, knobs, (401, "01", "Invalid Token (B2B)")).await;
    }
    assert_eq!(rows(&kit.database), before);
}

async fn an_account_that_nobody_has_is_an_unknown_client(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let payment = acquired.payment().await;
    let mut prepared = acquired.prepared(Service::QrNotify, word_of(&acquired, &payment)).await;
    prepared.url = prepared.url.replace(&acquired.account.to_string(), "acct_nobody");
    let answer = shaped(acquired.send(&prepared).await);
    assert_eq!(says(&answer), ("4015200", "Unauthorized. [Unknown client]"));
    assert_eq!((status(&acquired.project, &payment).await.as_str(), open_strays(&kit).await.len()), ("pending", 0));
}

async fn money_is_recorded_at_a_disabled_account(kit: Arc<Kit>) {
    for (profile, is_qris, service, digits) in DOORS {
        let acquired = contract_for(&kit, profile, is_qris).await;
        let payment = acquired.payment().await;
        kit.engine.enable_bank_account(acquired.account, false).await.unwrap();
        acquired.pay("new").await.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
        let answer = acquired.tells(service, word_of(&acquired, &payment), Knobs::default()).await;
        assert_eq!(answer.code(), format!("200{digits}00"), "{profile}: {}", answer.text);
        assert_eq!(status(&acquired.project, &payment).await, "paid", "{profile}");
    }
    // Its jobs go on too: the bank has codes of ours.
    let acquired = acquired(&kit, "midtrans").await;
    let payment = acquired.payment().await;
    acquired.pays_as(&payment, silently()).await;
    kit.engine.enable_bank_account(acquired.account, false).await.unwrap();
    ask_after(&kit, Duration::from_hours(25)).await;
    assert_eq!(status(&acquired.project, &payment).await, "paid");
}

async fn while_the_database_is_away_the_bank_is_told_to_come_again(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let payment = acquired.payment().await;
    let mut prepared = acquired.prepared(Service::QrNotify, word_of(&acquired, &payment)).await;
    // A node that has no read connection yet, and whose database becomes unreachable before it opens one.
    let node = Node::beside(&kit).await;
    prepared.url = prepared.url.replace(&kit.address.to_string(), &node.address.to_string());
    let before = rows(&kit.database);
    kit.database.take_away();
    let answer = shaped(acquired.send(&prepared).await);
    assert_eq!(says(&answer), ("5005200", "General Error"));
    assert!(!answer.text.contains("lunas.db") && !answer.text.contains("SQL"), "{}", answer.text);
    kit.database.bring_back();
    assert_eq!(rows(&kit.database), before);
    until(async || acquired.send(&prepared).await.status == 200).await;
    assert_eq!(status(&acquired.project, &payment).await, "paid");
    assert_eq!(events_of(&acquired.project, &payment, "payment.paid").await.len(), 1);
    node.stop().await;
}

/// What the bank says of the code from now on, by its notification too.
async fn becomes(acquired: &Acquired, payment: &Value, state: CodeState, status: &str) {
    acquired.asked.set_state(code_of(payment), state).unwrap();
    let answers = acquired.asked.tell(code_of(payment), status, Knobs::default()).await.unwrap();
    assert_eq!(answers[0].status, 200, "{}", answers[0].text);
}

async fn a_payment_that_is_being_paid_is_processing_and_then_paid(kit: Arc<Kit>) {
    for profile in ["midtrans", "dana", "bri-qris"] {
        let acquired = acquired(&kit, profile).await;
        let payment = acquired.payment().await;
        becomes(&acquired, &payment, CodeState::Processing, "02").await;
        ask_after(&kit, Duration::ZERO).await;
        assert_eq!(status(&acquired.project, &payment).await, "processing", "{profile}");
        acquired.pays(&payment).await;
        ask_after(&kit, Duration::from_mins(1)).await;
        assert_eq!(status(&acquired.project, &payment).await, "paid", "{profile}");
        assert_eq!(events_of(&acquired.project, &payment, "payment.paid").await.len(), 1, "{profile}");
    }
}

async fn a_code_that_failed_fails_its_payment_once(kit: Arc<Kit>) {
    for (profile, state, word) in [
        ("midtrans", CodeState::Failed, "06"),
        ("dana", CodeState::Voided, "05"),
        ("bri-qris", CodeState::Failed, "06"),
    ] {
        let acquired = acquired(&kit, profile).await;
        let payment = acquired.payment().await;
        for _ in 0..3 {
            becomes(&acquired, &payment, state, word).await;
            ask_after(&kit, Duration::ZERO).await;
            assert_eq!(status(&acquired.project, &payment).await, "failed", "{profile}");
        }
        ask_after(&kit, Duration::from_hours(25)).await;
        assert_eq!(status(&acquired.project, &payment).await, "failed", "{profile}");
        assert_eq!(events_of(&acquired.project, &payment, "payment.failed").await.len(), 1, "{profile}");
    }
}

async fn a_code_that_ends_after_our_own_void_leaves_its_payment_cancelled(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    for word in ["05", "06"] {
        let link = create_link(&acquired.project, json!({})).await;
        let attempt = Attempt::new(Method::Qris, Checkout::default());
        let payment = kit.engine.attempt_link(text(&link, "id").parse().unwrap(), &attempt).await.unwrap();
        cancel_link(&acquired.project, &link).await;
        ask_after(&kit, Duration::ZERO).await;
        assert_eq!(acquired.asked.code(&payment.code).unwrap().state, CodeState::Voided);
        acquired.asked.tell(&payment.code, word, Knobs::default()).await.unwrap();
        ask_after(&kit, Duration::from_hours(25)).await;
        let shown = json!({ "id": payment.id.to_string() });
        assert_eq!(status(&acquired.project, &shown).await, "cancelled", "{word}");
        assert!(events_of(&acquired.project, &shown, "payment.failed").await.is_empty(), "{word}");
    }
}

async fn what_is_not_final_changes_nothing(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let payment = acquired.payment().await;
    for word in ["01", "03", "07", "99"] {
        acquired.asked.tell(code_of(&payment), word, Knobs::default()).await.unwrap();
        ask_after(&kit, Duration::ZERO).await;
        assert_eq!(status(&acquired.project, &payment).await, "pending", "{word}");
    }
    acquired.pays(&payment).await;
    assert_eq!(status(&acquired.project, &payment).await, "paid");
}

/// The differences about refunds that nobody has settled, by account.
async fn refunds(kit: &Kit) -> BTreeMap<String, usize> {
    let window = Window { offset: 0, limit: 100 };
    let mut refunds = BTreeMap::new();
    for difference in kit.store.differences(true, window).await.unwrap().items {
        assert_eq!(difference.key.kind, DifferenceKind::Refunded);
        assert!(difference.payment_id.is_some());
        *refunds.entry(difference.key.account_id.to_string()).or_default() += 1;
    }
    refunds
}

async fn a_refund_is_a_difference_for_the_operator_and_the_money_stays(kit: Arc<Kit>) {
    for acquired in [acquired(&kit, "midtrans").await, acquired(&kit, "dana").await] {
        let payment = acquired.payment().await;
        acquired.pays(&payment).await;
        let pending = balance(&acquired.project, "pending").await;
        for _ in 0..2 {
            becomes(&acquired, &payment, CodeState::Refunded, "04").await;
            ask_after(&kit, Duration::from_secs(1)).await;
        }
        assert_eq!(refunds(&kit).await.get(&acquired.account.to_string()), Some(&1));
        assert_eq!(status(&acquired.project, &payment).await, "paid");
        assert_eq!((balance(&acquired.project, "pending").await, unapplied(&acquired.project).await), (pending, 0));
    }
}

async fn a_refund_that_is_not_signed_is_asked_about_first(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "bri-qris").await;
    let payment = acquired.payment().await;
    acquired.pays(&payment).await;
    ask_after(&kit, Duration::ZERO).await;
    assert_eq!(status(&acquired.project, &payment).await, "paid");
    acquired.asked.tell(code_of(&payment), "04", Knobs::default()).await.unwrap();
    ask_after(&kit, Duration::ZERO).await;
    assert!(refunds(&kit).await.is_empty(), "the bank says that it is paid");
    becomes(&acquired, &payment, CodeState::Refunded, "04").await;
    ask_after(&kit, Duration::ZERO).await;
    assert_eq!(refunds(&kit).await.get(&acquired.account.to_string()), Some(&1));
    assert_eq!(status(&acquired.project, &payment).await, "paid");
}
