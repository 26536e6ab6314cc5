//! Reading, listing, expiring and cancelling payment links (docs/contract.md §3.1, §4.6 to §4.8 and decisions §5).

use std::{sync::Arc, time::Duration};

use domain::{bank::Bank, method::Method, payment::Checkout};
use engine::{Attempt, Error, ProjectUpdate};
use reqwest::{Method as Verb, header::CONTENT_TYPE};
use serde_json::{Value, json};
use testkit::{Kit, ManualClock, TestProject, on_every_database, on_sqlite_alone};
use tokio::{sync::Semaphore, task::JoinSet};

use crate::support::{
    customer::{Customer, link_path},
    json::id,
    links::{attempt, try_attempt},
    nodes::engine_on,
    payments::{report, simulate, simulate_paid, total},
    refusals::refused,
    samples,
};

on_every_database![
    only_an_active_link_can_be_cancelled,
    a_link_is_inactive_one_millisecond_after_its_expiry_and_not_before,
    a_cancelled_link_stays_cancelled_after_its_expiry,
    money_sent_before_a_link_was_cancelled_still_pays_and_later_money_does_not,
    a_busy_link_is_cancelled_by_one_call on 4 threads,
    a_clock_that_steps_back_leaves_nothing_that_verify_reports,
    nodes_whose_clocks_differ_leave_nothing_that_verify_reports,
    links_are_listed_newest_first_in_the_envelope,
    search_finds_part_of_the_title_or_the_reference_in_any_case_and_no_character_is_special,
];

on_sqlite_alone![
    cancelling_an_active_link_answers_with_the_link_cancelled,
    an_unknown_link_and_another_projects_link_are_not_found,
    cancel_ignores_any_body_and_content_type,
    cancelling_a_link_cancels_its_pending_payments_and_no_other,
    a_single_use_link_stays_active_after_its_payment_but_takes_no_other_attempt,
    a_processing_payment_claims_a_single_use_link_too,
    a_link_for_many_payments_takes_them_all,
    a_cancelled_or_expired_link_takes_no_attempt,
    a_payment_through_a_link_ends_at_its_methods_default_or_with_the_link_if_that_is_sooner,
    a_link_none_of_whose_methods_is_offered_is_inactive,
    bad_query_values_are_validation_errors_on_every_list,
];

const PATH: &str = "/v1/payment-links";
/// Customers who try a link again and again.
const CUSTOMERS: u32 = 16;
const MILLISECOND: Duration = Duration::from_millis(1);

async fn link(project: &TestProject, changes: Value) -> Value {
    let mut body = samples::link(project, 15_000);
    for (name, value) in changes.as_object().unwrap() {
        body[name.as_str()] = value.clone();
    }
    project.api.post(PATH, &body).await.expect(201)
}

async fn cancel(project: &TestProject, link: &Value) -> testkit::Reply {
    let path = format!("{PATH}/{}/cancel", id(link));
    project.api.send(project.api.request(Verb::POST, &path)).await
}

async fn shown(project: &TestProject, link: &Value) -> Value {
    project.api.get(&format!("{PATH}/{}", id(link))).await.expect(200)
}

async fn payment_status(project: &TestProject, payment: &Value) -> Value {
    project.api.get(&format!("/v1/payments/{}", id(payment))).await.expect(200)["status"].clone()
}

/// Expiring a minute from now.
fn expiring_soon(kit: &Kit) -> Value {
    json!({ "expires_at": kit.engine.now().plus(Duration::from_mins(1)).to_string() })
}

async fn cancelling_an_active_link_answers_with_the_link_cancelled(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let made = link(&project, json!({})).await;
    let mut wanted = made.clone();
    wanted["status"] = json!("cancelled");
    assert_eq!(cancel(&project, &made).await.expect(200), wanted);
    assert_eq!(shown(&project, &made).await, wanted);
    assert_eq!(project.api.get(PATH).await.expect(200)["data"], json!([wanted]));
}

