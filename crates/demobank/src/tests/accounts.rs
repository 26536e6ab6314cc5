//! Virtual accounts that the bank hosts.

use serde_json::{Value, json};

use super::shop::{AMOUNT, Shop};
use crate::{CodeState, Habits, NotifyHabit, PayOrder, Service};

const NUMBER: &str = "77777000000123";

fn order(reference: &str) -> Value {
    json!({
        "partnerServiceId": "   77777", "customerNo": "000000123", "virtualAccountNo": "   77777000000123",
        "virtualAccountName": "Budi", "trxId": reference, "totalAmount": { "value": "150000.00", "currency": "IDR" },
        "virtualAccountTrxType": "C", "expiredDate": "2026-01-15T11:20:30+07:00",
    })
}

fn about(reference: Option<&str>) -> Value {
    json!({
        "partnerServiceId": "   77777", "customerNo": "000000123", "virtualAccountNo": "   77777000000123",
        "trxId": reference,
    })
}

fn quietly() -> PayOrder {
    PayOrder { notice: NotifyHabit::Never, ..PayOrder::default() }
}

#[tokio::test]
async fn an_account_is_created_asked_for_paid_and_then_no_more_deleted() {
    let shop = Shop::open(Habits::BRIVA_WS).await;
    assert_eq!(shop.code(Service::Status, &about(Some("T1"))).await, "404 4042601");
    let (status, answer) = shop.call(Service::CreateVa, &order("T1")).await.unwrap();
    assert_eq!((status, &answer["responseCode"]), (200, &json!("2002700")));
    let account = &answer["virtualAccountData"];
    assert_eq!((&account["virtualAccountNo"], &account["trxId"]), (&json!("   77777000000123"), &json!("T1")));
    let (_, unpaid) = shop.call(Service::Status, &about(None)).await.unwrap();
    assert_eq!(unpaid["additionalInfo"], json!({ "latestTransactionStatus": "03", "paidStatus": "N" }));
    assert_eq!(unpaid["virtualAccountData"]["paidAmount"], Value::Null);
    let paid = shop.asked.pay_code(NUMBER, quietly()).await.unwrap();
    let (_, told) = shop.call(Service::Status, &about(Some("T1"))).await.unwrap();
    assert_eq!(told["additionalInfo"], json!({ "latestTransactionStatus": "00", "paidStatus": "Y" }));
    let account = &told["virtualAccountData"];
    assert_eq!((&account["paymentRequestId"], &account["paymentFlagStatus"]), (&json!(paid.receipt_id), &json!("00")));
    assert_eq!(account["paidAmount"]["value"], "150000.00");
    assert_eq!(account["trxDateTime"], "2026-01-15T10:20:30.000+07:00");
    assert_eq!(shop.code(Service::DeleteVa, &about(Some("T1"))).await, "404 4043114");
    assert_eq!(paid.code.amount, AMOUNT);
}

#[tokio::test]
async fn the_bank_chooses_a_number_where_none_is_given_and_finds_it_by_the_reference() {
    let shop = Shop::open(Habits::DOKU).await;
    let mut order = order("T1");
    order["customerNo"] = "".into();
    order["virtualAccountNo"] = Value::Null;
    let (_, answer) = shop.call(Service::CreateVa, &order).await.unwrap();
    let number = answer["virtualAccountData"]["virtualAccountNo"].as_str().unwrap();
    assert_eq!((number.len(), &number[..8]), (19, "   77777"));
    let mut asked = json!({ "partnerServiceId": "   77777", "trxId": "T1" });
    let (_, told) = shop.call(Service::Status, &asked).await.unwrap();
    assert_eq!(told["virtualAccountData"]["virtualAccountNo"], number);
    assert_eq!(shop.asked.code(number.trim()).unwrap().reference, "T1");
    asked["trxId"] = Value::Null;
    assert_eq!(shop.code(Service::Status, &asked).await, "400 4002602");
}

