//! The headers `X-Request-Id` and `X-Ignored-Members` of answers (docs/contract.md, decisions §2).

use std::sync::Arc;

use reqwest::{
    Method,
    header::{CONTENT_TYPE, HeaderValue},
};
use serde_json::{Value, json};
use testkit::{Kit, Reply, on_sqlite_alone};

use crate::support::{json::id, payments::total, samples};

on_sqlite_alone![
    a_well_formed_request_id_is_kept_and_any_other_replaced,
    every_answer_carries_a_request_id_and_the_one_it_was_asked_with,
    unknown_members_at_any_depth_are_ignored_and_named_in_a_header,
    nothing_is_named_when_nothing_was_ignored,
    a_hostile_member_name_cannot_break_or_swell_the_header,
    a_refusal_names_the_misspelt_member_that_caused_it,
];

const IGNORED: &str = "x-ignored-members";

/// The request ids of two answers to requests that carried none.
#[track_caller]
fn fresh_id(row: &str, reply: &Reply, sent: &[u8]) -> String {
    let id = reply.header("x-request-id").unwrap_or_else(|| panic!("{row} has no id")).to_owned();
    assert_ne!(id.as_bytes(), sent, "{row}");
    assert!((8..=128).contains(&id.len()), "{row}: {id}");
    assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'), "{row}: {id}");
    id
}

async fn a_well_formed_request_id_is_kept_and_any_other_replaced(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let with_id = |value: &[u8]| {
        let request = project.api.request(Method::GET, "/v1/balance");
        request.header("X-Request-Id", HeaderValue::from_bytes(value).unwrap())
    };
    for kept in ["a", "req-1", "0195e0f2-7c1d-7b3a-9c55-2f6d1f0f7a11", "trace_1:2.3", &"x".repeat(128)] {
        let reply = project.api.send(with_id(kept.as_bytes())).await;
        assert_eq!(reply.header("x-request-id"), Some(kept));
        reply.expect(200);
    }
    let too_long = "x".repeat(129);
    let replaced: [&[u8]; 7] = [b"", b"two words", b"a,b", b"<script>", b"caf\xc3\xa9", b"a\tb", too_long.as_bytes()];
    let mut seen = std::collections::HashSet::new();
    for sent in replaced {
        let reply = project.api.send(with_id(sent)).await;
        assert!(seen.insert(fresh_id(&String::from_utf8_lossy(sent), &reply, sent)));
        reply.expect(200);
    }
}

async fn every_answer_carries_a_request_id_and_the_one_it_was_asked_with(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let api = &project.api;
    let created = || api.request(Method::POST, "/v1/payments").header("Idempotency-Key", "k-1");
    let preflight = || {
        let request = kit.anonymous().request(Method::OPTIONS, "/v1/payments");
        request.header("Origin", "https://a.example").header("Access-Control-Request-Method", "POST")
    };
    let requests: Vec<(u16, Box<dyn Fn() -> reqwest::RequestBuilder>)> = vec![
        (201, Box::new(|| created().json(&samples::qris(&project, 15_000)))),
        (200, Box::new(|| api.request(Method::GET, "/v1/balance"))),
        (400, Box::new(|| created().header(CONTENT_TYPE, "application/json").body("["))),
        (401, Box::new(|| kit.anonymous().request(Method::GET, "/v1/balance"))),
        (403, Box::new(|| api.request(Method::GET, "/v1/project"))),
        (403, Box::new(preflight)),
        (404, Box::new(|| api.request(Method::GET, "/v1/nothing"))),
        (404, Box::new(|| api.request(Method::GET, "/v1/payments/junk"))),
        (405, Box::new(|| api.request(Method::PUT, "/v1/payments"))),
        (409, Box::new(|| created().json(&samples::qris(&project, 15_001)))),
        (413, Box::new(|| created().header(CONTENT_TYPE, "application/json").body(" ".repeat(65_537)))),
        (415, Box::new(|| created().header(CONTENT_TYPE, "text/plain").body("{}"))),
        (200, Box::new(|| kit.anonymous().request(Method::GET, "/healthz"))),
        (200, Box::new(|| kit.anonymous().request(Method::GET, "/openapi.json"))),
    ];
    for (index, (status, request)) in requests.iter().enumerate() {
        let asked = format!("asked-{index}");
        let reply = api.send(request().header("X-Request-Id", &asked)).await;
        assert_eq!((reply.status.as_u16(), reply.header("x-request-id")), (*status, Some(asked.as_str())));
        let reply = api.send(request()).await;
        fresh_id(&format!("row {index}"), &reply, b"");
    }
}

