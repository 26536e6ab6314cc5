//! Commands run beside a server that is running, and its very next answer shows what they changed.

use serde_json::{Value, json};
use testkit::{Api, Program, Reply, Running};

use crate::support::{commands::program, samples};

/// A running server, and commands beside it.
struct Beside {
    program: Program,
    running: Running,
}

impl Beside {
    fn new() -> Beside {
        let program = program();
        let running = program.dev();
        Beside { program, running }
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        let database = self.program.database();
        self.program.json(&[&["--json", "--database", &database], arguments].concat())
    }

    /// A new project, its id and a key of it.
    fn project(&self, environment: &str) -> (String, Api) {
        let made = self.json(&["project", "create", "--name", "Toko", "--environment", environment]);
        let id = made["id"].as_str().unwrap().to_owned();
        let key = self.json(&["key", "create", "--project", &id, "--name", "first"]);
        (id, Api::new(self.running.address(), key["key"].as_str()))
    }

    async fn payment(&self, project: &str, api: &Api, key: &str) -> String {
        let payment = api.pay(key, &samples::order(project)).await.expect(201);
        payment["id"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn a_new_project_and_its_key_work_at_once() {
    let beside = Beside::new();
    let (id, api) = beside.project("sandbox");
    let payment = api.pay("k", &samples::order(&id)).await.expect(201);
    assert_eq!(payment["project_id"], id);
    beside
        .running
        .api()
        .get(&format!("/v1/payments/{}", payment["id"].as_str().unwrap()))
        .await
        .refused(404, "RESOURCE_NOT_FOUND");
}

#[tokio::test]
async fn a_revoked_key_is_refused_at_once_and_leaves_one_event() {
    let beside = Beside::new();
    let (id, api) = beside.project("sandbox");
    let made = beside.json(&["key", "create", "--project", &id, "--name", "second"]);
    let second = api.with_key(made["key"].as_str().unwrap());
    second.get("/v1/balance").await.expect(200);
    let revoked = beside.json(&["key", "revoke", made["id"].as_str().unwrap()]);
    second.get("/v1/balance").await.refused(401, "UNAUTHORIZED");
    assert_eq!(beside.json(&["key", "revoke", made["id"].as_str().unwrap()]), revoked, "a second time changes nothing");
    api.get("/v1/balance").await.expect(200);
    let events = api.get("/v1/events").await.expect(200);
    assert_eq!(events["pagination"]["total_items"], 1);
    assert_eq!(events["data"][0]["type"], "apikey.deleted");
    for member in ["id", "name", "environment", "project_id", "key_prefix", "revoked_at"] {
        assert_eq!(events["data"][0]["data"][member], revoked[member], "{member}");
    }
    let listed = beside.json(&["key", "list", "--project", &id]);
    let revocations: Vec<bool> = listed.as_array().unwrap().iter().map(|key| !key["revoked_at"].is_null()).collect();
    assert_eq!(revocations.iter().filter(|revoked| **revoked).count(), 1);
}

#[tokio::test]
async fn an_inactive_project_is_refused_at_once_and_an_active_one_served_again() {
    let beside = Beside::new();
    let (id, api) = beside.project("sandbox");
    let payment = beside.payment(&id, &api, "k").await;
    for _ in 0..2 {
        assert_eq!(beside.json(&["project", "update", &id, "--active", "false"])["active"], false);
        api.get("/v1/balance").await.refused(403, "PROJECT_UNAVAILABLE");
        api.pay("k-2", &samples::order(&id)).await.refused(403, "PROJECT_UNAVAILABLE");
        assert_eq!(beside.json(&["project", "update", &id, "--active", "true"])["active"], true);
        api.get(&format!("/v1/payments/{payment}")).await.expect(200);
    }
}

#[tokio::test]
async fn a_production_project_works_once_it_is_approved() {
    let beside = Beside::new();
    let (id, api) = beside.project("production");
    api.get("/v1/payments").await.refused(403, "PROJECT_UNAVAILABLE");
    assert_eq!(beside.json(&["project", "update", &id, "--approve"])["approved"], true);
    api.get("/v1/payments").await.expect(200);
    api.pay("k", &samples::order(&id)).await.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
}

async fn from_origin(api: &Api, origin: &str) -> Reply {
    api.send(api.request(reqwest::Method::GET, "/v1/balance").header("Origin", origin)).await
}

#[tokio::test]
async fn the_given_origins_replace_the_list_at_once() {
    let beside = Beside::new();
    let (id, api) = beside.project("sandbox");
    let (one, two, three) = ("https://one.example", "https://two.example", "http://localhost:3000");
    from_origin(&api, one).await.refused(403, "CORS_ORIGIN_FORBIDDEN");
    let shown = beside.json(&["project", "update", &id, "--allow-origin", one, "--allow-origin", two]);
    assert_eq!(shown["allowed_origins"], json!([one, two]));
    for origin in [one, two] {
        let reply = from_origin(&api, origin).await;
        assert_eq!(reply.header("access-control-allow-origin"), Some(origin));
        reply.expect(200);
    }
    beside.json(&["project", "update", &id, "--allow-origin", three]);
    from_origin(&api, one).await.refused(403, "CORS_ORIGIN_FORBIDDEN");
    from_origin(&api, three).await.expect(200);
    beside.json(&["project", "update", &id, "--active", "true"]);
    from_origin(&api, three).await.expect(200);
}

#[tokio::test]
async fn the_word_for_success_changes_at_once() {
    let beside = Beside::new();
    let (id, api) = beside.project("sandbox");
    let payment = beside.payment(&id, &api, "k").await;
    beside.json(&["pay", &payment]);
    let path = format!("/v1/payments/{payment}");
    assert_eq!(api.get(&path).await.expect(200)["status"], "paid");
    assert_eq!(
        beside.json(&["project", "update", &id, "--success-status", "succeeded"])["success_status"],
        "succeeded"
    );
    assert_eq!(api.get(&path).await.expect(200)["status"], "succeeded");
    let second = beside.payment(&id, &api, "k-2").await;
    assert_eq!(beside.json(&["pay", &second])["status"], "succeeded");
    beside.json(&["project", "update", &id, "--success-status", "paid"]);
    assert_eq!(api.get(&path).await.expect(200)["status"], "paid");
}

#[tokio::test]
async fn a_webhook_url_is_kept_and_taken_away() {
    let beside = Beside::new();
    let (id, _) = beside.project("sandbox");
    let url = "http://127.0.0.1:9000/hook";
    assert_eq!(beside.json(&["project", "update", &id, "--webhook-url", url])["webhook_url"], url);
    assert_eq!(beside.json(&["project", "show", &id])["webhook_url"], url);
    assert_eq!(beside.json(&["project", "update", &id, "--webhook-url", ""])["webhook_url"], Value::Null);
}

#[tokio::test]
async fn paying_by_command_takes_the_same_path_as_a_banks_notification() {
    let beside = Beside::new();
    let (id, api) = beside.project("sandbox");
    let payment = beside.payment(&id, &api, "k").await;
    let answer = beside.json(&["pay", &payment]);
    assert_eq!((&answer["id"], &answer["status"]), (&json!(payment), &json!("paid")));
    let paid = api.get(&format!("/v1/payments/{payment}")).await.expect(200);
    assert_eq!((&paid["status"], &paid["paid_at"]), (&json!("paid"), &answer["paid_at"]));
    let events = api.get("/v1/events").await.expect(200);
    assert_eq!((&events["data"][0]["type"], &events["data"][0]["data"]), (&json!("payment.paid"), &paid));
    let net = paid["merchant_net"].as_i64().unwrap();
    let balance = api.get("/v1/balance").await.expect(200);
    assert_eq!((&balance["pending"], &balance["unapplied"]), (&json!(net), &json!(0)));

    // Money for a code that is paid already is recorded too.
    assert_eq!(beside.json(&["pay", &payment])["status"], "paid");
    let balance = api.get("/v1/balance").await.expect(200);
    assert_eq!((&balance["pending"], &balance["unapplied"]), (&json!(net), &json!(15_000)));
    assert_eq!(api.get("/v1/events").await.expect(200)["pagination"]["total_items"], 1);
    assert_eq!(beside.json(&["verify"])["ok"], true);
}

#[tokio::test]
async fn failing_a_payment_is_seen_at_once_and_a_final_payment_cannot_fail() {
    let beside = Beside::new();
    let (id, api) = beside.project("sandbox");
    let payment = beside.payment(&id, &api, "k").await;
    assert_eq!(beside.json(&["fail", &payment])["status"], "failed");
    let failed = api.get(&format!("/v1/payments/{payment}")).await.expect(200);
    assert_eq!((&failed["status"], &failed["paid_at"]), (&json!("failed"), &Value::Null));
    let events = api.get("/v1/events").await.expect(200);
    assert_eq!((&events["data"][0]["type"], &events["data"][0]["data"]), (&json!("payment.failed"), &failed));

    let paid = beside.payment(&id, &api, "k-2").await;
    beside.json(&["pay", &paid]);
    let database = beside.program.database();
    let ran = beside.program.run(&["--json", "--database", &database, "fail", &paid]);
    assert_eq!(ran.failed(1).len(), 1, "{ran:?}");
    assert_eq!(api.get(&format!("/v1/payments/{paid}")).await.expect(200)["status"], "paid");
    assert_eq!(beside.json(&["verify"])["ok"], true);
}

#[tokio::test]
async fn commands_and_requests_at_the_same_time_all_succeed() {
    let beside = Beside::new();
    let (id, api) = beside.project("sandbox");
    let mut payments = Vec::new();
    for number in 0..10 {
        payments.push(beside.payment(&id, &api, &format!("before-{number}")).await);
    }
    let database = beside.program.database();
    let commands: Vec<_> = payments
        .iter()
        .map(|payment| {
            let mut command = beside.program.command(&["--json", "--database", &database, "pay", payment]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for number in 0..50 {
        beside.payment(&id, &api, &format!("during-{number}")).await;
    }
    for command in commands {
        let ran = testkit::Ran::from(command.wait_with_output().unwrap());
        assert_eq!(ran.json(0)["status"], "paid");
    }
    let list = api.get("/v1/payments?status=paid").await.expect(200);
    assert_eq!(list["pagination"]["total_items"], 10);
    assert_eq!(beside.json(&["verify"])["ok"], true);
}
