//! `lunas bank test` asks a bank for a token and about a code that does not exist, and says which part failed. A development installation may call http addresses.

use std::{net::TcpListener, sync::Arc};

use axum::{Json, Router, http::StatusCode, routing::post};
use demobank::{BankServices, Fault, Habits, Merchant, Service};
use domain::audit::Deed;
use engine::{Clock, SystemClock};
use serde_json::{Value, json};
use store::Store;
use testkit::{Program, Ran};

use super::site::id;
use crate::support::{bank_keys::public_bank_key, commands::dev, dashboard::audit_log};

/// A bank that gives everybody the same answer.
async fn bank(status: StatusCode, answer: Value) -> String {
    let router = Router::new()
        .route("/openapi/v1.0/access-token/b2b", post(move || std::future::ready((status, Json(answer.clone())))));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

/// Runs a command without blocking the bank, which answers from this thread.
async fn run(program: &Program, arguments: &[&str]) -> Ran {
    let mut command = program.command(arguments);
    tokio::task::spawn_blocking(move || command.output().unwrap().into()).await.unwrap()
}

#[tokio::test]
async fn a_test_says_which_part_failed_and_what_to_check() {
    let (program, running) = dev();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let add = ["bank", "add", "--profile", "bca", "--name", "BCA", "--set", "partner_service_id=88899", "--json"];
    let added = run(&program, &[&add[..], &["--set", &format!("base_url=http://{closed}")]].concat()).await.json(0);
    assert_eq!(added["missing"], json!(["bank_key", "inbound", "our_key", "outbound"]), "we call this bank");
    let account = id(&added);
    assert_eq!(added["inbound_url"], format!("http://{}/snap/{account}", running.address()));
    let directory = program.directory.path();
    std::fs::write(directory.join("bank.pem"), public_bank_key()).unwrap();
    std::fs::write(directory.join("secret"), "quiet words of the bank").unwrap();
    for arguments in [
        &["bank", "key", &account, "--make"][..],
        &["bank", "key", &account, "--import", "bank.pem"],
        &["bank", "outbound", &account, "--client-id", "us", "--secret-file", "secret"],
        &["bank", "inbound", &account, "--client-id", "them", "--secret-file", "secret"],
        &["bank", "enable", &account],
    ] {
        let ran = run(&program, arguments).await;
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    }
    let unreached = run(&program, &["bank", "test", &account]).await;
    let reason = unreached.failed(1).join("\n");
    assert!(reason.contains("cannot be reached") && reason.contains("check `base_url`"), "{reason}");

    let token = json!({ "responseCode": "2007300", "accessToken": "quiet", "expiresIn": "900" });
    let refusal = json!({ "responseCode": "4017300", "responseMessage": "Unauthorized. Signature" });
    let unknown = json!({ "responseCode": "4007301", "responseMessage": "Invalid client id" });
    for (status, answer, words) in [
        (StatusCode::UNAUTHORIZED, refusal, Some(("HTTP 401 4017300 Unauthorized. Signature", "our public key"))),
        (StatusCode::BAD_REQUEST, unknown, Some(("the bank refused: 4007301 Invalid client id", "the client id"))),
        (StatusCode::OK, json!({}), Some(("no usable answer", "`path.token`"))),
        (StatusCode::OK, token, None),
    ] {
        let setting = format!("base_url={}", bank(status, answer).await);
        assert_eq!(run(&program, &["bank", "set", &account, &setting]).await.code, 0);
        let (text, tested) = (
            run(&program, &["bank", "test", &account]).await,
            run(&program, &["bank", "test", &account, "--json"]).await,
        );
        assert!(!text.stdout.contains("quiet") && !tested.stdout.contains("quiet"), "{text:?}");
        let Some((reason, check)) = words else {
            assert_eq!(
                tested.json(0),
                json!({ "id": account, "ok": true, "query": false, "reason": null, "check": null })
            );
            assert!(text.code == 0 && text.stdout.contains("has given us a token"), "{text:?}");
            assert!(text.stdout.contains("issues no codes for us"), "{text:?}");
            continue;
        };
        let said = tested.json(1);
        assert_eq!(said["ok"], false);
        assert!(said["reason"].as_str().unwrap().contains(reason), "{said}");
        assert!(said["check"].as_str().unwrap().contains(check), "{said}");
        let line = text.failed(1).join("\n");
        assert!(line.contains(reason) && line.contains(check), "{line}");
    }
    assert_eq!(running.terminate(), Some(0));
    let store = Store::open_sqlite(&program.data().join("lunas.db")).await.unwrap();
    let lines = audit_log(&store, None).await;
    store.close().await;
    assert_eq!(lines.iter().filter(|line| line.deed == Deed::BankAccountTested).count(), 9);
    assert!(lines.iter().all(|line| !line.detail.contains("quiet")));
}

/// An account at an acquirer of our own, as an operator sets it up.
async fn at_acquirer(program: &Program, asked: &Arc<BankServices>, url: &str, profile: &'static str) -> String {
    let channel = if profile == "dana" { "95221" } else { "12345" };
    let settings = [
        format!("base_url={url}"),
        format!("channel_id={channel}"),
        "merchant_id=M1".to_owned(),
        "store_id=S1".to_owned(),
        "terminal_id=T1".to_owned(),
    ];
    let mut add = vec!["bank", "add", "--profile", profile, "--name", profile, "--json"];
    add.extend(settings.iter().flat_map(|setting| ["--set", setting.as_str()]));
    let account = id(&run(program, &add).await.json(0));
    let made = run(program, &["bank", "key", &account, "--make", "--json"]).await.json(0);
    std::fs::write(program.directory.path().join("secret"), "quiet words of the bank").unwrap();
    let outbound = ["bank", "outbound", &account, "--client-id", profile, "--secret-file", "secret"];
    assert_eq!(run(program, &outbound).await.code, 0);
    let merchant = Merchant {
        client_id: profile.to_owned(),
        client_secret: "quiet words of the bank".to_owned(),
        public_key_pem: made["public_key"].as_str().unwrap().to_owned(),
        partner_id: None,
        name: "Toko".to_owned(),
    };
    asked.register_with(merchant, Habits::of(profile).unwrap());
    account
}

#[tokio::test]
async fn a_bank_that_issues_codes_is_also_asked_about_one_that_does_not_exist() {
    let (program, running) = dev();
    let asked = BankServices::new(Arc::new(|| SystemClock.now().as_millis()));
    let doors = asked.open().await.unwrap();
    for (profile, queried) in [
        ("midtrans", Service::Query),
        ("dana", Service::DebitStatus),
        ("doku", Service::Query),
        ("bri-qris", Service::Query),
    ] {
        let account = at_acquirer(&program, &asked, &doors.url(), profile).await;
        let told = json!({ "id": account, "ok": true, "query": true, "reason": null, "check": null });
        assert_eq!(run(&program, &["bank", "test", &account, "--json"]).await.json(0), told, "{profile}");
        let text = run(&program, &["bank", "test", &account]).await;
        assert!(text.stdout.contains("a code that does not exist"), "{text:?}");
        assert_eq!(asked.codes().len(), 0, "nothing was made");
        let calls = asked.calls_of(queried);
        let [.., first, second] = calls.as_slice() else { panic!("{profile}: {calls:?}") };
        assert!(
            first.reference != second.reference || first.body != second.body,
            "each question is about another code"
        );

        let tokens = asked.calls_of(Service::Token).len();
        let shown = run(&program, &["bank", "show", &account, "--json"]).await.json(0);
        assert_eq!(asked.calls_of(Service::Token).len(), tokens, "`show` calls nobody");
        assert_eq!(
            shown["health"]["token_at"].is_null(),
            profile == "dana",
            "DANA takes calls without a token: {shown}"
        );
        assert_eq!(shown["health"]["calls_suspended"], false);

        asked.fail_next_of(queried, Fault::Status(401));
        let refused = run(&program, &["bank", "test", &account, "--json"]).await.json(1);
        assert_eq!((&refused["ok"], &refused["query"]), (&json!(false), &json!(true)), "{refused}");
        assert!(refused["reason"].as_str().unwrap().contains("a code that does not exist"), "{refused}");
        assert!(refused["check"].as_str().unwrap().contains("the secret"), "{refused}");
    }
    assert_eq!(running.terminate(), Some(0));
}

#[tokio::test]
async fn a_wrong_secret_is_told_plainly_though_the_bank_gives_a_token() {
    let (program, running) = dev();
    let asked = BankServices::new(Arc::new(|| SystemClock.now().as_millis()));
    let doors = asked.open().await.unwrap();
    let account = at_acquirer(&program, &asked, &doors.url(), "midtrans").await;
    std::fs::write(program.directory.path().join("wrong"), "another secret altogether").unwrap();
    let outbound = ["bank", "outbound", &account, "--client-id", "midtrans", "--secret-file", "wrong"];
    assert_eq!(run(&program, &outbound).await.code, 0);
    assert_eq!(run(&program, &["bank", "rotate", &account]).await.code, 0);
    let refused = run(&program, &["bank", "test", &account]).await;
    let line = refused.failed(1).join("\n");
    for words in ["asked about a code that does not exist", "Signature", "check the secret"] {
        assert!(line.contains(words), "{words}: {line}");
    }
    assert!(!line.contains("another secret") && !line.contains("quiet words"), "{line}");
    let shown = run(&program, &["bank", "show", &account, "--json"]).await.json(0);
    assert_eq!(shown["health"]["failing_calls"], 1, "{shown}");
    let groups = shown["health"]["groups"].as_array().unwrap();
    let codes: Vec<&str> = groups.iter().map(|group| group["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["4015100", "2007300"]);
    assert_eq!(running.terminate(), Some(0));
}
