//! Who is signed in, and whether a form belongs to their session.

use std::{
    convert::Infallible,
    str::FromStr,
    sync::{Arc, OnceLock},
};

use axum::{
    extract::{FromRequest, FromRequestParts, RawPathParams, Request},
    http::{Extensions, StatusCode, request::Parts},
};
use domain::{time::Timestamp, user::Token};
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
/// The field in which a form carries the proof that was asked for.
const PROOF: &str = "proof";

/// The session of a user who is signed in; without one the visitor is asked to sign in.
pub(crate) struct SignedIn(pub(crate) Visit);

/// The visitor's session, if there is one.
pub(crate) struct MaybeSignedIn(pub(crate) Option<Visit>);

/// A form that carries the token of the session that sends it. Where a proof was asked for, the form also carries that; it is checked
/// first.
pub(crate) struct SignedForm(pub(crate) Form);

/// The form of a request, in its extensions, so that it is not lost where the user has to prove first that they are there.
#[derive(Clone, Default)]
pub(crate) struct PostedForm(Arc<OnceLock<KeptForm>>);

/// A form that can be sent again.
pub(crate) struct KeptForm {
    pub(crate) visit: Visit,
    /// All fields but the token and the proof.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) mistake: Option<ProofMistake>,
}

/// Why a proof was not taken.
#[derive(Clone, Copy)]
pub(crate) enum ProofMistake {
    Wrong,
    /// Too many were wrong; this one was not looked at.
    Wait {
        until: Timestamp,
    },
}

impl PostedForm {
    fn keep(&self, visit: Visit, fields: Vec<(String, String)>, mistake: Option<ProofMistake>) {
        // A request has one form.
        let _ = self.0.set(KeptForm { visit, fields, mistake });
    }

    pub(crate) fn kept(&self) -> Option<&KeptForm> {
        self.0.get()
    }
}

/// The same for a form that may carry a file. Only one that belongs to a session is read at all.
pub(crate) struct SignedUpload(pub(crate) Upload);

/// The token of a link that grants access, in the address; a malformed one is treated as unknown.
pub(crate) struct LinkToken(pub(crate) Option<Token>);

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

impl FromRequestParts<App> for LinkToken {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<LinkToken, Self::Rejection> {
        let parameters = RawPathParams::from_request_parts(parts, app).await.ok();
        let text = parameters.as_ref().and_then(|parameters| parameters.iter().next());
        Ok(LinkToken(text.and_then(|(_, text)| Token::parse(text))))
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
        let posted = parts.extensions.get::<PostedForm>().cloned();
        let form = Form::from_request(Request::from_parts(parts, body), app).await?;
        check_token(&form, &visit)?;
        let mistake = match form.text(PROOF) {
            Some(typed) => wrong_proof(app, &visit, typed).await?,
            None => None,
        };
        let is_wrong = mistake.is_some();
        if let Some(posted) = posted {
            let again = |name: &&str| !matches!(*name, FORM_TOKEN | PROOF);
            let field = |name: &str| Some((name.to_owned(), form.text(name)?.to_owned()));
            posted.keep(visit, form.names().filter(again).filter_map(field).collect(), mistake);
        }
        if is_wrong { Err(Error::ProofNeeded.into()) } else { Ok(SignedForm(form)) }
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

/// What is wrong with a proof; none where it is taken.
async fn wrong_proof(app: &App, visit: &Visit, typed: &str) -> Result<Option<ProofMistake>, PageError> {
    match app.engine.prove(visit, typed.into()).await {
        Ok(()) => Ok(None),
        Err(Error::Invalid(_)) => Ok(Some(ProofMistake::Wrong)),
        Err(Error::TryLater { until }) => Ok(Some(ProofMistake::Wait { until })),
        Err(error) => Err(error.into()),
    }
}

fn check_token(form: &Form, visit: &Visit) -> Result<(), PageError> {
    let given = form.text(FORM_TOKEN).unwrap_or_default();
    // Hashes are compared, so that the time it takes says nothing about the token.
    let is_theirs = Sha256::digest(given) == Sha256::digest(visit.form_token());
    if is_theirs { Ok(()) } else { Err(PageError::with(StatusCode::FORBIDDEN)) }
}
