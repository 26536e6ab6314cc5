//! The merchant's side as the tests play it, and signatures recomputed by the plain steps of their RFCs.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicI64, Ordering},
    },
};

use aws_lc_rs::digest;
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::{Bank, BankKey, Contract, Style};

/// 2026-01-15T10:20:30+07:00
pub(super) const NOW_MS: i64 = 1_768_447_230_000;
pub(super) const NUMBER: &str = "1234500000000017";

pub(super) struct Seen {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl Seen {
    #[track_caller]
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("{name} is missing")).to_str().unwrap()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// A door that records requests. Tokens are `token1`, `token2`, …; other answers are queued, and otherwise friendly.
#[derive(Default)]
pub(super) struct Door {
    seen: Mutex<Vec<Seen>>,
    replies: Mutex<VecDeque<(u16, Value)>>,
    tokens: AtomicI64,
}

/// A bank, a clock that tests move, and a door that it calls.
pub(super) struct Kit {
    pub(super) bank: Arc<Bank>,
    pub(super) door: Arc<Door>,
    pub(super) now_ms: Arc<AtomicI64>,
    pub(super) url: String,
}

impl Kit {
    pub(super) async fn open() -> Kit {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/pre/snap/acc1", listener.local_addr().unwrap());
        let door = Arc::new(Door::default());
        let router = Router::new().fallback(answer).with_state(Arc::clone(&door));
        tokio::spawn(async move { axum::serve(listener, router).await });
        let now_ms = Arc::new(AtomicI64::new(NOW_MS));
        let bank = Arc::new(Bank::new(clock(&now_ms)).unwrap());
        Kit { bank, door, now_ms, url }
    }

    pub(super) fn contract(&self, style: Style) -> Contract {
        Contract {
            name: "Demo BCA".to_owned(),
            inbound_url: self.url.clone(),
            signed_prefix: None,
            client_id: "client-1".to_owned(),
            client_secret: "secret-1".to_owned(),
            company_code: "12345".to_owned(),
            key: key(),
            style,
        }
    }
}

pub(super) fn clock(now_ms: &Arc<AtomicI64>) -> crate::Clock {
    let now_ms = Arc::clone(now_ms);
    Arc::new(move || now_ms.load(Ordering::SeqCst))
}

/// One key for all tests, since generating one takes long.
pub(super) fn key() -> BankKey {
    static KEY: OnceLock<BankKey> = OnceLock::new();
    KEY.get_or_init(|| BankKey::generate().unwrap()).clone()
}

impl Door {
    pub(super) fn reply(&self, status: u16, body: Value) {
        self.replies.lock().unwrap().push_back((status, body));
    }

    /// What was received since the last time.
    pub(super) fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

async fn answer(State(door): State<Arc<Door>>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let path = uri.path().to_owned();
    let friendly = if path.ends_with("/access-token/b2b") {
        let count = door.tokens.fetch_add(1, Ordering::SeqCst) + 1;
        let token = format!("token{count}");
        (200, json!({ "responseCode": "2007300", "accessToken": token, "tokenType": "Bearer", "expiresIn": "900" }))
    } else if path.ends_with("/inquiry") {
        (200, bill("Budi", "150000.00"))
    } else {
        (200, paid("2002500", "00"))
    };
    door.seen.lock().unwrap().push(Seen { method: method.to_string(), path, headers, body: body.to_vec() });
    let (status, body) = door.replies.lock().unwrap().pop_front().unwrap_or(friendly);
    (StatusCode::from_u16(status).unwrap(), [("x-timestamp", "then")], body.to_string()).into_response()
}

pub(super) fn bill(name: &str, amount: &str) -> Value {
    let account = json!({
        "inquiryStatus": "00", "inquiryReason": { "english": "Success", "indonesia": "Sukses" },
        "virtualAccountName": name, "totalAmount": { "value": amount, "currency": "IDR" },
    });
    json!({ "responseCode": "2002400", "responseMessage": "Successful", "virtualAccountData": account })
}

pub(super) fn paid(code: &str, flag: &str) -> Value {
    let account =
        json!({ "paymentFlagStatus": flag, "paymentFlagReason": { "english": "Why", "indonesia": "Kenapa" } });
    json!({ "responseCode": code, "responseMessage": "Message", "virtualAccountData": account })
}

/// HMAC-SHA512 by the steps of RFC 2104, for keys no longer than a block.
pub(super) fn hmac_by_rfc(key: &[u8], message: &[u8]) -> Vec<u8> {
    assert!(key.len() <= 128);
    let padded = |with: u8| -> Vec<u8> { (0..128).map(|at| key.get(at).copied().unwrap_or(0) ^ with).collect() };
    let hash = |bytes: &[u8]| digest::digest(&digest::SHA512, bytes).as_ref().to_vec();
    let inner = hash(&[&padded(0x36), message].concat());
    hash(&[padded(0x5c), inner].concat())
}

/// The text that type 1 signs, by the words of the standard.
pub(super) fn text_by_standard(method: &str, path: &str, token: Option<&str>, body: &[u8], timestamp: &str) -> String {
    let hash = digest::digest(&digest::SHA256, body);
    let hash: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [Some(method), Some(path), token, Some(hash.as_str()), Some(timestamp)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(":")
}
