//! One refund for one Idempotency-Key, however often it is asked for (docs/contract.md, decisions §3).

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::json;
use testkit::{Kit, on_every_database};

use crate::support::{
    json::{id, text},
    payments::{paid, total},
    refunds::{ask_for_refund, cancel, refunds, simulate_end, sums},
};

on_every_database![
    the_same_request_again_answers_the_refund_as_it_is_now,
    a_key_is_for_one_payment_and_one_body,
    a_request_that_was_refused_leaves_its_key_unused,
    of_many_first_requests_with_one_key_one_creates on 2 threads,
];

async fn the_same_request_again_answers_the_refund_as_it_is_now(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = paid(&project, "sold", 50_000).await;
    let body = json!({ "amount": 50_000, "reason": "x" });
    let ask = || ask_for_refund(&project.api, id(&payment), "once", &body);
    let made = ask().await.expect(201);
    // Nothing is left by now, and still the answer is the same.
    let again = ask().await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(200), made);
    let ended = simulate_end(&project, &made, "failed").await.expect(200);
    assert_eq!(ask().await.expect(200), ended);
    assert_eq!(refunds(&project, "").await, [ended]);
    // The same key at another endpoint is another key.
    project.api.pay("once", &crate::support::samples::qris(&project, 15_000)).await.expect(201);
}

async fn a_key_is_for_one_payment_and_one_body(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payment, other) = (paid(&project, "sold", 50_000).await, paid(&project, "other", 50_000).await);
    let made = ask_for_refund(&project.api, id(&payment), "once", &json!({ "amount": 10_903 })).await.expect(201);
    for (payment, body) in [
        (id(&payment), json!({ "amount": 10_902 })),
        (id(&payment), json!({})),
        (id(&payment), json!({ "amount": 10_903, "reason": "x" })),
        (id(&payment), json!({ "amount": 10_903, "unknown": 1 })),
        (id(&payment), json!({ "amount": 0 })),
        (id(&payment), json!({ "amount": 1.5 })),
        (id(&other), json!({ "amount": 10_903 })),
        ("pay_01kzdq3f5ve8x9m2r7t4w6y8za", json!({ "amount": 10_903 })),
        ("junk", json!({ "amount": 10_903 })),
    ] {
        ask_for_refund(&project.api, payment, "once", &body).await.refused(409, "IDEMPOTENCY_CONFLICT");
    }
    assert_eq!(refunds(&project, "").await, [made]);
    // Another project's key of the same name is another key.
    let elsewhere = kit.sandbox().await;
    let theirs = paid(&elsewhere, "sold", 50_000).await;
    ask_for_refund(&elsewhere.api, id(&theirs), "once", &json!({})).await.expect(201);
}

async fn a_request_that_was_refused_leaves_its_key_unused(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = paid(&project, "sold", 50_000).await;
    let ask = |body| {
        let api = &project.api;
        let payment = id(&payment).to_owned();
        async move { ask_for_refund(api, &payment, "once", &body).await }
    };
    ask(json!({ "amount": 0 })).await.refused(400, "VALIDATION_ERROR");
    ask(json!({ "amount": "x" })).await.refused(400, "INVALID_REQUEST");
    let whole = ask_for_refund(&project.api, id(&payment), "whole", &json!({})).await.expect(201);
    ask(json!({ "amount": 1 })).await.refused(409, "CONFLICT");
    cancel(&project, &whole).await.expect(200);
    assert_eq!(ask(json!({ "amount": 2_903 })).await.expect(201)["amount"], 2_903);
}

async fn of_many_first_requests_with_one_key_one_creates(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for round in 0..4 {
        let payment = paid(&project, &format!("sold {round}").replace(' ', "-"), 100_000).await;
        let body = json!({ "amount": 20_903 });
        let key = format!("round-{round}");
        let replies = join_all((0..12).map(|_| ask_for_refund(&project.api, id(&payment), &key, &body))).await;
        let created = replies.iter().filter(|reply| reply.status == 201).count();
        assert_eq!(created, 1, "round {round}");
        let mut ids: Vec<String> = replies
            .into_iter()
            .map(|reply| {
                let status = reply.status.as_u16();
                text(&reply.expect(if status == 201 { 201 } else { 200 }), "id").to_owned()
            })
            .collect();
        ids.dedup();
        assert_eq!(ids.len(), 1);
        assert_eq!(total(&project.api, &format!("/v1/refunds?payment_id={}", id(&payment))).await, 1);
    }
    assert_eq!(sums(&project).await[3], 4 * 20_903);
}
