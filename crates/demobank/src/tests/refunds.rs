//! 78 and 58: payments by QR are given back, in parts and never above what was paid.

use std::time::Duration;

use serde_json::{Value, json};

use super::shop::{AMOUNT, CLIENT, Shop};
use crate::{CodeState, Fate, Fault, Habits, MoneyRules, NotifyHabit, PayOrder, RefundRule, Service, TransferState};

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

/// A shop with a code that was paid.
pub(super) async fn paid(habits: Habits) -> Shop {
    let shop = Shop::open(habits).await;
    pay(&shop, "R1").await;
    shop
}

pub(super) async fn pay(shop: &Shop, reference: &str) {
    shop.qr(reference).await;
    let quietly = PayOrder { notice: NotifyHabit::Never, ..PayOrder::default() };
    shop.asked.pay_code(reference, quietly).await.unwrap();
}

pub(super) fn order(shop: &Shop, number: &str, amount: i64) -> Value {
    json!({
        "merchantId": "M0001", "originalPartnerReferenceNo": "R1",
        "originalReferenceNo": shop.asked.code("R1").map(|code| code.bank_reference),
        "partnerRefundNo": number, "refundAmount": { "value": format!("{amount}.00"), "currency": "IDR" },
        "reason": "Out of stock",
    })
}

pub(super) async fn refund(shop: &Shop, number: &str, amount: i64) -> String {
    shop.code(Service::QrRefund, &order(shop, number, amount)).await
}

/// What the payer has back. Nothing was made or lost.
#[track_caller]
pub(super) fn given_back(shop: &Shop) -> i64 {
    assert_eq!(shop.asked.books_total(), 0);
    let taken: i64 = shop.asked.codes().iter().map(crate::Code::taken).sum();
    taken - shop.asked.float(CLIENT)
}

#[tokio::test]
async fn a_payment_is_given_back_in_parts_up_to_what_was_paid() {
    let shop = paid(Habits::GENERIC).await;
    let (status, body) = shop.call(Service::QrRefund, &order(&shop, "F1", 50_000)).await.unwrap();
    assert_eq!((status, &body["responseCode"]), (200, &json!("2007800")), "{body}");
    assert_eq!((&body["partnerRefundNo"], &body["refundAmount"]["value"]), (&json!("F1"), &json!("50000.00")));
    assert_eq!(body["refundTime"], "2026-01-15T10:20:30+07:00");
    assert_eq!(body["originalPartnerReferenceNo"], "R1");
    assert_eq!(body["refundNo"], shop.asked.transfer("F1").unwrap().bank_reference);
    assert_eq!(shop.status("R1").await.0, "00", "a part of it is still paid");
    assert_eq!(refund(&shop, "F2", 100_001).await, "404 4047813");
    assert_eq!(refund(&shop, "F2", 100_000).await, "200 2007800");
    assert_eq!(shop.status("R1").await.0, "04");
    assert_eq!(refund(&shop, "F3", 1).await, "404 4047813");
    assert_eq!((given_back(&shop), AMOUNT), (AMOUNT, 150_000));
    let states: Vec<TransferState> = shop.asked.transfers().iter().map(|refund| refund.state).collect();
    use TransferState::{Done, Refused};
    assert_eq!(states, [Done, Refused, Done, Refused]);
}

#[tokio::test]
async fn the_same_refund_again_gives_nothing_back_and_one_with_other_content_is_told_apart() {
    for (habits, service, digits) in [
        (Habits::GENERIC, Service::QrRefund, "78"),
        (Habits::GENERIC, Service::DebitRefund, "58"),
        (Habits::DANA, Service::DebitRefund, "58"),
    ] {
        let shop = paid(habits).await;
        let first = shop.call(service, &order(&shop, "F1", 50_000)).await.unwrap();
        let again = shop.call(service, &order(&shop, "F1", 50_000)).await.unwrap();
        if shop.habits.profile == "dana" {
            assert_eq!(again, first);
        } else {
            assert_eq!(again.1["responseCode"], format!("409{digits}01"));
        }
        assert_eq!(shop.code(service, &order(&shop, "F1", 50_001)).await, format!("404 404{digits}18"));
        pay(&shop, "R2").await;
        let mut other = order(&shop, "F1", 50_000);
        other["originalPartnerReferenceNo"] = "R2".into();
        other["originalReferenceNo"] = Value::Null;
        assert_eq!(shop.code(service, &other).await, format!("404 404{digits}18"));
        assert_eq!(given_back(&shop), 50_000);
    }
}

