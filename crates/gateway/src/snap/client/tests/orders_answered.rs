//! What answers about orders mean, above all wrong and hostile ones: what may have been carried out is never called
//! refused, and what the bank says of something else is not believed.

use domain::destination::Rail;
use serde_json::{Value, json};

use super::{
    orders::{BANK, NUMBER, PAID_BACK, SOURCE, order, refund_asked, refund_order, status_question},
    support::{Account, Act, Bank, HASTY, PATIENT, REFERENCE, answer},
};
use crate::snap::{
    CallError, NameAsked, NameTold, OrderSent, OrderStanding, RefundAsked, Shown, TransferAsked, TransferNotice,
    Verdict,
};

fn account(bank: &Bank) -> Account {
    Account::with(&bank.url, "generic", PATIENT, &[SOURCE, ("refund", "78")])
}

async fn transferred(act: Act) -> OrderSent {
    let bank = Bank::start(vec![act]).await;
    let account = account(&bank);
    account.client.transfer(&account.context(), &order(Rail::Intrabank), true).await
}

async fn refunded(act: Act) -> OrderSent {
    let bank = Bank::start(vec![act]).await;
    let account = account(&bank);
    account.client.refund(&account.context(), &refund_order(), true).await
}

#[tokio::test]
async fn an_answer_decides_by_status_and_code_together() {
    for (status, code, verdict) in [
        ("200 OK", "2001700", Verdict::Done),
        ("200 OK", "", Verdict::Unknown),
        ("200 OK", "2021700", Verdict::Unknown),
        ("202 Accepted", "2021700", Verdict::Unknown),
        ("202 Accepted", "2001700", Verdict::Unknown),
        ("400 Bad Request", "4001701", Verdict::NotTaken),
        ("401 Unauthorized", "4011700", Verdict::NotTaken),
        ("401 Unauthorized", "4011701", Verdict::NotTaken),
        ("403 Forbidden", "4031714", Verdict::NoMoney),
        ("403 Forbidden", "4031706", Verdict::CutOff),
        ("403 Forbidden", "4031702", Verdict::OverLimit),
        ("404 Not Found", "4041711", Verdict::WrongDestination),
        ("404 Not Found", "4041718", Verdict::Unknown),
        ("404 Not Found", "", Verdict::Unknown),
        ("409 Conflict", "4091700", Verdict::Unknown),
        ("409 Conflict", "4091701", Verdict::Unknown),
        ("429 Too Many Requests", "4291700", Verdict::Unknown),
        ("500 Error", "5001700", Verdict::Unknown),
        ("500 Error", "4031714", Verdict::Unknown),
        ("504 Timeout", "5041700", Verdict::Unknown),
        ("301 Moved", "", Verdict::Unknown),
    ] {
        let found = transferred(answer(status, &json!({ "responseCode": code }).to_string())).await;
        assert_eq!(found.verdict, verdict, "{status} {code}: {found:?}");
        let health = found.error.as_ref().is_some_and(CallError::is_fault);
        assert_eq!(
            health,
            status.starts_with('5') || status.starts_with("401 ") && code != "4011701",
            "{status} {code}"
        );
    }
    for (status, code, verdict) in [
        ("200 OK", "2007800", Verdict::Done),
        ("403 Forbidden", "4037815", Verdict::NotThisWay),
        ("405 Method Not Allowed", "4057801", Verdict::NotThisWay),
        ("405 Method Not Allowed", "", Verdict::Unknown),
        ("404 Not Found", "4047813", Verdict::AboveWhatIsLeft),
        ("404 Not Found", "4047801", Verdict::Unknown),
    ] {
        let found = refunded(answer(status, &json!({ "responseCode": code }).to_string())).await;
        assert_eq!(found.verdict, verdict, "{status} {code}: {found:?}");
    }
}

