//! What a bank's words about a transaction mean, and which receipt they are about: the same for notifications, answers to
//! queries and reports, so that the same money always has the same id.

use domain::{bank_money::MoneyMarks, time::Timestamp};
use serde_json::Value;

use super::{
    codes::{About, BankMoney, IssuedCode, Standing, Unreadable},
    parameters::Parameters,
    reading::{first_amount, first_id, first_time, has_any, id},
    values::ReceiptMember,
};

const STATUS: &str = "latestTransactionStatus";
/// The status of money that was paid.
const PAID: &str = "00";
const BANK_REFERENCE: &[&str] = &["originalReferenceNo"];
const RRN: &[&str] = &["issuerRrn", "rrn", "retrievalReferenceNo"];
const PAYMENT_REFERENCE: &[&str] = &["paymentReferenceNo"];
const QR_AMOUNTS: &[&str] = &["amount", "transAmount", "paidAmount"];
const VA_AMOUNTS: &[&str] = &["paidAmount", "paymentAmount", "amount", "totalAmount"];
const VA_RECEIPT: &[&str] = &["paymentRequestId"];

/// A status of the standard. `money` and `code` are what else was told.
pub(super) fn standing(status: &str, money: Option<BankMoney>, code: Option<IssuedCode>) -> Standing {
    match status {
        // Money without an id or an amount cannot be booked: the next answer, or the report, must tell them.
        PAID => money.map_or(Standing::AskAgain, Standing::Paid),
        "01" | "03" => Standing::Unpaid { code },
        "02" => Standing::Processing,
        "04" => Standing::Refunded,
        "05" | "06" => Standing::Ended,
        _ => Standing::AskAgain,
    }
}

/// What a QR's notification or status says.
pub(super) fn qr_standing(parameters: &Parameters, told: &Value, code: Option<IssuedCode>) -> Option<Standing> {
    let status = id(told, STATUS)?;
    Some(standing(&status, qr_money(parameters, told), code))
}

/// Whether a QR's notification is about money that was paid, be it readable or not.
pub(super) fn is_paid(told: &Value) -> bool {
    id(told, STATUS).as_deref() == Some(PAID)
}

pub(super) fn qr_about(told: &Value) -> About {
    About {
        reference: id(told, "originalPartnerReferenceNo"),
        bank_reference: id(told, "originalReferenceNo"),
        number: None,
    }
}

fn qr_receipt_members(parameters: &Parameters) -> &'static [&'static str] {
    match parameters.receipt {
        ReceiptMember::Bank => BANK_REFERENCE,
        ReceiptMember::Rrn => RRN,
        ReceiptMember::Payment => PAYMENT_REFERENCE,
    }
}

pub(super) fn qr_money(parameters: &Parameters, told: &Value) -> Option<BankMoney> {
    Some(BankMoney {
        receipt_id: first_id(told, qr_receipt_members(parameters))?,
        amount: first_amount(told, QR_AMOUNTS)?,
        paid_at: first_time(told, &["paidTime", "finishedTime", "trxDateTime"]),
        marks: MoneyMarks {
            bank_reference: first_id(told, BANK_REFERENCE),
            rrn: first_id(told, RRN),
            payment_reference: first_id(told, PAYMENT_REFERENCE),
            ..MoneyMarks::default()
        },
    })
}

/// Why the money of a QR cannot be read from this.
pub(super) fn qr_unreadable(parameters: &Parameters, told: &Value) -> Unreadable {
    let is_malformed = has_malformed(told, QR_AMOUNTS, |told, members| first_amount(told, members).is_some())
        || has_malformed(told, qr_receipt_members(parameters), |told, members| first_id(told, members).is_some())
        || has_malformed(told, &[STATUS], |told, members| first_id(told, members).is_some());
    if is_malformed { Unreadable::Malformed } else { Unreadable::Lacking }
}

/// Likewise of a virtual account.
pub(super) fn va_unreadable(told: &Value) -> Unreadable {
    let inside = told.get("virtualAccountData").into_iter();
    let is_malformed = inside.chain([told]).any(|told| {
        has_malformed(told, VA_AMOUNTS, |told, members| first_amount(told, members).is_some())
            || has_malformed(told, VA_RECEIPT, |told, members| first_id(told, members).is_some())
    });
    if is_malformed { Unreadable::Malformed } else { Unreadable::Lacking }
}

/// Whether some of these members are there, and none of them can be read.
fn has_malformed(told: &Value, members: &[&str], is_readable: impl Fn(&Value, &[&str]) -> bool) -> bool {
    has_any(told, members) && !is_readable(told, members)
}

/// Members of a virtual account lie inside of `virtualAccountData` or beside it.
pub(super) fn va_about(parameters: &Parameters, told: &Value) -> About {
    About {
        reference: va_id(told, &["trxId"]),
        bank_reference: None,
        number: va_id(told, &["virtualAccountNo"]).map(|number| parameters.without_padding(&number)),
    }
}

/// What an answer to a status query says. Banks tell it in three ways.
pub(super) fn va_standing(told: &Value, code: Option<IssuedCode>) -> Option<Standing> {
    let money = va_money(told);
    if let Some(status) = va_id(told, &[STATUS]) {
        return Some(standing(&status, money, code));
    }
    let is_paid = match va_id(told, &["paymentFlagStatus"]).as_deref() {
        Some("00") => Some(true),
        Some("01") => Some(false),
        Some(_) => return Some(Standing::AskAgain),
        None => match va_id(told, &["paidStatus"])?.as_str() {
            "Y" => Some(true),
            "N" => Some(false),
            _ => None,
        },
    };
    Some(match is_paid {
        Some(true) => standing(PAID, money, code),
        Some(false) => Standing::Unpaid { code },
        None => Standing::AskAgain,
    })
}

/// A virtual account's receipt is its payment request.
pub(super) fn va_money(told: &Value) -> Option<BankMoney> {
    Some(BankMoney {
        receipt_id: va_id(told, VA_RECEIPT)?,
        amount: va_first(told, |told| first_amount(told, VA_AMOUNTS))?,
        paid_at: va_time(told),
        marks: MoneyMarks::default(),
    })
}

fn va_time(told: &Value) -> Option<Timestamp> {
    va_first(told, |told| first_time(told, &["trxDateTime", "transactionDate", "paidTime"]))
}

fn va_id(told: &Value, members: &[&str]) -> Option<String> {
    va_first(told, |told| first_id(told, members))
}

fn va_first<T>(told: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
    told.get("virtualAccountData").and_then(&read).or_else(|| read(told))
}
