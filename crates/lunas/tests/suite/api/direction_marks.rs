//! Invisible characters that change the direction of text are refused wherever text is input, as control characters are
//! (docs/contract.md, decisions §2). Texts of before that was so are still shown.

use std::sync::Arc;

use domain::{access::Role, project::Environment};
use engine::NewProject;
use serde_json::json;
use testkit::{Kit, on_sqlite_alone};

use crate::support::{
    customer::{Customer, is_page, link_path},
    hostile::OF_BEFORE,
    json::{text, with},
    links::{create_link, link_of_before},
    payments::{fresh_key, pending_qris},
    people::{Person, desk},
    refusals::refused,
    rows::rows,
    samples,
};

on_sqlite_alone![
    the_api_refuses_them_in_every_text,
    the_checkout_refuses_them_in_every_field,
    the_dashboard_refuses_them_in_every_field,
    texts_of_before_are_still_shown,
];

const MARKS: [char; 12] = [
    '\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2066}',
    '\u{2067}', '\u{2068}', '\u{2069}',
];

fn marked() -> impl Iterator<Item = String> {
    MARKS.into_iter().map(|mark| format!("Kopi {mark}susu"))
}

async fn the_api_refuses_them_in_every_text(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    let simulate = format!("/v1/sandbox/payments/{}/simulate", text(&payment, "id"));
    let before = rows(&kit.database);
    for text in marked() {
        let order = with(samples::qris(&project, 15_000), "reference", text.as_str());
        let mut replies = vec![("reference", project.api.pay(&fresh_key(), &order).await)];
        for member in ["title", "description", "reference"] {
            let body = with(samples::link(&project, 50_000), member, text.as_str());
            replies.push((member, project.api.post("/v1/payment-links", &body).await));
        }
        let report = json!({ "outcome": "paid", "receipt_id": text });
        replies.push(("receipt_id", project.api.post(&simulate, &report).await));
        for (member, reply) in replies {
            let message = refused(member, reply, 400, "VALIDATION_ERROR");
            assert_eq!(message, format!("`{member}` must not contain characters that change the direction of text"));
        }
    }
    assert_eq!(rows(&kit.database), before);
}

async fn the_checkout_refuses_them_in_every_field(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let fields = json!({ "name": true, "email": true, "phone": true, "address": true });
    let link = create_link(&project, json!({ "customer_fields": fields })).await;
    let sound = [("name", "Siti"), ("email", "siti@example.id"), ("phone", "0812"), ("address", "Jl. Melati 1")];
    let before = rows(&kit.database);
    for (wrong, value) in sound {
        let value = format!("{value}\u{202e}1");
        let answers = sound.map(|(name, usual)| (name, if name == wrong { value.as_str() } else { usual }));
        let answers: Vec<(&str, &str)> = answers.into_iter().chain([("method", "qris")]).collect();
        is_page(wrong, &Customer::of(&kit).choose(&link, &answers).await, 422);
    }
    assert_eq!(rows(&kit.database), before);
}

async fn the_dashboard_refuses_them_in_every_field(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    let base = desk(project.id);
    let before = rows(&kit.database);
    let text = OF_BEFORE;
    for (path, fields) in [
        ("/dashboard/projects/new".to_owned(), vec![("name", text), ("environment", "sandbox")]),
        (format!("{base}/keys"), vec![("name", text)]),
        (format!("{base}/links"), vec![("title", text), ("amount", "15000")]),
        (format!("{base}/links"), vec![("title", "Kopi"), ("amount", "15000"), ("description", text)]),
        (format!("{base}/settings/members"), vec![("email", "b\u{202e}@example.com"), ("role", "viewer")]),
        (
            format!("{base}/settings/merchant"),
            vec![("merchant_name", text), ("merchant_city", "BANDUNG"), ("merchant_postal_code", "40111")],
        ),
        (format!("{base}/settings/origins"), vec![("allowed_origins", "https://\u{202e}a.example")]),
        (format!("{base}/notifications/url"), vec![("url", "https://a.example/\u{202e}b")]),
    ] {
        is_page(&path, &owner.post(&path, &fields).await, 422);
    }
    assert_eq!(rows(&kit.database), before);
    let new = NewProject { name: text.to_owned(), environment: Environment::Sandbox, merchant_name: None };
    assert!(kit.engine.create_project(new).await.is_err(), "commands go the same way");
}

async fn texts_of_before_are_still_shown(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = link_of_before(&kit, &project).await;
    assert_eq!(text(&link, "title"), OF_BEFORE);
    let page = Customer::of(&kit).open(&link_path(&link)).await;
    is_page("its page", &page, 200);
    let escaped = OF_BEFORE.replace('<', "&#60;").replace('>', "&#62;");
    assert!(page.text.contains(&escaped) && !page.text.contains("<script>window"), "{}", page.text);
    let owner = Person::member(&kit, project.id, Role::Owner, "siti@example.com").await;
    let page = owner.open(&format!("{}/links/{}", desk(project.id), text(&link, "id"))).await;
    is_page("in the dashboard", &page, 200);
    assert!(page.text.contains(&escaped), "{}", page.text);
}
