//! Changing a link that nobody has paid yet: what changes, who is told, and what is refused.

use std::{sync::Arc, time::Duration};

use domain::{access::Role, audit::Deed, method::Method};
use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, hidden, is_page, link_path},
    dashboard::{audited, beside_owner, leads},
    json::text,
    links::{attempt, cancel_link, create_link},
    payments::{simulate_paid, total},
    people::{Person, desk},
};

on_every_database![
    a_changed_link_shows_its_new_texts_everywhere_and_is_found_by_them on 2 threads,
    an_expiry_is_changed_removed_or_left_as_it_is_to_the_millisecond on 2 threads,
    of_two_members_who_change_a_link_at_once_the_second_is_told on 2 threads,
    a_link_that_was_paid_or_cancelled_or_has_expired_is_not_changed on 2 threads,
];

on_sqlite_alone![a_mistake_in_a_changed_link_is_reported_at_its_field_and_changes_nothing on 2 threads];

fn edit_page(project: &TestProject, link: &Value) -> String {
    format!("{}/links/{}/edit", desk(project.id), text(link, "id"))
}

async fn fetch(project: &TestProject, link: &Value) -> Value {
    project.api.get(&format!("/v1/payment-links/{}", text(link, "id"))).await.expect(200)
}

/// Sends the form of a page with these answers.
async fn send(person: &Person, page: &Reply, path: &str, answers: &[(&str, &str)]) -> Reply {
    let hidden = hidden(page);
    let seen = hidden.iter().find(|(name, _)| name == "seen").unwrap();
    let mut fields = vec![("seen", seen.1.as_str())];
    fields.extend(answers);
    person.post(path, &fields).await
}

async fn edit(person: &Person, path: &str, answers: &[(&str, &str)]) -> Reply {
    send(person, &person.open(path).await, path, answers).await
}

/// A link that was called "Kopi susu" is called "Teh <manis>" now.
async fn is_found_by_its_new_title(person: &Person, project: &TestProject) {
    let list = format!("{}/links?search=", desk(project.id));
    assert!(person.open(&format!("{list}manis")).await.text.contains("1–1 dari 1"));
    assert!(person.open(&format!("{list}kopi")).await.text.contains("Tidak ada yang cocok"));
    let found = person.open(&format!("{}/payments?search=manis", desk(project.id))).await;
    assert!(found.text.contains("Teh &#60;manis&#62;"), "its payments are found by the new title: {}", found.text);
}

async fn a_changed_link_shows_its_new_texts_everywhere_and_is_found_by_them(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = beside_owner(&kit, &project, Role::Developer).await;
    let link = create_link(&project, json!({ "description": "Dua gelas" })).await;
    attempt(&kit, &project, &link, Method::Qris).await;
    let path = edit_page(&project, &link);
    let form = person.open(&path).await;
    is_page("form", &form, 200);
    assert!(form.text.contains("value=\"Kopi susu\"") && form.text.contains("Dua gelas</textarea>"), "{}", form.text);
    let answers = [("title", "  Teh <manis> "), ("description", "Satu\r\nDua"), ("expires_at", "")];
    let link_page = leads(&send(&person, &form, &path, &answers).await, "link-edited");
    let changed = fetch(&project, &link).await;
    assert_eq!((text(&changed, "title"), text(&changed, "description")), ("Teh <manis>", "Satu\nDua"));
    for name in ["amount", "reference", "allowed_payment_methods", "status", "created_at"] {
        assert_eq!(changed[name], link[name], "{name}");
    }
    assert!(person.open(&link_page).await.text.contains("Teh &#60;manis&#62;"));
    assert!(Customer::of(&kit).open(&link_path(&link)).await.text.contains("Teh &#60;manis&#62;"));
    is_found_by_its_new_title(&person, &project).await;
    let lines = audited(&kit, Deed::LinkEdited).await;
    assert_eq!(lines.iter().map(|(_, subject)| subject.as_str()).collect::<Vec<_>>(), [text(&link, "id")]);
    let log = person.open(&format!("{}/audit", desk(project.id))).await;
    assert!(log.text.contains("Mengubah tautan pembayaran") && log.text.contains("Judul, Keterangan"), "{}", log.text);
    // The same again changes nothing, and the log says nothing of it.
    leads(&edit(&person, &path, &[("title", "Teh <manis>"), ("description", "Satu\nDua")]).await, "link-edited");
    assert_eq!(audited(&kit, Deed::LinkEdited).await.len(), 1);
}

async fn an_expiry_is_changed_removed_or_left_as_it_is_to_the_millisecond(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = beside_owner(&kit, &project, Role::Owner).await;
    let link = create_link(&project, json!({ "expires_at": "2026-11-15T14:30:15.123Z" })).await;
    let path = edit_page(&project, &link);
    for (answer, expected) in [
        ("2026-11-15T21:30", json!("2026-11-15T14:30:15.123Z")),
        ("2026-11-16T21:30", json!("2026-11-16T14:30:00.000Z")),
        ("", Value::Null),
        ("2026-11-15 21:31", json!("2026-11-15T14:31:00.000Z")),
    ] {
        leads(&edit(&person, &path, &[("title", "Kopi"), ("expires_at", answer)]).await, "link-edited");
        assert_eq!(fetch(&project, &link).await["expires_at"], expected, "{answer}");
    }
    kit.clock.advance(Duration::from_hours(48));
    assert_eq!(text(&fetch(&project, &link).await, "status"), "inactive");
}

