//! The contract's table of errors. Each row stands here once, for the errors themselves and for the OpenAPI document.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde_json::json;
use utoipa::openapi::{
    Content, ContentBuilder, ObjectBuilder, RefOr, Response, ResponseBuilder, Schema,
    schema::{AdditionalProperties, Type},
};

/// One row of the table: a status, its code, and when it is answered.
#[derive(Clone, Copy)]
pub(crate) struct ErrorCode {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    meaning: &'static str,
}

/// What the contract calls a request of the wrong form, under several statuses.
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
    NOBODY = UNAUTHORIZED "UNAUTHORIZED", "no API key and no session, or one that is malformed, unknown, revoked or ended";
    FORBIDDEN = FORBIDDEN "FORBIDDEN", "the API key may not do this at all";
    MEMBERS_ONLY = FORBIDDEN "FORBIDDEN", "API keys may not do this, nor may a member whose role does not go that far";
    PROJECT_UNAVAILABLE = FORBIDDEN "PROJECT_UNAVAILABLE", "the project is inactive, or in production and not approved";
    CORS_ORIGIN_FORBIDDEN = FORBIDDEN "CORS_ORIGIN_FORBIDDEN", "the browser's origin is not on the project's list";
    FOREIGN_PAGE = FORBIDDEN "CORS_ORIGIN_FORBIDDEN", "with a key, an origin that is not on the project's list; with a session, any but our own";
    PROJECT_NOT_FOUND = NOT_FOUND "PROJECT_NOT_FOUND", "`project_id` is not the project of this API key";
    NOT_A_MEMBER = NOT_FOUND "PROJECT_NOT_FOUND", "with a session, `project_id` is no project that its user is a member of";
    RESOURCE_NOT_FOUND = NOT_FOUND "RESOURCE_NOT_FOUND", "there is no such thing, or it is another project's";
    METHOD_NOT_ALLOWED = METHOD_NOT_ALLOWED MALFORMED, "this address does not take this method";
    BODY_TIMEOUT = REQUEST_TIMEOUT MALFORMED, "the body did not arrive in time";
    CONFLICT = CONFLICT "CONFLICT", "something with the same unique value exists";
    IDEMPOTENCY_CONFLICT = CONFLICT "IDEMPOTENCY_CONFLICT", "this Idempotency-Key was used with another body";
    PAYMENT_LINK_NOT_ACTIVE = CONFLICT "PAYMENT_LINK_NOT_ACTIVE", "the link is cancelled or past its expiry";
    PAYMENT_NOT_EDITABLE = CONFLICT "PAYMENT_NOT_EDITABLE", "the payment has ended";
    BODY_TOO_LARGE = PAYLOAD_TOO_LARGE MALFORMED, "the body is over 64 KiB";
    UNSUPPORTED_MEDIA_TYPE = UNSUPPORTED_MEDIA_TYPE MALFORMED, "the body is not application/json";
    RATE_LIMITED = TOO_MANY_REQUESTS "RATE_LIMITED", "too many requests; wait as long as Retry-After says";
    INTERNAL_ERROR = INTERNAL_SERVER_ERROR "INTERNAL_ERROR", "something failed on our side; safe to repeat";
    SERVICE_UNAVAILABLE = SERVICE_UNAVAILABLE "SERVICE_UNAVAILABLE", "temporarily unavailable; safe to repeat";
    AUTH_UNAVAILABLE = SERVICE_UNAVAILABLE "AUTH_UNAVAILABLE", "keys cannot be checked at the moment";
    PAYMENT_PROVIDER_UNAVAILABLE = SERVICE_UNAVAILABLE "PAYMENT_PROVIDER_UNAVAILABLE", "the bank or QRIS provider is unavailable";
}

/// What may happen to any request at all.
pub(crate) const ANYWHERE: &[ErrorCode] = &[INTERNAL_ERROR, SERVICE_UNAVAILABLE];
/// What may happen wherever a key is asked for.
pub(crate) const KEYED: &[ErrorCode] =
    &[UNAUTHORIZED, CORS_ORIGIN_FORBIDDEN, RATE_LIMITED, AUTH_UNAVAILABLE, INTERNAL_ERROR, SERVICE_UNAVAILABLE];
/// What may happen wherever a session of the dashboard is taken in place of a key.
pub(crate) const KEYED_OR_SIGNED_IN: &[ErrorCode] = &[
    NOBODY,
    FOREIGN_PAGE,
    RATE_LIMITED,
    VALIDATION_ERROR,
    NOT_A_MEMBER,
    AUTH_UNAVAILABLE,
    INTERNAL_ERROR,
    SERVICE_UNAVAILABLE,
];
/// Where the project must be usable.
pub(crate) const USABLE: &[ErrorCode] = &[PROJECT_UNAVAILABLE];
/// Where a JSON body is read.
pub(crate) const JSON_BODY: &[ErrorCode] =
    &[INVALID_REQUEST, VALIDATION_ERROR, BODY_TIMEOUT, BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE];

/// Declares a type that stands for the errors of an endpoint, for its `responses(...)`.
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

/// The responses that `lists` add up to, one per status.
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

/// The envelope of every error, with the codes that can be in it here.
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
