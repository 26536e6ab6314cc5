//! What people choose about their letters, and links that end letters without signing in.

use std::sync::Arc;

use domain::{access::Role, letter::LetterKind};
use reqwest::Method;
use testkit::{Kit, Manner, Relay, on_sqlite_alone};

use crate::support::{
    customer::Customer,
    held::held_late,
    letters::{letters, send_to, set_up, states},
    people::{PASSWORD, Person, desk},
    wait::until,
};

on_sqlite_alone![
    a_member_gets_the_letters_that_they_choose_in_their_language on 2 threads,
    a_letters_own_link_ends_letters_of_its_kind_and_opening_it_does_not on 2 threads,
    a_link_that_nobody_made_ends_nothing on 2 threads,
    only_owners_switch_receipts_on_and_see_the_letters_of_their_project on 2 threads,
    an_operator_sees_all_letters_and_sends_one_again on 2 threads,
];

const CHOICES: &str = "/dashboard/account/letters";

async fn a_member_gets_the_letters_that_they_choose_in_their_language(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    send_to(&kit, &relay);
    let saved = owner.post(CHOICES, &[("language", "en"), ("summary", "weekly"), ("webhook_failing", "on")]).await;
    assert_eq!(saved.status, 303);
    held_late(&kit, &project, "refused").await;
    assert_eq!(letters(&kit).await, [], "they want no letters about held money");
    let page = owner.open(CHOICES).await;
    assert!(page.text.contains("value=\"weekly\" checked") && page.text.contains("value=\"en\" checked"));
    owner.post(CHOICES, &[("language", "en"), ("money_held", "on")]).await;
    held_late(&kit, &project, "wanted").await;
    let taken = relay.has(1).await;
    assert!(taken[0].words().contains("<html lang=\"en\""), "{}", taken[0].words());
    let old = [("old_password", PASSWORD), ("new_password", "another long one")];
    owner.post(CHOICES, &[("language", "id")]).await;
    assert_eq!(owner.post("/dashboard/account/password", &old).await.status, 303);
    let taken = relay.has(2).await;
    assert!(taken[1].words().contains("<html lang=\"id\""), "a letter about security cannot be switched off");
}

async fn a_letters_own_link_ends_letters_of_its_kind_and_opening_it_does_not(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    send_to(&kit, &relay);
    held_late(&kit, &project, "first").await;
    let header = relay.has(1).await[0].header("List-Unsubscribe").unwrap();
    let path = header.trim_matches(['<', '>']).strip_prefix(&kit.pages_url).unwrap().to_owned();
    let stranger = Customer::of(&kit);
    let refused = async || kit.store.letter_choices(owner.user.id).await.unwrap().map(|choices| choices.refused);
    assert_eq!(stranger.open(&path).await.status, 200);
    held_late(&kit, &project, "second").await;
    relay.has(2).await;
    // As a mailbox sends it: without a cookie, a page or an origin.
    let one_click = || {
        let request = stranger.request(Method::POST, &path).body("List-Unsubscribe=One-Click");
        request.header("content-type", "application/x-www-form-urlencoded")
    };
    for _ in 0..2 {
        let reply = stranger.send(one_click()).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
    }
    held_late(&kit, &project, "third").await;
    let kinds: Vec<LetterKind> = letters(&kit).await.into_iter().map(|letter| letter.kind).collect();
    assert_eq!(kinds, [LetterKind::MoneyHeld; 2]);
    assert_eq!(refused().await, None, "the language is still the one of before");
    let page = Person::signed_in(&kit, owner.user).await.open(CHOICES).await;
    assert!(page.text.contains("name=\"money_held\" value=\"on\">"), "{}", page.text);
}

async fn a_link_that_nobody_made_ends_nothing(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    set_up(&kit, relay.mailer());
    let stranger = Customer::of(&kit);
    for link in ["0", "zz", &"0a".repeat(60), &"0a".repeat(900)] {
        let path = format!("/dashboard/letters/stop/{link}");
        assert_eq!(stranger.open(&path).await.status, 404, "{link}");
        assert_eq!(stranger.post(&path, &[]).await.status, 404, "{link}");
    }
}

async fn only_owners_switch_receipts_on_and_see_the_letters_of_their_project(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    set_up(&kit, relay.mailer());
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let viewer = Person::member(&kit, project.id, Role::Viewer, "viewer@example.com").await;
    Person::member(&kit, other.id, Role::Owner, "elsewhere@example.com").await;
    held_late(&kit, &project, "here").await;
    held_late(&kit, &other, "there").await;
    // Their sessions have ended meanwhile.
    let (owner, viewer) = (Person::signed_in(&kit, owner.user).await, Person::signed_in(&kit, viewer.user).await);
    let path = format!("{}/settings/letters", desk(project.id));
    let page = owner.open(&path).await;
    assert!(page.text.contains("owner@example.com") && !page.text.contains("elsewhere@example.com"));
    assert!(!viewer.open(&path).await.text.contains("owner@example.com"));
    assert_eq!(viewer.post(&path, &[("receipts", "on")]).await.status, 403);
    assert!(!kit.engine.sends_receipts(project.id).await.unwrap());
    for (fields, expected) in [(&[("receipts", "on")][..], true), (&[], false)] {
        assert_eq!(owner.post(&path, fields).await.status, 303);
        assert_eq!(kit.engine.sends_receipts(project.id).await.unwrap(), expected);
    }
}

async fn an_operator_sees_all_letters_and_sends_one_again(kit: Arc<Kit>) {
    let relay = Relay::with(Manner::Refuses).await;
    let project = kit.sandbox().await;
    Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let operator = Person::operator(&kit, "operator@example.com").await;
    send_to(&kit, &relay);
    held_late(&kit, &project, "late").await;
    until(async || states(&kit).await == ["given_up"]).await;
    let page = operator.open("/dashboard/operator/letters?state=given_up").await;
    assert!(page.text.contains("owner@example.com") && page.text.contains("550 nobody here"), "{}", page.text);
    assert!(!operator.open("/dashboard/operator/letters?state=sent").await.text.contains("owner@example.com"));
    relay.behave(Manner::Takes);
    let again = format!("/dashboard/operator/letters/{}/again", letters(&kit).await[0].id);
    assert_eq!(operator.post(&again, &[]).await.status, 303);
    assert_eq!(relay.has(1).await[0].to, "owner@example.com");
    until(async || states(&kit).await == ["sent"]).await;
}
