//! `return_url`: the pages of payments that have ended lead back to the merchant's site.

use std::{sync::Arc, time::Duration};

use domain::project::SuccessWord;
use engine::ProjectUpdate;
use serde_json::{Value, json};
use testkit::{Browser, Kit, Look, TestProject, on_sqlite, on_sqlite_alone};

use crate::support::{
    customer::{Customer, attribute, is_page, pay_path},
    json::{text, with},
    links::{cancel_link, create_link},
    payments::{create, report, simulate_paid},
    samples,
};

on_sqlite_alone![
    every_end_leads_back_with_the_payments_id_reference_and_status,
    a_page_without_a_return_url_and_one_that_can_still_be_paid_lead_nowhere,
    only_a_new_receipt_leaves_by_itself,
    the_way_back_uses_the_projects_word_for_success,
];

const SHOP: &str = "https://shop.example/done?order=1&b=%20x#top";

async fn direct(project: &TestProject, reference: &str, url: &str) -> Value {
    let body = with(samples::qris(project, 15_000), "return_url", json!(url));
    create(project, &with(body, "reference", json!(reference))).await
}

/// The address that the page's button leads to.
async fn leads_to(kit: &Kit, payment: &Value) -> String {
    let page = Customer::of(kit).open(&pay_path(payment)).await;
    is_page("end", &page, 200);
    let (_, button) = page.text.split_once("id=\"back\"").unwrap_or_else(|| panic!("no way back: {}", page.text));
    assert!(button.contains("Kembali ke "), "{button}");
    attribute(button, "href").replace("&#38;", "&")
}

fn expected(payment: &Value, reference: &str, status: &str) -> String {
    let id = text(payment, "id");
    format!("https://shop.example/done?order=1&b=%20x&payment_id={id}&reference={reference}&status={status}#top")
}

async fn every_end_leads_back_with_the_payments_id_reference_and_status(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (outcome, status) in [("paid", "paid"), ("failed", "failed"), ("expired", "expired")] {
        let payment = direct(&project, "INV 1&status=paid#", SHOP).await;
        report(&project, &payment, outcome).await;
        let reference = "INV+1%26status%3Dpaid%23";
        assert_eq!(leads_to(&kit, &payment).await, expected(&payment, reference, status), "{outcome}");
    }
    let link = create_link(&project, json!({ "return_url": SHOP, "reference": "PL-1" })).await;
    let customer = Customer::of(&kit);
    let payment = customer.pays_by(&project, &link, "qris").await;
    cancel_link(&project, &link).await;
    assert_eq!(leads_to(&kit, &payment).await, expected(&payment, "PL-1", "cancelled"));
    let english = customer.open(&format!("{}?lang=en", pay_path(&payment))).await;
    assert!(english.text.contains("Back to "), "{}", english.text);
}

async fn a_page_without_a_return_url_and_one_that_can_still_be_paid_lead_nowhere(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let bare = create(&project, &samples::qris(&project, 15_000)).await;
    simulate_paid(&project, &bare).await;
    let pending = direct(&project, "pending", SHOP).await;
    let processing = direct(&project, "processing", SHOP).await;
    report(&project, &processing, "processing").await;
    for payment in [bare, pending, processing] {
        let page = Customer::of(&kit).open(&pay_path(&payment)).await;
        is_page("no way back", &page, 200);
        assert!(!page.text.contains("id=\"back\"") && !page.text.contains("shop.example"), "{}", page.text);
    }
}

async fn only_a_new_receipt_leaves_by_itself(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (paid, failed) = (direct(&project, "paid", SHOP).await, direct(&project, "failed", SHOP).await);
    simulate_paid(&project, &paid).await;
    report(&project, &failed, "failed").await;
    let page = async |payment: &Value| Customer::of(&kit).open(&pay_path(payment)).await.text;
    let new = page(&paid).await;
    assert!(new.contains("data-seconds=\"5\" data-fresh"), "{new}");
    assert!(!page(&failed).await.contains("id=\"leave\""), "only who has paid is led away");
    kit.clock.advance(Duration::from_secs(61));
    let old = page(&paid).await;
    assert!(old.contains("data-seconds=\"5\">") && !old.contains("data-fresh"), "{old}");
}

async fn the_way_back_uses_the_projects_word_for_success(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = direct(&project, "r", SHOP).await;
    simulate_paid(&project, &payment).await;
    let word = ProjectUpdate { success_word: Some(SuccessWord::Succeeded), ..ProjectUpdate::default() };
    kit.update(project.id, word).await;
    assert_eq!(leads_to(&kit, &payment).await, expected(&payment, "r", "succeeded"));
}

/// A page of the same server, so that the browser needs no other.
fn shop(kit: &Kit) -> String {
    format!("http://{}/shop", kit.address)
}

#[tokio::test]
async fn a_page_that_saw_the_payment_paid_goes_back_once_and_a_customer_may_stay_in_a_browser() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let browser = Browser::open(Look::phone()).await;
        let payment = direct(&project, "first", &shop(&kit)).await;
        browser.goto(text(&payment, "checkout_url")).await;
        simulate_paid(&project, &payment).await;
        browser.wait_for_text("#leave [role=status]", "sebentar lagi").await;
        assert!(browser.is_shown("#leave button").await && browser.is_shown("#leave b").await);
        browser.check_page().await;
        assert_eq!(browser.console_errors().await, [""; 0]);
        let url = browser.wait_for_url(|url| url.contains("/shop")).await;
        let query = format!("payment_id={}&reference=first&status=paid", text(&payment, "id"));
        assert!(url.ends_with(&query), "{url}");
        // Who comes back to the receipt stays there.
        browser.back().await;
        browser.wait_for_text("h1", "Lunas").await;
        assert!(!browser.is_shown("#leave button").await);
        browser.reload().await;
        browser.wait_for("#back").await;
        assert!(!browser.is_shown("#leave button").await);

        let payment = direct(&project, "second", &shop(&kit)).await;
        browser.goto(text(&payment, "checkout_url")).await;
        simulate_paid(&project, &payment).await;
        browser.click("#leave button").await;
        browser.wait_for_text("#leave [role=status]", "Anda tetap di halaman ini.").await;
        assert_eq!(browser.focused().await, "a#back");
        browser.reload().await;
        browser.wait_for("#back").await;
        assert!(!browser.is_shown("#leave button").await, "a reload does not lead away either");

        // Without script there is the button alone.
        browser.look_with(Look::phone().without_script()).await;
        browser.goto(text(&payment, "checkout_url")).await;
        assert!(!browser.is_shown("#leave").await);
        browser.click("#back").await;
        browser.wait_for_url(|url| url.contains("/shop?payment_id=")).await;
    })
    .await;
}
