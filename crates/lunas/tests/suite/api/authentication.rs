//! Which keys are let in, and where (docs/contract.md §5 and decisions §7).

use std::sync::Arc;

use domain::{api_key::KeySecret, project::Environment};
use engine::ProjectUpdate;
use reqwest::{
    Method,
    header::{AUTHORIZATION, HeaderValue},
};
use testkit::{Api, Kit, Reply, on_every_database, on_sqlite_alone};

use crate::support::{
    json::id,
    nodes::Node,
    refusals::refused,
    routes::{altered, method_and_path, routes},
    samples,
};

on_every_database![
    when_keys_cannot_be_looked_up_authentication_is_unavailable_and_nobody_is_let_in,
    when_nothing_can_be_written_the_service_is_unavailable_and_reads_go_on,
];

on_sqlite_alone![
    every_route_demands_a_key,
    every_route_refuses_a_revoked_key,
    a_key_that_is_not_exactly_a_live_one_is_refused_and_never_repeated_back,
    an_authorization_header_of_another_form_is_refused,
    the_scheme_is_read_in_any_case,
    a_key_anywhere_but_in_its_one_header_is_not_read,
    a_key_opens_its_own_project_and_no_other,
    an_unavailable_project_is_refused_on_every_route_but_revocation_until_it_is_available,
];

const UNKNOWN: &str = "pay_01kzdq3f5ve8x9m2r7t4w6y8za";

/// `GET /v1/balance` with just this header.
async fn with_header(kit: &Kit, value: impl AsRef<[u8]>) -> Reply {
    let api = kit.anonymous();
    let value = HeaderValue::from_bytes(value.as_ref()).unwrap();
    api.send(api.request(Method::GET, "/v1/balance").header(AUTHORIZATION, value)).await
}

async fn every_route_demands_a_key(kit: Arc<Kit>) {
    let anonymous = kit.anonymous();
    for route in routes() {
        let (method, path) = method_and_path(&route, UNKNOWN);
        refused(&route, anonymous.send(anonymous.request(method, &path)).await, 401, "UNAUTHORIZED");
    }
}

async fn every_route_refuses_a_revoked_key(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    project.api.delete(&format!("/v1/api-keys/{}", project.key_id)).await.expect(200);
    for route in routes() {
        let (method, path) = method_and_path(&route, UNKNOWN);
        refused(&route, project.api.send(project.api.request(method, &path)).await, 401, "UNAUTHORIZED");
    }
}

async fn a_key_that_is_not_exactly_a_live_one_is_refused_and_never_repeated_back(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let key = project.key.as_str();
    let swapped = key.replace("sk_test_", "sk_live_");
    let middle = format!("{}{}{}", &key[..20], if &key[20..21] == "a" { "b" } else { "a" }, &key[21..]);
    let mut next = 0;
    let mut draw = || {
        next += 1;
        next
    };
    let strangers = [
        KeySecret::make(Environment::Sandbox, &mut draw).reveal().to_owned(),
        KeySecret::make(Environment::Production, &mut draw).reveal().to_owned(),
    ];
    let rows = [
        ("junk", "junk".to_owned()),
        ("the prefix alone", key[..8].to_owned()),
        ("truncated", key[..key.len() - 1].to_owned()),
        ("without its check characters", key[..40].to_owned()),
        ("without its prefix", key[8..].to_owned()),
        ("extended", format!("{key}0")),
        ("swapped prefix", swapped),
        ("altered check character", altered(key)),
        ("altered in the middle", middle),
        ("lower case", key.to_lowercase()),
        ("upper case", key.to_uppercase()),
        ("twice", format!("{key}{key}")),
        ("twice, apart", format!("{key} {key}")),
        ("a list", format!("{key}, {key}")),
        ("quoted", format!("\"{key}\"")),
        ("unknown to us", strangers[0].clone()),
        ("unknown to us, production", strangers[1].clone()),
        ("very long", "x".repeat(4_000)),
    ];
    for (row, wrong) in rows {
        let reply = with_header(&kit, format!("Bearer {wrong}")).await;
        assert!(!reply.text.contains(key) && !reply.text.contains(&wrong), "{row}");
        refused(row, reply, 401, "UNAUTHORIZED");
    }
    project.api.get("/v1/balance").await.expect(200);
}

async fn an_authorization_header_of_another_form_is_refused(kit: Arc<Kit>) {
    let key = kit.sandbox().await.key;
    let rows = [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        key.clone(),
        format!("Bearer{key}"),
        format!("Bearer:{key}"),
        format!("Basic {key}"),
        format!("Token {key}"),
        format!("Bearer Bearer {key}"),
        format!("Bearer é{key}"),
    ];
    for value in rows {
        refused(value.split(&key).next().unwrap_or_default(), with_header(&kit, &value).await, 401, "UNAUTHORIZED");
    }
    refused("not text", with_header(&kit, b"Bearer \xff\xfe").await, 401, "UNAUTHORIZED");
}

async fn the_scheme_is_read_in_any_case(kit: Arc<Kit>) {
    let key = kit.sandbox().await.key;
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"] {
        with_header(&kit, format!("{scheme} {key}")).await.expect(200);
    }
}

