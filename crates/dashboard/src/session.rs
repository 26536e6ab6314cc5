//! Who is signed in, at which desk, and whether a form is really theirs.

use std::str::FromStr;

use axum::{
    extract::{FromRequest, FromRequestParts, Request},
    http::{StatusCode, request::Parts},
};
use domain::id::ProjectId;
use engine::{Desk, Error, Operator, Visit};
use sha2::{Digest, Sha256};
use web::{
    App, client,
    page::{form::Form, page_error::PageError},
    path,
    session::{mark_as_refresh, visit},
};

const FORM_TOKEN: &str = "form_token";

/// Somebody who is signed in.
pub(crate) struct SignedIn(pub(crate) Visit);

/// Somebody who may be signed in.
pub(crate) struct MaybeSignedIn(pub(crate) Option<Visit>);

/// A member at the desk of the project that the address names.
pub(crate) struct AtDesk {
    pub(crate) visit: Visit,
    pub(crate) desk: Desk,
    /// What the project was like before anything of it was read, so that a page hears of whatever came after.
    pub(crate) pulse: String,
}

/// The same for a page that looks by itself at an address made for that, which keeps nobody signed in.
pub(crate) struct Unattended(pub(crate) AtDesk);

/// An operator.
pub(crate) struct AtOperator {
    pub(crate) visit: Visit,
    pub(crate) operator: Operator,
}

/// A form that this very session was given.
pub(crate) struct SignedForm(pub(crate) Form);

/// The id at the end of an address; one that is malformed is one that does not exist.
pub(crate) struct LastId<Id>(pub(crate) Id);

impl FromRequestParts<App> for MaybeSignedIn {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<MaybeSignedIn, PageError> {
        let address = client::address(&parts.extensions, &parts.headers, &app.settings.trusted_proxies);
        Ok(MaybeSignedIn(visit(app, &parts.headers, &mut parts.extensions, address).await?))
    }
}

impl FromRequestParts<App> for SignedIn {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<SignedIn, PageError> {
        let MaybeSignedIn(visit) = MaybeSignedIn::from_request_parts(parts, app).await?;
        visit.map(SignedIn).ok_or_else(|| PageError::with(StatusCode::UNAUTHORIZED))
    }
}

impl FromRequestParts<App> for AtDesk {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<AtDesk, PageError> {
        let SignedIn(visit) = SignedIn::from_request_parts(parts, app).await?;
        let project: ProjectId = path::first(parts, app).await.ok_or(Error::NotFound("page"))?;
        let desk = app.engine.desk(&visit, project).await?;
        let pulse = desk.change_token().await?;
        Ok(AtDesk { visit, desk, pulse })
    }
}

impl FromRequestParts<App> for Unattended {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Unattended, PageError> {
        mark_as_refresh(&mut parts.headers);
        AtDesk::from_request_parts(parts, app).await.map(Unattended)
    }
}

impl FromRequestParts<App> for AtOperator {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<AtOperator, PageError> {
        let SignedIn(visit) = SignedIn::from_request_parts(parts, app).await?;
        let operator = app.engine.operator(&visit)?;
        Ok(AtOperator { visit, operator })
    }
}

impl<Id: FromStr> FromRequestParts<App> for LastId<Id> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<LastId<Id>, PageError> {
        path::last(parts, app).await.map(LastId).ok_or(Error::NotFound("page").into())
    }
}

impl FromRequest<App> for SignedForm {
    type Rejection = PageError;

    async fn from_request(request: Request, app: &App) -> Result<SignedForm, PageError> {
        let (mut parts, body) = request.into_parts();
        let SignedIn(visit) = SignedIn::from_request_parts(&mut parts, app).await?;
        let form = Form::from_request(Request::from_parts(parts, body), app).await?;
        let given = form.text(FORM_TOKEN).unwrap_or_default();
        // Hashes are compared, so that how long it takes tells nothing about the token.
        match Sha256::digest(given) == Sha256::digest(visit.form_token()) {
            true => Ok(SignedForm(form)),
            false => Err(PageError::with(StatusCode::FORBIDDEN)),
        }
    }
}
