//! Decisions about money that fits no payment, one by one, and where that money is seen.

use std::sync::Arc;

use domain::{access::Role, time::Timestamp};
use serde_json::json;
use testkit::{Kit, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, is_page, payment_of},
    held::{Held, MINUTE, contains_all, held, held_late, member, receipt_id},
    json::{text, with},
    links::create_link,
    payments::{balance, create, events_of, fetch, pending_qris, simulate, simulate_paid, status, unapplied},
    people::desk,
    samples,
};

on_every_database![
    accepting_pays_the_payment_posts_it_and_makes_one_event,
    money_under_another_payments_receipt_id_can_be_accepted,
    another_amount_pays_only_after_the_member_was_shown_the_difference,
    returning_empties_the_account_and_changes_no_payment,
    money_for_what_is_paid_already_or_below_the_fee_cannot_be_accepted_for_it,
    of_two_decisions_at_once_one_counts,
    the_list_says_whose_money_it_is_what_was_due_and_for_how_long_it_has_waited,
];

on_sqlite_alone![
    only_owners_decide_and_only_about_money_of_their_own_project,
    what_names_no_receipt_is_not_found_and_a_form_without_a_token_is_refused,
    a_decision_without_a_note_or_with_too_long_a_one_comes_back_and_decides_nothing,
    a_payments_page_shows_what_needs_a_decision_and_later_what_was_decided,
];

async fn accepting_pays_the_payment_posts_it_and_makes_one_event(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let late = held_late(&kit, &project, "late").await;
    let person = member(&kit, &project, Role::Owner).await;
    let page = person.open(&late.path(&project)).await;
    is_page("late", &page, 200);
    contains_all(&page, &["Rp15.000", "Dibayar setelah batas waktu", "-Rp105", "Rp14.895", "/accept\"", "/return\""]);
    let reply = late.decide(&person, &project, "accept", "  telat dua\r\nmenit ").await;
    assert_eq!(reply.status, 303, "{}", reply.text);
    let list = format!("{}/balance/receipts?done=receipt-accepted", desk(project.id));
    assert_eq!(reply.header("location"), Some(list.as_str()));
    assert_eq!(status(&project, &late.payment).await, "paid");
    assert_eq!((balance(&project, "pending").await, unapplied(&project).await), (14_895, 0));
    assert_eq!(events_of(&project, &late.payment, "payment.paid").await.len(), 1);
    for act in ["accept", "return"] {
        let again = late.decide(&person, &project, act, "again").await;
        is_page(act, &again, 409);
        contains_all(&again, &["telat dua\nmenit", &format!("oleh {}", person.user.email)]);
        assert!(!again.text.contains(&format!("/{act}\"")), "{}", again.text);
    }
    assert_eq!((balance(&project, "pending").await, unapplied(&project).await), (14_895, 0));
    assert_eq!(events_of(&project, &late.payment, "payment.paid").await.len(), 1);
    let decided = person.open(&format!("{}/balance/receipts?tab=decided", desk(project.id))).await;
    contains_all(&decided, &["Diterima</span>", "telat dua"]);
}

async fn money_under_another_payments_receipt_id_can_be_accepted(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (one, two) = (pending_qris(&project, 15_000).await, pending_qris(&project, 20_000).await);
    let report = json!({ "outcome": "paid", "receipt_id": "r-1" });
    assert_eq!(simulate(&project, &one, &report).await.expect(200)["status"], "paid");
    let reused = held(&kit, &project, &two, "r-1", 20_000).await;
    let person = member(&kit, &project, Role::Owner).await;
    let list = person.open(&format!("{}/balance/receipts", desk(project.id))).await;
    contains_all(&list, &["Rp20.000", "dengan nomor bukti yang sama", &reused.path(&project)]);
    is_page("reused", &person.open(&reused.path(&project)).await, 200);
    assert_eq!(reused.decide(&person, &project, "accept", "bank salah nomor").await.status, 303);
    assert_eq!((status(&project, &one).await, status(&project, &two).await), ("paid".to_owned(), "paid".to_owned()));
    assert_eq!((balance(&project, "pending").await, unapplied(&project).await), (14_895 + 19_860, 0));
}

