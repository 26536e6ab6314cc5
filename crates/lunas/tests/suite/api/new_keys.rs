//! Keys that signed-in members create by API: their rights, who may give them, their networks, and how many there may be.

use std::sync::Arc;

use domain::{access::Role, audit::Deed};
use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::{
    api::sessions::Session,
    support::{
        dashboard::{audit_log, sandbox_with_owner},
        people::Person,
        receipts::{decide, held_late},
        refusals::refused,
    },
};

on_every_database![of_many_keys_made_at_once_no_more_than_a_hundred_are_active];

on_sqlite_alone![
    a_developer_makes_no_key_that_decides_about_money,
    rights_and_networks_are_those_that_were_given_and_are_listed,
    rights_and_networks_that_break_a_rule_make_no_key,
    the_audit_log_says_what_a_new_key_may_do,
];

async fn live_keys(kit: &Kit, project: &TestProject) -> usize {
    kit.engine.keys(project.id).await.unwrap().iter().filter(|key| key.revoked_at.is_none()).count()
}

/// Before keys had rights, a developer who may not decide about held money created a key and decided with it.
async fn a_developer_makes_no_key_that_decides_about_money(kit: Arc<Kit>) {
    let project = sandbox_with_owner(&kit).await;
    let (_, held) = held_late(&kit, &project).await;
    let session = Session::member(&kit, &project, Role::Developer).await;
    let path = format!("/v1/receipts/{}/return", held["id"].as_str().unwrap());
    let own = session.request(reqwest::Method::POST, &path).json(&json!({ "note": "x" }));
    session.send(own).await.refused(403, "FORBIDDEN");
    for rights in [json!(["held-money"]), json!(["refunds"]), json!(["payments", "held-money"])] {
        let reply = session.create_key("", &json!({ "name": "mine", "rights": rights })).await;
        let message = refused(&rights.to_string(), reply, 403, "FORBIDDEN");
        assert_eq!(message, "only owners of the project may create keys with a right over money");
        // Whether the member may do it is said before what is wrong with the rest.
        let reply = session.create_key("", &json!({ "name": "", "rights": rights, "networks": ["x"] })).await;
        refused("broken", reply, 403, "FORBIDDEN");
    }
    assert_eq!(live_keys(&kit, &project).await, 1);
    for body in [json!({ "name": "usual" }), json!({ "name": "payments", "rights": ["payments"] })] {
        let created = session.create_key("", &body).await.expect(201);
        let api = project.api.with_key(created["key"].as_str().unwrap());
        api.post(&path, &json!({ "note": "x" })).await.refused(403, "FORBIDDEN");
    }
    // An owner's key decides.
    let owner = Session::member(&kit, &project, Role::Owner).await;
    let created = owner.create_key("", &json!({ "name": "money", "rights": ["held-money"] })).await.expect(201);
    let api = project.api.with_key(created["key"].as_str().unwrap());
    decide(&TestProject { api, ..project }, &held, "return", &json!({ "note": "x" })).await.expect(200);
}

async fn rights_and_networks_are_those_that_were_given_and_are_listed(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let session = Session::member(&kit, &project, Role::Owner).await;
    let rows = [
        (json!({}), json!(["payments"]), json!([])),
        (json!({ "rights": null, "networks": null }), json!(["payments"]), json!([])),
        (json!({ "rights": [], "networks": [] }), json!([]), json!([])),
        (json!({ "rights": ["held-money", "payments", "payments"] }), json!(["payments", "held-money"]), json!([])),
        (
            json!({ "rights": ["held-money"], "networks": ["203.0.113.7", "10.0.0.0/8", "203.0.113.7/32", "2001:DB8::/32"] }),
            json!(["held-money"]),
            json!(["203.0.113.7/32", "10.0.0.0/8", "2001:db8::/32"]),
        ),
    ];
    for (index, (body, rights, networks)) in rows.into_iter().enumerate() {
        let mut body = body;
        body["name"] = json!(format!("key {index}"));
        let created = session.create_key("", &body).await.expect(201);
        let listed = session.get("/v1/api-keys").await.expect(200);
        let listed = listed["data"].as_array().unwrap().iter().find(|key| key["id"] == created["id"]).unwrap();
        for shown in [&created, listed] {
            assert_eq!((&shown["rights"], &shown["networks"]), (&rights, &networks), "{body}");
        }
    }
}

