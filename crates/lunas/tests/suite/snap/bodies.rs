//! What a message must say: JSON, members, numbers, amounts and times. What is refused leaves nothing behind.

use std::sync::Arc;

use demobank::{AmountText, Knobs, Padding, Style};
use testkit::{Kit, on_every_database, on_sqlite_alone};

use super::acts::{both_refuse, said};
use crate::support::{
    banks::{Contracted, contracted, number},
    json::shifted,
    payments::fetch,
    rows::rows,
};

on_every_database![
    each_malformed_member_of_an_inquiry_is_named,
    money_of_the_future_is_judged_by_its_time_and_never_dated_ahead,
];

on_sqlite_alone![
    a_body_has_at_most_65_536_bytes,
    a_body_is_one_json_object,
    each_missing_member_is_named,
    each_malformed_member_of_a_payment_is_named,
    amounts_are_whole_rupiah_above_zero,
    only_spaces_on_the_left_are_padding,
    a_bank_that_asks_for_a_code_of_its_own_for_bad_data_gets_it,
];

const BAD_JSON: (u16, &str, &str) = (400, "00", "Bad Request. [Invalid JSON]");

fn member(path: &str, value: &str) -> Knobs {
    Knobs { members: vec![(path.to_owned(), value.to_owned())], ..Knobs::default() }
}

async fn refuses_payment(contracted: &Contracted, number: &str, knobs: Knobs, code: &str, words: &str) {
    let row = format!("{:?} {:?}", knobs.members, knobs.missing_member);
    let answer = contracted.pay(number, knobs).await;
    assert_eq!(answer.code(), code, "{row}: {}", answer.text);
    assert!(answer.message().ends_with(words), "{row}: {}", answer.text);
    assert_eq!(answer.flag(), "01", "{row}: at BCA every answer says so: {}", answer.text);
}

async fn a_body_has_at_most_65_536_bytes(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let number = number(&contracted.payment().await);
    let before = rows(&kit.database);
    let of_length = |length| Knobs { length: Some(length), ..Knobs::default() };
    let too_long = (400, "00", "Bad Request. [Body Too Large]");
    both_refuse("a byte more", &contracted, &number, &of_length(65_537), too_long).await;
    both_refuse("much more", &contracted, &number, &of_length(1_000_000), too_long).await;
    assert_eq!(rows(&kit.database), before);
    assert_eq!(said(&contracted.ask(&number, of_length(65_536)).await), ("2002400", "00"));
    assert_eq!(said(&contracted.pay(&number, of_length(65_536)).await), ("2002500", "00"));
}

async fn a_body_is_one_json_object(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let number = number(&contracted.payment().await);
    let before = rows(&kit.database);
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let bodies: [&[u8]; 11] = [
        b"",
        b"{",
        b"[]",
        b"null",
        b"1",
        b"\"text\"",
        b"{}{}",
        b"{\"a\":1,}",
        b"{\"a\":\"\xff\"}",
        b"grantType=client_credentials",
        deep.as_bytes(),
    ];
    for body in bodies {
        let knobs = Knobs { raw_body: Some(body.to_vec()), ..Knobs::default() };
        both_refuse(&String::from_utf8_lossy(body), &contracted, &number, &knobs, BAD_JSON).await;
    }
    assert_eq!(rows(&kit.database), before);
}

async fn each_missing_member_is_named(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let number = number(&contracted.payment().await);
    let before = rows(&kit.database);
    for name in ["partnerServiceId", "customerNo", "virtualAccountNo", "inquiryRequestId"] {
        let missing = Knobs { missing_member: Some(name.to_owned()), ..Knobs::default() };
        for knobs in [missing, member(name, "null"), member(name, "\"\"")] {
            let answer = contracted.ask(&number, knobs).await;
            assert_eq!(
                (answer.code(), answer.message()),
                ("4002402", format!("Invalid Mandatory Field {name}").as_str())
            );
        }
    }
    for name in [
        "partnerServiceId",
        "customerNo",
        "virtualAccountNo",
        "paymentRequestId",
        "paidAmount",
        "paidAmount.value",
        "paidAmount.currency",
        "totalAmount.value",
        "totalAmount.currency",
    ] {
        let missing = Knobs { missing_member: Some(name.to_owned()), ..Knobs::default() };
        for knobs in [missing, member(name, "null")] {
            refuses_payment(&contracted, &number, knobs, "4002502", &format!("Field {name}")).await;
        }
    }
    // One that is missing is reported before one that is malformed.
    let both = Knobs { missing_member: Some("paidAmount".to_owned()), ..member("customerNo", "\"x\"") };
    refuses_payment(&contracted, &number, both, "4002502", "Field paidAmount").await;
    assert_eq!(rows(&kit.database), before);
}

async fn each_malformed_member_of_an_inquiry_is_named(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let number = number(&contracted.payment().await);
    let before = rows(&kit.database);
    let long = format!("\"{}\"", "1".repeat(31));
    for (name, value) in [
        ("partnerServiceId", "\"88 899\""),
        ("partnerServiceId", "\"123456789\""),
        ("partnerServiceId", "[]"),
        ("customerNo", "\"12a\""),
        ("customerNo", "\"-1\""),
        ("customerNo", "{}"),
        ("customerNo", "\"\u{661}\u{662}\u{663}\""),
        ("virtualAccountNo", "\"8889900000000000\""),
        ("virtualAccountNo", "true"),
        ("inquiryRequestId", &long),
        ("inquiryRequestId", "\"\u{e9}\""),
        ("inquiryRequestId", "\"a\\u0000b\""),
        ("inquiryRequestId", "[1]"),
    ] {
        let answer = contracted.ask(&number, member(name, value)).await;
        assert_eq!(
            (answer.code(), answer.message()),
            ("4002401", format!("Invalid Field Format {name}").as_str()),
            "{value}: {}",
            answer.text
        );
    }
    assert_eq!(rows(&kit.database), before);
}

