//! `Idempotency-Key` on `POST /v1/payments` (docs/contract.md §4.1 and decisions §3).

use std::{sync::Arc, time::Duration};

use domain::{bank::Bank, fee::FeeOverrides, project::SuccessWord};
use engine::ProjectUpdate;
use reqwest::header::HeaderValue;
use serde_json::{Value, json};
use testkit::{Api, Kit, Reply, on_every_database, on_sqlite_alone};
use tokio::task::JoinSet;

use crate::support::{
    json::{text, with, without},
    nodes::Node,
    payments::{count_payments, fetch, pay_text, simulate_paid, status},
    samples::{link, qris, virtual_account},
};

on_every_database![
    a_repeated_request_answers_the_original_and_makes_nothing,
    a_new_key_makes_a_new_payment_from_the_same_body,
    a_replay_shows_the_payment_as_it_is_now,
    a_key_is_kept_for_ever,
    a_used_key_with_another_body_is_a_conflict_and_changes_nothing,
    a_key_used_on_the_other_endpoint_or_in_another_project_is_unused,
    a_key_belongs_to_the_project_whichever_api_key_sends_it,
    a_refused_request_leaves_its_key_unused,
    a_replay_answers_the_original_even_where_the_rules_have_changed_since,
    concurrent_first_uses_of_one_key_make_exactly_one_payment on 4 threads,
    concurrent_first_uses_with_different_bodies_make_one_payment_and_conflicts on 4 threads,
    concurrent_first_uses_on_two_nodes_make_exactly_one_payment on 4 threads,
];

on_sqlite_alone![
    without_a_key_nothing_is_created,
    a_key_has_at_most_255_visible_ascii_characters,
    white_space_member_order_and_escapes_do_not_make_a_body_different,
    shape_and_project_are_judged_before_a_used_key,
    large_numbers_in_unknown_members_are_told_apart_by_their_last_digit,
];

const RACERS: usize = 32;

/// Checks that the answer is a replay of the original.
#[track_caller]
fn replayed(reply: Reply, original: &Value) -> Value {
    assert_eq!(reply.header("idempotent-replayed"), Some("true"), "{}", reply.text);
    let payment = reply.expect(200);
    assert_eq!(payment["id"], original["id"]);
    payment
}

/// Checks that this request created a payment.
#[track_caller]
fn created(reply: Reply) -> Value {
    assert_eq!(reply.header("idempotent-replayed"), None, "{}", reply.text);
    reply.expect(201)
}

async fn without_a_key_nothing_is_created(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = qris(&project, 15_000);
    project.api.post("/v1/payments", &body).await.refused(400, "IDEMPOTENCY_KEY_REQUIRED");
    project.api.pay("", &body).await.refused(400, "IDEMPOTENCY_KEY_REQUIRED");
    // The key is asked for before the body is looked at.
    project.api.post("/v1/payments", &json!([])).await.refused(400, "IDEMPOTENCY_KEY_REQUIRED");
    assert_eq!(count_payments(&project, "").await, 0);
}

async fn a_key_has_at_most_255_visible_ascii_characters(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = qris(&project, 15_000);
    let too_long = "k".repeat(256);
    for key in [too_long.as_bytes(), b"two words", b"tab\tbed", "kunci-é".as_bytes(), b"\xff"] {
        let request = project.api.request(reqwest::Method::POST, "/v1/payments").json(&body);
        let request = request.header("Idempotency-Key", HeaderValue::from_bytes(key).unwrap());
        project.api.send(request).await.refused(400, "VALIDATION_ERROR");
    }
    assert_eq!(count_payments(&project, "").await, 0);
    for key in ["k".repeat(255), (b'!'..=b'~').map(char::from).collect::<String>(), "0".to_owned()] {
        let payment = created(project.api.pay(&key, &body).await);
        replayed(project.api.pay(&key, &body).await, &payment);
    }
}

