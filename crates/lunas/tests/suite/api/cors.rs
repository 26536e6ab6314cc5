//! Requests of browsers: allowed origins and preflights (docs/contract.md §5.7 and decisions §7).

use std::{sync::Arc, time::Duration};

use engine::ProjectUpdate;
use reqwest::{Method, header::ORIGIN};
use testkit::{Api, Kit, Options, Reply, Socket, TestProject, on_sqlite_alone, request_bytes};

use crate::support::{
    faulty_server::{FaultyServer, PANICS},
    options::{base_url, rate_limit},
    payments::total,
    refusals::refused,
    routes::{method_and_path, routes},
    samples,
};

on_sqlite_alone![
    a_listed_origin_may_read_the_answer,
    an_origin_that_is_not_exactly_a_listed_one_is_refused,
    a_request_without_an_origin_is_not_from_a_browser_and_gets_no_cors_headers,
    a_preflight_on_any_route_is_allowed_without_a_key_when_some_active_project_lists_the_origin,
    a_preflight_at_an_unknown_path_is_404_whatever_its_origin,
    a_preflight_is_refused_when_no_active_project_lists_the_origin,
    what_a_preflight_allowed_is_still_judged_by_its_own_project,
    a_second_origin_is_refused_even_beside_an_allowed_one,
    the_services_own_origin_is_always_allowed,
    a_listed_origin_may_read_errors_too,
    an_answer_that_the_time_limit_makes_has_the_headers_of_every_answer_to_its_key with short_request_timeout(),
    an_answer_that_a_panic_makes_has_the_headers_of_every_answer_to_its_key,
];

const SHOP: &str = "https://shop.example";

/// Long enough that a busy machine looks up the key before the time is over.
fn short_request_timeout() -> Options {
    let mut options = rate_limit(1_000);
    options.timeouts.request = Duration::from_secs(2);
    options
}

async fn allow(kit: &Kit, project: &TestProject, origins: &[&str]) {
    let origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
    kit.update(project.id, ProjectUpdate { allowed_origins: Some(origins), ..Default::default() }).await;
}

async fn set_active(kit: &Kit, project: &TestProject, active: bool) {
    kit.update(project.id, ProjectUpdate { active: Some(active), ..Default::default() }).await;
}

async fn from(api: &Api, origin: &str, path: &str) -> Reply {
    api.send(api.request(Method::GET, path).header(ORIGIN, origin)).await
}

async fn preflight(kit: &Kit, origin: &str, path: &str) -> Reply {
    let api = kit.anonymous();
    let request = api.request(Method::OPTIONS, path).header(ORIGIN, origin);
    let request = request.header("Access-Control-Request-Method", "POST");
    api.send(request.header("Access-Control-Request-Headers", "authorization,content-type,idempotency-key")).await
}

/// Checks that a page of `origin` may read the answer, and that caches are told that it depends on the origin.
#[track_caller]
fn readable(reply: &Reply, origin: &str) {
    assert_eq!(reply.header("access-control-allow-origin"), Some(origin), "{}", reply.text);
    assert_eq!(reply.header("vary"), Some("Origin"));
    assert_eq!(reply.header("access-control-allow-credentials"), None, "keys are sent by script, not by the browser");
}

#[track_caller]
fn unreadable(reply: &Reply) {
    assert_eq!(reply.header("access-control-allow-origin"), None, "{}", reply.text);
}

fn words(reply: &Reply, header: &str) -> Vec<String> {
    reply.header(header).unwrap_or_default().split(',').map(|word| word.trim().to_lowercase()).collect()
}

async fn a_listed_origin_may_read_the_answer(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    allow(&kit, &project, &[SHOP, "http://localhost:3000"]).await;
    for origin in [SHOP, "http://localhost:3000"] {
        let reply = from(&project.api, origin, "/v1/balance").await;
        readable(&reply, origin);
        let exposed = words(&reply, "access-control-expose-headers");
        for header in ["x-request-id", "retry-after", "ratelimit-remaining", "idempotent-replayed"] {
            assert!(exposed.contains(&header.to_owned()), "{exposed:?}");
        }
        reply.expect(200);
    }
    let request = project.api.request(Method::POST, "/v1/payments").header(ORIGIN, SHOP);
    let request = request.header("Idempotency-Key", "k-1").json(&samples::qris(&project, 15_000));
    let reply = project.api.send(request).await;
    readable(&reply, SHOP);
    reply.expect(201);
}

