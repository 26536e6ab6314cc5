//! A rehearsal in real browsers: a customer takes a number or a QR code from the checkout, pays it at the bank's screens,
//! and the checkout says so by itself.

use testkit::{Browser, Look, decode_qr};

use crate::support::{commands::program, rehearsal::rehearse};

#[tokio::test]
async fn a_newcomer_pays_a_number_at_the_bank_and_the_checkout_turns_to_paid_by_itself() {
    let program = program();
    let running = rehearse(&program);
    let (customer, teller) = Browser::open_two(Look::phone().english(), Look::phone()).await;
    customer.goto(running.said("rehearsal_checkout_url")).await;
    customer.wait_for_text(".stripe", "Rehearsal: no real money").await;
    customer.choose("input[value='virtual_account:mandiri']").await;
    customer.click("form button.main").await;
    customer.wait_for_url(|url| url.contains("/pay/")).await;
    customer.wait_for_text(".stripe", "Rehearsal: no real money").await;
    // The bank's code and the customer's number come first, and then the whole.
    let number = customer.text("div.digits:nth-of-type(3) b").await;

    teller.goto(running.said("bank_url")).await;
    teller.check_page().await;
    teller.fill("input[name=number]", &number).await;
    teller.click("button.main").await;
    teller.wait_for_text(".amount", "Rp25.000").await;
    teller.check_page().await;
    teller.click("button[value=pay]").await;
    teller.wait_for_text("#result", "booked").await;
    teller.check_page().await;
    teller.look_with(Look::phone().dark()).await;
    teller.check_colours().await;
    assert_eq!(teller.console_errors().await, [""; 0]);

    customer.wait_for_text("h1", "Paid").await;
    assert!(customer.text("main").await.contains("Rp25.000"));
    assert_eq!(customer.console_errors().await, [""; 0]);
}

#[tokio::test]
async fn a_newcomer_scans_a_qris_at_the_bank_and_the_checkout_turns_to_paid_by_itself() {
    let program = program();
    let running = rehearse(&program);
    let (customer, teller) = Browser::open_two(Look::phone(), Look::phone()).await;
    customer.goto(running.said("rehearsal_checkout_url")).await;
    customer.choose("input[value=qris]").await;
    customer.click("form button.main").await;
    customer.wait_for_url(|url| url.contains("/pay/")).await;
    customer.wait_for_text(".stripe", "Latihan: bukan uang sungguhan").await;
    customer.check_page().await;
    assert_eq!(customer.count("form[action*=simulate]").await, 0, "it is a production project");
    let code = decode_qr(&customer.screenshot_of("#qr").await).unwrap();

    teller.goto(running.said("bank_url")).await;
    teller.click("a[href$='/bank/scan']").await;
    teller.wait_for_text("h1", "Scan a QRIS code").await;
    teller.check_page().await;
    teller.fill("textarea[name=text]", "no code").await;
    teller.click("button.main").await;
    teller.wait_for("[role=alert]").await;
    teller.console_errors().await;
    teller.fill("textarea[name=text]", &code).await;
    teller.click("button.main").await;
    teller.wait_for_text(".amount", "Rp25.000").await;
    teller.wait_for_text("h1", "Rehearsal Shop").await;
    teller.check_page().await;
    teller.click("button[value=pay]").await;
    teller.wait_for_text("#result", "2005200").await;
    teller.check_page().await;
    teller.look_with(Look::phone().dark()).await;
    teller.check_colours().await;
    assert_eq!(teller.console_errors().await, [""; 0]);

    customer.wait_for_text("h1", "Lunas").await;
    assert!(customer.text("main").await.contains("Rp25.000"));
    assert_eq!(customer.console_errors().await, [""; 0]);
}

#[tokio::test]
async fn a_newcomer_sees_the_accounts_at_the_bank_and_brings_money_in() {
    let program = program();
    let running = rehearse(&program);
    let teller = Browser::open(Look::phone()).await;
    teller.goto(running.said("bank_url")).await;
    teller.check_page().await;
    teller.click("a[href$='/bank/money']").await;
    teller.wait_for_text("h1", "Accounts and transfers").await;
    teller.wait_for_text("main", "REHEARSAL SHOP").await;
    teller.check_page().await;
    teller.click("a[href$='/014/1234567890']").await;
    teller.wait_for_text("h1", "BUDI SANTOSO").await;
    teller.fill("input[name=amount]", "25000").await;
    teller.click("button[value=deposit]").await;
    teller.wait_for_text(".amount", "Rp25.000").await;
    teller.check_page().await;
    teller.look_with(Look::phone().dark()).await;
    teller.check_colours().await;
    assert_eq!(teller.console_errors().await, [""; 0]);
}