#[tokio::test]
async fn what_cannot_be_given_back_gets_its_code() {
    let shop = Shop::open(Habits::GENERIC).await;
    assert_eq!(refund(&shop, "F1", 1).await, "404 4047801");
    shop.qr("R1").await;
    assert_eq!(refund(&shop, "F1", 1).await, "404 4047800", "nobody has paid");
    shop.asked.set_state("R1", CodeState::Voided).unwrap();
    assert_eq!(refund(&shop, "F1", 1).await, "404 4047800");
    shop.asked.pay_code("R1", PayOrder { notice: NotifyHabit::Never, ..PayOrder::default() }).await.unwrap();
    let rules =
        |refunds: RefundRule| shop.asked.set_money_rules(CLIENT, MoneyRules { refunds, ..MoneyRules::default() });
    rules(RefundRule::Unsupported);
    assert_eq!(refund(&shop, "F1", 1).await, "405 4057801");
    rules(RefundRule::Over);
    assert_eq!(refund(&shop, "F1", 1).await, "403 4037815");
    shop.asked.set_money_rules(CLIENT, MoneyRules { is_cut_off: true, ..MoneyRules::default() });
    assert_eq!(refund(&shop, "F1", 1).await, "403 4037806");
    shop.asked.set_money_rules(CLIENT, MoneyRules::default());
    // The bank has paid the merchant out.
    shop.asked.deposit_float(CLIENT, -100_000);
    assert_eq!(refund(&shop, "F1", 50_001).await, "403 4037814");
    assert_eq!(refund(&shop, "F1", 50_000).await, "200 2007800");
    assert_eq!(shop.asked.float(CLIENT), 0);
    shop.wait_ms(366 * DAY_MS);
    shop.forget_token().await;
    assert_eq!(refund(&shop, "F2", 1).await, "403 4037815");
    assert_eq!(shop.asked.books_total(), 0);
}

#[tokio::test]
async fn a_refund_order_that_is_wrong_gets_its_code_and_gives_nothing_back() {
    let shop = paid(Habits::GENERIC).await;
    for (name, value, case) in [
        ("originalPartnerReferenceNo", Value::Null, "400 4007802"),
        ("partnerRefundNo", "".into(), "400 4007802"),
        ("partnerRefundNo", "x".repeat(65).into(), "400 4007801"),
        ("refundAmount", Value::Null, "400 4007802"),
        ("refundAmount", json!({ "value": "0.00", "currency": "IDR" }), "400 4007801"),
        ("refundAmount", json!({ "value": "1.50", "currency": "IDR" }), "400 4007801"),
        ("refundAmount", json!({ "value": "-5.00", "currency": "IDR" }), "400 4007801"),
        ("refundAmount", json!({ "value": "5.00", "currency": "USD" }), "400 4007801"),
        ("reason", "x".repeat(257).into(), "400 4007801"),
        ("originalPartnerReferenceNo", "R2".into(), "404 4047818"),
        ("originalReferenceNo", "unknown".into(), "404 4047801"),
    ] {
        let mut wrong = order(&shop, "F1", 1_000);
        wrong[name] = value;
        assert_eq!(shop.code(Service::QrRefund, &wrong).await, case, "{wrong}");
    }
    assert!(shop.asked.transfers().is_empty());
    assert_eq!(given_back(&shop), 0);
}

