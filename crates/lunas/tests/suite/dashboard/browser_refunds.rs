//! Refunds in a real browser: a payment of the sandbox is refunded in part, one by virtual account goes back to an account that the
//! customer names, and another owner approves.

use std::time::Duration;

use domain::{access::Role, second_factor::PROOF_LIFETIME};
use testkit::{Browser, Kit, Look, TestProject, on_sqlite};

use crate::support::{
    claims::ClaimLink,
    dashboard_browser::{at, enter, keep_picture, owner_of},
    json::id,
    payments::{create, paid, simulate_paid},
    people::{PASSWORD, desk, make},
    refund_pages::{refund_form, refund_page},
    samples,
};

const OWNER: &str = "sari@kopisenja.test";
const SECOND: &str = "dewi@kopisenja.test";

async fn at_page(kit: &Kit, look: Look, path: &str) -> Browser {
    let browser = Browser::open(look).await;
    enter(&browser, kit, OWNER, path).await;
    browser
}

async fn own_project(kit: &Kit) -> TestProject {
    let project = kit.sandbox().await;
    owner_of(kit, project.id, OWNER).await;
    project
}

/// Lets the sandbox's bank end what is due.
async fn simulate_refunds(kit: &Kit) {
    kit.clock.advance(Duration::from_secs(30));
    kit.engine.simulate_due_refunds().await.unwrap();
}

