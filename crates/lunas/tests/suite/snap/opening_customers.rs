//! What is known about the customer of a link whose code a bank issues: kept once, and no longer than it is of use.

use std::{sync::Arc, time::Duration};

use demobank::{Fault, PayOrder, Service};
use serde_json::{Value, json};
use testkit::{Kit, on_every_database};

use crate::support::{
    acquirers::{Acquired, acquired, ask_after},
    customer::{Customer, payment_of},
    json::text,
    links::create_link,
    payments::count_payments,
    rows::rows,
};

on_every_database![
    a_customer_whose_code_is_there_is_known_by_the_payment_alone,
    a_customer_whose_code_was_lost_and_paid_is_known_by_the_payment_alone,
    customers_whose_code_never_came_are_forgotten_after_ninety_days,
];

const EMAIL: &str = "siti@example.id";

/// A customer fills in the form of a new link.
async fn chooses(kit: &Kit, acquired: &Acquired) -> testkit::Reply {
    let link = create_link(&acquired.project, json!({ "customer_fields": { "email": true } })).await;
    Customer::of(kit).choose(&link, &[("method", "qris"), ("email", EMAIL)]).await
}

/// The customers that openings know.
fn known_by_openings(kit: &Kit) -> usize {
    rows(&kit.database).iter().filter(|row| row.contains("opening_attempts")).count()
}

/// The only payment of the project.
async fn only_payment(acquired: &Acquired) -> Value {
    let list = acquired.project.api.get("/v1/payments").await.expect(200);
    let [payment] = list["data"].as_array().unwrap().as_slice() else { panic!("{list}") };
    payment.clone()
}

fn email(payment: &Value) -> &str {
    text(&payment["customer"], "email")
}

async fn a_customer_whose_code_is_there_is_known_by_the_payment_alone(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let payment = payment_of(&acquired.project, &chooses(&kit, &acquired).await).await;
    assert_eq!((email(&payment), known_by_openings(&kit)), (EMAIL, 0));
}

async fn a_customer_whose_code_was_lost_and_paid_is_known_by_the_payment_alone(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    acquired.asked.fail_next_of(Service::Generate, Fault::LostAfter);
    chooses(&kit, &acquired).await;
    assert_eq!((count_payments(&acquired.project, "").await, known_by_openings(&kit)), (0, 1));
    acquired.asked.pay_code(&acquired.last_code().reference, PayOrder::default()).await.unwrap();
    let payment = only_payment(&acquired).await;
    assert_eq!((text(&payment, "status"), email(&payment), known_by_openings(&kit)), ("paid", EMAIL, 0));
}

async fn customers_whose_code_never_came_are_forgotten_after_ninety_days(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    acquired.asked.fail_next_of(Service::Generate, Fault::Case(403, "05"));
    chooses(&kit, &acquired).await;
    acquired.asked.fail_next_of(Service::Generate, Fault::LostAfter);
    acquired.asked.fail_every(Service::Query, Some(Fault::Status(500)));
    chooses(&kit, &acquired).await;
    let (abandoned, in_time) = (acquired.last_code(), kit.engine.now().as_millis());
    ask_after(&kit, Duration::from_mins(11)).await;
    acquired.asked.fail_every(Service::Query, None);
    kit.clock.advance(Duration::from_hours(24 * 89));
    assert_eq!((kit.engine.forget_attempts().await.unwrap(), known_by_openings(&kit)), (0, 2));
    kit.clock.advance(Duration::from_hours(24 * 2));
    assert_eq!((kit.engine.forget_attempts().await.unwrap(), kit.engine.forget_attempts().await.unwrap()), (1, 0));
    assert_eq!(known_by_openings(&kit), 0);
    // Money for such a code still makes a payment, of which nobody knows the customer.
    let order = PayOrder { paid_at_ms: Some(in_time), ..PayOrder::default() };
    acquired.asked.pay_code(&abandoned.reference, order).await.unwrap();
    let payment = only_payment(&acquired).await;
    assert_eq!((text(&payment, "status"), email(&payment)), ("paid", ""));
    assert_eq!(kit.engine.verify().await.unwrap(), []);
}
