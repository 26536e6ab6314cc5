//! Payment links in the dashboard: the list, one link's page, its QR code, and cancelling it.

use std::{sync::Arc, time::Duration};

use domain::{access::Role, bank::Bank, method::Method};
use engine::ProjectUpdate;
use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, decode_qr, on_every_database, on_sqlite, on_sqlite_alone};

use crate::support::{
    customer::{Customer, is_page, link_path},
    dashboard::{beside_owner, leads},
    json::text,
    links::{attempt, create_link},
    payments::{fetch, simulate_paid, total},
    people::{Person, desk},
};

on_every_database![
    the_list_finds_links_by_title_and_reference_page_by_page on 2 threads,
    cancelling_says_what_it_does_and_does_it_once on 2 threads,
];

on_sqlite_alone![
    a_links_page_shows_its_address_its_terms_and_its_payments on 2 threads,
    a_links_page_shows_what_a_program_noted_about_it on 2 threads,
    an_expired_link_cannot_be_cancelled on 2 threads,
    a_link_without_a_method_on_offer_says_so on 2 threads,
    a_viewer_sees_links_and_changes_none on 2 threads,
    another_projects_link_is_not_found on 2 threads,
    a_form_without_the_sessions_token_cancels_nothing on 2 threads,
];

/// The address of a link's page at its project's desk.
fn page_of(project: &TestProject, link: &Value) -> String {
    format!("{}/links/{}", desk(project.id), text(link, "id"))
}

async fn link_status(project: &TestProject, link: &Value) -> String {
    let link = project.api.get(&format!("/v1/payment-links/{}", text(link, "id"))).await.expect(200);
    text(&link, "status").to_owned()
}

async fn developer(kit: &Kit, project: &TestProject) -> Person {
    beside_owner(kit, project, Role::Developer).await
}

async fn the_list_finds_links_by_title_and_reference_page_by_page(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = developer(&kit, &project).await;
    let base = format!("{}/links", desk(project.id));
    let empty = person.open(&base).await;
    is_page("empty", &empty, 200);
    assert!(empty.text.contains("Belum ada tautan pembayaran") && empty.text.contains("/links/new"));
    for number in 1..=21 {
        kit.clock.advance(Duration::from_millis(1));
        create_link(&project, json!({ "title": format!("Kopi {number:02}"), "reference": format!("A-{number}") }))
            .await;
    }
    create_link(&project, json!({ "title": "100% arabika_", "reference": "<b>x</b>" })).await;
    let first = person.open(&base).await;
    assert!(first.text.contains("1–20 dari 22") && first.text.contains("page=2"), "{}", first.text);
    assert!(first.text.contains("&#60;b&#62;x&#60;/b&#62;") && !first.text.contains("<b>x"));
    let second = person.open(&format!("{base}?page=2")).await;
    assert!(second.text.contains("21–22 dari 22") && second.text.contains("Kopi 01"));
    for (search, found) in [("kopi+07", "Kopi 07"), ("a-13", "Kopi 13"), ("%25+arabika_", "100% arabika_")] {
        let page = person.open(&format!("{base}?search={search}")).await;
        assert!(page.text.contains(found) && page.text.contains("1–1 dari 1"), "{search}");
    }
    let searched = person.open(&format!("{base}?search=Kopi")).await;
    assert!(searched.text.contains("page=2&amp;search=Kopi") || searched.text.contains("page=2&#38;search=Kopi"));
    let none = person.open(&format!("{base}?search=teh")).await;
    assert!(none.text.contains("Tidak ada yang cocok") && none.text.contains("value=\"teh\""));
    let long = person.open(&format!("{base}?search={}&page=x", "a".repeat(300))).await;
    assert_eq!(long.status, 200);
}

