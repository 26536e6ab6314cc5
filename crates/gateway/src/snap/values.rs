//! The kinds of values that a bank's parameters have, and how each is written as a setting.

use std::{fmt, time::Duration};

use super::setting_texts::number;

/// An enum whose variants are words of settings.
macro_rules! choice {
    ($(#[$about:meta])* $name:ident { $($(#[$each:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$each])* $variant),+ }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            pub const fn word(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }

            pub fn parse(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|choice| choice.word() == word)
            }
        }
    };
}

mod sending;

pub use sending::{
    BankCodes, HolderKind, RefundReference, RefundWay, Resend, Residence, StatementPages, WalletDetails,
};

choice! {
    /// Where a virtual account lives.
    Hosting {
        /// With us: the bank asks us about each number, and our answer decides.
        Ours = "ours",
        /// At the bank: we create each number there by a call.
        Theirs = "theirs",
    }
}

choice! {
    /// Which codes an account issues.
    Codes {
        /// None: it sends money alone.
        None = "none",
        Va = "va",
        Qris = "qris",
        Both = "both",
    }
}

impl Codes {
    pub const fn has_va(self) -> bool {
        matches!(self, Codes::Va | Codes::Both)
    }

    pub const fn has_qris(self) -> bool {
        matches!(self, Codes::Qris | Codes::Both)
    }

    /// Whether an account may have all of these while its profile has `self`.
    pub const fn include(self, codes: Codes) -> bool {
        (self.has_va() || !codes.has_va()) && (self.has_qris() || !codes.has_qris())
    }
}

choice! {
    /// Who chooses the number of a virtual account that the bank hosts.
    Numbers { Ours = "ours", Theirs = "theirs" }
}

choice! {
    /// What a bank writes into customerNo of its messages.
    CustomerNo {
        /// What follows the company's code, and nothing else.
        Rest = "rest",
        /// That, or the whole number.
        Any = "any",
    }
}

choice! {
    /// With what a bank pads the company's code on the left.
    Padding {
        Spaces = "spaces",
        /// Spaces or zeros.
        Any = "any",
    }
}

choice! {
    /// How the body of a token request names the grant.
    GrantMember { Camel = "grantType", Snake = "grant_type" }
}

choice! {
    /// Which member of a QR's notification and query names the receipt: both must have it, or money is booked twice.
    ReceiptMember {
        /// originalReferenceNo
        Bank = "bank_reference",
        /// issuerRrn
        Rrn = "rrn",
        /// paymentReferenceNo
        Payment = "payment_reference",
    }
}

choice! {
    /// What we call at a bank.
    Service {
        Token = "token",
        Status = "status",
        CreateVa = "create_va",
        DeleteVa = "delete_va",
        Report = "report",
        QrGenerate = "qr_generate",
        QrQuery = "qr_query",
        QrCancel = "qr_cancel",
        QrRefund = "qr_refund",
        DebitStatus = "debit_status",
        DebitCancel = "debit_cancel",
        DebitRefund = "debit_refund",
        Balance = "balance",
        Statement = "statement",
        AccountInternal = "account_internal",
        AccountExternal = "account_external",
        TransferIntrabank = "transfer_intrabank",
        TransferInterbank = "transfer_interbank",
        TransferRtgs = "transfer_rtgs",
        TransferSkn = "transfer_skn",
        TransferStatus = "transfer_status",
        WalletInquiry = "wallet_inquiry",
        WalletTransfer = "wallet_transfer",
        WalletStatus = "wallet_status",
    }
}

