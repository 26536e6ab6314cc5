//! `lunas dev`: one command gives a developer everything that a first payment needs.

use std::{collections::BTreeSet, fs, os::unix::fs::PermissionsExt, process::Command};

use serde_json::{Value, json};
use testkit::{Api, Running};

use crate::support::{commands::program, customer::Customer, people::sign_in, samples};

const MEMBERS: [&str; 8] = [
    "base_url",
    "checkout_url_base",
    "dashboard_url",
    "dashboard_email",
    "dashboard_password",
    "project_id",
    "api_key",
    "webhook_secret",
];

#[tokio::test]
async fn the_ready_line_has_exactly_its_members_and_they_work() {
    let program = program();
    let running = program.dev();
    let members: BTreeSet<&str> = running.ready.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, MEMBERS.into_iter().collect());
    assert!(running.ready.as_object().unwrap().values().all(Value::is_string));
    assert_eq!(running.said("base_url"), format!("http://{}", running.address()));
    assert_ne!(running.address().port(), 0);
    assert_eq!(running.said("checkout_url_base"), running.said("base_url"));
    assert!(running.said("project_id").starts_with("prj_"));
    assert!(running.said("api_key").starts_with("sk_test_"));
    assert!(running.said("webhook_secret").starts_with("whsec_"));
    assert_eq!(running.said("dashboard_url"), format!("{}/dashboard", running.said("base_url")));
    assert_eq!(running.said("dashboard_email"), "demo@lunas.localhost");
    assert!(running.said("dashboard_password").len() >= 20);

    let anonymous = Api::new(running.address(), None);
    anonymous.get("/healthz").await.expect(200);
    anonymous.get("/readyz").await.expect(200);
    let document = anonymous.get("/openapi.json").await.expect(200);
    assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.")));
    let payment = running.api().pay("k", &samples::order(running.said("project_id"))).await.expect(201);
    assert_eq!(payment["project_id"], running.said("project_id"));
    let checkout = format!("{}/pay/{}", running.said("checkout_url_base"), payment["id"].as_str().unwrap());
    assert_eq!(payment["checkout_url"], checkout);
}

#[tokio::test]
async fn a_second_run_prints_the_same_values_and_finds_the_same_payments() {
    let program = program();
    let first = program.dev();
    let payment = first.api().pay("k", &samples::order(first.said("project_id"))).await.expect(201);
    let said = first.ready.clone();
    assert_eq!(first.terminate(), Some(0));
    let second = program.dev();
    for member in MEMBERS.into_iter().filter(|member| !member.contains("url")) {
        assert_eq!(second.ready[member], said[member], "{member}");
    }
    let kept = second.api().get(&format!("/v1/payments/{}", payment["id"].as_str().unwrap())).await.expect(200);
    assert_eq!(kept["reference"], payment["reference"]);
    let projects = program.json(&["--json", "--database", &program.database(), "project", "list"]);
    assert_eq!(projects.as_array().unwrap().len(), 1);
}

/// Whether the password of the ready line opens the dashboard.
async fn opens(running: &Running) -> bool {
    let browser = Customer::at(running.address());
    sign_in(&browser, running.said("dashboard_email"), running.said("dashboard_password")).await.status == 303
}

#[tokio::test]
async fn the_demo_projects_owner_signs_in_and_runs_the_installation() {
    let program = program();
    let running = program.dev();
    assert!(opens(&running).await);
    let users = program.json(&["user", "list", "--json", "--database", &program.database()]);
    let [user] = users.as_array().unwrap().as_slice() else { panic!("{users}") };
    assert_eq!((&user["email"], &user["operator"]), (&json!(running.said("dashboard_email")), &json!(true)));
    let project = json!([{ "id": running.said("project_id"), "name": "Demo", "role": "owner" }]);
    assert_eq!(user["projects"], project);
}

