//! Deliveries: which events have one, which node may send it, and what is stored of each attempt.

use std::{collections::HashSet, time::Duration};

use domain::{
    delivery::{Attempt, AttemptOutcome, Delivery, DeliveryState, Failure, FailureClass, Jitter},
    event::{Event, News},
    id::{EventId, mint},
    payment::Payment,
    project::Project,
    time::Timestamp,
};
use store::{Change, CommitError, Guard, NodeId, ProjectWrite, Store, WebhookWrite};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{self, NOW, after, entropy, kept_attempt, kept_delivery, kept_link, kept_payment, kept_project},
};

on_every_database![
    an_event_is_owed_exactly_when_its_project_has_a_url_at_that_moment,
    an_event_that_is_not_kept_is_not_owed,
    what_is_due_is_read_longest_due_first_and_not_before_its_time,
    at_most_so_many_of_each_project_are_read_however_many_are_due,
    urgent_deliveries_are_read_first_however_many_others_are_due,
    more_is_read_of_the_projects_that_are_named_and_nothing_of_others,
    events_are_read_for_sending_with_their_payments_in_the_order_that_is_asked_for,
    a_leased_delivery_is_hidden_until_the_lease_is_over_and_is_leased_once,
    of_leases_and_attempts_committed_together_each_holds_or_fails_by_itself,
    what_is_delivered_or_exhausted_is_never_due,
    attempts_are_read_back_as_they_were_noted,
    an_attempt_is_noted_under_the_lease_it_was_made_under_only,
    sending_by_hand_makes_any_event_due_and_begins_anew,
    recovery_takes_exactly_what_failed_of_a_project_since_then,
    a_rotation_keeps_the_secret_before_it_and_no_older_one,
];

const NODE: NodeId = NodeId::drawn(7);

pub(crate) fn succeeded() -> AttemptOutcome {
    AttemptOutcome::of_answer(Duration::from_millis(3), 204, String::new())
}

/// Stores an attempt of a delivery that is due or leased.
async fn note(store: &Store, delivery: Delivery, outcome: AttemptOutcome) -> Delivery {
    let DeliveryState::Pending { due_at } = delivery.state else { panic!("{delivery:?}") };
    let tried = delivery.attempted(&outcome, after(100), Jitter::NONE);
    let attempt = Attempt { at: after(50), outcome };
    keep(store, WebhookWrite::Attempted { leased_until: due_at, leased_by: None, delivery: tried, attempt }).await;
    assert_eq!(store.delivery(delivery.event_id).await.unwrap(), Some(tried));
    tried
}

/// Stores failed attempts until none is left.
async fn exhaust(store: &Store, mut delivery: Delivery) -> Delivery {
    while delivery.state != DeliveryState::Exhausted {
        delivery = note(store, delivery, samples::attempt_refused().outcome).await;
    }
    delivery
}

/// A delivery of an event of that instant.
pub(crate) async fn owed_at(store: &Store, project: &Project, at: Timestamp) -> Delivery {
    let event = Event { id: mint(at, entropy()), created_at: at, ..samples::event(project) };
    keep(store, WebhookWrite::Event(event.clone())).await;
    store.delivery(event.id).await.unwrap().unwrap()
}

/// One whose first attempt failed.
async fn refused_at(store: &Store, project: &Project, at: Timestamp) -> Delivery {
    note(store, owed_at(store, project, at).await, samples::attempt_refused().outcome).await
}

/// Counts the failed deliveries of each project since then.
async fn check_failed(store: &Store, rows: &[(&Project, Timestamp, i64)]) {
    for (project, since, wanted) in rows {
        assert_eq!(store.failed_deliveries(project.id, *since).await.unwrap(), *wanted);
    }
}

async fn due(store: &Store, now: Timestamp, per_project: usize) -> Vec<EventId> {
    let due = store.due_deliveries(now, per_project).await.unwrap();
    due.into_iter().map(|delivery| delivery.event_id).collect()
}

