//! `lunas dev --rehearse`, and what a person does at the screens of its bank.

use serde_json::{Value, json};
use testkit::{Api, Program, Reply, Running};

use super::{banks::number, customer::Customer, json::text};

const AMOUNT: i64 = 25_000;

pub(crate) fn rehearse(program: &Program) -> Running {
    program.dev_with(&["--rehearse"])
}

/// The API with the key of the rehearsal's project.
pub(crate) fn api(running: &Running) -> Api {
    Api::new(running.address(), Some(running.said("rehearsal_api_key")))
}

/// A payment of the rehearsal's project by that bank.
pub(crate) async fn payment(running: &Running, key: &str, bank: &str) -> Value {
    let body = json!({
        "project_id": running.said("rehearsal_project_id"),
        "reference": format!("order-{bank}"),
        "amount": AMOUNT,
        "payment_method": { "type": "virtual_account", "bank": bank },
    });
    api(running).pay(key, &body).await.expect(201)
}

pub(crate) async fn status(running: &Running, payment: &Value) -> String {
    let path = format!("/v1/payments/{}", text(payment, "id"));
    text(&api(running).get(&path).await.expect(200), "status").to_owned()
}

/// Types a payment's number at the bank; returns the path of the bill.
pub(crate) async fn visit(teller: &Customer, payment: &Value) -> String {
    let reply = teller.post("/bank/visits", &[("number", &number(payment))]).await;
    assert_eq!(reply.status, 303, "{}", reply.text);
    reply.header("location").unwrap().to_owned()
}

/// Presses a button below a bill; returns the page that follows.
pub(crate) async fn press(teller: &Customer, bill: &str, action: &str) -> Reply {
    let reply = teller.post(bill, &[("action", action)]).await;
    assert_eq!(reply.status, 303, "{}", reply.text);
    teller.open(bill).await
}
