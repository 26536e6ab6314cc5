//! Valid request bodies, to send as they are or with something changed.

use serde_json::{Value, json};
use testkit::TestProject;

use crate::support::json::with;

/// A QRIS payment for a project that is known by its id alone.
pub(crate) fn order(project_id: &str) -> Value {
    json!({
        "project_id": project_id,
        "reference": "order-1",
        "amount": 15_000,
        "payment_method": { "type": "qris" },
    })
}

pub(crate) fn qris(project: &TestProject, amount: i64) -> Value {
    with(order(&project.id.to_string()), "amount", amount)
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
