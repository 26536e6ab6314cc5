//! Refunds on pages: what is asked and said before, what follows, and what each step of one refund does.

use std::{sync::Arc, time::Duration};

use domain::{access::Role, audit::Deed};
use serde_json::json;
use testkit::{Kit, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, is_page, link_path, unknown},
    dashboard::{audited, leads},
    held::{contains_all, member},
    json::with,
    links::create_link,
    payments::{balance, create, paid, pending_qris, simulate_paid},
    people::desk,
    refund_pages::{ACCOUNT, refund_form, refund_led_to, refund_of, refund_page, refund_to_account},
    rows::rows,
    samples,
};

on_every_database![
    a_part_goes_back_by_qris_and_every_page_says_so,
    what_is_left_bounds_the_next_refund,
    a_refund_by_virtual_account_waits_for_the_customers_account,
    the_account_is_typed_by_the_merchant_and_the_money_goes_there,
    a_cancelled_refund_gives_the_money_back,
    a_form_that_is_sent_twice_makes_one_refund,
    money_that_came_back_is_in_the_balance_again,
    a_refund_of_unknown_end_is_ended_in_the_simulator,
];

on_sqlite_alone![
    a_question_says_what_would_happen_and_does_nothing,
    what_is_mistyped_is_marked_at_its_field_and_nothing_happens,
    what_cannot_be_given_back_says_why,
    an_old_session_proves_itself_before_money_goes_out,
    only_owners_refund_and_others_see_no_form,
    hostile_texts_of_refunds_are_shown_as_texts,
    the_message_with_the_customers_link_is_in_the_language_in_which_they_paid,
];

const LATER: Duration = Duration::from_secs(30);

/// Lets the sandbox's simulator end what is due.
async fn simulate_refunds(kit: &Kit) {
    kit.clock.advance(LATER);
    kit.engine.simulate_due_refunds().await.unwrap();
}

async fn a_part_goes_back_by_qris_and_every_page_says_so(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = member(&kit, &project, Role::Owner).await;
    let payment = paid(&project, "one", 50_000).await;
    let page = owner.open(&refund_form(&project, &payment)).await;
    is_page("form", &page, 200);
    contains_all(&page, &["name=\"amount\" type=\"text\" value=\"50000\"", "Kembali lewat QRIS", "Rp50.000"]);
    let refund = refund_of(&owner, &project, &payment, "20.000").await;
    assert_eq!(balance(&project, "refunding").await, 20_000);
    let shown = owner.open(&format!("{}/balance", desk(project.id))).await;
    contains_all(&shown, &["Sedang dikembalikan", "Rp20.000"]);
    simulate_refunds(&kit).await;
    assert_eq!((balance(&project, "refunding").await, balance(&project, "pending").await), (0, 29_650));
    let page = owner.open(&refund_page(&project, &refund)).await;
    contains_all(&page, &["Pengembalian Rp20.000", "Dikembalikan</span>", "Pelanggan sudah menerima uangnya."]);
    let page = owner.open(&format!("{}/payments/{}", desk(project.id), payment["id"].as_str().unwrap())).await;
    contains_all(
        &page,
        &["Dikembalikan sebagian", "Dikembalikan</dt><dd>-Rp20.000", "Rp30.000", "Rp20.000 dikembalikan", &refund],
    );
    let list = owner.open(&format!("{}/payments", desk(project.id))).await;
    contains_all(&list, &["Dikembalikan sebagian"]);
    let file = owner.open(&format!("{}/payments.csv", desk(project.id))).await;
    assert!(file.text.lines().nth(1).unwrap().ends_with(",50000,20000"), "{}", file.text);
    assert_eq!(audited(&kit, Deed::RefundCreated).await.len(), 1);
}

