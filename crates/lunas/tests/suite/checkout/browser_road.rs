//! A customer's whole way in a real browser: from a link to "paid", by each kind of method, with and without script.

use std::{sync::Arc, time::Duration};

use domain::time::Timestamp;
use serde_json::{Value, json};
use testkit::{Browser, Kit, Look, TestProject, decode_qr, on_sqlite, on_sqlite_alone};

use crate::support::{
    json::text,
    links::create_link,
    payments::{report, simulate_paid, total},
};

on_sqlite_alone![
    a_customer_scans_the_qr_code_and_sees_it_paid_without_touching_the_page,
    a_customer_copies_number_and_amount_as_digits_and_sees_it_paid_without_touching_the_page,
];

/// Chooses a method on the page that is open, and waits for the payment's page.
pub(crate) async fn choose(browser: &Browser, project: &TestProject, method: &str) -> Value {
    browser.choose(&format!("input[value='{method}']")).await;
    browser.click("form button.main").await;
    arrived(browser, project).await
}

/// The payment whose page is open, as the merchant sees it.
async fn arrived(browser: &Browser, project: &TestProject) -> Value {
    let url = browser.wait_for_url(|url| url.contains("/pay/")).await;
    let id = url.rsplit('/').next().unwrap().split(['?', '#']).next().unwrap().to_owned();
    stored(project, &id).await
}

async fn stored(project: &TestProject, id: &str) -> Value {
    project.api.get(&format!("/v1/payments/{id}")).await.expect(200)
}

async fn status(project: &TestProject, payment: &Value) -> Value {
    stored(project, payment["id"].as_str().unwrap()).await["status"].clone()
}

/// A new link's page, open in a new browser.
async fn opened(kit: &Kit, look: Look, members: Value) -> (Browser, TestProject, Value) {
    let project = kit.sandbox().await;
    let link = create_link(&project, members).await;
    let browser = Browser::open(look).await;
    browser.goto(text(&link, "url")).await;
    (browser, project, link)
}

async fn sees_the_end(browser: &Browser, heading: &str) {
    browser.wait_for_text("h1", heading).await;
    assert_eq!(browser.focused().await, "h1", "the focus is on the heading, so that it is read out");
    assert_eq!(browser.console_errors().await, [""; 0]);
}

async fn a_customer_scans_the_qr_code_and_sees_it_paid_without_touching_the_page(kit: Arc<Kit>) {
    let (browser, project, _) = opened(&kit, Look::phone(), json!({ "title": "Kopi susu" })).await;
    let payment = choose(&browser, &project, "qris").await;
    let payload = text(&payment["instructions"], "qr_string").to_owned();
    assert_eq!(decode_qr(&browser.screenshot_of("#qr").await), Some(payload.clone()));
    browser.look_with(Look::phone().dark()).await;
    assert_eq!(decode_qr(&browser.screenshot_of("#qr").await), Some(payload), "a dark page keeps the code on white");
    let side = browser.evaluate("document.querySelector('#qr img').getBoundingClientRect().width").await;
    assert!(side.as_f64().unwrap() >= 240.0, "{side}");
    report(&project, &payment, "processing").await;
    sees_the_end(&browser, "sedang diproses").await;
    simulate_paid(&project, &payment).await;
    sees_the_end(&browser, "Lunas").await;
    for part in ["Rp50.000", "QRIS", payment["id"].as_str().unwrap(), "WIB"] {
        assert!(browser.text("main").await.contains(part), "the receipt tells {part}");
    }
}

async fn a_customer_copies_number_and_amount_as_digits_and_sees_it_paid_without_touching_the_page(kit: Arc<Kit>) {
    let (browser, project, _) = opened(&kit, Look::phone(), json!({})).await;
    let payment = choose(&browser, &project, "virtual_account:bca").await;
    let number = text(&payment["instructions"], "virtual_account_number").to_owned();
    let groups = browser.text(".digits b").await;
    assert_eq!(groups.replace(' ', ""), number);
    assert!(groups.split(' ').rev().skip(1).all(|group| group.len() == 4), "{groups}");
    for digits in [number.as_str(), "50000"] {
        browser.click(&format!("[data-copy='{digits}']")).await;
        browser.wait_for_text("[role=status]", "Tersalin").await;
        assert_eq!(browser.clipboard().await, digits);
    }
    assert!(browser.count("details ol li").await >= 12, "the steps of three places are there, folded");
    simulate_paid(&project, &payment).await;
    sees_the_end(&browser, "Lunas").await;
}

