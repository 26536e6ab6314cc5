//! What becomes of refunds in the sandbox by themselves: the last three digits of their amounts say it.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use testkit::{Kit, TestProject, on_every_database};

use crate::support::{
    json::text,
    payments::{fetch, paid},
    refunds::{ask, destination, fetch_refund, refund, simulate_end, sums},
};

on_every_database![
    an_amount_without_a_meaning_succeeds_within_five_seconds,
    the_last_three_digits_of_an_amount_say_what_becomes_of_it,
    what_stays_unknown_can_be_ended_by_hand_and_then_nothing_else_happens,
];

/// Lets the sandbox do what is due by then.
async fn pass(kit: &Kit, time: Duration) {
    kit.clock.advance(time);
    kit.engine.simulate_due_refunds().await.unwrap();
}

async fn status(project: &TestProject, refund: &Value) -> String {
    text(&fetch_refund(project, refund).await, "status").to_owned()
}

async fn an_amount_without_a_meaning_succeeds_within_five_seconds(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = paid(&project, "k", 100_000).await;
    let by_qris = refund(&project, &payment, 10_000).await;
    let transfer = json!({ "amount": 20_000, "destination": destination() });
    let transfer = ask(&project, &payment, &transfer).await.expect(201);
    assert_eq!((text(&by_qris, "status"), text(&transfer, "status")), ("pending", "pending"));
    pass(&kit, Duration::from_secs(5)).await;
    for made in [&by_qris, &transfer] {
        let ended = fetch_refund(&project, made).await;
        assert_eq!((text(&ended, "status"), &ended["pending_reason"]), ("succeeded", &Value::Null));
        assert!(ended["bank_reference"].is_string() && ended["succeeded_at"].is_string(), "{ended}");
    }
    assert_eq!(fetch(&project, &payment).await["refunded_amount"], 30_000);
    let before = sums(&project).await;
    pass(&kit, Duration::from_mins(1)).await;
    assert_eq!(sums(&project).await, before, "it happens once");
}

async fn the_last_three_digits_of_an_amount_say_what_becomes_of_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = paid(&project, "k", 1_000_000).await;
    let mut made = Vec::new();
    for amount in [10_901, 10_902, 10_903, 10_904] {
        made.push(refund(&project, &payment, amount).await);
    }
    pass(&kit, Duration::from_secs(5)).await;
    let mut seen = Vec::new();
    for refund in &made {
        seen.push(status(&project, refund).await);
    }
    assert_eq!(seen, ["failed", "requires_action", "pending", "succeeded"]);
    let failed = fetch_refund(&project, &made[0]).await;
    assert!(failed["failure_reason"].is_string() && failed["bank_reference"].is_null(), "{failed}");
    let needs = fetch_refund(&project, &made[1]).await;
    assert_eq!((text(&needs, "road"), needs["claim_url"].is_string()), ("transfer", true));
    assert_eq!(fetch(&project, &payment).await["refunded_amount"], 10_904);
    pass(&kit, Duration::from_secs(10)).await;
    let returned = fetch_refund(&project, &made[3]).await;
    assert_eq!(text(&returned, "status"), "returned");
    assert!(returned["failure_reason"].is_string() && returned["succeeded_at"].is_string(), "{returned}");
    assert_eq!(fetch(&project, &payment).await["refunded_amount"], 0);
    assert_eq!(sums(&project).await, [0, 993_000 - 10_902 - 10_903, 0, 10_902 + 10_903]);
}

async fn what_stays_unknown_can_be_ended_by_hand_and_then_nothing_else_happens(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = paid(&project, "k", 100_000).await;
    let (early, unknown) = (refund(&project, &payment, 10_000).await, refund(&project, &payment, 20_903).await);
    // Ended by hand before its time.
    simulate_end(&project, &early, "failed").await.expect(200);
    pass(&kit, Duration::from_hours(1)).await;
    assert_eq!((status(&project, &early).await, status(&project, &unknown).await), ("failed".into(), "pending".into()));
    assert_eq!(fetch_refund(&project, &unknown).await["pending_reason"], "processing");
    simulate_end(&project, &unknown, "succeeded").await.expect(200);
    simulate_end(&project, &unknown, "returned").await.expect(200);
    pass(&kit, Duration::from_hours(1)).await;
    assert_eq!(status(&project, &unknown).await, "returned");
    assert_eq!(sums(&project).await, [0, 99_300, 0, 0]);
}
