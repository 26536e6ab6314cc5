//! Notices: letters that go to a URL wait in the queue of all letters, and no program that knows mail alone sends them.

use domain::{
    id::{LetterId, mint},
    language::Language,
    letter::{LetterKind, SummaryPeriod},
    letter_queue::{Channel, HELD_BACK, LetterState, QueuedLetter, TO_URL_MOST, WAITING_FOR_ADDRESS_MOST},
    time::Timestamp,
};
use store::{Guard, LetterWrite, NewLetter, NodeId, NoticeTarget, NoticeWrite, SealedColumn, Store, Write};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{NOW, after, entropy, kept_project},
};

on_every_database![
    a_notice_is_due_as_a_notice_and_never_as_mail,
    one_node_has_a_notice_until_it_gives_it_back_or_says_what_came_of_it,
    a_url_with_many_notices_holds_up_no_other,
    a_notice_keeps_the_url_that_it_was_sent_to_and_is_sent_again_as_a_notice,
    notices_do_not_count_as_mail_of_their_project_and_are_put_off_by_themselves,
    more_notices_wait_for_a_url_than_letters_for_an_address,
    a_node_of_an_earlier_version_sends_no_notice_and_makes_none_wait,
    where_notices_go_is_set_changed_rotated_and_removed,
];

const NODE: NodeId = NodeId::drawn(7);

fn notice(recipient: &str) -> NewLetter {
    NewLetter {
        id: mint(NOW, entropy()),
        kind: LetterKind::MoneyHeld,
        channel: Channel::Notice,
        project_id: None,
        user_id: None,
        address: vec![1],
        recipient: recipient.to_owned(),
        language: Language::English,
        content: vec![2],
        cause: None,
        at: NOW,
        expires_at: after(1_000_000),
    }
}

async fn queued(store: &Store, letter: NewLetter) -> LetterId {
    let id = letter.id;
    keep(store, LetterWrite::Queued(letter)).await;
    id
}

async fn letter(store: &Store, id: LetterId) -> QueuedLetter {
    store.letter(id).await.unwrap().unwrap()
}

async fn due(store: &Store, at: Timestamp) -> Vec<LetterId> {
    store.due_notices(at, 2).await.unwrap().into_iter().map(|letter| letter.id).collect()
}

async fn attempted(store: &Store, id: LetterId, state: LetterState, address: Option<Vec<u8>>) {
    let before = letter(store, id).await;
    keep(store, LetterWrite::Leased { id, due_at: before.state.at(), node: NODE }).await;
    let letter = QueuedLetter { state, attempts: before.attempts + 1, ..before };
    keep(store, LetterWrite::NoticeAttempted { letter, node: NODE, address }).await;
}

async fn a_notice_is_due_as_a_notice_and_never_as_mail(database: Database) {
    let store = database.open().await;
    let id = queued(&store, notice("url")).await;
    let mail = queued(&store, NewLetter { channel: Channel::Mail, ..notice("siti") }).await;
    let mailed = |letters: Vec<QueuedLetter>| letters.into_iter().map(|letter| letter.id).collect::<Vec<_>>();
    assert_eq!(due(&store, NOW).await, [id]);
    assert_eq!(mailed(store.due_letters(after(900_000), 9).await.unwrap()), [mail]);
    let read = letter(&store, id).await;
    assert_eq!((read.channel, read.state), (Channel::Notice, LetterState::Waiting { due_at: NOW }));
    assert_eq!(store.letter_counts(NOW).await.unwrap().due_since, Some(NOW));
}

