//! How the banks that issue codes differ from one another, as plain data: one value for each profile.

use super::{
    money::{RefundHabits, TransferHabits},
    repeats::Repeats,
};
use crate::{prepared::Service, style::Signing};

/// The habits of a bank towards one merchant.
#[derive(Clone, Debug)]
pub struct Habits {
    /// The profile's name, as operators know it.
    pub profile: &'static str,
    /// Which signature the merchant's calls must carry: `Secret` (type 1) or `Key` (type 2, no token).
    pub signing: Signing,
    /// Whether `X-TIMESTAMP` must have three decimals of a second. At other banks it may.
    pub milliseconds: bool,
    /// How many digits `X-EXTERNAL-ID` must have; none: up to 36 characters.
    pub external_id_digits: Option<usize>,
    /// The member that says `client_credentials` when a token is asked for.
    pub grant_member: &'static str,
    /// How long a merchant's reference may be.
    pub reference_most: usize,
    /// What a second call with the same reference and the same body is answered with.
    pub repeats: Repeats,
    /// By which reference a QR is asked for.
    pub query_key: QueryKey,
    /// `serviceCode` of a question about a QR.
    pub service_code: &'static str,
    /// `latestTransactionStatus` of a code that waits for money, and of one that has expired.
    pub unpaid: &'static str,
    pub expired: &'static str,
    /// Members that an order for a QR must have beside reference and amount.
    pub required: &'static [&'static str],
    /// The shortest and the longest life of a QR, in seconds.
    pub validity_seconds: (i64, i64),
    /// How many digits `customerNo` may have.
    pub customer_digits_most: usize,
    /// The HTTP method that deletes an account.
    pub delete_method: &'static str,
    /// Whether the answer to a question about an unpaid QR has its content, as `qrContent`.
    pub query_has_content: bool,
    /// Where the RRN of a payment by QR is told.
    pub rrn_in: RrnIn,
    /// The service that tells of a QR, and the one that tells of an account.
    pub qr_notice: Service,
    pub va_notice: Service,
    pub transfer: TransferHabits,
    pub refund: RefundHabits,
}

/// By which reference a QR is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryKey {
    /// The merchant's or the bank's, as the merchant likes.
    Either,
    /// The bank's alone.
    Theirs,
}

/// Where the RRN of a payment by QR is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RrnIn {
    /// In notifications and in answers to questions.
    Both,
    NotificationsOnly,
    Nowhere,
}

const DAY_SECONDS: i64 = 24 * 60 * 60;

impl Habits {
    /// What the standard says.
    pub const GENERIC: Habits = Habits {
        profile: "generic",
        signing: Signing::Secret,
        milliseconds: false,
        external_id_digits: None,
        grant_member: "grantType",
        reference_most: 64,
        repeats: Repeats::Refused,
        query_key: QueryKey::Either,
        service_code: "47",
        unpaid: "03",
        expired: "06",
        required: &["merchantId"],
        validity_seconds: (1, 366 * DAY_SECONDS),
        customer_digits_most: 20,
        delete_method: "DELETE",
        query_has_content: false,
        rrn_in: RrnIn::Both,
        qr_notice: Service::QrNotify,
        va_notice: Service::Payment,
        transfer: TransferHabits::GENERIC,
        refund: RefundHabits::GENERIC,
    };

    pub const MIDTRANS: Habits = Habits {
        profile: "midtrans",
        grant_member: "grant_type",
        reference_most: 36,
        query_has_content: true,
        validity_seconds: (20, 180 * DAY_SECONDS),
        delete_method: "POST",
        transfer: TransferHabits::MIDTRANS,
        refund: RefundHabits::MIDTRANS,
        ..Habits::GENERIC
    };

    pub const DANA: Habits = Habits {
        profile: "dana",
        signing: Signing::Key,
        reference_most: 25,
        repeats: Repeats::SameAnswer,
        unpaid: "01",
        expired: "05",
        rrn_in: RrnIn::Nowhere,
        qr_notice: Service::DebitNotify,
        transfer: TransferHabits::DANA,
        refund: RefundHabits::DANA,
        ..Habits::GENERIC
    };

    pub const DOKU: Habits =
        Habits { profile: "doku", transfer: TransferHabits::DOKU, refund: RefundHabits::DOKU, ..Habits::GENERIC };

    pub const BRI_QRIS: Habits = Habits {
        profile: "bri-qris",
        milliseconds: true,
        external_id_digits: Some(9),
        query_key: QueryKey::Theirs,
        service_code: "17",
        required: &["merchantId", "terminalId"],
        transfer: TransferHabits::BRI,
        ..Habits::GENERIC
    };

    pub const BRIVA_WS: Habits = Habits {
        profile: "briva-ws",
        milliseconds: true,
        external_id_digits: Some(9),
        customer_digits_most: 13,
        va_notice: Service::VaNotify,
        transfer: TransferHabits::BRI,
        ..Habits::GENERIC
    };

    /// A contract for transfers alone.
    pub const BRI: Habits = Habits { profile: "bri", ..Habits::BRIVA_WS };

    pub const BCA: Habits =
        Habits { profile: "bca", transfer: TransferHabits::BCA, refund: RefundHabits::BCA, ..Habits::GENERIC };

    pub const MANDIRI: Habits = Habits { profile: "mandiri", transfer: TransferHabits::MANDIRI, ..Habits::GENERIC };

    pub const BNI: Habits =
        Habits { profile: "bni", external_id_digits: Some(19), transfer: TransferHabits::BNI, ..Habits::GENERIC };

    pub const ALL: [Habits; 10] = [
        Habits::GENERIC,
        Habits::MIDTRANS,
        Habits::DANA,
        Habits::DOKU,
        Habits::BRI_QRIS,
        Habits::BRIVA_WS,
        Habits::BRI,
        Habits::BCA,
        Habits::MANDIRI,
        Habits::BNI,
    ];

    /// The habits of a profile.
    pub fn of(profile: &str) -> Option<Habits> {
        Habits::ALL.into_iter().find(|habits| habits.profile == profile)
    }
}
