//! Payments in the dashboard: the list with its filters, the downloaded file, and one payment's page.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use domain::{
    access::Role,
    id::PaymentId,
    idempotency::{Endpoint, Idempotency},
    method::Method as Way,
    orders::{MethodRequest, PaymentRequest},
    time::Timestamp,
};
use futures_util::future::join_all;
use gateway::SendLimits;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Answer, Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, is_page, is_protected, link_path, pay_path, payment_of},
    json::{text, with},
    links::{attempt, create_link},
    payments::{create, fetch, pending_qris, report, simulate_paid},
    people::{Person, desk},
    rows::rows,
    samples,
    wait::until,
};

on_every_database![
    the_list_shows_what_its_address_asks_for_with_how_many_and_how_much,
    older_pages_keep_what_is_asked_for,
    a_file_has_every_payment_that_is_asked_for_once,
];

on_sqlite_alone![
    days_are_whole_days_of_western_indonesian_time,
    an_invalid_filter_is_reported_at_its_field_and_lists_nothing,
    every_member_and_nobody_else_sees_payments,
    no_cell_of_a_file_is_a_formula,
    a_payments_page_shows_all_that_is_known_and_its_json_as_the_api_does,
    only_a_paid_payment_says_that_money_came,
    a_customers_first_view_is_recorded_by_the_pages_event_stream_alone,
];

pub(crate) async fn owner(kit: &Kit, project: &TestProject) -> Person {
    Person::member(kit, project.id, Role::Owner, &format!("owner@{}.example", project.id)).await
}

pub(crate) async fn list(person: &Person, project: &TestProject, query: &str) -> Reply {
    person.open(&format!("{}/payments{query}", desk(project.id))).await
}

pub(crate) async fn page(person: &Person, project: &TestProject, payment: &Value) -> Reply {
    person.open(&format!("{}/payments/{}", desk(project.id), text(payment, "id"))).await
}

/// The references of a list, in its order.
pub(crate) fn references(page: &Reply) -> Vec<String> {
    let leads = page.text.split("<td class=\"lead\">").skip(1).map(|lead| lead.split("</td>").next().unwrap());
    let reference = |lead: &str| {
        let small = lead.split("<small>").nth(1);
        small.unwrap_or_else(|| lead.split('>').nth(1).unwrap()).split('<').next().unwrap().to_owned()
    };
    leads.map(reference).collect()
}

/// What the page says that the list adds up to: how many, how many of them were paid, then what was paid, fees and net.
pub(crate) fn sum(page: &Reply) -> Option<String> {
    let (_, rest) = page.text.split_once("id=\"sum\">")?;
    let tiles = rest.split("</div>").next()?;
    let between = |start: &str, end: &str| -> Vec<String> {
        tiles.split(start).skip(1).map(|part| part.split(end).next().unwrap().to_owned()).collect()
    };
    let (figures, texts) = (between("<b>", "</b>"), between("<small>", "</small>"));
    Some(format!("{}, {}: {}", figures[0], texts[0], figures[1..].join(" ")))
}

/// Creates a payment with that reference, a millisecond after the one before.
pub(crate) async fn make(kit: &Kit, project: &TestProject, reference: &str, body: Value) -> Value {
    kit.clock.advance(Duration::from_millis(1));
    create(project, &with(body, "reference", reference)).await
}

