//! What goes wrong with a page. The visitor reads a sentence made for them, never the API's words.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use engine::Error;

use crate::failure::{Cause, Failure, chain, engine_status, retry_after};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// Nothing is here: 404.
    NotFound,
    /// The form came from another site: 403.
    Forbidden,
    /// Too many at once: 429.
    TooMany,
    /// The request is not a form that we made: 400, 405, 413, 415, 422.
    NotUnderstood,
    /// Another request changed the same thing, or the database or the provider is away: 503. It is safe to retry.
    Unavailable,
    /// A bug of ours: 500.
    Broken,
}

/// A page that cannot be shown, and why. It becomes a page itself where the visitor's language is known.
#[derive(Clone, Debug)]
pub struct PageError {
    pub status: StatusCode,
    pub retry_after: Option<u64>,
    /// For the log only.
    cause: Option<String>,
}

impl PageError {
    pub fn with(status: StatusCode) -> PageError {
        PageError { status, retry_after: None, cause: None }
    }

    pub fn kind(&self) -> ProblemKind {
        match self.status {
            StatusCode::NOT_FOUND => ProblemKind::NotFound,
            StatusCode::FORBIDDEN => ProblemKind::Forbidden,
            StatusCode::TOO_MANY_REQUESTS => ProblemKind::TooMany,
            StatusCode::SERVICE_UNAVAILABLE => ProblemKind::Unavailable,
            status if status.is_server_error() => ProblemKind::Broken,
            _ => ProblemKind::NotUnderstood,
        }
    }

    fn because(status: StatusCode, retry_after: Option<u64>, error: &dyn std::error::Error) -> PageError {
        PageError { status, retry_after, cause: status.is_server_error().then(|| chain(error)) }
    }
}

impl From<Failure> for PageError {
    fn from(failure: Failure) -> PageError {
        PageError::because(failure.status(), failure.retry_after(), &failure)
    }
}

impl From<Error> for PageError {
    fn from(error: Error) -> PageError {
        let status = engine_status(&error);
        PageError::because(status, retry_after(status), &error)
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        if let Some(cause) = self.cause.clone() {
            response.extensions_mut().insert(Cause(cause));
        }
        response.extensions_mut().insert(self);
        response
    }
}
