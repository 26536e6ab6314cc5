//! A call of the bank, signed and ready to be sent.

use std::{fmt, time::Duration};

use url::Url;

use crate::conclusion::Concludes;

/// Which service of the standard a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Service {
    /// 73
    Token,
    /// 24, of the bank to the merchant's side
    Inquiry,
    /// 25, of the bank to the merchant's side
    Payment,
    /// 26
    Status,
    /// 27
    CreateVa,
    /// 31
    DeleteVa,
    /// 35
    Report,
    /// 47
    Generate,
    /// 51
    Query,
    /// 55
    DebitStatus,
    /// 57
    DebitCancel,
    /// 77
    Cancel,
    /// 34, of the bank to the merchant's side
    VaNotify,
    /// 52, of the bank to the merchant's side
    QrNotify,
    /// 56, of the bank to the merchant's side
    DebitNotify,
    /// 75, of the bank to the merchant's side
    SknNotify,
    /// 76, of the bank to the merchant's side
    RtgsNotify,
    /// 11
    Balance,
    /// 14
    Statement,
    /// 15
    InternalInquiry,
    /// 16
    ExternalInquiry,
    /// 17
    Intrabank,
    /// 18
    Interbank,
    /// 22
    Rtgs,
    /// 23
    Skn,
    /// 36
    TransferStatus,
    /// 42
    BankAccountInquiry,
    /// 43
    TransferBank,
    /// 00, a non-bank's question about 43
    TransferBankStatus,
    /// 53, another non-bank's question about 43
    EmoneyStatus,
    /// 78
    QrRefund,
    /// 58
    DebitRefund,
}

impl Service {
    /// The services that a merchant's side calls at the bank.
    pub const ASKED: [Service; 25] = [
        Service::Token,
        Service::Status,
        Service::CreateVa,
        Service::DeleteVa,
        Service::Report,
        Service::Generate,
        Service::Query,
        Service::DebitStatus,
        Service::DebitCancel,
        Service::Cancel,
        Service::Balance,
        Service::Statement,
        Service::InternalInquiry,
        Service::ExternalInquiry,
        Service::Intrabank,
        Service::Interbank,
        Service::Rtgs,
        Service::Skn,
        Service::TransferStatus,
        Service::BankAccountInquiry,
        Service::TransferBank,
        Service::TransferBankStatus,
        Service::EmoneyStatus,
        Service::QrRefund,
        Service::DebitRefund,
    ];

    /// The two digits that the standard knows the service by.
    pub fn digits(self) -> &'static str {
        self.row().0
    }

    pub(crate) fn path(self) -> &'static str {
        self.row().1
    }

    fn row(self) -> (&'static str, &'static str) {
        match self {
            Service::Token => ("73", "/v1.0/access-token/b2b"),
            Service::Inquiry => ("24", "/v1.0/transfer-va/inquiry"),
            Service::Payment => ("25", "/v1.0/transfer-va/payment"),
            Service::Status => ("26", "/v1.0/transfer-va/status"),
            Service::CreateVa => ("27", "/v1.0/transfer-va/create-va"),
            Service::DeleteVa => ("31", "/v1.0/transfer-va/delete-va"),
            Service::Report => ("35", "/v1.0/transfer-va/report"),
            Service::Generate => ("47", "/v1.0/qr/qr-mpm-generate"),
            Service::Query => ("51", "/v1.0/qr/qr-mpm-query"),
            Service::DebitStatus => ("55", "/v1.0/debit/status"),
            Service::DebitCancel => ("57", "/v1.0/debit/cancel"),
            Service::Cancel => ("77", "/v1.0/qr/qr-mpm-cancel"),
            Service::VaNotify => ("34", "/v1.0/transfer-va/notify-payment-intrabank"),
            Service::QrNotify => ("52", "/v1.0/qr/qr-mpm-notify"),
            Service::DebitNotify => ("56", "/v1.0/debit/notify"),
            Service::SknNotify => ("75", "/v1.0/transfer-skn/notify"),
            Service::RtgsNotify => ("76", "/v1.0/transfer-rtgs/notify"),
            Service::Balance => ("11", "/v1.0/balance-inquiry"),
            Service::Statement => ("14", "/v1.0/bank-statement"),
            Service::InternalInquiry => ("15", "/v1.0/account-inquiry-internal"),
            Service::ExternalInquiry => ("16", "/v1.0/account-inquiry-external"),
            Service::Intrabank => ("17", "/v1.0/transfer-intrabank"),
            Service::Interbank => ("18", "/v1.0/transfer-interbank"),
            Service::Rtgs => ("22", "/v1.0/transfer-rtgs"),
            Service::Skn => ("23", "/v1.0/transfer-skn"),
            Service::TransferStatus => ("36", "/v1.0/transfer/status"),
            Service::BankAccountInquiry => ("42", "/v1.0/emoney/bank-account-inquiry"),
            Service::TransferBank => ("43", "/v1.0/emoney/transfer-bank"),
            Service::TransferBankStatus => ("00", "/v1.0/emoney/transfer-bank-status"),
            Service::EmoneyStatus => ("53", "/v1.0/qr/qr-mpm-status"),
            Service::QrRefund => ("78", "/v1.0/qr/qr-mpm-refund"),
            Service::DebitRefund => ("58", "/v1.0/debit/refund"),
        }
    }
}

/// A signed request. It may be sent by `Bank::send`, again later, or over a socket of the caller's. Its `Debug` leaves out
/// the headers, since they hold the token and the signature.
#[derive(Clone)]
pub struct Prepared {
    pub service: Service,
    pub method: String,
    pub url: String,
    /// In the order in which they are sent.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The name of the contract.
    pub contract: String,
    /// The number as the customer types it; empty for a token.
    pub number: String,
    /// In rupiah; 0 unless it is a payment.
    pub amount: i64,
    /// `trxDateTime` of a payment in milliseconds since 1970; for other services, when it was prepared.
    pub paid_at_ms: i64,
    pub external_id: String,
    pub request_id: String,
    /// The bank never reads the answer.
    pub lost_answer: bool,
    pub concludes: Concludes,
    pub deadline: Duration,
}

impl fmt::Debug for Prepared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Prepared");
        shown.field("method", &self.method).field("url", &self.url).field("external_id", &self.external_id);
        shown.field("request_id", &self.request_id).field("body", &self.text()).finish_non_exhaustive()
    }
}

impl Prepared {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The path that is asked for.
    pub fn path(&self) -> String {
        Url::parse(&self.url).map(|url| url.path().to_owned()).unwrap_or_default()
    }

    /// The whole request as HTTP/1.1, for a socket. The server is asked to close the connection afterwards.
    pub fn to_http(&self) -> Vec<u8> {
        let url = Url::parse(&self.url).ok();
        let host = url.as_ref().map_or("", |url| &url[url::Position::BeforeHost..url::Position::AfterPort]);
        let mut head = format!("{} {} HTTP/1.1\r\nhost: {host}\r\n", self.method, self.path());
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("content-length: {}\r\nconnection: close\r\n\r\n", self.body.len());
        [head.into_bytes(), self.body.clone()].concat()
    }
}
