//! `POST /v1/sandbox/payments/{id}/simulate`: the path that every bank's report takes, its receipts and its races
//! (docs/contract.md, decisions §4 and §7).

use std::sync::Arc;

use domain::{project::Environment, project::SuccessWord, receipt::Unapplied};
use engine::{Clock, ProjectUpdate, UnappliedFilter};
use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, on_every_database, on_sqlite_alone};
use tokio::task::JoinSet;

use crate::support::{
    json::{at, moved, shifted, text},
    payments::{balance, count_payments, events_of, fetch, pending_qris, simulate, simulate_paid, status, unapplied},
};

on_every_database![
    a_report_of_paid_pays_the_amount_now,
    paid_at_is_the_receipts_payment_time_in_any_utc_offset,
    future_money_pays_a_pending_payment_only_up_to_its_expiry,
    each_report_is_a_new_receipt_unless_its_receipt_id_repeats,
    a_receipt_counts_once_in_a_project_and_says_nothing_about_another,
    a_repeated_refusal_with_the_same_receipt_id_answers_200,
    concurrent_money_pays_once_and_the_rest_is_unapplied on 4 threads,
    concurrent_reports_of_one_receipt_are_one_receipt_and_all_see_what_it_did on 4 threads,
    a_refusal_that_races_with_timely_money_never_undoes_it on 4 threads,
    a_notice_leaves_its_receipt_id_free_for_the_money,
    a_notice_for_another_payment_under_the_same_receipt_id_is_taken,
    money_under_another_payments_receipt_id_is_held_and_never_dropped,
    a_notice_that_races_with_money_of_its_receipt_id_never_loses_it on 4 threads,
    of_payments_that_get_money_of_one_receipt_id_at_once_one_is_paid_and_the_rest_is_held on 4 threads,
    a_simulated_expiry_is_one_from_that_moment_on,
    what_has_ended_or_is_processing_does_not_expire,
];

on_sqlite_alone![
    the_success_word_of_the_project_is_used_in_payments_lists_and_events,
    a_production_key_may_not_simulate,
    another_projects_payment_and_an_unknown_one_cannot_be_simulated,
    a_report_that_breaks_a_rule_is_refused_and_leaves_nothing_behind,
    money_before_the_payment_was_created_is_refused,
];

const RACERS: usize = 16;

async fn a_report_of_paid_pays_the_amount_now(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    kit.clock.set(moved(kit.clock.now(), 1_234));
    let mut expected = payment.clone();
    expected["status"] = json!("paid");
    expected["paid_at"] = json!(kit.clock.now().to_string());
    assert_eq!(simulate_paid(&project, &payment).await, expected);
    assert_eq!(fetch(&project, &payment).await, expected);
    assert_eq!((balance(&project, "pending").await, unapplied(&project).await), (14_895, 0));
}

async fn paid_at_is_the_receipts_payment_time_in_any_utc_offset(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let created = kit.clock.now();
    let jakarta = shifted(created, 7 * 3_600_000 + 5).replace('Z', "+07:00");
    for (reported, shown) in [
        (shifted(created, 0), shifted(created, 0)),
        (shifted(created, 59_999), shifted(created, 59_999)),
        (jakarta, shifted(created, 5)),
        // The bank's clock may be ahead of ours, and its time counts.
        (shifted(created, 300_000), shifted(created, 300_000)),
    ] {
        kit.clock.set(created);
        let payment = pending_qris(&project, 15_000).await;
        kit.clock.set(moved(created, 60_000));
        let paid = simulate(&project, &payment, &json!({ "outcome": "paid", "paid_at": reported })).await.expect(200);
        assert_eq!((text(&paid, "status"), text(&paid, "paid_at")), ("paid", shown.as_str()), "{reported}");
    }
    assert_eq!(unapplied(&project).await, 0);
}

