//! API keys and their revocation (docs/contract.md §4.9, §5, §6.3 and decisions §7).

use std::{sync::Arc, time::Duration};

use reqwest::{Method, header::CONTENT_TYPE};
use serde_json::json;
use sha2::{Digest, Sha256};
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{json::id, nodes::Node, payments::total, refusals::refused};

on_every_database![
    revoking_a_second_time_answers_the_same_and_makes_no_second_event,
    many_revocations_at_once_make_one_event_and_one_answer,
    once_a_revocation_is_answered_no_node_accepts_the_key,
    a_key_has_a_name_of_its_own_within_its_project_until_it_is_revoked,
];

on_sqlite_alone![
    a_key_is_its_prefix_and_32_random_characters_and_a_checksum_over_both,
    a_key_is_kept_as_its_sha_256_and_last_four_characters_only,
    revoking_a_key_answers_with_the_revoked_key_and_ends_it_at_once,
    a_key_may_revoke_itself_and_is_refused_from_then_on,
    an_unknown_key_and_another_projects_key_are_not_found,
    an_unavailable_project_may_still_revoke_its_keys,
    delete_ignores_any_body_and_content_type,
    reading_and_making_keys_and_the_project_are_for_the_dashboard,
];

/// A second key of the project: its id and its text.
async fn second_key(kit: &Kit, project: &TestProject, name: &str) -> (String, String) {
    let (key, secret) = kit.engine.create_key(project.id, name.to_owned()).await.unwrap();
    (key.id.to_string(), secret.reveal().to_owned())
}

fn path(id: &str) -> String {
    format!("/v1/api-keys/{id}")
}

/// CRC-32 bit by bit, as in zip and Ethernet: written here so that it shares no code with what it checks.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}

fn base62(mut number: u32) -> String {
    let alphabet: Vec<char> = ('0'..='9').chain('A'..='Z').chain('a'..='z').collect();
    let mut digits = vec!['0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = alphabet[(number % 62) as usize];
        number /= 62;
    }
    digits.into_iter().collect()
}

async fn a_key_is_its_prefix_and_32_random_characters_and_a_checksum_over_both(kit: Arc<Kit>) {
    assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    for (project, prefix) in [(kit.sandbox().await, "sk_test_"), (kit.production().await, "sk_live_")] {
        let (_, other) = second_key(&kit, &project, "second").await;
        assert_ne!(project.key, other);
        for key in [&project.key, &other] {
            let random = key.strip_prefix(prefix).unwrap();
            assert_eq!(random.len(), 38);
            assert!(random.bytes().all(|byte| byte.is_ascii_alphanumeric()));
            let (signed, check) = key.split_at(40);
            assert_eq!(check, base62(crc32(signed.as_bytes())));
        }
    }
}

async fn a_key_is_kept_as_its_sha_256_and_last_four_characters_only(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let kept = kit.engine.keys(project.id).await.unwrap();
    assert_eq!(kept[0].last_four, project.key[42..]);
    let stored = kit.database.stored();
    let holds = |bytes: &[u8]| stored.windows(bytes.len()).any(|window| window == bytes);
    let hash = Sha256::digest(project.key.as_bytes());
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(holds(&hash) || holds(hex.as_bytes()));
    assert!(!holds(&project.key.as_bytes()[8..24]), "part of a key is in the database");
    assert!(!holds(&project.key.as_bytes()[24..40]), "part of a key is in the database");
}

async fn revoking_a_key_answers_with_the_revoked_key_and_ends_it_at_once(kit: Arc<Kit>) {
    for (project, environment, prefix) in
        [(kit.sandbox().await, "sandbox", "sk_test_"), (kit.production().await, "production", "sk_live_")]
    {
        let (spare, secret) = second_key(&kit, &project, "Kasir depan").await;
        let spare_api = project.api.with_key(&secret);
        spare_api.get("/v1/balance").await.expect(200);
        let revoked = project.api.delete(&path(&spare)).await.expect(200);
        let wanted = json!({
            "id": spare, "name": "Kasir depan", "environment": environment,
            "project_id": project.id.to_string(), "key_prefix": prefix,
            "revoked_at": kit.engine.now().to_string(),
        });
        assert_eq!(revoked, wanted);
        spare_api.get("/v1/balance").await.refused(401, "UNAUTHORIZED");
        project.api.get("/v1/balance").await.expect(200);
    }
}

async fn revoking_a_second_time_answers_the_same_and_makes_no_second_event(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (spare, _) = second_key(&kit, &project, "spare").await;
    let first = project.api.delete(&path(&spare)).await.expect(200);
    kit.clock.advance(Duration::from_hours(1));
    assert_eq!(project.api.delete(&path(&spare)).await.expect(200), first);
    assert_eq!(total(&project.api, "/v1/events").await, 1);
}

