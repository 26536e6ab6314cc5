//! The walk of somebody who has lost their password, in a real browser.

use testkit::{Browser, Look, on_sqlite};

use crate::support::{
    dashboard_browser::at,
    mailbox::{Mailbox, link_of},
    people::make,
};

const EMAIL: &str = "siti@example.com";
const NEW: &str = "kata sandi yang baru";

#[tokio::test]
async fn a_lost_password_is_replaced_by_a_link_and_then_signs_in() {
    on_sqlite(|kit| async move {
        let mailbox = Mailbox::of(&kit).await;
        make(&kit, EMAIL, true).await;
        for look in [Look::phone(), Look::phone().without_script()] {
            let letters = mailbox.with("/dashboard/reset/").len();
            let browser = Browser::open(look).await;
            browser.goto(&at(&kit, "/dashboard/sign-in")).await;
            browser.click("a[href$='/forgot']").await;
            browser.wait_for_text("h1", "Kata sandi baru").await;
            browser.check_page().await;
            browser.fill("#email", EMAIL).await;
            browser.click("form button.main").await;
            browser.wait_for_text(".note", "Jika alamat itu punya akun").await;
            browser.check_page().await;
            let letter = mailbox.wait_for("/dashboard/reset/", letters + 1).await.pop().unwrap();
            browser.goto(&at(&kit, &link_of(&kit, &letter, "/dashboard/reset/"))).await;
            browser.wait_for_text("h1", "Buat kata sandi baru").await;
            browser.check_page().await;
            browser.fill("#password", NEW).await;
            browser.click("form button.main").await;
            browser.wait_for_text(".note", "Kata sandi sudah diganti").await;
            browser.check_page().await;
            browser.fill("#email", EMAIL).await;
            browser.fill("#password", NEW).await;
            browser.click("form button.main").await;
            browser.wait_for("body.app").await;
        }
    })
    .await;
}
