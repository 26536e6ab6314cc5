//! Letters about refunds that wait for an approval: to those who may give it, once for each refund, account and person, and never to
//! who asked.

use std::{sync::Arc, time::Duration};

use demobank::{MoneyRules, RefundRule};
use domain::{access::Role, id::ProjectId, letter::LetterKind, refund::RefundState};
use futures_util::future::join_all;
use gateway::SendLimits;
use serde_json::json;
use testkit::{Kit, Relay, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    claims::ClaimLink,
    customer::Customer,
    dashboard::leads,
    json::{id, text},
    letters::{letters, send_to, set_up, states},
    payments::{fresh_key, paid, pending_qris},
    people::{Person, desk},
    receipts::{decide, held_amount},
    refund_bank::RefundBank,
    refund_pages::{ACCOUNT, paid_in_production, refund_of, refund_page, refund_to_account, version},
    refunds::{ask, ask_for_refund, destination},
    wait::until,
};

on_every_database![
    owners_who_did_not_ask_are_told_and_who_asked_is_not on 2 threads,
    operators_are_told_where_a_production_project_has_no_owner_who_may_approve on 2 threads,
    nobody_is_told_of_a_refund_that_was_refused_or_rolled_back on 2 threads,
    a_request_that_is_sent_again_tells_each_owner_once on 2 threads,
    owners_are_told_when_it_is_known_where_the_money_goes on 2 threads,
    a_refund_that_waits_for_a_second_approval_is_told_again on 2 threads,
];

on_sqlite_alone![
    the_only_owner_approves_their_own_and_operators_are_not_told on 2 threads,
    operators_are_told_where_every_owner_has_taken_part on 2 threads,
    held_money_whose_return_waits_for_an_approval_is_told_too on 2 threads,
    a_member_switches_letters_about_approvals_off_and_on_again on 2 threads,
    who_has_left_or_was_deactivated_meanwhile_gets_no_letter on 2 threads,
    who_may_not_decide_any_more_gets_no_letter on 2 threads,
];

const FIRST: &str = "first@example.com";
const SECOND: &str = "second@example.com";
const OPERATOR: &str = "operator@example.com";

/// The addresses that a letter about an approval was queued for, sorted.
async fn approval_addresses(kit: &Kit) -> Vec<String> {
    let mut addresses = Vec::new();
    for letter in letters(kit).await.into_iter().filter(|letter| letter.kind == LetterKind::ApprovalWanted) {
        addresses.push(kit.engine.shown_letter(letter.id).await.unwrap().address.unwrap());
    }
    addresses.sort();
    addresses
}

async fn owner(kit: &Kit, project: ProjectId, email: &str) -> Person {
    Person::member(kit, project, Role::Owner, email).await
}

/// Every refund of the project waits for an approval from now on.
async fn guard(owner: &Person, project: &TestProject) {
    let path = format!("{}/settings/refunds", desk(project.id));
    leads(&owner.post(&path, &[("approval_above", "0")]).await, "settings-saved");
}

/// A sandbox with two owners in which every refund waits for an approval.
async fn guarded(kit: &Kit) -> (TestProject, Person, Person) {
    let project = kit.sandbox().await;
    let (first, second) = (owner(kit, project.id, FIRST).await, owner(kit, project.id, SECOND).await);
    guard(&first, &project).await;
    (project, first, second)
}

async fn owners_who_did_not_ask_are_told_and_who_asked_is_not(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, first, _second) = guarded(&kit).await;
    for (role, email) in [(Role::Developer, "dev@example.com"), (Role::Viewer, "viewer@example.com")] {
        Person::member(&kit, project.id, role, email).await;
    }
    let gone = owner(&kit, project.id, "gone@example.com").await;
    kit.engine.deactivate_user(&gone.user, None, false).await.unwrap();
    Person::operator(&kit, OPERATOR).await;
    let payment = paid(&project, "one", 50_000).await;
    send_to(&kit, &relay);
    let refund = refund_of(&first, &project, &payment, "20000").await;
    let taken = relay.has(1).await;
    assert_eq!(taken[0].to, SECOND);
    let page = format!("{}{}", kit.pages_url, refund_page(&project, &refund));
    for expected in [page.as_str(), "Rp20.000", FIRST, id(&payment)] {
        assert!(taken[0].words().contains(expected), "no {expected} in {}", taken[0].words());
    }
    assert!(taken[0].header("List-Unsubscribe").unwrap().starts_with(&format!("<{}", kit.pages_url)));
    assert_eq!(approval_addresses(&kit).await, [SECOND]);
    ask(&project, &payment, &json!({ "amount": 10_000 })).await.expect(201);
    relay.has(3).await;
    assert_eq!(approval_addresses(&kit).await, [FIRST, SECOND, SECOND], "a key asked, so every owner may approve");
}

