//! The bank that asks: it fetches tokens, asks for bills and reports payments at the merchant's doors.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex},
};

use futures_util::future::join_all;
use reqwest::{Client, Method, redirect};
use serde_json::Value;

use crate::{
    answer::Answer,
    compose::{Subject, compose},
    contract::Contract,
    crypto::{random_alphanumeric, random_digits},
    journal::{Entry, Journal, held},
    notification::Notification,
    order::{Inquiry, Knobs, Payment, TokenChoice},
    prepared::{Prepared, Service},
    style::{ExternalId, Signing},
    time,
};

/// The time in milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// How much of an answer is read.
const ANSWER_BYTES_MOST: usize = 256 * 1024;
/// How many tokens are remembered, and how many contracts.
const TOKENS_MOST: usize = 1_000;
const CONTRACTS_MOST: usize = 100;
/// How many copies of a request are sent at once at the most.
const COPIES_MOST: usize = 1_000;

/// A bank with its contracts, tokens and journal.
pub struct Bank {
    clock: Clock,
    client: Client,
    contracts: Mutex<Vec<Arc<Contract>>>,
    /// By address and client id. Held while a token is fetched, so that calls at the same moment share one.
    tokens: tokio::sync::Mutex<HashMap<String, Token>>,
    journal: Journal,
}

struct Token {
    text: String,
    ends_at_ms: i64,
}

/// What a call is about. Its notification is empty unless the service notifies.
struct About {
    payment: Payment,
    notification: Notification,
}

impl From<Payment> for About {
    fn from(payment: Payment) -> About {
        About { payment, notification: Notification::default() }
    }
}

impl Bank {
    /// Each call has a connection of its own, so that a server that was restarted is not called on a dead one.
    pub fn new(clock: Clock) -> Result<Bank, io::Error> {
        let client = Client::builder().no_proxy().redirect(redirect::Policy::none()).pool_max_idle_per_host(0).build();
        Ok(Bank {
            clock,
            client: client.map_err(io::Error::other)?,
            contracts: Mutex::default(),
            tokens: tokio::sync::Mutex::default(),
            journal: Journal::default(),
        })
    }

    /// Keeps a contract for the screens, in place of one with its name.
    pub fn register(&self, contract: Contract) {
        let mut contracts = held(&self.contracts);
        contracts.retain(|known| known.name != contract.name);
        contracts.truncate(CONTRACTS_MOST - 1);
        contracts.push(Arc::new(contract));
    }

    pub fn contracts(&self) -> Vec<Arc<Contract>> {
        held(&self.contracts).clone()
    }

    pub fn contract(&self, name: &str) -> Option<Arc<Contract>> {
        held(&self.contracts).iter().find(|contract| contract.name == name).cloned()
    }

    /// The present time by the bank's clock.
    pub fn now_ms(&self) -> i64 {
        (self.clock)()
    }

    /// 73: asks for a token and does not keep it.
    pub async fn ask_token(&self, contract: &Contract, knobs: Knobs) -> Answer {
        self.send(&self.prepare_token(contract, &knobs)).await
    }

    /// The token that calls carry: the one that is still valid, or a new one. An error is the answer of the token door.
    pub async fn token(&self, contract: &Contract) -> Result<String, Box<Answer>> {
        self.known_token(contract, false).await
    }

    /// 24: asks for a bill.
    pub async fn inquire(&self, contract: &Contract, inquiry: Inquiry, knobs: Knobs) -> Answer {
        match self.prepare_inquiry(contract, inquiry, &knobs).await {
            Ok(prepared) => self.send(&prepared).await,
            Err(refused) => *refused,
        }
    }

    /// 25: reports a payment.
    pub async fn pay(&self, contract: &Contract, payment: Payment, knobs: Knobs) -> Answer {
        match self.prepare_payment(contract, payment, &knobs).await {
            Ok(prepared) => self.send(&prepared).await,
            Err(refused) => *refused,
        }
    }

