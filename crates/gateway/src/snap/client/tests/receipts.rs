//! The same money told by notification, query and report is the same receipt, at every bank.

use domain::{bank_money::MoneyMarks, money::Rupiah, time::Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::support::{parameters, question};
use crate::snap::{
    BankMoney, CodeAsked, CodeKind, NotificationKind, NotificationRead, Parameters, Precision, SignIn, Standing,
    Unreadable,
    client::{qr, report::read_report, va},
    format_timestamp, read_notification,
};

/// A paid transaction, and in what ways the bank writes it.
#[derive(Clone, Debug)]
struct Paid {
    id: String,
    amount: i64,
    second: i64,
    customer: String,
    /// A way for each message.
    ways: [u8; 4],
}

fn paid() -> impl Strategy<Value = Paid> {
    let customer = "[0-9]{11}";
    ("[A-Za-z0-9-]{1,36}", 1..=Rupiah::MAX.get(), 1_700_000_000..1_900_000_000_i64, customer, any::<[u8; 4]>())
        .prop_map(|(id, amount, second, customer, ways)| Paid { id, amount, second, customer, ways })
}

impl Paid {
    fn at(&self) -> Timestamp {
        Timestamp::from_millis(self.second * 1_000)
    }

    fn money(&self) -> BankMoney {
        let (receipt_id, amount, paid_at) = (self.id.clone(), Rupiah::new(self.amount), Some(self.at()));
        BankMoney { receipt_id, amount, paid_at, marks: MoneyMarks::default() }
    }

    fn amount(&self, way: u8) -> Value {
        let value = match way % 4 {
            0 => json!(format!("{}.00", self.amount)),
            1 => json!(self.amount.to_string()),
            2 => json!(self.amount),
            _ => return json!({ "value": format!("{}.0", self.amount) }),
        };
        json!({ "value": value, "currency": "IDR" })
    }

    fn time(&self, way: u8) -> String {
        match way / 4 % 4 {
            0 => format_timestamp(self.at(), Precision::Seconds),
            1 => format_timestamp(self.at(), Precision::Milliseconds),
            2 => self.at().to_string(),
            _ => format_timestamp(self.at(), Precision::Seconds)[..19].to_owned(),
        }
    }

    fn id(&self, way: u8) -> Value {
        // Ids of digits may be bare; longer ones would lose digits.
        match self.id.parse::<u32>() {
            Ok(number) if way / 16 % 2 == 1 && number.to_string() == self.id => json!(number),
            _ => json!(self.id),
        }
    }

    fn number(&self, way: u8) -> String {
        match way / 32 % 3 {
            0 => format!("88899{}", self.customer),
            1 => format!("   88899{}", self.customer),
            _ => format!("00088899{}", self.customer),
        }
    }
}

fn told_by(parameters: &Parameters, notice: NotificationKind, body: &Value) -> BankMoney {
    match read_notification(parameters, notice, body) {
        Some(NotificationRead { standing: Standing::Paid(money), .. }) => money,
        other => panic!("{other:?} {body}"),
    }
}

fn one_qr_receipt(profile: &str, notice: NotificationKind, paid: &Paid) -> Result<(), TestCaseError> {
    let parameters = parameters(profile, &[("codes", "qris")]);
    let [first, second, ..] = paid.ways;
    let reference = super::support::REFERENCE;
    let notified = json!({
        "originalReferenceNo": paid.id(first), "originalPartnerReferenceNo": reference, "latestTransactionStatus": "00",
        "amount": paid.amount(first), "additionalInfo": { "paidTime": paid.time(first), "issuerRrn": "1" },
    });
    let queried = json!({
        "responseCode": "2005100", "originalReferenceNo": paid.id(second), "originalPartnerReferenceNo": reference,
        "latestTransactionStatus": "00", "amount": paid.amount(second), "paidTime": paid.time(second),
    });
    let by_query = qr::standing(&parameters, &queried, &question(CodeKind::Qr)).unwrap();
    let marks = MoneyMarks { bank_reference: Some(paid.id.clone()), ..MoneyMarks::default() };
    let told_marks = MoneyMarks { rrn: Some("1".to_owned()), ..marks.clone() };
    prop_assert_eq!(told_by(&parameters, notice, &notified), BankMoney { marks: told_marks, ..paid.money() });
    prop_assert_eq!(by_query, Standing::Paid(BankMoney { marks, ..paid.money() }));
    Ok(())
}

fn one_va_receipt(profile: &str, settings: &[(&str, &str)], paid: &Paid) -> Result<(), TestCaseError> {
    let parameters = parameters(profile, settings);
    let [first, second, third, fourth] = paid.ways;
    let notified = json!({
        "virtualAccountNo": paid.number(first), "paymentRequestId": paid.id(first), "trxDateTime": paid.time(first),
        "additionalInfo": { "paymentAmount": paid.amount(first) },
    });
    let asked_to_pay = json!({
        "virtualAccountNo": paid.number(second), "paymentRequestId": paid.id(second), "trxDateTime": paid.time(second),
        "paidAmount": paid.amount(second), "totalAmount": paid.amount(second),
    });
    let line = |way| {
        json!({
            "virtualAccountNo": paid.number(way), "paymentRequestId": paid.id(way), "trxDateTime": paid.time(way),
            "paidAmount": paid.amount(way), "paymentFlagStatus": "00",
        })
    };
    let number = format!("88899{}", paid.customer);
    let asked = CodeAsked { number: Some(&number), ..question(CodeKind::Va) };
    let queried = va::standing(&parameters, &json!({ "virtualAccountData": line(third) }), &asked).unwrap();
    let reported = read_report(&parameters, &json!({ "virtualAccountData": [line(fourth)] })).unwrap();
    prop_assert_eq!(told_by(&parameters, NotificationKind::VaNotify, &notified), paid.money());
    prop_assert_eq!(told_by(&parameters, NotificationKind::VaPayment, &asked_to_pay), paid.money());
    prop_assert_eq!(queried, Standing::Paid(paid.money()));
    prop_assert_eq!(&reported[0].money, &paid.money());
    let heard = read_notification(&parameters, NotificationKind::VaNotify, &notified).unwrap();
    prop_assert_eq!(heard.about.number.as_deref(), Some(number.as_str()));
    prop_assert_eq!(reported[0].about.number.as_deref(), Some(number.as_str()));
    Ok(())
}

proptest! {
    #[test]
    fn money_at_midtrans_is_one_receipt(paid in paid()) {
        one_qr_receipt("midtrans", NotificationKind::QrNotify, &paid)?;
        one_va_receipt("midtrans", &[("codes", "va")], &paid)?;
    }

    #[test]
    fn money_at_dana_is_one_receipt(paid in paid()) {
        one_qr_receipt("dana", NotificationKind::DebitNotify, &paid)?;
    }

    #[test]
    fn money_at_doku_is_one_receipt(paid in paid()) {
        one_qr_receipt("doku", NotificationKind::QrNotify, &paid)?;
        one_va_receipt("doku", &[("codes", "va")], &paid)?;
    }

    #[test]
    fn money_by_bri_qris_is_one_receipt(paid in paid()) {
        one_qr_receipt("bri-qris", NotificationKind::QrNotify, &paid)?;
    }

    #[test]
    fn money_by_briva_ws_is_one_receipt(paid in paid()) {
        one_va_receipt("briva-ws", &[], &paid)?;
    }

    #[test]
    fn money_at_any_other_bank_is_one_receipt(paid in paid()) {
        one_qr_receipt("generic", NotificationKind::QrNotify, &paid)?;
        one_va_receipt("generic", &[("hosting", "theirs")], &paid)?;
    }

    #[test]
    fn no_notification_makes_the_reader_panic(text in "[ -~]{0,40}", member in "[a-zA-Z]{1,24}", way: u8) {
        let parameters = parameters("generic", &[]);
        let notice = [NotificationKind::VaPayment, NotificationKind::VaNotify, NotificationKind::QrNotify, NotificationKind::DebitNotify][usize::from(way % 4)];
        for body in [json!(text), json!({ &member: text }), json!({ "virtualAccountData": { member: text } }), json!([1])] {
            let _ = read_notification(&parameters, notice, &body);
        }
    }
}

#[test]
fn the_member_that_names_a_receipt_is_a_setting() {
    let told = json!({
        "originalReferenceNo": "B", "latestTransactionStatus": "00", "amount": { "value": "1000.00" },
        "additionalInfo": { "issuerRrn": "R", "paymentReferenceNo": "P" },
    });
    for (member, id) in [("bank_reference", "B"), ("rrn", "R"), ("payment_reference", "P")] {
        let parameters = parameters("midtrans", &[("receipt", member)]);
        assert_eq!(told_by(&parameters, NotificationKind::QrNotify, &told).receipt_id, id);
    }
}

#[test]
fn a_notification_that_says_too_little_asks_for_a_query_or_is_none() {
    let parameters = parameters("generic", &[]);
    let read = |notice, body: Value| read_notification(&parameters, notice, &body);
    let lacking = [
        // The bank's reference may be empty; then a query must tell the receipt.
        (
            NotificationKind::QrNotify,
            json!({ "originalPartnerReferenceNo": "R", "originalReferenceNo": "",
            "latestTransactionStatus": "00", "amount": { "value": "1" } }),
        ),
        (NotificationKind::DebitNotify, json!({ "originalReferenceNo": "B", "latestTransactionStatus": "00" })),
        (NotificationKind::VaNotify, json!({ "virtualAccountNo": "8889912345678901", "paymentRequestId": "P" })),
    ];
    for (notice, body) in lacking {
        assert_eq!(read(notice, body.clone()).unwrap().standing, Standing::AskAgain, "{body}");
    }
    assert_eq!(read(NotificationKind::QrNotify, json!({ "latestTransactionStatus": "05" })), None);
    assert_eq!(read(NotificationKind::QrNotify, json!({})), None);
    assert_eq!(read(NotificationKind::VaNotify, json!(["P"])), None);
    let ended =
        read(NotificationKind::QrNotify, json!({ "originalReferenceNo": "B", "latestTransactionStatus": "05" }));
    assert_eq!(ended.unwrap().standing, Standing::Ended);
}

#[test]
fn a_notice_of_money_that_cannot_be_read_says_whether_the_bank_can_be_asked() {
    let parameters = parameters("generic", &[]);
    let unreadable = |notice, body: Value| read_notification(&parameters, notice, &body).unwrap().unreadable;
    let qr = |member: &str, value: Value| {
        let mut told = json!({ "originalPartnerReferenceNo": "R", "originalReferenceNo": "B",
            "latestTransactionStatus": "00", "amount": { "value": "1000.00", "currency": "IDR" } });
        told[member] = value;
        told
    };
    let va = |member: &str, value: Value| {
        let mut told = json!({ "virtualAccountNo": "88899123", "paymentRequestId": "P",
            "additionalInfo": { "paymentAmount": "1000" } });
        told[member] = value;
        told
    };
    let amounts =
        [json!({ "value": "9999999999999999.00" }), json!("10.50"), json!({ "value": "1", "currency": "USD" })];
    for amount in amounts {
        assert_eq!(
            unreadable(NotificationKind::QrNotify, qr("amount", amount.clone())),
            Some(Unreadable::Malformed),
            "{amount}"
        );
        let info = json!({ "paymentAmount": amount });
        assert_eq!(
            unreadable(NotificationKind::VaNotify, va("additionalInfo", info)),
            Some(Unreadable::Malformed),
            "{amount}"
        );
    }
    let long = json!("x".repeat(129));
    for (notice, body, expected) in [
        (NotificationKind::QrNotify, qr("x", json!(1)), None),
        (NotificationKind::QrNotify, qr("amount", json!(null)), Some(Unreadable::Lacking)),
        (NotificationKind::QrNotify, qr("originalReferenceNo", long.clone()), Some(Unreadable::Malformed)),
        (NotificationKind::QrNotify, qr("latestTransactionStatus", json!(null)), Some(Unreadable::Lacking)),
        (NotificationKind::QrNotify, qr("latestTransactionStatus", json!([])), Some(Unreadable::Malformed)),
        (NotificationKind::QrNotify, qr("latestTransactionStatus", json!("06")), None),
        (NotificationKind::QrNotify, json!({ "latestTransactionStatus": "00" }), Some(Unreadable::Malformed)),
        (NotificationKind::VaNotify, va("x", json!(1)), None),
        (NotificationKind::VaNotify, va("paymentRequestId", json!("")), None),
        (NotificationKind::VaNotify, va("additionalInfo", json!({})), Some(Unreadable::Lacking)),
        (NotificationKind::VaNotify, va("paymentRequestId", long), Some(Unreadable::Malformed)),
        (NotificationKind::VaNotify, va("virtualAccountNo", json!(null)), Some(Unreadable::Malformed)),
        (NotificationKind::VaPayment, json!({ "x": 1 }), Some(Unreadable::Malformed)),
    ] {
        assert_eq!(unreadable(notice, body.clone()), expected, "{body}");
    }
}

#[test]
fn a_body_that_is_not_signed_is_known_by_its_profile() {
    assert_eq!(parameters("bri-qris", &[]).sign_in, SignIn::ClientTimestamp);
}
