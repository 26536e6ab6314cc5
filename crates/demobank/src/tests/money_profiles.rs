//! How banks differ about money that is sent.

use serde_json::{Value, json};

use super::{
    sender::{FAR, SOURCE, Sender},
    shop::{Signed, read},
};
use crate::{Habits, Service, TransferHabits, UnknownTransfer};

const AMOUNT: i64 = 150_000;
const DAY_MS: i64 = 24 * 3_600_000;

async fn code_of(sender: &Sender, signed: &Signed) -> String {
    let request = sender.shop.request(signed).await;
    let (status, body) = read(request).await.unwrap();
    format!("{status} {}", body["responseCode"].as_str().unwrap())
}

#[tokio::test]
async fn a_bank_with_paths_of_its_own_routes_no_others() {
    for (habits, service, wrong) in [
        (Habits::BCA, Service::Interbank, "/openapi/v1.0/transfer-interbank"),
        (Habits::BCA, Service::Intrabank, "/openapi/v2.0/transfer-intrabank"),
        (Habits::MANDIRI, Service::Interbank, "/openapi/customers/v2.0/transfer-interbank"),
        (Habits::MANDIRI, Service::Intrabank, "/openapi/transactions/v1.0/transfer-intrabank"),
        (Habits::BNI, Service::Intrabank, "/snap-service/v1.0/transfer-intrabank"),
        (Habits::BRIVA_WS, Service::Skn, "/snap/v1.0/transfer-skn"),
        (Habits::BRIVA_WS, Service::Intrabank, "/v2.0/transfer-intrabank"),
    ] {
        let sender = Sender::open(habits).await;
        let order = sender.order(service, "T1", AMOUNT);
        let signed = Signed { path: Some(wrong.to_owned()), ..sender.shop.prepare(service, &order) };
        assert_eq!(code_of(&sender, &signed).await, format!("404 404{}02", service.digits()), "{wrong}");
        assert_eq!(sender.sent(), 0);
        assert_eq!(sender.code(service, "T1", AMOUNT).await, format!("200 200{}00", service.digits()), "{wrong}");
    }
}

#[tokio::test]
async fn paths_are_set_for_one_merchant_where_its_contract_says_so() {
    let transfer =
        TransferHabits { paths: &[(Service::Intrabank, "/own/v9/transfer-intrabank")], ..TransferHabits::GENERIC };
    let sender = Sender::open(Habits { transfer, ..Habits::GENERIC }).await;
    assert_eq!(sender.code(Service::Intrabank, "T1", AMOUNT).await, "200 2001700");
    let order = sender.order(Service::Intrabank, "T2", AMOUNT);
    let path = Some("/v1.0/transfer-intrabank".to_owned());
    let signed = Signed { path, ..sender.shop.prepare(Service::Intrabank, &order) };
    assert_eq!(code_of(&sender, &signed).await, "404 4041702");
}

#[tokio::test]
async fn bca_wants_its_channel_a_transfer_type_and_a_plain_remark() {
    let sender = Sender::open(Habits::BCA).await;
    let signed = sender.shop.prepare(Service::Interbank, &sender.order(Service::Interbank, "T0", AMOUNT));
    let request = sender.shop.request(&signed).await;
    let mut request = request.build().unwrap();
    request.headers_mut().insert("CHANNEL-ID", "95231".parse().unwrap());
    let response = reqwest::Client::builder().no_proxy().build().unwrap().execute(request).await.unwrap();
    let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    assert_eq!(answer["responseCode"], "4001801");
    let code = async |change: &dyn Fn(&mut Value)| {
        let mut order = sender.order(Service::Interbank, "T1", AMOUNT);
        change(&mut order);
        sender.shop.code(Service::Interbank, &order).await
    };
    assert_eq!(code(&|order| order["additionalInfo"] = json!({})).await, "400 4001802");
    assert_eq!(code(&|order| order["additionalInfo"] = json!({ "transferType": "2" })).await, "400 4001802");
    assert_eq!(code(&|order| order["additionalInfo"]["transferType"] = "3".into()).await, "400 4001801");
    assert_eq!(code(&|order| order["additionalInfo"]["purposeCode"] = "04".into()).await, "400 4001801");
    assert_eq!(code(&|order| order["remark"] = "REFUND #17".into()).await, "400 4001801");
    assert_eq!(code(&|order| order["remark"] = "X".repeat(37).into()).await, "400 4001801");
    assert_eq!(code(&|order| order["beneficiaryBankCode"] = "002".into()).await, "400 4001801");
    let switching = |amount: i64| {
        move |order: &mut Value| {
            order["additionalInfo"] = json!({ "transferType": "1" });
            order["amount"]["value"] = format!("{amount}.00").into();
        }
    };
    assert_eq!(code(&switching(9_999)).await, "403 4031802");
    assert_eq!(code(&switching(50_000_001)).await, "403 4031802");
    assert_eq!(sender.sent(), 0);
    assert_eq!(code(&switching(10_000)).await, "200 2001800");
    assert_eq!(sender.sent(), 10_000);
    let nameless = json!({ "beneficiaryAccountNo": "1" });
    assert_eq!(sender.shop.code(Service::InternalInquiry, &nameless).await, "400 4001502");
}

