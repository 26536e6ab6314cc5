//! What the page of a payment says about money that goes back.

use std::sync::Arc;

use engine::RefundOutcome;
use testkit::{Kit, on_every_database};

use crate::support::{
    claims::{ClaimLink, refund},
    customer::{Customer, is_page, pay_path},
    held::contains_all,
    payments::paid,
};

on_every_database![a_receipt_tells_of_money_that_goes_back_until_the_customer_has_it];

async fn a_receipt_tells_of_money_that_goes_back_until_the_customer_has_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 30_000).await;
    let customer = Customer::of(&kit);
    let path = pay_path(&link.payment);
    let slip = format!("{path}?print=80mm");
    let tells = async |texts: &[&str]| {
        for path in [&path, &slip] {
            let page = customer.open(path).await;
            is_page(path, &page, 200);
            contains_all(&page, texts);
            assert!(!page.text.contains(&link.path), "who sees the payment does not get the link");
        }
    };
    tells(&["Akan dikembalikan", "Rp30.000, menunggu nomor rekening Anda lewat tautan dari toko"]).await;
    assert_eq!(link.name_account(&customer).await.status, 303);
    tells(&["Akan dikembalikan", "Rp30.000, sedang dikirim"]).await;
    kit.engine.simulate_refund(&link.project, link.id, RefundOutcome::Succeeded).await.unwrap();
    tells(&["Dikembalikan", "Rp30.000 pada 14 November 2026 pukul"]).await;
    let english = customer.open(&format!("{path}?lang=en")).await;
    contains_all(&english, &["Refunded", "Rp30.000 on 14 November 2026"]);
    // What came to nothing is not told of.
    let qris = paid(&project, "qris", 20_000).await;
    let failed = refund(&kit, &link.project, &qris, 5_000, "").await;
    kit.engine.simulate_refund(&link.project, failed.id, RefundOutcome::Failed).await.unwrap();
    let page = customer.open(&pay_path(&qris)).await;
    assert!(!page.text.contains("ikembalikan"), "{}", page.text);
}
