//! Rotating API keys: a new key like the old one, which goes on for a while and then stops by itself.

use std::{sync::Arc, time::Duration};

use domain::{
    access::Role,
    api_key::{ApiKey, Overlap},
    audit::Deed,
    key_rights::{KeyRight, KeyRights},
};
use engine::{NewKey, NewProject};
use futures_util::future::join_all;
use testkit::{Api, Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::is_page,
    dashboard::{audited, beside_owner, developer_at, element},
    nodes::Node,
    people::{Person, desk},
};

on_every_database![
    a_rotated_key_works_beside_the_new_one_until_its_overlap_is_over_on_every_node,
    of_two_who_rotate_a_key_at_once_one_does,
    a_form_that_is_sent_twice_rotates_once_and_shows_the_key_again,
];

on_sqlite_alone![
    the_new_key_has_the_name_the_rights_and_the_networks_of_the_old_one,
    a_key_that_was_rotated_can_be_ended_earlier,
    who_may_not_give_a_right_rotates_no_key_with_it,
    a_rotated_key_counts_among_the_hundred_until_it_stops,
    a_wrong_overlap_or_a_key_of_another_rotates_nothing,
    keys_that_nobody_has_used_for_90_days_are_shown_as_such,
];

/// What a form of the page sends.
const ATTEMPT: &str = "0123456789abcdef0123456789abcdef";

fn path(project: &TestProject, key: &str) -> String {
    format!("{}/keys/{key}/rotate", desk(project.id))
}

/// A project whose first key has all rights, and its owner.
async fn owned(kit: &Kit) -> (TestProject, Person) {
    let project = kit.sandbox().await;
    let owner = Person::member(kit, project.id, Role::Owner, "siti@example.com").await;
    (project, owner)
}

async fn rotated(person: &Person, project: &TestProject, hours: &str) -> String {
    let path = path(project, &project.key_id.to_string());
    let page = person.post(&path, &[("overlap", hours), ("attempt", ATTEMPT)]).await;
    is_page("rotated", &page, 200);
    element(&page.text, "new-key")
}

async fn keys(kit: &Kit, project: &TestProject) -> Vec<ApiKey> {
    kit.engine.keys(project.id).await.unwrap()
}

async fn a_rotated_key_works_beside_the_new_one_until_its_overlap_is_over_on_every_node(kit: Arc<Kit>) {
    let (project, person) = owned(&kit).await;
    let node = Node::beside(&kit).await;
    let of = |key: &str| {
        let elsewhere = Api::new(node.address, Some(key));
        (project.api.with_key(key), elsewhere)
    };
    let question = person.open(&path(&project, &project.key_id.to_string())).await;
    is_page("question", &question, 200);
    let new = rotated(&person, &project, "1").await;
    assert_ne!(new, project.key);
    for api in [of(&new), of(&project.key)] {
        api.0.get("/v1/payments").await.expect(200);
        api.1.get("/v1/payments").await.expect(200);
    }
    kit.clock.advance(Duration::from_mins(60) - Duration::from_millis(1));
    of(&project.key).1.get("/v1/payments").await.expect(200);
    kit.clock.advance(Duration::from_millis(1));
    let (here, there) = of(&project.key);
    here.get("/v1/payments").await.refused(401, "UNAUTHORIZED");
    there.get("/v1/payments").await.refused(401, "UNAUTHORIZED");
    of(&new).1.get("/v1/payments").await.expect(200);
    // The session has ended too.
    let person = Person::signed_in(&kit, person.user.clone()).await;
    let list = person.open(&format!("{}/keys?lang=en", desk(project.id))).await;
    assert!(list.text.contains("Ended"), "{}", list.text);
    let lines = audited(&kit, Deed::KeyRotated).await;
    assert_eq!(lines.iter().map(|(_, key)| key.clone()).collect::<Vec<_>>(), [project.key_id.to_string()]);
    node.stop().await;
}

async fn of_two_who_rotate_a_key_at_once_one_does(kit: Arc<Kit>) {
    let (project, person) = owned(&kit).await;
    let path = path(&project, &project.key_id.to_string());
    let attempts = ["1".repeat(32), "2".repeat(32), "3".repeat(32)];
    let post = async |attempt: &str| person.post(&path, &[("overlap", "24"), ("attempt", attempt)]).await;
    let sent = attempts.iter().map(|attempt| post(attempt));
    let mut statuses: Vec<u16> = join_all(sent).await.into_iter().map(|page| page.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409]);
    assert_eq!(keys(&kit, &project).await.len(), 2);
}

async fn a_form_that_is_sent_twice_rotates_once_and_shows_the_key_again(kit: Arc<Kit>) {
    let (project, person) = owned(&kit).await;
    let at_once = join_all((0..3).map(|_| rotated(&person, &project, "24"))).await;
    let later = rotated(&person, &project, "24").await;
    assert!(at_once.iter().all(|key| *key == later), "the same key");
    assert_eq!(keys(&kit, &project).await.len(), 2);
    let path = path(&project, &project.key_id.to_string());
    is_page("another form", &person.post(&path, &[("overlap", "24"), ("attempt", &"9".repeat(32))]).await, 409);
}

