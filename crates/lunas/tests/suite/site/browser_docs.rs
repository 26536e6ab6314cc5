//! The home page and the documentation in a real browser: accessible on every screen and in both themes, light to load, and whole
//! without script.

use testkit::{Browser, Kit, Look, Theme, on_sqlite};

use super::docs::guides;

/// The most bytes of a first visit, as they went over the wire, heads included.
const FIRST_VISIT_BYTES: u64 = 60 * 1024;

fn address(kit: &Kit, path: &str) -> String {
    format!("http://{}{path}", kit.address)
}

#[tokio::test]
async fn every_kind_of_page_is_accessible_on_every_screen() {
    on_sqlite(|kit| async move {
        let (narrow, desktop) = (Look::narrow(), Look::desktop());
        let looks =
            [narrow.clone().dark(), desktop.clone(), desktop.clone().dark(), narrow.english(), desktop.zoomed()];
        let browser = Browser::open(Look::narrow()).await;
        for look in looks {
            browser.look_with(look.clone()).await;
            for path in [
                "/",
                "/docs",
                "/docs/webhooks",
                "/docs/search?q=webhook",
                "/docs/search?q=xyzzyquux",
                "/docs/search",
                "/docs/nothing",
            ] {
                println!("{path}: {look:?}");
                browser.goto(&address(&kit, path)).await;
                match look.theme {
                    Theme::Light => browser.check_page().await,
                    Theme::Dark => browser.check_colours().await,
                }
                assert_eq!(browser.attribute("html", "lang").await.as_deref(), Some(look.language), "{path}");
                assert_eq!(browser.count("h1").await, 1, "{path}");
                let errors = browser.console_errors().await.into_iter().filter(|error| !error.contains("404"));
                assert_eq!(errors.collect::<Vec<_>>(), [""; 0], "{path}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn every_guide_is_accessible_on_the_narrowest_screen() {
    on_sqlite(|kit| async move {
        let browser = Browser::open(Look::narrow().english()).await;
        for (path, _) in guides() {
            println!("{path}");
            browser.goto(&address(&kit, &path)).await;
            browser.check_page().await;
            assert_eq!(browser.count("h1").await, 1, "{path}");
            assert_eq!(browser.console_errors().await, [""; 0], "{path}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_first_visit_is_at_most_60_kilobytes() {
    on_sqlite(|kit| async move {
        let guides = guides();
        let others = ["/", "/docs", "/docs/search?q=payment"].map(str::to_owned);
        for path in guides.into_iter().map(|(path, _)| path).chain(others) {
            let browser = Browser::open(Look::phone()).await;
            browser.goto(&address(&kit, &path)).await;
            browser.wait_until("document.readyState === 'complete'").await;
            let traffic = browser.traffic().await;
            let bytes: u64 = traffic.iter().map(|transfer| transfer.bytes).sum();
            println!("{path}: {bytes} bytes in {} requests", traffic.len());
            assert!((1..=3).contains(&traffic.len()), "{path}: {traffic:#?}");
            assert!(bytes <= FIRST_VISIT_BYTES, "{path}: {bytes} bytes: {traffic:#?}");
        }
    })
    .await;
}

#[tokio::test]
async fn without_script_a_visitor_searches_reads_and_moves_on() {
    on_sqlite(|kit| async move {
        let browser = Browser::open(Look::phone().english().without_script()).await;
        browser.goto(&address(&kit, "/")).await;
        browser.click("main a[href='/docs']").await;
        browser.wait_for_text("h1", "Documentation").await;
        browser.fill("#q", "webhook signature").await;
        browser.click("[role=search] button").await;
        browser.wait_for_text("h1", "Search: webhook signature").await;
        assert_eq!(browser.value("#q").await, "webhook signature");
        browser.click(".results a[href='/docs/webhooks#the-signature']").await;
        browser.wait_for_text("h1", "Webhooks").await;
        assert!(browser.url().await.ends_with("/docs/webhooks#the-signature"));
        browser.click(".contents summary").await;
        browser.click(".contents a").await;
        browser.click(".to-menu").await;
        browser.click(".menu a[href='/docs/embed']").await;
        browser.wait_for_text("h1", "The checkout over your own page").await;
        browser.check_page().await;
    })
    .await;
}

#[tokio::test]
async fn a_block_of_code_is_copied_by_its_button() {
    on_sqlite(|kit| async move {
        let browser = Browser::open(Look::desktop().english()).await;
        browser.goto(&address(&kit, "/docs/webhooks")).await;
        browser.click(".code button").await;
        browser.wait_for_text("#said", "Copied").await;
        assert_eq!(
            browser.clipboard().await,
            browser.evaluate("document.querySelector('pre').textContent.trim()").await
        );
    })
    .await;
}
