//! Held money that is sent back: `POST /v1/receipts/{receiptID}/return` with a destination makes a refund out of what could not be
//! applied.

use std::sync::Arc;

use domain::key_rights::{KeyRight, KeyRights};
use engine::NewKey;
use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::{Kit, on_every_database, on_sqlite_alone};

use crate::support::{
    json::{id, text},
    payments::{fetch, pending_qris, total},
    receipts::{decide, held_amount, receipt, receipts},
    refunds::{cancel, destination, fetch_refund, refunds, simulate_end, sums},
};

on_every_database![
    held_money_is_sent_to_the_destination_by_a_refund_that_the_decision_names,
    held_money_whose_refund_does_not_arrive_is_held_again,
    however_many_send_it_back_at_once_one_refund_is_made on 2 threads,
];

on_sqlite_alone![
    sending_held_money_back_needs_both_rights,
    a_destination_that_cannot_be_leaves_the_money_held,
    without_a_destination_a_return_is_recorded_as_before,
];

fn sent_back() -> Value {
    json!({ "note": "too little", "destination": destination() })
}

async fn held_money_is_sent_to_the_destination_by_a_refund_that_the_decision_names(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    let held = held_amount(&project, &payment, 14_903).await;
    assert_eq!(sums(&project).await, [0, 0, 14_903, 0]);
    let decided = decide(&project, &held, "return", &sent_back()).await.expect(200);
    assert_eq!((text(&decided, "state"), text(&decided["decision"], "note")), ("returned", "too little"));
    let refund = &refunds(&project, "").await[0];
    assert_eq!(decided["decision"]["refund_id"], refund["id"]);
    let told = json!([refund["payment_id"], refund["receipt_id"], refund["amount"], refund["status"], refund["road"]]);
    assert_eq!(told, json!([null, id(&held), 14_903, "pending", "transfer"]));
    assert_eq!(refund["destination"]["last_four"], "6789");
    assert_eq!(sums(&project).await, [0, 0, 0, 14_903]);
    // It is no refund of the payment, which was never paid.
    assert_eq!(total(&project.api, &format!("/v1/refunds?payment_id={}", id(&payment))).await, 0);
    simulate_end(&project, refund, "succeeded").await.expect(200);
    assert_eq!(sums(&project).await, [0, 0, 0, 0]);
    assert_eq!(receipt(&project, &held).await, decided);
    assert_eq!(fetch(&project, &payment).await["refunded_amount"], 0);
    decide(&project, &held, "return", &sent_back()).await.refused(409, "CONFLICT");
    decide(&project, &held, "accept", &json!({ "note": "x", "accept_difference": true }))
        .await
        .refused(409, "CONFLICT");
}

async fn held_money_whose_refund_does_not_arrive_is_held_again(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    let held = held_amount(&project, &payment, 14_903).await;
    for end in ["failed", "cancelled", "returned"] {
        let decided = decide(&project, &held, "return", &sent_back()).await.expect(200);
        let refund = json!({ "id": decided["decision"]["refund_id"] });
        match end {
            "cancelled" => drop(cancel(&project, &refund).await.expect(200)),
            "returned" => {
                simulate_end(&project, &refund, "succeeded").await.expect(200);
                simulate_end(&project, &refund, "returned").await.expect(200);
            }
            _ => drop(simulate_end(&project, &refund, end).await.expect(200)),
        }
        assert_eq!(text(&fetch_refund(&project, &refund).await, "status"), end);
        let again = receipt(&project, &held).await;
        assert_eq!((text(&again, "state"), &again["decision"]), ("held", &Value::Null), "{end}");
        assert_eq!(sums(&project).await, [0, 0, 14_903, 0], "{end}");
    }
    assert_eq!((refunds(&project, "").await.len(), receipts(&project, "state=held").await.len()), (3, 1));
    // Then it can be decided about in every way.
    decide(&project, &held, "accept", &json!({ "note": "x", "accept_difference": true })).await.expect(200);
    assert_eq!(sums(&project).await, [0, 14_798, 0, 0]);
}

