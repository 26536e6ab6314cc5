//! The event log, and failed deliveries.

use domain::{
    delivery::{ATTEMPTS_MOST, Delivery, DeliveryState, Jitter},
    event::{Event, EventKind, News},
    id::mint,
    payment::{Payment, State},
    project::Project,
    receipt::Unapplied,
};
use store::{
    DeliveryFilter, EventLogFilter, FailingDeliveries, FailingSince, LastAttempt, LoggedEvent, ProjectWrite, Store,
    WebhookWrite, Window,
};

use crate::{
    database::{Database, keep, on_every_database},
    samples::{self, AMOUNT, EVERYTHING, after, entropy, kept_key, kept_payment, kept_project},
};

on_every_database![
    the_log_has_every_event_with_or_without_a_delivery,
    failed_deliveries_are_found_until_they_are_sent_again,
    exhausted_deliveries_are_told_from_those_that_are_retried,
    the_events_of_a_payment_are_found_and_no_others,
    all_events_of_a_payment_are_found_in_their_order,
];

async fn logged(store: &Store, project: &Project, deliveries: DeliveryFilter, kind: Option<EventKind>) -> Vec<Event> {
    let filter = EventLogFilter { deliveries, kind };
    let log = store.event_log(project.id, filter, EVERYTHING).await.unwrap();
    assert_eq!(log.total, Some(log.items.len() as i64), "{filter:?}");
    log.items.into_iter().map(|logged| logged.event).collect()
}

async fn tried(store: &Store, delivery: Delivery) -> Delivery {
    let DeliveryState::Pending { due_at } = delivery.state else { panic!("{delivery:?}") };
    let attempt = samples::attempt_refused();
    let delivery = delivery.attempted(&attempt.outcome, after(10), Jitter::NONE);
    keep(store, WebhookWrite::Attempted { leased_until: due_at, leased_by: None, delivery, attempt }).await;
    delivery
}

/// Three events, newest first.
async fn with_events(store: &Store, project: &Project) -> Vec<Event> {
    let mut events = Vec::new();
    for (millis, failed) in [(0, false), (1, true), (2, false)] {
        let at = after(millis);
        let news = match failed {
            true => News::PaymentFailed { payment: mint(at, entropy()) },
            false => News::ApiKeyDeleted { key: mint(at, entropy()) },
        };
        let event = Event { id: mint(at, entropy()), project_id: project.id, created_at: at, news };
        keep(store, WebhookWrite::Event(event.clone())).await;
        events.insert(0, event);
    }
    events
}

async fn the_log_has_every_event_with_or_without_a_delivery(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let silent = Project { webhook_url: None, ..samples::project() };
    keep(&store, ProjectWrite::Created { project: silent.clone(), sealed_webhook_secret: Vec::new() }).await;
    let events = with_events(&store, &project).await;
    with_events(&store, &other).await;
    assert_eq!(logged(&store, &project, DeliveryFilter::All, None).await, events);
    assert_eq!(logged(&store, &project, DeliveryFilter::All, Some(EventKind::PaymentFailed)).await, events[1..2]);
    let second = store.event_log(project.id, EventLogFilter::default(), Window { offset: 1, limit: 1 }).await.unwrap();
    let delivery = store.delivery(events[1].id).await.unwrap();
    assert!(delivery.is_some());
    let expected = LoggedEvent { event: events[1].clone(), delivery, last_attempt: None };
    assert_eq!((second.items, second.total), (vec![expected], Some(3)));
    // Without a URL there are no deliveries, but the events are listed all the same.
    let unsent = with_events(&store, &silent).await;
    let listed = store.event_log(silent.id, EventLogFilter::default(), EVERYTHING).await.unwrap();
    let unsent = unsent.into_iter().map(|event| LoggedEvent { event, delivery: None, last_attempt: None });
    assert_eq!(listed.items, unsent.collect::<Vec<_>>());
}

