//! Hostile texts everywhere a checkout page shows a text, in a real browser: shown as they are, and never run.

use domain::{method::Method, project::MerchantProfile};
use engine::ProjectUpdate;
use serde_json::{Value, json};
use testkit::{Browser, Kit, Look, TestProject, on_sqlite};

use crate::support::{
    hostile::{HOSTILE, OF_BEFORE, is_shown_as_text},
    json::text,
    links::{attempt, create_link, link_of_before},
    payments::report,
};

async fn hostile_link(kit: &Kit, project: &TestProject, text: &str) -> Value {
    let merchant = MerchantProfile { name: text.to_owned(), city: text.to_owned(), postal_code: "10110".to_owned() };
    kit.update(project.id, ProjectUpdate { merchant: Some(merchant), ..ProjectUpdate::default() }).await;
    let members = json!({
        "title": text,
        "description": text,
        "reference": text,
        "allow_multiple_payments": true,
        "customer_fields": { "name": true, "email": true, "phone": true, "address": true },
    });
    create_link(project, members).await
}

/// Sends the form back to itself with the text in every field.
async fn send_back(browser: &Browser, text: &str) {
    let fill = "(text => { const form = document.querySelector('form'); form.noValidate = true; \
                for (const name of ['name', 'email', 'phone', 'address']) form.elements[name].value = text; \
                form.requestSubmit(); })";
    browser.evaluate(&format!("{fill}({})", json!(text))).await;
    browser.wait_for("[role=alert]").await;
    assert_eq!(browser.value("#name").await, text.trim());
    assert_eq!(browser.value("#address").await, text.trim());
}

#[tokio::test]
async fn forty_hostile_texts_are_shown_everywhere_and_run_nowhere() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let browser = Browser::open(Look::phone()).await;
        for hostile in HOSTILE {
            let link = hostile_link(&kit, &project, hostile).await;
            browser.goto(text(&link, "url")).await;
            is_shown_as_text(&browser, hostile, "the chooser").await;
            send_back(&browser, hostile).await;
            is_shown_as_text(&browser, hostile, "the form that came back").await;
            for (method, outcome) in [
                (Method::Qris, "paid"),
                (Method::VirtualAccount(domain::bank::Bank::Bca), "failed"),
                (Method::Qris, "processing"),
            ] {
                let payment = attempt(&kit, &project, &link, method).await;
                browser.goto(text(&payment, "checkout_url")).await;
                browser.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)").await;
                is_shown_as_text(&browser, hostile, "the pending page").await;
                report(&project, &payment, outcome).await;
                browser.wait_until("document.querySelector('#watch')?.dataset.status !== 'pending'").await;
                is_shown_as_text(&browser, hostile, outcome).await;
            }
            let path = format!("/v1/payment-links/{}/cancel", link["id"].as_str().unwrap());
            project.api.post(&path, &json!({})).await.expect(200);
            browser.goto(text(&link, "url")).await;
            is_shown_as_text(&browser, hostile, "the closed link").await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_title_of_before_marks_were_refused_is_shown_and_runs_nowhere() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let link = link_of_before(&kit, &project).await;
        let browser = Browser::open(Look::phone()).await;
        browser.goto(text(&link, "url")).await;
        is_shown_as_text(&browser, OF_BEFORE, "the chooser").await;
    })
    .await;
}
