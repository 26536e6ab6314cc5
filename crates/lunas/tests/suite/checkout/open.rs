//! Opening a page of the checkout changes nothing, resumes what this browser began, and says why a link is closed
//! (docs/contract.md, decisions §5).

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use domain::bank::Bank;
use engine::ProjectUpdate;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, on_sqlite_alone};

use crate::support::{
    customer::{Customer, heading, is_page, led_to, link_path, pay_path},
    json::text,
    links::{cancel_link, create_link},
    payments::{count_payments, fetch, pending_qris, report, simulate_paid},
    rows::rows,
};

on_sqlite_alone![
    looking_at_a_page_creates_claims_and_changes_nothing,
    a_scanner_that_opens_a_link_fifty_times_changes_nothing,
    reopening_a_link_resumes_this_browsers_payment_and_no_other_browsers,
    a_failed_or_expired_attempt_is_not_resumed,
    a_paid_single_use_link_leads_its_payer_to_the_receipt_and_shows_others_that_it_is_paid,
    a_closed_link_shows_why_takes_no_form_and_makes_nothing,
    a_production_project_that_is_not_approved_takes_no_customers,
    a_link_whose_methods_the_project_no_longer_offers_takes_no_customers,
    a_direct_payments_address_shows_the_payment_and_no_choice,
];

const MILLISECOND: Duration = Duration::from_millis(1);

/// Opens a page and reads only its status: event streams have no end.
async fn opening_status(customer: &Customer, method: &Method, path: &str) -> u16 {
    let response = customer.begin(customer.request(method.clone(), path)).await;
    let status = response.status().as_u16();
    if !path.ends_with("/events") {
        response.bytes().await.unwrap();
    }
    status
}

/// Addresses of every page and file, in every state.
async fn everything(kit: &Kit, project: &TestProject) -> Vec<String> {
    let mut paths = Vec::new();
    let mut payments = Vec::new();
    for many in [false, true] {
        let link = create_link(project, json!({ "allow_multiple_payments": many })).await;
        payments.push(Customer::of(kit).pays_by(project, &link, "qris").await);
        let account = Customer::of(kit).pays_by(project, &link, "virtual_account:bca").await;
        paths.push(link_path(&link));
        paths.push(format!("{}?change={}&lang=en", link_path(&link), text(&account, "id")));
        payments.push(account);
    }
    for outcome in ["processing", "failed", "paid"] {
        let link = create_link(project, json!({})).await;
        let payment = Customer::of(kit).pays_by(project, &link, "qris").await;
        report(project, &payment, outcome).await;
        paths.push(link_path(&link));
        payments.push(payment);
    }
    payments.push(pending_qris(project, 15_000).await);
    for payment in payments {
        let page = pay_path(&payment);
        paths.extend(["", "?lang=id", "/status", "/events", "/qr.png"].map(|more| format!("{page}{more}")));
    }
    paths
}

async fn looking_at_a_page_creates_claims_and_changes_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let paths = everything(&kit, &project).await;
    let before = rows(&kit.database);
    for path in &paths {
        let customer = Customer::of(&kit);
        let found = opening_status(&customer, &Method::GET, path).await;
        let again = opening_status(&customer, &Method::HEAD, path).await;
        assert!(found == 200 || found == 404 && path.ends_with("/qr.png"), "{path}: {found}");
        assert_eq!(found, again, "HEAD {path}");
    }
    // Opening a page does not record expiries either.
    kit.clock.advance(Duration::from_hours(48));
    for path in &paths {
        opening_status(&Customer::of(&kit), &Method::GET, path).await;
    }
    assert_eq!(rows(&kit.database), before);
}

async fn a_scanner_that_opens_a_link_fifty_times_changes_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let customer = Customer::of(&kit);
    let payment = customer.pays_by(&project, &link, "qris").await;
    let before = rows(&kit.database);
    for _ in 0..50 {
        let scanner = Customer::of(&kit);
        is_page("the link", &scanner.open(&link_path(&link)).await, 200);
        is_page("the payment", &scanner.open(&pay_path(&payment)).await, 200);
    }
    assert_eq!(rows(&kit.database), before);
    assert_eq!(led_to(&customer.open(&link_path(&link)).await), pay_path(&payment));
}

async fn reopening_a_link_resumes_this_browsers_payment_and_no_other_browsers(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for many in [false, true] {
        let link = create_link(&project, json!({ "allow_multiple_payments": many })).await;
        let (one, other) = (Customer::of(&kit), Customer::of(&kit));
        let payment = one.pays_by(&project, &link, "qris").await;
        assert_eq!(led_to(&one.open(&link_path(&link)).await), pay_path(&payment));
        is_page("another browser", &other.open(&link_path(&link)).await, 200);
        let theirs = other.pays_by(&project, &link, "qris").await;
        assert_ne!(theirs["id"], payment["id"]);
        report(&project, &payment, "processing").await;
        assert_eq!(led_to(&one.open(&link_path(&link)).await), pay_path(&payment));
        assert_eq!(led_to(&other.open(&link_path(&link)).await), pay_path(&theirs));
    }
}

