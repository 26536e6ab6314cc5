//! Who is signed in, at which desk, and whether a form is really theirs.

use std::{net::IpAddr, str::FromStr};

use axum::{
    extract::{FromRequest, FromRequestParts, RawPathParams, Request},
    http::{Extensions, HeaderMap, HeaderValue, StatusCode, request::Parts},
};
use domain::{
    id::ProjectId,
    user::{SESSION_LONGEST, Token},
};
use engine::{Desk, Error, Operator, Visit, Whereabouts};
use sha2::{Digest, Sha256};

use crate::{
    app::App,
    client,
    pages::{
        cookie::{self, Cookie},
        form::Form,
        place::Place,
        refused::Refused,
        visitor::Visitor,
    },
};

/// A page that looks by itself says so: nobody is at the keyboard for that.
const REFRESH: &str = "x-lunas-refresh";
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

/// What the browser keeps for a session. Over https no other host can set it, and no script ever reads it.
pub(crate) const fn cookie_name(https: bool) -> &'static str {
    if https { "__Host-lunas_session" } else { "lunas_session" }
}

/// The token that a request's browser keeps.
pub(crate) fn token(place: &Place, headers: &HeaderMap) -> Option<Token> {
    cookie::read(headers, cookie_name(place.https)).and_then(Token::parse)
}

pub(crate) fn remember(place: &Place, token: &Token, headers: &mut HeaderMap) {
    let seconds = u32::try_from(SESSION_LONGEST.as_secs()).unwrap_or(u32::MAX);
    write(place, &token.reveal(), seconds, headers);
}

pub(crate) fn forget(place: &Place, headers: &mut HeaderMap) {
    write(place, "", 0, headers);
}

fn write(place: &Place, value: &str, seconds: u32, headers: &mut HeaderMap) {
    let name = cookie_name(place.https);
    Cookie { name, value, path: "/", seconds, secure: place.https }.write(headers);
}

/// From where somebody comes, as the engine wants to know it.
pub(crate) fn whereabouts(visitor: &Visitor) -> Whereabouts {
    let counted_as = client::limited_as(visitor.address).to_string();
    let browser = visitor.user_agent.clone().unwrap_or_default();
    Whereabouts { address: visitor.address.to_string(), counted_as, browser }
}

/// Who sent a request, if they are signed in. Looked up once per request.
pub(crate) async fn visit(
    app: &App,
    headers: &HeaderMap,
    extensions: &mut Extensions,
    address: IpAddr,
) -> Result<Option<Visit>, Error> {
    if let Some(visit) = extensions.get::<Visit>() {
        return Ok(Some(visit.clone()));
    }
    let Some(token) = token(&app.shared.place, headers) else { return Ok(None) };
    let notices = !headers.contains_key(REFRESH);
    let visit = app.engine.visit(&token, address.to_string(), notices).await?;
    if let Some(visit) = &visit {
        extensions.insert(visit.clone());
    }
    Ok(visit)
}

impl FromRequestParts<App> for MaybeSignedIn {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<MaybeSignedIn, Refused> {
        let address = client::address(&parts.extensions, &parts.headers, &app.shared.trusted_proxies);
        Ok(MaybeSignedIn(visit(app, &parts.headers, &mut parts.extensions, address).await?))
    }
}

impl FromRequestParts<App> for SignedIn {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<SignedIn, Refused> {
        let MaybeSignedIn(visit) = MaybeSignedIn::from_request_parts(parts, app).await?;
        visit.map(SignedIn).ok_or_else(|| Refused::with(StatusCode::UNAUTHORIZED))
    }
}

impl FromRequestParts<App> for AtDesk {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<AtDesk, Refused> {
        let SignedIn(visit) = SignedIn::from_request_parts(parts, app).await?;
        let project: ProjectId = parameter(parts, app, true).await?;
        let desk = app.engine.desk(&visit, project).await?;
        let pulse = desk.pulse().await?;
        Ok(AtDesk { visit, desk, pulse })
    }
}

impl FromRequestParts<App> for Unattended {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Unattended, Refused> {
        // Browsers that listen for events send no headers of a page's choice, and connect again all by themselves.
        parts.headers.insert(REFRESH, HeaderValue::from_static("1"));
        AtDesk::from_request_parts(parts, app).await.map(Unattended)
    }
}

impl FromRequestParts<App> for AtOperator {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<AtOperator, Refused> {
        let SignedIn(visit) = SignedIn::from_request_parts(parts, app).await?;
        let operator = app.engine.operator(&visit)?;
        Ok(AtOperator { visit, operator })
    }
}

impl<Id: FromStr> FromRequestParts<App> for LastId<Id> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<LastId<Id>, Refused> {
        parameter(parts, app, false).await.map(LastId)
    }
}

/// The first or the last parameter of an address.
async fn parameter<T: FromStr>(parts: &mut Parts, app: &App, first: bool) -> Result<T, Refused> {
    let parameters = RawPathParams::from_request_parts(parts, app).await.ok();
    let text = parameters.as_ref().and_then(|parameters| match first {
        true => parameters.iter().next(),
        false => parameters.iter().last(),
    });
    text.and_then(|(_, text)| text.parse().ok()).ok_or_else(|| Error::NotFound("page").into())
}

impl FromRequest<App> for SignedForm {
    type Rejection = Refused;

    async fn from_request(request: Request, app: &App) -> Result<SignedForm, Refused> {
        let (mut parts, body) = request.into_parts();
        let SignedIn(visit) = SignedIn::from_request_parts(&mut parts, app).await?;
        let form = Form::from_request(Request::from_parts(parts, body), app).await?;
        let given = form.text(FORM_TOKEN).unwrap_or_default();
        // Hashes are compared, so that how long it takes tells nothing about the token.
        match Sha256::digest(given) == Sha256::digest(visit.form_token()) {
            true => Ok(SignedForm(form)),
            false => Err(Refused::with(StatusCode::FORBIDDEN)),
        }
    }
}
