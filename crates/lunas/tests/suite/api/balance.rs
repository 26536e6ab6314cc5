//! `GET /v1/balance` (docs/contract.md §4.4 and decisions §6).

use std::{sync::Arc, time::Duration};

use domain::{fee::FeeOverrides, money::Rupiah, project::Environment};
use engine::ProjectUpdate;
use serde_json::json;
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    acquirers::{AMOUNT, hosted_there},
    payments::{paid, report, simulate, simulate_paid},
    refusals::refused,
    samples,
};

on_every_database![
    a_paid_payments_net_is_pending_until_its_delay_is_over_and_available_then,
    nothing_but_money_changes_the_balance,
    money_that_cannot_be_applied_is_held_in_gross_and_never_settles,
    at_shows_the_balance_as_it_was_at_that_instant,
    the_balance_is_the_sum_of_what_was_paid_less_fees_and_no_other_projects,
    a_fee_that_eats_the_whole_amount_leaves_nothing_to_settle,
    in_production_money_settles_after_a_day,
];

on_sqlite_alone![
    a_new_projects_balance_has_every_field_and_nothing_in_it,
    an_at_that_is_no_instant_is_a_validation_error,
    the_balance_of_an_instant_that_is_to_come_is_a_validation_error,
];

const PATH: &str = "/v1/balance";
const MINUTE: Duration = Duration::from_mins(1);
const MILLISECOND: Duration = Duration::from_millis(1);

async fn amounts(project: &TestProject, query: &str) -> (i64, i64, i64) {
    let balance = project.api.get(&format!("{PATH}{query}")).await.expect(200);
    let amount = |name: &str| balance[name].as_i64().unwrap();
    (amount("available"), amount("pending"), amount("unapplied"))
}

async fn a_new_projects_balance_has_every_field_and_nothing_in_it(kit: Arc<Kit>) {
    for (project, environment) in [(kit.sandbox().await, "sandbox"), (kit.production().await, "production")] {
        let wanted = json!({
            "project_id": project.id.to_string(), "environment": environment, "currency": "IDR",
            "available": 0, "pending": 0, "unapplied": 0, "refunding": 0, "as_of": kit.engine.now().to_string(),
        });
        assert_eq!(project.api.get(PATH).await.expect(200), wanted);
    }
}

async fn a_paid_payments_net_is_pending_until_its_delay_is_over_and_available_then(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = project.api.pay("k-1", &samples::qris(&project, 15_000)).await.expect(201);
    assert_eq!(amounts(&project, "").await, (0, 0, 0));
    simulate_paid(&project, &payment).await;
    assert_eq!(amounts(&project, "").await, (0, 14_895, 0));
    kit.clock.advance(MINUTE - MILLISECOND);
    kit.engine.settle_due().await.unwrap();
    assert_eq!(amounts(&project, "").await, (0, 14_895, 0));
    kit.clock.advance(MILLISECOND);
    assert_eq!(kit.engine.settle_due().await.unwrap(), 1);
    assert_eq!(amounts(&project, "").await, (14_895, 0, 0));
    // There is nothing left to settle a second time.
    assert_eq!(kit.engine.settle_due().await.unwrap(), 0);
    assert_eq!(amounts(&project, "").await, (14_895, 0, 0));
}

async fn nothing_but_money_changes_the_balance(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (key, outcome) in [("k-1", "failed"), ("k-2", "processing")] {
        let payment = project.api.pay(key, &samples::qris(&project, 15_000)).await.expect(201);
        report(&project, &payment, outcome).await;
    }
    project.api.pay("k-3", &samples::qris(&project, 15_000)).await.expect(201);
    project.api.post("/v1/payment-links", &samples::link(&project, 15_000)).await.expect(201);
    kit.clock.advance(Duration::from_hours(1));
    kit.engine.expire_due().await.unwrap();
    kit.engine.settle_due().await.unwrap();
    assert_eq!(amounts(&project, "").await, (0, 0, 0));
}

async fn money_that_cannot_be_applied_is_held_in_gross_and_never_settles(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = project.api.pay("k-1", &samples::qris(&project, 15_000)).await.expect(201);
    simulate(&project, &payment, &json!({ "outcome": "paid", "amount": 14_999 })).await.expect(200);
    assert_eq!(amounts(&project, "").await, (0, 0, 14_999));
    simulate_paid(&project, &payment).await;
    simulate_paid(&project, &payment).await;
    assert_eq!(amounts(&project, "").await, (0, 14_895, 29_999));
    kit.clock.advance(Duration::from_hours(24));
    kit.engine.settle_due().await.unwrap();
    assert_eq!(amounts(&project, "").await, (14_895, 0, 29_999));
}

