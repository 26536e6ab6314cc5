//! The page on which a customer says to which bank account money that comes back shall go, and what it tells from then on.

use std::sync::Arc;

use domain::{
    money::Rupiah,
    refund::{CLAIM_LIFETIME, CLAIM_TRIES_MOST},
    refund_settings::RefundSettings,
};
use engine::{ProjectUpdate, RefundOutcome};
use reqwest::Method;
use serde_json::json;
use testkit::{Kit, Reply, on_every_database, on_sqlite_alone};

use crate::support::{
    claims::{BANK, ClaimLink, HOLDER, NUMBER, REASON, path_of, refund},
    customer::{Customer, heading, is_page, is_protected, pay_path},
    held::contains_all,
    json::text,
    links::create_link,
    payments::{fetch, simulate_paid},
    rows::rows,
};

on_every_database![a_customer_names_an_account_and_follows_the_money_to_its_end, a_link_that_is_opened_changes_nothing,];

on_sqlite_alone![
    every_end_says_what_the_customer_can_do,
    a_refund_that_waits_for_an_approval_says_that_the_shop_checks_it,
    a_link_tells_nothing_of_the_customer_who_paid,
    a_link_is_shown_in_no_other_page,
    a_renewed_link_replaces_the_one_before,
    an_account_whose_bank_does_not_answer_is_confirmed_with_a_typed_name,
];

async fn status_word(customer: &Customer, link: &ClaimLink) -> String {
    let reply = customer.open(&format!("{}/status", link.path)).await;
    is_protected("status", &reply);
    text(&reply.expect(200), "status").to_owned()
}

async fn look(customer: &Customer, link: &ClaimLink) -> Reply {
    let page = customer.open(&link.path).await;
    is_page("claim", &page, 200);
    page
}

async fn a_customer_names_an_account_and_follows_the_money_to_its_end(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let customer = Customer::of(&kit);
    let page = look(&customer, &link).await;
    contains_all(&page, &["Rp50.000", "Toko Kopi mengembalikan uang Anda", "Satu kemasan rusak di jalan", "order-1"]);
    contains_all(&page, &["<optgroup", "BCA – Bank Central Asia", "28 November 2026 pukul 16.30 WIB"]);
    assert_eq!(status_word(&customer, &link).await, "open");
    let page = link.check(&customer, BANK, " 0123-4567.89 ").await;
    is_page("to be confirmed", &page, 200);
    contains_all(&page, &["Bank Central Asia (BCA)", "0123 4567 89", HOLDER, "Ya, kirim Rp50.000 ke sini"]);
    assert!(link.refund(&kit).await.destination.is_none(), "nothing is named before it is confirmed");
    let sent = link.name_account(&customer).await;
    assert_eq!((sent.status.as_u16(), sent.header("location")), (303, Some(link.path.as_str())));
    let destination = link.refund(&kit).await.destination.unwrap();
    assert_eq!((destination.bank.code, destination.last_digits.as_str()), (BANK, "6789"));
    assert_eq!((destination.holder.as_deref(), destination.is_checked), (Some(HOLDER), true));
    let page = look(&customer, &link).await;
    contains_all(&page, &["Uang Anda sedang dikirim", "•••• 6789", "Cek status"]);
    assert!(!page.text.contains(NUMBER) && !page.text.contains(HOLDER), "{}", page.text);
    assert_eq!(status_word(&customer, &link).await, "processing");
    let ended = kit.engine.simulate_refund(&link.project, link.id, RefundOutcome::Succeeded).await.unwrap();
    let page = look(&customer, &link).await;
    contains_all(
        &page,
        &["Uang Anda sudah dikirim", "14 November 2026 pukul", ended.bank_reference.as_deref().unwrap()],
    );
    assert_eq!(status_word(&customer, &link).await, "succeeded");
    let english = customer.open(&format!("{}?lang=en", link.path)).await;
    contains_all(&english, &["Your money has been sent", "Bank reference"]);
}

async fn a_link_that_is_opened_changes_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let before = rows(&kit.database);
    for method in [Method::GET, Method::HEAD] {
        for path in [link.path.clone(), format!("{}/status", link.path), format!("{}?step=confirm", link.path)] {
            let customer = Customer::of(&kit);
            assert_eq!(customer.send(customer.request(method.clone(), &path)).await.status, 200);
        }
    }
    assert_eq!(rows(&kit.database), before);
}

async fn every_end_says_what_the_customer_can_do(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let customer = Customer::of(&kit);
    for (outcomes, word, told) in [
        (&[RefundOutcome::Failed][..], "failed", "Uang belum bisa dikirim"),
        (&[RefundOutcome::Succeeded, RefundOutcome::Returned], "returned", "Uang kembali ke toko"),
    ] {
        let link = ClaimLink::of(&kit, &project, 50_000).await;
        link.name_account(&customer).await;
        for outcome in outcomes {
            kit.engine.simulate_refund(&link.project, link.id, *outcome).await.unwrap();
        }
        contains_all(&look(&customer, &link).await, &[told, "Hubungi Toko Kopi"]);
        assert_eq!(status_word(&customer, &link).await, word);
    }
    let cancelled = ClaimLink::of(&kit, &project, 50_000).await;
    kit.engine.cancel_refund(&cancelled.project, cancelled.id).await.unwrap();
    contains_all(&look(&customer, &cancelled).await, &["Pengembalian ini dibatalkan", "tidak ada uang yang dikirim"]);
    let locked = ClaimLink::of(&kit, &project, 50_000).await;
    for _ in 0..CLAIM_TRIES_MOST {
        is_page("a try", &locked.check(&customer, BANK, NUMBER).await, 200);
    }
    contains_all(
        &look(&customer, &locked).await,
        &["Tautan ini terlalu sering dicoba", "Minta tautan baru kepada Toko Kopi"],
    );
    let late = ClaimLink::of(&kit, &project, 50_000).await;
    kit.clock.advance(CLAIM_LIFETIME);
    assert_eq!(heading(&look(&customer, &late).await), "Toko Kopi mengembalikan uang Anda");
    kit.clock.advance(std::time::Duration::from_millis(1));
    contains_all(
        &look(&customer, &late).await,
        &["Tautan ini sudah kedaluwarsa", "Minta tautan baru kepada Toko Kopi"],
    );
    for (link, word) in [(&cancelled, "cancelled"), (&late, "expired")] {
        assert_eq!(status_word(&customer, link).await, word);
    }
}

