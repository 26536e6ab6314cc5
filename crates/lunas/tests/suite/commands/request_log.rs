//! The request log: one line per request, with what an operator needs and no secret.

use std::process::Command;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Api, Program, Ran, Reply, Running};

use crate::support::{
    commands::{program, secret_key},
    customer::Customer,
};

/// A secret text that is sent in the query, a header and a body, and must not be logged.
const QUIET: &str = "do-not-log-me";

fn served(program: &Program, key: &str, arguments: &[&str]) -> Value {
    let mut command: Command = program.served(arguments, key);
    Ran::from(command.output().unwrap()).json(0)
}

/// The lines about requests, each as JSON.
fn requests(running: &Running) -> Vec<Value> {
    let lines: Vec<Value> = running
        .log()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in the line {line}")))
        .collect();
    lines.into_iter().filter(|line| line.get("request_id").is_some()).collect()
}

/// What the log must say about an answer.
#[track_caller]
fn is_logged(lines: &[Value], method: &str, path: &str, reply: &Reply) {
    let id = reply.header("x-request-id").unwrap();
    let about: Vec<&Value> = lines.iter().filter(|line| line["request_id"] == id).collect();
    let [line] = about[..] else { panic!("{method} {path} has {} lines", about.len()) };
    assert_eq!(
        (&line["method"], &line["path"], &line["status"]),
        (&json!(method), &json!(path), &json!(reply.status.as_u16())),
        "{line}"
    );
    assert!(line["timestamp"].is_string() && line["level"].is_string(), "{line}");
}

#[tokio::test]
async fn serve_logs_each_request_as_one_line_of_json_and_no_secret() {
    let program = program();
    let secret_key = secret_key();
    let running = program.serve(&secret_key);
    let project =
        served(&program, &secret_key, &["project", "create", "--name", "Toko", "--environment", "sandbox", "--json"]);
    let id = project["id"].as_str().unwrap();
    let key = served(&program, &secret_key, &["key", "create", "--project", id, "--name", "first", "--json"]);
    let (key_id, secret) = (key["id"].as_str().unwrap(), key["key"].as_str().unwrap());
    let api = Api::new(running.address(), Some(secret));
    let anonymous = Api::new(running.address(), None);

    let order = json!({ "project_id": id, "reference": QUIET, "amount": 15_000, "payment_method": { "type": "qris" } });
    let created = api.pay(QUIET, &order).await;
    let payment = format!("/v1/payments/{}", created.json["id"].as_str().unwrap());
    let searched = api.get(&format!("/v1/payments?search={QUIET}&api_key={secret}")).await;
    let lost = anonymous.get(&format!("/nowhere?secret={QUIET}")).await;
    let refused = api.post("/v1/payments", &order).await;
    let (half, other) = (&secret[..40], format!("{}{QUIET}", &secret[..8]));
    let stranger = api.with_key(half).get("/v1/balance").await;
    let stranger_too = api.with_key(&other).get("/v1/balance").await;
    let named = api.send(api.request(Method::GET, &payment).header("X-Request-Id", "my-own-id")).await;
    let wrong = api.send(api.request(Method::POST, "/v1/payments").header("Content-Type", QUIET).body(QUIET)).await;
    let ready = anonymous.get("/readyz").await;
    let token = "0123456789abcdef".repeat(4);
    let invited = Customer::at(running.address()).open(&format!("/dashboard/invite/{token}")).await;
    let reset = Customer::at(running.address()).open(&format!("/dashboard/reset/{token}")).await;
    let claimed = Customer::at(running.address()).open(&format!("/r/{token}/status")).await;
    let revoked = api.delete(&format!("/v1/api-keys/{key_id}")).await;
    let answers = [
        ("POST", "/v1/payments", created, 201),
        ("GET", "/v1/payments", searched, 200),
        ("GET", "/nowhere", lost, 404),
        ("POST", "/v1/payments", refused, 400),
        ("GET", "/v1/balance", stranger, 401),
        ("GET", "/v1/balance", stranger_too, 401),
        ("GET", payment.as_str(), named, 200),
        ("POST", "/v1/payments", wrong, 400),
        ("GET", "/readyz", ready, 200),
        ("GET", "/dashboard/invite/", invited, 404),
        ("GET", "/dashboard/reset/", reset, 404),
        ("GET", "/r/", claimed, 404),
        ("DELETE", &format!("/v1/api-keys/{key_id}"), revoked, 200),
    ];
    let lines = requests(&running);
    for (method, path, reply, status) in &answers {
        assert_eq!(reply.status.as_u16(), *status, "{method} {path}");
        is_logged(&lines, method, path, reply);
    }
    assert!(lines.iter().any(|line| line["request_id"] == "my-own-id"));
    let log = running.log();
    let secrets = [secret, &secret[8..], half, project["webhook_secret"].as_str().unwrap(), &secret_key, &token, QUIET];
    for text in secrets.into_iter().chain(["Bearer", "bearer", "Authorization", "whsec_", "?"]) {
        assert!(!log.contains(text), "`{text}` is in the log:\n{log}");
    }
}

