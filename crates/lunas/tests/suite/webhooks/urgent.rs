//! Events about security are sent ahead of the project's other webhooks, and a receiver that hangs on those does not delay
//! them.

use std::sync::Arc;

use testkit::{Answer, Kit, Received, Receiver, TestProject, on_every_database, on_sqlite_alone};

use super::isolation::{PATIENT, pay_often};
use crate::support::webhooks::newest_event;

on_every_database![a_revoked_key_is_reported_at_once_though_sixteen_payments_hang];

on_sqlite_alone![security_events_that_hang_take_no_place_of_payments, a_security_event_that_is_resent_is_urgent_too];

/// Creates keys of a project and revokes them through the API.
async fn revoke_keys(kit: &Kit, project: &TestProject, count: usize) {
    for number in 0..count {
        let (key, _) = kit.engine.create_key(project.id, format!("stolen {number}")).await.unwrap();
        project.api.delete(&format!("/v1/api-keys/{}", key.id)).await.expect(200);
    }
}

fn types(received: &[Received]) -> Vec<String> {
    received.iter().map(|received| received.json()["type"].as_str().unwrap().to_owned()).collect()
}

/// A project whose receiver hangs on four payments, while twelve more are due.
async fn hanging_on_sixteen(kit: &Kit) -> (TestProject, Receiver) {
    let (project, receiver) = kit.hooked(Answer::Hang).await;
    pay_often(&project, 16).await;
    kit.deliver(PATIENT);
    receiver.arrived(4).await;
    (project, receiver)
}

/// Regression: `apikey.deleted` waited in line behind the hanging payments, for a minute with the usual time limits.
async fn a_revoked_key_is_reported_at_once_though_sixteen_payments_hang(kit: Arc<Kit>) {
    let (project, receiver) = hanging_on_sixteen(&kit).await;
    revoke_keys(&kit, &project, 4).await;
    let received = receiver.arrived(8).await;
    assert_eq!(types(&received)[..4], ["payment.paid"; 4]);
    assert_eq!(types(&received)[4..], ["apikey.deleted"; 4], "though those hang too");
    kit.crash();
    kit.may_leave_deliveries_due();
}

async fn security_events_that_hang_take_no_place_of_payments(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Hang).await;
    revoke_keys(&kit, &project, 6).await;
    kit.deliver(PATIENT);
    receiver.arrived(4).await;
    receiver.answer(Answer::Status(200));
    pay_often(&project, 6).await;
    let received = receiver.arrived(10).await;
    assert_eq!(types(&received)[..4], ["apikey.deleted"; 4]);
    assert_eq!(types(&received)[4..], ["payment.paid"; 6], "two keys wait for the four that hang");
    receiver.release();
    assert_eq!(types(&receiver.arrived(12).await)[10..], ["apikey.deleted"; 2]);
}

async fn a_security_event_that_is_resent_is_urgent_too(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Hang).await;
    let url = receiver.url();
    // Without a URL there is no delivery; resending creates one.
    kit.set_webhook_url(project.id, None).await;
    revoke_keys(&kit, &project, 1).await;
    let event = newest_event(&project).await;
    kit.set_webhook_url(project.id, Some(&url)).await;
    pay_often(&project, 16).await;
    kit.deliver(PATIENT);
    receiver.arrived(4).await;
    kit.engine.resend(project.id, event.parse().unwrap()).await.unwrap();
    assert_eq!(receiver.arrived(5).await[4].event_id(), event);
    kit.crash();
    kit.may_leave_deliveries_due();
}
