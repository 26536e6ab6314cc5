//! What owners set about their project, by the same rules as on the command line.

use std::sync::Arc;

use domain::{access::Role, audit::Deed, bank::Bank, method::Method, project::SuccessWord};
use testkit::{Kit, TestProject, on_sqlite_alone};

use crate::support::{
    customer::is_page,
    dashboard::audited,
    people::{Person, desk},
    rows::rows,
};

on_sqlite_alone![
    an_owner_saves_each_part_by_itself,
    a_value_that_breaks_a_rule_is_reported_at_its_field_and_changes_nothing,
    members_who_are_no_owners_see_the_settings_and_change_none,
    settings_can_neither_approve_nor_activate_a_project,
    the_page_of_notices_says_that_approvals_go_there_with_whose_they_are,
];

fn settings(project: &TestProject) -> String {
    format!("{}/settings", desk(project.id))
}

const MERCHANT: [(&str, &str); 3] =
    [("merchant_name", "Kopi <Senja>"), ("merchant_city", "Bandung"), ("merchant_postal_code", "40111")];

async fn an_owner_saves_each_part_by_itself(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    let saved = format!("{}?done=settings-saved", settings(&project));
    for (part, fields) in [
        ("merchant", &MERCHANT[..]),
        (
            "origins",
            &[("allowed_origins", "HTTPS://Shop.Example:443/\r\n\r\n http://localhost:3000 \r\nhttps://shop.example")],
        ),
        (
            "frames",
            &[("frame_origins", "HTTPS://Shop.Example:443/\r\n http://localhost:3000 \r\nhttps://shop.example")],
        ),
        ("methods", &[("bank_bca", "on"), ("bank_bss", "on"), ("default_qris", "on"), ("default_bss", "on")]),
        ("success-word", &[("success_word", "succeeded")]),
    ] {
        let reply = owner.post(&format!("{}/{part}", settings(&project)), fields).await;
        assert_eq!(reply.header("location"), Some(saved.as_str()), "{part}: {}", reply.text);
    }
    let now = kit.engine.project(project.id).await.unwrap();
    assert_eq!((now.merchant.name.as_str(), now.merchant.city.as_str()), ("Kopi <Senja>", "Bandung"));
    assert_eq!(now.merchant.postal_code, "40111");
    assert_eq!((now.banks, now.success_word), (vec![Bank::Bca, Bank::Bss], SuccessWord::Succeeded));
    assert_eq!(now.default_methods, [Method::Qris, Method::VirtualAccount(Bank::Bss)]);
    let origins = kit.engine.allowed_origins(project.id).await.unwrap();
    assert_eq!(origins, ["http://localhost:3000", "https://shop.example"]);
    assert_eq!(now.frame_origins, ["https://shop.example", "http://localhost:3000"]);
    assert_eq!(audited(&kit, Deed::SettingsChanged).await.len(), 5);
    let page = owner.open(&settings(&project)).await;
    assert!(
        page.text.contains("Kopi &#60;Senja&#62;") && page.text.contains("http://localhost:3000\nhttps://shop.example")
    );
    assert!(page.text.contains(&project.id.to_string()) && page.text.contains("Rp4.000"));
    // An empty list is one too.
    owner.post(&format!("{}/origins", settings(&project)), &[("allowed_origins", "\r\n")]).await;
    assert_eq!(kit.engine.allowed_origins(project.id).await.unwrap(), Vec::<String>::new());
    owner.post(&format!("{}/frames", settings(&project)), &[("frame_origins", "")]).await;
    assert_eq!(kit.engine.project(project.id).await.unwrap().frame_origins, Vec::<String>::new());
}

