//! The contract's table of errors. Each row is written here once, for error answers and for the OpenAPI document alike.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde_json::json;
use utoipa::openapi::{
    Content, ContentBuilder, ObjectBuilder, RefOr, Response, ResponseBuilder, Schema,
    schema::{AdditionalProperties, Type},
};

/// One row of the table: HTTP status, code, and when a client gets it.
#[derive(Clone, Copy)]
pub(crate) struct ErrorCode {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    meaning: &'static str,
}

/// The code of malformed requests, which the contract uses with several statuses.
const MALFORMED: &str = "INVALID_REQUEST";

macro_rules! table {
    ($($name:ident = $status:ident $code:expr, $meaning:literal;)*) => {
        $(pub(crate) const $name: ErrorCode = ErrorCode { status: StatusCode::$status, code: $code, meaning: $meaning };)*
    };
}

table! {
    VALIDATION_ERROR = BAD_REQUEST "VALIDATION_ERROR", "a rule is broken; the message names the field";
    INVALID_REQUEST = BAD_REQUEST MALFORMED, "not JSON, not the expected shape, a member of the wrong type or given twice";
    IDEMPOTENCY_KEY_REQUIRED = BAD_REQUEST "IDEMPOTENCY_KEY_REQUIRED", "the header Idempotency-Key is missing or empty";
    UNAUTHORIZED = UNAUTHORIZED "UNAUTHORIZED", "no API key, or one that is malformed, unknown or revoked";
    NO_KEY_NO_SESSION = UNAUTHORIZED "UNAUTHORIZED", "neither an API key nor a session, or one that is malformed, unknown, revoked or expired";
    ROLE_FORBIDS = FORBIDDEN "FORBIDDEN", "with a key: it may not be used from this address; with a session: the role of the member does not allow this";
    FORBIDDEN = FORBIDDEN "FORBIDDEN", "the API key may not be used from this address";
    NEEDS_PAYMENTS = FORBIDDEN "FORBIDDEN", "the API key does not have the right `payments`, or may not be used from this address";
    NEEDS_PAYMENTS_FOR_OTHERS = FORBIDDEN "FORBIDDEN", "the API key does not have the right `payments` and is not the one to revoke, or may not be used from this address";
    NEEDS_PAYMENTS_IN_SANDBOX = FORBIDDEN "FORBIDDEN", "the API key does not have the right `payments`, is not one of the sandbox, or may not be used from this address";
    NEEDS_REFUNDS = FORBIDDEN "FORBIDDEN", "the API key does not have the right `refunds`, or may not be used from this address";
    NEEDS_REFUNDS_IN_SANDBOX = FORBIDDEN "FORBIDDEN", "the API key does not have the right `refunds`, is not one of the sandbox, or may not be used from this address";
    NEEDS_HELD_MONEY_AND_REFUNDS = FORBIDDEN "FORBIDDEN", "with a key: it does not have the right `held-money`, or for a `destination` not the right `refunds`, or may not be used from this address; with a session: the role of the member does not allow this";
    NEEDS_HELD_MONEY = FORBIDDEN "FORBIDDEN", "with a key: it does not have the right `held-money`, or may not be used from this address; with a session: the role of the member does not allow this";
    MEMBERS_ONLY = FORBIDDEN "FORBIDDEN", "API keys may not do this, nor may members whose role does not allow it";
    OWNERS_GIVE_MONEY = FORBIDDEN "FORBIDDEN", "API keys may not do this, nor may members whose role does not allow it; a right over money is given by owners only";
    PROJECT_UNAVAILABLE = FORBIDDEN "PROJECT_UNAVAILABLE", "the project is inactive, or in production and not approved";
    CORS_ORIGIN_FORBIDDEN = FORBIDDEN "CORS_ORIGIN_FORBIDDEN", "the browser's origin is not on the project's list";
    FOREIGN_PAGE = FORBIDDEN "CORS_ORIGIN_FORBIDDEN", "with a key: the origin is not on the project's list; with a session: the request comes from another site";
    PROJECT_NOT_FOUND = NOT_FOUND "PROJECT_NOT_FOUND", "`project_id` is not the project of this API key";
    NOT_A_MEMBER = NOT_FOUND "PROJECT_NOT_FOUND", "with a session: the user is not a member of the project `project_id`";
    RESOURCE_NOT_FOUND = NOT_FOUND "RESOURCE_NOT_FOUND", "it does not exist, or it belongs to another project";
    METHOD_NOT_ALLOWED = METHOD_NOT_ALLOWED MALFORMED, "this path does not support this method";
    BODY_TIMEOUT = REQUEST_TIMEOUT MALFORMED, "the body did not arrive in time";
    CONFLICT = CONFLICT "CONFLICT", "a value that must be unique is already in use";
    KEY_CONFLICT = CONFLICT "CONFLICT", "a valid key of the project has that name, or the project has 100 valid keys";
    IDEMPOTENCY_CONFLICT = CONFLICT "IDEMPOTENCY_CONFLICT", "this Idempotency-Key was used with another body";
    PAYMENT_LINK_NOT_ACTIVE = CONFLICT "PAYMENT_LINK_NOT_ACTIVE", "the link is cancelled or past its expiry";
    PAYMENT_NOT_EDITABLE = CONFLICT "PAYMENT_NOT_EDITABLE", "the payment has ended";
    NOT_REFUNDABLE = CONFLICT "CONFLICT", "the payment is not paid, nothing or not enough of it is left, or the balance does not cover the refund";
    REFUND_SENT = CONFLICT "CONFLICT", "something was sent already, or the refund has ended";
    REFUND_STUCK = CONFLICT "CONFLICT", "the refund is not in a state in which this can happen to it";
    ALREADY_DECIDED = CONFLICT "CONFLICT", "somebody has decided about this money already";
    ALREADY_DECIDED_OR_BELOW_FEE = CONFLICT "CONFLICT", "somebody has decided about this money already, or it is less than the fee of the payment";
    PAID_BY_OTHER_MONEY = CONFLICT "PAYMENT_NOT_EDITABLE", "other money has paid the payment or its single-use link";
    BODY_TOO_LARGE = PAYLOAD_TOO_LARGE MALFORMED, "the body is over 64 KiB";
    UNSUPPORTED_MEDIA_TYPE = UNSUPPORTED_MEDIA_TYPE MALFORMED, "the body is not application/json";
    RATE_LIMITED = TOO_MANY_REQUESTS "RATE_LIMITED", "too many requests; wait as long as Retry-After says";
    INTERNAL_ERROR = INTERNAL_SERVER_ERROR "INTERNAL_ERROR", "something failed on our side; safe to repeat";
    SERVICE_UNAVAILABLE = SERVICE_UNAVAILABLE "SERVICE_UNAVAILABLE", "temporarily unavailable; safe to repeat";
    AUTH_UNAVAILABLE = SERVICE_UNAVAILABLE "AUTH_UNAVAILABLE", "keys cannot be checked at the moment";
    PAYMENT_PROVIDER_UNAVAILABLE = SERVICE_UNAVAILABLE "PAYMENT_PROVIDER_UNAVAILABLE", "the bank or QRIS provider is unavailable";
}

