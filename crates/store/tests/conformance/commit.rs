//! A change is committed as a whole or not at all, and in either case other changes at the same time are not disturbed.

mod banks;
mod factors;
mod links;
mod people;
mod refunds;
mod users;

use std::time::Duration;

use domain::{
    access::Role,
    api_key::ApiKey,
    delivery::Delivery,
    event::Event,
    id::{ProjectId, mint},
    language::Language,
    ledger::Posting,
    link::Link,
    money::Rupiah,
    payment::{Payment, State},
    project::Project,
    receipt::Unapplied,
    time::Timestamp,
    user::{Invite, Session, User},
};
use futures_util::future::join_all;
use store::{
    Change, FactorWrite, Guard, KeyWrite, LedgerWrite, LinkWrite, NodeId, NodeWrite, Noted, NoticeTarget, NoticeWrite,
    PaymentWrite, PeopleWrite, ProjectWrite, SealedColumn, SessionWrite, Store, WebhookWrite, Write,
};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    factors::factor,
    samples::{self, AMOUNT, NOW, after, entropy, kept_key, kept_link, kept_payment, kept_project},
};
use banks::{BankWorld, bank_world, refused_to_banks};
use links::refused_edits;
use people::refused_to_people;
use refunds::{RefundWorld, refund_world, refused_to_refunds};

on_every_database![
    a_plan_whose_guard_fails_leaves_nothing_behind,
    a_change_that_breaks_a_constraint_leaves_nothing_behind,
    a_value_of_the_installation_is_set_once,
    each_kind_of_report_is_noted_once_under_its_key,
    a_change_of_nothing_is_kept,
];

const EVERY_GUARD: [Guard; 57] = [
    Guard::IdempotencyKey,
    Guard::AccountNumber,
    Guard::PaymentVersion,
    Guard::LinkActive,
    Guard::LinkEditable,
    Guard::LinkUnclaimed,
    Guard::LinkOpen,
    Guard::Receipt,
    Guard::ProjectVersion,
    Guard::KeyName,
    Guard::KeyNotRevoked,
    Guard::KeysRevoked,
    Guard::Unsettled,
    Guard::InstallationUnset,
    Guard::DeliveryDue,
    Guard::DeliveryAttempts,
    Guard::NodeSilent,
    Guard::AnyExpired,
    Guard::EmailFree,
    Guard::NotMember,
    Guard::OwnerRemains,
    Guard::RoleHeld,
    Guard::OperatorHeld,
    Guard::UserActive,
    Guard::UserInactive,
    Guard::UserPresent,
    Guard::KeyNotReplaced,
    Guard::AuditChain,
    Guard::FormUnused,
    Guard::SessionLive,
    Guard::InviteOpen,
    Guard::ResetRequested,
    Guard::ResetOpen,
    Guard::SignInAllowed,
    Guard::ReceiptUndecided,
    Guard::FactorShown,
    Guard::FactorPresent,
    Guard::FactorCode,
    Guard::SealedValue,
    Guard::NoticeTarget,
    Guard::BankAccountVersion,
    Guard::BankRequest,
    Guard::StrayUndecided,
    Guard::OpeningVersion,
    Guard::JobDue,
    Guard::ExternalId,
    Guard::Serials,
    Guard::DifferenceOpen,
    Guard::Comparing,
    Guard::RefundVersion,
    Guard::RefundCovered,
    Guard::RefundReference,
    Guard::ClaimOpen,
    Guard::TransferAttempt,
    Guard::RefundAlone,
    Guard::RefundBatch,
    Guard::ReceiptReturning,
];

/// Rows of every kind, so that every guard can fail.
struct World {
    project: Project,
    live_key: ApiKey,
    revoked_key: ApiKey,
    cancelled_link: Link,
    waiting: Payment,
    settled: Payment,
    /// Updated by the changes that must fail, so that an update has to be rolled back too.
    bystander: Payment,
    owed: Delivery,
    owner: User,
    viewer: User,
    /// Used by the owner.
    invite: Invite,
    late_invite: Invite,
    session: Session,
    banks: BankWorld,
    refunds: RefundWorld,
}

