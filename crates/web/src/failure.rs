//! What can go wrong with a request before, around or instead of its handler. Each surface words it in its own way.

use axum::http::StatusCode;
use engine::{Error, StoreError};

/// Seconds after which a client may retry what was only temporarily impossible.
const RETRY_AFTER_UNAVAILABLE: u64 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("there is nothing at this address")]
    NoSuchPath,
    #[error("the body is larger than {bytes_most} bytes")]
    BodyTooLarge { bytes_most: usize },
    #[error("the body must be sent as Content-Type: {0}")]
    UnsupportedMediaType(&'static str),
    #[error("the body ends early or is not framed as its headers say")]
    BodyBroken,
    #[error("the body did not arrive in time")]
    BodyTimeout,
    #[error("too many requests; try again in {retry_after} s")]
    RateLimited { retry_after: u64 },
    #[error("the request took too long")]
    RequestTimeout,
    /// A bug of ours; the log has the message of the panic.
    #[error("something failed on our side")]
    Panicked,
}

impl Failure {
    pub fn status(self) -> StatusCode {
        match self {
            Failure::NoSuchPath => StatusCode::NOT_FOUND,
            Failure::BodyTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Failure::UnsupportedMediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Failure::BodyBroken => StatusCode::BAD_REQUEST,
            Failure::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
            Failure::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
            Failure::RequestTimeout => StatusCode::SERVICE_UNAVAILABLE,
            Failure::Panicked => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// After how many seconds a retry makes sense, where one does.
    pub fn retry_after(self) -> Option<u64> {
        match self {
            Failure::RateLimited { retry_after } => Some(retry_after),
            other => retry_after(other.status()),
        }
    }
}

/// After how many seconds a retry of an answer with that status makes sense, where one does.
pub fn retry_after(status: StatusCode) -> Option<u64> {
    (status == StatusCode::SERVICE_UNAVAILABLE).then_some(RETRY_AFTER_UNAVAILABLE)
}

/// The status of an error of the engine, on every surface.
pub fn engine_status(error: &Error) -> StatusCode {
    match error {
        Error::Invalid(_) => StatusCode::BAD_REQUEST,
        Error::NotFound(_) => StatusCode::NOT_FOUND,
        Error::IdempotencyConflict
        | Error::LinkNotActive
        | Error::NotEditable
        | Error::Taken(_)
        | Error::NoWebhookUrl
        | Error::StillRotating { .. }
        | Error::NotProduction
        | Error::LastOwner
        | Error::TooMany { .. }
        | Error::AlreadyDecided
        | Error::DoesNotFit(_) => StatusCode::CONFLICT,
        Error::NotSandbox | Error::RoleForbids | Error::ProjectUnusable => StatusCode::FORBIDDEN,
        Error::TryLater { .. } => StatusCode::TOO_MANY_REQUESTS,
        Error::Provider(_) | Error::Contended => StatusCode::SERVICE_UNAVAILABLE,
        Error::Store(StoreError::Unavailable(_)) => StatusCode::SERVICE_UNAVAILABLE,
        Error::Store(StoreError::Unexpected(_)) | Error::Vault(_) | Error::Hash(_) | Error::UnexpectedConflict(_) => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }
}

/// An error with all that caused it, in one line, for the log.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// What went wrong inside, kept in the answer's extensions for the request log only.
#[derive(Clone)]
pub struct Cause(pub String);