async fn another_amount_pays_only_after_the_member_was_shown_the_difference(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = member(&kit, &project, Role::Owner).await;
    let mut pending = 0;
    for (amount, shown, net) in [
        (14_000, ["walaupun kurang Rp1.000", "kurang Rp1.000", "Rp13.895"], 13_895),
        (16_500, ["kelebihan Rp1.500", "lebih Rp1.500", "Rp16.395"], 16_395),
    ] {
        let other = held(&kit, &project, &pending_qris(&project, 15_000).await, &amount.to_string(), amount).await;
        let page = person.open(&other.path(&project)).await;
        is_page(shown[0], &page, 200);
        contains_all(&page, &shown);
        contains_all(&page, &["Terima dengan selisihnya", "name=\"difference\" value=\"accepted\"", "-Rp105"]);
        let unaware = other.decide(&person, &project, "accept", "tanpa melihat selisih").await;
        is_page("unaware", &unaware, 409);
        assert_eq!(status(&project, &other.payment).await, "pending");
        let fields = [("difference", "accepted"), ("note", "sudah disepakati")];
        assert_eq!(other.send(&person, &project, "accept", &fields).await.status, 303);
        pending += net;
        assert_eq!(status(&project, &other.payment).await, "paid");
        assert_eq!((balance(&project, "pending").await, unapplied(&project).await), (pending, 0));
        let page = person.open(&format!("{}/payments/{}", desk(project.id), text(&other.payment, "id"))).await;
        let received = domain::money::Rupiah::new(amount).to_string();
        contains_all(
            &page,
            &[&format!("Uang yang masuk</dt><dd>{received}"), &format!("Masuk ke saldo</dt><dd>{}", shown[2])],
        );
    }
    let decided = person.open(&format!("{}/balance/receipts?tab=decided", desk(project.id))).await;
    assert_eq!(decided.text.matches("Diterima dengan selisihnya</span>").count(), 2, "{}", decided.text);
    // What lists and files add up to is what came.
    let list = person.open(&format!("{}/payments?status=paid", desk(project.id))).await;
    contains_all(&list, &["Rp30.500", "Rp30.290"]);
    let file = person.open(&format!("{}/payments.csv", desk(project.id))).await;
    contains_all(&file, &["15000,105,13895", "15000,105,16395"]);
}

async fn returning_empties_the_account_and_changes_no_payment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let late = held_late(&kit, &project, "late").await;
    let person = member(&kit, &project, Role::Owner).await;
    let before = fetch(&project, &late.payment).await;
    assert_eq!(late.decide(&person, &project, "return", "ditransfer balik").await.status, 303);
    assert_eq!(fetch(&project, &late.payment).await, before);
    assert_eq!((balance(&project, "pending").await, unapplied(&project).await), (0, 0));
    assert!(events_of(&project, &late.payment, "payment.paid").await.is_empty());
    is_page("again", &late.decide(&person, &project, "accept", "again").await, 409);
    assert_eq!(fetch(&project, &late.payment).await, before);
}

async fn money_for_what_is_paid_already_or_below_the_fee_cannot_be_accepted_for_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = member(&kit, &project, Role::Owner).await;
    let account = create(&project, &samples::virtual_account(&project, "bca", 15_000)).await;
    let small = held(&kit, &project, &account, "small", 3_999).await;
    let paid = pending_qris(&project, 15_000).await;
    simulate_paid(&project, &paid).await;
    let twice = held(&kit, &project, &paid, "twice", 15_000).await;
    let link = create_link(&project, json!({})).await;
    let first = Customer::of(&kit).pays_by(&project, &link, "qris").await;
    let second = Customer::of(&kit).pays_by(&project, &link, "virtual_account:bca").await;
    simulate_paid(&project, &first).await;
    let claimed = held(&kit, &project, &second, "claimed", 50_000).await;
    for (held, why) in [
        (&small, "lebih kecil daripada biayanya, yaitu Rp4.000"),
        (&twice, "karena pembayaran itu sudah lunas"),
        (&claimed, "sudah dilunasi oleh pembayaran lain"),
    ] {
        let page = person.open(&held.path(&project)).await;
        is_page(why, &page, 200);
        contains_all(&page, &[why, "/return\"", "/assign\""]);
        assert!(!page.text.contains("/accept\""), "{}", page.text);
        let before = unapplied(&project).await;
        let fields = [("difference", "accepted"), ("note", "please")];
        let reply = held.send(&person, &project, "accept", &fields).await;
        is_page(why, &reply, 409);
        assert!(reply.text.contains(why), "{}", reply.text);
        assert_eq!(unapplied(&project).await, before);
        assert_eq!(held.decide(&person, &project, "return", "done").await.status, 303, "{why}");
    }
    assert_eq!(unapplied(&project).await, 0);
}

