//! The errors that the server finds outside of handlers, such as time-outs, limits and panics, and the HTTP status of each
//! error of the engine. How an error reads is not decided here: each surface words it itself.

use axum::http::StatusCode;
use engine::{Error, HashError, StoreError, WorkError};

/// Seconds after which a client may retry after a 503.
const RETRY_AFTER_UNAVAILABLE: u64 = 1;
/// Seconds after which work may be asked for again that too many waited for.
const RETRY_AFTER_BUSY: u64 = 1;

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
    /// The handler panicked, which is a bug of ours. The log has the panic's message; the client does not get it.
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

    /// The value of `Retry-After`, for failures that may pass.
    pub fn retry_after(self) -> Option<u64> {
        match self {
            Failure::RateLimited { retry_after } => Some(retry_after),
            other => retry_after(other.status()),
        }
    }
}

/// Work that anybody may ask for without a key, such as a picture.
impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Failure {
        match error {
            WorkError::Busy => Failure::RateLimited { retry_after: RETRY_AFTER_BUSY },
            WorkError::Failed => Failure::Panicked,
        }
    }
}

/// The value of `Retry-After` for an answer with that status, if it has one.
pub fn retry_after(status: StatusCode) -> Option<u64> {
    (status == StatusCode::SERVICE_UNAVAILABLE).then_some(RETRY_AFTER_UNAVAILABLE)
}

/// The status of an error of the engine. It is the same on every surface.
pub fn engine_status(error: &Error) -> StatusCode {
    match error {
        Error::Invalid(_) | Error::Mispriced(_) => StatusCode::BAD_REQUEST,
        Error::NotFound(_) => StatusCode::NOT_FOUND,
        Error::IdempotencyConflict
        | Error::LinkNotActive
        | Error::NotEditable
        | Error::Taken(_)
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
        | Error::DoesNotFit(_) => StatusCode::CONFLICT,
        Error::NotSandbox
        | Error::RoleForbids
        | Error::RightNotGiven
        | Error::ProofNeeded
        | Error::FactorMissing
        | Error::ProjectUnusable => StatusCode::FORBIDDEN,
        Error::TryLater { .. } | Error::AttemptsFull { .. } => StatusCode::TOO_MANY_REQUESTS,
        Error::NoBank(_) | Error::Contended | Error::Hash(HashError::Busy) | Error::Work(WorkError::Busy) => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        Error::Store(StoreError::Unavailable(_) | StoreError::Undecided(_)) => StatusCode::SERVICE_UNAVAILABLE,
        Error::Store(StoreError::Unexpected(_))
        | Error::Vault(_)
        | Error::Hash(HashError::Failed)
        | Error::Work(WorkError::Failed)
        | Error::UnexpectedConflict(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// An error and all of its causes in one line, for the log.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// The cause of a server error. It travels in the answer's extensions to the request log and is never sent to the client.
#[derive(Clone)]
pub struct Cause(pub String);

/// In the extensions of an answer: it is not sent, and the connection is closed instead.
#[derive(Clone, Copy)]
pub struct Silence;