async fn money_before_the_payment_was_created_is_refused(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    let created = at(&payment, "created_at");
    for paid_at in [shifted(created, -1), "1999-12-31T23:59:59Z".to_owned()] {
        for outcome in ["paid", "failed", "processing", "expired"] {
            let report = json!({ "outcome": outcome, "paid_at": paid_at });
            let message = simulate(&project, &payment, &report).await.refused(400, "VALIDATION_ERROR");
            assert!(message.contains("`paid_at`"), "{message}");
        }
    }
    assert_eq!(fetch(&project, &payment).await, payment);
    assert_eq!((unapplied(&project).await, balance(&project, "pending").await), (0, 0));
    let first = json!({ "outcome": "paid", "paid_at": shifted(created, 0) });
    assert_eq!(simulate(&project, &payment, &first).await.expect(200)["status"], "paid");
}

async fn future_money_pays_a_pending_payment_only_up_to_its_expiry(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (one, other) = (pending_qris(&project, 15_000).await, pending_qris(&project, 20_000).await);
    let expires_at = at(&one, "expires_at");
    let report = |millis| json!({ "outcome": "paid", "paid_at": shifted(expires_at, millis) });
    let late = simulate(&project, &one, &report(1)).await.expect(200);
    assert_eq!(late, one, "money of after the expiry leaves the payment as it was");
    assert_eq!(unapplied(&project).await, 15_000);
    let paid = simulate(&project, &other, &report(0)).await.expect(200);
    assert_eq!((text(&paid, "status"), at(&paid, "paid_at")), ("paid", expires_at));
    assert_eq!(unapplied(&project).await, 15_000);
}

async fn each_report_is_a_new_receipt_unless_its_receipt_id_repeats(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    let named = json!({ "outcome": "paid", "receipt_id": "r-1" });
    let paid = simulate(&project, &payment, &named).await.expect(200);
    for report in [
        named.clone(),
        json!({ "outcome": "paid", "receipt_id": "r-1", "amount": 1 }),
        json!({ "outcome": "paid", "receipt_id": "r-1", "paid_at": shifted(kit.clock.now(), 86_400_000) }),
    ] {
        assert_eq!(simulate(&project, &payment, &report).await.expect(200), paid);
    }
    assert_eq!(unapplied(&project).await, 0, "one receipt is one payment");
    for (count, id) in [(1, json!("r-2")), (2, json!("R-1")), (3, Value::Null)] {
        let report = json!({ "outcome": "paid", "receipt_id": id });
        assert_eq!(simulate(&project, &payment, &report).await.expect(200), paid);
        assert_eq!(unapplied(&project).await, count * 15_000, "{id}");
    }
    simulate_paid(&project, &payment).await;
    simulate_paid(&project, &payment).await;
    assert_eq!(unapplied(&project).await, 5 * 15_000);
    assert_eq!(events_of(&project, &payment, "payment.paid").await.len(), 1);
}

async fn a_receipt_counts_once_in_a_project_and_says_nothing_about_another(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let (one, sibling) = (pending_qris(&project, 15_000).await, pending_qris(&project, 15_000).await);
    let elsewhere = pending_qris(&other, 15_000).await;
    let report = json!({ "outcome": "paid", "receipt_id": "r-1" });
    assert_eq!(simulate(&project, &one, &report).await.expect(200)["status"], "paid");
    assert_eq!(simulate(&other, &elsewhere, &report).await.expect(200)["status"], "paid");
    assert_eq!((unapplied(&project).await, balance(&project, "pending").await), (0, 14_895));
    assert_eq!((unapplied(&other).await, balance(&other, "pending").await), (0, 14_895));
    // An unapplied receipt is a receipt too.
    let short = json!({ "outcome": "paid", "receipt_id": "r-2", "amount": 14_999 });
    for _ in 0..2 {
        assert_eq!(simulate(&project, &sibling, &short).await.expect(200), sibling);
    }
    let full = json!({ "outcome": "paid", "receipt_id": "r-2" });
    assert_eq!(simulate(&project, &sibling, &full).await.expect(200), sibling);
    assert_eq!(unapplied(&project).await, 14_999);
}