async fn an_event_is_owed_exactly_when_its_project_has_a_url_at_that_moment(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let event = samples::event(&project);
    keep(&store, WebhookWrite::Event(event.clone())).await;
    let wanted = Delivery {
        event_id: event.id,
        project_id: project.id,
        state: DeliveryState::Pending { due_at: NOW },
        attempts: 0,
        resent_after: 0,
        urgent: true,
    };
    assert_eq!(store.delivery(event.id).await.unwrap(), Some(wanted));
    assert_eq!(store.due_deliveries(NOW, 1).await.unwrap(), [wanted]);

    // The URL is read when the event is committed, even if the same change removes it.
    let silent = Project { webhook_url: None, ..project.clone() };
    let unowed = samples::event(&project);
    keep(
        &store,
        Change::from(ProjectWrite::Changed { project: silent.clone() }).with(WebhookWrite::Event(unowed.clone())),
    )
    .await;
    assert_eq!(store.delivery(unowed.id).await.unwrap(), None);
    assert_eq!(store.event(project.id, unowed.id).await.unwrap(), Some(unowed.clone()));
    keep(&store, ProjectWrite::Changed { project: Project { version: 2, ..project.clone() } }).await;
    assert_eq!(store.delivery(unowed.id).await.unwrap(), None, "a URL that comes later changes nothing");
    assert_eq!(store.delivery(event.id).await.unwrap(), Some(wanted));
}

async fn an_event_that_is_not_kept_is_not_owed(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let event = samples::event(&project);
    let stale = ProjectWrite::Changed { project: Project { version: 0, ..project.clone() } };
    let change = Change::from(WebhookWrite::Event(event.clone())).with(stale);
    assert_eq!(commit(&store, change).await, Outcome::Conflict(Guard::ProjectVersion));
    assert_eq!(store.event(project.id, event.id).await.unwrap(), None);
    assert_eq!(store.delivery(event.id).await.unwrap(), None);
    assert_eq!(due(&store, after(1_000), 10).await, []);
}

async fn what_is_due_is_read_longest_due_first_and_not_before_its_time(database: Database) {
    let store = database.open().await;
    let (one, two) = (kept_project(&store).await, kept_project(&store).await);
    let late = owed_at(&store, &one, after(30)).await.event_id;
    let early = owed_at(&store, &two, after(10)).await.event_id;
    let middle = owed_at(&store, &one, after(20)).await.event_id;
    for (now, wanted) in [
        (after(9), &[][..]),
        (after(10), &[early]),
        (after(29), &[early, middle]),
        (after(30), &[early, middle, late]),
        (Timestamp::from_millis(i64::MAX), &[early, middle, late]),
    ] {
        assert_eq!(due(&store, now, 10).await, wanted, "{now:?}");
    }
}

/// A slow receiver must not crowd out the others.
async fn at_most_so_many_of_each_project_are_read_however_many_are_due(database: Database) {
    let store = database.open().await;
    let (busy, quiet, silent) = (kept_project(&store).await, kept_project(&store).await, kept_project(&store).await);
    let events: Vec<Event> = (0..1_000).map(|_| samples::event(&busy)).collect();
    keep(&store, Change::default().with_all(events.into_iter().map(WebhookWrite::Event))).await;
    let theirs = owed_at(&store, &quiet, after(1)).await;
    for per_project in [1, 4, 900] {
        let read = store.due_deliveries(after(1), per_project).await.unwrap();
        assert_eq!(read.iter().filter(|delivery| delivery.project_id == busy.id).count(), per_project);
        assert_eq!(read.last(), Some(&theirs));
        assert!(read.iter().all(|delivery| delivery.project_id != silent.id));
    }
    assert_eq!(due(&store, after(1), usize::MAX).await.len(), 1_001);
    assert_eq!(due(&store, after(1), 0).await, []);
}

/// An event about a payment, which is not urgent.
fn payment_event(project: &Project) -> Event {
    Event { news: News::PaymentFailed { payment: mint(NOW, entropy()) }, ..samples::event(project) }
}

