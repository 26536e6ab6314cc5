//! Events about refunds, for projects that ask for them (docs/contract.md §6.5).

use std::{sync::Arc, time::Duration};

use domain::event::EventKind;
use engine::ProjectUpdate;
use gateway::SendLimits;
use serde_json::{Value, json};
use testkit::{Answer, Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    json::{id, text, with},
    payments::{create, paid, simulate_paid, total},
    refunds::{cancel, fetch_refund, refund, simulate_end},
    samples,
    webhooks::{check_signature, events, wait_for_attempts},
};

on_every_database![each_status_that_is_told_makes_one_event_with_the_refund_as_it_was_then];

on_sqlite_alone![
    a_project_that_does_not_ask_gets_no_event_of_a_refund,
    an_event_of_a_refund_is_sent_signed_and_byte_for_byte_as_the_api_shows_it,
];

async fn ask_for(kit: &Kit, project: &TestProject, kinds: &[EventKind]) {
    kit.update(project.id, ProjectUpdate { extra_events: Some(kinds.to_vec()), ..Default::default() }).await;
}

/// The events about refunds, oldest first.
async fn refund_events(project: &TestProject) -> Vec<Value> {
    let mut told = events(project).await;
    told.retain(|event| text(event, "type").starts_with("refund."));
    told.reverse();
    told
}

async fn sold_by_account(project: &TestProject) -> Value {
    let payment = create(project, &samples::virtual_account(project, "bca", 100_000)).await;
    simulate_paid(project, &payment).await
}

async fn each_status_that_is_told_makes_one_event_with_the_refund_as_it_was_then(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    ask_for(&kit, &project, &EventKind::EXTRA).await;
    let (payment, account) = (paid(&project, "k", 100_000).await, sold_by_account(&project).await);
    let step = || kit.clock.advance(Duration::from_secs(1));
    let needs = refund(&project, &account, 20_000).await;
    step();
    let returns = refund(&project, &payment, 10_903).await;
    step();
    let succeeded = simulate_end(&project, &returns, "succeeded").await.expect(200);
    step();
    let returned = simulate_end(&project, &returns, "returned").await.expect(200);
    step();
    let fails = refund(&project, &payment, 20_903).await;
    let failed = simulate_end(&project, &fails, "failed").await.expect(200);
    step();
    let cancelled = cancel(&project, &needs).await.expect(200);
    let expected = [
        ("refund.requires_action", with(needs.clone(), "claim_url", Value::Null)),
        ("refund.succeeded", succeeded),
        ("refund.returned", returned.clone()),
        ("refund.failed", failed.clone()),
        ("refund.cancelled", cancelled.clone()),
    ];
    check_told(&project, &expected).await;
    // The refunds themselves are as they are now.
    assert_eq!(fetch_refund(&project, &needs).await, cancelled);
    assert_eq!(fetch_refund(&project, &returns).await, returned);
    // Being paid made events of its own, which tell of no refund.
    for event in events(&project).await.iter().filter(|event| event["type"] == "payment.paid") {
        assert_eq!(event["data"]["refunded_amount"], 0);
    }
}

async fn check_told(project: &TestProject, expected: &[(&str, Value)]) {
    let told = refund_events(project).await;
    let seen: Vec<(&str, Value)> = told.iter().map(|event| (text(event, "type"), event["data"].clone())).collect();
    assert_eq!(seen, expected);
    for (event, (kind, data)) in told.iter().zip(expected) {
        assert_eq!(event["created_at"], data["updated_at"], "{kind}");
        assert_eq!(project.api.get(&format!("/v1/events/{}", id(event))).await.expect(200), *event);
        assert_eq!(total(&project.api, &format!("/v1/events?type={kind}")).await, 1);
    }
}

async fn a_project_that_does_not_ask_gets_no_event_of_a_refund(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = paid(&project, "k", 100_000).await;
    let made = refund(&project, &payment, 10_903).await;
    simulate_end(&project, &made, "succeeded").await.expect(200);
    assert_eq!(refund_events(&project).await, [Value::Null; 0]);
    ask_for(&kit, &project, &[EventKind::RefundReturned]).await;
    assert_eq!(refund_events(&project).await, [Value::Null; 0], "what was before is not told");
    let other = refund(&project, &payment, 20_903).await;
    simulate_end(&project, &other, "failed").await.expect(200);
    simulate_end(&project, &made, "returned").await.expect(200);
    let kinds: Vec<String> = refund_events(&project).await.iter().map(|event| text(event, "type").to_owned()).collect();
    assert_eq!(kinds, ["refund.returned"]);
}

async fn an_event_of_a_refund_is_sent_signed_and_byte_for_byte_as_the_api_shows_it(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(200)).await;
    ask_for(&kit, &project, &[EventKind::RefundRequiresAction]).await;
    let account = sold_by_account(&project).await;
    let made = refund(&project, &account, 20_000).await;
    kit.deliver(SendLimits::default());
    let event = id(&refund_events(&project).await[0]).to_owned();
    wait_for_attempts(&kit, &event, 1).await;
    let shown = project.api.get(&format!("/v1/events/{event}")).await;
    let sent = receiver.received();
    let webhook = sent.iter().find(|webhook| webhook.body == shown.text.as_bytes()).unwrap();
    check_signature(&kit, &project, webhook).await;
    assert!(!shown.text.contains("/r/"), "the page of the customer is in no event: {}", shown.text);
    assert_eq!(shown.json["data"], with(made, "claim_url", json!(null)));
}
