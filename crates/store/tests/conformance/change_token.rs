//! The change token of a project, the progress of its setup, and the health of all projects.

use std::time::Duration;

use domain::{
    access::Role,
    audit::{Actor, Deed},
    delivery::{Attempt, AttemptOutcome, Delivery, Jitter},
    id::mint,
    payment::State,
    project::{Environment, Project},
    receipt::Unapplied,
    refund::{Party, PendingReason, RefundState, transfer::AttemptState},
};
use store::{
    Change, KeyWrite, LinkWrite, NodeId, PaymentWrite, ProjectHealth, ProjectWrite, SetupProgress, Store, WebhookWrite,
    Window, Write,
};

use crate::{
    bank_samples::kept_account,
    database::{Database, keep, on_every_database},
    refund_attempts::{attempt, noted, sent},
    refund_samples::{begun, paid, step},
    samples::{
        self, AMOUNT, EVERYTHING, NOW, after, entropy, kept_key, kept_link, kept_member, kept_payment, kept_project,
    },
};

on_every_database![
    the_change_token_changes_with_what_is_shown_and_with_nothing_else,
    the_change_token_changes_with_each_step_of_a_refund,
    the_steps_of_the_setup_are_seen_once_they_are_done,
    every_projects_health_is_its_own,
    projects_that_wait_for_an_approval_are_listed_first_page_by_page,
];

/// An attempt that was answered with `status`.
fn attempted(delivery: Delivery, status: u16) -> Change {
    let outcome = AttemptOutcome::of_answer(Duration::from_millis(12), status, String::new());
    let attempt = Attempt { at: after(5), outcome };
    let delivery = delivery.attempted(&attempt.outcome, after(10), Jitter::NONE);
    WebhookWrite::Attempted { leased_until: NOW, leased_by: None, delivery, attempt }.into()
}

/// One change of everything that pages show.
async fn shown(store: &Store, project: &Project) -> Vec<(&'static str, Change)> {
    let project_id = project.id;
    let payment = kept_payment(store, samples::payment(project)).await;
    let paid = kept_payment(store, samples::payment(project)).await;
    let link = kept_link(store, project, false).await;
    let (key, owed) = (kept_key(store, project, "key").await, samples::kept_delivery(store, project).await);
    let new_key = samples::key(project, "new");
    let line = samples::audit_line(Actor::CommandLine, Some(project), Deed::MemberJoined);
    vec![
        ("a payment", PaymentWrite::Created { payment: samples::payment(project) }.into()),
        ("a link", LinkWrite::Created { link: samples::link(project) }.into()),
        ("a link cancelled", LinkWrite::Cancelled { id: link.id, at: NOW }.into()),
        ("a state", samples::moved_to(&payment, State::Processing).into()),
        ("a payment paid", samples::confirmation(&paid, None, "paid")),
        ("money settled", samples::settlement(&paid, after(100_000))),
        ("an event", WebhookWrite::Event(samples::event(project)).into()),
        ("an attempt", attempted(owed, 500)),
        ("a view", PaymentWrite::Viewed { payment_id: payment.id, project_id, at: NOW }.into()),
        ("a key", KeyWrite::Created { hash: samples::key_hash(&new_key), key: new_key }.into()),
        ("a key revoked", samples::revocation(&key, NOW)),
        ("money held", samples::surplus(&paid, "more", AMOUNT, Unapplied::AlreadyPaid)),
        ("money decided about", samples::giving_back(&paid, "more", AMOUNT, after(30))),
        ("a setting", ProjectWrite::Changed { project: project.clone() }.into()),
        ("a line of the log", Write::Audit(line).into()),
        (
            "an event sent again",
            WebhookWrite::Resent { event_id: owed.event_id, project_id, urgent: true, at: NOW }.into(),
        ),
    ]
}

async fn the_change_token_changes_with_what_is_shown_and_with_nothing_else(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let changes = shown(&store, &project).await;
    let mut token = store.change_token(project.id).await.unwrap();
    for (what, change) in changes {
        keep(&store, change).await;
        let next = store.change_token(project.id).await.unwrap();
        assert_ne!(next, token, "{what}");
        assert_eq!(store.change_token(project.id).await.unwrap(), next, "{what}");
        token = next;
    }
    // Changes of another project, and changes that no page shows.
    kept_payment(&store, samples::payment(&other)).await;
    let owed = samples::kept_delivery(&store, &other).await;
    let leased_by = Some(NodeId::drawn(7));
    keep(&store, WebhookWrite::DeliveryMoved { event_id: owed.event_id, from: NOW, to: after(9), leased_by }).await;
    samples::maintain(&store, after(9_000_000)).await;
    assert_eq!(store.change_token(project.id).await.unwrap(), token);
}

