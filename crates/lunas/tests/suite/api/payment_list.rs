//! `GET /v1/payments`: envelope, order, pages and filters (docs/contract.md §4.2 and decisions §2, §4).

use std::{collections::HashSet, sync::Arc, time::Duration};

use domain::{bank::Bank, method::Method};
use serde_json::{Value, json};
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    json::{at, moved, text, with},
    links::{attempt, cancel_link, create_link},
    payments::{count_payments, create, pending_qris, report, simulate_paid},
    samples::{qris, virtual_account},
};

on_every_database![
    a_list_holds_whole_payments_newest_first,
    pages_cut_the_list_without_gaps_or_repeats_and_end_empty,
    search_is_a_substring_of_the_reference_in_any_case,
    search_looks_at_nothing_but_the_reference,
    the_link_filter_finds_only_payments_made_through_that_link,
    filters_combine_with_and,
    a_list_can_be_limited_to_when_payments_and_links_were_created,
    a_filtered_list_has_pages_of_its_own,
    a_list_never_shows_another_projects_payments,
];

on_sqlite_alone![
    an_empty_list_is_an_envelope_with_nothing_in_it,
    a_bad_query_value_is_refused_and_named,
    unknown_query_parameters_are_ignored,
];

async fn list(project: &TestProject, query: &str) -> Value {
    project.api.get(&format!("/v1/payments?{query}")).await.expect(200)
}

fn data(listed: &Value) -> &Vec<Value> {
    listed["data"].as_array().unwrap()
}

fn references(listed: &Value) -> Vec<&str> {
    data(listed).iter().map(|payment| text(payment, "reference")).collect()
}

async fn referenced(project: &TestProject, reference: &str) -> Value {
    create(project, &with(qris(project, 15_000), "reference", reference)).await
}

async fn an_empty_list_is_an_envelope_with_nothing_in_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let listed = project.api.get("/v1/payments").await.expect(200);
    let pagination = json!({ "page": 1, "page_size": 20, "total_items": 0, "total_pages": 0 });
    assert_eq!(listed, json!({ "data": [], "pagination": pagination }));
}

async fn a_list_holds_whole_payments_newest_first(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut payments = Vec::new();
    for number in 0..12 {
        let body = if number % 2 == 0 { qris(&project, 15_000) } else { virtual_account(&project, "bca", 15_000) };
        payments.push(create(&project, &body).await);
        // Some payments have the same instant; their order is that of their ids.
        kit.clock.advance(Duration::from_millis(number / 3 % 2));
    }
    payments.sort_by_key(|payment| (at(payment, "created_at"), text(payment, "id").to_owned()));
    payments.reverse();
    let listed = list(&project, "").await;
    assert_eq!(data(&listed), &payments);
    assert_eq!(listed["pagination"], json!({ "page": 1, "page_size": 20, "total_items": 12, "total_pages": 1 }));
}

async fn pages_cut_the_list_without_gaps_or_repeats_and_end_empty(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for _ in 0..25 {
        pending_qris(&project, 100).await;
    }
    let whole = list(&project, "page_size=100").await;
    assert_eq!(whole["pagination"], json!({ "page": 1, "page_size": 100, "total_items": 25, "total_pages": 1 }));
    assert_eq!(data(&list(&project, "").await).len(), 20, "20 to a page unless asked otherwise");
    for (size, pages) in [(1, 25_i64), (7, 4), (20, 2), (24, 2), (25, 1), (26, 1)] {
        let mut joined = Vec::new();
        for page in 1..=pages {
            let listed = list(&project, &format!("page={page}&page_size={size}")).await;
            let expected = json!({ "page": page, "page_size": size, "total_items": 25, "total_pages": pages });
            assert_eq!(listed["pagination"], expected);
            joined.extend(data(&listed).clone());
        }
        assert_eq!(&joined, data(&whole), "pages of {size}");
        for page in [pages + 1, pages + 2, 1_000_000, 9_007_199_254_740_991] {
            let past = list(&project, &format!("page={page}&page_size={size}")).await;
            let expected = json!({ "page": page, "page_size": size, "total_items": 25, "total_pages": pages });
            assert_eq!(past, json!({ "data": [], "pagination": expected }));
        }
    }
}

