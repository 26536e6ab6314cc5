//! Every page of the dashboard in a real browser, on a phone, a tablet and a wide screen, in both themes and languages.

use std::collections::BTreeSet;

use serde_json::json;
use testkit::{Browser, Kit, Look, Theme, on_sqlite};

use crate::{
    dashboard::routes_table,
    support::{
        dashboard_browser::{BusyProject, LONG, at, enter},
        json::text,
        payments::{events_of, fetch},
        people::desk,
    },
};

/// Addresses that are no pages: an event stream, a part of a page, a picture, a file.
const NO_PAGES: [&str; 10] = [
    "/live",
    "/links/fees",
    "/qr.png",
    "/payments.csv",
    "/refunds.csv",
    "/batch.csv",
    "/audit.csv",
    "/audit.jsonl",
    "/{sale}/status",
    "/{sale}/events",
];

fn looks() -> [Look; 5] {
    let (phone, desktop) = (Look::phone(), Look::desktop());
    let tablet = Look { width: 768, height: 1_024, ..Look::phone() };
    [phone.clone(), phone.dark(), tablet, desktop.clone(), desktop.dark()]
}

/// A script that runs on a page before it is checked.
const NOTHING: &str = "0";
const OPEN_ALL: &str = "document.querySelectorAll('main details').forEach(part => { part.open = true; })";
const OPEN_MENU: &str = "document.querySelectorAll('.menu, .switch').forEach(part => { part.open = true; })";
/// Sends the page's first form with empty fields, without the browser's own validation.
const SEND_BACK: &str = "(form => { form.noValidate = true; \
                         form.querySelectorAll('input:not([type=hidden], [type=radio], [type=checkbox]), textarea') \
                         .forEach(field => { field.value = ''; }); form.requestSubmit(); }) \
                         (document.querySelector('main form:has(input:not([type=hidden]))'))";

/// Every accessibility violation, sideways scroll and, on touch screens, small target of the page as it is now. The themes
/// differ in colours alone, so in the dark one only the rules about colours are checked. Where the same elements are shown as at an
/// earlier width, only the rules about the layout are.
async fn faults(browser: &Browser, look: &Look, shown: &mut BTreeSet<String>) -> Vec<String> {
    if look.theme == Theme::Dark {
        return browser.axe_colours().await.iter().map(ToString::to_string).collect();
    }
    let is_new = shown.insert(browser.shown_elements().await);
    let violations = if is_new { browser.axe().await } else { browser.axe_layout().await };
    let mut faults: Vec<String> = violations.iter().map(ToString::to_string).collect();
    if look.mobile {
        faults.extend(browser.small_targets().await.into_iter().map(|target| format!("too small to hit: {target}")));
    }
    if browser.has_sideways_scroll().await {
        faults.push("it scrolls sideways".to_owned());
    }
    faults
}

/// Runs every check on the page that is open.
async fn check(browser: &Browser, name: &str, language: &str) -> Vec<String> {
    let (mut all, mut shown) = (Vec::new(), BTreeSet::new());
    assert_eq!(browser.attribute("html", "lang").await.as_deref(), Some(language), "{name}");
    assert_eq!(browser.count("h1").await, 1, "{name}");
    assert_eq!(browser.count("main").await, 1, "{name}");
    let title = browser.title().await;
    assert!(title.ends_with(" · Lunas") && !title.starts_with(" ·"), "{name} is called {title}");
    for look in looks() {
        println!("{name}: {look:?}");
        browser.look_with(look.clone()).await;
        let found = faults(browser, &look, &mut shown).await;
        all.extend(found.into_iter().map(|fault| format!("{name}, {} {:?}: {fault}", look.width, look.theme)));
    }
    browser.look_with(Look::phone()).await;
    let errors = browser.console_errors().await;
    // The browser logs each answer that is an error, which is expected here.
    let is_answer = |error: &String| ["401", "403", "404", "409", "422"].iter().any(|status| error.contains(status));
    assert_eq!(errors.into_iter().filter(|error| !is_answer(error)).collect::<Vec<_>>(), [""; 0], "{name}");
    all
}

/// Opens each page, runs its script and checks it, unless its text is the same as that of an earlier one.
async fn check_all(browser: &Browser, kit: &Kit, pages: &[(String, &str)]) {
    let (mut seen, mut faults) = (BTreeSet::new(), Vec::new());
    // So that no webhook that is sent meanwhile makes a page replace what is being checked.
    kit.stop_delivering().await;
    for (path, act) in pages {
        browser.goto(&at(kit, path)).await;
        browser.evaluate(act).await;
        if *act == SEND_BACK {
            browser.wait_for("[role=alert], [aria-invalid]").await;
            // The focus has scrolled the page; what is below the bar on top cannot be hit there, and need not be.
            browser.evaluate("scrollTo(0, 0)").await;
        }
        let says = browser.evaluate("document.title + document.querySelector('main').innerText").await;
        if seen.insert(says.to_string()) {
            faults.extend(check(browser, path, "id").await);
        }
    }
    assert!(faults.is_empty(), "pages are not as they must be:\n{}", faults.join("\n"));
}

