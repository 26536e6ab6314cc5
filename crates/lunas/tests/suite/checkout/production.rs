//! The checkout in production: banks, which may fail as the database may, and no panel.

use std::{sync::Arc, time::Duration};

use demobank::{CodeState, Fault};
use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    acquirers::{Acquired, acquired, code_of, hosted_there},
    bank_accounts::account_of,
    customer::{Customer, attribute, heading, is_page, led_to, link_path, pay_path, payment_of},
    json::text,
    links::create_link,
    nodes::Node,
    payments::{count_payments, pending_qris, status, unapplied},
    rows::rows,
};

on_every_database![
    a_bank_that_is_not_reached_gets_the_form_back_and_leaves_no_payment_behind,
    a_change_that_the_bank_refuses_keeps_the_old_code,
    while_the_database_is_away_a_page_says_to_try_again_and_a_form_leaves_nothing_behind,
    a_payment_confirmed_while_its_replacement_is_made_is_paid_and_alone,
];

on_sqlite_alone![
    in_production_there_is_no_panel_and_nothing_at_its_address,
    a_link_that_no_bank_account_serves_says_so_in_both_languages_and_takes_no_form,
];

const BCA: &str = "virtual_account:bca";
const BRI: &str = "virtual_account:bri";
/// After so many failures a bank is left alone for a while.
const FAILURES_MOST: usize = 5;
const LEFT_ALONE: Duration = Duration::from_secs(30);

/// A production project that takes QRIS by one bank and virtual accounts by another, both of which issue their codes themselves,
/// and a link of it.
struct Shop {
    qris: Acquired,
    bri: Acquired,
    link: Value,
}

impl Shop {
    async fn open(kit: &Kit, members: Value) -> Shop {
        let (qris, bri) = (acquired(kit, "midtrans").await, hosted_there(kit, "briva-ws").await);
        kit.engine.assign_bank_account(bri.account, qris.project.id, bri.method).await.unwrap();
        let link = create_link(&qris.project, members).await;
        Shop { qris, bri, link }
    }

    fn project(&self) -> &TestProject {
        &self.qris.project
    }
}

async fn in_production_there_is_no_panel_and_nothing_at_its_address(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, json!({})).await;
    let customer = Customer::of(&kit);
    let payment = customer.pays_by(shop.project(), &shop.link, "qris").await;
    let page = customer.open(&pay_path(&payment)).await;
    is_page("pending", &page, 200);
    assert!(!page.text.contains("simulate"), "{}", page.text);
    let before = rows(&kit.database);
    let nothing = customer.open("/pay/nothing").await;
    for outcome in ["paid", "failed", "processing", "junk"] {
        let refused = customer.press(&payment, outcome).await;
        is_page(outcome, &refused, 404);
        assert_eq!(refused.text, nothing.text, "as where there is nothing");
    }
    let path = format!("{}/simulate", pay_path(&payment));
    assert_eq!(customer.open(&path).await.text, nothing.text, "also to whoever looks");
    let json = customer.request(reqwest::Method::POST, &path).json(&json!({ "outcome": "paid" }));
    is_page("not a form", &customer.send(json).await, 404);
    assert_eq!(rows(&kit.database), before);
    // In the sandbox the same address works.
    let sandbox = kit.sandbox().await;
    let direct = pending_qris(&sandbox, 15_000).await;
    assert_eq!(led_to(&customer.press(&direct, "paid").await), pay_path(&direct));
}

/// Whether the form is shown again, with the request's id for support, and the method that has failed cannot be chosen.
#[track_caller]
fn asks_for_another_method(refused: &Reply) {
    is_page("the bank is not reached", refused, 503);
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    let mut choices = refused.text.split("<input type=\"radio\"").skip(1);
    let failed = choices.find(|row| attribute(row, "value") == BRI).unwrap();
    assert!(failed.split('>').next().unwrap().ends_with(" disabled"), "another one is to be chosen: {failed}");
    assert!(refused.text.contains(refused.header("x-request-id").unwrap()), "support can find the request");
}

async fn a_bank_that_is_not_reached_gets_the_form_back_and_leaves_no_payment_behind(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, json!({})).await;
    let (customer, path) = (Customer::of(&kit), link_path(&shop.link));
    customer.open(&path).await;
    let form = [("attempt", "a-form"), ("method", BRI)];
    shop.bri.doors.close().await;
    for _ in 0..FAILURES_MOST {
        asks_for_another_method(&customer.post(&path, &form).await);
    }
    // The bank is left alone now, so the form is not even stored.
    let before = rows(&kit.database);
    asks_for_another_method(&customer.post(&path, &form).await);
    assert_eq!(rows(&kit.database), before);
    assert_eq!(count_payments(shop.project(), "").await, 0);
    shop.bri.doors.reopen().await.unwrap();
    kit.clock.advance(LEFT_ALONE);
    let payment = payment_of(shop.project(), &customer.post(&path, &form).await).await;
    shop.bri.doors.close().await;
    assert_eq!(led_to(&customer.post(&path, &form).await), pay_path(&payment));
    assert_eq!((shop.bri.asked.codes().len(), count_payments(shop.project(), "").await), (1, 1));
}