async fn a_repeated_refusal_with_the_same_receipt_id_answers_200(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    let report = json!({ "outcome": "failed", "receipt_id": "r-1" });
    let failed = simulate(&project, &payment, &report).await.expect(200);
    assert_eq!(failed["status"], "failed");
    assert_eq!(simulate(&project, &payment, &report).await.expect(200), failed);
    let anew = json!({ "outcome": "failed", "receipt_id": "r-2" });
    simulate(&project, &payment, &anew).await.refused(409, "PAYMENT_NOT_EDITABLE");
    assert_eq!(events_of(&project, &payment, "payment.failed").await.len(), 1);
}

async fn the_success_word_of_the_project_is_used_in_payments_lists_and_events(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let before = simulate_paid(&project, &pending_qris(&project, 15_000).await).await;
    let word = |word| ProjectUpdate { success_word: Some(word), ..ProjectUpdate::default() };
    kit.update(project.id, word(SuccessWord::Succeeded)).await;
    let after = simulate_paid(&project, &pending_qris(&project, 20_000).await).await;
    assert_eq!(after["status"], "succeeded");
    assert_eq!(status(&project, &before).await, "succeeded", "it is the API's word, not the payment's");
    for filter in ["paid", "succeeded"] {
        let listed = project.api.get(&format!("/v1/payments?status={filter}")).await.expect(200);
        let words: Vec<&str> = listed["data"].as_array().unwrap().iter().map(|one| text(one, "status")).collect();
        assert_eq!(words, ["succeeded", "succeeded"], "{filter}");
    }
    let told = |events: Vec<Value>| text(&events[0]["data"], "status").to_owned();
    assert_eq!(told(events_of(&project, &after, "payment.paid").await), "succeeded");
    assert_eq!(told(events_of(&project, &before, "payment.paid").await), "paid", "an event tells what was then");
    kit.update(project.id, word(SuccessWord::Paid)).await;
    assert_eq!(status(&project, &after).await, "paid");
    assert_eq!(
        (count_payments(&project, "status=paid").await, count_payments(&project, "status=succeeded").await),
        (2, 2)
    );
    assert_eq!(told(events_of(&project, &after, "payment.paid").await), "succeeded");
}

async fn a_production_key_may_not_simulate(kit: Arc<Kit>) {
    let sandbox = kit.sandbox().await;
    let payment = pending_qris(&sandbox, 15_000).await;
    let unapproved = kit.project(Environment::Production).await;
    for project in [kit.production().await, unapproved] {
        for report in [json!({ "outcome": "paid" }), json!([]), json!({ "outcome": "maybe" })] {
            simulate(&project, &payment, &report).await.refused(403, "FORBIDDEN");
        }
        let unknown = json!({ "id": "pay_unknown" });
        simulate(&project, &unknown, &json!({ "outcome": "paid" })).await.refused(403, "FORBIDDEN");
    }
    assert_eq!(fetch(&sandbox, &payment).await, payment);
}

async fn another_projects_payment_and_an_unknown_one_cannot_be_simulated(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let payment = pending_qris(&other, 15_000).await;
    let unknown = json!({ "id": format!("pay_{}", "0".repeat(26)) });
    for target in [payment.clone(), unknown, json!({ "id": "junk" })] {
        for outcome in ["paid", "failed", "processing", "expired"] {
            simulate(&project, &target, &json!({ "outcome": outcome })).await.refused(404, "RESOURCE_NOT_FOUND");
        }
    }
    assert_eq!(fetch(&other, &payment).await, payment);
    assert_eq!((unapplied(&project).await, unapplied(&other).await), (0, 0));
}

