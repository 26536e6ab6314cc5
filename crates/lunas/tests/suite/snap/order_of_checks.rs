//! Who may call: the checks before a body is read, in their order. None of them leaves anything behind.

use std::{sync::Arc, time::Duration};

use demobank::{Contract, Knobs, STALE_MS, Signing, Style, TokenChoice};
use secrecy::ExposeSecret;
use testkit::{Kit, on_sqlite_alone};

use super::acts::{SERVICES, both_refuse, call, said};
use crate::support::{
    bank_keys::bank_key,
    banks::{Contracted, contracted, contracted_with, number},
    options::{base_url, trusted_proxy},
    rows::rows,
};

on_sqlite_alone![
    calls_come_from_the_banks_networks_only,
    behind_a_trusted_proxy_the_callers_own_address_counts with trusted_proxy(),
    the_path_that_a_proxy_cuts_off_is_signed_too with base_url("https://api.lunas.test/pay"),
    each_missing_header_is_named,
    each_malformed_header_is_named,
    a_message_is_taken_five_minutes_around_our_time,
    a_token_is_taken_for_900_seconds_at_its_own_account_only,
    a_token_ends_with_the_secret_that_it_was_issued_for,
    a_token_ends_with_the_key_that_it_was_asked_for_with,
    a_signature_covers_method_path_token_body_and_time,
    a_signature_is_checked_before_the_body_is_read,
    the_checks_have_one_order,
    the_token_door_checks_client_time_signature_and_body,
];

const TIME: (u16, &str, &str) = (401, "00", "Unauthorized. [Timestamp]");
const TOKEN: (u16, &str, &str) = (401, "01", "Invalid Token (B2B)");
const SIGNATURE: (u16, &str, &str) = (401, "00", "Unauthorized. [Signature]");
const ADDRESS: (u16, &str, &str) = (401, "00", "Unauthorized. [Connection not allowed]");

fn header(name: &str, value: &str) -> Knobs {
    Knobs { headers: vec![(name.to_owned(), value.to_owned())], ..Knobs::default() }
}

/// A payable bill, and the database as it is then.
async fn payable(kit: &Kit, contracted: &Contracted) -> (String, Vec<String>) {
    let number = number(&contracted.payment().await);
    contracted.bank.token(&contracted.contract).await.unwrap();
    (number, rows(&kit.database))
}

async fn calls_come_from_the_banks_networks_only(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let (number, _) = payable(&kit, &contracted).await;
    contracted.set(&kit, "ips", "203.0.113.0/24,2001:db8::/32").await;
    let before = rows(&kit.database);
    both_refuse("another network", &contracted, &number, &Knobs::default(), ADDRESS).await;
    let forged = header("X-Forwarded-For", "203.0.113.9");
    both_refuse("a forged address", &contracted, &number, &forged, ADDRESS).await;
    let get = Knobs { method: Some("GET".to_owned()), ..Knobs::default() };
    both_refuse("another method", &contracted, &number, &get, ADDRESS).await;
    let answer = contracted.ask_token(Knobs::default()).await;
    assert_eq!((answer.code(), answer.message()), ("4017300", ADDRESS.2));
    assert_eq!(rows(&kit.database), before);
    contracted.set(&kit, "ips", "203.0.113.0/24,127.0.0.1").await;
    assert_eq!(said(&contracted.ask(&number, Knobs::default()).await), ("2002400", "00"));
}

async fn behind_a_trusted_proxy_the_callers_own_address_counts(kit: Arc<Kit>) {
    let contracted = contracted_with(&kit, Style::BCA, &[("ips", "203.0.113.0/24")]).await;
    let number = number(&contracted.payment().await);
    let from_bank = header("X-Forwarded-For", "203.0.113.9");
    let token = contracted.ask_token(from_bank.clone()).await.body["accessToken"].as_str().unwrap().to_owned();
    let token = TokenChoice::Given(token);
    let outside = Knobs { token: token.clone(), ..header("X-Forwarded-For", "198.51.100.7, 127.0.0.1") };
    both_refuse("another network", &contracted, &number, &outside, ADDRESS).await;
    // What the caller itself claims stands before its own address.
    let claimed = Knobs { token: token.clone(), ..header("X-Forwarded-For", "203.0.113.9, 198.51.100.7") };
    both_refuse("a claim", &contracted, &number, &claimed, ADDRESS).await;
    assert_eq!(said(&contracted.ask(&number, Knobs { token, ..from_bank }).await), ("2002400", "00"));
}

