//! How many attempts a link takes, and what a customer reads beyond that (docs/contract.md, decisions §5).

use std::{sync::Arc, time::Duration};

use domain::attempt_limits::AttemptLimits;
use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use testkit::{Kit, Options, Reply, on_every_database};

use crate::support::{
    customer::{Customer, heading, hidden, is_page, led_to, link_path, payment_of},
    json::text,
    links::create_link,
    options::trusted_proxy_and_rate_limit,
    payments::{count_payments, simulate_paid, status},
    rows::rows,
};

on_every_database![
    a_single_use_link_has_at_most_twenty_pending_payments on 2 threads,
    a_link_for_many_payments_has_as_many_pending_payments_as_is_set on 2 threads with small_limits(),
    of_customers_who_come_at_once_as_many_start_a_payment_as_there_is_room on 4 threads with small_limits(),
    who_has_a_pending_payment_may_change_it_though_the_link_is_full on 2 threads with small_limits(),
    an_address_starts_ten_payments_of_a_single_use_link_in_ten_minutes on 2 threads
        with trusted_proxy_and_rate_limit(1_000),
    a_link_for_many_payments_counts_no_addresses on 2 threads with trusted_proxy_and_rate_limit(1_000),
    a_visitor_has_one_pending_payment_of_a_link_however_they_send_their_forms on 4 threads,
    a_visitor_who_sends_two_forms_alike_gets_one_payment on 2 threads,
];

const BCA: &str = "virtual_account:bca";
const BNI: &str = "virtual_account:bni";

fn small_limits() -> Options {
    let attempts = AttemptLimits { pending_single_use: 2, pending_multi_use: 3, ..AttemptLimits::default() };
    Options { attempts, ..Options::default() }
}

async fn pending_of(project: &testkit::TestProject, link: &Value) -> i64 {
    count_payments(project, &format!("payment_link_id={}&status=pending", text(link, "id"))).await
}

/// Checks that an answer asks to try again, in so many seconds.
#[track_caller]
fn asks_to_wait(reply: &Reply, seconds: u64) {
    is_page("too many", reply, 429);
    assert_eq!(reply.header("retry-after"), Some(seconds.to_string().as_str()));
    assert_eq!(heading(reply), "Tagihan ini terlalu sering dicoba");
    assert!(!reply.text.contains("name=\"method\""), "there is no form");
    assert!(reply.text.contains(reply.header("x-request-id").unwrap()), "support can find the request");
    assert!(reply.text.contains("class=\"button main\""), "there is one thing to do next");
}

async fn a_single_use_link_has_at_most_twenty_pending_payments(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    for _ in 0..20 {
        led_to(&Customer::of(&kit).choose(&link, &[("method", "qris")]).await);
    }
    let (customer, before) = (Customer::of(&kit), rows(&kit.database));
    let refused = customer.choose(&link, &[("method", "qris")]).await;
    // QRIS codes are valid for 15 minutes, and the test began at 16.30 in Jakarta.
    asks_to_wait(&refused, 901);
    assert!(refused.text.contains("14 November 2026 pukul 16.46 WIB"), "{}", refused.text);
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
    let english = customer.form(&link_path(&link), &[("method", "qris")]).header("accept-language", "en");
    let english = customer.send(english).await;
    is_page("in English", &english, 429);
    assert_eq!(heading(&english), "Too many attempts to pay this bill");
    assert!(english.text.contains("Please try again after") && english.text.contains("14 November 2026"));
    kit.clock.advance(Duration::from_secs(901));
    led_to(&customer.choose(&link, &[("method", "qris")]).await);
}

async fn a_link_for_many_payments_has_as_many_pending_payments_as_is_set(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({ "allow_multiple_payments": true })).await;
    let mut payments = Vec::new();
    for _ in 0..3 {
        payments.push(Customer::of(&kit).pays_by(&project, &link, "qris").await);
    }
    let customer = Customer::of(&kit);
    asks_to_wait(&customer.choose(&link, &[("method", "qris")]).await, 901);
    // A payment that ends makes room at once.
    simulate_paid(&project, &payments[0]).await;
    led_to(&customer.choose(&link, &[("method", "qris")]).await);
    asks_to_wait(&Customer::of(&kit).choose(&link, &[("method", "qris")]).await, 901);
    // Other links have their own room.
    let other = create_link(&project, json!({ "allow_multiple_payments": true })).await;
    led_to(&Customer::of(&kit).choose(&other, &[("method", "qris")]).await);
}

async fn of_customers_who_come_at_once_as_many_start_a_payment_as_there_is_room(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let customers: Vec<Customer> = (0..12).map(|_| Customer::of(&kit)).collect();
    let replies = join_all(customers.iter().map(|customer| customer.choose(&link, &[("method", "qris")]))).await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 303).count(), 2);
    assert_eq!(replies.iter().filter(|reply| reply.status == 429).count(), 10);
    assert_eq!(pending_of(&project, &link).await, 2);
}

