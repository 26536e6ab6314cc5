//! Every way in which a request can be refused, and the one place where that becomes HTTP: a row of `refusal`.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::rules::Invalid;
use engine::Error;
use serde::Serialize;

use crate::{
    refusal::{self, Refusal},
    wire::json::ShapeError,
};

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
    #[error("with a session of the dashboard only its own pages may call")]
    ForeignPage,
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
    #[error("`project_id` is no project that you are a member of")]
    NotAMember,
    #[error("there is nothing at this address")]
    NoSuchPath,
    #[error("this address does not take the method {0}")]
    MethodNotAllowed(String),
    #[error("the body is larger than {bytes_most} bytes")]
    BodyTooLarge { bytes_most: usize },
    #[error("the body must be sent as Content-Type: {0}")]
    UnsupportedMediaType(&'static str),
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
#[derive(Serialize)]
struct ErrorJson {
    error: ErrorDetail,
}

#[derive(Serialize)]
struct ErrorDetail {
    code: &'static str,
    message: String,
}

/// What went wrong inside, for the request log only.
#[derive(Clone)]
pub(crate) struct Cause(pub(crate) String);

impl ApiError {
    pub(crate) fn status(&self) -> StatusCode {
        self.refusal().status
    }

    fn refusal(&self) -> Refusal {
        match self {
            ApiError::Unauthorized(_) => refusal::UNAUTHORIZED,
            ApiError::AuthUnavailable(_) => refusal::AUTH_UNAVAILABLE,
            ApiError::OriginForbidden | ApiError::ForeignPage => refusal::CORS_ORIGIN_FORBIDDEN,
            ApiError::RateLimited { .. } => refusal::RATE_LIMITED,
            ApiError::Forbidden(_) => refusal::FORBIDDEN,
            ApiError::ProjectUnavailable => refusal::PROJECT_UNAVAILABLE,
            ApiError::IdempotencyKeyRequired => refusal::IDEMPOTENCY_KEY_REQUIRED,
            ApiError::Shape(_) => refusal::INVALID_REQUEST,
            ApiError::ProjectNotFound | ApiError::NotAMember => refusal::PROJECT_NOT_FOUND,
            ApiError::NoSuchPath => refusal::RESOURCE_NOT_FOUND,
            ApiError::MethodNotAllowed(_) => refusal::METHOD_NOT_ALLOWED,
            ApiError::BodyTooLarge { .. } => refusal::BODY_TOO_LARGE,
            ApiError::UnsupportedMediaType(_) => refusal::UNSUPPORTED_MEDIA_TYPE,
            ApiError::BodyTimeout => refusal::BODY_TIMEOUT,
            ApiError::RequestTimeout | ApiError::NotReady => refusal::SERVICE_UNAVAILABLE,
            ApiError::Panicked => refusal::INTERNAL_ERROR,
            ApiError::Engine(error) => engine_refusal(error),
        }
    }

    pub(crate) fn retry_after(&self, status: StatusCode) -> Option<u64> {
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

    pub(crate) fn cause(&self) -> String {
        let mut text = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(error) = source {
            text = format!("{text}: {error}");
            source = error.source();
        }
        text
    }
}

fn engine_refusal(error: &Error) -> Refusal {
    match error {
        Error::Invalid(_) => refusal::VALIDATION_ERROR,
        Error::IdempotencyConflict => refusal::IDEMPOTENCY_CONFLICT,
        Error::NotFound(_) => refusal::RESOURCE_NOT_FOUND,
        Error::LinkNotActive => refusal::PAYMENT_LINK_NOT_ACTIVE,
        Error::NotEditable => refusal::PAYMENT_NOT_EDITABLE,
        Error::Taken(_)
        | Error::NoWebhookUrl
        | Error::StillRotating { .. }
        | Error::NotProduction
        | Error::LastOwner
        | Error::TooMany { .. }
        | Error::AlreadyDecided
        | Error::DoesNotFit(_) => refusal::CONFLICT,
        Error::NotSandbox | Error::RoleForbids => refusal::FORBIDDEN,
        Error::ProjectUnusable => refusal::PROJECT_UNAVAILABLE,
        Error::TryLater { .. } => refusal::RATE_LIMITED,
        Error::Provider(_) => refusal::PAYMENT_PROVIDER_UNAVAILABLE,
        Error::Contended | Error::Store(store::StoreError::Unavailable(_)) => refusal::SERVICE_UNAVAILABLE,
        Error::Vault(_) | Error::Hash(_) | Error::Refused(_) | Error::Store(store::StoreError::Unexpected(_)) => {
            refusal::INTERNAL_ERROR
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Refusal { status, code, .. } = self.refusal();
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
