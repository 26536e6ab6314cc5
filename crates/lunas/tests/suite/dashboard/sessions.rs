//! How long a session lasts, what ends it, and which forms are accepted.

use std::{sync::Arc, time::Duration};

use domain::{
    access::Role,
    audit::{Actor, Deed},
};
use futures_util::future::join_all;
use reqwest::Method;
use testkit::{Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, hidden, is_page},
    dashboard::audited,
    nodes::Node,
    options::rate_limit,
    people::{PASSWORD, Person, desk, sign_in},
    rows::rows,
};

on_every_database![
    signing_out_ends_the_session_on_every_node,
    an_ended_session_is_over_at_once_on_every_node_and_the_others_are_not,
    a_changed_password_ends_every_other_session_at_once_on_every_node,
    a_removed_member_finds_no_project_any_more_on_any_node,
    a_demoted_member_can_change_nothing_at_once_on_every_node,
];

on_sqlite_alone![
    pages_of_a_session_are_limited_as_requests_of_a_key_are with rate_limit(1),
    half_an_hour_of_doing_nothing_ends_a_session,
    half_a_day_ends_a_session_however_much_it_is_used,
    a_page_that_polls_does_not_extend_a_session,
    an_open_event_stream_does_not_extend_a_session,
    the_language_switch_leads_to_the_same_page_with_the_same_query,
    signing_in_again_happens_in_place_and_leads_back_to_the_page,
    a_form_of_an_ended_session_does_nothing_and_its_address_can_be_returned_to,
    a_form_without_the_sessions_own_token_is_refused,
    a_form_of_another_site_is_refused_even_with_the_right_token,
];

const ACCOUNT: &str = "/dashboard/account";

fn minutes(minutes: u64) -> Duration {
    Duration::from_mins(minutes)
}

async fn owner_of(kit: &Kit, project: &TestProject, email: &str) -> Person {
    Person::member(kit, project.id, Role::Owner, email).await
}

/// The status that the person's browser gets at another node.
async fn opened_at(node: &Node, person: &Person, path: &str) -> u16 {
    person.browser.moved_to(node.address).open(path).await.status.as_u16()
}

async fn half_an_hour_of_doing_nothing_ends_a_session(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    for _ in 0..3 {
        kit.clock.advance(minutes(29));
        assert_eq!(siti.open(ACCOUNT).await.status, 200);
    }
    kit.clock.advance(minutes(30));
    assert_eq!(siti.open(ACCOUNT).await.status, 401);
}

async fn half_a_day_ends_a_session_however_much_it_is_used(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    for _ in 0..35 {
        kit.clock.advance(minutes(20));
        assert_eq!(siti.open(ACCOUNT).await.status, 200);
    }
    kit.clock.advance(minutes(20));
    assert_eq!(siti.open(ACCOUNT).await.status, 401);
}

async fn a_page_that_polls_does_not_extend_a_session(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let refreshed = || siti.request(Method::GET, ACCOUNT).header("x-lunas-refresh", "1");
    for _ in 0..2 {
        kit.clock.advance(minutes(14));
        assert_eq!(siti.browser.send(refreshed()).await.status, 200);
    }
    kit.clock.advance(minutes(2));
    assert_eq!(siti.browser.send(refreshed()).await.status, 401);
}

/// Browsers reopen such a stream by themselves, and cannot send a header with it.
async fn an_open_event_stream_does_not_extend_a_session(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let siti = owner_of(&kit, &project, "siti@example.com").await;
    let live = format!("{}/live", desk(project.id));
    let heard = async || siti.browser.begin(siti.request(Method::GET, &live)).await.status().as_u16();
    for _ in 0..2 {
        kit.clock.advance(minutes(14));
        assert_eq!(heard().await, 200);
    }
    kit.clock.advance(minutes(2));
    assert_eq!(heard().await, 401);
}