async fn an_origin_that_is_not_exactly_a_listed_one_is_refused(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let rows = [
        "http://shop.example",
        "https://shop.example:8443",
        "https://shop.example:443",
        "https://shop.example/",
        "https://SHOP.example",
        "https://www.shop.example",
        "https://shop.example.evil.example",
        "https://evilshop.example",
        "https://shop.exampl",
        "shop.example",
        "null",
        "*",
        "",
        "https://shop.example, https://shop.example",
    ];
    for origins in [&[][..], &[SHOP], &[SHOP, "*"], &["https://*.example"]] {
        allow(&kit, &project, origins).await;
        for origin in rows.iter().filter(|row| !origins.contains(*row)) {
            let reply = from(&project.api, origin, "/v1/balance").await;
            unreadable(&reply);
            refused(&format!("{origin} of {origins:?}"), reply, 403, "CORS_ORIGIN_FORBIDDEN");
        }
    }
    let request = project.api.request(Method::POST, "/v1/payment-links").header(ORIGIN, "https://evil.example");
    let reply = project.api.send(request.json(&samples::link(&project, 15_000))).await;
    refused("a refused origin", reply, 403, "CORS_ORIGIN_FORBIDDEN");
    assert_eq!(total(&project.api, "/v1/payment-links").await, 0);
}

async fn a_request_without_an_origin_is_not_from_a_browser_and_gets_no_cors_headers(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    allow(&kit, &project, &[SHOP]).await;
    let reply = project.api.get("/v1/balance").await;
    unreadable(&reply);
    reply.expect(200);
}

async fn the_services_own_origin_is_always_allowed(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let own = format!("http://{}", kit.address);
    let reply = from(&project.api, &own, "/v1/balance").await;
    readable(&reply, &own);
    reply.expect(200);
    let reply = preflight(&kit, &own, "/v1/balance").await;
    readable(&reply, &own);
    assert_eq!(reply.status, 204);
    kit.on_another(base_url("https://pay.example/api/"), |kit| async move {
        let project = kit.sandbox().await;
        readable(&from(&project.api, "https://pay.example", "/v1/balance").await, "https://pay.example");
        let reply = from(&project.api, &format!("http://{}", kit.address), "/v1/balance").await;
        reply.refused(403, "CORS_ORIGIN_FORBIDDEN");
    })
    .await;
}

async fn a_listed_origin_may_read_errors_too(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    allow(&kit, &project, &[SHOP]).await;
    for (path, status, code) in [
        ("/v1/payments?page=0", 400, "VALIDATION_ERROR"),
        ("/v1/project", 403, "FORBIDDEN"),
        ("/v1/payments/junk", 404, "RESOURCE_NOT_FOUND"),
    ] {
        let reply = from(&project.api, SHOP, path).await;
        readable(&reply, SHOP);
        refused(path, reply, status, code);
    }
    let wrong_method = project.api.request(Method::PUT, "/v1/payments").header(ORIGIN, SHOP);
    let reply = project.api.send(wrong_method).await;
    readable(&reply, SHOP);
    reply.refused(405, "INVALID_REQUEST");
    set_active(&kit, &project, false).await;
    let reply = from(&project.api, SHOP, "/v1/balance").await;
    readable(&reply, SHOP);
    reply.refused(403, "PROJECT_UNAVAILABLE");
    kit.on_another(rate_limit(1), |kit| async move {
        let project = kit.sandbox().await;
        allow(&kit, &project, &[SHOP]).await;
        let mut reply = from(&project.api, SHOP, "/v1/balance").await;
        for _ in 0..50 {
            readable(&reply, SHOP);
            if reply.status == 429 {
                break;
            }
            reply = from(&project.api, SHOP, "/v1/balance").await;
        }
        reply.refused(429, "RATE_LIMITED");
    })
    .await;
}

async fn a_preflight_on_any_route_is_allowed_without_a_key_when_some_active_project_lists_the_origin(kit: Arc<Kit>) {
    let (project, _other) = (kit.sandbox().await, kit.sandbox().await);
    allow(&kit, &project, &[SHOP]).await;
    for route in routes() {
        let (_, path) = method_and_path(&route, "junk");
        let reply = preflight(&kit, SHOP, &path).await;
        assert_eq!((reply.status.as_u16(), reply.text.as_str()), (204, ""), "{route}");
        readable(&reply, SHOP);
        let methods = words(&reply, "access-control-allow-methods");
        assert!(["get", "post", "delete"].iter().all(|method| methods.contains(&(*method).to_owned())), "{methods:?}");
        let headers = words(&reply, "access-control-allow-headers");
        for header in ["authorization", "content-type", "idempotency-key"] {
            assert!(headers.contains(&header.to_owned()), "{headers:?}");
        }
    }
}

