//! `lunas trigger` makes events by really doing what causes them, in the sandbox only.

use domain::project::Environment;
use serde_json::{Value, json};
use testkit::{Program, Ran, Receiver, Running};

use crate::support::{
    commands::{self, dev, program, unknown_key},
    payments::total,
};

fn keys(program: &Program, running: &Running) -> Value {
    program.json(&["key", "list", "--project", running.said("project_id"), "--json"])
}

#[tokio::test]
async fn each_event_is_made_by_what_causes_it() {
    let (program, running) = dev();
    let api = running.api();
    for (kind, subject, path, status) in [
        ("payment.paid", "payment_id", "/v1/payments/", "paid"),
        ("payment.failed", "payment_id", "/v1/payments/", "failed"),
        ("apikey.deleted", "api_key_id", "", ""),
    ] {
        let triggered = program.json(&["trigger", kind, "--json"]);
        assert_eq!(triggered["type"], kind);
        let subject = triggered[subject].as_str().unwrap();
        let event = api.get(&format!("/v1/events/{}", triggered["event_id"].as_str().unwrap())).await.expect(200);
        assert_eq!((&event["type"], &event["data"]["id"]), (&json!(kind), &json!(subject)));
        if !path.is_empty() {
            assert_eq!(api.get(&format!("{path}{subject}")).await.expect(200)["status"], status);
        }
    }
    assert_eq!(total(&api, "/v1/events").await, 3);
    assert_eq!(total(&api, "/v1/payments").await, 2);
    let revoked: Vec<bool> =
        keys(&program, &running).as_array().unwrap().iter().map(|key| key["revoked_at"].is_string()).collect();
    assert_eq!(revoked.iter().filter(|revoked| **revoked).count(), 1, "the throwaway key, and not the demo key");
    assert_eq!(revoked.len(), 2);
    assert_eq!(program.json(&["verify", "--json"])["ok"], true);
}

#[tokio::test]
async fn a_second_trigger_makes_a_second_event_and_people_get_text() {
    let (program, running) = dev();
    let first = program.json(&["trigger", "payment.paid", "--json"]);
    let second = program.run(&["trigger", "payment.paid"]);
    assert_eq!((second.code, second.stderr.as_str()), (0, ""));
    assert!(second.stdout.contains("evt_") && second.stdout.contains("pay_"), "{second:?}");
    assert!(!second.stdout.contains(first["event_id"].as_str().unwrap()));
    assert_eq!(total(&running.api(), "/v1/events?type=payment.paid").await, 2);
}

#[tokio::test]
async fn the_server_and_the_key_come_from_flags_and_from_the_environment() {
    let (_program, running) = dev();
    let elsewhere = program();
    let (url, key) = (running.said("base_url"), running.said("api_key"));
    elsewhere.json(&["trigger", "payment.paid", "--json", "--url", url, "--key", key]);
    let mut command = elsewhere.command(&["trigger", "payment.failed", "--json"]);
    command.env("LUNAS_URL", format!("{url}/")).env("LUNAS_API_KEY", key);
    assert_eq!(Ran::from(command.output().unwrap()).json(0)["type"], "payment.failed");
    assert_eq!(total(&running.api(), "/v1/events").await, 2);
    assert!(!elsewhere.data().exists(), "nothing is made where there was nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_live_key_is_refused_before_anything_is_done() {
    let program = program();
    let server = Receiver::start().await;
    let url = format!("http://{}", server.address);
    for kind in ["payment.paid", "payment.failed", "apikey.deleted"] {
        let key = unknown_key(Environment::Production);
        let ran = program.run(&["trigger", kind, "--url", &url, "--key", &key]);
        let lines = ran.failed(1);
        assert!(lines.len() == 1 && lines[0].contains("key for production"), "{ran:?}");
        assert!(!ran.stderr.contains(&key), "a key is not repeated");
    }
    assert!(server.received().is_empty(), "no request was made");
}

#[tokio::test]
async fn a_key_can_be_revoked_only_where_one_can_be_made() {
    let (program, running) = dev();
    let (url, key) = (running.said("base_url"), running.said("api_key"));
    let (other, other_running) = dev();
    for database in ["sqlite:/nowhere/lunas.db", &other.database()] {
        let arguments = ["trigger", "apikey.deleted", "--url", url, "--key", key, "--database", database];
        let ran = program.run(&arguments);
        let lines = ran.failed(1);
        assert!(lines.len() == 1 && lines[0].contains("--database"), "{ran:?}");
    }
    assert_eq!(keys(&program, &running).as_array().unwrap().len(), 1);
    assert_eq!(keys(&other, &other_running).as_array().unwrap().len(), 1);
    assert_eq!(total(&running.api(), "/v1/events").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_triggered_exits_1_with_one_line() {
    let (program, running) = dev();
    let stranger = Receiver::start().await;
    let (unknown, strange_url) = (unknown_key(Environment::Sandbox), format!("http://{}", stranger.address));
    for (arguments, reason) in [
        (&["--key", "junk"][..], "malformed"),
        (&["--key", &unknown], "401"),
        (&["--url", "junk"], "--url"),
        (&["--url", "http://user:quiet@127.0.0.1"], "--url"),
        (&["--url", "http://127.0.0.1:1"], "unavailable"),
        (&["--url", &strange_url], "not one that Lunas gives"),
    ] {
        let ran = program.run(&[&["trigger", "payment.paid"], arguments].concat());
        let lines = ran.failed(1);
        assert!(lines.len() == 1 && lines[0].contains(reason), "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.contains("quiet") && !ran.stderr.contains(&unknown), "a secret is not repeated");
    }
    program.run(&["trigger"]).failed(2);
    program.run(&["trigger", "payment.expired"]).failed(2);
    program.run(&["trigger", "payment.paid", "payment.failed"]).failed(2);
    assert_eq!(total(&running.api(), "/v1/payments").await, 0);
    let nowhere = commands::program();
    let ran = nowhere.run(&["trigger", "payment.paid"]);
    assert!(ran.failed(1)[0].contains("LUNAS_API_KEY"), "{ran:?}");
}

#[tokio::test]
async fn further_events_are_asked_for_by_a_command_and_cannot_be_triggered() {
    let (program, running) = dev();
    let project = running.said("project_id");
    let update = |more: &[&str]| program.json(&[&["project", "update", project, "--json"], more].concat());
    let shown = || program.json(&["project", "show", project, "--json"])["extra_events"].clone();
    assert_eq!(shown(), json!([]));
    let both = ["--extra-event", "payment.held", "--extra-event", "payment.expired"];
    assert_eq!(update(&both)["extra_events"], json!(["payment.held", "payment.expired"]));
    let text = program.run(&["project", "show", project]);
    assert!(text.stdout.contains("payment.held, payment.expired"), "{text:?}");
    // Other settings leave it alone.
    update(&["--merchant-city", "BOGOR"]);
    assert_eq!(shown(), json!(["payment.held", "payment.expired"]));
    assert_eq!(update(&["--extra-event", ""])["extra_events"], json!([]));
    for wrong in ["payment.paid", "payment", "payment.held,payment.expired"] {
        program.run(&["project", "update", project, "--extra-event", wrong]).failed(2);
    }
    for kind in ["payment.expired", "payment.cancelled", "payment.held"] {
        program.run(&["trigger", kind]).failed(2);
    }
    assert_eq!((shown(), total(&running.api(), "/v1/payments").await), (json!([]), 0));
}
