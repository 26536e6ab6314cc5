//! The id in an address. One that is malformed is one that does not exist.

use std::str::FromStr;

use axum::{extract::FromRequestParts, http::request::Parts};
use engine::Error;
use web::{App, page::page_error::PageError};

pub(crate) struct PathId<Id>(pub(crate) Id);

impl<Id: FromStr> FromRequestParts<App> for PathId<Id> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<PathId<Id>, PageError> {
        web::path::first(parts, app).await.map(PathId).ok_or(Error::NotFound("page").into())
    }
}
