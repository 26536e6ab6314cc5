//! The table of payment states, row by row, and expiry to the millisecond (docs/contract.md §3.2 and decisions §4).

use std::{sync::Arc, time::Duration};

use domain::method::Method;
use engine::Clock;
use serde_json::{Value, json};
use testkit::{Kit, TestProject, on_every_database};

use crate::support::{
    json::{at, moved, shifted, text},
    links::{attempt, cancel_link, create_link},
    payments::{balance, count_payments, events_of, fetch, pending_qris, simulate, simulate_paid, status, unapplied},
};

on_every_database![
    timely_money_pays_in_every_state_but_paid,
    money_sent_after_the_expiry_is_unapplied_unless_the_payment_is_processing,
    money_pays_a_cancelled_payment_only_up_to_its_cancellation,
    money_of_a_wrong_amount_is_unapplied_in_full_and_changes_no_state,
    the_right_amount_still_pays_after_a_wrong_one,
    a_second_payment_of_the_same_code_is_unapplied,
    a_refusal_fails_a_payment_that_has_not_ended,
    a_payment_that_was_seen_but_is_not_final_is_processing,
    a_failed_payment_that_is_paid_after_all_has_both_events_each_as_it_was_then,
    a_pending_payment_is_expired_the_millisecond_after_expires_at,
    recording_expiries_changes_nothing_that_the_api_shows,
    a_processing_payment_never_expires,
];

/// The state of a payment when a report arrives, and how it got there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Pending,
    Processing,
    Paid,
    Failed,
    /// Past its expiry, which is not recorded yet.
    Expired,
    /// Past its expiry, which a reconciler has recorded.
    Swept,
    /// Its link was cancelled one second after it was created.
    Cancelled,
}

impl From {
    const ALL: [From; 7] =
        [From::Pending, From::Processing, From::Paid, From::Failed, From::Expired, From::Swept, From::Cancelled];

    fn is_final(self) -> bool {
        !matches!(self, From::Pending | From::Processing)
    }

    async fn make(self, kit: &Kit, project: &TestProject) -> Value {
        let link = create_link(project, json!({})).await;
        let payment = attempt(kit, project, &link, Method::Qris).await;
        let expiry = moved(at(&payment, "expires_at"), 1);
        let report = |outcome: &str| json!({ "outcome": outcome });
        match self {
            From::Pending => {}
            From::Processing => _ = simulate(project, &payment, &report("processing")).await.expect(200),
            From::Paid => _ = simulate_paid(project, &payment).await,
            From::Failed => _ = simulate(project, &payment, &report("failed")).await.expect(200),
            From::Expired => kit.clock.set(expiry),
            From::Swept => {
                kit.clock.set(expiry);
                assert_eq!(kit.engine.expire_due().await.unwrap(), 1);
            }
            From::Cancelled => {
                kit.clock.advance(Duration::from_secs(1));
                cancel_link(project, &link).await;
            }
        }
        let word = if self == From::Swept { "expired".to_owned() } else { format!("{self:?}").to_lowercase() };
        let made = fetch(project, &payment).await;
        assert_eq!(text(&made, "status"), word);
        made
    }
}

