//! What is sent for codes and about them, and what the answers mean.

use domain::{bank_money::MoneyMarks, money::Rupiah, time::Timestamp};
use serde_json::{Value, json};

use super::support::{
    AMOUNT, Account, Bank, CLIENT_ID, KEY, NUMBER, PATIENT, REFERENCE, answer, body, changed_qr, header, issued_qr,
    now, order, qr, question,
};
use crate::snap::{
    BankMoney, CallError, CodeAsked, CodeKind, CodeOrder, IssuedCode, PublicKey, SignedRequest, Standing, Voided,
    verify_type1, verify_type2,
};

const BILL: &str = r#"{"currency":"IDR","value":"150000.00"}"#;

fn signed<'a>(request: &'a str, method: &'a str, timestamp: &'a str) -> SignedRequest<'a> {
    let path = request.split(' ').nth(1).unwrap();
    SignedRequest { method, path, body: request.split_once("\r\n\r\n").unwrap().1.as_bytes(), timestamp }
}

#[tokio::test]
async fn a_call_with_a_token_is_signed_over_the_bytes_that_are_sent() {
    let bank = Bank::start(vec![answer("200 OK", &issued_qr(&qr(AMOUNT)))]).await;
    let account = Account::with(&bank.url, "bri-qris", PATIENT, &[("channel_id", "00009"), ("partner_id", "SHOP")]);
    let issued = IssuedCode { code: qr(AMOUNT), bank_reference: Some("B-1".to_owned()) };
    assert_eq!(account.issue(CodeKind::Qr).await, Ok(issued));
    let request = bank.calls().remove(0);
    assert!(request.starts_with("POST /gateway/snap/v1.1/qr/qr-mpm-generate HTTP/1.1\r\n"), "{request}");
    let header = |name| header(&request, name).unwrap_or_default();
    assert_eq!(header("Authorization"), "Bearer token-1");
    assert_eq!(header("X-TIMESTAMP"), "2026-01-15T10:20:30.500+07:00");
    assert_eq!((header("X-PARTNER-ID"), header("X-EXTERNAL-ID")), ("SHOP".to_owned(), "123456789".to_owned()));
    assert_eq!((header("CHANNEL-ID"), header("Content-Type")), ("00009".to_owned(), "application/json".to_owned()));
    let timestamp = header("X-TIMESTAMP");
    let signed = signed(&request, "POST", &timestamp);
    assert!(verify_type1(&account.secret, "token-1", &signed, &header("X-SIGNATURE")));
    let sent = format!(
        r#"{{"amount":{BILL},"merchantId":"M1","partnerReferenceNo":"{REFERENCE}","storeId":"S1","terminalId":"T1","validityPeriod":"2026-01-15T11:20:30+07:00"}}"#
    );
    assert_eq!(std::str::from_utf8(signed.body).unwrap(), sent);
}

#[tokio::test]
async fn a_call_without_a_token_is_signed_by_our_key() {
    let bank = Bank::start(vec![answer("200 OK", &issued_qr(&qr(AMOUNT)))]).await;
    assert!(Account::at(&bank, "dana").issue(CodeKind::Qr).await.is_ok());
    assert_eq!(bank.token_requests(), [""; 0]);
    let request = bank.calls().remove(0);
    assert_eq!(header(&request, "Authorization"), None);
    assert_eq!(header(&request, "X-PARTNER-ID").as_deref(), Some(CLIENT_ID));
    assert_eq!(header(&request, "CHANNEL-ID").as_deref(), Some("95221"));
    let key = PublicKey::from_pem(&KEY.public_key_pem()).unwrap();
    let timestamp = header(&request, "X-TIMESTAMP").unwrap();
    let signature = header(&request, "X-SIGNATURE").unwrap();
    assert!(verify_type2(&key, &signed(&request, "POST", &timestamp), &signature));
}

