//! Ids in addresses.

use std::str::FromStr;

use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
};

use crate::App;

/// The first parameter of an address; none where it is malformed, as what it names cannot exist then.
pub async fn first<Id: FromStr>(parts: &mut Parts, app: &App) -> Option<Id> {
    let parameters = RawPathParams::from_request_parts(parts, app).await.ok()?;
    parameters.iter().next().and_then(|(_, text)| text.parse().ok())
}

/// The last parameter of an address, likewise.
pub async fn last<Id: FromStr>(parts: &mut Parts, app: &App) -> Option<Id> {
    let parameters = RawPathParams::from_request_parts(parts, app).await.ok()?;
    parameters.iter().last().and_then(|(_, text)| text.parse().ok())
}
