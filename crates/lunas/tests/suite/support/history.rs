//! The answers that clients got while servers were killed, to be compared with what is stored afterwards.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};

use domain::{delivery::DeliveryState, time::Timestamp};
use serde_json::{Value, json};
use store::{CommitError, Guard, Store, WebhookWrite};
use testkit::{Api, Receiver};

/// The fields of a payment that never change.
const IMMUTABLE: [&str; 12] = [
    "id",
    "project_id",
    "payment_link_id",
    "reference",
    "amount",
    "fee_amount",
    "merchant_net",
    "payment_method",
    "instructions",
    "customer",
    "expires_at",
    "created_at",
];

/// The answers that the clients got, by Idempotency-Key. `None` is a request that was never answered.
#[derive(Default)]
pub(crate) struct History {
    pub(crate) created: BTreeMap<String, Option<Value>>,
    pub(crate) paid: BTreeMap<String, Option<Value>>,
}

fn order(project_id: &str, key: &str) -> Value {
    json!({
        "project_id": project_id,
        "reference": format!("order {key}"),
        "amount": 15_000,
        "payment_method": { "type": "virtual_account", "bank": "bca" },
    })
}

/// Sends a request; `None` when the connection broke before the whole answer was there.
pub(crate) async fn answer_of(request: reqwest::RequestBuilder) -> Option<(u16, Value)> {
    let response = request.send().await.ok()?;
    let status = response.status().as_u16();
    let text = response.text().await.ok()?;
    Some((status, serde_json::from_str(&text).ok()?))
}

pub(crate) async fn create(api: &Api, project_id: &str, key: &str) -> Option<(u16, Value)> {
    let request = api.request(reqwest::Method::POST, "/v1/payments").header("Idempotency-Key", key);
    answer_of(request.json(&order(project_id, key))).await
}

/// The key is the receipt's id, so that repeating the report is the same report.
pub(crate) async fn pay(api: &Api, payment: &Value, key: &str) -> Option<(u16, Value)> {
    let path = format!("/v1/sandbox/payments/{}/simulate", payment["id"].as_str().unwrap());
    answer_of(api.request(reqwest::Method::POST, &path).json(&json!({ "outcome": "paid", "receipt_id": key }))).await
}

/// Repeats the requests that were not answered. Each must take effect once, with the same answer when repeated.
pub(crate) async fn converge(api: &Api, project_id: &str, history: &Mutex<History>) {
    let (created, paid) = {
        let history = history.lock().unwrap();
        (history.created.clone(), history.paid.clone())
    };
    for key in created.into_iter().filter(|(_, answer)| answer.is_none()).map(|(key, _)| key) {
        let (status, payment) = create(api, project_id, &key).await.unwrap();
        assert!(status == 200 || status == 201, "{status} {payment}");
        let (again, same) = create(api, project_id, &key).await.unwrap();
        assert_eq!((again, &same["id"]), (200, &payment["id"]));
        history.lock().unwrap().created.insert(key, Some(payment));
    }
    for key in paid.into_iter().filter(|(_, answer)| answer.is_none()).map(|(key, _)| key) {
        let payment = history.lock().unwrap().created[&key].clone().unwrap();
        let (status, paid) = pay(api, &payment, &key).await.unwrap();
        assert_eq!((status, paid["status"].as_str()), (200, Some("paid")), "{paid}");
        history.lock().unwrap().paid.insert(key, Some(paid));
    }
}