async fn each_malformed_member_of_a_payment_is_named(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let number = number(&contracted.payment().await);
    let before = rows(&kit.database);
    let long = format!("\"{}\"", "1".repeat(31));
    for (name, value) in [
        ("partnerServiceId", "false"),
        ("customerNo", "\"12a\""),
        ("virtualAccountNo", "\"1\""),
        ("paymentRequestId", &long),
        ("paymentRequestId", "\"a\\nb\""),
        ("paidAmount", "150000"),
        ("paidAmount", "[]"),
        ("totalAmount", "\"150000.00\""),
        ("trxDateTime", "\"yesterday\""),
        ("trxDateTime", "\"2026-02-30T10:00:00+07:00\""),
        ("trxDateTime", "1794648600"),
        ("flagAdvise", "\"X\""),
        ("flagAdvise", "\"y\""),
        ("flagAdvise", "true"),
    ] {
        refuses_payment(&contracted, &number, member(name, value), "4002501", &format!("Format {name}")).await;
    }
    assert_eq!(rows(&kit.database), before);
    contracted.has_no_money().await;
}

async fn amounts_are_whole_rupiah_above_zero(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let number = number(&contracted.payment().await);
    let before = rows(&kit.database);
    for value in [
        "\"-150000.00\"",
        "-150000",
        "\"0.00\"",
        "0",
        "\"150000.50\"",
        "150000.01",
        "\"150000.000\"",
        "\"150,000.00\"",
        "\"Rp150000\"",
        "\" 150000\"",
        "\"1.5e5\"",
        "\"99999999999999999999\"",
        "true",
        "[150000]",
    ] {
        for name in ["paidAmount.value", "totalAmount.value"] {
            refuses_payment(&contracted, &number, member(name, value), "4002501", &format!("Format {name}")).await;
        }
    }
    for currency in ["\"USD\"", "\"idr\"", "\"Rp\"", "360"] {
        for name in ["paidAmount.currency", "totalAmount.currency"] {
            refuses_payment(&contracted, &number, member(name, currency), "4002501", &format!("Format {name}")).await;
        }
    }
    let dollars = Knobs { currency: Some("USD".to_owned()), amount_text: AmountText::Whole, ..Knobs::default() };
    refuses_payment(&contracted, &number, dollars, "4002501", "Format paidAmount.currency").await;
    assert_eq!(rows(&kit.database), before);
    contracted.has_no_money().await;
}

async fn only_spaces_on_the_left_are_padding(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let number = number(&contracted.payment().await);
    let padded = |padding| Knobs { padding, ..Knobs::default() };
    let before = rows(&kit.database);
    let malformed = (400, "01", "Invalid Field Format partnerServiceId");
    both_refuse("on the right", &contracted, &number, &padded(Padding::Right), malformed).await;
    assert_eq!(rows(&kit.database), before);
    // With zeros it is another number.
    assert_eq!(said(&contracted.ask(&number, padded(Padding::Zeros)).await), ("4042412", "01"));
    assert_eq!(said(&contracted.pay(&number, padded(Padding::Zeros)).await), ("4042512", "01"));
    for padding in [Padding::None, Padding::Spaces] {
        assert_eq!(said(&contracted.ask(&number, padded(padding)).await), ("2002400", "00"));
    }
    let whole = member("virtualAccountNo", &format!("\"{number}\""));
    assert_eq!(said(&contracted.pay(&number, whole).await), ("2002500", "00"));
}

async fn a_bank_that_asks_for_a_code_of_its_own_for_bad_data_gets_it(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BSI).await;
    let number = number(&contracted.payment().await);
    let before = rows(&kit.database);
    assert_eq!(contracted.ask(&number, member("customerNo", "\"x\"")).await.code(), "4042411");
    assert_eq!(contracted.pay(&number, member("paidAmount.value", "\"-1\"")).await.code(), "4042511");
    assert_eq!(contracted.pay(&number, member("paidAmount.value", "null")).await.code(), "4002502");
    // Headers and the token door have the standard's.
    let header = Knobs { headers: vec![("CHANNEL-ID".to_owned(), "1".to_owned())], ..Knobs::default() };
    both_refuse("a header", &contracted, &number, &header, (400, "01", "Invalid Field Format CHANNEL-ID")).await;
    let grant = Knobs { raw_body: Some(br#"{"grantType":[]}"#.to_vec()), ..Knobs::default() };
    assert_eq!(contracted.ask_token(grant).await.code(), "4007301");
    let timestamp = Knobs { timestamp: Some("today".to_owned()), ..Knobs::default() };
    assert_eq!(contracted.ask_token(timestamp).await.code(), "4007301");
    assert_eq!(rows(&kit.database), before);
}

async fn money_of_the_future_is_judged_by_its_time_and_never_dated_ahead(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let now = kit.engine.now();
    let at = |millis| member("trxDateTime", &format!("\"{}\"", shifted(now, millis)));
    let late = contracted.payment_for(10).await;
    assert_eq!(said(&contracted.pay(&number(&late), at(600_001)).await), ("4042519", "01"));
    let payment = contracted.payment_for(10).await;
    assert_eq!(said(&contracted.pay(&number(&payment), at(600_000)).await), ("2002500", "00"));
    assert_eq!(fetch(&contracted.project, &payment).await["paid_at"], now.to_string());
}
