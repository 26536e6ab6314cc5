//! What letters about refunds say, sent to a URL: that money has gone back, and that a refund waits for an approval. Never the link on
//! which a customer names an account.

use std::sync::Arc;

use domain::{access::Role, language::Language, letter::LetterKind, letter_queue::Channel};
use engine::OperatorUrl;
use gateway::SendLimits;
use serde_json::{Value, json};
use testkit::{Kit, Options, Receiver, Relay, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, link_path, payment_of},
    dashboard::leads,
    json::{id, text},
    letters::{letters, link_with_email, pay_as, set_up, states, with_receipts},
    links::create_link,
    notices::{notice_to, verified},
    payments::{paid, simulate_paid},
    people::{Person, desk},
    refund_pages::{paid_in_production, refund_of, refund_page},
    refunds::{ask, destination, refund, simulate_end},
    wait::until,
};

on_every_database![
    a_refund_that_was_made_is_a_notice_with_what_the_customer_left on 2 threads,
    an_approval_that_is_wanted_is_one_notice_however_many_owners_there_are on 2 threads,
];

on_sqlite_alone![
    without_receipts_there_a_refund_that_was_made_is_no_notice on 2 threads,
    the_link_on_which_a_customer_names_an_account_never_becomes_a_notice on 2 threads,
    operators_are_asked_at_the_url_of_the_installation_where_no_owner_may_approve on 2 threads,
];

/// The kinds of the notices in the queue, oldest first.
async fn noticed_kinds(kit: &Kit) -> Vec<LetterKind> {
    let notices = letters(kit).await.into_iter().filter(|letter| letter.channel == Channel::Notice);
    notices.map(|letter| letter.kind).collect()
}

/// A customer who left a phone number pays.
async fn bought(kit: &Kit, project: &TestProject) -> Value {
    let fields = json!({ "allow_multiple_payments": true, "customer_fields": { "phone": true, "name": true } });
    let link = create_link(project, fields).await;
    let answers = [("method", "qris"), ("phone", "0812-3456-7890"), ("name", "Siti")];
    let reply = Customer::of(kit).choose_at(&link_path(&link), &answers).await;
    simulate_paid(project, &payment_of(project, &reply).await).await
}

/// Gives back a part of a payment, which arrives.
async fn give_back(project: &TestProject, payment: &Value) -> Value {
    let made = refund(project, payment, 1_903).await;
    simulate_end(project, &made, "succeeded").await.expect(200)
}

async fn a_refund_that_was_made_is_a_notice_with_what_the_customer_left(kit: Arc<Kit>) {
    let (project, receiver) = (kit.sandbox().await, Receiver::start().await);
    let payment = bought(&kit, &project).await;
    let reachable_by_nobody = paid(&project, "api", 20_000).await;
    let noticed = notice_to(&kit, project.id, &receiver, &[("receipts", "on"), ("language", "en")]).await;
    kit.deliver(SendLimits::default());
    give_back(&project, &reachable_by_nobody).await;
    let made = give_back(&project, &payment).await;
    let body = verified(&kit, &receiver.arrived(1).await[0], &noticed.secret);
    let values = &body["values"];
    assert_eq!((&body["kind"], &values["amount"]), (&json!("refund_made"), &json!(1_903)));
    assert_eq!((&values["payment_id"], &values["made_at"]), (&payment["id"], &made["succeeded_at"]));
    assert_eq!(values["customer"]["name"], json!("Siti"));
    assert!(text(&values["customer"], "phone").contains("7890"), "{values}");
    assert!(text(&body, "text").contains("Rp1.903"), "{body}");
    until(async || states(&kit).await == ["sent"]).await;
    assert_eq!(noticed_kinds(&kit).await, [LetterKind::RefundMade], "of the other customer nobody knows anything");
}

async fn without_receipts_there_a_refund_that_was_made_is_no_notice(kit: Arc<Kit>) {
    let (project, receiver) = (kit.sandbox().await, Receiver::start().await);
    let payment = bought(&kit, &project).await;
    notice_to(&kit, project.id, &receiver, &[]).await;
    give_back(&project, &payment).await;
    assert_eq!(letters(&kit).await, []);
}

