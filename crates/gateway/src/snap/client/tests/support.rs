//! A bank that answers what a test wants, and an account to call it with.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock, Mutex},
    time::Duration,
};

use domain::{
    id,
    money::Rupiah,
    qris::{self, Merchant},
    time::Timestamp,
};
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::{
    snap::{
        CallContext, CallError, CodeAsked, CodeKind, CodeOrder, IssuedCode, Parameters, PrivateKey, Profile,
        SnapClient, Standing, Tokens, Voided,
    },
    webhook::SendLimits,
};

pub(super) static KEY: LazyLock<PrivateKey> = LazyLock::new(|| PrivateKey::generate().unwrap());
/// Long enough for every answer that arrives.
pub(super) const PATIENT: SendLimits = SendLimits { connect: Duration::from_secs(20), total: Duration::from_secs(60) };
/// Short, for answers that never arrive.
pub(super) const HASTY: SendLimits = SendLimits { total: Duration::from_secs(1), ..PATIENT };
/// How fast a bank sends that never gets to the end.
const DRIP: Duration = Duration::from_millis(50);

pub(super) const REFERENCE: &str = "4Q8Z0V1K2M3N4P5R6S7T8U9W0";
pub(super) const NUMBER: &str = "8889912345678901";
pub(super) const AMOUNT: Rupiah = Rupiah::new(150_000);
pub(super) const CLIENT_ID: &str = "client-1";

pub(super) fn client(limits: SendLimits) -> SnapClient {
    SnapClient::trusting(Vec::new(), limits, true).unwrap()
}

pub(super) fn now() -> Timestamp {
    Timestamp::parse("2026-01-15T03:20:30.500Z").unwrap()
}

/// What a bank does when it is called.
#[derive(Clone)]
pub(super) enum Act {
    Answer(String),
    /// Closes the connection without a word.
    Close,
    /// Sends a byte now and then, for ever.
    Drip,
}

pub(super) fn answer(status: &str, body: &str) -> Act {
    answer_of_type(status, "application/json", body)
}

pub(super) fn answer_of_type(status: &str, content_type: &str, body: &str) -> Act {
    let length = body.len();
    Act::Answer(format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n{body}"
    ))
}

/// The acts of a bank for calls in their order, the last one for all that follow. It gives `token-1`, `token-2` and so on.
pub(super) struct Bank {
    pub(super) url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Bank {
    pub(super) async fn start(acts: Vec<Act>) -> Bank {
        Bank::with_token(acts, None).await
    }

    /// A bank whose token service acts otherwise.
    pub(super) async fn with_token(acts: Vec<Act>, token: Option<Act>) -> Bank {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/gateway", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::<String>::new()));
        let heard = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let request = read_request(&mut stream).await;
                let act = {
                    let mut heard = heard.lock().unwrap();
                    heard.push(request);
                    let tokens = heard.iter().filter(|request| is_token_request(request)).count();
                    match heard.last().is_some_and(|request| is_token_request(request)) {
                        true => token.clone().unwrap_or_else(|| {
                            let body = json!({ "accessToken": format!("token-{tokens}"), "expiresIn": 900 });
                            answer("200 OK", &body.to_string())
                        }),
                        false => acts[(heard.len() - tokens - 1).min(acts.len() - 1)].clone(),
                    }
                };
                tokio::spawn(perform(stream, act));
            }
        });
        Bank { url, requests }
    }

    /// What it was asked, without requests for tokens.
    pub(super) fn calls(&self) -> Vec<String> {
        self.requests_for_token(false)
    }

    pub(super) fn token_requests(&self) -> Vec<String> {
        self.requests_for_token(true)
    }

    fn requests_for_token(&self, wanted: bool) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        requests.iter().filter(|request| is_token_request(request) == wanted).cloned().collect()
    }
}

fn is_token_request(request: &str) -> bool {
    request.contains("/access-token/b2b HTTP/")
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = header(head, "content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            if body.len() >= length {
                return text;
            }
        }
        if stream.read_buf(&mut bytes).await.unwrap() == 0 {
            return String::from_utf8(bytes).unwrap();
        }
    }
}

