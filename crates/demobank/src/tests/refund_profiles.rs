//! How banks differ about giving payments back.

use serde_json::{Value, json};

use super::{
    refunds::{given_back, order, paid, pay, refund},
    shop::{AMOUNT, CLIENT, Shop, read},
};
use crate::{Fate, Habits, RefundHabits, Service};

const MINUTE_MS: i64 = 60_000;

#[tokio::test]
async fn at_bca_each_order_is_a_refund_of_its_own_and_one_at_a_time() {
    let shop = paid(Habits::BCA).await;
    for _ in 0..2 {
        // The payer's bank has one reference for the payment, so both orders carry it.
        assert_eq!(refund(&shop, "ISSUER1", 50_000).await, "200 2007800");
    }
    assert_eq!(given_back(&shop), 100_000);
    assert_eq!(refund(&shop, "ISSUER1", 50_001).await, "404 4047813");
    shop.asked.fate_of_next(Fate { takes_ms: MINUTE_MS, ..Fate::default() });
    assert_eq!(refund(&shop, "ISSUER1", 20_000).await, "202 2027800");
    assert_eq!(refund(&shop, "ISSUER1", 20_000).await, "405 4057801");
    shop.wait_ms(MINUTE_MS);
    assert_eq!(refund(&shop, "ISSUER1", 30_000).await, "200 2007800");
    assert_eq!(given_back(&shop), AMOUNT);
    assert_eq!(shop.code(Service::DebitRefund, &order(&shop, "ISSUER1", 1)).await, "405 4055800");
}

#[tokio::test]
async fn at_midtrans_the_same_refund_repeats_its_external_id() {
    let shop = paid(Habits::MIDTRANS).await;
    let send = async |external_id: &str, number: &str, amount: i64| {
        let mut signed = shop.prepare(Service::QrRefund, &order(&shop, number, amount));
        external_id.clone_into(&mut signed.external_id);
        let request = shop.request(&signed).await;
        let (status, body) = read(request).await.unwrap();
        (status, body["responseCode"].as_str().unwrap().to_owned(), body["refundNo"].clone())
    };
    let first = send("E1", "F1", 50_000).await;
    assert_eq!((first.0, first.1.as_str()), (200, "2007800"));
    assert_eq!(send("E1", "F1", 50_000).await, first);
    assert_eq!(send("E1", "F1", 50_001).await.1, "4047818");
    assert_eq!(send("E1", "F2", 50_000).await.1, "4047818");
    assert_eq!(given_back(&shop), 50_000);
    // Another external id is another refund, whatever its number.
    assert_eq!(send("E2", "F1", 50_000).await.1, "2007800");
    assert_eq!(given_back(&shop), 100_000);
    let mut query = shop.prepare(Service::Query, &shop.about("R1"));
    query.external_id = "E1".into();
    let request = shop.request(&query).await;
    assert_eq!(read(request).await.unwrap().1["responseCode"], "4095100", "refunds alone repeat one");
}

#[tokio::test]
async fn gopay_gives_back_for_45_days_and_shopeepay_for_365_but_not_by_night() {
    let shopeepay = Habits { refund: RefundHabits::MIDTRANS_SHOPEEPAY, ..Habits::MIDTRANS };
    let day_ms = 24 * 60 * MINUTE_MS;
    for (habits, days) in [(Habits::MIDTRANS, 45), (shopeepay.clone(), 365)] {
        let shop = paid(habits).await;
        shop.wait_ms(days * day_ms);
        shop.forget_token().await;
        assert_eq!(refund(&shop, "F1", 1_000).await, "200 2007800");
        shop.wait_ms(1);
        assert_eq!(refund(&shop, "F2", 1_000).await, "403 4037815");
    }
    let shop = paid(shopeepay).await;
    // From 10:20:30 to 23:55 and to 6:00.
    for (after_s, expected) in [(13 * 3600 + 34 * 60 + 30, "403 4037806"), (6 * 3600 + 300, "200 2007800")] {
        shop.wait_ms(after_s * 1000);
        shop.forget_token().await;
        assert_eq!(refund(&shop, "F1", 1_000).await, expected);
    }
}

#[tokio::test]
async fn dana_gives_back_by_58_and_doku_by_78() {
    for (habits, works, not) in [
        (Habits::DANA, Service::DebitRefund, Service::QrRefund),
        (Habits::DOKU, Service::QrRefund, Service::DebitRefund),
    ] {
        let shop = paid(habits).await;
        assert_eq!(shop.code(not, &order(&shop, "F1", 1_000)).await, format!("405 405{}00", not.digits()));
        assert_eq!(shop.code(works, &order(&shop, "F1", 1_000)).await, format!("200 200{}00", works.digits()));
        assert_eq!(given_back(&shop), 1_000);
    }
}

#[tokio::test]
async fn dana_tells_refunds_by_55() {
    let shop = paid(Habits::DANA).await;
    shop.code(Service::DebitRefund, &order(&shop, "F1", 1_000)).await;
    let (_, body) = shop.call(Service::DebitStatus, &shop.about("R1")).await.unwrap();
    let refund = &body["refundHistory"][0];
    assert_eq!(body["latestTransactionStatus"], "00");
    assert_eq!((&refund["partnerRefundNo"], &refund["refundStatus"]), (&json!("F1"), &json!("00")));
    assert_eq!((&refund["refundAmount"]["value"], &refund["reason"]), (&json!("1000.00"), &json!("Out of stock")));
    shop.code(Service::DebitRefund, &order(&shop, "F2", AMOUNT - 1_000)).await;
    let (_, body) = shop.call(Service::DebitStatus, &shop.about("R1")).await.unwrap();
    assert_eq!((&body["latestTransactionStatus"], body["refundHistory"].as_array().unwrap().len()), (&json!("04"), 2));
}

#[tokio::test]
async fn bri_finds_the_payment_by_its_own_reference_alone() {
    let shop = paid(Habits::BRI_QRIS).await;
    let mut ours = order(&shop, "F1", 1_000);
    ours["originalReferenceNo"] = Value::Null;
    assert_eq!(shop.code(Service::QrRefund, &ours).await, "400 4007802");
    assert_eq!(refund(&shop, "F1", 1_000).await, "200 2007800");
}

#[tokio::test]
async fn money_that_the_bank_forgets_is_not_given_back() {
    let shop: Shop = paid(Habits::GENERIC).await;
    pay(&shop, "R2").await;
    shop.asked.forget_money("R1").unwrap();
    assert_eq!(refund(&shop, "F1", 1_000).await, "404 4047800");
    assert_eq!((shop.asked.float(CLIENT), shop.asked.books_total()), (AMOUNT, 0));
}
