//! `/v1/events`: which events there are and how they are listed (docs/contract.md §6.2 to §6.4 and decisions §8). How
//! they are sent is in `webhooks/`.

use std::{sync::Arc, time::Duration};

use domain::{bank::Bank, method::Method, project::SuccessWord};
use engine::ProjectUpdate;
use serde_json::{Value, json};
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    json::id,
    links::attempt,
    payments::{paid, report, simulate, simulate_paid, total},
    refusals::refused,
    samples,
};

on_every_database![
    a_paid_payment_makes_one_event_that_holds_the_payment_as_it_was_shown_then,
    a_failed_payments_event_still_says_failed_when_timely_money_arrives_after_all,
    the_same_report_twice_makes_one_event,
    events_are_listed_newest_first_in_pages,
    the_type_filter_shows_one_kind_only,
    after_lists_what_followed_an_event_oldest_first,
    events_are_listed_by_when_they_were_created,
];

on_sqlite_alone![
    an_event_keeps_the_word_for_success_that_the_project_used_at_that_moment,
    an_event_of_a_payment_through_a_link_names_the_link,
    event_texts_are_indonesian_in_any_accept_language,
    a_revoked_key_makes_an_event_with_exactly_the_fields_of_the_contract,
    only_payment_outcomes_and_revocations_make_events,
    another_projects_events_are_not_found,
    events_are_recorded_without_a_webhook_url_and_with_one,
];

const PATH: &str = "/v1/events";
const MILLISECOND: Duration = Duration::from_millis(1);

async fn failed(project: &TestProject, key: &str) -> Value {
    let payment = project.api.pay(key, &samples::virtual_account(project, "bca", 15_000)).await.expect(201);
    report(project, &payment, "failed").await
}

async fn revoked(kit: &Kit, project: &TestProject, name: &str) -> Value {
    let (key, _) = kit.engine.create_key(project.id, name.to_owned()).await.unwrap();
    project.api.delete(&format!("/v1/api-keys/{}", key.id)).await.expect(200)
}

/// Three events of three kinds, a millisecond apart; newest first.
async fn three(kit: &Kit, project: &TestProject) -> [Value; 3] {
    paid(project, "k-1", 15_000).await;
    kit.clock.advance(MILLISECOND);
    failed(project, "k-2").await;
    kit.clock.advance(MILLISECOND);
    revoked(kit, project, "spare").await;
    let listed = project.api.get(PATH).await.expect(200);
    serde_json::from_value(listed["data"].clone()).unwrap()
}

fn kinds(listed: &Value) -> Vec<&str> {
    listed["data"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect()
}

async fn set_success_word(kit: &Kit, project: &TestProject, word: SuccessWord) {
    kit.update(project.id, ProjectUpdate { success_word: Some(word), ..Default::default() }).await;
}

async fn a_paid_payment_makes_one_event_that_holds_the_payment_as_it_was_shown_then(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = paid(&project, "k-1", 15_000).await;
    let shown = project.api.get(&format!("/v1/payments/{}", id(&payment))).await.expect(200);
    let listed = project.api.get(PATH).await.expect(200);
    let event = &listed["data"][0];
    let wanted = json!({
        "id": id(event), "type": "payment.paid", "created_at": kit.engine.now().to_string(), "data": shown,
    });
    assert_eq!(listed["data"], json!([wanted]));
    let suffix = id(event).strip_prefix("evt_").unwrap();
    assert!(suffix.len() == 26 && suffix.bytes().all(|byte| b"0123456789abcdefghjkmnpqrstvwxyz".contains(&byte)));
    assert_eq!(project.api.get(&format!("{PATH}/{}", id(event))).await.expect(200), wanted);
}

async fn an_event_keeps_the_word_for_success_that_the_project_used_at_that_moment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (word, other) in [(SuccessWord::Paid, SuccessWord::Succeeded), (SuccessWord::Succeeded, SuccessWord::Paid)] {
        set_success_word(&kit, &project, word).await;
        let payment = paid(&project, word.word(), 15_000).await;
        assert_eq!(payment["status"], word.word());
        let event = project.api.get(PATH).await.expect(200)["data"][0].clone();
        set_success_word(&kit, &project, other).await;
        let shown = project.api.get(&format!("/v1/payments/{}", id(&payment))).await.expect(200);
        assert_eq!(shown["status"], other.word());
        let again = project.api.get(&format!("{PATH}/{}", id(&event))).await.expect(200);
        assert_eq!((&again["type"], &again["data"]), (&json!("payment.paid"), &payment));
        kit.clock.advance(MILLISECOND);
    }
}

