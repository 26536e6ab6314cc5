//! What a dashboard session gets from the API: keys, the project's settings, and what is audited and logged about its
//! calls.

use std::{sync::Arc, time::Duration};

use domain::{
    access::Role,
    audit::{Actor, AuditLine, Deed},
    event::EventKind,
    project::Environment,
};
use engine::ProjectUpdate;
use reqwest::Method;
use serde_json::json;
use testkit::{Api, Kit, Reply, TestProject, on_sqlite_alone};

use crate::{
    api::sessions::{Session, event_of},
    support::{
        commands::program,
        customer::Customer,
        dashboard::{audit_log, sandbox_with_owner},
        people::{Person, sign_in},
        refusals::refused,
    },
};

on_sqlite_alone![
    a_key_made_by_a_session_is_shown_once_works_and_is_listed_without_its_secret,
    a_key_that_breaks_a_rule_is_not_made,
    the_project_is_shown_as_it_is_set,
    members_of_an_unavailable_project_manage_it_and_read_no_events,
    a_key_that_revokes_a_key_is_named_in_the_audit_log,
];

async fn audit(kit: &Kit, project: &TestProject, deed: Deed) -> AuditLine {
    let log = audit_log(&kit.store, Some(project.id)).await;
    log.into_iter().find(|line| line.deed == deed).unwrap()
}

async fn a_key_made_by_a_session_is_shown_once_works_and_is_listed_without_its_secret(kit: Arc<Kit>) {
    let project = sandbox_with_owner(&kit).await;
    let person = Person::member(&kit, project.id, Role::Developer, "dev@example.com").await;
    let session = Session::of(&kit, &person);
    kit.clock.advance(Duration::from_secs(1));
    let created = session.create_key("", &json!({ "name": "Kasir 1" })).await.expect(201);
    let key = created["key"].as_str().unwrap();
    let whole = json!({
        "id": created["id"], "key": key, "name": "Kasir 1", "environment": "sandbox", "key_prefix": "sk_test_",
        "project_id": project.id.to_string(), "last_four": key[42..], "created_at": kit.engine.now().to_string(),
        "rights": ["payments"], "networks": [],
    });
    assert_eq!(created, whole);
    project.api.with_key(key).get("/v1/balance").await.expect(200);
    let line = audit(&kit, &project, Deed::KeyCreated).await;
    assert!(matches!(line.actor, Actor::User { id, .. } if id == person.user.id), "{line:?}");

    kit.clock.advance(Duration::from_secs(1));
    event_of(&kit, &project).await;
    let listed = session.get("/v1/api-keys").await;
    assert!(!listed.text.contains(&key[8..40]));
    let listed = listed.expect(200);
    let names: Vec<&str> = listed["data"].as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["gone", "Kasir 1", "first"], "newest first");
    assert!(listed["data"][0]["revoked_at"].is_string() && listed["data"][1]["revoked_at"].is_null());
    let page = session.get("/v1/api-keys?page=2&page_size=2").await.expect(200);
    let pagination = json!({ "page": 2, "page_size": 2, "total_items": 3, "total_pages": 2 });
    assert_eq!((&page["data"][0]["name"], &page["pagination"]), (&json!("first"), &pagination));
    assert_eq!(session.get("/v1/api-keys?page=3&page_size=2").await.expect(200)["data"], json!([]));
    session.get("/v1/api-keys?page=0").await.refused(400, "VALIDATION_ERROR");
}

async fn a_key_that_breaks_a_rule_is_not_made(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let session = Session::member(&kit, &project, Role::Owner).await;
    let rows = [
        (json!({ "name": "first" }), 409, "CONFLICT", "name"),
        (json!({}), 400, "VALIDATION_ERROR", "`name`"),
        (json!({ "name": null }), 400, "VALIDATION_ERROR", "`name`"),
        (json!({ "name": "" }), 400, "VALIDATION_ERROR", "`name`"),
        (json!({ "name": "a\nb" }), 400, "VALIDATION_ERROR", "`name`"),
        (json!({ "name": "x".repeat(256) }), 400, "VALIDATION_ERROR", "`name`"),
        (json!({ "name": 1 }), 400, "INVALID_REQUEST", "`name`"),
        (json!(["name"]), 400, "INVALID_REQUEST", "object"),
    ];
    for (body, status, code, named) in rows {
        let message = refused(&body.to_string(), session.create_key("", &body).await, status, code);
        assert!(message.contains(named), "{message}");
    }
    let post = || session.request(Method::POST, "/v1/api-keys");
    session.send(post().header("content-type", "text/plain").body("{}")).await.refused(415, "INVALID_REQUEST");
    let reply = session.create_key("", &json!({ "Name": "x" })).await;
    assert_eq!(reply.header("x-ignored-members"), Some("Name"));
    reply.refused(400, "VALIDATION_ERROR");
    assert_eq!(kit.engine.keys(project.id).await.unwrap().len(), 1);
    let reply = session.create_key("", &json!({ "name": "x".repeat(255), "colour": "red" })).await;
    assert_eq!(reply.header("x-ignored-members"), Some("colour"));
    reply.expect(201);
}