async fn only_an_active_link_can_be_cancelled(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let cancelled = link(&project, json!({})).await;
    cancel(&project, &cancelled).await.expect(200);
    cancel(&project, &cancelled).await.refused(409, "PAYMENT_LINK_NOT_ACTIVE");
    let inactive = link(&project, expiring_soon(&kit)).await;
    kit.clock.advance(Duration::from_mins(1) + MILLISECOND);
    cancel(&project, &inactive).await.refused(409, "PAYMENT_LINK_NOT_ACTIVE");
    assert_eq!(shown(&project, &inactive).await["status"], "inactive");
}

async fn an_unknown_link_and_another_projects_link_are_not_found(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let theirs = link(&other, json!({})).await;
    let payment = project.api.pay("k-1", &samples::qris(&project, 15_000)).await.expect(201);
    let unknown = format!("{}{}", &id(&theirs)[..28], if id(&theirs).ends_with('0') { "1" } else { "0" });
    for wrong in [id(&theirs), &unknown, id(&payment), "junk", "pl_", &id(&theirs).to_uppercase(), "%00", "%FF"] {
        let path = format!("{PATH}/{wrong}");
        refused(&path, project.api.get(&path).await, 404, "RESOURCE_NOT_FOUND");
        let path = format!("{path}/cancel");
        refused(&path, project.api.post(&path, &json!({})).await, 404, "RESOURCE_NOT_FOUND");
    }
    assert_eq!(shown(&other, &theirs).await["status"], "active");
    let listed = project.api.get(PATH).await;
    assert!(!listed.text.contains(id(&theirs)) && !listed.text.contains(&other.id.to_string()));
    assert_eq!(listed.expect(200)["pagination"]["total_items"], 0);
}

async fn cancel_ignores_any_body_and_content_type(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (content_type, body) in [("text/plain", "["), ("application/json", "\u{0}"), ("application/xml", "<a/>")] {
        let made = link(&project, json!({})).await;
        let path = format!("{PATH}/{}/cancel", id(&made));
        let request = project.api.request(Verb::POST, &path).header(CONTENT_TYPE, content_type).body(body);
        assert_eq!(project.api.send(request).await.expect(200)["status"], "cancelled", "{content_type}");
    }
}

async fn a_link_is_inactive_one_millisecond_after_its_expiry_and_not_before(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let made = link(&project, expiring_soon(&kit)).await;
    kit.clock.advance(Duration::from_mins(1));
    assert_eq!(shown(&project, &made).await["status"], "active");
    kit.clock.advance(MILLISECOND);
    assert_eq!(shown(&project, &made).await["status"], "inactive");
    assert_eq!(project.api.get(PATH).await.expect(200)["data"][0]["status"], "inactive");
}

async fn a_cancelled_link_stays_cancelled_after_its_expiry(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let made = link(&project, expiring_soon(&kit)).await;
    cancel(&project, &made).await.expect(200);
    kit.clock.advance(Duration::from_hours(1));
    assert_eq!(shown(&project, &made).await["status"], "cancelled");
}

async fn cancelling_a_link_cancels_its_pending_payments_and_no_other(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let made = link(&project, json!({ "allow_multiple_payments": true })).await;
    let neighbour = link(&project, json!({})).await;
    let pending = attempt(&kit, &project, &made, Method::VirtualAccount(Bank::Bca)).await;
    let expired = attempt(&kit, &project, &made, Method::Qris).await;
    kit.clock.advance(Duration::from_mins(16));
    let processing = attempt(&kit, &project, &made, Method::Qris).await;
    report(&project, &processing, "processing").await;
    let failed = attempt(&kit, &project, &made, Method::Qris).await;
    report(&project, &failed, "failed").await;
    let paid = attempt(&kit, &project, &made, Method::Qris).await;
    simulate_paid(&project, &paid).await;
    let elsewhere = attempt(&kit, &project, &neighbour, Method::Qris).await;
    let direct = project.api.pay("k-1", &samples::qris(&project, 15_000)).await.expect(201);

    assert_eq!(cancel(&project, &made).await.expect(200)["status"], "cancelled");
    for (payment, status) in [
        (&pending, "cancelled"),
        (&expired, "expired"),
        (&processing, "processing"),
        (&failed, "failed"),
        (&paid, "paid"),
        (&elsewhere, "pending"),
        (&direct, "pending"),
    ] {
        assert_eq!(payment_status(&project, payment).await, status);
    }
    // A payment that was processing when the link was cancelled can still be paid.
    assert_eq!(simulate_paid(&project, &processing).await["status"], "paid");
    let path = format!("/v1/payments?payment_link_id={}&status=cancelled", id(&made));
    assert_eq!(project.api.get(&path).await.expect(200)["data"][0]["id"], pending["id"]);
}

