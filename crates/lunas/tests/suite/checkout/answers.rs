//! What a customer has filled in is not asked twice, and is shown to nobody else.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, on_sqlite_alone};

use crate::support::{
    customer::{Customer, attribute, is_page, led_to, link_path, pay_path, payment_of},
    json::text,
    links::create_link,
    payments::report,
};

on_sqlite_alone![
    answers_survive_a_change_of_method_and_a_new_attempt,
    answers_that_were_right_survive_a_mistake_elsewhere_and_a_switch_of_language,
    answers_are_shown_to_the_browser_that_gave_them_and_not_to_one_that_knows_the_payment,
    answers_that_nobody_gave_or_that_are_too_long_to_keep_are_left_out,
];

const ANSWERS_COOKIE: &str = "lunas_answers";
const ANSWERS: [(&str, &str); 4] = [
    ("name", "Siti \"Aisyah\""),
    ("email", "siti@example.id"),
    ("phone", "0812 0000"),
    ("address", "Jl. Melati 1\nBandung"),
];

async fn curious_link(project: &TestProject) -> Value {
    let fields = json!({ "name": true, "email": true, "phone": true, "address": true });
    create_link(project, json!({ "customer_fields": fields })).await
}

fn form(method: &'static str) -> Vec<(&'static str, &'static str)> {
    ANSWERS.into_iter().chain([("method", method)]).collect()
}

/// What the fields of a form contain.
fn filled(page: &Reply) -> Vec<String> {
    is_page("the form", page, page.status.as_u16());
    let inputs = page.text.split("<input id=").skip(1).map(|input| attribute(input, "value"));
    let area = page.text.split("<textarea").nth(1).unwrap().split_once(">\n").unwrap().1;
    inputs
        .chain([area.split("</textarea>").next().unwrap().to_owned()])
        .map(|text| text.replace("&#34;", "\""))
        .collect()
}

fn all() -> [String; 4] {
    ANSWERS.map(|(_, answer)| answer.to_owned())
}

async fn answers_survive_a_change_of_method_and_a_new_attempt(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = curious_link(&project).await;
    let customer = Customer::of(&kit);
    assert_eq!(filled(&customer.open(&link_path(&link)).await), [""; 4]);
    let first = payment_of(&project, &customer.choose(&link, &form("qris")).await).await;
    let change = format!("{}?change={}", link_path(&link), text(&first, "id"));
    assert_eq!(filled(&customer.open(&change).await), all());
    let second = payment_of(&project, &customer.choose_at(&change, &form("virtual_account:bca")).await).await;
    assert_eq!(second["customer"], first["customer"]);
    report(&project, &second, "failed").await;
    assert_eq!(filled(&customer.open(&format!("{}?again=1", link_path(&link))).await), all());
    assert!(!customer.open(&pay_path(&second)).await.text.contains("siti@example.id"), "a payment's page shows none");
}

async fn answers_that_were_right_survive_a_mistake_elsewhere_and_a_switch_of_language(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = curious_link(&project).await;
    let customer = Customer::of(&kit);
    let mut sent = form("qris");
    sent[1].1 = "siti";
    let page = customer.post(&link_path(&link), &sent).await;
    assert_eq!((page.status.as_u16(), filled(&page)[1].as_str()), (422, "siti"), "the mistake is there to be mended");
    let switched = customer.open(&attribute(page.text.split("class=\"lang\"").nth(1).unwrap(), "href")).await;
    assert!(switched.text.contains("<html lang=\"en\""), "{}", switched.text);
    let mut kept = all();
    kept[1].clear();
    assert_eq!(filled(&switched), kept);
}

async fn answers_are_shown_to_the_browser_that_gave_them_and_not_to_one_that_knows_the_payment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = curious_link(&project).await;
    let payment = payment_of(&project, &Customer::of(&kit).choose(&link, &form("qris")).await).await;
    let stranger = Customer::of(&kit);
    stranger.keep(&link, text(&payment, "id"));
    assert_eq!(led_to(&stranger.open(&link_path(&link)).await), pay_path(&payment));
    let change = format!("{}?change={}", link_path(&link), text(&payment, "id"));
    assert_eq!(filled(&stranger.open(&change).await), [""; 4]);
}

async fn answers_that_nobody_gave_or_that_are_too_long_to_keep_are_left_out(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = curious_link(&project).await;
    let made_up = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let customer = Customer::of(&kit);
    for (cookie, shown) in [
        (made_up("Siti\u{1f}nobody\u{1f}\u{1f}Jl. 1"), ["Siti", "", "", "Jl. 1"]),
        (made_up(&"a".repeat(256)), [""; 4]),
        (made_up("a\u{0}b\u{1f}x@y\u{1f}1\u{1f}\u{1f}more"), ["", "x@y", "1", ""]),
        (URL_SAFE_NO_PAD.encode([0xff, 0xfe]), [""; 4]),
        ("%%%".to_owned(), [""; 4]),
        (String::new(), [""; 4]),
    ] {
        customer.set_cookie(&link_path(&link), ANSWERS_COOKIE, &cookie);
        assert_eq!(filled(&customer.open(&link_path(&link)).await), shown, "{cookie}");
    }
    let (name, address) = ("é".repeat(255), "é".repeat(1_000));
    let long =
        [("name", name.as_str()), ("email", "a@b"), ("phone", "1"), ("address", address.as_str()), ("method", "qris")];
    let patient = Customer::of(&kit);
    payment_of(&project, &patient.choose(&link, &long).await).await;
    let kept = patient.cookie(&link_path(&link), ANSWERS_COOKIE).unwrap();
    assert!(kept.len() <= 3_500, "{}", kept.len());
    let silent = create_link(&project, json!({})).await;
    let nobody = Customer::of(&kit);
    payment_of(&project, &nobody.choose(&silent, &form("qris")).await).await;
    assert_eq!(nobody.cookie(&link_path(&silent), ANSWERS_COOKIE), None, "what is not asked is not kept");
}