async fn a_links_page_shows_its_address_its_terms_and_its_payments(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = developer(&kit, &project).await;
    let link = create_link(&project, json!({ "description": "Dua gelas", "customer_fields": { "name": true } })).await;
    let page = person.open(&page_of(&project, &link)).await;
    is_page("link", &page, 200);
    for part in ["Kopi susu", "Rp50.000", "Dua gelas", "QRIS", "Nama", text(&link, "url"), text(&link, "reference")] {
        assert!(page.text.contains(part), "{part} in {}", page.text);
    }
    assert!(page.text.contains("Belum ada pembayaran"));
    let payment = attempt(&kit, &project, &link, Method::Qris).await;
    simulate_paid(&project, &payment).await;
    let page = person.open(&page_of(&project, &link)).await;
    assert!(page.text.contains(&format!("{}/payments/{}", desk(project.id), text(&payment, "id"))));
    assert!(page.text.contains(&format!("/payments?link={}", text(&link, "id"))));
    for path in [page_of(&project, &link), format!("{}/links", desk(project.id))] {
        let page = person.open(&path).await;
        assert!(page.text.contains("<span class=\"badge paid\">Lunas</span>"), "{path}: {}", page.text);
        assert!(!page.text.contains("<span class=\"badge active\">"), "{path}");
    }
    let page = person.open(&page_of(&project, &link)).await;
    assert!(!page.text.contains("wa.me") && !page.text.contains("/cancel\""), "nothing is left to share or to cancel");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_qr_code_of_a_link_holds_its_address() {
    on_sqlite(async |kit| {
        let project = kit.sandbox().await;
        let person = developer(&kit, &project).await;
        let link = create_link(&project, json!({ "reference": "INV/2026 \"1\"" })).await;
        let request = person.request(reqwest::Method::GET, &format!("{}/qr.png", page_of(&project, &link)));
        let response = person.browser.begin(request).await;
        assert_eq!(response.headers()["content-type"], "image/png");
        assert_eq!(response.headers()["content-disposition"], "attachment; filename=\"QR-INV-2026--1-.png\"");
        assert_eq!(decode_qr(&response.bytes().await.unwrap()).as_deref(), Some(text(&link, "url")));
    })
    .await;
}

#[track_caller]
fn says_already_cancelled(page: &Reply) {
    is_page("again", page, 409);
    assert!(page.text.contains("Tautan ini sudah dibatalkan.") && !page.text.contains("class=\"danger\""));
}

async fn a_links_page_shows_what_a_program_noted_about_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = developer(&kit, &project).await;
    let noted = create_link(&project, json!({ "metadata": { "<b>": "<script>1</script>", "kasir": "Kasir 1" } })).await;
    let page = person.open(&page_of(&project, &noted)).await;
    is_page("noted", &page, 200);
    assert!(page.text.contains("Metadata") && page.text.contains("Kasir 1") && page.text.contains("&#60;b&#62;"));
    assert!(page.text.contains("&#60;script&#62;1") && !page.text.contains("<script>1"));
    let bare = person.open(&page_of(&project, &create_link(&project, json!({})).await)).await;
    assert!(!bare.text.contains("Metadata"));
    // Customers do not see it.
    let shown = Customer::of(&kit).open(&link_path(&noted)).await;
    assert!(shown.text.contains("Kopi susu") && !shown.text.contains("Kasir 1"));
}

async fn cancelling_says_what_it_does_and_does_it_once(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = developer(&kit, &project).await;
    let link = create_link(&project, json!({ "allow_multiple_payments": true })).await;
    let pending = attempt(&kit, &project, &link, Method::Qris).await;
    let paid = attempt(&kit, &project, &link, Method::Qris).await;
    simulate_paid(&project, &paid).await;
    let cancel = format!("{}/cancel", page_of(&project, &link));
    let question = person.open(&cancel).await;
    is_page("question", &question, 200);
    assert!(question.text.contains("1 pembayaran yang masih menunggu ikut dibatalkan"), "{}", question.text);
    assert_eq!(link_status(&project, &link).await, "active", "looking changes nothing");
    let path = leads(&person.post(&cancel, &[]).await, "link-cancelled");
    assert!(person.open(&path).await.text.contains("Dibatalkan"));
    assert_eq!(link_status(&project, &link).await, "cancelled");
    assert_eq!(text(&fetch(&project, &pending).await, "status"), "cancelled");
    assert_eq!(text(&fetch(&project, &paid).await, "status"), "paid");
    let closed = person.open(&link_path(&link)).await;
    assert!(!closed.text.contains("name=\"method\""), "the page takes nothing any more");
    for again in [person.post(&cancel, &[]).await, person.open(&cancel).await] {
        says_already_cancelled(&again);
    }
}

async fn an_expired_link_cannot_be_cancelled(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = developer(&kit, &project).await;
    let link = create_link(&project, json!({ "expires_at": "2026-11-14T09:35:00Z" })).await;
    kit.clock.advance(Duration::from_mins(6));
    let refused = person.post(&format!("{}/cancel", page_of(&project, &link)), &[]).await;
    is_page("expired", &refused, 409);
    assert!(refused.text.contains("sudah lewat waktunya"));
    assert_eq!(link_status(&project, &link).await, "inactive");
    let page = person.open(&page_of(&project, &link)).await;
    assert!(!page.text.contains("/cancel\""), "there is no button for it");
}

