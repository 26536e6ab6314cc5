//! What the bank tells a merchant of its codes.

use serde_json::{Value, json};

use super::{
    door::{NOW_MS, key, text_by_standard},
    shop::{Shop, received_notices},
};
use crate::{Fault, Habits, Knobs, Notification, NotifyHabit, PayOrder, RrnIn, Service, Style, crypto::rsa_verifies};

fn va_order() -> Value {
    json!({
        "partnerServiceId": "   12345", "customerNo": "0000123", "virtualAccountNo": "   123450000123",
        "virtualAccountName": "Budi", "trxId": "T1", "totalAmount": { "value": "150000.00", "currency": "IDR" },
    })
}

#[tokio::test]
async fn a_paid_qr_is_told_with_the_receipt_that_the_query_has() {
    let shop = Shop::open(Habits::GENERIC).await;
    let issued = shop.qr("R1").await;
    let content = issued["qrContent"].as_str().unwrap();
    let paid = shop.asked.pay_code(content, PayOrder::default()).await.unwrap();
    assert_eq!(paid.answers.len(), 1);
    let (path, body) = received_notices(&shop).remove(0);
    assert_eq!(path, "/pre/snap/acc1/v1.0/qr/qr-mpm-notify");
    let query = shop.status("R1").await.1;
    for name in ["originalReferenceNo", "originalPartnerReferenceNo", "latestTransactionStatus", "amount", "paidTime"] {
        assert_eq!(body[name], query[name], "{name}");
    }
    assert_eq!(body["additionalInfo"], query["additionalInfo"]);
    assert_eq!(body["additionalInfo"]["issuerRrn"], paid.receipt_id);
}

#[tokio::test]
async fn each_bank_signs_its_notifications_in_its_own_way() {
    for (habits, path, service) in [
        (Habits::GENERIC, "/pre/snap/acc1/v1.0/qr/qr-mpm-notify", Service::QrNotify),
        (Habits::MIDTRANS, "/pre/snap/acc1/v1.0/qr/qr-mpm-notify", Service::QrNotify),
        (Habits::DANA, "/pre/snap/acc1/v1.0/debit/notify", Service::DebitNotify),
        (Habits::BRI_QRIS, "/pre/snap/acc1/v1.0/qr/qr-mpm-notify", Service::QrNotify),
    ] {
        let profile = habits.profile;
        let shop = Shop::open(habits).await;
        shop.qr("R1").await;
        let paid = shop.asked.pay_code("R1", PayOrder::default()).await.unwrap();
        assert_eq!(paid.answers[0].sent.service, service);
        let mut seen = shop.kit.door.seen();
        assert_eq!(seen.len(), if profile == "generic" { 2 } else { 1 }, "{profile}: a token is asked for");
        let seen = seen.remove(seen.len() - 1);
        assert_eq!(seen.path, path);
        let (timestamp, signature) = (seen.header("X-TIMESTAMP"), seen.header("X-SIGNATURE"));
        let text = match profile {
            "bri-qris" => format!("client-1|{timestamp}"),
            _ => text_by_standard("POST", path, None, &seen.body, timestamp),
        };
        let has_token = seen.headers.contains_key("authorization");
        assert_eq!(rsa_verifies(&key().public_key_pem(), &text, signature), profile != "generic", "{profile}");
        assert_eq!(has_token, profile == "generic", "{profile}");
        assert_eq!(seen.json()["additionalInfo"] == json!({}), profile == "dana", "{profile}");
    }
}

#[tokio::test]
async fn a_paid_account_is_told_by_34_or_by_25() {
    for (habits, path) in [(Habits::BRIVA_WS, "notify-payment-intrabank"), (Habits::DOKU, "payment")] {
        let shop = Shop::open(habits).await;
        assert_eq!(shop.code(Service::CreateVa, &va_order()).await, "200 2002700");
        let paid = shop.asked.pay_code("123450000123", PayOrder::default()).await.unwrap();
        let (told_path, body) = received_notices(&shop).remove(0);
        assert_eq!(told_path, format!("/pre/snap/acc1/v1.0/transfer-va/{path}"));
        assert_eq!(body["paymentRequestId"], paid.receipt_id);
        assert_eq!((&body["trxId"], &body["virtualAccountNo"]), (&json!("T1"), &json!("   123450000123")));
        if path == "payment" {
            assert_eq!(body["paidAmount"]["value"], "150000.00");
        } else {
            assert_eq!(body["additionalInfo"], json!({ "paymentAmount": "150000.00" }));
            assert_eq!(body["trxDateTime"], "2026-01-15T10:20:30.000+07:00");
        }
    }
}

