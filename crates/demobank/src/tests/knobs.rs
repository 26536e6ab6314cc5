//! Each knob changes exactly what it says: a spoiled call is held against an honest one with the same ids, and its signature
//! against its own bytes.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::door::{Kit, NUMBER, hmac_by_rfc, text_by_standard};
use crate::{AmountText, Inquiry, Knobs, Padding, Payment, Prepared, STALE_MS, Style, TokenChoice};

const PATH: &str = "/pre/snap/acc1/v1.0/transfer-va/payment";

fn honest() -> Knobs {
    Knobs { external_id: Some("7".repeat(32)), request_id: Some("8".repeat(30)), ..Knobs::default() }
}

async fn prepare(kit: &Kit, knobs: &Knobs) -> Prepared {
    let payment = Payment { name: "Bu/di Ñ".to_owned(), ..Payment::of(NUMBER, 10_000) };
    kit.bank.prepare_payment(&kit.contract(Style::BCA), payment, knobs).await.unwrap()
}

/// What differs between two calls: names of headers, `method`, `url`, `body`.
fn differences(one: &Prepared, other: &Prepared) -> Vec<String> {
    let mut names: Vec<String> = one.headers.iter().chain(&other.headers).map(|(name, _)| name.clone()).collect();
    names.sort();
    names.dedup();
    names.retain(|name| one.header(name) != other.header(name));
    let more =
        [("body", one.body != other.body), ("method", one.method != other.method), ("url", one.url != other.url)];
    names.extend(more.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name.to_owned()));
    names
}

/// Whether the signature is right for what the call carries.
fn is_signed(call: &Prepared) -> bool {
    let token = call.header("authorization").map_or("", |value| value.strip_prefix("Bearer ").unwrap());
    let timestamp = call.header("X-TIMESTAMP").unwrap_or_default();
    let text = text_by_standard(&call.method, PATH, Some(token), &call.body, timestamp);
    let bytes = hmac_by_rfc(b"secret-1", text.as_bytes());
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    call.header("X-SIGNATURE").is_some_and(|sent| sent == STANDARD.encode(&bytes) || sent == hex)
}

/// One row: what differs, whether the call is still signed rightly, and the knobs.
async fn check(kit: &Kit, rows: Vec<(&str, bool, Knobs)>) {
    let plain = prepare(kit, &honest()).await;
    assert!(is_signed(&plain));
    for (expected, signed, knobs) in rows {
        let call = prepare(kit, &knobs).await;
        assert_eq!(differences(&plain, &call).join(" "), expected, "{knobs:?}");
        assert_eq!(is_signed(&call), signed, "{knobs:?}");
    }
}

#[tokio::test]
async fn knobs_about_signatures_and_headers_change_those_alone() {
    let kit = Kit::open().await;
    let missing = |name: &str| Knobs { missing_header: Some(name.to_owned()), ..honest() };
    let token = |token| Knobs { token, ..honest() };
    check(
        &kit,
        vec![
            ("", true, honest()),
            ("body", false, Knobs { changed_body: true, ..honest() }),
            ("X-SIGNATURE", false, Knobs { signed_path: Some("/v1.0/transfer-va/payment".into()), ..honest() }),
            ("X-SIGNATURE", true, Knobs { hex_signature: true, ..honest() }),
            ("X-SIGNATURE", false, Knobs { signature: Some("AAAA".into()), ..honest() }),
            ("body", false, Knobs { white_space: true, ..honest() }),
            ("X-SIGNATURE X-TIMESTAMP", true, Knobs { skew_ms: -STALE_MS, ..honest() }),
            ("X-SIGNATURE X-TIMESTAMP", true, Knobs { timestamp: Some("2026-01-15T03:20:30Z".into()), ..honest() }),
            ("Authorization X-SIGNATURE", true, token(TokenChoice::Invented)),
            ("Authorization X-SIGNATURE", true, token(TokenChoice::Given("token-of-another".into()))),
            ("Authorization X-SIGNATURE", true, token(TokenChoice::Absent)),
            ("", true, token(TokenChoice::Last)),
            ("X-EXTERNAL-ID", true, Knobs { external_id: Some("9".into()), ..honest() }),
            ("X-EXTERNAL-ID", true, missing("x-external-id")),
            ("CHANNEL-ID", true, missing("CHANNEL-ID")),
            ("X-PARTNER-ID", true, missing("X-PARTNER-ID")),
            ("X-SIGNATURE", false, missing("X-SIGNATURE")),
            ("X-TIMESTAMP", false, missing("X-TIMESTAMP")),
            ("CHANNEL-ID", true, Knobs { headers: vec![("channel-id".into(), "x".into())], ..honest() }),
            ("X-MORE", true, Knobs { headers: vec![("X-MORE".into(), "x".into())], ..honest() }),
            ("X-SIGNATURE method", true, Knobs { method: Some("GET".into()), ..honest() }),
            ("", true, Knobs { lost_answer: true, ..honest() }),
        ],
    )
    .await;
    let late = prepare(&kit, &Knobs { skew_ms: -STALE_MS, ..honest() }).await;
    assert_eq!(late.header("X-TIMESTAMP"), Some("2026-01-15T10:10:30+07:00"));
}