#[tokio::test]
async fn each_fault_says_whether_the_payer_has_money_back_and_55_tells_the_truth() {
    let shop = paid(Habits::GENERIC).await;
    let rows = [
        (Fault::Late(Duration::from_millis(5)), Some("2007800"), true),
        (Fault::LostBefore, None, false),
        (Fault::LostAfter, None, true),
        (Fault::Status(202), Some("2027800"), false),
        (Fault::StatusAfter(202), Some("2027800"), true),
        (Fault::Status(500), Some("5007800"), false),
        (Fault::StatusAfter(504), Some("5047800"), true),
        (Fault::Case(404, "18"), Some("4047818"), false),
        (Fault::CaseAfter(404, "18"), Some("4047818"), true),
        (Fault::Case(409, "01"), Some("4097801"), false),
        (Fault::CaseAfter(409, "01"), Some("4097801"), true),
        (Fault::Case(405, "01"), Some("4057801"), false),
        (Fault::Case(403, "15"), Some("4037815"), false),
        (Fault::BrokenJson, None, true),
    ];
    for (at, (fault, code, is_done)) in rows.into_iter().enumerate() {
        let (before, number) = (given_back(&shop), format!("F{at}"));
        shop.asked.fail_next_of(Service::QrRefund, fault.clone());
        let answer = shop.call(Service::QrRefund, &order(&shop, &number, 1_000)).await;
        let got = answer.as_ref().map(|(_, body)| body["responseCode"].as_str().unwrap());
        assert_eq!(got, code, "{fault:?}");
        assert_eq!(given_back(&shop) - before, if is_done { 1_000 } else { 0 }, "{fault:?}");
        assert_eq!(history(&shop).await.contains(&format!("{number} 1000.00 00")), is_done, "{fault:?}");
    }
}

/// `refundHistory[]`: number, amount and status of each.
async fn history(shop: &Shop) -> Vec<String> {
    let (_, body) = shop.call(Service::DebitStatus, &shop.about("R1")).await.unwrap();
    let line = |line: &Value| {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        [text(&line["partnerRefundNo"]), text(&line["refundAmount"]["value"]), text(&line["refundStatus"])].join(" ")
    };
    body["refundHistory"].as_array().map(|lines| lines.iter().map(line).collect()).unwrap_or_default()
}

#[tokio::test]
async fn refunds_that_take_a_while_are_pending_and_count_until_they_fail() {
    let shop = paid(Habits::GENERIC).await;
    shop.asked.fate_of_next(Fate { takes_ms: MINUTE_MS, ..Fate::default() });
    shop.asked.fate_of_next(Fate { takes_ms: MINUTE_MS, fails: true, ..Fate::default() });
    assert_eq!(refund(&shop, "F1", 50_000).await, "202 2027800");
    assert_eq!(refund(&shop, "F2", 70_000).await, "202 2027800");
    assert_eq!(history(&shop).await, ["F1 50000.00 03", "F2 70000.00 03"]);
    assert_eq!(refund(&shop, "F3", 30_001).await, "404 4047813");
    shop.wait_ms(MINUTE_MS);
    assert_eq!(history(&shop).await, ["F1 50000.00 00", "F2 70000.00 06", "F3 30001.00 06"]);
    assert_eq!(given_back(&shop), 50_000);
    assert_eq!(refund(&shop, "F4", 100_000).await, "200 2007800");
    assert_eq!(given_back(&shop), AMOUNT);
    let answer = shop.status("R1").await.1;
    assert!(answer["refundHistory"].is_null(), "51 has no member for refunds");
}

#[tokio::test]
async fn a_refund_that_was_done_is_not_told_for_a_while() {
    let shop = paid(Habits::GENERIC).await;
    shop.asked.fate_of_next(Fate { hidden_ms: MINUTE_MS, ..Fate::default() });
    shop.asked.fail_next_of(Service::QrRefund, Fault::LostAfter);
    assert!(shop.call(Service::QrRefund, &order(&shop, "F1", AMOUNT)).await.is_none());
    assert_eq!((history(&shop).await.len(), shop.status("R1").await.0.as_str()), (0, "00"));
    assert_eq!(refund(&shop, "F1", AMOUNT).await, "409 4097801", "the reference tells it all the same");
    shop.wait_ms(MINUTE_MS);
    assert_eq!((history(&shop).await.len(), shop.status("R1").await.0.as_str()), (1, "04"));
    assert_eq!(given_back(&shop), AMOUNT);
}

#[tokio::test]
async fn a_second_payment_of_a_code_can_be_given_back_too() {
    let shop = paid(Habits::GENERIC).await;
    let second = PayOrder { amount: Some(7_000), notice: NotifyHabit::Never, ..PayOrder::default() };
    shop.asked.pay_code("R1", second).await.unwrap();
    assert_eq!(refund(&shop, "F1", AMOUNT + 7_001).await, "404 4047813");
    assert_eq!(refund(&shop, "F1", AMOUNT + 7_000).await, "200 2007800");
    assert_eq!(given_back(&shop), AMOUNT + 7_000);
}
