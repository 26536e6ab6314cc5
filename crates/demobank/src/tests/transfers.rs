//! Orders to send money: what is carried out, and what is refused with which code.

use serde_json::{Value, json};

use super::{
    sender::{FAR, NEAR, SOURCE, Sender},
    shop::{CLIENT, received_notices},
};
use crate::{AccountState, Fate, Habits, Knobs, MoneyRules, NewAccount, Service, TransferState};

const AMOUNT: i64 = 150_000;

#[tokio::test]
async fn every_bank_sends_money_within_itself_and_to_another_bank_and_tells_of_it() {
    for habits in Habits::ALL {
        let sender = Sender::open(habits).await;
        let profile = sender.shop.habits.profile;
        for (at, service) in [Service::Intrabank, Service::Interbank].into_iter().enumerate() {
            let reference = format!("T{at}");
            let (status, body) = sender.send(service, &reference, AMOUNT).await.unwrap();
            let code = format!("200{}00", service.digits());
            assert_eq!((status, &body["responseCode"]), (200, &json!(code)), "{profile}: {body}");
            assert_eq!(body["partnerReferenceNo"], reference);
            assert_eq!(body["amount"]["value"], "150000.00");
            assert!(body["referenceNo"].as_str().unwrap().len() > 20);
            let (_, told) = sender.ask(service, &reference).await;
            assert_eq!(told["latestTransactionStatus"], "00", "{profile}: {told}");
            assert_eq!(told["originalReferenceNo"], body["referenceNo"]);
            assert_eq!((&told["amount"]["value"], &told["sourceAccountNo"]), (&json!("150000.00"), &json!(SOURCE)));
            assert_eq!(told["previousResponseCode"], code);
        }
        assert_eq!(sender.sent(), 2 * AMOUNT, "{profile}");
        assert_eq!((sender.has(sender.home, NEAR), sender.has(sender.other, FAR)), (AMOUNT, AMOUNT));
    }
}

#[tokio::test]
async fn a_reference_is_carried_out_once_and_other_content_is_told_apart() {
    let sender = Sender::open(Habits::GENERIC).await;
    for (at, service) in [Service::Intrabank, Service::Interbank, Service::Skn].into_iter().enumerate() {
        let (reference, digits) = (format!("T{at}"), service.digits());
        assert_eq!(sender.code(service, &reference, AMOUNT).await, format!("200 200{digits}00"));
        assert_eq!(sender.code(service, &reference, AMOUNT).await, format!("409 409{digits}01"));
        assert_eq!(sender.code(service, &reference, AMOUNT + 1).await, format!("404 404{digits}18"));
        let mut elsewhere = sender.order(service, &reference, AMOUNT);
        elsewhere["beneficiaryAccountNo"] = "111".into();
        assert_eq!(sender.shop.code(service, &elsewhere).await, format!("404 404{digits}18"));
    }
    let other_service = sender.code(Service::Interbank, "T0", AMOUNT).await;
    assert_eq!(other_service, "404 4041818", "a reference is shared by all ways to send");
    sender.shop.wait_ms(60_000);
    assert_eq!(sender.sent(), 3 * AMOUNT);
    assert_eq!(sender.shop.asked.transfers().len(), 3);
}

#[tokio::test]
async fn dana_answers_the_same_order_again_as_the_first_time() {
    let sender = Sender::open(Habits::DANA).await;
    let first = sender.send(Service::TransferBank, "T1", AMOUNT).await.unwrap();
    assert_eq!((first.0, &first.1["responseCode"]), (200, &json!("2004300")));
    assert_eq!(sender.send(Service::TransferBank, "T1", AMOUNT).await.unwrap(), first);
    assert_eq!(sender.code(Service::TransferBank, "T1", AMOUNT + 1).await, "404 4044318");
    assert_eq!(sender.sent(), AMOUNT);
    assert_eq!(sender.has(sender.other, FAR), AMOUNT);
}

