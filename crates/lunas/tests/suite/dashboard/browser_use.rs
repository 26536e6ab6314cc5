//! Using the dashboard in a real browser: without script, by keyboard, over a slow line, and after a session has ended.

use std::time::Duration;

use domain::user::SESSION_IDLE;
use serde_json::json;
use testkit::{Browser, Kit, Look, TestProject, on_sqlite};

use crate::support::{
    dashboard_browser::{BusyProject, at, enter, owner_of, sign_in},
    json::with,
    payments::{create, paid, simulate_paid},
    people::desk,
    samples,
};

const OWNER: &str = "sari@kopisenja.test";
/// The most bytes of a first visit to any page.
const BYTES_MOST: u64 = 40 * 1_024;
/// The page, its style, its script and its event stream.
const REQUESTS_MOST: usize = 4;

/// A project whose owner has one of its pages open.
async fn at_desk(kit: &Kit, look: Look, rest: &str) -> (TestProject, Browser) {
    let project = kit.sandbox().await;
    owner_of(kit, project.id, OWNER).await;
    let browser = Browser::open(look).await;
    enter(&browser, kit, OWNER, &format!("{}{rest}", desk(project.id))).await;
    (project, browser)
}

async fn payment(project: &TestProject, reference: &str, is_paid: bool) {
    let payment = create(project, &with(samples::qris(project, 15_000), "reference", reference)).await;
    if is_paid {
        simulate_paid(project, &payment).await;
    }
}

#[tokio::test]
async fn without_script_a_link_is_made_with_its_fees_and_cancelled_after_a_question() {
    on_sqlite(|kit| async move {
        let (_project, browser) = at_desk(&kit, Look::phone().without_script(), "/links/new").await;
        browser.fill("#title", "Kopi susu").await;
        browser.fill("#amount", "25.000").await;
        browser.click("button[name=preview]").await;
        browser.wait_for_text("#fees", "Rp25.000").await;
        browser.click(".phone-fold summary").await;
        browser.wait_for_text("#phone", "Kopi susu").await;
        assert_eq!(browser.value("#title").await, "Kopi susu", "what was written stays");
        browser.click("form.cols button.main").await;
        browser.wait_for_text(".flash", "siap dibagikan").await;
        assert!(!browser.is_shown("[data-copy]").await, "there is nothing to press that does nothing");
        browser.click("a[href$='/cancel']").await;
        browser.wait_for_text("h1", "Batalkan tautan ini?").await;
        browser.click("button.danger").await;
        browser.wait_for_text(".flash", "Tautan dibatalkan").await;
        browser.wait_for_text("#state", "Dibatalkan").await;
    })
    .await;
}

#[tokio::test]
async fn without_script_a_key_is_revoked_after_a_question() {
    on_sqlite(|kit| async move {
        let (project, browser) = at_desk(&kit, Look::phone().without_script(), "/keys").await;
        project.api.get("/v1/balance").await.expect(200);
        browser.click("#keys a[href$='/revoke']").await;
        browser.wait_for_text("h1", "Cabut kunci API ini?").await;
        project.api.get("/v1/balance").await.expect(200);
        browser.click("button.danger").await;
        browser.wait_for_text("#keys", "Dicabut").await;
        project.api.get("/v1/balance").await.refused(401, "UNAUTHORIZED");
    })
    .await;
}

#[tokio::test]
async fn without_script_payments_are_filtered_and_the_language_is_switched_for_good() {
    on_sqlite(|kit| async move {
        let (project, browser) = at_desk(&kit, Look::phone().without_script(), "/payments").await;
        payment(&project, "INV-paid", true).await;
        payment(&project, "INV-open", false).await;
        browser.fill("#q", "inv").await;
        browser.click(".filters .pop > summary").await;
        browser.click("#status option[value=paid]").await;
        browser.click(".filters button.main").await;
        browser.wait_for_url(|url| url.contains("status=paid") && url.contains("q=inv")).await;
        assert_eq!(browser.text("#rows tbody").await.matches("INV-").count(), 1);
        browser.click(".menu > summary").await;
        browser.click(".menu a[hreflang=en]").await;
        browser.wait_for_text("h1", "Payments").await;
        assert_eq!(browser.attribute("html", "lang").await.as_deref(), Some("en"));
        assert!(browser.text("#rows tbody").await.contains("INV-paid"), "it is still the same page");
        browser.click("#rows a.row").await;
        browser.wait_for_text("#timeline", "Created").await;
    })
    .await;
}

