//! Payments made through a link: what they carry, how long they live, and which of them claims a single-use link
//! (docs/contract.md §2.3, §3.1 and decisions §4, §5).

use std::{sync::Arc, time::Duration};

use domain::{
    bank::Bank,
    method::Method,
    payment::{Checkout, Customer, Device, Location},
};
use engine::{Attempt, Clock, Error};
use serde_json::{Value, json};
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};
use tokio::task::JoinSet;

use crate::support::{
    json::{at, moved, shifted, text},
    links::{attempt, cancel_link, create_link, try_attempt},
    payments::{balance, count_payments, events_of, fetch, report, simulate, simulate_paid, status, unapplied},
};

on_every_database![
    a_cancelled_link_takes_no_attempt,
    an_expired_link_takes_no_attempt_from_the_next_millisecond_on,
    a_single_use_link_with_a_paid_or_processing_payment_takes_no_attempt,
    a_single_use_link_takes_another_attempt_while_nobody_has_claimed_it,
    the_first_paid_payment_claims_a_single_use_link_and_cancels_its_pending_siblings,
    money_for_a_claimed_single_use_link_is_unapplied_in_every_state_of_the_payment,
    a_late_report_of_timely_money_claims_the_link_and_cancels_the_siblings,
    cancelling_a_link_cancels_its_pending_payments_only,
    a_link_for_many_payments_is_paid_many_times,
    of_payments_of_a_single_use_link_paid_at_once_exactly_one_is_paid on 4 threads,
    an_attempt_that_races_with_a_cancellation_is_refused_or_cancelled_with_the_link on 4 threads,
];

on_sqlite_alone![
    a_payment_through_a_link_carries_link_customer_and_context,
    details_that_the_customer_did_not_give_are_empty,
    a_payment_lives_its_methods_default_but_never_outlives_its_link,
    an_attempt_by_a_method_the_link_does_not_accept_is_refused,
];

const BCA: Method = Method::VirtualAccount(Bank::Bca);
const RACERS: usize = 8;

/// The statuses of some payments, in their order.
async fn statuses(project: &TestProject, payments: &[&Value]) -> Vec<String> {
    let mut words = Vec::new();
    for payment in payments {
        words.push(status(project, payment).await);
    }
    words
}

async fn a_payment_through_a_link_carries_link_customer_and_context(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({ "reference": "INV-7" })).await;
    let some = |value: &str| Some(value.to_owned());
    let checkout = Checkout {
        customer: Customer {
            name: "Siti".to_owned(),
            email: "siti@example.id".to_owned(),
            phone: "+62 812".to_owned(),
            address: "Jl. Merdeka 1\nBandung".to_owned(),
        },
        location: Location { ip: some("203.0.113.7"), country: some("ID") },
        device: Device {
            kind: some("mobile"),
            os: some("Android"),
            browser: some("Chrome"),
            user_agent: some("Mozilla/5.0"),
        },
        language: None,
    };
    let link_id = text(&link, "id").parse().unwrap();
    let made = kit.engine.attempt_link(link_id, &Attempt::new(BCA, checkout)).await.unwrap();
    let payment = fetch(&project, &json!({ "id": made.id.to_string() })).await;
    assert_eq!(payment["payment_link_id"], link["id"]);
    assert_eq!((text(&payment, "reference"), &payment["amount"]), ("INV-7", &link["amount"]));
    assert_eq!((&payment["fee_amount"], &payment["merchant_net"]), (&json!(4_000), &json!(46_000)));
    assert_eq!(
        payment["customer"],
        json!({ "name": "Siti", "email": "siti@example.id", "phone": "+62 812", "address": "Jl. Merdeka 1\nBandung" })
    );
    assert_eq!(
        payment["checkout_context"],
        json!({
            "location": { "ip": "203.0.113.7", "country": "ID" },
            "device": { "type": "mobile", "os": "Android", "browser": "Chrome", "user_agent": "Mozilla/5.0" },
        })
    );
    let paid = simulate_paid(&project, &payment).await;
    assert_eq!(events_of(&project, &payment, "payment.paid").await[0]["data"], paid);
    assert_eq!((&paid["customer"], &paid["checkout_context"]), (&payment["customer"], &payment["checkout_context"]));
}

