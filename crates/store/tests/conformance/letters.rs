//! Letters: queued with their cause, sent by one node at a time, and bounded.

use std::time::Duration;

use domain::{
    id::{LetterId, ProjectId, UserId, mint},
    language::Language,
    letter::{LetterKind, SummaryPeriod},
    letter_queue::{Channel, HELD_BACK, LetterState, QueuedLetter, WAITING_FOR_ADDRESS_MOST},
    time::Timestamp,
};
use store::{
    Change, Guard, LetterChoices, LetterFilter, LetterWrite, NewLetter, NodeId, NodeWrite, PeopleWrite, Store, Window,
    Write,
};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{NOW, after, entropy, kept_project, kept_user},
};

on_every_database![
    a_letter_is_read_back_as_it_was_queued,
    a_letter_is_queued_once_for_its_cause_and_not_at_all_where_its_cause_is_rolled_back,
    a_user_gets_the_letters_and_the_language_that_they_have_chosen,
    choices_are_read_back_and_ended_one_by_one,
    security_is_due_first_and_a_project_with_many_letters_holds_up_no_other,
    one_node_has_a_letter_for_as_long_as_it_lives,
    a_node_that_stops_or_that_nobody_knows_leaves_its_letters_to_others,
    what_was_sent_counts_for_its_address_and_its_project,
    what_says_more_than_an_address_waits_for_is_dropped_unless_it_is_about_security,
    a_secret_is_gone_once_its_letter_has_ended_and_such_a_letter_is_not_sent_again,
    a_letter_that_has_ended_is_sent_again_and_forgotten_when_it_is_old,
    an_alert_is_raised_once_until_it_has_ended,
    letters_of_a_project_are_put_off_together_but_for_those_about_security,
    all_letters_to_an_address_are_put_off_together,
    operators_who_can_sign_in_are_found,
];

const NODE: NodeId = NodeId::drawn(7);
const OTHER: NodeId = NodeId::drawn(8);
const ALL: Window = Window { offset: 0, limit: 1_000 };

fn new(kind: LetterKind) -> NewLetter {
    NewLetter {
        id: mint(NOW, entropy()),
        kind,
        channel: Channel::Mail,
        project_id: None,
        user_id: None,
        address: vec![1],
        recipient: "siti".to_owned(),
        language: Language::English,
        content: vec![2],
        cause: None,
        at: NOW,
        expires_at: after(1_000_000),
    }
}

fn to(recipient: &str, letter: NewLetter) -> NewLetter {
    NewLetter { recipient: recipient.to_owned(), ..letter }
}

fn of(project_id: ProjectId, letter: NewLetter) -> NewLetter {
    NewLetter { project_id: Some(project_id), ..letter }
}

async fn queued(store: &Store, letter: NewLetter) -> LetterId {
    let id = letter.id;
    keep(store, LetterWrite::Queued(letter)).await;
    id
}

async fn letter(store: &Store, id: LetterId) -> QueuedLetter {
    store.letter(id).await.unwrap().unwrap()
}

async fn due(store: &Store, at: Timestamp, of_each: usize) -> Vec<LetterId> {
    store.due_letters(at, of_each).await.unwrap().into_iter().map(|letter| letter.id).collect()
}

fn leased(id: LetterId, due_at: Timestamp, node: NodeId) -> LetterWrite {
    LetterWrite::Leased { id, due_at, node }
}

/// Leases a letter and ends it so.
async fn ended(store: &Store, id: LetterId, state: LetterState) {
    let before = letter(store, id).await;
    keep(store, leased(id, before.state.at(), NODE)).await;
    let is_secret = before.kind.grants_access();
    let letter = QueuedLetter { state, attempts: before.attempts + 1, ..before };
    keep(store, LetterWrite::Attempted { letter, node: NODE, is_secret }).await;
}