async fn money_sent_before_a_link_was_cancelled_still_pays_and_later_money_does_not(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (late, status) in [(Duration::ZERO, "paid"), (MILLISECOND, "cancelled")] {
        let made = link(&project, json!({})).await;
        let payment = attempt(&kit, &project, &made, Method::Qris).await;
        cancel(&project, &made).await.expect(200);
        let paid_at = kit.engine.now().plus(late).to_string();
        kit.clock.advance(Duration::from_secs(1));
        let after = simulate(&project, &payment, &json!({ "outcome": "paid", "paid_at": paid_at })).await.expect(200);
        assert_eq!(after["status"], status);
        assert_eq!(shown(&project, &made).await["status"], "cancelled");
    }
    assert_eq!(project.api.get("/v1/balance").await.expect(200)["unapplied"], 15_000);
}

async fn a_single_use_link_stays_active_after_its_payment_but_takes_no_other_attempt(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let made = link(&project, json!({})).await;
    let first = attempt(&kit, &project, &made, Method::Qris).await;
    let sibling = attempt(&kit, &project, &made, Method::VirtualAccount(Bank::Bca)).await;
    simulate_paid(&project, &first).await;
    assert_eq!(shown(&project, &made).await["status"], "active");
    assert_eq!(payment_status(&project, &sibling).await, "cancelled");
    let refusal = try_attempt(&kit, &made, Method::Qris).await;
    assert!(matches!(refusal, Err(engine::Error::NotEditable)), "{refusal:?}");
    assert_eq!(total(&project.api, "/v1/payments").await, 2);
    // The link is active, so it can be cancelled; its paid payment stays paid.
    cancel(&project, &made).await.expect(200);
    assert_eq!(payment_status(&project, &first).await, "paid");
}

async fn a_processing_payment_claims_a_single_use_link_too(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let made = link(&project, json!({})).await;
    let first = attempt(&kit, &project, &made, Method::Qris).await;
    let second = attempt(&kit, &project, &made, Method::VirtualAccount(Bank::Bca)).await;
    report(&project, &first, "processing").await;
    let refusal = try_attempt(&kit, &made, Method::Qris).await;
    assert!(matches!(refusal, Err(engine::Error::NotEditable)), "{refusal:?}");
    // Another payment may still be paid first; then the processing one keeps its status, and its money is unapplied.
    simulate_paid(&project, &second).await;
    assert_eq!(payment_status(&project, &first).await, "processing");
    assert_eq!(simulate_paid(&project, &first).await["status"], "processing");
    assert_eq!(project.api.get("/v1/balance").await.expect(200)["unapplied"], 15_000);
}

async fn a_link_for_many_payments_takes_them_all(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let made = link(&project, json!({ "allow_multiple_payments": true })).await;
    for _ in 0..3 {
        let payment = attempt(&kit, &project, &made, Method::Qris).await;
        assert_eq!(simulate_paid(&project, &payment).await["status"], "paid");
    }
    assert_eq!(shown(&project, &made).await["status"], "active");
    assert_eq!(total(&project.api, &format!("/v1/payments?payment_link_id={}", id(&made))).await, 3);
    assert_eq!(project.api.get("/v1/balance").await.expect(200)["unapplied"], 0);
}

