//! QR codes at the bank's doors: issued, asked for, cancelled.

use serde_json::{Value, json};

use super::shop::{AMOUNT, Shop};
use crate::{CodeKind, CodeState, Habits, NotifyHabit, PayOrder, Service};

fn quietly() -> PayOrder {
    PayOrder { notice: NotifyHabit::Never, ..PayOrder::default() }
}

#[tokio::test]
async fn a_qr_is_issued_and_found_by_all_of_its_names() {
    let shop = Shop::open(Habits::GENERIC).await;
    let answer = shop.qr("R1").await;
    let content = answer["qrContent"].as_str().unwrap();
    let scanned = crate::services::read_qris(content).unwrap();
    assert_eq!((scanned.merchant.as_str(), scanned.amount), ("TOKO UJI COBA", Some(AMOUNT)));
    let bank_reference = answer["referenceNo"].as_str().unwrap();
    assert_eq!(answer["partnerReferenceNo"], "R1");
    for name in ["R1", content, bank_reference] {
        let code = shop.asked.code(name).unwrap();
        assert_eq!((code.kind, code.reference.as_str(), code.amount), (CodeKind::Qr, "R1", AMOUNT));
        assert_eq!((code.state, code.payments.len()), (CodeState::Unpaid, 0));
    }
    assert!(shop.asked.code("R2").is_none());
    let calls = shop.asked.calls_of(Service::Generate);
    assert_eq!(calls.len(), 1);
    assert_eq!((calls[0].reference.as_str(), calls[0].code.as_str()), ("R1", "2004700"));
    assert_eq!(shop.asked.calls().len(), 2, "the token was asked for too");
}

#[tokio::test]
async fn the_same_reference_makes_one_code_if_the_bank_repeats_its_answer_and_if_it_refuses() {
    for habits in [Habits::GENERIC, Habits::DANA] {
        let shop = Shop::open(habits).await;
        let first = shop.qr("R1").await;
        let (status, again) = shop.call(Service::Generate, &shop.qr_order("R1")).await.unwrap();
        if shop.habits.profile == "dana" {
            assert_eq!((status, again), (200, first));
        } else {
            assert_eq!((status, &again["responseCode"]), (409, &json!("4094701")));
        }
        let mut other = shop.qr_order("R1");
        other["amount"]["value"] = "150001.00".into();
        assert_eq!(shop.code(Service::Generate, &other).await, "404 4044718");
        assert_eq!(shop.asked.codes().len(), 1);
    }
}

#[tokio::test]
async fn a_query_tells_where_a_code_stands() {
    let shop = Shop::open(Habits::GENERIC).await;
    shop.qr("R1").await;
    assert_eq!(shop.status("R1").await.0, "03");
    for (state, expected) in [
        (CodeState::Processing, "02"),
        (CodeState::Refunded, "04"),
        (CodeState::Voided, "05"),
        (CodeState::Failed, "06"),
        (CodeState::Unpaid, "03"),
    ] {
        shop.asked.set_state("R1", state).unwrap();
        assert_eq!(shop.status("R1").await.0, expected);
    }
    let paid = shop.asked.pay_code("R1", quietly()).await.unwrap();
    let (status, answer) = shop.status("R1").await;
    assert_eq!(status, "00");
    assert_eq!(answer["amount"], json!({ "value": "150000.00", "currency": "IDR" }));
    assert_eq!(answer["paidTime"], "2026-01-15T10:20:30+07:00");
    assert_eq!(answer["additionalInfo"]["issuerRrn"], paid.receipt_id);
    assert_eq!(paid.receipt_id.len(), 12);
    assert_eq!(shop.code(Service::Query, &shop.about("R2")).await, "404 4045101");
}

#[tokio::test]
async fn a_code_that_nobody_paid_expires_by_the_banks_clock_and_late_money_is_taken() {
    for (habits, unpaid, expired) in [(Habits::GENERIC, "03", "06"), (Habits::DANA, "01", "05")] {
        let shop = Shop::open(habits).await;
        shop.qr("R1").await;
        shop.wait_ms(300_000);
        assert_eq!(shop.status("R1").await.0, unpaid);
        shop.wait_ms(3_300_000);
        shop.forget_token().await;
        assert_eq!(shop.status("R1").await.0, expired);
        assert!(shop.asked.code("R1").unwrap().is_expired(shop.now_ms()));
        let paid_at_ms = Some(shop.now_ms() - 1_000);
        shop.asked.pay_code("R1", PayOrder { paid_at_ms, ..quietly() }).await.unwrap();
        let (status, answer) = shop.status("R1").await;
        assert_eq!((status.as_str(), &answer["paidTime"]), ("00", &json!("2026-01-15T11:20:29+07:00")));
    }
}

