//! Every event that is owed arrives, and none tells of what is not so, however often the server dies (I7, I9, I11).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use domain::{delivery::DeliveryState, time::Timestamp};
use engine::{Clock, SystemClock};
use serde_json::{Value, json};
use store::{Store, Write};
use testkit::{Answer, Api, Program, Receiver, Running};

const CLIENTS: usize = 8;
/// Payments that are acknowledged before the kill of each round: different ones, so that it falls at different points.
const ACKNOWLEDGED: [usize; 6] = [1, 7, 30, 12, 55, 90];
const PATIENCE: Duration = Duration::from_secs(60);

/// The addresses in bodies must not depend on the port that a start finds free.
fn start(program: &Program) -> Running {
    program.dev_with(&["--checkout-url-base", "https://pay.lunas.test"])
}

async fn attempt(request: reqwest::RequestBuilder) -> Option<Value> {
    let response = request.send().await.ok()?;
    let success = response.status().is_success();
    let text = response.text().await.ok()?;
    assert!(success, "{text}");
    serde_json::from_str(&text).ok()
}

/// Creates payments and has them paid or refused until the server is gone; notes those whose end was acknowledged.
async fn client(api: Api, project_id: String, name: String, ended: Arc<Mutex<BTreeMap<String, &'static str>>>) {
    for number in 0.. {
        let body = json!({
            "project_id": project_id, "reference": name, "amount": 15_000, "payment_method": { "type": "qris" },
        });
        let create = api.request(reqwest::Method::POST, "/v1/payments");
        let create = create.header("Idempotency-Key", format!("{name}-{number}")).json(&body);
        let Some(payment) = attempt(create).await else { return };
        let id = payment["id"].as_str().unwrap().to_owned();
        let (outcome, kind) = if number % 4 == 3 { ("failed", "payment.failed") } else { ("paid", "payment.paid") };
        let report = api.request(reqwest::Method::POST, &format!("/v1/sandbox/payments/{id}/simulate"));
        let Some(_) = attempt(report.json(&json!({ "outcome": outcome }))).await else { return };
        ended.lock().unwrap().insert(id, kind);
    }
}

/// Lets clients loose and kills the server once it has acknowledged `enough` ends.
async fn load_and_kill(running: Running, enough: usize, ended: &Arc<Mutex<BTreeMap<String, &'static str>>>) {
    static ROUND: AtomicUsize = AtomicUsize::new(0);
    let round = ROUND.fetch_add(1, Ordering::Relaxed);
    let before = ended.lock().unwrap().len();
    let project_id = running.said("project_id").to_owned();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let name = format!("round-{round}-client-{number}");
            tokio::spawn(client(running.api(), project_id.clone(), name, Arc::clone(ended)))
        })
        .collect();
    let acknowledged = async {
        while ended.lock().unwrap().len() < before + enough {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, acknowledged).await.expect("the server acknowledges too little");
    running.kill();
    for client in clients {
        tokio::time::timeout(PATIENCE, client).await.expect("a client hangs").unwrap();
    }
}

/// All events that the server shows, as the bytes that it shows them in, by id.
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

/// Compares what arrived with what is kept, and what is kept with what was acknowledged.
pub(crate) async fn judge(api: &Api, receiver: &Receiver, ended: &BTreeMap<String, &'static str>) {
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

/// Makes due at once whatever waits for a lease or a rest to end, as half a minute would; answers how many those are.
pub(crate) async fn let_leases_run_out(store: Store) -> usize {
    let waiting = store.due_deliveries(Timestamp::from_millis(i64::MAX), usize::MAX).await.unwrap();
    for delivery in &waiting {
        let DeliveryState::Pending { due_at } = delivery.state else { continue };
        let event = store.event(delivery.project_id, delivery.event_id).await.unwrap().unwrap();
        let moved = Write::DeliveryMoved { event_id: event.id, from: due_at, to: event.created_at };
        store.commit(moved.into()).await.unwrap();
    }
    store.close().await;
    waiting.len()
}

/// Sends the demo project's webhooks to `receiver`.
fn hook(program: &Program, running: &Running, receiver: &Receiver) {
    let (database, url) = (program.database(), receiver.url());
    let project_id = running.said("project_id");
    let set = ["--json", "--database", &database, "project", "update", project_id, "--webhook-url", &url];
    assert_eq!(program.json(&set)["webhook_url"], url);
}

#[tokio::test]
async fn a_server_that_is_asked_to_stop_leaves_what_a_hanging_receiver_holds_due_at_once() {
    let program = Program::new(env!("CARGO_BIN_EXE_lunas"));
    let receiver = Receiver::answering(Answer::Hang).await;
    let running = start(&program);
    hook(&program, &running, &receiver);
    let order = json!({
        "project_id": running.said("project_id"), "reference": "order-1", "amount": 15_000,
        "payment_method": { "type": "qris" },
    });
    let payment = running.api().pay("k-1", &order).await.expect(201);
    program.json(&["--json", "--database", &program.database(), "pay", payment["id"].as_str().unwrap()]);
    let event = receiver.arrived(1).await[0].event_id();
    assert_eq!(tokio::task::spawn_blocking(|| running.terminate()).await.unwrap(), Some(0));

    let store = Store::open_sqlite(&program.data().join("lunas.db")).await.unwrap();
    let due = store.due_deliveries(SystemClock.now(), 1).await.unwrap();
    assert_eq!(due.iter().map(|delivery| delivery.event_id.to_string()).collect::<Vec<_>>(), [event.as_str()]);
    store.close().await;
    receiver.answer(Answer::Status(200));
    let _again = start(&program);
    assert_eq!(receiver.arrived(2).await[1].event_id(), event);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_owed_event_arrives_and_none_tells_of_what_is_not_so_however_often_the_server_is_killed() {
    let program = Program::new(env!("CARGO_BIN_EXE_lunas"));
    let receiver = Receiver::start().await;
    let database = program.database();
    let running = start(&program);
    hook(&program, &running, &receiver);
    running.kill();

    let ended = Arc::new(Mutex::new(BTreeMap::new()));
    for (round, enough) in ACKNOWLEDGED.into_iter().enumerate() {
        // One is on its way when the kill comes, and some rounds begin with failures that are tried again.
        receiver.answer_next([Answer::Hang, Answer::Status(500), Answer::Close].into_iter().take(1 + round % 3));
        load_and_kill(start(&program), enough, &ended).await;
    }
    let store = Store::open_sqlite(&program.data().join("lunas.db")).await.unwrap();
    let waiting = let_leases_run_out(store).await;
    assert!(waiting > 0, "no kill came while something was on its way, which shows nothing");
    let last = start(&program);
    let ended = ended.lock().unwrap().clone();
    assert!(ended.len() >= ACKNOWLEDGED.iter().sum(), "{}", ended.len());
    judge(&last.api(), &receiver, &ended).await;
    let verified = program.json(&["verify", "--json", "--database", &database]);
    assert_eq!((&verified["ok"], &verified["breaches"]), (&json!(true), &json!([])));
}
