//! The doors of the bank, called with signatures that the test makes by plain steps.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::door::{NOW_MS, clock, hmac_by_rfc, key, text_by_standard};
use crate::{BankServices, Fault, Merchant, Service};

const TOKEN_PATH: &str = "/openapi/v1.0/access-token/b2b";
const STATUS_PATH: &str = "/openapi/v2.0/transfer-va/status";
const BODY: &str = r#"{ "partnerServiceId":"   12345", "customerNo":"017","virtualAccountNo":"   12345017" }"#;

struct Doors {
    bank: Arc<BankServices>,
    url: String,
    now_ms: Arc<AtomicI64>,
}

impl Doors {
    async fn open() -> Doors {
        let now_ms = Arc::new(AtomicI64::new(NOW_MS));
        let bank = BankServices::new(clock(&now_ms));
        bank.register(Merchant {
            client_id: "ours".into(),
            client_secret: "secret-2".into(),
            public_key_pem: key().public_key_pem(),
            partner_id: Some("12345".into()),
            name: "Toko Uji".into(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        bank.serve_on(listener);
        Doors { bank, url, now_ms }
    }

    /// The present time, as a caller whose clock is right writes it.
    fn timestamp(&self) -> String {
        crate::time::text(self.now_ms.load(Ordering::SeqCst), false)
    }

    fn post(&self, path: &str) -> RequestBuilder {
        Client::builder()
            .no_proxy()
            .build()
            .unwrap()
            .post(format!("{}{path}", self.url))
            .header("X-TIMESTAMP", self.timestamp())
    }

    fn token_request(&self, client: &str, signed: &str) -> RequestBuilder {
        let signature = STANDARD.encode(key().sign(signed));
        let request = self.post(TOKEN_PATH).header("X-CLIENT-KEY", client).header("X-SIGNATURE", signature);
        request.body(r#"{"grantType":"client_credentials"}"#)
    }

    fn honest_token_request(&self) -> RequestBuilder {
        self.token_request("ours", &format!("ours|{}", self.timestamp()))
    }

    /// A question about a status, signed over a path and a body.
    fn status_request(&self, token: &str, path: &str, body: &str) -> RequestBuilder {
        let text = text_by_standard("POST", path, Some(token), body.as_bytes(), &self.timestamp());
        let signature = STANDARD.encode(hmac_by_rfc(b"secret-2", text.as_bytes()));
        let request = self.post(STATUS_PATH).bearer_auth(token).header("X-SIGNATURE", signature);
        request.header("X-PARTNER-ID", "12345").header("X-EXTERNAL-ID", "77").header("CHANNEL-ID", "95231").body(BODY)
    }

    async fn token(&self) -> String {
        let (status, body) = answer(self.honest_token_request()).await.unwrap();
        assert_eq!((status, &body["responseCode"]), (200, &json!("2007300")));
        body["accessToken"].as_str().unwrap().to_owned()
    }
}

/// The status and body of an answer; none if the connection was closed without one.
async fn answer(request: RequestBuilder) -> Option<(u16, Value)> {
    let response = request.send().await.ok()?;
    let status = response.status().as_u16();
    Some((status, serde_json::from_str(&response.text().await.unwrap()).unwrap()))
}

/// The HTTP status and the code, as one text.
async fn code(request: RequestBuilder) -> String {
    let (status, body) = answer(request).await.unwrap();
    format!("{status} {}", body["responseCode"].as_str().unwrap())
}

fn without_spaces() -> String {
    r#"{"partnerServiceId":"   12345","customerNo":"017","virtualAccountNo":"   12345017"}"#.to_owned()
}

#[tokio::test]
async fn a_token_is_given_for_a_right_signature_alone() {
    let doors = Doors::open().await;
    let (_, body) = answer(doors.honest_token_request()).await.unwrap();
    assert_eq!((&body["expiresIn"], &body["tokenType"]), (&json!("899"), &json!("Bearer")));
    assert_eq!(code(doors.token_request("ours", "ours|other time")).await, "401 4017300");
    assert_eq!(code(doors.token_request("other", &format!("other|{}", doors.timestamp()))).await, "401 4017300");
    assert_eq!(code(doors.honest_token_request().body("{}")).await, "400 4007302");
    assert_eq!(code(doors.post(TOKEN_PATH)).await, "400 4007302");
    let stale = doors.honest_token_request();
    doors.now_ms.store(NOW_MS + 300_001, Ordering::SeqCst);
    assert_eq!(code(stale).await, "400 4007301");
    assert_eq!(doors.bank.calls().len(), 6);
}

#[tokio::test]
async fn a_status_is_unknown_to_those_who_sign_and_refused_to_others() {
    let doors = Doors::open().await;
    let token = doors.token().await;
    let signed = without_spaces();
    assert_eq!(code(doors.status_request(&token, STATUS_PATH, &signed)).await, "404 4042601");
    assert_eq!(code(doors.status_request(&token, "/v2.0/transfer-va/status", &signed)).await, "401 4012600");
    assert_eq!(code(doors.status_request(&token, STATUS_PATH, "{}")).await, "401 4012600");
    assert_eq!(code(doors.status_request("made-up", STATUS_PATH, &signed)).await, "401 4012601");
    assert_eq!(code(doors.post(STATUS_PATH).bearer_auth(&token)).await, "400 4002602");
    let call = doors.bank.calls().remove(1);
    assert_eq!((call.service, call.external_id.as_str()), (Some(Service::Status), "77"));
    assert_eq!((call.path.as_str(), call.body.as_str(), call.code.as_str()), (STATUS_PATH, BODY, "4042601"));
}

#[tokio::test]
async fn a_token_ends_with_its_life() {
    let doors = Doors::open().await;
    let token = doors.token().await;
    for (after_ms, expected) in [(898_999, "404 4042601"), (899_000, "401 4012601")] {
        doors.now_ms.store(NOW_MS + after_ms, Ordering::SeqCst);
        assert_eq!(code(doors.status_request(&token, STATUS_PATH, &without_spaces())).await, expected);
    }
}

#[tokio::test]
async fn the_bank_fails_once_for_each_fault_and_in_its_way() {
    let doors = Doors::open().await;
    let rows = [
        (Fault::Status(500), Some((500, "5007300"))),
        (Fault::Status(503), Some((503, "5037300"))),
        (Fault::Status(202), Some((202, "2027300"))),
        (Fault::Status(429), Some((429, "4297300"))),
        (Fault::WrongCode("2009900".into()), Some((200, "2009900"))),
        (Fault::WrongStatus(404), Some((404, "2007300"))),
        (Fault::LostBefore, None),
        (Fault::LostAfter, None),
    ];
    for (fault, expected) in rows {
        doors.bank.fail_next(fault.clone());
        let answer = answer(doors.honest_token_request()).await;
        let got = answer.as_ref().map(|(status, body)| (*status, body["responseCode"].as_str().unwrap()));
        assert_eq!(got, expected, "{fault:?}");
        let is_done = !matches!(fault, Fault::Status(_) | Fault::LostBefore);
        assert_eq!(doors.bank.calls().last().unwrap().code.is_empty(), !is_done, "{fault:?}");
        doors.token().await;
    }
    doors.bank.fail_next(Fault::NumericExpiry);
    assert_eq!(answer(doors.honest_token_request()).await.unwrap().1["expiresIn"], json!(899));
    doors.bank.fail_next(Fault::Late(Duration::from_millis(60)));
    let began = Instant::now();
    doors.token().await;
    assert!(began.elapsed() >= Duration::from_millis(60));
}

#[tokio::test]
async fn other_methods_and_paths_have_no_service() {
    let doors = Doors::open().await;
    let client = Client::builder().no_proxy().build().unwrap();
    let status = client.get(format!("{}{TOKEN_PATH}", doors.url)).send().await.unwrap().status().as_u16();
    assert_eq!(status, 405);
    let status = client.post(format!("{}/elsewhere", doors.url)).send().await.unwrap().status().as_u16();
    assert_eq!(status, 404);
    assert_eq!(doors.bank.calls().last().unwrap().service, None);
}
