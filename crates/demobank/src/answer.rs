//! What came back from the merchant's side, and what the bank makes of it.

use serde_json::Value;

use crate::{
    conclusion::Conclusion,
    prepared::{Prepared, Service},
};

/// The merchant's answer to one call.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status; 0 if the bank has read no answer.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub text: String,
    /// The body as JSON; null if it is none.
    pub body: Value,
    /// What the bank does with the money; none unless the call is a payment.
    pub conclusion: Option<Conclusion>,
    /// The call that was answered. It is that of the token if the bank got none, and so sent nothing else.
    pub sent: Prepared,
}

impl Answer {
    pub(crate) fn read(sent: Prepared, status: u16, headers: Vec<(String, String)>, text: String) -> Answer {
        let body = serde_json::from_str(&text).unwrap_or_default();
        let mut answer = Answer { status, headers, text, body, conclusion: None, sent };
        if answer.sent.service == Service::Payment {
            let conclusion = answer.sent.concludes.conclude(status, answer.code(), answer.flag());
            answer.conclusion = Some(conclusion);
        }
        answer
    }

    /// No answer was read: the connection failed, the deadline passed, or the bank was told to lose it.
    pub(crate) fn silence(sent: Prepared) -> Answer {
        Answer::read(sent, 0, Vec::new(), String::new())
    }

    pub fn is_silence(&self) -> bool {
        self.status == 0
    }

    /// `responseCode`; empty if there is none.
    pub fn code(&self) -> &str {
        self.body["responseCode"].as_str().unwrap_or_default()
    }

    /// `responseMessage`; empty if there is none.
    pub fn message(&self) -> &str {
        self.body["responseMessage"].as_str().unwrap_or_default()
    }

    /// `virtualAccountData`; null if there is none.
    pub fn account(&self) -> &Value {
        &self.body["virtualAccountData"]
    }

    /// `paymentFlagStatus` of a payment or `inquiryStatus` of an inquiry; empty if there is none.
    pub fn flag(&self) -> &str {
        let name = if self.sent.service == Service::Inquiry { "inquiryStatus" } else { "paymentFlagStatus" };
        self.account()[name].as_str().unwrap_or_default()
    }

    /// The reason beside the flag, in English; empty if there is none.
    pub fn reason(&self) -> &str {
        let name = if self.sent.service == Service::Inquiry { "inquiryReason" } else { "paymentFlagReason" };
        self.account()[name]["english"].as_str().unwrap_or_default()
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}