async fn a_report_that_breaks_a_rule_is_refused_and_leaves_nothing_behind(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    let paid = |member: &str, value: Value| json!({ "outcome": "paid", member: value });
    for (report, code, named) in [
        (json!({}), "VALIDATION_ERROR", "`outcome`"),
        (json!({ "outcome": null }), "VALIDATION_ERROR", "`outcome`"),
        (json!({ "outcome": "" }), "VALIDATION_ERROR", "`outcome`"),
        (json!({ "outcome": "PAID" }), "VALIDATION_ERROR", "`outcome`"),
        (json!({ "outcome": "succeeded" }), "VALIDATION_ERROR", "`outcome`"),
        (json!({ "outcome": "cancelled" }), "VALIDATION_ERROR", "`outcome`"),
        (paid("amount", json!(0)), "VALIDATION_ERROR", "`amount`"),
        (paid("amount", json!(-15_000)), "VALIDATION_ERROR", "`amount`"),
        (paid("amount", json!(1_000_000_000_000_i64)), "VALIDATION_ERROR", "`amount`"),
        (paid("paid_at", json!("")), "VALIDATION_ERROR", "`paid_at`"),
        (paid("paid_at", json!("yesterday")), "VALIDATION_ERROR", "`paid_at`"),
        (paid("paid_at", json!("2026-02-30T00:00:00Z")), "VALIDATION_ERROR", "`paid_at`"),
        (json!({ "outcome": 1 }), "INVALID_REQUEST", "`outcome`"),
        (paid("amount", json!("15000")), "INVALID_REQUEST", "`amount`"),
        (paid("amount", json!(15_000.0)), "INVALID_REQUEST", "`amount`"),
        (paid("paid_at", json!(1_794_648_600)), "INVALID_REQUEST", "`paid_at`"),
        (paid("receipt_id", json!(1)), "INVALID_REQUEST", "`receipt_id`"),
        (json!([]), "INVALID_REQUEST", ""),
        (json!("paid"), "INVALID_REQUEST", ""),
    ] {
        let reply = simulate(&project, &payment, &report).await;
        assert_eq!(reply.status.as_u16(), 400, "{report} {}", reply.text);
        let message = reply.refused(400, code);
        assert!(message.contains(named), "{report}: {message}");
    }
    assert_eq!(fetch(&project, &payment).await, payment);
    assert_eq!((unapplied(&project).await, balance(&project, "pending").await), (0, 0));
}

/// Sends `reports` to one payment concurrently.
async fn race(project: &TestProject, payment: &Value, reports: Vec<Value>) -> Vec<(Value, Reply)> {
    let mut racers = JoinSet::new();
    for report in reports {
        let (api, path) = (project.api.clone(), format!("/v1/sandbox/payments/{}/simulate", text(payment, "id")));
        racers.spawn(async move {
            let reply = api.post(&path, &report).await;
            (report, reply)
        });
    }
    racers.join_all().await
}

async fn concurrent_money_pays_once_and_the_rest_is_unapplied(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    for (_, reply) in race(&project, &payment, vec![json!({ "outcome": "paid" }); RACERS]).await {
        assert_eq!(reply.expect(200)["status"], "paid");
    }
    assert_eq!(balance(&project, "pending").await, 14_895);
    assert_eq!(unapplied(&project).await, (RACERS as i64 - 1) * 15_000);
    assert_eq!(events_of(&project, &payment, "payment.paid").await.len(), 1);
}

async fn concurrent_reports_of_one_receipt_are_one_receipt_and_all_see_what_it_did(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (outcome, kind) in [("paid", "payment.paid"), ("failed", "payment.failed")] {
        let payment = pending_qris(&project, 15_000).await;
        let report = json!({ "outcome": outcome, "receipt_id": format!("r-{outcome}") });
        for (_, reply) in race(&project, &payment, vec![report; RACERS]).await {
            assert_eq!(reply.expect(200)["status"], outcome);
        }
        assert_eq!(unapplied(&project).await, 0);
        assert_eq!(events_of(&project, &payment, kind).await.len(), 1);
    }
}

