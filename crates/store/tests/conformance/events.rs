//! Events, and the order in which they are listed.

use domain::{
    event::{Event, EventKind, News},
    id::{EventId, mint},
    project::{Project, SuccessWord},
};
use store::{EventFilter, Store, WebhookWrite, Window};

use crate::{
    database::{Database, keep, on_every_database},
    samples::{self, EVERYTHING, NOW, after, entropy, kept_project},
};

on_every_database![
    an_event_is_read_back_as_it_was_committed,
    events_are_listed_newest_first_or_upwards_from_one,
    events_are_listed_by_when_they_were_created_up_to_an_instant_that_is_not_in_the_range,
    an_event_is_seen_by_its_own_project_only,
];

/// One event per kind and instant; ids are in the order of the list.
fn events(project: &Project) -> Vec<Event> {
    let news = [
        News::PaymentPaid { payment: mint(NOW, entropy()), paid_at: after(-7), word: SuccessWord::Paid },
        News::PaymentPaid { payment: mint(NOW, entropy()), paid_at: after(-8), word: SuccessWord::Succeeded },
        News::PaymentFailed { payment: mint(NOW, entropy()) },
        News::ApiKeyDeleted { key: mint(NOW, entropy()) },
    ];
    let at = |index: usize| after(i64::try_from(index).unwrap() / 3);
    (0..12)
        .map(|index| Event {
            id: mint(at(index), entropy()),
            project_id: project.id,
            created_at: at(index),
            news: news[index % news.len()],
        })
        .collect()
}

async fn kept_events(store: &Store, project: &Project) -> Vec<Event> {
    let events = events(project);
    // Not committed in their order, so the list has to sort them.
    for event in events.iter().step_by(2).chain(events.iter().skip(1).step_by(2)) {
        keep(store, WebhookWrite::Event(event.clone())).await;
    }
    events
}

async fn an_event_is_read_back_as_it_was_committed(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    for event in kept_events(&store, &project).await {
        assert_eq!(store.event(project.id, event.id).await.unwrap(), Some(event));
    }
    assert_eq!(store.event(project.id, mint(NOW, entropy())).await.unwrap(), None);
}

async fn events_are_listed_newest_first_or_upwards_from_one(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let events = kept_events(&store, &project).await;
    kept_events(&store, &other).await;
    let unknown: EventId = mint(after(1), [255; 10]);
    let kinds = std::iter::once(None).chain(EventKind::ALL.map(Some));
    for kind in kinds {
        for from in [None, Some(events[0].id), Some(events[4].id), Some(events[11].id), Some(unknown)] {
            let mut expected: Vec<Event> = events.clone();
            expected.retain(|event| kind.is_none_or(|kind| event.kind() == kind));
            match from {
                Some(from) => expected.retain(|event| event.id.to_string() > from.to_string()),
                None => expected.reverse(),
            }
            for (offset, limit) in [(0, 100), (0, 1), (1, 2), (2, 100), (100, 5), (0, 0)] {
                let filter = EventFilter { kind, after: from, created: None };
                let listed = store.events(project.id, filter, Window { offset, limit }).await.unwrap();
                let window = expected.iter().skip(offset as usize).take(limit as usize);
                assert_eq!(listed.items, window.cloned().collect::<Vec<_>>(), "{kind:?} {from:?} {offset} {limit}");
                assert_eq!(listed.total, expected.len() as i64);
            }
        }
    }
}

async fn events_are_listed_by_when_they_were_created_up_to_an_instant_that_is_not_in_the_range(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let events = kept_events(&store, &project).await;
    for (from, until) in [(0, 1), (0, 4), (1, 3), (-5, 0), (4, 9), (-5, 9)] {
        for (kind, last_seen) in [(None, None), (Some(EventKind::PaymentPaid), None), (None, Some(events[4].id))] {
            let created = Some((after(from), after(until)));
            let filter = EventFilter { kind, after: last_seen, created };
            let mut expected: Vec<&Event> = events.iter().collect();
            expected.retain(|event| {
                let is_in_range = after(from) <= event.created_at && event.created_at < after(until);
                let is_later = last_seen.is_none_or(|id| event.id.to_string() > id.to_string());
                is_in_range && is_later && kind.is_none_or(|kind| event.kind() == kind)
            });
            if last_seen.is_none() {
                expected.reverse();
            }
            let listed = store.events(project.id, filter, EVERYTHING).await.unwrap();
            assert_eq!(listed.items.iter().collect::<Vec<_>>(), expected, "{filter:?}");
            assert_eq!(listed.total, expected.len() as i64, "{filter:?}");
        }
    }
}

async fn an_event_is_seen_by_its_own_project_only(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let event = samples::event(&project);
    keep(&store, WebhookWrite::Event(event.clone())).await;
    assert_eq!(store.event(other.id, event.id).await.unwrap(), None);
    assert_eq!(store.events(other.id, EventFilter::default(), EVERYTHING).await.unwrap().items, []);
    assert_eq!(store.events(project.id, EventFilter::default(), EVERYTHING).await.unwrap().items, [event]);
}
