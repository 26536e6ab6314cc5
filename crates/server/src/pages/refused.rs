//! Whatever goes wrong with a page: told to the customer in a sentence of its own, never in the API's words.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use engine::Error;

use crate::error::{ApiError, Cause};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    /// Nothing is here: 404.
    NotFound,
    /// The form came from another site: 403.
    Forbidden,
    /// Too many at once: 429.
    TooMany,
    /// The request is not a form that we made: 400, 405, 413, 415, 422.
    NotUnderstood,
    /// Someone else changed the same thing, or the database or the provider is away: 503. It is safe to try again.
    Unavailable,
    /// A bug of ours: 500.
    Broken,
}

/// A page that cannot be shown, and why. It becomes a page itself where the visitor's language is known.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    pub(crate) retry_after: Option<u64>,
    /// For the log only.
    cause: Option<String>,
}

impl Refused {
    pub(crate) fn with(status: StatusCode) -> Refused {
        Refused { status, retry_after: None, cause: None }
    }

    pub(crate) fn kind(&self) -> ProblemKind {
        match self.status {
            StatusCode::NOT_FOUND => ProblemKind::NotFound,
            StatusCode::FORBIDDEN => ProblemKind::Forbidden,
            StatusCode::TOO_MANY_REQUESTS => ProblemKind::TooMany,
            StatusCode::SERVICE_UNAVAILABLE => ProblemKind::Unavailable,
            status if status.is_server_error() => ProblemKind::Broken,
            _ => ProblemKind::NotUnderstood,
        }
    }
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Refused {
        let status = error.status();
        let cause = status.is_server_error().then(|| error.cause());
        Refused { status, retry_after: error.retry_after(status), cause }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        ApiError::from(error).into()
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        if let Some(cause) = self.cause.clone() {
            response.extensions_mut().insert(Cause(cause));
        }
        response.extensions_mut().insert(self);
        response
    }
}