async fn a_preflight_at_an_unknown_path_is_404_whatever_its_origin(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    allow(&kit, &project, &[SHOP]).await;
    for path in ["/v1/nothing", "/v1/", "/v1/payments/", "/v1/payments/pay_1/nothing", "/v1", "/v2/payments"] {
        for origin in [SHOP, "https://evil.example"] {
            let reply = preflight(&kit, origin, path).await;
            unreadable(&reply);
            refused(path, reply, 404, "RESOURCE_NOT_FOUND");
        }
        let plain = kit.anonymous();
        refused(path, plain.send(plain.request(Method::OPTIONS, path)).await, 404, "RESOURCE_NOT_FOUND");
    }
}

async fn a_preflight_is_refused_when_no_active_project_lists_the_origin(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for origin in [SHOP, "null", "*", "", "https://evil.example"] {
        let reply = preflight(&kit, origin, "/v1/payments").await;
        unreadable(&reply);
        refused(origin, reply, 403, "CORS_ORIGIN_FORBIDDEN");
    }
    allow(&kit, &project, &[SHOP]).await;
    set_active(&kit, &project, false).await;
    preflight(&kit, SHOP, "/v1/payments").await.refused(403, "CORS_ORIGIN_FORBIDDEN");
    set_active(&kit, &project, true).await;
    assert_eq!(preflight(&kit, SHOP, "/v1/payments").await.status, 204);
    allow(&kit, &project, &[]).await;
    preflight(&kit, SHOP, "/v1/payments").await.refused(403, "CORS_ORIGIN_FORBIDDEN");
}

async fn what_a_preflight_allowed_is_still_judged_by_its_own_project(kit: Arc<Kit>) {
    let (lists, does_not) = (kit.sandbox().await, kit.sandbox().await);
    allow(&kit, &lists, &[SHOP]).await;
    assert_eq!(preflight(&kit, SHOP, "/v1/balance").await.status, 204);
    from(&lists.api, SHOP, "/v1/balance").await.expect(200);
    let reply = from(&does_not.api, SHOP, "/v1/balance").await;
    unreadable(&reply);
    reply.refused(403, "CORS_ORIGIN_FORBIDDEN");
}

async fn a_second_origin_is_refused_even_beside_an_allowed_one(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    allow(&kit, &project, &[SHOP]).await;
    let request = project.api.request(Method::GET, "/v1/balance").header(ORIGIN, SHOP);
    project.api.send(request.header(ORIGIN, "https://evil.example")).await.refused(403, "CORS_ORIGIN_FORBIDDEN");
}

/// Regression: these answers are made outside of the layer that adds the headers, and had none.
async fn an_answer_that_the_time_limit_makes_has_the_headers_of_every_answer_to_its_key(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    allow(&kit, &project, &[SHOP]).await;
    let authorization = format!("Bearer {}", project.key);
    let headers = [
        ("Authorization", authorization.as_str()),
        ("Origin", SHOP),
        ("Idempotency-Key", "k-1"),
        ("Content-Type", "application/json"),
        // The body never comes.
        ("Content-Length", "100"),
    ];
    let mut socket = Socket::connect(kit.address).await;
    socket.send(&request_bytes("POST", "/v1/payments", &headers, b"")).await;
    let reply = socket.answer().await.unwrap();
    readable(&reply, SHOP);
    has_limit(&reply, 2_000);
    assert!(reply.header("retry-after").is_some() && reply.header("x-request-id").is_some());
    reply.refused(503, "SERVICE_UNAVAILABLE");
}

/// Whether the answer to a key's first request says how much of the rate limit it has used.
#[track_caller]
fn has_limit(reply: &Reply, limit: u32) {
    assert_eq!(reply.header("ratelimit-limit"), Some(limit.to_string().as_str()));
    assert_eq!(reply.header("ratelimit-remaining"), Some((limit - 1).to_string().as_str()));
    assert!(reply.header("ratelimit-reset").is_some());
}

async fn an_answer_that_a_panic_makes_has_the_headers_of_every_answer_to_its_key(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    allow(&kit, &project, &[SHOP]).await;
    let server = FaultyServer::limited(&kit, Duration::from_secs(60), 100).await;
    let api = Api::new(server.address, Some(&project.key));
    let request = api.request(Method::POST, "/v1/payments").header(ORIGIN, SHOP).header("Idempotency-Key", "k-1");
    let reply = api.send(request.header(PANICS, "yes").json(&samples::qris(&project, 15_000))).await;
    readable(&reply, SHOP);
    has_limit(&reply, 200);
    assert!(reply.header("x-request-id").is_some());
    reply.refused(500, "INTERNAL_ERROR");
}
