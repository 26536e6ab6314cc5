//! Events that a project gets only if it asks for them: one for each payment that expires or is cancelled, and one for all
//! money that is held, however it comes to that.

use std::{sync::Arc, time::Duration};

use demobank::{PayOrder, Service};
use domain::{
    bank::Bank,
    delivery::DeliveryState,
    event::EventKind,
    id::{LinkId, PaymentId},
    method::Method,
    payment::{Checkout, State},
};
use engine::{Attempt, ProjectUpdate};
use gateway::SendLimits;
use serde_json::{Value, json};
use testkit::{Answer, Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    acquirers::{AMOUNT, acquired, acquired_for, ask_after},
    json::{at, id, shifted, text, with, without},
    links::{attempt, cancel_link, create_link},
    payments::{
        create, fetch, paid, pending_qris, report, simulate, simulate_paid, status, stored_state, total, unapplied,
    },
    samples,
    wait::until,
    webhooks::{check_signature, events, wait_for_attempts},
};

on_every_database![
    an_expiry_is_told_once_when_it_is_written,
    an_expiry_in_the_simulator_is_told_once,
    a_payment_that_is_paid_after_all_keeps_the_event_of_its_expiry,
    a_cancelled_link_tells_of_each_payment_that_it_cancels,
    a_paid_link_tells_of_the_payments_that_it_cancels,
    a_customer_who_chooses_again_cancels_with_one_event,
    money_that_is_held_is_told_once_with_its_receipt_for_every_reason,
    an_expiry_after_the_bank_was_asked_is_told_once,
    a_customer_who_chooses_another_bank_cancels_with_one_event,
    money_that_a_bank_tells_of_and_that_is_held_is_told_once on 2 threads,
    many_expiries_of_two_projects_are_told_to_the_one_that_asks,
];

on_sqlite_alone![
    a_project_that_does_not_ask_gets_no_extra_event,
    a_project_gets_only_the_kinds_that_it_asks_for_and_none_of_another_projects,
    an_event_about_held_money_shows_the_payment_as_it_was_then,
    extra_events_are_sent_signed_and_byte_for_byte_as_the_api_shows_them,
    without_a_url_extra_events_are_recorded_and_not_sent,
];

const BCA: Method = Method::VirtualAccount(Bank::Bca);
/// Longer than a QRIS payment lives.
const LIFETIME: Duration = Duration::from_mins(16);

async fn ask_for(kit: &Kit, project: &TestProject, kinds: &[EventKind]) {
    kit.update(project.id, ProjectUpdate { extra_events: Some(kinds.to_vec()), ..Default::default() }).await;
}

async fn asking(kit: &Kit) -> TestProject {
    let project = kit.sandbox().await;
    ask_for(kit, &project, &EventKind::EXTRA).await;
    project
}

/// The events of one kind, newest first.
async fn events_of_kind(project: &TestProject, kind: EventKind) -> Vec<Value> {
    let listed = project.api.get(&format!("/v1/events?page_size=100&type={}", kind.word())).await.expect(200);
    listed["data"].as_array().unwrap().clone()
}

/// The subjects of the events of one kind, sorted.
async fn told_of(project: &TestProject, kind: EventKind) -> Vec<String> {
    let mut ids: Vec<String> =
        events_of_kind(project, kind).await.iter().map(|event| id(&event["data"]).to_owned()).collect();
    ids.sort();
    ids
}

fn ids(payments: &[&Value]) -> Vec<String> {
    let mut ids: Vec<String> = payments.iter().map(|payment| id(payment).to_owned()).collect();
    ids.sort();
    ids
}

/// An attempt of one of several visitors to pay a link.
async fn by_visitor(kit: &Kit, link: &Value, visitor: &str, method: Method) -> PaymentId {
    let attempt = Attempt { visitor: Some(visitor.to_owned()), ..Attempt::new(method, Checkout::default()) };
    let link: LinkId = text(link, "id").parse().unwrap();
    kit.engine.attempt_link(link, &attempt).await.unwrap().id
}

/// Has one payment expire, one be cancelled, and money held for a third.
async fn one_of_each(kit: &Kit, project: &TestProject) -> [Value; 3] {
    let expired = pending_qris(project, 15_000).await;
    let held = create(project, &samples::virtual_account(project, "bca", 15_000)).await;
    let link = create_link(project, json!({})).await;
    let cancelled = attempt(kit, project, &link, BCA).await;
    simulate(project, &held, &json!({ "outcome": "paid", "amount": 14_999 })).await.expect(200);
    cancel_link(project, &link).await;
    kit.clock.advance(LIFETIME);
    kit.engine.expire_due().await.unwrap();
    [expired, cancelled, held]
}

