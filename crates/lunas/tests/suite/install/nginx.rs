//! The nginx configuration of docs/install.md, in Debian's nginx: streams, addresses, limits, and what is answered while the
//! server is away.

use std::{net::TcpListener, sync::Arc};

use reqwest::{Method, header::LOCATION, redirect::Policy};
use serde_json::{Value, json};
use testkit::{Kit, Reply, on_sqlite_with, plain_client};

use super::proxy::{NAME, Proxy, Visitor, behind_proxy};
use crate::support::{
    customer::{Customer, begin_payment, pay_path},
    links::create_link,
    payments::report,
    samples::qris,
    wait::PATIENCE,
};

/// More requests than any limit of these tests lets through.
const MANY: usize = 200;

async fn failed_login(visitor: &Visitor, forwarded_for: Option<&str>) -> Reply {
    let request = visitor.request(Method::GET, "/v1/balance").bearer_auth("junk");
    visitor
        .send(forwarded_for.into_iter().fold(request, |request, value| request.header("X-Forwarded-For", value)))
        .await
}

/// A payment sent as text, so that its size is known.
async fn pay(visitor: &Visitor, key: &str, body: String) -> Reply {
    let request = visitor.request(Method::POST, "/v1/payments").bearer_auth(key);
    let request = request.header("Idempotency-Key", "first").header("Content-Type", "application/json");
    visitor.send(request.body(body)).await
}

#[tokio::test]
async fn a_customer_pays_through_the_proxy_and_the_page_hears_of_it_at_once() {
    on_sqlite_with(behind_proxy(0), async |kit: Arc<Kit>| {
        let (project, proxy) = (kit.sandbox().await, Proxy::before(&kit).await);
        let visitor = proxy.visitor([127, 0, 0, 2]);
        let link = create_link(&project, json!({})).await;
        let url = link["url"].as_str().unwrap();
        let path = url.strip_prefix(&format!("https://{NAME}")).expect("links lead to the proxy");
        let page = visitor.get(path).await;
        assert_eq!(page.status, 200);
        assert!(page.header("strict-transport-security").is_some(), "the server knows that it is behind TLS");

        let (_, _, payment) = begin_payment(&kit, &project, json!({})).await;
        let stream = visitor.request(Method::GET, &format!("{}/events", pay_path(&payment)));
        // A proxy that buffers holds back the head of the answer too.
        let begun = tokio::time::timeout(PATIENCE, visitor.begin(stream)).await;
        let mut stream = begun.expect("nginx holds the stream back");
        assert_eq!(stream.headers()["content-type"], "text/event-stream");
        let mut heard = String::new();
        for status in ["pending", "processing", "paid"] {
            if status != "pending" {
                report(&project, &payment, status).await;
            }
            let hears = async {
                while !heard.contains(&format!("data: {status}\n")) {
                    heard.push_str(std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap());
                }
            };
            tokio::time::timeout(PATIENCE, hears).await.unwrap_or_else(|_| panic!("nginx holds {status} back"));
        }
    })
    .await;
}

#[tokio::test]
async fn limits_count_by_the_address_of_the_client_and_not_by_what_it_says() {
    on_sqlite_with(behind_proxy(1), async |kit: Arc<Kit>| {
        let proxy = Proxy::before(&kit).await;
        let (guesser, neighbour) = (proxy.visitor([127, 0, 0, 2]), proxy.visitor([127, 0, 0, 3]));
        let mut refused = None;
        for _ in 0..MANY {
            let reply = failed_login(&guesser, None).await;
            if reply.status == 429 {
                refused = Some(reply);
                break;
            }
            reply.refused(401, "UNAUTHORIZED");
        }
        let refused = refused.expect("nobody may guess for ever");
        assert!(refused.header("retry-after").unwrap().parse::<u32>().unwrap() >= 1, "{refused:?}");
        refused.refused(429, "RATE_LIMITED");
        failed_login(&guesser, Some("203.0.113.7")).await.refused(429, "RATE_LIMITED");
        failed_login(&neighbour, None).await.refused(401, "UNAUTHORIZED");
        failed_login(&neighbour, Some("127.0.0.2")).await.refused(401, "UNAUTHORIZED");
    })
    .await;
}

#[tokio::test]
async fn a_body_that_is_too_large_is_413_in_our_shape_from_server_and_proxy_alike() {
    on_sqlite_with(behind_proxy(0), async |kit: Arc<Kit>| {
        let (project, proxy) = (kit.sandbox().await, Proxy::before(&kit).await);
        let visitor = proxy.visitor([127, 0, 0, 2]);
        let padded = |bytes: usize| {
            let body = qris(&project, 15_000).to_string();
            let padding = " ".repeat(bytes - body.len());
            body + &padding
        };
        pay(&visitor, &project.key, padded(64 * 1_024)).await.expect(201);
        let by_server = pay(&visitor, &project.key, padded(64 * 1_024 + 1)).await;
        assert!(by_server.header("x-request-id").is_some());
        by_server.refused(413, "INVALID_REQUEST");
        let by_proxy = pay(&visitor, &project.key, padded(1_024 * 1_024 + 1)).await;
        assert_eq!(by_proxy.header("content-type"), Some("application/json"));
        by_proxy.refused(413, "INVALID_REQUEST");
        let kept = visitor.send(visitor.request(Method::GET, "/v1/payments").bearer_auth(&project.key)).await;
        assert_eq!(kept.expect(200)["pagination"]["total_items"], 1);
    })
    .await;
}

#[tokio::test]
async fn while_the_server_is_away_programs_are_told_to_try_again_and_people_see_a_page() {
    // A port at which nothing listens: it is taken, and given back.
    let away = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let proxy = Proxy::before_address(away).await;
    let visitor = proxy.visitor([127, 0, 0, 2]);
    let told = visitor.get("/v1/balance").await;
    assert_eq!((told.header("retry-after"), told.header("content-type")), (Some("5"), Some("application/json")));
    told.refused(503, "SERVICE_UNAVAILABLE");
    let page = visitor.get("/p/anything").await;
    assert_eq!((page.status.as_u16(), page.header("retry-after")), (503, Some("5")));
    assert!(page.header("content-type").unwrap().starts_with("text/html") && page.json == Value::Null);
}

#[tokio::test]
async fn addresses_without_tls_lead_to_those_with_it() {
    on_sqlite_with(behind_proxy(0), async |kit: Arc<Kit>| {
        let proxy = Proxy::before(&kit).await;
        let client = plain_client().redirect(Policy::none()).build().unwrap();
        let url = format!("http://127.0.0.1:{}/p/pl_1?lang=id", proxy.plain_port);
        let reply = client.get(url).header("Host", NAME).send().await.unwrap();
        assert_eq!(reply.status(), 308);
        assert_eq!(reply.headers()[LOCATION], format!("https://{NAME}/p/pl_1?lang=id"));
        // Asked directly, the server answers plainly, so it must listen on loopback alone.
        assert_eq!(Customer::of(&kit).open("/healthz").await.status, 200);
    })
    .await;
}