async fn the_language_switch_leads_to_the_same_page_with_the_same_query(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let siti = owner_of(&kit, &project, "siti@example.com").await;
    let path = format!("{}/payments", desk(project.id));
    let page = siti.open(&format!("{path}?search=a%26b&lang=en&status=paid&done=joined")).await;
    let there = format!("{path}?search=a%26b&status=paid&lang=id");
    assert!(page.text.replace("&#38;", "&").contains(&format!("href=\"{there}\"")), "{}", page.text);
}

async fn signing_in_again_happens_in_place_and_leads_back_to_the_page(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let siti = owner_of(&kit, &project, "siti@example.com").await;
    kit.clock.advance(minutes(31));
    let path = format!("{}/settings?lang=en", desk(project.id));
    let page = siti.open(&path).await;
    is_page("an ended session", &page, 401);
    assert!(page.text.contains("Your session has ended"), "{}", page.text);
    assert_eq!(hidden(&page), [("next".to_owned(), path.clone())]);
    let fields = [("email", "siti@example.com"), ("password", PASSWORD), ("next", path.as_str())];
    let reply = siti.browser.post("/dashboard/sign-in", &fields).await;
    assert_eq!(reply.header("location"), Some(path.as_str()));
    assert_eq!(siti.open(&path).await.status, 200);
    // A visitor without a session is not told that one has ended.
    let stranger = Customer::of(&kit).open(&path).await;
    is_page("a stranger", &stranger, 401);
    assert!(!stranger.text.contains("Your session has ended"));
}

/// After signing in again the form is not sent again; its address shows a page instead.
async fn a_form_of_an_ended_session_does_nothing_and_its_address_can_be_returned_to(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let siti = owner_of(&kit, &project, "siti@example.com").await;
    kit.clock.advance(minutes(31));
    let before = rows(&kit.database);
    let base = format!("{}/settings", desk(project.id));
    let user = siti.user.id;
    for path in [
        format!("{base}/merchant"),
        format!("{base}/members/{user}/role"),
        format!("{ACCOUNT}/password"),
        format!("{ACCOUNT}/end-others"),
    ] {
        let reply = siti.post(&path, &[("merchant_name", "Another"), ("role", "viewer")]).await;
        is_page(&path, &reply, 401);
        assert_eq!(hidden(&reply), [("next".to_owned(), path.clone())]);
    }
    assert_eq!(rows(&kit.database), before);
    sign_in(&siti.browser, "siti@example.com", PASSWORD).await;
    for path in [format!("{base}/merchant"), format!("{base}/members/{user}/role"), format!("{ACCOUNT}/password")] {
        is_page(&path, &siti.open(&path).await, 200);
    }
}

async fn signing_out_ends_the_session_on_every_node(kit: Arc<Kit>) {
    let node = Node::beside(&kit).await;
    let siti = Person::new(&kit, "siti@example.com").await;
    let elsewhere = siti.browser.moved_to(node.address);
    assert_eq!(elsewhere.open(ACCOUNT).await.status, 200);
    let reply = siti.post("/dashboard/sign-out", &[]).await;
    assert_eq!((reply.status.as_u16(), reply.header("location")), (303, Some("/dashboard/sign-in")));
    assert_eq!(siti.token().map(|token| token.reveal()), None, "the browser forgets it");
    assert_eq!(elsewhere.open(ACCOUNT).await.status, 401);
    assert_eq!(audited(&kit, Deed::SignedOut).await.len(), 1);
    node.stop().await;
}

