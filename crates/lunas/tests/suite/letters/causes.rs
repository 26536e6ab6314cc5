//! What causes a letter, and who gets it.

use std::{sync::Arc, time::Duration};

use domain::{access::Role, letter::LetterKind, time::HOUR};
use serde_json::json;
use testkit::{Answer, Kit, Relay, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::Customer,
    held::held_late,
    letters::{letters, link_with_email, pay_as, send_to, set_up, with_receipts},
    payments::{pending_qris, simulate_paid},
    people::{PASSWORD, Person, make, sign_in},
    wait::until,
    webhooks::{newest_event, wait_for_attempts},
};

on_every_database![
    owners_are_told_of_held_money_and_nobody_else on 2 threads,
    a_customer_who_left_an_address_gets_a_receipt_where_the_project_wants_that on 2 threads,
    webhooks_that_fail_for_an_hour_are_told_once_for_each_stretch on 2 threads,
];

on_sqlite_alone![
    a_sign_in_from_a_new_browser_is_told_and_one_from_a_known_browser_is_not on 2 threads,
    a_changed_password_is_told on 2 threads,
];

const MINUTE: Duration = Duration::from_mins(1);

async fn kinds(kit: &Kit) -> Vec<LetterKind> {
    letters(kit).await.into_iter().map(|letter| letter.kind).collect()
}

async fn a_sign_in_from_a_new_browser_is_told_and_one_from_a_known_browser_is_not(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    send_to(&kit, &relay);
    let user = make(&kit, "siti@example.com", false).await;
    let browser = Customer::of(&kit);
    assert_eq!(sign_in(&browser, "siti@example.com", PASSWORD).await.status, 303);
    assert_eq!(kinds(&kit).await, [], "who has just made the account knows");
    kit.clock.advance(2 * MINUTE);
    assert_eq!(sign_in(&browser, "siti@example.com", PASSWORD).await.status, 303);
    assert_eq!(kinds(&kit).await, [], "the browser is known");
    assert_eq!(sign_in(&Customer::of(&kit), "siti@example.com", "a wrong password").await.status, 401);
    assert_eq!(kinds(&kit).await, [], "nobody has signed in");
    assert_eq!(sign_in(&Customer::of(&kit), "siti@example.com", PASSWORD).await.status, 303);
    let taken = relay.has(1).await;
    assert_eq!((taken[0].to.as_str(), kinds(&kit).await), ("siti@example.com", vec![LetterKind::NewDevice]));
    assert_eq!(letters(&kit).await[0].user_id, Some(user.id));
    assert!(taken[0].header("List-Unsubscribe").is_none(), "nobody can switch it off");
    assert!(taken[0].words().contains("127.0.0.1"));
}

async fn a_changed_password_is_told(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    send_to(&kit, &relay);
    let person = Person::new(&kit, "siti@example.com").await;
    let wrong = [("old_password", "not the password"), ("new_password", "another long one")];
    assert_eq!(person.post("/dashboard/account/password", &wrong).await.status, 422);
    assert_eq!(kinds(&kit).await, []);
    let right = [("old_password", PASSWORD), ("new_password", "another long one")];
    assert_eq!(person.post("/dashboard/account/password", &right).await.status, 303);
    relay.has(1).await;
    assert_eq!(kinds(&kit).await, [LetterKind::PasswordChanged]);
}

async fn owners_are_told_of_held_money_and_nobody_else(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let project = kit.sandbox().await;
    for (role, email) in [(Role::Owner, "owner@example.com"), (Role::Developer, "dev@example.com")] {
        Person::member(&kit, project.id, role, email).await;
    }
    Person::operator(&kit, "operator@example.com").await;
    send_to(&kit, &relay);
    let held = held_late(&kit, &project, "late").await;
    let taken = relay.has(1).await;
    assert_eq!(taken[0].to, "owner@example.com");
    assert!(taken[0].words().contains(&held.path(&project)), "it leads to the decision: {}", taken[0].words());
    assert!(taken[0].header("List-Unsubscribe").unwrap().starts_with(&format!("<{}", kit.pages_url)));
    assert_eq!(taken[0].header("List-Unsubscribe-Post").as_deref(), Some("List-Unsubscribe=One-Click"));
    assert_eq!(kinds(&kit).await, [LetterKind::MoneyHeld]);
}

