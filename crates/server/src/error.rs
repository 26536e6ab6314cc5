//! Every way in which a request can be refused, and the one place where that becomes HTTP.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::rules::Invalid;
use engine::Error;
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::json::ShapeError;

/// Seconds after which a client may try again what was only temporarily impossible.
const RETRY_AFTER_UNAVAILABLE: u64 = 1;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    #[error("{0}")]
    Unauthorized(&'static str),
    #[error("keys cannot be checked at the moment")]
    AuthUnavailable(#[source] Error),
    #[error("this Origin is not on the project's allowed list")]
    OriginForbidden,
    #[error("too many requests; try again in {retry_after} s")]
    RateLimited { retry_after: u64 },
    #[error("{0}")]
    Forbidden(&'static str),
    #[error("the project is inactive, or in production and not approved yet")]
    ProjectUnavailable,
    #[error("this endpoint requires the header Idempotency-Key")]
    IdempotencyKeyRequired,
    #[error(transparent)]
    Shape(#[from] ShapeError),
    #[error("`project_id` is not the project of this API key")]
    ProjectNotFound,
    #[error("there is nothing at this address")]
    NoSuchPath,
    #[error("this address does not take the method {0}")]
    MethodNotAllowed(String),
    #[error("the body is larger than {bytes_most} bytes")]
    BodyTooLarge { bytes_most: usize },
    #[error("the body must be sent as Content-Type: application/json")]
    UnsupportedMediaType,
    #[error("the body did not arrive in time")]
    BodyTimeout,
    #[error("the request took too long")]
    RequestTimeout,
    #[error("the server is not ready")]
    NotReady,
    #[error("something failed on our side")]
    Panicked,
    #[error(transparent)]
    Engine(#[from] Error),
}

impl From<Invalid> for ApiError {
    fn from(invalid: Invalid) -> ApiError {
        ApiError::Engine(invalid.into())
    }
}

/// The envelope of every error.
#[derive(Serialize, ToSchema)]
#[schema(title = "Error")]
pub(crate) struct ErrorJson {
    error: ErrorDetail,
}

#[derive(Serialize, ToSchema)]
struct ErrorDetail {
    /// Stable and machine-readable.
    #[schema(example = "VALIDATION_ERROR")]
    code: &'static str,
    /// For developers; safe to log, not for display to customers.
    #[schema(example = "`amount` must be at least 100 for qris")]
    message: String,
}

/// What went wrong inside, for the request log only.
#[derive(Clone)]
pub(crate) struct Cause(pub(crate) String);

impl ApiError {
    fn status_and_code(&self) -> (StatusCode, &'static str) {
        use StatusCode as S;
        match self {
            ApiError::Unauthorized(_) => (S::UNAUTHORIZED, "UNAUTHORIZED"),
            ApiError::AuthUnavailable(_) => (S::SERVICE_UNAVAILABLE, "AUTH_UNAVAILABLE"),
            ApiError::OriginForbidden => (S::FORBIDDEN, "CORS_ORIGIN_FORBIDDEN"),
            ApiError::RateLimited { .. } => (S::TOO_MANY_REQUESTS, "RATE_LIMITED"),
            ApiError::Forbidden(_) => (S::FORBIDDEN, "FORBIDDEN"),
            ApiError::ProjectUnavailable => (S::FORBIDDEN, "PROJECT_UNAVAILABLE"),
            ApiError::IdempotencyKeyRequired => (S::BAD_REQUEST, "IDEMPOTENCY_KEY_REQUIRED"),
            ApiError::Shape(_) => (S::BAD_REQUEST, "INVALID_REQUEST"),
            ApiError::ProjectNotFound => (S::NOT_FOUND, "PROJECT_NOT_FOUND"),
            ApiError::NoSuchPath => (S::NOT_FOUND, "RESOURCE_NOT_FOUND"),
            ApiError::MethodNotAllowed(_) => (S::METHOD_NOT_ALLOWED, "INVALID_REQUEST"),
            ApiError::BodyTooLarge { .. } => (S::PAYLOAD_TOO_LARGE, "INVALID_REQUEST"),
            ApiError::UnsupportedMediaType => (S::UNSUPPORTED_MEDIA_TYPE, "INVALID_REQUEST"),
            ApiError::BodyTimeout => (S::REQUEST_TIMEOUT, "INVALID_REQUEST"),
            ApiError::RequestTimeout | ApiError::NotReady => (S::SERVICE_UNAVAILABLE, "SERVICE_UNAVAILABLE"),
            ApiError::Panicked => (S::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR"),
            ApiError::Engine(error) => engine_status_and_code(error),
        }
    }

    fn retry_after(&self, status: StatusCode) -> Option<u64> {
        match self {
            ApiError::RateLimited { retry_after } => Some(*retry_after),
            _ => (status == StatusCode::SERVICE_UNAVAILABLE).then_some(RETRY_AFTER_UNAVAILABLE),
        }
    }

    /// What the client reads. Errors of ours keep their details to the log.
    fn message(&self, status: StatusCode) -> String {
        match self {
            ApiError::Engine(Error::Provider(_)) => "the payment provider is unavailable".to_owned(),
            ApiError::Engine(_) if status == StatusCode::SERVICE_UNAVAILABLE => {
                "the service is temporarily unavailable; it is safe to try again".to_owned()
            }
            ApiError::Engine(_) if status.is_server_error() => ApiError::Panicked.to_string(),
            _ => self.to_string(),
        }
    }

    fn cause(&self) -> String {
        let mut text = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(error) = source {
            text = format!("{text}: {error}");
            source = error.source();
        }
        text
    }
}

fn engine_status_and_code(error: &Error) -> (StatusCode, &'static str) {
    use StatusCode as S;
    match error {
        Error::Invalid(_) => (S::BAD_REQUEST, "VALIDATION_ERROR"),
        Error::IdempotencyConflict => (S::CONFLICT, "IDEMPOTENCY_CONFLICT"),
        Error::NotFound(_) => (S::NOT_FOUND, "RESOURCE_NOT_FOUND"),
        Error::LinkNotActive => (S::CONFLICT, "PAYMENT_LINK_NOT_ACTIVE"),
        Error::NotEditable => (S::CONFLICT, "PAYMENT_NOT_EDITABLE"),
        Error::Taken(_) => (S::CONFLICT, "CONFLICT"),
        Error::NotSandbox => (S::FORBIDDEN, "FORBIDDEN"),
        Error::Provider(_) => (S::SERVICE_UNAVAILABLE, "PAYMENT_PROVIDER_UNAVAILABLE"),
        Error::Contended | Error::Store(store::StoreError::Unavailable(_)) => {
            (S::SERVICE_UNAVAILABLE, "SERVICE_UNAVAILABLE")
        }
        Error::Vault(_) | Error::Refused(_) | Error::Store(store::StoreError::Unexpected(_)) => {
            (S::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR")
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, code) = self.status_and_code();
        let body = ErrorJson { error: ErrorDetail { code, message: self.message(status) } };
        let mut response = (status, axum::Json(body)).into_response();
        if let Some(seconds) = self.retry_after(status) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status.is_server_error() {
            response.extensions_mut().insert(Cause(self.cause()));
        }
        response
    }
}