#[tokio::test]
async fn without_script_a_customer_pays_enlarges_the_code_and_checks_the_status() {
    on_sqlite(|kit| async move {
        let members = json!({ "customer_fields": { "name": true } });
        let (browser, project, _) = opened(&kit, Look::narrow().without_script(), members).await;
        browser.fill("#name", "Siti").await;
        let payment = choose(&browser, &project, "qris").await;
        assert_eq!(payment["customer"]["name"], "Siti");
        let payload = text(&payment["instructions"], "qr_string").to_owned();
        let usual = browser.screenshot_of("#qr img").await;
        assert_eq!(decode_qr(&usual), Some(payload.clone()));
        browser.click("a[href='#qr']").await;
        assert_eq!(decode_qr(&browser.screenshot().await), Some(payload));
        browser.click("#qr .close").await;
        assert!(!browser.is_shown("button[data-share]").await && !browser.is_shown("[data-copy]").await);
        simulate_paid(&project, &payment).await;
        browser.click(".wait a").await;
        browser.wait_for_text("h1", "Lunas").await;
    })
    .await;
}

#[tokio::test]
async fn a_double_click_makes_one_payment_with_script_and_without() {
    on_sqlite(|kit| async move {
        for look in [Look::phone(), Look::phone().without_script()] {
            let (browser, project, _) = opened(&kit, look, json!({ "allow_multiple_payments": true })).await;
            browser.choose("input[value=qris]").await;
            browser.double_click("form button.main").await;
            arrived(&browser, &project).await;
            assert_eq!(total(&project.api, "/v1/payments").await, 1);
        }
    })
    .await;
}

#[tokio::test]
async fn changing_the_method_voids_the_old_code_and_reopening_the_link_resumes_the_new_one() {
    on_sqlite(|kit| async move {
        let (browser, project, link) = opened(&kit, Look::phone(), json!({})).await;
        let first = choose(&browser, &project, "qris").await;
        browser.click(".change a").await;
        browser.wait_for(".note a").await;
        let second = choose(&browser, &project, "virtual_account:bni").await;
        assert_ne!(first["id"], second["id"]);
        assert_eq!(status(&project, &first).await, "cancelled");
        assert_eq!(status(&project, &second).await, "pending");
        browser.goto(text(&link, "url")).await;
        let resumed = arrived(&browser, &project).await;
        assert_eq!(resumed["id"], second["id"]);
        browser.goto(text(&first, "checkout_url")).await;
        browser.wait_for_text("h1", "sudah diganti").await;
    })
    .await;
}

#[tokio::test]
async fn the_language_switch_is_remembered_on_the_next_page() {
    on_sqlite(|kit| async move {
        let (browser, project, _) = opened(&kit, Look::phone(), json!({})).await;
        assert_eq!(browser.attribute("html", "lang").await.as_deref(), Some("id"));
        browser.click("a.lang").await;
        browser.wait_until("document.documentElement.lang === 'en'").await;
        let payment = choose(&browser, &project, "qris").await;
        assert_eq!(browser.attribute("html", "lang").await.as_deref(), Some("en"));
        report(&project, &payment, "failed").await;
        sees_the_end(&browser, "failed").await;
    })
    .await;
}

#[tokio::test]
async fn the_countdown_goes_by_the_server_and_the_page_expires_by_itself() {
    on_sqlite(|kit| async move {
        let (browser, project, _) = opened(&kit, Look::phone(), json!({})).await;
        let payment = choose(&browser, &project, "qris").await;
        let expires_at = Timestamp::parse(payment["expires_at"].as_str().unwrap()).unwrap();
        // The server's clock stands still at another date than this machine's, and the page uses the server's.
        browser.wait_for_text("#left", "14:5").await;
        for (left, told) in [(302, "5 menit"), (62, "1 menit")] {
            kit.clock.set(expires_at.minus(Duration::from_secs(left)));
            browser.reload().await;
            browser.wait_for_text("[role=status]", told).await;
        }
        kit.clock.set(expires_at.minus(Duration::from_secs(2)));
        browser.reload().await;
        browser.wait_for_text("#left", "00:00").await;
        assert!(browser.text("h1").await.contains("QRIS"), "what the server calls pending is shown as pending");
        kit.clock.advance(Duration::from_millis(2_001));
        sees_the_end(&browser, "habis").await;
        assert_eq!(status(&project, &payment).await, "expired");
        let again = browser.attribute("a.main", "href").await.unwrap();
        assert!(again.starts_with("/p/"), "a link that is still open offers another try: {again}");
    })
    .await;
}

pub(crate) async fn block(browser: &Browser, urls: &str) {
    browser.devtools("Network.enable", json!({})).await;
    browser.devtools("Network.setBlockedURLs", json!({ "urls": [urls] })).await;
}