#[tokio::test]
async fn a_first_visit_is_at_most_40_kilobytes_in_at_most_four_requests() {
    on_sqlite(|kit| async move {
        let world = BusyProject::new(&kit).await;
        let browser = Browser::open(Look::phone()).await;
        enter(&browser, &kit, world.owner.email.as_str(), "/dashboard/account").await;
        for path in ["", "/payments", "/search?q=toko", "/links", "/balance", "/notifications", "/settings", "/audit"] {
            browser.goto("about:blank").await;
            browser.devtools("Network.clearBrowserCache", json!({})).await;
            browser.traffic().await;
            browser.goto(&at(&kit, &world.desk(path))).await;
            browser.wait_until("document.readyState === 'complete'").await;
            let traffic = browser.traffic().await;
            let bytes: u64 = traffic.iter().map(|transfer| transfer.bytes).sum();
            println!("{path}: {bytes} bytes in {} requests", traffic.len());
            assert!((1..=REQUESTS_MOST).contains(&traffic.len()), "{path}: {traffic:#?}");
            assert!(bytes <= BYTES_MOST, "{path}: {bytes} bytes: {traffic:#?}");
        }
    })
    .await;
}

#[tokio::test]
async fn after_a_session_has_ended_signing_in_leads_back_to_the_same_filtered_page() {
    on_sqlite(|kit| async move {
        let (project, browser) = at_desk(&kit, Look::desktop(), "/payments?status=paid&q=INV").await;
        payment(&project, "INV-paid", true).await;
        payment(&project, "INV-open", false).await;
        browser.wait_for_text("#rows", "INV-paid").await;
        let address = browser.url().await;
        kit.clock.advance(SESSION_IDLE);
        browser.reload().await;
        browser.wait_for_text(".note", "Sesi Anda sudah berakhir").await;
        assert_eq!(browser.url().await, address, "the question comes at the same address");
        assert!(!browser.text("body").await.contains("INV-"));
        sign_in(&browser, OWNER).await;
        assert_eq!(browser.url().await, address);
        assert_eq!(browser.text("#rows tbody").await.matches("INV-").count(), 1);
        assert_eq!((browser.value("#status").await, browser.value("#q").await), ("paid".into(), "INV".into()));
    })
    .await;
}

#[tokio::test]
async fn an_open_page_whose_session_has_ended_shows_nothing_new_and_asks_to_sign_in() {
    on_sqlite(|kit| async move {
        let (project, browser) = at_desk(&kit, Look::desktop(), "").await;
        paid(&project, "before", 15_000).await;
        browser.wait_for_text("#stats", "Rp15.000").await;
        kit.clock.advance(SESSION_IDLE);
        paid(&project, "after", 27_000).await;
        // The page does this without any action of the user.
        browser.wait_for("#password").await;
        assert!(!browser.text("body").await.contains("Rp"), "what happened since is not told");
        assert!(browser.url().await.ends_with(&desk(project.id)));
        sign_in(&browser, OWNER).await;
        browser.wait_for_text("#stats", "Rp42.000").await;
    })
    .await;
}

#[tokio::test]
async fn a_page_that_is_only_open_does_not_extend_its_session() {
    on_sqlite(|kit| async move {
        let (project, browser) = at_desk(&kit, Look::desktop(), "").await;
        for turn in 1..=3 {
            kit.clock.advance(Duration::from_mins(11));
            if turn < 3 {
                paid(&project, &format!("k-{turn}"), 10_000).await;
                browser.wait_for_text("#stats", &format!("Rp{turn}0.000")).await;
            }
        }
        browser.wait_for("#password").await;
    })
    .await;
}