#[tokio::test]
async fn a_merchant_is_told_never_twice_in_the_wrong_order_or_wrongly() {
    let shop = Shop::open(Habits::GENERIC).await;
    shop.qr("R1").await;
    let pay = async |order: PayOrder| {
        shop.asked.pay_code("R1", order).await.unwrap();
        received_notices(&shop).into_iter().map(|(_, body)| body).collect::<Vec<_>>()
    };
    assert!(pay(PayOrder { notice: NotifyHabit::Never, ..PayOrder::default() }).await.is_empty());
    let twice = pay(PayOrder { notice: NotifyHabit::Twice, ..PayOrder::default() }).await;
    assert_eq!((twice.len(), &twice[0]), (2, &twice[1]));
    let reordered = pay(PayOrder { notice: NotifyHabit::Reordered, ..PayOrder::default() }).await;
    let statuses: Vec<&Value> = reordered.iter().map(|body| &body["latestTransactionStatus"]).collect();
    assert_eq!(statuses, ["00", "02"]);
    let wrong = pay(PayOrder { told_amount: Some(1), ..PayOrder::default() }).await;
    assert_eq!(wrong[0]["amount"]["value"], "1.00");
    assert_eq!(shop.asked.code("R1").unwrap().payments.last().unwrap().amount, 150_000);
    let knobs = Knobs { missing_header: Some("X-SIGNATURE".into()), ..Knobs::default() };
    shop.asked.pay_code("R1", PayOrder { knobs, ..PayOrder::default() }).await.unwrap();
    assert!(!shop.kit.door.seen()[0].headers.contains_key("x-signature"));
    shop.asked.tell("R1", "06", Knobs::default()).await.unwrap();
    assert_eq!(received_notices(&shop)[0].1["latestTransactionStatus"], "06");
    assert!(shop.asked.tell("R2", "06", Knobs::default()).await.is_err());
    shop.asked.notify_at("ours", None);
    assert!(pay(PayOrder::default()).await.is_empty());
}

#[tokio::test]
async fn a_bank_tells_of_codes_that_nobody_ordered() {
    let shop = Shop::open(Habits::GENERIC).await;
    let stray = Notification { reference: "R404".into(), status: "00".into(), amount: 5, ..Notification::default() };
    let contract = shop.kit.contract(Style::GENERIC);
    shop.kit.bank.notify(&contract, Service::QrNotify, stray, Knobs::default()).await;
    let (_, body) = received_notices(&shop).remove(0);
    assert_eq!((&body["originalPartnerReferenceNo"], &body["additionalInfo"]), (&json!("R404"), &json!({})));
}

#[tokio::test]
async fn a_merchant_can_be_told_before_its_order_is_answered() {
    let shop = Shop::open(Habits::GENERIC).await;
    shop.asked.fail_next_of(Service::Generate, Fault::PaidFirst);
    let issued = shop.qr("R1").await;
    let (_, body) = received_notices(&shop).remove(0);
    assert_eq!(body["originalReferenceNo"], issued["referenceNo"]);
    assert_eq!(shop.status("R1").await.0, "00");
}

#[tokio::test]
async fn where_the_rrn_is_told_is_a_habit() {
    for (rrn_in, in_notice, in_query) in
        [(RrnIn::Both, true, true), (RrnIn::NotificationsOnly, true, false), (RrnIn::Nowhere, false, false)]
    {
        let shop = Shop::open(Habits { rrn_in, ..Habits::GENERIC }).await;
        shop.qr("R1").await;
        shop.asked.pay_code("R1", PayOrder { paid_at_ms: Some(NOW_MS - 5_000), ..PayOrder::default() }).await.unwrap();
        let (_, body) = received_notices(&shop).remove(0);
        let query = shop.status("R1").await.1;
        assert_eq!(body["additionalInfo"]["issuerRrn"].is_string(), in_notice, "{rrn_in:?}");
        assert_eq!(query["additionalInfo"]["issuerRrn"].is_string(), in_query, "{rrn_in:?}");
        assert_eq!(body["paidTime"], "2026-01-15T10:20:25+07:00");
    }
}