async fn a_cancelled_or_expired_link_takes_no_attempt(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let cancelled = link(&project, json!({})).await;
    cancel(&project, &cancelled).await.expect(200);
    let inactive = link(&project, expiring_soon(&kit)).await;
    kit.clock.advance(Duration::from_mins(1) + MILLISECOND);
    for made in [&cancelled, &inactive] {
        let refusal = try_attempt(&kit, made, Method::Qris).await;
        assert!(matches!(refusal, Err(engine::Error::LinkNotActive)), "{refusal:?}");
    }
    assert_eq!(total(&project.api, "/v1/payments").await, 0);
}

async fn a_payment_through_a_link_ends_at_its_methods_default_or_with_the_link_if_that_is_sooner(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let after = |minutes| json!(kit.engine.now().plus(Duration::from_mins(minutes)).to_string());
    let endless = link(&project, json!({ "allow_multiple_payments": true })).await;
    let ending = link(&project, json!({ "allow_multiple_payments": true, "expires_at": after(20) })).await;
    for (made, method, ends) in [
        (&endless, Method::Qris, after(15)),
        (&endless, Method::VirtualAccount(Bank::Bca), after(1_440)),
        (&ending, Method::Qris, after(15)),
        (&ending, Method::VirtualAccount(Bank::Bca), after(20)),
    ] {
        let payment = attempt(&kit, &project, made, method).await;
        assert_eq!(payment["expires_at"], ends);
        assert_eq!(payment["payment_link_id"], made["id"]);
        assert_eq!((&payment["reference"], &payment["amount"]), (&made["reference"], &made["amount"]));
    }
    let made = link(&project, json!({})).await;
    let foreign = try_attempt(&kit, &made, Method::VirtualAccount(Bank::Bss)).await;
    assert!(matches!(foreign, Err(engine::Error::Invalid(_))), "a link takes only its own methods: {foreign:?}");
}

/// Before, cancelling depended on the link's version, which every attempt raises: a busy link answered 503.
async fn a_busy_link_is_cancelled_by_one_call(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for many in [true, false, true, false] {
        let made = link(&project, json!({ "allow_multiple_payments": many })).await;
        let (started, mut customers) = (Arc::new(Semaphore::new(0)), JoinSet::new());
        for _ in 0..CUSTOMERS {
            let (kit, made, started) = (Arc::clone(&kit), made.clone(), Arc::clone(&started));
            customers.spawn(async move {
                // Each is a visitor of their own who changes their mind until the link is closed.
                let visitor = Some(format!("{:?}", tokio::task::id()));
                for turn in 0.. {
                    let method = [Method::Qris, Method::VirtualAccount(Bank::Bca)][turn % 2];
                    let attempt = Attempt { visitor: visitor.clone(), ..Attempt::new(method, Checkout::default()) };
                    match kit.engine.attempt_link(id(&made).parse().unwrap(), &attempt).await {
                        Ok(_) => started.add_permits(1),
                        Err(Error::LinkNotActive) => return,
                        Err(Error::AttemptsFull { .. }) => tokio::task::yield_now().await,
                        Err(error) => panic!("{error:?}"),
                    }
                }
            });
        }
        started.acquire_many(CUSTOMERS).await.unwrap().forget();
        assert_eq!(cancel(&project, &made).await.expect(200)["status"], "cancelled");
        customers.join_all().await;
        let path = format!("/v1/payments?payment_link_id={}&status=pending", id(&made));
        assert_eq!(total(&project.api, &path).await, 0, "no attempt came after the cancellation");
    }
}