async fn a_refusal_that_races_with_timely_money_never_undoes_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    let (money, refusal) = (json!({ "outcome": "paid" }), json!({ "outcome": "failed" }));
    let reports = [money, refusal].into_iter().cycle().take(RACERS).collect();
    for (report, reply) in race(&project, &payment, reports).await {
        match (text(&report, "outcome"), reply.status.as_u16()) {
            ("failed", 409) => _ = reply.refused(409, "PAYMENT_NOT_EDITABLE"),
            _ => _ = reply.expect(200),
        }
    }
    assert_eq!(status(&project, &payment).await, "paid");
    assert_eq!(unapplied(&project).await, (RACERS as i64 / 2 - 1) * 15_000);
    assert_eq!(events_of(&project, &payment, "payment.paid").await.len(), 1);
    assert!(events_of(&project, &payment, "payment.failed").await.len() <= 1);
}

async fn a_notice_leaves_its_receipt_id_free_for_the_money(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for notices in [&["processing"][..], &["failed"], &["processing", "failed"]] {
        let payment = pending_qris(&project, 15_000).await;
        let before = balance(&project, "pending").await;
        let report = |outcome: &str| json!({ "outcome": outcome, "receipt_id": notices.join("+") });
        for outcome in notices {
            let told = simulate(&project, &payment, &report(outcome)).await.expect(200);
            assert_eq!(told["status"], *outcome, "{notices:?}");
        }
        for _ in 0..2 {
            let paid = simulate(&project, &payment, &report("paid")).await.expect(200);
            assert_eq!(paid["status"], "paid", "{notices:?}");
        }
        assert_eq!((balance(&project, "pending").await - before, unapplied(&project).await), (14_895, 0));
        // What a bank reports late about the same receipt is known.
        for outcome in ["processing", "failed"] {
            let told = simulate(&project, &payment, &report(outcome)).await.expect(200);
            assert_eq!(told["status"], "paid", "{notices:?}");
        }
        assert_eq!(events_of(&project, &payment, "payment.paid").await.len(), 1);
    }
}

async fn a_notice_for_another_payment_under_the_same_receipt_id_is_taken(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for outcome in ["failed", "processing", "paid"] {
        let (one, other) = (pending_qris(&project, 15_000).await, pending_qris(&project, 15_000).await);
        let report = |outcome| json!({ "outcome": outcome, "receipt_id": format!("of-{outcome}") });
        simulate(&project, &one, &report(outcome)).await.expect(200);
        let refused = simulate(&project, &other, &report("failed")).await.expect(200);
        assert_eq!(refused["status"], "failed", "{outcome}");
        assert_eq!(status(&project, &one).await, outcome);
    }
}

async fn money_under_another_payments_receipt_id_is_held_and_never_dropped(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (one, two) = (pending_qris(&project, 15_000).await, pending_qris(&project, 20_000).await);
    let three = pending_qris(&project, 30_000).await;
    // The first money does not even fit its payment.
    let report = json!({ "outcome": "paid", "receipt_id": "r-1" });
    let short = json!({ "outcome": "paid", "receipt_id": "r-1", "amount": 1 });
    assert_eq!(simulate(&project, &one, &short).await.expect(200), one);
    for (payment, held) in [(&two, 20_001), (&three, 50_001), (&two, 50_001), (&one, 50_001)] {
        assert_eq!(simulate(&project, payment, &report).await.expect(200), *payment);
        assert_eq!(unapplied(&project).await, held);
    }
    let everything = engine::Window { offset: 0, limit: 10 };
    let held = kit.store.unapplied_receipts(project.id, UnappliedFilter::Undecided, None, everything).await.unwrap();
    let mut reasons: Vec<_> = held.items.iter().map(|held| (held.receipt.amount.get(), held.reason)).collect();
    reasons.sort_by_key(|(amount, _)| *amount);
    let reused = Unapplied::ReceiptReused;
    assert_eq!(reasons, [(1, Unapplied::WrongAmount), (20_000, reused), (30_000, reused)]);
    // Money under an id of its own still pays.
    assert_eq!(simulate_paid(&project, &two).await["status"], "paid");
}

