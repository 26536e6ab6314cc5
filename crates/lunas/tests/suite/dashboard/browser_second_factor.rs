//! The second factor in a real browser: adding it by the QR code of the page, signing in by it, and proving by it.

use std::time::Duration;

use domain::second_factor::{FactorSecret, PROOF_LIFETIME};
use testkit::{Browser, Kit, Look, decode_qr, on_sqlite};

use crate::support::{
    dashboard_browser::{at, enter, keep_picture, owner_of},
    people::{PASSWORD, desk},
    second_factor::{FACTOR, STEP, secret_of},
};

const OWNER: &str = "sari@kopisenja.test";

/// Checks the page that is open in both themes, and keeps pictures of it where somebody wants to look at them.
async fn check(browser: &Browser, name: &str) {
    browser.check_page().await;
    keep_picture(browser, name).await;
    browser.look_with(Look::phone().dark()).await;
    browser.check_colours().await;
    keep_picture(browser, &format!("{name}-dark")).await;
    browser.look_with(Look::phone()).await;
}

/// The app that scans the QR code of the page.
async fn scanned(browser: &Browser) -> FactorSecret {
    let address = decode_qr(&browser.screenshot_of(".qr").await).unwrap();
    assert!(address.starts_with("otpauth://totp/Lunas:sari@kopisenja.test?secret="), "{address}");
    let key = address.split_once("secret=").unwrap().1.split('&').next().unwrap();
    let typed = browser.text("#factor-secret").await.replace(' ', "");
    assert_eq!(typed, key, "the key to type is that of the QR code");
    secret_of(key)
}

/// Waits for a code that was not shown before.
fn next_code(kit: &Kit, app: &FactorSecret) -> String {
    kit.clock.advance(STEP);
    app.code(kit.engine.now())
}

async fn give_code(browser: &Browser, code: &str) {
    browser.wait_for("#code").await;
    browser.fill("#code", code).await;
    browser.click("form button.main").await;
}

#[tokio::test]
async fn a_factor_is_added_and_signs_in_and_proves() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        owner_of(&kit, project.id, OWNER).await;
        let browser = Browser::open(Look::phone()).await;
        enter(&browser, &kit, OWNER, "/dashboard/account").await;
        browser.click(&format!("a[href='{FACTOR}']")).await;
        browser.wait_for_text("h1", "Tambahkan faktor kedua").await;
        check(&browser, "factor-add").await;
        let app = scanned(&browser).await;
        give_code(&browser, "12345").await;
        browser.wait_for("#code-why").await;
        check(&browser, "factor-add-wrong").await;
        give_code(&browser, &app.code(kit.engine.now())).await;
        browser.wait_for_text("h1", "Faktor kedua sudah aktif").await;
        check(&browser, "factor-codes").await;
        let codes = browser.text("#recovery-codes").await;
        assert_eq!(codes.lines().count(), 10, "{codes}");
        browser.click("a.button.main").await;
        browser.wait_for_text("#factor-title", "Aktif").await;
        check(&browser, "account-with-factor").await;

        browser.click(".menu > summary").await;
        browser.click(".menu form button").await;
        browser.wait_for("#email").await;
        let account = format!("{}/notifications", desk(project.id));
        browser.goto(&at(&kit, &account)).await;
        browser.fill("#email", OWNER).await;
        browser.fill("#password", PASSWORD).await;
        browser.click("form button.main").await;
        browser.wait_for_text("h1", "Masukkan kode Anda").await;
        check(&browser, "sign-in-code").await;
        give_code(&browser, "000000").await;
        browser.wait_for("[role=alert]").await;
        check(&browser, "sign-in-code-wrong").await;
        give_code(&browser, &next_code(&kit, &app)).await;
        let opened = browser.wait_for_url(|url| url.ends_with("/notifications")).await;
        assert_eq!(opened, at(&kit, &account), "the page that was asked for");

        proves(&kit, &browser, &app, &format!("{}/settings/members", desk(project.id))).await;
        lift_is_refused(&kit, &browser).await;
    })
    .await;
}

/// What was typed into a form is sent once the proof is given.
async fn proves(kit: &Kit, browser: &Browser, app: &FactorSecret, members: &str) {
    kit.clock.advance(PROOF_LIFETIME + Duration::from_secs(1));
    browser.goto(&at(kit, members)).await;
    browser.fill("#email", "dewi@kopisenja.test").await;
    browser.click("form:has(#email) button.main").await;
    browser.wait_for_text("h1", "Benarkah ini Anda?").await;
    check(browser, "prove").await;
    browser.fill("#proof", &app.code(kit.engine.now())).await;
    browser.click("form.confirm button.main").await;
    browser.wait_for_text("#invite-link-title", "dewi@kopisenja.test").await;
    check(browser, "members").await;
}

async fn lift_is_refused(kit: &Kit, browser: &Browser) {
    let user = kit.engine.user_by_email(OWNER).await.unwrap();
    kit.engine.set_operator(&user, true).await.unwrap();
    browser.goto(&at(kit, &format!("/dashboard/operator/users/{}/lift", user.id))).await;
    check(browser, "operator-lift").await;
    browser.click("button.danger").await;
    browser.wait_for_text(".flash", "24 jam").await;
    check(browser, "operator-users").await;
    browser.click(".banner form button").await;
    browser.wait_for_text(".flash", "tetap aktif").await;
    assert_eq!(browser.count(".banner form").await, 0);
}
