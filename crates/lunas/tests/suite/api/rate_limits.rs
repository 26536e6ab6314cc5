//! Rate limits of keys and of addresses that fail to authenticate (docs/contract.md §8 and decisions §2).
//!
//! Limits go by real time. So no test expects a limit at an exact request beyond the burst, only within a number of
//! requests that no machine can send in the time in which so many are allowed.

use std::{sync::Arc, time::Duration};

use engine::{PaymentFilter, ProjectUpdate, Window};
use reqwest::{
    Method,
    header::{CONTENT_TYPE, ORIGIN},
};
use testkit::{Api, Kit, Reply, on_sqlite_alone};

use crate::support::{
    json::id,
    options::{rate_limit, trusted_proxy_and_rate_limit},
    refusals::refused,
    routes::altered,
    samples,
    wait::PATIENCE,
};

on_sqlite_alone![
    a_key_has_a_burst_of_twice_its_rate_and_is_refused_then with rate_limit(3),
    a_refused_key_is_served_again_after_a_while with rate_limit(1),
    each_key_is_counted_by_itself with rate_limit(1),
    a_refused_request_does_nothing with rate_limit(1),
    every_answer_to_a_key_carries_its_rate_limit_headers with rate_limit(1_000),
    an_address_may_fail_to_authenticate_60_times_and_is_refused_then_while_valid_keys_still_work with rate_limit(100),
    a_rate_of_0_lifts_every_limit,
    a_proxys_clients_are_told_apart_only_when_the_proxy_is_trusted with trusted_proxy_and_rate_limit(100),
    clients_whose_proxy_adds_ports_are_told_apart_by_their_addresses with trusted_proxy_and_rate_limit(100),
];

/// Far more requests than the limit allows in the time in which they are answered.
const MANY: usize = 200;

/// Sends requests until one is rate limited; returns how many were served before, and the refusal.
async fn until_limited(api: &Api) -> (usize, Reply) {
    for served in 0..MANY {
        let reply = api.get("/v1/balance").await;
        if reply.status == 429 {
            return (served, reply);
        }
        reply.expect(200);
    }
    panic!("{MANY} requests were served");
}

async fn failed_login(api: &Api, forwarded_for: Option<&str>) -> Reply {
    let request = api.request(Method::GET, "/v1/balance").bearer_auth("junk");
    api.send(forwarded_for.into_iter().fold(request, |request, value| request.header("X-Forwarded-For", value))).await
}

/// Fails to authenticate until rate limited; returns how many failures came before.
async fn failures_until_limited(api: &Api, forwarded_for: Option<&str>) -> usize {
    for failures in 0..MANY {
        let reply = failed_login(api, forwarded_for).await;
        if reply.status == 429 {
            let retry_after: u64 = reply.header("retry-after").unwrap().parse().unwrap();
            assert!((1..=60).contains(&retry_after), "{retry_after}");
            reply.refused(429, "RATE_LIMITED");
            return failures;
        }
        reply.refused(401, "UNAUTHORIZED");
    }
    panic!("{MANY} failures were answered");
}

#[track_caller]
fn number(row: &str, reply: &Reply, header: &str) -> u64 {
    let value = reply.header(header).unwrap_or_else(|| panic!("{row} has no {header}"));
    value.parse().unwrap_or_else(|_| panic!("{row}: {header} is {value}"))
}

async fn a_key_has_a_burst_of_twice_its_rate_and_is_refused_then(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let first = project.api.get("/v1/balance").await;
    assert_eq!(number("first", &first, "ratelimit-limit"), 6);
    assert_eq!(number("first", &first, "ratelimit-remaining"), 5);
    let (served, reply) = until_limited(&project.api).await;
    assert!(served >= 5, "only {served} more of the burst of 6 were served");
    assert_eq!(number("refused", &reply, "ratelimit-limit"), 6);
    assert_eq!(number("refused", &reply, "ratelimit-remaining"), 0);
    assert_eq!(number("refused", &reply, "ratelimit-reset"), 2);
    assert_eq!(number("refused", &reply, "retry-after"), 1);
    reply.refused(429, "RATE_LIMITED");
}

async fn a_refused_key_is_served_again_after_a_while(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    until_limited(&project.api).await;
    let served_again = async { while project.api.get("/v1/balance").await.status != 200 {} };
    tokio::time::timeout(PATIENCE, served_again).await.unwrap();
}

async fn each_key_is_counted_by_itself(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let (_, second) = kit.engine.create_key(project.id, "second".to_owned()).await.unwrap();
    until_limited(&project.api).await;
    for api in [project.api.with_key(second.reveal()), other.api.clone()] {
        let reply = api.get("/v1/balance").await;
        assert_eq!(number("another key", &reply, "ratelimit-remaining"), 1);
        reply.expect(200);
    }
}

async fn a_refused_request_does_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut made = 0;
    for index in 0..MANY {
        let reply = project.api.pay(&format!("k-{index}"), &samples::qris(&project, 15_000)).await;
        match reply.status.as_u16() {
            201 => made += 1,
            _ => {
                reply.refused(429, "RATE_LIMITED");
                break;
            }
        }
    }
    let window = Window { offset: 0, limit: 1 };
    let listed = kit.engine.payments(project.id, &PaymentFilter::default(), window).await.unwrap();
    assert!(made < MANY);
    assert_eq!(usize::try_from(listed.total).unwrap(), made);
}

