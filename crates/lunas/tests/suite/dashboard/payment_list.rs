//! The list of payments as merchants use it: days by name, sorting, what it adds up to, and a link chosen by its title.

use std::{sync::Arc, time::Duration};

use domain::time::Timestamp;
use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::{
    dashboard::payments::{cells, list, make, make_many, owner, references, sum},
    support::{
        customer::{Customer, is_page, payment_of},
        json::{text, with},
        links::create_link,
        payments::{create, pending_qris, report, simulate, simulate_paid},
        people::desk,
        samples,
    },
};

on_every_database![
    a_list_is_sorted_by_time_or_amount_and_keeps_its_filters,
    very_many_payments_are_neither_added_up_nor_sorted_by_amount_and_have_older_pages,
    only_money_that_came_is_in_a_sum,
    a_link_is_chosen_by_its_title,
];

on_sqlite_alone![
    days_by_name_are_counted_from_today_and_stay_in_the_address,
    a_row_is_called_by_its_customer_or_its_link_or_its_reference,
];

/// The address of the link with that text.
fn address(page: &Reply, label: &str) -> String {
    let before = page.text.split(&format!(">{label}<")).next().unwrap();
    let tag = before.rsplit("href=\"").next().unwrap();
    tag.split('"').next().unwrap().replace("&#38;", "&").replace("&amp;", "&")
}

async fn days_by_name_are_counted_from_today_and_stay_in_the_address(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (reference, at) in [
        ("october", "2026-10-31T16:59:59.999Z"),
        ("month", "2026-10-31T17:00:00Z"),
        ("week", "2026-11-13T17:00:00Z"),
        ("yesterday", "2026-11-18T17:00:00Z"),
        ("today", "2026-11-19T17:00:00Z"),
    ] {
        kit.clock.set(Timestamp::parse(at).unwrap());
        create(&project, &with(samples::virtual_account(&project, "bca", 10_000), "reference", reference)).await;
    }
    // Half past midnight in Jakarta, on the 20th.
    kit.clock.set(Timestamp::parse("2026-11-19T17:30:00Z").unwrap());
    let person = owner(&kit, &project).await;
    let everything = list(&person, &project, "?status=").await;
    for (label, query, found) in [
        ("Hari ini", "?period=today", "today"),
        ("Kemarin", "?period=yesterday", "yesterday"),
        ("7 hari", "?period=7days", "today yesterday week"),
        ("30 hari", "?period=30days", "today yesterday week month october"),
        ("Bulan ini", "?period=month", "today yesterday week month"),
        ("Semua hari", "", "today yesterday week month october"),
    ] {
        let path = address(&everything, label);
        assert!(path.ends_with(&format!("/payments{query}")), "{label}: {path}");
        let page = person.open(&path).await;
        is_page(label, &page, 200);
        assert_eq!(references(&page).join(" "), found, "{label}");
        assert!(page.text.contains(&format!("aria-current=\"true\">{label}</a>")), "{label} is marked");
    }
    let of_dates = list(&person, &project, "?period=today&from=2026-11-19&to=2026-11-19").await;
    assert_eq!(references(&of_dates), ["yesterday"], "dates count before a name");
    assert_eq!(address(&of_dates, "Semua hari").rsplit('/').next(), Some("payments"));
    let none = list(&person, &project, "?period=today&status=paid").await;
    assert!(none.text.contains("Tidak ada yang cocok") && sum(&none).is_none());
}

