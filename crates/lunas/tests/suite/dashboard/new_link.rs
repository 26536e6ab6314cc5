//! The form for a new payment link: what it creates, the fees that it shows, and what it refuses.

use std::sync::Arc;

use domain::bank::Bank;
use engine::ProjectUpdate;
use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, on_every_database, on_sqlite, on_sqlite_alone};

use crate::support::{
    customer::{hidden, is_page},
    dashboard::{developer_at, leads},
    json::text,
    payments::total,
    people::Person,
};

on_every_database![a_form_sent_twice_makes_one_link_and_a_changed_one_another on 2 threads];

on_sqlite_alone![
    a_link_is_made_as_it_was_filled_in on 2 threads,
    a_mistake_is_reported_at_its_field_and_creates_nothing on 2 threads,
    a_bank_that_is_no_longer_offered_is_chosen_again on 2 threads,
    a_project_that_takes_no_payments_gets_no_link on 2 threads,
];

const LINKS: &str = "/v1/payment-links";

/// Sends the form of a page with these answers.
async fn send(person: &Person, page: &Reply, base: &str, answers: &[(&str, &str)]) -> Reply {
    let hidden = hidden(page);
    let attempt = hidden.iter().find(|(name, _)| name == "attempt").unwrap();
    let mut fields = vec![("attempt", attempt.1.as_str())];
    fields.extend(answers);
    person.post(base, &fields).await
}

async fn made(project: &TestProject, reply: &Reply) -> Value {
    let path = leads(reply, "link-created");
    let id = path.rsplit('/').next().unwrap();
    project.api.get(&format!("{LINKS}/{id}")).await.expect(200)
}

async fn a_link_is_made_as_it_was_filled_in(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "links").await;
    let form = person.open(&format!("{base}/new")).await;
    is_page("form", &form, 200);
    assert!(form.text.contains(&format!("data-preview-url=\"{base}/fees\"")));
    let answers = [
        ("title", " Kopi susu "),
        ("amount", "Rp 15.000"),
        ("reference", "INV-7"),
        ("description", "Satu\r\nDua"),
        ("expires_at", "2026-11-15T21:30"),
        ("qris", "on"),
        ("virtual_account:bca", "on"),
        ("allow_multiple_payments", "on"),
        ("ask_name", "on"),
        ("ask_phone", "on"),
    ];
    let reply = send(&person, &form, &base, &answers).await;
    let link = made(&project, &reply).await;
    assert_eq!((text(&link, "title"), text(&link, "reference")), ("Kopi susu", "INV-7"));
    assert_eq!((&link["amount"], text(&link, "description")), (&json!(15_000), "Satu\nDua"));
    assert_eq!(text(&link, "expires_at"), "2026-11-15T14:30:00.000Z");
    let methods = json!([{ "type": "qris" }, { "type": "virtual_account", "bank": "bca" }]);
    assert_eq!((&link["allowed_payment_methods"], &link["allow_multiple_payments"]), (&methods, &json!(true)));
    let asked = json!({ "name": true, "email": false, "phone": true, "address": false });
    assert_eq!(link["customer_fields"], asked);
    let page = person.open(reply.header("location").unwrap()).await;
    assert!(page.text.contains("Tautan pembayaran siap dibagikan.") && page.text.contains(text(&link, "url")));

    let plain = person.post(&base, &[("title", "Teh"), ("amount", "20000")]).await;
    let plain = made(&project, &plain).await;
    assert!(text(&plain, "reference").starts_with("PL-"), "a reference is made up");
    assert_eq!(plain["allowed_payment_methods"].as_array().unwrap().len(), 6, "nothing ticked means the defaults");
    assert_eq!((&plain["expires_at"], &plain["allow_multiple_payments"]), (&Value::Null, &json!(false)));
}

async fn a_form_sent_twice_makes_one_link_and_a_changed_one_another(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "links").await;
    let form = person.open(&format!("{base}/new")).await;
    let answers = [("title", "Kopi"), ("amount", "15000")];
    let (one, two) = tokio::join!(send(&person, &form, &base, &answers), send(&person, &form, &base, &answers));
    assert_eq!(leads(&one, "link-created"), leads(&two, "link-created"));
    assert_eq!(total(&project.api, LINKS).await, 1);
    let changed = send(&person, &form, &base, &[("title", "Teh"), ("amount", "15000")]).await;
    assert_ne!(leads(&changed, "link-created"), leads(&one, "link-created"));
    assert_eq!(total(&project.api, LINKS).await, 2);
}

