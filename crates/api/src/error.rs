//! All errors of API requests, and the one place where an error becomes an HTTP answer. Details of server errors go to the log,
//! never to the client.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::{key_rights::KeyRight, receipt::Unfit, rules::Invalid};
use engine::{Error, HashError, StoreError, WorkError};
use serde::Serialize;
use web::{Cause, Failure};

use crate::{
    body::json::ShapeError,
    error_code::{self, ErrorCode},
};

#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    #[error("{0}")]
    Unauthorized(&'static str),
    #[error("keys cannot be checked at the moment")]
    AuthUnavailable(#[source] Error),
    #[error("this Origin is not on the project's allowed list")]
    OriginForbidden,
    #[error("a session of the dashboard may be used by the dashboard's own pages only")]
    ForeignPage,
    #[error("{0}")]
    Forbidden(&'static str),
    #[error("this API key does not have the right `{}`", .0.word())]
    RightMissing(KeyRight),
    #[error("this API key may not be used from this address")]
    AddressForbidden,
    #[error("the project is inactive, or in production and not approved yet")]
    ProjectUnavailable,
    #[error("this endpoint requires the header Idempotency-Key")]
    IdempotencyKeyRequired,
    #[error(transparent)]
    Shape(#[from] ShapeError),
    #[error("`project_id` is not the project of this API key")]
    ProjectNotFound,
    #[error("you are not a member of the project `project_id`")]
    NotAMember,
    #[error("the method {0} is not allowed at this path")]
    MethodNotAllowed(String),
    #[error("the server is not ready")]
    NotReady,
    /// Found by the server, outside of handlers.
    #[error(transparent)]
    Request(#[from] Failure),
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

impl ApiError {
    fn code(&self) -> ErrorCode {
        match self {
            ApiError::Unauthorized(_) => error_code::UNAUTHORIZED,
            ApiError::AuthUnavailable(_) => error_code::AUTH_UNAVAILABLE,
            ApiError::OriginForbidden | ApiError::ForeignPage => error_code::CORS_ORIGIN_FORBIDDEN,
            ApiError::Forbidden(_) | ApiError::RightMissing(_) | ApiError::AddressForbidden => error_code::FORBIDDEN,
            ApiError::ProjectUnavailable => error_code::PROJECT_UNAVAILABLE,
            ApiError::IdempotencyKeyRequired => error_code::IDEMPOTENCY_KEY_REQUIRED,
            ApiError::Shape(_) => error_code::INVALID_REQUEST,
            ApiError::ProjectNotFound | ApiError::NotAMember => error_code::PROJECT_NOT_FOUND,
            ApiError::MethodNotAllowed(_) => error_code::METHOD_NOT_ALLOWED,
            ApiError::NotReady => error_code::SERVICE_UNAVAILABLE,
            ApiError::Request(failure) => failure_code(*failure),
            ApiError::Engine(error) => engine_code(error),
        }
    }

    fn retry_after(&self, status: StatusCode) -> Option<u64> {
        match self {
            ApiError::Request(failure) => failure.retry_after(),
            _ => web::retry_after(status),
        }
    }

    /// The message for the client. Details of server errors stay in the log.
    fn message(&self, status: StatusCode) -> String {
        match self {
            ApiError::Engine(Error::DoesNotFit(Unfit::WrongAmount)) => {
                "`accept_difference` must be true, because this money is not the amount of the payment".to_owned()
            }
            ApiError::Engine(Error::NoBank(_)) => "the payment provider is unavailable".to_owned(),
            ApiError::Engine(_) if status == StatusCode::SERVICE_UNAVAILABLE => {
                "the service is temporarily unavailable; it is safe to try again".to_owned()
            }
            ApiError::Engine(_) if status.is_server_error() => Failure::Panicked.to_string(),
            _ => self.to_string(),
        }
    }
}

fn failure_code(failure: Failure) -> ErrorCode {
    match failure {
        Failure::NoSuchPath => error_code::RESOURCE_NOT_FOUND,
        Failure::BodyTooLarge { .. } => error_code::BODY_TOO_LARGE,
        Failure::UnsupportedMediaType(_) => error_code::UNSUPPORTED_MEDIA_TYPE,
        Failure::BodyBroken => error_code::INVALID_REQUEST,
        Failure::BodyTimeout => error_code::BODY_TIMEOUT,
        Failure::RateLimited { .. } => error_code::RATE_LIMITED,
        Failure::RequestTimeout => error_code::SERVICE_UNAVAILABLE,
        Failure::Panicked => error_code::INTERNAL_ERROR,
    }
}

fn engine_code(error: &Error) -> ErrorCode {
    match error {
        Error::Invalid(_) | Error::Mispriced(_) => error_code::VALIDATION_ERROR,
        Error::IdempotencyConflict => error_code::IDEMPOTENCY_CONFLICT,
        Error::NotFound(_) => error_code::RESOURCE_NOT_FOUND,
        Error::LinkNotActive => error_code::PAYMENT_LINK_NOT_ACTIVE,
        Error::NotEditable => error_code::PAYMENT_NOT_EDITABLE,
        Error::Taken(_)
        | Error::NoWebhookUrl
        | Error::StillRotating { .. }
        | Error::NotProduction
        | Error::LastOwner
        | Error::LastOperator
        | Error::OnlyOwner { .. }
        | Error::KeyReplaced
        | Error::TooMany { .. }
        | Error::AlreadyDecided
        | Error::AlreadySettled
        | Error::Bank(_)
        | Error::FormUsed
        | Error::NoRoom(_)
        | Error::RefundStuck(_)
        | Error::RefundChanged
        | Error::NothingToTransfer
        | Error::ClaimClosed
        | Error::DoesNotFit(Unfit::BelowFee) => error_code::CONFLICT,
        Error::DoesNotFit(Unfit::WrongAmount) => error_code::VALIDATION_ERROR,
        Error::DoesNotFit(Unfit::AlreadyPaid | Unfit::LinkClaimed) => error_code::PAYMENT_NOT_EDITABLE,
        Error::NotSandbox | Error::RoleForbids | Error::RightNotGiven | Error::ProofNeeded | Error::FactorMissing => {
            error_code::FORBIDDEN
        }
        Error::ProjectUnusable => error_code::PROJECT_UNAVAILABLE,
        Error::TryLater { .. } | Error::AttemptsFull { .. } => error_code::RATE_LIMITED,
        Error::NoBank(_) => error_code::PAYMENT_PROVIDER_UNAVAILABLE,
        Error::Contended
        | Error::Hash(HashError::Busy)
        | Error::Work(WorkError::Busy)
        | Error::Store(StoreError::Unavailable(_) | StoreError::Undecided(_)) => error_code::SERVICE_UNAVAILABLE,
        Error::Vault(_)
        | Error::Hash(HashError::Failed)
        | Error::Work(WorkError::Failed)
        | Error::UnexpectedConflict(_)
        | Error::Store(StoreError::Unexpected(_)) => error_code::INTERNAL_ERROR,
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let ErrorCode { status, code, .. } = self.code();
        let body = ErrorJson { error: ErrorDetail { code, message: self.message(status) } };
        let mut response = (status, axum::Json(body)).into_response();
        if let Some(seconds) = self.retry_after(status) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status.is_server_error() {
            response.extensions_mut().insert(Cause(web::chain(&self)));
        }
        response
    }
}