async fn the_link_on_which_a_customer_names_an_account_never_becomes_a_notice(kit: Arc<Kit>) {
    let (project, receiver, relay) = (kit.sandbox().await, Receiver::start().await, Relay::start().await);
    let noticed = notice_to(&kit, project.id, &receiver, &[("receipts", "on"), ("summary", "daily")]).await;
    let link = link_with_email(&project).await;
    // A sandbox writes to its members alone.
    let payment = pay_as(&kit, &project, &link, noticed.owner.user.email.as_str()).await;
    with_receipts(&kit, &project).await;
    let before = noticed_kinds(&kit).await;
    set_up(&kit, relay.mailer());
    // An amount that ends in 902 cannot go back the way that it came.
    let asks = refund(&project, &payment, 1_902).await;
    assert_eq!(text(&asks, "status"), "requires_action");
    let queued: Vec<LetterKind> = letters(&kit).await.into_iter().map(|letter| letter.kind).collect();
    assert!(queued.contains(&LetterKind::RefundClaim), "{queued:?}");
    assert_eq!(noticed_kinds(&kit).await, before);
}

async fn an_approval_that_is_wanted_is_one_notice_however_many_owners_there_are(kit: Arc<Kit>) {
    let (project, receiver) = (kit.sandbox().await, Receiver::start().await);
    let noticed = notice_to(&kit, project.id, &receiver, &[]).await;
    for email in ["second@example.com", "third@example.com"] {
        Person::member(&kit, project.id, Role::Owner, email).await;
    }
    let path = format!("{}/settings/refunds", desk(project.id));
    leads(&noticed.owner.post(&path, &[("approval_above", "0")]).await, "settings-saved");
    let payment = paid(&project, "one", 50_000).await;
    kit.deliver(SendLimits::default());
    let refund = refund_of(&noticed.owner, &project, &payment, "20000").await;
    let body = verified(&kit, &receiver.arrived(1).await[0], &noticed.secret);
    let values = &body["values"];
    let page = format!("{}{}", kit.pages_url, refund_page(&project, &refund));
    for (name, expected) in [
        ("amount", json!(20_000)),
        ("asked_by", json!(noticed.owner.user.email.as_str())),
        ("refund_id", json!(refund)),
        ("payment_id", payment["id"].clone()),
        ("page_url", json!(page)),
        ("destination", Value::Null),
        ("is_sandbox", json!(true)),
    ] {
        assert_eq!(values[name], expected, "{name}: {values}");
    }
    assert_eq!(body["kind"], json!("approval_wanted"));
    assert!(text(&body, "text").contains(&page), "{body}");
    until(async || states(&kit).await == ["sent"]).await;
    assert_eq!(noticed_kinds(&kit).await, [LetterKind::ApprovalWanted]);
}

async fn operators_are_asked_at_the_url_of_the_installation_where_no_owner_may_approve(kit: Arc<Kit>) {
    let receiver = Receiver::start().await;
    let secret = "quiet ".repeat(6);
    let operator_url = OperatorUrl {
        url: receiver.url(),
        secret: secret.clone().into(),
        language: Language::English,
        https_only: false,
    };
    let options = Options { operator_url: Some(operator_url), ..Options::default() };
    kit.on_another(options, async |kit: Arc<Kit>| {
        let project = kit.production().await;
        let payment = paid_in_production(&kit, &project, 150_000).await;
        kit.deliver(SendLimits::default());
        let body = json!({ "amount": 10_000, "destination": destination() });
        let refund = ask(&project, &payment, &body).await.expect(201);
        let body = verified(&kit, &receiver.arrived(1).await[0], &secret);
        assert_eq!((&body["kind"], &body["project_id"]), (&json!("approval_wanted"), &Value::Null));
        let page = format!("{}/dashboard/operator/refunds/{}", kit.pages_url, id(&refund));
        assert_eq!((&body["values"]["page_url"], &body["values"]["asked_by"]), (&json!(page), &Value::Null));
        Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
        let body = json!({ "amount": 5_000, "destination": destination() });
        ask(&project, &payment, &body).await.expect(201);
        until(async || states(&kit).await == ["sent"]).await;
        assert_eq!(noticed_kinds(&kit).await, [LetterKind::ApprovalWanted], "an owner may approve the second");
    })
    .await;
}
