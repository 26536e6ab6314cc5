//! The background loops that record expiries and settle money, run as the server runs them.

use std::{sync::Arc, time::Duration};

use domain::payment::State;
use engine::Reconcilers;
use gateway::SendLimits;
use serde_json::json;
use testkit::{Kit, ManualClock, on_every_database, on_sqlite_alone};

use crate::support::{
    nodes::{Node, engine_on},
    payments::{paid, report, stored_state},
    samples,
    wait::{PATIENCE, until},
};

on_every_database![
    a_due_expiry_is_recorded_without_a_request,
    due_money_settles_without_a_request,
    more_work_than_one_batch_holds_is_finished_too,
    two_nodes_reconciling_at_once_settle_everything_once,
    nothing_is_written_after_stop_has_returned,
];

on_sqlite_alone![stop_ends_the_reconcilers_even_while_they_sleep];

async fn a_due_expiry_is_recorded_without_a_request(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let due = project.api.pay("k-1", &samples::qris(&project, 15_000)).await.expect(201);
    let later = project.api.pay("k-2", &samples::virtual_account(&project, "bca", 15_000)).await.expect(201);
    let processing = project.api.pay("k-3", &samples::qris(&project, 15_000)).await.expect(201);
    report(&project, &processing, "processing").await;
    kit.clock.advance(Duration::from_mins(15));
    let reconcilers = Reconcilers::start(&kit.engine, kit.courier(SendLimits::default()));
    // At the exact instant it has not expired yet; the loops have run once by the time it has.
    assert_eq!(stored_state(&kit, &due).await, State::Pending);
    kit.clock.advance(Duration::from_millis(1));
    until(async || stored_state(&kit, &due).await == State::Expired).await;
    assert_eq!(stored_state(&kit, &later).await, State::Pending);
    assert_eq!(stored_state(&kit, &processing).await, State::Processing);
    reconcilers.stop().await;
}

async fn due_money_settles_without_a_request(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let reconcilers = Reconcilers::start(&kit.engine, kit.courier(SendLimits::default()));
    paid(&project, "k-1", 15_000).await;
    let balance = || async { project.api.get("/v1/balance").await.expect(200) };
    assert_eq!((&balance().await["available"], &balance().await["pending"]), (&json!(0), &json!(14_895)));
    kit.clock.advance(Duration::from_mins(1));
    until(async || balance().await["available"] == 14_895).await;
    assert_eq!(balance().await["pending"], 0);
    reconcilers.stop().await;
}

async fn more_work_than_one_batch_holds_is_finished_too(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let count = 520;
    let sent: Vec<_> = (0..count)
        .map(|index| {
            let (api, body) = (project.api.clone(), samples::qris(&project, 15_000));
            tokio::spawn(async move { api.pay(&format!("k-{index}"), &body).await.expect(201) })
        })
        .collect();
    let mut payments = Vec::new();
    for payment in sent {
        payments.push(payment.await.unwrap());
    }
    kit.clock.advance(Duration::from_mins(16));
    let reconcilers = Reconcilers::start(&kit.engine, kit.courier(SendLimits::default()));
    until(async || !kit.store.any_to_expire(kit.engine.now()).await.unwrap()).await;
    reconcilers.stop().await;
    for payment in &payments {
        assert_eq!(stored_state(&kit, payment).await, State::Expired);
    }
}

async fn two_nodes_reconciling_at_once_settle_everything_once(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let node = Node::beside(&kit).await;
    for index in 0..20 {
        paid(&project, &format!("k-{index}"), 15_000).await;
    }
    kit.clock.advance(Duration::from_mins(1));
    let both = [
        Reconcilers::start(&kit.engine, kit.courier(SendLimits::default())),
        Reconcilers::start(&node.engine, kit.courier(SendLimits::default())),
    ];
    let balance = || async { project.api.get("/v1/balance").await.expect(200) };
    until(async || balance().await["pending"] == 0).await;
    for reconcilers in both {
        reconcilers.stop().await;
    }
    assert_eq!(balance().await["available"], 20 * 14_895);
    node.stop().await;
}

/// A running loop holds a reference to the engine and so to its clock; an ended one has dropped it.
async fn stop_ends_the_reconcilers_even_while_they_sleep(kit: Arc<Kit>) {
    let clock = Arc::new(ManualClock::default());
    let engine = engine_on(kit.store.clone(), clock.clone());
    let before = Arc::strong_count(&clock);
    for _ in 0..3 {
        let reconcilers = Reconcilers::start(&engine, kit.courier(SendLimits::default()));
        assert!(Arc::strong_count(&clock) > before);
        tokio::time::timeout(PATIENCE, reconcilers.stop()).await.unwrap();
        assert_eq!(Arc::strong_count(&clock), before);
    }
}

async fn nothing_is_written_after_stop_has_returned(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = project.api.pay("k-1", &samples::qris(&project, 15_000)).await.expect(201);
    let reconcilers = Reconcilers::start(&kit.engine, kit.courier(SendLimits::default()));
    reconcilers.stop().await;
    kit.clock.advance(Duration::from_mins(16));
    // Readers see it as expired; only a round called by the test records that.
    let path = format!("/v1/payments/{}", payment["id"].as_str().unwrap());
    assert_eq!(project.api.get(&path).await.expect(200)["status"], "expired");
    assert_eq!(stored_state(&kit, &payment).await, State::Pending);
    kit.engine.expire_due().await.unwrap();
    assert_eq!(stored_state(&kit, &payment).await, State::Expired);
}