async fn urgent_deliveries_are_read_first_however_many_others_are_due(database: Database) {
    let store = database.open().await;
    let (busy, quiet) = (kept_project(&store).await, kept_project(&store).await);
    let others = (0..100).map(|_| WebhookWrite::Event(payment_event(&busy)));
    keep(&store, Change::default().with_all(others)).await;
    let theirs = payment_event(&quiet);
    keep(&store, WebhookWrite::Event(theirs.clone())).await;
    let urgent = [owed_at(&store, &busy, after(1)).await.event_id, owed_at(&store, &busy, after(2)).await.event_id];
    let read = store.due_deliveries(after(2), 3).await.unwrap();
    assert_eq!(read[..2].iter().map(|delivery| delivery.event_id).collect::<Vec<_>>(), urgent);
    assert_eq!(
        read.iter().map(|delivery| delivery.urgent).collect::<Vec<_>>(),
        [true, true, false, false, false, false]
    );
    assert!(read[2..].iter().any(|delivery| delivery.event_id == theirs.id));
    assert_eq!(store.due_deliveries(after(1), 3).await.unwrap().len(), 5, "none before its time");

    let silent = Project { webhook_url: None, ..busy.clone() };
    keep(&store, ProjectWrite::Changed { project: silent }).await;
    let unowed = payment_event(&busy);
    keep(&store, WebhookWrite::Event(unowed.clone())).await;
    let write = WebhookWrite::Resent { event_id: unowed.id, project_id: busy.id, urgent: false, at: NOW };
    keep(&store, write).await;
    assert!(!store.delivery(unowed.id).await.unwrap().unwrap().urgent);
}

async fn more_is_read_of_the_projects_that_are_named_and_nothing_of_others(database: Database) {
    let store = database.open().await;
    let (one, two, other) = (kept_project(&store).await, kept_project(&store).await, kept_project(&store).await);
    for project in [&one, &two, &other] {
        let events = (0..40).map(|_| WebhookWrite::Event(payment_event(project)));
        keep(&store, Change::default().with_all(events)).await;
    }
    let urgent = owed_at(&store, &two, after(1)).await;
    let later = owed_at(&store, &one, after(2)).await;
    let wanted = store.due_deliveries(after(1), 30).await.unwrap();
    let read = store.due_deliveries_of(&[one.id, two.id], after(1), 30).await.unwrap();
    assert_eq!((read.len(), read[0]), (61, urgent));
    // Which of those that are due at the same time are read is not defined.
    let of_each = |deliveries: Vec<Delivery>, project: &Project| {
        deliveries.into_iter().filter(|delivery| delivery.project_id == project.id).count()
    };
    for project in [&one, &two] {
        assert_eq!(of_each(read.clone(), project), of_each(wanted.clone(), project));
    }
    assert_eq!(read.iter().map(|delivery| delivery.event_id).collect::<HashSet<_>>().len(), 61, "none twice");
    assert_eq!(store.due_deliveries_of(&[one.id], after(2), 100).await.unwrap()[0], later, "urgent ones first");
    assert_eq!(store.due_deliveries_of(&[], after(2), 100).await.unwrap(), []);
}

async fn events_are_read_for_sending_with_their_payments_in_the_order_that_is_asked_for(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let link = kept_link(&store, &project, true).await;
    let direct = kept_payment(&store, samples::payment(&project)).await;
    let of_link = kept_attempt(&store, samples::attempt(&project, &link)).await;
    let about =
        |payment: &Payment| Event { news: News::PaymentFailed { payment: payment.id }, ..samples::event(&project) };
    let (about_key, of_other) = (samples::event(&project), samples::event(&other));
    let (of_direct, of_link_event) = (about(&direct), about(&of_link));
    let all = [&of_direct, &about_key, &of_other, &of_link_event];
    keep(&store, Change::default().with_all(all.map(|event| WebhookWrite::Event(event.clone())))).await;
    let ids = [of_link_event.id, about_key.id, of_other.id, of_direct.id, mint(NOW, entropy())];
    let read = store.events_to_send(project.id, &ids).await;
    let read: Vec<_> = read.into_iter().map(|found| found.unwrap().map(|found| (found.event, found.payment))).collect();
    let checkout = store.payment(of_link.id).await.unwrap().unwrap();
    assert!(checkout.terms.checkout.is_some());
    let wanted =
        [Some((of_link_event, Some(checkout))), Some((about_key, None)), None, Some((of_direct, Some(direct))), None];
    assert_eq!(read, wanted);
}

