//! Links in a real browser: the poster on paper, the preview while a link is filled in, and the system's sheet for sharing.

use serde_json::json;
use testkit::{Browser, Look, decode_qr, on_sqlite};

use crate::support::{
    dashboard_browser::{LONG, at, enter, owner_of},
    face::give_face,
    json::text,
    links::create_link,
    people::desk,
    printed::printed,
};

const OWNER: &str = "sari@kopisenja.test";

#[tokio::test]
async fn a_printed_poster_is_one_sheet_of_its_size_whose_code_leads_to_the_link() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        owner_of(&kit, project.id, OWNER).await;
        let browser = Browser::open(Look::phone()).await;
        enter(&browser, &kit, OWNER, &desk(project.id)).await;
        let long = format!("{LONG} {LONG} {LONG}");
        for (title, has_face) in [("Kopi susu", false), ("مقهى الصباح ☕", false), (&long, false), (&long, true)]
        {
            if has_face {
                give_face(&kit, project.id).await;
            }
            let link = create_link(&project, json!({ "title": title })).await;
            for (size, paper) in [("a6", (105, 148)), ("a4", (210, 297))] {
                let path = format!("{}/links/{}/poster?size={size}", desk(project.id), text(&link, "id"));
                browser.goto(&at(&kit, &path)).await;
                browser.check_page().await;
                let fits = "(sheet => sheet.scrollHeight <= sheet.clientHeight)(document.querySelector('.sheet'))";
                assert_eq!(browser.evaluate(fits).await, json!(true), "{size}: {title}");
                let pages = printed(&browser).await;
                assert_eq!(pages.iter().map(|page| page.size).collect::<Vec<_>>(), [paper], "{size}: {title}");
                assert_eq!(decode_qr(&pages[0].png).as_deref(), Some(text(&link, "url")), "{size}: {title}");
            }
        }
        assert_eq!(browser.console_errors().await, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn a_phone_beside_the_form_shows_the_customers_page_while_one_types() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        owner_of(&kit, project.id, OWNER).await;
        let browser = Browser::open(Look::desktop()).await;
        enter(&browser, &kit, OWNER, &format!("{}/links/new", desk(project.id))).await;
        assert!(browser.is_shown("#phone .press").await, "there is room for it");
        browser.fill("#title", "Kelas melukis").await;
        browser.fill("#amount", "150000").await;
        browser.wait_for_text("#phone", "Kelas melukis").await;
        browser.wait_for_text("#phone .press", "Bayar Rp150.000").await;
        browser.wait_for_text("#fees", "Rp148.950").await;
        browser.click("input[name=ask_phone]").await;
        browser.wait_for_text("#phone", "Nomor telepon").await;
        browser.look_with(Look::phone()).await;
        assert!(!browser.is_shown("#phone .press").await, "a phone has no room for a phone");
        browser.click(".phone-fold summary").await;
        browser.wait_for("#phone .press").await;
        browser.fill("#title", "Kelas merajut").await;
        browser.wait_for_text("#phone", "Kelas merajut").await;
        assert!(browser.is_shown("#phone .press").await, "it stays open");
        browser.check_page().await;
        assert_eq!(browser.console_errors().await, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn the_systems_sheet_is_offered_only_where_there_is_one() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        owner_of(&kit, project.id, OWNER).await;
        let link = create_link(&project, json!({})).await;
        let browser = Browser::open(Look::phone()).await;
        let without = json!({ "source": "Object.defineProperty(Navigator.prototype, 'share', { value: undefined, configurable: true })" });
        let script = browser.devtools("Page.addScriptToEvaluateOnNewDocument", without).await;
        enter(&browser, &kit, OWNER, &format!("{}/links/{}", desk(project.id), text(&link, "id"))).await;
        assert!(!browser.is_shown("[data-share]").await && browser.is_shown("a[href^='https://wa.me/']").await);
        browser.devtools("Page.removeScriptToEvaluateOnNewDocument", script).await;
        let with = "Navigator.prototype.share = function (what) { window.shared = what; return Promise.resolve(); }";
        browser.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": with })).await;
        browser.reload().await;
        browser.click("[data-share]").await;
        browser.wait_until("window.shared !== undefined").await;
        let shared = browser.evaluate("window.shared").await;
        assert_eq!((text(&shared, "url"), text(&shared, "title")), (text(&link, "url"), "Kopi susu"));
        assert!(text(&shared, "text").contains("Rp50.000"), "{shared}");
        browser.click("[data-copy]").await;
        assert_eq!(browser.clipboard().await, text(&link, "url"));
        assert_eq!(browser.console_errors().await, [""; 0]);
    })
    .await;
}
