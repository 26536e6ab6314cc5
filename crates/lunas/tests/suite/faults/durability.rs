//! Whatever was acknowledged is there after `kill -9`, and a request whose answer was lost can be repeated (I9, I10).

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use testkit::{Api, Program, Running};

const CLIENTS: usize = 16;
const ROUNDS: usize = 5;
/// Acknowledgements before the kill, different in every round so that it falls at different points.
const ACKNOWLEDGED: [usize; ROUNDS] = [1, 40, 75, 130, 201];
const PATIENCE: Duration = Duration::from_secs(120);
/// What may never change about a payment, whatever becomes of it.
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

/// What the clients were told, by Idempotency-Key. `None` is a request that was never answered.
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

/// Sends a request; nothing when the connection broke before the whole answer was there.
async fn attempt(request: reqwest::RequestBuilder) -> Option<(u16, Value)> {
    let response = request.send().await.ok()?;
    let status = response.status().as_u16();
    let text = response.text().await.ok()?;
    Some((status, serde_json::from_str(&text).ok()?))
}

pub(crate) async fn create(api: &Api, project_id: &str, key: &str) -> Option<(u16, Value)> {
    let request = api.request(reqwest::Method::POST, "/v1/payments").header("Idempotency-Key", key);
    attempt(request.json(&order(project_id, key))).await
}

/// The receipt has the key's name, so that repeating the report is the same report.
pub(crate) async fn pay(api: &Api, payment: &Value, key: &str) -> Option<(u16, Value)> {
    let path = format!("/v1/sandbox/payments/{}/simulate", payment["id"].as_str().unwrap());
    attempt(api.request(reqwest::Method::POST, &path).json(&json!({ "outcome": "paid", "receipt_id": key }))).await
}

/// Creates payments and pays every other one until the server is gone.
async fn client(
    name: String,
    api: Api,
    project_id: String,
    history: Arc<Mutex<History>>,
    acknowledged: Arc<AtomicUsize>,
    gone: Arc<AtomicBool>,
) {
    for number in 0.. {
        if gone.load(Ordering::SeqCst) {
            return;
        }
        let key = format!("{name}-{number}");
        history.lock().unwrap().created.insert(key.clone(), None);
        let Some((status, payment)) = create(&api, &project_id, &key).await else { return };
        assert_eq!(status, 201, "{payment}");
        history.lock().unwrap().created.insert(key.clone(), Some(payment.clone()));
        acknowledged.fetch_add(1, Ordering::SeqCst);
        if number % 2 == 0 {
            history.lock().unwrap().paid.insert(key.clone(), None);
            let Some((status, paid)) = pay(&api, &payment, &key).await else { return };
            assert_eq!((status, paid["status"].as_str()), (200, Some("paid")), "{paid}");
            history.lock().unwrap().paid.insert(key, Some(paid));
            acknowledged.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Lets clients loose and kills the server once it has acknowledged enough.
async fn load_and_kill(running: Running, round: usize, history: &Arc<Mutex<History>>) {
    let acknowledged = Arc::new(AtomicUsize::new(0));
    let gone = Arc::new(AtomicBool::new(false));
    let project_id = running.said("project_id").to_owned();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let (history, acknowledged, gone) = (Arc::clone(history), Arc::clone(&acknowledged), Arc::clone(&gone));
            let name = format!("round-{round}-client-{number}");
            tokio::spawn(client(name, running.api(), project_id.clone(), history, acknowledged, gone))
        })
        .collect();
    let enough = async {
        while acknowledged.load(Ordering::SeqCst) < ACKNOWLEDGED[round] {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, enough).await.expect("the server acknowledges too little");
    running.kill();
    gone.store(true, Ordering::SeqCst);
    for client in clients {
        tokio::time::timeout(PATIENCE, client).await.expect("a client hangs").unwrap();
    }
}

/// Repeats what was not answered; each must come out once, and the same when asked again.
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

/// Everything of a list, page by page.
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

/// Compares all that the server holds with all that was ever acknowledged.
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_to_kill_9_and_what_was_unanswered_converges() {
    let program = Program::new(env!("CARGO_BIN_EXE_lunas"));
    let history = Arc::new(Mutex::new(History::default()));
    for round in 0..ROUNDS {
        load_and_kill(program.dev(), round, &history).await;
        let verified = program.json(&["verify", "--json", "--database", &program.database()]);
        assert_eq!((&verified["ok"], &verified["breaches"]), (&json!(true), &json!([])));
        let restarted = program.dev();
        let api = restarted.api();
        converge(&api, restarted.said("project_id"), &history).await;
        judge(&api, &history).await;
        let verified = program.json(&["verify", "--json", "--database", &program.database()]);
        assert_eq!(verified["ok"], true);
    }
    let acknowledged = history.lock().unwrap().created.len();
    assert!(acknowledged > 100, "only {acknowledged} payments were made: too few to show anything");
}

#[tokio::test]
async fn an_acknowledged_cancellation_and_revocation_survive_kill_9() {
    let program = Program::new(env!("CARGO_BIN_EXE_lunas"));
    let running = program.dev();
    let (api, project_id) = (running.api(), running.said("project_id").to_owned());
    let database = program.database();
    let spare = program.json(&[
        "key",
        "create",
        "--project",
        &project_id,
        "--name",
        "spare",
        "--json",
        "--database",
        &database,
    ]);
    let body = json!({ "project_id": project_id, "title": "Kopi susu", "amount": 15_000 });
    let link = api.post("/v1/payment-links", &body).await.expect(201);
    let path = format!("/v1/payment-links/{}", link["id"].as_str().unwrap());
    let cancelled = api.send(api.request(reqwest::Method::POST, &format!("{path}/cancel"))).await.expect(200);
    let revoked = api.delete(&format!("/v1/api-keys/{}", spare["id"].as_str().unwrap())).await.expect(200);
    running.kill();

    let restarted = program.dev();
    assert_eq!(restarted.said("api_key"), api_key_of(&program), "the demo key is the same after a crash");
    let api = restarted.api();
    let mut kept = api.get(&path).await.expect(200);
    // The address is made from the port, which is another one now.
    kept["url"] = cancelled["url"].clone();
    assert_eq!(kept, cancelled);
    api.with_key(spare["key"].as_str().unwrap()).get("/v1/payments").await.refused(401, "UNAUTHORIZED");
    let again = api.delete(&format!("/v1/api-keys/{}", spare["id"].as_str().unwrap())).await.expect(200);
    assert_eq!(again, revoked);
    let events = api.get("/v1/events").await.expect(200);
    assert_eq!(events["pagination"]["total_items"], 1);
    assert_eq!(events["data"][0]["data"], revoked);
}

fn api_key_of(program: &Program) -> String {
    let text = std::fs::read_to_string(program.data().join("dev.json")).unwrap();
    let kept: Value = serde_json::from_str(&text).unwrap();
    kept["api_key"].as_str().unwrap().to_owned()
}