#[tokio::test]
async fn a_refused_reference_may_be_used_again() {
    let sender = Sender::open(Habits::GENERIC).await;
    let rules = MoneyRules { is_cut_off: true, ..MoneyRules::default() };
    sender.shop.asked.set_money_rules(CLIENT, rules);
    assert_eq!(sender.code(Service::Intrabank, "T1", AMOUNT).await, "403 4031706");
    assert_eq!(sender.status(Service::Intrabank, "T1").await, "06");
    sender.shop.asked.set_money_rules(CLIENT, MoneyRules::default());
    assert_eq!(sender.code(Service::Intrabank, "T1", AMOUNT).await, "200 2001700");
    assert_eq!(sender.status(Service::Intrabank, "T1").await, "00");
    assert_eq!(sender.sent(), AMOUNT);
}

#[tokio::test]
async fn an_external_id_is_used_once_a_day() {
    let sender = Sender::open(Habits::GENERIC).await;
    let first = sender.shop.prepare(Service::Intrabank, &sender.order(Service::Intrabank, "T1", AMOUNT));
    let mut second = sender.shop.prepare(Service::Intrabank, &sender.order(Service::Intrabank, "T2", AMOUNT));
    second.external_id.clone_from(&first.external_id);
    for (signed, code) in [(first, "2001700"), (second, "4091700")] {
        let request = sender.shop.request(&signed).await;
        assert_eq!(super::shop::read(request).await.unwrap().1["responseCode"], code);
    }
    assert_eq!(sender.sent(), AMOUNT);
}

#[tokio::test]
async fn what_an_account_or_the_bank_does_not_allow_gets_its_code_and_moves_nothing() {
    let sender = Sender::open(Habits::GENERIC).await;
    let bank = &sender.shop.asked;
    let with = |name: &str, value: Value| {
        let mut order = sender.order(Service::Interbank, "T1", AMOUNT);
        order[name] = value;
        order
    };
    let amount = |rupiah: i64| with("amount", json!({ "value": format!("{rupiah}.00"), "currency": "IDR" }));
    let (number, owner) = ("77".to_owned(), Some("somebody".to_owned()));
    bank.open_account(NewAccount { bank: "022".into(), number, name: "X".into(), owner, balance: AMOUNT });
    for (order, expected) in [
        (amount(10_000_001), "403 4031814"),
        (amount(250_000_001), "403 4031802"),
        (with("beneficiaryAccountNo", "000".into()), "404 4041811"),
        (with("beneficiaryBankCode", "999".into()), "404 4041803"),
        (with("beneficiaryBankCode", "022".into()), "404 4041802"),
        (with("sourceAccountNo", "77".into()), "403 4031801"),
        (with("sourceAccountNo", "78".into()), "403 4031801"),
        (with("sourceAccountNo", NEAR.into()), "403 4031801"),
    ] {
        assert_eq!(sender.shop.code(Service::Interbank, &order).await, expected, "{order}");
    }
    for (state, case) in [(AccountState::Closed, "18"), (AccountState::Dormant, "09"), (AccountState::Blocked, "05")] {
        for (bank_code, number) in [(sender.other, FAR), (sender.home, SOURCE)] {
            bank.set_account_state(bank_code, number, state).unwrap();
            assert_eq!(sender.code(Service::Interbank, "T1", AMOUNT).await, format!("403 40318{case}"));
            bank.set_account_state(bank_code, number, AccountState::Open).unwrap();
        }
    }
    assert_eq!(sender.sent(), 0);
    assert!(bank.transfers().iter().all(|transfer| transfer.state == TransferState::Refused));
}

