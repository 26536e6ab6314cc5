//! The error of a page request, and which kind of error page it becomes. It holds no text for people: the surface has the
//! sentences, and the cause goes to the log only.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use engine::Error;

use crate::failure::{Cause, Failure, chain, engine_status, retry_after};

/// Which error page is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// There is no such page: 404.
    NotFound,
    /// The request is not allowed, for example a form that came from another site: 403.
    Forbidden,
    /// Too many requests: 429.
    TooMany,
    /// The request is not one that our pages send: 400, 405, 413, 415, 422.
    NotUnderstood,
    /// Another request changed the same row, or the database or a bank is unavailable: 503. It is safe to retry.
    Unavailable,
    /// A bug of ours: 500.
    Broken,
}

/// What the visitor can do, so that the page is shown or the form is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Prove that they are there.
    Proof,
    /// Add a second factor.
    SecondFactor,
}

/// Why a page cannot be shown. The last step of a page request renders it as an error page.
#[derive(Clone, Debug)]
pub struct PageError {
    pub status: StatusCode,
    pub retry_after: Option<u64>,
    pub demand: Option<Demand>,
    /// For the log only.
    cause: Option<String>,
}

impl PageError {
    pub fn with(status: StatusCode) -> PageError {
        PageError { status, retry_after: None, demand: None, cause: None }
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
        PageError { status, retry_after, demand: None, cause: status.is_server_error().then(|| chain(error)) }
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
        let demand = match error {
            Error::ProofNeeded => Some(Demand::Proof),
            Error::FactorMissing => Some(Demand::SecondFactor),
            _ => None,
        };
        PageError { demand, ..PageError::because(status, retry_after(status), &error) }
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
