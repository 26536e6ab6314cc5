//! Banks that are slow, broken, elsewhere or confused: nothing hangs, and what may have had its effect is never called
//! a refusal.

use serde_json::json;
use tokio::{io::AsyncWriteExt, net::TcpListener};

use super::support::{AMOUNT, Account, Act, Bank, HASTY, PATIENT, answer, answer_of_type, body, issued_qr, qr};
use crate::snap::{Breaker, CallError, CallHealth, CodeKind, Standing, Voided};

async fn issue(act: Act) -> Result<String, CallError> {
    let bank = Bank::start(vec![act]).await;
    Account::at(&bank, "dana").issue(CodeKind::Qr).await.map(|issued| issued.code)
}

fn word<T>(result: &Result<T, CallError>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(CallError::Unavailable(_)) => "unavailable",
        Err(CallError::Refused { .. }) => "refused",
        Err(CallError::Unknown(_)) => "unknown",
        Err(CallError::TokenRefused(_)) => "token refused",
        Err(CallError::Misconfigured(_)) => "misconfigured",
    }
}

#[tokio::test]
async fn an_answer_of_a_megabyte_is_not_read_to_its_end() {
    let long = format!(r#"{{"qrContent":"{}"}}"#, "x".repeat(1024 * 1024));
    let found = issue(answer("200 OK", &long)).await;
    assert_eq!((word(&found), found.unwrap_err().code()), ("unknown", "unreadable"));
}

#[tokio::test]
async fn an_answer_that_comes_byte_by_byte_ends_with_the_time_limit() {
    let bank = Bank::start(vec![Act::Drip]).await;
    let account = Account::with(&bank.url, "dana", HASTY, &[]);
    let found = account.issue(CodeKind::Qr).await;
    assert_eq!((word(&found), found.unwrap_err().code()), ("unknown", "timeout"));
}

#[tokio::test]
async fn an_answer_that_is_lost_may_have_had_its_effect() {
    let found = issue(Act::Close).await;
    assert_eq!((word(&found), found.unwrap_err().code()), ("unknown", "cut_off"));
    let half = Act::Answer("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{".to_owned());
    assert_eq!(word(&issue(half).await), "unknown");
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let found = Account::with(&url, "dana", HASTY, &[]).issue(CodeKind::Qr).await;
    assert_eq!((word(&found), found.unwrap_err().code()), ("unknown", "timeout"));
}

#[tokio::test]
async fn the_content_type_says_nothing_about_the_content() {
    let good = issued_qr(&qr(AMOUNT));
    for content_type in ["text/html", "application/xml", "nonsense"] {
        assert_eq!(issue(answer_of_type("200 OK", content_type, &good)).await, Ok(qr(AMOUNT)), "{content_type}");
    }
    for other in ["<html>Maintenance</html>", "", "[]", "\"2004700\"", "{"] {
        let found = issue(answer_of_type("200 OK", "application/json", other)).await;
        assert_eq!((word(&found), found.unwrap_err().code()), ("unknown", "unreadable"), "{other}");
    }
}

#[tokio::test]
async fn a_failure_says_what_can_be_done_about_it() {
    for (status, code, meaning) in [
        ("200 OK", "2004700", "ok"),
        ("202 Accepted", "2024700", "unknown"),
        ("400 Bad Request", "4004701", "refused"),
        ("404 Not Found", "4044713", "refused"),
        ("404 Not Found", "4044718", "refused"),
        ("401 Unauthorized", "4014700", "misconfigured"),
        // Without a token there is none that could be over.
        ("401 Unauthorized", "4014701", "misconfigured"),
        ("403 Forbidden", "4034701", "misconfigured"),
        ("408 Request Timeout", "", "unknown"),
        ("409 Conflict", "4094700", "unknown"),
        ("409 Conflict", "4094701", "unknown"),
        ("429 Too Many Requests", "4294700", "unavailable"),
        ("500 Error", "5004700", "unknown"),
        ("503 Busy", "", "unknown"),
        ("504 Timeout", "5044700", "unknown"),
        // Where they disagree, the status counts.
        ("200 OK", "5004700", "ok"),
        ("202 Accepted", "2004700", "unknown"),
        ("400 Bad Request", "2004700", "refused"),
        ("500 Error", "4004701", "unknown"),
        ("500 Error", "2004700", "unknown"),
        ("401 Unauthorized", "2004700", "misconfigured"),
        // A page of a proxy, and no word of the bank.
        ("404 Not Found", "", "misconfigured"),
        ("405 Method Not Allowed", "", "misconfigured"),
        ("301 Moved", "", "misconfigured"),
    ] {
        let mut told: serde_json::Value = serde_json::from_str(&issued_qr(&qr(AMOUNT))).unwrap();
        told["responseCode"] = json!(code);
        let found = issue(answer(status, &told.to_string())).await;
        assert_eq!(word(&found), meaning, "{status} {code}: {found:?}");
    }
}

#[tokio::test]
async fn a_success_whose_code_is_none_and_that_has_no_content_is_unknown() {
    for code in ["2024700", "5004700", "4044701"] {
        let told = json!({ "responseCode": code }).to_string();
        assert_eq!(word(&issue(answer("200 OK", &told)).await), "unknown", "{code}");
    }
}

#[tokio::test]
async fn a_query_or_void_that_fails_decides_nothing() {
    for (status, code, query, void) in [
        ("202 Accepted", "2025500", "ok", "unknown"),
        ("429 Too Many Requests", "4295500", "unavailable", "unavailable"),
        ("500 Error", "5005500", "unknown", "unknown"),
        ("401 Unauthorized", "4015500", "misconfigured", "misconfigured"),
        // No code of the bank, or one of another status: not "not found".
        ("404 Not Found", "", "misconfigured", "misconfigured"),
        ("404 Not Found", "2005500", "refused", "refused"),
        ("200 OK", "4045501", "unknown", "ok"),
    ] {
        let told = json!({ "responseCode": code }).to_string();
        let bank = Bank::start(vec![answer(status, &told)]).await;
        let account = Account::at(&bank, "dana");
        let (queried, voided) = (account.query(CodeKind::Qr).await, account.void(CodeKind::Qr).await);
        assert_eq!((word(&queried), word(&voided)), (query, void), "{status} {code}: {queried:?} {voided:?}");
        assert!(queried.is_err() || queried == Ok(Standing::AskAgain));
        assert!(voided.is_err() || voided == Ok(Voided::Done));
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    for status in ["302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let location = format!("{status}\r\nLocation: http://{}/", elsewhere.local_addr().unwrap());
        assert_eq!(word(&issue(answer(&location, "")).await), "misconfigured");
    }
    elsewhere.set_nonblocking(true).unwrap();
    assert_eq!(elsewhere.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn a_bank_that_is_not_reached_or_not_trusted_has_done_nothing() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let mut breaker = Breaker::default();
    let plain = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let plain_address = plain.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = plain.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    for url in [format!("http://{closed}"), format!("https://{closed}"), format!("https://{plain_address}")] {
        let found = Account::with(&url, "dana", PATIENT, &[]).issue(CodeKind::Qr).await;
        assert_eq!((word(&found), found.as_ref().unwrap_err().code()), ("unavailable", "not_reached"), "{url}");
        assert_eq!(CallHealth::of(&found), CallHealth::Fails);
        breaker.note(super::support::now(), CallHealth::of(&found));
    }
    assert!(!breaker.is_open(super::support::now()), "three failures are not five");
}

#[tokio::test]
async fn outside_of_development_a_bank_is_called_by_https_alone() {
    let bank = Bank::start(vec![answer("200 OK", &issued_qr(&qr(AMOUNT)))]).await;
    let account = Account { client: crate::snap::SnapClient::new(false).unwrap(), ..Account::at(&bank, "dana") };
    assert_eq!(word(&account.issue(CodeKind::Qr).await), "misconfigured");
    assert_eq!(bank.calls(), [""; 0]);
}

#[tokio::test]
async fn a_token_that_dies_is_renewed_and_the_caller_repeats() {
    let over = answer("401 Unauthorized", r#"{"responseCode":"4014701","responseMessage":"Invalid Token (B2B)"}"#);
    let bank = Bank::start(vec![over.clone(), answer("200 OK", &issued_qr(&qr(AMOUNT))), over]).await;
    let account = Account::at(&bank, "midtrans");
    let found = account.issue(CodeKind::Qr).await;
    assert_eq!(word(&found), "token refused");
    assert_eq!(CallHealth::of(&found), CallHealth::Works);
    assert_eq!(word(&account.issue(CodeKind::Qr).await), "ok");
    // The body names the grant as this bank wants it.
    let bodies: Vec<_> = bank.token_requests().iter().map(|request| body(request)).collect();
    assert_eq!(bodies, [json!({ "grant_type": "client_credentials" }), json!({ "grant_type": "client_credentials" })]);
    assert!(bank.calls()[1].contains("Bearer token-2"), "{:?}", bank.calls());
    assert_eq!(word(&account.issue(CodeKind::Qr).await), "token refused");
}

#[tokio::test]
async fn many_calls_at_once_ask_for_one_token() {
    let bank = Bank::start(vec![answer("200 OK", &issued_qr(&qr(AMOUNT)))]).await;
    let account = std::sync::Arc::new(Account::at(&bank, "midtrans"));
    let calls: Vec<_> = (0..10)
        .map(|_| {
            let account = std::sync::Arc::clone(&account);
            tokio::spawn(async move { account.issue(CodeKind::Qr).await.is_ok() })
        })
        .collect();
    for call in calls {
        assert!(call.await.unwrap());
    }
    assert_eq!((bank.token_requests().len(), bank.calls().len()), (1, 10));
}

#[tokio::test]
async fn a_call_that_gets_no_token_is_not_sent() {
    for (token, meaning) in [
        (answer("503 Busy", ""), "unavailable"),
        (answer("200 OK", "<html>"), "unavailable"),
        (Act::Close, "unavailable"),
        (answer("401 No", r#"{"responseCode":"4017300"}"#), "misconfigured"),
        (answer("400 No", r#"{"responseCode":"4007301"}"#), "misconfigured"),
    ] {
        let bank = Bank::with_token(vec![answer("200 OK", &issued_qr(&qr(AMOUNT)))], Some(token)).await;
        let found = Account::at(&bank, "midtrans").issue(CodeKind::Qr).await;
        assert_eq!(word(&found), meaning, "{found:?}");
        assert_eq!(bank.calls(), [""; 0]);
    }
}

#[tokio::test]
async fn no_error_repeats_a_secret() {
    let told = json!({ "responseCode": "4004700", "responseMessage": "token-1 the client's secret" });
    let bank = Bank::start(vec![answer("400 Bad Request", &told.to_string())]).await;
    let found = Account::at(&bank, "midtrans").issue(CodeKind::Qr).await.unwrap_err();
    assert_eq!(found.to_string(), "the bank refused: 4004700 … …");
}

#[tokio::test]
async fn what_cannot_be_sent_is_a_matter_of_the_setup() {
    let bank = Bank::start(vec![answer("200 OK", "{}")]).await;
    let unsigned = Account::with(&bank.url, "generic", PATIENT, &[("codes", "qris"), ("sign_out", "none")]);
    assert_eq!(word(&unsigned.issue(CodeKind::Qr).await), "misconfigured");
    let without_path = Account::with(&bank.url, "bri-qris", PATIENT, &[("void", "yes")]);
    assert_eq!(word(&without_path.void(CodeKind::Qr).await), "misconfigured");
    assert_eq!(bank.calls(), [""; 0]);
}