async fn a_value_that_breaks_a_rule_is_reported_at_its_field_and_changes_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    let before = rows(&kit.database);
    let long = "x".repeat(256);
    let many = (0..=100).map(|n| format!("https://s{n}.example")).collect::<Vec<_>>().join("\r\n");
    for (part, fields, marked) in [
        ("merchant", &[("merchant_name", ""), MERCHANT[1], MERCHANT[2]][..], "merchant_name-why"),
        ("merchant", &[("merchant_name", long.as_str()), MERCHANT[1], MERCHANT[2]], "merchant_name-why"),
        ("merchant", &[MERCHANT[0], ("merchant_city", "So\u{7}lo"), MERCHANT[2]], "merchant_city-why"),
        ("merchant", &[MERCHANT[0], MERCHANT[1], ("merchant_postal_code", "4011")], "merchant_postal_code-why"),
        ("merchant", &[MERCHANT[0], MERCHANT[1], ("merchant_postal_code", "4011a")], "merchant_postal_code-why"),
        ("merchant", &[], "merchant_name-why"),
        ("origins", &[("allowed_origins", "https://a.example\r\nhttps://b.example/path")], "allowed_origins-why"),
        ("origins", &[("allowed_origins", "*")], "allowed_origins-why"),
        ("origins", &[("allowed_origins", many.as_str())], "allowed_origins-why"),
        ("frames", &[("frame_origins", "http://shop.example")], "frame_origins-why"),
        ("frames", &[("frame_origins", "https://a.example\r\nhttps://*.b.example")], "frame_origins-why"),
        ("frames", &[("frame_origins", "https://a.example 'unsafe-inline'")], "frame_origins-why"),
        ("frames", &[("frame_origins", "https://a.example; script-src *")], "frame_origins-why"),
        ("frames", &[("frame_origins", "https://a.example,https://b.example")], "frame_origins-why"),
        ("frames", &[("frame_origins", "*")], "frame_origins-why"),
        ("frames", &[("frame_origins", "null")], "frame_origins-why"),
        ("frames", &[("frame_origins", many.as_str())], "frame_origins-why"),
        ("methods", &[("bank_bca", "on"), ("default_qris", "on"), ("default_bni", "on")], "defaults-why"),
        ("methods", &[("bank_bca", "on")], "defaults-why"),
        ("success-word", &[("success_word", "done")], "success_word-why"),
        ("success-word", &[], "success_word-why"),
    ] {
        let path = format!("{}/{part}", settings(&project));
        let page = owner.post(&path, fields).await;
        is_page(&format!("{part} {fields:?}"), &page, 422);
        assert!(page.text.contains(&format!("id=\"{marked}\"")), "{marked}: {}", page.text);
        assert!(!page.text.contains(" must "), "in the person's own words");
    }
    let page = owner.post(&format!("{}/merchant", settings(&project)), &MERCHANT[..2]).await;
    assert!(page.text.contains("value=\"Bandung\""), "what was right is kept: {}", page.text);
    assert_eq!(rows(&kit.database), before);
}

async fn members_who_are_no_owners_see_the_settings_and_change_none(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    let people = [
        (Person::member(&kit, project.id, Role::Viewer, "budi@example.com").await, 403, 200),
        (Person::member(&kit, project.id, Role::Developer, "dewi@example.com").await, 403, 200),
        (Person::new(&kit, "mallory@example.com").await, 404, 404),
    ];
    let before = rows(&kit.database);
    for (person, refused, shown) in people {
        let page = person.open(&settings(&project)).await;
        is_page("the settings", &page, shown);
        assert_eq!(page.text.contains("Toko Kopi"), shown == 200);
        assert!(!page.text.contains("name=\"merchant_name\""), "{}", page.text);
        for (part, fields) in [
            ("merchant", &MERCHANT[..]),
            ("merchant", &[]),
            ("origins", &[("allowed_origins", "https://evil.example")]),
            ("methods", &[("default_qris", "on")]),
            ("success-word", &[("success_word", "succeeded")]),
        ] {
            is_page(part, &person.post(&format!("{}/{part}", settings(&project)), fields).await, refused);
        }
    }
    assert_eq!(rows(&kit.database), before);
}

async fn settings_can_neither_approve_nor_activate_a_project(kit: Arc<Kit>) {
    let project = kit.project(domain::project::Environment::Production).await;
    let owner = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    let sneaked = [&MERCHANT[..], &[("approved", "true"), ("active", "true"), ("fees", "0")]].concat();
    assert_eq!(owner.post(&format!("{}/merchant", settings(&project)), &sneaked).await.status, 303);
    let now = kit.engine.project(project.id).await.unwrap();
    assert!(!now.approved && now.merchant.city == "Bandung");
    let page = owner.open(&format!("{}?lang=en", settings(&project))).await;
    assert!(page.text.contains("Waiting for approval"), "{}", page.text);
}

async fn the_page_of_notices_says_that_approvals_go_there_with_whose_they_are(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    for (language, approvals, whose) in [
        ("en", "refunds that wait for an approval", "with the email of who asked"),
        ("id", "pengembalian yang menunggu persetujuan", "dengan email yang meminta"),
    ] {
        let page = owner.open(&format!("{}/notices?lang={language}", settings(&project))).await;
        is_page(language, &page, 200);
        assert!(page.text.contains(approvals) && page.text.contains(whose), "{}", page.text);
    }
}