async fn the_project_is_shown_as_it_is_set(kit: Arc<Kit>) {
    let project = sandbox_with_owner(&kit).await;
    let session = Session::member(&kit, &project, Role::Viewer).await;
    let created_at = kit.engine.project(project.id).await.unwrap().created_at.to_string();
    let shown = session.get("/v1/project").await.expect(200);
    let methods = shown["payment_methods"].as_array().unwrap();
    assert_eq!((methods.len(), &methods[0]), (14, &json!({ "type": "qris" })));
    assert!(shown["default_methods"].as_array().unwrap().iter().all(|method| methods.contains(method)));
    let whole = json!({
        "id": project.id.to_string(), "name": "Toko", "environment": "sandbox", "active": true, "approved": true,
        "success_status": "paid", "webhook_url": null, "extra_events": [],
        "merchant": { "name": "Toko Kopi", "city": "JAKARTA", "postal_code": "10110" }, "allowed_origins": [],
        "frame_origins": [], "payment_methods": methods, "default_methods": shown["default_methods"],
        "fees": { "qris_basis_points": 70, "virtual_account": 4000 }, "created_at": created_at, "role": "viewer",
    });
    assert_eq!(shown, whole);
    let update = ProjectUpdate {
        banks: Some(vec![domain::bank::Bank::Bca]),
        allowed_origins: Some(vec!["https://shop.example".to_owned()]),
        success_word: Some(domain::project::SuccessWord::Succeeded),
        extra_events: Some(vec![EventKind::PaymentExpired, EventKind::PaymentHeld]),
        frame_origins: Some(vec!["https://toko.example".to_owned(), "http://localhost:3000".to_owned()]),
        ..ProjectUpdate::default()
    };
    kit.update(project.id, update).await;
    kit.set_webhook_url(project.id, Some("http://127.0.0.1:3000/hook")).await;
    let shown = session.get("/v1/project").await.expect(200);
    let methods = json!([{ "type": "qris" }, { "type": "virtual_account", "bank": "bca" }]);
    assert_eq!((&shown["payment_methods"], &shown["default_methods"]), (&methods, &methods));
    assert_eq!(shown["allowed_origins"], json!(["https://shop.example"]));
    assert_eq!(shown["extra_events"], json!(["payment.expired", "payment.held"]));
    assert_eq!(shown["frame_origins"], json!(["https://toko.example", "http://localhost:3000"]));
    assert_eq!(
        (&shown["success_status"], &shown["webhook_url"]),
        (&json!("succeeded"), &json!("http://127.0.0.1:3000/hook"))
    );
}

async fn members_of_an_unavailable_project_manage_it_and_read_no_events(kit: Arc<Kit>) {
    let inactive = kit.sandbox().await;
    kit.update(inactive.id, ProjectUpdate { active: Some(false), ..Default::default() }).await;
    let unapproved = kit.project(Environment::Production).await;
    for project in [inactive, unapproved] {
        let session = Session::member(&kit, &project, Role::Owner).await;
        let shown = session.get("/v1/project").await.expect(200);
        assert!(shown["active"] == false || shown["approved"] == false, "{shown}");
        session.get("/v1/api-keys").await.expect(200);
        session.create_key("", &json!({ "name": "early" })).await.expect(201);
        session.get("/v1/events").await.refused(403, "PROJECT_UNAVAILABLE");
        session.get("/v1/events/junk").await.refused(403, "PROJECT_UNAVAILABLE");
    }
}

async fn a_key_that_revokes_a_key_is_named_in_the_audit_log(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    event_of(&kit, &project).await;
    assert_eq!(audit(&kit, &project, Deed::KeyRevoked).await.actor, Actor::Key(project.key_id));
}

#[tokio::test]
async fn the_log_names_the_user_of_a_session_and_their_project_and_never_the_cookie() {
    let program = program();
    let running = program.dev();
    let browser = Customer::at(running.address());
    let reply = sign_in(&browser, running.said("dashboard_email"), running.said("dashboard_password")).await;
    assert_eq!(reply.status, 303, "{}", reply.text);
    let token = browser.cookie("/", "lunas_session").unwrap();
    let session = Session { api: Api::new(running.address(), None), cookie: format!("lunas_session={token}") };
    let (shown, lost) = (session.get("/v1/project").await, session.get("/v1/project?project_id=junk").await);
    assert_eq!(shown.json["id"], running.said("project_id"));
    let line = |reply: &Reply| {
        let id = reply.header("x-request-id").unwrap();
        running.log().lines().find(|line| line.contains(id)).unwrap().to_owned()
    };
    assert!(line(&shown).contains(&format!("project_id={}", running.said("project_id"))), "{}", line(&shown));
    assert!(!line(&lost).contains("project_id="), "{}", line(&lost));
    for line in [line(&shown), line(&lost)] {
        assert!(line.contains("user_id=usr_") && !line.contains("key_id="), "{line}");
    }
    for secret in [token.as_str(), running.said("dashboard_password"), "lunas_session"] {
        assert!(!running.log().contains(secret));
    }
}