async fn the_list_shows_what_its_address_asks_for_with_how_many_and_how_much(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let person = owner(&kit, &project).await;
    assert!(list(&person, &project, "").await.text.contains("Belum ada pembayaran"));
    let qris = make(&kit, &project, "INV-qris", samples::qris(&project, 15_000)).await;
    simulate_paid(&project, &qris).await;
    make(&kit, &project, "INV-bca", samples::virtual_account(&project, "bca", 20_000)).await;
    let bni = make(&kit, &project, "order <b>", samples::virtual_account(&project, "bni", 30_000)).await;
    report(&project, &bni, "failed").await;
    let link = create_link(&project, json!({ "reference": "INV-link" })).await;
    kit.clock.advance(Duration::from_millis(1));
    attempt(&kit, &project, &link, Way::Qris).await;
    make(&kit, &other, "INV-other", samples::qris(&other, 15_000)).await;

    let link_id = text(&link, "id");
    for (query, found, total) in [
        ("", "INV-link order &#60;b&#62; INV-bca INV-qris", Some("4, 1 dibayar: Rp15.000 Rp105 Rp14.895")),
        (
            "?status=&method=&from=&to=&link=&q=&sort=&period=",
            "INV-link order &#60;b&#62; INV-bca INV-qris",
            Some("4, 1 dibayar: Rp15.000 Rp105 Rp14.895"),
        ),
        ("?status=paid", "INV-qris", Some("1, 1 dibayar: Rp15.000 Rp105 Rp14.895")),
        ("?status=pending", "INV-link INV-bca", Some("2, 0 dibayar: Rp0 Rp0 Rp0")),
        ("?method=qris", "INV-link INV-qris", Some("2, 1 dibayar: Rp15.000 Rp105 Rp14.895")),
        ("?method=virtual_account", "order &#60;b&#62; INV-bca", Some("2, 0 dibayar: Rp0 Rp0 Rp0")),
        ("?method=virtual_account:bca", "INV-bca", Some("1, 0 dibayar: Rp0 Rp0 Rp0")),
        ("?q=inv&status=pending&method=virtual_account", "INV-bca", Some("1, 0 dibayar: Rp0 Rp0 Rp0")),
        ("?q=%3Cb%3E", "order &#60;b&#62;", Some("1, 0 dibayar: Rp0 Rp0 Rp0")),
        ("?search=QRIS", "INV-qris", Some("1, 1 dibayar: Rp15.000 Rp105 Rp14.895")),
        (&format!("?link={link_id}"), "INV-link", Some("1, 0 dibayar: Rp0 Rp0 Rp0")),
        ("?status=cancelled", "", None),
        ("?status=paid&page=7", "", None),
    ] {
        let page = list(&person, &project, query).await;
        is_page(query, &page, 200);
        assert_eq!(references(&page).join(" "), found, "{query}");
        assert_eq!(sum(&page).as_deref(), total, "{query}");
    }
    let unfound = list(&person, &project, "?status=cancelled").await;
    assert!(unfound.text.contains("Tidak ada yang cocok"));
    let foreign = make(&kit, &other, "x", samples::qris(&other, 15_000)).await;
    let foreign_link = create_link(&other, json!({})).await;
    assert!(references(&list(&person, &project, &format!("?link={}", text(&foreign_link, "id"))).await).is_empty());
    is_page("another project's", &page(&person, &project, &foreign).await, 404);
}

async fn days_are_whole_days_of_western_indonesian_time(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (reference, at) in [
        ("before", "2026-11-14T16:59:59.999Z"),
        ("first", "2026-11-14T17:00:00Z"),
        ("last", "2026-11-15T16:59:59.999Z"),
        ("after", "2026-11-15T17:00:00Z"),
    ] {
        kit.clock.set(Timestamp::parse(at).unwrap());
        create(&project, &with(samples::virtual_account(&project, "bca", 10_000), "reference", reference)).await;
    }
    let person = owner(&kit, &project).await;
    for (query, found) in [
        ("?from=2026-11-15&to=2026-11-15", "last first"),
        ("?from=2026-11-15", "after last first"),
        ("?to=2026-11-15", "last first before"),
        ("?from=2026-11-16&status=pending", "after"),
        ("?from=0001-01-01&to=9999-12-31", "after last first before"),
        ("?from=1969-12-31&to=1970-01-01", ""),
    ] {
        assert_eq!(references(&list(&person, &project, query).await).join(" "), found, "{query}");
    }
}