async fn a_mistake_is_reported_at_its_field_and_creates_nothing(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "links").await;
    let (long, huge) = ("a".repeat(256), "9".repeat(40));
    let rows = [
        ("title", ""),
        ("title", "   "),
        ("title", &long),
        ("title", "Kopi\u{1}"),
        ("amount", ""),
        ("amount", "0"),
        ("amount", "-15000"),
        ("amount", "15.5"),
        ("amount", "15000,50"),
        ("amount", "lima ribu"),
        ("amount", "99"),
        ("amount", "1.000.000.000.000"),
        ("amount", &huge),
        ("reference", &long),
        ("reference", "a\u{0}b"),
        ("description", &"a".repeat(2_001)),
        ("expires_at", "2026-11-14T16:30"),
        ("expires_at", "2020-01-01T00:00"),
        ("expires_at", "besok"),
        ("expires_at", "2026-02-30T10:00"),
    ];
    for (field, value) in rows {
        let row = format!("{field}: {value:.20}");
        let usual =
            [("title", "Biji <kopi>"), ("amount", "15.000"), ("reference", "R-1"), ("qris", "on"), ("ask_email", "on")];
        let mut answers: Vec<(&str, &str)> = usual.into_iter().filter(|(name, _)| *name != field).collect();
        answers.push((field, value));
        let reply = person.post(&base, &answers).await;
        is_page(&row, &reply, 422);
        assert_eq!(reply.text.matches("class=\"why\"").count(), 1, "{row}: {}", reply.text);
        assert!(reply.text.contains(&format!("id=\"{field}-why\"")), "{row}: {}", reply.text);
        assert!(reply.text.contains("aria-invalid=\"true\""), "{row}");
        if field != "title" {
            assert!(reply.text.contains("value=\"Biji &#60;kopi&#62;\""), "{row}: values are kept");
        }
        for kept in ["name=\"qris\" value=\"on\" checked", "name=\"ask_email\" value=\"on\" checked"] {
            assert!(reply.text.contains(kept), "{row}: {kept}");
        }
    }
    let several = person.post(&base, &[("title", ""), ("amount", "x"), ("expires_at", "x")]).await;
    assert_eq!(several.text.matches("class=\"why\"").count(), 3, "all that is wrong is told at once");
    assert_eq!(total(&project.api, LINKS).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fees_are_shown_while_the_form_is_filled_in() {
    on_sqlite(async |kit| {
        let (project, person, base) = developer_at(&kit, "links").await;
        let fees = async |query: &str| person.open(&format!("{base}/fees?{query}")).await;
        let both = fees("amount=Rp+150.000&qris=on&virtual_account%3Abca=on&title=x&attempt=1").await;
        assert_eq!(both.status, 200);
        assert!(!both.text.contains("<html"), "a piece of a page");
        for part in ["Rp1.050", "Rp148.950", "Rp4.000", "Rp146.000", "Rp150.000"] {
            assert!(both.text.contains(part), "{part} in {}", both.text);
        }
        let low = fees("amount=5000&qris=on&virtual_account%3Abca=on").await;
        assert!(low.text.contains("paling sedikit Rp10.000") && low.text.contains("Rp4.965"), "{}", low.text);
        let lone = fees("amount=5000&qris=on").await;
        assert!(!lone.text.contains("paling sedikit"), "{}", lone.text);
        assert!(fees("amount=99&qris=on").await.text.contains("paling sedikit Rp100."));
        assert!(
            fees("amount=20000").await.text.matches("<tr>").count() == 7,
            "a head and the project's default methods"
        );
        for (query, told) in
            [("", "Isi jumlahnya"), ("amount=abc", "rupiah bulat"), ("amount=9999999999999", "Paling banyak")]
        {
            assert!(fees(query).await.text.contains(told), "{query}");
        }
        let english = fees("amount=5000&lang=en").await;
        assert!(english.text.contains("Virtual account payments are at least Rp10.000."));
        assert_eq!(total(&project.api, LINKS).await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_script_the_fees_come_on_request_and_with_every_mistake() {
    on_sqlite(async |kit| {
        let (project, person, base) = developer_at(&kit, "links").await;
        let asked = person.post(&base, &[("amount", "150.000"), ("qris", "on"), ("preview", "1")]).await;
        is_page("asked", &asked, 200);
        assert!(asked.text.contains("Rp148.950") && asked.text.contains("value=\"150.000\""));
        assert!(!asked.text.contains("class=\"why\""), "nothing is wrong with a form that is not finished");
        let refused = person.post(&base, &[("title", "Kopi"), ("amount", "5000")]).await;
        is_page("refused", &refused, 422);
        assert!(refused.text.contains("id=\"amount-why\"") && refused.text.contains("Rp4.965"), "{}", refused.text);
        assert_eq!(total(&project.api, LINKS).await, 0);
    })
    .await;
}

async fn a_bank_that_is_no_longer_offered_is_chosen_again(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "links").await;
    kit.update(project.id, ProjectUpdate { banks: Some(vec![Bank::Bni]), ..ProjectUpdate::default() }).await;
    let form = person.open(&format!("{base}/new")).await;
    assert!(form.text.contains("name=\"virtual_account:bni\"") && !form.text.contains("name=\"virtual_account:bca\""));
    let answers = [("title", "Kopi"), ("amount", "15000"), ("virtual_account:bca", "on")];
    let refused = send(&person, &form, &base, &answers).await;
    is_page("stale", &refused, 422);
    assert!(refused.text.contains("id=\"methods-why\""));
    assert_eq!(total(&project.api, LINKS).await, 0);
}

async fn a_project_that_takes_no_payments_gets_no_link(kit: Arc<Kit>) {
    let (project, person, base) = developer_at(&kit, "links").await;
    let active = |active| ProjectUpdate { active: Some(active), ..ProjectUpdate::default() };
    kit.update(project.id, active(false)).await;
    let refused = person.post(&base, &[("title", "Kopi"), ("amount", "15000")]).await;
    is_page("inactive", &refused, 409);
    assert!(refused.text.contains("jadi tautan tidak dibuat") && refused.text.contains("value=\"Kopi\""));
    kit.update(project.id, active(true)).await;
    assert_eq!(total(&project.api, LINKS).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_form_needs_a_session_and_its_token() {
    on_sqlite(async |kit| {
        let (project, person, base) = developer_at(&kit, "links").await;
        let stranger = crate::support::customer::Customer::of(&kit);
        for path in [base.clone(), format!("{base}/new"), format!("{base}/fees")] {
            is_page(&path, &stranger.open(&path).await, 401);
        }
        is_page("post", &stranger.post(&base, &[("title", "Kopi"), ("amount", "15000")]).await, 401);
        is_page("no token", &person.browser.post(&base, &[("title", "Kopi"), ("amount", "15000")]).await, 403);
        assert_eq!(total(&project.api, LINKS).await, 0);
    })
    .await;
}
