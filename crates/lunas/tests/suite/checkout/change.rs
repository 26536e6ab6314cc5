//! Changing the payment method, and several customers on one link (docs/contract.md, decisions §4 and §5).

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::{Kit, on_every_database};

use crate::support::{
    customer::{Customer, begin_payment, is_page, led_to, link_path, pay_path, payment_of},
    json::text,
    payments::{count_payments, fetch, report, simulate, simulate_paid, status, unapplied},
    rows::rows,
};

on_every_database![
    choosing_another_method_voids_the_old_code_and_makes_a_new_one,
    choosing_in_a_tab_left_open_replaces_what_this_browser_began,
    two_tabs_that_change_the_same_payment_leave_one_code,
    choosing_the_same_again_keeps_the_code,
    a_change_can_be_sent_again_and_changed_back,
    a_change_that_is_sent_twenty_times_at_once_makes_one_payment,
    money_sent_before_the_change_still_pays_and_later_money_does_not,
    changing_a_paid_or_processing_payment_leads_to_that_payment,
    a_change_that_races_with_the_banks_report_has_one_outcome,
    on_a_single_use_link_the_first_to_pay_claims_it,
    while_one_payment_is_processing_a_single_use_link_takes_no_other,
    on_a_link_for_many_payments_everyone_pays_for_themselves,
];

const MILLISECOND: Duration = Duration::from_millis(1);
const BCA: &str = "virtual_account:bca";
/// How often two requests race on one payment.
const RACES: usize = 8;

fn change_path(link: &Value, payment: &Value) -> String {
    format!("{}?change={}", link_path(link), text(payment, "id"))
}

/// Chooses another method in place of `payment`.
async fn change(customer: &Customer, link: &Value, payment: &Value, method: &str) -> testkit::Reply {
    let fields = [("replaces", text(payment, "id")), ("method", method)];
    customer.post(&link_path(link), &fields).await
}

async fn choosing_another_method_voids_the_old_code_and_makes_a_new_one(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (many, has_cookie) in [(false, true), (false, false), (true, true), (true, false)] {
        let (link, customer, old) = begin_payment(&kit, &project, json!({ "allow_multiple_payments": many })).await;
        let customer = if has_cookie { customer } else { Customer::of(&kit) };
        is_page("the choice", &customer.open(&change_path(&link, &old)).await, 200);
        assert_eq!(status(&project, &old).await, "pending", "asking for the page changes nothing");
        let new = payment_of(&project, &change(&customer, &link, &old, BCA).await).await;
        assert_eq!((status(&project, &old).await.as_str(), text(&new, "status")), ("cancelled", "pending"));
        assert_eq!(new["payment_method"]["bank"], "bca");
        assert_eq!(led_to(&customer.open(&link_path(&link)).await), pay_path(&new));
        is_page("the old code's page", &customer.open(&pay_path(&old)).await, 200);
        is_page("no code to show", &customer.open(&format!("{}/qr.png", pay_path(&old))).await, 404);
    }
}

async fn choosing_in_a_tab_left_open_replaces_what_this_browser_began(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (link, customer, old) = begin_payment(&kit, &project, json!({ "allow_multiple_payments": true })).await;
    let reply = customer.post(&link_path(&link), &[("attempt", "another-tab"), ("method", BCA)]).await;
    let new = payment_of(&project, &reply).await;
    assert_eq!((status(&project, &old).await.as_str(), text(&new, "status")), ("cancelled", "pending"));
    assert_eq!(count_payments(&project, "status=pending").await, 1);
}

async fn two_tabs_that_change_the_same_payment_leave_one_code(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (link, customer, first) = begin_payment(&kit, &project, json!({ "allow_multiple_payments": true })).await;
    let second = payment_of(&project, &change(&customer, &link, &first, BCA).await).await;
    let third = payment_of(&project, &change(&customer, &link, &first, "virtual_account:bni").await).await;
    assert_eq!(status(&project, &second).await, "cancelled");
    assert_eq!(text(&third, "status"), "pending");
    assert_eq!(count_payments(&project, "status=pending").await, 1);
}

async fn choosing_the_same_again_keeps_the_code(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (link, customer, payment) = begin_payment(&kit, &project, json!({})).await;
    let before = rows(&kit.database);
    for customer in [&customer, &Customer::of(&kit)] {
        assert_eq!(led_to(&change(customer, &link, &payment, "qris").await), pay_path(&payment));
    }
    assert_eq!(rows(&kit.database), before);
}

async fn a_change_can_be_sent_again_and_changed_back(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (link, customer, first) = begin_payment(&kit, &project, json!({})).await;
    let form = [("attempt", "one"), ("replaces", text(&first, "id")), ("method", BCA)];
    let second = led_to(&customer.post(&link_path(&link), &form).await);
    assert_eq!(led_to(&customer.post(&link_path(&link), &form).await), second);
    assert_eq!(count_payments(&project, "").await, 2);
    let back = customer.pays_by_at(&project, &format!("{}?change={}", link_path(&link), &second[5..]), "qris").await;
    assert_eq!((status(&project, &first).await.as_str(), text(&back, "status")), ("cancelled", "pending"));
    assert_eq!((count_payments(&project, "").await, count_payments(&project, "status=pending").await), (3, 1));
}

async fn a_change_that_is_sent_twenty_times_at_once_makes_one_payment(kit: Arc<Kit>) {
    for many in [false, true] {
        let project = kit.sandbox().await;
        let (link, customer, old) = begin_payment(&kit, &project, json!({ "allow_multiple_payments": many })).await;
        let form = [("attempt", "one"), ("replaces", text(&old, "id")), ("method", BCA)];
        let path = link_path(&link);
        let replies = join_all((0..20).map(|_| customer.post(&path, &form))).await;
        let places: BTreeSet<String> = replies.iter().map(led_to).collect();
        assert_eq!(places.len(), 1, "{places:?}");
        assert_eq!((count_payments(&project, "").await, count_payments(&project, "status=pending").await), (2, 1));
        assert_eq!(status(&project, &old).await, "cancelled");
    }
}