async fn an_invalid_filter_is_reported_at_its_field_and_lists_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = owner(&kit, &project).await;
    pending_qris(&project, 15_000).await;
    let long = "a".repeat(256);
    for (query, field) in [
        ("?status=PAID", "status"),
        ("?status=paid&status=paid", "status"),
        ("?method=card", "method"),
        ("?method=virtual_account:xyz", "method"),
        ("?from=2026-02-30", "from"),
        ("?to=tomorrow", "to"),
        ("?from=2026-11-15&to=2026-11-14", "to"),
        ("?link=%3Cscript%3E", "link"),
        ("?link=pay_01kzdq3f5ve8x9m2r7t4w6y8za", "link"),
        ("?link=a%00b", "link"),
        ("?period=tomorrow", "from"),
        ("?status=%ff", "status"),
        ("?sort=status", "sort"),
        ("?q=ab", "q"),
        ("?q=abc%00", "q"),
        ("?q=abc&q=abc", "q"),
        (&format!("?q={long}"), "q"),
        (&format!("?link={long}"), "link"),
    ] {
        for path in ["payments", "payments.csv"] {
            let page = person.open(&format!("{}/{path}{query}", desk(project.id))).await;
            is_page(query, &page, 422);
            assert!(page.text.contains(&format!("aria-describedby=\"{field}-why\"")), "{query}: {}", page.text);
            assert_eq!(page.text.matches("class=\"why\"").count(), 1, "{query}");
            assert!(references(&page).is_empty() && sum(&page).is_none() && !page.text.contains("order-1"), "{query}");
        }
    }
    let reply = list(&person, &project, "?link=%3Cscript%3E").await;
    assert!(reply.text.contains("value=\"&#60;script&#62;\""), "what was typed stays");
}

/// Creates so many payments with one commit, numbered from zero.
pub(crate) async fn make_many(kit: &Kit, project: &TestProject, count: usize) {
    let owner = kit.engine.project(project.id).await.unwrap();
    for numbers in (0..count).collect::<Vec<_>>().chunks(50) {
        kit.clock.advance(Duration::from_millis(1));
        join_all(numbers.iter().map(|number| {
            let request = PaymentRequest {
                reference: Some(format!("bulk-{number}")),
                amount: Some(1_000),
                method: Some(MethodRequest { kind: Some("qris".to_owned()), bank: None }),
                ..PaymentRequest::default()
            };
            let key = Idempotency {
                project_id: project.id,
                endpoint: Endpoint::Payments,
                key: format!("bulk-{number}"),
                request: [0; 16],
            };
            let (engine, owner) = (&kit.engine, &owner);
            async move { engine.create_payment(owner, key, request).await.unwrap() }
        }))
        .await;
    }
}

async fn older_pages_keep_what_is_asked_for(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = owner(&kit, &project).await;
    make_many(&kit, &project, 45).await;
    make(&kit, &project, "another", samples::qris(&project, 15_000)).await;
    let (mut url, mut seen) = (format!("{}/payments?q=BULK&status=pending", desk(project.id)), Vec::new());
    for rows in [20, 20, 5] {
        let page = person.open(&url).await;
        assert_eq!(sum(&page).as_deref(), Some("45, 0 dibayar: Rp0 Rp0 Rp0"));
        assert_eq!(references(&page).len(), rows, "{url}");
        seen.extend(references(&page));
        let older = page.text.split("rel=\"next\" href=\"").nth(1).and_then(|rest| rest.split('"').next());
        match older {
            Some(older) => url = older.replace("&#38;", "&").replace("&amp;", "&"),
            None => assert_eq!(rows, 5),
        }
    }
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 45);
}