/// What one report must do.
#[derive(Clone, Copy, Debug)]
enum Effect {
    /// The payment becomes paid at the reported time.
    Pays,
    /// The money is kept as unapplied, and nothing else changes.
    Unapplied,
    Becomes(&'static str),
    /// 200, and nothing changes.
    Nothing,
    /// 409, and nothing changes.
    Refused,
}

/// Everything that a report could change.
#[derive(Debug, PartialEq)]
struct Seen {
    payment: Value,
    pending: i64,
    unapplied: i64,
    paid_events: Vec<Value>,
    failed_events: Vec<Value>,
}

async fn look(project: &TestProject, payment: &Value) -> Seen {
    Seen {
        payment: fetch(project, payment).await,
        pending: balance(project, "pending").await,
        unapplied: unapplied(project).await,
        paid_events: events_of(project, payment, "payment.paid").await,
        failed_events: events_of(project, payment, "payment.failed").await,
    }
}

/// Reports to a payment and compares everything visible with the expected effect.
async fn check(project: &TestProject, payment: &Value, report: &Value, effect: Effect) {
    let row = format!("{} + {report}: {effect:?}", text(payment, "status"));
    let mut expected = look(project, payment).await;
    let reply = simulate(project, payment, report).await;
    let seen = look(project, payment).await;
    match effect {
        Effect::Refused => _ = reply.refused(409, "PAYMENT_NOT_EDITABLE"),
        _ => assert_eq!(reply.expect(200), seen.payment, "{row}"),
    }
    match effect {
        Effect::Pays => {
            expected.payment["status"] = json!("paid");
            expected.payment["paid_at"] = report["paid_at"].clone();
            expected.pending += payment["merchant_net"].as_i64().unwrap();
        }
        Effect::Unapplied => {
            let amount = report["amount"].as_i64().or(payment["amount"].as_i64());
            expected.unapplied += amount.unwrap();
        }
        Effect::Becomes(status) => expected.payment["status"] = json!(status),
        Effect::Nothing | Effect::Refused => {}
    }
    // A change that owes an event has exactly one, which shows the payment as it was at that moment.
    let (events, owed) = match effect {
        Effect::Pays => (&seen.paid_events, Some(&mut expected.paid_events)),
        Effect::Becomes("failed") => (&seen.failed_events, Some(&mut expected.failed_events)),
        _ => (&seen.paid_events, None),
    };
    if let Some(owed) = owed {
        assert_eq!(events.len(), 1, "{row}");
        assert_eq!(events[0]["data"], seen.payment, "{row}");
        owed.push(events[0].clone());
    }
    assert_eq!(seen, expected, "{row}");
}

fn paid_at(payment: &Value, member: &str, millis: i64) -> Value {
    json!({ "outcome": "paid", "paid_at": shifted(at(payment, member), millis) })
}

async fn timely_money_pays_in_every_state_but_paid(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for from in From::ALL {
        let effect = if from == From::Paid { Effect::Unapplied } else { Effect::Pays };
        let payment = from.make(&kit, &project).await;
        check(&project, &payment, &paid_at(&payment, "created_at", 0), effect).await;
        if from != From::Cancelled {
            let payment = from.make(&kit, &project).await;
            check(&project, &payment, &paid_at(&payment, "expires_at", 0), effect).await;
        }
    }
}

async fn money_sent_after_the_expiry_is_unapplied_unless_the_payment_is_processing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for from in From::ALL {
        let effect = if from == From::Processing { Effect::Pays } else { Effect::Unapplied };
        for millis in [1, 86_400_000] {
            let payment = from.make(&kit, &project).await;
            check(&project, &payment, &paid_at(&payment, "expires_at", millis), effect).await;
        }
    }
}

async fn money_pays_a_cancelled_payment_only_up_to_its_cancellation(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (millis, effect) in [(999, Effect::Pays), (1_000, Effect::Pays), (1_001, Effect::Unapplied)] {
        let payment = From::Cancelled.make(&kit, &project).await;
        check(&project, &payment, &paid_at(&payment, "created_at", millis), effect).await;
    }
}

async fn money_of_a_wrong_amount_is_unapplied_in_full_and_changes_no_state(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for from in From::ALL {
        let payment = from.make(&kit, &project).await;
        let amount = payment["amount"].as_i64().unwrap();
        for other in [1, amount - 1, amount + 1, amount * 2, 999_999_999_999] {
            let mut report = paid_at(&payment, "created_at", 0);
            report["amount"] = json!(other);
            check(&project, &payment, &report, Effect::Unapplied).await;
        }
    }
}

async fn the_right_amount_still_pays_after_a_wrong_one(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = From::Pending.make(&kit, &project).await;
    let short = json!({ "outcome": "paid", "amount": 49_999 });
    check(&project, &payment, &short, Effect::Unapplied).await;
    let mut report = paid_at(&payment, "created_at", 0);
    report["amount"] = json!(50_000);
    check(&project, &payment, &report, Effect::Pays).await;
    assert_eq!(unapplied(&project).await, 49_999);
}

