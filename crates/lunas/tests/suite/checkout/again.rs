//! Opening a link again after a payment has ended: the receipt, money that is held, and paying once more.

use std::sync::Arc;

use serde_json::{Value, json};
use testkit::{Kit, on_sqlite_alone};

use crate::support::{
    customer::{Customer, begin_payment, is_page, led_to, link_path, pay_path, payment_of},
    held::{MINUTE, contains_all, held},
    json::text,
    payments::{count_payments, report, simulate_paid},
};

on_sqlite_alone![
    a_paid_visitor_of_a_link_for_many_payments_sees_their_receipt_and_may_pay_again,
    a_receipt_offers_to_pay_again_only_where_the_link_takes_another_payment,
    a_customer_whose_money_is_held_is_led_to_the_page_that_says_so_and_may_still_choose,
    a_language_that_the_address_chose_goes_along_in_browsers_that_keep_no_cookies,
];

fn again_path(link: &Value) -> String {
    format!("{}?again=1", link_path(link))
}

async fn a_paid_visitor_of_a_link_for_many_payments_sees_their_receipt_and_may_pay_again(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (link, customer, first) = begin_payment(&kit, &project, json!({ "allow_multiple_payments": true })).await;
    simulate_paid(&project, &first).await;
    let mut before = vec![first];
    for _ in 0..2 {
        let last = before.last().unwrap();
        assert_eq!(led_to(&customer.open(&link_path(&link)).await), pay_path(last));
        let receipt = customer.open(&pay_path(last)).await;
        let offer = format!("href=\"{}\">Bayar lagi</a>", again_path(&link));
        contains_all(&receipt, &["Lunas. Terima kasih!", text(last, "id"), &offer]);
        let reply = customer.choose_at(&again_path(&link), &[("method", "qris")]).await;
        let next = payment_of(&project, &reply).await;
        assert!(before.iter().all(|payment| payment["id"] != next["id"]), "each form is another payment");
        // A payment that is still pending is resumed, also by who asks to pay again.
        assert_eq!(led_to(&customer.open(&again_path(&link)).await), pay_path(&next));
        simulate_paid(&project, &next).await;
        before.push(next);
    }
    assert_eq!(count_payments(&project, "status=paid").await, 3);
    is_page("another browser", &Customer::of(&kit).open(&link_path(&link)).await, 200);
}

async fn a_receipt_offers_to_pay_again_only_where_the_link_takes_another_payment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (link, customer, payment) = begin_payment(&kit, &project, json!({})).await;
    simulate_paid(&project, &payment).await;
    let receipt = customer.open(&pay_path(&payment)).await;
    is_page("receipt", &receipt, 200);
    assert!(!receipt.text.contains("Bayar lagi") && !receipt.text.contains("/p/"), "{}", receipt.text);
    let closed = customer.open(&again_path(&link)).await;
    contains_all(&closed, &["Tagihan ini sudah lunas"]);
    assert!(!closed.text.contains("<form"));
}

async fn a_customer_whose_money_is_held_is_led_to_the_page_that_says_so_and_may_still_choose(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (link, customer, payment) = begin_payment(&kit, &project, json!({})).await;
    kit.clock.advance(16 * MINUTE);
    is_page("expired, and nothing came", &customer.open(&link_path(&link)).await, 200);
    held(&kit, &project, &payment, "late", 50_000).await;
    assert_eq!(led_to(&customer.open(&link_path(&link)).await), pay_path(&payment));
    let told = customer.open(&pay_path(&payment)).await;
    contains_all(&told, &["Uang Anda sudah sampai", &format!("href=\"{}\"", again_path(&link))]);
    let next = payment_of(&project, &customer.choose_at(&again_path(&link), &[("method", "qris")]).await).await;
    assert_ne!(next["id"], payment["id"]);
    assert_eq!(led_to(&customer.open(&link_path(&link)).await), pay_path(&next));
    is_page("another browser is not concerned", &Customer::of(&kit).open(&link_path(&link)).await, 200);
}

/// Within the frame of another site, browsers send no cookie at all.
async fn a_language_that_the_address_chose_goes_along_in_browsers_that_keep_no_cookies(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (link, ..) = begin_payment(&kit, &project, json!({ "allow_multiple_payments": true })).await;
    let forgetful = || Customer::of(&kit);
    let page = forgetful().open(&format!("{}?lang=en", link_path(&link))).await;
    let action = format!("action=\"{}?lang=en\"", link_path(&link));
    contains_all(&page, &["<html lang=\"en\"", &action]);
    let sent = forgetful().post(&format!("{}?lang=en", link_path(&link)), &[("method", "qris")]).await;
    let place = led_to(&sent);
    assert!(place.ends_with("?lang=en"), "{place}");
    let id = place.strip_prefix("/pay/").unwrap().strip_suffix("?lang=en").unwrap();
    let pending = forgetful().open(&place).await;
    let change = format!("href=\"{}?change={id}&#38;lang=en\"", link_path(&link));
    contains_all(&pending, &["<html lang=\"en\"", &format!("href=\"/pay/{id}?lang=en\" data-check"), &change]);
    report(&project, &json!({ "id": id }), "failed").await;
    contains_all(&forgetful().open(&place).await, &["?again=1&#38;lang=en\""]);
    // Who chose no language by the address has plain addresses.
    assert!(!forgetful().open(&pay_path(&json!({ "id": id }))).await.text.contains("&#38;lang="));
}
