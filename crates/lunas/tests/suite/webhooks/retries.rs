//! When a webhook is retried, until when, and how people resend it (docs/contract.md, decisions §8).

use std::{sync::Arc, time::Duration};

use domain::{
    delivery::{Delivery, DeliveryState, FailureClass},
    id::EventId,
    signature::{TOLERANCE, Unverified, verify},
    time::Timestamp,
};
use engine::Error;
use gateway::SendLimits;
use secrecy::ExposeSecret;
use testkit::{Answer, Kit, Receiver, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    payments::paid,
    webhooks::{check_signature, delivery, failure, newest_event, wait_for_attempts},
};

on_every_database![
    a_failing_receiver_gets_13_attempts_at_the_promised_times_and_then_no_more,
    an_event_resent_by_hand_keeps_its_id_and_restarts_the_schedule,
    recovery_resends_what_failed_since_then_and_nothing_else,
];

on_sqlite_alone![
    each_attempt_is_signed_with_the_second_it_is_made_in,
    only_the_projects_own_events_can_be_resent_and_only_with_a_url,
    for_a_day_after_a_rotation_the_new_secret_and_the_old_one_both_verify,
];

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
/// Seconds between one attempt and the next (docs/contract.md, decisions §8).
const RESTS: [u64; 12] =
    [5, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 12 * HOUR, 24 * HOUR, 24 * HOUR];

fn due_at(delivery: Delivery) -> Timestamp {
    match delivery.state {
        DeliveryState::Pending { due_at } => due_at,
        other => panic!("it is {other:?}"),
    }
}

/// Checks that a delivery waits as long as the schedule says, give or take a tenth.
fn check_rest(kit: &Kit, tried: Delivery, rest_seconds: u64) {
    let rest = due_at(tried).as_millis() - kit.engine.now().as_millis();
    let wanted = i64::try_from(rest_seconds * 1_000).unwrap();
    let tenth = wanted / 10;
    assert!((wanted - tenth..=wanted + tenth).contains(&rest), "after {}: {rest}, not {wanted}", tried.attempts);
}

/// A project with an event that arrives once all due deliveries have been polled.
struct Witness(TestProject, Receiver);

impl Witness {
    async fn beside(kit: &Kit) -> Witness {
        let (project, receiver) = kit.hooked(Answer::Status(200)).await;
        Witness(project, receiver)
    }

    async fn sees_a_round(&self) {
        let before = self.1.count();
        paid(&self.0, &format!("round-{before}"), 15_000).await;
        self.1.arrived(before + 1).await;
    }
}

async fn a_failing_receiver_gets_13_attempts_at_the_promised_times_and_then_no_more(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(503)).await;
    let witness = Witness::beside(&kit).await;
    kit.deliver(SendLimits::default());
    paid(&project, "k-1", 15_000).await;
    let event = receiver.arrived(1).await[0].event_id();
    for (made, rest) in (1..).zip(RESTS) {
        let (tried, attempts) = wait_for_attempts(&kit, &event, made).await;
        assert_eq!((failure(&attempts), tried.resent_after), (Some(FailureClass::Status), 0));
        check_rest(&kit, tried, rest);
        kit.clock.set(due_at(tried).minus(Duration::from_millis(1)));
        witness.sees_a_round().await;
        assert_eq!(receiver.count(), made as usize, "nothing comes before its time");
        kit.clock.set(due_at(tried));
        let webhooks = receiver.arrived(made as usize + 1).await;
        let webhook = webhooks.last().unwrap();
        assert_eq!(webhook.body, webhooks[0].body, "every attempt says the same");
        // Each attempt is signed anew: the signature of an earlier attempt would be too old by now.
        check_signature(&kit, &project, webhook).await;
    }
    let (exhausted, attempts) = wait_for_attempts(&kit, &event, 13).await;
    assert_eq!((exhausted.state, failure(&attempts)), (DeliveryState::Exhausted, Some(FailureClass::Status)));
    kit.clock.advance(Duration::from_hours(24 * 30));
    witness.sees_a_round().await;
    assert_eq!(receiver.count(), 13);
}

async fn each_attempt_is_signed_with_the_second_it_is_made_in(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(500)).await;
    kit.deliver(SendLimits::default());
    paid(&project, "k-1", 15_000).await;
    let mut times = Vec::new();
    for made in 1..=3 {
        let webhook = receiver.arrived(made).await.pop().unwrap();
        let signed = webhook.header("X-Service-Signature").to_owned();
        let seconds = kit.engine.now().as_millis() / 1_000;
        assert!(signed.starts_with(&format!("t={seconds},v1=")), "{signed}");
        times.push(signed);
        let (tried, _) = wait_for_attempts(&kit, &webhook.event_id(), u32::try_from(made).unwrap()).await;
        kit.clock.set(due_at(tried));
    }
    times.dedup();
    assert_eq!(times.len(), 3);
    receiver.arrived(4).await;
}

