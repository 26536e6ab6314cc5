//! Bounds: how many letters an address and a project get, and that one project's letters hold up nobody else's.

use std::{sync::Arc, time::Duration};

use domain::{
    access::Role,
    id::{ENTROPY_BYTES, LetterId, ProjectId, mint},
    language::Language,
    letter::LetterKind,
    letter_queue::{
        Channel, HELD_BACK, LetterState, OF_PROJECT_MOST, QueuedLetter, TO_ADDRESS_MOST, WAITING_FOR_ADDRESS_MOST,
    },
    time::HOUR,
    user::{Email, User, UserState},
};
use gateway::SendLimits;
use store::{Change, LetterWrite, NewLetter, NodeId, PeopleWrite, Write};
use testkit::{Kit, Relay, on_every_database};

use crate::support::{
    held::{held, held_late},
    letters::{letters, set_up, states},
    payments::pending_qris,
    people::{Person, make},
    wait::until,
};

on_every_database![
    ten_thousand_letters_of_one_project_hold_up_no_others on 2 threads,
    an_address_gets_so_many_letters_an_hour_and_the_others_wait on 2 threads,
    a_project_sends_so_many_letters_an_hour_and_the_others_wait on 2 threads,
];

/// Everybody who may decide about held money gets a letter about it.
const OWNERS: u8 = 250;
/// So often that no letter to one of them is dropped.
const HELD: u32 = WAITING_FOR_ADDRESS_MOST;

/// What the first round of a server hands to the relay.
const FIRST_ROUND: usize = 8;

/// Makes users owners of a project who never sign in.
async fn with_owners(kit: &Kit, project: ProjectId) {
    let at = kit.engine.now();
    let owner = |number: u8| {
        let email = Email::parse(&format!("pemilik-{number}@example.com")).unwrap();
        let user_id = mint(at, [number; ENTROPY_BYTES]);
        let user = User { id: user_id, email, is_operator: false, state: UserState::Active, created_at: at };
        let password = "nobody has it".to_owned();
        let joined = PeopleWrite::MemberAdded { project_id: project, user_id, role: Role::Owner, at };
        [Write::from(PeopleWrite::UserCreated { user, password }), joined.into()]
    };
    kit.store.commit(Change::default().with_all((0..OWNERS).flat_map(owner))).await.unwrap();
}

async fn ten_thousand_letters_of_one_project_hold_up_no_others(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (busy, quiet) = (kit.sandbox().await, kit.sandbox().await);
    with_owners(&kit, busy.id).await;
    Person::member(&kit, quiet.id, Role::Owner, "tenang@example.com").await;
    set_up(&kit, relay.mailer());
    let payment = pending_qris(&busy, 15_000).await;
    for number in 0..HELD {
        held(&kit, &busy, &payment, &format!("wrong amount {number}"), 10_000).await;
    }
    let counts = kit.engine.letter_counts().await.unwrap();
    assert_eq!((counts.waiting, counts.dropped), (10_000, 0));
    held_late(&kit, &quiet, "late").await;
    let user = make(&kit, "aman@example.com", false).await;
    kit.engine.reset_password(&user, "another long one".into()).await.unwrap();
    kit.deliver(SendLimits::default());
    let taken = relay.has(FIRST_ROUND).await;
    for address in ["tenang@example.com", "aman@example.com"] {
        assert!(taken[..FIRST_ROUND].iter().any(|letter| letter.to == address), "{address}");
    }
}

/// A letter of a project that was sent just now, as far as the bounds can tell.
fn sent(kit: &Kit, project: ProjectId, number: u32) -> [LetterWrite; 3] {
    let at = kit.engine.now();
    let mut entropy = [0; ENTROPY_BYTES];
    entropy[..4].copy_from_slice(&number.to_be_bytes());
    let id: LetterId = mint(at, entropy);
    let (recipient, language, node) = (format!("customer {number}"), Language::Indonesian, NodeId::drawn(7));
    let new = NewLetter {
        id,
        kind: LetterKind::Receipt,
        channel: Channel::Mail,
        project_id: Some(project),
        user_id: None,
        address: vec![1],
        recipient: recipient.clone(),
        language,
        content: vec![1],
        cause: None,
        at,
        expires_at: at.plus(HOUR),
    };
    let letter = QueuedLetter {
        id,
        kind: LetterKind::Receipt,
        channel: Channel::Mail,
        project_id: Some(project),
        user_id: None,
        recipient,
        language,
        queued_at: at,
        expires_at: new.expires_at,
        attempts: 1,
        state: LetterState::Sent { at },
        answer: None,
    };
    [
        LetterWrite::Queued(new),
        LetterWrite::Leased { id, due_at: at, node },
        LetterWrite::Attempted { letter, node, is_secret: false },
    ]
}

async fn a_project_sends_so_many_letters_an_hour_and_the_others_wait(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (busy, quiet) = (kit.sandbox().await, kit.sandbox().await);
    for (project, email) in [(&busy, "ramai@example.com"), (&quiet, "tenang@example.com")] {
        Person::member(&kit, project.id, Role::Owner, email).await;
    }
    set_up(&kit, relay.mailer());
    for number in (0..OF_PROJECT_MOST).step_by(100) {
        let hundred = (number..number + 100).flat_map(|number| sent(&kit, busy.id, number));
        kit.store.commit(Change::default().with_all(hundred)).await.unwrap();
    }
    let payment = pending_qris(&busy, 15_000).await;
    held(&kit, &busy, &payment, "wrong amount", 10_000).await;
    let payment = pending_qris(&quiet, 15_000).await;
    held(&kit, &quiet, &payment, "wrong amount", 10_000).await;
    kit.deliver(SendLimits::default());
    assert_eq!(relay.has(1).await[0].to, "tenang@example.com");
    let is_held_back = async || letters(&kit).await.iter().any(|letter| letter.answer.as_deref() == Some(HELD_BACK));
    until(is_held_back).await;
    assert_eq!(relay.taken().len(), 1);
    kit.clock.advance(HOUR + Duration::from_mins(1));
    assert_eq!(relay.has(2).await[1].to, "ramai@example.com");
}

async fn an_address_gets_so_many_letters_an_hour_and_the_others_wait(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let most = TO_ADDRESS_MOST as usize;
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    set_up(&kit, relay.mailer());
    for number in 0..most + 3 {
        held_late(&kit, &project, &format!("late-{number}")).await;
    }
    kit.deliver(SendLimits::default());
    relay.has(most).await;
    let held_back =
        async || letters(&kit).await.iter().filter(|letter| letter.answer.as_deref() == Some(HELD_BACK)).count();
    until(async || held_back().await == 3).await;
    assert_eq!(relay.taken().len(), most);
    kit.engine.reset_password(&owner.user, "another long one".into()).await.unwrap();
    let taken = relay.has(most + 1).await;
    assert!(taken[most].words().contains("/dashboard/forgot"), "a letter about security is not held back");
    kit.clock.advance(HOUR + Duration::from_mins(1));
    relay.has(most + 4).await;
    until(async || states(&kit).await.iter().all(|state| *state == "sent")).await;
}
