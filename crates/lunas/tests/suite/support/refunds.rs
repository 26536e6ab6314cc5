//! Refunds, as the API shows them.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Api, Reply, TestProject};

use crate::support::{json::id, payments::fresh_key};

/// Asks for a refund of a payment with this Idempotency-Key.
pub(crate) async fn ask_for_refund(api: &Api, payment: &str, key: &str, body: &Value) -> Reply {
    let request = api.request(Method::POST, &format!("/v1/payments/{payment}/refunds"));
    api.send(request.header("Idempotency-Key", key).json(body)).await
}

/// Asks for a refund of a payment with a key that was never used.
pub(crate) async fn ask(project: &TestProject, payment: &Value, body: &Value) -> Reply {
    ask_for_refund(&project.api, id(payment), &fresh_key(), body).await
}

/// A new refund of this amount. One that ends in 903 stays under way until it is simulated.
pub(crate) async fn refund(project: &TestProject, payment: &Value, amount: i64) -> Value {
    ask(project, payment, &json!({ "amount": amount })).await.expect(201)
}

/// The bank account of a customer.
pub(crate) fn destination() -> Value {
    json!({ "bank": "014", "account_number": "0123456789", "account_name": "Siti Aminah" })
}

pub(crate) async fn fetch_refund(project: &TestProject, refund: &Value) -> Value {
    project.api.get(&format!("/v1/refunds/{}", id(refund))).await.expect(200)
}

/// All refunds that a query finds; there must be few.
pub(crate) async fn refunds(project: &TestProject, query: &str) -> Vec<Value> {
    let listed = project.api.get(&format!("/v1/refunds?page_size=100&{query}")).await.expect(200);
    assert!(listed["pagination"]["total_pages"].as_i64().unwrap() <= 1, "one page must hold them all");
    listed["data"].as_array().unwrap().clone()
}

pub(crate) async fn cancel(project: &TestProject, refund: &Value) -> Reply {
    project.api.post(&format!("/v1/refunds/{}/cancel", id(refund)), &json!({})).await
}

/// Says as the sandbox's bank what has become of a refund.
pub(crate) async fn simulate_end(project: &TestProject, refund: &Value, outcome: &str) -> Reply {
    let path = format!("/v1/sandbox/refunds/{}/simulate", id(refund));
    project.api.post(&path, &json!({ "outcome": outcome })).await
}

/// The members of the balance, in the order available, pending, unapplied, refunding.
pub(crate) async fn sums(project: &TestProject) -> [i64; 4] {
    let balance = project.api.get("/v1/balance").await.expect(200);
    ["available", "pending", "unapplied", "refunding"].map(|member| balance[member].as_i64().unwrap())
}