async fn of_two_decisions_at_once_one_counts(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = member(&kit, &project, Role::Owner).await;
    for round in 0..4 {
        let payment = create(&project, &samples::qris(&project, 15_000)).await;
        let past = json!({
            "outcome": "paid", "receipt_id": format!("r-{round}"),
            "paid_at": Timestamp::parse(text(&payment, "expires_at")).unwrap().plus(MINUTE).to_string(),
        });
        simulate(&project, &payment, &past).await.expect(200);
        let id = receipt_id(&kit, &project, &payment, &format!("r-{round}")).await;
        let (held, pending) = (Held { payment, id }, balance(&project, "pending").await);
        let (accepted, returned) = tokio::join!(
            held.decide(&person, &project, "accept", "at once"),
            held.decide(&person, &project, "return", "at once")
        );
        let mut answers = [accepted.status.as_u16(), returned.status.as_u16()];
        let is_paid = status(&project, &held.payment).await == "paid";
        assert_eq!(is_paid, accepted.status == 303, "what is told is what happened");
        answers.sort_unstable();
        assert_eq!(answers, [303, 409]);
        let earned = if is_paid { 14_895 } else { 0 };
        assert_eq!((balance(&project, "pending").await - pending, unapplied(&project).await), (earned, 0));
    }
}

async fn only_owners_decide_and_only_about_money_of_their_own_project(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let late = held_late(&kit, &project, "late").await;
    let stranger = member(&kit, &other, Role::Owner).await;
    member(&kit, &project, Role::Owner).await;
    for role in [Role::Viewer, Role::Developer] {
        let person = member(&kit, &project, role).await;
        let page = person.open(&late.path(&project)).await;
        is_page(role.word(), &page, 200);
        assert!(page.text.contains("hanya pemilik") && !page.text.contains("/return\""), "{}", page.text);
        let list = person.open(&format!("{}/balance/receipts", desk(project.id))).await;
        assert!(list.text.contains(&late.path(&project)) && !list.text.contains("checkbox"), "{}", list.text);
        for act in ["accept", "return", "assign"] {
            is_page(act, &late.decide(&person, &project, act, "mine").await, 403);
        }
    }
    for act in ["accept", "return"] {
        is_page(act, &late.decide(&stranger, &project, act, "mine").await, 404);
        is_page(act, &late.decide(&stranger, &other, act, "mine").await, 404);
    }
    is_page("look", &stranger.open(&late.path(&other)).await, 404);
    assert_eq!((unapplied(&project).await, balance(&project, "pending").await), (15_000, 0));
    assert_eq!(status(&project, &late.payment).await, "expired");
}

async fn what_names_no_receipt_is_not_found_and_a_form_without_a_token_is_refused(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let late = held_late(&kit, &project, "late").await;
    let owner = member(&kit, &project, Role::Owner).await;
    for id in ["x", "rcp_", "rcp_00000000000000000000000000", "%00", "pay_00000000000000000000000000"] {
        let path = format!("{}/balance/receipts/{id}", desk(project.id));
        is_page(id, &owner.open(&path).await, 404);
        is_page(id, &owner.post(&format!("{path}/return"), &[("note", "mine")]).await, 404);
    }
    let path = format!("{}/accept", late.path(&project));
    let forged = owner.browser.form(&path, &[("note", "mine")]).header("sec-fetch-site", "same-origin");
    is_page("no token", &owner.browser.send(forged).await, 403);
    assert_eq!((unapplied(&project).await, balance(&project, "pending").await), (15_000, 0));
    assert_eq!(status(&project, &late.payment).await, "expired");
}

async fn a_decision_without_a_note_or_with_too_long_a_one_comes_back_and_decides_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let late = held_late(&kit, &project, "late").await;
    let person = member(&kit, &project, Role::Owner).await;
    let long = "é".repeat(501);
    for (act, note, why) in [
        ("accept", "", "Tulis catatan"),
        ("return", " \r\n ", "Tulis catatan"),
        ("return", long.as_str(), "Paling banyak 500 karakter."),
        ("accept", "a\u{7}b", "tidak bisa dipakai"),
    ] {
        let reply = late.decide(&person, &project, act, note).await;
        is_page(why, &reply, 422);
        assert!(reply.text.contains(&format!("aria-describedby=\"{act}-note-why {act}-note-hint\"")), "{}", reply.text);
        assert!(reply.text.contains(why) && reply.text.contains(note.trim()), "{}", reply.text);
        assert_eq!(reply.text.matches("class=\"why\"").count(), 1);
    }
    assert_eq!((unapplied(&project).await, balance(&project, "pending").await), (15_000, 0));
    let fits = "é".repeat(500);
    assert_eq!(late.decide(&person, &project, "accept", &fits).await.status, 303);
}

