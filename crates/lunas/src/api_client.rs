//! A client of the `/v1` API, for commands that do what a merchant's program would do.

use std::{error::Error, time::Duration};

use domain::{
    event::EventKind,
    id::{EventId, KeyId},
    time::Timestamp,
};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, header::CONTENT_TYPE, redirect::Policy};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use crate::error::CliError;

const USER_AGENT: &str = concat!("lunas/", env!("CARGO_PKG_VERSION"));
const CONNECT_TIME_MOST: Duration = Duration::from_secs(5);
/// The server itself gives up after as long.
const ANSWER_TIME_MOST: Duration = Duration::from_secs(30);
/// Far more than a full page of events takes.
const ANSWER_BYTES_MOST: usize = 16 * 1_024 * 1_024;
/// How much of a server's own words is shown.
const MESSAGE_CHARACTERS_MOST: usize = 300;
/// Events on a page: the most that the API gives.
pub(crate) const PAGE_EVENTS: usize = 100;

/// One server, with a key to it. It has no `Debug`, so that the key cannot end in a log.
pub(crate) struct ApiClient {
    client: Client,
    base_url: String,
    key: String,
}

/// Why a server did not do what it was asked.
pub(crate) struct Trouble {
    /// Whether it may well do so later: it is not there, stops, or has too much to do.
    pub(crate) passing: bool,
    why: String,
    base_url: String,
}

impl Trouble {
    pub(crate) fn why(&self) -> &str {
        &self.why
    }
}

impl From<Trouble> for CliError {
    fn from(trouble: Trouble) -> CliError {
        let Trouble { why, base_url, .. } = trouble;
        match trouble.passing {
            true => CliError::new(format!(
                "the server at {base_url} is away ({why}); start it, or give another address with --url"
            )),
            false => CliError::new(format!("the server at {base_url} refuses: {why}")),
        }
    }
}

/// An event, byte for byte as a webhook would carry it.
pub(crate) struct Envelope {
    pub(crate) id: EventId,
    pub(crate) kind: String,
    pub(crate) created_at: Timestamp,
    pub(crate) body: Vec<u8>,
}

#[derive(Deserialize)]
struct EventPage<'a> {
    #[serde(borrow)]
    data: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct EventHead {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    created_at: String,
}

#[derive(Deserialize)]
struct Refused {
    error: RefusedBecause,
}

#[derive(Deserialize)]
struct RefusedBecause {
    code: String,
    message: String,
}

