//! Ways of writing and signing a message that banks are known to use. All of them are taken.

use std::{sync::Arc, time::Duration};

use demobank::{AmountText, Knobs, Padding, Payment, SignatureText, Signing, Style, TokenChoice};
use serde_json::json;
use testkit::{Kit, on_sqlite_alone};

use super::acts::{both_refuse, said};
use crate::support::{
    banks::{AMOUNT, Contracted, contracted, contracted_with, number},
    json::shifted,
    rows::rows,
};

on_sqlite_alone![
    messages_are_taken_however_they_are_written,
    names_of_any_script_are_taken_and_come_back,
    timestamps_are_taken_with_any_offset_and_decimals,
    a_member_that_comes_twice_counts_as_it_came_last,
    members_that_are_not_known_are_ignored,
    a_bank_that_writes_its_signatures_in_hexadecimal_digits_is_understood,
    a_bank_that_signs_with_its_key_needs_no_token,
];

/// Asks for a new bill and pays it, each written in this way.
async fn takes(contracted: &Contracted, row: &str, knobs: &Knobs) {
    let payment = contracted.payment().await;
    let number = number(&payment);
    let answer = contracted.ask(&number, knobs.clone()).await;
    assert_eq!(said(&answer), ("2002400", "00"), "{row}: {}", answer.text);
    let answer = contracted.pay(&number, knobs.clone()).await;
    assert_eq!(said(&answer), ("2002500", "00"), "{row}: {}", answer.text);
    contracted.is_paid_once(&payment, &number).await;
}

async fn messages_are_taken_however_they_are_written(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::GENERIC).await;
    let amount = |amount_text| Knobs { amount_text, ..Knobs::default() };
    for (row, knobs) in [
        ("hexadecimal digits", Knobs { hex_signature: true, ..Knobs::default() }),
        ("white space that is not signed", Knobs { white_space: true, ..Knobs::default() }),
        ("white space that is signed", Knobs { length: Some(4_000), ..Knobs::default() }),
        ("escapes", Knobs { escaped_name: true, ..Knobs::default() }),
        ("escapes and white space", Knobs { escaped_name: true, white_space: true, ..Knobs::default() }),
        ("no padding", Knobs { padding: Padding::None, ..Knobs::default() }),
        ("one decimal", amount(AmountText::OneDecimal)),
        ("no decimals", amount(AmountText::Whole)),
        ("a bare number", amount(AmountText::BareWhole)),
        ("a bare number with a decimal", amount(AmountText::BareOneDecimal)),
        ("a bare number with two decimals", amount(AmountText::BareTwoDecimals)),
        ("a bare number and white space", Knobs { white_space: true, ..amount(AmountText::BareTwoDecimals) }),
    ] {
        takes(&contracted, row, &knobs).await;
    }
    let payment = contracted.payment().await;
    let customer = contracted.contract.customer_number(&number(&payment)).to_owned();
    // A bare number cannot begin with zero.
    if !customer.starts_with('0') {
        let bare = Knobs { members: vec![("customerNo".to_owned(), customer)], ..Knobs::default() };
        assert_eq!(said(&contracted.ask(&number(&payment), bare).await), ("2002400", "00"));
    }
}

async fn names_of_any_script_are_taken_and_come_back(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::GENERIC).await;
    for name in ["Ñandú Ćevapi", "田中 太郎", "\u{1f31e} \\ \"quoted\" / <b>", "محمد", "a\tb"] {
        for escaped_name in [false, true] {
            for white_space in [false, true] {
                let payment = contracted.payment().await;
                let order = Payment { name: name.to_owned(), ..Payment::of(number(&payment), AMOUNT) };
                let knobs = Knobs { escaped_name, white_space, ..Knobs::default() };
                let answer = contracted.pay_as(order, knobs).await;
                assert_eq!(said(&answer), ("2002500", "00"), "{name}: {}", answer.text);
                assert_eq!(answer.account()["virtualAccountName"], name);
            }
        }
    }
}

async fn timestamps_are_taken_with_any_offset_and_decimals(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::GENERIC).await;
    let now = kit.engine.now();
    let hours = |hours: i64, offset: &str| shifted(now, hours * 60 * 60 * 1000).replace(".000Z", offset);
    for timestamp in [
        hours(0, "Z"),
        hours(0, ".0Z"),
        hours(0, ".000Z"),
        hours(7, ".12+07:00"),
        hours(7, ".123+07:00"),
        hours(9, "+09:00"),
        hours(-5, "-05:00"),
    ] {
        takes(&contracted, &timestamp, &Knobs { timestamp: Some(timestamp.clone()), ..Knobs::default() }).await;
    }
}

