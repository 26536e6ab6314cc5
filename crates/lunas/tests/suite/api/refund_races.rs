//! Refunds that are asked for, cancelled and ended at the same moment, on one node and on two: what is given back never exceeds
//! what was received, and each refund ends once.

use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::{Api, Kit, on_every_database};

use crate::support::{
    json::{id, text},
    nodes::Node,
    payments::{fetch, fresh_key, paid, total},
    refunds::{ask_for_refund, cancel, fetch_refund, refund, refunds, simulate_end, sums},
};

on_every_database![
    of_twenty_refunds_of_the_whole_amount_at_once_one_is_created_and_nothing_is_half_done on 2 threads,
    parts_asked_for_at_once_never_exceed_what_was_received on 2 threads,
    a_refund_that_is_cancelled_and_ended_at_once_ends_once on 2 threads,
    a_payment_that_settles_while_it_is_refunded_keeps_every_rupiah on 2 threads,
];

const AT_ONCE: usize = 20;

async fn of_twenty_refunds_of_the_whole_amount_at_once_one_is_created_and_nothing_is_half_done(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let node = Node::beside(&kit).await;
    let beside = Api::new(node.address, Some(&project.key));
    for round in 0..3 {
        let payment = paid(&project, &format!("sold-{round}"), 100_000).await;
        let before = sums(&project).await;
        let asked = (0..AT_ONCE).map(|turn| {
            let api = if turn % 2 == 0 { &project.api } else { &beside };
            let body = if turn % 3 == 0 { json!({}) } else { json!({ "amount": 100_000 }) };
            let payment = id(&payment);
            async move { ask_for_refund(api, payment, &fresh_key(), &body).await }
        });
        let mut created: Vec<Value> = Vec::new();
        for reply in join_all(asked).await {
            match reply.status.as_u16() {
                201 => created.push(reply.expect(201)),
                _ => drop(reply.refused(409, "CONFLICT")),
            }
        }
        assert_eq!(created.len(), 1, "one of {AT_ONCE} wins");
        assert_eq!(refunds(&project, &format!("payment_id={}", id(&payment))).await.len(), 1);
        let [available, pending, unapplied, refunding] = before;
        let after = [available - 700, pending - 99_300, unapplied, refunding + 100_000];
        assert_eq!(sums(&project).await, after);
        simulate_end(&project, &created[0], "succeeded").await.expect(200);
        assert_eq!(fetch(&project, &payment).await["refunded_amount"], 100_000);
    }
    node.stop().await;
}

async fn parts_asked_for_at_once_never_exceed_what_was_received(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = paid(&project, "sold", 100_000).await;
    let body = json!({ "amount": 30_000 });
    let replies =
        join_all((0..AT_ONCE).map(|_| async { ask_for_refund(&project.api, id(&payment), &fresh_key(), &body).await }));
    let created = replies.await.into_iter().filter(|reply| match reply.status.as_u16() {
        201 => true,
        status => {
            assert_eq!((status, &reply.json["error"]["code"]), (409, &json!("CONFLICT")), "{}", reply.text);
            false
        }
    });
    assert_eq!(created.count(), 3);
    assert_eq!(sums(&project).await, [0, 9_300, 0, 90_000]);
    assert_eq!(ask_for_refund(&project.api, id(&payment), "rest", &json!({})).await.expect(201)["amount"], 10_000);
}

async fn a_refund_that_is_cancelled_and_ended_at_once_ends_once(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = paid(&project, "sold", 1_000_000).await;
    let mut gone = 0;
    for _ in 0..5 {
        let made = refund(&project, &payment, 10_903).await;
        let (cancelled, succeeded, failed) = tokio::join!(
            cancel(&project, &made),
            simulate_end(&project, &made, "succeeded"),
            simulate_end(&project, &made, "failed"),
        );
        let mut said = Vec::new();
        for (reply, status) in [(cancelled, "cancelled"), (succeeded, "succeeded"), (failed, "failed")] {
            match reply.status.as_u16() {
                200 => {
                    assert_eq!(text(&reply.expect(200), "status"), status);
                    said.push(status);
                }
                _ => drop(reply.refused(409, "CONFLICT")),
            }
        }
        assert_eq!(said, [text(&fetch_refund(&project, &made).await, "status")], "one answer says how it ended");
        gone += if said == ["succeeded"] { 10_903 } else { 0 };
        assert_eq!(sums(&project).await, [0, 993_000 - gone, 0, 0]);
    }
    assert_eq!(fetch(&project, &payment).await["refunded_amount"], gone);
}

async fn a_payment_that_settles_while_it_is_refunded_keeps_every_rupiah(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut refunded = 0;
    for round in 1..=5 {
        let payment = paid(&project, &format!("sold-{round}"), 100_000).await;
        kit.clock.advance(std::time::Duration::from_mins(1));
        let (one, settled, two) = tokio::join!(
            refund(&project, &payment, 40_903),
            kit.engine.settle_due(),
            refund(&project, &payment, 20_903),
        );
        settled.unwrap();
        cancel(&project, &one).await.expect(200);
        simulate_end(&project, &two, "succeeded").await.expect(200);
        kit.engine.settle_due().await.unwrap();
        refunded += 20_903;
        assert_eq!(sums(&project).await, [round * 99_300 - refunded, 0, 0, 0]);
    }
    assert_eq!(total(&project.api, "/v1/refunds").await, 10);
}
