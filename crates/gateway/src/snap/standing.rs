//! What a bank's words about a transaction mean, and which receipt they are about: the same for notifications, answers to
//! queries and reports, so that the same money always has the same id.

use domain::time::Timestamp;
use serde_json::Value;

use super::{
    codes::{About, BankMoney, IssuedCode, Standing},
    parameters::Parameters,
    reading::{first_amount, first_id, first_time, id},
    values::ReceiptMember,
};

/// A status of the standard. `money` and `code` are what else was told.
pub(super) fn standing(status: &str, money: Option<BankMoney>, code: Option<IssuedCode>) -> Standing {
    match status {
        // Money without an id or an amount cannot be booked: the next answer, or the report, must tell them.
        "00" => money.map_or(Standing::AskAgain, Standing::Paid),
        "01" | "03" => Standing::Unpaid { code },
        "02" => Standing::Processing,
        "04" => Standing::Refunded,
        "05" | "06" => Standing::Ended,
        _ => Standing::AskAgain,
    }
}

/// What a QR's notification or status says.
pub(super) fn qr_standing(parameters: &Parameters, told: &Value, code: Option<IssuedCode>) -> Option<Standing> {
    let status = id(told, "latestTransactionStatus")?;
    Some(standing(&status, qr_money(parameters, told), code))
}

pub(super) fn qr_about(told: &Value) -> About {
    About {
        reference: id(told, "originalPartnerReferenceNo"),
        bank_reference: id(told, "originalReferenceNo"),
        number: None,
    }
}

fn qr_money(parameters: &Parameters, told: &Value) -> Option<BankMoney> {
    let id_members: &[&str] = match parameters.receipt {
        ReceiptMember::Bank => &["originalReferenceNo"],
        ReceiptMember::Rrn => &["issuerRrn", "rrn", "retrievalReferenceNo"],
        ReceiptMember::Payment => &["paymentReferenceNo"],
    };
    Some(BankMoney {
        receipt_id: first_id(told, id_members)?,
        amount: first_amount(told, &["amount", "transAmount", "paidAmount"])?,
        paid_at: first_time(told, &["paidTime", "finishedTime", "trxDateTime"]),
    })
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
    if let Some(status) = va_id(told, &["latestTransactionStatus"]) {
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
        Some(true) => standing("00", money, code),
        Some(false) => Standing::Unpaid { code },
        None => Standing::AskAgain,
    })
}

/// A virtual account's receipt is its payment request.
pub(super) fn va_money(told: &Value) -> Option<BankMoney> {
    let amounts = ["paidAmount", "paymentAmount", "amount", "totalAmount"];
    Some(BankMoney {
        receipt_id: va_id(told, &["paymentRequestId"])?,
        amount: va_first(told, |told| first_amount(told, &amounts))?,
        paid_at: va_time(told),
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