async fn one_node_has_a_notice_until_it_gives_it_back_or_says_what_came_of_it(database: Database) {
    let store = database.open().await;
    let id = queued(&store, notice("url")).await;
    keep(&store, LetterWrite::Leased { id, due_at: NOW, node: NODE }).await;
    assert_eq!(due(&store, NOW).await, []);
    let again = LetterWrite::Leased { id, due_at: NOW, node: NodeId::drawn(8) };
    assert_eq!(commit(&store, again).await, Outcome::Conflict(Guard::LetterDue));
    keep(&store, LetterWrite::AllReleased { node: NODE, channel: Channel::Mail }).await;
    assert_eq!(due(&store, NOW).await, [], "what sends mail gives back no notice");
    keep(&store, LetterWrite::AllReleased { node: NODE, channel: Channel::Notice }).await;
    assert_eq!(due(&store, NOW).await, [id]);
    attempted(&store, id, LetterState::Waiting { due_at: after(60) }, None).await;
    assert_eq!(due(&store, after(59)).await, []);
    assert_eq!(due(&store, after(60)).await, [id]);
}

async fn a_url_with_many_notices_holds_up_no_other(database: Database) {
    let store = database.open().await;
    let mut busy = Vec::new();
    for number in 0..5 {
        busy.push(queued(&store, NewLetter { at: after(number), ..notice("busy") }).await);
    }
    let quiet = queued(&store, NewLetter { at: after(9), ..notice("quiet") }).await;
    assert_eq!(due(&store, after(10)).await, [busy[0], busy[1], quiet]);
}

async fn a_notice_keeps_the_url_that_it_was_sent_to_and_is_sent_again_as_a_notice(database: Database) {
    let store = database.open().await;
    let id = queued(&store, notice("url")).await;
    let address = async || store.sealed_letter(id).await.unwrap().unwrap().address;
    attempted(&store, id, LetterState::Waiting { due_at: after(1) }, None).await;
    assert_eq!(address().await, [1], "nothing was sent");
    attempted(&store, id, LetterState::Sent { at: after(2) }, Some(vec![9])).await;
    assert_eq!(address().await, [9]);
    assert_eq!(letter(&store, id).await.state, LetterState::Sent { at: after(2) });
    keep(&store, LetterWrite::SentAgain { id, at: after(3), expires_at: after(99) }).await;
    assert_eq!((due(&store, after(3)).await, store.due_letters(after(99), 9).await.unwrap()), (vec![id], vec![]));
}

async fn notices_do_not_count_as_mail_of_their_project_and_are_put_off_by_themselves(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let of_project = |recipient| NewLetter { project_id: Some(project.id), ..notice(recipient) };
    let sent = queued(&store, of_project("url")).await;
    attempted(&store, sent, LetterState::Sent { at: after(5) }, None).await;
    assert_eq!(store.letters_sent_of(project.id, NOW, 9).await.unwrap(), 0);
    assert_eq!(store.letters_sent_to("url", NOW, 9).await.unwrap(), 1);
    let (first, other) = (queued(&store, of_project("url")).await, queued(&store, notice("other")).await);
    let mail = queued(&store, NewLetter { channel: Channel::Mail, ..of_project("siti") }).await;
    keep(&store, LetterWrite::ProjectPutOff { project_id: project.id, until: after(50) }).await;
    assert_eq!(letter(&store, first).await.state.at(), NOW, "mail is put off, and no notice");
    keep(&store, LetterWrite::NoticesPutOff { recipient: "url".to_owned(), until: after(60) }).await;
    let put_off = letter(&store, first).await;
    assert_eq!((put_off.state.at(), put_off.answer.as_deref()), (after(60), Some(HELD_BACK)));
    assert_eq!((letter(&store, other).await.state.at(), letter(&store, mail).await.state.at()), (NOW, after(50)));
}

async fn more_notices_wait_for_a_url_than_letters_for_an_address(database: Database) {
    let store = database.open().await;
    for _ in 0..=WAITING_FOR_ADDRESS_MOST {
        let id = queued(&store, notice("url")).await;
        assert!(letter(&store, id).await.state.is_waiting());
    }
    let more = (WAITING_FOR_ADDRESS_MOST + 1..TO_URL_MOST).map(|_| Write::from(LetterWrite::Queued(notice("url"))));
    crate::database::keep_many(&store, more).await;
    let dropped = queued(&store, notice("url")).await;
    assert_eq!(letter(&store, dropped).await.state, LetterState::Dropped { at: NOW });
}

