//! Decisions about held money that are made at the same moment, on one node and on two: money is decided about once, and a
//! payment is paid once.

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::{Api, Kit, TestProject, on_every_database};

use crate::support::{
    json::{id, text},
    nodes::Node,
    payments::{balance, events_of, pending_qris, simulate, status, unapplied},
    receipts::{decide, held_amount, held_late, receipt, receipts},
};

on_every_database![
    however_many_decide_at_once_one_decision_is_made,
    however_much_money_is_accepted_for_a_payment_at_once_it_is_paid_once,
    a_payment_is_paid_once_when_its_money_comes_while_held_money_is_accepted_for_it,
];

const ROUNDS: usize = 4;
const AT_ONCE: usize = 6;

async fn however_many_decide_at_once_one_decision_is_made(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let node = Node::beside(&kit).await;
    let beside = Api::new(node.address, Some(&project.key));
    let mut paid = 0;
    for _ in 0..ROUNDS {
        let (payment, held) = held_late(&kit, &project).await;
        let other = pending_qris(&project, 15_000).await;
        let bodies = [
            ("accept", json!({ "note": "one" })),
            ("return", json!({ "note": "two" })),
            ("accept", json!({ "note": "three", "payment_id": id(&other) })),
        ];
        let asked = (0..AT_ONCE).map(|turn| {
            let (act, body) = &bodies[turn % bodies.len()];
            let api = if turn % 2 == 0 { &project.api } else { &beside };
            let path = format!("/v1/receipts/{}/{act}", id(&held));
            async move { api.post(&path, body).await }
        });
        let replies = join_all(asked).await;
        let mut decided: Vec<Value> = Vec::new();
        for reply in replies {
            match reply.status.as_u16() {
                200 => decided.push(reply.expect(200)),
                _ => drop(reply.refused(409, "CONFLICT")),
            }
        }
        assert_eq!(decided.len(), 1, "one answer says that it decided");
        assert_eq!(receipt(&project, &held).await, decided[0], "what is told is what happened");
        let (own, others) = (status(&project, &payment).await, status(&project, &other).await);
        let by = |payment: &Value| decided[0]["decision"]["payment_id"] == payment["id"];
        assert_eq!((own == "paid", others == "paid"), (by(&payment), by(&other)));
        paid += i64::from(text(&decided[0], "state") == "accepted");
        assert_eq!((balance(&project, "pending").await, unapplied(&project).await), (paid * 14_895, 0));
    }
    node.stop().await;
}

async fn however_much_money_is_accepted_for_a_payment_at_once_it_is_paid_once(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for round in 1..=2 {
        let wanted = pending_qris(&project, 15_000).await;
        let sender = pending_qris(&project, 15_000).await;
        let mut money = Vec::new();
        for _ in 0..AT_ONCE {
            money.push(held_amount(&project, &sender, 20_000).await);
        }
        let body = json!({ "note": "x", "payment_id": id(&wanted), "accept_difference": true });
        let replies = join_all(money.iter().map(|held| decide(&project, held, "accept", &body))).await;
        let mut accepted = 0;
        for reply in replies {
            match reply.status.as_u16() {
                200 => accepted += 1,
                _ => drop(reply.refused(409, "PAYMENT_NOT_EDITABLE")),
            }
        }
        assert_eq!(accepted, 1);
        assert_eq!(events_of(&project, &wanted, "payment.paid").await.len(), 1);
        let still_held = round * (AT_ONCE as i64 - 1);
        assert_eq!(receipts(&project, "state=held").await.len() as i64, still_held);
        let expected = (round * (20_000 - 105), still_held * 20_000);
        assert_eq!((balance(&project, "pending").await, unapplied(&project).await), expected);
    }
}

/// Reports the right money for a payment, as its bank would.
async fn money_comes(project: &TestProject, payment: &Value) {
    simulate(project, payment, &json!({ "outcome": "paid" })).await.expect(200);
}

async fn a_payment_is_paid_once_when_its_money_comes_while_held_money_is_accepted_for_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut held_before = 0;
    for round in 1..=ROUNDS as i64 {
        let payment = pending_qris(&project, 15_000).await;
        let held = held_amount(&project, &pending_qris(&project, 20_000).await, 15_000).await;
        let body = json!({ "note": "x", "payment_id": id(&payment) });
        let (reply, ()) = tokio::join!(decide(&project, &held, "accept", &body), money_comes(&project, &payment));
        assert_eq!(status(&project, &payment).await, "paid");
        assert_eq!(events_of(&project, &payment, "payment.paid").await.len(), 1);
        // Either the held money has paid and the other is held instead, or it stays held.
        match reply.status.as_u16() {
            200 => assert_eq!(reply.expect(200)["state"], "accepted"),
            _ => drop(reply.refused(409, "PAYMENT_NOT_EDITABLE")),
        }
        held_before += 15_000;
        assert_eq!((balance(&project, "pending").await, unapplied(&project).await), (round * 14_895, held_before));
    }
}
