//! What a customer does on one visit in a real browser, beyond paying: enlarge, save, copy, check, change and come back.

use serde_json::json;
use testkit::{Browser, Look, decode_qr, on_sqlite};

use super::browser_road::{block, choose};
use crate::support::{json::text, links::create_link, payments::simulate_paid};

#[tokio::test]
async fn a_customer_enlarges_the_code_with_its_amount_checks_the_status_and_changes_the_method_without_typing_again() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let fields = json!({ "name": true, "email": true });
        let link = create_link(&project, json!({ "customer_fields": fields, "title": "Kopi" })).await;
        let browser = Browser::open(Look::phone()).await;
        browser.goto(text(&link, "url")).await;
        // The browser's own messages never show: what is wrong is said at the field, in the page's language.
        browser.choose("input[value=qris]").await;
        browser.fill("#name", "Siti").await;
        browser.click("form button.main").await;
        browser.wait_for_text("#email-why", "perlu diisi").await;
        browser.fill("#email", "siti@example.id").await;
        let payment = choose(&browser, &project, "qris").await;
        let payload = payment["instructions"]["qr_string"].as_str().map(str::to_owned);
        browser.click("a[href='#qr']").await;
        browser.wait_for_text("#qr:target strong", "Rp50.000").await;
        assert_eq!(decode_qr(&browser.screenshot().await), payload, "a screenshot of the screen is enough");
        let sides = "(box => [box.width, box.height, innerWidth, innerHeight])(document.querySelector('#qr').getBoundingClientRect())";
        let sides = browser.evaluate(sides).await;
        assert_eq!((&sides[0], &sides[1]), (&sides[2], &sides[3]), "it fills the screen");
        browser.press("Escape").await;
        let name = format!("QRIS-{}.png", text(&link, "reference"));
        assert_eq!(browser.attribute("a[download]", "download").await, Some(name.clone()));
        browser.click("a[download]").await;
        let card = browser.downloaded(&name).await;
        assert_eq!(decode_qr(&card), payload);
        // The size of a PNG is in its first bytes.
        let side = |from: usize| u32::from_be_bytes(card[from..from + 4].try_into().unwrap());
        assert!(side(16) >= 1_000 && side(20) >= 1_000, "{} x {}", side(16), side(20));
        browser.wait_until("!document.querySelector('#qr:target')").await;
        let looked = browser.text("#looked").await;
        assert!(looked.starts_with("Dicek pukul ") && looked.contains(" WIB"), "{looked}");
        browser.evaluate("document.querySelector('#looked').textContent = ''").await;
        browser.click("[data-check]").await;
        browser.wait_for_text("[role=status]", "Dicek pukul ").await;
        block(&browser, "*/status").await;
        browser.click("[data-check]").await;
        browser.wait_for_text("#looked", "Tidak bisa dicek").await;
        browser.devtools("Network.setBlockedURLs", json!({ "urls": [] })).await;
        browser.click(".change a").await;
        browser.wait_for(".note a").await;
        assert_eq!((browser.value("#name").await.as_str(), browser.value("#email").await.as_str()), ("Siti", "siti@example.id"));
        let account = choose(&browser, &project, "virtual_account:mandiri").await;
        let number = text(&account["instructions"], "virtual_account_number");
        for digits in [&number[..5], &number[5..], number, "50000"] {
            browser.click(&format!("[data-copy='{digits}']")).await;
            browser.wait_for_text("[role=status]", "Tersalin").await;
            assert_eq!(browser.clipboard().await, digits);
        }
        let size = "parseFloat(getComputedStyle(document.querySelector('.bank .mark')).fontSize)";
        assert!(browser.evaluate(size).await.as_f64().unwrap() >= 12.0);
        simulate_paid(&project, &account).await;
        browser.wait_for_text("h1", "Lunas").await;
        browser.goto(text(&link, "url")).await;
        browser.wait_for_text("h1", "Lunas").await;
        let errors = browser.console_errors().await;
        let expected = |error: &String| error.contains("422") || error.contains("ERR_BLOCKED_BY_CLIENT");
        assert_eq!(errors.into_iter().filter(|error| !expected(error)).collect::<Vec<_>>(), [""; 0]);
    })
    .await;
}
