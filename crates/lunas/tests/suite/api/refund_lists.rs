//! `GET /v1/refunds`: order, pages and filters.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use testkit::{Kit, on_every_database};

use crate::support::{
    json::{id, text},
    payments::{create, paid, simulate_paid},
    refunds::{cancel, fetch_refund, refund, refunds, simulate_end},
    samples,
};

on_every_database![refunds_are_listed_newest_first_by_payment_status_and_day_and_in_pages];

fn ids(refunds: &[Value]) -> Vec<&str> {
    refunds.iter().map(id).collect()
}

async fn refunds_are_listed_newest_first_by_payment_status_and_day_and_in_pages(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let one = paid(&project, "one", 100_000).await;
    let two = create(&project, &samples::virtual_account(&project, "bca", 100_000)).await;
    simulate_paid(&project, &two).await;
    let mut made = Vec::new();
    for (payment, amount) in [(&one, 1_903), (&two, 20_000), (&one, 3_903), (&one, 4_903), (&two, 50_000)] {
        kit.clock.advance(Duration::from_secs(1));
        made.push(refund(&project, payment, amount).await);
    }
    simulate_end(&project, &made[0], "succeeded").await.expect(200);
    simulate_end(&project, &made[2], "failed").await.expect(200);
    cancel(&project, &made[4]).await.expect(200);
    let [a, b, c, d, e] = &made[..] else { panic!("{made:?}") };
    let (from, to) = (
        |refund| format!("created_from={}", text(refund, "created_at")),
        |refund| format!("created_to={}", text(refund, "created_at")),
    );
    let of = |payment: &Value| format!("payment_id={}", id(payment));
    for (query, expected) in [
        (String::new(), vec![e, d, c, b, a]),
        (of(&one), vec![d, c, a]),
        (of(&two), vec![e, b]),
        ("status=requires_action".to_owned(), vec![b]),
        ("status=pending".to_owned(), vec![d]),
        ("status=succeeded".to_owned(), vec![a]),
        ("status=failed".to_owned(), vec![c]),
        ("status=cancelled".to_owned(), vec![e]),
        ("status=returned".to_owned(), vec![]),
        (format!("{}&status=cancelled", of(&two)), vec![e]),
        (format!("{}&status=cancelled", of(&one)), vec![]),
        ("payment_id=pay_01kzdq3f5ve8x9m2r7t4w6y8za".to_owned(), vec![]),
        (from(c), vec![e, d, c]),
        (to(c), vec![b, a]),
        (format!("{}&{}", from(b), to(d)), vec![c, b]),
        (format!("{}&{}", from(b), of(&one)), vec![d, c]),
        (format!("{}&status=failed", to(c)), vec![]),
    ] {
        let listed = refunds(&project, &query).await;
        assert_eq!(ids(&listed), expected.into_iter().map(id).collect::<Vec<_>>(), "{query}");
    }
    for refund in refunds(&project, "").await {
        assert_eq!(fetch_refund(&project, &refund).await, refund, "one as the list shows it");
    }
    let page = project.api.get("/v1/refunds?page=2&page_size=2").await.expect(200);
    assert_eq!(ids(page["data"].as_array().unwrap()), [id(c), id(b)]);
    assert_eq!(page["pagination"], json!({ "page": 2, "page_size": 2, "total_items": 5, "total_pages": 3 }));
    assert_eq!(project.api.get("/v1/refunds?page=9").await.expect(200)["data"], json!([]));
}
