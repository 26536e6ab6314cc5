//! A client of the `/v1` API, for commands that do what a merchant's program would do. It never prints the API key.

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
/// As long as the server itself gives a request.
const ANSWER_TIME_MOST: Duration = Duration::from_secs(30);
/// Far more than a full page of events has.
const ANSWER_BYTES_MOST: usize = 16 * 1_024 * 1_024;
/// How much of a server's error message is shown.
const MESSAGE_CHARACTERS_MOST: usize = 300;
/// Objects per page: the most that the API allows.
const PAGE_OBJECTS: usize = 100;
pub(crate) const PAGE_EVENTS: usize = PAGE_OBJECTS;

/// A server and an API key for it. Without `Debug`, so that the key cannot end up in a log.
pub(crate) struct ApiClient {
    client: Client,
    base_url: String,
    key: String,
}

/// Why a call failed.
pub(crate) struct CallError {
    /// Whether a retry may succeed: the server cannot be reached, is stopping, or is overloaded.
    pub(crate) is_temporary: bool,
    why: String,
    base_url: String,
}

impl CallError {
    pub(crate) fn why(&self) -> &str {
        &self.why
    }
}

impl From<CallError> for CliError {
    fn from(error: CallError) -> CliError {
        let CallError { why, base_url, .. } = error;
        match error.is_temporary {
            true => CliError::new(format!(
                "the server at {base_url} is unavailable ({why}); start it, or give another URL with --url"
            )),
            false => CliError::new(format!("the server at {base_url} refuses: {why}")),
        }
    }
}

/// An event, byte for byte as a webhook carries it.
pub(crate) struct EventBytes {
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
struct ErrorJson {
    error: ErrorDetail,
}

#[derive(Deserialize)]
struct ErrorDetail {
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

    /// The project of the key.
    pub(crate) async fn project_id(&self) -> Result<String, CallError> {
        let balance: Value = self.json(self.request(Method::GET, "/v1/balance")).await?;
        Ok(self.text(&balance, "project_id")?.to_owned())
    }

    /// Sends a POST request, and returns the answer.
    pub(crate) async fn post(&self, path: &str, key: Option<&str>, body: &Value) -> Result<Value, CallError> {
        let request = self.request(Method::POST, path).header(CONTENT_TYPE, "application/json").body(body.to_string());
        let request = match key {
            Some(key) => request.header("Idempotency-Key", key),
            None => request,
        };
        self.json(request).await
    }

    /// Sends a GET request, and returns the answer.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, CallError> {
        self.json(self.request(Method::GET, path)).await
    }

    /// The first `most` objects of a list, page by page. `filter` is a query without its question mark.
    pub(crate) async fn list(&self, path: &str, filter: &str, most: usize) -> Result<Vec<Value>, CallError> {
        let page_size = most.min(PAGE_OBJECTS);
        let mut objects = Vec::new();
        for page in 1..=most.div_ceil(page_size) {
            let answer = self.get(&format!("{path}?page={page}&page_size={page_size}&{filter}")).await?;
            let Value::Array(data) = &answer["data"] else { return Err(self.unexpected_answer()) };
            objects.extend(data.iter().cloned());
            if data.len() < page_size {
                break;
            }
        }
        objects.truncate(most);
        Ok(objects)
    }

    pub(crate) async fn revoke(&self, id: KeyId) -> Result<(), CallError> {
        self.bytes(self.request(Method::DELETE, &format!("/v1/api-keys/{id}"))).await.map(drop)
    }

    pub(crate) async fn event(&self, id: EventId) -> Result<EventBytes, CallError> {
        let body = self.bytes(self.request(Method::GET, &format!("/v1/events/{id}"))).await?;
        self.event_bytes(&body)
    }

    /// The newest event.
    pub(crate) async fn newest_event(&self) -> Result<Option<EventBytes>, CallError> {
        Ok(self.events("page_size=1").await?.into_iter().next())
    }

    /// The first page of the events after `after`, oldest first.
    pub(crate) async fn events_after(&self, after: EventId) -> Result<Vec<EventBytes>, CallError> {
        self.events(&format!("page_size={PAGE_EVENTS}&after={after}")).await
    }