async fn world(store: &Store) -> World {
    let project = kept_project(store).await;
    let waiting = kept_payment(store, samples::account_payment(&project, "1100000001")).await;
    let world = World {
        banks: bank_world(store, &project, &waiting).await,
        refunds: refund_world(store).await,
        live_key: kept_key(store, &project, "live").await,
        revoked_key: kept_key(store, &project, "revoked").await,
        cancelled_link: kept_link(store, &project, false).await,
        waiting,
        settled: kept_payment(store, samples::payment(&project)).await,
        bystander: kept_payment(store, samples::payment(&project)).await,
        owed: samples::kept_delivery(store, &project).await,
        owner: samples::kept_member(store, &project, Role::Owner).await,
        viewer: samples::kept_member(store, &project, Role::Viewer).await,
        invite: samples::kept_invite(store, &project, NOW).await,
        late_invite: samples::kept_invite(store, &project, NOW).await,
        session: samples::kept_session(store, &samples::kept_user(store).await, NOW).await,
        project,
    };
    let origins = vec!["https://one.example".to_owned()];
    let cancelled = LinkWrite::Cancelled { id: world.cancelled_link.id, at: NOW };
    for change in [
        samples::revocation(&world.revoked_key, NOW),
        cancelled.into(),
        LinkWrite::Claimed { id: world.cancelled_link.id, payment_id: world.settled.id }.into(),
        samples::confirmation(&world.settled, None, "taken"),
        samples::settlement(&world.settled, after(60_010)),
        samples::bind(&world.project, "used", world.waiting.id).into(),
        Write::Installation { name: "kind", value: "development".to_owned() }.into(),
        ProjectWrite::AllowedOrigins { project_id: world.project.id, origins }.into(),
    ] {
        keep(store, change).await;
    }
    what_people_did(store, &world).await;
    world
}

async fn what_people_did(store: &Store, world: &World) {
    keep(store, PeopleWrite::InviteUsed { id: world.invite.id, user_id: world.owner.id, at: NOW }).await;
    for _ in 0..5 {
        keep(store, tried(NOW)).await;
    }
    keep(store, form_sent(world)).await;
    keep(store, factor(world.owner.id)).await;
    keep(store, FactorWrite::RecoveryCodeUsed { user_id: world.owner.id, hash: [1; 32], at: NOW }).await;
    let key = ApiKey { created_by: Some(world.viewer.id), ..samples::key(&world.project, "the viewer's") };
    keep(store, KeyWrite::Created { hash: samples::key_hash(&key), key }).await;
    for receipt in ["held", "decided"] {
        keep(store, samples::surplus(&world.settled, receipt, AMOUNT, Unapplied::AlreadyPaid)).await;
    }
    keep(store, samples::giving_back(&world.settled, "decided", AMOUNT, after(20))).await;
}

fn tried(at: Timestamp) -> SessionWrite {
    SessionWrite::Tried { subject: "somebody".to_owned(), at, longest: Duration::from_mins(15) }
}

fn form_sent(world: &World) -> SessionWrite {
    let (form, resource) = ("form".to_owned(), "resource".to_owned());
    SessionWrite::FormSent { user_id: world.owner.id, form, resource, at: NOW }
}

fn writes<W: Into<Write>>(writes: impl IntoIterator<Item = W>) -> Vec<Write> {
    writes.into_iter().map(Into::into).collect()
}

