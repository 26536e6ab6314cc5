//! A payment that was cancelled says why: three reasons, three texts.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::json;
use testkit::{Kit, Reply, on_sqlite_alone};

use crate::support::{
    customer::{Customer, begin_payment, heading, is_page, link_path, pay_path, payment_of},
    held::{MINUTE, contains_all},
    json::text,
    links::cancel_link,
    payments::{report, simulate_paid},
};

on_sqlite_alone![
    a_cancelled_payment_says_whether_it_was_replaced_withdrawn_or_paid_by_another,
    an_unpaid_payment_of_a_cancelled_link_asks_nobody_for_a_new_one,
];

const BCA: &str = "virtual_account:bca";

/// The page in English and in Indonesian, which is returned.
async fn seen(kit: &Kit, path: &str, english: &str) -> Reply {
    let page = Customer::of(kit).open(&format!("{path}?lang=en")).await;
    contains_all(&page, &["<html lang=\"en\"", english]);
    let page = Customer::of(kit).open(path).await;
    is_page("cancelled", &page, 200);
    page
}

async fn a_cancelled_payment_says_whether_it_was_replaced_withdrawn_or_paid_by_another(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (link, customer, replaced) = begin_payment(&kit, &project, json!({})).await;
    let change = [("replaces", text(&replaced, "id")), ("method", BCA)];
    let new = payment_of(&project, &customer.post(&link_path(&link), &change).await).await;
    let page = seen(&kit, &pay_path(&replaced), "You chose another way to pay").await;
    contains_all(&page, &["Anda memilih cara bayar lain", "Lanjutkan pembayaran", &link_path(&link)]);
    let mut headings = vec![heading(&page)];
    let (other_link, _, withdrawn) = begin_payment(&kit, &project, json!({})).await;
    cancel_link(&project, &other_link).await;
    let page = seen(&kit, &pay_path(&withdrawn), "cancelled this bill").await;
    contains_all(&page, &["membatalkan tagihan ini, jadi tidak ada yang perlu dibayar"]);
    assert!(!page.text.contains("/p/pl_"), "there is nothing to go on with: {}", page.text);
    headings.push(heading(&page));
    let superseded = Customer::of(&kit).pays_by(&project, &link, "qris").await;
    simulate_paid(&project, &new).await;
    let page = seen(&kit, &pay_path(&superseded), "There is nothing left to pay").await;
    contains_all(&page, &["Tidak ada lagi yang perlu dibayar"]);
    assert_eq!(page.text.matches("Tidak ada lagi yang perlu dibayar").count(), 1, "it is said once");
    headings.push(heading(&page));
    let different: BTreeSet<&String> = headings.iter().collect();
    assert_eq!(different.len(), 3, "{headings:?}");
}

async fn an_unpaid_payment_of_a_cancelled_link_asks_nobody_for_a_new_one(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (link, _, failed) = begin_payment(&kit, &project, json!({})).await;
    report(&project, &failed, "failed").await;
    cancel_link(&project, &link).await;
    let (other_link, _, expired) = begin_payment(&kit, &project, json!({})).await;
    kit.clock.advance(16 * MINUTE);
    cancel_link(&project, &other_link).await;
    for payment in [failed, expired] {
        let page = seen(&kit, &pay_path(&payment), "cancelled this bill").await;
        contains_all(&page, &["membatalkan tagihan ini"]);
        assert!(!page.text.contains("Minta tagihan baru"), "{}", page.text);
    }
}
