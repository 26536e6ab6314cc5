//! Why a bank has refused a refund, as pages say it: in the reader's language, and to operators with the bank's own code. And what was
//! heard of a refund of which no bank has said what became of it: only a bank's own words are called so, and what the statement says
//! decides what people are asked to record.

use std::{sync::Arc, time::Duration};

use demobank::{AccountState, Fault, Service};
use domain::{
    access::Role,
    refund::{Refund, RefundStatus},
};
use testkit::{Kit, Reply, on_sqlite_alone};

use crate::support::{
    customer::is_page,
    dashboard::leads,
    held::{contains_all, lacks_all, member},
    people::Person,
    refund_bank::{OTHER_BANK, OWN_BANK, RefundBank},
    refund_pages::refund_page,
    rows::run_by_hand,
};

on_sqlite_alone![
    a_merchant_reads_why_a_bank_refused_in_both_languages_and_an_operator_the_banks_code,
    each_refusal_of_an_attempt_is_worded,
    only_what_a_bank_has_said_is_called_its_words,
    what_never_left_is_not_called_refused,
    what_the_statement_says_decides_what_a_person_is_asked_to_record,
    who_doubted_before_the_statement_was_unclear_does_not_count_as_one_of_two_who_looked,
];

const NOW: (Duration, usize) = (Duration::from_secs(1), 0);

async fn a_merchant_reads_why_a_bank_refused_in_both_languages_and_an_operator_the_banks_code(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let owner = member(&kit, &bank.acquired.project, Role::Owner).await;
    let operator = Person::operator(&kit, "operator@lunas.example").await;
    for (state, code, english, indonesian) in [
        (AccountState::Closed, "4031618", "customer’s account is closed", "Rekening pelanggan sudah ditutup"),
        (AccountState::Dormant, "4031609", "customer’s account is dormant", "Rekening pelanggan tidak aktif"),
    ] {
        bank.set_customer(OTHER_BANK, state);
        let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
        let (refund, _) = bank.follow(&kit, &refund, NOW).await;
        assert_eq!(refund.status(), RefundStatus::Failed);
        let path = refund_page(&bank.acquired.project, &refund.id.to_string());
        for (language, words) in [("en", english), ("id", indonesian)] {
            let page = owner.open(&format!("{path}?lang={language}")).await;
            contains_all(&page, &[words]);
            assert!(!page.text.contains(code), "{}", page.text);
            let page = operator.open(&format!("/dashboard/operator/refunds/{}?lang={language}", refund.id)).await;
            contains_all(&page, &[words, code]);
        }
    }
}

async fn each_refusal_of_an_attempt_is_worded(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let owner = member(&kit, &bank.acquired.project, Role::Owner).await;
    // The last one makes the account rest.
    for (status, case, words) in [
        (404, "11", "knows no such account"),
        (403, "02", "above a limit of the bank"),
        (403, "14", "does not have enough money"),
    ] {
        let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
        bank.acquired.asked.fail_next_of(Service::Interbank, Fault::Case(status, case));
        let (refund, attempts) = bank.follow(&kit, &refund, NOW).await;
        assert_eq!(attempts.len(), 1, "{refund:?}");
        let path = refund_page(&bank.acquired.project, &refund.id.to_string());
        contains_all(&owner.open(&format!("{path}?lang=en")).await, &[words]);
        // What another rail may take goes there before the next refund is sent.
        let _ = bank.follow(&kit, &refund, NOW).await;
    }
}

async fn open_in(owner: &Person, bank: &RefundBank, refund: &Refund, language: &str) -> Reply {
    let path = refund_page(&bank.acquired.project, &refund.id.to_string());
    owner.open(&format!("{path}?lang={language}")).await
}

/// Regression: our own English stood on pages of both languages as what the bank had said.
async fn only_what_a_bank_has_said_is_called_its_words(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let owner = member(&kit, &bank.acquired.project, Role::Owner).await;
    let lost = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
    bank.acquired.asked.fail_next_of(Service::Interbank, Fault::LostBefore);
    for (rounds, english, indonesian) in [
        (0, "The connection to the bank broke off", "Sambungan ke bank terputus"),
        (1, "The bank does not find it, which proves nothing yet.", "Bank tidak menemukannya, tetapi itu belum"),
    ] {
        let _ = bank.follow(&kit, &lost, (Duration::from_mins(1), rounds)).await;
        let page = open_in(&owner, &bank, &lost, "en").await;
        contains_all(&page, &["Last, on ", english]);
        lacks_all(&page, &["The bank said", "cut_off", "not found"]);
        let page = open_in(&owner, &bank, &lost, "id").await;
        contains_all(&page, &["Terakhir kali, pada ", indonesian]);
        lacks_all(&page, &["bank berkata", "cut_off", "not found"]);
    }
    let answered = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
    bank.acquired.asked.fail_next_of(Service::Interbank, Fault::Case(500, "00"));
    let _ = bank.follow(&kit, &answered, NOW).await;
    for (language, said) in [("en", "The bank said last, on "), ("id", "bank berkata: 5001800")] {
        contains_all(&open_in(&owner, &bank, &answered, language).await, &[said, "5001800"]);
    }
}