async fn a_customer_who_left_an_address_gets_a_receipt_where_the_project_wants_that(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    with_receipts(&kit, &project).await;
    send_to(&kit, &relay);
    let link = link_with_email(&other).await;
    pay_as(&kit, &other, &link, "siti@example.com").await;
    assert_eq!(kinds(&kit).await, [], "off by default");
    let direct = pending_qris(&project, 20_000).await;
    simulate_paid(&project, &direct).await;
    assert_eq!(kinds(&kit).await, [], "nobody left an address");
    let link = link_with_email(&project).await;
    let payment = pay_as(&kit, &project, &link, "Siti@Example.com").await;
    let taken = relay.has(1).await;
    assert_eq!(taken[0].to, "siti@example.com");
    assert!(taken[0].words().contains(payment["id"].as_str().unwrap()));
    assert_eq!(kinds(&kit).await, [LetterKind::Receipt]);
    let again = json!({ "outcome": "paid", "receipt_id": "once more" });
    project.api.post(&format!("/v1/sandbox/payments/{}/simulate", payment["id"].as_str().unwrap()), &again).await;
    let receipts = kinds(&kit).await.into_iter().filter(|kind| *kind == LetterKind::Receipt).count();
    assert_eq!(receipts, 1, "a second payment of the same bill is held, and no receipt");
}

async fn webhooks_that_fail_for_an_hour_are_told_once_for_each_stretch(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, receiver) = kit.hooked(Answer::Status(500)).await;
    for (role, email) in [(Role::Owner, "owner@example.com"), (Role::Viewer, "viewer@example.com")] {
        Person::member(&kit, project.id, role, email).await;
    }
    send_to(&kit, &relay);
    kit.may_leave_deliveries_due();
    let pay = async || {
        let payment = pending_qris(&project, 15_000).await;
        simulate_paid(&project, &payment).await;
    };
    pay().await;
    // The next attempt is due some time after the record of the one before, so that is waited for.
    let event = newest_event(&project).await;
    wait_for_attempts(&kit, &event, 1).await;
    kit.clock.advance(HOUR - MINUTE);
    wait_for_attempts(&kit, &event, 2).await;
    assert_eq!(kinds(&kit).await, [], "it has not lasted for an hour");
    kit.clock.advance(2 * MINUTE);
    let taken = relay.has(1).await;
    assert_eq!(taken[0].to, "owner@example.com");
    assert!(taken[0].words().contains(&receiver.url()));
    kit.clock.advance(HOUR);
    wait_for_attempts(&kit, &event, 3).await;
    receiver.answer(Answer::Status(200));
    kit.clock.advance(HOUR);
    until(async || kit.store.letter_alerts("").await.unwrap().is_empty()).await;
    assert_eq!(kinds(&kit).await, [LetterKind::WebhookFailing], "once for the stretch");
    receiver.answer(Answer::Status(500));
    pay().await;
    wait_for_attempts(&kit, &newest_event(&project).await, 1).await;
    kit.clock.advance(HOUR + MINUTE);
    relay.has(2).await;
    assert_eq!(kinds(&kit).await, [LetterKind::WebhookFailing; 2]);
}

/// A letter is caused by its change: a change that is refused causes none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_is_refused_queues_no_letter() {
    testkit::on_sqlite(async |kit: Arc<Kit>| {
        let relay = Relay::start().await;
        set_up(&kit, relay.mailer());
        let project = kit.sandbox().await;
        let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
        let path = format!("/dashboard/{}/settings/members", project.id);
        let invite =
            [("email", "owner@example.com"), ("role", "viewer"), ("attempt", "0123456789abcdef0123456789abcdef")];
        assert_eq!(owner.post(&path, &invite).await.status, 409, "that address is a member already");
        let invite =
            [("email", "budi@example.com"), ("role", "viewer"), ("attempt", "fedcba9876543210fedcba9876543210")];
        for _ in 0..2 {
            assert_eq!(owner.post(&path, &invite).await.status, 200);
        }
        assert_eq!(kinds(&kit).await, [LetterKind::Invitation], "a form that is sent twice invites once");
    })
    .await;
}