#[tokio::test]
async fn silence_and_nonsense_are_unknown() {
    let long = format!(r#"{{"responseCode":"2001700","x":"{}"}}"#, "x".repeat(1024 * 1024));
    for act in [
        Act::Close,
        Act::Answer("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{".to_owned()),
        answer("200 OK", "<html>"),
        answer("200 OK", "[]"),
        answer("200 OK", "{\"responseCode\":\"2001700\""),
        answer("200 OK", "{\"responseCode\":[\"2001700\"]}"),
        answer("200 OK", &long),
    ] {
        assert_eq!(transferred(act.clone()).await.verdict, Verdict::Unknown);
        assert_eq!(refunded(act).await.verdict, Verdict::Unknown);
    }
    let bank = Bank::start(vec![Act::Drip]).await;
    let account = Account::with(&bank.url, "generic", HASTY, &[SOURCE]);
    let found = account.client.transfer(&account.context(), &order(Rail::Online), true).await;
    assert_eq!((found.verdict, found.code.as_str()), (Verdict::Unknown, "timeout"));
}

#[tokio::test]
async fn an_order_that_never_left_is_known_not_to_have() {
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let account = Account::with(&format!("http://{closed}"), "generic", PATIENT, &[SOURCE, ("sign_out", "type2")]);
    let found = account.client.transfer(&account.context(), &order(Rail::Online), true).await;
    assert_eq!((found.verdict, found.code.as_str()), (Verdict::NotSent, "not_reached"));
    // No token, no order.
    for token in [answer("503 Busy", ""), Act::Close, answer("401 No", r#"{"responseCode":"4017300"}"#)] {
        let bank = Bank::with_token(vec![answer("200 OK", r#"{"responseCode":"2001700"}"#)], Some(token)).await;
        let account = Account::with(&bank.url, "generic", PATIENT, &[SOURCE]);
        let found = account.client.transfer(&account.context(), &order(Rail::Intrabank), true).await;
        assert_eq!((found.verdict, bank.calls().len()), (Verdict::NotSent, 0));
    }
}

#[tokio::test]
async fn a_success_about_something_else_is_none() {
    let good = json!({
        "responseCode": "2001700", "partnerReferenceNo": REFERENCE, "referenceNo": "B-9", "beneficiaryAccountNo": "0012-3456 7890",
        "amount": { "value": "50000.00", "currency": "IDR" },
    });
    let found = transferred(answer("200 OK", &good.to_string())).await;
    assert_eq!((found.verdict, found.bank_reference.as_deref()), (Verdict::Done, Some("B-9")));
    for (member, value) in [
        ("partnerReferenceNo", json!("OTHER")),
        ("amount", json!({ "value": "50001.00", "currency": "IDR" })),
        ("beneficiaryAccountNo", json!("1234567891")),
    ] {
        let mut told = good.clone();
        told[member] = value;
        assert_eq!(transferred(answer("200 OK", &told.to_string())).await.verdict, Verdict::Unknown, "{member}");
    }
    for (member, value) in [("partnerRefundNo", json!("OTHER")), ("refundAmount", json!({ "value": "1.00" }))] {
        let told = json!({ "responseCode": "2007800", member: value });
        assert_eq!(refunded(answer("200 OK", &told.to_string())).await.verdict, Verdict::Unknown, "{member}");
    }
}

#[tokio::test]
async fn a_refused_message_proves_nothing_when_the_reference_was_sent_before() {
    for (status, code) in [("400 Bad Request", "4001702"), ("401 Unauthorized", "4011701")] {
        let bank = Bank::start(vec![answer(status, &json!({ "responseCode": code }).to_string())]).await;
        let account = account(&bank);
        let found = account.client.transfer(&account.context(), &order(Rail::Intrabank), false).await;
        assert_eq!(found.verdict, Verdict::ProvesNothing, "{code}");
    }
}

async fn standing(status: &str, told: &Value, question: &TransferAsked<'_>) -> Result<OrderStanding, CallError> {
    let bank = Bank::start(vec![answer(status, &told.to_string())]).await;
    let account = account(&bank);
    account.client.transfer_standing(&account.context(), question).await
}

#[tokio::test]
async fn a_transfer_stands_as_its_status_says() {
    let both =
        json!({ "amount": { "value": "50000.00" }, "beneficiaryAccountNo": NUMBER, "originalReferenceNo": "B-9" });
    let done = |shown, name: Option<&str>| OrderStanding::Done { bank_reference: name.map(str::to_owned), shown };
    for (status, extra, expected) in [
        ("00", both.clone(), done(Shown::Both, Some("B-9"))),
        ("00", json!({}), done(Shown::Less, None)),
        ("00", json!({ "beneficiaryAccountNo": "12345*****" }), done(Shown::Less, None)),
        ("00", json!({ "amount": { "value": "49999.00" } }), OrderStanding::Differs),
        ("00", json!({ "beneficiaryAccountNo": "999" }), OrderStanding::Differs),
        ("04", both.clone(), OrderStanding::Returned),
        ("04", json!({ "amount": { "value": "1.00" } }), OrderStanding::Differs),
        ("01", both.clone(), OrderStanding::Waiting),
        ("02", json!({}), OrderStanding::Waiting),
        ("03", json!({}), OrderStanding::Waiting),
        ("05", json!({}), OrderStanding::NotDone),
        ("06", both, OrderStanding::NotDone),
        ("07", json!({}), OrderStanding::NotFound),
        ("08", json!({}), OrderStanding::AskAgain),
        ("ok", json!({}), OrderStanding::AskAgain),
    ] {
        let mut told = extra;
        told["responseCode"] = json!("2003600");
        told["latestTransactionStatus"] = json!(status);
        assert_eq!(standing("200 OK", &told, &status_question(Rail::Online)).await, Ok(expected), "{told}");
    }
    for (status, code, expected) in
        [("404 Not Found", "4043601", OrderStanding::NotFound), ("202 Accepted", "2023600", OrderStanding::AskAgain)]
    {
        assert_eq!(
            standing(status, &json!({ "responseCode": code }), &status_question(Rail::Online)).await,
            Ok(expected)
        );
    }
}

#[tokio::test]
async fn an_order_through_the_clearing_is_done_when_the_answer_says_so() {
    for (rail, service) in [(Rail::Skn, "23"), (Rail::Rtgs, "22")] {
        for (told, verdict) in [
            (json!({ "transactionStatus": "00" }), Verdict::Done),
            (json!({ "transactionStatus": "03" }), Verdict::Unknown),
            (json!({ "transactionStatus": "06" }), Verdict::Unknown),
            (json!({}), Verdict::Unknown),
        ] {
            let mut told = told;
            told["responseCode"] = json!(format!("200{service}00"));
            let bank = Bank::start(vec![answer("200 OK", &told.to_string())]).await;
            let account = account(&bank);
            let found = account.client.transfer(&account.context(), &order(rail), true).await;
            assert_eq!(found.verdict, verdict, "{told}");
        }
    }
}

#[test]
fn a_notice_says_what_became_of_a_transfer_only_with_our_amount() {
    let ours = json!({ "value": "50000.00", "currency": "IDR" });
    let read = |status: &str, amount: &Value, number: &str| {
        let told = json!({
            "originalPartnerReferenceNo": REFERENCE, "latestTransactionStatus": status, "amount": amount,
            "beneficiaryAccountNo": number,
        });
        let notice = TransferNotice::read(told).unwrap();
        assert_eq!(notice.reference, REFERENCE);
        notice.standing(&status_question(Rail::Skn))
    };
    let done = |shown| OrderStanding::Done { bank_reference: None, shown };
    for (status, expected) in [
        ("00", done(Shown::Both)),
        ("04", OrderStanding::Returned),
        ("05", OrderStanding::NotDone),
        ("06", OrderStanding::NotDone),
        ("03", OrderStanding::Waiting),
        ("07", OrderStanding::NotFound),
        ("99", OrderStanding::AskAgain),
    ] {
        assert_eq!(read(status, &ours, NUMBER), expected, "{status}");
        assert_eq!(read(status, &json!({ "value": "1.00" }), NUMBER), OrderStanding::Differs, "{status}");
        assert_eq!(read(status, &ours, "999999"), OrderStanding::Differs, "{status}");
        assert_eq!(read(status, &Value::Null, NUMBER), OrderStanding::AskAgain, "{status}");
    }
    assert_eq!(read("00", &ours, "12345*****"), done(Shown::Less));
    for (told, missing) in [
        (json!({ "latestTransactionStatus": "00" }), "originalPartnerReferenceNo"),
        (json!({ "originalPartnerReferenceNo": " ", "latestTransactionStatus": "00" }), "originalPartnerReferenceNo"),
        (json!({ "originalPartnerReferenceNo": REFERENCE }), "latestTransactionStatus"),
        (json!([]), "originalPartnerReferenceNo"),
    ] {
        assert_eq!(TransferNotice::read(told), Err(missing));
    }
}

#[tokio::test]
async fn what_is_no_word_about_our_transfer_is_an_error() {
    for (status, told) in [
        ("200 OK", json!({ "responseCode": "2003600" })),
        ("200 OK", json!({ "latestTransactionStatus": "00", "originalPartnerReferenceNo": "OTHER" })),
        ("404 Not Found", json!({})),
        ("404 Not Found", json!({ "responseCode": "4043600" })),
        ("404 Not Found", json!({ "responseCode": "2003601" })),
        ("500 Error", json!({ "responseCode": "5003600", "latestTransactionStatus": "06" })),
        ("429 Too Many Requests", json!({ "responseCode": "4293600" })),
        ("200 OK", json!([])),
    ] {
        let found = standing(status, &told, &status_question(Rail::Online)).await;
        assert!(found.is_err(), "{status} {told}: {found:?}");
    }
}

#[tokio::test]
async fn a_refund_stands_as_its_entry_in_the_history_says() {
    let entry = |status: &str| json!({ "partnerRefundNo": "R3FUND", "refundNo": "B-R", "refundStatus": status });
    let other = json!({ "partnerRefundNo": "OTHER", "refundStatus": "00" });
    let mut wrong = entry("00");
    wrong["refundAmount"] = json!({ "value": "49999.00", "currency": "IDR" });
    let mut right = entry("00");
    right["refundAmount"] = json!({ "value": "50000.00", "currency": "IDR" });
    let done = |shown| OrderStanding::Done { bank_reference: Some("B-R".to_owned()), shown };
    for (history, status, is_whole, expected) in [
        (json!([right]), "00", false, done(Shown::Both)),
        (json!([other, entry("00")]), "00", false, done(Shown::Less)),
        (json!([wrong]), "00", false, OrderStanding::Differs),
        (json!([entry("03")]), "00", false, OrderStanding::Waiting),
        (json!([entry("06")]), "00", false, OrderStanding::NotDone),
        (json!([entry("06"), entry("03")]), "00", false, OrderStanding::Waiting),
        (json!([entry("06"), entry("00")]), "00", false, done(Shown::Less)),
        (json!([entry("99")]), "00", false, OrderStanding::AskAgain),
        (json!([other]), "04", true, OrderStanding::NotFound),
        (json!([]), "00", false, OrderStanding::NotFound),
        (json!(["R3FUND", null, 7]), "00", false, OrderStanding::NotFound),
        // 51 has no history: only a payment that was given back in one piece says so.
        (Value::Null, "04", true, OrderStanding::Done { bank_reference: None, shown: Shown::Less }),
        (Value::Null, "04", false, OrderStanding::AskAgain),
        (Value::Null, "00", true, OrderStanding::AskAgain),
        (json!("none"), "00", true, OrderStanding::AskAgain),
    ] {
        let told = json!({
            "responseCode": "2005500", "originalPartnerReferenceNo": REFERENCE, "latestTransactionStatus": status,
            "refundHistory": history,
        });
        let bank = Bank::start(vec![answer("200 OK", &told.to_string())]).await;
        let account = account(&bank);
        let question = RefundAsked { is_whole, ..refund_asked() };
        let found = account.client.refund_standing(&account.context(), &question).await;
        assert_eq!(found, Ok(expected), "{told}");
    }
    let told = json!({ "refundHistory": [entry("06"), right] });
    for (settings, expected) in [
        (vec![], done(Shown::Both)),
        // The issuer's reference is that of all refunds of the payment.
        (vec![("refund_reference", "issuers"), ("resend", "never")], OrderStanding::AskAgain),
    ] {
        let bank = Bank::start(vec![answer("200 OK", &told.to_string())]).await;
        let account = Account::with(&bank.url, "dana", PATIENT, &settings);
        let found = account.client.refund_standing(&account.context(), &refund_asked()).await;
        assert_eq!(found, Ok(expected), "{settings:?}");
    }
    let told = json!({ "originalPartnerReferenceNo": "OTHER", "refundHistory": [entry("00")] });
    let bank = Bank::start(vec![answer("200 OK", &told.to_string())]).await;
    let account = account(&bank);
    assert!(account.client.refund_standing(&account.context(), &refund_asked()).await.is_err());
}

#[tokio::test]
async fn a_name_is_the_banks_or_none() {
    let asked = NameAsked { rail: Rail::Online, reference: REFERENCE, bank: BANK, number: NUMBER, amount: PAID_BACK };
    let named = |name: &str| Ok(NameTold::Named(name.to_owned()));
    let no_account = |code: &str| Ok(NameTold::NoAccount { code: code.to_owned() });
    for (status, told, expected) in [
        ("200 OK", json!({ "beneficiaryAccountName": "<b>SITI\u{7}\n</b>" }), Some(named("<b>SITI</b>"))),
        ("200 OK", json!({ "beneficiaryAccountName": "x".repeat(5_000) }), Some(named(&"x".repeat(100)))),
        ("200 OK", json!({ "beneficiaryAccountName": " " }), None),
        ("200 OK", json!({ "beneficiaryAccountName": "SITI", "beneficiaryAccountNo": "1" }), None),
        ("200 OK", json!({ "beneficiaryAccountName": "SITI", "partnerReferenceNo": "OTHER" }), None),
        ("404 Not Found", json!({ "responseCode": "4041611" }), Some(no_account("4041611"))),
        ("403 Forbidden", json!({ "responseCode": "4031618" }), Some(no_account("4031618"))),
        ("403 Forbidden", json!({ "responseCode": "4031615" }), None),
        ("500 Error", json!({ "responseCode": "5001600" }), None),
    ] {
        let bank = Bank::start(vec![answer(status, &told.to_string())]).await;
        let account = account(&bank);
        let found = account.client.beneficiary_name(&account.context(), &asked).await;
        match expected {
            Some(expected) => assert_eq!(found, expected, "{told}"),
            None => assert!(found.is_err(), "{told}: {found:?}"),
        }
    }
}