#[tokio::test]
async fn a_password_that_was_changed_is_replaced_and_a_file_without_one_keeps_its_project() {
    let program = program();
    let said = program.dev().ready.clone();
    let (database, file) = (program.database(), program.data().join("dev.json"));
    let changed = ["user", "password", "demo@lunas.localhost", "--json", "--database", &database];
    let change_by_hand = || drop(program.json(&changed));
    let drop_from_file = || {
        let mut kept: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        for member in ["dashboard_email", "dashboard_password"] {
            assert!(kept.as_object_mut().unwrap().remove(member).is_some(), "{member} is kept");
        }
        fs::write(&file, kept.to_string()).unwrap();
    };
    let mends: [&dyn Fn(); 2] = [&change_by_hand, &drop_from_file];
    for mend in mends {
        mend();
        let running = program.dev();
        assert_ne!(running.ready["dashboard_password"], said["dashboard_password"]);
        for member in ["project_id", "api_key", "webhook_secret", "dashboard_email"] {
            assert_eq!(running.ready[member], said[member], "{member}");
        }
        assert!(opens(&running).await);
        assert!(running.log().contains("dev.json is no longer valid; set a new one for"), "{}", running.log());
        assert!(!running.log().contains(running.said("dashboard_password")));
        let mended = running.ready.clone();
        drop(running);
        let again = program.dev();
        assert_eq!(again.ready["dashboard_password"], mended["dashboard_password"]);
        assert!(!again.log().contains("no password"), "{}", again.log());
    }
}

/// Checks that a command refuses to start beside a server, with one line that says so.
#[track_caller]
fn refuses(ran: &testkit::Ran, said: &str) {
    let reasons = ran.failed(1);
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(reasons[0].contains(said) && reasons[0].contains("stop it first"), "{reasons:?}");
}

#[tokio::test]
async fn a_second_run_with_the_same_data_says_so_and_stops_and_the_first_goes_on() {
    let program = program();
    let running = program.dev();
    let address = fs::read_to_string(program.data().join("dev.url")).unwrap();
    let data = program.data();
    for _ in 0..2 {
        refuses(
            &program.run(&["dev", "--json", "--listen", "127.0.0.1:0"]),
            "another `lunas dev` is running with the data in",
        );
    }
    let mut serve = program.served(&["serve"], &crate::support::commands::secret_key());
    serve.env("LUNAS_DATABASE", program.database());
    refuses(&serve.output().unwrap().into(), "another server is running on sqlite:");
    assert_eq!(fs::read_to_string(data.join("dev.url")).unwrap(), address, "commands still find the first");
    running.api().pay("k", &samples::order(running.said("project_id"))).await.expect(201);
    program.json(&["--json", "--database", &program.database(), "verify"]);
    running.kill();
    let again = program.dev();
    again.api().get("/v1/balance").await.expect(200);
}

#[test]
fn of_two_first_runs_at_once_one_serves() {
    let program = program();
    let arguments = ["dev", "--json", "--listen", "127.0.0.1:0"];
    let mut children: Vec<_> = (0..2)
        .map(|_| {
            let mut command = program.command(&arguments);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
        })
        .collect();
    // The one that ends by itself is the one that was refused.
    let refused = loop {
        let ended = children.iter_mut().position(|child| child.try_wait().unwrap().is_some());
        if let Some(ended) = ended {
            break children.remove(ended);
        }
        std::thread::yield_now();
    };
    let mut serving = children.remove(0);
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(serving.stdout.take().unwrap()), &mut line).unwrap();
    serving.kill().unwrap();
    serving.wait().unwrap();
    assert!(line.contains("api_key"), "{line}");
    refuses(&refused.wait_with_output().unwrap().into(), "another `lunas dev` is running with the data in");
}

#[test]
fn files_with_secrets_are_private() {
    let program = program();
    let running = program.dev();
    let mode = |name: &str| fs::metadata(program.data().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("dev.json"), mode("secret.key")), (0o600, 0o600));
    assert!(program.data().join("lunas.db").is_file());
    let key = fs::read_to_string(program.data().join("secret.key")).unwrap();
    engine::SecretKey::from_base64(&key.clone().into()).map_err(drop).expect("the base64 of 32 bytes");
    let database = fs::read(program.data().join("lunas.db")).unwrap();
    let log = fs::read(program.data().join("lunas.db-wal")).unwrap_or_default();
    for secret in
        [running.said("api_key"), running.said("webhook_secret"), running.said("dashboard_password"), key.trim()]
    {
        let holds = |bytes: &[u8]| bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!holds(&database) && !holds(&log), "a secret stands in the database as it is");
    }
}