/// Writes whose `guard` does not hold.
fn refused_by(guard: Guard, world: &World) -> Vec<Write> {
    let World { project, waiting, .. } = world;
    match guard {
        Guard::IdempotencyKey => writes([samples::bind(project, "used", "another")]),
        Guard::AccountNumber => {
            writes([PaymentWrite::Created { payment: samples::account_payment(project, &waiting.code) }])
        }
        Guard::PaymentVersion => {
            let stale = Payment { version: 0, ..waiting.clone() };
            let missing = samples::payment(project);
            writes([samples::moved_to(&stale, State::Processing), samples::moved_to(&missing, State::Processing)])
        }
        Guard::LinkActive => {
            writes([world.cancelled_link.id, mint(NOW, entropy())].map(|id| LinkWrite::Cancelled { id, at: NOW }))
        }
        Guard::LinkEditable => writes(refused_edits(&world.cancelled_link)),
        Guard::LinkUnclaimed => writes([LinkWrite::Claimed { id: world.cancelled_link.id, payment_id: waiting.id }]),
        Guard::LinkOpen => {
            writes([LinkWrite::Attempted { id: world.cancelled_link.id, at: NOW, bounds: samples::WIDE }])
        }
        Guard::Receipt => writes([samples::note(
            waiting,
            "taken",
            Noted::Money { amount: waiting.terms.amount, paid_at: NOW, held: None },
        )]),
        Guard::ProjectVersion => writes([ProjectWrite::Changed { project: Project { version: 0, ..project.clone() } }]),
        Guard::KeyName => {
            let key = samples::key(project, &world.live_key.name);
            writes([KeyWrite::Created { hash: samples::key_hash(&key), key }])
        }
        Guard::KeyNotRevoked => {
            let (id, other) = (world.revoked_key.id, mint(NOW, entropy()));
            writes([
                KeyWrite::Revoked { id, project_id: project.id, at: NOW },
                KeyWrite::Revoked { id: world.live_key.id, project_id: other, at: NOW },
            ])
        }
        Guard::Unsettled => writes([
            PaymentWrite::Settled { payment_id: world.settled.id, version: world.settled.version },
            PaymentWrite::Settled { payment_id: waiting.id, version: waiting.version },
        ]),
        Guard::AnyExpired => writes([PaymentWrite::PendingExpired { now: Timestamp::from_millis(0), most: 10 }]),
        Guard::InstallationUnset => writes([Write::Installation { name: "kind", value: "other".to_owned() }]),
        Guard::DeliveryDue | Guard::DeliveryAttempts | Guard::NodeSilent => refused_to_senders(guard, world),
        Guard::SealedValue => {
            let resealed = |column, row: String, from| Write::Resealed { column, row, from, to: vec![9] };
            let stranger: ProjectId = mint(NOW, entropy());
            vec![
                resealed(SealedColumn::WebhookSecret, project.id.to_string(), vec![1, 2]),
                resealed(SealedColumn::WebhookSecret, stranger.to_string(), vec![1, 2, 3]),
                resealed(SealedColumn::PreviousWebhookSecret, project.id.to_string(), vec![1, 2, 3]),
            ]
        }
        Guard::NoticeTarget => refused_to_notices(project.id),
        other => refused_to_people(other, world),
    }
}

/// The project has no URL for notices.
fn refused_to_notices(project_id: ProjectId) -> Vec<Write> {
    let target = NoticeTarget { project_id, language: Language::English, sends_receipts: true, summary: None };
    writes([
        NoticeWrite::TargetChanged { target, sealed_url: vec![1] },
        NoticeWrite::TargetRemoved { project_id },
        NoticeWrite::SecretRotated { project_id, replaced: vec![1], previous: vec![2], sealed: vec![3], at: NOW },
    ])
}

fn refused_to_senders(guard: Guard, world: &World) -> Vec<Write> {
    match guard {
        Guard::DeliveryDue => {
            let event_id = world.owed.event_id;
            writes([
                WebhookWrite::DeliveryMoved { event_id, from: after(1), to: after(2), leased_by: None },
                WebhookWrite::DeliveryMoved {
                    event_id: mint(NOW, entropy()),
                    from: NOW,
                    to: after(2),
                    leased_by: None,
                },
            ])
        }
        Guard::DeliveryAttempts => {
            let attempt = samples::attempt_refused;
            let attempted = |delivery| {
                let leased_by = None;
                WebhookWrite::Attempted { leased_until: NOW, leased_by, delivery, attempt: attempt() }
            };
            let node = Some(NodeId::drawn(7));
            let next = Delivery { attempts: 1, ..world.owed };
            writes([
                attempted(Delivery { attempts: 2, ..next }),
                attempted(Delivery { resent_after: 1, ..next }),
                attempted(Delivery { event_id: mint(NOW, entropy()), ..next }),
                WebhookWrite::Attempted { leased_until: after(1), leased_by: None, delivery: next, attempt: attempt() },
                WebhookWrite::Attempted { leased_until: NOW, leased_by: node, delivery: next, attempt: attempt() },
            ])
        }
        Guard::NodeSilent => writes([NodeWrite::Gone { node: NodeId::drawn(7), beat: 1, at: NOW }]),
        other => refused_to_people(other, world),
    }
}