async fn what_is_left_bounds_the_next_refund(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = member(&kit, &project, Role::Owner).await;
    let payment = paid(&project, "one", 50_000).await;
    refund_of(&owner, &project, &payment, "20000").await;
    let page = owner.open(&refund_form(&project, &payment)).await;
    contains_all(&page, &["value=\"30000\"", "Paling banyak Rp30.000"]);
    let more = [("amount", "30001"), ("road", "usual"), ("sure", "yes")];
    let refused = owner.post(&refund_form(&project, &payment), &more).await;
    is_page("too much", &refused, 422);
    contains_all(&refused, &["Terlalu banyak: sisanya Rp30.000."]);
    refund_of(&owner, &project, &payment, "30000").await;
    let nothing = owner.open(&refund_form(&project, &payment)).await;
    is_page("nothing left", &nothing, 409);
    contains_all(&nothing, &["sudah atau sedang dikembalikan"]);
    simulate_refunds(&kit).await;
    let list = owner.open(&format!("{}/payments", desk(project.id))).await;
    contains_all(&list, &["Dikembalikan semua"]);
}

async fn a_refund_by_virtual_account_waits_for_the_customers_account(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = member(&kit, &project, Role::Owner).await;
    let payment = create(&project, &samples::virtual_account(&project, "bca", 50_000)).await;
    simulate_paid(&project, &payment).await;
    let refund = refund_of(&owner, &project, &payment, "50000").await;
    let page = owner.open(&refund_page(&project, &refund)).await;
    contains_all(&page, &["Perlu rekening pelanggan", "/r/", "https://wa.me/?text=", "name=\"account_number\""]);
    let claim = claim_url(&page.text);
    assert!(!claim.contains(&refund), "the customer's address is not the refund's id");
    assert_eq!(
        leads(&owner.post(&format!("{}/link", refund_page(&project, &refund)), &[]).await, "refund-link-renewed"),
        refund_page(&project, &refund)
    );
    let renewed = claim_url(&owner.open(&refund_page(&project, &refund)).await.text);
    assert_ne!(renewed, claim, "the address before works no more");
    let home = owner.open(&desk(project.id)).await;
    contains_all(&home, &["Rp50.000 menunggu rekening pelanggan"]);
}

/// The address for the customer that a refund's page shows.
fn claim_url(html: &str) -> String {
    html.split("id=\"claim-url\">").nth(1).unwrap().split('<').next().unwrap().to_owned()
}

async fn the_account_is_typed_by_the_merchant_and_the_money_goes_there(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = member(&kit, &project, Role::Owner).await;
    let payment = create(&project, &samples::virtual_account(&project, "bca", 50_000)).await;
    simulate_paid(&project, &payment).await;
    let refund = refund_of(&owner, &project, &payment, "50000").await;
    let path = format!("{}/destination", refund_page(&project, &refund));
    assert_eq!(leads(&owner.post(&path, &ACCOUNT).await, "refund-destined"), refund_page(&project, &refund));
    let page = owner.open(&refund_page(&project, &refund)).await;
    contains_all(&page, &["Bank Central Asia (BCA) ····7890, Siti Aisyah"]);
    assert!(!page.text.contains("1234567890"), "the whole number is shown to nobody who does not need it");
    is_page("twice", &owner.post(&path, &ACCOUNT).await, 409);
    simulate_refunds(&kit).await;
    contains_all(&owner.open(&refund_page(&project, &refund)).await, &["Dikembalikan</span>"]);
    let straight = paid(&project, "qris", 40_000).await;
    let refund = refund_to_account(&owner, &project, &straight, "10000").await;
    contains_all(&owner.open(&refund_page(&project, &refund)).await, &["····7890", "Transfer ke rekening pelanggan"]);
}

