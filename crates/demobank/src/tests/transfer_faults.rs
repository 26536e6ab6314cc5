//! The ways in which the bank fails while money leaves, and what becomes of the money.

use std::time::Duration;

use serde_json::json;

use super::{
    sender::{FAR, NEAR, SOURCE, Sender},
    shop::{CLIENT, read},
};
use crate::{AccountState, Fate, Fault, Habits, MoneyRules, Service, TransferState};

const AMOUNT: i64 = 150_000;
const MINUTE_MS: i64 = 60_000;

/// Sends while the bank fails: the code of the answer, and whether the money has left.
async fn failing(sender: &Sender, service: Service, reference: &str, fault: Fault) -> (Option<String>, bool) {
    let before = sender.sent();
    sender.shop.asked.fail_next_of(service, fault);
    let answer = sender.send(service, reference, AMOUNT).await;
    let code = answer.map(|(status, body)| format!("{status} {}", body["responseCode"].as_str().unwrap()));
    let left = sender.sent() - before;
    assert!(left == 0 || left == AMOUNT, "{left}");
    (code, left == AMOUNT)
}

#[tokio::test]
async fn each_fault_says_whether_the_money_has_left_and_36_tells_the_truth() {
    let sender = Sender::open(Habits::GENERIC).await;
    for (service, digits) in [(Service::Intrabank, "17"), (Service::Interbank, "18")] {
        let rows = [
            (Fault::Late(Duration::from_millis(5)), Some("200 200xx00"), true),
            (Fault::LostBefore, None, false),
            (Fault::LostAfter, None, true),
            (Fault::Status(202), Some("202 202xx00"), false),
            (Fault::StatusAfter(202), Some("202 202xx00"), true),
            (Fault::Status(429), Some("429 429xx00"), false),
            (Fault::Status(500), Some("500 500xx00"), false),
            (Fault::StatusAfter(500), Some("500 500xx00"), true),
            (Fault::Status(504), Some("504 504xx00"), false),
            (Fault::StatusAfter(504), Some("504 504xx00"), true),
            (Fault::Case(404, "18"), Some("404 404xx18"), false),
            (Fault::CaseAfter(404, "18"), Some("404 404xx18"), true),
            (Fault::Case(409, "01"), Some("409 409xx01"), false),
            (Fault::CaseAfter(409, "01"), Some("409 409xx01"), true),
            (Fault::Case(409, "00"), Some("409 409xx00"), false),
            (Fault::Case(403, "14"), Some("403 403xx14"), false),
            (Fault::Case(403, "06"), Some("403 403xx06"), false),
            (Fault::Case(403, "03"), Some("403 403xx03"), false),
            (Fault::Case(404, "02"), Some("404 404xx02"), false),
            (Fault::WrongStatus(500), Some("500 200xx00"), true),
            (Fault::WrongCode("2009900".into()), Some("200 2009900"), true),
            (Fault::Duplicate, Some("409 409xx00"), true),
            (Fault::BrokenJson, None, true),
            (Fault::TokenDies, Some("401 401xx01"), false),
        ];
        for (at, (fault, code, is_done)) in rows.into_iter().enumerate() {
            let reference = format!("{digits}-{at}");
            let expected = code.map(|code| code.replace("xx", digits));
            assert_eq!(failing(&sender, service, &reference, fault.clone()).await, (expected, is_done), "{fault:?}");
            sender.shop.forget_token().await;
            let told = if is_done { "00" } else { "4043601" };
            assert_eq!(sender.status(service, &reference).await, told, "{fault:?}");
        }
    }
}

#[tokio::test]
async fn an_order_that_is_held_goes_on_though_the_caller_hung_up() {
    let sender = Sender::open(Habits::GENERIC).await;
    sender.shop.asked.fail_next_of(Service::Intrabank, Fault::HeldBefore);
    let order = sender.order(Service::Intrabank, "T1", AMOUNT);
    {
        let request = sender.shop.request(&sender.shop.prepare(Service::Intrabank, &order)).await;
        let mut sending = Box::pin(request.send());
        tokio::select! {
            _ = &mut sending => panic!("the call is held"),
            () = sender.shop.asked.wait_held(1) => {}
        }
    }
    assert_eq!(sender.status(Service::Intrabank, "T1").await, "4043601");
    sender.shop.asked.release();
    while sender.shop.asked.transfer("T1").is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(sender.status(Service::Intrabank, "T1").await, "00");
    assert_eq!(sender.sent(), AMOUNT);
}

