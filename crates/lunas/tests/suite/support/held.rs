//! Money that fits no payment, and members who decide about it.

use std::time::Duration;

use domain::{access::Role, id::PaymentId};
use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject};

use crate::support::{
    json::id,
    payments::{pending_qris, simulate, unapplied},
    people::{Person, desk},
};

pub(crate) const MINUTE: Duration = Duration::from_mins(1);

/// A receipt that needs a decision.
pub(crate) struct Held {
    /// The payment that it was sent for.
    pub(crate) payment: Value,
    pub(crate) id: String,
}

impl Held {
    /// The receipt's page.
    pub(crate) fn path(&self, project: &TestProject) -> String {
        format!("{}/balance/receipts/{}", desk(project.id), self.id)
    }

    pub(crate) async fn decide(&self, person: &Person, project: &TestProject, act: &str, note: &str) -> Reply {
        self.send(person, project, act, &[("note", note)]).await
    }

    /// Sends the form of a decision with these fields.
    pub(crate) async fn send(
        &self,
        person: &Person,
        project: &TestProject,
        act: &str,
        fields: &[(&str, &str)],
    ) -> Reply {
        person.post(&format!("{}/{act}", self.path(project)), fields).await
    }
}

/// Reports money that does not fit its payment.
pub(crate) async fn held(kit: &Kit, project: &TestProject, payment: &Value, receipt: &str, amount: i64) -> Held {
    let before = unapplied(project).await;
    let report = json!({ "outcome": "paid", "amount": amount, "receipt_id": receipt });
    simulate(project, payment, &report).await.expect(200);
    assert_eq!(unapplied(project).await, before + amount);
    Held { payment: payment.clone(), id: receipt_id(kit, project, payment, receipt).await }
}

/// The id of the receipt that the simulator reported as `receipt`.
pub(crate) async fn receipt_id(kit: &Kit, project: &TestProject, payment: &Value, receipt: &str) -> String {
    let payment_id: PaymentId = id(payment).parse().unwrap();
    let receipts = kit.store.receipts_sent_for(project.id, &[payment_id]).await.unwrap();
    let named = format!("{}:{receipt}", project.id);
    receipts.iter().find(|held| held.receipt.key.id == named).unwrap().id.to_string()
}

/// Reports money that was sent after its payment had expired.
pub(crate) async fn held_late(kit: &Kit, project: &TestProject, receipt: &str) -> Held {
    let payment = pending_qris(project, 15_000).await;
    kit.clock.advance(16 * MINUTE);
    held(kit, project, &payment, receipt, 15_000).await
}

pub(crate) async fn member(kit: &Kit, project: &TestProject, role: Role) -> Person {
    Person::member(kit, project.id, role, &format!("{}@{}.example", role.word(), project.id)).await
}

#[track_caller]
pub(crate) fn contains_all(page: &Reply, texts: &[&str]) {
    for text in texts {
        assert!(page.text.contains(text), "{text} is not in {}", page.text);
    }
}

#[track_caller]
pub(crate) fn lacks_all(page: &Reply, texts: &[&str]) {
    for text in texts {
        assert!(!page.text.contains(text), "{text} is in {}", page.text);
    }
}