    /// The newest events of a type.
    pub(crate) async fn newest_of(&self, kind: EventKind) -> Result<Vec<EventBytes>, CallError> {
        self.events(&format!("page_size={PAGE_EVENTS}&type={}", kind.word())).await
    }

    async fn events(&self, query: &str) -> Result<Vec<EventBytes>, CallError> {
        let bytes = self.bytes(self.request(Method::GET, &format!("/v1/events?{query}"))).await?;
        let page: EventPage<'_> = serde_json::from_slice(&bytes).map_err(|_| self.unexpected_answer())?;
        page.data.into_iter().map(|event| self.event_bytes(event.get().as_bytes())).collect()
    }

    fn event_bytes(&self, body: &[u8]) -> Result<EventBytes, CallError> {
        let head: EventHead = serde_json::from_slice(body).map_err(|_| self.unexpected_answer())?;
        Ok(EventBytes {
            id: head.id.parse().map_err(|_| self.unexpected_answer())?,
            kind: printable(&head.kind),
            created_at: Timestamp::parse(&head.created_at).map_err(|_| self.unexpected_answer())?,
            body: body.to_owned(),
        })
    }

    /// A string in an answer, which every version of the API has.
    pub(crate) fn text<'a>(&self, answer: &'a Value, member: &str) -> Result<&'a str, CallError> {
        answer[member].as_str().ok_or_else(|| self.unexpected_answer())
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base_url)).bearer_auth(&self.key)
    }

    async fn json<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, CallError> {
        serde_json::from_slice(&self.bytes(request).await?).map_err(|_| self.unexpected_answer())
    }

    /// The whole body of a successful answer.
    async fn bytes(&self, request: RequestBuilder) -> Result<Vec<u8>, CallError> {
        let unreachable = |error: reqwest::Error| self.call_error(true, root_cause(&error));
        let mut response = request.send().await.map_err(unreachable)?;
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > ANSWER_BYTES_MOST {
                return Err(self.call_error(false, format!("its answer is longer than {ANSWER_BYTES_MOST} bytes")));
            }
        }
        match response.status().is_success() {
            true => Ok(bytes),
            false => Err(self.answered_error(&response, &bytes)),
        }
    }

    fn answered_error(&self, response: &Response, bytes: &[u8]) -> CallError {
        let status = response.status();
        let is_temporary = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
        let why = match serde_json::from_slice::<ErrorJson>(bytes) {
            Ok(ErrorJson { error }) => printable(&format!("{} ({} {})", error.message, status.as_u16(), error.code)),
            Err(_) => format!("it answers {}, but not as Lunas does", status.as_u16()),
        };
        self.call_error(is_temporary, why)
    }

    /// The server's answer is not one of this API, so it is probably another program.
    fn unexpected_answer(&self) -> CallError {
        self.call_error(false, "its answer is not one that Lunas gives".to_owned())
    }

    fn call_error(&self, is_temporary: bool, why: String) -> CallError {
        CallError { is_temporary, why, base_url: self.base_url.clone() }
    }
}

/// The innermost cause; the outer errors only say that the request failed.
fn root_cause(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    printable(&cause.to_string())
}

/// A server's text on one line, shortened and without control characters that a terminal would obey.
pub(crate) fn printable(text: &str) -> String {
    let plain = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    plain.take(MESSAGE_CHARACTERS_MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_servers_are_short_and_on_one_line() {
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
        let events: Vec<EventBytes> =
            page.data.into_iter().map(|event| client.event_bytes(event.get().as_bytes()).ok().unwrap()).collect();
        assert_eq!(events.len(), 2);
        for event in events {
            assert_eq!(String::from_utf8(event.body).unwrap(), body);
            assert_eq!((event.id.to_string(), event.kind.as_str()), (id.clone(), "payment.paid"));
        }
        for strange in ["", "[]", r#"{"id":"evt_1"}"#, &body.replace("2026", "abcd")] {
            assert!(client.event_bytes(strange.as_bytes()).is_err_and(|error| !error.is_temporary), "{strange}");
        }
    }
}