async fn every_member_and_nobody_else_sees_payments(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let payment = pending_qris(&project, 15_000).await;
    let paths = ["/payments".to_owned(), "/payments.csv".to_owned(), format!("/payments/{}", text(&payment, "id"))];
    let viewer = Person::member(&kit, project.id, Role::Viewer, "viewer@toko.example").await;
    let (_, stranger) = (owner(&kit, &project).await, owner(&kit, &other).await);
    for path in &paths {
        let of = |id| format!("{}{path}", desk(id));
        assert_eq!(viewer.open(&of(project.id)).await.status, 200, "{path}");
        is_page(path, &stranger.open(&of(project.id)).await, 404);
        is_page(path, &Customer::of(&kit).open(&of(project.id)).await, 401);
    }
    is_page("mine", &stranger.open(&format!("{}{}", desk(other.id), paths[2])).await, 404);
    for wrong in ["pay_x", "pl_01kzdq3f5ve8x9m2r7t4w6y8za", "%00", "pay_01kzdq3f5ve8x9m2r7t4w6y8za"] {
        is_page(wrong, &viewer.open(&format!("{}/payments/{wrong}", desk(project.id))).await, 404);
    }
}

/// The cells of a file that contains no quotes.
pub(crate) fn cells(file: &Reply, separator: char) -> Vec<Vec<String>> {
    let text = file.text.strip_prefix('\u{feff}').unwrap_or_else(|| panic!("no byte order mark: {:?}", file.text));
    assert!(text.ends_with("\r\n"));
    text.trim_end().split("\r\n").map(|line| line.split(separator).map(str::to_owned).collect()).collect()
}

async fn a_file_has_every_payment_that_is_asked_for_once(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    make_many(&kit, &project, 1_003).await;
    make(&kit, &other, "bulk-other", samples::qris(&other, 15_000)).await;
    let noted = with(samples::virtual_account(&project, "bca", 20_000), "metadata", json!({ "order": "7" }));
    let bca = make(&kit, &project, "va", noted).await;
    let bca = simulate_paid(&project, &bca).await;
    let person = owner(&kit, &project).await;
    let path = format!("{}/payments.csv", desk(project.id));
    let file = person.open(&format!("{path}?q=bulk")).await;
    is_protected("file", &file);
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8; header=present"));
    assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"toko-2026-11-14.csv\""));
    let lines = cells(&file, ',');
    let references: BTreeSet<&str> = lines[1..].iter().map(|line| line[1].as_str()).collect();
    assert_eq!((lines.len(), references.len()), (1_004, 1_003));
    let ids: Vec<&String> = lines[1..].iter().map(|line| &line[0]).collect();
    assert!(ids.is_sorted_by(|later, earlier| later > earlier), "the newest first");

    let file = person.open(&format!("{path}?method=virtual_account:bca&separator=semicolon")).await;
    let lines = cells(&file, ';');
    let head = "id;reference;status;method;bank;amount;fee;net;created_at;paid_at;expires_at;customer_name;\
                customer_email;customer_phone;link_id;settled_at;metadata;quantity;received;refunded";
    assert_eq!(lines[0].join(";"), head);
    let at = "2026-11-14T16:30:00+07:00";
    let wanted = [text(&bca, "id"), "va", "paid", "virtual_account", "bca", "20000", "4000", "16000", at, at];
    assert_eq!((lines.len(), &lines[1][..10]), (2, &wanted.map(str::to_owned)[..]));
    assert_eq!(&lines[1][11..], ["", "", "", "", "", "\"{\"\"order\"\":\"\"7\"\"}\"", "", "20000", "0"]);
    kit.clock.advance(Duration::from_hours(48));
    kit.engine.settle_due().await.unwrap();
    let person = Person::signed_in(&kit, person.user).await;
    let lines = cells(&person.open(&format!("{path}?status=paid")).await, ',');
    assert_eq!((lines.len(), lines[1][15].as_str()), (2, "2026-11-16T16:30:00+07:00"));
    assert_eq!(cells(&person.open(&format!("{path}?status=cancelled")).await, ',').len(), 1, "a head at least");
}