#[tokio::test]
async fn what_takes_a_while_holds_the_money_and_then_arrives_or_fails() {
    let sender = Sender::open(Habits::GENERIC).await;
    let bank = &sender.shop.asked;
    bank.fate_of_next(Fate { takes_ms: MINUTE_MS, ..Fate::default() });
    bank.fate_of_next(Fate { takes_ms: MINUTE_MS, fails: true, ..Fate::default() });
    for reference in ["T1", "T2"] {
        assert_eq!(sender.code(Service::Intrabank, reference, AMOUNT).await, "202 2021700");
        assert_eq!(sender.code(Service::Intrabank, reference, AMOUNT).await, "409 4091701");
        assert_eq!(sender.status(Service::Intrabank, reference).await, "03");
    }
    let source = bank.account(sender.home, SOURCE).unwrap();
    assert_eq!((source.held, source.available()), (2 * AMOUNT, source.balance - 2 * AMOUNT));
    assert_eq!(sender.sent(), 0);
    sender.shop.wait_ms(MINUTE_MS - 1);
    assert_eq!(sender.status(Service::Intrabank, "T1").await, "03");
    sender.shop.wait_ms(1);
    assert_eq!(sender.status(Service::Intrabank, "T1").await, "00");
    assert_eq!(sender.status(Service::Intrabank, "T2").await, "06");
    assert_eq!((sender.sent(), bank.account(sender.home, SOURCE).unwrap().held), (AMOUNT, 0));
    assert_eq!(bank.transfer("T1").unwrap().state, TransferState::Done);
}

#[tokio::test]
async fn what_is_held_cannot_be_sent_twice() {
    let sender = Sender::open(Habits::GENERIC).await;
    sender.shop.asked.fate_of_next(Fate { takes_ms: MINUTE_MS, ..Fate::default() });
    assert_eq!(sender.code(Service::Intrabank, "T1", 9_900_000).await, "202 2021700");
    assert_eq!(sender.code(Service::Intrabank, "T2", 100_001).await, "403 4031714");
    assert_eq!(sender.code(Service::Intrabank, "T3", 100_000).await, "200 2001700");
}

#[tokio::test]
async fn money_that_arrived_can_come_back_later() {
    for (habits, told) in [(Habits::GENERIC, "04"), (Habits::BCA, "00")] {
        let sender = Sender::open(habits).await;
        sender.shop.asked.fate_of_next(Fate { comes_back_ms: Some(MINUTE_MS), ..Fate::default() });
        sender.send(Service::Interbank, "T1", AMOUNT).await.unwrap();
        assert_eq!(sender.status(Service::Interbank, "T1").await, "00");
        assert_eq!(sender.sent(), AMOUNT);
        sender.shop.wait_ms(MINUTE_MS);
        assert_eq!(sender.sent(), 0);
        assert_eq!(sender.status(Service::Interbank, "T1").await, told, "BCA has no status for it");
        assert_eq!(sender.shop.asked.transfer("T1").unwrap().state, TransferState::Returned);
        let lines = sender.shop.asked.lines(sender.home, SOURCE);
        let amounts: Vec<i64> = lines.iter().map(|line| line.amount).collect();
        assert_eq!(amounts, [10_000_000, -AMOUNT, AMOUNT], "the statement has both");
        assert!(lines[2].remark.starts_with("RETURNED TRSF REFUND 17"), "{}", lines[2].remark);
        assert_eq!(lines[1].bank_reference, lines[2].bank_reference);
    }
}

#[tokio::test]
async fn a_transfer_that_was_done_is_not_found_for_a_while() {
    let sender = Sender::open(Habits::GENERIC).await;
    let bank = &sender.shop.asked;
    bank.fate_of_next(Fate { hidden_ms: MINUTE_MS, ..Fate::default() });
    bank.fail_next_of(Service::Intrabank, Fault::LostAfter);
    assert!(sender.send(Service::Intrabank, "T1", AMOUNT).await.is_none());
    assert_eq!(sender.status(Service::Intrabank, "T1").await, "4043601");
    assert_eq!(sender.sent(), AMOUNT);
    assert_eq!(bank.lines(sender.home, SOURCE).len(), 2, "the statement has it at once");
    sender.shop.wait_ms(MINUTE_MS);
    assert_eq!(sender.status(Service::Intrabank, "T1").await, "00");
    bank.set_money_rules(CLIENT, MoneyRules { hidden_ms: 2 * MINUTE_MS, ..MoneyRules::default() });
    sender.send(Service::Intrabank, "T2", AMOUNT).await.unwrap();
    sender.shop.wait_ms(MINUTE_MS);
    assert_eq!(sender.status(Service::Intrabank, "T2").await, "4043601");
    sender.shop.wait_ms(MINUTE_MS);
    assert_eq!(sender.status(Service::Intrabank, "T2").await, "00");
}