/// Before, the check of I15 compared times, and these rows failed `lunas verify` and `lunas copy` for good.
async fn a_clock_that_steps_back_leaves_nothing_that_verify_reports(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let began = kit.engine.now();
    let made = link(&project, json!({})).await;
    kit.clock.advance(Duration::from_hours(1));
    let payment = attempt(&kit, &project, &made, Method::Qris).await;
    kit.clock.set(began);
    cancel(&project, &made).await.expect(200);
    assert_eq!(payment_status(&project, &payment).await, "cancelled");
    let refused = try_attempt(&kit, &made, Method::Qris).await;
    assert!(matches!(refused, Err(Error::LinkNotActive)), "{refused:?}");
    // A link that expired by the old clock is open by the new one: what counts is the time that stamps the payment.
    let made = link(&project, expiring_soon(&kit)).await;
    kit.clock.advance(Duration::from_hours(1));
    assert_eq!(shown(&project, &made).await["status"], "inactive");
    kit.clock.set(began);
    attempt(&kit, &project, &made, Method::Qris).await;
    assert_eq!((kit.store.breaches().await.unwrap(), kit.store.notes().await.unwrap()), (vec![], vec![]));
}

async fn nodes_whose_clocks_differ_leave_nothing_that_verify_reports(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for ahead in [true, false] {
        let made = link(&project, json!({ "allow_multiple_payments": true })).await;
        let clock = Arc::new(ManualClock::default());
        let by = Duration::from_mins(1);
        clock.set(if ahead { kit.engine.now().plus(by) } else { kit.engine.now().minus(by) });
        let other = engine_on(kit.store.clone(), clock);
        let chosen = Attempt::new(Method::Qris, Checkout::default());
        let link_id = id(&made).parse().unwrap();
        let there = other.attempt_link(link_id, &chosen).await.unwrap();
        attempt(&kit, &project, &made, Method::Qris).await;
        cancel(&project, &made).await.expect(200);
        let refused = other.attempt_link(link_id, &chosen).await;
        assert!(matches!(refused, Err(Error::LinkNotActive)), "{refused:?}");
        assert_eq!(payment_status(&project, &json!({ "id": there.id.to_string() })).await, "cancelled");
    }
    assert_eq!((kit.store.breaches().await.unwrap(), kit.store.notes().await.unwrap()), (vec![], vec![]));
}

async fn a_link_none_of_whose_methods_is_offered_is_inactive(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let account = |bank: &str| json!({ "type": "virtual_account", "bank": bank });
    let unpayable = link(&project, json!({ "allowed_payment_methods": [account("bca")] })).await;
    let narrowed = link(&project, json!({ "allowed_payment_methods": [account("bca"), account("bni")] })).await;
    let offer = async |banks: &[Bank]| {
        let update = ProjectUpdate { banks: Some(banks.to_vec()), ..ProjectUpdate::default() };
        kit.update(project.id, update).await;
    };
    offer(&[Bank::Bni]).await;
    let is = |link: &Value, status: &str, methods: Value| {
        let previews = link["fee_previews"].as_array().unwrap().iter().map(|preview| &preview["payment_method"]);
        assert_eq!(link["status"], status);
        assert_eq!(link["allowed_payment_methods"], methods);
        assert_eq!(previews.cloned().collect::<Vec<_>>(), *methods.as_array().unwrap());
    };
    is(&shown(&project, &unpayable).await, "inactive", json!([]));
    is(&shown(&project, &narrowed).await, "active", json!([account("bni")]));
    for listed in project.api.get(PATH).await.expect(200)["data"].as_array().unwrap() {
        let unpaid = listed["id"] == unpayable["id"];
        is(
            listed,
            if unpaid { "inactive" } else { "active" },
            if unpaid { json!([]) } else { json!([account("bni")]) },
        );
    }
    cancel(&project, &unpayable).await.refused(409, "PAYMENT_LINK_NOT_ACTIVE");
    let refused = try_attempt(&kit, &unpayable, Method::VirtualAccount(Bank::Bca)).await;
    assert!(matches!(refused, Err(Error::LinkNotActive)), "{refused:?}");
    let closed = Customer::of(&kit).open(&link_path(&unpayable)).await;
    assert!(closed.text.contains("Tagihan ini tidak aktif"), "the page says the same: {}", closed.text);
    // The merchant's choice is kept: what is offered again is payable again.
    offer(&[Bank::Bca]).await;
    is(&shown(&project, &unpayable).await, "active", json!([account("bca")]));
    is(&shown(&project, &narrowed).await, "active", json!([account("bca")]));
    assert_eq!(cancel(&project, &unpayable).await.expect(200)["status"], "cancelled");
}

