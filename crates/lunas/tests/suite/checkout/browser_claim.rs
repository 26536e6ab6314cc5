//! The page of a claim link in a real browser: the whole way on a phone, with and without script, and every state in every look.

use std::time::Duration;

use domain::refund::{CLAIM_LIFETIME, CLAIM_TRIES_MOST};
use engine::RefundOutcome;
use testkit::{Browser, Kit, Look, TestProject, Theme, on_sqlite};

use crate::support::{
    claims::{BANK, ClaimLink, HOLDER, NUMBER},
    customer::Customer,
    face::give_face,
    hostile::{HOSTILE, is_shown_as_text},
};

impl ClaimLink {
    fn url(&self, kit: &Kit) -> String {
        format!("http://{}{}", kit.address, self.path)
    }
}

/// Types an account and goes on to the page to confirm it.
async fn type_account(browser: &Browser, number: &str) {
    choose_bank(browser, BANK).await;
    browser.fill("#number", number).await;
    browser.click("button[value=check]").await;
}

/// Chooses as a keyboard does, which needs no script of the page.
async fn choose_bank(browser: &Browser, code: &str) {
    browser.click(&format!("#bank option[value='{code}']")).await;
}

#[tokio::test]
async fn a_customer_names_an_account_and_sees_the_money_arrive_without_touching_the_page() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let link = ClaimLink::of(&kit, &project, 50_000).await;
        let browser = Browser::open(Look::phone()).await;
        browser.goto(&link.url(&kit)).await;
        type_account(&browser, "12ab").await;
        browser.wait_for_text("#number-why", "5 sampai 20 angka").await;
        assert_eq!(browser.value("#bank").await, BANK, "what was right is kept");
        browser.fill("#number", NUMBER).await;
        browser.click("button[value=check]").await;
        browser.wait_for_text("h1", "Apakah ini rekening Anda?").await;
        browser.wait_for_text("dl", HOLDER).await;
        browser.click("button[value=change]").await;
        browser.wait_for("#number").await;
        assert_eq!((browser.value("#number").await.as_str(), browser.value("#bank").await.as_str()), (NUMBER, BANK));
        browser.click("button[value=check]").await;
        browser.wait_for_text("h1", "Apakah ini rekening Anda?").await;
        browser.double_click("button[value=confirm]").await;
        browser.wait_for_text("h1", "Uang Anda sedang dikirim").await;
        assert_eq!(browser.focused().await, "h1");
        kit.engine.simulate_refund(&link.project, link.id, RefundOutcome::Succeeded).await.unwrap();
        browser.wait_for_text("h1", "Uang Anda sudah dikirim").await;
        let errors = browser.console_errors().await;
        let others: Vec<String> = errors.into_iter().filter(|error| !error.contains("422")).collect();
        assert_eq!(others, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn without_script_the_whole_way_goes_too() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let link = ClaimLink::of(&kit, &project, 50_000).await;
        let browser = Browser::open(Look::phone().without_script().english()).await;
        browser.goto(&link.url(&kit)).await;
        type_account(&browser, NUMBER).await;
        browser.wait_for_text("h1", "Is this your account?").await;
        browser.click("button[value=confirm]").await;
        browser.wait_for_text("h1", "Your money is on its way").await;
        kit.engine.simulate_refund(&link.project, link.id, RefundOutcome::Succeeded).await.unwrap();
        browser.click("a[data-check]").await;
        browser.wait_for_text("h1", "Your money has been sent").await;
    })
    .await;
}