async fn a_failed_payments_event_still_says_failed_when_timely_money_arrives_after_all(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = failed(&project, "k-1").await;
    assert_eq!((&payment["status"], &payment["paid_at"]), (&json!("failed"), &Value::Null));
    kit.clock.advance(MILLISECOND);
    let after = simulate_paid(&project, &payment).await;
    assert_eq!(after["status"], "paid");
    let listed = project.api.get(PATH).await.expect(200);
    assert_eq!(kinds(&listed), ["payment.paid", "payment.failed"]);
    assert_eq!(listed["data"][0]["data"], after);
    assert_eq!(listed["data"][1]["data"], payment);
}

async fn an_event_of_a_payment_through_a_link_names_the_link(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = project.api.post("/v1/payment-links", &samples::link(&project, 15_000)).await.expect(201);
    let payment = attempt(&kit, &project, &link, Method::VirtualAccount(Bank::Bni)).await;
    let paid = simulate_paid(&project, &payment).await;
    let listed = project.api.get(PATH).await.expect(200);
    assert_eq!(listed["data"][0]["data"], paid);
    assert_eq!(listed["data"][0]["data"]["payment_link_id"], link["id"]);
}

async fn event_texts_are_indonesian_in_any_accept_language(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = failed(&project, "k-1").await;
    let request = project.api.request(reqwest::Method::GET, PATH).header("Accept-Language", "en");
    let listed = project.api.send(request).await.expect(200);
    assert_eq!(listed["data"][0]["data"]["instructions"], payment["instructions"]);
    let path = format!("/v1/payments/{}", id(&payment));
    let request = project.api.request(reqwest::Method::GET, &path).header("Accept-Language", "en");
    let english = project.api.send(request).await.expect(200);
    assert_ne!(english["instructions"]["payment_steps"], payment["instructions"]["payment_steps"]);
}

async fn a_revoked_key_makes_an_event_with_exactly_the_fields_of_the_contract(kit: Arc<Kit>) {
    for (project, environment, prefix) in
        [(kit.sandbox().await, "sandbox", "sk_test_"), (kit.production().await, "production", "sk_live_")]
    {
        let key = revoked(&kit, &project, "Kasir depan").await;
        let now = kit.engine.now().to_string();
        let listed = project.api.get(PATH).await.expect(200);
        let event = &listed["data"][0];
        let data = json!({
            "id": id(&key), "name": "Kasir depan", "environment": environment,
            "project_id": project.id.to_string(), "key_prefix": prefix, "revoked_at": now,
        });
        let wanted = json!({ "id": id(event), "type": "apikey.deleted", "created_at": now, "data": data });
        assert_eq!(listed["data"], json!([wanted]));
    }
}

async fn only_payment_outcomes_and_revocations_make_events(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = project.api.pay("k-1", &samples::qris(&project, 15_000)).await.expect(201);
    report(&project, &payment, "processing").await;
    project.api.pay("k-2", &samples::qris(&project, 15_000)).await.expect(201);
    let link = project.api.post("/v1/payment-links", &samples::link(&project, 15_000)).await.expect(201);
    attempt(&kit, &project, &link, Method::Qris).await;
    project.api.post(&format!("/v1/payment-links/{}/cancel", id(&link)), &json!({})).await.expect(200);
    let short = project.api.pay("k-3", &samples::qris(&project, 15_000)).await.expect(201);
    simulate(&project, &short, &json!({ "outcome": "paid", "amount": 1 })).await.expect(200);
    kit.clock.advance(Duration::from_hours(1));
    kit.engine.expire_due().await.unwrap();
    assert_eq!(total(&project.api, PATH).await, 0);
}

async fn the_same_report_twice_makes_one_event(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = project.api.pay("k-1", &samples::qris(&project, 15_000)).await.expect(201);
    for _ in 0..3 {
        simulate(&project, &payment, &json!({ "outcome": "paid", "receipt_id": "r-1" })).await.expect(200);
    }
    simulate_paid(&project, &payment).await;
    assert_eq!(total(&project.api, PATH).await, 1);
    assert_eq!(project.api.get("/v1/balance").await.expect(200)["unapplied"], 15_000);
}

async fn events_are_listed_newest_first_in_pages(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let events = three(&kit, &project).await;
    let listed = project.api.get(PATH).await.expect(200);
    assert_eq!(kinds(&listed), ["apikey.deleted", "payment.failed", "payment.paid"]);
    assert_eq!(listed["pagination"], json!({ "page": 1, "page_size": 20, "total_items": 3, "total_pages": 1 }));
    for (query, wanted, page) in [
        ("page=1&page_size=2", &events[..2], 1),
        ("page=2&page_size=2", &events[2..], 2),
        ("page=3&page_size=2", &[], 3),
    ] {
        let pagination = json!({ "page": page, "page_size": 2, "total_items": 3, "total_pages": 2 });
        let listed = project.api.get(&format!("{PATH}?{query}")).await.expect(200);
        assert_eq!(listed, json!({ "data": wanted, "pagination": pagination }), "{query}");
    }
}

