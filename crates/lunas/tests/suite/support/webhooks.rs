//! What tests of webhooks share: the deliveries of events, their attempts and their signatures.

use domain::{
    delivery::{Attempt, Delivery, FailureClass},
    signature::{TOLERANCE, verify},
    time::Timestamp,
};
use engine::{Clock, SystemClock};
use secrecy::ExposeSecret;
use serde_json::Value;
use testkit::{Kit, Received, TestProject};

use crate::support::{json::id, wait::until};

/// The events of a project, the newest first.
pub(crate) async fn events(project: &TestProject) -> Vec<Value> {
    let listed = project.api.get("/v1/events?page_size=100").await.expect(200);
    listed["data"].as_array().unwrap().clone()
}

pub(crate) async fn newest_event(project: &TestProject) -> String {
    id(&events(project).await[0]).to_owned()
}

/// An event's delivery and its attempts.
pub(crate) async fn delivery(kit: &Kit, event: &str) -> (Delivery, Vec<Attempt>) {
    kit.engine.delivery(event.parse().unwrap()).await.unwrap().unwrap()
}

/// Waits until so many attempts are recorded.
pub(crate) async fn wait_for_attempts(kit: &Kit, event: &str, count: u32) -> (Delivery, Vec<Attempt>) {
    until(async || delivery(kit, event).await.0.attempts >= count).await;
    let (delivery, attempts) = delivery(kit, event).await;
    assert_eq!((delivery.attempts, attempts.len()), (count, count as usize), "{attempts:?}");
    (delivery, attempts)
}

/// Why the last attempt failed.
pub(crate) fn failure(attempts: &[Attempt]) -> Option<FailureClass> {
    attempts.last().unwrap().outcome.failure.as_ref().map(|failure| failure.class)
}

/// Checks a webhook's signature as a receiver should.
pub(crate) async fn check_signature(kit: &Kit, project: &TestProject, webhook: &Received) {
    let secret = kit.engine.webhook_secret(project.id).await.unwrap();
    let header = webhook.header("X-Service-Signature");
    assert_eq!(verify(header, secret.expose_secret(), &webhook.body, kit.engine.now(), TOLERANCE), Ok(()));
}

/// Composed here, so that the source contains nothing that looks like a secret.
pub(crate) fn secret(word: &str) -> String {
    format!("whsec_{}", word.repeat(4))
}

pub(crate) fn seconds_ago(seconds: i64) -> Timestamp {
    Timestamp::from_millis(SystemClock.now().as_millis() - seconds * 1_000)
}