async fn a_change_that_the_bank_refuses_keeps_the_old_code(kit: Arc<Kit>) {
    let shop = Shop::open(&kit, json!({})).await;
    let customer = Customer::of(&kit);
    let old = customer.pays_by(shop.project(), &shop.link, "qris").await;
    shop.bri.asked.fail_next_of(shop.bri.issue_service(), Fault::Case(403, "05"));
    let form = [("replaces", text(&old, "id")), ("method", BRI)];
    is_page("the bank refuses", &customer.post(&link_path(&shop.link), &form).await, 503);
    assert_eq!(status(shop.project(), &old).await, "pending");
    assert_eq!(shop.qris.asked.code(code_of(&old)).unwrap().state, CodeState::Unpaid);
    assert_eq!(led_to(&customer.open(&link_path(&shop.link)).await), pay_path(&old));
}

async fn a_link_that_no_bank_account_serves_says_so_in_both_languages_and_takes_no_form(kit: Arc<Kit>) {
    let project = kit.production().await;
    let link = create_link(&project, json!({})).await;
    let (customer, before) = (Customer::of(&kit), rows(&kit.database));
    for (language, says, contact) in [
        ("en", "This shop cannot take payments by this link yet", "contact Toko Kopi"),
        ("id", "Toko ini belum bisa menerima pembayaran lewat tautan ini", "hubungi Toko Kopi"),
    ] {
        let page = customer.open(&format!("{}?lang={language}", link_path(&link))).await;
        is_page(language, &page, 200);
        assert_eq!(heading(&page), says);
        assert!(page.text.contains(contact), "{}", page.text);
        assert!(!page.text.contains("<form") && !page.text.contains("<button"), "{}", page.text);
        let refused = customer.post(&link_path(&link), &[("method", "qris")]).await;
        is_page(language, &refused, 409);
        assert_eq!(heading(&refused), says);
    }
    assert_eq!(rows(&kit.database), before);
    // As soon as an account serves one of its methods, the link offers that one and no other.
    account_of(&kit, project.id).await;
    let page = customer.open(&link_path(&link)).await;
    let offered: Vec<String> =
        page.text.split("<input type=\"radio\"").skip(1).map(|row| attribute(row, "value")).collect();
    assert_eq!(offered, [BCA]);
}

async fn while_the_database_is_away_a_page_says_to_try_again_and_a_form_leaves_nothing_behind(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let payment = pending_qris(&project, 15_000).await;
    // A node that has no read connection yet, and whose database becomes unreachable before it opens one.
    let node = Node::beside(&kit).await;
    let before = rows(&kit.database);
    kit.database.take_away();
    let customer = Customer::at(node.address);
    let (choice, page, form) = (link_path(&link), pay_path(&payment), [("method", "qris"), ("attempt", "a-form")]);
    for (row, refused) in [
        ("the choice", customer.open(&choice).await),
        ("the form", customer.post(&choice, &form).await),
        ("the payment", customer.open(&page).await),
        ("its status", customer.open(&format!("{page}/status")).await),
        ("its events", customer.open(&format!("{page}/events")).await),
        ("the panel", customer.press(&payment, "paid").await),
    ] {
        is_page(row, &refused, 503);
        assert_eq!(refused.header("retry-after"), Some("1"), "{row}");
        assert!(refused.text.contains(refused.header("x-request-id").unwrap()), "{row}");
        assert!(!refused.text.contains("lunas.db") && !refused.text.contains("SQL"), "{row}");
    }
    is_page("what cannot be there", &customer.open("/pay/junk").await, 404);
    kit.database.bring_back();
    assert_eq!(rows(&kit.database), before);
    let made = payment_of(&project, &customer.post(&choice, &form).await).await;
    assert_eq!(led_to(&customer.post(&choice, &form).await), pay_path(&made));
    node.stop().await;
}

async fn a_payment_confirmed_while_its_replacement_is_made_is_paid_and_alone(kit: Arc<Kit>) {
    for many in [false, true] {
        let shop = Shop::open(&kit, json!({ "allow_multiple_payments": many })).await;
        let (customer, path) = (Customer::of(&kit), link_path(&shop.link));
        let old = customer.pays_by(shop.project(), &shop.link, "qris").await;
        let form = [("replaces", text(&old, "id")), ("method", BRI)];
        let confirmed = async {
            shop.qris.pays(&old).await;
        };
        let sent = shop.bri.while_it_works(customer.post(&path, &form), confirmed).await;
        assert_eq!(led_to(&sent), pay_path(&old));
        assert_eq!(
            (status(shop.project(), &old).await.as_str(), count_payments(shop.project(), "").await),
            ("paid", 1)
        );
        assert_eq!(unapplied(shop.project()).await, 0);
    }
}
