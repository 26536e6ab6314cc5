//! What payment tests do again and again: create, report what became of it, look at what there is.

use std::sync::atomic::{AtomicU64, Ordering};

use domain::{
    method::Method,
    payment::{Checkout, Payment},
    time::Timestamp,
};
use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject};

use crate::support::samples;

static KEYS_DRAWN: AtomicU64 = AtomicU64::new(1);

/// An Idempotency-Key that no other request of this run has.
pub(crate) fn fresh_key() -> String {
    format!("attempt-{}", KEYS_DRAWN.fetch_add(1, Ordering::Relaxed))
}

/// `body` with one member set.
pub(crate) fn with(mut body: Value, member: &str, value: impl Into<Value>) -> Value {
    body[member] = value.into();
    body
}

/// `body` without one member.
pub(crate) fn without(mut body: Value, member: &str) -> Value {
    body.as_object_mut().unwrap().remove(member);
    body
}

#[track_caller]
pub(crate) fn text<'a>(resource: &'a Value, member: &str) -> &'a str {
    resource[member].as_str().unwrap_or_else(|| panic!("`{member}` is no text in {resource}"))
}

/// A date-time member as an instant.
#[track_caller]
pub(crate) fn at(resource: &Value, member: &str) -> Timestamp {
    Timestamp::parse(text(resource, member)).unwrap()
}

/// An instant so many milliseconds later (or earlier), as the contract writes it.
pub(crate) fn shifted(from: Timestamp, millis: i64) -> String {
    moved(from, millis).to_string()
}

pub(crate) fn moved(from: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_millis(from.as_millis() + millis)
}

/// Sends a body exactly as it is written.
pub(crate) async fn pay_text(project: &TestProject, key: &str, body: &str) -> Reply {
    let request = project.api.request(reqwest::Method::POST, "/v1/payments").header("Idempotency-Key", key);
    project.api.send(request.header("Content-Type", "application/json").body(body.to_owned())).await
}

pub(crate) async fn create(project: &TestProject, body: &Value) -> Value {
    project.api.pay(&fresh_key(), body).await.expect(201)
}

pub(crate) async fn pending_qris(project: &TestProject, amount: i64) -> Value {
    create(project, &samples::qris(project, amount)).await
}

pub(crate) async fn fetch(project: &TestProject, payment: &Value) -> Value {
    project.api.get(&format!("/v1/payments/{}", text(payment, "id"))).await.expect(200)
}

pub(crate) async fn status(project: &TestProject, payment: &Value) -> String {
    text(&fetch(project, payment).await, "status").to_owned()
}

/// Plays the bank.
pub(crate) async fn simulate(project: &TestProject, payment: &Value, report: &Value) -> Reply {
    project.api.post(&format!("/v1/sandbox/payments/{}/simulate", text(payment, "id")), report).await
}

pub(crate) async fn simulate_paid(project: &TestProject, payment: &Value) -> Value {
    simulate(project, payment, &json!({ "outcome": "paid" })).await.expect(200)
}

/// How many payments a query of the list finds.
pub(crate) async fn total(project: &TestProject, query: &str) -> i64 {
    let listed = project.api.get(&format!("/v1/payments?{query}")).await.expect(200);
    listed["pagination"]["total_items"].as_i64().unwrap()
}

pub(crate) async fn balance(project: &TestProject, member: &str) -> i64 {
    project.api.get("/v1/balance").await.expect(200)[member].as_i64().unwrap()
}

pub(crate) async fn unapplied(project: &TestProject) -> i64 {
    balance(project, "unapplied").await
}

/// The events of one type that tell of this payment.
pub(crate) async fn events_of(project: &TestProject, payment: &Value, kind: &str) -> Vec<Value> {
    let listed = project.api.get(&format!("/v1/events?page_size=100&type={kind}")).await.expect(200);
    assert!(listed["pagination"]["total_pages"].as_i64().unwrap() <= 1, "one page must hold them all");
    let events = listed["data"].as_array().unwrap().clone();
    events.into_iter().filter(|event| event["data"]["id"] == payment["id"]).collect()
}

/// A link for 50,000 with some members of its own.
pub(crate) async fn create_link(project: &TestProject, members: Value) -> Value {
    let mut body = samples::link(project, 50_000);
    body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    project.api.post("/v1/payment-links", &body).await.expect(201)
}

/// A customer's attempt on a link, as the hosted page would begin it.
pub(crate) async fn attempt(kit: &Kit, link: &Value, method: Method) -> Result<Payment, engine::Error> {
    kit.engine.attempt_link(text(link, "id").parse().unwrap(), &engine::Attempt::new(method, Checkout::default())).await
}

/// A pending payment made through a link, as the API shows it.
pub(crate) async fn attempted(kit: &Kit, project: &TestProject, link: &Value, method: Method) -> Value {
    let payment = attempt(kit, link, method).await.unwrap();
    fetch(project, &json!({ "id": payment.id.to_string() })).await
}

pub(crate) async fn cancel_link(project: &TestProject, link: &Value) {
    project.api.post(&format!("/v1/payment-links/{}/cancel", text(link, "id")), &json!({})).await.expect(200);
}
