//! Every owed event arrives, and none that is untrue, however often the server dies (I7, I9 and I11,
//! docs/invariants.md).

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use engine::{Clock, SystemClock};
use serde_json::{Value, json};
use store::Store;
use testkit::{Answer, Api, Program, Receiver, Running};

use crate::support::{
    commands::{dev_at_fixed_url, program},
    history::{answer_of, judge_webhooks, let_leases_run_out},
    wait::until,
};

const CLIENTS: usize = 8;
/// How many payments are acknowledged before the kill of each round: different numbers, so that it happens at different
/// points.
const ACKNOWLEDGED: [usize; 6] = [1, 7, 30, 12, 55, 90];
const PATIENCE: Duration = Duration::from_secs(60);

async fn successful(request: reqwest::RequestBuilder) -> Option<Value> {
    let (status, json) = answer_of(request).await?;
    assert!((200..300).contains(&status), "{json}");
    Some(json)
}

/// Creates payments and reports them as paid or failed until the server is dead; records those whose report was
/// acknowledged.
async fn client(api: Api, project_id: String, name: String, ended: Arc<Mutex<BTreeMap<String, &'static str>>>) {
    for number in 0.. {
        let body = json!({
            "project_id": project_id, "reference": name, "amount": 15_000, "payment_method": { "type": "qris" },
        });
        let create = api.request(reqwest::Method::POST, "/v1/payments");
        let create = create.header("Idempotency-Key", format!("{name}-{number}")).json(&body);
        let Some(payment) = successful(create).await else { return };
        let id = payment["id"].as_str().unwrap().to_owned();
        let (outcome, kind) = if number % 4 == 3 { ("failed", "payment.failed") } else { ("paid", "payment.paid") };
        let report = api.request(reqwest::Method::POST, &format!("/v1/sandbox/payments/{id}/simulate"));
        let Some(_) = successful(report.json(&json!({ "outcome": outcome }))).await else { return };
        ended.lock().unwrap().insert(id, kind);
    }
}

/// Starts clients and kills the server once it has acknowledged `enough` reports.
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

/// Sends the demo project's webhooks to `receiver`.
fn hook(program: &Program, running: &Running, receiver: &Receiver) {
    let (database, url) = (program.database(), receiver.url());
    let project_id = running.said("project_id");
    let set = ["--json", "--database", &database, "project", "update", project_id, "--webhook-url", &url];
    assert_eq!(program.json(&set)["webhook_url"], url);
}

#[tokio::test]
async fn a_stopping_server_makes_webhooks_to_a_hanging_receiver_due_at_once() {
    let program = program();
    let receiver = Receiver::answering(Answer::Hang).await;
    let running = dev_at_fixed_url(&program, &[]);
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
    let _again = dev_at_fixed_url(&program, &[]);
    assert_eq!(receiver.arrived(2).await[1].event_id(), event);
}

/// Regression: what a killed server had leased waited for half a minute until the leases ran out. Here they last for an hour more.
#[tokio::test]
async fn what_a_killed_server_had_leased_is_sent_as_soon_as_it_runs_again() {
    let program = program();
    let (database, receiver) = (program.database(), Receiver::answering(Answer::Hang).await);
    let running = dev_at_fixed_url(&program, &[]);
    hook(&program, &running, &receiver);
    let mut ids = Vec::new();
    for number in 0..6 {
        ids.push(pay_once(&running, number).await);
    }
    let file = rusqlite::Connection::open(program.data().join("lunas.db")).unwrap();
    let count =
        "SELECT COUNT(*) FROM deliveries WHERE leased_by IS NOT NULL AND due_at > (SELECT MAX(created_at) FROM events)";
    let leased = || file.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap();
    until(async || leased() == 6).await;
    receiver.arrived(4).await;
    running.kill();
    file.execute("UPDATE deliveries SET due_at = due_at + 3600000", []).unwrap();
    // Commands work beside a server, whose leases hold.
    program.json(&["verify", "--json", "--database", &database]);
    program.json(&["project", "list", "--json", "--database", &database]);
    assert_eq!(leased(), 6);
    receiver.answer(Answer::Status(200));
    let _again = dev_at_fixed_url(&program, &[]);
    let arrived = receiver.arrived(4 + 6).await;
    let mut paid: Vec<String> = arrived[4..].iter().map(|webhook| text_of(&webhook.json()["data"]["id"])).collect();
    paid.sort();
    ids.sort();
    assert_eq!(paid, ids, "each of them once more");
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Pays a payment through the API; answers its id.
async fn pay_once(running: &Running, number: usize) -> String {
    let order = json!({
        "project_id": running.said("project_id"), "reference": format!("order-{number}"), "amount": 15_000,
        "payment_method": { "type": "qris" },
    });
    let payment = running.api().pay(&format!("k-{number}"), &order).await.expect(201);
    let id = text_of(&payment["id"]);
    let path = format!("/v1/sandbox/payments/{id}/simulate");
    running.api().post(&path, &json!({ "outcome": "paid" })).await.expect(200);
    id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_owed_event_and_no_untrue_one_arrives_however_often_the_server_is_killed() {
    let program = program();
    let receiver = Receiver::start().await;
    let database = program.database();
    let running = dev_at_fixed_url(&program, &[]);
    hook(&program, &running, &receiver);
    running.kill();

    let ended = Arc::new(Mutex::new(BTreeMap::new()));
    for (round, enough) in ACKNOWLEDGED.into_iter().enumerate() {
        // One webhook is in flight at the kill, and some rounds begin with failures that are retried.
        receiver.answer_next([Answer::Hang, Answer::Status(500), Answer::Close].into_iter().take(1 + round % 3));
        load_and_kill(dev_at_fixed_url(&program, &[]), enough, &ended).await;
    }
    let store = Store::open_sqlite(&program.data().join("lunas.db")).await.unwrap();
    let waiting = let_leases_run_out(store).await;
    assert!(waiting > 0, "no kill came while something was on its way, which shows nothing");
    let last = dev_at_fixed_url(&program, &[]);
    let ended = ended.lock().unwrap().clone();
    assert!(ended.len() >= ACKNOWLEDGED.iter().sum(), "{}", ended.len());
    judge_webhooks(&last.api(), &receiver, &ended).await;
    let verified = program.json(&["verify", "--json", "--database", &database]);
    assert_eq!((&verified["ok"], &verified["breaches"]), (&json!(true), &json!([])));
}
