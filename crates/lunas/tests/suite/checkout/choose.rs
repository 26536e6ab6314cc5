//! The form in which a customer chooses a method: what its payment keeps, and that a filled-in form makes one payment
//! however often it is sent (docs/contract.md, decisions §4 and §5).

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures_util::future::join_all;
use reqwest::header::USER_AGENT;
use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, on_every_database, on_postgres, on_sqlite_alone};

use crate::support::{
    customer::{Customer, attribute, hidden, is_page, led_to, link_path, pay_path, payment_of},
    json::text,
    links::create_link,
    nodes::Node,
    options::trusted_proxy,
    payments::{count_payments, events_of, fetch, report, simulate_paid, unapplied},
};

on_every_database![
    a_form_makes_a_payment_that_keeps_customer_location_and_device with trusted_proxy(),
    a_form_that_is_sent_twenty_times_at_once_makes_one_payment,
    a_form_without_its_hidden_field_makes_one_payment_by_its_pages_cookie,
    a_form_sent_again_leads_to_its_payment_unless_that_failed_or_expired,
    a_form_may_be_sent_again_after_each_of_many_failures,
    two_tabs_of_one_browser_lead_to_one_payment_by_the_same_choice,
];

on_sqlite_alone![
    a_country_and_an_address_are_believed_of_a_trusted_proxy_only,
    answers_to_what_was_not_asked_are_not_kept,
    an_answer_as_long_as_a_browser_lets_it_be_is_taken_with_its_line_breaks,
    a_payment_lives_its_methods_default_but_never_longer_than_its_link,
    a_form_that_comes_back_for_a_mistake_keeps_its_answers_and_pays_once_too,
    the_choice_is_qris_and_then_the_links_banks_and_a_lone_method_is_chosen_already,
];

/// How often a form is sent at once.
const TIMES: usize = 20;
const PHONE: &str = "Mozilla/5.0 (Linux; Android 14; SM-A155F) AppleWebKit/537.36 (KHTML, like Gecko) \
                     Chrome/130.0.0.0 Mobile Safari/537.36";

fn asking(fields: &[&str]) -> Value {
    json!({ "customer_fields": fields.iter().map(|field| ((*field).to_owned(), json!(true))).collect::<serde_json::Map<_, _>>() })
}

fn nobody() -> Value {
    json!({ "name": "", "email": "", "phone": "", "address": "" })
}

async fn a_form_makes_a_payment_that_keeps_customer_location_and_device(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, asking(&["name", "email", "phone", "address"])).await;
    let customer = Customer::of(&kit);
    let answers = [
        ("method", "virtual_account:bca"),
        ("name", " Siti Aminah\t"),
        ("email", "siti@example.id "),
        ("phone", "\n+62 812-0000"),
        ("address", "\r\nJl. Merdeka 1\r\nBandung\r\n"),
    ];
    let request = customer.form(&link_path(&link), &answers).header(USER_AGENT, PHONE);
    let request = request.header("X-Forwarded-For", "203.0.113.7").header("CF-IPCountry", "ID");
    let payment = payment_of(&project, &customer.send(request).await).await;
    assert_eq!(
        payment["customer"],
        json!({
            "name": "Siti Aminah",
            "email": "siti@example.id",
            "phone": "+62 812-0000",
            "address": "Jl. Merdeka 1\nBandung",
        })
    );
    assert_eq!(
        payment["checkout_context"],
        json!({
            "location": { "ip": "203.0.113.7", "country": "ID" },
            "device": { "type": "mobile", "os": "Android", "browser": "Chrome", "user_agent": PHONE },
        })
    );
    assert_eq!(payment["payment_link_id"], link["id"]);
    assert_eq!((&payment["amount"], &payment["reference"]), (&link["amount"], &link["reference"]));
    let paid = simulate_paid(&project, &payment).await;
    assert_eq!(events_of(&project, &payment, "payment.paid").await[0]["data"], paid);
    assert_eq!(paid["customer"], payment["customer"]);
}

async fn a_country_and_an_address_are_believed_of_a_trusted_proxy_only(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let customer = Customer::of(&kit);
    let request = customer.form(&link_path(&link), &[("method", "qris")]).header("X-Forwarded-For", "203.0.113.7");
    let request = request.header("CF-IPCountry", "ID").header("X-Country-Code", "ID");
    let payment = payment_of(&project, &customer.send(request).await).await;
    assert_eq!(
        payment["checkout_context"],
        json!({ "location": { "ip": "127.0.0.1" }, "device": { "type": "unknown" } })
    );
}

async fn answers_to_what_was_not_asked_are_not_kept(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let everything =
        [("method", "qris"), ("name", "Siti"), ("email", "a@b"), ("phone", "1"), ("address", "Jl. 1"), ("x", "y")];
    let silent = create_link(&project, json!({})).await;
    let payment = payment_of(&project, &Customer::of(&kit).choose(&silent, &everything).await).await;
    assert_eq!(payment["customer"], nobody());
    let curious = create_link(&project, asking(&["phone"])).await;
    let payment = payment_of(&project, &Customer::of(&kit).choose(&curious, &everything).await).await;
    let mut kept = nobody();
    kept["phone"] = json!("1");
    assert_eq!(payment["customer"], kept);
}