const ACTIVE: &str = "document.activeElement";

#[tokio::test]
async fn the_first_tab_key_skips_the_menu() {
    on_sqlite(|kit| async move {
        let (_project, browser) = at_desk(&kit, Look::desktop(), "").await;
        browser.press("Tab").await;
        browser.wait_until(&format!("{ACTIVE}.matches('.skip') && {ACTIVE}.getBoundingClientRect().top >= 0")).await;
        browser.press("Enter").await;
        assert_eq!(browser.focused().await, "main#main");
        browser.press("Tab").await;
        assert_eq!(browser.evaluate(&format!("main.contains({ACTIVE})")).await, true);
    })
    .await;
}

#[tokio::test]
async fn the_menu_of_a_phone_opens_and_closes_by_keyboard() {
    on_sqlite(|kit| async move {
        let (project, browser) = at_desk(&kit, Look::phone(), "").await;
        assert!(!browser.is_shown(".menu nav").await);
        while browser.evaluate(&format!("!{ACTIVE}.matches('.menu > summary')")).await == true {
            browser.press("Tab").await;
        }
        browser.press("Enter").await;
        browser.wait_for(".menu nav").await;
        browser.press("Tab").await;
        assert_eq!(browser.evaluate(&format!("{ACTIVE}.closest('.menu') !== null")).await, true);
        browser.press("Escape").await;
        browser.wait_until_gone(".menu nav").await;
        assert_eq!(browser.evaluate(&format!("{ACTIVE}.matches('.menu > summary')")).await, true);
        browser.click(".menu > summary").await;
        browser.click(".menu nav a[href$='/payments']").await;
        browser.wait_for_url(|url| url.ends_with(&format!("{}/payments", desk(project.id)))).await;
    })
    .await;
}