async fn a_repeated_request_answers_the_original_and_makes_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (key, body) in [("a", qris(&project, 15_000)), ("b", virtual_account(&project, "bri", 15_000))] {
        let before = count_payments(&project, "").await;
        let payment = created(project.api.pay(key, &body).await);
        for _ in 0..3 {
            assert_eq!(replayed(project.api.pay(key, &body).await, &payment), payment);
        }
        assert_eq!(count_payments(&project, "").await, before + 1);
    }
}

async fn a_new_key_makes_a_new_payment_from_the_same_body(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = qris(&project, 15_000);
    let one = created(project.api.pay("key", &body).await);
    let other = created(project.api.pay("KEY", &body).await);
    assert_ne!(one["id"], other["id"], "keys differ by case");
    assert_eq!(count_payments(&project, "").await, 2);
}

async fn a_replay_shows_the_payment_as_it_is_now(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = qris(&project, 15_000);
    let payment = created(project.api.pay("paid", &body).await);
    let paid = simulate_paid(&project, &payment).await;
    assert_eq!(paid["status"], "paid");
    assert_eq!(replayed(project.api.pay("paid", &body).await, &payment), paid);
    let payment = created(project.api.pay("expires", &body).await);
    kit.clock.advance(Duration::from_mins(15) + Duration::from_millis(1));
    assert_eq!(replayed(project.api.pay("expires", &body).await, &payment)["status"], "expired");
    let succeeded = ProjectUpdate { success_word: Some(SuccessWord::Succeeded), ..ProjectUpdate::default() };
    kit.update(project.id, succeeded).await;
    assert_eq!(replayed(project.api.pay("paid", &body).await, &paid)["status"], "succeeded");
}

async fn a_key_is_kept_for_ever(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = qris(&project, 15_000);
    let payment = created(project.api.pay("key", &body).await);
    kit.clock.advance(Duration::from_hours(24 * 365 * 3));
    kit.engine.expire_due().await.unwrap();
    replayed(project.api.pay("key", &body).await, &payment);
    project.api.pay("key", &qris(&project, 15_001)).await.refused(409, "IDEMPOTENCY_CONFLICT");
    assert_eq!(count_payments(&project, "").await, 1);
}

async fn white_space_member_order_and_escapes_do_not_make_a_body_different(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let id = project.id;
    let first = format!(
        r#"{{"project_id":"{id}","reference":"order","amount":15000,"payment_method":{{"type":"virtual_account","bank":"bca"}},"labels":{{"a":1,"b":[1,2]}}}}"#
    );
    let payment = created(pay_text(&project, "key", &first).await);
    let rows = [
        format!(
            "\r\n\t{{ \"labels\" : {{ \"b\" : [ 1 , 2 ] , \"a\" : 1 }} ,\n \"payment_method\": {{ \"bank\": \"bca\", \
             \"type\": \"virtual_account\" }}, \"amount\": 15000, \"reference\": \"order\", \"project_id\": \"{id}\" }}  \n"
        ),
        first.replace("order", r"\u006frd\u0065r"),
        first.replace("amount", r"am\u006funt"),
    ];
    for body in rows {
        replayed(pay_text(&project, "key", &body).await, &payment);
    }
    assert_eq!(count_payments(&project, "").await, 1);
}

async fn a_used_key_with_another_body_is_a_conflict_and_changes_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let first = with(virtual_account(&project, "bca", 15_000), "labels", json!({ "tags": ["a", "b"] }));
    let payment = created(project.api.pay("key", &first).await);
    let other_bank = json!({ "type": "virtual_account", "bank": "bni" });
    let rows = [
        with(first.clone(), "amount", 15_001),
        with(first.clone(), "reference", "order-2"),
        with(first.clone(), "reference", "Order-1"),
        with(first.clone(), "payment_method", other_bank),
        with(first.clone(), "payment_method", json!({ "type": "qris" })),
        with(first.clone(), "expires_in_minutes", 1_440),
        with(first.clone(), "expires_in_minutes", Value::Null),
        // Members that are ignored count too.
        without(first.clone(), "labels"),
        with(first.clone(), "labels", json!({ "tags": ["b", "a"] })),
        with(first.clone(), "labels", json!({ "tags": ["a", "b"], "more": null })),
        with(first.clone(), "currency", "IDR"),
        // The key is checked before the fields.
        with(first.clone(), "amount", 1),
        without(first.clone(), "reference"),
    ];
    for body in rows {
        let reply = project.api.pay("key", &body).await;
        assert_eq!(reply.status.as_u16(), 409, "{body} {}", reply.text);
        reply.refused(409, "IDEMPOTENCY_CONFLICT");
    }
    assert_eq!(count_payments(&project, "").await, 1);
    assert_eq!(replayed(project.api.pay("key", &first).await, &payment), payment);
}