async fn no_cell_of_a_file_is_a_formula(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = owner(&kit, &project).await;
    make(&kit, &project, "=HYPERLINK(\"http://evil.example\")", samples::qris(&project, 15_000)).await;
    make(&kit, &project, "a;=1+1", samples::qris(&project, 15_000)).await;
    let noted = json!({ "x": "a,=1+1", "=key": "-2;@SUM(A1)" });
    make(&kit, &project, "noted", with(samples::qris(&project, 15_000), "metadata", noted)).await;
    let asks = json!({ "reference": "＝1", "customer_fields": { "name": true, "email": true, "phone": true } });
    let link = create_link(&project, asks).await;
    let answers =
        [("method", "qris"), ("name", "@SUM(A1)"), ("email", "-2+3@x.example"), ("phone", "+62 812-0000-0000")];
    payment_of(&project, &Customer::of(&kit).choose(&link, &answers).await).await;
    let file = person.open(&format!("{}/payments.csv", desk(project.id))).await;
    for safe in [
        ",\"'=HYPERLINK(\"\"http://evil.example\"\")\",",
        ",\"a;'=1+1\",",
        ",'＝1,",
        ",\"{\"\"=key\"\":\"\"-2;\\u0040SUM(A1)\"\",\"\"x\"\":\"\"a,\\u003d1+1\"\"}\"",
        ",'@SUM(A1),'-2+3@x.example,'+62 812-0000-0000,pl_",
    ] {
        assert!(file.text.contains(safe), "{safe} is not in {}", file.text);
    }
}

/// What the page shows as raw JSON.
fn raw(page: &Reply) -> Value {
    let (_, rest) = page.text.split_once("<pre id=\"json\"").unwrap();
    let code = rest.split_once("<code>").unwrap().1.split_once("</code>").unwrap().0;
    let plain = code.replace("&#34;", "\"").replace("&#39;", "'").replace("&#60;", "<").replace("&#62;", ">");
    serde_json::from_str(&plain.replace("&#38;", "&")).unwrap()
}

async fn a_payments_page_shows_all_that_is_known_and_its_json_as_the_api_does(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(500)).await;
    let asks = json!({ "title": "Kopi <susu>", "customer_fields": { "name": true, "email": true } });
    let link = create_link(&project, asks).await;
    let customer = Customer::of(&kit);
    let answers = [("method", "virtual_account:bca"), ("name", "Siti & Budi"), ("email", "siti@toko.example")];
    let request = customer.open(&link_path(&link)).await;
    assert_eq!(request.status, 200);
    let payment = payment_of(&project, &customer.choose(&link, &answers).await).await;
    let person = owner(&kit, &project).await;
    let before = page(&person, &project, &payment).await;
    is_page("pending", &before, 200);
    let number = payment["instructions"]["virtual_account_number"].as_str().unwrap();
    for known in [
        "<p class=\"amount\">Rp50.000</p>",
        "<span class=\"badge pending\">Menunggu</span>",
        "-Rp4.000",
        "Rp46.000",
        &format!("<code>{number}</code>"),
        "Siti &#38; Budi",
        "siti@toko.example",
        "127.0.0.1",
        "Kopi &#60;susu&#62;",
        &format!("{}/links/{}", desk(project.id), text(&link, "id")),
        text(&payment, "checkout_url"),
        &format!("{}/simulator?code={number}", desk(project.id)),
        "<b>Menunggu pelanggan</b>",
    ] {
        assert!(before.text.contains(known), "{known} is not in {}", before.text);
    }
    assert_eq!(raw(&before), fetch(&project, &payment).await);

    simulate_paid(&project, &payment).await;
    kit.deliver(SendLimits::default());
    receiver.arrived(1).await;
    let shown = || page(&person, &project, &payment);
    until(async || shown().await.text.contains("gagal terkirim</b>")).await;
    let after = shown().await;
    for known in ["<b>Dibayar</b>", "Server menjawab 500", "akan dicoba lagi", "/notifications/deliveries/evt_"] {
        assert!(after.text.contains(known), "{known} is not in {}", after.text);
    }
    assert!(!after.text.contains("/simulator?code="), "what has ended is not simulated");
    assert_eq!(raw(&after), fetch(&project, &payment).await);
    kit.may_leave_deliveries_due();
}