async fn details_that_the_customer_did_not_give_are_empty(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let payment = attempt(&kit, &project, &link, Method::Qris).await;
    assert_eq!(payment["customer"], json!({ "name": "", "email": "", "phone": "", "address": "" }));
    assert_eq!(payment["checkout_context"], json!({ "location": {}, "device": {} }));
}

async fn a_payment_lives_its_methods_default_but_never_outlives_its_link(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let now = kit.clock.now();
    let minutes = |minutes: i64| shifted(now, minutes * 60_000);
    for (link_expires, method, expected) in [
        (Value::Null, Method::Qris, minutes(15)),
        (Value::Null, BCA, minutes(1_440)),
        (json!(minutes(16)), Method::Qris, minutes(15)),
        (json!(minutes(15)), Method::Qris, minutes(15)),
        (json!(minutes(5)), Method::Qris, minutes(5)),
        (json!(minutes(5)), BCA, minutes(5)),
        (json!(shifted(now, 1)), BCA, shifted(now, 1)),
    ] {
        let link = create_link(&project, json!({ "expires_at": link_expires })).await;
        let payment = attempt(&kit, &project, &link, method).await;
        assert_eq!(text(&payment, "expires_at"), expected, "{link_expires} {method}");
    }
}

async fn check_refused(kit: &Kit, project: &TestProject, link: &Value, matches: fn(&Error) -> bool) {
    let before = count_payments(project, "").await;
    for method in [Method::Qris, BCA] {
        let error = try_attempt(kit, link, method).await.unwrap_err();
        assert!(matches(&error), "{error:?}");
    }
    assert_eq!(count_payments(project, "").await, before, "a refused attempt leaves nothing behind");
}

async fn a_cancelled_link_takes_no_attempt(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for many in [false, true] {
        let link = create_link(&project, json!({ "allow_multiple_payments": many })).await;
        attempt(&kit, &project, &link, Method::Qris).await;
        cancel_link(&project, &link).await;
        check_refused(&kit, &project, &link, |error| matches!(error, Error::LinkNotActive)).await;
    }
}

async fn an_expired_link_takes_no_attempt_from_the_next_millisecond_on(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for many in [false, true] {
        let expires_at = moved(kit.clock.now(), 60_000);
        let members = json!({ "allow_multiple_payments": many, "expires_at": expires_at.to_string() });
        let link = create_link(&project, members).await;
        kit.clock.set(expires_at);
        attempt(&kit, &project, &link, Method::Qris).await;
        kit.clock.set(moved(expires_at, 1));
        check_refused(&kit, &project, &link, |error| matches!(error, Error::LinkNotActive)).await;
    }
}

async fn a_single_use_link_with_a_paid_or_processing_payment_takes_no_attempt(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for outcome in ["paid", "processing"] {
        let link = create_link(&project, json!({})).await;
        let payment = attempt(&kit, &project, &link, Method::Qris).await;
        report(&project, &payment, outcome).await;
        check_refused(&kit, &project, &link, |error| matches!(error, Error::NotEditable)).await;
        kit.clock.advance(Duration::from_hours(48));
        check_refused(&kit, &project, &link, |error| matches!(error, Error::NotEditable)).await;
    }
}

async fn a_single_use_link_takes_another_attempt_while_nobody_has_claimed_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let pending = attempt(&kit, &project, &link, Method::Qris).await;
    let failed = attempt(&kit, &project, &link, BCA).await;
    report(&project, &failed, "processing").await;
    report(&project, &failed, "failed").await;
    attempt(&kit, &project, &link, BCA).await;
    kit.clock.set(moved(at(&pending, "expires_at"), 1));
    let last = attempt(&kit, &project, &link, Method::Qris).await;
    assert_eq!(simulate_paid(&project, &last).await["status"], "paid");
}