/// Browsers count a line break as one character and send it as two.
async fn an_answer_as_long_as_a_browser_lets_it_be_is_taken_with_its_line_breaks(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, asking(&["name", "address"])).await;
    let (name, address) = ("é".repeat(255), format!("{}a\na", "é\n".repeat(498)));
    assert_eq!(address.chars().count(), 999);
    let sent = address.replace('\n', "\r\n");
    let answers = [("method", "qris"), ("name", name.as_str()), ("address", sent.as_str())];
    let payment = payment_of(&project, &Customer::of(&kit).choose(&link, &answers).await).await;
    assert_eq!((text(&payment["customer"], "name"), text(&payment["customer"], "address")), (&*name, &*address));
}

async fn a_payment_lives_its_methods_default_but_never_longer_than_its_link(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let after = |minutes| kit.engine.now().plus(Duration::from_mins(minutes)).to_string();
    for (link_expires, method, expires) in [
        (Value::Null, "qris", after(15)),
        (Value::Null, "virtual_account:bca", after(1_440)),
        (json!(after(20)), "qris", after(15)),
        (json!(after(20)), "virtual_account:bni", after(20)),
    ] {
        let link = create_link(&project, json!({ "expires_at": link_expires })).await;
        let payment = Customer::of(&kit).pays_by(&project, &link, method).await;
        assert_eq!(payment["expires_at"], expires, "{link_expires} {method}");
    }
}

/// The fields of the link's form as this browser got it, to be sent several times.
async fn filled_form(customer: &Customer, link: &Value, method: &str) -> Vec<(String, String)> {
    let page = customer.open(&link_path(link)).await;
    is_page("the chooser", &page, 200);
    let mut fields = hidden(&page);
    assert_eq!(fields.iter().map(|(name, value)| (name.as_str(), value.len())).collect::<Vec<_>>(), [("attempt", 32)]);
    fields.push(("method".to_owned(), method.to_owned()));
    fields
}

async fn send(customer: &Customer, link: &Value, fields: &[(String, String)]) -> Reply {
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    customer.post(&link_path(link), &fields).await
}

/// Sends the form from all of these browsers at once; returns the one payment that it leads to.
async fn send_from_all(
    project: &TestProject,
    customers: &[Customer],
    link: &Value,
    fields: &[(String, String)],
) -> Value {
    let sent = (0..TIMES).map(|number| send(&customers[number % customers.len()], link, fields));
    let replies = join_all(sent).await;
    let places: BTreeSet<String> = replies.iter().map(led_to).collect();
    assert_eq!(places.len(), 1, "all lead to one payment: {places:?}");
    assert_eq!(count_payments(project, &format!("payment_link_id={}", text(link, "id"))).await, 1);
    payment_of(project, &replies[0]).await
}

async fn link_for(project: &TestProject, many: bool) -> Value {
    create_link(project, json!({ "allow_multiple_payments": many })).await
}

async fn a_form_that_is_sent_twenty_times_at_once_makes_one_payment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for many in [false, true] {
        let link = link_for(&project, many).await;
        let customer = Customer::of(&kit);
        let fields = filled_form(&customer, &link, "qris").await;
        // Without a cookie, the hidden field identifies the filled-in form.
        let customers = [Customer::of(&kit), Customer::of(&kit)];
        let payment = send_from_all(&project, &customers, &link, &fields).await;
        assert_eq!(led_to(&send(&customer, &link, &fields).await), pay_path(&payment));
        assert_eq!(count_payments(&project, &format!("payment_link_id={}", text(&link, "id"))).await, 1);
    }
}

async fn a_form_without_its_hidden_field_makes_one_payment_by_its_pages_cookie(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for many in [false, true] {
        let link = link_for(&project, many).await;
        let customer = [Customer::of(&kit)];
        customer[0].open(&link_path(&link)).await;
        let fields = [("method".to_owned(), "virtual_account:bca".to_owned())];
        let payment = send_from_all(&project, &customer, &link, &fields).await;
        // By now the cookie names the payment.
        assert_eq!(customer[0].kept(&link).unwrap(), text(&payment, "id"));
        send_from_all(&project, &customer, &link, &fields).await;
    }
}

#[tokio::test]
async fn a_form_that_is_sent_to_two_nodes_at_once_makes_one_payment() {
    on_postgres(|kit| async move {
        let project = kit.sandbox().await;
        let node = Node::beside(&kit).await;
        for many in [false, true] {
            let link = link_for(&project, many).await;
            let here = Customer::of(&kit);
            let fields = filled_form(&here, &link, "virtual_account:bca").await;
            let there = here.moved_to(node.address);
            send_from_all(&project, &[here, there], &link, &fields).await;
        }
        node.stop().await;
    })
    .await;
}