async fn the_list_says_whose_money_it_is_what_was_due_and_for_how_long_it_has_waited(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let fields = json!({ "name": true, "phone": true });
    let link = create_link(&project, json!({ "customer_fields": fields, "reference": "INV-7" })).await;
    let answers = [("method", "qris"), ("name", "Siti Aisyah"), ("phone", "0812 3456 7890")];
    let payment = payment_of(&project, &Customer::of(&kit).choose(&link, &answers).await).await;
    let less = held(&kit, &project, &payment, "less", 48_000).await;
    kit.clock.advance(3 * 60 * MINUTE);
    held(&kit, &project, &pending_qris(&project, 20_000).await, "more", 20_500).await;
    let person = member(&kit, &project, Role::Owner).await;
    let list = person.open(&format!("{}/balance/receipts", desk(project.id))).await;
    is_page("list", &list, 200);
    contains_all(
        &list,
        &[
            "2 penerimaan menunggu keputusan, jumlahnya Rp68.500.",
            "Siti Aisyah",
            "Rp48.000",
            "Rp50.000 <small>kurang Rp2.000",
            "Rp20.000 <small>lebih Rp500",
            "Jumlahnya tidak sama dengan tagihan.",
            ">3 jam</time>",
            ">0 menit</time>",
        ],
    );
    let page = person.open(&less.path(&project)).await;
    contains_all(&page, &["Siti Aisyah", "0812 3456 7890", &less.id]);
    let balance = person.open(&format!("{}/balance", desk(project.id))).await;
    contains_all(&balance, &["2 penerimaan menunggu keputusan, jumlahnya Rp68.500."]);
    kit.clock.advance(47 * 60 * MINUTE);
    let person = crate::support::people::Person::signed_in(&kit, person.user).await;
    let list = person.open(&format!("{}/balance/receipts", desk(project.id))).await;
    contains_all(&list, &[">2 hari</time>", ">47 jam</time>"]);
}

async fn a_payments_page_shows_what_needs_a_decision_and_later_what_was_decided(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (owner, viewer) = (member(&kit, &project, Role::Owner).await, member(&kit, &project, Role::Viewer).await);
    let body = with(samples::qris(&project, 15_000), "reference", "INV-9");
    let payment = create(&project, &body).await;
    let path = format!("{}/payments/{}", desk(project.id), text(&payment, "id"));
    assert!(!owner.open(&path).await.text.contains("menunggu keputusan</b>"));
    let less = held(&kit, &project, &payment, "less", 14_000).await;
    let page = owner.open(&path).await;
    is_page("held", &page, 200);
    let shown = [
        "<b>Rp14.000 menunggu keputusan</b> Jumlahnya tidak sama dengan tagihan.",
        &format!("href=\"{}\">Putuskan</a>", less.path(&project)),
        "Rp14.000 masuk, tetapi tidak melunasi",
    ];
    contains_all(&page, &shown);
    let looked = viewer.open(&path).await;
    contains_all(&looked, &["menunggu keputusan</b>", "Lihat uangnya</a>"]);
    assert!(!looked.text.contains("Putuskan</a>"), "{}", looked.text);
    assert_eq!(less.decide(&owner, &project, "return", "dikirim balik, bukti 77").await.status, 303);
    let page = owner.open(&path).await;
    let told = format!("<b>Rp14.000 dikembalikan</b> oleh {}: dikirim balik, bukti 77", owner.user.email);
    contains_all(&page, &["Rp14.000 masuk, tetapi tidak melunasi", &told]);
    assert!(!page.text.contains("menunggu keputusan</b>"), "{}", page.text);
    for number in 1..=5 {
        held(&kit, &project, &payment, &format!("r-{number}"), number).await;
    }
    let page = owner.open(&path).await;
    assert_eq!(page.text.matches("menunggu keputusan</b>").count(), 3);
    contains_all(&page, &["2 penerimaan lain menunggu keputusan."]);
}
