//! What a statement and a balance say.

use std::collections::HashSet;

use domain::{money::Rupiah, time::Timestamp};
use serde_json::{Value, json};

use super::{
    orders::SOURCE,
    support::{Account, Bank, PATIENT, REFERENCE, answer, body},
};
use crate::snap::{
    CallError, OnStatement, Statement, StatementAsked, StatementLine, StatementPage, StatementPart, StatementRest,
};

/// The 15th and the 16th of January 2026 in Jakarta.
const DAYS: StatementAsked = StatementAsked { first_day: 20_468, last_day: 20_469, part: StatementPart::Begin };

/// The page that an account of BCA reads.
async fn page(told: &Value) -> Result<StatementPage, CallError> {
    read(&[], StatementPart::Begin, told).await.0
}

/// What is read of an answer by an account with these settings, and what the bank was asked.
async fn read(
    settings: &[(&str, &str)],
    part: StatementPart,
    told: &Value,
) -> (Result<StatementPage, CallError>, Value) {
    let bank = Bank::start(vec![answer("200 OK", &told.to_string())]).await;
    let account = Account::with(&bank.url, "bca", PATIENT, &[&[SOURCE], settings].concat());
    let found = account.client.statement_page(&account.context(), &StatementAsked { part, ..DAYS }).await;
    (found, body(&bank.calls()[0]))
}

fn find_order(lines: Vec<StatementLine>) -> Option<OnStatement> {
    let mut statement = Statement::default();
    statement.add(StatementPage { lines, rest: StatementRest::None, entries: None });
    statement.find(REFERENCE, Rupiah::new(50_000), &HashSet::new())
}

fn at(second: u32) -> Timestamp {
    Timestamp::parse(&format!("2026-01-15T10:00:{second:02}+07:00")).unwrap()
}

/// Movements of these seconds, as a bank tells them.
fn lines(seconds: &[u32]) -> Value {
    let line = |second: &u32| {
        let date = format!("2026-01-15T10:00:{second:02}+07:00");
        json!({ "type": "DEBIT", "amount": { "value": "1.00" }, "transactionDate": date })
    };
    seconds.iter().map(line).collect::<Vec<_>>().into()
}

#[tokio::test]
async fn a_statement_is_asked_for_by_whole_days() {
    let (found, asked) = read(&[], StatementPart::Begin, &json!({ "detailData": [] })).await;
    assert_eq!(found, Ok(StatementPage { lines: Vec::new(), rest: StatementRest::None, entries: None }));
    let expected = json!({
        "accountNo": "0098765432", "fromDateTime": "2026-01-15T00:00:00+07:00", "toDateTime": "2026-01-17T00:00:00+07:00",
    });
    assert_eq!(asked, expected);
}

#[tokio::test]
async fn the_next_page_is_asked_for_where_the_one_before_it_ended() {
    let last_record = ("statement_pages", "last_record");
    let told = |seconds: &[u32], last: &str| json!({ "detailData": lines(seconds), "hasMore": "Y", "lastRecordDateTime": last });
    let time = |second: u32| format!("2026-01-15T10:00:{second:02}+07:00");
    let (begin, rest) = (StatementPart::Begin, StatementRest::At);
    for (part, answered, expected) in [
        // The newest first, the oldest first, and without the member.
        (begin, told(&[30, 20, 10], &time(10)), rest(StatementPart::Until(at(10)))),
        (begin, told(&[10, 20, 30], &time(30)), rest(StatementPart::From(at(30)))),
        (begin, told(&[30, 20], ""), rest(StatementPart::Until(at(20)))),
        (StatementPart::Until(at(10)), told(&[10, 5], &time(5)), rest(StatementPart::Until(at(5)))),
        (StatementPart::From(at(30)), told(&[30, 40], &time(40)), rest(StatementPart::From(at(40)))),
        // Nothing says where it goes on, or it would not go on.
        (begin, told(&[10, 10], &time(10)), StatementRest::Unreachable),
        (begin, told(&[10, 30, 20], ""), StatementRest::Unreachable),
        (begin, told(&[], ""), StatementRest::Unreachable),
        (StatementPart::Until(at(10)), told(&[10, 10], &time(10)), StatementRest::Unreachable),
        (StatementPart::From(at(30)), told(&[30], &time(30)), StatementRest::Unreachable),
    ] {
        let (page, _) = read(&[last_record], part, &answered).await;
        assert_eq!(page.unwrap().rest, expected, "{part:?} {answered}");
    }
    let (_, asked) = read(&[last_record], StatementPart::Until(at(10)), &told(&[], "")).await;
    assert_eq!((&asked["fromDateTime"], &asked["toDateTime"]), (&json!("2026-01-15T00:00:00+07:00"), &json!(time(10))));
    let (_, asked) = read(&[last_record], StatementPart::From(at(30)), &told(&[], "")).await;
    assert_eq!((&asked["fromDateTime"], &asked["toDateTime"]), (&json!(time(30)), &json!("2026-01-17T00:00:00+07:00")));
}

#[tokio::test]
async fn pages_with_numbers_are_asked_for_until_one_is_not_full() {
    let numbers = ("statement_pages", "numbers:2");
    let next = |number: u32| StatementRest::At(StatementPart::Number(number));
    for (part, told, expected) in [
        (StatementPart::Begin, json!({ "detailData": lines(&[1, 2]) }), next(2)),
        (StatementPart::Number(2), json!({ "detailData": lines(&[3]) }), StatementRest::None),
        (StatementPart::Number(2), json!({ "detailData": lines(&[3]), "hasMore": true }), next(3)),
        (StatementPart::Number(2), json!({ "detailData": lines(&[3, 4]), "hasMore": "N" }), StatementRest::None),
        (StatementPart::Number(3), json!({ "detailData": [], "hasMore": "Y" }), StatementRest::Unreachable),
    ] {
        let (page, asked) = read(&[numbers], part, &told).await;
        assert_eq!(page.unwrap().rest, expected, "{part:?} {told}");
        let number = if let StatementPart::Number(number) = part { number } else { 1 };
        assert_eq!((&asked["pageSize"], &asked["pageNumber"]), (&json!("2"), &json!(number.to_string())));
    }
}