async fn a_leased_delivery_is_hidden_until_the_lease_is_over_and_is_leased_once(database: Database) {
    let (store, beside) = (database.open().await, database.open().await);
    let project = kept_project(&store).await;
    let Delivery { event_id, .. } = kept_delivery(&store, &project).await;
    let lease = |from, to| WebhookWrite::DeliveryMoved { event_id, from, to, leased_by: None };
    let (first, second) = tokio::join!(commit(&store, lease(NOW, after(30))), commit(&beside, lease(NOW, after(31))));
    let kept = [first, second].iter().filter(|outcome| **outcome == Outcome::Kept).count();
    assert_eq!(kept, 1, "{first:?} {second:?}");
    let until = if first == Outcome::Kept { after(30) } else { after(31) };
    assert_eq!(due(&store, after(29), 1).await, []);
    assert_eq!(due(&store, after(31), 1).await, [event_id]);
    // Released, and taken over.
    keep(&store, lease(until, after(5))).await;
    assert_eq!(due(&store, after(5), 1).await, [event_id]);
    assert_eq!(commit(&store, lease(until, after(6))).await, Outcome::Conflict(Guard::DeliveryDue));
    keep(&store, lease(after(5), after(60))).await;
    assert_eq!(due(&store, after(59), 1).await, []);
}

/// Two nodes lease these deliveries at the same time, each all of them. Answers until when each is leased.
async fn leased_by_two_nodes(nodes: [&Store; 2], owed: &[Delivery]) -> Vec<(Delivery, Timestamp)> {
    let leases = |until| {
        let moved = |delivery: &Delivery| {
            let event_id = delivery.event_id;
            WebhookWrite::DeliveryMoved { event_id, from: NOW, to: until, leased_by: Some(NODE) }
        };
        owed.iter().map(|delivery| moved(delivery).into()).collect::<Vec<Change>>()
    };
    let (first, second) =
        tokio::join!(nodes[0].commit_each(leases(after(30))), nodes[1].commit_each(leases(after(31))));
    let until = |outcomes: (Result<(), CommitError>, Result<(), CommitError>)| match outcomes {
        (Ok(()), Err(CommitError::Conflict(Guard::DeliveryDue))) => after(30),
        (Err(CommitError::Conflict(Guard::DeliveryDue)), Ok(())) => after(31),
        neither_or_both => panic!("{neither_or_both:?}"),
    };
    owed.iter().copied().zip(first.into_iter().zip(second).map(until)).collect()
}

async fn of_leases_and_attempts_committed_together_each_holds_or_fails_by_itself(database: Database) {
    let (store, beside) = (database.open().await, database.open().await);
    let project = kept_project(&store).await;
    let mut owed = Vec::new();
    for _ in 0..40 {
        owed.push(kept_delivery(&store, &project).await);
    }
    let held = leased_by_two_nodes([&store, &beside], &owed).await;
    // Some are asked for by hand while they are sent.
    for (delivery, _) in held.iter().step_by(7) {
        let (event_id, project_id) = (delivery.event_id, project.id);
        keep(&store, WebhookWrite::Resent { event_id, project_id, urgent: true, at: after(3) }).await;
    }
    let attempted = |(delivery, leased_until): &(Delivery, Timestamp)| {
        let attempt = Attempt { at: after(2), outcome: succeeded() };
        let delivery = delivery.attempted(&attempt.outcome, after(2), Jitter::NONE);
        WebhookWrite::Attempted { leased_until: *leased_until, leased_by: Some(NODE), delivery, attempt }.into()
    };
    let outcomes = store.commit_each(held.iter().map(attempted).collect()).await;
    for (number, (outcome, delivery)) in outcomes.into_iter().zip(&owed).enumerate() {
        let (outcome, state, attempts) = match outcome {
            Err(CommitError::Conflict(guard)) => (Some(guard), DeliveryState::Pending { due_at: after(3) }, 0),
            outcome => (outcome.map(|()| None).unwrap(), DeliveryState::Delivered, 1),
        };
        assert_eq!(outcome, (number % 7 == 0).then_some(Guard::DeliveryAttempts), "{number}");
        assert_eq!(store.delivery(delivery.event_id).await.unwrap().unwrap().state, state);
        assert_eq!(store.attempts(delivery.event_id).await.unwrap().len(), attempts);
    }
    assert_eq!(store.breaches().await.unwrap(), []);
    assert!(store.commit_each(Vec::new()).await.is_empty());
}

