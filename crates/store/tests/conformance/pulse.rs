//! What pages ask for often: the pulse, the first steps, and how the projects do.

use std::time::Duration;

use domain::{
    access::Role,
    audit::{Actor, Deed},
    delivery::{Attempt, AttemptOutcome, Delivery, Jitter},
    payment::{Payment, State},
    project::Project,
    receipt::Unapplied,
};
use store::{Change, Firsts, ProjectHealth, Store, Write};

use crate::{
    database::{Database, keep, on_every_database},
    samples::{self, AMOUNT, NOW, after, kept_key, kept_link, kept_member, kept_payment, kept_project},
};

on_every_database![
    the_pulse_changes_with_what_is_shown_and_with_nothing_else,
    the_first_steps_are_seen_once_they_are_done,
    every_projects_health_is_its_own,
];

/// An attempt that the receiver took, or not.
fn attempted(delivery: Delivery, status: u16) -> Change {
    let outcome = AttemptOutcome::answered(Duration::from_millis(12), status, String::new());
    let attempt = Attempt { at: after(5), outcome };
    let delivery = delivery.attempted(&attempt.outcome, after(10), Jitter::NONE);
    Write::Attempted { leased_until: NOW, delivery, attempt }.into()
}

/// Everything that pages show, one change after another.
async fn shown(store: &Store, project: &Project) -> Vec<(&'static str, Change)> {
    let project_id = project.id;
    let payment = kept_payment(store, samples::payment(project)).await;
    let paid = kept_payment(store, samples::payment(project)).await;
    let link = kept_link(store, project, false).await;
    let (key, owed) = (kept_key(store, project, "key").await, samples::kept_delivery(store, project).await);
    let new_key = samples::key(project, "new");
    let line = samples::audit_line(Actor::CommandLine, Some(project), Deed::MemberJoined);
    vec![
        ("a payment", Write::Payment { payment: samples::payment(project) }.into()),
        ("a link", Write::Link { link: samples::link(project) }.into()),
        ("a link cancelled", Write::LinkCancelled { id: link.id, at: NOW, version: 1 }.into()),
        ("a state", samples::moved_to(&payment, State::Processing).into()),
        ("a payment paid", samples::confirmation(&paid, None, "paid")),
        ("money settled", samples::settlement(&paid, after(100_000))),
        ("an event", Write::Event(samples::event(project)).into()),
        ("an attempt", attempted(owed, 500)),
        ("a view", Write::PaymentViewed { payment_id: payment.id, project_id, at: NOW }.into()),
        ("a key", Write::ApiKey { hash: samples::key_hash(&new_key), key: new_key }.into()),
        ("a key revoked", samples::revocation(&key, NOW)),
        ("money held", samples::surplus(&paid, "more", AMOUNT, Unapplied::AlreadyPaid)),
        ("money decided about", samples::giving_back(&paid, "more", AMOUNT, after(30))),
        ("a setting", Write::ProjectChanged { project: project.clone() }.into()),
        ("a line of the log", Write::Audit(line).into()),
        ("an event sent again", Write::Resent { event_id: owed.event_id, project_id, at: NOW }.into()),
    ]
}

async fn the_pulse_changes_with_what_is_shown_and_with_nothing_else(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let changes = shown(&store, &project).await;
    let mut pulse = store.pulse(project.id).await.unwrap();
    for (what, change) in changes {
        keep(&store, change).await;
        let next = store.pulse(project.id).await.unwrap();
        assert_ne!(next, pulse, "{what}");
        assert_eq!(store.pulse(project.id).await.unwrap(), next, "{what}");
        pulse = next;
    }
    // What happens elsewhere, or what nobody sees.
    kept_payment(&store, samples::payment(&other)).await;
    let owed = samples::kept_delivery(&store, &other).await;
    keep(&store, Write::DeliveryMoved { event_id: owed.event_id, from: NOW, to: after(9) }).await;
    while store.tend(after(9_000_000)).await.unwrap() {}
    assert_eq!(store.pulse(project.id).await.unwrap(), pulse);
}

async fn the_first_steps_are_seen_once_they_are_done(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let payment = kept_payment(&store, samples::payment(&project)).await;
    let owed = samples::kept_delivery(&store, &project).await;
    let key = samples::key(&project, "key");
    let nothing = Firsts::default();
    let steps: [(Change, Firsts); 6] = [
        (Write::ApiKey { hash: samples::key_hash(&key), key }.into(), Firsts { key: true, ..nothing }),
        (Write::Link { link: samples::link(&project) }.into(), Firsts { link: true, ..nothing }),
        // Money that pays nothing is no first payment, and an attempt that failed no first delivery.
        (samples::surplus(&payment, "held", AMOUNT, Unapplied::TooLate), nothing),
        (samples::confirmation(&payment, None, "paid"), Firsts { paid: true, ..nothing }),
        (attempted(samples::kept_delivery(&store, &project).await, 500), nothing),
        (attempted(owed, 200), Firsts { delivered: true, ..nothing }),
    ];
    let mut done = nothing;
    for (change, new) in steps {
        assert_eq!(store.has_first(project.id).await.unwrap(), done);
        keep(&store, change).await;
        done = Firsts {
            key: done.key | new.key,
            link: done.link | new.link,
            paid: done.paid | new.paid,
            delivered: done.delivered | new.delivered,
        };
        assert_eq!(store.has_first(project.id).await.unwrap(), done);
    }
    assert_eq!(store.has_first(other.id).await.unwrap(), nothing);
    // Nothing is left to the merchant of this one, and it was paid all the same.
    let eaten = kept_payment(&store, Payment { fee: AMOUNT, ..samples::payment(&other) }).await;
    keep(&store, samples::confirmation(&eaten, None, "eaten")).await;
    assert_eq!(store.has_first(other.id).await.unwrap(), Firsts { paid: true, ..nothing });
}

async fn every_projects_health_is_its_own(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let unused = |project: &Project| ProjectHealth {
        project: project.clone(),
        members: 0,
        undecided: 0,
        failing: 0,
        last_payment_at: None,
    };
    assert_eq!(store.project_health().await.unwrap(), [unused(&project), unused(&other)]);
    kept_member(&store, &project, Role::Owner).await;
    kept_member(&store, &project, Role::Viewer).await;
    let payment = kept_payment(&store, samples::payment(&project)).await;
    keep(&store, samples::surplus(&payment, "held", AMOUNT, Unapplied::TooLate)).await;
    keep(&store, samples::surplus(&payment, "returned", AMOUNT, Unapplied::TooLate)).await;
    keep(&store, samples::giving_back(&payment, "returned", AMOUNT, after(20))).await;
    keep(&store, attempted(samples::kept_delivery(&store, &project).await, 500)).await;
    let expected =
        ProjectHealth { members: 2, undecided: 1, failing: 1, last_payment_at: Some(NOW), ..unused(&project) };
    assert_eq!(store.project_health().await.unwrap(), [expected, unused(&other)]);
}