async fn many_revocations_at_once_make_one_event_and_one_answer(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (spare, _) = second_key(&kit, &project, "spare").await;
    let sent: Vec<_> = (0..8)
        .map(|_| {
            let (api, path) = (project.api.clone(), path(&spare));
            tokio::spawn(async move { api.delete(&path).await })
        })
        .collect();
    let mut answers = Vec::new();
    for reply in sent {
        answers.push(reply.await.unwrap().expect(200));
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(total(&project.api, "/v1/events").await, 1);
}

async fn a_key_may_revoke_itself_and_is_refused_from_then_on(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let revoked = project.api.delete(&path(&project.key_id.to_string())).await.expect(200);
    assert_eq!(id(&revoked), project.key_id.to_string());
    project.api.delete(&path(&project.key_id.to_string())).await.refused(401, "UNAUTHORIZED");
    project.api.get("/v1/balance").await.refused(401, "UNAUTHORIZED");
    let (_, next) = second_key(&kit, &project, "next").await;
    let listed = project.api.with_key(&next).get("/v1/events").await.expect(200);
    assert_eq!(listed["data"][0]["data"], revoked);
}

/// No cache may break this rule: the other node used the key a moment ago.
async fn once_a_revocation_is_answered_no_node_accepts_the_key(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let node = Node::beside(&kit).await;
    let (spare, secret) = second_key(&kit, &project, "spare").await;
    let there = testkit::Api::new(node.address, Some(&secret));
    there.get("/v1/balance").await.expect(200);
    project.api.delete(&path(&spare)).await.expect(200);
    there.get("/v1/balance").await.refused(401, "UNAUTHORIZED");
    node.stop().await;
}

async fn an_unknown_key_and_another_projects_key_are_not_found(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let own = project.key_id.to_string();
    let unknown = format!("{}{}", &own[..29], if own.ends_with('0') { "1" } else { "0" });
    let wrong =
        [other.key_id.to_string(), unknown, "junk".to_owned(), own.to_uppercase(), own[..29].to_owned(), project.key];
    for wrong in wrong {
        refused("DELETE", project.api.delete(&path(&wrong)).await, 404, "RESOURCE_NOT_FOUND");
    }
    other.api.get("/v1/balance").await.expect(200);
    assert_eq!(total(&project.api, "/v1/events").await, 0);
    assert_eq!(total(&other.api, "/v1/events").await, 0);
}

async fn an_unavailable_project_may_still_revoke_its_keys(kit: Arc<Kit>) {
    let inactive = kit.sandbox().await;
    kit.update(inactive.id, engine::ProjectUpdate { active: Some(false), ..Default::default() }).await;
    let unapproved = kit.project(domain::project::Environment::Production).await;
    for project in [inactive, unapproved] {
        let (spare, _) = second_key(&kit, &project, "spare").await;
        project.api.get("/v1/balance").await.refused(403, "PROJECT_UNAVAILABLE");
        project.api.delete(&path(&spare)).await.expect(200);
        project.api.delete(&path(&project.key_id.to_string())).await.expect(200);
        project.api.delete(&path(&spare)).await.refused(401, "UNAUTHORIZED");
    }
}

async fn delete_ignores_any_body_and_content_type(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (index, (content_type, body)) in [("text/plain", "["), ("application/json", "nothing")].iter().enumerate() {
        let (spare, _) = second_key(&kit, &project, &format!("spare {index}")).await;
        let request = project.api.request(Method::DELETE, &path(&spare));
        project.api.send(request.header(CONTENT_TYPE, *content_type).body(*body)).await.expect(200);
    }
}

async fn a_key_has_a_name_of_its_own_within_its_project_until_it_is_revoked(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let create = |project: &TestProject, name: &str| kit.engine.create_key(project.id, name.to_owned());
    let (spare, _) = create(&project, "kasir").await.unwrap();
    let taken = create(&project, "kasir").await.map(|(key, _)| key);
    assert!(matches!(taken, Err(engine::Error::Taken(_))), "{taken:?}");
    assert_eq!(kit.engine.keys(project.id).await.unwrap().len(), 2);
    create(&other, "kasir").await.unwrap();
    project.api.delete(&path(&spare.id.to_string())).await.expect(200);
    let (again, _) = create(&project, "kasir").await.unwrap();
    assert_ne!(again.id, spare.id);
    for name in ["", &"x".repeat(256), "a\nb"] {
        let refusal = create(&project, name).await.map(|(key, _)| key);
        assert!(matches!(refusal, Err(engine::Error::Invalid(_))), "{name:?}: {refusal:?}");
    }
}

async fn reading_and_making_keys_and_the_project_are_for_the_dashboard(kit: Arc<Kit>) {
    for project in [kit.sandbox().await, kit.production().await] {
        project.api.get("/v1/api-keys").await.refused(403, "FORBIDDEN");
        project.api.post("/v1/api-keys", &json!({ "name": "mine" })).await.refused(403, "FORBIDDEN");
        project.api.get("/v1/project").await.refused(403, "FORBIDDEN");
        assert_eq!(kit.engine.keys(project.id).await.unwrap().len(), 1);
    }
}
