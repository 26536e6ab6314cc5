//! Sessions of signed-in users: the cookie that holds the token, the one by which a browser is known later, and the look-up of
//! the user. Whether the user may do something is not decided here.

use std::{net::IpAddr, time::Duration};

use axum::http::{Extensions, HeaderMap, HeaderValue};
use domain::user::{KNOWN_LIFETIME, SESSION_LONGEST, Token};
use engine::{Error, NewSession, PENDING_LIFETIME, TICKET_LIFETIME, Visit, Whereabouts};

use crate::{
    App, client,
    page::{
        cookie::{self, Cookie},
        site_urls::SiteUrls,
        visitor::Visitor,
    },
};

/// Pages that refresh themselves send this header. Such a request does not extend the session, since the user may be away.
const REFRESH: &str = "x-lunas-refresh";

/// The name of the session cookie. Over https the prefix `__Host-` keeps other hosts from setting it.
pub const fn cookie_name(https: bool) -> &'static str {
    if https { "__Host-lunas_session" } else { "lunas_session" }
}

/// The name of the cookie that outlives the session: it says who has signed in with this browser.
const fn known_cookie_name(https: bool) -> &'static str {
    if https { "__Host-lunas_known" } else { "lunas_known" }
}

/// The name of the cookie that a visitor gets who is told to wait before they sign in.
const fn ticket_cookie_name(https: bool) -> &'static str {
    if https { "__Host-lunas_ticket" } else { "lunas_ticket" }
}

/// The name of the cookie of a visitor who has given the right password, and must show their second factor next.
const fn pending_cookie_name(https: bool) -> &'static str {
    if https { "__Host-lunas_pending" } else { "lunas_pending" }
}

/// The token in the request's session cookie.
pub fn token(urls: &SiteUrls, headers: &HeaderMap) -> Option<Token> {
    cookie::read(headers, cookie_name(urls.https)).and_then(Token::parse)
}

/// Sets the cookies of a new session.
pub fn remember(urls: &SiteUrls, session: &NewSession, headers: &mut HeaderMap) {
    write(urls, cookie_name(urls.https), &session.token.reveal(), SESSION_LONGEST, headers);
    write(urls, known_cookie_name(urls.https), &session.known_browser, KNOWN_LIFETIME, headers);
}

/// Sets the cookie of a visitor who must wait before they sign in.
pub fn hand_out_ticket(urls: &SiteUrls, ticket: &str, headers: &mut HeaderMap) {
    write(urls, ticket_cookie_name(urls.https), ticket, TICKET_LIFETIME, headers);
}

/// Deletes that cookie where the visitor has one.
pub fn take_ticket_back(urls: &SiteUrls, visitor: &Visitor, headers: &mut HeaderMap) {
    let name = ticket_cookie_name(urls.https);
    if visitor.cookie(name).is_some() {
        write(urls, name, "", Duration::ZERO, headers);
    }
}

/// Sets the cookie of a visitor who must show their second factor next.
pub fn hand_out_pending(urls: &SiteUrls, pending: &str, headers: &mut HeaderMap) {
    write(urls, pending_cookie_name(urls.https), pending, PENDING_LIFETIME, headers);
}

/// Deletes that cookie where the visitor has one.
pub fn take_pending_back(urls: &SiteUrls, visitor: &Visitor, headers: &mut HeaderMap) {
    let name = pending_cookie_name(urls.https);
    if visitor.cookie(name).is_some() {
        write(urls, name, "", Duration::ZERO, headers);
    }
}

/// Deletes the session cookie. The browser stays known.
pub fn forget(urls: &SiteUrls, headers: &mut HeaderMap) {
    write(urls, cookie_name(urls.https), "", Duration::ZERO, headers);
}

fn write(urls: &SiteUrls, name: &'static str, value: &str, lifetime: Duration, headers: &mut HeaderMap) {
    let seconds = u32::try_from(lifetime.as_secs()).unwrap_or(u32::MAX);
    Cookie { name, value, path: "/", seconds, secure: urls.https }.write(headers);
}

/// Marks a request as an automatic refresh. Event streams need this, because browsers cannot send the header when they
/// reconnect to one.
pub fn mark_as_refresh(headers: &mut HeaderMap) {
    headers.insert(REFRESH, HeaderValue::from_static("1"));
}

/// The visitor's address and browser, as the engine records them with a session.
pub fn whereabouts(urls: &SiteUrls, visitor: &Visitor) -> Whereabouts {
    Whereabouts {
        address: visitor.address.to_string(),
        counted_as: client::limited_as(visitor.address).to_string(),
        browser: visitor.user_agent.clone().unwrap_or_default(),
        network: client::network_of(visitor.address).to_string(),
        known_browser: visitor.cookie(known_cookie_name(urls.https)).map(str::to_owned),
        ticket: visitor.cookie(ticket_cookie_name(urls.https)).map(str::to_owned),
        pending: visitor.cookie(pending_cookie_name(urls.https)).map(str::to_owned),
    }
}

/// The signed-in user who sent a request, if any. The database is asked once per request; then the extensions have it.
pub async fn visit(
    app: &App,
    headers: &HeaderMap,
    extensions: &mut Extensions,
    address: IpAddr,
) -> Result<Option<Visit>, Error> {
    if let Some(visit) = extensions.get::<Visit>() {
        return Ok(Some(visit.clone()));
    }
    let Some(token) = token(&app.settings.urls, headers) else { return Ok(None) };
    let prolongs = !headers.contains_key(REFRESH);
    let visit = app.engine.visit(&token, address.to_string(), prolongs).await?;
    if let Some(visit) = &visit {
        extensions.insert(visit.clone());
    }
    Ok(visit)
}