async fn operators_are_told_where_a_production_project_has_no_owner_who_may_approve(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let project = kit.production().await;
    let operator = Person::operator(&kit, OPERATOR).await;
    let payment = paid_in_production(&kit, &project, 150_000).await;
    send_to(&kit, &relay);
    // An account that was named with a key waits for an approval in production.
    let by_key = json!({ "amount": 10_000, "destination": destination() });
    let refund = ask(&project, &payment, &by_key).await.expect(201);
    assert_eq!(text(&refund, "pending_reason"), "awaiting_approval");
    let taken = relay.has(1).await;
    let path = format!("/dashboard/operator/refunds/{}", id(&refund));
    assert_eq!(taken[0].to, OPERATOR);
    assert!(taken[0].words().contains(&path), "{}", taken[0].words());
    assert_eq!(operator.open(&path).await.status, 200);
    let owner = owner(&kit, project.id, FIRST).await;
    ask(&project, &payment, &by_key).await.expect(201);
    relay.has(2).await;
    assert_eq!(approval_addresses(&kit).await, [FIRST, OPERATOR], "where there is an owner, operators are not asked");
    let list = owner.open(&format!("{}/settings/letters", desk(project.id))).await;
    assert!(list.text.contains(FIRST) && !list.text.contains(OPERATOR), "{}", list.text);
}

async fn nobody_is_told_of_a_refund_that_was_refused_or_rolled_back(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, ..) = guarded(&kit).await;
    let payment = paid(&project, "one", 50_000).await;
    set_up(&kit, relay.mailer());
    ask(&project, &payment, &json!({ "amount": 50_001 })).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(letters(&kit).await, []);
    // Of those that ask at once, one is committed; the others are judged anew after their commits were rolled back.
    let body = json!({ "amount": 30_000 });
    let replies = join_all((0..6).map(|_| ask(&project, &payment, &body))).await;
    let made = replies.iter().filter(|reply| reply.status == 201).count();
    assert_eq!((made, replies.iter().filter(|reply| reply.status == 409).count()), (1, 5));
    assert_eq!(approval_addresses(&kit).await, [FIRST, SECOND]);
}

async fn a_request_that_is_sent_again_tells_each_owner_once(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, ..) = guarded(&kit).await;
    let payment = paid(&project, "one", 50_000).await;
    set_up(&kit, relay.mailer());
    let (key, body) = (fresh_key(), json!({ "amount": 20_000 }));
    let send = || ask_for_refund(&project.api, id(&payment), &key, &body);
    let replies = join_all((0..4).map(|_| send())).await;
    let again = send().await;
    assert!(replies.iter().chain([&again]).all(|reply| reply.status.is_success()), "{replies:?}");
    assert_eq!(approval_addresses(&kit).await, [FIRST, SECOND]);
}

async fn owners_are_told_when_it_is_known_where_the_money_goes(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, first, _second) = guarded(&kit).await;
    set_up(&kit, relay.mailer());
    let claim = ClaimLink::of(&kit, &project, 20_000).await;
    assert_eq!(approval_addresses(&kit).await, [""; 0], "an approval is for an account as well");
    assert!(claim.name_account(&Customer::of(&kit)).await.status.as_u16() < 400);
    assert_eq!(approval_addresses(&kit).await, [FIRST, SECOND]);
    // It waits again, for another account: an approval is for one.
    let path = format!("{}/destination", refund_page(&project, &claim.id.to_string()));
    leads(&first.post(&path, &ACCOUNT).await, "refund-destined");
    assert_eq!(approval_addresses(&kit).await, [FIRST, SECOND, SECOND], "who entered it cannot approve it");
}

/// Regression: nobody heard of the second wait.
async fn a_refund_that_waits_for_a_second_approval_is_told_again(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let project = &bank.acquired.project;
    let (first, second) = (owner(&kit, project.id, FIRST).await, owner(&kit, project.id, SECOND).await);
    guard(&first, project).await;
    set_up(&kit, relay.mailer());
    let refund = refund_of(&first, project, &payment, "20000").await;
    assert_eq!(approval_addresses(&kit).await, [SECOND]);
    let page = refund_page(project, &refund);
    let seen = version(&second.open(&page).await.text);
    leads(&second.post(&format!("{page}/approve"), &[("version", &seen)]).await, "refund-approved");
    let rules = MoneyRules { refunds: RefundRule::Unsupported, ..MoneyRules::default() };
    bank.acquired.asked.set_money_rules(&bank.acquired.client_id, rules);
    let (now, _) = bank.follow(&kit, &bank.of(&refund).await, (Duration::from_mins(1), 5)).await;
    assert_eq!(now.state, RefundState::RequiresAction);
    leads(&first.post(&format!("{page}/destination"), &ACCOUNT).await, "refund-destined");
    assert_eq!(approval_addresses(&kit).await, [SECOND, SECOND]);
}