#[tokio::test]
async fn a_reference_and_a_live_number_are_given_out_once() {
    let shop = Shop::open(Habits::BRIVA_WS).await;
    assert_eq!(shop.code(Service::CreateVa, &order("T1")).await, "200 2002700");
    assert_eq!(shop.code(Service::CreateVa, &order("T1")).await, "409 4092701");
    let mut other = order("T1");
    other["virtualAccountName"] = "Siti".into();
    assert_eq!(shop.code(Service::CreateVa, &other).await, "404 4042718");
    assert_eq!(shop.code(Service::CreateVa, &order("T2")).await, "409 4092701");
    assert_eq!(shop.asked.codes().len(), 1);
    assert_eq!(shop.code(Service::DeleteVa, &about(Some("T2"))).await, "404 4043112");
    assert_eq!(shop.code(Service::DeleteVa, &about(Some("T1"))).await, "200 2003100");
    assert_eq!(shop.asked.code("T1").unwrap().state, CodeState::Voided);
    assert_eq!(shop.code(Service::DeleteVa, &about(Some("T1"))).await, "404 4043112");
    assert_eq!(shop.code(Service::CreateVa, &order("T2")).await, "200 2002700");
    assert_eq!(shop.asked.code(NUMBER).unwrap().reference, "T2");
}

#[tokio::test]
async fn midtrans_deletes_by_post() {
    let shop = Shop::open(Habits::MIDTRANS).await;
    shop.code(Service::CreateVa, &order("T1")).await;
    assert_eq!(shop.code(Service::DeleteVa, &about(Some("T1"))).await, "200 2003100");
    assert_eq!(shop.asked.calls_of(Service::DeleteVa)[0].method, "POST");
}

#[tokio::test]
async fn a_report_has_the_money_of_its_hours_and_of_its_company_code() {
    let shop = Shop::open(Habits::BRIVA_WS).await;
    shop.code(Service::CreateVa, &order("T1")).await;
    let day = json!({ "partnerServiceId": "   77777", "startDate": "2026-01-15" });
    let lines = async |asked: &Value| {
        let (_, answer) = shop.call(Service::Report, asked).await.unwrap();
        assert_eq!(answer["responseCode"], "2003500");
        answer["virtualAccountData"].as_array().unwrap().clone()
    };
    assert!(lines(&day).await.is_empty());
    let first = shop.asked.pay_code("T1", quietly()).await.unwrap();
    let late = PayOrder { paid_at_ms: Some(shop.now_ms() + 14 * 3_600_000), ..quietly() };
    shop.asked.pay_code("T1", late).await.unwrap();
    let found = lines(&day).await;
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["paymentRequestId"], &found[0]["trxId"]), (&json!(first.receipt_id), &json!("T1")));
    assert_eq!(found[0]["paidAmount"]["value"], "150000.00");
    for (from, until, count) in [("10:00:00+07:00", "10:59:59+07:00", 1), ("11:00", "12:00", 0), ("10:20", "10:20", 1)]
    {
        let mut hours = day.clone();
        hours["startTime"] = from.into();
        hours["endTime"] = until.into();
        assert_eq!(lines(&hours).await.len(), count, "{from}");
    }
    let mut others = day.clone();
    others["partnerServiceId"] = "   88888".into();
    assert!(lines(&others).await.is_empty());
    let mut next_day = day.clone();
    next_day["startDate"] = "2026-01-16".into();
    assert_eq!(lines(&next_day).await.len(), 1);
    next_day["startDate"] = "16 January".into();
    assert_eq!(shop.code(Service::Report, &next_day).await, "400 4003501");
}

#[tokio::test]
async fn an_order_with_wrong_numbers_gets_its_code_and_creates_nothing() {
    let shop = Shop::open(Habits::BRIVA_WS).await;
    for (name, value, expected) in [
        ("partnerServiceId", json!("77777"), "400 4002701"),
        ("partnerServiceId", json!("7777700 "), "400 4002701"),
        ("partnerServiceId", Value::Null, "400 4002702"),
        ("customerNo", json!("12345678901234"), "400 4002701"),
        ("customerNo", json!("12a"), "400 4002701"),
        ("virtualAccountNo", json!("77777000000123"), "400 4002701"),
        ("virtualAccountNo", Value::Null, "400 4002702"),
        ("virtualAccountName", json!(""), "400 4002702"),
        ("trxId", Value::Null, "400 4002702"),
        ("totalAmount", json!({ "value": "1", "currency": "IDR" }), "400 4002701"),
        ("virtualAccountTrxType", json!("O"), "400 4002701"),
        ("expiredDate", json!("2026-01-15T10:20:29+07:00"), "400 4002701"),
    ] {
        let mut order = order("T1");
        order[name] = value;
        assert_eq!(shop.code(Service::CreateVa, &order).await, expected, "{order}");
    }
    assert!(shop.asked.codes().is_empty());
}
