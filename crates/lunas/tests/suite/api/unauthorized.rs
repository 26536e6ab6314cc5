//! Requests with a wrong key or for another project's resources do nothing, reveal nothing and leave nothing behind.

use std::sync::Arc;

use reqwest::Method;
use testkit::{Api, Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    refusals::{Members, totals},
    samples::{link, qris},
};

on_every_database![resources_of_another_project_are_not_found];

on_sqlite_alone![
    only_a_live_key_opens_anything,
    two_authorization_headers_open_nothing,
    a_key_in_the_query_or_the_body_opens_nothing,
];

/// Each endpoint with a request that would work with the right key.
fn everything(project: &TestProject, [payment, link, event, receipt]: &[String; 4]) -> Vec<(Method, String, String)> {
    let (own_payment, own_link) = (Members::payment(project).text(), Members::link(project).text());
    let none = String::new;
    vec![
        (Method::POST, "/v1/payments".to_owned(), own_payment),
        (Method::GET, "/v1/payments".to_owned(), none()),
        (Method::GET, format!("/v1/payments/{payment}"), none()),
        (Method::POST, "/v1/payment-links".to_owned(), own_link),
        (Method::GET, "/v1/payment-links".to_owned(), none()),
        (Method::GET, format!("/v1/payment-links/{link}"), none()),
        (Method::POST, format!("/v1/payment-links/{link}/cancel"), none()),
        (Method::GET, "/v1/balance".to_owned(), none()),
        (Method::DELETE, format!("/v1/api-keys/{}", project.key_id), none()),
        (Method::GET, "/v1/api-keys".to_owned(), none()),
        (Method::POST, "/v1/api-keys".to_owned(), none()),
        (Method::GET, "/v1/project".to_owned(), none()),
        (Method::GET, "/v1/events".to_owned(), none()),
        (Method::GET, format!("/v1/events/{event}"), none()),
        (Method::GET, "/v1/receipts".to_owned(), none()),
        (Method::GET, format!("/v1/receipts/{receipt}"), none()),
        (Method::POST, format!("/v1/receipts/{receipt}/accept"), r#"{"note":"x"}"#.to_owned()),
        (Method::POST, format!("/v1/receipts/{receipt}/return"), r#"{"note":"x"}"#.to_owned()),
        (Method::POST, format!("/v1/sandbox/payments/{payment}/simulate"), Members::simulate().text()),
    ]
}

/// The ids of a pending payment, an active link, an event and held money of the project.
async fn resources(project: &TestProject) -> [String; 4] {
    let id = |made: &serde_json::Value| made["id"].as_str().unwrap().to_owned();
    let paid = id(&project.api.pay("paid", &qris(project, 15_000)).await.expect(201));
    let simulate = format!("/v1/sandbox/payments/{paid}/simulate");
    for _ in 0..2 {
        project.api.post(&simulate, &serde_json::json!({ "outcome": "paid" })).await.expect(200);
    }
    let receipts = project.api.get("/v1/receipts").await.expect(200);
    let events = project.api.get("/v1/events").await.expect(200);
    let payment = id(&project.api.pay("pending", &qris(project, 15_000)).await.expect(201));
    let link = id(&project.api.post("/v1/payment-links", &link(project, 15_000)).await.expect(201));
    [payment, link, id(&events["data"][0]), id(&receipts["data"][0])]
}

async fn send(api: &Api, authorization: Option<&str>, request: &(Method, String, String)) -> testkit::Reply {
    let (method, path, body) = request;
    let request = api.request(method.clone(), path).header("Idempotency-Key", "stranger");
    let request = request.header("Content-Type", "application/json").body(body.clone());
    let request = match authorization {
        Some(authorization) => request.header("Authorization", authorization),
        None => request,
    };
    api.send(request).await
}

async fn only_a_live_key_opens_anything(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let ids = resources(&project).await;
    let [payment, link, ..] = &ids;
    let (revoked_key, revoked) = kit.engine.create_key(project.id, "revoked".to_owned()).await.unwrap();
    kit.engine.revoke_key(revoked_key.id, None).await.unwrap();
    let before = totals(&project.api).await;
    let key = project.key.as_str();
    let flipped = if key.ends_with('0') { '1' } else { '0' };
    let wrong = [
        None,
        Some(String::new()),
        Some("Bearer".to_owned()),
        Some("Bearer ".to_owned()),
        Some("Bearer x".to_owned()),
        Some(key.to_owned()),
        Some(format!("Basic {key}")),
        Some(format!("Bearer {}", &key[..key.len() - 1])),
        Some(format!("Bearer {key}0")),
        Some(format!("Bearer {}{flipped}", &key[..key.len() - 1])),
        Some(format!("Bearer {}", key.replace("sk_test_", "sk_live_"))),
        Some(format!("Bearer {}", key.to_uppercase())),
        Some(format!("Bearer \"{key}\"")),
        Some(format!("Bearer {key} {key}")),
        Some(format!("Bearer {}", revoked.reveal())),
    ];
    for authorization in &wrong {
        for request in everything(&project, &ids) {
            let reply = send(&kit.anonymous(), authorization.as_deref(), &request).await;
            assert_eq!(reply.status, 401, "{} {}", request.0, request.1);
            assert!(!reply.text.contains(key));
            reply.refused(401, "UNAUTHORIZED");
        }
    }
    assert_eq!(totals(&project.api).await, before);
    assert_eq!(project.api.get(&format!("/v1/payments/{payment}")).await.expect(200)["status"], "pending");
    assert_eq!(project.api.get(&format!("/v1/payment-links/{link}")).await.expect(200)["status"], "active");
}

async fn two_authorization_headers_open_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let bearer = format!("Bearer {}", project.key);
    let request = project.api.request(Method::GET, "/v1/payments").header("Authorization", bearer);
    project.api.send(request).await.refused(401, "UNAUTHORIZED");
}

async fn a_key_in_the_query_or_the_body_opens_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for name in ["api_key", "key", "access_token", "Authorization"] {
        let path = format!("/v1/payments?{name}={}", project.key);
        kit.anonymous().get(&path).await.refused(401, "UNAUTHORIZED");
    }
}