#[tokio::test]
async fn a_qr_is_checked_before_anyone_sees_it() {
    for (code, wrong) in [
        (qr(Rupiah::new(150_001)), "the QR is for Rp150.001, and Rp150.000 was ordered"),
        (qr(AMOUNT).replace("150000", "150001"), "the QR does not match its checksum, so it was changed or cut"),
        (changed_qr("010212", "010211"), "the QR is not for a single payment"),
        (changed_qr("5303360", "5303840"), "the QR is not in rupiah"),
        (changed_qr("5802ID", "5802SG"), "the QR is of another country"),
        (changed_qr("5406150000", ""), "the QR has no amount"),
        ("0".repeat(513), "the QR is longer than 512 characters"),
        (
            changed_qr("5904TOKO", &format!("5904TOKO81{0}{1}82{0}{1}83{0}{1}84{0}{1}", 99, "x".repeat(99))),
            "the QR is longer than 512 characters",
        ),
        (String::new(), "the answer has no qrContent"),
    ] {
        let bank = Bank::start(vec![answer("200 OK", &issued_qr(&code))]).await;
        let refused = CallError::Refused { code: "bad_qr".to_owned(), message: wrong.to_owned() };
        let found = Account::at(&bank, "dana").issue(CodeKind::Qr).await;
        assert_eq!(found, Err(refused), "{code}");
    }
}

#[tokio::test]
async fn an_answer_about_another_order_has_no_meaning() {
    let other = issued_qr(&qr(AMOUNT)).replace(REFERENCE, "OTHER");
    let bank = Bank::start(vec![answer("200 OK", &other)]).await;
    let found = Account::at(&bank, "dana").issue(CodeKind::Qr).await;
    assert!(matches!(found, Err(CallError::Unknown(_))), "{found:?}");
    let other = json!({ "originalPartnerReferenceNo": "OTHER", "latestTransactionStatus": "00" });
    let bank = Bank::start(vec![answer("200 OK", &other.to_string())]).await;
    let found = Account::at(&bank, "dana").query(CodeKind::Qr).await;
    assert!(matches!(found, Err(CallError::Unknown(_))), "{found:?}");
}

#[tokio::test]
async fn a_bank_that_is_asked_by_its_own_reference_must_answer_with_ours() {
    let whole = json!({
        "originalPartnerReferenceNo": REFERENCE, "originalReferenceNo": "B-1", "latestTransactionStatus": "00",
        "amount": { "value": "150000.00" }, "issuerRrn": "1", "paymentReferenceNo": "1",
    });
    let mut nameless = whole.clone();
    nameless["originalPartnerReferenceNo"] = Value::Null;
    for (profile, told, is_taken) in [
        ("bri-qris", &whole, true),
        ("bri-qris", &nameless, false),
        // What was found by our reference is about it.
        ("dana", &nameless, true),
    ] {
        let bank = Bank::start(vec![answer("200 OK", &told.to_string())]).await;
        let found = Account::at(&bank, profile).query(CodeKind::Qr).await;
        match is_taken {
            true => assert!(matches!(found, Ok(Standing::Paid(_))), "{profile} {found:?}"),
            false => assert!(matches!(found, Err(CallError::Unknown(_))), "{profile} {found:?}"),
        }
    }
}

fn issued_va(number: Value) -> String {
    let data = json!({ "partnerServiceId": "   88899", "virtualAccountNo": number, "trxId": REFERENCE });
    json!({ "responseCode": "2002700", "virtualAccountData": data }).to_string()
}

#[tokio::test]
async fn a_virtual_account_is_ordered_with_padding_and_a_plain_name() {
    let bank = Bank::start(vec![answer("200 OK", &issued_va(json!("   8889912345678901")))]).await;
    let issued = IssuedCode { code: NUMBER.to_owned(), bank_reference: None };
    let account = Account::with(&bank.url, "generic", PATIENT, &[("hosting", "theirs"), ("va_info", "channel:VA_BCA")]);
    assert_eq!(account.issue(CodeKind::Va).await, Ok(issued));
    let sent = json!({
        "partnerServiceId": "   88899",
        "customerNo": "12345678901",
        "virtualAccountNo": "   8889912345678901",
        "virtualAccountName": "CAFE MULLER SON",
        "trxId": REFERENCE,
        "totalAmount": { "value": "150000.00", "currency": "IDR" },
        "virtualAccountTrxType": "C",
        "expiredDate": "2026-01-15T11:20:30+07:00",
        "additionalInfo": { "channel": "VA_BCA" },
    });
    assert_eq!(body(&bank.calls()[0]), sent);
}