    /// 52, 56, 34, or 25 as a bank that hosts the account itself tells it: what became of a code. 75 and 76: of a transfer.
    pub async fn notify(&self, contract: &Contract, service: Service, told: Notification, knobs: Knobs) -> Answer {
        match self.prepare_notification(contract, service, told, &knobs).await {
            Ok(prepared) => self.send(&prepared).await,
            Err(refused) => *refused,
        }
    }

    pub fn prepare_token(&self, contract: &Contract, knobs: &Knobs) -> Prepared {
        let nothing = About::from(Payment::default());
        self.compose(contract, Service::Token, nothing, [String::new(), String::new()], None, knobs)
    }

    /// Signs an inquiry. An error is the answer of the token door.
    pub async fn prepare_inquiry(
        &self,
        contract: &Contract,
        inquiry: Inquiry,
        knobs: &Knobs,
    ) -> Result<Prepared, Box<Answer>> {
        let about = Payment { number: inquiry.number, ..Payment::default() };
        let prepared = self.prepare_call(contract, Service::Inquiry, about.into(), knobs).await?;
        if contract.style.keeps_request_id {
            self.journal.inquired(&prepared);
        }
        Ok(prepared)
    }

    /// Signs a payment. An error is the answer of the token door.
    pub async fn prepare_payment(
        &self,
        contract: &Contract,
        payment: Payment,
        knobs: &Knobs,
    ) -> Result<Prepared, Box<Answer>> {
        self.prepare_call(contract, Service::Payment, payment.into(), knobs).await
    }

    /// Signs a notification. An error is the answer of the token door.
    pub async fn prepare_notification(
        &self,
        contract: &Contract,
        service: Service,
        told: Notification,
        knobs: &Knobs,
    ) -> Result<Prepared, Box<Answer>> {
        let payment = Payment {
            paid_at_ms: told.paid_at_ms,
            trx_id: told.reference.clone(),
            ..Payment::of(told.number.clone(), told.amount)
        };
        let mut knobs = knobs.clone();
        if !told.receipt_id.is_empty() {
            knobs.request_id.get_or_insert_with(|| told.receipt_id.clone());
        }
        self.prepare_call(contract, service, About { payment, notification: told }, &knobs).await
    }

    /// Sends a prepared request, and reads and records the answer.
    pub async fn send(&self, prepared: &Prepared) -> Answer {
        let exchanged = tokio::time::timeout(prepared.deadline, self.exchange(prepared)).await;
        let answer = match exchanged {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Answer::silence(prepared.clone()),
        };
        if answer.status == 401 && answer.code().ends_with("01") {
            self.forget_token(prepared).await;
        }
        self.journal.write(self.now_ms(), &answer);
        answer
    }

    /// Sends the same request several times at once.
    pub async fn send_many(&self, prepared: &Prepared, copies: usize) -> Vec<Answer> {
        join_all((0..copies.min(COPIES_MOST)).map(|_| self.send(prepared))).await
    }

    /// All calls that are remembered, the oldest first.
    pub fn journal(&self) -> Vec<Entry> {
        self.journal.entries()
    }

    /// The rupiah that this bank has booked for a number of a contract.
    pub fn booked(&self, contract: &Contract, number: &str) -> i64 {
        self.journal.booked(&contract.name, number)
    }