async fn what_never_left_is_not_called_refused(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let owner = member(&kit, &bank.acquired.project, Role::Owner).await;
    let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
    bank.acquired.asked.fail_next_of(Service::Interbank, Fault::LostBefore);
    let _ = bank.follow(&kit, &refund, NOW).await;
    // As a node leaves it that could not store whether the order was to be sent.
    let unsent =
        "UPDATE refund_attempts SET state = 'refused', ask_at = NULL, answer = 'not_sent the order never left'";
    run_by_hand(&kit.database, unsent);
    let page = open_in(&owner, &bank, &refund, "en").await;
    contains_all(&page, &["<b>Not sent</b>", "The order never left our server."]);
    lacks_all(&page, &["Refused by the bank", "not_sent"]);
    let page = open_in(&owner, &bank, &refund, "id").await;
    contains_all(&page, &["<b>Tidak terkirim</b>", "Perintahnya tidak pernah keluar dari server kami."]);
    lacks_all(&page, &["Ditolak bank", "never left"]);
}

/// Movements of the account that pays, with the reference of a transfer that never got to the bank.
async fn move_money(kit: &Kit, bank: &RefundBank, refund: &Refund, amounts: &[i64]) {
    let reference = kit.store.refund_attempts(refund.id).await.unwrap().remove(0).reference;
    let (asked, source) = (&bank.acquired.asked, RefundBank::source());
    for amount in amounts {
        match *amount < 0 {
            true => asked.withdraw(OWN_BANK, source, -amount, &reference).unwrap(),
            false => asked.deposit(OWN_BANK, source, *amount, &reference).unwrap(),
        }
    }
}

/// Regression: whatever the statement held, people were asked to record the refund as transferred.
async fn what_the_statement_says_decides_what_a_person_is_asked_to_record(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let owner = member(&kit, &bank.acquired.project, Role::Owner).await.user;
    let sent = ("Record it as transferred, not as failed.", "Catat sebagai sudah ditransfer, bukan gagal.");
    let back = ("transferred first, and then that it came back.", "sudah ditransfer, lalu catat uangnya kembali.");
    let other = ("before the operator has asked the bank about it.", "dengan jumlah lain.");
    for (amounts, (english, indonesian)) in [(&[-9_000][..], other), (&[-10_000, 10_000], back), (&[-10_000], sent)] {
        let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
        bank.acquired.asked.fail_next_of(Service::Interbank, Fault::LostBefore);
        let _ = bank.follow(&kit, &refund, NOW).await;
        move_money(&kit, &bank, &refund, amounts).await;
        kit.clock.advance(Duration::from_hours(2));
        let owner = Person::signed_in(&kit, owner.clone()).await;
        let path = refund_page(&bank.acquired.project, &refund.id.to_string());
        let refused = owner.post(&format!("{path}/failed"), &[("text", "tidak ada di mutasi")]).await;
        is_page(english, &refused, 409);
        for (page, expected) in [(refused, indonesian), (open_in(&owner, &bank, &refund, "en").await, english)] {
            contains_all(&page, &[expected]);
            let others = [sent, back, other].into_iter().flat_map(<[&str; 2]>::from);
            let others: Vec<&str> = others.filter(|text| ![english, indonesian].contains(text)).collect();
            lacks_all(&page, &others);
        }
    }
}

/// What a person says who has looked at the bank's statement and has not found the transfer there.
const LOOKED: &[(&str, &str)] = &[("text", "tidak ada di mutasi"), ("statement_checked", "on")];

/// Regression: the first had not been asked to look, and the second ended it.
async fn who_doubted_before_the_statement_was_unclear_does_not_count_as_one_of_two_who_looked(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let project = &bank.acquired.project;
    let first = member(&kit, project, Role::Owner).await.user;
    let second = Person::member(&kit, project.id, Role::Owner, "second@example.com").await.user;
    let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
    bank.acquired.asked.fail_next_of(Service::Interbank, Fault::LostBefore);
    let _ = bank.follow(&kit, &refund, NOW).await;
    let path = format!("{}/failed", refund_page(project, &refund.id.to_string()));
    let owner = Person::signed_in(&kit, first.clone()).await;
    leads(&owner.post(&path, &LOOKED[..1]).await, "refund-doubted");

    bank.acquired.asked.withdraw(OWN_BANK, RefundBank::source(), 10_000, "TRSF E-BANKING").unwrap();
    kit.clock.advance(Duration::from_hours(2));
    let owner = Person::signed_in(&kit, second).await;
    is_page("has not looked", &owner.post(&path, &LOOKED[..1]).await, 409);
    leads(&owner.post(&path, LOOKED).await, "refund-doubted");
    assert_eq!(bank.of(&refund.id.to_string()).await.status(), RefundStatus::Pending);
    is_page("the same person", &owner.post(&path, LOOKED).await, 409);
    let owner = Person::signed_in(&kit, first).await;
    is_page("has not looked either", &owner.post(&path, &LOOKED[..1]).await, 409);
    leads(&owner.post(&path, LOOKED).await, "refund-failed");
    assert_eq!(bank.of(&refund.id.to_string()).await.status(), RefundStatus::Failed);
}
