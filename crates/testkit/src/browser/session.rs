//! A client of the WebDriver protocol: JSON over HTTP, one session per browser.
//!
//! The library `thirtyfour` is not used, because it enables `preserve_order` of `serde_json`: the server under test would then write
//! its JSON in another order than the released one.

use std::{fmt, time::Duration};

use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::plain_client;

/// The most time for a command. Pages and scripts have shorter limits of their own.
const COMMAND_LIMIT: Duration = Duration::from_secs(120);
/// The member under which WebDriver writes an element's id.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Why a command failed.
#[derive(Debug)]
pub(super) struct Fault {
    /// WebDriver's error code, such as `no such element`.
    kind: String,
    message: String,
}

impl Fault {
    /// Whether a retry may succeed after the page has changed.
    pub(super) fn may_pass(&self) -> bool {
        let passing = [
            "no such element",
            "stale element reference",
            "element not interactable",
            "element click intercepted",
            "invalid element state",
        ];
        // While one page replaces another, chromedriver reports missing elements with this message.
        passing.contains(&self.kind.as_str()) || self.message.contains("does not belong to the document")
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The message begins with the kind, and after its first line come the browser's version and a stack trace.
        let line = self.message.lines().next().unwrap_or_default();
        let line = line.trim_start_matches(&self.kind).trim_start_matches(": ");
        write!(formatter, "{}{}{line}", self.kind, if line.is_empty() { "" } else { ": " })
    }
}

impl From<reqwest::Error> for Fault {
    fn from(error: reqwest::Error) -> Fault {
        Fault { kind: "chromedriver does not answer".to_owned(), message: error.to_string() }
    }
}

pub(super) type Done<T> = Result<T, Fault>;

/// The session of one browser. Dropping it does not close the browser; [`Session::quit`] does.
pub(super) struct Session {
    client: Client,
    url: String,
}

/// An element of the current page.
pub(super) struct Element(String);

impl Element {
    /// The element as an argument of a script.
    pub(super) fn argument(&self) -> Value {
        json!({ ELEMENT: self.0 })
    }

    pub(super) fn from(value: &Value) -> Element {
        Element(value[ELEMENT].as_str().unwrap_or_default().to_owned())
    }
}

impl Session {
    /// Starts a browser. `sessions` is the URL at which chromedriver creates sessions.
    pub(super) async fn start(sessions: &str, capabilities: &Value) -> Done<Session> {
        let mut session = Session { client: client(), url: sessions.to_owned() };
        let body = json!({ "capabilities": { "alwaysMatch": capabilities } });
        let made = session.call(Method::POST, "", Some(&body)).await?;
        session.url = format!("{sessions}/{}", made["sessionId"].as_str().unwrap_or_default());
        Ok(session)
    }

    /// The same session for use in another runtime, since connections belong to the runtime that opened them.
    pub(super) fn again(&self) -> Session {
        Session { client: client(), url: self.url.clone() }
    }

    pub(super) async fn quit(&self) -> Done<()> {
        self.call(Method::DELETE, "", None).await.map(drop)
    }

    /// Sends the commands that follow to another window.
    pub(super) async fn switch_to(&self, window: &Value) -> Done<()> {
        self.post("/window", json!({ "handle": window })).await.map(drop)
    }

    pub(super) async fn close_window(&self) -> Done<()> {
        self.call(Method::DELETE, "/window", None).await.map(drop)
    }

    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Done<Value> {
        let request = self.client.request(method, format!("{}{path}", self.url));
        let request = if let Some(body) = body { request.json(body) } else { request };
        let response = request.send().await?;
        let succeeded = response.status().is_success();
        let mut value = response.json::<Value>().await?["value"].take();
        if succeeded {
            return Ok(value);
        }
        let mut word = |name: &str| value[name].take().as_str().unwrap_or_default().to_owned();
        Err(Fault { kind: word("error"), message: word("message") })
    }

    pub(super) async fn get(&self, path: &str) -> Done<Value> {
        self.call(Method::GET, path, None).await
    }

    pub(super) async fn post(&self, path: &str, body: Value) -> Done<Value> {
        self.call(Method::POST, path, Some(&body)).await
    }

    /// The result of a command, as a string.
    pub(super) async fn text(&self, path: &str) -> Done<String> {
        Ok(self.get(path).await?.as_str().unwrap_or_default().to_owned())
    }

    /// A command of Chromium's DevTools protocol.
    pub(super) async fn devtools(&self, method: &str, parameters: Value) -> Done<Value> {
        self.post("/goog/cdp/execute", json!({ "cmd": method, "params": parameters })).await
    }

    /// Runs the body of a JavaScript function in the page, even where the page may run no scripts. A promise is awaited.
    pub(super) async fn run(&self, body: &str, arguments: Value) -> Done<Value> {
        self.post("/execute/sync", json!({ "script": body, "args": arguments })).await
    }

    /// The entries of a log since the last call.
    pub(super) async fn log(&self, kind: &str) -> Done<Vec<Value>> {
        let entries = self.post("/se/log", json!({ "type": kind })).await?;
        Ok(entries.as_array().cloned().unwrap_or_default())
    }

    /// The first element that a CSS selector finds.
    pub(super) async fn find(&self, css: &str) -> Done<Element> {
        let found = self.post("/element", json!({ "using": "css selector", "value": css })).await?;
        Ok(Element::from(&found))
    }

    pub(super) async fn find_all(&self, css: &str) -> Done<Vec<Element>> {
        let found = self.post("/elements", json!({ "using": "css selector", "value": css })).await?;
        Ok(found.as_array().into_iter().flatten().map(Element::from).collect())
    }

    /// The path of a command on an element.
    pub(super) fn on(&self, element: &Element, command: &str) -> String {
        format!("/element/{}/{command}", element.0)
    }
}

fn client() -> Client {
    plain_client().timeout(COMMAND_LIMIT).build().unwrap()
}