impl Service {
    /// The two digits of this service inside of response codes.
    pub const fn code(self) -> &'static str {
        match self {
            Service::Token => "73",
            Service::Status => "26",
            Service::CreateVa => "27",
            Service::DeleteVa => "31",
            Service::Report => "35",
            Service::QrGenerate => "47",
            Service::QrQuery => "51",
            Service::QrCancel => "77",
            Service::QrRefund => "78",
            Service::DebitStatus => "55",
            Service::DebitCancel => "57",
            Service::DebitRefund => "58",
            Service::Balance => "11",
            Service::Statement => "14",
            Service::AccountInternal => "15",
            Service::AccountExternal => "16",
            Service::TransferIntrabank => "17",
            Service::TransferInterbank => "18",
            Service::TransferRtgs => "22",
            Service::TransferSkn => "23",
            Service::TransferStatus => "36",
            Service::WalletInquiry => "42",
            Service::WalletTransfer => "43",
            // The standard has no service for it; DANA answers 2000000.
            Service::WalletStatus => "00",
        }
    }

    /// Whether it is one of those that send money to bank accounts, which some contracts have under another channel.
    pub const fn is_of_transfers(self) -> bool {
        matches!(
            self,
            Service::Balance
                | Service::Statement
                | Service::AccountInternal
                | Service::AccountExternal
                | Service::TransferIntrabank
                | Service::TransferInterbank
                | Service::TransferRtgs
                | Service::TransferSkn
                | Service::TransferStatus
                | Service::WalletInquiry
                | Service::WalletTransfer
                | Service::WalletStatus
        )
    }

    /// The method by the standard.
    pub const fn method(self) -> HttpMethod {
        match self {
            Service::DeleteVa => HttpMethod::Delete,
            _ => HttpMethod::Post,
        }
    }

    /// How long the bank may take for it, from the start to the last byte of its answer.
    pub const fn timeout(self) -> Duration {
        Duration::from_secs(match self {
            Service::QrGenerate | Service::QrQuery | Service::DebitStatus | Service::Status => 8,
            // What ends too early is unknown, and must be asked about for as long as the bank takes.
            Service::TransferIntrabank
            | Service::TransferInterbank
            | Service::TransferRtgs
            | Service::TransferSkn
            | Service::WalletTransfer => 25,
            _ => 10,
        })
    }
}

choice! { HttpMethod { Get = "GET", Post = "POST", Put = "PUT", Delete = "DELETE" } }

choice! {
    /// How our calls are signed.
    SignOut {
        /// We call nothing but, if a path is given, the token.
        None = "none",
        Type1 = "type1",
        Type2 = "type2",
    }
}

choice! {
    /// How the bank's calls are signed.
    SignIn {
        /// With a token from us, by HMAC.
        Type1 = "type1",
        /// Without a token, by RSA.
        Type2 = "type2",
        /// By RSA over client id and time: the body is not signed and may only cause a query.
        ClientTimestamp = "client_ts",
    }
}

choice! {
    /// How an HMAC is written.
    Encoding { Base64 = "base64", Hex = "hex" }
}

choice! {
    /// How exactly we write times.
    Precision { Seconds = "seconds", Milliseconds = "milliseconds" }
}

choice! {
    /// By what a bank finds a transaction that we ask about.
    QueryKey { Ours = "ours", Theirs = "theirs", Number = "number" }
}

choice! {
    /// What we do when the outcome of creating a code is unknown.
    Retry {
        /// Create again with the same reference: the bank answers the same.
        Same = "same",
        /// Create another with a new reference.
        Fresh = "fresh",
        /// Ask first, and create only what is not there.
        QueryFirst = "query_first",
    }
}

choice! {
    /// What a bank that repeats a payment request is answered.
    Repeat {
        /// The code 4042518, with the flag of the first answer.
        Inconsistent = "4042518",
        /// The first answer again.
        Stored = "stored",
    }
}

choice! {
    /// What a bank is told that asked us to take money while we do not know whether it is booked.
    Undecided {
        /// The code 2022500 with the flag 02.
        InProgress = "2022500",
        /// Nothing: the connection is closed without an answer.
        Silence = "silence",
        /// The code 5002500, or 5042500 after too long.
        Failure = "5xx",
    }
}

/// Which texts are an X-EXTERNAL-ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalId {
    /// `digits:9`: exactly so many digits.
    Digits(usize),
    /// `numeric:36`: at most so many digits.
    Numeric(usize),
    /// `alnum:36`: at most so many letters, digits and hyphens; ids with hyphens are common.
    Alnum(usize),
    /// `reference`: the id of the request that it comes with, which may have up to 128 characters.
    Reference,
}

impl ExternalId {
    pub const LENGTH_MOST: usize = 36;
    /// As long as a request id may be.
    const REFERENCE_LENGTH_MOST: usize = 128;

    pub fn parse(text: &str) -> Option<ExternalId> {
        if text == "reference" {
            return Some(ExternalId::Reference);
        }
        let (kind, length) = text.split_once(':')?;
        let length = number(length).filter(|length| (1..=ExternalId::LENGTH_MOST).contains(length))?;
        match kind {
            "digits" => Some(ExternalId::Digits(length)),
            "numeric" => Some(ExternalId::Numeric(length)),
            "alnum" => Some(ExternalId::Alnum(length)),
            _ => None,
        }
    }

    /// Whether the bank may send this id.
    pub fn accepts(self, id: &str) -> bool {
        let up_to = |most: usize| (1..=most).contains(&id.len());
        let is_all = |of: fn(&u8) -> bool| id.as_bytes().iter().all(of);
        match self {
            ExternalId::Digits(length) => id.len() == length && is_all(u8::is_ascii_digit),
            ExternalId::Numeric(most) => up_to(most) && is_all(u8::is_ascii_digit),
            ExternalId::Alnum(most) => up_to(most) && is_all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-'),
            ExternalId::Reference => up_to(ExternalId::REFERENCE_LENGTH_MOST) && is_all(u8::is_ascii_graphic),
        }
    }
}