async fn an_ended_session_is_over_at_once_on_every_node_and_the_others_are_not(kit: Arc<Kit>) {
    let node = Node::beside(&kit).await;
    let here = Person::new(&kit, "siti@example.com").await;
    let (there, third) =
        (Person::signed_in(&kit, here.user.clone()).await, Person::signed_in(&kit, here.user.clone()).await);
    assert_eq!(opened_at(&node, &there, ACCOUNT).await, 200);
    let hash = there.token().unwrap().hash();
    let session = kit.store.session(hash).await.unwrap().unwrap().session;
    let reply = here.post(&format!("{ACCOUNT}/sessions/{}/end", session.id), &[]).await;
    assert_eq!(reply.header("location"), Some("/dashboard/account?done=session-ended"));
    assert_eq!(opened_at(&node, &there, ACCOUNT).await, 401);
    assert_eq!((opened_at(&node, &third, ACCOUNT).await, opened_at(&node, &here, ACCOUNT).await), (200, 200));

    here.post(&format!("{ACCOUNT}/end-others"), &[]).await;
    assert_eq!((opened_at(&node, &third, ACCOUNT).await, opened_at(&node, &here, ACCOUNT).await), (401, 200));
    let ended = audited(&kit, Deed::SessionEnded).await;
    assert_eq!(ended.len(), 2);
    assert!(ended.iter().all(|(actor, _)| matches!(actor, Actor::User { id, .. } if *id == here.user.id)));
    node.stop().await;
}

async fn a_changed_password_ends_every_other_session_at_once_on_every_node(kit: Arc<Kit>) {
    let node = Node::beside(&kit).await;
    let here = Person::new(&kit, "siti@example.com").await;
    let there = Person::signed_in(&kit, here.user.clone()).await;
    assert_eq!(opened_at(&node, &there, ACCOUNT).await, 200);
    let fields = [("old_password", PASSWORD), ("new_password", "a different one")];
    let reply = here.post(&format!("{ACCOUNT}/password"), &fields).await;
    assert_eq!(reply.header("location"), Some("/dashboard/account?done=password-changed"));
    assert_eq!((opened_at(&node, &there, ACCOUNT).await, opened_at(&node, &here, ACCOUNT).await), (401, 200));
    let elsewhere = Customer::at(node.address);
    assert_eq!(sign_in(&elsewhere, "siti@example.com", PASSWORD).await.status, 401);
    assert_eq!(sign_in(&elsewhere, "siti@example.com", "a different one").await.status, 303);
    assert_eq!(audited(&kit, Deed::PasswordChanged).await.len(), 1);
    node.stop().await;
}

async fn a_removed_member_finds_no_project_any_more_on_any_node(kit: Arc<Kit>) {
    let (node, project) = (Node::beside(&kit).await, kit.sandbox().await);
    let owner = owner_of(&kit, &project, "siti@example.com").await;
    let other = owner_of(&kit, &project, "dewi@example.com").await;
    let path = format!("{}/settings", desk(project.id));
    assert_eq!(opened_at(&node, &other, &path).await, 200);
    let removed = owner.post(&format!("{path}/members/{}/remove", other.user.id), &[]).await;
    assert_eq!(removed.status, 303, "{}", removed.text);
    assert_eq!(opened_at(&node, &other, &path).await, 401, "their sessions have ended");
    let other = Person::signed_in(&kit, other.user).await;
    assert_eq!(opened_at(&node, &other, &path).await, 404);
    let before = rows(&kit.database);
    let reply = other.post(&format!("{path}/merchant"), &[("merchant_name", "Mine")]).await;
    assert_eq!(reply.status, 404);
    assert_eq!(rows(&kit.database), before);
    assert_eq!(opened_at(&node, &other, ACCOUNT).await, 200, "they are still somebody");
    node.stop().await;
}

async fn a_demoted_member_can_change_nothing_at_once_on_every_node(kit: Arc<Kit>) {
    let (node, project) = (Node::beside(&kit).await, kit.sandbox().await);
    let owner = owner_of(&kit, &project, "siti@example.com").await;
    let other = owner_of(&kit, &project, "dewi@example.com").await;
    let path = format!("{}/settings", desk(project.id));
    let changed = owner.post(&format!("{path}/members/{}/role", other.user.id), &[("role", "viewer")]).await;
    assert_eq!(changed.status, 303, "{}", changed.text);
    let token = other.token().unwrap().form_token();
    let elsewhere = other.browser.moved_to(node.address);
    let form =
        elsewhere.form(&format!("{path}/success-word"), &[("success_word", "succeeded"), ("form_token", &token)]);
    assert_eq!(elsewhere.send(form).await.status, 403);
    node.stop().await;
}