async fn a_list_is_sorted_by_time_or_amount_and_keeps_its_filters(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = owner(&kit, &project).await;
    for (reference, amount) in [("INV-b", 20_000), ("INV-d", 40_000), ("INV-a", 10_000), ("INV-c", 30_000)] {
        make(&kit, &project, reference, samples::qris(&project, amount)).await;
    }
    make(&kit, &project, "other", samples::virtual_account(&project, "bca", 25_000)).await;
    let start = list(&person, &project, "?q=inv&method=qris").await;
    assert_eq!(references(&start).join(" "), "INV-c INV-a INV-d INV-b");
    let [oldest, highest] = ["Waktu (WIB)", "Jumlah"].map(|head| address(&start, head));
    let page = person.open(&oldest).await;
    assert_eq!(references(&page).join(" "), "INV-b INV-d INV-a INV-c", "{oldest}");
    assert!(page.text.contains("aria-sort=\"ascending\""));
    let page = person.open(&highest).await;
    assert_eq!(references(&page).join(" "), "INV-d INV-c INV-b INV-a", "{highest}");
    assert!(page.text.contains("<th class=\"num\" aria-sort=\"descending\">"));
    let lowest = address(&page, "Jumlah");
    let page = person.open(&lowest).await;
    assert_eq!(references(&page).join(" "), "INV-a INV-b INV-c INV-d", "{lowest}");
    assert_eq!(references(&person.open(&address(&page, "Waktu (WIB)")).await), references(&start));
}

/// Sums and sorting are checked in one rule, since it takes a while to create so many payments.
async fn very_many_payments_are_neither_added_up_nor_sorted_by_amount_and_have_older_pages(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    make_many(&kit, &project, 10_001).await;
    let person = owner(&kit, &project).await;
    for query in ["?status=pending", "?q=bulk"] {
        let page = list(&person, &project, query).await;
        let expected = "Lebih dari 10.000, Terlalu banyak untuk dijumlahkan. Pilih hari atau saringan lain.: ";
        assert_eq!(sum(&page).as_deref(), Some(expected), "{query}");
        assert!(page.text.contains("page=2") && references(&page).len() == 20, "{query}");
        let last = list(&person, &project, &format!("{query}&page=501")).await;
        assert!(references(&last).len() == 1 && !last.text.contains("page=502"), "{query}");
    }
    let all = list(&person, &project, "").await;
    assert_eq!(sum(&all).as_deref(), Some("10.001, 0 dibayar: Rp0 Rp0 Rp0"));
    let file = person.open(&format!("{}/payments.csv?q=BULK-1", desk(project.id))).await;
    assert_eq!(cells(&file, ',').len(), 1 + 1_112, "the head, and all that begin with 1");
    for query in ["?sort=highest", "?status=pending&sort=lowest"] {
        let page = list(&person, &project, query).await;
        is_page(query, &page, 200);
        assert!(page.text.contains("terlalu banyak untuk diurutkan menurut jumlah"), "{query}");
        assert_eq!(references(&page).len(), 20, "{query}");
        assert!(!page.text.contains("<th class=\"num\" aria-sort"), "{query}: it is not sorted by amount");
    }
    make(&kit, &project, "newest", samples::virtual_account(&project, "bca", 25_000)).await;
    let few = list(&person, &project, "?sort=highest&method=virtual_account").await;
    assert!(!few.text.contains("terlalu banyak") && references(&few) == ["newest"]);
}

async fn only_money_that_came_is_in_a_sum(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = owner(&kit, &project).await;
    let paid = pending_qris(&project, 100_000).await;
    simulate_paid(&project, &paid).await;
    let account = create(&project, &samples::virtual_account(&project, "bca", 50_000)).await;
    simulate_paid(&project, &account).await;
    // Money that did not come, or came and pays nothing.
    let failed = pending_qris(&project, 1_000_000).await;
    report(&project, &failed, "failed").await;
    let wrong = pending_qris(&project, 2_000_000).await;
    let short = json!({ "outcome": "paid", "amount": 1_999_999, "receipt_id": "short" });
    simulate(&project, &wrong, &short).await.expect(200);
    pending_qris(&project, 3_000_000).await;
    let all = "5, 2 dibayar: Rp150.000 Rp4.700 Rp145.300";
    assert_eq!(sum(&list(&person, &project, "").await).as_deref(), Some(all));
    kit.clock.advance(Duration::from_mins(16));
    assert_eq!(sum(&list(&person, &project, "").await).as_deref(), Some(all), "expired money is no money");
    let unpaid = sum(&list(&person, &project, "?status=expired").await);
    assert_eq!(unpaid.as_deref(), Some("2, 0 dibayar: Rp0 Rp0 Rp0"));
}