    async fn exchange(&self, prepared: &Prepared) -> Result<Answer, io::Error> {
        let method = Method::from_bytes(prepared.method.as_bytes()).map_err(io::Error::other)?;
        let mut request = self.client.request(method, &prepared.url).body(prepared.body.clone());
        for (name, value) in &prepared.headers {
            request = request.header(name, value);
        }
        let mut response = request.send().await.map_err(io::Error::other)?;
        // By now the merchant's side has done its work: what is lost is the word of it.
        if prepared.lost_answer {
            return Ok(Answer::silence(prepared.clone()));
        }
        let status = response.status().as_u16();
        let text_of = |value: &reqwest::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = response.headers().iter().map(|(name, value)| (name.to_string(), text_of(value))).collect();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(io::Error::other)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > ANSWER_BYTES_MOST {
                return Err(io::Error::other("the answer is too long"));
            }
        }
        Ok(Answer::read(prepared.clone(), status, headers, String::from_utf8_lossy(&bytes).into_owned()))
    }

    async fn prepare_call(
        &self,
        contract: &Contract,
        service: Service,
        about: About,
        knobs: &Knobs,
    ) -> Result<Prepared, Box<Answer>> {
        let signing = knobs.signing.unwrap_or(contract.style.signing);
        let token = match &knobs.token {
            TokenChoice::Absent => None,
            TokenChoice::Given(token) => Some(token.clone()),
            TokenChoice::Invented => Some(random_alphanumeric(43)),
            TokenChoice::Valid | TokenChoice::Last if signing != Signing::Secret => None,
            TokenChoice::Valid => Some(self.known_token(contract, false).await?),
            TokenChoice::Last => Some(self.known_token(contract, true).await?),
        };
        let request_id =
            knobs.request_id.clone().unwrap_or_else(|| self.request_id(contract, service, &about.payment.number));
        let external_id = knobs.external_id.clone().unwrap_or_else(|| self.external_id(contract, &request_id, knobs));
        Ok(self.compose(contract, service, about, [external_id, request_id], token, knobs))
    }

    fn compose(
        &self,
        contract: &Contract,
        service: Service,
        About { payment, notification }: About,
        [external_id, request_id]: [String; 2],
        token: Option<String>,
        knobs: &Knobs,
    ) -> Prepared {
        let now_ms = self.now_ms();
        let subject = Subject { service, payment, notification, external_id, request_id, token, now_ms };
        compose(contract, subject, knobs)
    }

    /// At banks that ask before each payment with the same id, that of the inquiry; otherwise a new one.
    fn request_id(&self, contract: &Contract, service: Service, number: &str) -> String {
        if service == Service::Payment
            && let Some(asked) = self.journal.take_inquired(&contract.name, number)
        {
            return asked;
        }
        let beginning = time::digits(self.now_ms());
        let rest = contract.style.request_id_length.saturating_sub(beginning.len());
        beginning + &random_digits(rest)
    }

    fn external_id(&self, contract: &Contract, request_id: &str, knobs: &Knobs) -> String {
        let last = || self.journal.last_external_id(&contract.name);
        knobs.same_external_id.then(last).flatten().unwrap_or_else(|| match contract.style.external_id {
            ExternalId::Digits(length) => random_digits(length),
            ExternalId::Alphanumeric(length) => random_alphanumeric(length),
            ExternalId::RequestId => request_id.to_owned(),
        })
    }

    async fn known_token(&self, contract: &Contract, even_if_over: bool) -> Result<String, Box<Answer>> {
        let mut tokens = self.tokens.lock().await;
        let key = token_key(&contract.url(""), &contract.client_id);
        let known = tokens.get(&key).filter(|token| even_if_over || self.now_ms() < token.ends_at_ms);
        if let Some(token) = known {
            return Ok(token.text.clone());
        }
        let answer = self.ask_token(contract, Knobs::default()).await;
        let (Some(text), Some(seconds)) = (answer.body["accessToken"].as_str(), seconds(&answer.body["expiresIn"]))
        else {
            return Err(Box::new(answer));
        };
        if tokens.len() >= TOKENS_MOST {
            tokens.clear();
        }
        let ends_at_ms = self.now_ms().saturating_add(seconds.saturating_mul(1000));
        tokens.insert(key, Token { text: text.to_owned(), ends_at_ms });
        Ok(text.to_owned())
    }

    /// A token that was refused is not used again: the next call asks for a new one.
    async fn forget_token(&self, refused: &Prepared) {
        let Some(token) = refused.header("authorization").and_then(|value| value.rsplit(' ').next()) else { return };
        self.tokens.lock().await.retain(|_, known| known.text != token);
    }
}

fn token_key(inbound_url: &str, client_id: &str) -> String {
    format!("{inbound_url} {client_id}")
}

/// `expiresIn`, which comes as a string or as a number.
fn seconds(expires_in: &Value) -> Option<i64> {
    expires_in.as_i64().or_else(|| expires_in.as_str()?.parse().ok())
}