async fn shape_and_project_are_judged_before_a_used_key(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let body = qris(&project, 15_000);
    created(project.api.pay("key", &body).await);
    project.api.pay("key", &with(body.clone(), "amount", "15000")).await.refused(400, "INVALID_REQUEST");
    project.api.pay("key", &without(body.clone(), "project_id")).await.refused(400, "VALIDATION_ERROR");
    project.api.pay("key", &qris(&other, 15_000)).await.refused(404, "PROJECT_NOT_FOUND");
    assert_eq!(count_payments(&project, "").await, 1);
}

async fn a_key_used_on_the_other_endpoint_or_in_another_project_is_unused(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let payment = created(project.api.pay("key", &qris(&project, 15_000)).await);
    let elsewhere = created(other.api.pay("key", &qris(&other, 20_000)).await);
    assert_ne!(payment["id"], elsewhere["id"]);
    let request = project.api.request(reqwest::Method::POST, "/v1/payment-links").header("Idempotency-Key", "key");
    created(project.api.send(request.json(&link(&project, 50_000))).await);
    let request = project.api.request(reqwest::Method::POST, "/v1/payment-links").header("Idempotency-Key", "second");
    created(project.api.send(request.json(&link(&project, 50_000))).await);
    created(project.api.pay("second", &qris(&project, 15_000)).await);
    assert_eq!((count_payments(&project, "").await, count_payments(&other, "").await), (2, 1));
}

async fn a_key_belongs_to_the_project_whichever_api_key_sends_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (_, secret) = kit.engine.create_key(project.id, "second".to_owned()).await.unwrap();
    let body = qris(&project, 15_000);
    let payment = created(project.api.pay("key", &body).await);
    let second = project.api.with_key(secret.reveal());
    replayed(second.pay("key", &body).await, &payment);
    second.pay("key", &qris(&project, 15_001)).await.refused(409, "IDEMPOTENCY_CONFLICT");
}

async fn a_refused_request_leaves_its_key_unused(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let body = qris(&project, 15_000);
    let rows = [
        (with(body.clone(), "amount", 99), 400, "VALIDATION_ERROR"),
        (with(body.clone(), "reference", ""), 400, "VALIDATION_ERROR"),
        (with(body.clone(), "amount", "x"), 400, "INVALID_REQUEST"),
        (qris(&other, 15_000), 404, "PROJECT_NOT_FOUND"),
    ];
    for (index, (refused, status, code)) in rows.into_iter().enumerate() {
        let key = format!("key-{index}");
        project.api.pay(&key, &refused).await.refused(status, code);
        assert_eq!(count_payments(&project, "").await, index as i64);
        let payment = created(project.api.pay(&key, &body).await);
        replayed(project.api.pay(&key, &body).await, &payment);
    }
}

async fn a_replay_answers_the_original_even_where_the_rules_have_changed_since(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = virtual_account(&project, "bca", 15_000);
    let payment = created(project.api.pay("key", &body).await);
    let fees = FeeOverrides { qris_basis_points: Some(1), virtual_account: Some(domain::money::Rupiah::new(1)) };
    let update = ProjectUpdate { banks: Some(vec![Bank::Bni]), fees: Some(fees), ..ProjectUpdate::default() };
    kit.update(project.id, update).await;
    project.api.pay("unused", &body).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(replayed(project.api.pay("key", &body).await, &payment), payment);
    let other = with(body, "amount", 15_001);
    project.api.pay("key", &other).await.refused(409, "IDEMPOTENCY_CONFLICT");
    assert_eq!(count_payments(&project, "").await, 1);
}