async fn links_are_listed_newest_first_in_the_envelope(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let empty = json!({ "data": [], "pagination": { "page": 1, "page_size": 20, "total_items": 0, "total_pages": 0 } });
    assert_eq!(project.api.get(PATH).await.expect(200), empty);
    let mut made = Vec::new();
    for index in 0..21 {
        made.insert(0, link(&project, json!({ "reference": format!("order-{index}") })).await);
        kit.clock.advance(MILLISECOND);
    }
    let listed = |page: i64, size: i64, pages: i64, data: &[Value]| {
        let pagination = json!({ "page": page, "page_size": size, "total_items": 21, "total_pages": pages });
        json!({ "data": data, "pagination": pagination })
    };
    assert_eq!(project.api.get(PATH).await.expect(200), listed(1, 20, 2, &made[..20]));
    for (query, wanted) in [
        ("page=2", listed(2, 20, 2, &made[20..])),
        ("page=3", listed(3, 20, 2, &[])),
        ("page=2&page_size=1", listed(2, 1, 21, &made[1..2])),
        ("page_size=100&page=1&colour=blue", listed(1, 100, 1, &made)),
    ] {
        assert_eq!(project.api.get(&format!("{PATH}?{query}")).await.expect(200), wanted, "{query}");
    }
}

async fn search_finds_part_of_the_title_or_the_reference_in_any_case_and_no_character_is_special(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (title, reference) in [("Kopi Susu", "INV-1"), ("Teh 100%", "kopi_2"), ("Es Jeruk É", "x\\y")] {
        link(&project, json!({ "title": title, "reference": reference })).await;
        kit.clock.advance(MILLISECOND);
    }
    for (term, found) in [
        ("kopi", &["kopi_2", "INV-1"][..]),
        ("KOPI+SUSU", &["INV-1"]),
        ("inv-1", &["INV-1"]),
        ("%25", &["kopi_2"]),
        ("_", &["kopi_2"]),
        ("%5C", &["x\\y"]),
        ("%C3%A9", &["x\\y"]),
        ("susuinv", &[]),
        ("toko", &[]),
    ] {
        let listed = project.api.get(&format!("{PATH}?search={term}")).await.expect(200);
        let references: Vec<&str> =
            listed["data"].as_array().unwrap().iter().map(|link| link["reference"].as_str().unwrap()).collect();
        assert_eq!(references, found, "{term}");
        assert_eq!(listed["pagination"]["total_items"], found.len(), "{term}");
    }
}

async fn bad_query_values_are_validation_errors_on_every_list(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for list in [PATH, "/v1/events", "/v1/payments"] {
        for query in
            ["page=0", "page=-1", "page=x", "page=", "page=1.0", "page_size=0", "page_size=101", "page=1&page=2"]
        {
            let path = format!("{list}?{query}");
            let message = refused(&path, project.api.get(&path).await, 400, "VALIDATION_ERROR");
            assert!(message.contains("`page"), "{path}: {message}");
        }
    }
    for path in ["/v1/events?type=", "/v1/events?after=", "/v1/payments?payment_link_id=", "/v1/balance?at="] {
        refused(path, project.api.get(path).await, 400, "VALIDATION_ERROR");
    }
    for search in ["", "%00", "%FF", &"x".repeat(256)] {
        let path = format!("{PATH}?search={search}");
        refused(&path, project.api.get(&path).await, 400, "VALIDATION_ERROR");
    }
}