async fn a_failed_or_expired_attempt_is_not_resumed(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let customer = Customer::of(&kit);
    let failed = customer.pays_by(&project, &link, "qris").await;
    report(&project, &failed, "failed").await;
    is_page("after a failure", &customer.open(&link_path(&link)).await, 200);
    let expired = customer.pays_by(&project, &link, "qris").await;
    kit.clock.advance(Duration::from_mins(15));
    assert_eq!(led_to(&customer.open(&link_path(&link)).await), pay_path(&expired));
    kit.clock.advance(MILLISECOND);
    is_page("after the expiry", &customer.open(&link_path(&link)).await, 200);
    assert_eq!(fetch(&project, &expired).await["status"], "expired");
}

async fn a_paid_single_use_link_leads_its_payer_to_the_receipt_and_shows_others_that_it_is_paid(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let (payer, other) = (Customer::of(&kit), Customer::of(&kit));
    let payment = payer.pays_by(&project, &link, "qris").await;
    simulate_paid(&project, &payment).await;
    assert_eq!(led_to(&payer.open(&link_path(&link)).await), pay_path(&payment));
    let form = [("method", "qris")];
    assert_eq!(led_to(&payer.post(&link_path(&link), &form).await), pay_path(&payment));
    let page = other.open(&link_path(&link)).await;
    is_page("another browser", &page, 200);
    assert!(!page.text.contains("<form"));
    is_page("another browser's form", &other.post(&link_path(&link), &form).await, 409);
    assert_eq!(count_payments(&project, "").await, 1);
}

/// How a link can be closed to customers.
#[derive(Clone, Copy, Debug)]
enum Closed {
    Cancelled,
    Expired,
    Paid,
    BeingPaid,
    ProjectInactive,
}

async fn close(kit: &Kit, project: &TestProject, link: &Value, how: Closed) {
    match how {
        Closed::Cancelled => cancel_link(project, link).await,
        Closed::Expired => kit.clock.advance(Duration::from_mins(1) + MILLISECOND),
        Closed::Paid | Closed::BeingPaid => {
            let payment = Customer::of(kit).pays_by(project, link, "qris").await;
            let outcome = if matches!(how, Closed::Paid) { "paid" } else { "processing" };
            report(project, &payment, outcome).await;
        }
        Closed::ProjectInactive => {
            kit.update(project.id, ProjectUpdate { active: Some(false), ..Default::default() }).await;
        }
    }
}

/// Checks that the link's page has no form and that no payment can be made; returns the page.
async fn is_closed(kit: &Kit, row: &str, link: &Value) -> Reply {
    let (customer, before) = (Customer::of(kit), rows(&kit.database));
    let page = customer.open(&link_path(link)).await;
    is_page(row, &page, 200);
    assert!(!page.text.contains("<form"), "{row}");
    for form in [&[("method", "qris")][..], &[("method", "junk")], &[]] {
        let refused = customer.post(&link_path(link), form).await;
        is_page(row, &refused, 409);
        assert!(!refused.text.contains("<form"), "{row}");
    }
    assert_eq!(rows(&kit.database), before, "{row}");
    page
}

async fn a_closed_link_shows_why_takes_no_form_and_makes_nothing(kit: Arc<Kit>) {
    let mut headings = Vec::new();
    for how in [Closed::Cancelled, Closed::Expired, Closed::Paid, Closed::BeingPaid, Closed::ProjectInactive] {
        let project = kit.sandbox().await;
        let expires_at = kit.engine.now().plus(Duration::from_mins(1)).to_string();
        let link = create_link(&project, json!({ "expires_at": expires_at })).await;
        close(&kit, &project, &link, how).await;
        headings.push(heading(&is_closed(&kit, &format!("{how:?}"), &link).await));
    }
    assert_eq!(headings.pop().as_ref(), headings.get(1), "who cannot pay is not told about the merchant's affairs");
    let different: BTreeSet<&String> = headings.iter().collect();
    assert_eq!(different.len(), 4, "{headings:?}");
}

async fn a_production_project_that_is_not_approved_takes_no_customers(kit: Arc<Kit>) {
    let project = kit.production().await;
    let link = create_link(&project, json!({})).await;
    kit.update(project.id, ProjectUpdate { approved: Some(false), ..Default::default() }).await;
    is_closed(&kit, "not approved", &link).await;
}

async fn a_link_whose_methods_the_project_no_longer_offers_takes_no_customers(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let bank = json!([{ "type": "virtual_account", "bank": "bca" }]);
    let link = create_link(&project, json!({ "allowed_payment_methods": bank })).await;
    kit.update(project.id, ProjectUpdate { banks: Some(vec![Bank::Bni]), ..Default::default() }).await;
    is_closed(&kit, "no method is left", &link).await;
}

async fn a_direct_payments_address_shows_the_payment_and_no_choice(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    let path = text(&payment, "checkout_url").strip_prefix(&format!("http://{}", kit.address)).unwrap().to_owned();
    assert_eq!(path, pay_path(&payment));
    let customer = Customer::of(&kit);
    let pending = customer.open(&path).await;
    is_page("pending", &pending, 200);
    assert!(!pending.text.contains("/p/pl_") && !pending.text.contains("name=\"method\""), "there is no choice");
    for outcome in ["processing", "paid"] {
        report(&project, &payment, outcome).await;
        is_page(outcome, &customer.open(&path).await, 200);
    }
    assert_eq!(customer.open(&format!("{path}/status")).await.expect(200), json!({ "status": "paid" }));
}
