//! Payments that were paid by another amount than their bill: what came is what lists, files and receipts say.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::{
    dashboard::payments::{list, owner, page, sum},
    support::{
        customer::{Customer, is_page},
        held::contains_all,
        json::{id, text, with},
        links::create_link,
        payments::{create, pending_qris, report, simulate_paid},
        people::{Person, desk},
        receipts::{decide, held, held_amount},
        samples,
    },
};

on_every_database![each_line_of_the_file_adds_up_and_all_lines_are_what_the_list_says];

on_sqlite_alone![
    a_row_and_the_receipt_say_what_came_and_what_the_bill_was,
    a_payment_of_its_own_amount_says_nothing_of_a_bill,
];

/// A payment of `bill` that was paid by `came`, which somebody has accepted.
async fn paid_by(project: &TestProject, bill: i64, came: i64) -> Value {
    let payment = pending_qris(project, bill).await;
    let receipt = held_amount(project, &payment, came).await;
    let body = json!({ "note": "disepakati", "accept_difference": true });
    decide(project, &receipt, "accept", &body).await.expect(200);
    payment
}

/// Payments of every kind, of which three were paid by another amount than their bill.
async fn mixed(kit: &Kit, project: &TestProject) {
    simulate_paid(project, &pending_qris(project, 100_000).await).await;
    let account = create(project, &samples::virtual_account(project, "bca", 50_000)).await;
    simulate_paid(project, &account).await;
    paid_by(project, 100_000, 60_000).await;
    paid_by(project, 100_000, 130_000).await;
    // Money that was sent for one payment and pays another.
    let (sender, other) = (pending_qris(project, 20_000).await, pending_qris(project, 30_000).await);
    let receipt = held_amount(project, &sender, 25_000).await;
    let body = json!({ "note": "salah kode", "payment_id": id(&other), "accept_difference": true });
    decide(project, &receipt, "accept", &body).await.expect(200);
    // Money that came late, in full.
    let late = pending_qris(project, 40_000).await;
    report(project, &pending_qris(project, 70_000).await, "failed").await;
    let returned = pending_qris(project, 80_000).await;
    let back = held_amount(project, &returned, 1).await;
    decide(project, &back, "return", &json!({ "note": "dikembalikan" })).await.expect(200);
    kit.clock.advance(Duration::from_mins(16));
    let receipt = held(project, &late, &json!({ "outcome": "paid" })).await;
    decide(project, &receipt, "accept", &json!({ "note": "terlambat" })).await.expect(200);
    held_amount(project, &pending_qris(project, 90_000).await, 2).await;
    report(project, &pending_qris(project, 11_000).await, "processing").await;
}

/// The lines of the file, each as amount, fee, net and received.
async fn lines(person: &Person, project: &TestProject) -> Vec<[i64; 4]> {
    let file = person.open(&format!("{}/payments.csv", desk(project.id))).await;
    let mut lines = file.text.trim_start_matches('\u{feff}').trim_end().split("\r\n");
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let columns = ["amount", "fee", "net", "received"].map(|name| head.iter().position(|cell| *cell == name).unwrap());
    let line = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        columns.map(|column| cells[column].parse().unwrap())
    };
    lines.map(line).collect()
}

async fn each_line_of_the_file_adds_up_and_all_lines_are_what_the_list_says(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = owner(&kit, &project).await;
    mixed(&kit, &project).await;
    let person = Person::signed_in(&kit, person.user).await;
    let lines = lines(&person, &project).await;
    assert_eq!(lines.len(), 11);
    for [amount, fee, net, received] in &lines {
        assert_eq!(received - fee, *net, "{amount}: {received} - {fee} is not {net}");
    }
    for wanted in [
        [100_000, 700, 59_300, 60_000],
        [100_000, 700, 129_300, 130_000],
        [100_000, 700, 99_300, 100_000],
        [30_000, 210, 24_790, 25_000],
        [50_000, 4_000, 46_000, 50_000],
        [40_000, 280, 39_720, 40_000],
        [20_000, 0, 0, 0],
        [70_000, 0, 0, 0],
        [80_000, 0, 0, 0],
        [90_000, 0, 0, 0],
        [11_000, 0, 0, 0],
    ] {
        assert!(lines.contains(&wanted), "{wanted:?} is not in {lines:?}");
    }
    let total = |column: usize| lines.iter().map(|line| line[column]).sum::<i64>();
    assert_eq!([total(3), total(1), total(2)], [405_000, 6_590, 398_410]);
    let shown = sum(&list(&person, &project, "").await);
    assert_eq!(shown.as_deref(), Some("11, 6 dibayar: Rp405.000 Rp6.590 Rp398.410"));
}

