//! The part of the WebDriver protocol that browsers are driven by: JSON over HTTP, one session per browser. It is spoken here
//! and not by the library `thirtyfour`, which turns on `serde_json`'s `preserve_order`: the server under test would then write
//! its documents in another order than the released one.

use std::{fmt, time::Duration};

use reqwest::{Client, Method};
use serde_json::{Value, json};

/// Longer than any command takes that works; pages and scripts have limits of their own below it.
const COMMAND_LIMIT: Duration = Duration::from_secs(120);
/// The member under which WebDriver writes an element's id.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Why a command was not done.
#[derive(Debug)]
pub(super) struct Fault {
    /// WebDriver's word for it, such as `no such element`.
    kind: String,
    message: String,
}

impl Fault {
    /// Whether the same command may succeed once the page has changed.
    pub(super) fn may_pass(&self) -> bool {
        let passing = [
            "no such element",
            "stale element reference",
            "element not interactable",
            "element click intercepted",
            "invalid element state",
        ];
        // While a page gives way to the next one, its elements are gone in another way.
        passing.contains(&self.kind.as_str()) || self.message.contains("does not belong to the document")
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The message repeats the kind, and what follows its first line is the browser's version and a stack of addresses.
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

/// One browser, as chromedriver knows it. It does not end with this value: [`Session::quit`] ends it.
pub(super) struct Session {
    client: Client,
    url: String,
}

/// An element of the page that is shown now.
pub(super) struct Element(String);

impl Element {
    /// As an argument of a script.
    pub(super) fn argument(&self) -> Value {
        json!({ ELEMENT: self.0 })
    }

    pub(super) fn from(value: &Value) -> Element {
        Element(value[ELEMENT].as_str().unwrap_or_default().to_owned())
    }
}

impl Session {
    /// Starts a browser. `sessions` is where chromedriver makes them.
    pub(super) async fn start(sessions: &str, capabilities: &Value) -> Done<Session> {
        let mut session = Session { client: client(), url: sessions.to_owned() };
        let body = json!({ "capabilities": { "alwaysMatch": capabilities } });
        let made = session.call(Method::POST, "", Some(&body)).await?;
        session.url = format!("{sessions}/{}", made["sessionId"].as_str().unwrap_or_default());
        Ok(session)
    }

    /// The same session for another runtime: connections belong to the one that made them.
    pub(super) fn again(&self) -> Session {
        Session { client: client(), url: self.url.clone() }
    }

    pub(super) async fn quit(&self) -> Done<()> {
        self.call(Method::DELETE, "", None).await.map(drop)
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

    /// A string that a command answers.
    pub(super) async fn text(&self, path: &str) -> Done<String> {
        Ok(self.get(path).await?.as_str().unwrap_or_default().to_owned())
    }

    /// A command of Chromium's own DevTools protocol.
    pub(super) async fn devtools(&self, method: &str, parameters: Value) -> Done<Value> {
        self.post("/goog/cdp/execute", json!({ "cmd": method, "params": parameters })).await
    }

    /// Runs the body of a function in the page, whatever its policy for scripts is. A promise is waited for.
    pub(super) async fn run(&self, body: &str, arguments: Value) -> Done<Value> {
        self.post("/execute/sync", json!({ "script": body, "args": arguments })).await
    }

    /// What a log has got since it was last asked for.
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
    Client::builder().no_proxy().timeout(COMMAND_LIMIT).build().unwrap()
}
