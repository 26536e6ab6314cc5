//! `lunas bank test` asks a bank for a token and says which part failed. A development installation may call http addresses.

use std::net::TcpListener;

use axum::{Json, Router, http::StatusCode, routing::post};
use domain::audit::Deed;
use serde_json::{Value, json};
use store::{Store, Window};
use testkit::{Program, Ran};

use super::site::{bank_key, id};
use crate::support::commands::dev;

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
    std::fs::write(directory.join("bank.pem"), bank_key()).unwrap();
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
            assert_eq!(tested.json(0), json!({ "id": account, "ok": true, "reason": null, "check": null }));
            assert!(text.code == 0 && text.stdout.contains("has given us a token"), "{text:?}");
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
    let lines = store.audit(None, Window { offset: 0, limit: 100 }).await.unwrap().items;
    store.close().await;
    assert_eq!(lines.iter().filter(|line| line.deed == Deed::BankAccountTested).count(), 9);
    assert!(lines.iter().all(|line| !line.detail.contains("quiet")));
}