async fn who_has_left_or_was_deactivated_meanwhile_gets_no_letter(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, first, _second) = guarded(&kit).await;
    let gone = owner(&kit, project.id, "gone@example.com").await;
    let left = owner(&kit, project.id, "left@example.com").await;
    let payment = paid(&project, "one", 50_000).await;
    set_up(&kit, relay.mailer());
    refund_of(&first, &project, &payment, "20000").await;
    assert_eq!(approval_addresses(&kit).await, ["gone@example.com", "left@example.com", SECOND]);
    kit.engine.deactivate_user(&gone.user, None, false).await.unwrap();
    let left = format!("{}/settings/members/{}/remove", desk(project.id), left.user.id);
    assert_eq!(first.post(&left, &[]).await.status, 303);
    kit.deliver(SendLimits::default());
    assert_eq!(relay.has(1).await[0].to, SECOND);
    until(async || states(&kit).await.iter().all(|state| *state != "waiting")).await;
    let mut ended = states(&kit).await;
    ended.sort_unstable();
    assert_eq!((ended.as_slice(), relay.has(1).await.len()), (["given_up", "given_up", "sent"].as_slice(), 1));
}

/// Regression: an owner who had become a viewer still got the letters about money that waited by then, and an operator who was none any
/// more those about every project.
async fn who_may_not_decide_any_more_gets_no_letter(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, first, _second) = guarded(&kit).await;
    let less = owner(&kit, project.id, "less@example.com").await;
    let orphan = kit.production().await;
    let sale = paid_in_production(&kit, &orphan, 150_000).await;
    let (_, former) = (Person::operator(&kit, OPERATOR).await, Person::operator(&kit, "former@example.com").await);
    let payment = paid(&project, "one", 50_000).await;
    set_up(&kit, relay.mailer());
    refund_of(&first, &project, &payment, "20000").await;
    ask(&orphan, &sale, &json!({ "amount": 10_000, "destination": destination() })).await.expect(201);
    assert_eq!(approval_addresses(&kit).await, ["former@example.com", "less@example.com", OPERATOR, SECOND]);
    let role = format!("{}/settings/members/{}/role", desk(project.id), less.user.id);
    assert_eq!(first.post(&role, &[("role", "viewer")]).await.status, 303);
    kit.engine.set_operator(&former.user, false).await.unwrap();
    kit.deliver(SendLimits::default());
    until(async || states(&kit).await.iter().all(|state| *state != "waiting")).await;
    let mut taken: Vec<String> = relay.taken().into_iter().map(|letter| letter.to).collect();
    taken.sort_unstable();
    assert_eq!(taken, [OPERATOR, SECOND]);
    let mut ended = states(&kit).await;
    ended.sort_unstable();
    assert_eq!(ended, ["given_up", "given_up", "sent", "sent"]);
}

async fn the_only_owner_approves_their_own_and_operators_are_not_told(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let project = kit.production().await;
    let owner = owner(&kit, project.id, FIRST).await;
    Person::operator(&kit, OPERATOR).await;
    guard(&owner, &project).await;
    let payment = paid_in_production(&kit, &project, 150_000).await;
    set_up(&kit, relay.mailer());
    refund_to_account(&owner, &project, &payment, "20000").await;
    assert_eq!(approval_addresses(&kit).await, [""; 0]);
    ask(&project, &payment, &json!({ "amount": 10_000, "destination": destination() })).await.expect(201);
    assert_eq!(approval_addresses(&kit).await, [FIRST], "they have not asked for this one");
}

async fn operators_are_told_where_every_owner_has_taken_part(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let project = kit.production().await;
    let (first, second) = (owner(&kit, project.id, FIRST).await, owner(&kit, project.id, SECOND).await);
    Person::operator(&kit, OPERATOR).await;
    guard(&first, &project).await;
    let payment = paid_in_production(&kit, &project, 150_000).await;
    set_up(&kit, relay.mailer());
    let refund = refund_of(&first, &project, &payment, "20000").await;
    assert_eq!(approval_addresses(&kit).await, [""; 0], "it waits for an account");
    let path = format!("{}/destination", refund_page(&project, &refund));
    leads(&second.post(&path, &ACCOUNT).await, "refund-destined");
    assert_eq!(approval_addresses(&kit).await, [OPERATOR], "one owner asked, and the other typed the account");
}

async fn held_money_whose_return_waits_for_an_approval_is_told_too(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, ..) = guarded(&kit).await;
    let held = held_amount(&project, &pending_qris(&project, 15_000).await, 14_000).await;
    set_up(&kit, relay.mailer());
    let body = json!({ "note": "too little", "destination": destination() });
    decide(&project, &held, "return", &body).await.expect(200);
    assert_eq!(approval_addresses(&kit).await, [FIRST, SECOND]);
}

async fn a_member_switches_letters_about_approvals_off_and_on_again(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, first, second) = guarded(&kit).await;
    let payment = paid(&project, "one", 50_000).await;
    set_up(&kit, relay.mailer());
    let choices = "/dashboard/account/letters";
    assert!(second.open(choices).await.text.contains("name=\"approval_wanted\" value=\"on\" checked"));
    assert_eq!(second.post(choices, &[("language", "id"), ("money_held", "on")]).await.status, 303);
    refund_of(&first, &project, &payment, "10000").await;
    assert_eq!(approval_addresses(&kit).await, [""; 0]);
    assert_eq!(second.post(choices, &[("language", "en"), ("approval_wanted", "on")]).await.status, 303);
    refund_of(&first, &project, &payment, "10000").await;
    assert_eq!(approval_addresses(&kit).await, [SECOND]);
}