/// Compares everything that is stored with everything that was ever acknowledged.
pub(crate) async fn judge(api: &Api, history: &Mutex<History>) {
    let (created, paid) = {
        let history = history.lock().unwrap();
        (history.created.clone(), history.paid.clone())
    };
    let payments = all(api, "/v1/payments").await;
    assert_eq!(payments.len(), created.len(), "one payment per key, none lost and none doubled");
    let held: BTreeMap<&str, &Value> =
        payments.iter().map(|payment| (payment["id"].as_str().unwrap(), payment)).collect();
    let events = all(api, "/v1/events").await;
    let mut told: BTreeMap<&str, usize> = BTreeMap::new();
    for event in &events {
        assert_eq!(event["type"], "payment.paid");
        *told.entry(event["data"]["id"].as_str().unwrap()).or_default() += 1;
    }
    for (key, answer) in &created {
        let answer = answer.as_ref().unwrap();
        let id = answer["id"].as_str().unwrap();
        let kept = held.get(id).unwrap_or_else(|| panic!("{key}: the acknowledged payment {id} is lost"));
        for field in IMMUTABLE {
            assert_eq!(kept[field], answer[field], "{key}: {field} of {id} has changed");
        }
        match paid.get(key) {
            Some(answer) => {
                let answer = answer.as_ref().unwrap();
                assert_eq!((&kept["status"], &kept["paid_at"]), (&answer["status"], &answer["paid_at"]), "{key}: {id}");
                assert_eq!(told.get(id), Some(&1), "{key}: a paid payment has one event");
            }
            None => {
                assert_eq!(kept["status"], "pending", "{key}: {id} was paid by nobody");
                assert_eq!(told.get(id), None, "{key}: an event tells of what did not happen");
            }
        }
    }
    let balance = api.get("/v1/balance").await.expect(200);
    let net: i64 = paid.values().map(|answer| answer.as_ref().unwrap()["merchant_net"].as_i64().unwrap()).sum();
    assert_eq!(balance["pending"].as_i64().unwrap() + balance["available"].as_i64().unwrap(), net);
    assert_eq!(balance["unapplied"], 0);
}

/// All items of a list, read page by page.
pub(crate) async fn all(api: &Api, path: &str) -> Vec<Value> {
    let mut items = Vec::new();
    for page in 1.. {
        let list = api.get(&format!("{path}?page_size=100&page={page}")).await.expect(200);
        let data = list["data"].as_array().unwrap();
        items.extend_from_slice(data);
        if data.len() < 100 {
            assert_eq!(list["pagination"]["total_items"].as_u64().unwrap(), items.len() as u64);
            break;
        }
    }
    items
}

/// Compares the webhooks that arrived with the stored events, and those with what was acknowledged.
pub(crate) async fn judge_webhooks(api: &Api, receiver: &Receiver, ended: &BTreeMap<String, &'static str>) {
    let shown = shown(api).await;
    let received = receiver
        .until(|received| {
            let told: BTreeSet<String> = received.iter().map(|webhook| webhook.event_id()).collect();
            shown.keys().all(|id| told.contains(id))
        })
        .await;
    for webhook in &received {
        let id = webhook.event_id();
        let kept = shown.get(&id).unwrap_or_else(|| panic!("{id} was sent and is not kept"));
        assert_eq!(&webhook.body, kept, "{id} was sent in other words than it is kept in");
    }
    let told: BTreeSet<(String, String)> = shown
        .values()
        .map(|body| serde_json::from_slice::<Value>(body).unwrap())
        .map(|event| (event["data"]["id"].as_str().unwrap().to_owned(), event["type"].as_str().unwrap().to_owned()))
        .collect();
    for (payment, kind) in ended {
        assert!(told.contains(&(payment.clone(), (*kind).to_owned())), "{payment}: no {kind} was sent");
    }
}

/// All events by id, each as the bytes that the API answers.
async fn shown(api: &Api) -> BTreeMap<String, Vec<u8>> {
    let mut events = BTreeMap::new();
    for page in 1.. {
        let list = api.get(&format!("/v1/events?page_size=100&page={page}")).await.expect(200);
        let ids: Vec<&str> =
            list["data"].as_array().unwrap().iter().map(|event| event["id"].as_str().unwrap()).collect();
        for id in &ids {
            let event = api.get(&format!("/v1/events/{id}")).await;
            events.insert((*id).to_owned(), event.text.into_bytes());
        }
        if ids.len() < 100 {
            break;
        }
    }
    events
}

/// Makes every delivery due that waits for a lease or a retry, so that the test need not; returns how many there are.
pub(crate) async fn let_leases_run_out(store: Store) -> usize {
    let waiting = store.due_deliveries(Timestamp::from_millis(i64::MAX), usize::MAX).await.unwrap();
    for delivery in &waiting {
        let DeliveryState::Pending { due_at } = delivery.state else { continue };
        let event = store.event(delivery.project_id, delivery.event_id).await.unwrap().unwrap();
        let moved =
            WebhookWrite::DeliveryMoved { event_id: event.id, from: due_at, to: event.created_at, leased_by: None };
        match store.commit(moved.into()).await {
            // A node that runs has leased it meanwhile, or has given it back for one that is gone.
            Ok(()) | Err(CommitError::Conflict(Guard::DeliveryDue)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    store.close().await;
    waiting.len()
}