async fn failed_deliveries_are_found_until_they_are_sent_again(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let events = with_events(&store, &project).await;
    with_events(&store, &other).await;
    assert!(logged(&store, &project, DeliveryFilter::Failing, None).await.is_empty());
    for event in &events[..2] {
        let delivery = store.delivery(event.id).await.unwrap().unwrap();
        let delivery = tried(&store, delivery).await;
        let failing = EventLogFilter { deliveries: DeliveryFilter::Failing, kind: Some(event.kind()) };
        let listed = store.event_log(project.id, failing, EVERYTHING).await.unwrap();
        let outcome = samples::attempt_refused().outcome;
        let last = LastAttempt {
            latency: outcome.latency,
            status: outcome.status,
            failure: outcome.failure.map(|failure| failure.class),
        };
        let expected = LoggedEvent { event: event.clone(), delivery: Some(delivery), last_attempt: Some(last) };
        assert_eq!(listed.items, [expected]);
    }
    assert_eq!(logged(&store, &project, DeliveryFilter::Failing, None).await, events[..2]);
    let retrying =
        |deliveries, since| FailingDeliveries { retrying: Some(FailingSince { deliveries, since }), exhausted: None };
    assert_eq!(store.failing_deliveries(project.id).await.unwrap(), retrying(2, events[1].created_at));
    assert_eq!(store.failing_deliveries(other.id).await.unwrap(), FailingDeliveries::default());
    assert!(logged(&store, &other, DeliveryFilter::Failing, None).await.is_empty());
    keep(&store, WebhookWrite::Resent { event_id: events[1].id, project_id: project.id, urgent: true, at: after(20) })
        .await;
    assert_eq!(store.failing_deliveries(project.id).await.unwrap(), retrying(1, events[0].created_at));
}

async fn exhausted_deliveries_are_told_from_those_that_are_retried(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let events = with_events(&store, &project).await;
    for (event, attempts) in [(&events[2], ATTEMPTS_MOST), (&events[1], 2)] {
        let mut delivery = store.delivery(event.id).await.unwrap().unwrap();
        for _ in 0..attempts {
            delivery = tried(&store, delivery).await;
        }
    }
    assert_eq!(logged(&store, &project, DeliveryFilter::Exhausted, None).await, events[2..]);
    assert_eq!(logged(&store, &project, DeliveryFilter::Exhausted, Some(events[2].kind())).await, events[2..]);
    assert!(logged(&store, &project, DeliveryFilter::Exhausted, Some(EventKind::PaymentPaid)).await.is_empty());
    assert_eq!(logged(&store, &project, DeliveryFilter::Failing, None).await, events[1..]);
    let since = |event: &Event| Some(FailingSince { deliveries: 1, since: event.created_at });
    let failing = store.failing_deliveries(project.id).await.unwrap();
    assert_eq!((failing.exhausted, failing.retrying), (since(&events[2]), since(&events[1])));
    // Sent again by hand: it has not failed since then.
    keep(&store, WebhookWrite::Resent { event_id: events[2].id, project_id: project.id, urgent: true, at: after(20) })
        .await;
    assert_eq!(store.failing_deliveries(project.id).await.unwrap().exhausted, None);
    assert!(logged(&store, &project, DeliveryFilter::Exhausted, None).await.is_empty());
}

async fn kinds_about(store: &Store, project: &Project, subject: impl ToString) -> Vec<EventKind> {
    let subject = subject.to_string();
    let events = store.events_about(project.id, &subject).await.unwrap();
    assert!(events.iter().all(|event| event.subject() == subject && event.project_id == project.id));
    events.into_iter().map(|event| event.kind()).collect()
}

async fn the_events_of_a_payment_are_found_and_no_others(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let payment = kept_payment(&store, samples::payment(&project)).await;
    let neighbour = kept_payment(&store, samples::payment(&project)).await;
    let silent = kept_payment(&store, samples::payment(&project)).await;
    let key = kept_key(&store, &project, "key").await;
    keep(&store, samples::refusal(&payment, "refused")).await;
    keep(&store, samples::confirmation(&neighbour, None, "neighbour")).await;
    keep(&store, samples::revocation(&key, after(50_000_000))).await;
    assert_eq!(kinds_about(&store, &project, payment.id).await, [EventKind::PaymentFailed]);
    assert_eq!(kinds_about(&store, &project, neighbour.id).await, [EventKind::PaymentPaid]);
    assert_eq!(kinds_about(&store, &project, key.id).await, [EventKind::ApiKeyDeleted]);
    assert!(kinds_about(&store, &project, silent.id).await.is_empty());
    assert!(kinds_about(&store, &other, payment.id).await.is_empty());
}

async fn all_events_of_a_payment_are_found_in_their_order(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = kept_payment(&store, samples::payment(&project)).await;
    // Failed, and paid much later by money that a member accepted.
    keep(&store, samples::refusal(&payment, "refused")).await;
    keep(&store, samples::surplus(&payment, "late", AMOUNT, Unapplied::TooLate)).await;
    let refused = Payment { state: State::Failed { at: after(10) }, version: 2, ..payment };
    keep(&store, samples::acceptance(&refused, "late", after(9_000_000))).await;
    let both = [EventKind::PaymentFailed, EventKind::PaymentPaid];
    assert_eq!(kinds_about(&store, &project, refused.id).await, both);
}
