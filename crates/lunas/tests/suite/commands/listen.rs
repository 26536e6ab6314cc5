//! `lunas listen` forwards every event once to a program on this machine, as its webhook would be sent.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    time::Duration,
};

use domain::{
    project::Environment,
    signature::{TOLERANCE, verify},
};
use engine::{Clock, SystemClock};
use serde_json::{Value, json};
use testkit::{Answer, Api, Program, Received, Receiver, Running};
use tokio::sync::watch;

use crate::support::commands::{self, dev, unknown_key};

const ROUNDS: usize = 4;
const PAYERS: usize = 4;
/// How many payments are paid before the server is killed: different numbers, so that it happens at different points.
const PAID: [usize; ROUNDS] = [1, 30, 75, 47];
const PATIENCE: Duration = Duration::from_secs(120);

/// Starts a listener and waits until it is ready. It has a log of its own.
fn start(program: &Program, mut command: Command) -> Running {
    let directory = program.directory.path().join("listen");
    fs::create_dir_all(&directory).unwrap();
    command.arg("--json");
    Running::start(command, &directory)
}

fn listen(program: &Program, receiver: &Receiver, more: &[&str]) -> Running {
    start(program, program.command(&[&["listen", "--forward-to", &url(receiver)], more].concat()))
}

/// With a query, which must be forwarded like the path.
fn url(receiver: &Receiver) -> String {
    format!("{}?from=lunas", receiver.url())
}

fn trigger(program: &Program, kind: &str) -> String {
    let triggered = program.json(&["trigger", kind, "--json"]);
    triggered["event_id"].as_str().unwrap().to_owned()
}

