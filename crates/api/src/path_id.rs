//! Extracts the id from a path. A malformed id is answered like an unknown one, with 404.

use std::str::FromStr;

use axum::{extract::FromRequestParts, http::request::Parts};
use engine::Error;
use web::App;

use crate::error::ApiError;

/// The id in the request's path.
pub(crate) struct PathId<Id>(pub(crate) Id);

impl<Id: FromStr> FromRequestParts<App> for PathId<Id> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<PathId<Id>, ApiError> {
        web::path::first(parts, app).await.map(PathId).ok_or(Error::NotFound("resource").into())
    }
}