async fn an_event_resent_by_hand_keeps_its_id_and_restarts_the_schedule(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(200)).await;
    kit.deliver(SendLimits::default());
    paid(&project, "k-1", 15_000).await;
    let event = receiver.arrived(1).await[0].event_id();
    let id: EventId = event.parse().unwrap();
    wait_for_attempts(&kit, &event, 1).await;
    receiver.answer(Answer::Status(500));
    kit.clock.advance(Duration::from_hours(2));
    kit.engine.resend(project.id, id).await.unwrap();
    let webhooks = receiver.arrived(2).await;
    assert_eq!(webhooks[0].body, webhooks[1].body);
    check_signature(&kit, &project, &webhooks[1]).await;
    for (made, rest) in (2..).zip(RESTS) {
        let (tried, _) = wait_for_attempts(&kit, &event, made).await;
        assert_eq!(tried.resent_after, 1);
        check_rest(&kit, tried, rest);
        kit.clock.set(due_at(tried));
    }
    assert_eq!(wait_for_attempts(&kit, &event, 14).await.0.state, DeliveryState::Exhausted);
    receiver.answer(Answer::Status(200));
    kit.engine.resend(project.id, id).await.unwrap();
    assert_eq!(wait_for_attempts(&kit, &event, 15).await.0.state, DeliveryState::Delivered);
}

async fn only_the_projects_own_events_can_be_resent_and_only_with_a_url(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.hooked(Answer::Status(200)).await);
    paid(&project, "k-1", 15_000).await;
    let event = newest_event(&project).await;
    let id: EventId = event.parse().unwrap();
    assert!(matches!(kit.engine.resend(project.id, id).await, Err(Error::NoWebhookUrl)));
    assert!(matches!(kit.engine.recover(project.id, kit.engine.now()).await, Err(Error::NoWebhookUrl)));
    assert!(matches!(kit.engine.resend(other.0.id, id).await, Err(Error::NotFound("event"))));
    assert_eq!(kit.engine.delivery(id).await.unwrap(), None);
    // An event without a URL can be sent once there is one.
    kit.set_webhook_url(project.id, Some(&other.1.url())).await;
    kit.deliver(SendLimits::default());
    kit.engine.resend(project.id, id).await.unwrap();
    assert_eq!(other.1.arrived(1).await[0].event_id(), event);
    assert_eq!(wait_for_attempts(&kit, &event, 1).await.0.state, DeliveryState::Delivered);
}

/// Three events whose first attempts fail; returns their ids and the instant of the second.
async fn three_failures(kit: &Kit, project: &TestProject, receiver: &Receiver) -> (Vec<String>, Timestamp) {
    let mut failed = Vec::new();
    let mut since = kit.engine.now();
    for (count, key) in (1..).zip(["k-1", "k-2", "k-3"]) {
        kit.clock.advance(Duration::from_millis(1));
        since = if count == 2 { kit.engine.now() } else { since };
        paid(project, key, 15_000).await;
        receiver.arrived(count).await;
        failed.push(newest_event(project).await);
        wait_for_attempts(kit, failed.last().unwrap(), 1).await;
    }
    (failed, since)
}

async fn recovery_resends_what_failed_since_then_and_nothing_else(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(500)).await;
    let (other, elsewhere) = kit.hooked(Answer::Status(500)).await;
    kit.deliver(SendLimits::default());
    let (failed, since) = three_failures(&kit, &project, &receiver).await;
    receiver.answer(Answer::Status(200));
    kit.clock.advance(Duration::from_millis(1));
    paid(&project, "k-4", 15_000).await;
    receiver.arrived(4).await;
    let delivered = newest_event(&project).await;
    wait_for_attempts(&kit, &delivered, 1).await;
    paid(&other, "k-5", 15_000).await;
    let theirs = elsewhere.arrived(1).await[0].event_id();
    wait_for_attempts(&kit, &theirs, 1).await;

    assert_eq!(kit.engine.recover(project.id, since).await.unwrap(), 2);
    for event in &failed[1..] {
        assert_eq!(wait_for_attempts(&kit, event, 2).await.0.state, DeliveryState::Delivered);
    }
    assert_eq!(kit.engine.recover(project.id, since).await.unwrap(), 0);
    kit.stop_delivering().await;
    for event in [&failed[0], &delivered, &theirs] {
        assert_eq!(delivery(&kit, event).await.0.attempts, 1, "{event}");
    }
    assert_eq!((receiver.count(), elsewhere.count()), (6, 1));
}

async fn for_a_day_after_a_rotation_the_new_secret_and_the_old_one_both_verify(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(200)).await;
    kit.deliver(SendLimits::default());
    let old = kit.engine.webhook_secret(project.id).await.unwrap();
    let (new, _) = kit.engine.rotate_webhook_secret(project.id, false).await.unwrap();
    assert_ne!(old.expose_secret(), new.expose_secret());
    assert_eq!(kit.engine.webhook_secret(project.id).await.unwrap().expose_secret(), new.expose_secret());
    let rotated_at = kit.engine.now();
    let day = Duration::from_hours(24);
    let before = rotated_at.plus(day).minus(Duration::from_millis(1));
    for (count, (at, signatures)) in (1..).zip([(rotated_at, 2), (before, 2), (rotated_at.plus(day), 1)]) {
        kit.clock.set(at);
        paid(&project, &format!("k-{count}"), 15_000).await;
        let webhook = receiver.arrived(count).await.pop().unwrap();
        let header = webhook.header("X-Service-Signature");
        assert_eq!(header.matches(",v1=").count(), signatures, "{header}");
        let check = |header: &str, secret: &str| verify(header, secret, &webhook.body, at, TOLERANCE);
        assert_eq!(check(header, new.expose_secret()), Ok(()));
        let by_the_old = if signatures == 2 { Ok(()) } else { Err(Unverified::NoMatch) };
        assert_eq!(check(header, old.expose_secret()), by_the_old);
        let first: Vec<&str> = header.split(',').take(2).collect();
        assert_eq!(check(&first.join(","), new.expose_secret()), Ok(()), "the new one comes first");
    }
}