async fn a_form_sent_again_leads_to_its_payment_unless_that_failed_or_expired(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (many, outcome, leads_back) in [
        (false, "processing", true),
        (true, "processing", true),
        (false, "paid", true),
        (true, "paid", true),
        (false, "failed", false),
        (true, "failed", false),
        (false, "expired", false),
        (true, "expired", false),
    ] {
        let row = format!("{outcome} {many}");
        let link = link_for(&project, many).await;
        let customer = Customer::of(&kit);
        let fields = filled_form(&customer, &link, "qris").await;
        let first = payment_of(&project, &send(&customer, &link, &fields).await).await;
        match outcome {
            "expired" => kit.clock.advance(Duration::from_mins(16)),
            outcome => drop(report(&project, &first, outcome).await),
        }
        let again = payment_of(&project, &send(&customer, &link, &fields).await).await;
        assert_eq!(again["id"] == first["id"], leads_back, "{row}");
        assert_eq!(fetch(&project, &first).await["status"], outcome, "{row}");
        let third = send(&Customer::of(&kit), &link, &fields).await;
        assert_eq!(led_to(&third), pay_path(&again), "{row}: the new one is what the form leads to now");
    }
    assert_eq!(unapplied(&project).await, 0);
}

async fn a_form_may_be_sent_again_after_each_of_many_failures(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = link_for(&project, false).await;
    let customer = Customer::of(&kit);
    let form = [("attempt", "a-form"), ("method", "qris")];
    for _ in 0..20 {
        let payment = payment_of(&project, &customer.post(&link_path(&link), &form).await).await;
        report(&project, &payment, "failed").await;
    }
    assert_eq!(count_payments(&project, "status=failed").await, 20);
}

async fn two_tabs_of_one_browser_lead_to_one_payment_by_the_same_choice(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = link_for(&project, true).await;
    let customer = Customer::of(&kit);
    let (one, other) = (filled_form(&customer, &link, "qris").await, filled_form(&customer, &link, "qris").await);
    let first = led_to(&send(&customer, &link, &one).await);
    assert_eq!(led_to(&send(&customer, &link, &other).await), first);
    assert_eq!(count_payments(&project, "").await, 1);
}

async fn a_form_that_comes_back_for_a_mistake_keeps_its_answers_and_pays_once_too(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, asking(&["name", "email", "address"])).await;
    let (name, address) = ("Siti \"&<b>", "Jl. Melati 1\r\nBandung");
    let sent = [("method", "virtual_account:bca"), ("name", name), ("email", "siti"), ("address", address)];
    let page = Customer::of(&kit).post(&link_path(&link), &sent).await;
    is_page("a mistake", &page, 422);
    assert!(!page.text.contains("<b>\""), "what was typed is text");
    let wrong: Vec<String> = page.text.split("<input id=").skip(1).map(|input| attribute(input, "name")).collect();
    assert_eq!(wrong, ["name", "email"], "only what is asked");
    assert_eq!(page.text.matches("aria-invalid").count(), 1);
    assert!(page.text.contains("Jl. Melati 1\nBandung</textarea>"), "{}", page.text);
    let chosen = page.text.split("value=\"virtual_account:bca\"").nth(1).unwrap().split('>').next().unwrap();
    assert!(chosen.contains("checked"), "{chosen}");
    let mut fields = hidden(&page);
    assert_eq!(fields.len(), 1);
    assert_eq!((fields[0].0.as_str(), fields[0].1.len()), ("attempt", 32), "each filling-in is known by something");
    for (name, value) in sent {
        let value = if name == "email" { "siti@example.id" } else { value };
        fields.push((name.to_owned(), value.to_owned()));
    }
    let payment = send_from_all(&project, &[Customer::of(&kit), Customer::of(&kit)], &link, &fields).await;
    assert_eq!(payment["customer"]["name"], name);
}

async fn the_choice_is_qris_and_then_the_links_banks_and_a_lone_method_is_chosen_already(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (qris, bca) = (json!({ "type": "qris" }), json!({ "type": "virtual_account", "bank": "bca" }));
    for (methods, offered) in [
        (json!([bca, qris]), &["qris", "virtual_account:bca"][..]),
        (json!([qris]), &["qris"]),
        (json!([bca]), &["virtual_account:bca"]),
    ] {
        let link = create_link(&project, json!({ "allowed_payment_methods": methods })).await;
        let page = Customer::of(&kit).open(&link_path(&link)).await;
        let rows: Vec<&str> = page.text.split("<input type=\"radio\"").skip(1).collect();
        let values: Vec<String> = rows.iter().map(|row| attribute(row, "value")).collect();
        assert_eq!(values, offered);
        let checked = rows.iter().filter(|row| row.split('>').next().unwrap().contains(" checked")).count();
        assert_eq!(checked, usize::from(offered.len() == 1));
    }
}