/// Checks a signature by the time at which it came, as a receiver does: a test may last longer than signatures are good for.
#[track_caller]
fn genuine(received: &Received, secret: &str) {
    let header = received.header("x-service-signature");
    assert_eq!(verify(header, secret, &received.body, received.at, TOLERANCE), Ok(()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_kind_of_event_is_forwarded_as_its_webhook_would_be() {
    let (program, running) = dev();
    let receiver = Receiver::start().await;
    let before = trigger(&program, "payment.paid");
    let merchant = Receiver::start().await;
    let project = running.said("project_id");
    program.json(&["project", "update", project, "--webhook-url", &url(&merchant), "--json"]);
    let listening = listen(&program, &receiver, &[]);
    assert_eq!(listening.ready["webhook_secret"], Value::Null, "the demo project's secret is known");
    for (number, kind) in ["payment.paid", "payment.failed", "apikey.deleted"].into_iter().enumerate() {
        let id = trigger(&program, kind);
        let received = receiver.arrived(number + 1).await[number].clone();
        genuine(&received, running.said("webhook_secret"));
        assert_eq!(received.header("content-type"), "application/json");
        assert_eq!(received.header("user-agent"), concat!("Lunas/", env!("CARGO_PKG_VERSION")));
        let delivered = merchant.arrived(number + 1).await[number].clone();
        assert_eq!((&received.path, received.text()), (&delivered.path, delivered.text()), "as the webhook itself");
        for (name, value) in &delivered.headers {
            assert!(
                ["host", "x-service-signature"].contains(&name.as_str()) || received.header(name) == value,
                "{name}"
            );
        }
        let shown = running.api().get(&format!("/v1/events/{id}")).await;
        assert_eq!(received.text(), shown.text, "exactly the envelope");
        let line = listening.next_line();
        assert_eq!((&line["type"], &line["id"], &line["status"]), (&json!(kind), &json!(id), &json!(200)));
        assert!(line["at"].is_string() && line["latency_ms"].is_u64() && line["error"].is_null(), "{line}");
    }
    assert!(receiver.received().iter().all(|received| received.json()["id"] != before), "it begins with now");
}

/// Creates and pays payments until the server is dead.
async fn payer(name: String, api: Api, project: String, paid: watch::Sender<usize>) {
    for number in 0.. {
        let order = json!({
            "project_id": project, "reference": name, "amount": 15_000, "payment_method": { "type": "qris" },
        });
        let key = format!("{name}-{number}");
        let create = api.request(reqwest::Method::POST, "/v1/payments").header("Idempotency-Key", &key).json(&order);
        let Ok(answer) = create.send().await else { return };
        let Ok(payment) = answer.json::<Value>().await else { return };
        let id = payment["id"].as_str().unwrap_or_else(|| panic!("{key}: {payment}"));
        let path = format!("/v1/sandbox/payments/{id}/simulate");
        let outcome = if number % 3 == 0 { "failed" } else { "paid" };
        let simulate = api.request(reqwest::Method::POST, &path).json(&json!({ "outcome": outcome }));
        let Ok(answer) = simulate.send().await else { return };
        assert!(answer.status().is_success(), "{key}: {answer:?}");
        paid.send_modify(|paid| *paid += 1);
    }
}

async fn pay_and_kill(running: Running, round: usize) {
    let (paid, mut payments) = watch::channel(0);
    let payers: Vec<_> = (0..PAYERS)
        .map(|number| {
            let (name, project) = (format!("round-{round}-payer-{number}"), running.said("project_id").to_owned());
            tokio::spawn(payer(name, running.api(), project, paid.clone()))
        })
        .collect();
    let enough = payments.wait_for(|paid| *paid >= PAID[round]);
    tokio::time::timeout(PATIENCE, enough).await.expect("too little is paid").unwrap();
    running.kill();
    for payer in payers {
        tokio::time::timeout(PATIENCE, payer).await.expect("a payer hangs").unwrap();
    }
}

/// The ids of all events, page by page.
async fn event_ids(api: &Api) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for page in 1.. {
        let list = api.get(&format!("/v1/events?page_size=100&page={page}")).await.expect(200);
        let data = list["data"].as_array().unwrap();
        ids.extend(data.iter().map(|event| event["id"].as_str().unwrap().to_owned()));
        if data.len() < 100 {
            break;
        }
    }
    ids
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_event_is_missed_or_doubled_however_often_the_server_is_killed() {
    let (program, mut running) = dev();
    let receiver = Receiver::start().await;
    let listening = listen(&program, &receiver, &[]);
    for round in 0..ROUNDS {
        pay_and_kill(running, round).await;
        // The port is another one every time, and the listener finds it.
        running = program.dev();
    }
    let owed = event_ids(&running.api()).await;
    assert!(owed.len() >= PAID.iter().sum(), "of the answered payments' events there are only {}", owed.len());
    receiver.arrived(owed.len()).await;
    // The last event arrives after a poll that has read all the others again.
    let last = trigger(&program, "payment.paid");
    let received = receiver.arrived(owed.len() + 1).await;
    for delivery in &received {
        genuine(delivery, running.said("webhook_secret"));
    }
    let ids: Vec<String> = received.iter().map(|received| received.json()["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.last(), Some(&last));
    assert_eq!(ids.len(), owed.len() + 1, "each comes once");
    assert_eq!(ids.iter().cloned().collect::<BTreeSet<_>>(), event_ids(&running.api()).await);
    for _ in &ids {
        let line = listening.next_line();
        assert_eq!(line["status"], 200, "{line}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreachable_server_is_reported_once_and_waited_for() {
    let (program, running) = dev();
    let receiver = Receiver::start().await;
    let listening = listen(&program, &receiver, &[]);
    running.kill();
    let said = |word: &str| listening.log().lines().filter(|line| line.contains(word)).count();
    let waited = async {
        while said("is unavailable") == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waited).await.expect("it does not say that the server is unavailable");
    let _running = program.dev();
    let id = trigger(&program, "payment.paid");
    assert_eq!(receiver.arrived(1).await[0].json()["id"], id);
    assert_eq!((said("is unavailable"), said("is available again")), (1, 1), "{}", listening.log());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_program_at_the_port_of_a_server_that_is_gone_does_not_end_it() {
    let (program, running) = dev();
    let receiver = Receiver::start().await;
    let listening = listen(&program, &receiver, &[]);
    let address = running.address();
    running.kill();
    while !listening.log().contains("is unavailable") {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let other = Receiver::start_at(address).await;
    other.answer(Answer::Status(404));
    other.arrived(1).await;
    drop(other);
    let _running = program.dev();
    let id = trigger(&program, "payment.paid");
    assert_eq!(receiver.arrived(1).await[0].json()["id"], id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_down_or_refuses_is_reported_and_not_retried() {
    let (program, _running) = dev();
    let receiver = Receiver::start().await;
    let listening = listen(&program, &receiver, &[]);
    for status in [500, 404, 302, 204] {
        receiver.answer(Answer::Status(status));
        let id = trigger(&program, "payment.paid");
        let line = listening.next_line();
        assert_eq!((&line["id"], &line["status"]), (&json!(id), &json!(status)));
        assert_eq!(line["error"].is_null(), status == 204, "{line}");
    }
    let (address, forwarded) = (receiver.address, receiver.received().len());
    assert_eq!(forwarded, 4, "no redirect is followed and nothing is sent again");
    drop(receiver);
    let missed = trigger(&program, "payment.failed");
    let line = listening.next_line();
    assert_eq!((&line["id"], &line["status"]), (&json!(missed), &Value::Null));
    assert!(line["error"].as_str().is_some_and(|error| !error.is_empty()), "{line}");
    let receiver = Receiver::start_at(address).await;
    let id = trigger(&program, "payment.paid");
    assert_eq!(receiver.arrived(1).await[0].json()["id"], id);
    assert_eq!(listening.next_line()["status"], 200);

    // The failed event is forwarded when asked for by its id.
    let again = Receiver::start().await;
    let _listening = listen(&program, &again, &["--since", &missed]);
    let ids: Vec<Value> = again.arrived(2).await.iter().map(|received| received.json()["id"].clone()).collect();
    assert_eq!(ids, [missed, id]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_secret_is_the_one_given_or_one_that_is_made_and_shown() {
    let (program, running) = dev();
    let receiver = Receiver::start().await;
    let given = format!("whsec_{}", "given".repeat(4));
    let since = trigger(&program, "payment.paid");
    let _listening = listen(&program, &receiver, &["--secret", &given, "--since", &since]);
    genuine(&receiver.arrived(1).await[0], &given);

    // A key that `lunas dev` did not create may be another project's, so its webhook secret is unknown here.
    let project = program.json(&["project", "create", "--name", "Toko", "--environment", "sandbox", "--json"]);
    let project = project["id"].as_str().unwrap();
    let key = program.json(&["key", "create", "--project", project, "--name", "first", "--json"]);
    let key = key["key"].as_str().unwrap();
    let other = Receiver::start().await;
    let mut command =
        program.command(&["listen", "--forward-to", &other.url(), "--webhook-signature-header", "X-Toko"]);
    command.env("LUNAS_API_KEY", key).env("LUNAS_WEBHOOK_SECRET", "");
    let listening = start(&program, command);
    let made = listening.said("webhook_secret");
    assert!(made.starts_with("whsec_") && made != running.said("webhook_secret"));
    program.json(&["trigger", "payment.failed", "--json", "--key", key]);
    let received = other.arrived(1).await.remove(0);
    assert_eq!(verify(received.header("x-toko"), made, &received.body, SystemClock.now(), TOLERANCE), Ok(()));
    assert_eq!(received.json()["data"]["project_id"], project);
    assert_eq!(receiver.received().len(), 1, "a project's events are its own");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_ends_on_a_signal_and_when_its_key_is_revoked() {
    let (program, running) = dev();
    let receiver = Receiver::start().await;
    for signal in ["TERM", "INT"] {
        let mut listening = listen(&program, &receiver, &[]);
        listening.signal(signal);
        assert_eq!(listening.ended(), Some(0), "{signal}: {}", listening.log());
        assert_eq!(listening.log(), "");
    }
    let arguments = ["key", "create", "--project", running.said("project_id"), "--name", "spare", "--json"];
    let spare = program.json(&arguments);
    let mut listening = listen(&program, &receiver, &["--key", spare["key"].as_str().unwrap()]);
    program.json(&["key", "revoke", spare["id"].as_str().unwrap(), "--json"]);
    assert_eq!(listening.ended(), Some(1));
    let log = listening.log();
    assert!(log.lines().count() == 1 && log.contains("401"), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unusable_addresses_and_keys_exit_1_with_one_line() {
    let (program, _running) = dev();
    let stranger = Receiver::start().await;
    let (unknown, strange_url) = (unknown_key(Environment::Sandbox), format!("http://{}", stranger.address));
    let (hook, no_event) = ("http://127.0.0.1:9099/hook", format!("evt_{}", "0".repeat(26)));
    for (forward_to, more, reason) in [
        ("", &[][..], "--forward-to"),
        ("localhost:3000", &[], "--forward-to"),
        ("ftp://localhost", &[], "--forward-to"),
        ("http://user:quiet@localhost", &[], "--forward-to"),
        ("http://localhost/#part", &[], "--forward-to"),
        (hook, &["--url", "junk"], "--url"),
        (hook, &["--url", "http://user:quiet@localhost"], "--url"),
        (hook, &["--url", "http://127.0.0.1:1"], "unavailable"),
        (hook, &["--url", &strange_url], "not one that Lunas gives"),
        (hook, &["--key", "junk"], "malformed"),
        (hook, &["--key", &unknown], "401"),
        (hook, &["--since", &no_event], "404"),
        (hook, &["--database", "junk"], "sqlite:PATH"),
    ] {
        for json in [&[][..], &["--json"]] {
            let ran = program.run(&[&["listen", "--forward-to", forward_to], more, json].concat());
            let lines = ran.failed(1);
            assert!(lines.len() == 1 && lines[0].contains(reason), "{forward_to} {more:?}: {ran:?}");
            assert!(!ran.stderr.contains("quiet") && !ran.stderr.contains(&unknown), "a secret is not repeated");
        }
    }
    for arguments in [
        &["listen"][..],
        &["listen", "--forward-to", hook, "--since", "junk"],
        &["listen", "--forward-to", hook, "--webhook-signature-header", "a b"],
    ] {
        program.run(arguments).failed(2);
    }
    let nowhere = commands::program();
    let ran = nowhere.run(&["listen", "--forward-to", hook]);
    assert!(ran.failed(1)[0].contains("LUNAS_API_KEY"), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_get_one_line_for_each_event() {
    let (program, _running) = dev();
    let receiver = Receiver::start().await;
    let mut command = program.command(&["listen", "--forward-to", &receiver.url()]);
    let since = trigger(&program, "payment.paid");
    command.args(["--since", &since]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut listening = command.spawn().unwrap();
    let mut text = String::new();
    let mut stdout = BufReader::new(listening.stdout.take().unwrap());
    while !text.contains(&since) {
        assert!(stdout.read_line(&mut text).unwrap() > 0, "it ended after {text}");
    }
    listening.kill().unwrap();
    listening.wait().unwrap();
    assert!(text.contains(&receiver.url()) && text.contains("dev.json"), "{text}");
    let line = text.lines().last().unwrap();
    assert!(line.contains("  payment.paid    ") && line.contains("  200 in ") && line.ends_with(" ms"), "{line}");
}