async fn a_notice_that_races_with_money_of_its_receipt_id_never_loses_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for round in 0..4 {
        let payment = pending_qris(&project, 15_000).await;
        let outcomes = ["processing", "paid", "failed"].into_iter().cycle().take(RACERS);
        let report = |outcome| json!({ "outcome": outcome, "receipt_id": format!("r-{round}") });
        for (_, reply) in race(&project, &payment, outcomes.map(report).collect()).await {
            reply.expect(200);
        }
        assert_eq!(status(&project, &payment).await, "paid");
        assert_eq!(events_of(&project, &payment, "payment.paid").await.len(), 1);
    }
    assert_eq!((balance(&project, "pending").await, unapplied(&project).await), (4 * 14_895, 0));
}

async fn of_payments_that_get_money_of_one_receipt_id_at_once_one_is_paid_and_the_rest_is_held(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut racers = JoinSet::new();
    for _ in 0..RACERS / 2 {
        let payment = pending_qris(&project, 15_000).await;
        for _ in 0..2 {
            let (api, payment) = (project.api.clone(), text(&payment, "id").to_owned());
            let report = json!({ "outcome": "paid", "receipt_id": "r-1" });
            racers.spawn(async move { api.post(&format!("/v1/sandbox/payments/{payment}/simulate"), &report).await });
        }
    }
    racers.join_all().await.into_iter().for_each(|reply| _ = reply.expect(200));
    assert_eq!(balance(&project, "pending").await, 14_895);
    assert_eq!(unapplied(&project).await, (RACERS as i64 / 2 - 1) * 15_000);
    assert_eq!(count_payments(&project, "status=paid").await, 1);
}

async fn a_simulated_expiry_is_one_from_that_moment_on(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    let (early, late) = (pending_qris(&project, 15_000).await, pending_qris(&project, 15_000).await);
    kit.clock.set(moved(kit.clock.now(), 60_000));
    let now = kit.clock.now().to_string();
    for payment in [&payment, &early, &late] {
        let mut expected = payment.clone();
        expected["status"] = json!("expired");
        expected["expires_at"] = json!(now);
        let expired = simulate(&project, payment, &json!({ "outcome": "expired" })).await.expect(200);
        assert_eq!(expired, expected);
        assert_eq!(fetch(&project, payment).await, expected);
    }
    // Money after it is late, though it came before the first `expires_at`; money before it is not.
    kit.clock.set(moved(kit.clock.now(), 1));
    assert_eq!(simulate_paid(&project, &late).await["status"], "expired");
    assert_eq!(unapplied(&project).await, 15_000);
    let in_time = json!({ "outcome": "paid", "paid_at": now });
    assert_eq!(simulate(&project, &early, &in_time).await.expect(200)["status"], "paid");
    assert_eq!((unapplied(&project).await, balance(&project, "pending").await), (15_000, 14_895));
}

async fn what_has_ended_or_is_processing_does_not_expire(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for outcome in ["processing", "paid", "failed", "expired"] {
        let payment = pending_qris(&project, 15_000).await;
        let before = simulate(&project, &payment, &json!({ "outcome": outcome })).await.expect(200);
        kit.clock.set(moved(kit.clock.now(), 1));
        let again = simulate(&project, &payment, &json!({ "outcome": "expired" })).await;
        again.refused(409, "PAYMENT_NOT_EDITABLE");
        assert_eq!(fetch(&project, &payment).await, before);
    }
}