async fn a_refund_that_waits_for_an_approval_says_that_the_shop_checks_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let refunds = RefundSettings { approval_above: Some(Rupiah::new(10_000)), ..RefundSettings::default() };
    kit.update(project.id, ProjectUpdate { refunds: Some(refunds), ..ProjectUpdate::default() }).await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let customer = Customer::of(&kit);
    assert_eq!(link.name_account(&customer).await.status, 303);
    let page = look(&customer, &link).await;
    contains_all(&page, &["Toko Kopi sedang memeriksanya", "setelah Toko Kopi selesai memeriksa"]);
    assert_eq!(status_word(&customer, &link).await, "awaiting_approval");
}

async fn a_link_tells_nothing_of_the_customer_who_paid(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let fields = json!({ "name": true, "email": true, "phone": true });
    let shop = create_link(&project, json!({ "customer_fields": fields, "metadata": { "rak": "B-17" } })).await;
    let method = ("method", "virtual_account:bca");
    let answers = [method, ("name", "Siti Aminah"), ("email", "siti@example.id"), ("phone", "0812 3333")];
    let chosen = Customer::of(&kit).choose(&shop, &answers).await;
    let payment = crate::support::customer::payment_of(&project, &chosen).await;
    simulate_paid(&project, &payment).await;
    let payment = fetch(&project, &payment).await;
    let link = ClaimLink::of_payment(&kit, &project, payment.clone(), 20_000, REASON).await;
    let stranger = Customer::of(&kit);
    let mut pages = vec![look(&stranger, &link).await, link.check(&stranger, BANK, NUMBER).await];
    link.name_account(&stranger).await;
    pages.push(look(&stranger, &link).await);
    for page in &pages {
        let id = link.id.to_string();
        for secret in ["Siti", "siti@", "0812 3333", "B-17", text(&payment, "id"), &id, &pay_path(&payment)] {
            assert!(!page.text.contains(secret), "{secret} is told: {}", page.text);
        }
    }
    contains_all(&pages[0], &["Kopi susu", text(&payment, "reference")]);
}

async fn a_link_is_shown_in_no_other_page(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let origins = Some(vec!["https://shop.example".to_owned()]);
    kit.update(project.id, ProjectUpdate { frame_origins: origins, ..ProjectUpdate::default() }).await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let page = Customer::of(&kit).open(&format!("{}?origin=https://shop.example", link.path)).await;
    // This checks that nobody may frame it.
    is_page("framed", &page, 200);
    assert!(!page.text.contains("data-origin"), "{}", page.text);
}

async fn a_renewed_link_replaces_the_one_before(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let customer = Customer::of(&kit);
    let ticket = link.ticket(&customer, NUMBER).await;
    let renewed = kit.engine.renew_refund_link(&link.project, link.id).await.unwrap();
    is_page("the old one", &customer.open(&link.path).await, 404);
    is_page("the old one", &link.confirm(&customer, &ticket).await, 404);
    let path = path_of(&kit, &renewed).await.unwrap();
    assert_ne!(path, link.path);
    is_page("the new one", &customer.open(&path).await, 200);
    assert!(link.refund(&kit).await.destination.is_none());
}

async fn an_account_whose_bank_does_not_answer_is_confirmed_with_a_typed_name(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let customer = Customer::of(&kit);
    let page = link.check(&customer, BANK, "1234567503").await;
    is_page("no name", &page, 200);
    contains_all(&page, &["name=\"holder\"", "belum bisa kami tanyakan ke bank"]);
    let ticket = crate::support::claims::ticket_in(&page);
    let send = async |holder: &str| {
        let fields = [("step", "confirm"), ("ticket", ticket.as_str()), ("holder", holder)];
        customer.post(&link.path, &fields).await
    };
    let long = "N".repeat(101);
    for (holder, why) in [
        ("", "Bagian ini perlu diisi."),
        ("  ", "Bagian ini perlu diisi."),
        (long.as_str(), "paling banyak 100 karakter"),
        ("SARI\u{202e}IWED", "Ada karakter yang tidak bisa dipakai"),
        ("SARI\u{7}", "Ada karakter yang tidak bisa dipakai"),
    ] {
        let page = send(holder).await;
        is_page(holder, &page, 422);
        contains_all(&page, &[why, "aria-invalid", "1234 5675 03"]);
        assert!(link.refund(&kit).await.destination.is_none(), "{holder}");
    }
    assert_eq!(send(" Sari \"Dewi\" <b> ").await.status, 303);
    let destination = link.refund(&kit).await.destination.unwrap();
    assert_eq!((destination.holder.as_deref(), destination.is_checked), (Some("Sari \"Dewi\" <b>"), false));
    // A refund without a claim has no link.
    let qris = crate::support::payments::paid(&project, "qris", 20_000).await;
    let refund = refund(&kit, &link.project, &qris, 20_000, "").await;
    assert_eq!(path_of(&kit, &refund).await, None);
}