async fn a_project_that_does_not_ask_gets_no_extra_event(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let [expired, cancelled, _] = one_of_each(&kit, &project).await;
    report(&project, &pending_qris(&project, 15_000).await, "expired").await;
    assert_eq!(
        (status(&project, &expired).await, status(&project, &cancelled).await),
        ("expired".into(), "cancelled".into())
    );
    assert_eq!((total(&project.api, "/v1/events").await, unapplied(&project).await), (0, 14_999));
    // Asking for them tells of nothing that was before.
    ask_for(&kit, &project, &EventKind::EXTRA).await;
    kit.engine.expire_due().await.unwrap();
    assert_eq!(total(&project.api, "/v1/events").await, 0);
    // Asking no more ends them.
    one_of_each(&kit, &project).await;
    assert_eq!(total(&project.api, "/v1/events").await, 3);
    ask_for(&kit, &project, &[]).await;
    one_of_each(&kit, &project).await;
    assert_eq!(total(&project.api, "/v1/events").await, 3);
}

async fn a_project_gets_only_the_kinds_that_it_asks_for_and_none_of_another_projects(kit: Arc<Kit>) {
    for kind in [EventKind::PaymentExpired, EventKind::PaymentCancelled, EventKind::PaymentHeld] {
        let (project, other) = (kit.sandbox().await, kit.sandbox().await);
        ask_for(&kit, &project, &[kind]).await;
        one_of_each(&kit, &project).await;
        one_of_each(&kit, &other).await;
        let kinds: Vec<String> = events(&project).await.iter().map(|event| text(event, "type").to_owned()).collect();
        assert_eq!((kinds, total(&other.api, "/v1/events").await), (vec![kind.word().to_owned()], 0));
    }
}

async fn an_expiry_is_told_once_when_it_is_written(kit: Arc<Kit>) {
    let project = asking(&kit).await;
    let unpaid = create(&project, &with(samples::qris(&project, 15_000), "metadata", json!({ "a": "1" }))).await;
    let also = pending_qris(&project, 16_000).await;
    paid(&project, "paid", 15_000).await;
    kit.clock.advance(LIFETIME);
    assert_eq!(told_of(&project, EventKind::PaymentExpired).await, [""; 0], "it is not written yet");
    for _ in 0..3 {
        kit.engine.expire_due().await.unwrap();
        assert_eq!(told_of(&project, EventKind::PaymentExpired).await, ids(&[&unpaid, &also]));
    }
    let event = events_of_kind(&project, EventKind::PaymentExpired)
        .await
        .into_iter()
        .find(|event| event["data"]["id"] == unpaid["id"]);
    let event = event.unwrap();
    let shown = fetch(&project, &unpaid).await;
    assert_eq!((text(&shown, "status"), &shown["metadata"]), ("expired", &json!({ "a": "1" })));
    let wanted = json!({
        "id": id(&event), "type": "payment.expired", "created_at": kit.engine.now().to_string(), "data": shown,
    });
    assert_eq!(event, wanted);
    assert_eq!(project.api.get(&format!("/v1/events/{}", id(&event))).await.expect(200), wanted);
    // Its id is like that of any event: a program that lists what came after an earlier one finds it.
    let first = events(&project).await.last().unwrap().clone();
    assert_eq!(text(&first, "type"), "payment.paid");
    let after = project.api.get(&format!("/v1/events?after={}", id(&first))).await.expect(200);
    assert_eq!(after["pagination"]["total_items"], 2);
}

async fn an_expiry_in_the_simulator_is_told_once(kit: Arc<Kit>) {
    let project = asking(&kit).await;
    let payment = pending_qris(&project, 15_000).await;
    let expired = report(&project, &payment, "expired").await;
    simulate(&project, &payment, &json!({ "outcome": "expired" })).await.refused(409, "PAYMENT_NOT_EDITABLE");
    kit.clock.advance(LIFETIME);
    kit.engine.expire_due().await.unwrap();
    let events = events_of_kind(&project, EventKind::PaymentExpired).await;
    assert_eq!((events.len(), &events[0]["data"]), (1, &expired));
}

