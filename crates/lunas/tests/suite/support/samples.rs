//! Requests that are right, for tests to send or to spoil.

use serde_json::{Value, json};
use testkit::TestProject;

pub(crate) fn qris(project: &TestProject, amount: i64) -> Value {
    json!({
        "project_id": project.id.to_string(),
        "reference": "order-1",
        "amount": amount,
        "payment_method": { "type": "qris" },
    })
}

pub(crate) fn virtual_account(project: &TestProject, bank: &str, amount: i64) -> Value {
    json!({
        "project_id": project.id.to_string(),
        "reference": "order-1",
        "amount": amount,
        "payment_method": { "type": "virtual_account", "bank": bank },
    })
}

pub(crate) fn link(project: &TestProject, amount: i64) -> Value {
    json!({ "project_id": project.id.to_string(), "title": "Kopi susu", "amount": amount })
}