/// The labels and amounts of the card about fees; none where there is no card.
fn fees(page: &Reply) -> Vec<(String, String)> {
    let card = page.text.split_once("<div id=\"fees\" data-live>").unwrap().1.split_once("</div>\n<section").unwrap().0;
    let rows = card.split("<dt>").skip(1).map(|row| {
        let (label, rest) = row.split_once("</dt><dd>").unwrap();
        (label.to_owned(), rest.split_once("</dd>").unwrap().0.to_owned())
    });
    rows.collect()
}

async fn only_a_paid_payment_says_that_money_came(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = owner(&kit, &project).await;
    let expected =
        [["Tagihan", "Perkiraan biaya", "Perkiraan masuk ke saldo"], ["Bill", "Expected fee", "Expected to receive"]];
    let taken = [["Dibayar pelanggan", "Biaya", "Masuk ke saldo"], ["The customer paid", "Fee", "To your balance"]];
    let link = create_link(&project, json!({ "amount": 100_000 })).await;
    let cancelled = Customer::of(&kit).pays_by(&project, &link, "qris").await;
    project.api.post(&format!("/v1/payment-links/{}/cancel", text(&link, "id")), &json!({})).await.expect(200);
    for (outcome, labels) in [
        (None, Some(expected)),
        (Some("processing"), Some(expected)),
        (Some("paid"), Some(taken)),
        (Some("failed"), None),
        (Some("expired"), None),
        (Some("cancelled"), None),
    ] {
        let payment = match outcome {
            Some("cancelled") => cancelled.clone(),
            None => pending_qris(&project, 100_000).await,
            Some(outcome) => report(&project, &pending_qris(&project, 100_000).await, outcome).await,
        };
        for (index, language) in ["id", "en"].into_iter().enumerate() {
            let path = format!("{}/payments/{}?lang={language}", desk(project.id), text(&payment, "id"));
            let shown = person.open(&path).await;
            let amounts = ["Rp100.000", "-Rp700", "Rp99.300"];
            let rows = labels.map(|labels| labels[index].into_iter().zip(amounts));
            let wanted: Vec<(String, String)> =
                rows.into_iter().flatten().map(|(label, amount)| (label.to_owned(), amount.to_owned())).collect();
            assert_eq!(fees(&shown), wanted, "{outcome:?} in {language}");
            if outcome != Some("paid") {
                for word in taken.iter().flat_map(|labels| [labels[0], labels[2]]) {
                    assert!(!shown.text.contains(&format!(">{word}<")), "{outcome:?}: {word}");
                }
            }
        }
    }
}

async fn a_customers_first_view_is_recorded_by_the_pages_event_stream_alone(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = create(&project, &samples::virtual_account(&project, "bca", 15_000)).await;
    let id: PaymentId = text(&payment, "id").parse().unwrap();
    let (customer, path) = (Customer::of(&kit), pay_path(&payment));
    for look in [path.clone(), format!("{path}/status"), link_path(&create_link(&project, json!({})).await)] {
        assert_eq!(customer.open(&look).await.status, 200);
    }
    let before = rows(&kit.database);
    kit.engine.save_page_views().await.unwrap();
    assert_eq!(kit.store.view_of(id).await.unwrap(), None, "whoever merely opens a page may be a machine");
    kit.engine.save_page_views().await.unwrap();
    let seen_at = kit.engine.now();
    for _ in 0..3 {
        let stream = customer.begin(customer.request(Method::GET, &format!("{path}/events"))).await;
        assert_eq!(stream.status(), 200);
        drop(stream);
        kit.engine.save_page_views().await.unwrap();
        kit.clock.advance(Duration::from_secs(61));
        assert_eq!(kit.store.view_of(id).await.unwrap(), Some(seen_at));
    }
    let added: Vec<String> = rows(&kit.database).into_iter().filter(|row| !before.contains(row)).collect();
    assert_eq!(added.iter().filter(|row| row.contains(text(&payment, "id"))).count(), 1, "{added:?}");
    let person = owner(&kit, &project).await;
    let page = page(&person, &project, &payment).await;
    assert!(page.text.contains("Halaman bayar dibuka pelanggan"), "{}", page.text);
}