/// What stands between two marks of a page, without its tags.
fn between(page: &Reply, before: &str, after: &str) -> String {
    let rest = page.text.split_once(before).unwrap_or_else(|| panic!("no {before} in {}", page.text)).1;
    let part = rest.split_once(after).unwrap_or((rest, "")).0;
    let mut inside = false;
    let plain: String = part
        .chars()
        .filter(|character| {
            inside = (inside || *character == '<') && *character != '>';
            !inside && *character != '>'
        })
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

async fn a_row_and_the_receipt_say_what_came_and_what_the_bill_was(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = owner(&kit, &project).await;
    for (bill, came, words) in [
        (100_000, 60_000, ["Rp60.000", "Rp100.000", "Rp59.300"]),
        (100_000, 130_000, ["Rp130.000", "Rp100.000", "Rp129.300"]),
    ] {
        kit.clock.advance(Duration::from_millis(1));
        let payment = paid_by(&project, bill, came).await;
        let [received, billed, net] = words;
        let row = list(&person, &project, "").await;
        assert_eq!(between(&row, "<td class=\"num money key\">", "</td>"), format!("{received} tagihan {billed}"));
        let home = person.open(&desk(project.id)).await;
        assert_eq!(between(&home, "<span class=\"money\">", "</span>"), received);
        let shown = page(&person, &project, &payment).await;
        assert_eq!(between(&shown, "<p class=\"amount\">", "</p>"), received);
        for (label, amount) in [("Tagihannya", billed), ("Uang yang masuk", received), ("Masuk ke saldo", net)] {
            contains_all(&shown, &[&format!("<dt>{label}</dt><dd>{amount}</dd>")]);
        }
        let customer = Customer::of(&kit);
        for query in ["", "?print=80mm"] {
            let receipt = customer.open(&format!("/pay/{}{query}", id(&payment))).await;
            is_page("receipt", &receipt, 200);
            let amount = between(&receipt, "<p class=\"label\">", "</p>\n<dl>");
            assert_eq!(amount.split_whitespace().collect::<Vec<_>>()[..4], ["Uang", "yang", "diterima", received]);
            contains_all(&receipt, &[&format!("<dt>Tagihan</dt><dd>{billed}</dd>")]);
            assert!(!receipt.text.contains("Total pembayaran"), "{}", receipt.text);
        }
    }
    let link = create_link(&project, json!({ "amount": 100_000 })).await;
    let payment = Customer::of(&kit).pays_by(&project, &link, "qris").await;
    let receipt = held_amount(&project, &payment, 60_000).await;
    let body = json!({ "note": "disepakati", "accept_difference": true });
    decide(&project, &receipt, "accept", &body).await.expect(200);
    let of_link = person.open(&format!("{}/links/{}", desk(project.id), text(&link, "id"))).await;
    assert!(of_link.text.contains("Rp60.000"), "{}", of_link.text);
}

async fn a_payment_of_its_own_amount_says_nothing_of_a_bill(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = owner(&kit, &project).await;
    let payment = create(&project, &with(samples::qris(&project, 100_000), "reference", json!("utuh"))).await;
    simulate_paid(&project, &payment).await;
    let row = list(&person, &project, "").await;
    assert_eq!(between(&row, "<td class=\"num money key\">", "</td>"), "Rp100.000");
    for query in ["", "?print=80mm"] {
        let receipt = Customer::of(&kit).open(&format!("/pay/{}{query}", id(&payment))).await;
        assert!(receipt.text.contains("Total pembayaran") && !receipt.text.contains("Tagihan"), "{}", receipt.text);
    }
}
