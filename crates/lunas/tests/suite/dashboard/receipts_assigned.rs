//! Held money that is used for another payment than it was sent for.

use std::sync::Arc;

use domain::access::Role;
use testkit::{Kit, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::is_page,
    held::{contains_all, held, held_late, member},
    json::{text, with},
    payments::{balance, create, events_of, pending_qris, simulate_paid, status, unapplied},
    people::desk,
    samples,
};

on_every_database![
    unpaid_payments_of_the_same_amount_are_offered_and_others_are_searched_for,
    held_money_pays_the_payment_that_the_member_chose_and_both_pages_say_so,
    a_choice_without_a_note_comes_back_and_a_second_decision_is_refused,
];

on_sqlite_alone![
    another_amount_is_used_only_after_the_difference_was_shown,
    money_is_not_used_for_what_is_paid_unknown_or_of_another_project,
];

async fn named(project: &TestProject, reference: &str, amount: i64) -> serde_json::Value {
    create(project, &with(samples::qris(project, amount), "reference", reference)).await
}

async fn unpaid_payments_of_the_same_amount_are_offered_and_others_are_searched_for(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let late = held_late(&kit, &project, "late").await;
    named(&project, "INV-same", 15_000).await;
    named(&project, "INV-dearer", 17_000).await;
    let paid = named(&project, "INV-paid", 15_000).await;
    simulate_paid(&project, &paid).await;
    let person = member(&kit, &project, Role::Owner).await;
    let url = format!("{}/assign", late.path(&project));
    for path in [late.path(&project), url.clone()] {
        let page = person.open(&path).await;
        is_page(&path, &page, 200);
        contains_all(&page, &["Belum lunas, jumlahnya sama", ">INV-same</a>"]);
        for absent in ["INV-dearer", "INV-paid"] {
            assert!(!page.text.contains(absent), "{absent} in {}", page.text);
        }
    }
    let found = person.open(&format!("{url}?q=inv-")).await;
    contains_all(&found, &["cocok dengan pencarian", "value=\"inv-\"", ">INV-same</a>", ">INV-dearer</a>"]);
    assert!(!found.text.contains("INV-paid"), "{}", found.text);
    let (same, dearer) = (found.text.find("INV-same</a>"), found.text.find("INV-dearer</a>"));
    assert!(same < dearer, "the same amount comes first");
    let none = person.open(&format!("{url}?q=nothing+of+the+kind")).await;
    is_page("none", &none, 200);
    contains_all(&none, &["Tidak ada pembayaran yang belum lunas dengan kata itu."]);
    let long = "x".repeat(256);
    for short in ["a", "ab", "%00%00%00", long.as_str()] {
        let page = person.open(&format!("{url}?q={short}")).await;
        is_page(short, &page, 422);
        contains_all(&page, &["Tulis 3 sampai 255", ">INV-same</a>"]);
    }
    for wild in ["%25%25%25", "___", "%27%20OR%201%3D1%20--", "%E2%80%AEabc"] {
        let page = person.open(&format!("{url}?q={wild}")).await;
        is_page(wild, &page, 200);
        assert!(!page.text.contains("INV-same"), "{wild} finds nothing");
    }
}

async fn held_money_pays_the_payment_that_the_member_chose_and_both_pages_say_so(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let late = held_late(&kit, &project, "late").await;
    let meant = named(&project, "INV-meant", 15_000).await;
    let person = member(&kit, &project, Role::Owner).await;
    let path = format!("{}/assign?payment={}", late.path(&project), text(&meant, "id"));
    let page = person.open(&path).await;
    is_page("confirm", &page, 200);
    contains_all(&page, &["Pakai Rp15.000 untuk INV-meant?", "-Rp105", "Rp14.895", "Pembayaran semula tidak berubah."]);
    assert!(!page.text.contains("name=\"difference\""), "{}", page.text);
    let fields = [("payment", text(&meant, "id")), ("note", "salah kode")];
    let reply = late.send(&person, &project, "assign", &fields).await;
    assert_eq!(reply.status, 303, "{}", reply.text);
    let list = format!("{}/balance/receipts?done=receipt-assigned", desk(project.id));
    assert_eq!(reply.header("location"), Some(list.as_str()));
    assert_eq!(status(&project, &meant).await, "paid");
    assert_eq!(status(&project, &late.payment).await, "expired");
    assert_eq!((balance(&project, "pending").await, unapplied(&project).await), (14_895, 0));
    assert_eq!(events_of(&project, &meant, "payment.paid").await.len(), 1);
    for (payment, told) in [
        (&meant, "Rp15.000 dari pembayaran lain dipakai di sini"),
        (&late.payment, "Rp15.000 dipakai untuk pembayaran lain"),
    ] {
        let page = person.open(&format!("{}/payments/{}", desk(project.id), text(payment, "id"))).await;
        contains_all(&page, &[told, "salah kode", &late.path(&project)]);
    }
    let page = person.open(&late.path(&project)).await;
    contains_all(&page, &["Dipakai untuk pembayaran lain</span>", ">INV-meant</a>", "salah kode"]);
}