/// Sends the bodies in turn to the servers in turn with one key, all at once.
async fn race(servers: &[&Api], key: &str, bodies: &[Value]) -> Vec<(Value, Reply)> {
    let mut racers = JoinSet::new();
    for racer in 0..RACERS {
        let (api, body) = (servers[racer % servers.len()].clone(), bodies[racer % bodies.len()].clone());
        let key = key.to_owned();
        racers.spawn(async move {
            let reply = api.pay(&key, &body).await;
            (body, reply)
        });
    }
    racers.join_all().await
}

async fn concurrent_first_uses_of_one_key_make_exactly_one_payment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let bodies = [qris(&project, 15_000), virtual_account(&project, "bca", 15_000)];
    for (index, body) in bodies.into_iter().enumerate() {
        let replies = race(&[&project.api], &format!("key-{index}"), &[body]).await;
        let first = replies.iter().find(|(_, reply)| reply.status.as_u16() == 201).unwrap().1.json.clone();
        let mut made = 0;
        for (_, reply) in replies {
            assert!(reply.json == first, "none sees a half-made payment: {}", reply.text);
            match reply.status.as_u16() {
                201 => made += 1,
                _ => _ = replayed(reply, &first),
            }
        }
        assert_eq!(made, 1);
        assert_eq!(count_payments(&project, "").await, index as i64 + 1);
        assert_eq!(fetch(&project, &first).await, first);
    }
}

async fn concurrent_first_uses_with_different_bodies_make_one_payment_and_conflicts(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let bodies = [qris(&project, 15_000), qris(&project, 16_000), virtual_account(&project, "bca", 17_000)];
    let replies = race(&[&project.api], "key", &bodies).await;
    let (winner, first) = replies
        .iter()
        .find(|(_, reply)| reply.status.as_u16() == 201)
        .map(|(body, reply)| (body.clone(), reply.json.clone()))
        .unwrap();
    assert_eq!(first["amount"], winner["amount"]);
    let mut made = 0;
    for (body, reply) in replies {
        match reply.status.as_u16() {
            201 => made += 1,
            _ if body == winner => _ = replayed(reply, &first),
            _ => _ = reply.refused(409, "IDEMPOTENCY_CONFLICT"),
        }
    }
    assert_eq!((made, count_payments(&project, "").await), (1, 1));
    assert_eq!(status(&project, &first).await, "pending");
    assert_eq!(text(&first, "id"), text(&fetch(&project, &first).await, "id"));
}

async fn concurrent_first_uses_on_two_nodes_make_exactly_one_payment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let node = Node::beside(&kit).await;
    let elsewhere = Api::new(node.address, Some(&project.key));
    for (round, body) in [qris(&project, 15_000), virtual_account(&project, "bca", 15_000)].into_iter().enumerate() {
        let replies = race(&[&project.api, &elsewhere], &format!("key-{round}"), &[body]).await;
        let first = replies.iter().find(|(_, reply)| reply.status.as_u16() == 201).unwrap().1.json.clone();
        let mut made = 0;
        for (_, reply) in replies {
            match reply.status.as_u16() {
                201 => made += 1,
                _ => _ = replayed(reply, &first),
            }
        }
        assert_eq!((made, count_payments(&project, "").await), (1, round as i64 + 1));
    }
    node.stop().await;
}

async fn large_numbers_in_unknown_members_are_told_apart_by_their_last_digit(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = |order: &str| {
        let mut body = crate::support::samples::qris(&project, 15_000).to_string();
        body.insert_str(1, &format!("\"order\":{order},"));
        body
    };
    let send = async |order: &str| {
        let request = project.api.request(reqwest::Method::POST, "/v1/payments").header("Idempotency-Key", "large");
        project.api.send(request.header("Content-Type", "application/json").body(body(order))).await
    };
    send("12345678901234567890").await.expect(201);
    send("1234567890123456789e1").await.expect(200);
    for other in ["12345678901234567891", "12345678901234567890.5", "\"12345678901234567890\""] {
        send(other).await.refused(409, "IDEMPOTENCY_CONFLICT");
    }
}
