//! `/v1`, the API for merchants' programs: one file per group of endpoints, each with its request and answer types.
//!
//! A handler decodes, calls the engine and renders. It never decides about money, and it knows no page.

mod answer;
mod audit;
mod auth;
mod balance;
mod banks;
mod body;
mod cors;
mod error;
mod error_code;
mod events;
mod health;
mod keys;
mod links;
mod openapi;
mod path_id;
mod payments;
mod project;
mod receipts;
mod refunds;
mod routes;
mod sandbox;

use axum::response::{IntoResponse, Response};
use web::{App, Failure, FailureWording, Surface};

pub use routes::{openapi_document, openapi_json};

/// The API, as a server mounts it.
pub fn surface(app: &App) -> Surface {
    Surface {
        folders: &["v1", "healthz", "readyz", "openapi.json"],
        routes: routes::router(app),
        wording: FailureWording::Envelope(envelope),
        assets: Vec::new(),
        secret_paths: &[],
    }
}

/// The error envelope of the API, for a failure outside of any handler.
fn envelope(failure: Failure, _: &str) -> Response {
    error::ApiError::from(failure).into_response()
}