async fn who_has_a_pending_payment_may_change_it_though_the_link_is_full(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let (one, other) = (Customer::of(&kit), Customer::of(&kit));
    let old = one.pays_by(&project, &link, "qris").await;
    other.pays_by(&project, &link, "qris").await;
    let change = format!("{}?change={}", link_path(&link), text(&old, "id"));
    let new = payment_of(&project, &one.choose_at(&change, &[("method", BCA)]).await).await;
    assert_eq!((status(&project, &old).await.as_str(), text(&new, "status")), ("cancelled", "pending"));
    assert_eq!(pending_of(&project, &link).await, 2);
}

async fn an_address_starts_ten_payments_of_a_single_use_link_in_ten_minutes(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (link, other) = (create_link(&project, json!({})).await, create_link(&project, json!({})).await);
    let customer = Customer::of(&kit);
    customer.open(&link_path(&link)).await;
    // Each choice replaces the one before it, so that one payment at most is pending.
    let choose = async |link: &Value, form: usize, address: &str| {
        let (form, method) = (format!("form-{form}"), [BCA, BNI][form % 2]);
        let fields = [("attempt", form.as_str()), ("method", method)];
        customer.send(customer.form(&link_path(link), &fields).header("x-forwarded-for", address)).await
    };
    for form in 0..10 {
        led_to(&choose(&link, form, "192.0.2.1").await);
        kit.clock.advance(Duration::from_secs(1));
    }
    let before = rows(&kit.database);
    asks_to_wait(&choose(&link, 10, "192.0.2.1").await, 590);
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
    // What was started already is found again.
    led_to(&choose(&link, 9, "192.0.2.1").await);
    led_to(&choose(&other, 11, "192.0.2.1").await);
    led_to(&choose(&link, 12, "192.0.2.2").await);
    kit.clock.advance(Duration::from_secs(589));
    asks_to_wait(&choose(&link, 13, "192.0.2.1").await, 1);
    kit.clock.advance(Duration::from_secs(1));
    led_to(&choose(&link, 13, "192.0.2.1").await);
    // One network of IPv6 is one address.
    for form in 20..30 {
        led_to(&choose(&other, form, &format!("2001:db8:1:2::{form}")).await);
    }
    assert_eq!(choose(&other, 30, "2001:db8:1:2:ffff::9").await.status, 429);
    assert_eq!(pending_of(&project, &link).await, 1);
}

async fn a_link_for_many_payments_counts_no_addresses(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({ "allow_multiple_payments": true })).await;
    for _ in 0..15 {
        led_to(&Customer::of(&kit).choose(&link, &[("method", "qris")]).await);
    }
    assert_eq!(pending_of(&project, &link).await, 15);
}

/// The cookie names no payment until the first form is answered, so these forms do not know of each other.
async fn a_visitor_has_one_pending_payment_of_a_link_however_they_send_their_forms(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for many in [false, true] {
        for _ in 0..4 {
            let link = create_link(&project, json!({ "allow_multiple_payments": many })).await;
            let customer = Customer::of(&kit);
            let first = hidden(&customer.open(&link_path(&link)).await)[0].1.clone();
            let given = customer.kept(&link).unwrap();
            let fields = [("attempt", first.as_str()), ("method", "qris")];
            let other_tab = [("attempt", "other-tab"), ("method", BCA)];
            let path = link_path(&link);
            let (one, other) = (customer.form(&path, &fields), customer.form(&path, &other_tab));
            let (one, other) = join(customer.send(one), customer.send(other)).await;
            let (one, other) = (payment_of(&project, &one).await, payment_of(&project, &other).await);
            assert_ne!(one["id"], other["id"]);
            assert_eq!(pending_of(&project, &link).await, 1);
            // A browser that forgets what it was sent to, but not what it was given first.
            customer.keep(&link, &given);
            led_to(&customer.post(&path, &[("attempt", "third-tab"), ("method", BNI)]).await);
            assert_eq!(pending_of(&project, &link).await, 1);
        }
    }
}

async fn a_visitor_who_sends_two_forms_alike_gets_one_payment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({ "allow_multiple_payments": true })).await;
    let customer = Customer::of(&kit);
    customer.open(&link_path(&link)).await;
    let given = customer.kept(&link).unwrap();
    let one = customer.post(&link_path(&link), &[("attempt", "a-tab"), ("method", "qris")]).await;
    customer.keep(&link, &given);
    let other = customer.post(&link_path(&link), &[("attempt", "other-tab"), ("method", "qris")]).await;
    assert_eq!(led_to(&one), led_to(&other));
    assert_eq!(count_payments(&project, "").await, 1);
}
