//! Extracts the fields of a submitted form. A form in which a field appears twice or is not valid UTF-8 is refused; whether
//! values are acceptable is for the handler to check.

use axum::{
    extract::{FromRequest, Request},
    http::StatusCode,
};

use super::page_error::PageError;
use crate::{App, body, query::Query};

/// The fields of a submitted form.
pub struct Form(Query);

impl FromRequest<App> for Form {
    type Rejection = PageError;

    async fn from_request(request: Request, app: &App) -> Result<Form, PageError> {
        let bytes = body::read_as(request, app, "application/x-www-form-urlencoded").await?;
        let sent = str::from_utf8(&bytes).ok().map(|text| Query::parse(Some(text)));
        let form = sent.filter(Query::is_utf8).filter(Query::names_are_unique).map(Form);
        form.ok_or_else(|| PageError::with(StatusCode::UNPROCESSABLE_ENTITY))
    }
}

impl Form {
    /// A form of these fields; none where one appears twice.
    pub(super) fn of(fields: Vec<(String, String)>) -> Option<Form> {
        Some(Query::of(fields)).filter(Query::names_are_unique).map(Form)
    }

    /// The names of all fields that were sent.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.names()
    }

    /// A field's text. A field that was left empty is the same as one that was not sent.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.text(name).ok().flatten().filter(|text| !text.is_empty())
    }
}
