//! The API reference in a real browser: accessible on every screen, whole without script, and the form that sends a request with a
//! sandbox key, which it gives to nobody else.

use testkit::{Browser, Kit, Look, Theme, on_sqlite};

use super::reference::{CREATE_PAYMENT, paths};

/// The most bytes of a first visit, as they went over the wire, heads included.
const FIRST_VISIT_BYTES: u64 = 60 * 1024;
const SEND: &str = "form[data-try] button";
const STATUS: &str = "#try-answer [role=status]";

fn address(kit: &Kit, path: &str) -> String {
    format!("http://{}{path}", kit.address)
}

#[tokio::test]
async fn every_kind_of_reference_page_is_accessible_on_every_screen() {
    on_sqlite(|kit| async move {
        let (narrow, desktop) = (Look::narrow(), Look::desktop());
        let browser = Browser::open(narrow.clone()).await;
        for look in [narrow.clone(), narrow.english().dark(), desktop.clone(), desktop.clone().dark(), desktop.zoomed()]
        {
            browser.look_with(look.clone()).await;
            for path in [
                "/docs/api",
                CREATE_PAYMENT,
                "/docs/api/payments/list-payments",
                "/docs/api/service/get-health",
                "/docs/api/schemas/Payment",
                "/docs/api/schemas/EventType",
            ] {
                println!("{path}: {look:?}");
                browser.goto(&address(&kit, path)).await;
                match look.theme {
                    Theme::Light => browser.check_page().await,
                    Theme::Dark => browser.check_colours().await,
                }
                assert_eq!(browser.count("h1").await, 1, "{path}");
                assert_eq!(browser.console_errors().await, [""; 0], "{path}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn every_reference_page_fits_the_narrowest_screen() {
    on_sqlite(|kit| async move {
        let browser = Browser::open(Look::narrow().english()).await;
        for path in paths(&kit).await {
            browser.goto(&address(&kit, &path)).await;
            assert!(!browser.has_sideways_scroll().await, "{path}");
            assert_eq!(browser.small_targets().await, [""; 0], "{path}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_first_visit_to_the_reference_is_at_most_60_kilobytes() {
    on_sqlite(|kit| async move {
        for path in ["/docs/api", "/docs/api/payment-links/create-payment-link", "/docs/api/schemas/Payment"] {
            let browser = Browser::open(Look::phone()).await;
            browser.goto(&address(&kit, path)).await;
            browser.wait_until("document.readyState === 'complete'").await;
            let traffic = browser.traffic().await;
            let bytes: u64 = traffic.iter().map(|transfer| transfer.bytes).sum();
            println!("{path}: {bytes} bytes in {} requests", traffic.len());
            assert!(bytes > 0 && bytes <= FIRST_VISIT_BYTES, "{path}: {bytes} bytes: {traffic:#?}");
        }
    })
    .await;
}

#[tokio::test]
async fn without_script_a_reader_changes_the_language_of_the_example() {
    on_sqlite(|kit| async move {
        let browser = Browser::open(Look::phone().english().without_script()).await;
        browser.goto(&address(&kit, CREATE_PAYMENT)).await;
        browser.wait_for_text("#code-curl", "curl -X POST").await;
        for (language, code) in
            [("python", "import urllib.request"), ("go", "package main"), ("php", "<?php"), ("node", "await fetch(")]
        {
            browser.choose(&format!("#show-{language}")).await;
            browser.wait_for_text(&format!("#code-{language}"), code).await;
            assert!(!browser.is_shown("#code-curl").await, "{language}");
        }
        assert!(!browser.is_shown("form[data-try]").await);
        browser.wait_for_text("noscript", "needs JavaScript").await;
        browser.check_page().await;
    })
    .await;
}

#[tokio::test]
async fn the_form_creates_a_payment_with_a_sandbox_key_and_its_own_project() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let browser = Browser::open(Look::narrow().english()).await;
        browser.goto(&address(&kit, CREATE_PAYMENT)).await;
        browser.fill("#try-key", &project.key).await;
        for total in [1, 2] {
            browser.click(SEND).await;
            browser.wait_for_text(STATUS, "201 Created after ").await;
            browser.wait_for_text("#try-answer pre", &format!("\"project_id\": \"{}\"", project.id)).await;
            let list = project.api.get("/v1/payments").await.expect(200);
            assert_eq!(list["pagination"]["total_items"], total, "each time with a new Idempotency-Key");
        }
        browser.check_page().await;
        assert_eq!(browser.console_errors().await, [""; 0]);
        let payment = browser.evaluate("JSON.parse(document.querySelector('#try-answer code').textContent).id").await;

        browser.goto(&address(&kit, "/docs/api/payments/get-payment")).await;
        assert_eq!(browser.value("#try-key").await, "", "the next page does not have the key");
        browser.fill("#try-key", &project.key).await;
        browser.click(SEND).await;
        browser.wait_for_text("#try-problem", "paymentID is required.").await;
        browser.fill("#try-path-paymentID", payment.as_str().unwrap()).await;
        browser.click(SEND).await;
        browser.wait_for_text(STATUS, "200 OK after ").await;
        browser.fill("#try-path-paymentID", "../../balance?x=").await;
        browser.click(SEND).await;
        browser.wait_for_text(STATUS, "404 Not Found after ").await;
        browser.wait_for_text("#try-answer pre", "\"code\": \"RESOURCE_NOT_FOUND\"").await;
    })
    .await;
}

#[tokio::test]
async fn the_form_sends_query_and_headers_and_needs_no_key_where_none_is_needed() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let browser = Browser::open(Look::desktop().english()).await;
        browser.goto(&address(&kit, "/docs/api/payments/list-payments")).await;
        browser.fill("#try-key", &project.key).await;
        browser.fill("#try-query-page_size", "7").await;
        browser.fill("#try-header-X-Request-Id", "from-the-page").await;
        browser.click(SEND).await;
        browser.wait_for_text("#try-answer pre", "\"page_size\": 7").await;
        browser.fill("#try-query-page_size", "7000").await;
        browser.click(SEND).await;
        browser.wait_for_text(STATUS, "400 Bad Request after ").await;
        browser.goto(&address(&kit, "/docs/api/service/get-health")).await;
        assert_eq!(browser.count("#try-key").await, 0);
        browser.click(SEND).await;
        browser.wait_for_text(STATUS, "200 OK after ").await;
    })
    .await;
}

#[tokio::test]
async fn the_form_sends_no_key_but_one_of_the_sandbox_and_stores_none() {
    on_sqlite(|kit| async move {
        let (sandbox, production) = (kit.sandbox().await, kit.production().await);
        let browser = Browser::open(Look::narrow().english()).await;
        browser.goto(&address(&kit, CREATE_PAYMENT)).await;
        for refused in ["", "junk", production.key.as_str(), "sk_test_", &format!("x{}", sandbox.key)] {
            browser.fill("#try-key", refused).await;
            browser.click(SEND).await;
            browser.wait_for_text("#try-problem", "begins with sk_test_").await;
            assert_eq!(browser.attribute("#try-key", "aria-invalid").await.as_deref(), Some("true"));
            assert_eq!(browser.focused().await, "input#try-key");
        }
        browser.check_page().await;
        let calls =
            |traffic: Vec<testkit::Transfer>| traffic.into_iter().filter(|one| one.url.contains("/v1/")).count();
        assert_eq!(calls(browser.traffic().await), 0);

        browser.fill("#try-key", &sandbox.key).await;
        browser.click(SEND).await;
        browser.wait_for_text(STATUS, "201 Created after ").await;
        assert!(!browser.url().await.contains('?'), "{}", browser.url().await);
        assert_eq!(browser.evaluate("localStorage.length + sessionStorage.length + document.cookie.length").await, 0);
        let traffic = browser.traffic().await;
        assert!(traffic.iter().all(|one| !one.url.contains(&sandbox.key)), "{traffic:?}");
        assert!(traffic.iter().all(|one| one.url.starts_with(&address(&kit, "/"))), "{traffic:?}");
        browser.reload().await;
        assert_eq!(browser.value("#try-key").await, "");
    })
    .await;
}
