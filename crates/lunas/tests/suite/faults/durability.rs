//! What was acknowledged is there after `kill -9`, and a request whose answer was lost can be repeated
//! (I9 and I10, docs/invariants.md).

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use testkit::{Api, Program, Running};

use crate::support::{
    commands::program,
    history::{History, converge, create, judge, pay},
};

const CLIENTS: usize = 16;
const ROUNDS: usize = 5;
/// Acknowledgements before the kill, different in every round so that it falls at different points.
const ACKNOWLEDGED: [usize; ROUNDS] = [1, 40, 75, 130, 201];
const PATIENCE: Duration = Duration::from_secs(120);
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

/// Starts clients and kills the server once it has acknowledged enough.
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_to_kill_9_and_what_was_unanswered_converges() {
    let program = program();
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
    let program = program();
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
    // The URL contains the port, which is another one now.
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