async fn a_cancelled_refund_gives_the_money_back(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = member(&kit, &project, Role::Owner).await;
    let payment = create(&project, &samples::virtual_account(&project, "bca", 50_000)).await;
    simulate_paid(&project, &payment).await;
    let before = balance(&project, "pending").await;
    let refund = refund_of(&owner, &project, &payment, "20000").await;
    let path = format!("{}/cancel", refund_page(&project, &refund));
    leads(&owner.post(&path, &[]).await, "refund-cancelled");
    assert_eq!((balance(&project, "pending").await, balance(&project, "refunding").await), (before, 0));
    let again = owner.post(&path, &[]).await;
    is_page("again", &again, 409);
    contains_all(&again, &["Pengembalian ini sudah selesai."]);
    contains_all(&owner.open(&refund_form(&project, &payment)).await, &["value=\"50000\""]);
}

async fn a_form_that_is_sent_twice_makes_one_refund(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = member(&kit, &project, Role::Owner).await;
    let payment = paid(&project, "one", 50_000).await;
    let attempt = "0123456789abcdef0123456789abcdef";
    let fields = [("amount", "10000"), ("road", "usual"), ("sure", "yes"), ("attempt", attempt)];
    let path = refund_form(&project, &payment);
    let (one, two) = tokio::join!(owner.post(&path, &fields), owner.post(&path, &fields));
    assert_eq!(refund_led_to(&one), refund_led_to(&two));
    assert_eq!(balance(&project, "refunding").await, 10_000);
}

async fn money_that_came_back_is_in_the_balance_again(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = member(&kit, &project, Role::Owner).await;
    let payment = paid(&project, "one", 50_000).await;
    let refund = refund_of(&owner, &project, &payment, "50000").await;
    simulate_refunds(&kit).await;
    let path = format!("{}/simulate", refund_page(&project, &refund));
    leads(&owner.post(&path, &[("outcome", "returned")]).await, "refund-simulated");
    let page = owner.open(&refund_page(&project, &refund)).await;
    contains_all(&page, &["Uangnya kembali</span>"]);
    assert_eq!((balance(&project, "pending").await, balance(&project, "refunding").await), (49_650, 0));
    contains_all(&owner.open(&refund_form(&project, &payment)).await, &["value=\"50000\""]);
}

async fn a_refund_of_unknown_end_is_ended_in_the_simulator(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let developer = member(&kit, &project, Role::Developer).await;
    let owner = member(&kit, &project, Role::Owner).await;
    let payment = paid(&project, "one", 50_000).await;
    let refund = refund_of(&owner, &project, &payment, "10903").await;
    simulate_refunds(&kit).await;
    contains_all(&owner.open(&refund_page(&project, &refund)).await, &["Simulasikan bank", "value=\"succeeded\""]);
    let path = format!("{}/simulate", refund_page(&project, &refund));
    is_page("another word", &developer.post(&path, &[("outcome", "burnt")]).await, 422);
    leads(&developer.post(&path, &[("outcome", "succeeded")]).await, "refund-simulated");
    contains_all(&owner.open(&refund_page(&project, &refund)).await, &["Dikembalikan</span>"]);
    assert_eq!(audited(&kit, Deed::RefundSimulated).await.len(), 1);
}

async fn a_question_says_what_would_happen_and_does_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = member(&kit, &project, Role::Owner).await;
    let payment = paid(&project, "one", 50_000).await;
    owner.open(&desk(project.id)).await;
    let before = rows(&kit.database);
    let fields = [("amount", "20.000"), ("road", "usual"), ("reason", "Barang kosong")];
    let page = owner.post(&refund_form(&project, &payment), &fields).await;
    is_page("question", &page, 200);
    contains_all(
        &page,
        &[
            "Kembalikan Rp20.000?",
            "Uang kembali lewat QRIS",
            "Rp20.000 langsung keluar dari saldo Anda.",
            "Biaya Rp350 dari pembayaran ini tidak dikembalikan",
            "pelanggan melihat berapa yang dikembalikan dan kapan",
            "“Barang kosong”",
            "Tidak perlu persetujuan siapa pun.",
            "name=\"reason\" value=\"Barang kosong\"",
        ],
    );
    let typed = [("amount", "20.000"), ("road", "typed"), ACCOUNT[0], ACCOUNT[1], ACCOUNT[2]];
    let page = owner.post(&refund_form(&project, &payment), &typed).await;
    contains_all(&page, &["Bank Central Asia (BCA) 1234 5678 90, Siti Aisyah", "name=\"account_number\""]);
    let changed = [("amount", "20.000"), ("road", "usual"), ("reason", "Barang kosong"), ("change", "yes")];
    let form = owner.post(&refund_form(&project, &payment), &changed).await;
    is_page("change", &form, 200);
    contains_all(&form, &["value=\"20.000\"", "value=\"Barang kosong\""]);
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
}