#[tokio::test]
async fn a_number_is_the_one_that_was_ordered_in_digits_of_a_length_that_is_allowed() {
    for (number, wrong) in [
        (json!("   8889912345678901"), None),
        (json!("0008889912345678901"), None),
        (json!(8_889_912_345_678_901_i64), None),
        // The number that we chose is known without the answer.
        (json!(null), None),
        (json!("8889912345678902"), Some("the number is not the one that was ordered")),
        (json!("88899-12345678901"), Some("the number has more than digits")),
        (json!("8".repeat(29)), Some("the number has a length that the bank does not allow")),
    ] {
        let bank = Bank::start(vec![answer("200 OK", &issued_va(number.clone()))]).await;
        let found = Account::at(&bank, "briva-ws").issue(CodeKind::Va).await;
        let expected = match wrong {
            None => Ok(IssuedCode { code: NUMBER.to_owned(), bank_reference: None }),
            Some(wrong) => Err(CallError::Refused { code: "bad_number".to_owned(), message: wrong.to_owned() }),
        };
        assert_eq!(found, expected, "{number}");
    }
}

#[tokio::test]
async fn a_number_that_the_bank_chooses_is_read_from_its_answer() {
    let bank = Bank::start(vec![answer("200 OK", &issued_va(json!("   88899777"))), answer("200 OK", "{}")]).await;
    let account = Account::with(&bank.url, "doku", PATIENT, &[("codes", "va"), ("numbers", "theirs")]);
    let order = CodeOrder { number: None, ..order(CodeKind::Va) };
    assert_eq!(account.client.issue(&account.context(), &order).await.unwrap().code, "88899777");
    assert_eq!(body(&bank.calls()[0]).get("customerNo"), None);
    assert_eq!(account.client.issue(&account.context(), &order).await.unwrap_err().code(), "bad_number");
}

#[tokio::test]
async fn a_qr_stands_where_its_status_says() {
    let money = BankMoney {
        receipt_id: "B-1".to_owned(),
        amount: AMOUNT,
        paid_at: Some(Timestamp::parse("2026-01-15T04:00:00Z").unwrap()),
        marks: MoneyMarks { bank_reference: Some("B-1".to_owned()), ..MoneyMarks::default() },
    };
    let code = Some(IssuedCode { code: qr(AMOUNT), bank_reference: Some("B-1".to_owned()) });
    for (status, standing) in [
        ("00", Standing::Paid(money)),
        ("01", Standing::Unpaid { code: code.clone() }),
        ("02", Standing::Processing),
        ("03", Standing::Unpaid { code }),
        ("04", Standing::Refunded),
        ("05", Standing::Ended),
        ("06", Standing::Ended),
        ("07", Standing::AskAgain),
        ("99", Standing::AskAgain),
    ] {
        let told = json!({
            "responseCode": "2005100", "originalReferenceNo": "B-1", "originalPartnerReferenceNo": REFERENCE,
            "latestTransactionStatus": status, "amount": { "value": "150000.00", "currency": "IDR" },
            "paidTime": "2026-01-15T11:00:00+07:00", "qrContent": qr(AMOUNT), "unknown": [1],
        });
        let bank = Bank::start(vec![answer("200 OK", &told.to_string())]).await;
        assert_eq!(Account::at(&bank, "bri-qris").query(CodeKind::Qr).await, Ok(standing), "{status}");
        let sent = json!({
            "originalReferenceNo": "B-1", "originalPartnerReferenceNo": REFERENCE, "serviceCode": "17",
            "merchantId": "M1", "terminalId": "T1", "externalStoreId": "S1",
        });
        assert_eq!(body(&bank.calls()[0]), sent);
    }
}

#[tokio::test]
async fn a_query_gives_no_code_that_could_not_be_shown() {
    let told = json!({ "latestTransactionStatus": "03", "qrContent": qr(Rupiah::new(1)) });
    let bank = Bank::start(vec![answer("200 OK", &told.to_string())]).await;
    assert_eq!(Account::at(&bank, "dana").query(CodeKind::Qr).await, Ok(Standing::Unpaid { code: None }));
    let told = json!({ "virtualAccountData": { "virtualAccountNo": "88899-1", "latestTransactionStatus": "03" } });
    let bank = Bank::start(vec![answer("200 OK", &told.to_string())]).await;
    let account = Account::with(&bank.url, "doku", PATIENT, &[("codes", "va"), ("numbers", "theirs")]);
    let asked = CodeAsked { number: None, ..question(CodeKind::Va) };
    let found = account.client.query(&account.context(), &asked).await;
    assert_eq!(found, Ok(Standing::Unpaid { code: None }));
}