async fn a_letter_is_read_back_as_it_was_queued(database: Database) {
    let store = database.open().await;
    let (project, user) = (kept_project(&store).await, kept_user(&store).await);
    let written = NewLetter { user_id: Some(user.id), ..of(project.id, new(LetterKind::MoneyHeld)) };
    let id = queued(&store, written).await;
    let expected = QueuedLetter {
        id,
        kind: LetterKind::MoneyHeld,
        channel: Channel::Mail,
        project_id: Some(project.id),
        user_id: Some(user.id),
        recipient: "siti".to_owned(),
        language: Language::English,
        queued_at: NOW,
        expires_at: after(1_000_000),
        attempts: 0,
        state: LetterState::Waiting { due_at: NOW },
        answer: None,
    };
    assert_eq!(letter(&store, id).await, expected);
    let sealed = store.sealed_letter(id).await.unwrap().unwrap();
    assert_eq!((sealed.address, sealed.content), (vec![1], Some(vec![2])));
    let other = queued(&store, new(LetterKind::Test)).await;
    let listed = async |filter: LetterFilter| {
        let listed = store.letters(&filter, ALL).await.unwrap();
        (listed.items.into_iter().map(|letter| letter.id).collect::<Vec<_>>(), listed.total)
    };
    assert_eq!(listed(LetterFilter::default()).await, (vec![other, id], 2));
    let of_project = LetterFilter { project_id: Some(project.id), ..LetterFilter::default() };
    assert_eq!(listed(of_project).await, (vec![id], 1));
    let of_kind = LetterFilter { kind: Some(LetterKind::Test), state: Some("waiting"), ..LetterFilter::default() };
    assert_eq!(listed(of_kind).await, (vec![other], 1));
    assert_eq!(listed(LetterFilter { state: Some("sent"), ..LetterFilter::default() }).await, (vec![], 0));
    let missing: LetterId = mint(NOW, entropy());
    assert_eq!(store.letter(missing).await.unwrap(), None);
}

async fn a_letter_is_queued_once_for_its_cause_and_not_at_all_where_its_cause_is_rolled_back(database: Database) {
    let store = database.open().await;
    let caused = || NewLetter { cause: Some("summary 1".to_owned()), ..new(LetterKind::Summary) };
    let first = queued(&store, caused()).await;
    let second = queued(&store, caused()).await;
    assert!(store.letter(second).await.unwrap().is_none());
    assert_eq!(due(&store, NOW, 9).await, [first]);
    assert!(store.has_letter_for("summary 1").await.unwrap() && !store.has_letter_for("summary 2").await.unwrap());
    let letter = new(LetterKind::Test);
    let id = letter.id;
    let change = Change::from(LetterWrite::Queued(letter)).with(LetterWrite::LeaseHeld { id: first, node: NODE });
    assert_eq!(commit(&store, change).await, Outcome::Conflict(Guard::LetterLeased));
    assert!(store.letter(id).await.unwrap().is_none());
}

/// What a user chooses who wants no letters about held money.
fn some_choices(user_id: UserId) -> LetterChoices {
    LetterChoices {
        user_id,
        language: Language::Indonesian,
        summary: Some(SummaryPeriod::Weekly),
        refused: vec![LetterKind::MoneyHeld],
    }
}

async fn a_user_gets_the_letters_and_the_language_that_they_have_chosen(database: Database) {
    let store = database.open().await;
    let (user, other) = (kept_user(&store).await, kept_user(&store).await);
    keep(&store, LetterWrite::Chosen(some_choices(user.id))).await;
    let to_user = |id: UserId, kind| NewLetter { user_id: Some(id), ..new(kind) };
    let refused = queued(&store, to_user(user.id, LetterKind::MoneyHeld)).await;
    assert!(store.letter(refused).await.unwrap().is_none());
    let wanted = queued(&store, to_user(user.id, LetterKind::WebhookFailing)).await;
    assert_eq!(letter(&store, wanted).await.language, Language::Indonesian);
    let others = queued(&store, to_user(other.id, LetterKind::MoneyHeld)).await;
    assert_eq!(letter(&store, others).await.language, Language::English);
}

