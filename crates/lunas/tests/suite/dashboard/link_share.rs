//! Handing a link to customers: what chats are sent, the poster, and a link like another one.

use std::{sync::Arc, time::Duration};

use domain::{access::Role, bank::Bank};
use engine::ProjectUpdate;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, on_sqlite_alone};

use crate::support::{
    customer::{attribute, is_page},
    dashboard::{beside_owner, leads},
    json::text,
    links::{cancel_link, create_link},
    people::{Person, desk},
};

on_sqlite_alone![
    a_link_is_sent_by_whatsapp_with_title_amount_and_address_in_the_language_of_the_page on 2 threads,
    a_poster_has_shop_title_amount_and_code_on_the_paper_that_was_asked_for on 2 threads,
    a_duplicate_has_everything_of_the_old_link_but_its_reference on 2 threads,
    a_new_link_begins_with_the_projects_default_methods_and_short_names_of_banks on 2 threads,
];

fn page_of(project: &TestProject, link: &Value) -> String {
    format!("{}/links/{}", desk(project.id), text(link, "id"))
}

/// The text that WhatsApp would send.
fn whatsapp_text(page: &Reply) -> String {
    let (_, rest) = page.text.split_once("href=\"https://wa.me/?text=").unwrap_or_else(|| panic!("{}", page.text));
    percent_decode_str(rest.split('"').next().unwrap()).decode_utf8().unwrap().into_owned()
}

async fn a_link_is_sent_by_whatsapp_with_title_amount_and_address_in_the_language_of_the_page(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = beside_owner(&kit, &project, Role::Viewer).await;
    for title in ["Kopi & <susu> #1 \"50%\"", "مقهى ☕", &"é".repeat(255)] {
        let link = create_link(&project, json!({ "title": title })).await;
        for (query, words) in [("?lang=id", "Bayar lewat tautan ini:"), ("?lang=en", "Pay through this link:")] {
            let page = person.open(&format!("{}{query}", page_of(&project, &link))).await;
            is_page(title, &page, 200);
            let expected = format!("{title} – Rp50.000. {words}\n{}", text(&link, "url"));
            assert_eq!(whatsapp_text(&page), expected);
            let sheet = attribute(page.text.split("data-share=").nth(1).unwrap(), "data-share-title");
            assert!(page.text.contains(&format!(" data-share=\"{}\"", text(&link, "url"))) && !sheet.is_empty());
        }
    }
    let cancelled = create_link(&project, json!({})).await;
    cancel_link(&project, &cancelled).await;
    let page = person.open(&page_of(&project, &cancelled)).await;
    assert!(!page.text.contains("wa.me") && !page.text.contains("data-share"), "nothing to share");
}

async fn a_poster_has_shop_title_amount_and_code_on_the_paper_that_was_asked_for(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = beside_owner(&kit, &project, Role::Viewer).await;
    let link = create_link(&project, json!({ "title": "Kopi <susu>" })).await;
    let poster = format!("{}/poster", page_of(&project, &link));
    let shop = kit.engine.project(project.id).await.unwrap().merchant.name;
    for (query, style) in [("", "poster-a6"), ("?size=a6", "poster-a6"), ("?size=a4", "poster-a4")] {
        let page = person.open(&format!("{poster}{query}")).await;
        is_page(query, &page, 200);
        assert!(page.text.contains(&format!("/assets/{style}.")), "{query}: {}", page.text);
        for part in [&shop, "Kopi &#60;susu&#62;", "Rp50.000", "Pindai dengan kamera", "Scan with your phone"] {
            assert!(page.text.contains(part), "{query}: {part} in {}", page.text);
        }
        assert!(!page.text.contains("role=\"alert\""));
    }
    let english = person.open(&format!("{poster}?lang=en")).await;
    assert!(english.text.contains("Choose how to pay") && english.text.contains("Pindai dengan kamera HP"));
    for size in ["a5", "A4", "", "a4%00", "a6&size=a4"] {
        is_page(size, &person.open(&format!("{poster}?size={size}")).await, 404);
    }
    cancel_link(&project, &link).await;
    let closed = person.open(&format!("{poster}?lang=id")).await;
    assert!(closed.text.contains("Jangan cetak posternya"), "{}", closed.text);
}