#[tokio::test]
async fn knobs_about_the_body_change_it_and_its_signature() {
    let kit = Kit::open().await;
    let plain = prepare(&kit, &honest()).await.text();
    let escaped = plain.replace("Bu/di Ñ", "Bu\\/di \\u00d1");
    let with_amount = |value: &str| plain.replace("\"10000.00\"", value);
    let amount = |amount_text| Knobs { amount_text, ..honest() };
    let padded = |partner: &str| plain.replace("\"   12345", &format!("\"{partner}"));
    let rows = vec![
        (escaped, Knobs { escaped_name: true, ..honest() }),
        (with_amount("\"10000.0\""), amount(AmountText::OneDecimal)),
        (with_amount("\"10000\""), amount(AmountText::Whole)),
        (with_amount("10000.00"), amount(AmountText::BareTwoDecimals)),
        (with_amount("10000.0"), amount(AmountText::BareOneDecimal)),
        (with_amount("10000"), amount(AmountText::BareWhole)),
        (with_amount("[1]"), amount(AmountText::Raw("[1]".into()))),
        (plain.replace("IDR", "USD"), Knobs { currency: Some("USD".into()), ..honest() }),
        (padded("12345"), Knobs { padding: Padding::None, ..honest() }),
        (padded("00012345"), Knobs { padding: Padding::Zeros, ..honest() }),
        (
            plain.replace("\"   12345\"", "\"12345   \"").replace("\"   12345", "\"12345   "),
            Knobs { padding: Padding::Right, ..honest() },
        ),
        (plain.replace("\"flagAdvise\":\"N\"", "\"flagAdvise\":\"Y\""), Knobs { flag_advise: true, ..honest() }),
        (
            plain.replace("\"additionalInfo\":{}", "\"additionalInfo\":{},\"trxId\":\"2\""),
            Knobs { duplicate_member: Some(("trxId".into(), "\"2\"".into())), ..honest() },
        ),
        (
            plain.replacen("\"value\":\"10000.00\"", "\"value\":null", 1),
            Knobs { members: vec![("paidAmount.value".into(), "null".into())], ..honest() },
        ),
        (plain.replace("\"flagAdvise\":\"N\",", ""), Knobs { missing_member: Some("flagAdvise".into()), ..honest() }),
        (
            plain.replacen("\"value\":\"10000.00\",", "", 1),
            Knobs { missing_member: Some("paidAmount.value".into()), ..honest() },
        ),
        ("{ broken".to_owned(), Knobs { raw_body: Some(b"{ broken".to_vec()), ..honest() }),
        (
            plain.replace(&"8".repeat(30), "R1").replace("\"referenceNo\":\"88888888888\"", "\"referenceNo\":\"1R\""),
            Knobs { request_id: Some("R1".into()), ..honest() },
        ),
    ];
    for (expected, knobs) in rows {
        let call = prepare(&kit, &knobs).await;
        assert_eq!(call.text(), expected, "{knobs:?}");
        assert!(is_signed(&call), "{knobs:?}");
        assert_ne!(call.text(), plain, "{knobs:?}");
    }
}

