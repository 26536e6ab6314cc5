//! A merchant's side that calls the bank's doors, and signs by plain steps of its own.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::door::{Kit, NOW_MS, hmac_by_rfc, key, text_by_standard};
use crate::{BankServices, Doors, Habits, Merchant, NotifyDoor, Service, Signing, Style};

pub(super) const CLIENT: &str = "ours";
pub(super) const AMOUNT: i64 = 150_000;

pub(super) struct Shop {
    pub(super) asked: Arc<BankServices>,
    pub(super) doors: Doors,
    /// The shop's own doors, at which it is told of money, and the clock of all.
    pub(super) kit: Kit,
    pub(super) habits: Habits,
    client: Client,
    external_id: AtomicU64,
    token: Mutex<Option<String>>,
}

/// What a call is signed with and sent with. Tests spoil it before it is sent.
pub(super) struct Signed {
    pub(super) service: Service,
    pub(super) body: String,
    pub(super) external_id: String,
    pub(super) timestamp: String,
    pub(super) method: &'static str,
    pub(super) partner_id: &'static str,
    /// The path, if it is not the service's.
    pub(super) path: Option<String>,
}

impl Shop {
    pub(super) async fn open(habits: Habits) -> Shop {
        let kit = Kit::open().await;
        let asked = BankServices::new(super::door::clock(&kit.now_ms));
        let merchant = Merchant {
            client_id: CLIENT.into(),
            client_secret: "secret-2".into(),
            public_key_pem: key().public_key_pem(),
            partner_id: None,
            name: "Toko Uji Coba".into(),
        };
        asked.register_with(merchant, habits.clone());
        let contract = kit.contract(Style::of(habits.profile).unwrap_or(Style::GENERIC));
        asked.notify_at(CLIENT, Some(NotifyDoor { bank: Arc::clone(&kit.bank), contract }));
        let client = Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let doors = asked.open().await.unwrap();
        Shop { asked, doors, kit, habits, client, external_id: AtomicU64::new(1), token: Mutex::default() }
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.kit.now_ms.load(Ordering::SeqCst)
    }

    pub(super) fn wait_ms(&self, after_ms: i64) {
        self.kit.now_ms.fetch_add(after_ms, Ordering::SeqCst);
    }

    fn timestamp(&self) -> String {
        crate::time::text(self.now_ms(), self.habits.milliseconds)
    }

    /// Each bank has a prefix of its own, and DANA an ending.
    pub(super) fn path(&self, service: Service) -> String {
        let own = self.habits.transfer.paths.iter().find(|(known, _)| *known == service);
        let path = own.map_or(service.path(), |(_, path)| path).replace('#', "1");
        let ending = if path.contains("/debit/") || path.contains("/emoney/") { ".htm" } else { "" };
        format!("/prefix{path}{ending}")
    }

    /// A call that is not signed yet, with an external id of its own.
    pub(super) fn prepare(&self, service: Service, body: &Value) -> Signed {
        let digits = self.habits.external_id_digits.unwrap_or(9);
        let external_id = format!("{:0digits$}", self.external_id.fetch_add(1, Ordering::SeqCst));
        let method = if service == Service::DeleteVa { self.habits.delete_method } else { "POST" };
        Signed {
            service,
            body: body.to_string(),
            external_id,
            timestamp: self.timestamp(),
            method,
            partner_id: CLIENT,
            path: None,
        }
    }