async fn at_shows_the_balance_as_it_was_at_that_instant(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let start = kit.engine.now();
    kit.clock.advance(MINUTE);
    paid(&project, "k-1", 15_000).await;
    kit.clock.advance(MINUTE);
    kit.engine.settle_due().await.unwrap();
    kit.clock.advance(MINUTE);
    let late = project.api.pay("k-2", &samples::qris(&project, 10_000)).await.expect(201);
    simulate(&project, &late, &json!({ "outcome": "paid", "amount": 5 })).await.expect(200);

    let rows = [
        (start, (0, 0, 0)),
        (start.plus(MINUTE - MILLISECOND), (0, 0, 0)),
        (start.plus(MINUTE), (0, 14_895, 0)),
        (start.plus(2 * MINUTE - MILLISECOND), (0, 14_895, 0)),
        (start.plus(2 * MINUTE), (14_895, 0, 0)),
        (start.plus(3 * MINUTE), (14_895, 0, 5)),
    ];
    for (at, wanted) in rows {
        assert_eq!(amounts(&project, &format!("?at={at}")).await, wanted, "{at}");
        let balance = project.api.get(&format!("{PATH}?at={at}")).await.expect(200);
        assert_eq!(balance["as_of"], at.to_string());
    }
    let balance = project.api.get(&format!("{PATH}?at=2026-11-14T15:59:59.5%2B07:00")).await.expect(200);
    assert_eq!(balance["as_of"], "2026-11-14T08:59:59.500Z");
}

async fn the_balance_of_an_instant_that_is_to_come_is_a_validation_error(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let now = kit.engine.now();
    for at in [now.plus(MILLISECOND).to_string(), "9999-12-31T23:59:59Z".to_owned()] {
        let message = refused(&at, project.api.get(&format!("{PATH}?at={at}")).await, 400, "VALIDATION_ERROR");
        assert!(message.contains("`at`"), "{message}");
    }
    assert_eq!(project.api.get(&format!("{PATH}?at={now}")).await.expect(200)["as_of"], now.to_string());
}

async fn an_at_that_is_no_instant_is_a_validation_error(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for at in ["", "yesterday", "2026-11-14", "1794648600", "2026-02-30T00:00:00Z", "2026-11-14T00:00:00Z&at=x"] {
        let reply = project.api.get(&format!("{PATH}?at={at}")).await;
        let message = refused(at, reply, 400, "VALIDATION_ERROR");
        assert!(message.contains("`at`"), "{message}");
    }
}

async fn the_balance_is_the_sum_of_what_was_paid_less_fees_and_no_other_projects(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let mut net = 0;
    for (index, amount) in [100, 214, 215, 15_000, 999_999_999_999].into_iter().enumerate() {
        net += paid(&project, &format!("k-{index}"), amount).await["merchant_net"].as_i64().unwrap();
    }
    let account = project.api.pay("va", &samples::virtual_account(&project, "bca", 10_000)).await.expect(201);
    simulate_paid(&project, &account).await;
    net += 6_000;
    paid(&other, "k-1", 10_000).await;
    assert_eq!(amounts(&project, "").await, (0, net, 0));
    assert_eq!(net, 99 + 213 + 213 + 14_895 + 992_999_999_999 + 6_000);
    kit.clock.advance(MINUTE);
    kit.engine.settle_due().await.unwrap();
    assert_eq!(amounts(&project, "").await, (net, 0, 0));
    assert_eq!(amounts(&other, "").await, (9_930, 0, 0));
}

async fn a_fee_that_eats_the_whole_amount_leaves_nothing_to_settle(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let fees = FeeOverrides { qris_basis_points: None, virtual_account: Some(Rupiah::new(20_000)) };
    kit.update(project.id, ProjectUpdate { fees: Some(fees), ..Default::default() }).await;
    let payment = project.api.pay("k-1", &samples::virtual_account(&project, "bca", 10_000)).await.expect(201);
    assert_eq!((&payment["fee_amount"], &payment["merchant_net"]), (&json!(10_000), &json!(0)));
    assert_eq!(simulate_paid(&project, &payment).await["status"], "paid");
    kit.clock.advance(MINUTE);
    assert_eq!(kit.engine.settle_due().await.unwrap(), 0);
    assert_eq!(amounts(&project, "").await, (0, 0, 0));
}

async fn in_production_money_settles_after_a_day(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    let (project, net) = (&acquired.project, AMOUNT - 4_000);
    acquired.pays(&acquired.payment().await).await;
    assert_eq!(amounts(project, "").await, (0, net, 0));
    kit.clock.advance(Duration::from_hours(24) - MILLISECOND);
    kit.engine.settle_due().await.unwrap();
    assert_eq!(amounts(project, "").await, (0, net, 0));
    kit.clock.advance(MILLISECOND);
    kit.engine.settle_due().await.unwrap();
    assert_eq!(amounts(project, "").await, (net, 0, 0));
    assert_eq!(kit.engine.project(project.id).await.unwrap().environment, Environment::Production);
}