async fn a_member_that_comes_twice_counts_as_it_came_last(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::GENERIC).await;
    let twice = |value: &str| {
        let duplicate_member = Some(("paidAmount".to_owned(), value.to_owned()));
        Knobs { duplicate_member, ..Knobs::default() }
    };
    for white_space in [false, true] {
        let payment = contracted.payment().await;
        let number = number(&payment);
        let wrong = Knobs { white_space, ..twice(r#"{"value":"1.00","currency":"IDR"}"#) };
        assert_eq!(said(&contracted.pay(&number, wrong).await), ("4042513", "01"));
        let right = Knobs { white_space, ..twice(&format!(r#"{{"value":"{AMOUNT}.00","currency":"IDR"}}"#)) };
        let order = Payment { total_amount: Some(AMOUNT), ..Payment::of(&number, 1) };
        let answer = contracted.pay_as(order, right).await;
        assert_eq!(said(&answer), ("2002500", "00"));
        assert_eq!(answer.account()["paidAmount"]["value"], format!("{AMOUNT}.00"));
        assert_eq!(contracted.shown(&payment).await["status"], "paid");
    }
}

async fn members_that_are_not_known_are_ignored(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::GENERIC).await;
    let members = [("more", "{\"deep\":[1,{\"a\":null}]}"), ("additionalInfo", "null"), ("referenceNo", "12345678901")];
    let members = members.map(|(path, value)| (path.to_owned(), value.to_owned())).to_vec();
    let number = number(&contracted.payment().await);
    let answer = contracted.pay(&number, Knobs { members, ..Knobs::default() }).await;
    assert_eq!(said(&answer), ("2002500", "00"));
    assert_eq!(answer.account()["referenceNo"], json!(12_345_678_901_i64));
    assert_eq!(answer.account().get("more"), None);
}

async fn a_bank_that_writes_its_signatures_in_hexadecimal_digits_is_understood(kit: Arc<Kit>) {
    let style = Style { signature: SignatureText::Hex, ..Style::BRIVA_ONLINE };
    let contracted = contracted(&kit, style).await;
    takes(&contracted, "as usual", &Knobs::default()).await;
    takes(&contracted, "with white space", &Knobs { white_space: true, ..Knobs::default() }).await;
    let prepared = contracted.prepared(&number(&contracted.payment().await), &Knobs::default()).await;
    let capitals = prepared.header("x-signature").unwrap().to_uppercase();
    let mut prepared = prepared;
    prepared.headers.iter_mut().find(|(name, _)| name == "X-SIGNATURE").unwrap().1 = capitals;
    assert_eq!(said(&contracted.send(&prepared).await), ("2002500", "00"));
}

async fn a_bank_that_signs_with_its_key_needs_no_token(kit: Arc<Kit>) {
    let style = Style { signing: Signing::Key, ..Style::GENERIC };
    let contracted = contracted_with(&kit, style, &[("sign_in", "type2")]).await;
    takes(&contracted, "as usual", &Knobs::default()).await;
    takes(&contracted, "with white space", &Knobs { white_space: true, ..Knobs::default() }).await;
    let number = number(&contracted.payment().await);
    let before = rows(&kit.database);
    let token = TokenChoice::Given(contracted.bank.token(&contracted.contract).await.unwrap());
    let signature = (401, "00", "Unauthorized. [Signature]");
    let path = format!("/snap/{}/v1.0/transfer-va/status", contracted.account);
    for (row, knobs) in [
        ("a secret in place of the key", Knobs { signing: Some(Signing::Secret), token, ..Knobs::default() }),
        ("another path", Knobs { signed_path: Some(path), ..Knobs::default() }),
        ("a changed body", Knobs { changed_body: true, ..Knobs::default() }),
        ("hexadecimal digits", Knobs { hex_signature: true, ..Knobs::default() }),
        ("no signature", Knobs { signature: Some("AAAA".to_owned()), ..Knobs::default() }),
    ] {
        both_refuse(row, &contracted, &number, &knobs, signature).await;
    }
    let stale = Knobs { skew_ms: -301_000, ..Knobs::default() };
    both_refuse("another time", &contracted, &number, &stale, (401, "00", "[Timestamp]")).await;
    assert_eq!(rows(&kit.database), before);
    kit.clock.advance(Duration::from_secs(901));
    assert_eq!(said(&contracted.pay(&number, Knobs::default()).await), ("2002500", "00"));
}
