//! A small site for the test kit's own tests: a page without faults, and one with every fault that the checks find.

use std::{convert::Infallible, net::SocketAddr};

use axum::{
    Router,
    extract::Path,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use futures_util::{StreamExt, stream};
use picture::qr_image;
use tokio::{net::TcpListener, task::JoinHandle};

/// As strict as the policy of the product's pages.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'";
pub(super) const QR_SAYS: &str = "00020101021226DITULISUNTUKDIBACA";

const GOOD: &str = include_str!("good.html");
const GOOD_STYLE: &str = include_str!("good.css");
const GOOD_SCRIPT: &str = include_str!("good.js");
const BAD: &str = include_str!("bad.html");
const BAD_STYLE: &str = include_str!("bad.css");
const BAD_SCRIPT: &str = "undefinedFunction();";

/// A running site; dropping it stops it.
pub(super) struct Site {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Site {
    pub(super) async fn start() -> Site {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new()
            .route("/language", get(language))
            .route("/moved", get(async || Redirect::to("/good")))
            .route("/endless", get(endless))
            .route("/{name}", get(file));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Site { address, task }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn file(Path(name): Path<String>) -> Response {
    let text = |kind: &str, text: &str| answer(kind, text.as_bytes().to_vec());
    match name.as_str() {
        "good" => text("text/html", GOOD),
        "good.css" => text("text/css", GOOD_STYLE),
        "good.js" => text("text/javascript", GOOD_SCRIPT),
        "bad" => text("text/html", BAD),
        "bad.css" => text("text/css", BAD_STYLE),
        "bad.js" => text("text/javascript", BAD_SCRIPT),
        "code.png" => answer("image/png", qr_image::png(QR_SAYS).unwrap()),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn answer(kind: &str, body: Vec<u8>) -> Response {
    let headers = [(header::CONTENT_TYPE, format!("{kind}; charset=utf-8"))];
    let cookie = [(header::SET_COOKIE, "visited=yes; HttpOnly; SameSite=Lax")];
    let policies = [("content-security-policy", POLICY), ("permissions-policy", "clipboard-read=()")];
    (headers, cookie, policies, body).into_response()
}

/// Answers with the language that the browser asked for.
async fn language(headers: HeaderMap) -> Response {
    let asked = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    answer("text/html", format!("<!doctype html><title>Language</title><p>{asked}").into_bytes())
}

/// Server-sent events that never end.
async fn endless() -> Response {
    let first = stream::once(async { Ok::<_, Infallible>("data: first\n\n") });
    let events = first.chain(stream::pending());
    let headers = [(header::CONTENT_TYPE, "text/event-stream")];
    (headers, axum::body::Body::from_stream(events)).into_response()
}
