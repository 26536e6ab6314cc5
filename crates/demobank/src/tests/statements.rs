//! 14: statements of a merchant's account.

use serde_json::{Value, json};

use super::{
    sender::{NEAR, SOURCE, Sender},
    shop::CLIENT,
};
use crate::{Habits, MoneyRules, Service};

const DAY_MS: i64 = 24 * 3_600_000;

fn between(sender: &Sender, from_ms: i64, to_ms: i64) -> Value {
    let text = |at_ms: i64| crate::time::text(at_ms, sender.shop.habits.milliseconds);
    json!({ "partnerReferenceNo": "S1", "accountNo": SOURCE, "fromDateTime": text(from_ms), "toDateTime": text(to_ms) })
}

async fn statement(sender: &Sender, question: &Value) -> Value {
    let (status, body) = sender.shop.call(Service::Statement, question).await.unwrap();
    assert_eq!((status, &body["responseCode"]), (200, &json!("2001400")), "{body}");
    body
}

fn amounts(body: &Value) -> Vec<String> {
    let line =
        |line: &Value| format!("{} {}", line["type"].as_str().unwrap(), line["amount"]["value"].as_str().unwrap());
    body["detailData"].as_array().unwrap().iter().map(line).collect()
}

#[tokio::test]
async fn a_statement_has_lines_in_and_out_the_newest_first_and_balances_that_add_up() {
    let sender = Sender::open(Habits::GENERIC).await;
    let began_ms = sender.shop.now_ms();
    sender.shop.wait_ms(10_000);
    sender.send(Service::Intrabank, "T1", 100_000).await.unwrap();
    sender.shop.wait_ms(10_000);
    sender.shop.asked.deposit(sender.home, SOURCE, 7_000, "TOP UP").unwrap();
    let body = statement(&sender, &between(&sender, began_ms, sender.shop.now_ms())).await;
    assert_eq!(amounts(&body), ["CREDIT 7000.00", "DEBIT 100000.00", "CREDIT 10000000.00"]);
    let sent = &body["detailData"][1];
    assert_eq!(sent["remark"], "TRSF REFUND 17 SITI AMINAH");
    assert_eq!(sent["transactionDate"], "2026-01-15T10:20:40+07:00");
    assert_eq!(sent["transactionId"], sender.shop.asked.transfer("T1").unwrap().bank_reference);
    assert_eq!(sent["detailBalance"]["endAmount"][0]["amount"]["value"], "9900000.00");
    let balance = |body: &Value, name: &str| body["balance"][0][name]["value"].as_str().unwrap().to_owned();
    assert_eq!(
        (balance(&body, "startingBalance"), balance(&body, "endingBalance")),
        ("0.00".into(), "9907000.00".into())
    );
    assert_eq!(
        body["totalDebitEntries"],
        json!({ "numberOfEntries": "1", "amount": { "value": "100000.00", "currency": "IDR" } })
    );
    assert_eq!(body["totalCreditEntries"]["amount"]["value"], "10007000.00");
    assert_eq!(body["hasMore"], "N");
    let middle = statement(&sender, &between(&sender, began_ms + 1_000, began_ms + 10_000)).await;
    assert_eq!(amounts(&middle), ["DEBIT 100000.00"]);
    assert_eq!(
        (balance(&middle, "startingBalance"), balance(&middle, "endingBalance")),
        ("10000000.00".into(), "9900000.00".into())
    );
    assert_eq!(amounts(&statement(&sender, &json!({ "accountNo": SOURCE })).await).len(), 3, "a month by itself");
}

#[tokio::test]
async fn pages_end_with_a_second_and_the_next_one_goes_on_before_it() {
    let sender = Sender::open(Habits::GENERIC).await;
    let bank = &sender.shop.asked;
    bank.set_money_rules(CLIENT, MoneyRules { statement_lines: 3, ..MoneyRules::default() });
    let began_ms = sender.shop.now_ms();
    for at in 1..=8 {
        // Two in each second.
        sender.shop.wait_ms(500);
        bank.deposit(sender.home, SOURCE, at, "IN").unwrap();
    }
    let (mut to_ms, mut seen, mut pages) = (sender.shop.now_ms(), Vec::new(), 0);
    loop {
        let body = statement(&sender, &between(&sender, began_ms, to_ms)).await;
        seen.extend(amounts(&body));
        pages += 1;
        if body["hasMore"] == "N" {
            break;
        }
        to_ms = crate::time::parse(body["lastRecordDateTime"].as_str().unwrap()).unwrap() - 1_000;
    }
    let all: Vec<String> =
        (1..=8).rev().map(|at| format!("CREDIT {at}.00")).chain(["CREDIT 10000000.00".into()]).collect();
    assert_eq!(seen, all);
    assert!((2..=4).contains(&pages), "{pages}");
}