impl fmt::Display for ExternalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExternalId::Digits(length) => write!(f, "digits:{length}"),
            ExternalId::Numeric(most) => write!(f, "numeric:{most}"),
            ExternalId::Alnum(most) => write!(f, "alnum:{most}"),
            ExternalId::Reference => f.write_str("reference"),
        }
    }
}

/// Which CHANNEL-ID a bank and we may send. Empty: any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelIds(Vec<String>);

impl ChannelIds {
    const COUNT_MOST: usize = 20;
    const DIGITS_MOST: usize = 5;

    /// For profiles, whose ids a test reads back by `parse`.
    pub(super) fn of(ids: &[&str]) -> ChannelIds {
        ChannelIds(ids.iter().copied().map(str::to_owned).collect())
    }

    /// `any`, or digits such as `95231`, where `x` is any digit, and ranges such as `00001-00009`, with commas.
    pub fn parse(text: &str) -> Option<ChannelIds> {
        if text == "any" {
            return Some(ChannelIds::default());
        }
        let ids: Vec<String> = text.split(',').map(str::to_owned).collect();
        let is_allowed = ids.len() <= ChannelIds::COUNT_MOST && ids.iter().all(|id| ChannelIds::is_pattern(id));
        is_allowed.then_some(ChannelIds(ids))
    }

    fn is_pattern(id: &str) -> bool {
        let is_one = |id: &str, is_digit: fn(&u8) -> bool| {
            (1..=ChannelIds::DIGITS_MOST).contains(&id.len()) && id.as_bytes().iter().all(is_digit)
        };
        match id.split_once('-') {
            None => is_one(id, |byte| byte.is_ascii_digit() || *byte == b'x'),
            Some((first, last)) => {
                let are_digits = is_one(first, u8::is_ascii_digit) && is_one(last, u8::is_ascii_digit);
                are_digits && first.len() == last.len() && first <= last
            }
        }
    }

    pub fn accepts(&self, id: &str) -> bool {
        let is_digits = id.bytes().all(|byte| byte.is_ascii_digit());
        let matches = |pattern: &String| match pattern.split_once('-') {
            // Digits of one length are in the order of their numbers.
            Some((first, last)) => is_digits && id.len() == first.len() && (first..=last).contains(&id),
            None => id.len() == pattern.len() && pattern.bytes().zip(id.bytes()).all(same_or_any_digit),
        };
        self.0.is_empty() || self.0.iter().any(matches)
    }

    /// What we send: the first id, where it is a single one.
    pub fn to_send(&self) -> Option<&str> {
        self.0.first().map(String::as_str).filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

impl fmt::Display for ChannelIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str("any") } else { f.write_str(&self.0.join(",")) }
    }
}

fn same_or_any_digit((pattern, byte): (u8, u8)) -> bool {
    byte.is_ascii_digit() && (pattern == byte || pattern == b'x')
}

/// What stands in X-PARTNER-ID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartnerId {
    /// `any`: not checked; our client id is sent.
    Any,
    /// `service_id`: the partner service id, without padding.
    ServiceId,
    /// Any other text: that text.
    Fixed(String),
}

impl fmt::Display for PartnerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PartnerId::Any => "any",
            PartnerId::ServiceId => "service_id",
            PartnerId::Fixed(text) => text,
        })
    }
}

/// A response code without its service: `404xx19`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseCase {
    /// The HTTP status, which is the code's beginning.
    pub status: u16,
    /// The code's end, below 100.
    pub case: u8,
}

impl ResponseCase {
    pub const fn new(status: u16, case: u8) -> ResponseCase {
        ResponseCase { status, case }
    }

    /// Refusals only: `400xx00` to `499xx99`.
    pub fn parse(text: &str) -> Option<ResponseCase> {
        let (status, case) = text.split_once("xx")?;
        let is_whole = status.len() == 3 && case.len() == 2;
        let status = number(status).filter(|status| is_whole && (400..500).contains(status))?;
        Some(ResponseCase { status, case: number(case)? })
    }

    /// The whole code, for the service of these two digits.
    pub fn code(self, service: &str) -> String {
        format!("{}{service}{:02}", self.status, self.case)
    }
}

impl fmt::Display for ResponseCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.code("xx"))
    }
}

#[cfg(test)]
mod tests;