#[tokio::test]
async fn limits_and_the_cut_off_of_a_merchant_hold_until_they_are_lifted() {
    let sender = Sender::open(Habits::GENERIC).await;
    let rules = |rules: MoneyRules| sender.shop.asked.set_money_rules(CLIENT, rules);
    let code = async |reference: &str, amount: i64| sender.code(Service::Intrabank, reference, amount).await;
    rules(MoneyRules { amounts: (1_000, 200_000), ..MoneyRules::default() });
    assert_eq!(code("T1", 999).await, "403 4031702");
    assert_eq!(code("T1", 200_001).await, "403 4031702");
    assert_eq!(code("T1", 200_000).await, "200 2001700");
    rules(MoneyRules { day_most: 300_000, ..MoneyRules::default() });
    assert_eq!(code("T2", 100_001).await, "403 4031723");
    assert_eq!(code("T2", 100_000).await, "200 2001700");
    rules(MoneyRules { day_count_most: 2, ..MoneyRules::default() });
    assert_eq!(code("T3", 1).await, "403 4031704");
    // The next day in Jakarta.
    sender.shop.wait_ms(24 * 3_600_000);
    sender.shop.forget_token().await;
    assert_eq!(code("T3", 1).await, "200 2001700");
    rules(MoneyRules { is_cut_off: true, ..MoneyRules::default() });
    assert_eq!(code("T4", 1).await, "403 4031706");
    rules(MoneyRules::default());
    assert_eq!(code("T4", 1).await, "200 2001700");
    assert_eq!(sender.sent(), 300_002);
}

#[tokio::test]
async fn each_mandatory_member_is_missed_by_name() {
    let sender = Sender::open(Habits::GENERIC).await;
    let common = ["partnerReferenceNo", "amount.value", "amount.currency"];
    let account = ["beneficiaryAccountNo", "sourceAccountNo", "transactionDate"];
    let bank = ["beneficiaryAccountName", "beneficiaryBankCode"];
    let clearing = ["beneficiaryCustomerResidence", "beneficiaryCustomerType"];
    let emoney = ["customerNumber", "beneficiaryAccountNumber", "beneficiaryBankCode"];
    for (service, names) in [
        (Service::Intrabank, [&common[..], &account].concat()),
        (Service::Interbank, [&common[..], &account, &bank].concat()),
        (Service::Rtgs, [&common[..], &account, &bank, &clearing].concat()),
        (Service::Skn, [&common[..], &account, &bank, &clearing].concat()),
        (Service::TransferBank, [&common[..], &emoney].concat()),
    ] {
        for name in names {
            let mut order = sender.order(service, "T1", AMOUNT);
            match name.split_once('.') {
                Some((outer, inner)) => order[outer][inner] = Value::Null,
                None => order[name] = Value::Null,
            }
            let (status, body) = sender.shop.call(service, &order).await.unwrap();
            let message = format!("Invalid Mandatory Field {{{name}}}");
            assert_eq!((status, &body["responseMessage"]), (400, &json!(message)), "{service:?}");
            assert_eq!(body["responseCode"], format!("400{}02", service.digits()));
        }
    }
    assert!(sender.shop.asked.transfers().is_empty());
}

#[tokio::test]
async fn what_is_malformed_gets_its_code_and_leaves_nothing() {
    let sender = Sender::open(Habits::GENERIC).await;
    for (name, value) in [
        ("beneficiaryAccountNo", json!("12AB")),
        ("beneficiaryAccountNo", json!("1".repeat(40))),
        ("sourceAccountNo", json!("-1")),
        ("beneficiaryBankCode", json!("14")),
        ("beneficiaryBankCode", json!(14)),
        ("partnerReferenceNo", json!("x".repeat(65))),
        ("transactionDate", json!("yesterday")),
        ("feeType", json!("THEM")),
        ("remark", json!("x".repeat(51))),
        ("amount", json!({ "value": "0.00", "currency": "IDR" })),
        ("amount", json!({ "value": "-1.00", "currency": "IDR" })),
        ("amount", json!({ "value": "1.50", "currency": "IDR" })),
        ("amount", json!({ "value": "1.00", "currency": "USD" })),
        ("amount", json!({ "value": 1, "currency": "IDR" })),
    ] {
        let mut order = sender.order(Service::Interbank, "T1", AMOUNT);
        order[name] = value;
        assert_eq!(sender.shop.code(Service::Interbank, &order).await, "400 4001801", "{order}");
    }
    for fee_type in ["OUR", "BEN", "SHA", "SHA|1000", "1000"] {
        let mut order = sender.order(Service::Interbank, fee_type, AMOUNT);
        order["feeType"] = fee_type.into();
        assert_eq!(sender.shop.code(Service::Interbank, &order).await, "200 2001800", "{fee_type}");
    }
    assert_eq!(sender.sent(), 5 * AMOUNT);
}

