//! What a bank's words about a transaction mean, and which receipt they are about: the same for notifications, answers to
//! queries and reports, so that the same money always has the same id.

use domain::{bank_money::MoneyMarks, money::Rupiah, time::Timestamp};
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
    About { reference: va_id(told, &["trxId"]), bank_reference: None, number: va_number(parameters, told) }
}

fn va_number(parameters: &Parameters, told: &Value) -> Option<String> {
    let [service_id, customer_no, number] =
        ["partnerServiceId", "customerNo", "virtualAccountNo"].map(|member| va_id(told, &[member]));
    parameters.told_number(service_id.as_deref(), customer_no.as_deref(), number.as_deref())
}

/// What an answer to a status query says. Banks tell it in three ways, and some tell no more than it: then the money is
/// that of the bill, since nothing else can be paid to its number.
pub(super) fn va_standing(told: &Value, code: Option<IssuedCode>, bill: Rupiah) -> Option<Standing> {
    let money = match va_has(told, VA_AMOUNTS) {
        true => va_money(told),
        false => va_money_of(told, bill).map(BankMoney::without_amount),
    };
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

/// A virtual account's receipt is its payment request; where the bank names none, the engine names it by its code.
pub(super) fn va_money(told: &Value) -> Option<BankMoney> {
    va_money_of(told, va_first(told, |told| first_amount(told, VA_AMOUNTS))?)
}

/// None if the bank has named the payment request, and it cannot be read.
fn va_money_of(told: &Value, amount: Rupiah) -> Option<BankMoney> {
    let paid_at = va_time(told);
    let receipt_id = match va_id(told, VA_RECEIPT) {
        Some(id) => id,
        None if va_has(told, VA_RECEIPT) => return None,
        None => BankMoney::unnamed_id(&va_id(told, &["virtualAccountNo"]).unwrap_or_default(), paid_at),
    };
    Some(BankMoney { receipt_id, amount, paid_at, marks: MoneyMarks::default() })
}

fn va_time(told: &Value) -> Option<Timestamp> {
    va_first(told, |told| first_time(told, &["trxDateTime", "transactionDate", "paidTime"]))
}

fn va_id(told: &Value, members: &[&str]) -> Option<String> {
    va_first(told, |told| first_id(told, members))
}

fn va_has(told: &Value, members: &[&str]) -> bool {
    va_first(told, |told| has_any(told, members).then_some(())).is_some()
}

fn va_first<T>(told: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
    told.get("virtualAccountData").and_then(&read).or_else(|| read(told))
}