#[tokio::test]
async fn bca_is_asked_by_external_id_and_day_within_a_month() {
    let sender = Sender::open(Habits::BCA).await;
    sender.send(Service::Intrabank, "T1", AMOUNT).await.unwrap();
    let question = sender.question(Service::Intrabank, "T1");
    let code = async |question: &Value| sender.shop.code(Service::TransferStatus, question).await;
    assert_eq!(code(&question).await, "200 2003600");
    for name in ["originalExternalId", "transactionDate", "serviceCode"] {
        let mut without = question.clone();
        without[name] = Value::Null;
        assert_eq!(code(&without).await, "400 4003602", "{name}");
    }
    let mut other_day = question.clone();
    other_day["transactionDate"] = "2026-01-14T10:20:30+07:00".into();
    assert_eq!(code(&other_day).await, "404 4043601");
    let mut other_id = question.clone();
    other_id["originalExternalId"] = "999".into();
    assert_eq!(code(&other_id).await, "404 4043601");
    sender.shop.wait_ms(31 * DAY_MS);
    sender.shop.forget_token().await;
    assert_eq!(code(&question).await, "200 2003600");
    sender.shop.wait_ms(1);
    assert_eq!(code(&question).await, "404 4043601");
}

#[tokio::test]
async fn bri_takes_short_references_alone_where_it_says_so() {
    let sender = Sender::open(Habits::BRIVA_WS).await;
    let long = "T".repeat(25);
    assert_eq!(sender.code(Service::Intrabank, &long, AMOUNT).await, "200 2001700");
    assert_eq!(sender.ask(Service::Intrabank, &long).await.1["responseCode"], "4003601");
    assert_eq!(sender.code(Service::Rtgs, &long, 100_000_001).await, "400 4002201");
    let short = "S".repeat(20);
    assert_eq!(sender.code(Service::Intrabank, &short, AMOUNT).await, "200 2001700");
    assert_eq!(sender.status(Service::Intrabank, &short).await, "00");
    assert_eq!(sender.code(Service::Skn, "T2", AMOUNT).await, "200 2002300");
    assert!(sender.shop.path(Service::Skn).ends_with("/snap/v1.0/transfer-sknbi"));
    let mut by_swift = sender.order(Service::Interbank, "T3", AMOUNT);
    by_swift["beneficiaryBankCode"] = "CENAIDJA".into();
    assert_eq!(sender.shop.code(Service::Interbank, &by_swift).await, "400 4001801");
}

