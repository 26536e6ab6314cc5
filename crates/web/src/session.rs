//! Whose session a request carries: the cookie that a browser keeps, and the user behind it.

use std::net::IpAddr;

use axum::http::{Extensions, HeaderMap, HeaderValue};
use domain::user::{SESSION_LONGEST, Token};
use engine::{Error, Visit, Whereabouts};

use crate::{
    App, client,
    page::{
        cookie::{self, Cookie},
        site_urls::SiteUrls,
        visitor::Visitor,
    },
};

/// A page that refreshes itself sends this header: nobody is at the keyboard, so it does not prolong the session.
const REFRESH: &str = "x-lunas-refresh";

/// The name of the cookie. Over https no other host can set it, and no script ever reads it.
pub const fn cookie_name(https: bool) -> &'static str {
    if https { "__Host-lunas_session" } else { "lunas_session" }
}

/// The token that a request's browser keeps.
pub fn token(urls: &SiteUrls, headers: &HeaderMap) -> Option<Token> {
    cookie::read(headers, cookie_name(urls.https)).and_then(Token::parse)
}

/// Lets the browser keep `token`.
pub fn remember(urls: &SiteUrls, token: &Token, headers: &mut HeaderMap) {
    let seconds = u32::try_from(SESSION_LONGEST.as_secs()).unwrap_or(u32::MAX);
    write(urls, &token.reveal(), seconds, headers);
}

/// Lets the browser forget its token.
pub fn forget(urls: &SiteUrls, headers: &mut HeaderMap) {
    write(urls, "", 0, headers);
}

fn write(urls: &SiteUrls, value: &str, seconds: u32, headers: &mut HeaderMap) {
    let name = cookie_name(urls.https);
    Cookie { name, value, path: "/", seconds, secure: urls.https }.write(headers);
}

/// Marks a request as one that a page makes by itself. Browsers that reconnect to an event stream cannot send the header.
pub fn mark_as_refresh(headers: &mut HeaderMap) {
    headers.insert(REFRESH, HeaderValue::from_static("1"));
}

/// Where a visitor comes from, as the engine wants to know it.
pub fn whereabouts(visitor: &Visitor) -> Whereabouts {
    let counted_as = client::limited_as(visitor.address).to_string();
    let browser = visitor.user_agent.clone().unwrap_or_default();
    Whereabouts { address: visitor.address.to_string(), counted_as, browser }
}

/// Who sent a request, if they are signed in. Looked up once per request.
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