/// Of what these steps change, nothing else is part of the token: no payment, no posting, no event.
async fn the_change_token_changes_with_each_step_of_a_refund(database: Database) {
    let store = database.open().await;
    let (account, project) = (kept_account(&store).await, kept_project(&store).await);
    let payment = paid(&store, &project).await;
    let awaiting = RefundState::Pending(PendingReason::AwaitingApproval);
    let refund = begun(&store, &project, payment.id, 100, awaiting).await;
    let mut token = store.change_token(project.id).await.unwrap();
    let mut changed = async |what: &str, change: Change| {
        keep(&store, change).await;
        let next = store.change_token(project.id).await.unwrap();
        assert_ne!(next, token, "{what}");
        token = next;
    };
    let approved = step(&store, &refund, |refund, _| refund.approve(Party::CommandLine, true, after(150))).await;
    changed("approved", approved).await;
    let refund = store.refund(refund.id).await.unwrap().unwrap();
    let first = attempt(&account, &refund, 1);
    changed("sent", sent(first.clone(), &refund).into()).await;
    changed("unknown", noted(&first, AttemptState::Unknown).into()).await;
}

async fn the_steps_of_the_setup_are_seen_once_they_are_done(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let payment = kept_payment(&store, samples::payment(&project)).await;
    let owed = samples::kept_delivery(&store, &project).await;
    let key = samples::key(&project, "key");
    let nothing = SetupProgress::default();
    let steps: [(Change, SetupProgress); 6] = [
        (KeyWrite::Created { hash: samples::key_hash(&key), key }.into(), SetupProgress { key: true, ..nothing }),
        (LinkWrite::Created { link: samples::link(&project) }.into(), SetupProgress { link: true, ..nothing }),
        // Unapplied money is not a payment, and a failed attempt is not a delivery.
        (samples::surplus(&payment, "held", AMOUNT, Unapplied::TooLate), nothing),
        (samples::confirmation(&payment, None, "paid"), SetupProgress { paid: true, ..nothing }),
        (attempted(samples::kept_delivery(&store, &project).await, 500), nothing),
        (attempted(owed, 200), SetupProgress { delivered: true, ..nothing }),
    ];
    let mut done = nothing;
    for (change, new) in steps {
        assert_eq!(store.setup_progress(project.id).await.unwrap(), done);
        keep(&store, change).await;
        done = SetupProgress {
            key: done.key | new.key,
            link: done.link | new.link,
            paid: done.paid | new.paid,
            delivered: done.delivered | new.delivered,
        };
        assert_eq!(store.setup_progress(project.id).await.unwrap(), done);
    }
    assert_eq!(store.setup_progress(other.id).await.unwrap(), nothing);
    // A payment whose fee takes the whole amount counts as paid too.
    let eaten = kept_payment(&store, samples::with_terms(samples::payment(&other), |terms| terms.fee = AMOUNT)).await;
    keep(&store, samples::confirmation(&eaten, None, "eaten")).await;
    assert_eq!(store.setup_progress(other.id).await.unwrap(), SetupProgress { paid: true, ..nothing });
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
    assert_eq!(store.project_health(project.id).await.unwrap(), Some(unused(&project)));
    kept_member(&store, &project, Role::Owner).await;
    kept_member(&store, &project, Role::Viewer).await;
    let payment = kept_payment(&store, samples::payment(&project)).await;
    keep(&store, samples::surplus(&payment, "held", AMOUNT, Unapplied::TooLate)).await;
    keep(&store, samples::surplus(&payment, "returned", AMOUNT, Unapplied::TooLate)).await;
    keep(&store, samples::giving_back(&payment, "returned", AMOUNT, after(20))).await;
    keep(&store, attempted(samples::kept_delivery(&store, &project).await, 500)).await;
    let expected =
        ProjectHealth { members: 2, undecided: 1, failing: 1, last_payment_at: Some(NOW), ..unused(&project) };
    assert_eq!(store.project_health(project.id).await.unwrap(), Some(expected.clone()));
    assert_eq!(store.project_health(other.id).await.unwrap(), Some(unused(&other)));
    assert_eq!(store.project_health(mint(NOW, entropy())).await.unwrap(), None);
    let listed = store.project_healths(false, EVERYTHING).await.unwrap();
    let mut newest_first = [expected, unused(&other)];
    newest_first.sort_by_key(|health| std::cmp::Reverse(health.project.id.to_string()));
    assert_eq!((listed.items, listed.total), (newest_first.to_vec(), 2));
}

async fn projects_that_wait_for_an_approval_are_listed_first_page_by_page(database: Database) {
    let store = database.open().await;
    let mut ids = Vec::new();
    for n in 0..7 {
        let (environment, approved) = match n {
            1 | 3 | 5 => (Environment::Production, n == 5),
            _ => (Environment::Sandbox, true),
        };
        let project = Project { id: mint(after(n), entropy()), environment, approved, ..samples::project() };
        keep(&store, ProjectWrite::Created { project: project.clone(), sealed_webhook_secret: vec![1] }).await;
        ids.push(project.id);
    }
    let page = async |only_waiting, offset, limit| {
        let listed = store.project_healths(only_waiting, Window { offset, limit }).await.unwrap();
        (listed.items.iter().map(|health| health.project.id).collect::<Vec<_>>(), listed.total)
    };
    let expected = [3, 1, 6, 5, 4, 2, 0].map(|n| ids[n]);
    for offset in [0, 3, 6, 9] {
        let shown = expected.iter().copied().skip(offset).take(3).collect();
        assert_eq!(page(false, i64::try_from(offset).unwrap(), 3).await, (shown, 7));
    }
    assert_eq!(page(true, 0, 20).await, (expected[..2].to_vec(), 2));
    assert_eq!((store.count_projects(false).await.unwrap(), store.count_projects(true).await.unwrap()), (7, 2));
}
