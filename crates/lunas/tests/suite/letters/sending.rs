//! How letters reach a relay, and what becomes of them where it refuses, hangs or lies.

use std::{sync::Arc, time::Duration};

use demobank::Style;
use domain::{
    access::Role,
    letter_queue::LetterState,
    time::{DAY, HOUR},
};
use gateway::SendLimits;
use testkit::{Kit, Manner, Relay, on_every_database, on_sqlite_alone};

use crate::support::{
    letters::{Shop, letters, send_by, send_to, set_up, states},
    people::{Person, desk, make},
    wait::{until, until_within},
};

on_every_database![
    a_letter_is_taken_once_and_kept_with_what_the_relay_said on 2 threads,
    a_relay_that_was_down_for_a_day_gets_every_letter_once_and_no_storm on 2 threads,
];

on_sqlite_alone![
    a_recipient_who_is_refused_for_good_is_tried_once on 2 threads,
    a_relay_that_asks_to_come_again_gets_the_letter_later on 2 threads,
    a_letter_whose_answer_was_lost_is_sent_again_with_the_same_id on 2 threads,
    nothing_is_said_to_a_relay_that_does_not_encrypt_as_it_must on 2 threads,
    a_relay_that_hangs_holds_nothing_up_for_ever on 2 threads,
    without_mail_no_letter_is_queued on 2 threads,
    no_address_or_name_ends_a_header_early on 2 threads,
];

const PATIENCE: Duration = Duration::from_secs(90);

/// Causes one letter about security to somebody new.
async fn cause_one(kit: &Kit, email: &str) {
    let user = make(kit, email, false).await;
    kit.engine.reset_password(&user, "another long one".into()).await.unwrap();
}

async fn a_letter_is_taken_once_and_kept_with_what_the_relay_said(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    send_to(&kit, &relay);
    let path = format!("{}/settings/members", desk(project.id));
    let page = owner.post(&path, &[("email", "budi@example.com"), ("role", "viewer"), ("form", "one")]).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let taken = relay.has(1).await;
    assert_eq!((taken[0].from.as_str(), taken[0].to.as_str()), ("toko@example.com", "budi@example.com"));
    let link = taken[0].words();
    let link = link.split_once(&format!("{}/dashboard/invite/", kit.pages_url)).unwrap().1[..64].to_owned();
    assert!(page.text.contains(&link), "the page shows the link that the letter has");
    until(async || states(&kit).await == ["sent"]).await;
    let letter = letters(&kit).await.remove(0);
    assert_eq!((letter.attempts, letter.answer.as_deref()), (1, Some("250 taken")));
    assert!(taken[0].header("Message-ID").unwrap().contains(&letter.id.to_string()));
    let sealed = kit.store.sealed_letter(letter.id).await.unwrap().unwrap();
    assert!(sealed.content.is_none(), "a link that grants access is deleted once it is sent");
    assert!(!String::from_utf8_lossy(&sealed.address).contains("budi"));
    assert_eq!(relay.taken().len(), 1);
}

async fn a_recipient_who_is_refused_for_good_is_tried_once(kit: Arc<Kit>) {
    let relay = Relay::with(Manner::Refuses).await;
    send_to(&kit, &relay);
    cause_one(&kit, "nobody@example.com").await;
    until(async || states(&kit).await == ["given_up"]).await;
    let letter = letters(&kit).await.remove(0);
    assert_eq!((letter.attempts, letter.answer.as_deref()), (1, Some("550 nobody here")));
    relay.behave(Manner::Takes);
    kit.clock.advance(DAY);
    cause_one(&kit, "somebody@example.com").await;
    let taken = relay.has(1).await;
    assert_eq!(taken[0].to, "somebody@example.com");
}

async fn a_relay_that_asks_to_come_again_gets_the_letter_later(kit: Arc<Kit>) {
    let relay = Relay::with(Manner::Greylists).await;
    send_to(&kit, &relay);
    cause_one(&kit, "siti@example.com").await;
    until(async || letters(&kit).await[0].attempts == 1).await;
    assert!(relay.taken().is_empty());
    let letter = letters(&kit).await.remove(0);
    assert_eq!(letter.answer.as_deref(), Some("451 come again"));
    assert!(letter.state.at() > kit.engine.now());
    kit.clock.advance(HOUR);
    relay.has(1).await;
    until(async || states(&kit).await == ["sent"]).await;
    assert_eq!(letters(&kit).await[0].attempts, 2);
}

