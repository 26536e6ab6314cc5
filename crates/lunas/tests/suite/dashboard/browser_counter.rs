//! The counter on a phone: keys, a code that scans, a connection that goes away and comes back, and the sound of a paid sale.

use domain::access::Role;
use serde_json::json;
use testkit::{Browser, Kit, Look, TestProject, decode_qr, on_sqlite};

use crate::support::{
    dashboard_browser::{at, enter},
    payments::{count_payments, fetch, simulate_paid},
    people::{desk, make},
};

const CASHIER: &str = "kasir@kopisenja.test";
/// Stands for the phone's loudspeaker: counts the tones that were played.
const LOUDSPEAKER: &str = "(() => { window.tones = 0; window.AudioContext = class {
    constructor() { this.currentTime = 0; this.state = 'running'; }
    createOscillator() { return { frequency: {}, connect: (next) => next, start: () => { window.tones += 1; }, stop: () => {} }; }
    createGain() {
        const gain = { setValueAtTime: () => {}, exponentialRampToValueAtTime: () => {} };
        return { gain, connect: (next) => next };
    }
}; return true; })()";

/// A cashier at the counter, who has just signed in.
async fn at_counter(kit: &Kit, look: Look) -> (TestProject, Browser) {
    let project = kit.sandbox().await;
    let owner = make(kit, "sari@kopisenja.test", false).await;
    kit.engine.add_member(project.id, &owner, Role::Owner).await.unwrap();
    let cashier = make(kit, CASHIER, false).await;
    kit.engine.add_member(project.id, &cashier, Role::Cashier).await.unwrap();
    let browser = Browser::open(look).await;
    // They come to the counter from wherever they sign in.
    enter(&browser, kit, CASHIER, "/dashboard").await;
    browser.wait_for_url(|url| url.ends_with("/counter")).await;
    (project, browser)
}

async fn set_offline(browser: &Browser, offline: bool) {
    let conditions = json!({ "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
    browser.devtools("Network.enable", json!({})).await;
    browser.devtools("Network.emulateNetworkConditions", conditions).await;
}

/// The id of the sale that the page shows.
async fn shown_sale(browser: &Browser) -> serde_json::Value {
    let url = browser.attribute("#sale", "data-url").await.unwrap();
    json!({ "id": url.rsplit('/').next().unwrap() })
}

#[tokio::test]
async fn a_cashier_sells_with_large_keys_over_a_line_that_breaks_and_hears_that_it_is_paid() {
    on_sqlite(|kit| async move {
        let (project, browser) = at_counter(&kit, Look::phone()).await;
        browser.check_page().await;
        browser.evaluate(LOUDSPEAKER).await;
        for key in ["1", "5", "7", "back", "000"] {
            browser.click(&format!("[data-key='{key}']")).await;
        }
        assert_eq!(browser.value("#amount").await, "15.000");

        // The press is made while the connection is away. The page says so, and makes one sale when it is back.
        set_offline(&browser, true).await;
        browser.click(".till .show").await;
        browser.wait_for_text("#net", "Koneksi terputus sejak").await;
        assert_eq!(count_payments(&project, "").await, 0);
        set_offline(&browser, false).await;
        browser.wait_for("#sale img").await;
        assert!(!browser.is_shown("#net").await);
        browser.console_errors().await;
        assert_eq!(count_payments(&project, "").await, 1);
        assert_eq!(browser.text("#sale-title").await, "Rp15.000");
        let sale = fetch(&project, &shown_sale(&browser).await).await;
        let scanned = decode_qr(&browser.screenshot_of("#sale img").await);
        assert_eq!(scanned.as_deref(), sale["instructions"]["qr_string"].as_str());
        browser.check_page().await;

        // It is paid while the connection is away, and the page says so when it is back.
        set_offline(&browser, true).await;
        browser.wait_for_text("#net", "mencoba lagi").await;
        simulate_paid(&project, &sale).await;
        set_offline(&browser, false).await;
        browser.wait_for("#sale[data-status=paid]").await;
        assert_eq!(browser.evaluate("window.tones").await, json!(3));
        browser.console_errors().await;
        browser.check_page().await;
        browser.look_with(Look::phone().dark()).await;
        browser.check_colours().await;

        // The next sale is one touch away; muted, it is paid without a sound.
        browser.click("#sale .main").await;
        browser.wait_for("#amount").await;
        browser.wait_for_text("#sales", "Rp15.000").await;
        browser.click("#mute").await;
        browser.wait_for_text("#mute", "Suara mati").await;
        browser.fill("#amount", "27500").await;
        assert_eq!(browser.value("#amount").await, "27.500");
        browser.press("Enter").await;
        browser.wait_for("#sale[data-status=pending]").await;
        simulate_paid(&project, &shown_sale(&browser).await).await;
        browser.wait_for("#sale[data-status=paid]").await;
        assert_eq!(browser.evaluate("window.tones").await, json!(3));

        // A sale that is given up, and the way back.
        browser.click("#sale .main").await;
        browser.fill("#amount", "99").await;
        browser.click(".till .show").await;
        browser.wait_for_text("#amount-why", "antara Rp100 dan").await;
        browser.fill("#amount", "9900").await;
        browser.click(".till .show").await;
        browser.click("#sale .bad").await;
        browser.wait_for("#sale[data-status=cancelled]").await;
        assert_eq!(count_payments(&project, "").await, 3);
        browser.back().await;
        browser.wait_for("#amount").await;
        // The browser logs that an amount was refused with 422.
        assert!(browser.console_errors().await.iter().all(|error| error.contains("422")));
        assert!(!browser.is_shown(&format!("a[href='{}/payments']", desk(project.id))).await);
        browser.goto(&at(&kit, &format!("{}/payments", desk(project.id)))).await;
        browser.wait_for_text("h1", "Tidak diizinkan").await;

        // Without script it is a plain form and a link that asks again.
        browser.look_with(Look::phone().without_script()).await;
        browser.goto(&at(&kit, &format!("{}/counter", desk(project.id)))).await;
        assert!(!browser.is_shown(".pad").await && !browser.is_shown("#mute").await);
        browser.fill("#amount", "12.000").await;
        browser.click(".till .show").await;
        browser.wait_for("#sale[data-status=pending]").await;
        simulate_paid(&project, &shown_sale(&browser).await).await;
        browser.click(".no-js").await;
        browser.wait_for("#sale[data-status=paid]").await;
    })
    .await;
}