async fn the_path_that_a_proxy_cuts_off_is_signed_too(kit: Arc<Kit>) {
    let mut contracted = contracted(&kit, Style::BCA).await;
    let (number, before) = payable(&kit, &contracted).await;
    both_refuse("the path without it", &contracted, &number, &Knobs::default(), SIGNATURE).await;
    assert_eq!(rows(&kit.database), before);
    contracted.contract.signed_prefix = Some(format!("/pay/snap/{}", contracted.account));
    assert_eq!(said(&contracted.ask(&number, Knobs::default()).await), ("2002400", "00"));
    assert_eq!(said(&contracted.pay(&number, Knobs::default()).await), ("2002500", "00"));
}

async fn each_missing_header_is_named(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let (number, before) = payable(&kit, &contracted).await;
    for name in ["Authorization", "X-TIMESTAMP", "X-SIGNATURE", "X-PARTNER-ID", "X-EXTERNAL-ID", "CHANNEL-ID"] {
        let missing = Knobs { missing_header: Some(name.to_owned()), ..Knobs::default() };
        for knobs in [missing, header(name, "")] {
            let words = format!("Invalid Mandatory Field {name}");
            both_refuse(name, &contracted, &number, &knobs, (400, "02", &words)).await;
        }
    }
    for name in ["X-CLIENT-KEY", "X-TIMESTAMP", "X-SIGNATURE"] {
        let missing = Knobs { missing_header: Some(name.to_owned()), ..Knobs::default() };
        let answer = contracted.ask_token(missing).await;
        assert_eq!((answer.code(), answer.message()), ("4007302", format!("Invalid Mandatory Field {name}").as_str()));
    }
    assert_eq!(rows(&kit.database), before);
}

async fn each_malformed_header_is_named(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let (number, before) = payable(&kit, &contracted).await;
    let long = "1".repeat(37);
    for (name, value) in [
        ("X-TIMESTAMP", "yesterday"),
        ("X-TIMESTAMP", "2026-11-14 16:30:00+07:00"),
        ("X-EXTERNAL-ID", "abc"),
        ("X-EXTERNAL-ID", &long),
        ("CHANNEL-ID", "95230"),
        ("X-PARTNER-ID", "88898"),
        ("X-EXTERNAL-ID", "\u{e9}"),
    ] {
        let words = format!("Invalid Field Format {name}");
        both_refuse(name, &contracted, &number, &header(name, value), (400, "01", &words)).await;
    }
    let answer = contracted.ask_token(header("X-TIMESTAMP", "yesterday")).await;
    assert_eq!((answer.code(), answer.message()), ("4007301", "Invalid Field Format X-TIMESTAMP"));
    assert_eq!(rows(&kit.database), before);
}

async fn a_message_is_taken_five_minutes_around_our_time(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let (number, before) = payable(&kit, &contracted).await;
    for skew_ms in [-STALE_MS, STALE_MS, -301_000, 301_000] {
        let knobs = Knobs { skew_ms, ..Knobs::default() };
        both_refuse("another time", &contracted, &number, &knobs, TIME).await;
        let answer = contracted.ask_token(knobs).await;
        assert_eq!((answer.code(), answer.message()), ("4017300", TIME.2));
    }
    assert_eq!(rows(&kit.database), before);
    for skew_ms in [-300_000, 300_000] {
        let knobs = Knobs { skew_ms, ..Knobs::default() };
        assert_eq!(said(&contracted.ask(&number, knobs.clone()).await), ("2002400", "00"));
        assert_eq!(contracted.ask_token(knobs).await.code(), "2007300");
    }
}

async fn a_token_is_taken_for_900_seconds_at_its_own_account_only(kit: Arc<Kit>) {
    let (own, other) = (contracted(&kit, Style::BCA).await, contracted(&kit, Style::BCA).await);
    let (number, before) = payable(&kit, &own).await;
    let answer = own.ask_token(Knobs::default()).await;
    assert_eq!((answer.code(), &answer.body["tokenType"]), ("2007300", &"Bearer".into()));
    assert_eq!(answer.body["expiresIn"], "900");
    let token = answer.body["accessToken"].as_str().unwrap().to_owned();
    let foreign = other.bank.token(&other.contract).await.unwrap();
    let other_letter = if token[20..].starts_with('A') { "B" } else { "A" };
    let changed = format!("{}{other_letter}{}", &token[..20], &token[21..]);
    for (row, choice) in [
        ("invented", TokenChoice::Invented),
        ("of another account", TokenChoice::Given(foreign)),
        ("changed", TokenChoice::Given(changed)),
        ("cut off", TokenChoice::Given(token[..token.len() - 4].to_owned())),
    ] {
        both_refuse(row, &own, &number, &Knobs { token: choice, ..Knobs::default() }, TOKEN).await;
    }
    assert_eq!(rows(&kit.database), before);
    let knobs = Knobs { token: TokenChoice::Given(token), ..Knobs::default() };
    kit.clock.advance(Duration::from_secs(900));
    assert_eq!(said(&own.ask(&number, knobs.clone()).await), ("2002400", "00"));
    kit.clock.advance(Duration::from_millis(1));
    both_refuse("over", &own, &number, &knobs, TOKEN).await;
    assert_eq!(said(&own.pay(&number, Knobs::default()).await), ("2002500", "00"));
}

