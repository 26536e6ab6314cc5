//! A link with one method and no fields leads straight to its code, but only for a person: opening the page creates
//! nothing.

use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Browser, Kit, Look, TestProject, decode_qr, on_sqlite, on_sqlite_alone};

use crate::support::{
    customer::{Customer, is_page, link_path},
    json::text,
    links::create_link,
    payments::{count_payments, total},
    rows::rows,
};

on_sqlite_alone![
    a_form_sends_itself_only_where_there_is_nothing_to_choose_and_nothing_to_fill_in,
    opening_a_link_that_leads_straight_to_its_code_creates_nothing,
];

const STRAIGHT: &str = "data-straight";

fn lone() -> Value {
    json!({ "allowed_payment_methods": [{ "type": "qris" }] })
}

async fn lone_link(project: &TestProject) -> Value {
    create_link(project, lone()).await
}

async fn a_form_sends_itself_only_where_there_is_nothing_to_choose_and_nothing_to_fill_in(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut asking = lone();
    asking["customer_fields"] = json!({ "email": true });
    for (members, is_straight) in [(lone(), true), (asking, false), (json!({}), false)] {
        let link = create_link(&project, members).await;
        let customer = Customer::of(&kit);
        let page = customer.open(&link_path(&link)).await;
        is_page("the form", &page, 200);
        assert_eq!(page.text.contains(STRAIGHT), is_straight, "{}", page.text);
        assert!(page.text.contains("class=\"main\""), "there is a button for browsers without script");
        let refused = customer.post(&link_path(&link), &[]).await;
        is_page("a form that comes back", &refused, 422);
        assert!(!refused.text.contains(STRAIGHT), "is read before it is sent again");
    }
}

async fn opening_a_link_that_leads_straight_to_its_code_creates_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = lone_link(&project).await;
    let before = rows(&kit.database);
    for (name, value) in [
        ("user-agent", "WhatsApp/2.23.20.0"),
        ("user-agent", "facebookexternalhit/1.1"),
        ("sec-purpose", "prefetch;prerender"),
        ("purpose", "prefetch"),
        ("accept", "*/*"),
    ] {
        for method in [Method::GET, Method::HEAD] {
            let scanner = Customer::of(&kit);
            let reply = scanner.send(scanner.request(method, &link_path(&link)).header(name, value)).await;
            assert_eq!(reply.status, 200, "{name}: {value}");
        }
    }
    assert_eq!(rows(&kit.database), before);
}

/// Chromium says that a program drives it, as scanners do; a customer's browser does not.
async fn as_a_person(browser: &Browser) {
    let source = "Object.defineProperty(Navigator.prototype, 'webdriver', { get: () => false })";
    browser.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": source })).await;
}

#[tokio::test]
async fn a_person_comes_straight_to_the_code_and_a_program_or_a_browser_without_script_to_one_button() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let link = lone_link(&project).await;
        let browser = Browser::open(Look::phone()).await;
        browser.goto(text(&link, "url")).await;
        browser.wait_for("form button.main").await;
        assert_eq!(total(&project.api, "/v1/payments").await, 0, "a program gets the form");
        browser.look_with(Look::phone().without_script()).await;
        browser.goto(text(&link, "url")).await;
        browser.click("form button.main").await;
        browser.wait_for_text("h1", "Pindai QRIS").await;
        assert_eq!(total(&project.api, "/v1/payments").await, 1, "one button suffices");
        browser.look_with(Look::phone()).await;
        as_a_person(&browser).await;
        let link = lone_link(&project).await;
        browser.goto(text(&link, "url")).await;
        browser.wait_for_text("h1", "Pindai QRIS").await;
        let of_link = format!("payment_link_id={}", text(&link, "id"));
        assert_eq!(count_payments(&project, &of_link).await, 1);
        let code = decode_qr(&browser.screenshot_of("#qr").await);
        browser.goto(text(&link, "url")).await;
        browser.wait_for_text("h1", "Pindai QRIS").await;
        assert_eq!(decode_qr(&browser.screenshot_of("#qr").await), code, "the same payment is resumed");
        assert_eq!(count_payments(&project, &of_link).await, 1);
        assert_eq!(browser.console_errors().await, [""; 0]);
    })
    .await;
}