async fn what_is_mistyped_is_marked_at_its_field_and_nothing_happens(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = member(&kit, &project, Role::Owner).await;
    let payment = paid(&project, "one", 50_000).await;
    let (long, letters) = ("x".repeat(256), "12ab567890");
    owner.open(&desk(project.id)).await;
    let before = rows(&kit.database);
    for (field, fields) in [
        ("amount", vec![("amount", "")]),
        ("amount", vec![("amount", "0")]),
        ("amount", vec![("amount", "-5000")]),
        ("amount", vec![("amount", "1,5")]),
        ("amount", vec![("amount", "semua")]),
        ("amount", vec![("amount", "50001")]),
        ("reason", vec![("amount", "1000"), ("reason", long.as_str())]),
        ("bank", vec![("amount", "1000"), ("road", "typed"), ("bank", "999"), ACCOUNT[1]]),
        ("bank", vec![("amount", "1000"), ("road", "typed"), ACCOUNT[1]]),
        ("account_number", vec![("amount", "1000"), ("road", "typed"), ACCOUNT[0], ("account_number", letters)]),
        ("account_number", vec![("amount", "1000"), ("road", "typed"), ACCOUNT[0], ("account_number", "")]),
        (
            "account_name",
            vec![("amount", "1000"), ("road", "typed"), ACCOUNT[0], ACCOUNT[1], ("account_name", &long[..101])],
        ),
    ] {
        let mut fields = fields;
        fields.push(("sure", "yes"));
        let page = owner.post(&refund_form(&project, &payment), &fields).await;
        is_page(field, &page, 422);
        assert!(page.text.contains(&format!("id=\"{field}-why\"")), "{fields:?}: {}", page.text);
        assert_eq!(page.text.matches("class=\"why\"").count(), 1, "{fields:?}");
    }
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
}

async fn what_cannot_be_given_back_says_why(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let owner = member(&kit, &project, Role::Owner).await;
    let pending = pending_qris(&project, 15_000).await;
    let page = owner.open(&refund_form(&project, &pending)).await;
    is_page("unpaid", &page, 409);
    contains_all(&page, &["Pembayaran ini belum lunas"]);
    let forced = owner.post(&refund_form(&project, &pending), &[("amount", "1000"), ("sure", "yes")]).await;
    assert!([409, 422].contains(&forced.status.as_u16()), "{}", forced.text);
    let foreign = paid(&other, "theirs", 15_000).await;
    is_page("foreign", &owner.open(&refund_form(&project, &foreign)).await, 404);
    let missing = json!({ "id": unknown(&pending) });
    is_page("unknown", &owner.post(&refund_form(&project, &missing), &[("amount", "1000")]).await, 404);
    is_page("no refund", &owner.open(&refund_page(&project, "rfd_00000000000000000000000000")).await, 404);
    assert_eq!(balance(&project, "refunding").await, 0);
}

