//! `GET /v1/audit`: the audit log of a project, for its owners.

use std::{sync::Arc, time::Duration};

use domain::access::Role;
use engine::NewKey;
use serde_json::{Value, json};
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::{
    api::sessions::Session,
    support::{dashboard::sandbox_with_owner, json::with, rows::run_by_hand},
};

on_every_database![
    an_owner_reads_the_log_with_its_seals_by_page_and_filter,
    a_chain_that_cannot_be_sealed_holds_up_no_other,
];

on_sqlite_alone![nobody_but_an_owner_reads_the_log, a_wrong_filter_is_named, the_log_of_another_project_is_not_shown,];

async fn lines(session: &Session, query: &str) -> Vec<Value> {
    session.get(&format!("/v1/audit{query}")).await.expect(200)["data"].as_array().unwrap().clone()
}

/// Creates a key every five minutes.
async fn create_keys(kit: &Kit, project: &TestProject, names: &[&str]) {
    for name in names {
        kit.clock.advance(Duration::from_mins(5));
        kit.engine.create_key(project.id, NewKey::from((*name).to_owned())).await.unwrap();
    }
}

async fn an_owner_reads_the_log_with_its_seals_by_page_and_filter(kit: Arc<Kit>) {
    let project = sandbox_with_owner(&kit).await;
    let session = Session::member(&kit, &project, Role::Owner).await;
    create_keys(&kit, &project, &["one", "two"]).await;
    let unsealed = &lines(&session, "").await[0];
    assert_eq!((&unsealed["position"], &unsealed["hash"]), (&Value::Null, &Value::Null));
    while kit.engine.seal_audit().await.unwrap() > 0 {}
    let all = lines(&session, "").await;
    let newest = &all[0];
    let position = all.len();
    let whole = json!({
        "id": newest["id"], "at": kit.engine.now().to_string(), "action": "key.created", "actor": "command-line",
        "actor_email": null, "address": null, "subject": newest["subject"], "detail": "two (payments)",
        "position": position, "hash": newest["hash"],
    });
    assert_eq!(*newest, whole);
    assert_eq!(newest["hash"].as_str().unwrap().len(), 64);
    let keys = lines(&session, "?action=key.created").await;
    assert!(keys.len() < all.len() && keys.iter().all(|line| line["action"] == "key.created"));
    let page = session.get("/v1/audit?action=key.created&page=2&page_size=1").await.expect(200);
    assert_eq!(page["data"], json!([keys[1]]));
    assert_eq!(page["pagination"]["total_items"], keys.len());
    let (from, to) = (keys[1]["at"].as_str().unwrap(), newest["at"].as_str().unwrap());
    assert_eq!(lines(&session, &format!("?created_from={from}&created_to={to}")).await, [keys[1].clone()]);
    // What a user does names them.
    kit.clock.advance(Duration::from_secs(1));
    session.create_key("", &json!({ "name": "by a user" })).await.expect(201);
    let own = &lines(&session, "?action=key.created").await[0];
    assert!(own["actor"].as_str().unwrap().starts_with("usr_"), "{own}");
    assert_eq!(own["actor_email"], format!("owner@{}.example", project.id));
    assert!(own["address"].is_string());
}

async fn a_chain_that_cannot_be_sealed_holds_up_no_other(kit: Arc<Kit>) {
    let (broken, whole) = (sandbox_with_owner(&kit).await, sandbox_with_owner(&kit).await);
    let session = Session::member(&kit, &whole, Role::Owner).await;
    while kit.engine.seal_audit().await.unwrap() > 0 {}
    let move_head = |by: &str| {
        let sql = format!("UPDATE audit_heads SET length = length {by} WHERE chain = '{}'", broken.id);
        run_by_hand(&kit.database, &sql);
    };
    move_head("- 1");
    // More lines than one round reads, all of them older than the one of the other chain.
    for number in 0..120 {
        let (key, _) = kit.engine.create_key(broken.id, NewKey::from(format!("key {number}"))).await.unwrap();
        kit.engine.revoke_key(key.id, None).await.unwrap();
    }
    create_keys(&kit, &whole, &["one"]).await;
    assert_eq!(kit.engine.seal_audit().await.unwrap(), 1);
    assert!(lines(&session, "").await[0]["position"].is_i64());
    assert_eq!(kit.engine.seal_audit().await.unwrap(), 0, "the next round need not follow at once");
    move_head("+ 1");
    while kit.engine.seal_audit().await.unwrap() > 0 {}
    assert_eq!(kit.engine.verify().await.unwrap(), []);
}

async fn nobody_but_an_owner_reads_the_log(kit: Arc<Kit>) {
    let project = sandbox_with_owner(&kit).await;
    project.api.get("/v1/audit").await.refused(403, "FORBIDDEN");
    kit.anonymous().get("/v1/audit").await.refused(401, "UNAUTHORIZED");
    for role in [Role::Developer, Role::Viewer, Role::Cashier] {
        let session = Session::member(&kit, &project, role).await;
        session.get("/v1/audit").await.refused(403, "FORBIDDEN");
    }
    Session::member(&kit, &project, Role::Owner).await.get("/v1/audit").await.expect(200);
}

async fn a_wrong_filter_is_named(kit: Arc<Kit>) {
    let project = sandbox_with_owner(&kit).await;
    let session = Session::member(&kit, &project, Role::Owner).await;
    for (query, field) in [
        ("action=", "`action`"),
        ("action=key.made", "`action`"),
        ("page=0", "`page`"),
        ("created_from=yesterday", "`created_from`"),
    ] {
        let reply = session.get(&format!("/v1/audit?{query}")).await;
        let message = reply.expect(400)["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(field), "{query}: {message}");
    }
}

async fn the_log_of_another_project_is_not_shown(kit: Arc<Kit>) {
    let (project, other) = (sandbox_with_owner(&kit).await, sandbox_with_owner(&kit).await);
    let session = Session::member(&kit, &project, Role::Owner).await;
    create_keys(&kit, &other, &["elsewhere"]).await;
    let shown = with(json!({}), "data", lines(&session, "").await).to_string();
    assert!(!shown.contains("elsewhere"), "{shown}");
    session.get(&format!("/v1/audit?project_id={}", other.id)).await.refused(404, "PROJECT_NOT_FOUND");
}