#[tokio::test]
async fn bodies_can_have_any_length_and_any_bytes() {
    let kit = Kit::open().await;
    let long = prepare(&kit, &Knobs { length: Some(65_537), ..honest() }).await;
    assert_eq!(long.body.len(), 65_537);
    assert!(is_signed(&long) && serde_json::from_slice::<Value>(&long.body).is_ok());
    let bytes = prepare(&kit, &Knobs { raw_body: Some(vec![0xff, 0, 0x7b]), white_space: true, ..honest() }).await;
    assert_eq!(bytes.body, [0xff, 0, 0x7b]);
    assert!(is_signed(&bytes));
}

#[tokio::test]
async fn white_space_is_sent_and_the_body_without_it_signed() {
    let kit = Kit::open().await;
    let (plain, spread) = (prepare(&kit, &honest()).await, Knobs { white_space: true, ..honest() });
    let spread = prepare(&kit, &spread).await;
    assert_eq!(spread.header("X-SIGNATURE"), plain.header("X-SIGNATURE"));
    let read = |call: &Prepared| serde_json::from_slice::<Value>(&call.body).unwrap();
    assert_eq!(read(&spread), read(&plain));
    assert!(spread.body.len() > plain.body.len());
}

#[tokio::test]
async fn a_negative_amount_and_another_time_are_written_as_they_are() {
    let kit = Kit::open().await;
    let payment = Payment { paid_at_ms: Some(super::door::NOW_MS + 60_000), ..Payment::of(NUMBER, -10_000) };
    let call = kit.bank.prepare_payment(&kit.contract(Style::BCA), payment, &honest()).await.unwrap();
    let body: Value = serde_json::from_slice(&call.body).unwrap();
    assert_eq!(body["paidAmount"], json!({ "value": "-10000.00", "currency": "IDR" }));
    assert_eq!(body["trxDateTime"], "2026-01-15T10:21:30+07:00");
    assert_eq!(call.header("X-TIMESTAMP"), Some("2026-01-15T10:20:30+07:00"));
}

#[tokio::test]
async fn the_last_external_id_can_be_used_again() {
    let kit = Kit::open().await;
    let contract = kit.contract(Style::BCA);
    let first = kit.bank.inquire(&contract, Inquiry::of(NUMBER), Knobs::default()).await;
    let same = Knobs { same_external_id: true, ..Knobs::default() };
    let second = kit.bank.pay(&contract, Payment::of(NUMBER, 1), same).await;
    assert_eq!(first.sent.external_id, second.sent.external_id);
}

#[tokio::test]
async fn a_token_request_can_be_spoiled_too() {
    let kit = Kit::open().await;
    let contract = kit.contract(Style::BCA);
    let prepare = |knobs: Knobs| kit.bank.prepare_token(&contract, &knobs);
    let plain = prepare(Knobs::default());
    let stale = prepare(Knobs { skew_ms: STALE_MS, ..Knobs::default() });
    assert_eq!(differences(&plain, &stale), ["X-SIGNATURE", "X-TIMESTAMP"]);
    let missing = prepare(Knobs { missing_header: Some("X-CLIENT-KEY".into()), ..Knobs::default() });
    assert_eq!(differences(&plain, &missing), ["X-CLIENT-KEY"]);
    let grant = prepare(Knobs { members: vec![("grantType".into(), "\"password\"".into())], ..Knobs::default() });
    assert_eq!(
        (differences(&plain, &grant), grant.text()),
        (vec!["body".into()], r#"{"grantType":"password"}"#.into())
    );
    let hex = prepare(Knobs { hex_signature: true, ..Knobs::default() });
    assert_eq!(
        (differences(&plain, &hex), hex.header("X-SIGNATURE").unwrap().len()),
        (vec!["X-SIGNATURE".into()], 512)
    );
}