async fn an_old_session_proves_itself_before_money_goes_out(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = member(&kit, &project, Role::Owner).await;
    let payment = create(&project, &samples::virtual_account(&project, "bca", 50_000)).await;
    simulate_paid(&project, &payment).await;
    let refund = refund_of(&owner, &project, &payment, "10000").await;
    kit.clock.advance(Duration::from_mins(11));
    owner.open(&desk(project.id)).await;
    let before = rows(&kit.database);
    let own = refund_page(&project, &refund);
    let made = [("amount", "1000"), ("road", "usual"), ("sure", "yes")];
    for (path, fields) in [
        (refund_form(&project, &payment), made.to_vec()),
        (format!("{own}/destination"), ACCOUNT.to_vec()),
        (format!("{own}/done"), vec![("text", "FT-1")]),
        (format!("{own}/failed"), vec![("text", "no")]),
        (format!("{own}/approve"), vec![("version", "1")]),
        (format!("{own}/returned"), vec![("text", "no")]),
        (format!("{}/refunds/transfers", desk(project.id)), vec![]),
    ] {
        let page = owner.post(&path, &fields).await;
        is_page(&path, &page, 403);
        assert!(page.text.contains("Benarkah ini Anda?"), "{path}: {}", page.text);
    }
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
}

async fn only_owners_refund_and_others_see_no_form(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = member(&kit, &project, Role::Owner).await;
    let payment = create(&project, &samples::virtual_account(&project, "bca", 50_000)).await;
    simulate_paid(&project, &payment).await;
    let refund = refund_of(&owner, &project, &payment, "10000").await;
    let payment_page = format!("{}/payments/{}", desk(project.id), payment["id"].as_str().unwrap());
    assert!(owner.open(&payment_page).await.text.contains("/refund\""));
    for role in [Role::Viewer, Role::Developer] {
        let person = member(&kit, &project, role).await;
        assert!(!person.open(&payment_page).await.text.contains("/refund\""), "{role:?}");
        let page = person.open(&refund_page(&project, &refund)).await;
        is_page(role.word(), &page, 200);
        for hidden in ["/r/", "wa.me", "/cancel\"", "/destination\"", "account_number"] {
            assert!(!page.text.contains(hidden), "{role:?} sees {hidden}");
        }
        is_page(role.word(), &person.open(&refund_form(&project, &payment)).await, 403);
    }
}

async fn hostile_texts_of_refunds_are_shown_as_texts(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = member(&kit, &project, Role::Owner).await;
    let body = with(samples::qris(&project, 50_000), "reference", "<b>=1+1</b>");
    let payment = create(&project, &body).await;
    simulate_paid(&project, &payment).await;
    let hostile = "=cmd|'/c calc'!A1<script>alert(1)</script>";
    let fields = [("amount", "1000"), ("road", "usual"), ("reason", hostile), ("sure", "yes")];
    let refund = refund_led_to(&owner.post(&refund_form(&project, &payment), &fields).await);
    for path in [refund_page(&project, &refund), format!("{}/refunds", desk(project.id))] {
        let page = owner.open(&path).await;
        is_page(&path, &page, 200);
        assert!(!page.text.contains("<script>alert") && !page.text.contains("<b>=1"), "{}", page.text);
    }
    let file = owner.open(&format!("{}/refunds.csv", desk(project.id))).await;
    assert!(file.text.contains("'=cmd|"), "{}", file.text);
    assert!(file.text.contains("<b>=1+1</b>"), "a sign in the middle is none: {}", file.text);
}

/// Regression: the message for WhatsApp was in Indonesian, whatever language the customer had used.
async fn the_message_with_the_customers_link_is_in_the_language_in_which_they_paid(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = member(&kit, &project, Role::Owner).await;
    for (language, message) in [("en", "is%20giving%20"), ("id", "%20mengembalikan%20")] {
        let link = create_link(&project, json!({})).await;
        let path = format!("{}?lang={language}", link_path(&link));
        let payment = Customer::of(&kit).pays_by_at(&project, &path, "virtual_account:bca").await;
        simulate_paid(&project, &payment).await;
        let refund = refund_of(&owner, &project, &payment, "50000").await;
        for of_page in ["en", "id"] {
            let page = owner.open(&format!("{}?lang={of_page}", refund_page(&project, &refund))).await;
            let (_, text) = page.text.split_once("https://wa.me/?text=").unwrap();
            assert!(text.split('"').next().unwrap().contains(message), "{language}: {}", page.text);
        }
    }
}