async fn a_token_ends_with_the_secret_that_it_was_issued_for(kit: Arc<Kit>) {
    let mut contracted = contracted(&kit, Style::BCA).await;
    let (number, _) = payable(&kit, &contracted).await;
    let token = contracted.bank.token(&contracted.contract).await.unwrap();
    let old = Knobs { token: TokenChoice::Given(token), ..Knobs::default() };
    let next = kit.engine.set_bank_inbound(contracted.account, None, None).await.unwrap();
    let client_secret = next.secret.expose_secret().to_owned();
    let renewed = Contract { client_id: next.client_id, client_secret, ..contracted.contract.clone() };
    // Both are taken until the rotation.
    assert_eq!(said(&contracted.ask(&number, old.clone()).await), ("2002400", "00"));
    contracted.contract = renewed;
    assert_eq!(said(&contracted.ask(&number, Knobs::default()).await), ("2002400", "00"));
    kit.engine.rotate_bank_account(contracted.account).await.unwrap();
    let before = rows(&kit.database);
    both_refuse("of the old secret", &contracted, &number, &old, TOKEN).await;
    assert_eq!(rows(&kit.database), before);
    assert_eq!(said(&contracted.pay(&number, Knobs::default()).await), ("2002500", "00"));
}

async fn a_token_ends_with_the_key_that_it_was_asked_for_with(kit: Arc<Kit>) {
    let mut contracted = contracted(&kit, Style::BCA).await;
    let (number, _) = payable(&kit, &contracted).await;
    let old_key = contracted.contract.key.clone();
    let token = contracted.bank.token(&contracted.contract).await.unwrap();
    let old = Knobs { token: TokenChoice::Given(token), ..Knobs::default() };
    let key = bank_key();
    kit.engine.import_bank_key(contracted.account, &key.public_key_pem()).await.unwrap();
    // Both are taken until the rotation.
    assert_eq!(said(&contracted.ask(&number, old.clone()).await), ("2002400", "00"));
    assert_eq!(contracted.ask_token(Knobs::default()).await.code(), "2007300");
    contracted.contract.key = key;
    assert_eq!(contracted.ask_token(Knobs::default()).await.code(), "2007300");
    kit.engine.rotate_bank_account(contracted.account).await.unwrap();
    let before = rows(&kit.database);
    both_refuse("of the old key", &contracted, &number, &old, TOKEN).await;
    let new_key = std::mem::replace(&mut contracted.contract.key, old_key);
    let answer = contracted.ask_token(Knobs::default()).await;
    assert_eq!((answer.code(), answer.message()), ("4017300", SIGNATURE.2));
    assert_eq!(rows(&kit.database), before);
    contracted.contract.key = new_key;
    assert_eq!(said(&contracted.pay(&number, Knobs::default()).await), ("2002500", "00"));
}

async fn a_signature_covers_method_path_token_body_and_time(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let (number, before) = payable(&kit, &contracted).await;
    let token = contracted.bank.token(&contracted.contract).await.unwrap();
    let past = gateway::snap::format_timestamp(kit.engine.now(), gateway::snap::Precision::Seconds);
    kit.clock.advance(Duration::from_secs(1));
    let second = contracted.ask_token(Knobs::default()).await;
    let second = second.body["accessToken"].as_str().unwrap();
    assert_ne!(second, token);
    let path = format!("/snap/{}/v1.0/transfer-va/status", contracted.account);
    let valid = TokenChoice::Given(token);
    let signature = |text: &str| Knobs { signature: Some(text.to_owned()), ..Knobs::default() };
    for (row, knobs) in [
        ("another path", Knobs { signed_path: Some(path), ..Knobs::default() }),
        ("a changed body", Knobs { changed_body: true, ..Knobs::default() }),
        ("another time", header("X-TIMESTAMP", &past)),
        ("another token", Knobs { token: valid.clone(), ..header("Authorization", &format!("Bearer {second}")) }),
        ("the other kind", Knobs { token: valid, signing: Some(Signing::Key), ..Knobs::default() }),
        ("no base64", signature("!")),
        ("hexadecimal digits of another length", signature(&"a".repeat(126))),
        ("hexadecimal digits that are none", signature(&"g".repeat(128))),
        ("base64 of nothing", signature(&format!("{}==", "A".repeat(86)))),
    ] {
        both_refuse(row, &contracted, &number, &knobs, SIGNATURE).await;
    }
    let contract = Contract { client_secret: "s".repeat(48), ..contracted.contract.clone() };
    let forger = Contracted { contract, ..contracted };
    both_refuse("another secret", &forger, &number, &Knobs::default(), SIGNATURE).await;
    assert_eq!(rows(&kit.database), before);
}

