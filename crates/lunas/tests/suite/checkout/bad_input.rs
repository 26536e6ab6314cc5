//! What the checkout refuses: always with a page, and without leaving anything behind.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use domain::bank::Bank;
use engine::ProjectUpdate;
use reqwest::{Method, header::ACCEPT_LANGUAGE};
use serde_json::{Value, json};
use testkit::{Kit, Options, Socket, TestProject, on_every_database, on_sqlite_alone, request_bytes};

use crate::support::{
    customer::{Customer, is_page, led_to, link_path, pay_path, payment_of, unknown},
    json::text,
    links::create_link,
    options::base_url,
    payments::{count_payments, pending_qris, status},
    rows::rows,
};

on_every_database![
    every_unknown_address_shows_the_same_page_and_reveals_nothing,
    only_a_payment_of_this_link_can_be_replaced,
];

on_sqlite_alone![
    a_form_for_what_is_not_there_is_404,
    a_method_that_the_link_does_not_offer_is_refused,
    an_answer_outside_its_rule_is_refused,
    a_field_that_comes_twice_is_refused,
    a_cookie_of_another_link_and_a_made_up_one_are_ignored,
    a_form_of_another_site_is_refused_with_a_page_in_the_visitors_language with base_url("https://bayar.example"),
    a_body_that_is_no_form_is_refused,
    a_form_that_does_not_arrive_in_time_is_408 with short_body_timeout(),
    a_wrong_method_is_405_and_names_the_right_ones,
    query_parameters_change_no_form_and_break_no_page,
];

const FORM: &str = "application/x-www-form-urlencoded";
const SOUND: [(&str, &str); 1] = [("method", "qris")];

/// A link that takes QRIS and one bank, and asks for everything.
async fn link_that_asks_everything(project: &TestProject) -> Value {
    let methods = json!([{ "type": "qris" }, { "type": "virtual_account", "bank": "bca" }]);
    let fields = json!({ "name": true, "email": true, "phone": true, "address": true });
    create_link(project, json!({ "allowed_payment_methods": methods, "customer_fields": fields })).await
}

const ANSWERS: [(&str, &str); 5] = [
    ("method", "qris"),
    ("name", "Siti"),
    ("email", "siti@example.id"),
    ("phone", "0812"),
    ("address", "Jl. Melati 1"),
];

/// The form's answers with one of them changed or left out.
fn answers<'a>(field: &str, value: Option<&'a str>) -> Vec<(&'static str, &'a str)> {
    let others = ANSWERS.into_iter().filter(|(name, _)| *name != field);
    let field = ANSWERS.into_iter().find(|(name, _)| *name == field).unwrap().0;
    others.chain(value.map(|value| (field, value))).collect()
}

async fn every_unknown_address_shows_the_same_page_and_reveals_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let payment = Customer::of(&kit).pays_by(&project, &link, "virtual_account:bca").await;
    let (link_id, payment_id) = (text(&link, "id"), text(&payment, "id"));
    let mut misses: Vec<String> = ["/p", "/p/", "/pay", "/pay/", "/p//", "/pay//status"].map(str::to_owned).into();
    for id in [&unknown(&link), payment_id, "junk", "pl_", &link_id.to_uppercase(), "%00", "%FF", "..%2F", "a%22%3Cb"] {
        misses.push(format!("/p/{id}"));
    }
    for id in [&unknown(&payment), link_id, "junk", &payment_id[1..], "%00", "%FF", "%E2%80%AE"] {
        misses.extend(["", "/status", "/events", "/qr.png"].map(|more| format!("/pay/{id}{more}")));
    }
    misses.extend([format!("/p/{link_id}/"), format!("/p/{link_id}/x"), format!("/pay/{payment_id}/")]);
    misses.extend([format!("/pay/{payment_id}/nothing"), format!("/pay/{payment_id}/status/")]);
    misses.extend([format!("/pay/{payment_id}/qr.png"), format!("/p/{}?change={payment_id}", unknown(&link))]);
    for language in ["id", "en"] {
        let mut bodies = BTreeSet::new();
        for path in &misses {
            let customer = Customer::of(&kit);
            let request = customer.request(Method::GET, path).header(ACCEPT_LANGUAGE, language);
            let reply = customer.send(request).await;
            is_page(path, &reply, 404);
            assert!(reply.text.contains(&format!("<html lang=\"{language}\"")), "{path}");
            assert!(!reply.text.contains(reply.header("x-request-id").unwrap()), "{path}");
            assert_eq!(reply.header("location"), None, "{path}");
            bodies.insert(reply.text);
        }
        assert_eq!(bodies.len(), 1, "one page for every miss: {bodies:#?}");
    }
}

