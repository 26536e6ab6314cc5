//! Since when the webhooks of a project fail.

use domain::{
    delivery::{Attempt, AttemptOutcome, DeliveryState, Jitter},
    id::EventId,
    time::Timestamp,
};
use store::{Store, WebhookWrite};

use crate::{
    database::{Database, keep, on_every_database},
    deliveries::{owed_at, succeeded},
    samples::{self, NOW, after, kept_project},
};

on_every_database![
    projects_whose_webhooks_fail_are_counted,
    webhooks_fail_since_the_first_failure_after_the_last_success_or_resend,
];

/// Stores an attempt that was made at that time.
async fn tried_at(store: &Store, id: EventId, at: Timestamp, outcome: AttemptOutcome) {
    let delivery = store.delivery(id).await.unwrap().unwrap();
    let DeliveryState::Pending { due_at } = delivery.state else { panic!("{delivery:?}") };
    let (tried, attempt) = (delivery.attempted(&outcome, at, Jitter::NONE), Attempt { at, outcome });
    keep(store, WebhookWrite::Attempted { leased_until: due_at, leased_by: None, delivery: tried, attempt }).await;
}

async fn projects_whose_webhooks_fail_are_counted(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let refused = || samples::attempt_refused().outcome;
    for (project, outcome) in [(&project, refused()), (&project, refused()), (&other, refused()), (&other, succeeded())]
    {
        tried_at(&store, owed_at(&store, project, NOW).await.event_id, after(1), outcome).await;
    }
    owed_at(&store, &other, NOW).await;
    let mut failing = store.webhooks_failing().await.unwrap();
    failing.sort();
    let mut wanted = vec![(project.id, 2), (other.id, 1)];
    wanted.sort();
    assert_eq!(failing, wanted);
}

async fn webhooks_fail_since_the_first_failure_after_the_last_success_or_resend(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let first = owed_at(&store, &project, NOW).await.event_id;
    let second = owed_at(&store, &project, NOW).await.event_id;
    let other = kept_project(&store).await;
    tried_at(&store, owed_at(&store, &other, NOW).await.event_id, after(1), samples::attempt_refused().outcome).await;
    // Which is tried, when, whether it succeeds, and since when webhooks fail after it.
    for (event, at, succeeds, since) in [
        (first, 10, false, Some(10)),
        (second, 20, false, Some(10)),
        (first, 30, false, Some(10)),
        (second, 40, true, None),
        (first, 50, false, Some(50)),
    ] {
        let outcome = if succeeds { succeeded() } else { samples::attempt_refused().outcome };
        tried_at(&store, event, after(at), outcome).await;
        assert_eq!(store.webhooks_failing_since(project.id).await.unwrap(), since.map(after), "{at}");
    }
    let again = WebhookWrite::Resent { event_id: first, project_id: project.id, urgent: true, at: after(60) };
    keep(&store, again).await;
    assert_eq!(store.webhooks_failing_since(project.id).await.unwrap(), None, "it begins anew");
    tried_at(&store, first, after(70), samples::attempt_refused().outcome).await;
    assert_eq!(store.webhooks_failing_since(project.id).await.unwrap(), Some(after(70)));
}