#[tokio::test]
async fn bni_wants_nineteen_digits_and_writes_empty_texts() {
    let sender = Sender::open(Habits::BNI).await;
    let mut signed = sender.shop.prepare(Service::Intrabank, &sender.order(Service::Intrabank, "T1", AMOUNT));
    signed.external_id = "123456789".into();
    assert_eq!(code_of(&sender, &signed).await, "400 4001701");
    let (status, body) = sender.send(Service::Intrabank, "T1", AMOUNT).await.unwrap();
    assert_eq!(status, 200);
    for name in ["customerReference", "currency", "traceNo", "beneficiaryBankCode"] {
        assert_eq!(body[name], "", "{name}");
    }
    let (_, balance) = sender.shop.call(Service::Balance, &json!({ "accountNo": SOURCE })).await.unwrap();
    assert_eq!((&balance["partnerReferenceNo"], &balance["bankCardToken"]), (&json!(""), &json!("")));
    let mut order = sender.order(Service::Skn, "T2", AMOUNT);
    order["recieverPhone"] = 812.into();
    assert_eq!(sender.shop.code(Service::Skn, &order).await, "400 4002301");
    order["recieverPhone"] = "0812".into();
    assert_eq!(sender.shop.code(Service::Skn, &order).await, "200 2002300");
}

#[tokio::test]
async fn dana_sends_from_what_it_has_of_the_merchant_and_is_asked_at_a_door_of_its_own() {
    let sender = Sender::open(Habits::DANA).await;
    let ask = async |reference: &str, service_code: &str| {
        let question = json!({ "originalPartnerReferenceNo": reference, "serviceCode": service_code });
        let (status, body) = sender.shop.call(Service::TransferBankStatus, &question).await.unwrap();
        let told = body["latestTransactionStatus"].as_str().unwrap_or_default().to_owned();
        (format!("{status} {}", body["responseCode"].as_str().unwrap()), told)
    };
    assert_eq!(ask("T1", "00").await, ("404 4040001".into(), String::new()));
    assert_eq!(sender.code(Service::TransferBank, "T1", AMOUNT).await, "200 2004300");
    assert_eq!(ask("T1", "00").await, ("200 2000000".into(), "00".into()));
    assert_eq!(ask("T1", "43").await.0, "400 4000001");
    assert_eq!(ask("", "00").await.0, "400 4000002");
    assert_eq!((sender.sent(), sender.has(sender.other, FAR)), (AMOUNT, AMOUNT));
    assert_eq!(sender.code(Service::TransferBank, "T2", 10_000_000).await, "403 4034314");
    assert_eq!(ask("T2", "00").await.1, "06");
    assert_eq!(sender.code(Service::TransferBank, &"T".repeat(26), AMOUNT).await, "400 4004301");
}

#[tokio::test]
async fn doku_is_asked_by_53() {
    let sender = Sender::open(Habits::DOKU).await;
    assert_eq!(sender.code(Service::TransferBank, "T1", AMOUNT).await, "200 2004300");
    let question = json!({ "originalPartnerReferenceNo": "T1", "serviceCode": "43" });
    let (_, body) = sender.shop.call(Service::EmoneyStatus, &question).await.unwrap();
    assert_eq!((&body["responseCode"], &body["latestTransactionStatus"]), (&json!("2005300"), &json!("00")));
    assert!(sender.shop.path(Service::EmoneyStatus).ends_with("/snap/v1.1/qr/qr-mpm-status"));
}

#[tokio::test]
async fn midtrans_forgets_a_reference_after_two_months_and_then_carries_it_out_again() {
    let sender = Sender::open(Habits::MIDTRANS).await;
    assert_eq!(sender.code(Service::Intrabank, "T1", AMOUNT).await, "200 2001700");
    sender.shop.wait_ms(60 * DAY_MS - 1);
    sender.shop.forget_token().await;
    assert_eq!(sender.code(Service::Intrabank, "T1", AMOUNT).await, "409 4091701");
    assert_eq!(sender.sent(), AMOUNT);
    sender.shop.wait_ms(1);
    assert_eq!(sender.code(Service::Intrabank, "T1", AMOUNT).await, "200 2001700");
    assert_eq!(sender.sent(), 2 * AMOUNT);
}

#[tokio::test]
async fn some_banks_say_07_of_what_they_do_not_know() {
    let transfer = TransferHabits { unknown: UnknownTransfer::Status, ..TransferHabits::GENERIC };
    let sender = Sender::open(Habits { transfer, ..Habits::GENERIC }).await;
    assert_eq!(sender.status(Service::Intrabank, "T1").await, "07");
    sender.send(Service::Intrabank, "T1", AMOUNT).await.unwrap();
    assert_eq!(sender.status(Service::Intrabank, "T1").await, "00");
}