#[tokio::test]
async fn the_event_stream_alone_updates_the_page() {
    on_sqlite(|kit| async move {
        let (browser, project, _) = opened(&kit, Look::phone(), json!({})).await;
        block(&browser, "*/status").await;
        let payment = choose(&browser, &project, "qris").await;
        simulate_paid(&project, &payment).await;
        browser.wait_for_text("h1", "Lunas").await;
    })
    .await;
}

#[tokio::test]
async fn a_page_without_its_event_stream_polls() {
    on_sqlite(|kit| async move {
        let (browser, project, _) = opened(&kit, Look::phone(), json!({})).await;
        block(&browser, "*/events").await;
        let payment = choose(&browser, &project, "qris").await;
        simulate_paid(&project, &payment).await;
        browser.wait_for_text("h1", "Lunas").await;
    })
    .await;
}

#[tokio::test]
async fn a_page_that_becomes_visible_again_polls_at_once() {
    on_sqlite(|kit| async move {
        let (browser, project, _) = opened(&kit, Look::phone(), json!({})).await;
        block(&browser, "*/events").await;
        // Nothing else makes the page poll: its timers are stopped.
        let frozen =
            json!({ "source": "window.setInterval = () => 0; window.setTimeout = (act, wait) => wait || act();" });
        browser.devtools("Page.addScriptToEvaluateOnNewDocument", frozen).await;
        let payment = choose(&browser, &project, "qris").await;
        browser.wait_until("performance.getEntriesByType('resource').some(one => one.name.endsWith('/status'))").await;
        simulate_paid(&project, &payment).await;
        browser.evaluate("document.dispatchEvent(new Event('visibilitychange'))").await;
        browser.wait_for_text("h1", "Lunas").await;
    })
    .await;
}

#[tokio::test]
async fn the_sandbox_panel_plays_the_bank() {
    on_sqlite(|kit| async move {
        let (browser, project, _) = opened(&kit, Look::phone(), json!({ "allow_multiple_payments": true })).await;
        let payment = choose(&browser, &project, "qris").await;
        browser.click("button[value=processing]").await;
        sees_the_end(&browser, "sedang diproses").await;
        browser.click("button[value=paid]").await;
        sees_the_end(&browser, "Lunas").await;
        assert_eq!(status(&project, &payment).await, "paid");
        let failing = project.api.pay("direct", &crate::support::samples::qris(&project, 20_000)).await.expect(201);
        browser.goto(text(&failing, "checkout_url")).await;
        browser.click("button[value=failed]").await;
        sees_the_end(&browser, "gagal").await;
        assert!(!browser.is_shown("a.main").await, "a direct payment leads to no chooser");
    })
    .await;
}

#[tokio::test]
async fn mistakes_are_shown_at_their_fields_and_answers_are_kept() {
    on_sqlite(|kit| async move {
        let members = json!({ "customer_fields": { "name": true, "email": true, "phone": true, "address": true } });
        let (browser, project, _) = opened(&kit, Look::phone(), members).await;
        browser.fill("#name", "Siti \"Aisyah\" <b>").await;
        browser.fill("#phone", "nol").await;
        browser.fill("#address", "Jl. Melati 1\nBandung").await;
        // The browser would not send this form; an older one might.
        browser.evaluate("document.querySelector('form').noValidate = true").await;
        browser.click("form button.main").await;
        browser.wait_for("[role=alert]").await;
        for (field, is_wrong) in [("name", false), ("email", true), ("phone", true), ("address", false)] {
            let invalid = browser.attribute(&format!("#{field}"), "aria-invalid").await;
            assert_eq!(invalid.is_some(), is_wrong, "{field}");
            if is_wrong {
                let described = browser.attribute(&format!("#{field}"), "aria-describedby").await.unwrap();
                assert!(!browser.text(&format!("#{described}")).await.is_empty());
            }
        }
        assert_eq!(browser.value("#name").await, "Siti \"Aisyah\" <b>");
        assert_eq!(browser.value("#address").await, "Jl. Melati 1\nBandung");
        assert_eq!(total(&project.api, "/v1/payments").await, 0);
        browser.fill("#email", "siti@example.com").await;
        browser.fill("#phone", "0812 0000 0000").await;
        let payment = choose(&browser, &project, "qris").await;
        assert_eq!(payment["customer"]["phone"], "0812 0000 0000");
    })
    .await;
}

#[tokio::test]
async fn the_code_is_saved_as_a_picture_named_by_the_reference() {
    on_sqlite(|kit| async move {
        let (browser, project, _) = opened(&kit, Look::phone(), json!({ "reference": "INV/1 a" })).await;
        let payment = choose(&browser, &project, "qris").await;
        browser.click("a[download]").await;
        let picture = browser.downloaded("QRIS-INV-1-a.png").await;
        assert_eq!(decode_qr(&picture), payment["instructions"]["qr_string"].as_str().map(str::to_owned));
    })
    .await;
}
