//! Reads the ids in a request's path. How a missing id is answered is up to the caller.

use std::str::FromStr;

use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
};

use crate::App;

/// The first parameter of the path. A malformed id is none: no row can have it, so the caller answers as for an unknown id.
pub async fn first<Id: FromStr>(parts: &mut Parts, app: &App) -> Option<Id> {
    let parameters = RawPathParams::from_request_parts(parts, app).await.ok()?;
    parameters.iter().next().and_then(|(_, text)| text.parse().ok())
}

/// The last parameter of the path; none where it is malformed.
pub async fn last<Id: FromStr>(parts: &mut Parts, app: &App) -> Option<Id> {
    let parameters = RawPathParams::from_request_parts(parts, app).await.ok()?;
    parameters.iter().last().and_then(|(_, text)| text.parse().ok())
}