async fn however_many_send_it_back_at_once_one_refund_is_made(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for round in 1..=3 {
        let payment = pending_qris(&project, 15_000).await;
        let held = held_amount(&project, &payment, 14_903).await;
        let accepted = json!({ "note": "x", "accept_difference": true });
        let bodies = [("return", sent_back()), ("return", json!({ "note": "x" })), ("accept", accepted)];
        let replies = join_all((0..9).map(|turn| {
            let (act, body) = &bodies[turn % 3];
            decide(&project, &held, act, body)
        }));
        let mut decided = Vec::new();
        for reply in replies.await {
            match reply.status.as_u16() {
                200 => decided.push(reply.expect(200)),
                _ => drop(reply.refused(409, "CONFLICT")),
            }
        }
        assert_eq!(decided.len(), 1, "round {round}");
        let made = refunds(&project, "status=pending").await;
        assert_eq!(made.len(), usize::from(decided[0]["decision"]["refund_id"].is_string()));
        if let [refund] = &made[..] {
            simulate_end(&project, refund, "succeeded").await.expect(200);
        }
        let [_, _, unapplied, refunding] = sums(&project).await;
        assert_eq!((unapplied, refunding), (0, 0));
    }
}

async fn sending_held_money_back_needs_both_rights(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    let held = held_amount(&project, &payment, 14_903).await;
    for right in [KeyRight::HeldMoney, KeyRight::Refunds] {
        let new = NewKey { rights: KeyRights::NONE.with(right), ..NewKey::from(right.word().to_owned()) };
        let (_, secret) = kit.engine.create_key(project.id, new).await.unwrap();
        let api = project.api.with_key(secret.reveal());
        let reply = api.post(&format!("/v1/receipts/{}/return", id(&held)), &sent_back()).await;
        let message = reply.refused(403, "FORBIDDEN");
        let missing = if right == KeyRight::Refunds { "held-money" } else { "refunds" };
        assert_eq!(message, format!("this API key does not have the right `{missing}`"));
    }
    assert_eq!((receipt(&project, &held).await, refunds(&project, "").await.len()), (held, 0));
}

async fn a_destination_that_cannot_be_leaves_the_money_held(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    let held = held_amount(&project, &payment, 14_903).await;
    for (body, code) in [
        (json!({ "note": "x", "destination": {} }), "VALIDATION_ERROR"),
        (json!({ "note": "x", "destination": { "bank": "999", "account_number": "0123456789" } }), "VALIDATION_ERROR"),
        (json!({ "note": "x", "destination": { "bank": "014", "account_number": "12a4567890" } }), "VALIDATION_ERROR"),
        (
            json!({ "note": "x", "destination": { "bank": "014", "account_number": "9".repeat(40) } }),
            "VALIDATION_ERROR",
        ),
        (json!({ "note": "", "destination": destination() }), "VALIDATION_ERROR"),
        (json!({ "destination": destination() }), "VALIDATION_ERROR"),
        (json!({ "note": "x", "destination": "014" }), "INVALID_REQUEST"),
    ] {
        decide(&project, &held, "return", &body).await.refused(400, code);
    }
    let unknown = json!({ "id": "rcp_01kzdq3f5ve8x9m2r7t4w6y8za" });
    decide(&project, &unknown, "return", &sent_back()).await.refused(404, "RESOURCE_NOT_FOUND");
    let other = kit.sandbox().await;
    decide(&other, &held, "return", &sent_back()).await.refused(404, "RESOURCE_NOT_FOUND");
    assert_eq!((receipt(&project, &held).await, refunds(&project, "").await.len()), (held, 0));
}

async fn without_a_destination_a_return_is_recorded_as_before(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    let held = held_amount(&project, &payment, 14_903).await;
    let body = json!({ "note": "by hand", "destination": null });
    let decided = decide(&project, &held, "return", &body).await.expect(200);
    assert_eq!((text(&decided, "state"), &decided["decision"]["refund_id"]), ("returned", &Value::Null));
    assert_eq!((refunds(&project, "").await.len(), sums(&project).await), (0, [0, 0, 0, 0]));
}
