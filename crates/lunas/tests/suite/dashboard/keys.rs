//! API keys in the dashboard: each secret is shown once, each name is used once, and a revocation is final.

use std::sync::Arc;

use domain::access::Role;
use gateway::SendLimits;
use serde_json::Value;
use testkit::{Kit, TestProject, on_sqlite_alone};

use crate::support::{
    customer::{is_page, unknown},
    dashboard::{beside_owner, developer_at, element, leads},
    people::{Person, desk},
    wait::until,
};

on_sqlite_alone![
    a_new_keys_secret_is_shown_once_and_works on 2 threads,
    an_unusable_name_is_reported_at_its_field_and_creates_no_key on 2 threads,
    revoking_says_what_it_does_and_stops_the_key_at_once on 2 threads,
    the_list_says_when_a_key_was_last_used on 2 threads,
    a_viewer_sees_keys_and_neither_makes_nor_revokes_any on 2 threads,
    another_projects_key_is_not_found on 2 threads,
    a_project_has_no_more_than_a_hundred_live_keys on 2 threads,
    rights_over_money_are_offered_to_owners_and_refused_to_developers on 2 threads,
    an_owner_who_became_a_developer_does_not_see_a_key_over_money_again on 2 threads,
    what_a_key_may_do_is_shown_where_it_is_made_and_listed on 2 threads,
    wrong_networks_are_reported_at_their_field_and_create_no_key on 2 threads,
];

/// How many keys there are, and how many of them are live.
async fn counts(kit: &Kit, project: &TestProject) -> (usize, usize) {
    let keys = kit.engine.keys(project.id).await.unwrap();
    (keys.len(), keys.iter().filter(|key| key.revoked_at.is_none()).count())
}

async fn a_new_keys_secret_is_shown_once_and_works(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "keys").await;
    let made = person.post(&base, &[("name", " Server <toko> "), ("right-payments", "on")]).await;
    is_page("made", &made, 200);
    let secret = element(&made.text, "new-key");
    assert!(secret.starts_with("sk_test_"), "it is a key of the sandbox");
    let api = project.api.with_key(&secret);
    api.get("/v1/payments").await.expect(200);
    let example = element(&made.text, "curl");
    assert!(example.contains(&format!("export LUNAS_API_KEY={secret}")), "{example}");
    let body: Value = serde_json::from_str(example.split('\'').nth(1).unwrap()).unwrap();
    assert!(example.contains(&format!("http://{}/v1/payment-links", kit.address)), "{example}");
    api.post("/v1/payment-links", &body).await.expect(201);

    let keys = kit.engine.keys(project.id).await.unwrap();
    let id = keys.iter().find(|key| key.name == "Server <toko>").unwrap().id.to_string();
    let copied = format!("data-copy=\"{id}\"");
    assert!(made.text.contains(&copied), "its id, which revokes it by API: {}", made.text);

    let later = person.open(&base).await;
    is_page("later", &later, 200);
    assert!(later.text.contains(&copied) && later.text.contains(&format!("data-copy=\"{}\"", project.key_id)));
    assert!(person.open(&format!("{base}/{id}/revoke")).await.text.contains(&copied));
    assert!(!later.text.contains(&secret), "nobody sees it a second time");
    assert!(later.text.contains(&format!("sk_test_…{}", &secret[secret.len() - 4..])));
    assert!(later.text.contains("Server &#60;toko&#62;"));
    assert_eq!(counts(&kit, &project).await, (2, 2));
}

async fn an_unusable_name_is_reported_at_its_field_and_creates_no_key(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "keys").await;
    let long = "a".repeat(256);
    for (name, status) in [("", 422), ("  ", 422), (&long, 422), ("a\u{7}b", 422), ("first", 409)] {
        let refused = person.post(&base, &[("name", name)]).await;
        is_page(name, &refused, status);
        assert!(refused.text.contains("id=\"name-why\""), "{name}");
        assert!(!refused.text.contains("class=\"secret\""), "{name}");
    }
    let taken = person.post(&base, &[("name", "first")]).await;
    assert!(taken.text.contains("value=\"first\"") && taken.text.contains("sudah dipakai kunci lain"));
    assert_eq!(counts(&kit, &project).await, (1, 1));
}