async fn posted(person: &Person, fields: &[(&str, &str)], headers: &[(&str, &str)]) -> Reply {
    let form = person.browser.form(&format!("{ACCOUNT}/end-others"), fields);
    let form = headers.iter().fold(form, |form, (name, value)| form.header(*name, *value));
    person.browser.send(form).await
}

async fn a_form_without_the_sessions_own_token_is_refused(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let twin = Person::signed_in(&kit, siti.user.clone()).await;
    let (own, others) = (siti.token().unwrap().form_token(), twin.token().unwrap().form_token());
    let before = rows(&kit.database);
    let forged = own.replace(|digit: char| digit.is_ascii_digit(), "a");
    let session = siti.token().unwrap().reveal();
    for fields in [
        &[][..],
        &[("form_token", "")],
        &[("form_token", &forged)],
        &[("form_token", &others)],
        &[("form_token", &session)],
        &[("form_token", &own[..31])],
    ] {
        is_page(&format!("{fields:?}"), &posted(&siti, fields, &[]).await, 403);
    }
    // No form of ours has the same field twice.
    let twice = [("form_token", own.as_str()), ("form_token", own.as_str())];
    is_page("twice", &posted(&siti, &twice, &[]).await, 422);
    assert_eq!(rows(&kit.database), before);
    assert_eq!(posted(&siti, &[("form_token", &own)], &[]).await.status, 303);
}

async fn a_form_of_another_site_is_refused_even_with_the_right_token(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    let own = siti.token().unwrap().form_token();
    let before = rows(&kit.database);
    let fields = [("form_token", own.as_str())];
    let foreign: [&[(&str, &str)]; 4] = [
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("origin", "https://evil.example")],
        &[("origin", "null")],
    ];
    for headers in foreign {
        is_page(&format!("{headers:?}"), &posted(&siti, &fields, headers).await, 403);
        // Another site cannot sign anybody in either.
        let browser = Customer::of(&kit);
        let form = browser.form("/dashboard/sign-in", &[("email", "siti@example.com"), ("password", PASSWORD)]);
        let form = headers.iter().fold(form, |form, (name, value)| form.header(*name, *value));
        let reply = browser.send(form).await;
        is_page(&format!("{headers:?}"), &reply, 403);
        assert_eq!(reply.header("set-cookie"), None);
    }
    assert_eq!(rows(&kit.database), before);
    assert_eq!(posted(&siti, &fields, &[("sec-fetch-site", "same-origin")]).await.status, 303);
}

/// Limits go by real time, so the test sends far more than the limit allows in the time in which they are answered.
async fn pages_of_a_session_are_limited_as_requests_of_a_key_are(kit: Arc<Kit>) {
    let siti = Person::new(&kit, "siti@example.com").await;
    for (language, text) in [("en", "Too many requests"), ("id", "Terlalu banyak permintaan")] {
        let mut pages = Vec::new();
        for _ in 0..200 {
            let page = siti.open(&format!("/dashboard/account?lang={language}")).await;
            pages.push(page);
            if pages.last().unwrap().status == 429 {
                break;
            }
        }
        let refused = pages.last().unwrap();
        is_page(language, refused, 429);
        assert!(refused.text.contains(text), "{}", refused.text);
        assert_eq!(refused.header("retry-after"), Some("1"));
    }
    // A form is counted as one request, and so is a page with several parts.
    let dewi = Person::new(&kit, "dewi@example.com").await;
    assert_eq!(dewi.post("/dashboard/account/end-others", &[]).await.status, 303);
    assert_eq!(dewi.open("/dashboard/account").await.status, 200);
    let before = rows(&kit.database);
    let forms = join_all((0..20).map(|_| dewi.post("/dashboard/account/end-others", &[]))).await;
    assert!(forms.iter().any(|reply| reply.status == 429));
    assert!(rows(&kit.database).len() <= before.len() + 19, "what was refused has done nothing");
}