/// `write` with an insert, a delete and an update before it and more inserts after it.
fn surrounded(world: &World, write: impl Into<Write>) -> Change {
    let World { project, bystander, .. } = world;
    Change::from(WebhookWrite::Event(samples::event(project)))
        .with(ProjectWrite::AllowedOrigins { project_id: project.id, origins: vec!["https://two.example".to_owned()] })
        .with(samples::moved_to(bystander, State::Processing))
        .with(write)
        .with(LinkWrite::Created { link: samples::link(project) })
        .with(WebhookWrite::Event(samples::event(project)))
}

/// Commits a write that must fail by itself, among other writes, and among other changes. Checks that nothing of it is
/// stored, and everything of the other changes is.
async fn check_refused(
    database: &Database,
    store: &Store,
    world: &World,
    refused: impl Fn() -> Write,
    expected: Outcome,
) {
    let before = database.rows();
    assert_eq!(commit(store, refused()).await, expected);
    assert_eq!(commit(store, surrounded(world, refused())).await, expected);
    assert_eq!(database.rows(), before, "{expected:?}");

    const NEIGHBOURS: usize = 24;
    let events: Vec<Event> = (0..NEIGHBOURS).map(|_| samples::event(&world.project)).collect();
    // The writer handles changes of one statement and of several differently.
    let together = |events: &[Event]| Change::default().with_all(events.iter().cloned().map(WebhookWrite::Event));
    let mut changes: Vec<Change> =
        events.chunks(3).flat_map(|three| [together(&three[..1]), together(&three[1..])]).collect();
    let middle = changes.len() / 2;
    changes.insert(middle, surrounded(world, refused()));
    let outcomes = join_all(changes.into_iter().map(|change| commit(store, change))).await;
    for (index, outcome) in outcomes.into_iter().enumerate() {
        assert_eq!(outcome, if index == middle { expected } else { Outcome::Kept }, "{expected:?}");
    }
    for event in &events {
        assert_eq!(store.event(world.project.id, event.id).await.unwrap().as_ref(), Some(event));
    }
    let ids: Vec<String> = events.iter().map(|event| event.id.to_string()).collect();
    let is_neighbour = |row: &String| ids.iter().any(|id| row.contains(id));
    let others: Vec<String> = database.rows().into_iter().filter(|row| !is_neighbour(row)).collect();
    assert_eq!(others, before, "{expected:?}");
}

async fn a_plan_whose_guard_fails_leaves_nothing_behind(database: Database) {
    let store = database.open().await;
    let world = world(&store).await;
    for guard in EVERY_GUARD {
        let refused_by = || -> Vec<Write> {
            refused_by(guard, &world)
                .into_iter()
                .chain(refused_to_banks(guard, &world.banks))
                .chain(refused_to_refunds(guard, &world.refunds))
                .collect()
        };
        assert!(!refused_by().is_empty(), "nothing is refused by {guard:?}");
        for index in 0..refused_by().len() {
            let refused = || refused_by().swap_remove(index);
            check_refused(&database, &store, &world, refused, Outcome::Conflict(guard)).await;
        }
    }
    // The writes around it were not the reason for the failures.
    assert_eq!(
        commit(&store, surrounded(&world, WebhookWrite::Event(samples::event(&world.project)))).await,
        Outcome::Kept
    );
}