async fn a_form_for_what_is_not_there_is_404(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let payment = pending_qris(&project, 15_000).await;
    let before = rows(&kit.database);
    for path in [
        format!("/p/{}", unknown(&link)),
        format!("/p/{}", text(&payment, "id")),
        "/p/junk".to_owned(),
        format!("{}/", link_path(&link)),
        format!("/pay/{}/simulate", unknown(&payment)),
        format!("/pay/{}/simulate", text(&link, "id")),
        format!("/pay/{}/simulate/", text(&payment, "id")),
    ] {
        let form = [("method", "qris"), ("outcome", "paid")];
        is_page(&path, &Customer::of(&kit).post(&path, &form).await, 404);
    }
    assert_eq!(rows(&kit.database), before);
}

async fn a_method_that_the_link_does_not_offer_is_refused(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = link_that_asks_everything(&project).await;
    let customer = Customer::of(&kit);
    let before = rows(&kit.database);
    for method in [
        None,
        Some(""),
        Some("junk"),
        Some("QRIS"),
        Some("qris "),
        Some("qris:"),
        Some("qris\u{0}"),
        Some("virtual_account"),
        Some("virtual_account:"),
        Some("virtual_account:BCA"),
        Some("virtual_account:nobank"),
        Some("virtual_account:bni"),
        Some("virtual_account:bca:bca"),
    ] {
        let refused = customer.post(&link_path(&link), &answers("method", method)).await;
        is_page(&format!("{method:?}"), &refused, 422);
    }
    assert_eq!(rows(&kit.database), before);
    // A bank that the project no longer offers.
    let account = answers("method", Some("virtual_account:bca"));
    kit.update(project.id, ProjectUpdate { banks: Some(vec![Bank::Bni]), ..Default::default() }).await;
    let before = rows(&kit.database);
    is_page("no more offered", &customer.post(&link_path(&link), &account).await, 422);
    assert_eq!(rows(&kit.database), before);
    led_to(&customer.post(&link_path(&link), &ANSWERS).await);
}

async fn an_answer_outside_its_rule_is_refused(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = link_that_asks_everything(&project).await;
    let customer = Customer::of(&kit);
    let before = rows(&kit.database);
    let (long, longer) = ("0@".repeat(128), "é".repeat(1_001));
    assert_eq!(long.chars().count(), 256);
    for field in ["name", "email", "phone", "address"] {
        let too_long = if field == "address" { &longer } else { &long };
        for value in
            [None, Some(""), Some(" \t\r\n"), Some(too_long), Some("1@\u{0}"), Some("1@\u{7f}a"), Some("1@\u{85}a")]
        {
            let row = format!("{field} {value:?}");
            is_page(&row, &customer.post(&link_path(&link), &answers(field, value)).await, 422);
        }
    }
    for (field, value) in
        [("name", "Siti\nAminah"), ("email", "siti"), ("email", "@"), ("phone", "nol"), ("phone", "1\n2")]
    {
        is_page(field, &customer.post(&link_path(&link), &answers(field, Some(value))).await, 422);
    }
    assert_eq!(rows(&kit.database), before);
    led_to(&customer.post(&link_path(&link), &ANSWERS).await);
}

async fn a_field_that_comes_twice_is_refused(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = link_that_asks_everything(&project).await;
    let before = rows(&kit.database);
    for (name, value) in ANSWERS.into_iter().chain([("attempt", "a"), ("replaces", "a"), ("unknown", "a")]) {
        let form: Vec<_> = ANSWERS.into_iter().chain([(name, value), (name, value)]).collect();
        is_page(name, &Customer::of(&kit).post(&link_path(&link), &form).await, 422);
    }
    assert_eq!(rows(&kit.database), before);
}

