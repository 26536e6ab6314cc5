//! What a statement and a balance say.

use domain::money::Rupiah;
use serde_json::{Value, json};

use super::{
    orders::SOURCE,
    support::{Account, Bank, PATIENT, REFERENCE, answer, body},
};
use crate::snap::{CallError, OnStatement, StatementLine, find_on_statement};

async fn statement(told: &Value) -> Result<Vec<StatementLine>, CallError> {
    let bank = Bank::start(vec![answer("200 OK", &told.to_string())]).await;
    let account = Account::with(&bank.url, "bca", PATIENT, &[SOURCE]);
    account.client.statement(&account.context(), 20_468, 20_469).await
}

#[tokio::test]
async fn a_statement_is_asked_for_by_whole_days() {
    let bank = Bank::start(vec![answer("200 OK", r#"{"detailData":[]}"#)]).await;
    let account = Account::with(&bank.url, "bca", PATIENT, &[SOURCE]);
    assert_eq!(account.client.statement(&account.context(), 20_468, 20_469).await, Ok(Vec::new()));
    let asked = json!({
        "accountNo": "0098765432", "fromDateTime": "2026-01-15T00:00:00+07:00", "toDateTime": "2026-01-17T00:00:00+07:00",
    });
    assert_eq!(body(&bank.calls()[0]), asked);
}

#[tokio::test]
async fn an_order_is_found_however_the_bank_writes_its_reference() {
    let (first, rest) = REFERENCE.split_at(18);
    for remark in [
        json!({ "remark": format!("{first} {rest} REFUND") }),
        json!({ "remark": format!("trsf {}", REFERENCE.to_lowercase()) }),
        json!({ "additionalInfo": { "description": [format!("TRSF/{REFERENCE}")] } }),
    ] {
        let mut line = json!({ "type": "DEBIT", "amount": { "value": "50000.00", "currency": "IDR" } });
        for (name, value) in remark.as_object().unwrap() {
            line[name] = value.clone();
        }
        let lines = statement(&json!({ "detailData": [line] })).await.unwrap();
        assert_eq!(find_on_statement(&lines, REFERENCE, Rupiah::new(50_000)), OnStatement::Debited, "{remark}");
    }
    // Two members do not make one reference.
    let split = json!({ "type": "DEBIT", "amount": "50000", "a": first, "b": rest });
    let lines = statement(&json!({ "detailData": [split] })).await.unwrap();
    assert_eq!(find_on_statement(&lines, REFERENCE, Rupiah::new(50_000)), OnStatement::Absent);
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
        let found = statement(&json!({ "detailData": [line] })).await;
        assert!(matches!(found, Err(CallError::Unknown(_))), "{line}: {found:?}");
    }
    let cut = json!({ "detailData": [{ "type": "DEBIT", "amount": { "value": "1.00" } }], "hasMore": "Y" });
    for told in [json!({}), json!({ "detailData": "none" }), json!({ "detailData": null }), cut] {
        assert!(statement(&told).await.is_err(), "{told}");
    }
    // Interest has sen: no whole rupiah, and none of ours.
    let interest = json!({ "type": "CREDIT", "amount": { "value": "1234.56" }, "remark": "BUNGA" });
    assert_eq!(statement(&json!({ "detailData": [interest] })).await.unwrap()[0].amount, None);
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