async fn choices_are_read_back_and_ended_one_by_one(database: Database) {
    let store = database.open().await;
    let user = kept_user(&store).await;
    assert_eq!(store.letter_choices(user.id).await.unwrap(), None);
    let choices = some_choices(user.id);
    for choices in [LetterChoices { refused: vec![LetterKind::BankDown], ..choices.clone() }, choices.clone()] {
        keep(&store, LetterWrite::Chosen(choices.clone())).await;
        assert_eq!(store.letter_choices(user.id).await.unwrap(), Some(choices));
    }
    assert_eq!(store.summary_choices().await.unwrap().len(), 1);
    keep(&store, LetterWrite::SummaryStopped { user_id: user.id }).await;
    for _ in 0..2 {
        keep(&store, LetterWrite::KindRefused { user_id: user.id, kind: LetterKind::WebhookFailing }).await;
    }
    assert_eq!(store.summary_choices().await.unwrap(), []);
    let refused = vec![LetterKind::MoneyHeld, LetterKind::WebhookFailing];
    let expected = LetterChoices { summary: None, refused, ..choices };
    assert_eq!(store.letter_choices(user.id).await.unwrap(), Some(expected));
}

async fn security_is_due_first_and_a_project_with_many_letters_holds_up_no_other(database: Database) {
    let store = database.open().await;
    let (busy, quiet) = (kept_project(&store).await, kept_project(&store).await);
    let mut many = Vec::new();
    for number in 0..30 {
        let letter = NewLetter { at: after(number), ..of(busy.id, new(LetterKind::Receipt)) };
        many.push(queued(&store, to(&number.to_string(), letter)).await);
    }
    let quiet = queued(&store, NewLetter { at: after(40), ..of(quiet.id, new(LetterKind::Receipt)) }).await;
    let none = queued(&store, NewLetter { at: after(41), ..new(LetterKind::Invitation) }).await;
    let urgent = queued(&store, NewLetter { at: after(42), ..new(LetterKind::NewDevice) }).await;
    let later = queued(&store, NewLetter { at: after(99), ..new(LetterKind::NewDevice) }).await;
    assert_eq!(due(&store, after(50), 3).await, [&[urgent][..], &many[..3], &[quiet, none]].concat());
    assert_eq!(due(&store, after(99), 1).await, [urgent, many[0], quiet, none]);
    assert_eq!(due(&store, after(99), 2).await[..2], [urgent, later]);
    assert_eq!(due(&store, NOW.minus(Duration::from_secs(1)), 9).await, []);
}

/// A letter that this node has, which lives as another does.
async fn of_node(store: &Store) -> LetterId {
    for node in [NODE, OTHER] {
        keep(store, NodeWrite::Beat { node }).await;
    }
    let id = queued(store, new(LetterKind::Test)).await;
    keep(store, leased(id, NOW, NODE)).await;
    id
}

async fn one_node_has_a_letter_for_as_long_as_it_lives(database: Database) {
    let store = database.open().await;
    let id = of_node(&store).await;
    let taken = commit(&store, leased(id, NOW, OTHER)).await;
    assert_eq!(taken, Outcome::Conflict(Guard::LetterDue));
    // However late it is, the letter is the node's.
    assert_eq!(due(&store, after(i64::from(u32::MAX)), 9).await, []);
    keep(&store, LetterWrite::OrphansReleased).await;
    keep(&store, LetterWrite::LeaseHeld { id, node: NODE }).await;
    let not_held = commit(&store, LetterWrite::LeaseHeld { id, node: OTHER }).await;
    assert_eq!(not_held, Outcome::Conflict(Guard::LetterLeased));
    keep(&store, NodeWrite::Gone { node: NODE, beat: 1, at: NOW }).await;
    assert_eq!(due(&store, NOW, 9).await, [id]);
    keep(&store, leased(id, NOW, OTHER)).await;
    let sent = QueuedLetter { state: LetterState::Sent { at: NOW }, ..letter(&store, id).await };
    let late = LetterWrite::Attempted { letter: sent.clone(), node: NODE, is_secret: false };
    assert_eq!(commit(&store, late).await, Outcome::Conflict(Guard::LetterLeased), "its word counts no more");
    keep(&store, LetterWrite::Attempted { letter: sent.clone(), node: OTHER, is_secret: false }).await;
    assert_eq!((letter(&store, id).await, due(&store, NOW, 9).await), (sent, vec![]));
}