async fn a_second_payment_of_the_same_code_is_unapplied(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = From::Paid.make(&kit, &project).await;
    for _ in 0..3 {
        check(&project, &payment, &json!({ "outcome": "paid" }), Effect::Unapplied).await;
    }
    kit.clock.advance(Duration::from_hours(24));
    check(&project, &payment, &json!({ "outcome": "paid" }), Effect::Unapplied).await;
    assert_eq!(unapplied(&project).await, 4 * 50_000);
}

async fn a_refusal_fails_a_payment_that_has_not_ended(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for from in From::ALL {
        let effect = if from.is_final() { Effect::Refused } else { Effect::Becomes("failed") };
        let payment = from.make(&kit, &project).await;
        check(&project, &payment, &json!({ "outcome": "failed" }), effect).await;
    }
}

async fn a_payment_that_was_seen_but_is_not_final_is_processing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for from in From::ALL {
        let effect = match from {
            From::Pending => Effect::Becomes("processing"),
            From::Processing => Effect::Nothing,
            _ => Effect::Refused,
        };
        let payment = from.make(&kit, &project).await;
        check(&project, &payment, &json!({ "outcome": "processing" }), effect).await;
    }
}

async fn a_failed_payment_that_is_paid_after_all_has_both_events_each_as_it_was_then(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let failed = From::Failed.make(&kit, &project).await;
    kit.clock.advance(Duration::from_hours(1));
    check(&project, &failed, &paid_at(&failed, "expires_at", 0), Effect::Pays).await;
    let told = events_of(&project, &failed, "payment.failed").await;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["data"], failed);
}

async fn a_pending_payment_is_expired_the_millisecond_after_expires_at(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for swept in [false, true] {
        let payment = pending_qris(&project, 15_000).await;
        let expires_at = at(&payment, "expires_at");
        let before = count_payments(&project, "status=expired").await;
        for (millis, word, pending) in [(-1, "pending", 1), (0, "pending", 1), (1, "expired", 0), (2, "expired", 0)] {
            kit.clock.set(moved(expires_at, millis));
            if swept {
                kit.engine.expire_due().await.unwrap();
            }
            let mut expected = payment.clone();
            expected["status"] = json!(word);
            assert_eq!(fetch(&project, &payment).await, expected, "{millis} ms, swept: {swept}");
            let found =
                (count_payments(&project, "status=pending").await, count_payments(&project, "status=expired").await);
            assert_eq!(found, (pending, before + 1 - pending), "{millis} ms, swept: {swept}");
            let listed = project.api.get(&format!("/v1/payments?status={word}")).await.expect(200);
            assert!(listed["data"].as_array().unwrap().contains(&expected), "{millis} ms, swept: {swept}");
        }
    }
    assert_eq!(project.api.get("/v1/events").await.expect(200)["pagination"]["total_items"], 0);
}

async fn recording_expiries_changes_nothing_that_the_api_shows(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for from in [From::Pending, From::Processing, From::Paid, From::Failed, From::Cancelled] {
        from.make(&kit, &project).await;
    }
    kit.clock.advance(Duration::from_hours(1));
    let pages = ["/v1/payments", "/v1/payments?status=expired", "/v1/payments?status=pending", "/v1/events"];
    let mut before = Vec::new();
    for page in pages {
        before.push(project.api.get(page).await.expect(200));
    }
    assert_eq!(kit.engine.expire_due().await.unwrap(), 1);
    assert_eq!(kit.engine.expire_due().await.unwrap(), 0, "the work is done");
    for (page, before) in pages.into_iter().zip(before) {
        assert_eq!(project.api.get(page).await.expect(200), before, "{page}");
    }
}

async fn a_processing_payment_never_expires(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = From::Processing.make(&kit, &project).await;
    From::Pending.make(&kit, &project).await;
    kit.clock.advance(Duration::from_hours(24 * 365));
    assert_eq!(kit.engine.expire_due().await.unwrap(), 1, "the sweeper has been at work");
    assert_eq!(status(&project, &payment).await, "processing");
    let found = (count_payments(&project, "status=processing").await, count_payments(&project, "status=expired").await);
    assert_eq!(found, (1, 1));
    let report = json!({ "outcome": "paid", "paid_at": kit.clock.now().to_string() });
    check(&project, &payment, &report, Effect::Pays).await;
}