async fn a_payment_that_is_paid_after_all_keeps_the_event_of_its_expiry(kit: Arc<Kit>) {
    let project = asking(&kit).await;
    let payment = pending_qris(&project, 15_000).await;
    kit.clock.advance(LIFETIME);
    kit.engine.expire_due().await.unwrap();
    let before = events_of_kind(&project, EventKind::PaymentExpired).await;
    // The bank tells late of money that came in time.
    let in_time = shifted(at(&payment, "created_at"), 1_000);
    simulate(&project, &payment, &json!({ "outcome": "paid", "paid_at": in_time })).await.expect(200);
    assert_eq!(status(&project, &payment).await, "paid");
    assert_eq!(events_of_kind(&project, EventKind::PaymentExpired).await, before);
    assert_eq!((before.len(), text(&before[0]["data"], "status")), (1, "expired"));
    assert_eq!(told_of(&project, EventKind::PaymentPaid).await, ids(&[&payment]));
}

async fn a_cancelled_link_tells_of_each_payment_that_it_cancels(kit: Arc<Kit>) {
    let project = asking(&kit).await;
    let link = create_link(&project, json!({ "allow_multiple_payments": true })).await;
    let expired = attempt(&kit, &project, &link, Method::Qris).await;
    kit.clock.advance(LIFETIME);
    let paid = attempt(&kit, &project, &link, Method::Qris).await;
    simulate_paid(&project, &paid).await;
    let pending = [attempt(&kit, &project, &link, Method::Qris).await, attempt(&kit, &project, &link, BCA).await];
    let other = attempt(&kit, &project, &create_link(&project, json!({})).await, BCA).await;
    cancel_link(&project, &link).await;
    assert_eq!(told_of(&project, EventKind::PaymentCancelled).await, ids(&[&pending[0], &pending[1]]));
    for event in events_of_kind(&project, EventKind::PaymentCancelled).await {
        assert_eq!(event["data"], fetch(&project, &event["data"]).await);
        assert_eq!(
            (text(&event["data"], "status"), text(&event, "created_at")),
            ("cancelled", &*kit.engine.now().to_string())
        );
    }
    let again = project.api.post(&format!("/v1/payment-links/{}/cancel", id(&link)), &json!({})).await;
    again.refused(409, "PAYMENT_LINK_NOT_ACTIVE");
    kit.engine.expire_due().await.unwrap();
    assert_eq!(told_of(&project, EventKind::PaymentExpired).await, ids(&[&expired]));
    assert_eq!(
        (events_of_kind(&project, EventKind::PaymentCancelled).await.len(), status(&project, &other).await),
        (2, "pending".into())
    );
}

async fn a_paid_link_tells_of_the_payments_that_it_cancels(kit: Arc<Kit>) {
    let project = asking(&kit).await;
    let link = create_link(&project, json!({})).await;
    let mut payments = Vec::new();
    for visitor in ["one", "two", "three"] {
        payments.push(json!({ "id": by_visitor(&kit, &link, visitor, BCA).await.to_string() }));
    }
    simulate_paid(&project, &payments[1]).await;
    assert_eq!(told_of(&project, EventKind::PaymentCancelled).await, ids(&[&payments[0], &payments[2]]));
    assert_eq!(told_of(&project, EventKind::PaymentPaid).await, ids(&[&payments[1]]));
}

async fn a_customer_who_chooses_again_cancels_with_one_event(kit: Arc<Kit>) {
    let project = asking(&kit).await;
    let link = create_link(&project, json!({})).await;
    // By the payment that the page names, and by what the browser was given.
    let first = by_visitor(&kit, &link, "visitor", Method::Qris).await;
    let change = Attempt { replaces: Some(first), ..Attempt::new(BCA, Checkout::default()) };
    let change = Attempt { visitor: Some("visitor".to_owned()), ..change };
    let second = kit.engine.attempt_link(id(&link).parse().unwrap(), &change).await.unwrap().id;
    let third = by_visitor(&kit, &link, "visitor", Method::Qris).await;
    assert_ne!(second, third);
    let mut cancelled = [first.to_string(), second.to_string()];
    cancelled.sort();
    assert_eq!(told_of(&project, EventKind::PaymentCancelled).await, cancelled);
    // The same choice leads to the same payment.
    assert_eq!(by_visitor(&kit, &link, "visitor", Method::Qris).await, third);
    assert_eq!(events_of_kind(&project, EventKind::PaymentCancelled).await.len(), 2);
}

