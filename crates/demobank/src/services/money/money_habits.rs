//! How banks differ about money that leaves, as plain data: one value for each bank. Written from their documents as far as they
//! are public; what one source alone says is marked with (1), what is our choice with (0).

use super::banks::BankCodes;
use crate::{prepared::Service, services::repeats::Repeats};

/// The habits of a bank about transfers.
#[derive(Clone, Copy, Debug)]
pub struct TransferHabits {
    /// The bank's own code, of three digits.
    pub home: &'static str,
    /// `CHANNEL-ID` of these services, if there is one alone.
    pub channel_id: Option<&'static str>,
    /// The ends of the paths of services that have one alone. `#` is any digit.
    pub paths: &'static [(Service, &'static str)],
    pub bank_codes: BankCodes,
    /// How long `partnerReferenceNo` may be, and `originalPartnerReferenceNo` of a question about it and of 22.
    pub reference_most: usize,
    pub short_reference_most: usize,
    /// For how many days a reference counts as used.
    pub reference_days: i64,
    pub repeats: Repeats,
    pub status_key: StatusKey,
    /// For how many days 36 knows a transfer.
    pub status_days: i64,
    pub unknown: UnknownTransfer,
    /// 36 answers 00, 03 and 06 alone: one that came back stays 00.
    pub three_statuses: bool,
    /// How long `remark` may be, and whether it has letters, digits and spaces alone.
    pub remark_most: usize,
    pub plain_remark: bool,
    /// 18 wants `additionalInfo.transferType` and `purposeCode`.
    pub wants_transfer_type: bool,
    /// 15 and 16 want `partnerReferenceNo`.
    pub wants_inquiry_reference: bool,
    /// `accountInfos` of 11 is an object.
    pub one_account_info: bool,
    /// 14 wants both times, at midnight: whole days.
    pub whole_days: bool,
    /// Members that an answer might lack are empty texts.
    pub fills_absent: bool,
    /// The member of 22 and 23 that has the receiver's telephone.
    pub phone_member: &'static str,
    /// `additionalInfo.fundType` of 42 and 43, if there is one alone.
    pub fund_type: Option<&'static str>,
    /// `serviceCode` of a question about 43.
    pub emoney_service_code: &'static str,
}

/// By what 36 finds a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusKey {
    /// `originalPartnerReferenceNo` or `originalReferenceNo`.
    Reference,
    /// `originalExternalId`, with `transactionDate`.
    ExternalId,
}

/// What 36 answers about a transfer that it does not find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownTransfer {
    /// 404xx01
    Code,
    /// 200xx00 with `latestTransactionStatus` 07.
    Status,
}

impl TransferHabits {
    /// What the standard says, at a bank that is none of those below.
    pub const GENERIC: TransferHabits = TransferHabits {
        home: "022",
        channel_id: None,
        paths: &[],
        bank_codes: BankCodes::Either,
        reference_most: 64,
        short_reference_most: 64,
        reference_days: 10_000,
        repeats: Repeats::Refused,
        status_key: StatusKey::Reference,
        status_days: 366,
        unknown: UnknownTransfer::Code,
        three_statuses: false,
        remark_most: 50,
        plain_remark: false,
        wants_transfer_type: false,
        wants_inquiry_reference: false,
        one_account_info: false,
        whole_days: false,
        fills_absent: false,
        phone_member: "receiverPhone",
        fund_type: None,
        emoney_service_code: "43",
    };

    /// Remarks are two lines of 18; references are shared by 15 and 17.
    pub const BCA: TransferHabits = TransferHabits {
        home: "014",
        channel_id: Some("95051"),
        paths: &[
            (Service::Balance, "/openapi/v1.0/balance-inquiry"),
            (Service::Statement, "/openapi/v1.0/bank-statement"),
            (Service::InternalInquiry, "/openapi/v1.0/account-inquiry-internal"),
            (Service::ExternalInquiry, "/openapi/v2.0/account-inquiry-external"),
            (Service::Intrabank, "/openapi/v1.0/transfer-intrabank"),
            (Service::Interbank, "/openapi/v2.0/transfer-interbank"),
            (Service::Rtgs, "/openapi/v1.0/transfer-rtgs"),
            (Service::Skn, "/openapi/v1.0/transfer-skn"),
            (Service::TransferStatus, "/openapi/v1.0/transfer/status"),
            (Service::QrRefund, "/openapi/v1.0/qr/qr-mpm-refund"),
        ],
        bank_codes: BankCodes::Swift,
        status_key: StatusKey::ExternalId,
        status_days: 31,
        three_statuses: true,
        remark_most: 36,
        plain_remark: true,
        wants_transfer_type: true,
        wants_inquiry_reference: true,
        one_account_info: true,
        whole_days: true,
        ..TransferHabits::GENERIC
    };

