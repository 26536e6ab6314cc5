//! Bounds of notices: how many a URL gets, and that one project's notices hold up nobody else's.

use std::{sync::Arc, time::Duration};

use domain::{
    access::Role,
    id::{ENTROPY_BYTES, LetterId, ProjectId, mint},
    language::Language,
    letter::LetterKind,
    letter_queue::{Channel, HELD_BACK, LetterState, QueuedLetter, TO_URL_MOST},
    time::HOUR,
};
use gateway::SendLimits;
use serde_json::json;
use store::{Change, LetterWrite, NewLetter, NodeId};
use testkit::{Answer, Kit, Receiver, Relay, TestProject, on_every_database};

use crate::support::{
    held::held_late,
    letters::{letters, set_up, states},
    notices::{notice_to, verified},
    payments::{pending_qris, simulate},
    people::Person,
    wait::until,
};

on_every_database![
    many_notices_of_one_project_hold_up_no_others on 2 threads,
    a_url_gets_so_many_notices_an_hour_and_the_others_wait on 2 threads,
];

const MANY: usize = 300;

/// Money comes so often that fits no payment.
async fn held_often(project: &TestProject, often: usize) {
    let payment = pending_qris(project, 15_000).await;
    for number in 0..often {
        let report = json!({ "outcome": "paid", "amount": 10_000, "receipt_id": format!("wrong amount {number}") });
        simulate(project, &payment, &report).await.expect(200);
    }
}

async fn many_notices_of_one_project_hold_up_no_others(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (busy, quiet) = (kit.sandbox().await, kit.sandbox().await);
    let (slow, quick) = (Receiver::answering(Answer::Hang).await, Receiver::start().await);
    notice_to(&kit, busy.id, &slow, &[]).await;
    held_often(&busy, MANY).await;
    assert_eq!(letters(&kit).await.len(), MANY, "a notice each, and no mail is set up");
    let noticed = notice_to(&kit, quiet.id, &quick, &[]).await;
    set_up(&kit, relay.mailer());
    Person::member(&kit, quiet.id, Role::Owner, "tenang@example.com").await;
    held_late(&kit, &quiet, "late").await;
    kit.deliver(SendLimits::default());
    // Its URL answers none of them, and has two.
    let body = verified(&kit, &quick.arrived(1).await[0], &noticed.secret);
    assert_eq!(body["project_id"], json!(quiet.id.to_string()));
    // The two owners of the other project have their letters.
    relay.has(2).await;
    slow.arrived(2).await;
    assert_eq!((slow.count(), slow.waiting_most()), (2, 2));
    slow.answer(Answer::Status(200));
    slow.release();
    slow.arrived(30).await;
    assert_eq!((slow.waiting_most(), quick.count()), (2, 1), "never more at once");
}

/// A notice that was sent just now, as far as the bounds can tell.
fn sent(kit: &Kit, project: ProjectId, recipient: &str, number: u32) -> [LetterWrite; 3] {
    let at = kit.engine.now();
    let mut entropy = [0; ENTROPY_BYTES];
    entropy[..4].copy_from_slice(&number.to_be_bytes());
    let id: LetterId = mint(at, entropy);
    let (language, node) = (Language::Indonesian, NodeId::drawn(7));
    let new = NewLetter {
        id,
        kind: LetterKind::MoneyHeld,
        channel: Channel::Notice,
        project_id: Some(project),
        user_id: None,
        address: vec![1],
        recipient: recipient.to_owned(),
        language,
        content: vec![1],
        cause: None,
        at,
        expires_at: at.plus(HOUR),
    };
    let letter = QueuedLetter {
        id,
        kind: new.kind,
        channel: new.channel,
        project_id: new.project_id,
        user_id: None,
        recipient: new.recipient.clone(),
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
        LetterWrite::NoticeAttempted { letter, node, address: None },
    ]
}

async fn a_url_gets_so_many_notices_an_hour_and_the_others_wait(kit: Arc<Kit>) {
    let (busy, quiet) = (kit.sandbox().await, kit.sandbox().await);
    let (full, free) = (Receiver::start().await, Receiver::start().await);
    notice_to(&kit, busy.id, &full, &[]).await;
    notice_to(&kit, quiet.id, &free, &[]).await;
    held_late(&kit, &busy, "busy").await;
    held_late(&kit, &quiet, "quiet").await;
    let url = letters(&kit).await.remove(0).recipient;
    for number in (0..TO_URL_MOST).step_by(100) {
        let hundred = (number..number + 100).flat_map(|number| sent(&kit, busy.id, &url, number));
        kit.store.commit(Change::default().with_all(hundred)).await.unwrap();
    }
    kit.deliver(SendLimits::default());
    free.arrived(1).await;
    let is_held_back = async || letters(&kit).await.iter().any(|letter| letter.answer.as_deref() == Some(HELD_BACK));
    until(is_held_back).await;
    assert_eq!(full.count(), 0);
    kit.clock.advance(HOUR + Duration::from_mins(1));
    full.arrived(1).await;
    until(async || states(&kit).await.iter().all(|state| *state == "sent")).await;
    assert_eq!((full.count(), free.count()), (1, 1));
}
