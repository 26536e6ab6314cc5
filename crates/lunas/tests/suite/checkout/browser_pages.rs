//! Every checkout page in every state in a real browser, on the narrowest screen and a wide one, in both themes and
//! both languages.

use std::{collections::BTreeSet, time::Duration};

use domain::{bank::Bank, method::Method};
use serde_json::{Value, json};
use testkit::{Browser, Kit, Look, TestProject, Theme, on_sqlite};

use crate::support::{
    json::text,
    links::{attempt, create_link},
    payments::report,
    samples,
};

/// The longest allowed words without a place to break the line.
const LONG: &str = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";

fn looks() -> [Look; 5] {
    let (narrow, desktop) = (Look::narrow(), Look::desktop());
    [narrow.clone(), narrow.clone().dark(), desktop.clone(), desktop.dark(), narrow.english()]
}

/// A script that runs on a page before it is checked.
const NOTHING: &str = "0";
const SEND_BACK: &str = "(form => { form.noValidate = true; form.requestSubmit(); })(document.forms[0])";
const SEND: &str = "document.forms[0].submit()";

/// Checks each page in every look: its name, its address, and the script that runs there first.
async fn check_all(kit: &Kit, pages: &[(&str, String, &str)]) {
    let browser = Browser::open(Look::narrow()).await;
    let mut titles = BTreeSet::new();
    for look in looks() {
        browser.look_with(look.clone()).await;
        for (name, address, act) in pages {
            println!("{name}: {look:?}");
            if address.contains('#') {
                // An address that differs only after its `#` would not be reloaded.
                browser.goto("about:blank").await;
            }
            browser.goto(address).await;
            browser.evaluate(act).await;
            if *act != NOTHING {
                browser.wait_for("[role=alert], .seal").await;
            }
            match look.theme {
                Theme::Light => browser.check_page().await,
                Theme::Dark => browser.check_colours().await,
            }
            assert_eq!(browser.attribute("html", "lang").await.as_deref(), Some(look.language), "{name}");
            assert_eq!(browser.count("h1").await, 1, "{name}");
            let title = browser.title().await;
            if look == Look::narrow() {
                assert!(titles.insert(title.clone()), "{name} is called {title} like another page");
            }
            let errors = browser.console_errors().await;
            // The browser logs each answer that is an error, which is expected here.
            let is_answer = |error: &String| ["403", "404", "422"].iter().any(|status| error.contains(status));
            assert_eq!(errors.into_iter().filter(|error| !is_answer(error)).collect::<Vec<_>>(), [""; 0], "{name}");
        }
    }
    assert_eq!(kit.store.breaches().await.unwrap(), []);
}

async fn everything_asked(project: &TestProject) -> Value {
    let members = json!({
        "title": LONG,
        "description": format!("{LONG}\n{LONG} dua baris"),
        "reference": LONG,
        "amount": 999_999_999_999_i64,
        "allowed_payment_methods": [{ "type": "qris" }, { "type": "virtual_account" }],
        "customer_fields": { "name": true, "email": true, "phone": true, "address": true },
    });
    create_link(project, members).await
}

#[tokio::test]
async fn pages_to_choose_and_to_pay_are_accessible_on_every_screen() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let link = everything_asked(&project).await;
        let qris = attempt(&kit, &project, &link, Method::Qris).await;
        let account = attempt(&kit, &project, &link, Method::VirtualAccount(Bank::Bri)).await;
        let lone = create_link(&project, json!({ "allowed_payment_methods": [{ "type": "qris" }] })).await;
        let direct = project.api.pay("direct", &samples::virtual_account(&project, "bss", 75_000)).await.expect(201);
        let change = format!("{}?change={}", text(&link, "url"), qris["id"].as_str().unwrap());
        let foreign = format!("data:text/html,<form method=post action={}></form>", text(&link, "url"));
        let pages = [
            ("chooser", text(&link, "url").to_owned(), NOTHING),
            ("chooser of one", text(&lone, "url").to_owned(), NOTHING),
            ("chooser with mistakes", text(&link, "url").to_owned(), SEND_BACK),
            ("form of another site", foreign, SEND),
            ("QRIS", text(&qris, "checkout_url").to_owned(), NOTHING),
            ("virtual account", text(&account, "checkout_url").to_owned(), NOTHING),
            ("direct virtual account", text(&direct, "checkout_url").to_owned(), NOTHING),
        ];
        check_all(&kit, &pages).await;
        // These have the same titles as pages above.
        check_all(&kit, &[("change of method", change, NOTHING)]).await;
        check_all(&kit, &[("enlarged code", format!("{}#qr", text(&qris, "checkout_url")), NOTHING)]).await;
    })
    .await;
}