async fn only_a_payment_of_this_link_can_be_replaced(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (link, neighbour) = (create_link(&project, json!({})).await, create_link(&project, json!({})).await);
    let theirs = Customer::of(&kit).pays_by(&project, &neighbour, "qris").await;
    let direct = pending_qris(&project, 15_000).await;
    let stranger = kit.sandbox().await;
    let strange = pending_qris(&stranger, 15_000).await;
    let customer = Customer::of(&kit);
    let before = rows(&kit.database);
    for replaced in
        [text(&theirs, "id"), text(&direct, "id"), text(&strange, "id"), &unknown(&theirs), "junk", "a\u{0}"]
    {
        let change = format!("{}?change={}", link_path(&link), replaced.replace('\0', "%00"));
        is_page(replaced, &customer.open(&change).await, 200);
        let form = [("replaces", replaced), ("method", "virtual_account:bca")];
        is_page(replaced, &customer.post(&link_path(&link), &form).await, 404);
    }
    assert_eq!(rows(&kit.database), before);
}

async fn a_cookie_of_another_link_and_a_made_up_one_are_ignored(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let neighbour = create_link(&project, json!({})).await;
    let theirs = Customer::of(&kit).pays_by(&project, &neighbour, "qris").await;
    let stranger = kit.sandbox().await;
    let strange = pending_qris(&stranger, 15_000).await;
    let long = "x".repeat(4_000);
    for kept in [text(&theirs, "id"), text(&strange, "id"), &unknown(&theirs), "junk", "", "\"<b>", &long] {
        let link = create_link(&project, json!({})).await;
        let customer = Customer::of(&kit);
        customer.keep(&link, kept);
        is_page(kept, &customer.open(&link_path(&link)).await, 200);
        let payment = payment_of(&project, &customer.post(&link_path(&link), &SOUND).await).await;
        assert_eq!(payment["payment_link_id"], link["id"]);
        assert_eq!(customer.kept(&link).unwrap(), text(&payment, "id"));
    }
    assert_eq!(
        (status(&project, &theirs).await, status(&stranger, &strange).await),
        ("pending".into(), "pending".into())
    );
}

/// Sends the form with the headers that a browser sends from a page at `origin`.
async fn from(kit: &Kit, link: &Value, origin: Option<&str>, site: Option<&str>) -> testkit::Reply {
    let customer = Customer::of(kit);
    let mut request = customer.form(&link_path(link), &SOUND).header(ACCEPT_LANGUAGE, "en");
    for (name, value) in [("Origin", origin), ("Sec-Fetch-Site", site)] {
        request = value.into_iter().fold(request, |request, value| request.header(name, value));
    }
    customer.send(request).await
}

async fn a_form_of_another_site_is_refused_with_a_page_in_the_visitors_language(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({ "allow_multiple_payments": true })).await;
    let (bound, evil) = (format!("http://{}", kit.address), "https://evil.example");
    let before = rows(&kit.database);
    for (origin, site) in [
        (Some(evil), None),
        (Some(evil), Some("cross-site")),
        (None, Some("cross-site")),
        (None, Some("same-site")),
        (None, Some("junk")),
        (Some("null"), None),
        (Some("null"), Some("cross-site")),
        (Some("https://bayar.example.evil.example"), None),
        (Some("http://bayar.example"), None),
        (Some("junk"), None),
    ] {
        let refused = from(&kit, &link, origin, site).await;
        is_page(&format!("{origin:?} {site:?}"), &refused, 403);
        assert!(refused.text.contains("<html lang=\"en\""));
    }
    assert_eq!(rows(&kit.database), before);
    let mut made = 0;
    for (origin, site) in [
        (None, None),
        (Some("https://bayar.example"), None),
        (Some("https://bayar.example"), Some("same-origin")),
        (Some(bound.as_str()), None),
        (Some("null"), Some("same-origin")),
        (None, Some("none")),
    ] {
        led_to(&from(&kit, &link, origin, site).await);
        made += 1;
    }
    assert_eq!(count_payments(&project, "").await, made);
    let customer = Customer::of(&kit);
    let arrived = customer.request(Method::GET, &link_path(&link)).header("Sec-Fetch-Site", "cross-site");
    is_page("a link on another site", &customer.send(arrived.header("Origin", evil)).await, 200);
}