async fn a_choice_without_a_note_comes_back_and_a_second_decision_is_refused(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let late = held_late(&kit, &project, "late").await;
    let meant = named(&project, "INV-meant", 15_000).await;
    let person = member(&kit, &project, Role::Owner).await;
    let fields = [("payment", text(&meant, "id")), ("note", "")];
    let unnoted = late.send(&person, &project, "assign", &fields).await;
    is_page("no note", &unnoted, 422);
    contains_all(&unnoted, &["Tulis catatan", "Pakai Rp15.000 untuk INV-meant?"]);
    assert_eq!(unapplied(&project).await, 15_000);
    let fields = [("payment", text(&meant, "id")), ("note", "salah kode")];
    assert_eq!(late.send(&person, &project, "assign", &fields).await.status, 303);
    let again = late.send(&person, &project, "assign", &fields).await;
    is_page("again", &again, 409);
    contains_all(&again, &["sudah diputuskan sebelumnya"]);
    assert!(!again.text.contains("<textarea"), "there is nothing left to decide");
}

async fn another_amount_is_used_only_after_the_difference_was_shown(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let late = held_late(&kit, &project, "late").await;
    let meant = named(&project, "INV-meant", 16_000).await;
    let person = member(&kit, &project, Role::Owner).await;
    let path = format!("{}/assign?payment={}", late.path(&project), text(&meant, "id"));
    let page = person.open(&path).await;
    contains_all(&page, &["walaupun kurang Rp1.000", "name=\"difference\" value=\"accepted\"", "-Rp112", "Rp14.888"]);
    let fields = [("payment", text(&meant, "id")), ("note", "salah kode")];
    is_page("unaware", &late.send(&person, &project, "assign", &fields).await, 409);
    assert_eq!((status(&project, &meant).await.as_str(), unapplied(&project).await), ("pending", 15_000));
    let fields = [("payment", text(&meant, "id")), ("note", "salah kode"), ("difference", "accepted")];
    assert_eq!(late.send(&person, &project, "assign", &fields).await.status, 303);
    assert_eq!((status(&project, &meant).await.as_str(), unapplied(&project).await), ("paid", 0));
    assert_eq!(balance(&project, "pending").await, 14_888);
}

async fn money_is_not_used_for_what_is_paid_unknown_or_of_another_project(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let person = member(&kit, &project, Role::Owner).await;
    let wrong = held(&kit, &project, &pending_qris(&project, 15_000).await, "wrong", 9_000).await;
    let paid = named(&project, "INV-paid", 9_000).await;
    simulate_paid(&project, &paid).await;
    let foreign = named(&other, "INV-foreign", 9_000).await;
    let pending = balance(&project, "pending").await;
    let path = format!("{}/assign?payment=", wrong.path(&project));
    let shown = person.open(&format!("{path}{}", text(&paid, "id"))).await;
    is_page("paid", &shown, 200);
    assert!(shown.text.contains("sudah lunas") && !shown.text.contains("<textarea"), "{}", shown.text);
    let unknown = "pay_01kc2m8r5gfq9t3v7x1y4z6a8b";
    for (payment, code, why) in [
        (text(&paid, "id"), 409, "sudah lunas"),
        (text(&foreign, "id"), 422, "tidak ada di proyek ini"),
        (unknown, 422, "tidak ada di proyek ini"),
        ("junk", 422, "tidak ada di proyek ini"),
        ("", 422, "tidak ada di proyek ini"),
    ] {
        let fields = [("payment", payment), ("note", "salah kode"), ("difference", "accepted")];
        let reply = wrong.send(&person, &project, "assign", &fields).await;
        is_page(payment, &reply, code);
        assert!(reply.text.contains(why) && !reply.text.contains("INV-foreign"), "{}", reply.text);
        if payment != text(&paid, "id") {
            is_page(payment, &person.open(&format!("{path}{payment}")).await, 422);
        }
    }
    assert_eq!((unapplied(&project).await, balance(&project, "pending").await), (9_000, pending));
    assert_eq!(status(&other, &foreign).await, "pending");
}