async fn of_two_members_who_change_a_link_at_once_the_second_is_told(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let one = beside_owner(&kit, &project, Role::Developer).await;
    let two = Person::member(&kit, project.id, Role::Owner, "second@example.com").await;
    let link = create_link(&project, json!({})).await;
    let path = edit_page(&project, &link);
    let form = one.open(&path).await;
    let (first, second) = tokio::join!(
        send(&one, &form, &path, &[("title", "Teh")]),
        send(&two, &form, &path, &[("title", "Susu"), ("description", "Segar")])
    );
    let (won, lost) = if first.status == 303 { ("Teh", second) } else { ("Susu", first) };
    assert_eq!(text(&fetch(&project, &link).await, "title"), won);
    is_page("the second", &lost, 409);
    let typed = if won == "Teh" { "value=\"Susu\"" } else { "value=\"Teh\"" };
    assert!(lost.text.contains("Anggota lain baru saja mengubah tautan ini"), "{}", lost.text);
    assert!(lost.text.contains(typed) && lost.text.contains(won), "what was typed stays, beside what is saved");
    assert_eq!(audited(&kit, Deed::LinkEdited).await.len(), 1);
    // Who has seen the other change may go on.
    let again = send(&two, &lost, &path, &[("title", "Jahe")]).await;
    leads(&again, "link-edited");
    assert_eq!(text(&fetch(&project, &link).await, "title"), "Jahe");
}

/// `form` was shown while the link could be changed.
async fn is_refused(person: &Person, project: &TestProject, link: &Value, form: &Reply, sentence: &str) {
    let path = edit_page(project, link);
    for refused in [send(person, form, &path, &[("title", "Teh")]).await, person.open(&path).await] {
        is_page(sentence, &refused, 409);
        assert!(refused.text.contains(sentence) && !refused.text.contains("name=\"title\""), "{}", refused.text);
    }
    assert_eq!(text(&fetch(project, link).await, "title"), "Kopi susu");
    let page = person.open(&format!("{}/links/{}", desk(project.id), text(link, "id"))).await;
    assert!(!page.text.contains("/edit\""), "there is no button for it");
}

async fn a_link_that_was_paid_or_cancelled_or_has_expired_is_not_changed(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = beside_owner(&kit, &project, Role::Developer).await;
    let [paid, paid_once, cancelled, expired] = [
        json!({}),
        json!({ "allow_multiple_payments": true }),
        json!({}),
        json!({ "expires_at": "2026-11-14T09:35:00Z" }),
    ]
    .map(|members| create_link(&project, members));
    let links = [paid.await, paid_once.await, cancelled.await, expired.await];
    let mut forms = Vec::new();
    for link in &links {
        forms.push(person.open(&edit_page(&project, link)).await);
        assert!(
            person.open(&format!("{}/links/{}", desk(project.id), text(link, "id"))).await.text.contains("/edit\"")
        );
    }
    for link in &links[..2] {
        simulate_paid(&project, &attempt(&kit, &project, link, Method::Qris).await).await;
    }
    cancel_link(&project, &links[2]).await;
    kit.clock.advance(Duration::from_mins(6));
    let sentences = ["sudah dibayar", "sudah dibayar", "tidak aktif lagi", "tidak aktif lagi"];
    for ((link, form), sentence) in links.iter().zip(&forms).zip(sentences) {
        is_refused(&person, &project, link, form, sentence).await;
    }
    assert!(audited(&kit, Deed::LinkEdited).await.is_empty());
}

async fn a_mistake_in_a_changed_link_is_reported_at_its_field_and_changes_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = beside_owner(&kit, &project, Role::Developer).await;
    let link = create_link(&project, json!({ "expires_at": "2026-11-15T14:30:00Z" })).await;
    let path = edit_page(&project, &link);
    for (field, value) in [
        ("title", ""),
        ("title", "   "),
        ("title", &*"a".repeat(256)),
        ("title", "Kopi\u{1}"),
        ("title", "a\u{202e}b"),
        ("description", &"a".repeat(2_001)),
        ("expires_at", "2026-11-14T16:30"),
        ("expires_at", "besok"),
        ("expires_at", "2026-02-30T10:00"),
    ] {
        let row = format!("{field}: {value:.20}");
        let usual = [("title", "Teh"), ("description", "Baru"), ("expires_at", "2026-11-15T21:30")];
        let mut answers: Vec<(&str, &str)> = usual.into_iter().filter(|(name, _)| *name != field).collect();
        answers.push((field, value));
        let reply = edit(&person, &path, &answers).await;
        is_page(&row, &reply, 422);
        assert_eq!(reply.text.matches("class=\"why\"").count(), 1, "{row}: {}", reply.text);
        assert!(reply.text.contains(&format!("id=\"{field}-why\"")), "{row}: {}", reply.text);
    }
    let forged = person.post(&path, &[("title", "Teh"), ("seen", "0")]).await;
    is_page("a form that we did not show", &forged, 409);
    is_page("no token", &person.browser.post(&path, &[("title", "Teh")]).await, 403);
    assert_eq!(fetch(&project, &link).await, link);
    assert_eq!(total(&project.api, "/v1/payment-links").await, 1);
}