async fn search_is_a_substring_of_the_reference_in_any_case(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let all =
        ["INV-2026-001", "inv-2026-002", "Pesanan É 3", "100%", "100x", "a_b", "axb", r"c\d", "c d", "é+é", "ΣΑΣ 7"];
    for reference in all {
        referenced(&project, reference).await;
        kit.clock.advance(Duration::from_millis(1));
    }
    for (term, expected) in [
        ("INV-2026-001", vec!["INV-2026-001"]),
        ("inv", vec!["inv-2026-002", "INV-2026-001"]),
        ("Nv-20", vec!["inv-2026-002", "INV-2026-001"]),
        ("001", vec!["INV-2026-001"]),
        ("pesanan+%C3%A9", vec!["Pesanan É 3"]),
        ("%C3%89", vec!["é+é", "Pesanan É 3"]),
        ("%25", vec!["100%"]),
        ("100%25", vec!["100%"]),
        ("%25%25", vec![]),
        ("_", vec!["a_b"]),
        ("a_b", vec!["a_b"]),
        ("%5C", vec![r"c\d"]),
        ("%5Cd", vec![r"c\d"]),
        ("c+d", vec!["c d"]),
        ("%2B", vec!["é+é"]),
        ("'", vec![]),
        ("%27+OR+1%3D1+--", vec![]),
        ("*", vec![]),
        ("nothing", vec![]),
        ("%CF%83%CE%B1%CF%82", vec!["ΣΑΣ 7"]),
        ("%CF%83%CE%B1%CF%83", vec!["ΣΑΣ 7"]),
        ("%CE%A3%CE%91%CE%A3", vec!["ΣΑΣ 7"]),
    ] {
        let listed = list(&project, &format!("search={term}")).await;
        assert_eq!(references(&listed), expected, "{term}");
        assert_eq!(listed["pagination"]["total_items"], expected.len(), "{term}");
    }
}

async fn search_looks_at_nothing_but_the_reference(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = referenced(&project, "plain").await;
    for term in [text(&payment, "id"), &project.id.to_string(), "qris", "pending", "IDR", "15000", "Toko"] {
        assert_eq!(count_payments(&project, &format!("search={term}")).await, 0, "{term}");
    }
}

async fn the_link_filter_finds_only_payments_made_through_that_link(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let (link, unused) = (create_link(&project, json!({})).await, create_link(&project, json!({})).await);
    let theirs = create_link(&other, json!({})).await;
    let made = attempt(&kit, &project, &link, Method::Qris).await;
    attempt(&kit, &other, &theirs, Method::Qris).await;
    let direct = pending_qris(&project, 15_000).await;
    let of = |link: &str| format!("payment_link_id={link}");
    let listed = list(&project, &of(text(&link, "id"))).await;
    assert_eq!(data(&listed), std::slice::from_ref(&made));
    let uppercase = text(&link, "id").to_uppercase();
    let unknown = format!("pl_{}", "0".repeat(26));
    let rows =
        [text(&unused, "id"), text(&theirs, "id"), &uppercase, &unknown, "junk", "null", "%00", text(&made, "id")];
    for id in rows {
        let empty = list(&project, &of(id)).await;
        let pagination = json!({ "page": 1, "page_size": 20, "total_items": 0, "total_pages": 0 });
        assert_eq!(empty, json!({ "data": [], "pagination": pagination }), "{id}");
    }
    let whole = list(&project, "").await;
    let ids: HashSet<&str> = data(&whole).iter().map(|payment| text(payment, "id")).collect();
    assert_eq!(ids, HashSet::from([text(&made, "id"), text(&direct, "id")]));
}

/// Payments in every state, by both methods, of a link and direct.
async fn payments_of_every_kind(kit: &Kit, project: &TestProject) -> Value {
    let link = create_link(project, json!({ "allow_multiple_payments": true, "reference": "Rombongan" })).await;
    let doomed = create_link(project, json!({ "reference": "Batal" })).await;
    let bca = Method::VirtualAccount(Bank::Bca);
    let mut long_lived = Vec::new();
    for outcome in ["expired", "processing", "paid", "failed", "pending"] {
        for method in [Method::Qris, bca] {
            let linked = attempt(kit, project, &link, method).await;
            let mut body = match method {
                Method::Qris => qris(project, 20_000),
                Method::VirtualAccount(_) => virtual_account(project, "bni", 20_000),
            };
            body["reference"] = json!(format!("rombeng-{outcome}"));
            body["expires_in_minutes"] = json!(if outcome == "expired" { 1 } else { 60 });
            let direct = create(project, &body).await;
            for payment in [&linked, &direct] {
                if !["expired", "pending"].contains(&outcome) {
                    report(project, payment, outcome).await;
                }
            }
            long_lived.push(direct);
        }
    }
    attempt(kit, project, &doomed, Method::Qris).await;
    attempt(kit, project, &doomed, bca).await;
    cancel_link(project, &doomed).await;
    // Past the one-minute payments and the link's QR codes, not past the others.
    kit.clock.set(moved(at(&long_lived[0], "created_at"), 15 * 60_000 + 1));
    link
}