    /// (1) Paths vary by product before `/snap`, so their ends count.
    pub const BRI: TransferHabits = TransferHabits {
        home: "002",
        paths: &[
            (Service::Balance, "/snap/v#.#/balance-inquiry"),
            (Service::Statement, "/snap/v#.#/bank-statement"),
            (Service::InternalInquiry, "/snap/v#.#/account-inquiry-internal"),
            (Service::ExternalInquiry, "/snap/v#.#/account-inquiry-external"),
            (Service::Intrabank, "/snap/v#.#/transfer-intrabank"),
            (Service::Interbank, "/snap/v#.#/transfer-interbank"),
            (Service::Rtgs, "/snap/v#.#/transfer-rtgs"),
            (Service::Skn, "/snap/v1.0/transfer-sknbi"),
            (Service::TransferStatus, "/snap/v#.#/transfer/status"),
        ],
        bank_codes: BankCodes::ThreeDigits,
        short_reference_most: 20,
        ..TransferHabits::GENERIC
    };

    /// (1) The versions behind `v2.` differ by service and change.
    pub const MANDIRI: TransferHabits = TransferHabits {
        home: "008",
        paths: &[
            (Service::Balance, "/openapi/customers/v2.#/balance-inquiry"),
            (Service::InternalInquiry, "/openapi/customers/v2.#/account-inquiry-internal"),
            (Service::ExternalInquiry, "/openapi/customers/v2.#/account-inquiry-external"),
            (Service::Statement, "/openapi/transactions/v2.#/bank-statement"),
            (Service::Intrabank, "/openapi/transactions/v2.#/transfer-intrabank"),
            (Service::Interbank, "/openapi/transactions/v2.#/transfer-interbank"),
            (Service::Rtgs, "/openapi/transactions/v2.#/transfer-rtgs"),
            (Service::Skn, "/openapi/transactions/v2.#/transfer-skn"),
            (Service::TransferStatus, "/openapi/transactions/v2.#/transfer/status"),
        ],
        ..TransferHabits::GENERIC
    };

    pub const BNI: TransferHabits = TransferHabits {
        home: "009",
        paths: &[
            (Service::Balance, "/snap-service/v1/balance-inquiry"),
            (Service::Statement, "/snap-service/v1/bank-statement"),
            (Service::InternalInquiry, "/snap-service/v1/account-inquiry-internal"),
            (Service::ExternalInquiry, "/snap-service/v1/account-inquiry-external"),
            (Service::Intrabank, "/snap-service/v1/transfer-intrabank"),
            (Service::Interbank, "/snap-service/v1/transfer-interbank"),
            (Service::Rtgs, "/snap-service/v1/transfer-rtgs"),
            (Service::Skn, "/snap-service/v1/transfer-skn"),
            (Service::TransferStatus, "/snap-service/v1/transfer/status"),
        ],
        fills_absent: true,
        phone_member: "recieverPhone",
        ..TransferHabits::GENERIC
    };

    /// A reference counts as used for two months, and so long 36 knows it.
    pub const MIDTRANS: TransferHabits =
        TransferHabits { reference_most: 36, reference_days: 60, status_days: 60, ..TransferHabits::GENERIC };

    /// A non-bank: it pays from what the merchant has with it. The same order again is safe.
    pub const DANA: TransferHabits = TransferHabits {
        repeats: Repeats::SameAnswer,
        reference_most: 25,
        bank_codes: BankCodes::ThreeDigits,
        fund_type: Some("MERCHANT_WITHDRAW_FOR_CORPORATE"),
        emoney_service_code: "00",
        ..TransferHabits::GENERIC
    };