async fn an_attempt_by_a_method_the_link_does_not_accept_is_refused(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let members = json!({ "allowed_payment_methods": [{ "type": "qris" }] });
    let link = create_link(&project, members).await;
    let refused = try_attempt(&kit, &link, BCA).await.unwrap_err();
    assert!(matches!(refused, Error::Invalid(_)), "{refused:?}");
    assert_eq!(count_payments(&project, "").await, 0);
}

async fn the_first_paid_payment_claims_a_single_use_link_and_cancels_its_pending_siblings(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (link, bystander) = (create_link(&project, json!({})).await, create_link(&project, json!({})).await);
    let expired = attempt(&kit, &project, &link, Method::Qris).await;
    kit.clock.set(moved(at(&expired, "expires_at"), 1));
    let failed = attempt(&kit, &project, &link, Method::Qris).await;
    report(&project, &failed, "failed").await;
    let (one, two) = (attempt(&kit, &project, &link, Method::Qris).await, attempt(&kit, &project, &link, BCA).await);
    let processing = attempt(&kit, &project, &link, BCA).await;
    let winner = attempt(&kit, &project, &link, Method::Qris).await;
    let elsewhere = attempt(&kit, &project, &bystander, Method::Qris).await;
    report(&project, &processing, "processing").await;
    simulate_paid(&project, &winner).await;
    let siblings = [&winner, &one, &two, &processing, &failed, &expired, &elsewhere];
    assert_eq!(
        statuses(&project, &siblings).await,
        ["paid", "cancelled", "cancelled", "processing", "failed", "expired", "pending"]
    );
    // The link itself stays active; only its payments show that it is claimed.
    let shown = project.api.get(&format!("/v1/payment-links/{}", text(&link, "id"))).await.expect(200);
    assert_eq!(shown, link);
    let events = project.api.get("/v1/events").await.expect(200);
    assert_eq!(events["pagination"]["total_items"], 2, "a cancellation owes no event");
}

async fn money_for_a_claimed_single_use_link_is_unapplied_in_every_state_of_the_payment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let expired = attempt(&kit, &project, &link, Method::Qris).await;
    kit.clock.set(moved(at(&expired, "expires_at"), 1));
    let failed = attempt(&kit, &project, &link, Method::Qris).await;
    report(&project, &failed, "failed").await;
    let cancelled = attempt(&kit, &project, &link, Method::Qris).await;
    let processing = attempt(&kit, &project, &link, BCA).await;
    let winner = attempt(&kit, &project, &link, Method::Qris).await;
    report(&project, &processing, "processing").await;
    simulate_paid(&project, &winner).await;
    let (mut kept, pending) = (0, balance(&project, "pending").await);
    for payment in [&cancelled, &processing, &failed, &expired, &winner] {
        let before = fetch(&project, payment).await;
        // The money was sent when the attempt began, so it is in time.
        let money = json!({ "outcome": "paid", "paid_at": payment["created_at"] });
        assert_eq!(simulate(&project, payment, &money).await.expect(200), before);
        kept += 50_000;
        assert_eq!((unapplied(&project).await, balance(&project, "pending").await), (kept, pending), "{before}");
    }
    report(&project, &processing, "failed").await;
    assert_eq!(status(&project, &processing).await, "failed", "a refusal still ends it");
}

async fn a_late_report_of_timely_money_claims_the_link_and_cancels_the_siblings(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let expired = attempt(&kit, &project, &link, Method::Qris).await;
    kit.clock.set(moved(at(&expired, "expires_at"), 1));
    let sibling = attempt(&kit, &project, &link, BCA).await;
    let money = json!({ "outcome": "paid", "paid_at": expired["expires_at"] });
    assert_eq!(simulate(&project, &expired, &money).await.expect(200)["status"], "paid");
    assert_eq!(status(&project, &sibling).await, "cancelled");
    assert_eq!(simulate_paid(&project, &sibling).await["status"], "cancelled");
    assert_eq!(unapplied(&project).await, 50_000);
}

