//! Requests that are right, for tests to send or to spoil.

use serde_json::{Value, json};
use testkit::TestProject;

pub fn qris(project: &TestProject, amount: i64) -> Value {
    json!({
        "project_id": project.id.to_string(),
        "reference": "order-1",
        "amount": amount,
        "payment_method": { "type": "qris" },
    })
}

pub fn virtual_account(project: &TestProject, bank: &str, amount: i64) -> Value {
    json!({
        "project_id": project.id.to_string(),
        "reference": "order-1",
        "amount": amount,
        "payment_method": { "type": "virtual_account", "bank": bank },
    })
}

pub fn link(project: &TestProject, amount: i64) -> Value {
    json!({ "project_id": project.id.to_string(), "title": "Kopi susu", "amount": amount })
}
