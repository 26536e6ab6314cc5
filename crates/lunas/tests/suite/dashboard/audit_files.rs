//! The audit log of a project as files, for its owners.

use std::{sync::Arc, time::Duration};

use domain::access::Role;
use engine::NewKey;
use serde_json::Value;
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::is_page,
    dashboard::sandbox_with_owner,
    people::{Person, desk},
};

on_every_database![both_files_have_every_line_once_with_its_seal_oldest_first];

on_sqlite_alone![no_cell_of_the_audit_file_is_a_formula, the_files_are_for_owners_alone,];

const HEAD: &str = "id,at,action,actor,actor_email,address,subject,detail,position,hash";

async fn owner(kit: &Kit, project: &TestProject) -> Person {
    Person::member(kit, project.id, Role::Owner, "siti@example.com").await
}

async fn json_lines(person: &Person, project: &TestProject) -> Vec<Value> {
    let file = person.open(&format!("{}/audit.jsonl", desk(project.id))).await;
    assert_eq!(file.status, 200, "{}", file.text);
    assert_eq!(file.header("content-type"), Some("application/x-ndjson; charset=utf-8"));
    assert!(file.header("content-disposition").unwrap().ends_with(".jsonl\""));
    file.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn csv_lines(person: &Person, project: &TestProject) -> Vec<String> {
    let file = person.open(&format!("{}/audit.csv", desk(project.id))).await;
    assert_eq!(file.status, 200, "{}", file.text);
    let text = file.text.strip_prefix('\u{feff}').unwrap().to_owned();
    let mut lines = text.split_terminator("\r\n").map(str::to_owned);
    assert_eq!(lines.next().as_deref(), Some(HEAD));
    lines.collect()
}

async fn both_files_have_every_line_once_with_its_seal_oldest_first(kit: Arc<Kit>) {
    let project = sandbox_with_owner(&kit).await;
    let owner = owner(&kit, &project).await;
    // More than are read at once, of which each but the last is revoked, as a project has a hundred live keys at most.
    for number in 0..260 {
        let (key, _) = kit.engine.create_key(project.id, NewKey::from(format!("key {number}"))).await.unwrap();
        kit.engine.revoke_key(key.id, None).await.unwrap();
    }
    while kit.engine.seal_audit().await.unwrap() > 0 {}
    kit.clock.advance(Duration::from_secs(1));
    kit.engine.create_key(project.id, NewKey::from("the last".to_owned())).await.unwrap();
    let (json, csv) = (json_lines(&owner, &project).await, csv_lines(&owner, &project).await);
    assert!(json.len() > 520, "{}", json.len());
    assert_eq!(json.len(), csv.len());
    let (last, sealed) = json.split_last().unwrap();
    assert_eq!((&last["detail"], &last["position"]), (&Value::from("the last (payments)"), &Value::Null));
    let mut positions: Vec<i64> = sealed.iter().map(|line| line["position"].as_i64().unwrap()).collect();
    positions.sort_unstable();
    assert!(positions.into_iter().eq(1..=sealed.len() as i64));
    assert!(json.is_sorted_by_key(|line| line["id"].as_str().unwrap().to_owned()));
    for (line, cells) in json.iter().zip(&csv) {
        let (id, hash) = (line["id"].as_str().unwrap(), line["hash"].as_str().unwrap_or_default());
        assert!(cells.starts_with(id) && cells.ends_with(hash), "{cells}");
    }
}

async fn no_cell_of_the_audit_file_is_a_formula(kit: Arc<Kit>) {
    let project = sandbox_with_owner(&kit).await;
    let owner = owner(&kit, &project).await;
    kit.engine.create_key(project.id, NewKey::from("=HYPERLINK(\"http://evil.example\")".to_owned())).await.unwrap();
    let csv = csv_lines(&owner, &project).await.join("\n");
    assert!(csv.contains("\"'=HYPERLINK"), "{csv}");
}

async fn the_files_are_for_owners_alone(kit: Arc<Kit>) {
    let project = sandbox_with_owner(&kit).await;
    let log = format!("{}/audit", desk(project.id));
    let developer = Person::member(&kit, project.id, Role::Developer, "budi@example.com").await;
    for file in ["audit.csv", "audit.jsonl"] {
        is_page(file, &developer.open(&format!("{}/{file}", desk(project.id))).await, 403);
        assert!(!developer.open(&log).await.text.contains(file), "{file} is not offered");
    }
}