#[tokio::test]
async fn a_page_with_a_number_has_its_lines_alone() {
    let sender = Sender::open(Habits::GENERIC).await;
    let began_ms = sender.shop.now_ms();
    for at in 1..=4 {
        sender.shop.asked.deposit(sender.home, SOURCE, at, "IN").unwrap();
    }
    let question = |size: &str, number: &str| {
        let mut question = between(&sender, began_ms, sender.shop.now_ms());
        (question["pageSize"], question["pageNumber"]) = (size.into(), number.into());
        question
    };
    for (number, expected, more) in [
        ("1", vec!["CREDIT 4.00", "CREDIT 3.00"], "Y"),
        ("2", vec!["CREDIT 2.00", "CREDIT 1.00"], "Y"),
        ("3", vec!["CREDIT 10000000.00"], "N"),
        ("4", vec![], "N"),
    ] {
        let body = statement(&sender, &question("2", number)).await;
        assert_eq!(
            (amounts(&body), &body["hasMore"]),
            (expected.iter().map(ToString::to_string).collect(), &json!(more))
        );
    }
    for (size, number, code) in [("0", "1", "400 4001401"), ("2", "x", "400 4001401"), ("2", "", "400 4001402")] {
        assert_eq!(sender.shop.code(Service::Statement, &question(size, number)).await, code, "{size} {number}");
    }
}

#[tokio::test]
async fn a_statement_is_of_a_month_at_most_and_of_the_last_year_and_of_the_owners_account() {
    let sender = Sender::open(Habits::GENERIC).await;
    let now_ms = sender.shop.now_ms();
    let code = async |question: &Value| sender.shop.code(Service::Statement, question).await;
    assert_eq!(code(&between(&sender, now_ms - 31 * DAY_MS, now_ms)).await, "200 2001400");
    assert_eq!(code(&between(&sender, now_ms - 32 * DAY_MS, now_ms)).await, "400 4001401");
    assert_eq!(code(&between(&sender, now_ms, now_ms - 1_000)).await, "400 4001401");
    assert_eq!(code(&between(&sender, now_ms - 366 * DAY_MS, now_ms - 340 * DAY_MS)).await, "200 2001400");
    assert_eq!(code(&between(&sender, now_ms - 367 * DAY_MS, now_ms - 340 * DAY_MS)).await, "400 4001401");
    let mut unreadable = between(&sender, now_ms, now_ms);
    unreadable["fromDateTime"] = "today".into();
    assert_eq!(code(&unreadable).await, "400 4001401");
    for (number, expected) in [(NEAR, "404 4041411"), ("x", "400 4001401"), ("", "400 4001402")] {
        let mut question = between(&sender, now_ms, now_ms);
        question["accountNo"] = number.into();
        assert_eq!(code(&question).await, expected, "{number}");
    }
}

#[tokio::test]
async fn bca_tells_of_whole_days_alone() {
    let sender = Sender::open(Habits::BCA).await;
    sender.send(Service::Intrabank, "T1", 100_000).await.unwrap();
    // From 10:20:30 back to midnight in Jakarta.
    let midnight_ms = sender.shop.now_ms() - (10 * 3600 + 20 * 60 + 30) * 1000;
    let body = statement(&sender, &between(&sender, midnight_ms, midnight_ms)).await;
    assert_eq!(amounts(&body), ["DEBIT 100000.00", "CREDIT 10000000.00"]);
    let yesterday = statement(&sender, &between(&sender, midnight_ms - DAY_MS, midnight_ms - DAY_MS)).await;
    assert_eq!((amounts(&yesterday).len(), &yesterday["balance"][0]["endingBalance"]["value"]), (0, &json!("0.00")));
    for (question, expected) in [
        (between(&sender, midnight_ms, sender.shop.now_ms()), "400 4001401"),
        (between(&sender, midnight_ms + 1_000, midnight_ms + DAY_MS), "400 4001401"),
        (json!({ "accountNo": SOURCE }), "400 4001402"),
    ] {
        assert_eq!(sender.shop.code(Service::Statement, &question).await, expected, "{question}");
    }
}

#[tokio::test]
async fn a_remark_is_told_in_lines_where_the_bank_has_lines() {
    let sender = Sender::open(Habits::GENERIC).await;
    let began_ms = sender.shop.now_ms();
    sender.shop.asked.deposit(sender.home, SOURCE, 1, "ABCDEFGH").unwrap();
    for (remark_line, expected) in [(usize::MAX, ["ABCDEFGH", "", ""]), (3, ["ABC", "DEF", "GH"])] {
        sender.shop.asked.set_money_rules(CLIENT, MoneyRules { remark_line, ..MoneyRules::default() });
        let body = statement(&sender, &between(&sender, began_ms, sender.shop.now_ms())).await;
        let line = &body["detailData"][0];
        let told = ["remark", "remark2", "remark3"].map(|name| line[name].as_str().unwrap_or_default());
        assert_eq!(told, expected, "{line}");
    }
}
