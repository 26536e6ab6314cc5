//! What a form of ours sends: fields by name, each at most once.

use axum::{
    extract::{FromRequest, Request},
    http::StatusCode,
};

use super::refused::Refused;
use crate::{api::body, app::App, wire::query::Query};

pub(crate) struct Form(Query);

impl FromRequest<App> for Form {
    type Rejection = Refused;

    async fn from_request(request: Request, app: &App) -> Result<Form, Refused> {
        let bytes = body::read_as(request, app, "application/x-www-form-urlencoded").await?;
        let sent = str::from_utf8(&bytes).ok().and_then(|text| Query::parse(Some(text)).ok());
        let form = sent.filter(Query::names_are_unique).map(Form);
        form.ok_or_else(|| Refused::with(StatusCode::UNPROCESSABLE_ENTITY))
    }
}

impl Form {
    /// A field's text; a field left empty is as good as one that was not sent.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.text(name).ok().flatten().filter(|text| !text.is_empty())
    }
}