async fn money_that_is_held_is_told_once_with_its_receipt_for_every_reason(kit: Arc<Kit>) {
    let project = asking(&kit).await;
    let link = create_link(&project, json!({})).await;
    let claimed = json!({ "id": by_visitor(&kit, &link, "one", BCA).await.to_string() });
    simulate_paid(&project, &json!({ "id": by_visitor(&kit, &link, "two", BCA).await.to_string() })).await;
    let short = create(&project, &samples::virtual_account(&project, "bca", 15_000)).await;
    let twice = paid(&project, "twice", 15_000).await;
    let first = pending_qris(&project, 15_000).await;
    simulate(&project, &first, &json!({ "outcome": "paid", "receipt_id": "same" })).await.expect(200);
    let reused = pending_qris(&project, 15_000).await;
    let late = pending_qris(&project, 15_000).await;
    report(&project, &late, "expired").await;
    kit.clock.advance(Duration::from_millis(1));
    for (payment, money, reason, amount) in [
        (&short, json!({ "amount": 14_999, "receipt_id": "s" }), "wrong_amount", 14_999),
        (&twice, json!({ "receipt_id": "t" }), "already_paid", 15_000),
        (&claimed, json!({ "receipt_id": "c" }), "link_claimed", 50_000),
        (&late, json!({ "receipt_id": "l" }), "too_late", 15_000),
        (&reused, json!({ "receipt_id": "same" }), "receipt_reused", 15_000),
    ] {
        let before = events_of_kind(&project, EventKind::PaymentHeld).await.len();
        let shown = simulate(&project, payment, &with(money.clone(), "outcome", "paid")).await.expect(200);
        // The same report again is the same money.
        simulate(&project, payment, &with(money, "outcome", "paid")).await.expect(200);
        let events = events_of_kind(&project, EventKind::PaymentHeld).await;
        assert_eq!(events.len(), before + 1, "{reason}");
        let event = events.iter().find(|event| event["data"]["id"] == payment["id"]).unwrap();
        let receipt = &event["data"]["receipt"];
        assert!(text(receipt, "id").starts_with("rcp_"), "{receipt}");
        let now = kit.engine.now().to_string();
        assert_eq!(without(receipt.clone(), "id"), json!({ "amount": amount, "reason": reason, "paid_at": now }));
        assert_eq!(without(event["data"].clone(), "receipt"), shown, "{reason}");
    }
    let mut receipts: Vec<String> = events_of_kind(&project, EventKind::PaymentHeld)
        .await
        .iter()
        .map(|event| id(&event["data"]["receipt"]).to_owned())
        .collect();
    receipts.sort();
    receipts.dedup();
    assert_eq!(receipts.len(), 5);
}

async fn an_event_about_held_money_shows_the_payment_as_it_was_then(kit: Arc<Kit>) {
    let project = asking(&kit).await;
    let payment = create(&project, &samples::virtual_account(&project, "bca", 15_000)).await;
    let shown = simulate(&project, &payment, &json!({ "outcome": "paid", "amount": 1 })).await.expect(200);
    kit.clock.advance(Duration::from_millis(1));
    let other = create(&project, &samples::virtual_account(&project, "bni", 15_000)).await;
    simulate(&project, &other, &json!({ "outcome": "paid", "amount": 1 })).await.expect(200);
    let before = events_of_kind(&project, EventKind::PaymentHeld).await;
    assert_eq!(without(before[1]["data"].clone(), "receipt"), shown);
    kit.clock.advance(Duration::from_mins(1));
    simulate_paid(&project, &payment).await;
    report(&project, &other, "expired").await;
    assert_ne!(at(&fetch(&project, &other).await, "expires_at"), at(&other, "expires_at"));
    assert_eq!(events_of_kind(&project, EventKind::PaymentHeld).await, before);
}

async fn extra_events_are_sent_signed_and_byte_for_byte_as_the_api_shows_them(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(200)).await;
    ask_for(&kit, &project, &EventKind::EXTRA).await;
    one_of_each(&kit, &project).await;
    report(&project, &pending_qris(&project, 15_000).await, "expired").await;
    // The clock has gone on, and a signature must be new.
    kit.deliver(SendLimits::default());
    let webhooks = receiver.arrived(4).await;
    let mut kinds = Vec::new();
    for webhook in &webhooks {
        check_signature(&kit, &project, webhook).await;
        let shown = project.api.get(&format!("/v1/events/{}", webhook.event_id())).await;
        assert_eq!(shown.text.as_bytes(), webhook.body);
        assert_eq!(wait_for_attempts(&kit, &webhook.event_id(), 1).await.0.state, DeliveryState::Delivered);
        kinds.push(webhook.json()["type"].as_str().unwrap().to_owned());
    }
    kinds.sort();
    assert_eq!(kinds, ["payment.cancelled", "payment.expired", "payment.expired", "payment.held"]);
    kit.stop_delivering().await;
    assert_eq!(receiver.count(), 4);
}

