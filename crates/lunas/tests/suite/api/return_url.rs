//! `return_url`: where the pages of a payment lead back to. It comes back as it was given, and nothing else is taken for it.

use std::sync::Arc;

use domain::method::Method;
use serde_json::{Value, json};
use testkit::{Kit, on_sqlite_alone};

use crate::support::{
    json::{id, with},
    links::{attempt, create_link},
    payments::{events_of, fetch, simulate_paid},
    refusals::{Members, Refusals},
    samples,
};

on_sqlite_alone![
    a_return_url_comes_back_as_it_was_given_and_a_links_payments_carry_it,
    without_a_return_url_no_answer_has_the_member,
    an_address_that_breaks_a_rule_is_refused_and_leaves_nothing_behind,
    a_used_key_with_another_return_url_is_a_conflict,
];

const SHOP: &str = "https://Shop.example/done?order=1#top";

async fn a_return_url_comes_back_as_it_was_given_and_a_links_payments_carry_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let long = format!("https://a.example/{}", "a".repeat(2_030));
    for (key, url) in [("a", SHOP), ("b", "http://localhost:3000/"), ("c", "http://127.0.0.1/x"), ("d", long.as_str())]
    {
        let body = with(samples::qris(&project, 15_000), "return_url", json!(url));
        let created = project.api.pay(key, &body).await;
        assert_eq!(created.header("x-ignored-members"), None);
        let payment = created.expect(201);
        assert_eq!(payment["return_url"], url);
        assert_eq!(project.api.pay(key, &body).await.expect(200), payment);
        assert_eq!(fetch(&project, &payment).await, payment);
        let listed = project.api.get("/v1/payments").await.expect(200)["data"].clone();
        assert!(listed.as_array().unwrap().contains(&payment));
        let paid = simulate_paid(&project, &payment).await;
        assert_eq!(paid["return_url"], url);
        assert_eq!(events_of(&project, &payment, "payment.paid").await[0]["data"], paid);
    }
    let link = create_link(&project, json!({ "return_url": SHOP })).await;
    assert_eq!(link["return_url"], SHOP);
    assert_eq!(project.api.get(&format!("/v1/payment-links/{}", id(&link))).await.expect(200), link);
    assert_eq!(attempt(&kit, &project, &link, Method::Qris).await["return_url"], SHOP);
}

async fn without_a_return_url_no_answer_has_the_member(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = with(samples::qris(&project, 15_000), "return_url", Value::Null);
    assert_eq!(project.api.pay("null", &body).await.expect(201).get("return_url"), None);
    let payment = project.api.pay("absent", &samples::qris(&project, 15_000)).await.expect(201);
    assert_eq!(simulate_paid(&project, &payment).await.get("return_url"), None);
    assert_eq!(events_of(&project, &payment, "payment.paid").await[0]["data"].get("return_url"), None);
    let link = create_link(&project, json!({ "return_url": null })).await;
    assert_eq!(link.get("return_url"), None);
}

async fn an_address_that_breaks_a_rule_is_refused_and_leaves_nothing_behind(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payments, links) = (Refusals::payments(&project), Refusals::links(&project));
    let https = "`return_url` must be an absolute https:// address, or http:// to this computer in the sandbox";
    let long = format!("https://shop.example/{}", "a".repeat(2_028));
    assert_eq!(long.len(), 2_049);
    let rows = [
        ("http://shop.example/", https),
        ("http://localhost.shop.example/", https),
        ("javascript:alert(1)", https),
        ("data:text/html,x", https),
        ("ftp://shop.example/", https),
        ("shop://return", https),
        ("//shop.example", https),
        ("/return", https),
        ("https:shop.example", https),
        ("https://", https),
        ("https:///x", https),
        ("https:////shop.example", https),
        ("http:///localhost/", https),
        ("https:/shop.example/?to=https://shop.example", https),
        ("", "`return_url` must not be empty"),
        ("https://siti:rahasia@shop.example/", "`return_url` must not contain a user name or a password"),
        ("https://siti@shop.example/", "`return_url` must not contain a user name or a password"),
        ("https://shop.example/\n", "`return_url` must not contain control characters"),
        ("https://shop.example/\r\nLocation: x", "`return_url` must not contain control characters"),
        ("https://shop.example/a b", "`return_url` must not contain white space or backslashes"),
        (&long, "`return_url` must be at most 2048 characters, not 2049"),
    ];
    for (url, sentence) in rows {
        for (refusals, members) in [(&payments, Members::payment(&project)), (&links, Members::link(&project))] {
            let literal = json!(url).to_string();
            let message = refusals.check(members.with("return_url", &literal), 400, "VALIDATION_ERROR").await;
            assert_eq!(message, sentence, "{url:?}");
        }
    }
    for literal in ["1", "true", "{}", r#"["https://shop.example"]"#] {
        payments.check(Members::payment(&project).with("return_url", literal), 400, "INVALID_REQUEST").await;
    }
    payments.left_nothing([0, 0, 0]).await;
    links.left_nothing([1, 0, 0]).await;
}

async fn a_used_key_with_another_return_url_is_a_conflict(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = with(samples::qris(&project, 15_000), "return_url", json!(SHOP));
    let payment = project.api.pay("key", &body).await.expect(201);
    for other in [json!("https://shop.example/done?order=1#top"), Value::Null] {
        project.api.pay("key", &with(body.clone(), "return_url", other)).await.refused(409, "IDEMPOTENCY_CONFLICT");
    }
    assert_eq!(project.api.pay("key", &body).await.expect(200), payment);
}
