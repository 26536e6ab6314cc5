//! 52, 56 and 34: the bank tells what became of a code that it has issued itself; 75 and 76: of a transfer that it was ordered.
//! What a merchant's side answers changes nothing about the money.

use crate::{contract::Contract, json::Json, prepared::Service, time};

/// One notification.
#[derive(Clone, Debug, Default)]
pub struct Notification {
    /// The merchant's reference: `originalPartnerReferenceNo` or `trxId`.
    pub reference: String,
    /// The bank's reference: `originalReferenceNo`.
    pub bank_reference: String,
    /// The whole number of a virtual account, without padding; empty for a QR.
    pub number: String,
    /// In rupiah.
    pub amount: i64,
    /// `latestTransactionStatus`, 00 to 07. Service 34 has none: it tells of money alone.
    pub status: String,
    /// When it was paid, in milliseconds since 1970, if it is not the bank's present time.
    pub paid_at_ms: Option<i64>,
    /// `paymentRequestId` of a virtual account, `issuerRrn` and `paymentReferenceNo` of a QR. Empty: the notification has
    /// none.
    pub receipt_id: String,
    /// Of 75 and 76 alone.
    pub transfer: TransferTold,
}

/// What a notification says more of a transfer.
#[derive(Clone, Debug, Default)]
pub struct TransferTold {
    /// `X-EXTERNAL-ID` of the order.
    pub external_id: String,
    /// The account that gets the money.
    pub bank: String,
    pub number: String,
    pub name: String,
    /// The account that the money leaves.
    pub source: String,
}

/// What a status means, as banks write it beside the digits.
pub(crate) fn status_words(status: &str) -> &'static str {
    match status {
        "00" => "Success",
        "01" => "Initiated",
        "02" => "Paying",
        "03" => "Pending",
        "04" => "Refunded",
        "05" => "Cancelled",
        "06" => "Failed",
        _ => "Not found",
    }
}

/// The members of a notification, without `additionalInfo` and with an amount that is written already.
pub(crate) fn members(
    contract: &Contract,
    service: Service,
    told: &Notification,
    amount: Json,
    now_ms: i64,
) -> Vec<(String, Json)> {
    let time = Json::text(time::text(told.paid_at_ms.unwrap_or(now_ms), contract.style.milliseconds));
    let members = if matches!(service, Service::SknNotify | Service::RtgsNotify) {
        vec![
            ("originalReferenceNo", text(&told.bank_reference)),
            ("originalPartnerReferenceNo", text(&told.reference)),
            ("originalExternalId", text(&told.transfer.external_id)),
            ("latestTransactionStatus", text(&told.status)),
            ("transactionStatusDesc", text(status_words(&told.status))),
            ("amount", amount),
            ("beneficiaryAccountName", text(&told.transfer.name)),
            ("beneficiaryAccountNo", text(&told.transfer.number)),
            ("beneficiaryBankCode", text(&told.transfer.bank)),
            ("sourceAccountNo", text(&told.transfer.source)),
            ("transactionDate", time),
        ]
    } else if service == Service::VaNotify {
        vec![("trxId", text(&told.reference)), ("paymentRequestId", text(&told.receipt_id)), ("trxDateTime", time)]
    } else {
        let is_debit = service == Service::DebitNotify;
        vec![
            ("originalReferenceNo", text(&told.bank_reference)),
            ("originalPartnerReferenceNo", text(&told.reference)),
            ("latestTransactionStatus", text(&told.status)),
            ("transactionStatusDesc", text(status_words(&told.status))),
            ("amount", amount),
            (if is_debit { "finishedTime" } else { "paidTime" }, time),
        ]
    };
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// `additionalInfo` of a notification.
pub(crate) fn additional(service: Service, told: &Notification, amount_value: Json) -> Json {
    let mut members = Vec::new();
    if service == Service::VaNotify {
        members.push(("paymentAmount".to_owned(), amount_value));
    } else if !told.receipt_id.is_empty() {
        members.push(("issuerRrn".to_owned(), text(&told.receipt_id)));
        members.push(("paymentReferenceNo".to_owned(), text(&told.receipt_id)));
    }
    Json::Object(members)
}

fn text(value: &str) -> Json {
    Json::text(value)
}
