//! A server with routes that panic or never answer beside the real ones, for tests of how failures are answered.

use std::{future, net::SocketAddr, time::Duration};

use axum::{
    extract::Request,
    middleware::{Next, from_fn},
    response::Response,
    routing::get,
};
use testkit::{Kit, Reply, plain_client};
use tokio::task::JoinHandle;
use web::{App, Server, ServerConfig, Surfaces, Timeouts, limits::BANK_CALLS_PER_SECOND};

/// What the handler that panics says. It may be in the log, but in no answer.
pub(crate) const SECRET_DETAIL: &str = "a secret detail";
/// A request of the API with this header is handled, and then the server panics in place of the answer.
pub(crate) const PANICS: &str = "x-panics";

/// The API and the checkout, with `/v1/panic`, `/pay/{id}/panic` and `/pay/{id}/hang`. Dropping it stops it.
pub(crate) struct FaultyServer {
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
}

impl FaultyServer {
    /// Starts a server on the engine of `kit` that gives each request this long.
    pub(crate) async fn start(kit: &Kit, request_timeout: Duration) -> FaultyServer {
        FaultyServer::limited(kit, request_timeout, 0).await
    }

    /// The same, with a rate limit.
    pub(crate) async fn limited(kit: &Kit, request_timeout: Duration, rate_limit_per_second: u32) -> FaultyServer {
        let config = ServerConfig {
            listen: ([127, 0, 0, 1], 0).into(),
            base_url: None,
            pages_url: None,
            rate_limit_per_second,
            bank_calls_per_second: BANK_CALLS_PER_SECOND,
            trusted_proxies: Vec::new(),
            connections_per_address: 0,
            signature_header: "X-Service-Signature".to_owned(),
            is_development: false,
            has_docs: true,
            timeouts: Timeouts { request: request_timeout, ..Timeouts::default() },
        };
        let server = Server::bind(kit.engine.clone(), config, surfaces).await.unwrap();
        let address = server.address();
        FaultyServer { address, task: tokio::spawn(server.run(future::pending())) }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        let client = plain_client().build().unwrap();
        let response = client.get(format!("http://{}{path}", self.address)).send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let text = response.text().await.unwrap();
        Reply { status, headers, json: serde_json::from_str(&text).unwrap_or_default(), text }
    }
}

impl Drop for FaultyServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn surfaces(app: &App) -> Surfaces {
    let (mut checkout, mut api) = (checkout::surface(app), api::surface(app));
    checkout.routes = checkout.routes.route("/pay/{id}/panic", get(panics)).route("/pay/{id}/hang", get(hangs));
    api.routes = api.routes.route("/v1/panic", get(panics)).layer(from_fn(panics_afterwards));
    Surfaces::new(vec![checkout], api)
}

async fn panics_afterwards(request: Request, next: Next) -> Response {
    let is_marked = request.headers().contains_key(PANICS);
    let response = next.run(request).await;
    assert!(!is_marked, "{SECRET_DETAIL}");
    response
}

async fn panics() {
    panic!("{SECRET_DETAIL}");
}

async fn hangs() {
    future::pending().await
}