/// Errors that every request can get.
pub(crate) const ANYWHERE: &[ErrorCode] = &[INTERNAL_ERROR, SERVICE_UNAVAILABLE];
/// Errors of endpoints that need an API key.
pub(crate) const KEYED: &[ErrorCode] =
    &[UNAUTHORIZED, CORS_ORIGIN_FORBIDDEN, RATE_LIMITED, AUTH_UNAVAILABLE, INTERNAL_ERROR, SERVICE_UNAVAILABLE];
/// Errors of endpoints that need an API key or a session of the dashboard.
pub(crate) const KEYED_OR_SIGNED_IN: &[ErrorCode] = &[
    NO_KEY_NO_SESSION,
    FOREIGN_PAGE,
    RATE_LIMITED,
    VALIDATION_ERROR,
    NOT_A_MEMBER,
    AUTH_UNAVAILABLE,
    INTERNAL_ERROR,
    SERVICE_UNAVAILABLE,
];
/// Errors of endpoints that need a usable project.
pub(crate) const USABLE: &[ErrorCode] = &[PROJECT_UNAVAILABLE];
/// Errors of endpoints that read a JSON body.
pub(crate) const JSON_BODY: &[ErrorCode] =
    &[INVALID_REQUEST, VALIDATION_ERROR, BODY_TIMEOUT, BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE];

/// Declares a type that lists the errors of an endpoint, for its `responses(...)`.
macro_rules! error_codes {
    ($visibility:vis $name:ident: $($list:expr),+ $(,)?) => {
        $visibility enum $name {}

        impl utoipa::IntoResponses for $name {
            fn responses()
            -> std::collections::BTreeMap<String, utoipa::openapi::RefOr<utoipa::openapi::Response>> {
                crate::error_code::responses(&[$($list),+])
            }
        }
    };
}
pub(crate) use error_codes;

/// The responses for all errors of `lists`, one response per status.
pub(crate) fn responses(lists: &[&[ErrorCode]]) -> BTreeMap<String, RefOr<Response>> {
    let mut by_status: BTreeMap<String, Vec<ErrorCode>> = BTreeMap::new();
    for row in lists.iter().copied().flatten() {
        by_status.entry(row.status.as_str().to_owned()).or_default().push(*row);
    }
    by_status.into_iter().map(|(status, rows)| (status, response(&rows).into())).collect()
}

fn response(rows: &[ErrorCode]) -> Response {
    let lines: Vec<String> = rows.iter().map(|row| format!("`{}`: {}", row.code, row.meaning)).collect();
    ResponseBuilder::new().description(lines.join("; ")).content("application/json", content(rows)).build()
}

fn content(rows: &[ErrorCode]) -> Content {
    let example = rows.first().map(|row| {
        let message = row.meaning;
        json!({ "error": { "code": row.code, "message": message } })
    });
    ContentBuilder::new().schema(Some(envelope(rows))).example(example).build()
}

/// The schema of the error envelope, restricted to the codes of `rows`.
fn envelope(rows: &[ErrorCode]) -> Schema {
    let code = ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(rows.iter().map(|row| row.code)))
        .description(Some("Stable and machine-readable."));
    let message = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .description(Some("For developers; safe to log, not for display to customers."));
    let closed = || ObjectBuilder::new().additional_properties(Some(AdditionalProperties::FreeForm(false)));
    let error = closed().property("code", code).required("code").property("message", message).required("message");
    closed().property("error", error).required("error").into()
}