async fn a_node_that_stops_or_that_nobody_knows_leaves_its_letters_to_others(database: Database) {
    let store = database.open().await;
    let id = of_node(&store).await;
    for given_back in [
        LetterWrite::AllReleased { node: NODE, channel: Channel::Mail }.into(),
        Write::from(NodeWrite::Left { node: NODE, at: NOW }),
        NodeWrite::OrphansReleased { at: NOW }.into(),
        LetterWrite::OrphansReleased.into(),
    ] {
        assert_eq!(due(&store, NOW, 9).await, []);
        keep(&store, given_back).await;
        assert_eq!(due(&store, NOW, 9).await, [id]);
        keep(&store, leased(id, NOW, NODE)).await;
    }
}

async fn what_was_sent_counts_for_its_address_and_its_project(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (at, since) = (after(100), after(99));
    for kind in [LetterKind::Receipt, LetterKind::Receipt, LetterKind::NewDevice] {
        let id = queued(&store, of(project.id, new(kind))).await;
        ended(&store, id, LetterState::Sent { at }).await;
    }
    let refused = queued(&store, of(project.id, new(LetterKind::Receipt))).await;
    ended(&store, refused, LetterState::GivenUp { at }).await;
    assert_eq!(store.letters_sent_to("siti", since, 9).await.unwrap(), 3);
    assert_eq!(store.letters_sent_to("siti", since, 2).await.unwrap(), 2);
    assert_eq!(store.letters_sent_to("siti", at, 9).await.unwrap(), 0);
    assert_eq!(store.letters_sent_to("budi", since, 9).await.unwrap(), 0);
    assert_eq!(store.letters_sent_of(project.id, since, 9).await.unwrap(), 2, "letters about security do not count");
    let counts = store.letter_counts(since).await.unwrap();
    assert_eq!((counts.waiting, counts.given_up, counts.dropped, counts.due_since), (0, 1, 0, None));
    queued(&store, new(LetterKind::Test)).await;
    let counts = store.letter_counts(at).await.unwrap();
    assert_eq!((counts.waiting, counts.given_up, counts.due_since), (1, 0, Some(NOW)));
}

async fn what_says_more_than_an_address_waits_for_is_dropped_unless_it_is_about_security(database: Database) {
    let store = database.open().await;
    for _ in 0..WAITING_FOR_ADDRESS_MOST {
        queued(&store, new(LetterKind::Receipt)).await;
    }
    let state = async |letter: NewLetter| letter_state(&store, letter).await;
    assert_eq!(state(new(LetterKind::Receipt)).await, LetterState::Dropped { at: NOW });
    assert_eq!(state(new(LetterKind::PasswordChanged)).await, LetterState::Waiting { due_at: NOW });
    // Everybody causes one of these by signing in.
    assert_eq!(state(new(LetterKind::NewDevice)).await, LetterState::Dropped { at: NOW });
    assert_eq!(state(to("budi", new(LetterKind::Receipt))).await, LetterState::Waiting { due_at: NOW });
}

async fn letter_state(store: &Store, new: NewLetter) -> LetterState {
    let id = queued(store, new).await;
    letter(store, id).await.state
}

async fn a_secret_is_gone_once_its_letter_has_ended_and_such_a_letter_is_not_sent_again(database: Database) {
    let store = database.open().await;
    let id = queued(&store, new(LetterKind::Invitation)).await;
    let has_content = async || store.sealed_letter(id).await.unwrap().unwrap().content.is_some();
    ended(&store, id, LetterState::Waiting { due_at: after(60) }).await;
    assert!(has_content().await, "it waits");
    ended(&store, id, LetterState::Sent { at: after(61) }).await;
    assert!(!has_content().await);
    let again = LetterWrite::SentAgain { id, at: after(62), expires_at: after(99) };
    assert_eq!(commit(&store, again).await, Outcome::Conflict(Guard::LetterEnded));
}

