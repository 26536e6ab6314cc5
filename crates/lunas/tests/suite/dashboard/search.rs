//! The box that every page of a project has: what it finds, what it opens, and what it refuses.

use std::sync::Arc;

use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::{
    dashboard::payments::{make, owner},
    support::{
        customer::{Customer, is_page, payment_of},
        json::text,
        links::create_link,
        people::{Person, desk},
        rows::rows,
        samples,
    },
};

on_every_database![
    one_box_finds_payments_links_and_customers_of_its_project_alone,
    what_is_typed_in_full_opens_at_once,
    no_character_of_a_search_is_special,
];

on_sqlite_alone![a_search_that_cannot_be_done_is_refused_with_a_sentence, every_page_of_a_project_has_the_box];

async fn search(person: &Person, project: &TestProject, query: &str) -> Reply {
    person.open(&format!("{}/search{query}", desk(project.id))).await
}

/// The groups of results that a page has, by their ids.
fn groups(page: &Reply) -> String {
    let ids = page.text.split("<h2 id=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    ids.collect::<Vec<_>>().join(" ")
}

/// A payment of Siti Aisyah through a link of that title.
async fn of_siti(kit: &Kit, project: &TestProject, title: &str, reference: &str) -> (Value, Value) {
    let fields = json!({ "name": true, "email": true, "phone": true });
    let members = json!({
        "title": title, "reference": reference, "allow_multiple_payments": true, "customer_fields": fields,
    });
    let link = create_link(project, members).await;
    let answers = [
        ("method", "virtual_account:bca"),
        ("name", "Siti Aisyah"),
        ("email", "siti@example.com"),
        ("phone", "0812-3456-7890"),
    ];
    let payment = payment_of(project, &Customer::of(kit).choose(&link, &answers).await).await;
    (link, payment)
}

async fn one_box_finds_payments_links_and_customers_of_its_project_alone(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let person = owner(&kit, &project).await;
    let (_, payment) = of_siti(&kit, &project, "Kelas kopi", "KLS-1").await;
    make(&kit, &project, "INV-kopi", samples::qris(&project, 15_000)).await;
    of_siti(&kit, &other, "Kelas rahasia", "KLS-9").await;
    for (query, found) in [
        ("", ""),
        ("?q=", ""),
        ("?q=kls", "payments links"),
        ("?q=KELAS+kopi", "payments links"),
        ("?q=INV", "payments"),
        ("?q=aisyah", "customers payments"),
        ("?q=SITI%40example", "customers payments"),
        ("?q=%2B62+812+3456", "customers payments"),
        ("?q=Rp50.000", "payments"),
        ("?q=rahasia", ""),
        ("?q=nothing+of+the+kind", ""),
    ] {
        let page = search(&person, &project, query).await;
        is_page(query, &page, 200);
        assert_eq!(groups(&page), found, "{query}");
        assert!(!page.text.contains("KLS-9"), "{query}");
        let is_nothing = found.is_empty() && query.len() > "?q=".len();
        assert_eq!(page.text.contains("Tidak ada yang cocok"), is_nothing, "{query}");
    }
    let page = search(&person, &project, "?q=aisyah").await;
    let theirs = format!("{}/customers/{}", desk(project.id), text(&payment, "id"));
    assert!(page.text.contains(&theirs) && page.text.contains("siti@example.com · 0812-3456-7890"));
}

async fn what_is_typed_in_full_opens_at_once(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let person = owner(&kit, &project).await;
    let (link, payment) = of_siti(&kit, &project, "Kelas kopi", "KLS-1").await;
    let direct = make(&kit, &project, "INV 2026/1", samples::virtual_account(&project, "bri", 15_000)).await;
    make(&kit, &project, "twice", samples::qris(&project, 15_000)).await;
    make(&kit, &project, "twice", samples::qris(&project, 15_000)).await;
    let (foreign_link, foreign) = of_siti(&kit, &other, "Kelas kopi", "KLS-2").await;
    let number = direct["instructions"]["virtual_account_number"].as_str().unwrap();
    let grouped =
        number.as_bytes().chunks(4).map(|four| std::str::from_utf8(four).unwrap()).collect::<Vec<_>>().join("+");
    let (paid, through) = (format!("/payments/{}", text(&direct, "id")), format!("/payments/{}", text(&payment, "id")));
    for (typed, to) in [
        (text(&direct, "id"), &paid),
        (text(&payment, "id"), &through),
        (text(&link, "id"), &format!("/links/{}", text(&link, "id"))),
        ("INV+2026%2F1", &paid),
        (number, &paid),
        (&grouped, &paid),
    ] {
        let reply = search(&person, &project, &format!("?q={typed}")).await;
        assert_eq!(reply.status, 303, "{typed}: {}", reply.text);
        assert_eq!(reply.header("location"), Some(format!("{}{to}", desk(project.id)).as_str()), "{typed}");
    }
    for typed in ["twice", "INV+2026", "KLS-2", text(&foreign, "id"), text(&foreign_link, "id")] {
        is_page(typed, &search(&person, &project, &format!("?q={typed}")).await, 200);
    }
}

async fn a_search_that_cannot_be_done_is_refused_with_a_sentence(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = owner(&kit, &project).await;
    make(&kit, &project, "a b c ab", samples::qris(&project, 15_000)).await;
    let before = rows(&kit.database);
    let (long, longest) = ("a".repeat(256), "a".repeat(10_000));
    for (query, why) in [
        ("?q=a", "Tulis paling sedikit 3 huruf atau angka."),
        ("?q=%25", "Tulis paling sedikit 3 huruf atau angka."),
        ("?q=a+b+c", "Tulis paling sedikit 3 huruf atau angka."),
        (&format!("?q={long}"), "Tulis paling banyak 255 karakter."),
        (&format!("?q={longest}"), "Tulis paling banyak 255 karakter."),
        ("?q=one+two+three+four+five+six+seven+eight+nine", "Tulis paling banyak 8 kata."),
        ("?q=abc%00def", "Ada karakter khusus yang tak terlihat."),
        ("?q=abc&q=abc", "Tulis satu pencarian saja."),
    ] {
        let page = search(&person, &project, query).await;
        let query = query.get(..40).unwrap_or(query);
        is_page(query, &page, 422);
        assert!(page.text.contains(why), "{query}: {}", page.text);
        assert!(page.text.contains("aria-describedby=\"q-why q-hint\"") && groups(&page).is_empty(), "{query}");
        assert!(!page.text.contains("a b c ab"), "{query}");
    }
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
}

async fn no_character_of_a_search_is_special(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = owner(&kit, &project).await;
    make(&kit, &project, "100% kopi_susu", samples::qris(&project, 15_000)).await;
    make(&kit, &project, "שלום-עולם", samples::qris(&project, 15_000)).await;
    make(&kit, &project, "'; DROP TABLE payments; --", samples::qris(&project, 15_000)).await;
    for (query, found) in [
        ("?q=100%25", "100% kopi_susu"),
        ("?q=opi_su", "100% kopi_susu"),
        ("?q=%25%25%25", ""),
        ("?q=___", ""),
        ("?q=%D7%A9%D7%9C%D7%95%D7%9D", "שלום-עולם"),
        ("?q=drop+table", "&#39;; DROP TABLE payments; --"),
        ("?q=%27+OR+%271%27%3D%271", ""),
        ("?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E", ""),
        ("?q=%E2%80%AEkopi", ""),
    ] {
        let page = search(&person, &project, query).await;
        is_page(query, &page, 200);
        assert_eq!(groups(&page).is_empty(), found.is_empty(), "{query}: {}", page.text);
        assert!(page.text.contains(found) && !page.text.contains("<script>alert"), "{query}");
    }
}

async fn every_page_of_a_project_has_the_box(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = owner(&kit, &project).await;
    let action = format!("action=\"{}/search\"", desk(project.id));
    let account = person.open("/dashboard/account").await;
    assert!(!account.text.contains("/search\""), "a page of no project has nothing to search in");
    for path in ["", "/payments", "/links", "/balance", "/notifications", "/keys", "/settings", "/audit", "/search"] {
        let page = person.open(&format!("{}{path}", desk(project.id))).await;
        assert!(page.text.contains(&action), "{path}");
    }
}