async fn a_link_without_a_method_on_offer_says_so(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = developer(&kit, &project).await;
    let bank = json!([{ "type": "virtual_account", "bank": "bca" }]);
    let link = create_link(&project, json!({ "allowed_payment_methods": bank })).await;
    kit.update(project.id, ProjectUpdate { banks: Some(vec![Bank::Bni]), ..ProjectUpdate::default() }).await;
    let list = person.open(&format!("{}/links", desk(project.id))).await;
    assert!(list.text.contains("Tidak bisa dibayar"), "{}", list.text);
    let page = person.open(&page_of(&project, &link)).await;
    assert!(page.text.contains("Tidak ada lagi yang ditawarkan") && !page.text.contains("BCA"), "{}", page.text);
    assert!(!page.text.contains("/cancel\""), "there is no button for it");
    let refused = person.post(&format!("{}/cancel", page_of(&project, &link)), &[]).await;
    is_page("not payable", &refused, 409);
    assert!(refused.text.contains("sedang tidak menawarkan satu pun cara bayar"), "{}", refused.text);
}

async fn a_viewer_sees_links_and_changes_none(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = create_link(&project, json!({})).await;
    let person = beside_owner(&kit, &project, Role::Viewer).await;
    let (base, page) = (format!("{}/links", desk(project.id)), page_of(&project, &link));
    for path in [&base, &page] {
        let shown = person.open(path).await;
        is_page(path, &shown, 200);
        for act in ["/links/new", "/cancel\"", "/edit\""] {
            assert!(!shown.text.contains(act), "{path}: {act}");
        }
    }
    for path in
        [format!("{base}/new"), format!("{base}/fees?amount=15000"), format!("{page}/cancel"), format!("{page}/edit")]
    {
        is_page(&path, &person.open(&path).await, 403);
    }
    is_page("create", &person.post(&base, &[("title", "Kopi"), ("amount", "15000")]).await, 403);
    is_page("cancel", &person.post(&format!("{page}/cancel"), &[]).await, 403);
    is_page("edit", &person.post(&format!("{page}/edit"), &[("title", "Teh")]).await, 403);
    is_page("poster", &person.open(&format!("{page}/poster")).await, 200);
    assert_eq!(total(&project.api, "/v1/payment-links").await, 1);
    assert_eq!(link_status(&project, &link).await, "active");
}

async fn another_projects_link_is_not_found(kit: Arc<Kit>) {
    let (mine, other) = (kit.sandbox().await, kit.sandbox().await);
    let person = Person::member(&kit, mine.id, Role::Owner, "owner@example.com").await;
    let link = create_link(&other, json!({})).await;
    let id = text(&link, "id");
    for base in [desk(mine.id), desk(other.id)] {
        for rest in ["", "/cancel", "/qr.png", "/edit", "/poster", "/poster?size=a4"] {
            let path = format!("{base}/links/{id}{rest}");
            is_page(&path, &person.open(&path).await, 404);
        }
        for act in ["cancel", "edit"] {
            is_page(act, &person.post(&format!("{base}/links/{id}/{act}"), &[("title", "Teh")]).await, 404);
        }
        is_page("duplicate", &person.open(&format!("{base}/links/new?from={id}")).await, 404);
    }
    for malformed in ["x", "pl_1", "pay_01kzdq3f5ve8x9m2r7t4w6y8za", "%00"] {
        for rest in ["", "/poster", "/edit"] {
            let path = format!("{}/links/{malformed}{rest}", desk(mine.id));
            is_page(&path, &person.open(&path).await, 404);
        }
        let path = format!("{}/links/new?from={malformed}", desk(mine.id));
        is_page(&path, &person.open(&path).await, 404);
    }
    assert_eq!(link_status(&other, &link).await, "active");
    assert_eq!(total(&mine.api, "/v1/payment-links").await, 0);
}

async fn a_form_without_the_sessions_token_cancels_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = developer(&kit, &project).await;
    let link = create_link(&project, json!({})).await;
    let cancel = format!("{}/cancel", page_of(&project, &link));
    is_page("none", &person.browser.post(&cancel, &[]).await, 403);
    is_page("forged", &person.browser.post(&cancel, &[("form_token", "0")]).await, 403);
    let token = person.token().unwrap().form_token();
    let elsewhere = person.browser.form(&cancel, &[("form_token", &token)]).header("sec-fetch-site", "cross-site");
    assert_eq!(person.browser.send(elsewhere).await.status, 403);
    assert_eq!(link_status(&project, &link).await, "active");
}