async fn money_sent_before_the_change_still_pays_and_later_money_does_not(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (late, old_status, new_status) in [(Duration::ZERO, "paid", "cancelled"), (MILLISECOND, "cancelled", "pending")]
    {
        let (link, customer, old) = begin_payment(&kit, &project, json!({})).await;
        let new = payment_of(&project, &change(&customer, &link, &old, BCA).await).await;
        let paid_at = kit.engine.now().plus(late).to_string();
        kit.clock.advance(Duration::from_secs(1));
        simulate(&project, &old, &json!({ "outcome": "paid", "paid_at": paid_at })).await.expect(200);
        assert_eq!(
            (status(&project, &old).await, status(&project, &new).await),
            (old_status.into(), new_status.into())
        );
        let reopened = customer.open(&link_path(&link)).await;
        match new_status {
            "pending" => assert_eq!(led_to(&reopened), pay_path(&new)),
            _ => assert_eq!(led_to(&reopened), pay_path(&old), "the customer's receipt is that of the code they paid"),
        }
    }
    assert_eq!(unapplied(&project).await, 50_000);
}

async fn changing_a_paid_or_processing_payment_leads_to_that_payment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for many in [false, true] {
        for outcome in ["processing", "paid"] {
            let (link, customer, payment) =
                begin_payment(&kit, &project, json!({ "allow_multiple_payments": many })).await;
            report(&project, &payment, outcome).await;
            let before = rows(&kit.database);
            for customer in [&customer, &Customer::of(&kit)] {
                let row = format!("{outcome} {many}");
                let reply = change(customer, &link, &payment, BCA).await;
                assert_eq!(reply.status, 303, "{row}");
                assert_eq!(led_to(&reply), pay_path(&payment), "{row}");
            }
            assert_eq!(rows(&kit.database), before, "nobody is offered to pay twice");
        }
    }
}

async fn a_change_that_races_with_the_banks_report_has_one_outcome(kit: Arc<Kit>) {
    for _ in 0..RACES {
        let project = kit.sandbox().await;
        let (link, customer, payment) = begin_payment(&kit, &project, json!({})).await;
        let report = json!({ "outcome": "paid" });
        let (changed, reported) =
            tokio::join!(change(&customer, &link, &payment, BCA), simulate(&project, &payment, &report));
        // The bank's money was sent no later than the change, so it counts in either order.
        reported.expect(200);
        led_to(&changed);
        assert_eq!(fetch(&project, &payment).await["status"], "paid");
        assert_eq!(
            (count_payments(&project, "status=paid").await, count_payments(&project, "status=pending").await),
            (1, 0)
        );
        assert_eq!(unapplied(&project).await, 0);
    }
}

async fn on_a_single_use_link_the_first_to_pay_claims_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (link, _, first) = begin_payment(&kit, &project, json!({})).await;
    let other = Customer::of(&kit);
    let second = other.pays_by(&project, &link, BCA).await;
    simulate_paid(&project, &first).await;
    assert_eq!(
        (status(&project, &first).await.as_str(), status(&project, &second).await.as_str()),
        ("paid", "cancelled")
    );
    let before = rows(&kit.database);
    let page = other.open(&pay_path(&second)).await;
    is_page("the other's page", &page, 200);
    assert!(page.text.contains("Tidak ada lagi yang perlu dibayar"), "nobody is asked to pay again: {}", page.text);
    assert!(!page.text.contains("Minta tagihan baru"), "{}", page.text);
    is_page("the other's link", &other.open(&link_path(&link)).await, 200);
    is_page("the other's next attempt", &other.post(&link_path(&link), &[("method", "qris")]).await, 409);
    assert_eq!(rows(&kit.database), before);
}

async fn while_one_payment_is_processing_a_single_use_link_takes_no_other(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (link, customer, first) = begin_payment(&kit, &project, json!({})).await;
    let sibling = Customer::of(&kit);
    let second = sibling.pays_by(&project, &link, BCA).await;
    report(&project, &first, "processing").await;
    for (page, warns) in
        [(sibling.open(&pay_path(&second)).await, true), (customer.open(&pay_path(&first)).await, false)]
    {
        is_page("an open page", &page, 200);
        assert_eq!(page.text.contains("role=\"alert\""), warns, "whoever holds another code is warned: {}", page.text);
    }
    let before = rows(&kit.database);
    is_page("a newcomer", &Customer::of(&kit).post(&link_path(&link), &[("method", "qris")]).await, 409);
    assert_eq!(led_to(&customer.post(&link_path(&link), &[("method", BCA)]).await), pay_path(&first));
    // A customer who already has a code keeps it, and gets no other.
    assert_eq!(led_to(&change(&sibling, &link, &second, "qris").await), pay_path(&second));
    assert_eq!(rows(&kit.database), before);
    report(&project, &first, "failed").await;
    let third = Customer::of(&kit).pays_by(&project, &link, "qris").await;
    assert_eq!(text(&third, "status"), "pending");
}

async fn on_a_link_for_many_payments_everyone_pays_for_themselves(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (link, _, first) = begin_payment(&kit, &project, json!({ "allow_multiple_payments": true })).await;
    let second = Customer::of(&kit).pays_by(&project, &link, "qris").await;
    for payment in [&first, &second] {
        assert_eq!(simulate_paid(&project, payment).await["status"], "paid");
    }
    assert_eq!((count_payments(&project, "status=paid").await, unapplied(&project).await), (2, 0));
}