#[tokio::test]
async fn a_secret_key_from_the_environment_is_not_written_down() {
    let program = program();
    let key = crate::support::commands::secret_key();
    let start = || {
        let mut command = program.command(&["dev", "--json", "--listen", "127.0.0.1:0"]);
        command.env("LUNAS_SECRET_KEY", &key);
        Running::start(command, program.directory.path())
    };
    let first = start();
    assert!(!program.data().join("secret.key").exists());
    let said = first.said("webhook_secret").to_owned();
    assert_eq!(first.terminate(), Some(0));
    assert_eq!(start().said("webhook_secret"), said);
    let reasons = program.run(&["dev", "--json", "--listen", "127.0.0.1:0"]);
    assert_eq!(reasons.failed(1).len(), 1, "without the key it cannot go on: {reasons:?}");
}

#[tokio::test]
async fn the_block_for_people_has_all_a_first_payment_needs() {
    let program = program();
    let said = program.dev().ready.clone();
    let said = |member: &str| said[member].as_str().unwrap().to_owned();
    let mut command = program.command(&["dev", "--listen", "127.0.0.1:0", "--data"]);
    let mut shown = command.arg(program.data()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    let mut lines = std::io::BufReader::new(shown.stdout.take().unwrap());
    while !text.contains(" pay PAYMENT_ID\n") {
        assert!(std::io::BufRead::read_line(&mut lines, &mut text).unwrap() > 0, "it ended after {text}");
    }
    for member in ["project_id", "api_key", "webhook_secret", "dashboard_email", "dashboard_password"] {
        assert!(text.contains(&said(member)), "no {member} in {text}");
    }
    assert!(text.contains("/docs\n") && !text.contains("openapi.json"), "{text}");
    assert!(text.contains("/dashboard\n") && text.contains("  sign in as demo@lunas.localhost with "), "{text}");
    for words in ["http://127.0.0.1:", "/v1/payments", "curl", "Authorization: Bearer", "Idempotency-Key:"] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }

    // The command that it prints is run as a developer would run it.
    let address = text.split("http://").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    let api = Api::new(address, Some(&said("api_key")));
    let payment = api.pay("k", &samples::order(&said("project_id"))).await.expect(201);
    let id = payment["id"].as_str().unwrap();
    let line = text.lines().find(|line| line.ends_with(" pay PAYMENT_ID")).unwrap().replace("PAYMENT_ID", id);
    let paid = Command::new("sh").arg("-c").arg(&line).current_dir(program.directory.path()).output().unwrap();
    assert!(paid.status.success(), "{line}: {paid:?}");
    assert_eq!(api.get(&format!("/v1/payments/{id}")).await.expect(200)["status"], "paid");
    shown.kill().unwrap();
    shown.wait().unwrap();
}

#[tokio::test]
async fn settings_come_from_the_environment_too() {
    let program = program();
    let data = program.directory.path().join("elsewhere");
    let mut command = program.command(&["dev", "--json"]);
    command
        .env("LUNAS_LISTEN", "127.0.0.1:0")
        .env("LUNAS_DATA", &data)
        .env("LUNAS_CHECKOUT_URL_BASE", "http://pay.lunas.test/")
        .env("LUNAS_RATE_LIMIT", "7");
    let running = Running::start(command, program.directory.path());
    assert!(data.join("lunas.db").is_file());
    assert_eq!(running.said("checkout_url_base"), "http://pay.lunas.test");
    assert_eq!(running.said("dashboard_url"), "http://pay.lunas.test/dashboard");
    let body = json!({ "project_id": running.said("project_id"), "title": "Kopi", "amount": 15_000 });
    let reply = running.api().post("/v1/payment-links", &body).await;
    assert_eq!(reply.header("ratelimit-limit"), Some("14"), "the burst is twice the rate");
    let link = reply.expect(201);
    assert_eq!(link["url"], format!("http://pay.lunas.test/p/{}", link["id"].as_str().unwrap()));
    drop(running);

    let mut command = program.command(&["dev", "--json"]);
    command
        .env("LUNAS_LISTEN", "127.0.0.1:0")
        .env("LUNAS_BASE_URL", "http://api.lunas.test")
        .env("LUNAS_RATE_LIMIT", "0");
    let running = Running::start(command, program.directory.path());
    assert_eq!(running.said("base_url"), "http://api.lunas.test");
}

#[tokio::test]
async fn a_port_that_is_taken_is_reported() {
    let (first, program) = (program(), program());
    let running = first.dev();
    let address = running.address().to_string();
    let ran = program.run(&["dev", "--json", "--listen", &address]);
    let reasons = ran.failed(1);
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(reasons[0].contains(&address), "{reasons:?}");
}