/// A link in each state, with a script that leads there from its page.
async fn states(kit: &Kit, project: &TestProject) -> Vec<(&'static str, ClaimLink, &'static str)> {
    const NOTHING: &str = "0";
    const CHECK: &str = "(form => { form.bank.value = '014'; form.number.value = '0123456789'; \
                         form.querySelector('button').click(); })(document.forms[0])";
    const CHECK_SILENT: &str = "(form => { form.bank.value = '014'; form.number.value = '0123456503'; \
                                form.querySelector('button').click(); })(document.forms[0])";
    const MISTAKE: &str = "document.forms[0].querySelector('button').click()";
    let link = async || ClaimLink::of(kit, project, 20_000).await;
    let ended = async |outcomes: &[RefundOutcome]| {
        let link = link().await;
        link.name_account(&Customer::of(kit)).await;
        for outcome in outcomes {
            kit.engine.simulate_refund(&link.project, link.id, *outcome).await.unwrap();
        }
        link
    };
    let locked = link().await;
    for _ in 0..CLAIM_TRIES_MOST {
        locked.ticket(&Customer::of(kit), NUMBER).await;
    }
    let cancelled = link().await;
    kit.engine.cancel_refund(&cancelled.project, cancelled.id).await.unwrap();
    vec![
        ("locked", locked, NOTHING),
        ("cancelled", cancelled, NOTHING),
        ("on its way", ended(&[]).await, NOTHING),
        ("sent", ended(&[RefundOutcome::Succeeded]).await, NOTHING),
        ("failed", ended(&[RefundOutcome::Failed]).await, NOTHING),
        ("returned", ended(&[RefundOutcome::Succeeded, RefundOutcome::Returned]).await, NOTHING),
        ("form", link().await, NOTHING),
        ("mistakes", link().await, MISTAKE),
        ("to be confirmed", link().await, CHECK),
        ("to be named", link().await, CHECK_SILENT),
    ]
}

#[tokio::test]
async fn every_state_of_a_claim_link_is_accessible_on_every_screen() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        give_face(&kit, project.id).await;
        let states = states(&kit, &project).await;
        let browser = Browser::open(Look::narrow()).await;
        let looks =
            [Look::narrow(), Look::narrow().dark(), Look::desktop(), Look::desktop().dark(), Look::narrow().english()];
        for look in looks {
            browser.look_with(look.clone()).await;
            for (name, link, act) in &states {
                println!("{name}: {look:?}");
                browser.goto(&link.url(&kit)).await;
                browser.evaluate(act).await;
                if *act != "0" {
                    browser.wait_for("[role=alert], button[value=confirm]").await;
                }
                match look.theme {
                    Theme::Light => browser.check_page().await,
                    Theme::Dark => browser.check_colours().await,
                }
                assert_eq!(browser.attribute("html", "lang").await.as_deref(), Some(look.language), "{name}");
                assert_eq!(browser.count("h1").await, 1, "{name}");
            }
        }
        kit.clock.advance(CLAIM_LIFETIME + Duration::from_millis(1));
        browser.look_with(Look::narrow()).await;
        let (_, late, _) = &states[6];
        browser.goto(&late.url(&kit)).await;
        browser.wait_for_text("h1", "kedaluwarsa").await;
        browser.check_page().await;
    })
    .await;
}

#[tokio::test]
async fn hostile_texts_are_shown_on_a_claim_link_and_run_nowhere() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let browser = Browser::open(Look::phone()).await;
        for hostile in HOSTILE.into_iter().step_by(4) {
            let link = ClaimLink::because(&kit, &project, 10_000, hostile).await;
            browser.goto(&link.url(&kit)).await;
            is_shown_as_text(&browser, hostile, "the reason").await;
            let typed = "(text => { const form = document.forms[0]; form.bank.value = '014'; form.number.value = text; \
                         form.querySelector('button').click(); })";
            browser.evaluate(&format!("{typed}({})", serde_json::json!(hostile))).await;
            browser.wait_for("[role=alert]").await;
            is_shown_as_text(&browser, hostile, "the form that came back").await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_first_visit_of_a_claim_link_is_at_most_14_kilobytes_in_at_most_four_requests() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let link = ClaimLink::of(&kit, &project, 50_000).await;
        let browser = Browser::open(Look::phone()).await;
        browser.goto(&link.url(&kit)).await;
        browser.wait_until("document.readyState === 'complete'").await;
        let traffic = browser.traffic().await;
        let bytes: u64 = traffic.iter().map(|transfer| transfer.bytes).sum();
        println!("{bytes} bytes in {} requests", traffic.len());
        assert!((1..=4).contains(&traffic.len()), "{traffic:#?}");
        assert!(bytes <= 14 * 1024, "{bytes} bytes: {traffic:#?}");
    })
    .await;
}
