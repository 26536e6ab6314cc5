//! What customers are told about money of theirs that did not pay.

use std::sync::Arc;

use domain::access::Role;
use serde_json::{Value, json};
use testkit::{Kit, Reply, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, is_page, pay_path},
    held::{contains_all, held, held_late, member},
    json::text,
    links::create_link,
    payments::{pending_qris, simulate_paid},
    people::Person,
};

on_every_database![a_customer_is_told_what_became_of_their_money];

on_sqlite_alone![a_customer_is_told_why_their_money_did_not_pay_and_whom_to_ask];

async fn look(kit: &Kit, payment: &Value) -> Reply {
    let page = Customer::of(kit).open(&pay_path(payment)).await;
    is_page("payment", &page, 200);
    page
}

async fn a_customer_is_told_why_their_money_did_not_pay_and_whom_to_ask(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let none = pending_qris(&project, 15_000).await;
    assert!(!look(&kit, &none).await.text.contains("note held"));
    let less = pending_qris(&project, 15_000).await;
    held(&kit, &project, &less, "less", 14_000).await;
    let twice = pending_qris(&project, 15_000).await;
    simulate_paid(&project, &twice).await;
    held(&kit, &project, &twice, "twice", 15_000).await;
    let link = create_link(&project, json!({})).await;
    let first = Customer::of(&kit).pays_by(&project, &link, "qris").await;
    let claimed = Customer::of(&kit).pays_by(&project, &link, "virtual_account:bca").await;
    simulate_paid(&project, &first).await;
    held(&kit, &project, &claimed, "claimed", 50_000).await;
    let late = held_late(&kit, &project, "late").await.payment;
    for (payment, told) in [
        (&less, "Rp14.000 sampai, tetapi tagihannya Rp15.000;"),
        (&twice, "Rp15.000 sampai lagi, padahal tagihan ini sudah lunas;"),
        (&claimed, "Rp50.000 sampai, padahal tagihan ini sudah dilunasi dengan pembayaran lain;"),
        (&late, "Rp15.000 sampai setelah batas waktu;"),
    ] {
        let page = look(&kit, payment).await;
        let texts = ["Uang Anda sudah sampai", told, "akan menghubungi Anda.", "Jangan membayar lagi sebelum bertanya"];
        contains_all(&page, &texts);
        assert!(!page.text.contains("Sudah telanjur membayar?"), "{}", page.text);
    }
    let english = Customer::of(&kit).open(&format!("{}?lang=en", pay_path(&late))).await;
    contains_all(&english, &["Your money has arrived", "Rp15.000 arrived after the deadline;", "will contact you."]);
}

async fn a_customer_is_told_what_became_of_their_money(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let user = member(&kit, &project, Role::Owner).await.user;
    let accepted = held_late(&kit, &project, "accepted").await;
    // Time has passed, and decisions want a fresh proof.
    let person = Person::signed_in(&kit, user.clone()).await;
    assert_eq!(accepted.decide(&person, &project, "accept", "telat sedikit").await.status, 303);
    let page = look(&kit, &accepted.payment).await;
    assert!(page.text.contains("Lunas. Terima kasih!") && !page.text.contains("note held"), "{}", page.text);
    let returned = held_late(&kit, &project, "returned").await;
    let person = Person::signed_in(&kit, user.clone()).await;
    let note = "rahasia toko";
    assert_eq!(returned.decide(&person, &project, "return", note).await.status, 303);
    let page = look(&kit, &returned.payment).await;
    contains_all(&page, &["Tentang uang Anda", "sudah mengembalikan Rp15.000 kepada Anda."]);
    assert!(!page.text.contains(note) && !page.text.contains("Jangan membayar lagi sebelum"), "{}", page.text);
    let assigned = held_late(&kit, &project, "assigned").await;
    let person = Person::signed_in(&kit, user).await;
    let meant = pending_qris(&project, 15_000).await;
    let fields = [("payment", text(&meant, "id")), ("note", note)];
    assert_eq!(assigned.send(&person, &project, "assign", &fields).await.status, 303);
    contains_all(&look(&kit, &assigned.payment).await, &["memakai Rp15.000 ini untuk tagihan lain."]);
    let page = look(&kit, &meant).await;
    assert!(page.text.contains("Lunas. Terima kasih!") && !page.text.contains("note held"), "{}", page.text);
}
