//! What the form of a claim link refuses: at the field, and without leaving anything behind.

use std::sync::Arc;

use testkit::{Kit, on_every_database, on_sqlite_alone};

use crate::support::{
    claims::{BANK, ClaimLink, NUMBER, REASON},
    customer::{Customer, is_page},
    held::contains_all,
    options::{base_url, rate_limit},
    rows::rows,
};

on_every_database![an_account_that_cannot_be_one_is_refused_at_its_field];

on_sqlite_alone![
    an_account_that_its_bank_does_not_know_is_refused,
    a_bank_that_such_a_transfer_does_not_reach_is_refused,
    a_form_of_another_site_is_refused with base_url("https://bayar.example"),
    a_form_without_a_step_is_refused,
    a_page_says_when_there_were_too_many_forms with rate_limit(100),
];

const MISSING: &str = "Bagian ini perlu diisi.";
const MALFORMED: &str = "Tulis 5 sampai 20 angka, tanpa huruf.";
const NO_BANK: &str = "Pilih bank dari daftar.";

async fn an_account_that_cannot_be_one_is_refused_at_its_field(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let customer = Customer::of(&kit);
    let (forty, long_name) = ("1".repeat(40), "9".repeat(3_000));
    let before = rows(&kit.database);
    for (bank, number, why) in [
        ("", NUMBER, NO_BANK),
        ("999", NUMBER, NO_BANK),
        ("bca", NUMBER, NO_BANK),
        ("CENAIDJA", NUMBER, NO_BANK),
        ("0014", NUMBER, NO_BANK),
        ("014\u{0}", NUMBER, NO_BANK),
        ("DEUTDEFF", NUMBER, NO_BANK),
        (BANK, "", MISSING),
        (BANK, "   ", MISSING),
        (BANK, "1234", MALFORMED),
        (BANK, &forty, MALFORMED),
        (BANK, &long_name, MALFORMED),
        (BANK, "12345abc", MALFORMED),
        (BANK, "+62812345678", MALFORMED),
        (BANK, "１２３４５６", MALFORMED),
        (BANK, "12345\u{202e}67", MALFORMED),
        (BANK, "12345\u{0}67", MALFORMED),
        (BANK, "<script>alert(1)</script>", MALFORMED),
    ] {
        let row = format!("{bank:?} {number:?}");
        let page = link.check(&customer, bank, number).await;
        is_page(&row, &page, 422);
        contains_all(&page, &[why, "role=\"alert\"", "aria-invalid=\"true\""]);
        assert!(!page.text.contains("<script>alert"), "{row}");
    }
    let both = link.check(&customer, "", "").await;
    contains_all(&both, &[NO_BANK, MISSING]);
    assert_eq!(rows(&kit.database), before, "what is refused at a field is no try of the link either");
}

async fn an_account_that_its_bank_does_not_know_is_refused(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let page = link.check(&Customer::of(&kit), BANK, "0001112404").await;
    is_page("unknown", &page, 422);
    contains_all(&page, &["Bank tidak menemukan rekening ini", "value=\"0001112404\"", "value=\"014\" selected"]);
    let refund = link.refund(&kit).await;
    assert_eq!((refund.claim.unwrap().tries, refund.destination), (1, None));
}

async fn a_bank_that_such_a_transfer_does_not_reach_is_refused(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let body = crate::support::samples::virtual_account(&project, "bca", 300_000_000);
    let payment = crate::support::payments::create(&project, &body).await;
    let payment = crate::support::payments::simulate_paid(&project, &payment).await;
    let link = ClaimLink::of_payment(&kit, &project, payment, 250_000_001, REASON).await;
    let customer = Customer::of(&kit);
    let page = link.check(&customer, "542", NUMBER).await;
    is_page("out of reach", &page, 422);
    contains_all(&page, &["Bank ini tidak bisa menerima transfer sebesar Rp250.000.001."]);
    is_page("within reach", &link.check(&customer, BANK, NUMBER).await, 200);
}

async fn a_form_of_another_site_is_refused(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let customer = Customer::of(&kit);
    let ticket = link.ticket(&customer, NUMBER).await;
    let before = rows(&kit.database);
    for (name, value) in [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")] {
        for fields in [
            vec![("step", "check"), ("bank", BANK), ("number", NUMBER)],
            vec![("step", "confirm"), ("ticket", ticket.as_str())],
        ] {
            is_page(name, &customer.send(customer.form(&link.path, &fields).header(name, value)).await, 403);
        }
    }
    assert_eq!(rows(&kit.database), before);
}

async fn a_form_without_a_step_is_refused(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let customer = Customer::of(&kit);
    let before = rows(&kit.database);
    for fields in [
        &[("bank", BANK), ("number", NUMBER)][..],
        &[("step", "pay")],
        &[("step", "check"), ("bank", BANK), ("bank", "008"), ("number", NUMBER)],
        &[("step", "check"), ("step", "confirm")],
    ] {
        is_page(&format!("{fields:?}"), &customer.post(&link.path, fields).await, 422);
    }
    let deleted = customer.request(reqwest::Method::DELETE, &link.path);
    is_page("delete", &customer.send(deleted).await, 405);
    assert_eq!(rows(&kit.database), before);
}

async fn a_page_says_when_there_were_too_many_forms(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let customer = Customer::of(&kit);
    let mut last = link.check(&customer, "", "").await;
    for _ in 0..60 {
        if last.status == 429 {
            break;
        }
        last = link.check(&customer, "", "").await;
    }
    is_page("too many", &last, 429);
    assert!(last.header("retry-after").is_some());
    is_page("reading goes on", &customer.open(&link.path).await, 200);
}
