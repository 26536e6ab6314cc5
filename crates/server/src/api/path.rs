//! Ids in addresses. One that is malformed is one that does not exist.

use std::str::FromStr;

use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::request::Parts,
};
use engine::Error;

use crate::{app::App, error::ApiError};

pub(crate) struct PathId<Id>(pub(crate) Id);

impl<Id: FromStr> FromRequestParts<App> for PathId<Id> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<PathId<Id>, ApiError> {
        let parameters = RawPathParams::from_request_parts(parts, app).await;
        let id = parameters.ok().and_then(|parameters| parameters.iter().next()?.1.parse().ok());
        id.map(PathId).ok_or(Error::NotFound("resource").into())
    }
}