async fn what_is_delivered_or_exhausted_is_never_due(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let delivered = note(&store, kept_delivery(&store, &project).await, succeeded()).await;
    assert_eq!(delivered.state, DeliveryState::Delivered);
    let exhausted = exhaust(&store, kept_delivery(&store, &project).await).await;
    assert_eq!((exhausted.attempts, store.attempts(exhausted.event_id).await.unwrap().len()), (13, 13));
    assert_eq!(due(&store, Timestamp::from_millis(i64::MAX), 10).await, []);
    for delivery in [delivered, exhausted] {
        let event_id = delivery.event_id;
        let moved = WebhookWrite::DeliveryMoved { event_id, from: NOW, to: after(1), leased_by: None };
        assert_eq!(commit(&store, moved).await, Outcome::Conflict(Guard::DeliveryDue));
    }
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn attempts_are_read_back_as_they_were_noted(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let mut delivery = kept_delivery(&store, &project).await;
    assert_eq!(store.attempts(delivery.event_id).await.unwrap(), []);
    let long = Duration::from_millis(15_000);
    let failure = |class| Failure::new(class, "it's \"no\" — tidak; ☕");
    let mut outcomes: Vec<AttemptOutcome> =
        FailureClass::ALL.map(|class| AttemptOutcome::unanswered(long, failure(class))).to_vec();
    outcomes.push(AttemptOutcome::cut_short(Duration::ZERO, 299, "half".to_owned(), failure(FailureClass::Closed)));
    outcomes.push(AttemptOutcome::of_answer(long, 599, "x".repeat(4_096)));
    outcomes.push(AttemptOutcome::of_answer(Duration::from_millis(1), 200, "baik ☕\n\u{fffd}".to_owned()));
    for outcome in outcomes.clone() {
        delivery = note(&store, delivery, outcome).await;
    }
    assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Delivered, 13));
    let attempts = store.attempts(delivery.event_id).await.unwrap();
    let wanted: Vec<Attempt> = outcomes.into_iter().map(|outcome| Attempt { at: after(50), outcome }).collect();
    assert_eq!(attempts, wanted);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn an_attempt_is_noted_under_the_lease_it_was_made_under_only(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let owed = kept_delivery(&store, &project).await;
    let event_id = owed.event_id;
    let noted = |leased_until, leased_by| {
        let attempt = samples::attempt_refused();
        let delivery = owed.attempted(&attempt.outcome, after(10), Jitter::NONE);
        WebhookWrite::Attempted { leased_until, leased_by, delivery, attempt }
    };
    let leased = |from, to, node| WebhookWrite::DeliveryMoved { event_id, from, to, leased_by: Some(node) };
    let other = NodeId::drawn(8);
    keep(&store, leased(NOW, after(30), NODE)).await;
    // Another node takes it over, and then somebody asks to send it again.
    keep(&store, leased(after(30), after(60), other)).await;
    assert_eq!(commit(&store, noted(after(30), Some(NODE))).await, Outcome::Conflict(Guard::DeliveryAttempts));
    keep(&store, WebhookWrite::Resent { event_id, project_id: project.id, urgent: true, at: after(40) }).await;
    assert_eq!(commit(&store, noted(after(60), Some(other))).await, Outcome::Conflict(Guard::DeliveryAttempts));
    assert_eq!(store.attempts(event_id).await.unwrap(), []);
    // Two leases that end at the same time are those of two nodes.
    keep(&store, leased(after(40), after(60), other)).await;
    assert_eq!(commit(&store, noted(after(60), Some(NODE))).await, Outcome::Conflict(Guard::DeliveryAttempts));
    assert_eq!(store.attempts(event_id).await.unwrap(), []);
    assert_eq!(commit(&store, noted(after(60), Some(other))).await, Outcome::Kept);
    assert_eq!(commit(&store, noted(after(60), Some(other))).await, Outcome::Conflict(Guard::DeliveryAttempts));
    assert_eq!(store.attempts(event_id).await.unwrap().len(), 1);
}

