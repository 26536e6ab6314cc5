//! `metadata`: what merchants note about their payments and links comes back everywhere, and nothing else is taken for it.

use std::sync::Arc;

use domain::method::Method;
use gateway::SendLimits;
use serde_json::{Value, json};
use testkit::{Answer, Kit, on_every_database, on_sqlite_alone};

use crate::support::{
    json::{id, with, without},
    links::{attempt, create_link},
    payments::{count_payments, fetch, simulate_paid},
    refusals::{Members, Refusals},
    samples,
};

on_every_database![events_and_webhooks_carry_metadata_byte_for_byte, metadata_may_be_as_large_as_its_limits];

on_sqlite_alone![
    metadata_comes_back_in_every_answer_about_the_payment,
    a_links_metadata_comes_back_and_its_payments_carry_it,
    without_metadata_no_answer_has_the_member,
    metadata_that_breaks_a_rule_is_refused_by_name_and_leaves_nothing_behind,
    a_used_key_with_other_metadata_is_a_conflict,
];

fn noted() -> Value {
    json!({ "table": "12", "cashier": "Kasir É 1", "note": "tanpa gula\n\"dua\" \\ gelas", "empty": "" })
}

async fn metadata_comes_back_in_every_answer_about_the_payment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = with(samples::qris(&project, 15_000), "metadata", noted());
    let created = project.api.pay("key", &body).await;
    assert_eq!(created.header("x-ignored-members"), None);
    let payment = created.expect(201);
    assert_eq!(payment["metadata"], noted());
    let replayed = project.api.pay("key", &body).await.expect(200);
    let listed = project.api.get("/v1/payments").await.expect(200)["data"][0].clone();
    for shown in [replayed, listed, fetch(&project, &payment).await] {
        assert_eq!(shown, payment);
    }
    assert_eq!(simulate_paid(&project, &payment).await["metadata"], noted());
    // Members stay in the order in which they were given.
    let text = format!(
        r#"{{"project_id":"{}","reference":"r","amount":15000,"payment_method":{{"type":"qris"}},"metadata":{{"z":"1","a":"2","m":"3"}}}}"#,
        project.id
    );
    let reply = crate::support::payments::pay_text(&project, "ordered", &text).await;
    assert!(reply.text.contains(r#""metadata":{"z":"1","a":"2","m":"3"}"#), "{}", reply.text);
    let shown = project.api.get(&format!("/v1/payments/{}", id(&reply.json))).await;
    assert!(shown.text.contains(r#""metadata":{"z":"1","a":"2","m":"3"}"#), "{}", shown.text);
}

async fn a_links_metadata_comes_back_and_its_payments_carry_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({ "metadata": noted(), "allow_multiple_payments": true })).await;
    assert_eq!(link["metadata"], noted());
    let path = format!("/v1/payment-links/{}", id(&link));
    assert_eq!(project.api.get(&path).await.expect(200), link);
    assert_eq!(project.api.get("/v1/payment-links").await.expect(200)["data"], json!([link]));
    let payment = attempt(&kit, &project, &link, Method::Qris).await;
    assert_eq!(payment["metadata"], noted());
    let query = format!("/v1/payments?payment_link_id={}", id(&link));
    assert_eq!(project.api.get(&query).await.expect(200)["data"][0]["metadata"], noted());
    let cancelled = project.api.post(&format!("{path}/cancel"), &json!({})).await.expect(200);
    assert_eq!(cancelled["metadata"], noted());
}

async fn events_and_webhooks_carry_metadata_byte_for_byte(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(200)).await;
    kit.deliver(SendLimits::default());
    let body = with(samples::qris(&project, 15_000), "metadata", noted());
    let payment = project.api.pay("key", &body).await.expect(201);
    simulate_paid(&project, &payment).await;
    let webhook = receiver.arrived(1).await.remove(0);
    assert_eq!(webhook.json()["data"]["metadata"], noted());
    let shown = project.api.get(&format!("/v1/events/{}", webhook.event_id())).await;
    assert_eq!(shown.text.as_bytes(), webhook.body);
    assert_eq!(project.api.get("/v1/events").await.expect(200)["data"][0]["data"]["metadata"], noted());
}

async fn without_metadata_no_answer_has_the_member(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (number, body) in
        [samples::qris(&project, 15_000), with(samples::qris(&project, 15_000), "metadata", Value::Null)]
            .into_iter()
            .enumerate()
    {
        let payment = project.api.pay(&format!("k-{number}"), &body).await.expect(201);
        assert_eq!(payment.get("metadata"), None);
        simulate_paid(&project, &payment).await;
        assert_eq!(project.api.get("/v1/events").await.expect(200)["data"][0]["data"].get("metadata"), None);
    }
    let link = create_link(&project, json!({})).await;
    assert_eq!(link.get("metadata"), None);
    assert_eq!(attempt(&kit, &project, &link, Method::Qris).await.get("metadata"), None);
    // An empty object was given, so it comes back.
    let given = create_link(&project, json!({ "metadata": {} })).await;
    assert_eq!(given["metadata"], json!({}));
    assert_eq!(attempt(&kit, &project, &given, Method::Qris).await["metadata"], json!({}));
}