    /// (1)
    pub const DOKU: TransferHabits =
        TransferHabits { paths: &[(Service::EmoneyStatus, "/snap/v1.1/qr/qr-mpm-status")], ..TransferHabits::GENERIC };

    /// Whether a path is the one that this bank has for a service.
    pub(crate) fn has_path(&self, service: Service, path: &str) -> bool {
        let path = path.strip_suffix(".htm").unwrap_or(path);
        self.paths.iter().find(|(known, _)| *known == service).is_none_or(|(_, end)| ends_with(path, end))
    }
}

/// Whether a path has this end, in which `#` is any digit.
fn ends_with(path: &str, end: &str) -> bool {
    let Some(at) = path.len().checked_sub(end.len()) else { return false };
    let fits = |(is, wanted): (u8, u8)| is == wanted || (wanted == b'#' && is.is_ascii_digit());
    path.bytes().skip(at).zip(end.bytes()).all(fits)
}

/// The habits of a bank about giving QR payments back.
#[derive(Clone, Copy, Debug)]
pub struct RefundHabits {
    /// The services that do it here; others get 405xx00.
    pub services: &'static [Service],
    pub key: RefundKey,
    /// What the same order again is answered with.
    pub repeats: Repeats,
    /// For how many days after it was paid.
    pub days: i64,
    /// Minutes of the Jakarta day from which and until which there are none: 403xx06.
    pub closed: Option<(i64, i64)>,
    /// One refund of a payment at a time: while one is pending, others get 405xx01.
    pub one_at_a_time: bool,
}

/// What tells that two orders are one refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefundKey {
    /// `partnerRefundNo`, the merchant's.
    PartnerRefundNo,
    /// `X-EXTERNAL-ID`, which the same refund repeats.
    ExternalId,
    /// Nothing: `partnerRefundNo` is the reference of the payer's bank, and each order is a refund of its own.
    Nothing,
}

impl RefundHabits {
    pub const GENERIC: RefundHabits = RefundHabits {
        services: &[Service::QrRefund, Service::DebitRefund],
        key: RefundKey::PartnerRefundNo,
        repeats: Repeats::Refused,
        days: 365,
        closed: None,
        one_at_a_time: false,
    };

    pub const BCA: RefundHabits = RefundHabits {
        services: &[Service::QrRefund],
        key: RefundKey::Nothing,
        one_at_a_time: true,
        ..RefundHabits::GENERIC
    };

    /// GoPay's window. ShopeePay's is `MIDTRANS_SHOPEEPAY`.
    pub const MIDTRANS: RefundHabits =
        RefundHabits { key: RefundKey::ExternalId, repeats: Repeats::SameAnswer, days: 45, ..RefundHabits::GENERIC };

    pub const MIDTRANS_SHOPEEPAY: RefundHabits =
        RefundHabits { days: 365, closed: Some((23 * 60 + 55, 6 * 60)), ..RefundHabits::MIDTRANS };

    pub const DANA: RefundHabits =
        RefundHabits { services: &[Service::DebitRefund], repeats: Repeats::SameAnswer, ..RefundHabits::GENERIC };

    pub const DOKU: RefundHabits = RefundHabits { services: &[Service::QrRefund], ..RefundHabits::GENERIC };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_compared_by_its_end_and_digits_by_their_kind() {
        let bca = TransferHabits::BCA;
        assert!(bca.has_path(Service::Interbank, "/openapi/v2.0/transfer-interbank"));
        assert!(!bca.has_path(Service::Interbank, "/openapi/v1.0/transfer-interbank"));
        assert!(!bca.has_path(Service::Interbank, "/v2.0/transfer-interbank"));
        let mandiri = TransferHabits::MANDIRI;
        assert!(mandiri.has_path(Service::Interbank, "/gate/openapi/transactions/v2.7/transfer-interbank"));
        assert!(!mandiri.has_path(Service::Interbank, "/openapi/transactions/v2.x/transfer-interbank"));
        assert!(!mandiri.has_path(Service::Interbank, "/openapi/customers/v2.0/transfer-interbank"));
        assert!(
            bca.has_path(Service::Generate, "/any/v1.0/qr/qr-mpm-generate"),
            "services without a path of their own"
        );
    }
}
