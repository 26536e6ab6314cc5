//! Letters about a bank that does not answer.

use std::{sync::Arc, time::Duration};

use demobank::{Fault, Service};
use domain::{access::Role, letter::LetterKind};
use testkit::{Kit, Relay, on_sqlite_alone};

use crate::support::{
    acquirers::{Acquired, acquired, ask_after},
    letters::{letters, send_to},
    people::Person,
    wait::until,
};

on_sqlite_alone![a_bank_that_does_not_answer_is_told_to_operators_once_for_each_stretch on 2 threads];

/// The bank fails, and customers try to pay so often that it counts as down.
async fn fails(kit: &Kit, acquired: &Acquired, stretch: &str) {
    acquired.asked.fail_every(Service::Generate, Some(Fault::Status(500)));
    for number in 0..5 {
        assert_eq!(acquired.pay(&format!("{stretch}-{number}")).await.status, 503);
    }
    kit.engine.save_bank_calls().await.unwrap();
}

async fn a_bank_that_does_not_answer_is_told_to_operators_once_for_each_stretch(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let acquired = acquired(&kit, "midtrans").await;
    Person::operator(&kit, "operator@example.com").await;
    Person::member(&kit, acquired.project.id, Role::Owner, "owner@example.com").await;
    send_to(&kit, &relay);
    acquired.payment().await;
    fails(&kit, &acquired, "first").await;
    let taken = relay.has(1).await;
    assert_eq!(taken[0].to, "operator@example.com", "a shop can do nothing about it");
    assert!(taken[0].words().contains(&format!("/dashboard/operator/banks/{}", acquired.account)));
    acquired.asked.fail_every(Service::Generate, None);
    ask_after(&kit, Duration::from_secs(31)).await;
    acquired.payment().await;
    kit.engine.save_bank_calls().await.unwrap();
    until(async || kit.store.letter_alerts("").await.unwrap().is_empty()).await;
    fails(&kit, &acquired, "second").await;
    relay.has(2).await;
    let kinds: Vec<LetterKind> = letters(&kit).await.into_iter().map(|letter| letter.kind).collect();
    assert_eq!(kinds, [LetterKind::BankDown; 2], "once for each stretch");
}