async fn rights_and_networks_that_break_a_rule_make_no_key(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let session = Session::member(&kit, &project, Role::Owner).await;
    let many: Vec<String> = (0..21).map(|number| format!("10.0.0.{number}")).collect();
    let network = "must be an address or a network, such as 203.0.113.7 or 203.0.113.0/24";
    let rows: [(Value, &str, String); 13] = [
        (json!({ "rights": ["payouts"] }), "VALIDATION_ERROR", right_rule(0)),
        (json!({ "rights": ["payments", "Payments"] }), "VALIDATION_ERROR", right_rule(1)),
        (json!({ "rights": [""] }), "VALIDATION_ERROR", right_rule(0)),
        (
            json!({ "rights": "payments" }),
            "INVALID_REQUEST",
            "`rights` must be an array of strings, not a string".into(),
        ),
        (json!({ "rights": [1] }), "INVALID_REQUEST", "`rights[0]` must be a string, not a number".into()),
        (json!({ "networks": ["shop.example"] }), "VALIDATION_ERROR", format!("`networks[0]` {network}")),
        (json!({ "networks": ["10.0.0.1", ""] }), "VALIDATION_ERROR", format!("`networks[1]` {network}")),
        (json!({ "networks": ["10.0.0.0/33"] }), "VALIDATION_ERROR", format!("`networks[0]` {network}")),
        (
            json!({ "networks": ["10.0.0.5/8"] }),
            "VALIDATION_ERROR",
            "`networks[0]` must be a whole network, such as 10.0.0.0/8, or one address".into(),
        ),
        (
            json!({ "networks": ["::ffff:10.0.0.1"] }),
            "VALIDATION_ERROR",
            "`networks[0]` must be written as IPv4".into(),
        ),
        (json!({ "networks": many }), "VALIDATION_ERROR", "`networks` must have at most 20 entries".into()),
        (json!({ "networks": {} }), "INVALID_REQUEST", "`networks` must be an array of strings, not an object".into()),
        (json!({ "networks": [null] }), "INVALID_REQUEST", "`networks[0]` must be a string, not null".into()),
    ];
    for (mut body, code, message) in rows {
        body["name"] = json!("mine");
        assert_eq!(refused(&body.to_string(), session.create_key("", &body).await, 400, code), message);
    }
    assert_eq!(live_keys(&kit, &project).await, 1);
    session.create_key("", &json!({ "name": "mine", "networks": many[..20] })).await.expect(201);
}

fn right_rule(index: usize) -> String {
    format!("`rights[{index}]` must be one of `payments`, `held-money`, `refunds`")
}

async fn of_many_keys_made_at_once_no_more_than_a_hundred_are_active(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let session = Session::member(&kit, &project, Role::Owner).await;
    for number in 2..=97 {
        kit.engine.create_key(project.id, format!("key {number}")).await.unwrap();
    }
    let bodies: Vec<Value> = (0..12).map(|number| json!({ "name": format!("racing {number}") })).collect();
    let replies = join_all(bodies.iter().map(|body| session.create_key("", body))).await;
    let (made, refusals): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 201);
    assert_eq!((made.len(), refusals.len()), (3, 9));
    for reply in refusals {
        let message = refused("one too many", reply, 409, "CONFLICT");
        assert_eq!(message, "there are 100 active keys already, and no more are taken");
    }
    assert_eq!(live_keys(&kit, &project).await, 100);
    // A revoked key makes room.
    let gone = made[0].json["id"].as_str().unwrap();
    project.api.delete(&format!("/v1/api-keys/{gone}")).await.expect(200);
    session.create_key("", &json!({ "name": "after" })).await.expect(201);
    assert_eq!(live_keys(&kit, &project).await, 100);
}

async fn the_audit_log_says_what_a_new_key_may_do(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    let session = Session::of(&kit, &person);
    for body in [
        json!({ "name": "Baca", "rights": [] }),
        json!({ "name": "Kasir (1)", "rights": ["payments", "held-money"], "networks": ["203.0.113.0/24", "10.0.0.1"] }),
    ] {
        session.create_key("", &body).await.expect(201);
    }
    let lines = audit_log(&kit.store, Some(project.id)).await;
    let mut details: Vec<&str> =
        lines.iter().filter(|line| line.deed == Deed::KeyCreated).map(|line| line.detail.as_str()).collect();
    details.sort_unstable();
    let wanted = [
        "Baca (read only)",
        "Kasir (1) (payments, held-money; 203.0.113.0/24, 10.0.0.1/32)",
        "first (payments, held-money, refunds)",
    ];
    assert_eq!(details, wanted);
    let page = person.open(&format!("/dashboard/{}/audit", project.id)).await;
    for part in ["Kasir (1) (Pembayaran, Uang yang belum cocok; 203.0.113.0/24, 10.0.0.1/32)", "Baca (Hanya membaca)"] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
}