async fn without_a_url_extra_events_are_recorded_and_not_sent(kit: Arc<Kit>) {
    let project = asking(&kit).await;
    one_of_each(&kit, &project).await;
    let events = events(&project).await;
    assert_eq!(events.len(), 3);
    for event in events {
        assert_eq!(kit.engine.delivery(id(&event).parse().unwrap()).await.unwrap(), None);
    }
}

async fn an_expiry_after_the_bank_was_asked_is_told_once(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    ask_for(&kit, &acquired.project, &EventKind::EXTRA).await;
    let order = with(acquired.order(), "metadata", json!({ "shift": "pagi" }));
    let payment = acquired.project.api.pay("key", &order).await.expect(201);
    assert_eq!(payment["metadata"], json!({ "shift": "pagi" }), "it comes back from a bank's code too");
    kit.clock.advance(Duration::from_hours(25));
    kit.engine.expire_due().await.unwrap();
    assert_eq!(
        events_of_kind(&acquired.project, EventKind::PaymentExpired).await.len(),
        0,
        "the bank was not asked yet"
    );
    for _ in 0..2 {
        ask_after(&kit, Duration::from_hours(1)).await;
        assert_eq!(stored_state(&kit, &payment).await, State::Expired);
        assert_eq!(told_of(&acquired.project, EventKind::PaymentExpired).await, ids(&[&payment]));
    }
}

async fn a_customer_who_chooses_another_bank_cancels_with_one_event(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let bri = Method::VirtualAccount(Bank::Bri);
    let there = acquired_for(&kit, acquired.project, "briva-ws", bri, &[]).await;
    ask_for(&kit, &there.project, &EventKind::EXTRA).await;
    let link = create_link(&there.project, json!({ "metadata": { "a": "1" } })).await;
    let first = by_visitor(&kit, &link, "visitor", Method::Qris).await;
    let second = by_visitor(&kit, &link, "visitor", bri).await;
    assert_eq!(told_of(&there.project, EventKind::PaymentCancelled).await, [first.to_string()]);
    assert_eq!(fetch(&there.project, &json!({ "id": second.to_string() })).await["metadata"], json!({ "a": "1" }));
    cancel_link(&there.project, &link).await;
    let mut cancelled = [first.to_string(), second.to_string()];
    cancelled.sort();
    assert_eq!(told_of(&there.project, EventKind::PaymentCancelled).await, cancelled);
    assert_eq!(there.asked.calls_of(Service::Cancel).len(), 0, "the voids follow");
}

async fn money_that_a_bank_tells_of_and_that_is_held_is_told_once(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    ask_for(&kit, &acquired.project, &EventKind::EXTRA).await;
    let payment = acquired.payment().await;
    acquired.pays_as(&payment, PayOrder { amount: Some(AMOUNT - 1), ..PayOrder::default() }).await;
    until(async || !events_of_kind(&acquired.project, EventKind::PaymentHeld).await.is_empty()).await;
    ask_after(&kit, Duration::from_hours(25)).await;
    let events = events_of_kind(&acquired.project, EventKind::PaymentHeld).await;
    assert_eq!((events.len(), &events[0]["data"]["receipt"]["amount"]), (1, &json!(AMOUNT - 1)));
    assert_eq!(unapplied(&acquired.project).await, AMOUNT - 1);
}

async fn many_expiries_of_two_projects_are_told_to_the_one_that_asks(kit: Arc<Kit>) {
    let (project, other) = (asking(&kit).await, kit.sandbox().await);
    let mut payments = Vec::new();
    for _ in 0..10 {
        payments.push(pending_qris(&project, 15_000).await);
        pending_qris(&other, 15_000).await;
    }
    kit.clock.advance(LIFETIME);
    kit.engine.expire_due().await.unwrap();
    assert_eq!(told_of(&project, EventKind::PaymentExpired).await, ids(&payments.iter().collect::<Vec<_>>()));
    assert_eq!(total(&other.api, "/v1/events").await, 0);
    assert_eq!(total(&other.api, "/v1/payments?status=expired").await, 10);
}