/// Checks an answer with that status to a key that may send 1,000 requests a second.
#[track_caller]
fn has_rate_limit_headers(status: u16, reply: &Reply) {
    let row = format!("{status} {}", reply.json["error"]["code"]);
    assert_eq!(reply.status.as_u16(), status, "{}", reply.text);
    assert_eq!(number(&row, reply, "ratelimit-limit"), 2_000);
    assert!(number(&row, reply, "ratelimit-remaining") < 2_000);
    assert!(number(&row, reply, "ratelimit-reset") <= 2);
    assert_eq!(reply.headers.contains_key("retry-after"), status == 503, "{row}");
}

async fn every_answer_to_a_key_carries_its_rate_limit_headers(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let api = &project.api;
    let post = || api.request(Method::POST, "/v1/payments").header("Idempotency-Key", "k-1");
    let payment = api.pay("k-1", &samples::qris(&project, 15_000)).await;
    let pay = format!("/v1/sandbox/payments/{}/simulate", id(&payment.json));
    api.post(&pay, &serde_json::json!({ "outcome": "paid" })).await.expect(200);
    let mut replies = vec![
        (201, payment),
        (200, api.get("/v1/payments").await),
        (200, api.pay("k-1", &samples::qris(&project, 15_000)).await),
        (400, api.post("/v1/payments", &samples::qris(&project, 15_000)).await),
        (400, api.send(post().header(CONTENT_TYPE, "application/json").body("[")).await),
        (400, api.get("/v1/balance?at=x").await),
        (403, api.get("/v1/project").await),
        (403, api.send(api.request(Method::GET, "/v1/balance").header(ORIGIN, "https://a.example")).await),
        (404, api.get("/v1/payments/junk").await),
        (405, api.send(api.request(Method::PUT, "/v1/payments")).await),
        (409, api.pay("k-1", &samples::qris(&project, 15_001)).await),
        (409, api.post(&pay, &serde_json::json!({ "outcome": "failed" })).await),
        (413, api.send(post().header(CONTENT_TYPE, "application/json").body(" ".repeat(65_537))).await),
        (415, api.send(post().header(CONTENT_TYPE, "text/plain").body("{}")).await),
    ];
    let production = kit.production().await;
    replies.push((503, production.api.pay("k-1", &samples::qris(&production, 15_000)).await));
    kit.update(project.id, ProjectUpdate { active: Some(false), ..Default::default() }).await;
    replies.push((403, api.get("/v1/balance").await));
    for (status, reply) in replies {
        has_rate_limit_headers(status, &reply);
    }
}

async fn an_address_may_fail_to_authenticate_60_times_and_is_refused_then_while_valid_keys_still_work(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let anonymous = kit.anonymous();
    let failures = failures_until_limited(&anonymous, None).await;
    assert!((60..MANY).contains(&failures), "{failures}");
    // Every kind of failure counts, so each is refused now: no header, an altered key, a key unknown to us.
    let wrong = [anonymous.clone(), anonymous.with_key(&altered(&project.key))];
    for api in wrong {
        let refused_now = async { while api.get("/v1/balance").await.status != 429 {} };
        tokio::time::timeout(PATIENCE, refused_now).await.unwrap();
    }
    project.api.get("/v1/balance").await.expect(200);
    refused("an unknown path", anonymous.get("/v1/nothing").await, 404, "RESOURCE_NOT_FOUND");
}

async fn a_proxys_clients_are_told_apart_only_when_the_proxy_is_trusted(kit: Arc<Kit>) {
    let anonymous = kit.anonymous();
    assert!(failures_until_limited(&anonymous, Some("203.0.113.7")).await >= 60);
    failed_login(&anonymous, Some("203.0.113.8")).await.refused(401, "UNAUTHORIZED");
    // Addresses that a client writes before its own change nothing.
    let forged = async { while failed_login(&anonymous, Some("203.0.113.9, 203.0.113.7")).await.status != 429 {} };
    tokio::time::timeout(PATIENCE, forged).await.unwrap();
    kit.on_another(rate_limit(100), |kit| async move {
        let anonymous = kit.anonymous();
        assert!(failures_until_limited(&anonymous, Some("203.0.113.7")).await >= 60);
        let another = async { while failed_login(&anonymous, Some("203.0.113.8")).await.status != 429 {} };
        tokio::time::timeout(Duration::from_secs(5), another).await.unwrap();
    })
    .await;
}

async fn a_rate_of_0_lifts_every_limit(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for _ in 0..250 {
        project.api.get("/v1/balance").await.expect(200);
    }
    for _ in 0..70 {
        failed_login(&kit.anonymous(), None).await.refused(401, "UNAUTHORIZED");
    }
}

async fn clients_whose_proxy_adds_ports_are_told_apart_by_their_addresses(kit: Arc<Kit>) {
    let api = kit.anonymous();
    let mut statuses = Vec::new();
    for port in 1_000..1_000 + MANY {
        let status = failed_login(&api, Some(&format!("203.0.113.5:{port}"))).await.status.as_u16();
        statuses.push(status);
        if status == 429 {
            break;
        }
    }
    assert_eq!(statuses.last(), Some(&429), "one address, whatever its port");
    for other in ["203.0.113.6:1000", "[2001:db8:5::1]:443", "[2001:db8:6::1]", "2001:db8:7::1"] {
        failed_login(&api, Some(other)).await.refused(401, "UNAUTHORIZED");
    }
    failed_login(&api, Some("203.0.113.5")).await.refused(429, "RATE_LIMITED");
}