#[tokio::test]
async fn a_statement_that_may_go_on_is_not_read_to_its_end() {
    let long: Vec<u32> = (0..100).map(|second| second % 60).collect();
    for (told, expected) in [
        (json!({ "detailData": lines(&[1]) }), StatementRest::None),
        (json!({ "detailData": lines(&[1]), "hasMore": "Y" }), StatementRest::Unreachable),
        (json!({ "detailData": lines(&long) }), StatementRest::Unreachable),
        (json!({ "detailData": lines(&long), "hasMore": "N" }), StatementRest::None),
    ] {
        assert_eq!(page(&told).await.unwrap().rest, expected);
    }
    let entries = |count: &str| json!({ "numberOfEntries": count, "amount": { "value": "1.00" } });
    let told = json!({
        "detailData": lines(&[1]), "totalCreditEntries": entries("1"), "totalDebitEntries": entries("2"),
    });
    assert_eq!(page(&told).await.unwrap().entries, Some(3));
    // There is nothing in the middle of a statement, and so it has no end.
    for (part, rest) in
        [(StatementPart::Begin, StatementRest::None), (StatementPart::Number(2), StatementRest::Unreachable)]
    {
        let bank = Bank::start(vec![answer("404 Not Found", r#"{"responseCode":"4041401"}"#)]).await;
        let account = Account::with(&bank.url, "bca", PATIENT, &[SOURCE]);
        let found = account.client.statement_page(&account.context(), &StatementAsked { part, ..DAYS }).await;
        assert_eq!(found.unwrap().rest, rest);
    }
}

#[tokio::test]
async fn an_order_is_found_however_the_bank_writes_its_reference() {
    let (first, rest) = REFERENCE.split_at(18);
    for remark in [
        json!({ "remark": format!("{first} {rest} REFUND") }),
        json!({ "remark": format!("trsf {}", REFERENCE.to_lowercase()) }),
        json!({ "additionalInfo": { "description": [format!("TRSF/{REFERENCE}")] } }),
        // Lines of 18, each a text of its own.
        json!({ "remark": first, "remark2": format!("{rest} REFUND") }),
        json!({ "additionalInfo": { "remarks": [format!("TRSF {first}"), rest.to_lowercase()] } }),
    ] {
        let mut line = json!({ "type": "DEBIT", "amount": { "value": "50000.00", "currency": "IDR" } });
        for (name, value) in remark.as_object().unwrap() {
            line[name] = value.clone();
        }
        let lines = page(&json!({ "detailData": [line] })).await.unwrap().lines;
        assert_eq!(find_order(lines), Some(OnStatement::Debited), "{remark}");
    }
    let cut = json!({ "type": "DEBIT", "amount": "50000", "remark": first });
    let lines = page(&json!({ "detailData": [cut] })).await.unwrap().lines;
    assert_eq!(find_order(lines), Some(OnStatement::Unclear), "a part of the reference proves nothing");
}

#[tokio::test]
async fn a_statement_with_a_line_that_cannot_be_read_says_nothing() {
    for line in [
        json!({ "amount": { "value": "50000.00" } }),
        json!({ "type": "BOTH", "amount": { "value": "50000.00" } }),
        json!({ "type": "DEBIT" }),
        json!({ "type": "DEBIT", "amount": { "value": "-50000.00" } }),
        json!({ "type": "DEBIT", "amount": { "value": "many" } }),
        json!("DEBIT"),
        Value::Null,
    ] {
        let found = page(&json!({ "detailData": [line] })).await;
        assert!(matches!(found, Err(CallError::Unknown(_))), "{line}: {found:?}");
    }
    for told in [json!({}), json!({ "detailData": "none" }), json!({ "detailData": null })] {
        assert!(page(&told).await.is_err(), "{told}");
    }
    // Interest has sen: no whole rupiah, and none of ours.
    let interest = json!({ "type": "CREDIT", "amount": { "value": "1234.56" }, "remark": "BUNGA" });
    assert_eq!(page(&json!({ "detailData": [interest] })).await.unwrap().lines[0].amount, None);
}

#[tokio::test]
async fn a_balance_is_read_in_the_ways_that_banks_write_it() {
    let money = |value: Value| json!({ "availableBalance": { "value": value, "currency": "IDR" } });
    for (told, expected) in [
        (json!({ "accountInfos": [money(json!("1500000.75"))] }), Some(1_500_000)),
        (json!({ "accountInfos": money(json!("0.00")) }), Some(0)),
        (json!({ "accountInfos": [{ "availableBalance": 7_000 }] }), Some(7_000)),
        (json!({ "accountInfos": [] }), None),
        (json!({ "accountInfos": [money(json!("-5.00"))] }), None),
        (json!({ "accountInfos": [{ "availableBalance": { "value": "5.00", "currency": "USD" } }] }), None),
        (json!({}), None),
    ] {
        let bank = Bank::start(vec![answer("200 OK", &told.to_string())]).await;
        let account = Account::with(&bank.url, "bca", PATIENT, &[SOURCE]);
        let found = account.client.balance(&account.context()).await;
        assert_eq!(found.ok(), expected.map(Rupiah::new), "{told}");
    }
}
