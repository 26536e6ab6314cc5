//! The ledger as a file for accountants.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use domain::access::Role;
use futures_util::future::join_all;
use serde_json::json;
use testkit::{Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, is_page, is_protected},
    json::{id, with},
    payments::{balance, create, pending_qris, simulate, simulate_paid, unapplied},
    people::{Person, desk},
    samples,
};

on_every_database![
    every_posting_is_one_line_and_the_columns_add_up_to_the_balances,
    a_file_for_accounting_covers_whole_days_in_western_indonesia,
    a_long_file_for_accounting_has_every_posting_once,
];

on_sqlite_alone![
    days_that_are_wrong_are_named_on_the_page_and_nothing_is_sent,
    no_cell_of_a_file_for_accounting_is_a_formula,
    every_member_and_nobody_else_gets_the_file_for_accounting,
];

const HEAD: &str =
    "date,posting,kind,payment_id,reference,clearing,pending,available,fees,unapplied,refunding,refunded";

async fn owner(kit: &Kit, project: &TestProject) -> Person {
    Person::member(kit, project.id, Role::Owner, &format!("owner@{}.example", project.id)).await
}

fn path(project: &TestProject, query: &str) -> String {
    format!("{}/accounting.csv{query}", desk(project.id))
}

/// The lines after the head.
async fn lines(person: &Person, project: &TestProject, query: &str) -> Vec<String> {
    let file = person.open(&path(project, query)).await;
    assert_eq!(file.status, 200, "{}", file.text);
    let text = file.text.strip_prefix('\u{feff}').unwrap().to_owned();
    let mut lines = text.split_terminator("\r\n").map(str::to_owned);
    let separator = if query.contains("semicolon") { ";" } else { "," };
    assert_eq!(lines.next(), Some(HEAD.replace(',', separator)));
    lines.collect()
}

/// A payment that was paid and settled, one that was paid twice, and one that waits.
async fn history(kit: &Kit, project: &TestProject) -> [String; 2] {
    let settled = pending_qris(project, 100_000).await;
    simulate_paid(project, &settled).await;
    kit.clock.advance(Duration::from_hours(24));
    kit.engine.settle_due().await.unwrap();
    let twice = create(project, &samples::virtual_account(project, "bca", 50_000)).await;
    for receipt in ["first", "second"] {
        let report = json!({ "outcome": "paid", "receipt_id": receipt });
        simulate(project, &twice, &report).await.expect(200);
    }
    pending_qris(project, 15_000).await;
    [id(&settled).to_owned(), id(&twice).to_owned()]
}

async fn every_posting_is_one_line_and_the_columns_add_up_to_the_balances(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    simulate_paid(&other, &pending_qris(&other, 77_000).await).await;
    let [settled, twice] = history(&kit, &project).await;
    let person = owner(&kit, &project).await;
    let lines = lines(&person, &project, "").await;
    let (first, second) = ("2026-11-14T16:30:00+07:00", "2026-11-15T16:30:00+07:00");
    assert_eq!(lines.len(), 4, "{lines:#?}");
    assert_eq!(lines[0], format!("{first},paid:{settled},paid,{settled},order-1,-100000,99300,0,700,0,0,0"));
    assert_eq!(lines[1], format!("{second},paid:{twice},paid,{twice},order-1,-50000,46000,0,4000,0,0,0"));
    assert_eq!(lines[2], format!("{second},settled:{settled},settled,{settled},order-1,0,-99300,99300,0,0,0,0"));
    let held =
        format!("{second},unapplied:sandbox:{}:second,unapplied,{twice},order-1,-50000,0,0,0,50000,0,0", project.id);
    assert_eq!(lines[3], held);

    let cell = |line: &String, index: usize| line.split(',').nth(index).unwrap().parse::<i64>().unwrap();
    let sums: Vec<i64> = (5..12).map(|index| lines.iter().map(|line| cell(line, index)).sum()).collect();
    assert_eq!(sums[1], balance(&project, "pending").await);
    assert_eq!(sums[2], balance(&project, "available").await);
    assert_eq!(sums[4], unapplied(&project).await);
    assert_eq!(sums.iter().sum::<i64>(), 0);
}

