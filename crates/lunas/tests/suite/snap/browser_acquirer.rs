//! The checkout in a real browser with a bank that issues QRIS codes: one bank that is down leaves the others usable, and a
//! production project has no panel that pays.

use std::{sync::Arc, time::Duration};

use demobank::{Fault, Service};
use domain::{bank::Bank, method::Method};
use serde_json::json;
use testkit::{Browser, Kit, Look, decode_qr, on_sqlite};

use crate::support::{
    acquirers::{acquired, code_of},
    bank_accounts::{SERVICE_ID, new_account, set_credentials},
    customer::{Customer, link_path},
    dashboard_browser::at,
    json::text,
    links::create_link,
    payments::fetch,
};

/// An account at a bank that calls us, so that it works while the acquirer does not.
async fn beside_the_acquirer(kit: &Kit, project: domain::id::ProjectId) {
    let id = new_account(kit, "BCA", &[("partner_service_id", SERVICE_ID)]).await;
    set_credentials(kit, id).await;
    kit.engine.assign_bank_account(id, project, Method::VirtualAccount(Bank::Bca)).await.unwrap();
    kit.engine.enable_bank_account(id, true).await.unwrap();
}

/// C11
#[tokio::test]
async fn an_acquirer_that_is_down_is_shown_as_unavailable_and_comes_back_after_its_probe() {
    on_sqlite(async |kit: Arc<Kit>| {
        let acquired = acquired(&kit, "midtrans").await;
        beside_the_acquirer(&kit, acquired.project.id).await;
        let link = create_link(&acquired.project, json!({ "allow_multiple_payments": true })).await;
        let url = at(&kit, &link_path(&link));
        acquired.doors.close().await;
        for number in 0..5 {
            assert_eq!(acquired.pay(&number.to_string()).await.status, 503);
        }
        let customer = Browser::open(Look::phone().english()).await;
        customer.goto(&url).await;
        customer.wait_for("input[value=qris]:disabled").await;
        customer.wait_for_text("main", "Not available right now").await;
        customer.check_page().await;
        customer.choose("input[value='virtual_account:bca']").await;
        customer.click("form button.main").await;
        customer.wait_for(".digits b").await;

        acquired.doors.reopen().await.unwrap();
        kit.clock.advance(Duration::from_secs(31));
        let other = create_link(&acquired.project, json!({})).await;
        customer.goto(&at(&kit, &link_path(&other))).await;
        customer.choose("input[value=qris]").await;
        customer.click("form button.main").await;
        customer.wait_for_text("h1", "Scan QRIS").await;
        // The probe has worked, so the next customer is asked nothing special.
        assert_eq!(acquired.asked.calls_of(Service::Generate).len(), 1);
        assert_eq!(customer.console_errors().await, [""; 0]);
    })
    .await;
}

/// C11, as the customer meets it whose call is the first to fail.
#[tokio::test]
async fn a_customer_whose_qris_fails_gets_the_form_back_and_pays_by_another_bank() {
    on_sqlite(async |kit: Arc<Kit>| {
        let acquired = acquired(&kit, "midtrans").await;
        beside_the_acquirer(&kit, acquired.project.id).await;
        let link = create_link(&acquired.project, json!({})).await;
        acquired.asked.fail_next_of(Service::Generate, Fault::Status(500));
        let customer = Browser::open(Look::phone().english()).await;
        customer.goto(&at(&kit, &link_path(&link))).await;
        customer.choose("input[value=qris]").await;
        customer.click("form button.main").await;
        customer.wait_for("input[value=qris]:disabled").await;
        customer.check_page().await;
        customer.console_errors().await;
        customer.choose("input[value='virtual_account:bca']").await;
        customer.click("form button.main").await;
        customer.wait_for(".digits b").await;
        assert_eq!(customer.console_errors().await, [""; 0]);
    })
    .await;
}

/// C28
#[tokio::test]
async fn the_qris_of_an_acquirer_is_what_a_phone_scans_and_no_panel_can_pay_it() {
    on_sqlite(async |kit: Arc<Kit>| {
        let acquired = acquired(&kit, "midtrans").await;
        let payment = acquired.payment().await;
        let customer = Browser::open(Look::phone().english()).await;
        let url = at(&kit, &format!("/pay/{}", text(&payment, "id")));
        customer.goto(&url).await;
        customer.wait_for_text("h1", "Scan QRIS").await;
        assert_eq!(decode_qr(&customer.screenshot_of("#qr").await).as_deref(), Some(code_of(&payment)));
        customer.check_page().await;
        assert_eq!(customer.count("form[action*=simulate]").await, 0);
        let refused = Customer::of(&kit).press(&payment, "paid").await;
        assert_eq!(refused.status, 404);
        acquired.pays(&payment).await;
        customer.wait_for_text("h1", "Paid").await;
        assert_eq!(customer.count("main img").await, 0);
        assert_eq!(customer.console_errors().await, [""; 0]);
        assert_eq!(text(&fetch(&acquired.project, &payment).await, "status"), "paid");
    })
    .await;
}