async fn a_change_that_breaks_a_constraint_leaves_nothing_behind(database: Database) {
    let store = database.open().await;
    let world = world(&store).await;
    let World { project, settled, waiting, .. } = &world;
    let stranger = samples::project();
    let known = samples::event(project);
    keep(&store, WebhookWrite::Event(known.clone())).await;
    let breaking: [(&str, &dyn Fn() -> Write); 7] = [
        ("a posting twice", &|| {
            LedgerWrite::Posting(Posting::paid(
                project.id,
                settled.id,
                settled.terms.amount,
                settled.terms.fee,
                after(10),
            ))
            .into()
        }),
        ("a posting of no payment", &|| {
            let nothing = samples::payment(project);
            LedgerWrite::Posting(Posting::paid(project.id, nothing.id, nothing.terms.amount, nothing.terms.fee, NOW))
                .into()
        }),
        ("an event twice", &|| WebhookWrite::Event(known.clone()).into()),
        ("a link of no project", &|| LinkWrite::Created { link: samples::link(&stranger) }.into()),
        ("a payment of no project", &|| PaymentWrite::Created { payment: samples::payment(&stranger) }.into()),
        ("a fee above its amount", &|| {
            let fee = waiting.terms.amount + Rupiah::new(1);
            PaymentWrite::Created { payment: samples::with_terms(samples::payment(project), |terms| terms.fee = fee) }
                .into()
        }),
        ("a project twice", &|| {
            ProjectWrite::Created { project: project.clone(), sealed_webhook_secret: Vec::new() }.into()
        }),
    ];
    for (name, refused) in breaking {
        if name == "a payment of no project" && !database.refers_to_projects() {
            continue;
        }
        assert_eq!(commit(&store, refused()).await, Outcome::Unexpected, "{name}");
        check_refused(&database, &store, &world, refused, Outcome::Unexpected).await;
    }
}

async fn a_value_of_the_installation_is_set_once(database: Database) {
    let store = database.open().await;
    assert_eq!(store.installation("kind").await.unwrap(), None);
    let set = |value: &str| Write::Installation { name: "kind", value: value.to_owned() };
    assert_eq!(commit(&store, set("development")).await, Outcome::Kept);
    assert_eq!(commit(&store, set("production")).await, Outcome::Conflict(Guard::InstallationUnset));
    assert_eq!(store.installation("kind").await.unwrap().as_deref(), Some("development"));
}

async fn each_kind_of_report_is_noted_once_under_its_key(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = kept_payment(&store, samples::payment(&project)).await;
    let other = kept_payment(&store, samples::payment(&project)).await;
    let money = || Noted::Money { amount: payment.terms.amount, paid_at: NOW, held: None };
    let rows: [(&str, &dyn Fn() -> Noted); 3] =
        [("progress", &|| Noted::Progress), ("refusal", &|| Noted::Refusal), ("money", &money)];
    let key = samples::receipt_key("one");
    for (kind, noted) in rows {
        assert_eq!(store.payment_of_receipt(&key).await.unwrap(), None, "{kind}");
        assert_eq!(commit(&store, samples::note(&payment, "one", noted())).await, Outcome::Kept, "{kind}");
        assert!(store.noted(&key, payment.id).await.unwrap(), "{kind}");
        assert!(!store.noted(&key, other.id).await.unwrap(), "{kind}");
        let again = commit(&store, samples::note(&payment, "one", noted())).await;
        assert_eq!(again, Outcome::Conflict(Guard::Receipt), "{kind}");
    }
    assert_eq!(store.payment_of_receipt(&key).await.unwrap(), Some(payment.id));
    // A key leads to the money of one payment, and may have notices of many.
    for (kind, noted) in rows {
        let expected = if kind == "money" { Outcome::Conflict(Guard::Receipt) } else { Outcome::Kept };
        assert_eq!(commit(&store, samples::note(&other, "one", noted())).await, expected, "{kind}");
    }
}

async fn a_change_of_nothing_is_kept(database: Database) {
    let store = database.open().await;
    let before = database.rows();
    assert_eq!(commit(&store, Change::default()).await, Outcome::Kept);
    assert_eq!(database.rows(), before);
}