async fn cancelling_a_link_cancels_its_pending_payments_only(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (one, other) = (
        create_link(&project, json!({ "allow_multiple_payments": true })).await,
        create_link(&project, json!({ "allow_multiple_payments": true })).await,
    );
    let expired = attempt(&kit, &project, &one, Method::Qris).await;
    kit.clock.set(moved(at(&expired, "expires_at"), 1));
    let mut payments = Vec::new();
    for outcome in ["", "", "processing", "paid", "failed"] {
        let payment = attempt(&kit, &project, &one, BCA).await;
        if !outcome.is_empty() {
            report(&project, &payment, outcome).await;
        }
        payments.push(payment);
    }
    payments.extend([expired, attempt(&kit, &project, &other, BCA).await]);
    cancel_link(&project, &one).await;
    let expected = ["cancelled", "cancelled", "processing", "paid", "failed", "expired", "pending"];
    assert_eq!(statuses(&project, &payments.iter().collect::<Vec<_>>()).await, expected);
    // A payment that was processing when the link was cancelled can still be paid.
    assert_eq!(simulate_paid(&project, &payments[2]).await["status"], "paid");
    assert_eq!(unapplied(&project).await, 0);
}

async fn a_link_for_many_payments_is_paid_many_times(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({ "allow_multiple_payments": true })).await;
    let (one, two) = (attempt(&kit, &project, &link, Method::Qris).await, attempt(&kit, &project, &link, BCA).await);
    let waiting = attempt(&kit, &project, &link, BCA).await;
    simulate_paid(&project, &one).await;
    report(&project, &waiting, "processing").await;
    simulate_paid(&project, &two).await;
    let three = attempt(&kit, &project, &link, Method::Qris).await;
    simulate_paid(&project, &three).await;
    assert_eq!(statuses(&project, &[&one, &two, &waiting, &three]).await, ["paid", "paid", "processing", "paid"]);
    // Paying the same code twice is unapplied here too.
    simulate_paid(&project, &one).await;
    assert_eq!(unapplied(&project).await, 50_000);
    assert_eq!(balance(&project, "pending").await, 2 * (50_000 - 350) + 46_000);
}

async fn of_payments_of_a_single_use_link_paid_at_once_exactly_one_is_paid(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let mut racers = JoinSet::new();
    let mut payments = Vec::new();
    for _ in 0..RACERS {
        payments.push(attempt(&kit, &project, &link, Method::Qris).await);
    }
    for payment in &payments {
        let path = format!("/v1/sandbox/payments/{}/simulate", text(payment, "id"));
        let api = project.api.clone();
        racers.spawn(async move { api.post(&path, &json!({ "outcome": "paid" })).await.expect(200) });
    }
    let answers = racers.join_all().await;
    assert_eq!(answers.iter().filter(|payment| payment["status"] == "paid").count(), 1);
    let count = |word: &str| format!("payment_link_id={}&status={word}", text(&link, "id"));
    let found = (count_payments(&project, &count("paid")).await, count_payments(&project, &count("cancelled")).await);
    assert_eq!(found, (1, RACERS as i64 - 1));
    assert_eq!(unapplied(&project).await, (RACERS as i64 - 1) * 50_000);
    assert_eq!(balance(&project, "pending").await, 50_000 - 350);
}

async fn an_attempt_that_races_with_a_cancellation_is_refused_or_cancelled_with_the_link(kit: Arc<Kit>) {
    let project = Arc::new(kit.sandbox().await);
    for many in [false, true] {
        let link = create_link(&project, json!({ "allow_multiple_payments": many })).await;
        let mut racers = JoinSet::new();
        for _ in 0..RACERS {
            let (kit, link) = (Arc::clone(&kit), link.clone());
            racers.spawn(async move {
                match try_attempt(&kit, &link, Method::Qris).await {
                    Ok(_) => 1,
                    Err(Error::LinkNotActive) => 0,
                    Err(error) => panic!("{error:?}"),
                }
            });
        }
        cancel_link(&project, &link).await;
        let made: i64 = racers.join_all().await.into_iter().sum();
        let of_link = format!("payment_link_id={}", text(&link, "id"));
        let cancelled = count_payments(&project, &format!("{of_link}&status=cancelled")).await;
        assert_eq!((count_payments(&project, &of_link).await, cancelled), (made, made));
    }
}