#[tokio::test]
async fn large_and_slow_ways_have_their_amounts_and_take_a_while() {
    let sender = Sender::open(Habits::GENERIC).await;
    let (bank, home) = (&sender.shop.asked, sender.home);
    bank.deposit(home, SOURCE, 2_000_000_000, "TOP UP").unwrap();
    assert_eq!(sender.code(Service::Rtgs, "T1", 100_000_000).await, "403 4032202");
    assert_eq!(sender.code(Service::Skn, "T2", 1_000_000_001).await, "403 4032302");
    for (service, reference, amount) in [(Service::Rtgs, "T1", 100_000_001), (Service::Skn, "T2", AMOUNT)] {
        let (status, body) = sender.send(service, reference, amount).await.unwrap();
        assert_eq!((status, &body["transactionStatus"]), (200, &json!("03")), "{body}");
        assert_eq!(sender.status(service, reference).await, "03");
    }
    let source = bank.account(home, SOURCE).unwrap();
    assert_eq!((source.held, source.balance - source.available()), (100_150_001, 100_150_001));
    assert_eq!(sender.has(sender.other, FAR), 0);
    sender.shop.wait_ms(60_000);
    for (service, reference) in [(Service::Rtgs, "T1"), (Service::Skn, "T2")] {
        assert_eq!(sender.status(service, reference).await, "00");
    }
    assert_eq!((sender.has(sender.other, FAR), bank.account(home, SOURCE).unwrap().held), (100_150_001, 0));
    bank.withdraw(home, SOURCE, 1_000_000, "CASH").unwrap();
    assert!(bank.withdraw(home, SOURCE, i64::MAX, "CASH").is_err());
    assert_eq!(bank.books_total(), 0);
}

#[tokio::test]
async fn merchants_are_told_once_what_became_of_transfers_through_the_clearing() {
    let sender = Sender::open(Habits::GENERIC).await;
    let bank = &sender.shop.asked;
    let rules = MoneyRules { clearing_returns_ms: Some(600_000), ..MoneyRules::default() };
    bank.set_money_rules(CLIENT, rules);
    bank.fate_of_next(Fate { fails: true, ..Fate::default() });
    assert_eq!(sender.code(Service::Skn, "T1", AMOUNT).await, "200 2002300");
    assert_eq!(sender.code(Service::Skn, "T2", AMOUNT).await, "200 2002300");
    assert_eq!(sender.code(Service::Interbank, "T3", AMOUNT).await, "200 2001800");
    assert!(bank.tell_transfers(Knobs::default()).await.is_empty(), "they are in the clearing");
    sender.shop.wait_ms(60_000);
    received_notices(&sender.shop);
    bank.tell_transfers(Knobs::default()).await;
    let mut notices = received_notices(&sender.shop);
    let told = |(path, body): &(String, Value)| {
        assert!(path.ends_with("/v1.0/transfer-skn/notify"), "{path}");
        let text = |name: &str| body[name].as_str().unwrap().to_owned();
        format!("{} {}", text("originalPartnerReferenceNo"), text("latestTransactionStatus"))
    };
    // Both were over at the same time.
    notices.sort_by_key(told);
    assert_eq!(notices.iter().map(told).collect::<Vec<_>>(), ["T1 06", "T2 00"]);
    let (_, body) = &notices[1];
    assert_eq!((&body["amount"]["value"], &body["beneficiaryAccountNo"]), (&json!("150000.00"), &json!(FAR)));
    assert_eq!((&body["sourceAccountNo"], &body["beneficiaryBankCode"]), (&json!(SOURCE), &json!(sender.other)));
    assert_eq!(body["originalReferenceNo"], bank.transfer("T2").unwrap().bank_reference);
    assert!(bank.tell_transfers(Knobs::default()).await.is_empty(), "once");
    sender.shop.wait_ms(600_000);
    assert_eq!(bank.tell_transfers(Knobs::default()).await.len(), 1);
    assert_eq!(received_notices(&sender.shop).iter().map(told).collect::<Vec<_>>(), ["T2 04"]);
    assert_eq!((bank.transfer("T2").unwrap().state, sender.sent()), (TransferState::Returned, AMOUNT));
}