async fn sending_by_hand_makes_any_event_due_and_begins_anew(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let pending = note(&store, kept_delivery(&store, &project).await, samples::attempt_refused().outcome).await;
    let delivered = note(&store, kept_delivery(&store, &project).await, succeeded()).await;
    let exhausted = exhaust(&store, kept_delivery(&store, &project).await).await;
    let silent = Project { webhook_url: None, ..project.clone() };
    keep(&store, ProjectWrite::Changed { project: silent }).await;
    let unowed = samples::event(&project);
    keep(&store, WebhookWrite::Event(unowed.clone())).await;
    for (event_id, attempts) in
        [(pending.event_id, 1), (delivered.event_id, 1), (exhausted.event_id, 13), (unowed.id, 0)]
    {
        keep(&store, WebhookWrite::Resent { event_id, project_id: project.id, urgent: true, at: after(7) }).await;
        let state = DeliveryState::Pending { due_at: after(7) };
        let wanted =
            Delivery { event_id, project_id: project.id, state, attempts, resent_after: attempts, urgent: true };
        assert_eq!(store.delivery(event_id).await.unwrap(), Some(wanted));
        assert_eq!(store.attempts(event_id).await.unwrap().len(), attempts as usize, "what was noted stays");
        assert!(due(&store, after(7), 10).await.contains(&event_id));
        assert_eq!(store.breaches().await.unwrap(), []);
        assert_eq!(note(&store, wanted, succeeded()).await.attempts, attempts + 1);
    }
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn recovery_takes_exactly_what_failed_of_a_project_since_then(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let since = after(50);
    let before = refused_at(&store, &project, after(49)).await;
    let failed = refused_at(&store, &project, since).await;
    let exhausted = exhaust(&store, owed_at(&store, &project, after(60)).await).await;
    let delivered = note(&store, owed_at(&store, &project, after(61)).await, succeeded()).await;
    let untried = owed_at(&store, &project, after(62)).await;
    let theirs = refused_at(&store, &other, after(63)).await;

    check_failed(&store, &[(&project, since, 2)]).await;
    keep(&store, WebhookWrite::Recovered { project_id: project.id, since, at: after(500), most: 100 }).await;
    for tried in [failed, exhausted] {
        let state = DeliveryState::Pending { due_at: after(500) };
        let wanted = Delivery { state, resent_after: tried.attempts, ..tried };
        assert_eq!(store.delivery(tried.event_id).await.unwrap(), Some(wanted));
    }
    for left in [before, delivered, untried, theirs] {
        assert_eq!(store.delivery(left.event_id).await.unwrap(), Some(left));
    }
    // Deliveries that were just recovered do not count as failed.
    let beginning = Timestamp::from_millis(-1);
    check_failed(&store, &[(&project, since, 0), (&project, beginning, 1), (&other, since, 1)]).await;
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn a_rotation_keeps_the_secret_before_it_and_no_older_one(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let rotate = |replaced: &[u8], sealed: &[u8], at| WebhookWrite::SecretRotated {
        project_id: project.id,
        replaced: replaced.to_vec(),
        previous: [replaced, &[7]].concat(),
        sealed: sealed.to_vec(),
        at,
    };
    for (sealed, at, previous) in [(&[4][..], after(1), &[1, 2, 3][..]), (&[0, 255], after(2), &[4])] {
        keep(&store, rotate(previous, sealed, at)).await;
        // Another rotation at the same moment started from the old secret.
        assert_eq!(commit(&store, rotate(previous, &[9], at)).await, Outcome::Conflict(Guard::WebhookSecret));
        let secrets = store.webhook_target(project.id).await.unwrap().unwrap().secrets;
        assert_eq!((secrets.current, secrets.previous), (sealed.to_vec(), Some(([previous, &[7]].concat(), at))));
    }
    assert_eq!(store.project(project.id).await.unwrap().unwrap().version, 3, "whoever keeps the project looks again");
    assert!(store.webhook_target(other.id).await.unwrap().unwrap().secrets.previous.is_none());
    let nobody = WebhookWrite::SecretRotated {
        project_id: mint(NOW, entropy()),
        replaced: vec![],
        previous: vec![2],
        sealed: vec![1],
        at: NOW,
    };
    assert_eq!(commit(&store, nobody).await, Outcome::Conflict(Guard::WebhookSecret));
}