#[tokio::test]
async fn money_without_an_id_or_an_amount_is_asked_for_again() {
    let whole = json!({ "latestTransactionStatus": "00", "originalReferenceNo": "B-1", "amount": { "value": "1000" } });
    for missing in ["originalReferenceNo", "amount"] {
        let mut told = whole.clone();
        told[missing] = json!(null);
        let bank = Bank::start(vec![answer("200 OK", &told.to_string())]).await;
        assert_eq!(Account::at(&bank, "dana").query(CodeKind::Qr).await, Ok(Standing::AskAgain), "{missing}");
    }
}

#[tokio::test]
async fn a_virtual_account_stands_where_the_bank_says_in_one_of_three_ways() {
    let paid = json!({ "paymentRequestId": "P-1", "paidAmount": { "value": 150_000, "currency": "IDR" },
        "trxDateTime": "2026-01-15T11:00:00" });
    let money = BankMoney {
        receipt_id: "P-1".to_owned(),
        amount: AMOUNT,
        paid_at: Some(Timestamp::parse("2026-01-15T04:00:00Z").unwrap()),
        marks: MoneyMarks::default(),
    };
    let marks = MoneyMarks { lacks_amount: true, ..MoneyMarks::default() };
    let unnamed = BankMoney { receipt_id: "unnamed::".to_owned(), amount: AMOUNT, paid_at: None, marks };
    assert!(unnamed.is_unnamed() && !money.is_unnamed());
    let with = |member: &str, value: &str| {
        let mut told = paid.clone();
        told["virtualAccountNo"] = json!("   8889912345678901");
        told[member] = json!(value);
        told
    };
    let code = || Some(IssuedCode { code: NUMBER.to_owned(), bank_reference: None });
    for (data, beside, standing) in [
        (with("latestTransactionStatus", "00"), json!({}), Standing::Paid(money.clone())),
        (with("latestTransactionStatus", "03"), json!({}), Standing::Unpaid { code: code() }),
        (with("paymentFlagStatus", "00"), json!({}), Standing::Paid(money.clone())),
        (with("paymentFlagStatus", "01"), json!({}), Standing::Unpaid { code: code() }),
        (with("paymentFlagStatus", "02"), json!({}), Standing::AskAgain),
        (with("x", "y"), json!({ "paidStatus": "Y" }), Standing::Paid(money)),
        (with("x", "y"), json!({ "paidStatus": "N" }), Standing::Unpaid { code: code() }),
        // Paid, and no more than that: it is the bill's money, which the bank does not name.
        (json!({}), json!({ "paidStatus": "Y" }), Standing::Paid(unnamed)),
        // An amount that cannot be read is not taken for the bill's.
        (with("paidAmount", "much"), json!({ "paidStatus": "Y" }), Standing::AskAgain),
    ] {
        let told = json!({ "responseCode": "2002600", "virtualAccountData": data, "additionalInfo": beside });
        let bank = Bank::start(vec![answer("200 OK", &told.to_string())]).await;
        assert_eq!(Account::at(&bank, "briva-ws").query(CodeKind::Va).await, Ok(standing), "{told}");
    }
    let bank = Bank::start(vec![answer("200 OK", r#"{"virtualAccountData":{"virtualAccountNo":"88899777"}}"#)]).await;
    let other = Account::at(&bank, "briva-ws").query(CodeKind::Va).await;
    assert!(matches!(other, Err(CallError::Unknown(_))), "{other:?}");
}

#[tokio::test]
async fn refusals_about_a_code_say_where_it_stands() {
    for (code, standing, voided) in [
        ("01", Standing::NotFound, Voided::NotFound),
        ("12", Standing::NotFound, Voided::NotFound),
        ("14", Standing::AskAgain, Voided::Paid),
        ("19", Standing::Unpaid { code: None }, Voided::Done),
    ] {
        for (profile, kind, query, void) in [
            ("midtrans", CodeKind::Qr, "51", "77"),
            ("dana", CodeKind::Qr, "55", "57"),
            ("briva-ws", CodeKind::Va, "26", "31"),
        ] {
            let refused = |service: &str| {
                answer("404 Not Found", &json!({ "responseCode": format!("404{service}{code}") }).to_string())
            };
            let bank = Bank::start(vec![refused(query), refused(void)]).await;
            let account = Account::at(&bank, profile);
            assert_eq!(account.query(kind).await, Ok(standing.clone()), "{profile} {code}");
            assert_eq!(account.void(kind).await, Ok(voided), "{profile} {code}");
        }
    }
}

#[tokio::test]
async fn a_void_names_the_code_and_uses_the_banks_method() {
    for (profile, kind, line, sent) in [
        ("midtrans", CodeKind::Qr, "POST /gateway/v1.0/qr/qr-mpm-cancel ", "originalPartnerReferenceNo"),
        ("dana", CodeKind::Qr, "POST /gateway/v1.0/debit/cancel.htm ", "originalPartnerReferenceNo"),
        ("briva-ws", CodeKind::Va, "DELETE /gateway/snap/v1.0/transfer-va/delete-va ", "trxId"),
    ] {
        let bank = Bank::start(vec![answer("200 OK", "{}")]).await;
        assert_eq!(Account::at(&bank, profile).void(kind).await, Ok(Voided::Done));
        let request = bank.calls().remove(0);
        assert!(request.starts_with(line), "{request}");
        assert_eq!(body(&request)[sent], REFERENCE);
    }
    let bank = Bank::start(vec![answer("200 OK", "{}")]).await;
    assert_eq!(Account::at(&bank, "bri-qris").void(CodeKind::Qr).await.unwrap_err().code(), "no_void");
    assert_eq!(bank.calls(), [""; 0]);
}

#[tokio::test]
async fn a_code_without_the_name_that_the_bank_knows_it_by_is_not_asked_about() {
    let bank = Bank::start(vec![answer("200 OK", "{}")]).await;
    let account = Account::at(&bank, "bri-qris");
    let nameless = CodeAsked { bank_reference: None, ..question(CodeKind::Qr) };
    let found = account.client.query(&account.context(), &nameless).await.unwrap_err();
    assert_eq!(found.code(), "no_bank_reference");
    assert_eq!(bank.calls(), [""; 0]);
}

#[tokio::test]
async fn a_report_is_asked_for_by_the_hour_in_jakarta() {
    let line = json!({ "virtualAccountNo": "   8889912345678901", "paymentRequestId": "P-1", "trxId": REFERENCE,
        "paidAmount": { "value": "150000.00" }, "feeAmount": { "value": "4000.00" } });
    let acts = [
        json!({ "virtualAccountData": [line] }),
        json!({ "responseCode": "2003500" }),
        json!({ "virtualAccountData": [{}] }),
    ];
    let mut acts: Vec<_> = acts.iter().map(|told| answer("200 OK", &told.to_string())).collect();
    acts.push(answer("404 Not Found", r#"{"responseCode":"4043501"}"#));
    let bank = Bank::start(acts).await;
    let account = Account::at(&bank, "briva-ws");
    let day = domain::bank_request::jakarta_day(now());
    let lines = account.client.report(&account.context(), day, 23).await.unwrap();
    assert_eq!((lines[0].about.number.as_deref(), lines[0].fee), (Some(NUMBER), Some(Rupiah::new(4_000))));
    assert_eq!((lines[0].money.receipt_id.as_str(), lines[0].money.amount), ("P-1", AMOUNT));
    let sent = json!({ "partnerServiceId": "   88899", "startDate": "2026-01-15", "startTime": "23:00:00+07:00",
        "endTime": "23:59:59+07:00" });
    assert_eq!(body(&bank.calls()[0]), sent);
    assert_eq!(account.client.report(&account.context(), day, 0).await, Ok(Vec::new()));
    let unread = account.client.report(&account.context(), day, 0).await;
    assert!(matches!(unread, Err(CallError::Unknown(_))), "{unread:?}");
    assert_eq!(account.client.report(&account.context(), day, 0).await, Ok(Vec::new()));
}
