//! The sandbox's panel, on which a customer reports to a payment as the bank would.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use serde_json::json;
use testkit::{Kit, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, begin_payment, is_page, led_to, pay_path, unknown},
    links::cancel_link,
    payments::{events_of, simulate_paid, status, unapplied},
    rows::rows,
};

on_every_database![
    each_button_reports_what_it_says_and_leads_back_to_the_payment,
    a_button_pressed_many_times_reports_once,
];

on_sqlite_alone![
    the_panel_of_a_payment_that_has_ended_leads_back_and_moves_no_money,
    a_button_that_the_panel_does_not_have_does_nothing,
];

async fn each_button_reports_what_it_says_and_leads_back_to_the_payment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for outcomes in [
        &["paid"][..],
        &["failed"],
        &["processing"],
        &["processing", "paid"],
        &["processing", "failed"],
        &["processing", "processing", "paid"],
    ] {
        let (_, _, payment) = begin_payment(&kit, &project, json!({})).await;
        for outcome in outcomes {
            let reply = Customer::of(&kit).press(&payment, outcome).await;
            assert_eq!(led_to(&reply), pay_path(&payment));
            assert_eq!(status(&project, &payment).await, *outcome);
        }
    }
    assert_eq!(unapplied(&project).await, 0);
}

async fn a_button_pressed_many_times_reports_once(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for outcome in ["paid", "failed", "processing"] {
        let (_, _, payment) = begin_payment(&kit, &project, json!({})).await;
        let customer = Customer::of(&kit);
        for reply in join_all((0..8).map(|_| customer.press(&payment, outcome))).await {
            assert_eq!(led_to(&reply), pay_path(&payment), "{outcome}");
        }
        let before = rows(&kit.database);
        assert_eq!(led_to(&customer.press(&payment, outcome).await), pay_path(&payment));
        assert_eq!(rows(&kit.database), before, "{outcome}");
        assert_eq!(status(&project, &payment).await, outcome);
        let told = events_of(&project, &payment, "payment.paid").await.len();
        assert_eq!(told, usize::from(outcome == "paid"));
    }
    assert_eq!(unapplied(&project).await, 0);
}

async fn the_panel_of_a_payment_that_has_ended_leads_back_and_moves_no_money(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for end in ["paid", "failed", "expired", "cancelled"] {
        let (link, _, payment) = begin_payment(&kit, &project, json!({})).await;
        let customer = Customer::of(&kit);
        match end {
            "expired" => kit.clock.advance(Duration::from_mins(16)),
            "cancelled" => cancel_link(&project, &link).await,
            "paid" => drop(simulate_paid(&project, &payment).await),
            outcome => drop(customer.press(&payment, outcome).await),
        }
        kit.clock.advance(Duration::from_secs(1));
        let before = rows(&kit.database);
        for outcome in ["paid", "failed", "processing"] {
            assert_eq!(led_to(&customer.press(&payment, outcome).await), pay_path(&payment), "{outcome} after {end}");
        }
        assert_eq!(rows(&kit.database), before, "after {end}");
        assert_eq!(status(&project, &payment).await, end);
    }
    assert_eq!(unapplied(&project).await, 0);
}

async fn a_button_that_the_panel_does_not_have_does_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (_, _, payment) = begin_payment(&kit, &project, json!({})).await;
    let (customer, path) = (Customer::of(&kit), format!("{}/simulate", pay_path(&payment)));
    let before = rows(&kit.database);
    for outcome in ["", "PAID", "succeeded", "expired", "paid ", "paid\u{0}"] {
        is_page(outcome, &customer.press(&payment, outcome).await, 422);
    }
    is_page("none", &customer.post(&path, &[]).await, 422);
    is_page("twice", &customer.post(&path, &[("outcome", "paid"), ("outcome", "paid")]).await, 422);
    let unknown = json!({ "id": unknown(&payment) });
    is_page("unknown", &customer.press(&unknown, "paid").await, 404);
    is_page("malformed", &customer.press(&json!({ "id": "junk" }), "paid").await, 404);
    assert_eq!(rows(&kit.database), before);
    // Direct payments have it too.
    let direct = crate::support::payments::pending_qris(&project, 15_000).await;
    assert_eq!(led_to(&customer.press(&direct, "paid").await), pay_path(&direct));
    assert_eq!(status(&project, &direct).await, "paid");
}