async fn resources_of_another_project_are_not_found(kit: Arc<Kit>) {
    let (owner, stranger) = (kit.sandbox().await, kit.sandbox().await);
    let ids = resources(&owner).await;
    let [payment, link, ..] = &ids;
    let before = totals(&owner.api).await;
    for request in everything(&owner, &ids) {
        let reply = send(&stranger.api, None, &request).await;
        let (method, path, _) = &request;
        let (status, code) = match (method, path.as_str()) {
            (&Method::POST, "/v1/payments" | "/v1/payment-links") => (404, "PROJECT_NOT_FOUND"),
            (_, "/v1/api-keys" | "/v1/project") => (403, "FORBIDDEN"),
            (_, "/v1/payments" | "/v1/payment-links" | "/v1/balance" | "/v1/events" | "/v1/receipts") => (200, ""),
            _ => (404, "RESOURCE_NOT_FOUND"),
        };
        assert_eq!(reply.status, status, "{method} {path}: {}", reply.text);
        for own in ids.iter().chain([&owner.id.to_string(), &owner.key_id.to_string()]) {
            assert!(!reply.text.contains(own.as_str()), "{method} {path} shows {own}");
        }
        if status != 200 {
            reply.refused(status, code);
        }
    }
    assert_eq!(totals(&owner.api).await, before);
    assert_eq!(totals(&stranger.api).await, [0, 0, 0]);
    assert_eq!(owner.api.get(&format!("/v1/payments/{payment}")).await.expect(200)["status"], "pending");
    assert_eq!(owner.api.get(&format!("/v1/payment-links/{link}")).await.expect(200)["status"], "active");
}