    /// Signs a call as the bank wants it.
    pub(super) async fn request(&self, signed: &Signed) -> RequestBuilder {
        let path = signed.path.clone().unwrap_or_else(|| self.path(signed.service));
        let with_key = self.habits.signing == Signing::Key;
        let token = if with_key { None } else { Some(self.token().await) };
        let body = signed.body.as_bytes();
        let text = text_by_standard(signed.method, &path, token.as_deref(), body, &signed.timestamp);
        let signature = if with_key { key().sign(&text) } else { hmac_by_rfc(b"secret-2", text.as_bytes()) };
        let method = Method::from_bytes(signed.method.as_bytes()).unwrap();
        let mut request = self.client.request(method, format!("{}{path}", self.doors.url()));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        request
            .header("X-TIMESTAMP", &signed.timestamp)
            .header("X-SIGNATURE", STANDARD.encode(signature))
            .header("X-PARTNER-ID", signed.partner_id)
            .header("X-EXTERNAL-ID", &signed.external_id)
            .header("CHANNEL-ID", self.habits.transfer.channel_id.unwrap_or("95221"))
            .body(signed.body.clone())
    }

    /// Calls and reads: the HTTP status and the body; none if there was no answer that can be read.
    pub(super) async fn call(&self, service: Service, body: &Value) -> Option<(u16, Value)> {
        let request = self.request(&self.prepare(service, body)).await;
        read(request).await
    }

    /// The HTTP status and the code of an answer, as one text.
    pub(super) async fn code(&self, service: Service, body: &Value) -> String {
        let (status, body) = self.call(service, body).await.unwrap();
        format!("{status} {}", body["responseCode"].as_str().unwrap())
    }

    pub(super) async fn token(&self) -> String {
        let mut token = self.token.lock().await;
        if let Some(token) = &*token {
            return token.clone();
        }
        let timestamp = self.timestamp();
        let signature = STANDARD.encode(key().sign(&format!("{CLIENT}|{timestamp}")));
        let request = self.client.post(format!("{}{}", self.doors.url(), self.path(Service::Token)));
        let request = request.header("X-CLIENT-KEY", CLIENT).header("X-SIGNATURE", signature);
        let body = json!({ (self.habits.grant_member): "client_credentials" });
        let (_, body) = read(request.header("X-TIMESTAMP", timestamp).body(body.to_string())).await.unwrap();
        let text = body["accessToken"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned();
        *token = Some(text.clone());
        text
    }

    pub(super) async fn forget_token(&self) {
        *self.token.lock().await = None;
    }

    /// Orders a QR, and returns the answer's body.
    pub(super) async fn qr(&self, reference: &str) -> Value {
        let (status, body) = self.call(Service::Generate, &self.qr_order(reference)).await.unwrap();
        assert_eq!((status, &body["responseCode"]), (200, &json!("2004700")), "{body}");
        body
    }

    pub(super) fn qr_order(&self, reference: &str) -> Value {
        json!({
            "partnerReferenceNo": reference, "amount": { "value": "150000.00", "currency": "IDR" },
            "merchantId": "M0001", "terminalId": "T01",
            "validityPeriod": crate::time::text(NOW_MS + 3_600_000, false),
        })
    }

    pub(super) fn about(&self, reference: &str) -> Value {
        let bank_reference = self.asked.code(reference).map(|code| code.bank_reference);
        json!({
            "originalPartnerReferenceNo": reference, "originalReferenceNo": bank_reference,
            "serviceCode": self.habits.service_code,
        })
    }

    /// The status that a query tells, and the whole answer.
    pub(super) async fn status(&self, reference: &str) -> (String, Value) {
        let (_, body) = self.call(Service::Query, &self.about(reference)).await.unwrap();
        (body["latestTransactionStatus"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned(), body)
    }
}

pub(super) async fn read(request: RequestBuilder) -> Option<(u16, Value)> {
    let response = request.send().await.ok()?;
    let status = response.status().as_u16();
    Some((status, serde_json::from_str(&response.text().await.ok()?).ok()?))
}

/// What the shop's doors were told, without tokens: path and body.
pub(super) fn received_notices(shop: &Shop) -> Vec<(String, Value)> {
    let seen = shop.kit.door.seen().into_iter().filter(|seen| !seen.path.ends_with("/b2b"));
    seen.map(|seen| (seen.path.clone(), seen.json())).collect()
}