/// Whether the filters should find a payment, judged by its fields.
fn wanted(payment: &Value, status: &str, method: &str, link: &str, search: &str) -> bool {
    let status = if status == "succeeded" { "paid" } else { status };
    (status.is_empty() || payment["status"] == status)
        && (method.is_empty() || payment["payment_method"]["type"] == method)
        && (link.is_empty() || payment["payment_link_id"] == link)
        && text(payment, "reference").to_lowercase().contains(&search.to_lowercase())
}

async fn filters_combine_with_and(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = payments_of_every_kind(&kit, &project).await;
    for swept in [false, true] {
        if swept {
            kit.engine.expire_due().await.unwrap();
        }
        let whole = list(&project, "page_size=100").await;
        let statuses: HashSet<&str> = data(&whole).iter().map(|payment| text(payment, "status")).collect();
        assert_eq!(statuses.len(), 6, "every state is there: {statuses:?}");
        let words = ["", "pending", "processing", "paid", "succeeded", "failed", "expired", "cancelled"];
        for status in words {
            for method in ["", "qris", "virtual_account"] {
                for link in ["", text(&link, "id")] {
                    for search in ["", "ROMB", "batal", "ng-PAID"] {
                        let filters =
                            [("status", status), ("method", method), ("payment_link_id", link), ("search", search)];
                        let given = filters.iter().filter(|(_, value)| !value.is_empty());
                        let query: String = given.map(|(name, value)| format!("&{name}={value}")).collect();
                        let listed = list(&project, &format!("page_size=100{query}")).await;
                        let expected = data(&whole).iter().filter(|one| wanted(one, status, method, link, search));
                        let expected: Vec<Value> = expected.cloned().collect();
                        assert!(data(&listed) == &expected, "{query} finds {}", references(&listed).join(", "));
                        assert_eq!(listed["pagination"]["total_items"], expected.len(), "{query}");
                    }
                }
            }
        }
    }
}

async fn a_list_can_be_limited_to_when_payments_and_links_were_created(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let mut created = Vec::new();
    for number in 0..4 {
        let payment = referenced(&project, &format!("n-{number}")).await;
        create_link(&project, json!({ "reference": format!("n-{number}") })).await;
        if number % 2 == 0 {
            simulate_paid(&project, &payment).await;
        }
        created.push(text(&payment, "created_at").to_owned());
        kit.clock.advance(Duration::from_secs(1));
    }
    let (from, to) = (
        |number: usize| format!("created_from={}", created[number]),
        |number: usize| format!("created_to={}", created[number]),
    );
    for (query, expected) in [
        (format!("{}&{}", from(1), to(3)), vec!["n-2", "n-1"]),
        (from(2), vec!["n-3", "n-2"]),
        (to(2), vec!["n-1", "n-0"]),
        (format!("{}&created_to=9999-12-31T23:59:59Z", from(0)), vec!["n-3", "n-2", "n-1", "n-0"]),
        ("created_to=0001-01-01T00:00:00Z".to_owned(), vec![]),
        ("created_from=9999-01-01T00:00:00Z".to_owned(), vec![]),
        (format!("{}&page_size=1&page=2", from(1)), vec!["n-2"]),
        // With an offset whose plus sign was not encoded.
        ("created_from=2026-11-14T16:30:03+07:00".to_owned(), vec!["n-3"]),
    ] {
        let payments = list(&project, &query).await;
        assert_eq!(references(&payments), expected, "{query}");
        let links = project.api.get(&format!("/v1/payment-links?{query}")).await.expect(200);
        assert_eq!(references(&links), expected, "{query}");
        assert_eq!(links["pagination"], payments["pagination"], "{query}");
    }
    let both = list(&project, &format!("{}&status=paid", from(1))).await;
    assert_eq!((references(&both), &both["pagination"]["total_items"]), (vec!["n-2"], &json!(1)));
}