async fn a_letter_that_has_ended_is_sent_again_and_forgotten_when_it_is_old(database: Database) {
    let store = database.open().await;
    let id = queued(&store, new(LetterKind::Test)).await;
    let again = || LetterWrite::SentAgain { id, at: after(62), expires_at: after(99) };
    assert_eq!(commit(&store, again()).await, Outcome::Conflict(Guard::LetterEnded), "it waits");
    ended(&store, id, LetterState::GivenUp { at: after(61) }).await;
    keep(&store, again()).await;
    let letter = letter(&store, id).await;
    assert_eq!((letter.state, letter.attempts), (LetterState::Waiting { due_at: after(62) }, 0));
    assert_eq!(letter.expires_at, after(99));
    ended(&store, id, LetterState::Sent { at: after(70) }).await;
    let forgotten = |before| LetterWrite::Forgotten { before, most: 9 };
    keep(&store, forgotten(after(70))).await;
    assert!(store.letter(id).await.unwrap().is_some());
    keep(&store, forgotten(after(71))).await;
    assert!(store.letter(id).await.unwrap().is_none());
    let waiting = queued(&store, new(LetterKind::Test)).await;
    keep(&store, forgotten(after(i64::from(u32::MAX)))).await;
    assert!(store.letter(waiting).await.unwrap().is_some(), "what waits is not forgotten");
}

async fn an_alert_is_raised_once_until_it_has_ended(database: Database) {
    let store = database.open().await;
    let raised = || LetterWrite::AlertRaised { subject: "bank 1".to_owned(), at: NOW };
    keep(&store, raised()).await;
    assert_eq!(commit(&store, raised()).await, Outcome::Conflict(Guard::AlertNew));
    assert_eq!(store.letter_alerts("bank ").await.unwrap(), ["bank 1"]);
    assert_eq!(store.letter_alerts("webhooks ").await.unwrap(), [""; 0]);
    keep(&store, LetterWrite::AlertEnded { subject: "bank 1".to_owned() }).await;
    keep(&store, raised()).await;
}

async fn letters_of_a_project_are_put_off_together_but_for_those_about_security(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let receipt = queued(&store, of(project.id, new(LetterKind::Receipt))).await;
    let urgent = queued(&store, of(project.id, new(LetterKind::FactorChanged))).await;
    let others = queued(&store, of(other.id, new(LetterKind::Receipt))).await;
    keep(&store, LetterWrite::ProjectPutOff { project_id: project.id, until: after(500) }).await;
    assert_eq!(due(&store, after(499), 9).await, [urgent, others]);
    assert_eq!(letter(&store, receipt).await.answer.as_deref(), Some(HELD_BACK));
    assert!(!store.sends_receipts(project.id).await.unwrap());
    for (are_on, expected) in [(true, true), (true, true), (false, false)] {
        keep(&store, LetterWrite::ReceiptsSwitched { project_id: project.id, are_on }).await;
        assert_eq!(store.sends_receipts(project.id).await.unwrap(), expected);
    }
}

async fn all_letters_to_an_address_are_put_off_together(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let urgent = queued(&store, new(LetterKind::NewDevice)).await;
    let receipt = queued(&store, of(project.id, new(LetterKind::Receipt))).await;
    let others = queued(&store, to("budi", new(LetterKind::NewDevice))).await;
    keep(&store, LetterWrite::RecipientPutOff { recipient: "siti".to_owned(), until: after(500) }).await;
    assert_eq!(due(&store, after(499), 9).await, [others]);
    for id in [urgent, receipt] {
        assert_eq!(letter(&store, id).await.state, LetterState::Waiting { due_at: after(500) });
    }
}

async fn operators_who_can_sign_in_are_found(database: Database) {
    let store = database.open().await;
    let (first, second, member) = (kept_user(&store).await, kept_user(&store).await, kept_user(&store).await);
    for user in [&first, &second] {
        keep(&store, PeopleWrite::OperatorSet { user_id: user.id, is_operator: true }).await;
    }
    keep(&store, PeopleWrite::UserDeactivated { user_id: second.id, by: None, at: NOW }).await;
    let found: Vec<_> = store.operators().await.unwrap().into_iter().map(|user| user.id).collect();
    assert_eq!(found, [first.id]);
    assert!(!found.contains(&member.id));
}
