//! Sends an endpoint requests that it must refuse, and shows that they leave nothing behind.

use reqwest::Method;
use testkit::{Api, Reply, TestProject};

/// A JSON object as text, so that a test can write what no JSON library would.
#[derive(Clone)]
pub(crate) struct Members(Vec<(&'static str, String)>);

impl Members {
    pub(crate) fn payment(project: &TestProject) -> Members {
        Members(vec![
            ("project_id", format!("\"{}\"", project.id)),
            ("reference", "\"order-1\"".to_owned()),
            ("amount", "15000".to_owned()),
            ("payment_method", r#"{"type":"qris"}"#.to_owned()),
        ])
    }

    pub(crate) fn link(project: &TestProject) -> Members {
        Members(vec![
            ("project_id", format!("\"{}\"", project.id)),
            ("title", "\"Kopi susu\"".to_owned()),
            ("amount", "15000".to_owned()),
        ])
    }

    pub(crate) fn simulate() -> Members {
        Members(vec![("outcome", "\"paid\"".to_owned())])
    }

    /// The object with `literal` as the value of `name`, in place of the usual one if there is one.
    pub(crate) fn with(&self, name: &'static str, literal: &str) -> String {
        let mut members = self.clone();
        match members.0.iter_mut().find(|(member, _)| *member == name) {
            Some((_, value)) => literal.clone_into(value),
            None => members.0.push((name, literal.to_owned())),
        }
        members.text()
    }

    pub(crate) fn without(&self, name: &str) -> String {
        let members = self.0.iter().filter(|(member, _)| *member != name).cloned();
        Members(members.collect()).text()
    }

    /// The object with `name` a second time.
    pub(crate) fn repeating(&self, name: &'static str) -> String {
        let mut members = self.clone();
        let again = members.0.iter().find(|(member, _)| *member == name).unwrap().clone();
        members.0.push(again);
        members.text()
    }

    pub(crate) fn text(&self) -> String {
        let members: Vec<String> = self.0.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    }
}

/// How many payments, links and events the project has.
pub(crate) async fn totals(api: &Api) -> [i64; 3] {
    let mut totals = [0; 3];
    for (total, path) in totals.iter_mut().zip(["/v1/payments", "/v1/payment-links", "/v1/events"]) {
        let list = api.get(path).await.expect(200);
        *total = list["pagination"]["total_items"].as_i64().unwrap();
    }
    totals
}

/// One endpoint that gets one invalid body after another, all with the same Idempotency-Key.
pub(crate) struct Refusals<'a> {
    pub(crate) api: &'a Api,
    pub(crate) path: String,
    /// A valid body, and the status it gets.
    pub(crate) sound: (String, u16),
}

impl Refusals<'_> {
    const KEY: &'static str = "spoilt";

    pub(crate) fn payments(project: &TestProject) -> Refusals<'_> {
        let sound = (Members::payment(project).text(), 201);
        Refusals { api: &project.api, path: "/v1/payments".to_owned(), sound }
    }

    pub(crate) fn links(project: &TestProject) -> Refusals<'_> {
        let sound = (Members::link(project).text(), 201);
        Refusals { api: &project.api, path: "/v1/payment-links".to_owned(), sound }
    }

    /// On a payment of the project that is pending.
    pub(crate) async fn simulate(project: &TestProject) -> Refusals<'_> {
        let body = serde_json::from_str(&Members::payment(project).text()).unwrap();
        let payment = project.api.pay("simulated", &body).await.expect(201);
        let path = format!("/v1/sandbox/payments/{}/simulate", payment["id"].as_str().unwrap());
        Refusals { api: &project.api, path, sound: (Members::simulate().text(), 200) }
    }

    pub(crate) async fn send(&self, body: impl Into<Vec<u8>>) -> Reply {
        let request = self.api.request(Method::POST, &self.path).header("Idempotency-Key", Refusals::KEY);
        self.api.send(request.header("Content-Type", "application/json").body(body.into())).await
    }

    /// Returns the message of the refusal.
    pub(crate) async fn check(&self, body: impl Into<Vec<u8>>, status: u16, code: &str) -> String {
        let body = body.into();
        let row: String = String::from_utf8_lossy(&body).chars().take(400).collect();
        let reply = self.send(body).await;
        let seen = (reply.status.as_u16(), reply.json["error"]["code"].as_str().unwrap_or("no code"));
        assert_eq!(seen, (status, code), "{} {row}: {}", self.path, reply.text);
        reply.refused(status, code)
    }

    /// Sends one member with each of these values; the message must name it.
    pub(crate) async fn member(&self, members: &Members, name: &'static str, literals: &[&str], code: &str) {
        let status = if code == "PROJECT_NOT_FOUND" { 404 } else { 400 };
        for literal in literals {
            let message = self.check(members.with(name, literal), status, code).await;
            assert!(message.contains(name), "{} {name} {literal}: the message names the field: {message}", self.path);
        }
    }

    /// Checks that no request left anything behind: no row, no event, and the key is still unused.
    pub(crate) async fn left_nothing(&self, before: [i64; 3]) {
        assert_eq!(totals(self.api).await, before, "{}: something was left behind", self.path);
        let reply = self.send(self.sound.0.clone()).await;
        assert_eq!(reply.header("idempotent-replayed"), None);
        reply.expect(self.sound.1);
    }
}

/// Checks status and code of one row of a table, and that the body is the envelope; returns the message.
#[track_caller]
pub(crate) fn refused(row: &str, reply: Reply, status: u16, code: &str) -> String {
    let found = (reply.status.as_u16(), reply.json["error"]["code"].as_str());
    assert_eq!(found, (status, Some(code)), "{row}: {}", reply.text);
    reply.refused(status, code)
}