async fn a_key_anywhere_but_in_its_one_header_is_not_read(kit: Arc<Kit>) {
    let key = kit.sandbox().await.key;
    let api = kit.anonymous();
    for query in ["api_key", "key", "access_token", "token", "Authorization"] {
        let reply = api.get(&format!("/v1/balance?{query}={key}")).await;
        refused(query, reply, 401, "UNAUTHORIZED");
    }
    for header in ["X-Api-Key", "Api-Key", "Proxy-Authorization", "Cookie", "X-Authorization"] {
        let request = api.request(Method::GET, "/v1/balance").header(header, format!("Bearer {key}"));
        refused(header, api.send(request).await, 401, "UNAUTHORIZED");
    }
    let basic = api.request(Method::GET, "/v1/balance").basic_auth(&key, None::<&str>);
    refused("basic", api.send(basic).await, 401, "UNAUTHORIZED");
    let value = format!("Bearer {key}");
    let twice = api.request(Method::GET, "/v1/balance").header(AUTHORIZATION, &value).header(AUTHORIZATION, &value);
    refused("sent twice", api.send(twice).await, 401, "UNAUTHORIZED");
}

async fn a_key_opens_its_own_project_and_no_other(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.production().await);
    for project_id in [other.id.to_string(), "prj_unknown".to_owned(), project.id.to_string().to_uppercase()] {
        for path in ["/v1/payments", "/v1/payment-links"] {
            let mut body = samples::qris(&project, 15_000);
            body["title"] = "Kopi".into();
            body["project_id"] = project_id.clone().into();
            let request = project.api.request(Method::POST, path).header("Idempotency-Key", "k-1").json(&body);
            refused(path, project.api.send(request).await, 404, "PROJECT_NOT_FOUND");
        }
    }
    for project in [&project, &other] {
        for path in ["/v1/payments", "/v1/payment-links"] {
            assert_eq!(project.api.get(path).await.expect(200)["pagination"]["total_items"], 0);
        }
    }
    let payment = project.api.pay("k-1", &samples::qris(&project, 15_000)).await.expect(201);
    other.api.get(&format!("/v1/payments/{}", id(&payment))).await.refused(404, "RESOURCE_NOT_FOUND");
}

async fn an_unavailable_project_is_refused_on_every_route_but_revocation_until_it_is_available(kit: Arc<Kit>) {
    let (sandbox, production) = (kit.sandbox().await, kit.project(Environment::Production).await);
    let set = |active, approved| ProjectUpdate { active, approved, ..Default::default() };
    kit.update(sandbox.id, set(Some(false), None)).await;
    for (project, is_sandbox) in [(&sandbox, true), (&production, false)] {
        for route in routes() {
            let (method, path) = method_and_path(&route, UNKNOWN);
            let reply = project.api.send(project.api.request(method, &path)).await;
            let (status, code) = match route.as_str() {
                "DELETE /v1/api-keys/{id}" => (404, "RESOURCE_NOT_FOUND"),
                "GET /v1/api-keys" | "POST /v1/api-keys" | "GET /v1/audit" | "GET /v1/project" => (403, "FORBIDDEN"),
                simulate if simulate.contains("/sandbox/") && !is_sandbox => (403, "FORBIDDEN"),
                _ => (403, "PROJECT_UNAVAILABLE"),
            };
            refused(&route, reply, status, code);
        }
    }
    kit.update(sandbox.id, set(Some(true), None)).await;
    kit.update(production.id, set(None, Some(true))).await;
    sandbox.api.get("/v1/balance").await.expect(200);
    production.api.get("/v1/balance").await.expect(200);
    // Approval alone does not make an inactive project available.
    kit.update(production.id, set(Some(false), Some(true))).await;
    production.api.get("/v1/balance").await.refused(403, "PROJECT_UNAVAILABLE");
}

async fn when_keys_cannot_be_looked_up_authentication_is_unavailable_and_nobody_is_let_in(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    // A node that has no read connection yet, and whose database becomes unreachable before it opens one.
    let node = Node::beside(&kit).await;
    kit.database.take_away();
    let api = Api::new(node.address, Some(&project.key));
    for route in routes() {
        let (method, path) = method_and_path(&route, UNKNOWN);
        let reply = api.send(api.request(method, &path)).await;
        assert_eq!(reply.header("retry-after"), Some("1"), "{route}");
        let message = refused(&route, reply, 503, "AUTH_UNAVAILABLE");
        assert!(!message.contains("lunas.db") && !message.to_lowercase().contains("sql"), "{message}");
    }
    // A malformed key is refused without a look-up.
    api.with_key(&altered(&project.key)).get("/v1/balance").await.refused(401, "UNAUTHORIZED");
    api.get("/readyz").await.refused(503, "SERVICE_UNAVAILABLE");
    kit.database.bring_back();
    api.get("/v1/balance").await.expect(200);
    node.stop().await;
}

async fn when_nothing_can_be_written_the_service_is_unavailable_and_reads_go_on(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = project.api.post("/v1/payment-links", &samples::link(&project, 15_000)).await.expect(201);
    kit.store.close().await;
    let replies = [
        project.api.pay("k-1", &samples::qris(&project, 15_000)).await,
        project.api.post("/v1/payment-links", &samples::link(&project, 15_000)).await,
        project.api.post(&format!("/v1/payment-links/{}/cancel", id(&link)), &serde_json::json!({})).await,
        project.api.delete(&format!("/v1/api-keys/{}", project.key_id)).await,
    ];
    for reply in replies {
        assert_eq!(reply.header("retry-after"), Some("1"));
        reply.refused(503, "SERVICE_UNAVAILABLE");
    }
    assert_eq!(project.api.get("/v1/payments").await.expect(200)["pagination"]["total_items"], 0);
    assert_eq!(project.api.get("/v1/payment-links").await.expect(200)["data"][0]["status"], "active");
}