/// The form's fields as they are filled in, without hidden ones and texts of several lines.
fn filled(form: &Reply) -> Vec<(String, String)> {
    let main = form.text.split_once("<main").unwrap().1;
    let inputs = main.split("<input ").skip(1).map(|input| input.split('>').next().unwrap());
    let shown = inputs.filter(|input| !input.contains("type=\"hidden\""));
    let is_choice = |input: &str| input.contains("type=\"checkbox\"") || input.contains("type=\"radio\"");
    let ticked = shown.filter(|input| !is_choice(input) || input.contains(" checked"));
    ticked
        .map(|input| format!(" {input}"))
        .map(|input| (attribute(&input, "name"), attribute(&input, "value")))
        .collect()
}

async fn send(person: &Person, base: &str, form: &Reply, more: &[(&str, &str)]) -> Reply {
    let fields = filled(form);
    let shown = fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut fields: Vec<(&str, &str)> =
        shown.filter(|(name, _)| !more.iter().any(|(other, _)| other == name)).collect();
    fields.extend(more);
    person.post(base, &fields).await
}

async fn a_duplicate_has_everything_of_the_old_link_but_its_reference(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = beside_owner(&kit, &project, Role::Developer).await;
    let base = format!("{}/links", desk(project.id));
    let old = json!({
        "title": "Kelas melukis", "amount": 150_000, "reference": "INV-7", "description": "Dua\njam",
        "expires_at": "2026-11-14T09:35:00Z", "allow_multiple_payments": true,
        "allowed_payment_methods": [{ "type": "qris" }, { "type": "virtual_account", "bank": "bca" }],
        "customer_fields": { "name": true, "phone": true },
    });
    let old = create_link(&project, old).await;
    let page = person.open(&page_of(&project, &old)).await;
    assert!(page.text.contains(&format!("{base}/new?from={}", text(&old, "id"))), "{}", page.text);
    let form = person.open(&format!("{base}/new?from={}", text(&old, "id"))).await;
    is_page("duplicate", &form, 200);
    assert!(form.text.contains("Dua\njam</textarea>"));
    let made = send(&person, &base, &form, &[("description", "Dua\njam"), ("reference", "INV-8")]).await;
    let id = leads(&made, "link-created").rsplit('/').next().unwrap().to_owned();
    let new = project.api.get(&format!("/v1/payment-links/{id}")).await.expect(200);
    for (name, value) in old.as_object().unwrap() {
        match name.as_str() {
            "id" | "url" | "reference" => assert_ne!(new[name], *value, "{name}"),
            _ => assert_eq!(new[name], *value, "{name}"),
        }
    }
    assert_eq!(text(&new, "reference"), "INV-8");
    // A cancelled link can be made again, but neither an expiry that has passed nor a bank that is gone.
    cancel_link(&project, &old).await;
    kit.clock.advance(Duration::from_mins(6));
    kit.update(project.id, ProjectUpdate { banks: Some(vec![Bank::Bni]), ..ProjectUpdate::default() }).await;
    let form = person.open(&format!("{base}/new?from={}", text(&old, "id"))).await;
    let fields = filled(&form);
    let value = |name: &str| fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str());
    assert_eq!((value("expires_at"), value("reference"), value("qris")), (Some(""), Some(""), Some("on")));
    assert_eq!(value("virtual_account:bca"), None);
    leads(&send(&person, &base, &form, &[]).await, "link-created");
}

async fn a_new_link_begins_with_the_projects_default_methods_and_short_names_of_banks(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = beside_owner(&kit, &project, Role::Developer).await;
    let form = person.open(&format!("{}/links/new", desk(project.id))).await;
    let ticked: Vec<String> =
        filled(&form).into_iter().filter(|(_, value)| value == "on").map(|(name, _)| name).collect();
    let defaults = kit.engine.project(project.id).await.unwrap().usable_defaults();
    assert_eq!(ticked, defaults.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert!(form.text.contains("<span>BCA</span>") && !form.text.contains("<span>Virtual account BCA</span>"));
    // The phone shows the page before anything is filled in.
    assert!(form.text.contains("<figure class=\"phone\"") && form.text.contains("Judul tautan"), "{}", form.text);
}