/// The pages of a project that need no id in their address.
const SECTIONS: [&str; 16] = [
    "",
    "/payments",
    "/links",
    "/links/new",
    "/balance",
    "/balance/receipts",
    "/keys",
    "/notifications",
    "/simulator",
    "/settings",
    "/settings/members",
    "/settings/roles",
    "/refunds",
    "/settings/refunds",
    "/audit",
    "/search",
];

#[tokio::test]
async fn every_page_of_a_busy_project_is_accessible_on_every_screen() {
    on_sqlite(|kit| async move {
        let world = BusyProject::new(&kit).await;
        let browser = Browser::open(Look::phone()).await;
        enter(&browser, &kit, world.owner.email.as_str(), "/dashboard").await;
        let pages = routes_table::opened().into_iter().filter(|path| !NO_PAGES.iter().any(|end| path.ends_with(end)));
        let pages: Vec<(String, &str)> = pages.map(|path| (world.path(path), OPEN_ALL)).collect();
        assert!(pages.len() > 40 && !pages.iter().any(|(path, _)| path.contains('{')), "{pages:?}");
        check_all(&browser, &kit, &pages).await;
        assert_eq!(kit.store.breaches().await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn search_results_and_messages_are_accessible_on_every_screen() {
    on_sqlite(|kit| async move {
        let world = BusyProject::new(&kit).await;
        let browser = Browser::open(Look::phone()).await;
        enter(&browser, &kit, world.owner.email.as_str(), "/dashboard").await;
        let mut pages: Vec<(String, &str)> = Vec::new();
        for receipt in &world.undecided {
            pages.push((world.desk(&format!("/balance/receipts/{receipt}")), NOTHING));
        }
        let code = text(&world.waits, "id");
        let code =
            fetch(&world.project, &json!({ "id": code })).await["instructions"]["virtual_account_number"].clone();
        let found = format!("/simulator?code={}", code.as_str().unwrap());
        for rest in [
            "?lang=id",
            "/payments?status=paid&q=INV&period=month",
            "/payments?q=nothing+of+the+kind",
            "/payments?link=x&from=never&sort=x&q=a",
            "/payments?link=i",
            "/payments?method=qris&link=Kopi+susu+gula+aren&from=2026-01-01&to=2026-12-31&sort=highest",
            "/search?q=siti",
            "/search?q=nothing+of+the+kind",
            "/search?q=a",
            "/links?search=nothing+of+the+kind",
            "/notifications?show=failing",
            "/balance?account=unapplied",
            "/balance/receipts?tab=decided",
            "/simulator?code=1",
            &found,
        ] {
            pages.push((world.desk(rest), NOTHING));
        }
        pages.push((world.desk(""), OPEN_MENU));
        pages.push((world.desk(&format!("/payments/{}", text(&world.waits, "id"))), OPEN_ALL));
        let failing = events_of(&world.project, &world.failed, "payment.failed").await;
        pages.push((world.desk(&format!("/notifications/deliveries/{}", text(&failing[0], "id"))), OPEN_ALL));
        for rest in ["/links/new", "/keys", "/settings", "/settings/members", "/notifications"] {
            pages.push((world.desk(rest), SEND_BACK));
        }
        pages.push(("/dashboard/account".to_owned(), SEND_BACK));
        pages.push(("/dashboard/projects/new".to_owned(), SEND_BACK));
        pages.push(("/dashboard/operator?show=waiting".to_owned(), NOTHING));
        pages.push(("/dashboard/operator/strays?tab=decided".to_owned(), NOTHING));
        pages.push(("/dashboard/operator/differences?tab=settled".to_owned(), NOTHING));
        for kind in ["amount", "fee"] {
            let difference = world.path("/dashboard/operator/differences/look?account={account}");
            let subject = LONG.replace('ä', "%C3%A4");
            pages.push((format!("{difference}&subject={subject}&kind={kind}"), NOTHING));
        }
        let assign = world.path("/dashboard/operator/strays/{stray}/assign");
        pages.push((format!("{assign}?payment=junk"), NOTHING));
        pages.push(("/dashboard/nothing/of/the/kind".to_owned(), NOTHING));
        check_all(&browser, &kit, &pages).await;
    })
    .await;
}

#[tokio::test]
async fn secrets_that_are_shown_once_are_accessible_on_every_screen() {
    on_sqlite(|kit| async move {
        let world = BusyProject::new(&kit).await;
        let browser = Browser::open(Look::phone()).await;
        enter(&browser, &kit, world.owner.email.as_str(), "/dashboard").await;
        for (path, field, written, form) in [
            (world.desk("/keys"), "#name", "Baru", "form.card"),
            (world.desk("/notifications"), "#url", "", "form[action$='/secret/show']"),
            (world.desk("/notifications/secret/roll"), "h1", "", "main form"),
            (world.desk("/settings/members"), "#email", "tamu@toko.test", "form[action$='/members']"),
            ("/dashboard/operator/projects/new".to_owned(), "#owner", "pemilik@toko.test", "main form"),
        ] {
            browser.goto(&at(&kit, &path)).await;
            if !written.is_empty() {
                browser.fill(field, written).await;
            }
            if browser.count("main #owner").await > 0 {
                browser.fill("#name", "Toko baru").await;
            }
            browser.click(&format!("{form} :is(button.main, button.danger, button)")).await;
            browser.wait_for(".secret").await;
            let faults = check(&browser, &path, "id").await;
            assert!(faults.is_empty(), "{}", faults.join("\n"));
        }
    })
    .await;
}

#[tokio::test]
async fn empty_pages_say_what_to_do_next_and_are_accessible_on_every_screen() {
    on_sqlite(|kit| async move {
        let world = BusyProject::new(&kit).await;
        let browser = Browser::open(Look::phone()).await;
        enter(&browser, &kit, world.owner.email.as_str(), "/dashboard").await;
        let empty: Vec<(String, &str)> =
            SECTIONS.iter().map(|rest| (format!("{}{rest}", desk(world.empty)), NOTHING)).collect();
        for (path, says) in [
            (&empty[1].0, ".empty a"),
            (&empty[2].0, ".empty a"),
            (&empty[4].0, ".empty p"),
            (&empty[5].0, ".empty p"),
            (&empty[6].0, ".empty p"),
            (&empty[7].0, ".empty p"),
            (&empty[8].0, ".empty a"),
        ] {
            browser.goto(&at(&kit, path)).await;
            browser.wait_for(says).await;
        }
        check_all(&browser, &kit, &empty).await;
        let waiting = ["", "/settings", "/links/new"].map(|rest| (format!("{}{rest}", desk(world.waiting)), NOTHING));
        check_all(&browser, &kit, &waiting).await;
    })
    .await;
}

#[tokio::test]
async fn pages_for_viewers_and_strangers_are_accessible_on_every_screen() {
    on_sqlite(|kit| async move {
        let world = BusyProject::new(&kit).await;
        let browser = Browser::open(Look::phone()).await;
        let invite = world.path("/dashboard/invite/{token}");
        let reset = world.path("/dashboard/reset/{reset}");
        let strange = [
            ("/dashboard".to_owned(), NOTHING),
            ("/dashboard/sign-in".to_owned(), SEND_BACK),
            (invite.clone(), NOTHING),
            (invite, SEND_BACK),
            (format!("/dashboard/invite/{}", "0".repeat(64)), NOTHING),
            (reset.clone(), NOTHING),
            (reset, SEND_BACK),
            (format!("/dashboard/reset/{}", "0".repeat(64)), NOTHING),
            ("/dashboard/forgot".to_owned(), NOTHING),
        ];
        check_all(&browser, &kit, &strange).await;
        enter(&browser, &kit, "viewer@toko.test", "/dashboard").await;
        let mut pages: Vec<(String, &str)> = SECTIONS.iter().map(|rest| (world.desk(rest), NOTHING)).collect();
        let receipt = &world.undecided[0];
        pages.push((world.desk(&format!("/balance/receipts/{receipt}")), NOTHING));
        check_all(&browser, &kit, &pages).await;
    })
    .await;
}

#[tokio::test]
async fn every_section_is_accessible_in_english() {
    on_sqlite(|kit| async move {
        let world = BusyProject::new(&kit).await;
        let browser = Browser::open(Look::phone()).await;
        enter(&browser, &kit, world.owner.email.as_str(), "/dashboard?lang=en").await;
        for path in SECTIONS.iter().map(|rest| world.desk(rest)).chain(["/dashboard/operator".to_owned()]) {
            browser.goto(&at(&kit, &path)).await;
            let faults = check(&browser, &path, "en").await;
            assert!(faults.is_empty(), "{}", faults.join("\n"));
        }
    })
    .await;
}

#[tokio::test]
async fn text_of_twice_the_size_still_fits() {
    on_sqlite(|kit| async move {
        let world = BusyProject::new(&kit).await;
        let browser = Browser::open(Look::desktop().zoomed()).await;
        enter(&browser, &kit, world.owner.email.as_str(), "/dashboard").await;
        for path in SECTIONS.iter().map(|rest| world.desk(rest)).chain(["/dashboard/operator".to_owned()]) {
            browser.goto(&at(&kit, &path)).await;
            assert!(!browser.has_sideways_scroll().await, "{path}");
        }
    })
    .await;
}
