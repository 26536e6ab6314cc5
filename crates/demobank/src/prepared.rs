//! A call of the bank, signed and ready to be sent.

use std::{fmt, time::Duration};

use url::Url;

use crate::conclusion::Concludes;

/// Which service of the standard a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// 73
    Token,
    /// 24
    Inquiry,
    /// 25
    Payment,
    /// 26
    Status,
}

impl Service {
    /// The two digits that the standard knows the service by.
    pub fn digits(self) -> &'static str {
        match self {
            Service::Token => "73",
            Service::Inquiry => "24",
            Service::Payment => "25",
            Service::Status => "26",
        }
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            Service::Token => "/v1.0/access-token/b2b",
            Service::Inquiry => "/v1.0/transfer-va/inquiry",
            Service::Payment => "/v1.0/transfer-va/payment",
            Service::Status => "/v1.0/transfer-va/status",
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
