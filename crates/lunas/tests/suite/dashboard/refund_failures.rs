//! Why a bank has refused a refund, as pages say it: in the reader's language, and to operators with the bank's own code.

use std::{sync::Arc, time::Duration};

use demobank::{AccountState, Fault, Service};
use domain::{access::Role, refund::RefundStatus};
use testkit::{Kit, on_sqlite_alone};

use crate::support::{
    held::{contains_all, member},
    people::Person,
    refund_bank::{OTHER_BANK, RefundBank},
    refund_pages::refund_page,
};

on_sqlite_alone![
    a_merchant_reads_why_a_bank_refused_in_both_languages_and_an_operator_the_banks_code,
    each_refusal_of_an_attempt_is_worded,
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