async fn revoking_says_what_it_does_and_stops_the_key_at_once(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "keys").await;
    let revoke = format!("{base}/{}/revoke", project.key_id);
    assert!(person.open(&base).await.text.contains(&format!("href=\"{revoke}\"")));
    let question = person.open(&revoke).await;
    is_page("question", &question, 200);
    for part in ["first", "ditolak saat itu juga", "apikey.deleted"] {
        assert!(question.text.contains(part), "{part}");
    }
    project.api.get("/v1/payments").await.expect(200);
    for _ in 0..2 {
        assert_eq!(leads(&person.post(&revoke, &[]).await, "key-revoked"), base, "a second time changes nothing");
    }
    project.api.get("/v1/payments").await.refused(401, "UNAUTHORIZED");
    let (_, secret) = kit.engine.create_key(project.id, "second".to_owned()).await.unwrap();
    let events = project.api.with_key(secret.reveal()).get("/v1/events").await.expect(200);
    assert_eq!(events["pagination"]["total_items"], 1);
    assert_eq!(events["data"][0]["type"], "apikey.deleted");
    let again = person.open(&revoke).await;
    is_page("again", &again, 409);
    assert!(again.text.contains("Kunci ini sudah dicabut.") && !again.text.contains("class=\"danger\""));
    assert!(person.open(&base).await.text.contains("Dicabut"));
}

async fn the_list_says_when_a_key_was_last_used(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "keys").await;
    assert!(person.open(&base).await.text.contains("Belum pernah"));
    kit.deliver(SendLimits::default());
    project.api.get("/v1/payments").await.expect(200);
    until(async || !person.open(&base).await.text.contains("Belum pernah")).await;
    assert!(person.open(&base).await.text.contains("14 November 2026 pukul 16.30 WIB"));
}

async fn a_viewer_sees_keys_and_neither_makes_nor_revokes_any(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = beside_owner(&kit, &project, Role::Viewer).await;
    let base = format!("{}/keys", desk(project.id));
    let revoke = format!("{base}/{}/revoke", project.key_id);
    let page = person.open(&base).await;
    is_page("list", &page, 200);
    assert!(!page.text.contains("/revoke") && !page.text.contains("name=\"name\""));
    is_page("make", &person.post(&base, &[("name", "mine")]).await, 403);
    is_page("ask", &person.open(&revoke).await, 403);
    is_page("revoke", &person.post(&revoke, &[]).await, 403);
    assert_eq!(counts(&kit, &project).await, (1, 1));
}

async fn another_projects_key_is_not_found(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "keys").await;
    let other = kit.sandbox().await;
    let strange = unknown(&serde_json::json!({ "id": project.key_id.to_string() }));
    for id in [&other.key_id.to_string(), &strange, "x"] {
        let path = format!("{base}/{id}/revoke");
        is_page(&path, &person.open(&path).await, 404);
        is_page(&path, &person.post(&path, &[]).await, 404);
    }
    let theirs = format!("{}/keys", desk(other.id));
    is_page("list", &person.open(&theirs).await, 404);
    is_page("make", &person.post(&theirs, &[("name", "mine")]).await, 404);
    assert_eq!(counts(&kit, &other).await, (1, 1));
}

async fn a_project_has_no_more_than_a_hundred_live_keys(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "keys").await;
    for number in 2..=100 {
        kit.engine.create_key(project.id, format!("key {number}")).await.unwrap();
    }
    let refused = person.post(&base, &[("name", "one more")]).await;
    is_page("one more", &refused, 409);
    assert!(refused.text.contains("100 kunci yang aktif"));
    assert_eq!(counts(&kit, &project).await, (100, 100));
}