async fn the_new_key_has_the_name_the_rights_and_the_networks_of_the_old_one(kit: Arc<Kit>) {
    let (project, person) = owned(&kit).await;
    let networks = domain::key_networks::KeyNetworks::parse(&["203.0.113.0/24"]).unwrap();
    let new = NewKey { name: "Kantor".to_owned(), rights: KeyRights::NONE, networks };
    let (old, _) = kit.engine.create_key(project.id, new).await.unwrap();
    kit.clock.advance(Duration::from_secs(1));
    let page = person.post(&path(&project, &old.id.to_string()), &[("overlap", "168")]).await;
    is_page("rotated", &page, 200);
    let keys = keys(&kit, &project).await;
    let of_name: Vec<&ApiKey> = keys.iter().filter(|key| key.name == "Kantor").collect();
    assert_eq!(of_name.len(), 2);
    assert_eq!((of_name[1].rights, &of_name[1].networks), (old.rights, &old.networks));
    assert_eq!(of_name[1].created_by, Some(person.user.id));
    assert_eq!(of_name[0].expires_at, Some(kit.engine.now().plus(Duration::from_hours(168))));
}

async fn a_key_that_was_rotated_can_be_ended_earlier(kit: Arc<Kit>) {
    let (project, person) = owned(&kit).await;
    let new = rotated(&person, &project, "720").await;
    let revoke = format!("{}/keys/{}/revoke", desk(project.id), project.key_id);
    assert!(person.open(&format!("{}/keys", desk(project.id))).await.text.contains(&revoke));
    assert_eq!(person.post(&revoke, &[]).await.status, 303);
    project.api.get("/v1/payments").await.refused(401, "UNAUTHORIZED");
    project.api.with_key(&new).get("/v1/payments").await.expect(200);
}

async fn who_may_not_give_a_right_rotates_no_key_with_it(kit: Arc<Kit>) {
    let (project, developer, base) = developer_at(&kit, "keys").await;
    let rights = KeyRights::NONE.with(KeyRight::HeldMoney);
    let new = NewKey { rights, ..NewKey::from("money".to_owned()) };
    let (key, _) = kit.engine.create_key(project.id, new).await.unwrap();
    let path = path(&project, &key.id.to_string());
    assert!(!developer.open(&base).await.text.contains(&path), "it is not offered");
    is_page("question", &developer.open(&path).await, 403);
    is_page("form", &developer.post(&path, &[("overlap", "24")]).await, 403);
    let owner = Person::member(&kit, project.id, Role::Owner, "other@example.com").await;
    is_page("by an owner", &owner.post(&path, &[("overlap", "24")]).await, 200);
}

async fn a_rotated_key_counts_among_the_hundred_until_it_stops(kit: Arc<Kit>) {
    let (project, person) = owned(&kit).await;
    for number in 1..100 {
        kit.engine.create_key(project.id, format!("key {number}")).await.unwrap();
    }
    let path = path(&project, &project.key_id.to_string());
    is_page("a hundred", &person.post(&path, &[("overlap", "1")]).await, 409);
    assert_eq!(keys(&kit, &project).await.len(), 100);
    let last = keys(&kit, &project).await[99].id;
    kit.engine.revoke_key(last, None).await.unwrap();
    is_page("one less", &person.post(&path, &[("overlap", "1")]).await, 200);
    assert!(kit.engine.create_key(project.id, "one more".to_owned()).await.is_err());
    kit.clock.advance(Duration::from_hours(1));
    kit.engine.create_key(project.id, "one more".to_owned()).await.unwrap();
}

async fn a_wrong_overlap_or_a_key_of_another_rotates_nothing(kit: Arc<Kit>) {
    let (project, person) = owned(&kit).await;
    let own = path(&project, &project.key_id.to_string());
    for hours in ["", "0", "-1", "721", "1.5", "x"] {
        is_page(hours, &person.post(&own, &[("overlap", hours)]).await, 422);
    }
    let new = NewProject { name: "Lain".to_owned(), environment: project_environment(), merchant_name: None };
    let (other, _) = kit.engine.create_project(new).await.unwrap();
    let (foreign, _) = kit.engine.create_key(other.id, "theirs".to_owned()).await.unwrap();
    for key in [foreign.id.to_string(), "key_01kzdq3f5ve8x9m2r7t4w6y8za".to_owned(), "junk".to_owned()] {
        is_page(&key, &person.post(&path(&project, &key), &[("overlap", "24")]).await, 404);
    }
    assert_eq!(keys(&kit, &project).await.len(), 1);
}

const fn project_environment() -> domain::project::Environment {
    domain::project::Environment::Sandbox
}

async fn keys_that_nobody_has_used_for_90_days_are_shown_as_such(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (key, _) = kit.engine.create_key(project.id, "forgotten".to_owned()).await.unwrap();
    kit.clock.advance(Duration::from_hours(24 * 90));
    let person = beside_owner(&kit, &project, Role::Developer).await;
    project.api.get("/v1/payments").await.expect(200);
    kit.engine.save_key_uses().await.unwrap();
    let list = person.open(&format!("{}/keys?lang=en", desk(project.id))).await;
    let unused = |name: &str| {
        let row = list.text.split("<tr>").find(|row| row.contains(&format!("<b>{name}</b>"))).unwrap();
        row.contains("Not used for 90 days")
    };
    assert!(unused("forgotten") && !unused("first"));
    kit.engine.rotate_key(key.id, Overlap::USUAL).await.unwrap();
}