async fn unknown_members_at_any_depth_are_ignored_and_named_in_a_header(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut body = samples::qris(&project, 15_000);
    body["meta_data"] = json!({ "inner": [1] });
    body["Amount"] = json!(1);
    body["payment_method"]["banc"] = json!("bca");
    let reply = project.api.pay("k-1", &body).await;
    let mut named: Vec<&str> = reply.header(IGNORED).unwrap().split(", ").collect();
    named.sort_unstable();
    assert_eq!(named, ["Amount", "meta_data", "payment_method.banc"]);
    let payment = reply.expect(201);
    assert_eq!(payment["amount"], 15_000);
    // Ignored members count for idempotency, and a replay names them too.
    let replay = project.api.pay("k-1", &body).await;
    assert_eq!(replay.header(IGNORED).map(|names| names.split(", ").count()), Some(3));
    assert_eq!(replay.expect(200)["id"], payment["id"]);
    project.api.pay("k-1", &samples::qris(&project, 15_000)).await.refused(409, "IDEMPOTENCY_CONFLICT");

    let mut link = samples::link(&project, 15_000);
    link["allowed_payment_methods"] = json!([{ "type": "qris" }, { "type": "virtual_account", "bnk": 1 }]);
    link["customer_fields"] = json!({ "name": true, "age": true });
    let reply = project.api.post("/v1/payment-links", &link).await;
    let mut named: Vec<&str> = reply.header(IGNORED).unwrap().split(", ").collect();
    named.sort_unstable();
    assert_eq!(named, ["allowed_payment_methods[1].bnk", "customer_fields.age"]);
    reply.expect(201);

    let path = format!("/v1/sandbox/payments/{}/simulate", id(&payment));
    let reply = project.api.post(&path, &json!({ "outcome": "paid", "when": "now" })).await;
    assert_eq!(reply.header(IGNORED), Some("when"));
    reply.expect(200);
}

async fn nothing_is_named_when_nothing_was_ignored(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut body = samples::qris(&project, 15_000);
    body["expires_in_minutes"] = Value::Null;
    let reply = project.api.pay("k-1", &body).await;
    assert_eq!(reply.header(IGNORED), None);
    reply.expect(201);
    let reply = project.api.post("/v1/payment-links", &samples::link(&project, 15_000)).await;
    assert_eq!(reply.header(IGNORED), None);
    reply.expect(201);
}

async fn a_hostile_member_name_cannot_break_or_swell_the_header(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (name, shown) in [
        ("a\r\nX-Evil: 1", "a%0D%0AX-Evil:%201"),
        ("a, b", "a%2C%20b"),
        ("100%", "100%25"),
        ("\u{0}", "%00"),
        ("é😀", "%C3%A9%F0%9F%98%80"),
        ("\u{7f}", "%7F"),
    ] {
        let mut body = samples::link(&project, 15_000);
        body[name] = json!(1);
        let reply = project.api.post("/v1/payment-links", &body).await;
        assert_eq!(reply.header(IGNORED), Some(shown), "{name:?}");
        assert!(!reply.headers.contains_key("x-evil"));
        reply.expect(201);
    }
    let mut body = samples::link(&project, 15_000);
    body[""] = json!(1);
    project.api.post("/v1/payment-links", &body).await.expect(201);
    let mut long = samples::link(&project, 15_000);
    long["é".repeat(20_000)] = json!(1);
    let mut many = samples::link(&project, 15_000);
    for index in 0..2_000 {
        many[format!("member{index}")] = json!(1);
    }
    for body in [long, many] {
        let reply = project.api.post("/v1/payment-links", &body).await;
        assert!(reply.header(IGNORED).is_some_and(|names| names.len() <= 1_000));
        reply.expect(201);
    }
    assert_eq!(total(&project.api, "/v1/payment-links").await, 9);
}

async fn a_refusal_names_the_misspelt_member_that_caused_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut payment = samples::qris(&project, 15_000);
    payment["refrence"] = payment["reference"].take();
    let reply = project.api.pay("k-1", &payment).await;
    assert_eq!(reply.header(IGNORED), Some("refrence"));
    reply.refused(400, "VALIDATION_ERROR");
    let mut link = samples::link(&project, 15_000);
    link["titel"] = link["title"].take();
    let reply = project.api.post("/v1/payment-links", &link).await;
    assert_eq!(reply.header(IGNORED), Some("titel"));
    reply.refused(400, "VALIDATION_ERROR");
}