async fn a_filtered_list_has_pages_of_its_own(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for number in 0..9 {
        let payment = referenced(&project, &format!("n-{number}")).await;
        if number % 3 == 0 {
            simulate_paid(&project, &payment).await;
        }
        kit.clock.advance(Duration::from_millis(1));
    }
    let first = list(&project, "status=paid&page_size=2").await;
    assert_eq!(first["pagination"], json!({ "page": 1, "page_size": 2, "total_items": 3, "total_pages": 2 }));
    assert_eq!(references(&first), ["n-6", "n-3"]);
    assert_eq!(references(&list(&project, "status=paid&page_size=2&page=2").await), ["n-0"]);
}

async fn a_bad_query_value_is_refused_and_named(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    pending_qris(&project, 15_000).await;
    for (query, named) in [
        ("page=0", "page"),
        ("page=-1", "page"),
        ("page=x", "page"),
        ("page=", "page"),
        ("page=1.5", "page"),
        ("page=1e1", "page"),
        ("page=+1", "page"),
        ("page=0x1", "page"),
        ("page=99999999999999999999", "page"),
        ("page_size=0", "page_size"),
        ("page_size=101", "page_size"),
        ("page_size=-1", "page_size"),
        ("page_size=many", "page_size"),
        ("page_size=", "page_size"),
        ("status=unknown", "status"),
        ("status=PAID", "status"),
        ("status=active", "status"),
        ("status=paid,failed", "status"),
        ("method=card", "method"),
        ("method=QRIS", "method"),
        ("method=virtual_account:bca", "method"),
        ("method=bca", "method"),
        ("search=%FF", "search"),
        ("search=", "search"),
        ("search", "search"),
        ("payment_link_id=", "payment_link_id"),
        ("status=", "status"),
        ("method=", "method"),
        // A link that cannot exist does not excuse the other wrong value.
        ("payment_link_id=junk&status=unknown", "status"),
        ("payment_link_id=junk&page=0", "page"),
        ("created_from=", "created_from"),
        ("created_from=2026-11-14", "created_from"),
        ("created_to=tomorrow", "created_to"),
        ("created_to=2026-11-14T09:30:00", "created_to"),
        ("created_from=2026-11-14T09:30:00Z&created_from=2026-11-14T09:30:00Z", "created_from"),
        ("created_from=2026-11-14T09:30:00Z&created_to=2026-11-14T09:30:00Z", "created_to"),
        ("created_from=2026-11-14T09:30:01Z&created_to=2026-11-14T16:30:00%2B07:00", "created_to"),
    ] {
        let with_range = ["payments", "payment-links", "events", "receipts"];
        let lists = if query.starts_with("created") { &with_range[..] } else { &["payments"] };
        for list in lists {
            let reply = project.api.get(&format!("/v1/{list}?{query}")).await;
            assert_eq!(reply.status.as_u16(), 400, "{query} {}", reply.text);
            let message = reply.refused(400, "VALIDATION_ERROR");
            assert!(message.contains(&format!("`{named}`")), "{query}: {message}");
        }
    }
}

async fn unknown_query_parameters_are_ignored(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    pending_qris(&project, 15_000).await;
    let plain = list(&project, "").await;
    let queries = ["sort=asc", "Page=0", "utm_source=a&utm_source=b", "limit=x&&=", "reference=none", "Q"];
    for query in queries.into_iter().chain(["x=%ff", "%ff=1", "x=%ff&x=%C3&%ff&page=1"]) {
        assert_eq!(list(&project, query).await, plain, "{query}");
        for path in ["/v1/payment-links", "/v1/events", "/v1/receipts", "/v1/balance"] {
            project.api.get(&format!("{path}?{query}")).await.expect(200);
        }
    }
    for (path, name) in [
        ("/v1/payments", "status"),
        ("/v1/payment-links", "created_from"),
        ("/v1/events", "after"),
        ("/v1/receipts", "state"),
        ("/v1/balance", "at"),
    ] {
        let message = project.api.get(&format!("{path}?{name}=%ff&x=%ff")).await.refused(400, "VALIDATION_ERROR");
        assert_eq!(message, format!("`{name}` must be valid UTF-8"));
    }
}

async fn a_list_never_shows_another_projects_payments(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    payments_of_every_kind(&kit, &other).await;
    let mine = pending_qris(&project, 15_000).await;
    assert_eq!(data(&list(&project, "page_size=100").await), std::slice::from_ref(&mine));
    for query in ["search=romb", "status=paid", "status=expired", "status=cancelled", "method=virtual_account"] {
        assert_eq!(count_payments(&project, query).await, 0, "{query}");
    }
    assert_eq!(count_payments(&other, "").await, 22);
    assert!(!data(&list(&other, "page_size=100").await).contains(&mine));
}