async fn perform(mut stream: TcpStream, act: Act) {
    match act {
        Act::Close => {}
        // The client may have hung up on an answer that is too long.
        Act::Answer(answer) => drop(stream.write_all(answer.as_bytes()).await),
        Act::Drip => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n").await;
            while stream.write_all(b" ").await.is_ok() {
                tokio::time::sleep(DRIP).await;
            }
        }
    }
}

pub(super) fn header(request: &str, wanted: &str) -> Option<String> {
    let headers = request.lines().filter_map(|line| line.split_once(": "));
    let found = headers.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
    found.map(|(_, value)| value.to_owned())
}

pub(super) fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

pub(super) fn parameters(profile: &str, settings: &[(&str, &str)]) -> Parameters {
    let own = [("partner_service_id", "88899"), ("merchant_id", "M1"), ("terminal_id", "T1"), ("store_id", "S1")];
    let settings: BTreeMap<String, String> =
        own.iter().chain(settings).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Profile::named(profile).unwrap().parameters(&settings).unwrap()
}

/// An account at a bank.
pub(super) struct Account {
    pub(super) parameters: Parameters,
    pub(super) secret: SecretString,
    pub(super) tokens: Tokens,
    pub(super) client: SnapClient,
}

impl Account {
    pub(super) fn at(bank: &Bank, profile: &str) -> Account {
        Account::with(&bank.url, profile, PATIENT, &[])
    }

    pub(super) fn with(url: &str, profile: &str, limits: SendLimits, settings: &[(&str, &str)]) -> Account {
        let settings = [&[("base_url", url)], settings].concat();
        Account {
            parameters: parameters(profile, &settings),
            secret: "the client's secret".into(),
            tokens: Tokens::new(),
            client: client(limits),
        }
    }

    pub(super) fn context(&self) -> CallContext<'_> {
        CallContext {
            parameters: &self.parameters,
            client_id: CLIENT_ID,
            secret: &self.secret,
            key: &KEY,
            tokens: &self.tokens,
            external_id: "123456789",
            now: now(),
        }
    }

    pub(super) async fn issue(&self, kind: CodeKind) -> Result<IssuedCode, CallError> {
        self.client.issue(&self.context(), &order(kind)).await
    }

    pub(super) async fn query(&self, kind: CodeKind) -> Result<Standing, CallError> {
        self.client.query(&self.context(), &question(kind)).await
    }

    pub(super) async fn void(&self, kind: CodeKind) -> Result<Voided, CallError> {
        self.client.void(&self.context(), &question(kind)).await
    }
}

pub(super) fn order(kind: CodeKind) -> CodeOrder<'static> {
    CodeOrder {
        kind,
        reference: REFERENCE,
        number: (kind == CodeKind::Va).then_some(NUMBER),
        name: "Café <Müller> & Søn",
        amount: AMOUNT,
        expires_at: Timestamp::parse("2026-01-15T04:20:30.999Z").unwrap(),
    }
}

pub(super) fn question(kind: CodeKind) -> CodeAsked<'static> {
    CodeAsked {
        kind,
        reference: REFERENCE,
        bank_reference: Some("B-1"),
        number: (kind == CodeKind::Va).then_some(NUMBER),
        amount: AMOUNT,
        created_at: now(),
    }
}

/// A QR as an acquirer makes it.
pub(super) fn qr(amount: Rupiah) -> String {
    let merchant = Merchant { name: "Toko", city: "Solo", postal_code: "57111" };
    qris::dynamic_payload(&merchant, amount, id::mint(now(), [7; id::ENTROPY_BYTES]))
}

/// A QR with a part exchanged, and a checksum that fits again.
pub(super) fn changed_qr(from: &str, to: &str) -> String {
    let text = qr(AMOUNT);
    assert!(text.contains(from), "{text}");
    let changed = text.replace(from, to);
    let covered = &changed[..changed.len() - qris::CHECKSUM_CHARACTERS];
    let step = |crc: u16, _| if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
    let crc = covered.bytes().fold(0xFFFF_u16, |crc, byte| (0..8).fold(crc ^ (u16::from(byte) << 8), step));
    format!("{covered}{crc:04X}")
}

pub(super) fn issued_qr(code: &str) -> String {
    json!({ "responseCode": "2004700", "referenceNo": "B-1", "partnerReferenceNo": REFERENCE, "qrContent": code })
        .to_string()
}