#[tokio::test]
async fn an_internal_error_is_logged_with_its_cause_and_answered_without_it() {
    let program = program();
    let secret_key = secret_key();
    let running = program.serve(&secret_key);
    let arguments = ["project", "create", "--name", "Toko", "--environment", "production", "--json"];
    let project = served(&program, &secret_key, &arguments);
    let id = project["id"].as_str().unwrap();
    served(&program, &secret_key, &["project", "update", id, "--approve", "--json"]);
    let key = served(&program, &secret_key, &["key", "create", "--project", id, "--name", "first", "--json"]);
    let api = Api::new(running.address(), key["key"].as_str());
    let order = json!({ "project_id": id, "reference": "o", "amount": 15_000, "payment_method": { "type": "qris" } });
    let reply = api.pay("k", &order).await;
    let request_id = reply.header("x-request-id").unwrap().to_owned();
    reply.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
    let lines = requests(&running);
    let line = lines.iter().find(|line| line["request_id"] == request_id.as_str()).unwrap();
    assert_eq!((&line["status"], &line["project_id"], &line["key_id"]), (&json!(503), &project["id"], &key["id"]));
    assert!(line["error"].as_str().is_some_and(|error| !error.is_empty()), "{line}");
}

#[tokio::test]
async fn dev_logs_each_request_and_no_secret() {
    let program = program();
    let running = program.dev();
    let api = running.api();
    let order = json!({
        "project_id": running.said("project_id"),
        "reference": QUIET,
        "amount": 15_000,
        "payment_method": { "type": "qris" },
    });
    let reply = api.pay(QUIET, &order).await;
    let searched = api.get(&format!("/v1/payments?search={QUIET}")).await;
    let log = running.log();
    for (reply, words) in [(reply, ["POST", "/v1/payments", "201"]), (searched, ["GET", "/v1/payments", "200"])] {
        let id = reply.header("x-request-id").unwrap();
        let lines: Vec<&str> = log.lines().filter(|line| line.contains(id)).collect();
        let [line] = lines[..] else { panic!("{id} has {} lines in {log}", lines.len()) };
        assert!(words.iter().all(|word| line.contains(word)), "{line}");
    }
    let key = std::fs::read_to_string(program.data().join("secret.key")).unwrap();
    for secret in [running.said("api_key"), running.said("webhook_secret"), key.trim(), QUIET, "Bearer", "?"] {
        assert!(!log.contains(secret), "`{secret}` is in the log:\n{log}");
    }
}

#[tokio::test]
async fn answers_go_to_standard_output_and_the_log_to_standard_error() {
    let program = program();
    let running = program.dev();
    for arguments in [&["project", "list", "--json"][..], &["verify", "--json"]] {
        let ran = program.run(arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "a command that succeeds logs nothing");
    }
    assert!(!running.log().contains("webhook_secret"));
}