async fn a_file_for_accounting_covers_whole_days_in_western_indonesia(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    history(&kit, &project).await;
    let person = owner(&kit, &project).await;
    for (query, count) in [
        ("?from=&to=", 4),
        ("?from=2026-11-14&to=2026-11-14", 1),
        ("?to=2026-11-14", 1),
        ("?from=2026-11-15", 3),
        ("?from=2026-11-15&to=2026-12-31&separator=semicolon", 3),
        ("?from=2026-11-16", 0),
        ("?to=2026-11-13", 0),
    ] {
        assert_eq!(lines(&person, &project, query).await.len(), count, "{query}");
    }
    let file = person.open(&path(&project, "")).await;
    is_protected("file", &file);
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8; header=present"));
    let name = "attachment; filename=\"toko-accounting-2026-11-15.csv\"";
    assert_eq!(file.header("content-disposition"), Some(name));
    let page = person.open(&format!("{}/balance", desk(project.id))).await;
    assert!(page.text.contains(&format!("action=\"{}\"", path(&project, ""))), "{}", page.text);
}

async fn days_that_are_wrong_are_named_on_the_page_and_nothing_is_sent(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    history(&kit, &project).await;
    let person = owner(&kit, &project).await;
    for (query, field) in [
        ("?from=yesterday", "from"),
        ("?from=2026-02-30", "from"),
        ("?to=15-11-2026", "to"),
        ("?from=2026-11-15&to=2026-11-14", "to"),
        ("?from=2026-11-15&from=2026-11-15", "from"),
        ("?to=%3Cscript%3E", "to"),
    ] {
        let page: Reply = person.open(&path(&project, query)).await;
        is_page(query, &page, 422);
        assert!(page.text.contains(&format!("aria-describedby=\"{field}-why\"")), "{query}: {}", page.text);
        assert_eq!(page.text.matches("class=\"why\"").count(), 1, "{query}");
        assert!(!page.text.contains("unapplied:sandbox"), "{query}");
    }
}

async fn no_cell_of_a_file_for_accounting_is_a_formula(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = create(&project, &with(samples::qris(&project, 15_000), "reference", "=1+1;@A1")).await;
    simulate_paid(&project, &payment).await;
    simulate(&project, &payment, &json!({ "outcome": "paid", "receipt_id": "a,=1+1" })).await.expect(200);
    let lines = lines(&owner(&kit, &project).await, &project, "").await;
    assert!(lines[0].contains(",\"'=1+1;'@A1\","), "{lines:#?}");
    assert!(lines[1].contains(":a,'=1+1\",unapplied,"), "{lines:#?}");
}

async fn every_member_and_nobody_else_gets_the_file_for_accounting(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let viewer = Person::member(&kit, project.id, Role::Viewer, "viewer@toko.example").await;
    let (_, stranger) = (owner(&kit, &project).await, owner(&kit, &other).await);
    assert_eq!(viewer.open(&path(&project, "")).await.status, 200);
    is_page("a stranger", &stranger.open(&path(&project, "")).await, 404);
    is_page("nobody", &Customer::of(&kit).open(&path(&project, "")).await, 401);
}

async fn a_long_file_for_accounting_has_every_posting_once(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    // Many postings of the same instant, more than two pages.
    for numbers in (0..1_203).collect::<Vec<i64>>().chunks(50) {
        join_all(numbers.iter().map(|number| {
            let report = json!({ "outcome": "paid", "amount": 100 + number, "receipt_id": format!("r-{number}") });
            let (project, payment) = (&project, &payment);
            async move { simulate(project, payment, &report).await.expect(200) }
        }))
        .await;
    }
    let lines = lines(&owner(&kit, &project).await, &project, "").await;
    let postings: BTreeSet<&str> = lines.iter().filter_map(|line| line.split(',').nth(1)).collect();
    assert_eq!((lines.len(), postings.len()), (1_203, 1_203));
    let held: i64 = lines.iter().map(|line| line.split(',').nth(9).unwrap().parse::<i64>().unwrap()).sum();
    assert_eq!(held, unapplied(&project).await);
}
