//! Answers in SNAP's shape: a code whose beginning is the HTTP status, a message, and what the service adds.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::time::Timestamp;
use engine::Error;
use gateway::snap::{Precision, ResponseCase, format_timestamp};
use serde_json::{Map, Value, json};
use web::{Cause, Failure};

use crate::service::Service;

const X_TIMESTAMP: &str = "x-timestamp";

/// The status within a payment's answer that says neither "booked" nor "refused": the bank suspends, and asks again.
const UNDECIDED: &str = "02";
const REFUSED: &str = "01";

/// What the standard says of a value that cannot be read.
pub(crate) const BAD_FORMAT: ResponseCase = ResponseCase::new(400, 1);

/// Why a call is not answered as it wishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Who calls is not known, or not proved; with what is wrong.
    Unauthorized(&'static str),
    InvalidToken,
    BadRequest(&'static str),
    Missing(String),
    /// With the code that the bank expects.
    Malformed(String, ResponseCase),
    ExternalIdReused,
    TooMany,
    NotSupported,
    NoSuchService,
    /// It is not known what has happened.
    Failed(String),
    Timeout,
}

impl Refusal {
    /// It does not say whether there is no such account, or whether it is disabled.
    pub(crate) const UNKNOWN_CLIENT: Refusal = Refusal::Unauthorized("Unknown client");

    pub(crate) fn of_failure(failure: Failure) -> Refusal {
        match failure {
            Failure::BodyTooLarge { .. } => Refusal::BadRequest("Body Too Large"),
            Failure::BodyTimeout => Refusal::BadRequest("Body Incomplete"),
            Failure::RateLimited { .. } => Refusal::TooMany,
            Failure::NoSuchPath => Refusal::NoSuchService,
            Failure::RequestTimeout => Refusal::Timeout,
            Failure::Panicked => Refusal::Failed("a handler panicked".to_owned()),
            Failure::BodyBroken | Failure::UnsupportedMediaType(_) => Refusal::BadRequest("Unreadable Body"),
        }
    }

    /// An error of the engine: it is not known what has happened.
    pub(crate) fn of_error(error: &Error) -> Refusal {
        Refusal::Failed(web::chain(error))
    }

    /// Whether it says that nothing is known, and not that something is wrong with the call.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Refusal::Failed(_) | Refusal::Timeout)
    }

    fn case(&self) -> ResponseCase {
        match self {
            Refusal::Unauthorized(_) => ResponseCase::new(401, 0),
            Refusal::InvalidToken => ResponseCase::new(401, 1),
            Refusal::BadRequest(_) => ResponseCase::new(400, 0),
            Refusal::Missing(_) => ResponseCase::new(400, 2),
            Refusal::Malformed(_, case) => *case,
            Refusal::ExternalIdReused => ResponseCase::new(409, 0),
            Refusal::TooMany => ResponseCase::new(429, 0),
            Refusal::NotSupported => ResponseCase::new(405, 0),
            Refusal::NoSuchService => ResponseCase::new(404, 0),
            Refusal::Failed(_) => ResponseCase::new(500, 0),
            Refusal::Timeout => ResponseCase::new(504, 0),
        }
    }

    fn message(&self) -> String {
        match self {
            Refusal::Unauthorized(what) => format!("Unauthorized. [{what}]"),
            Refusal::InvalidToken => "Invalid Token (B2B)".to_owned(),
            Refusal::BadRequest(what) => format!("Bad Request. [{what}]"),
            Refusal::Missing(field) => format!("Invalid Mandatory Field {field}"),
            Refusal::Malformed(field, _) => format!("Invalid Field Format {field}"),
            Refusal::ExternalIdReused => "Conflict".to_owned(),
            Refusal::TooMany => "Too Many Requests".to_owned(),
            Refusal::NotSupported => "Requested Function Is Not Supported".to_owned(),
            Refusal::NoSuchService => "Invalid Routing".to_owned(),
            Refusal::Failed(_) => "General Error".to_owned(),
            Refusal::Timeout => "Timeout".to_owned(),
        }
    }

    /// The answer. `data` are members of the virtual account that the bank wants filled in, if it does so in every answer.
    pub(crate) fn answer(&self, service: Service, now: Timestamp, data: Option<Map<String, Value>>) -> Response {
        let mut body = Body::new(self.case(), self.message());
        if let Some(data) = data {
            body.account_data(service, self.flag(), &self.reason(), data);
        }
        let mut response = body.answer(service, now);
        if let Refusal::Failed(cause) = self {
            response.extensions_mut().insert(Cause(cause.clone()));
        }
        response
    }

    /// Only what is known to be refused is called so: the bank gives the money back.
    pub(crate) fn flag(&self) -> &'static str {
        match self {
            Refusal::Failed(_) | Refusal::Timeout | Refusal::TooMany => UNDECIDED,
            _ => REFUSED,
        }
    }

    pub(crate) fn reason(&self) -> Reason {
        match self {
            Refusal::Failed(_) | Refusal::Timeout | Refusal::TooMany => {
                Reason { english: "Please try again", indonesia: "Silakan coba lagi" }
            }
            _ => Reason { english: "Invalid request", indonesia: "Permintaan tidak valid" },
        }
    }
}

/// A reason in both languages, at most 64 characters each.
pub(crate) struct Reason {
    pub(crate) english: &'static str,
    pub(crate) indonesia: &'static str,
}

/// The body of an answer while it is put together.
pub(crate) struct Body {
    case: ResponseCase,
    message: String,
    members: Map<String, Value>,
}

impl Body {
    pub(crate) fn new(case: ResponseCase, message: impl Into<String>) -> Body {
        Body { case, message: message.into(), members: Map::new() }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Body {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    /// Adds what SNAP says about the bill: status, reason, and the other members.
    pub(crate) fn account_data(&mut self, service: Service, flag: &str, reason: &Reason, data: Map<String, Value>) {
        let (status_name, reason_name) = match service {
            Service::Inquiry => ("inquiryStatus", "inquiryReason"),
            Service::Payment => ("paymentFlagStatus", "paymentFlagReason"),
            Service::Token
            | Service::VaNotify
            | Service::QrNotify
            | Service::DebitNotify
            | Service::SknNotify
            | Service::RtgsNotify
            | Service::Unknown => return,
        };
        let mut members = Map::new();
        members.insert(status_name.to_owned(), flag.into());
        members.insert(reason_name.to_owned(), json!({ "english": reason.english, "indonesia": reason.indonesia }));
        members.extend(data);
        self.members.insert("virtualAccountData".to_owned(), members.into());
        self.members.insert("additionalInfo".to_owned(), Map::new().into());
    }

    pub(crate) fn answer(self, service: Service, now: Timestamp) -> Response {
        let mut members = Map::new();
        members.insert("responseCode".to_owned(), self.case.code(service.digits()).into());
        members.insert("responseMessage".to_owned(), self.message.into());
        members.extend(self.members);
        let status = StatusCode::from_u16(self.case.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Value::from(members).to_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Ok(timestamp) = HeaderValue::from_str(&format_timestamp(now, Precision::Seconds)) {
            headers.insert(X_TIMESTAMP, timestamp);
        }
        response.extensions_mut().insert(AnsweredCode(self.case.code(service.digits())));
        response
    }
}

/// The response code, for the log of the bank's calls.
#[derive(Clone)]
pub(crate) struct AnsweredCode(pub(crate) String);
