//! A rehearsal in real browsers: a customer takes a number from the checkout, pays it at the bank's screens, and the
//! checkout says so by itself.

use testkit::{Browser, Look};

use crate::support::{commands::program, rehearsal::rehearse};

#[tokio::test]
async fn a_newcomer_pays_a_number_at_the_bank_and_the_checkout_turns_to_paid_by_itself() {
    let program = program();
    let running = rehearse(&program);
    let (customer, teller) = Browser::open_two(Look::phone().english(), Look::phone()).await;
    customer.goto(running.said("rehearsal_checkout_url")).await;
    customer.wait_for_text(".stripe", "Rehearsal: no real money").await;
    assert_eq!(customer.count("input[value=qris]").await, 0, "the rehearsal has no account for QRIS");
    customer.choose("input[value='virtual_account:mandiri']").await;
    customer.click("form button.main").await;
    customer.wait_for_url(|url| url.contains("/pay/")).await;
    customer.wait_for_text(".stripe", "Rehearsal: no real money").await;
    let number = customer.text(".digits b").await;

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