#[tokio::test]
async fn final_states_of_payments_are_accessible_on_every_screen() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let many = create_link(&project, json!({ "title": LONG, "allow_multiple_payments": true })).await;
        let mut ends = Vec::new();
        for outcome in ["processing", "paid", "failed"] {
            let payment = attempt(&kit, &project, &many, Method::Qris).await;
            report(&project, &payment, outcome).await;
            ends.push((outcome, text(&payment, "checkout_url").to_owned(), NOTHING));
        }
        let cancelled = create_link(&project, json!({})).await;
        let payment = attempt(&kit, &project, &cancelled, Method::Qris).await;
        let path = format!("/v1/payment-links/{}/cancel", cancelled["id"].as_str().unwrap());
        project.api.post(&path, &json!({})).await.expect(200);
        ends.push(("cancelled", text(&payment, "checkout_url").to_owned(), NOTHING));
        let expired = project.api.pay("expired", &samples::qris(&project, 75_000)).await.expect(201);
        kit.clock.advance(Duration::from_hours(1));
        ends.push(("expired", text(&expired, "checkout_url").to_owned(), NOTHING));
        check_all(&kit, &ends).await;
    })
    .await;
}

#[tokio::test]
async fn closed_links_and_unknown_addresses_are_accessible_on_every_screen() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let expires_at = "2026-11-14T09:31:00Z";
        let inactive = create_link(&project, json!({ "expires_at": expires_at })).await;
        let cancelled = create_link(&project, json!({})).await;
        let path = format!("/v1/payment-links/{}/cancel", cancelled["id"].as_str().unwrap());
        project.api.post(&path, &json!({})).await.expect(200);
        let mut used = Vec::new();
        for outcome in ["paid", "processing"] {
            let link = create_link(&project, json!({})).await;
            let payment = attempt(&kit, &project, &link, Method::Qris).await;
            report(&project, &payment, outcome).await;
            used.push(text(&link, "url").to_owned());
        }
        let unserved = create_link(&kit.production().await, json!({})).await;
        kit.clock.advance(Duration::from_mins(2));
        let [paid, processing] = used.try_into().unwrap();
        let pages = [
            ("inactive", text(&inactive, "url").to_owned(), NOTHING),
            ("cancelled", text(&cancelled, "url").to_owned(), NOTHING),
            ("paid", paid, NOTHING),
            ("being paid", processing, NOTHING),
            ("no method", text(&unserved, "url").to_owned(), NOTHING),
            ("no page", format!("http://{}/p/nothing", kit.address), NOTHING),
        ];
        check_all(&kit, &pages).await;
    })
    .await;
}

#[tokio::test]
async fn text_of_twice_the_size_still_fits() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let link = everything_asked(&project).await;
        let account = attempt(&kit, &project, &link, Method::VirtualAccount(Bank::Bri)).await;
        let browser = Browser::open(Look::desktop().zoomed()).await;
        for address in [text(&link, "url").to_owned(), text(&account, "checkout_url").to_owned()] {
            browser.goto(&address).await;
            browser.check_page().await;
        }
    })
    .await;
}

#[tokio::test]
async fn nothing_moves_in_browsers_that_prefer_reduced_motion() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let payment = project.api.pay("direct", &samples::qris(&project, 75_000)).await.expect(201);
        let browser = Browser::open(Look::phone()).await;
        browser.goto(text(&payment, "checkout_url")).await;
        let moving = "document.getAnimations().filter(one => one.playState === 'running').length";
        assert_ne!(browser.evaluate(moving).await, json!(0), "a page that waits shows that it does");
        browser.look_with(Look::phone().with_reduced_motion()).await;
        assert_eq!(browser.evaluate(moving).await, json!(0));
    })
    .await;
}

/// The bytes and the requests of a first visit, as they went over the wire, heads included.
#[tokio::test]
async fn a_first_visit_is_at_most_14_kilobytes_in_at_most_four_requests() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let members = json!({
            "title": "Kopi susu gula aren",
            "description": "Dua gelas, diambil di toko.",
            "allowed_payment_methods": [{ "type": "qris" }, { "type": "virtual_account" }],
            "customer_fields": { "name": true, "email": true, "phone": true, "address": true },
        });
        let link = create_link(&project, members).await;
        let qris = attempt(&kit, &project, &link, Method::Qris).await;
        let account = attempt(&kit, &project, &link, Method::VirtualAccount(Bank::Bca)).await;
        for address in [
            text(&link, "url").to_owned(),
            text(&qris, "checkout_url").to_owned(),
            text(&account, "checkout_url").to_owned(),
        ] {
            let browser = Browser::open(Look::phone()).await;
            browser.goto(&address).await;
            browser.wait_until("document.readyState === 'complete'").await;
            let traffic = browser.traffic().await;
            let bytes: u64 = traffic.iter().map(|transfer| transfer.bytes).sum();
            println!("{address}: {bytes} bytes in {} requests: {traffic:#?}", traffic.len());
            assert!((1..=4).contains(&traffic.len()), "{traffic:#?}");
            assert!(bytes <= 14 * 1024, "{bytes} bytes: {traffic:#?}");
        }
    })
    .await;
}