impl ApiClient {
    pub(crate) fn new(base_url: String, key: &str) -> Result<ApiClient, CliError> {
        let builder = Client::builder()
            .user_agent(USER_AGENT)
            .no_proxy()
            .redirect(Policy::none())
            .connect_timeout(CONNECT_TIME_MOST)
            .timeout(ANSWER_TIME_MOST);
        // Only https needs the certificates that the machine trusts, and some machines have none.
        let builder = if base_url.starts_with("https:") { builder } else { builder.tls_certs_only([]) };
        let client = builder.build().map_err(|error| CliError::because("cannot make an HTTP client", &error))?;
        Ok(ApiClient { client, base_url, key: key.to_owned() })
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The project that the key opens.
    pub(crate) async fn project_id(&self) -> Result<String, Trouble> {
        let balance: Value = self.json(self.request(Method::GET, "/v1/balance")).await?;
        Ok(self.text(&balance, "project_id")?.to_owned())
    }

    /// Makes something, and answers it.
    pub(crate) async fn post(&self, path: &str, key: Option<&str>, body: &Value) -> Result<Value, Trouble> {
        let request = self.request(Method::POST, path).header(CONTENT_TYPE, "application/json").body(body.to_string());
        let request = match key {
            Some(key) => request.header("Idempotency-Key", key),
            None => request,
        };
        self.json(request).await
    }

    pub(crate) async fn revoke(&self, id: KeyId) -> Result<(), Trouble> {
        self.bytes(self.request(Method::DELETE, &format!("/v1/api-keys/{id}"))).await.map(drop)
    }

    pub(crate) async fn event(&self, id: EventId) -> Result<Envelope, Trouble> {
        let body = self.bytes(self.request(Method::GET, &format!("/v1/events/{id}"))).await?;
        self.envelope(&body)
    }

    /// The newest event there is.
    pub(crate) async fn newest_event(&self) -> Result<Option<Envelope>, Trouble> {
        Ok(self.events("page_size=1").await?.into_iter().next())
    }

    /// The first page of those that sort after `after`, in order.
    pub(crate) async fn events_after(&self, after: EventId) -> Result<Vec<Envelope>, Trouble> {
        self.events(&format!("page_size={PAGE_EVENTS}&after={after}")).await
    }

    /// The newest events of a kind.
    pub(crate) async fn newest_of(&self, kind: EventKind) -> Result<Vec<Envelope>, Trouble> {
        self.events(&format!("page_size={PAGE_EVENTS}&type={}", kind.word())).await
    }

    async fn events(&self, query: &str) -> Result<Vec<Envelope>, Trouble> {
        let bytes = self.bytes(self.request(Method::GET, &format!("/v1/events?{query}"))).await?;
        let page: EventPage<'_> = serde_json::from_slice(&bytes).map_err(|_| self.strange())?;
        page.data.into_iter().map(|event| self.envelope(event.get().as_bytes())).collect()
    }

    fn envelope(&self, body: &[u8]) -> Result<Envelope, Trouble> {
        let head: EventHead = serde_json::from_slice(body).map_err(|_| self.strange())?;
        Ok(Envelope {
            id: head.id.parse().map_err(|_| self.strange())?,
            kind: printable(&head.kind),
            created_at: Timestamp::parse(&head.created_at).map_err(|_| self.strange())?,
            body: body.to_owned(),
        })
    }

    /// A member of an answer that every Lunas has.
    pub(crate) fn text<'a>(&self, answer: &'a Value, member: &str) -> Result<&'a str, Trouble> {
        answer[member].as_str().ok_or_else(|| self.strange())
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base_url)).bearer_auth(&self.key)
    }

    async fn json<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Trouble> {
        serde_json::from_slice(&self.bytes(request).await?).map_err(|_| self.strange())
    }

    /// The whole answer, if it is a good one.
    async fn bytes(&self, request: RequestBuilder) -> Result<Vec<u8>, Trouble> {
        let away = |error: reqwest::Error| self.trouble(true, said(&error));
        let mut response = request.send().await.map_err(away)?;
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(away)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > ANSWER_BYTES_MOST {
                return Err(self.trouble(false, format!("its answer is longer than {ANSWER_BYTES_MOST} bytes")));
            }
        }
        match response.status().is_success() {
            true => Ok(bytes),
            false => Err(self.refused(&response, &bytes)),
        }
    }

    fn refused(&self, response: &Response, bytes: &[u8]) -> Trouble {
        let status = response.status();
        let passing = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
        let why = match serde_json::from_slice::<Refused>(bytes) {
            Ok(Refused { error }) => printable(&format!("{} ({} {})", error.message, status.as_u16(), error.code)),
            Err(_) => format!("it answers {}, not as Lunas does", status.as_u16()),
        };
        self.trouble(passing, why)
    }

    /// Something answers there, and it is not a server of ours.
    fn strange(&self) -> Trouble {
        self.trouble(false, "its answer is not one that Lunas gives".to_owned())
    }

    fn trouble(&self, passing: bool, why: String) -> Trouble {
        Trouble { passing, why, base_url: self.base_url.clone() }
    }
}

/// What went wrong at the bottom; the layers above only say that something did.
fn said(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    printable(&cause.to_string())
}

/// A text from afar, on one line and without what would steer a terminal.
fn printable(text: &str) -> String {
    let plain = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    plain.take(MESSAGE_CHARACTERS_MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_from_afar_stay_on_one_line_and_are_short() {
        assert_eq!(printable("a\u{1b}[31m\r\nb"), "a [31m  b");
        assert_eq!(printable(&"x".repeat(1_000)).len(), MESSAGE_CHARACTERS_MOST);
    }

    #[test]
    fn an_event_keeps_its_bytes() {
        let client = ApiClient::new("http://127.0.0.1:1".to_owned(), "").unwrap();
        let id = format!("evt_{}", "0".repeat(26));
        let body =
            format!(r#"{{"id":"{id}","type":"payment.paid","created_at":"2026-11-14T09:30:00.000Z","data":{{}}}}"#);
        let page = format!(r#"{{"data":[{body}, {body} ],"pagination":{{}}}}"#);
        let page: EventPage<'_> = serde_json::from_slice(page.as_bytes()).unwrap();
        let events: Vec<Envelope> =
            page.data.into_iter().map(|event| client.envelope(event.get().as_bytes()).ok().unwrap()).collect();
        assert_eq!(events.len(), 2);
        for event in events {
            assert_eq!(String::from_utf8(event.body).unwrap(), body);
            assert_eq!((event.id.to_string(), event.kind.as_str()), (id.clone(), "payment.paid"));
        }
        for strange in ["", "[]", r#"{"id":"evt_1"}"#, &body.replace("2026", "abcd")] {
            assert!(client.envelope(strange.as_bytes()).is_err_and(|trouble| !trouble.passing), "{strange}");
        }
    }
}