#[tokio::test]
async fn a_part_is_refunded_and_the_open_page_shows_that_it_has_arrived() {
    on_sqlite(|kit| async move {
        let project = own_project(&kit).await;
        let payment = paid(&project, "one", 50_000).await;
        let browser = at_page(&kit, Look::phone(), &format!("{}/payments/{}", desk(project.id), id(&payment))).await;
        browser.click("a[href$='/refund']").await;
        browser.wait_for_text("h1", "Kembalikan dana").await;
        assert_eq!(browser.value("#amount").await, "50000");
        assert!(!browser.is_shown("#account_number").await, "the account is asked for where it is chosen");
        browser.check_page().await;
        browser.fill("#amount", "20.000").await;
        browser.fill("#reason", "Barang kosong").await;
        browser.click("form.card button.main").await;
        browser.wait_for_text("h1", "Kembalikan Rp20.000?").await;
        browser.check_page().await;
        browser.click("button[name=sure]").await;
        browser.wait_for_text(".flash", "Pengembalian dana dibuat").await;
        browser.wait_for_text("#head", "Diproses").await;
        browser.check_page().await;
        simulate_refunds(&kit).await;
        browser.wait_for_text("#head", "Pelanggan sudah menerima uangnya").await;
        browser.goto(&at(&kit, &format!("{}/payments/{}", desk(project.id), id(&payment)))).await;
        browser.wait_for_text("#head", "Dikembalikan sebagian").await;
        browser.wait_for_text("#refunds", "Rp20.000").await;
        browser.check_page().await;
        assert_eq!(browser.console_errors().await, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn without_script_the_account_is_typed_and_a_mistake_is_marked() {
    on_sqlite(|kit| async move {
        let project = own_project(&kit).await;
        let payment = paid(&project, "one", 50_000).await;
        let browser = at_page(&kit, Look::phone().without_script(), &refund_form(&project, &payment)).await;
        browser.click("input[value=typed]").await;
        browser.click("#bank option[value='014']").await;
        browser.fill("#account_number", "12").await;
        browser.click("form.card button.main").await;
        browser.wait_for_text("#account_number-why", "5 sampai 20 angka").await;
        browser.fill("#account_number", "1234 5678 90").await;
        browser.click("form.card button.main").await;
        browser.wait_for_text(".confirm", "Bank Central Asia (BCA) 1234 5678 90").await;
        browser.click("button[name=sure]").await;
        browser.wait_for_text("#head", "····7890").await;
    })
    .await;
}

#[tokio::test]
async fn the_customers_address_is_shown_to_copy_and_to_send() {
    on_sqlite(|kit| async move {
        let project = own_project(&kit).await;
        let payment = create(&project, &samples::virtual_account(&project, "bca", 50_000)).await;
        simulate_paid(&project, &payment).await;
        let browser = at_page(&kit, Look::phone(), &refund_form(&project, &payment)).await;
        browser.click("form.card button.main").await;
        browser.wait_for_text(".confirm", "tautan untuk pelanggan").await;
        browser.click("button[name=sure]").await;
        let url = browser.text("#claim-url").await;
        assert!(url.starts_with(&at(&kit, "/r/")), "{url}");
        let whatsapp = browser.attribute("a[href^='https://wa.me/']", "href").await.unwrap();
        assert!(whatsapp.contains("Rp50%2E000"), "{whatsapp}");
        browser.check_page().await;
        browser.look_with(Look::phone().dark()).await;
        browser.check_colours().await;
    })
    .await;
}

/// Ten minutes after its owner has signed in.
#[tokio::test]
async fn the_customers_address_is_shown_again_after_a_proof() {
    on_sqlite(|kit| async move {
        let project = own_project(&kit).await;
        let link = ClaimLink::of(&kit, &project, 50_000).await;
        let page = refund_page(&project, &link.id.to_string());
        let browser = at_page(&kit, Look::phone(), &page).await;
        kit.clock.advance(PROOF_LIFETIME);
        browser.goto(&at(&kit, &page)).await;
        browser.wait_for_text("#claim", "Buktikan dulu bahwa ini Anda").await;
        assert_eq!(browser.count("#claim-url").await, 0);
        browser.check_page().await;
        keep_picture(&browser, "refund-link-hidden").await;
        for (look, name) in [
            (Look::phone().dark(), "refund-link-hidden-dark"),
            (Look::desktop(), "refund-link-hidden-wide"),
            (Look::desktop().dark(), "refund-link-hidden-wide-dark"),
        ] {
            browser.look_with(look).await;
            let faults: Vec<String> = browser.axe_colours().await.iter().map(ToString::to_string).collect();
            assert!(faults.is_empty() && !browser.has_sideways_scroll().await, "{name}: {faults:#?}");
            keep_picture(&browser, name).await;
        }
        browser.look_with(Look::phone()).await;
        browser.click("#claim a.button").await;
        browser.wait_for_text("h1", "Benarkah ini Anda?").await;
        browser.fill("#proof", PASSWORD).await;
        browser.click("form.confirm button.main").await;
        browser.wait_for("#claim-url").await;
        assert_eq!(browser.text("#claim-url").await, at(&kit, &link.path));
    })
    .await;
}

#[tokio::test]
async fn another_owner_approves_what_the_first_has_asked_for() {
    on_sqlite(|kit| async move {
        let project = own_project(&kit).await;
        let second = make(&kit, SECOND, false).await;
        kit.engine.add_member(project.id, &second, Role::Owner).await.unwrap();
        let payment = paid(&project, "one", 50_000).await;
        let (one, two) = Browser::open_two(Look::phone(), Look::phone()).await;
        enter(&one, &kit, OWNER, &format!("{}/settings/refunds", desk(project.id))).await;
        one.check_page().await;
        one.fill("#approval_above", "10.000").await;
        one.click("form button.main").await;
        one.wait_for_text(".flash", "Pengaturan").await;
        one.goto(&at(&kit, &refund_form(&project, &payment))).await;
        one.click("form.card button.main").await;
        one.wait_for_text(".confirm", "menunggu persetujuan").await;
        one.click("button[name=sure]").await;
        one.wait_for_text("#approval", "pemilik lain atau operator").await;
        one.check_page().await;
        let refund = one.url().await.split('?').next().unwrap().rsplit('/').next().unwrap().to_owned();
        enter(&two, &kit, SECOND, &refund_page(&project, &refund)).await;
        two.wait_for_text("#approval", OWNER).await;
        two.check_page().await;
        two.click("form[action$='/approve'] button").await;
        two.wait_for_text(".flash", "disetujui").await;
        one.wait_for_text("#head", "Diproses").await;
        simulate_refunds(&kit).await;
        one.wait_for_text("#head", "Pelanggan sudah menerima uangnya").await;
    })
    .await;
}

#[tokio::test]
async fn the_list_and_the_transfers_are_accessible_on_every_screen() {
    on_sqlite(|kit| async move {
        let project = own_project(&kit).await;
        let payment = paid(&project, "one", 50_000).await;
        let browser = at_page(&kit, Look::phone(), &refund_form(&project, &payment)).await;
        browser.click("form.card button.main").await;
        browser.click("button[name=sure]").await;
        browser.wait_for_text(".flash", "Pengembalian dana dibuat").await;
        for path in ["/refunds", "/refunds?status=failed", "/refunds?from=x", "/refunds/transfers", "/settings/refunds"]
        {
            browser.look_with(Look::phone()).await;
            browser.goto(&at(&kit, &format!("{}{path}", desk(project.id)))).await;
            browser.check_page().await;
            browser.look_with(Look::desktop()).await;
            let faults: Vec<String> = browser.axe().await.iter().map(ToString::to_string).collect();
            assert!(faults.is_empty() && !browser.has_sideways_scroll().await, "{path}: {faults:#?}");
            browser.look_with(Look::desktop().dark()).await;
            let faults: Vec<String> = browser.axe_colours().await.iter().map(ToString::to_string).collect();
            assert!(faults.is_empty(), "{path}, dark: {faults:#?}");
        }
    })
    .await;
}
