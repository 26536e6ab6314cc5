//! Money that fits no payment, as the API shows it.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject};

use crate::support::{
    json::id,
    payments::{pending_qris, simulate},
};

/// All receipts that a query finds; there must be few.
pub(crate) async fn receipts(project: &TestProject, query: &str) -> Vec<Value> {
    let listed = project.api.get(&format!("/v1/receipts?page_size=100&{query}")).await.expect(200);
    assert!(listed["pagination"]["total_pages"].as_i64().unwrap() <= 1, "one page must hold them all");
    listed["data"].as_array().unwrap().clone()
}

pub(crate) async fn receipt(project: &TestProject, held: &Value) -> Value {
    project.api.get(&format!("/v1/receipts/{}", id(held))).await.expect(200)
}

/// Reports money that does not fit its payment; returns its receipt.
pub(crate) async fn held(project: &TestProject, payment: &Value, report: &Value) -> Value {
    let before = receipts(project, "").await;
    simulate(project, payment, report).await.expect(200);
    let mut added = receipts(project, "").await;
    added.retain(|receipt| !before.contains(receipt));
    assert_eq!(added.len(), 1, "{report} is held once: {added:?}");
    added.remove(0)
}

/// Reports money of this amount, for a payment of which it is not the amount.
pub(crate) async fn held_amount(project: &TestProject, payment: &Value, amount: i64) -> Value {
    held(project, payment, &json!({ "outcome": "paid", "amount": amount })).await
}

/// A payment of 15000 that has expired, and money for it that came too late.
pub(crate) async fn held_late(kit: &Kit, project: &TestProject) -> (Value, Value) {
    let payment = pending_qris(project, 15_000).await;
    kit.clock.advance(Duration::from_mins(16));
    let held = held(project, &payment, &json!({ "outcome": "paid" })).await;
    (payment, held)
}

/// Decides about a receipt: `accept` or `return`.
pub(crate) async fn decide(project: &TestProject, held: &Value, act: &str, body: &Value) -> Reply {
    project.api.post(&format!("/v1/receipts/{}/{act}", id(held)), body).await
}