#[tokio::test]
async fn the_focus_is_visible_everywhere() {
    let seen = "(one => { const style = getComputedStyle(one), box = one.getBoundingClientRect(); \
                const hit = document.elementFromPoint(box.x + Math.min(box.width, innerWidth) / 2, box.y + box.height / 2); \
                return parseFloat(style.outlineWidth) >= 2 && style.outlineStyle !== 'none' && hit !== null \
                && (one.contains(hit) || hit.contains(one) || one.labels?.[0]?.contains(hit)) ? '' : one.outerHTML.slice(0, 200); })";
    on_sqlite(|kit| async move {
        let (project, browser) = at_desk(&kit, Look::desktop(), "").await;
        paid(&project, "k-1", 15_000).await;
        for (look, rest) in [(Look::desktop(), ""), (Look::desktop(), "/links/new"), (Look::phone(), "/payments")] {
            browser.look_with(look).await;
            browser.goto(&at(&kit, &format!("{}{rest}", desk(project.id)))).await;
            browser.evaluate(&format!("{ACTIVE}.blur()")).await;
            let mut stops = 0;
            loop {
                browser.press("Tab").await;
                if browser.focused().await == "body" {
                    break;
                }
                let unseen = browser.evaluate(&format!("({seen})({ACTIVE})")).await;
                assert_eq!(unseen, "", "{rest}");
                stops += 1;
                assert!(stops < 200, "the focus goes round and round in {rest}");
            }
            assert!(stops > 10, "{stops} stops in {rest}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_form_that_comes_back_puts_the_focus_on_what_is_wrong() {
    let send = "(form => { form.noValidate = true; form.requestSubmit(); })";
    on_sqlite(|kit| async move {
        let (project, browser) = at_desk(&kit, Look::desktop(), "").await;
        let base = desk(project.id);
        for (path, form, field, written) in [
            (format!("{base}/links/new"), "form.cols", "#amount", "lima"),
            (format!("{base}/keys"), "form.card", "#name", "first"),
            (format!("{base}/notifications"), "form[action$='/url']", "#url", "ftp://x"),
            (format!("{base}/notifications"), "form[action$='/recover']", "#since", ""),
            (format!("{base}/simulator"), "form[method=get]", "#code", "1"),
            (format!("{base}/payments"), ".filters", "#link", "x"),
            (format!("{base}/settings"), "form[action$='/merchant']", "#merchant_postal_code", "1"),
            (format!("{base}/settings"), "form[action$='/origins']", "#allowed_origins", "toko"),
            (format!("{base}/settings/members"), "form[action$='/members']", "#email", "nobody"),
            ("/dashboard/account".to_owned(), "form[action$='/password']", "#new_password", "short"),
            ("/dashboard/projects/new".to_owned(), "main form", "#name", ""),
        ] {
            browser.goto(&at(&kit, &path)).await;
            let value = json!(written);
            browser.evaluate(&format!("document.querySelector({}).value = {value}", json!(field))).await;
            browser.evaluate("window.old = true").await;
            browser.evaluate(&format!("{send}(document.querySelector({}))", json!(form))).await;
            browser.wait_until("window.old === undefined && document.readyState === 'complete'").await;
            let focus = format!("{ACTIVE}.matches('[role=alert], [aria-invalid=true]')");
            browser.wait_until(&focus).await;
            browser.wait_for(&format!("{field}[aria-invalid=true]")).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_slash_goes_to_the_box_that_searches_everything_and_enter_opens_what_is_named() {
    on_sqlite(|kit| async move {
        let (project, browser) = at_desk(&kit, Look::desktop(), "/links").await;
        payment(&project, "INV-paid", true).await;
        browser.press("Slash").await;
        assert_eq!(browser.evaluate(&format!("{ACTIVE}.id")).await, "find-side");
        browser.press("Slash").await;
        assert_eq!(browser.value("#find-side").await, "/", "in the box it is a character like others");
        browser.fill("#find-side", "inv").await;
        browser.press("Enter").await;
        browser.wait_for_text("#found", "INV-paid").await;
        browser.fill("#find-side", "INV-paid").await;
        browser.press("Enter").await;
        browser.wait_for("#timeline").await;
    })
    .await;
}

#[tokio::test]
async fn a_wide_list_has_rows_of_forty_pixels_and_a_printed_one_has_no_controls() {
    on_sqlite(|kit| async move {
        let world = BusyProject::new(&kit).await;
        let browser = Browser::open(Look::desktop()).await;
        enter(&browser, &kit, world.owner.email.as_str(), &world.desk("/payments?period=30days")).await;
        browser.wait_for("#rows tbody tr").await;
        let heights =
            "[...document.querySelectorAll('#rows tbody tr')].every(row => Math.abs(row.offsetHeight - 40) <= 1)";
        assert_eq!(browser.evaluate(heights).await, true, "whatever a row is called");
        browser.devtools("Emulation.setEmulatedMedia", json!({ "media": "print" })).await;
        let shown = "(css => [...document.querySelectorAll(css)].filter(one => one.checkVisibility()).length)";
        for (css, is_printed) in [
            ("#rows tbody tr", true),
            ("#sum .stat", true),
            (".chips [aria-current]", true),
            (".chips a:not([aria-current])", false),
            (".filters, .side, .pages, .head .acts, button", false),
        ] {
            let count = browser.evaluate(&format!("{shown}({})", json!(css))).await;
            assert_eq!(count.as_u64().unwrap() > 0, is_printed, "{css}: {count}");
        }
        browser.devtools("Emulation.setEmulatedMedia", json!({ "media": "" })).await;
    })
    .await;
}

#[tokio::test]
async fn on_a_narrow_screen_every_part_of_the_settings_is_in_sight() {
    on_sqlite(|kit| async move {
        let (_project, browser) = at_desk(&kit, Look { width: 390, ..Look::phone() }, "/settings?lang=en").await;
        assert_eq!(browser.count(".tabs a").await, 7);
        let outside = "Array.from(document.querySelectorAll('.tabs a')) \
                       .filter((part) => part.getBoundingClientRect().right > innerWidth).map((part) => part.textContent)";
        assert_eq!(browser.evaluate(outside).await, json!([]));
        let scrolls = "(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('.tabs'))";
        assert_eq!(browser.evaluate(scrolls).await, json!(false));
    })
    .await;
}
