//! Who is signed in, and whether a form belongs to their session.

use std::str::FromStr;

use axum::{
    extract::{FromRequest, FromRequestParts, Request},
    http::{Extensions, StatusCode, request::Parts},
};
use engine::{Error, Visit};
use sha2::{Digest, Sha256};
use web::{
    App, Failure, client,
    limits::LimitedCaller,
    page::{form::Form, page_error::PageError, upload::Upload},
    path,
    session::visit,
};

const FORM_TOKEN: &str = "form_token";

/// The session of a user who is signed in; without one the visitor is asked to sign in.
pub(crate) struct SignedIn(pub(crate) Visit);

/// The visitor's session, if there is one.
pub(crate) struct MaybeSignedIn(pub(crate) Option<Visit>);

/// A form that carries the token of the session that sends it.
pub(crate) struct SignedForm(pub(crate) Form);

/// The same for a form that may carry a file. Only one that belongs to a session is read at all.
pub(crate) struct SignedUpload(pub(crate) Upload);

/// The id at the end of an address; a malformed id is treated as one that does not exist.
pub(crate) struct LastId<Id>(pub(crate) Id);

impl FromRequestParts<App> for MaybeSignedIn {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<MaybeSignedIn, PageError> {
        let address = client::address(&parts.extensions, &parts.headers, &app.settings.trusted_proxies);
        let visit = visit(app, &parts.headers, &mut parts.extensions, address).await?;
        if let Some(visit) = &visit {
            count(app, visit, &mut parts.extensions)?;
        }
        Ok(MaybeSignedIn(visit))
    }
}

/// Counts a request of a session, once. Pages have the limit that API keys have.
fn count(app: &App, visit: &Visit, extensions: &mut Extensions) -> Result<(), PageError> {
    #[derive(Clone)]
    struct IsCounted;
    if extensions.insert(IsCounted).is_some() {
        return Ok(());
    }
    let usage = app.limits.request(LimitedCaller::Session(visit.session.id));
    match usage.and_then(|usage| usage.retry_after) {
        Some(retry_after) => Err(Failure::RateLimited { retry_after }.into()),
        None => Ok(()),
    }
}

impl FromRequestParts<App> for SignedIn {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<SignedIn, PageError> {
        let MaybeSignedIn(visit) = MaybeSignedIn::from_request_parts(parts, app).await?;
        visit.map(SignedIn).ok_or_else(|| PageError::with(StatusCode::UNAUTHORIZED))
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
        check_token(&form, &visit)?;
        Ok(SignedForm(form))
    }
}

impl FromRequest<App> for SignedUpload {
    type Rejection = PageError;

    async fn from_request(request: Request, app: &App) -> Result<SignedUpload, PageError> {
        let (mut parts, body) = request.into_parts();
        let SignedIn(visit) = SignedIn::from_request_parts(&mut parts, app).await?;
        let upload = Upload::from_request(Request::from_parts(parts, body), app).await?;
        check_token(&upload.form, &visit)?;
        Ok(SignedUpload(upload))
    }
}

fn check_token(form: &Form, visit: &Visit) -> Result<(), PageError> {
    let given = form.text(FORM_TOKEN).unwrap_or_default();
    // Hashes are compared, so that the time it takes says nothing about the token.
    let is_theirs = Sha256::digest(given) == Sha256::digest(visit.form_token());
    if is_theirs { Ok(()) } else { Err(PageError::with(StatusCode::FORBIDDEN)) }
}