#[tokio::test]
async fn a_code_is_cancelled_until_someone_pays_it() {
    let shop = Shop::open(Habits::GENERIC).await;
    assert_eq!(shop.code(Service::Cancel, &shop.about("R1")).await, "404 4047701");
    shop.qr("R1").await;
    shop.asked.set_state("R1", CodeState::Processing).unwrap();
    assert_eq!(shop.code(Service::Cancel, &shop.about("R1")).await, "202 2027700");
    shop.asked.set_state("R1", CodeState::Unpaid).unwrap();
    for _ in 0..2 {
        assert_eq!(shop.code(Service::Cancel, &shop.about("R1")).await, "200 2007700");
        assert_eq!(shop.asked.code("R1").unwrap().state, CodeState::Voided);
    }
    // Money that was on its way wins.
    shop.asked.pay_code("R1", quietly()).await.unwrap();
    assert_eq!(shop.code(Service::Cancel, &shop.about("R1")).await, "404 4047714");
    assert_eq!(shop.status("R1").await.0, "00");
}

#[tokio::test]
async fn a_second_payment_has_a_receipt_of_its_own_and_the_query_tells_the_first() {
    let shop = Shop::open(Habits::GENERIC).await;
    shop.qr("R1").await;
    let first = shop.asked.pay_code("R1", PayOrder { receipt_id: Some("111".into()), ..quietly() }).await.unwrap();
    let second = shop.asked.pay_code("R1", PayOrder { amount: Some(7), ..quietly() }).await.unwrap();
    assert_ne!(first.receipt_id, second.receipt_id);
    assert_eq!(second.code.payments.iter().map(|payment| payment.amount).collect::<Vec<_>>(), [AMOUNT, 7]);
    assert_eq!(shop.status("R1").await.1["additionalInfo"]["paymentReferenceNo"], "111");
    assert!(shop.asked.pay_code("R9", quietly()).await.is_err());
}

#[tokio::test]
async fn dana_is_asked_by_services_55_and_57_and_tells_no_rrn() {
    let shop = Shop::open(Habits::DANA).await;
    shop.qr("R1").await;
    shop.qr("R2").await;
    shop.asked.pay_code("R1", quietly()).await.unwrap();
    let (_, answer) = shop.call(Service::DebitStatus, &shop.about("R1")).await.unwrap();
    assert_eq!((&answer["responseCode"], &answer["latestTransactionStatus"]), (&json!("2005500"), &json!("00")));
    assert_eq!(answer["transAmount"]["value"], "150000.00");
    assert_eq!(answer["additionalInfo"], json!({}));
    assert_eq!(shop.code(Service::DebitCancel, &shop.about("R1")).await, "404 4045714");
    assert_eq!(shop.code(Service::DebitCancel, &shop.about("R2")).await, "200 2005700");
    assert!(shop.asked.calls_of(Service::Token).is_empty());
}

#[tokio::test]
async fn bri_finds_a_code_by_its_own_reference_alone_and_midtrans_tells_the_content() {
    let shop = Shop::open(Habits::BRI_QRIS).await;
    shop.qr("R1").await;
    let mut about = shop.about("R1");
    assert_eq!(shop.code(Service::Query, &about).await, "200 2005100");
    about["serviceCode"] = "47".into();
    assert_eq!(shop.code(Service::Query, &about).await, "400 4005101");
    let ours = json!({ "originalPartnerReferenceNo": "R1", "serviceCode": "17" });
    assert_eq!(shop.code(Service::Query, &ours).await, "400 4005102");
    let mut mixed = shop.about("R1");
    mixed["originalPartnerReferenceNo"] = "R2".into();
    assert_eq!(shop.code(Service::Query, &mixed).await, "404 4045118");

    let shop = Shop::open(Habits::MIDTRANS).await;
    let issued = shop.qr("R1").await;
    assert_eq!(shop.status("R1").await.1["qrContent"], issued["qrContent"]);
}

#[tokio::test]
async fn an_order_that_is_wrong_gets_its_code_and_issues_nothing() {
    let shop = Shop::open(Habits::BRI_QRIS).await;
    let with = |name: &str, value: Value| {
        let mut order = shop.qr_order("R1");
        order[name] = value;
        order
    };
    let amount = |value: Value, currency: &str| with("amount", json!({ "value": value, "currency": currency }));
    for (order, expected) in [
        (with("partnerReferenceNo", Value::Null), "400 4004702"),
        (with("merchantId", "".into()), "400 4004702"),
        (with("terminalId", Value::Null), "400 4004702"),
        (with("partnerReferenceNo", "x".repeat(65).into()), "400 4004701"),
        (with("validityPeriod", "2026-01-15T10:20:30+07:00".into()), "400 4004701"),
        (with("validityPeriod", "tomorrow".into()), "400 4004701"),
        (amount("150000".into(), "IDR"), "400 4004701"),
        (amount("150000.50".into(), "IDR"), "400 4004701"),
        (amount("0.00".into(), "IDR"), "400 4004701"),
        (amount(150_000.into(), "IDR"), "400 4004701"),
        (amount("150000.00".into(), "USD"), "400 4004701"),
        (amount("10000001.00".into(), "IDR"), "403 4034702"),
        (json!([1]), "400 4004700"),
    ] {
        assert_eq!(shop.code(Service::Generate, &order).await, expected, "{order}");
    }
    assert!(shop.asked.codes().is_empty());
}