/// A payment of a customer who filled in what the link asks for.
async fn through(kit: &Kit, project: &TestProject, link: &Value, answers: &[(&str, &str)]) -> Value {
    kit.clock.advance(Duration::from_millis(1));
    let answers: Vec<(&str, &str)> = answers.iter().copied().chain([("method", "qris")]).collect();
    payment_of(project, &Customer::of(kit).choose(link, &answers).await).await
}

/// A link that anybody can pay, with that title.
async fn titled(project: &TestProject, title: &str, reference: &str, fields: Value) -> Value {
    let members = json!({
        "title": title, "reference": reference, "allow_multiple_payments": true, "customer_fields": fields,
    });
    create_link(project, members).await
}

async fn a_row_is_called_by_its_customer_or_its_link_or_its_reference(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = owner(&kit, &project).await;
    make(&kit, &project, "INV-1", samples::qris(&project, 15_000)).await;
    let plain = titled(&project, "Kopi <susu>", "PL-1", json!({})).await;
    through(&kit, &project, &plain, &[]).await;
    let asks = titled(&project, "Teh", "PL-2", json!({ "name": true, "phone": true })).await;
    through(&kit, &project, &asks, &[("name", "Siti & Budi"), ("phone", "0812")]).await;
    let phone = titled(&project, "Gula", "PL-3", json!({ "phone": true })).await;
    through(&kit, &project, &phone, &[("phone", "0813")]).await;
    let page = list(&person, &project, "").await;
    let names: Vec<&str> =
        page.text.split("<a class=\"row\"").skip(1).map(|row| row.split(['>', '<']).nth(1).unwrap()).collect();
    assert_eq!(names, ["0813", "Siti &#38; Budi", "Kopi &#60;susu&#62;", "INV-1"]);
    assert_eq!(references(&page), ["PL-3", "PL-2", "PL-1", "INV-1"]);
    assert_eq!(page.text.matches("<small>INV-1</small>").count(), 0, "what a row is called is not said twice");
}

async fn a_link_is_chosen_by_its_title(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let person = owner(&kit, &project).await;
    for (title, reference) in [("Kopi", "PL-1"), ("Kopi susu", "PL-2"), ("Kopi susu", "PL-3"), ("Teh <b>", "PL-4")] {
        let link = titled(&project, title, reference, json!({})).await;
        through(&kit, &project, &link, &[]).await;
    }
    let foreign = titled(&other, "Rahasia", "PL-9", json!({})).await;
    through(&kit, &other, &foreign, &[]).await;
    for (typed, found) in
        [("Kopi", "PL-1"), ("+kopi+", "PL-1"), ("teh", "PL-4"), ("TEH+%3Cb%3E", "PL-4"), ("PL-2", "PL-2")]
    {
        let page = list(&person, &project, &format!("?link={typed}&status=pending")).await;
        is_page(typed, &page, 200);
        assert_eq!(references(&page), [found], "{typed}");
        assert!(page.text.contains("class=\"drop\""), "{typed}: the page says what it is filtered by");
    }
    let page = list(&person, &project, "?link=kopi+su&status=pending").await;
    is_page("several", &page, 422);
    assert!(page.text.contains("Ada beberapa tautan yang cocok. Pilih satu:") && references(&page).is_empty());
    let chosen = address(&page, "Kopi susu");
    assert!(chosen.contains("link=pl_") && chosen.contains("status=pending"), "{chosen}");
    assert_eq!(references(&person.open(&chosen).await), ["PL-3"]);
    for unknown in ["Rahasia", "%25", "_", "%D7%A9%D7%9C%D7%95%D7%9D", "%27+OR+1%3D1+--", text(&foreign, "reference")] {
        let page = list(&person, &project, &format!("?link={unknown}")).await;
        is_page(unknown, &page, 422);
        assert!(page.text.contains("Tidak ada tautan dengan judul itu"), "{unknown}");
        assert!(!page.text.contains("<option value=\"Rahasia\""), "{unknown}: titles are those of this project");
    }
}
