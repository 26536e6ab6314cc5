//! Letters to customers about money that goes back: the link on which they name their account, and that the money has gone.

use std::sync::Arc;

use domain::{access::Role, letter::LetterKind};
use serde_json::{Value, json};
use testkit::{Kit, Relay, TakenLetter, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    claims::ClaimLink,
    customer::{Customer, link_path, payment_of},
    dashboard::leads,
    held::held,
    letters::{letters, link_with_email, pay_as, send_to, set_up, states, with_receipts},
    links::create_link,
    people::Person,
    refund_pages::{refund_led_to, refund_page},
    refunds::{refund, simulate_end},
    rows::erase_customer,
    wait::until,
};

on_every_database![
    held_money_that_goes_back_asks_its_customer_by_letter_where_to on 2 threads,
    a_customer_who_is_erased_leaves_no_letter_about_refunds_behind on 2 threads,
];

on_sqlite_alone![
    held_money_asks_nobody_where_the_project_sends_no_receipts_or_no_address_was_left on 2 threads,
    a_new_link_is_sent_too_and_the_old_one_leads_nowhere on 2 threads,
];

/// A customer who is a member of the sandbox, which writes to nobody else.
const EMAIL: &str = "siti@example.com";

/// A sandbox with an owner, and a link that asks for an address.
async fn shop(kit: &Kit) -> (TestProject, Person, Value) {
    let project = kit.sandbox().await;
    Person::member(kit, project.id, Role::Viewer, EMAIL).await;
    let owner = Person::member(kit, project.id, Role::Owner, "owner@example.com").await;
    let link = link_with_email(&project).await;
    (project, owner, link)
}

/// A customer begins to pay through the link.
async fn begin(kit: &Kit, project: &TestProject, link: &Value, answers: &[(&str, &str)]) -> Value {
    let answers = [&[("method", "qris")], answers].concat();
    payment_of(project, &Customer::of(kit).choose_at(&link_path(link), &answers).await).await
}

/// The path of the page on which a customer names an account, as their letter has it.
fn claim_path(letter: &TakenLetter) -> String {
    let words = letter.words();
    let token = words.split("/r/").nth(1).unwrap_or_else(|| panic!("no link in {words}"));
    format!("/r/{}", token.chars().take_while(char::is_ascii_hexdigit).collect::<String>())
}

async fn kinds(kit: &Kit) -> Vec<LetterKind> {
    letters(kit).await.into_iter().map(|letter| letter.kind).collect()
}

/// Held money of less than the payment's amount, of which the owner says that it goes back to where the customer says.
async fn send_back(kit: &Kit, project: &TestProject, owner: &Person, payment: &Value) -> String {
    let name = payment["id"].as_str().unwrap();
    let held = held(kit, project, payment, name, 14_903).await;
    refund_led_to(&held.send(owner, project, "return", &[("way", "claim"), ("note", "kurang")]).await)
}

async fn held_money_that_goes_back_asks_its_customer_by_letter_where_to(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, owner, link) = shop(&kit).await;
    with_receipts(&kit, &project).await;
    let payment = begin(&kit, &project, &link, &[("email", EMAIL)]).await;
    // The owner wants no letters about held money, so that those to the customer are alone.
    owner.post("/dashboard/account/letters", &[("language", "id")]).await;
    send_to(&kit, &relay);
    let refund = send_back(&kit, &project, &owner, &payment).await;
    let taken = relay.has(1).await;
    assert_eq!((taken[0].to.as_str(), kinds(&kit).await), (EMAIL, vec![LetterKind::RefundClaim]));
    assert!(taken[0].words().contains("Rp14.903"), "{}", taken[0].words());
    until(async || states(&kit).await == ["sent"]).await;
    let shown = kit.engine.shown_letter(letters(&kit).await[0].id).await.unwrap();
    assert!(!shown.has_content, "the link is deleted once it is sent");
    let project_of_claim = kit.engine.project(project.id).await.unwrap();
    let claim =
        ClaimLink { id: refund.parse().unwrap(), project: project_of_claim, payment, path: claim_path(&taken[0]) };
    assert!(claim.name_account(&Customer::of(&kit)).await.status.as_u16() < 400);
    simulate_end(&project, &json!({ "id": refund }), "succeeded").await.expect(200);
    let taken = relay.has(2).await;
    assert_eq!(taken[1].to, EMAIL);
    assert!(taken[1].words().contains("*6789"), "{}", taken[1].words());
    assert!(kinds(&kit).await.contains(&LetterKind::RefundMade));
}

async fn held_money_asks_nobody_where_the_project_sends_no_receipts_or_no_address_was_left(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, owner, link) = shop(&kit).await;
    let optional = create_link(&project, json!({ "allow_multiple_payments": true })).await;
    let first = begin(&kit, &project, &link, &[("email", EMAIL)]).await;
    let nameless = begin(&kit, &project, &optional, &[]).await;
    let stranger = begin(&kit, &project, &link, &[("email", "stranger@example.com")]).await;
    owner.post("/dashboard/account/letters", &[("language", "id")]).await;
    set_up(&kit, relay.mailer());
    send_back(&kit, &project, &owner, &first).await;
    with_receipts(&kit, &project).await;
    for payment in [&nameless, &stranger] {
        send_back(&kit, &project, &owner, payment).await;
    }
    assert_eq!(letters(&kit).await, []);
}

async fn a_new_link_is_sent_too_and_the_old_one_leads_nowhere(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, owner, link) = shop(&kit).await;
    let payment = pay_as(&kit, &project, &link, EMAIL).await;
    with_receipts(&kit, &project).await;
    send_to(&kit, &relay);
    // An amount that ends in 902 cannot go back the way that it came.
    let refund = refund(&project, &payment, 1_902).await;
    let old = claim_path(&relay.has(1).await[0]);
    let path = refund_page(&project, refund["id"].as_str().unwrap());
    // In the same moment: that must not look like the same letter.
    leads(&owner.post(&format!("{path}/link"), &[]).await, "refund-link-renewed");
    let new = claim_path(&relay.has(2).await[1]);
    assert_ne!(old, new);
    let customer = Customer::of(&kit);
    assert_eq!((customer.open(&old).await.status.as_u16(), customer.open(&new).await.status.as_u16()), (404, 200));
    assert_eq!(kinds(&kit).await, [LetterKind::RefundClaim; 2]);
}

async fn a_customer_who_is_erased_leaves_no_letter_about_refunds_behind(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, _owner, link) = shop(&kit).await;
    let payment = pay_as(&kit, &project, &link, EMAIL).await;
    let other = pay_as(&kit, &project, &link, EMAIL).await;
    with_receipts(&kit, &project).await;
    set_up(&kit, relay.mailer());
    for payment in [&payment, &other] {
        refund(&project, payment, 1_902).await;
        let made = refund(&project, payment, 1_903).await;
        simulate_end(&project, &made, "succeeded").await.expect(200);
    }
    assert_eq!(letters(&kit).await.len(), 4);
    kit.engine.delete_letters_to_erased_customers().await.unwrap();
    assert_eq!(letters(&kit).await.len(), 4);
    erase_customer(&kit.database, payment["id"].as_str().unwrap());
    kit.engine.delete_letters_to_erased_customers().await.unwrap();
    let mut left = kinds(&kit).await;
    left.sort_unstable();
    assert_eq!(left, [LetterKind::RefundClaim, LetterKind::RefundMade]);
}
