//! What tests do again and again: pay, count, attempt a link, and start a second node on the same database.

use std::{future::Future, net::SocketAddr, sync::Arc, time::Duration};

use domain::{
    id::PaymentId,
    method::Method,
    payment::{Checkout, State},
};
use engine::{Attempt, Clock, Engine, Error, SecretKey, Settings};
use gateway::{Providers, Simulator};
use serde_json::{Value, json};
use store::Store;
use testkit::{Api, Kit, Reply, TestProject};
use tokio::{sync::oneshot, task::JoinHandle};
use web::{ServerConfig, Timeouts};

use crate::support::samples;

/// An upper bound for waits that end long before it unless something is broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Looks again and again until `holds`, and gives up long after that should have been.
pub(crate) async fn until<Look: Future<Output = bool>>(holds: impl Fn() -> Look) {
    until_within(PATIENCE, holds).await;
}

pub(crate) async fn until_within<Look: Future<Output = bool>>(patience: Duration, holds: impl Fn() -> Look) {
    let looking = async {
        let mut looks = tokio::time::interval(LOOK_EVERY);
        while !holds().await {
            looks.tick().await;
        }
    };
    tokio::time::timeout(patience, looking).await.unwrap();
}

pub(crate) fn id(json: &Value) -> &str {
    json["id"].as_str().unwrap()
}

/// How many things a list holds.
pub(crate) async fn total(api: &Api, path: &str) -> i64 {
    api.get(path).await.expect(200)["pagination"]["total_items"].as_i64().unwrap()
}

/// What the simulator's bank reports about a payment.
pub(crate) async fn simulate(project: &TestProject, payment: &Value, report: Value) -> Value {
    project.api.post(&format!("/v1/sandbox/payments/{}/simulate", id(payment)), &report).await.expect(200)
}

/// Creates a QRIS payment and has it paid.
pub(crate) async fn paid(project: &TestProject, key: &str, amount: i64) -> Value {
    let payment = project.api.pay(key, &samples::qris(project, amount)).await.expect(201);
    simulate(project, &payment, json!({ "outcome": "paid" })).await
}

/// A customer picks `method` on the link's page; answers with the payment as the merchant sees it.
pub(crate) async fn attempt(kit: &Kit, project: &TestProject, link: &Value, method: Method) -> Value {
    let payment = try_attempt(kit, link, method).await.unwrap();
    project.api.get(&format!("/v1/payments/{payment}")).await.expect(200)
}

pub(crate) async fn try_attempt(kit: &Kit, link: &Value, method: Method) -> Result<PaymentId, Error> {
    let attempted =
        kit.engine.attempt_link(id(link).parse().unwrap(), &Attempt::new(method, Checkout::default())).await;
    attempted.map(|payment| payment.id)
}

/// A payment's state as it is written down, whatever a reader would make of it by now.
pub(crate) async fn stored_state(kit: &Kit, payment: &Value) -> State {
    kit.store.payment(id(payment).parse().unwrap()).await.unwrap().unwrap().state
}

/// Checks status and code of one row of a table, and that the body is the envelope; answers with the message.
#[track_caller]
pub(crate) fn refused(row: &str, reply: Reply, status: u16, code: &str) -> String {
    let found = (reply.status.as_u16(), reply.json["error"]["code"].as_str());
    assert_eq!(found, (status, Some(code)), "{row}: {}", reply.text);
    reply.refused(status, code)
}

/// The key with its last check character changed: well-formed to the eye, and never valid.
pub(crate) fn altered(key: &str) -> String {
    let (start, last) = key.split_at(key.len() - 1);
    format!("{start}{}", if last == "0" { "1" } else { "0" })
}

/// Every route that needs a key, by the OpenAPI document, as `GET /v1/payments/{paymentID}`, sorted.
pub(crate) fn routes() -> Vec<String> {
    let document: Value = serde_json::from_str(&api::openapi_json()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let mut routes: Vec<String> = paths
        .iter()
        .filter(|(path, _)| path.starts_with("/v1/"))
        .flat_map(|(path, item)| {
            let methods = item.as_object().unwrap().keys().filter(|key| key.as_str() != "parameters");
            methods.map(move |method| format!("{} {path}", method.to_uppercase()))
        })
        .collect();
    routes.sort();
    assert!(routes.len() >= 15, "the document names every route: {routes:?}");
    routes
}

/// A route's method, and its path with `id` where the route takes one.
pub(crate) fn method_and_path(route: &str, id: &str) -> (reqwest::Method, String) {
    let (method, template) = route.split_once(' ').unwrap();
    let path: Vec<&str> =
        template.split('/').map(|segment| if segment.starts_with('{') { id } else { segment }).collect();
    (method.parse().unwrap(), path.join("/"))
}

/// An engine of its own, with the usual settings.
pub(crate) fn engine_on(store: Store, clock: Arc<dyn Clock>, providers: Providers) -> Engine {
    let secret_key = SecretKey::from_base64(&SecretKey::generate_base64()).unwrap();
    Engine::new(store, providers, clock, Settings::default(), secret_key)
}

/// The providers of an installation that is in no contract with a bank.
pub(crate) fn no_bank() -> Providers {
    Providers { sandbox: Simulator::default(), production: None }
}

/// Another server of the same installation: its own connections, its own limits, the same clock.
pub(crate) struct Node {
    pub(crate) address: SocketAddr,
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Node {
    pub(crate) async fn beside(kit: &Kit) -> Node {
        Node::with_providers(kit, no_bank()).await
    }

    pub(crate) async fn with_providers(kit: &Kit, providers: Providers) -> Node {
        let store = kit.database.open().await;
        let secret_key = kit.secret_key.clone();
        let engine = Engine::new(store.clone(), providers, kit.clock.clone(), Settings::default(), secret_key);
        let config = ServerConfig {
            listen: ([127, 0, 0, 1], 0).into(),
            base_url: None,
            pages_url: None,
            rate_limit_per_second: 0,
            trusted_proxies: Vec::new(),
            signature_header: "X-Service-Signature".to_owned(),
            timeouts: Timeouts::default(),
        };
        let server = lunas::bind(engine.clone(), config).await.unwrap();
        let address = server.address();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(server.run(async {
            let _ = stopped.await;
        }));
        Node { address, engine, store, stop, task }
    }

    pub(crate) async fn stop(self) {
        let _ = self.stop.send(());
        self.task.await.unwrap();
        self.store.close().await;
    }
}