async fn rights_over_money_are_offered_to_owners_and_refused_to_developers(kit: Arc<Kit>) {
    let (project, developer, base) = developer_at(&kit, "keys").await;
    let page = developer.open(&base).await;
    assert!(page.text.contains("name=\"right-payments\" value=\"on\" checked"), "{}", page.text);
    assert!(!page.text.contains("right-held-money") && page.text.contains("hanya bisa diberikan oleh pemilik"));
    // A forged form is refused, also where something else is wrong with it.
    for name in ["mine", ""] {
        let forged = [("name", name), ("right-payments", "on"), ("right-held-money", "on")];
        is_page("forged", &developer.post(&base, &forged).await, 403);
    }
    assert_eq!(counts(&kit, &project).await, (1, 1));
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let page = owner.open(&base).await;
    assert!(page.text.contains("name=\"right-held-money\" value=\"on\"><span>"), "it is not chosen by itself");
    assert!(!page.text.contains("hanya bisa diberikan oleh pemilik"));
    is_page("money", &owner.post(&base, &[("name", "money"), ("right-held-money", "on")]).await, 200);
    let keys = kit.engine.keys(project.id).await.unwrap();
    assert_eq!(keys.iter().find(|key| key.name == "money").unwrap().rights.words(), ["held-money"]);
}

/// A form that is sent again shows its secret again, but only to a member who may still give such a key.
async fn an_owner_who_became_a_developer_does_not_see_a_key_over_money_again(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let former = Person::member(&kit, project.id, Role::Owner, "former@example.com").await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let base = format!("{}/keys", desk(project.id));
    let form = [("name", "money"), ("right-held-money", "on"), ("attempt", "0123456789abcdef0123456789abcdef")];
    let secret = element(&former.post(&base, &form).await.text, "new-key");
    assert_eq!(element(&former.post(&base, &form).await.text, "new-key"), secret);
    let role = format!("{}/settings/members/{}/role", desk(project.id), former.user.id);
    assert_eq!(owner.post(&role, &[("role", "developer")]).await.status, 303);
    let again = former.post(&base, &form).await;
    is_page("again", &again, 403);
    assert!(!again.text.contains(&secret));
}

async fn what_a_key_may_do_is_shown_where_it_is_made_and_listed(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let base = format!("{}/keys", desk(project.id));
    let networks = " 203.0.113.7,\r\n10.0.0.0/8 ";
    let made = owner.post(&base, &[("name", "Pembukuan"), ("networks", networks)]).await;
    is_page("made", &made, 200);
    let example = element(&made.text, "curl");
    assert!(example.contains("/v1/payments") && !example.contains("-d "), "it only reads: {example}");
    for part in ["Hanya membaca", "203.0.113.7/32, 10.0.0.0/8", "Pembayaran, Uang yang belum cocok"] {
        assert!(made.text.contains(part), "{part}: {}", made.text);
    }
    let english = owner.open(&format!("{base}?lang=en")).await;
    for part in ["Read only", "Payments, Held money", "Networks (optional)"] {
        assert!(english.text.contains(part), "{part}: {}", english.text);
    }
    let keys = kit.engine.keys(project.id).await.unwrap();
    let made = keys.iter().find(|key| key.name == "Pembukuan").unwrap();
    assert_eq!(
        (made.rights.words().len(), made.networks.words()),
        (0, vec!["203.0.113.7/32".into(), "10.0.0.0/8".into()])
    );
    let question = owner.open(&format!("{base}/{}/revoke?lang=en", made.id)).await;
    assert!(question.text.contains("Read only"), "{}", question.text);
}

async fn wrong_networks_are_reported_at_their_field_and_create_no_key(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "keys").await;
    let many: Vec<String> = (0..21).map(|number| format!("10.0.0.{number}")).collect();
    for (networks, why) in [
        ("10.0.0.1 toko.example", "“toko.example” bukan alamat"),
        ("10.0.0.5/8", "tulis 10.0.0.0/8 untuk seluruh jaringan"),
        ("::ffff:10.0.0.1", "sebagai IPv4"),
        (many.join(",").as_str(), "Paling banyak 20 jaringan"),
    ] {
        let refused = person.post(&base, &[("name", "mine"), ("right-payments", "on"), ("networks", networks)]).await;
        is_page(networks, &refused, 422);
        assert!(
            refused.text.contains("id=\"networks-why\"") && refused.text.contains(why),
            "{networks}: {}",
            refused.text
        );
        // What was filled in is still there.
        assert!(refused.text.contains("value=\"mine\"") && refused.text.contains(networks), "{networks}");
        assert!(refused.text.contains("name=\"right-payments\" value=\"on\" checked"), "{networks}");
    }
    assert_eq!(counts(&kit, &project).await, (1, 1));
}
