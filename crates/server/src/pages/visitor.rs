//! Who looks at a page: their language, and what a payment keeps about where it was made.

use std::{borrow::Cow, net::IpAddr, ops::Deref, sync::Arc};

use axum::{
    extract::{FromRequestParts, Request},
    http::{Extensions, HeaderMap, Uri, header, request::Parts},
};
use domain::{payment::Location, steps::Language};

use super::{cookie, device, words};
use crate::{app::App, client, dashboard::session, front::RequestId, wire::query::Query};

pub(crate) const LANGUAGE_COOKIE: &str = "lunas_lang";
/// Kept per link: the payment that this browser was led to, or before that what its form is known by.
pub(crate) const CHECKOUT_COOKIE: &str = "lunas_checkout";
/// What a proxy that knows calls the customer's country.
const COUNTRY_HEADERS: [&str; 2] = ["cf-ipcountry", "x-country-code"];
/// Longer ones are cut; real ones are far shorter.
const USER_AGENT_CHARACTERS: usize = 512;

/// One pointer: whoever meets a request looks at its visitor, and the first one leaves it there for the others.
#[derive(Clone)]
pub(crate) struct Visitor(Arc<Seen>);

/// What is seen of a visitor.
pub(crate) struct Seen {
    pub(crate) language: Language,
    /// Whether the language was asked for in the address, and is to be remembered.
    pub(crate) chose_language: bool,
    pub(crate) path: String,
    pub(crate) query: Query,
    pub(crate) address: IpAddr,
    pub(crate) country: Option<String>,
    pub(crate) user_agent: Option<String>,
    pub(crate) request_id: Option<String>,
    /// What the browser keeps for this link.
    pub(crate) checkout: Option<String>,
    /// Whether the browser keeps a session of the dashboard, live or not.
    pub(crate) had_session: bool,
    /// The query as it was sent.
    raw_query: Option<String>,
}

impl Deref for Visitor {
    type Target = Seen;

    fn deref(&self) -> &Seen {
        &self.0
    }
}

impl Visitor {
    pub(crate) fn of(app: &App, request: &Request) -> Visitor {
        Visitor::known(app, request.uri(), request.headers(), request.extensions())
    }

    /// Whoever was seen before is not looked at again.
    fn known(app: &App, uri: &Uri, headers: &HeaderMap, extensions: &Extensions) -> Visitor {
        let known = extensions.get::<Visitor>().cloned();
        known.unwrap_or_else(|| Visitor(Arc::new(Seen::read(app, uri, headers, extensions))))
    }
}

impl Seen {
    fn read(app: &App, uri: &Uri, headers: &HeaderMap, extensions: &Extensions) -> Seen {
        // A query that is not text asks for nothing.
        let query = Query::parse(uri.query()).unwrap_or_default();
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let spoken =
            |code: &str| [Language::Indonesian, Language::English].into_iter().find(|l| words::code(*l) == code);
        let asked = query.text("lang").ok().flatten().and_then(spoken);
        let remembered = cookie::read(headers, LANGUAGE_COOKIE).and_then(spoken);
        let language = asked.or(remembered).unwrap_or_else(|| {
            let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
            Language::from_accept_language(accepted)
        });
        let country = client::is_proxied(extensions, &app.shared.trusted_proxies)
            .then(|| COUNTRY_HEADERS.iter().find_map(|name| text(name)))
            .flatten()
            // `XX` is how some say that they do not know it either.
            .filter(|code| code.len() == 2 && *code != "XX" && code.bytes().all(|byte| byte.is_ascii_uppercase()));
        let user_agent = headers.get(header::USER_AGENT).map(|value| String::from_utf8_lossy(value.as_bytes()));
        Seen {
            language,
            chose_language: asked.is_some(),
            path: uri.path().to_owned(),
            query,
            address: client::address(extensions, headers, &app.shared.trusted_proxies),
            country: country.map(str::to_owned),
            user_agent: user_agent.map(shortened),
            request_id: extensions.get::<RequestId>().and_then(|id| id.0.to_str().ok()).map(str::to_owned),
            checkout: cookie::read(headers, CHECKOUT_COOKIE).map(str::to_owned),
            had_session: session::token(&app.shared.place, headers).is_some(),
            raw_query: uri.query().map(str::to_owned),
        }
    }

    /// The address that was asked for, with its query.
    pub(crate) fn address_again(&self) -> String {
        let query = self.raw_query.as_deref().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{query}", self.path)
    }

    /// The same address in that language, without what it says has just been done.
    pub(crate) fn address_in(&self, language: Language) -> String {
        let query = self.raw_query.as_deref().unwrap_or_default();
        let stays = |piece: &&str| !piece.is_empty() && !["lang=", "done="].iter().any(|name| piece.starts_with(name));
        let kept: String = query.split('&').filter(stays).map(|piece| format!("{piece}&")).collect();
        format!("{}?{kept}lang={}", self.path, words::code(language))
    }

    pub(crate) fn location(&self) -> Location {
        Location { ip: Some(self.address.to_string()), country: self.country.clone() }
    }

    pub(crate) fn device(&self) -> domain::payment::Device {
        device::of(self.user_agent.as_deref())
    }
}

fn shortened(user_agent: Cow<'_, str>) -> String {
    let end = user_agent.char_indices().nth(USER_AGENT_CHARACTERS).map_or(user_agent.len(), |(end, _)| end);
    user_agent[..end].to_owned()
}

impl FromRequestParts<App> for Visitor {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Visitor, Self::Rejection> {
        Ok(Visitor::known(app, &parts.uri, &parts.headers, &parts.extensions))
    }
}