/// The statements of a node of version 31, which knows no notices.
async fn a_node_of_an_earlier_version_sends_no_notice_and_makes_none_wait(database: Database) {
    let store = database.open().await;
    let (waiting, ended) = (queued(&store, notice("url")).await, queued(&store, notice("url")).await);
    attempted(&store, ended, LetterState::GivenUp { at: after(1) }, None).await;
    let at = after(900_000).as_millis();
    let lease = format!(
        "UPDATE letters SET leased_by = 5 WHERE state = 'waiting' AND due_at <= {at} AND leased_by IS NULL; \
         UPDATE letters SET due_at = {at}, answer = 'held back' WHERE recipient = 'url' AND ended_at IS NULL \
         AND due_at < {at} AND leased_by IS NULL"
    );
    database.run_beside(&lease).unwrap();
    assert_eq!(due(&store, NOW).await, [waiting], "it has neither leased it nor put it off");
    let again = format!(
        "UPDATE letters SET state = 'waiting', due_at = {at}, ended_at = NULL, expires_at = {at}, attempts = 0 \
         WHERE id = '{ended}' AND state <> 'waiting' AND content IS NOT NULL"
    );
    assert!(database.run_beside(&again).is_err(), "it cannot make a notice wait as mail");
    let mail = "INSERT INTO letters (id, kind, urgent, address, recipient, language, content, queued_at, due_at, expires_at, attempts, \
                state) VALUES ('ltr_01kc2m8r5gfq9t3v7x1y4z6a8b', 'test', 0, ADDRESS, 'budi', 'en', ADDRESS, 1, 1, 9, 0, 'waiting')";
    let bytes = if database.is_typed() { "'\\x01'" } else { "x'01'" };
    database.run_beside(&mail.replace("ADDRESS", bytes)).unwrap();
    assert_eq!(store.due_letters(NOW, 9).await.unwrap()[0].channel, Channel::Mail, "what it queues is mail");
}

async fn where_notices_go_is_set_changed_rotated_and_removed(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (project_id, row) = (project.id, project.id.to_string());
    let target = NoticeTarget { project_id, language: Language::English, sends_receipts: false, summary: None };
    assert!(store.notice_target(project_id).await.unwrap().is_none());
    let created = || NoticeWrite::TargetCreated { target, sealed_url: vec![1], sealed_secret: vec![2] };
    keep(&store, created()).await;
    assert_eq!(commit(&store, created()).await, Outcome::Conflict(Guard::NoticeTarget), "once");
    assert_eq!(store.notice_summaries().await.unwrap(), []);
    let target = NoticeTarget { sends_receipts: true, summary: Some(SummaryPeriod::Weekly), ..target };
    keep(&store, NoticeWrite::TargetChanged { target, sealed_url: vec![3] }).await;
    let rotated =
        || NoticeWrite::SecretRotated { project_id, replaced: vec![2], previous: vec![4], sealed: vec![5], at: NOW };
    keep(&store, rotated()).await;
    assert_eq!(commit(&store, rotated()).await, Outcome::Conflict(Guard::NoticeTarget), "it is another secret by now");
    let read = store.notice_target(project_id).await.unwrap().unwrap();
    assert_eq!((read.target, read.url, read.secret, read.previous), (target, vec![3], vec![5], Some((vec![4], NOW))));
    assert_eq!(store.notice_summaries().await.unwrap(), [target]);
    for (column, from) in
        [(SealedColumn::NoticeUrl, 3), (SealedColumn::NoticeSecret, 5), (SealedColumn::PreviousNoticeSecret, 4)]
    {
        let sealed = store.sealed_values(column, "", 9).await.unwrap();
        assert_eq!((sealed[0].row.as_str(), sealed[0].sealed.as_slice(), sealed.len()), (row.as_str(), &[from][..], 1));
        keep(&store, Write::Resealed { column, row: row.clone(), from: vec![from], to: vec![from, from] }).await;
    }
    keep(&store, NoticeWrite::TargetRemoved { project_id }).await;
    assert!(store.notice_target(project_id).await.unwrap().is_none());
}