async fn a_body_that_is_no_form_is_refused(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let payment = Customer::of(&kit).pays_by(&project, &link, "qris").await;
    let before = rows(&kit.database);
    let large = format!("method=qris&outcome=paid&x={}", "a".repeat(64 * 1024));
    let rows_of = [
        (None, "method=qris&outcome=paid".into(), 415),
        (Some("application/json"), r#"{"method":"qris","outcome":"paid"}"#.into(), 415),
        (Some("multipart/form-data; boundary=a"), "method=qris".into(), 415),
        (Some("text/plain"), "method=qris&outcome=paid".into(), 415),
        (Some(FORM), large.into_bytes(), 413),
        (Some(FORM), b"method=qris&outcome=paid&a=\xff".to_vec(), 422),
        (Some(FORM), b"method=qris&outcome=paid&a=%ff".to_vec(), 422),
        (Some(FORM), b"method=qris&outcome=paid&%C3=a".to_vec(), 422),
        (Some(FORM), Vec::new(), 422),
        (Some(FORM), b"{}".to_vec(), 422),
    ];
    for path in [link_path(&link), format!("{}/simulate", pay_path(&payment))] {
        for (content_type, body, status) in &rows_of {
            let customer = Customer::of(&kit);
            let body: Vec<u8> = Vec::clone(body);
            let request = customer.request(Method::POST, &path).body(body);
            let request = content_type.iter().fold(request, |request, of| request.header("Content-Type", *of));
            is_page(&format!("{path} {content_type:?}"), &customer.send(request).await, *status);
        }
    }
    assert_eq!(rows(&kit.database), before);
    let customer = Customer::of(&kit);
    let typed = customer.request(Method::POST, &link_path(&link)).body("method=qris");
    led_to(&customer.send(typed.header("Content-Type", "Application/X-WWW-Form-Urlencoded; charset=UTF-8")).await);
}

fn short_body_timeout() -> Options {
    let mut options = Options::default();
    options.timeouts.body = Duration::from_millis(100);
    options
}

async fn a_form_that_does_not_arrive_in_time_is_408(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let before = rows(&kit.database);
    let mut socket = Socket::connect(kit.address).await;
    let headers = [("Content-Type", FORM), ("Content-Length", "100")];
    socket.send(&request_bytes("POST", &link_path(&link), &headers, b"")).await;
    socket.send(b"method=qris").await;
    is_page("slow", &socket.answer().await.unwrap(), 408);
    assert_eq!(rows(&kit.database), before);
}

async fn a_wrong_method_is_405_and_names_the_right_ones(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let payment = Customer::of(&kit).pays_by(&project, &link, "qris").await;
    let before = rows(&kit.database);
    let page = pay_path(&payment);
    for (path, allowed) in [
        (link_path(&link), &["GET", "HEAD", "POST"][..]),
        (page.clone(), &["GET", "HEAD"]),
        (format!("{page}/status"), &["GET", "HEAD"]),
        (format!("{page}/events"), &["GET", "HEAD"]),
        (format!("{page}/qr.png"), &["GET", "HEAD"]),
    ] {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"] {
            if allowed.contains(&method) {
                continue;
            }
            let customer = Customer::of(&kit);
            let refused = customer.send(customer.request(method.parse().unwrap(), &path)).await;
            is_page(&format!("{method} {path}"), &refused, 405);
            let mut named: Vec<&str> = refused.header("allow").unwrap().split(',').map(str::trim).collect();
            named.sort_unstable();
            assert_eq!(named, allowed, "{method} {path}");
        }
    }
    assert_eq!(rows(&kit.database), before);
}

async fn query_parameters_change_no_form_and_break_no_page(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let path = link_path(&link);
    for query in [
        "?",
        "?lang",
        "?lang=en&lang=id",
        "?%ff=%ff",
        "?change",
        "?change=%00",
        "?change=a&change=b",
        "?next=//evil.example",
    ] {
        let page = Customer::of(&kit).open(&format!("{path}{query}")).await;
        is_page(query, &page, 200);
        assert!(!page.text.contains("evil"), "{query}");
    }
    is_page("no method", &Customer::of(&kit).post(&format!("{path}?method=qris"), &[]).await, 422);
    let reply = Customer::of(&kit).post(&format!("{path}?next=//evil.example&method=junk"), &SOUND).await;
    led_to(&reply);
}