async fn a_signature_is_checked_before_the_body_is_read(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let (number, before) = payable(&kit, &contracted).await;
    let broken = Knobs { raw_body: Some(b"{".to_vec()), ..Knobs::default() };
    let forged = Knobs { signature: Some("A".repeat(88)), ..broken.clone() };
    both_refuse("broken and forged", &contracted, &number, &forged, SIGNATURE).await;
    both_refuse("broken", &contracted, &number, &broken, (400, "00", "Bad Request. [Invalid JSON]")).await;
    assert_eq!(rows(&kit.database), before);
}

/// Each call is wrong in all that follows in the list; each time, the first thing that is wrong is answered.
async fn the_checks_have_one_order(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let (number, _) = payable(&kit, &contracted).await;
    let before = rows(&kit.database);
    let too_long = (400, "00", "Bad Request. [Body Too Large]");
    let missing = (400, "02", "Invalid Mandatory Field CHANNEL-ID");
    let malformed = (400, "01", "Invalid Field Format X-EXTERNAL-ID");
    let mut knobs = Knobs {
        length: Some(65_537),
        missing_header: Some("CHANNEL-ID".to_owned()),
        external_id: Some("abc".to_owned()),
        skew_ms: STALE_MS,
        token: TokenChoice::Invented,
        signature: Some("A".repeat(88)),
        missing_member: Some("customerNo".to_owned()),
        ..Knobs::default()
    };
    both_refuse("too long", &contracted, &number, &knobs, too_long).await;
    knobs.length = None;
    both_refuse("a header is missing", &contracted, &number, &knobs, missing).await;
    knobs.missing_header = None;
    both_refuse("a header is malformed", &contracted, &number, &knobs, malformed).await;
    knobs.external_id = None;
    both_refuse("another time", &contracted, &number, &knobs, TIME).await;
    knobs.skew_ms = 0;
    both_refuse("no token of ours", &contracted, &number, &knobs, TOKEN).await;
    knobs.token = TokenChoice::Valid;
    both_refuse("forged", &contracted, &number, &knobs, SIGNATURE).await;
    knobs.signature = None;
    both_refuse("a member is missing", &contracted, &number, &knobs, (400, "02", "customerNo")).await;
    assert_eq!(rows(&kit.database), before);
    for service in SERVICES {
        assert_eq!(call(&contracted, service, &number, Knobs::default()).await.flag(), "00");
    }
}

async fn the_token_door_checks_client_time_signature_and_body(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let before = rows(&kit.database);
    let body = |text: &str| Knobs { raw_body: Some(text.as_bytes().to_vec()), ..Knobs::default() };
    let grant = r#"{"grantType":"password"}"#;
    for (knobs, code, message) in [
        (header("X-CLIENT-KEY", "nobody"), "4017300", "Unauthorized. [Unknown client]"),
        (Knobs { signature: Some("AAAA".to_owned()), ..body("{") }, "4017300", "Unauthorized. [Signature]"),
        (Knobs { hex_signature: true, ..Knobs::default() }, "4017300", "Unauthorized. [Signature]"),
        (Knobs { length: Some(65_537), ..Knobs::default() }, "4007300", "Bad Request. [Body Too Large]"),
        (body("{"), "4007300", "Bad Request. [Invalid JSON]"),
        (body("[]"), "4007300", "Bad Request. [Invalid JSON]"),
        (body(""), "4007300", "Bad Request. [Invalid JSON]"),
        (body("{}"), "4007302", "Invalid Mandatory Field grantType"),
        (body(grant), "4007301", "Invalid Field Format grantType"),
        (body(r#"{"grantType":["client_credentials"]}"#), "4007301", "Invalid Field Format grantType"),
    ] {
        let answer = contracted.ask_token(knobs).await;
        assert_eq!((answer.code(), answer.message()), (code, message), "{:?}", answer.sent);
        assert_eq!(answer.body.get("accessToken"), None);
    }
    assert_eq!(rows(&kit.database), before);
    let longest = Knobs { length: Some(65_536), ..Knobs::default() };
    assert_eq!(contracted.ask_token(longest).await.code(), "2007300");
}
