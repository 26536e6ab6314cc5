//! What tests do with payments: create one, report to it as the bank, read it and all that it caused.

use std::sync::atomic::{AtomicU64, Ordering};

use domain::payment::State;
use serde_json::{Value, json};
use testkit::{Api, Kit, Reply, TestProject};

use crate::support::{
    json::{id, text},
    samples,
};

static KEYS_DRAWN: AtomicU64 = AtomicU64::new(1);

/// An Idempotency-Key that no other request of this run has.
pub(crate) fn fresh_key() -> String {
    format!("attempt-{}", KEYS_DRAWN.fetch_add(1, Ordering::Relaxed))
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

/// Creates a QRIS payment and reports it as paid.
pub(crate) async fn paid(project: &TestProject, key: &str, amount: i64) -> Value {
    let payment = project.api.pay(key, &samples::qris(project, amount)).await.expect(201);
    simulate_paid(project, &payment).await
}

pub(crate) async fn fetch(project: &TestProject, payment: &Value) -> Value {
    project.api.get(&format!("/v1/payments/{}", text(payment, "id"))).await.expect(200)
}

pub(crate) async fn status(project: &TestProject, payment: &Value) -> String {
    text(&fetch(project, payment).await, "status").to_owned()
}

/// A payment's state as it is stored, which may lag behind what readers are shown.
pub(crate) async fn stored_state(kit: &Kit, payment: &Value) -> State {
    kit.store.payment(id(payment).parse().unwrap()).await.unwrap().unwrap().state
}

/// Sends a report as the bank.
pub(crate) async fn simulate(project: &TestProject, payment: &Value, report: &Value) -> Reply {
    project.api.post(&format!("/v1/sandbox/payments/{}/simulate", text(payment, "id")), report).await
}

/// Reports an outcome as the bank; returns the payment after it.
pub(crate) async fn report(project: &TestProject, payment: &Value, outcome: &str) -> Value {
    simulate(project, payment, &json!({ "outcome": outcome })).await.expect(200)
}

pub(crate) async fn simulate_paid(project: &TestProject, payment: &Value) -> Value {
    report(project, payment, "paid").await
}

/// The total of a list.
pub(crate) async fn total(api: &Api, path: &str) -> i64 {
    api.get(path).await.expect(200)["pagination"]["total_items"].as_i64().unwrap()
}

/// How many payments a query of the list finds.
pub(crate) async fn count_payments(project: &TestProject, query: &str) -> i64 {
    total(&project.api, &format!("/v1/payments?{query}")).await
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
