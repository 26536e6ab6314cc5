//! One request to the bank, read, and the shape of what it is answered with.

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::faults::{Fault, QrFault};
use crate::{json::minified, prepared::Service};

/// An HTTP status and a body.
pub(super) type Reply = (u16, Value);

/// One request, read.
pub(super) struct ServiceRequest<'a> {
    pub(super) service: Service,
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a [u8],
    /// The time by the bank's clock, which may be wrong for this call.
    pub(super) now_ms: i64,
    pub(super) fault: Option<&'a Fault>,
}

impl ServiceRequest<'_> {
    /// A header's text; empty if there is none.
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The token that the request carries; empty if there is none.
    pub(super) fn token(&self) -> &str {
        self.header("Authorization").strip_prefix("Bearer ").unwrap_or_default()
    }

    /// The code and text of an answer: status and case around the digits of the service.
    pub(super) fn answer(&self, status: u16, case: &str, message: &str) -> Reply {
        let code = format!("{status}{}{case}", self.service.digits());
        (status, json!({ "responseCode": code, "responseMessage": message }))
    }

    /// An answer that all went well, with more members.
    pub(super) fn success(&self, members: Value) -> Reply {
        let (status, mut answer) = self.answer(200, "00", "Successful");
        if let (Value::Object(answer), Value::Object(members)) = (&mut answer, members) {
            answer.extend(members);
        }
        (status, answer)
    }

    pub(super) fn missing_header(&self, names: &[&str]) -> Option<Reply> {
        names.iter().find(|name| self.header(name).is_empty()).map(|name| self.missing(name))
    }

    pub(super) fn missing(&self, name: &str) -> Reply {
        self.answer(400, "02", &format!("Invalid Mandatory Field {{{name}}}"))
    }

    pub(super) fn malformed(&self, name: &str) -> Reply {
        self.answer(400, "01", &format!("Invalid Field Format {{{name}}}"))
    }

    /// The body without white space, as it is signed and compared.
    pub(super) fn minified(&self) -> String {
        minified(&String::from_utf8_lossy(self.body))
    }

    /// The body as an object.
    pub(super) fn members(&self) -> Result<Value, Reply> {
        let body: Option<Value> = serde_json::from_slice(self.body).ok();
        body.filter(Value::is_object).ok_or_else(|| self.answer(400, "00", "Bad Request"))
    }

    /// A member that must be there and be a text. Dots lead into objects.
    pub(super) fn text<'b>(&self, body: &'b Value, path: &str) -> Result<&'b str, Reply> {
        let value = path.split('.').fold(body, |value, name| &value[name]);
        match value {
            Value::String(text) if !text.is_empty() => Ok(text),
            Value::String(_) | Value::Null => Err(self.missing(path)),
            _ => Err(self.malformed(path)),
        }
    }

    /// A member that is an amount in rupiah: `{"value":"10000.00","currency":"IDR"}`.
    pub(super) fn amount(&self, body: &Value, name: &str) -> Result<i64, Reply> {
        let path = format!("{name}.value");
        let (whole, decimals) = self.text(body, &path)?.split_once('.').unwrap_or_default();
        let is_number = !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
        let amount = whole.parse().ok().filter(|amount: &i64| is_number && decimals == "00" && *amount > 0);
        if self.text(body, &format!("{name}.currency"))? != "IDR" {
            return Err(self.malformed(&format!("{name}.currency")));
        }
        amount.ok_or_else(|| self.malformed(&path))
    }

    /// What is to be wrong with the QR that is issued.
    pub(super) fn qr_fault(&self) -> Option<&QrFault> {
        match self.fault {
            Some(Fault::Qr(fault)) => Some(fault),
            _ => None,
        }
    }

    /// The status that a question is to be answered with, true or not.
    pub(super) fn said(&self) -> Option<&'static str> {
        match self.fault {
            Some(Fault::Says(status)) => Some(status),
            _ => None,
        }
    }
}

/// An amount as SNAP writes it.
pub(super) fn money(rupiah: i64) -> Value {
    json!({ "value": format!("{rupiah}.00"), "currency": "IDR" })
}

/// The service of a path, which is told by its end, since each bank has prefixes of its own.
pub(super) fn service_of(path: &str) -> Option<Service> {
    let path = path.strip_suffix(".htm").unwrap_or(path);
    // BRI's name for it.
    if path.ends_with("/transfer-sknbi") {
        return Some(Service::Skn);
    }
    let end_of = |service: &Service| service.path().strip_prefix("/v1.0").unwrap_or(service.path());
    Service::ASKED.into_iter().find(|service| path.ends_with(end_of(service)))
}

/// The merchant's reference that a body names; empty if there is none.
pub(super) fn reference_of(body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let names = ["partnerRefundNo", "partnerReferenceNo", "originalPartnerReferenceNo", "trxId"];
    names.iter().find_map(|name| body[*name].as_str()).unwrap_or_default().to_owned()
}