async fn a_letter_whose_answer_was_lost_is_sent_again_with_the_same_id(kit: Arc<Kit>) {
    let relay = Relay::with(Manner::LosesAnswer).await;
    send_to(&kit, &relay);
    cause_one(&kit, "siti@example.com").await;
    until(async || letters(&kit).await[0].attempts == 1).await;
    relay.behave(Manner::Takes);
    kit.clock.advance(HOUR);
    let taken = relay.has(2).await;
    assert_eq!(taken[0].header("Message-ID"), taken[1].header("Message-ID"));
    until(async || states(&kit).await == ["sent"]).await;
    assert_eq!(relay.taken().len(), 2);
}

async fn nothing_is_said_to_a_relay_that_does_not_encrypt_as_it_must(kit: Arc<Kit>) {
    for manner in [Manner::LiesAboutTls, Manner::OffersNoTls] {
        kit.on_another(testkit::Options::default(), async move |kit| {
            let relay = Relay::with(manner).await;
            send_by(&kit, relay.mailer_with_tls());
            cause_one(&kit, "siti@example.com").await;
            until(async || letters(&kit).await[0].answer.is_some()).await;
            let letter = letters(&kit).await.remove(0);
            assert_eq!((letter.state.word(), letter.attempts), ("waiting", 0), "{:?}", letter.answer);
            assert!(letter.answer.unwrap().starts_with("starttls: "));
            assert_eq!(relay.taken().len(), 0);
        })
        .await;
    }
}

async fn a_relay_that_hangs_holds_nothing_up_for_ever(kit: Arc<Kit>) {
    let relay = Relay::with(Manner::Hangs).await;
    send_to(&kit, &relay);
    cause_one(&kit, "siti@example.com").await;
    until_within(PATIENCE, async || letters(&kit).await[0].answer.is_some()).await;
    let letter = letters(&kit).await.remove(0);
    assert_eq!(letter.answer.as_deref(), Some("connect: no answer within 15 s"));
    relay.behave(Manner::Takes);
    kit.clock.advance(HOUR);
    relay.has(1).await;
    until(async || states(&kit).await == ["sent"]).await;
}

async fn a_relay_that_was_down_for_a_day_gets_every_letter_once_and_no_storm(kit: Arc<Kit>) {
    const LETTERS: usize = 40;
    let relay = Relay::with(Manner::Away).await;
    let shop = Shop::with_receipts(&kit, Style::BCA).await;
    set_up(&kit, relay.mailer());
    for number in 0..LETTERS {
        shop.sell_to(&kit, &format!("pelanggan-{number}@example.com")).await;
    }
    kit.deliver(SendLimits::default());
    until(async || relay.connections() > 0).await;
    for _ in 0..24 {
        kit.clock.advance(HOUR);
    }
    until(async || relay.connections() > 2).await;
    assert_eq!(states(&kit).await, vec!["waiting"; LETTERS]);
    let before = relay.connections();
    assert!(before < LETTERS / 2, "a relay that is away is asked seldom, and not for every letter: {before}");
    relay.behave(Manner::Takes);
    // A round that had found no relay may put a letter off by seconds, at a time after this.
    until(async || {
        kit.clock.advance(Duration::from_mins(1));
        relay.taken().len() == LETTERS
    })
    .await;
    until(async || states(&kit).await == vec!["sent"; LETTERS]).await;
    let mut to: Vec<String> = relay.taken().into_iter().map(|letter| letter.to).collect();
    to.sort();
    to.dedup();
    assert_eq!((to.len(), relay.taken().len()), (LETTERS, LETTERS));
    assert!(letters(&kit).await.iter().all(|letter| matches!(letter.state, LetterState::Sent { .. })));
}

async fn without_mail_no_letter_is_queued(kit: Arc<Kit>) {
    cause_one(&kit, "siti@example.com").await;
    assert_eq!(letters(&kit).await, []);
}

async fn no_address_or_name_ends_a_header_early(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let shop = Shop::with_receipts(&kit, Style::BCA).await;
    send_to(&kit, &relay);
    // Links take any text with an @ for an address; what no mail can go to is told, and never sent anywhere else.
    for odd in ["a@b>,<x@y.example", "\"a b\"@example.com", &format!("{}@example.com", "a".repeat(200))] {
        shop.sell_to(&kit, odd).await;
    }
    shop.sell_to(&kit, "siti@example.com").await;
    let taken = relay.has(1).await;
    until(async || states(&kit).await.iter().all(|state| *state != "waiting")).await;
    assert_eq!(taken.len(), 1, "{taken:?}");
    assert_eq!(taken[0].to, "siti@example.com");
    let headers = taken[0].text.split_once("\r\n\r\n").unwrap().0;
    assert!(headers.is_ascii() && !headers.to_lowercase().contains("\nbcc"), "{headers}");
}
