//! BRI as an acquirer: it asks us for a token before it notifies, though its signature covers neither the token nor the body.

use std::{sync::Arc, time::Duration};

use demobank::{Knobs, Service, Signing, TokenChoice};
use domain::bank_account::CredentialKind;
use engine::{BankDoor, Missing, NewBankAccount};
use testkit::{Kit, on_sqlite_alone};

use crate::support::{
    acquirers::{acquired, ask_after, silently, word_of},
    payments::{events_of, status},
    rows::rows,
};

on_sqlite_alone![
    the_bank_gets_a_token_and_its_notification_makes_us_ask,
    what_the_bank_signs_with_its_token_books_at_once,
    a_token_that_is_not_ours_is_refused_and_leaves_nothing_behind,
];

/// Regression: an account that was set up by the guide had no client for the token door, which answered 4017300, and nothing
/// was said to be missing.
async fn the_bank_gets_a_token_and_its_notification_makes_us_ask(kit: Arc<Kit>) {
    let new = NewBankAccount {
        name: "BRI".to_owned(),
        profile: "bri-qris".to_owned(),
        settings: [("merchant_id", "M"), ("terminal_id", "T"), ("base_url", "https://bank.example")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
    };
    let bare = kit.engine.create_bank_account(new).await.unwrap().id;
    let file = kit.engine.bank_account_file(bare).await.unwrap();
    assert!(file.missing.contains(&Missing::Credential(CredentialKind::Inbound)), "{:?}", file.missing);
    assert_eq!(file.doors(), [BankDoor::Token, BankDoor::QrNotice]);

    let acquired = acquired(&kit, "bri-qris").await;
    let payment = acquired.payment().await;
    let token = TokenChoice::Given(acquired.token().await);
    acquired.pays_as(&payment, silently()).await;
    let knobs = Knobs { token, ..Knobs::default() };
    let answer = acquired.tells(Service::QrNotify, word_of(&acquired, &payment), knobs).await;
    assert_eq!(answer.code(), "2005200", "{}", answer.text);
    assert_eq!(status(&acquired.project, &payment).await, "pending", "the body is not signed");
    ask_after(&kit, Duration::ZERO).await;
    assert_eq!(status(&acquired.project, &payment).await, "paid");
    assert_eq!(events_of(&acquired.project, &payment, "payment.paid").await.len(), 1);
}

async fn what_the_bank_signs_with_its_token_books_at_once(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "bri-qris").await;
    let payment = acquired.payment().await;
    let by_token = Knobs { signing: Some(Signing::Secret), ..Knobs::default() };
    let told = word_of(&acquired, &payment);
    let changed = Knobs { changed_body: true, ..by_token.clone() };
    let answer = acquired.tells(Service::QrNotify, told.clone(), changed).await;
    assert_eq!(answer.code(), "4015200", "{}", answer.text);
    let answer = acquired.tells(Service::QrNotify, told, by_token).await;
    assert_eq!(answer.code(), "2005200", "{}", answer.text);
    assert_eq!(status(&acquired.project, &payment).await, "paid");
    assert!(acquired.asked.calls_of(Service::Query).is_empty(), "nobody had to ask");
}

async fn a_token_that_is_not_ours_is_refused_and_leaves_nothing_behind(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "bri-qris").await;
    let payment = acquired.payment().await;
    let over = TokenChoice::Given(acquired.token().await);
    kit.clock.advance(Duration::from_secs(901));
    let before = rows(&kit.database);
    for token in [over, TokenChoice::Invented] {
        let knobs = Knobs { token, ..Knobs::default() };
        let answer = acquired.tells(Service::QrNotify, word_of(&acquired, &payment), knobs).await;
        assert_eq!((answer.code(), answer.message()), ("4015201", "Invalid Token (B2B)"));
    }
    assert_eq!(rows(&kit.database), before);
}