/// So many members, with the longest keys and values.
fn large(count: usize) -> Value {
    (0..count)
        .map(|number| (format!("{number:é>40}"), json!("é".repeat(500))))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

async fn metadata_may_be_as_large_as_its_limits(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment =
        project.api.pay("key", &with(samples::qris(&project, 15_000), "metadata", large(20))).await.expect(201);
    assert_eq!(fetch(&project, &payment).await["metadata"], large(20));
    let link = create_link(&project, json!({ "metadata": large(20) })).await;
    assert_eq!(link["metadata"], large(20));
}

async fn metadata_that_breaks_a_rule_is_refused_by_name_and_leaves_nothing_behind(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payments, links) = (Refusals::payments(&project), Refusals::links(&project));
    let long_key = format!("{{\"{}\":\"x\"}}", "k".repeat(41));
    let long_value = format!("{{\"note\":\"{}\"}}", "é".repeat(501));
    let many = large(21).to_string();
    let rows = [
        (r#""text""#, "INVALID_REQUEST", "`metadata` must be an object"),
        ("1", "INVALID_REQUEST", "`metadata` must be an object"),
        (r#"[{"a":"b"}]"#, "INVALID_REQUEST", "`metadata` must be an object"),
        (r#"{"ok":"x","a":{"b":"c"}}"#, "INVALID_REQUEST", "`metadata.a` must be a string, not an object"),
        (r#"{"a":["x"]}"#, "INVALID_REQUEST", "`metadata.a` must be a string, not an array"),
        (r#"{"n":1}"#, "INVALID_REQUEST", "`metadata.n` must be a string, not a number"),
        (r#"{"n":1.5}"#, "INVALID_REQUEST", "`metadata.n` must be a string, not a number"),
        (r#"{"yes":true}"#, "INVALID_REQUEST", "`metadata.yes` must be a string, not a boolean"),
        (r#"{"none":null}"#, "INVALID_REQUEST", "`metadata.none` must be a string, not null"),
        (r#"{"a":"1","a":"2"}"#, "INVALID_REQUEST", "the member `a` a second time"),
        (&many, "VALIDATION_ERROR", "`metadata` must have at most 20 members, not 21"),
        (r#"{"":"x"}"#, "VALIDATION_ERROR", "`metadata.` is a key that must not be empty"),
        (&long_key, "VALIDATION_ERROR", "is a key that must be at most 40 characters, not 41"),
        (&long_value, "VALIDATION_ERROR", "`metadata.note` must be at most 500 characters, not 501"),
        (r#"{"note":"a\u0000b"}"#, "VALIDATION_ERROR", "`metadata.note` must not contain control characters"),
        (r#"{"a\u0000":"x"}"#, "VALIDATION_ERROR", r"`metadata.a\0` is a key that must not contain control characters"),
        (r#"{"note":"a\tb"}"#, "VALIDATION_ERROR", "`metadata.note` must not contain control characters"),
        (r#"{"note":"a\u202eb"}"#, "VALIDATION_ERROR", "change the direction of text"),
    ];
    for (literal, code, named) in rows {
        for (refusals, members) in [(&payments, Members::payment(&project)), (&links, Members::link(&project))] {
            let message = refusals.check(members.with("metadata", literal), 400, code).await;
            assert!(message.contains(named), "{literal}: {message}");
        }
    }
    payments.left_nothing([0, 0, 0]).await;
    links.left_nothing([1, 0, 0]).await;
}

async fn a_used_key_with_other_metadata_is_a_conflict(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = with(samples::qris(&project, 15_000), "metadata", json!({ "a": "1", "b": "2" }));
    let payment = project.api.pay("key", &body).await.expect(201);
    for other in [
        with(body.clone(), "metadata", json!({ "a": "1", "b": "3" })),
        with(body.clone(), "metadata", json!({ "a": "1" })),
        with(body.clone(), "metadata", json!({ "a": "2", "b": "1" })),
        with(body.clone(), "metadata", json!({})),
        with(body.clone(), "metadata", Value::Null),
        without(body.clone(), "metadata"),
    ] {
        project.api.pay("key", &other).await.refused(409, "IDEMPOTENCY_CONFLICT");
    }
    assert_eq!(project.api.pay("key", &body).await.expect(200), payment);
    assert_eq!(count_payments(&project, "").await, 1);
}