async fn the_type_filter_shows_one_kind_only(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let events = three(&kit, &project).await;
    for event in &events {
        let kind = event["type"].as_str().unwrap();
        let listed = project.api.get(&format!("{PATH}?type={kind}")).await.expect(200);
        assert_eq!((&listed["data"], &listed["pagination"]["total_items"]), (&json!([event]), &json!(1)));
    }
    for kind in ["", "payment.processing", "PAYMENT.PAID", "payment"] {
        let path = format!("{PATH}?type={kind}");
        let message = refused(&path, project.api.get(&path).await, 400, "VALIDATION_ERROR");
        assert!(message.contains("`type`"), "{message}");
    }
}

async fn after_lists_what_followed_an_event_oldest_first(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let [newest, middle, oldest] = three(&kit, &project).await;
    let list = async |query: &str| project.api.get(&format!("{PATH}?{query}")).await.expect(200);
    let listed = list(&format!("after={}", id(&oldest))).await;
    assert_eq!(listed["data"], json!([middle, newest]));
    assert_eq!(listed["pagination"]["total_items"], 2);
    assert_eq!(list(&format!("after={}&page=2&page_size=1", id(&oldest))).await["data"], json!([newest]));
    assert_eq!(list(&format!("after={}&type=apikey.deleted", id(&oldest))).await["data"], json!([newest]));
    assert_eq!(list(&format!("after={}", id(&newest))).await["data"], json!([]));
    for junk in ["", "junk", &id(&oldest).replace("evt_", "pay_")] {
        let path = format!("{PATH}?after={junk}");
        let message = refused(&path, project.api.get(&path).await, 400, "VALIDATION_ERROR");
        assert!(message.contains("`after`"), "{message}");
    }
}

async fn events_are_listed_by_when_they_were_created(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let events = three(&kit, &project).await;
    paid(&other, "k-1", 15_000).await;
    let [newest, middle, oldest] = &events;
    let at = |event: &Value| event["created_at"].as_str().unwrap().to_owned();
    let (from, to) = (|event| format!("created_from={}", at(event)), |event| format!("created_to={}", at(event)));
    for (query, expected) in [
        (from(middle), vec![newest, middle]),
        (to(middle), vec![oldest]),
        (format!("{}&{}", from(oldest), to(newest)), vec![middle, oldest]),
        ("created_from=0001-01-01T00:00:00Z&created_to=9999-12-31T23:59:59Z".to_owned(), vec![newest, middle, oldest]),
        ("created_from=9999-01-01T00:00:00Z".to_owned(), vec![]),
        (format!("{}&type=payment.failed", from(oldest)), vec![middle]),
        (format!("{}&type=payment.paid", from(middle)), vec![]),
        // With `after` it is still oldest first, and both must match.
        (format!("after={}&{}", id(oldest), to(newest)), vec![middle]),
        (format!("after={}&{}", id(oldest), from(oldest)), vec![middle, newest]),
        (format!("after={}&{}", id(middle), to(middle)), vec![]),
        (format!("{}&page_size=1&page=2", from(oldest)), vec![middle]),
    ] {
        let listed = project.api.get(&format!("{PATH}?{query}")).await.expect(200);
        assert_eq!(listed["data"], json!(expected), "{query}");
        if !query.contains("page") {
            assert_eq!(listed["pagination"]["total_items"], expected.len(), "{query}");
        }
    }
}

async fn another_projects_events_are_not_found(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let theirs = three(&kit, &other).await;
    kit.clock.advance(MILLISECOND);
    paid(&project, "k-1", 15_000).await;
    let own = project.api.get(PATH).await.expect(200)["data"][0].clone();
    let unknown = format!("{}{}", &id(&own)[..29], if id(&own).ends_with('0') { "1" } else { "0" });
    for wrong in [id(&theirs[0]), &unknown, "junk", "evt_"] {
        let path = format!("{PATH}/{wrong}");
        refused(&path, project.api.get(&path).await, 404, "RESOURCE_NOT_FOUND");
    }
    assert_eq!(total(&project.api, PATH).await, 1);
    // Another project's event reveals nothing as a cursor either.
    let listed = project.api.get(&format!("{PATH}?after={}", id(&theirs[2]))).await;
    assert!(!listed.text.contains(&other.id.to_string()));
    assert_eq!(listed.expect(200)["data"], json!([own]));
}

async fn events_are_recorded_without_a_webhook_url_and_with_one(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    assert_eq!(kit.engine.project(project.id).await.unwrap().webhook_url, None);
    paid(&project, "k-1", 15_000).await;
    let webhook_url = Some(Some("https://8.8.8.8/hook".to_owned()));
    kit.update(project.id, ProjectUpdate { webhook_url, ..Default::default() }).await;
    paid(&project, "k-2", 15_000).await;
    assert_eq!(total(&project.api, PATH).await, 2);
}