#[tokio::test]
async fn a_question_can_be_lied_to_and_one_about_another_service_or_an_old_day_finds_nothing() {
    let sender = Sender::open(Habits::GENERIC).await;
    sender.send(Service::Intrabank, "T1", AMOUNT).await.unwrap();
    sender.shop.asked.fail_next_of(Service::TransferStatus, Fault::Says("07"));
    assert_eq!(sender.status(Service::Intrabank, "T1").await, "07");
    assert_eq!(sender.status(Service::Interbank, "T1").await, "4043601");
    let nameless = json!({ "serviceCode": "17" });
    assert_eq!(sender.shop.code(Service::TransferStatus, &nameless).await, "400 4003602");
    let by_bank = sender.shop.asked.transfer("T1").unwrap().bank_reference;
    let by_bank = json!({ "serviceCode": "17", "originalReferenceNo": by_bank });
    assert_eq!(sender.shop.code(Service::TransferStatus, &by_bank).await, "200 2003600");
    sender.shop.wait_ms(367 * 24 * 60 * MINUTE_MS);
    sender.shop.forget_token().await;
    assert_eq!(sender.status(Service::Intrabank, "T1").await, "4043601");
}

#[tokio::test]
async fn a_transfer_fails_if_its_account_is_closed_on_the_way() {
    let sender = Sender::open(Habits::GENERIC).await;
    let bank = &sender.shop.asked;
    bank.fate_of_next(Fate { takes_ms: MINUTE_MS, ..Fate::default() });
    sender.send(Service::Interbank, "T1", AMOUNT).await.unwrap();
    bank.set_account_state(sender.other, FAR, AccountState::Closed).unwrap();
    sender.shop.wait_ms(MINUTE_MS);
    assert_eq!(sender.status(Service::Interbank, "T1").await, "06");
    assert_eq!((sender.sent(), bank.account(sender.home, SOURCE).unwrap().held), (0, 0));
}

#[tokio::test]
async fn people_end_what_is_pending_and_send_back_what_arrived() {
    let sender = Sender::open(Habits::GENERIC).await;
    let bank = &sender.shop.asked;
    for reference in ["T1", "T2"] {
        bank.fate_of_next(Fate { takes_ms: i64::MAX, ..Fate::default() });
        sender.send(Service::Intrabank, reference, AMOUNT).await.unwrap();
    }
    bank.end_transfer("T1", TransferState::Done).unwrap();
    bank.end_transfer("T2", TransferState::Failed).unwrap();
    assert_eq!((sender.sent(), sender.has(sender.home, NEAR)), (AMOUNT, AMOUNT));
    bank.end_transfer("T1", TransferState::Returned).unwrap();
    assert_eq!(sender.sent(), 0);
    for (reference, state) in [
        ("T1", TransferState::Returned),
        ("T1", TransferState::Done),
        ("T2", TransferState::Done),
        ("T2", TransferState::Pending),
        ("T9", TransferState::Done),
    ] {
        assert!(bank.end_transfer(reference, state).is_err(), "{reference} {state:?}");
    }
    assert_eq!((sender.sent(), bank.account(sender.home, SOURCE).unwrap().held), (0, 0));
}

#[tokio::test]
async fn milliseconds_in_the_timestamp_are_taken_by_every_bank() {
    for habits in Habits::ALL {
        let sender = Sender::open(habits).await;
        let order = sender.order(Service::Intrabank, "T1", AMOUNT);
        let mut signed = sender.shop.prepare(Service::Intrabank, &order);
        signed.timestamp = crate::time::text(sender.shop.now_ms(), true);
        let request = sender.shop.request(&signed).await;
        let (status, body) = read(request).await.unwrap();
        assert_eq!((status, &body["responseCode"]), (200, &json!("2001700")), "{}", sender.shop.habits.profile);
        assert_eq!(sender.sent(), AMOUNT);
    }
}
