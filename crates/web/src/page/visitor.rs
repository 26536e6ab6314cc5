//! The visitor of a page as the request describes them: language, address, country, browser and cookies. It does not say whether
//! they are signed in.

use std::{borrow::Cow, net::IpAddr, ops::Deref, sync::Arc};

use axum::{
    extract::{FromRequestParts, Request},
    http::{Extensions, HeaderMap, Uri, header, request::Parts},
};
use domain::{language::Language, rules::changes_direction};

use super::{cookie, words};
use crate::{App, client, query::Query, request_id::RequestId};

pub(super) const LANGUAGE_COOKIE: &str = "lunas_lang";
/// The query parameter that chooses a language.
const LANGUAGE_PARAMETER: &str = "lang";
/// The headers in which trusted proxies name the visitor's country.
const COUNTRY_HEADERS: [&str; 2] = ["cf-ipcountry", "x-country-code"];
/// A longer `User-Agent` is cut. Real ones are far shorter.
const USER_AGENT_CHARACTERS: usize = 512;

/// What a request says about its visitor. It is read once per request and then cloned out of the request's extensions, so it is
/// one pointer.
#[derive(Clone)]
pub struct Visitor(Arc<VisitorData>);

/// The fields of a [`Visitor`].
pub struct VisitorData {
    pub language: Language,
    /// Whether the query string asked for the language, which is then remembered in a cookie.
    pub chose_language: bool,
    pub path: String,
    pub query: Query,
    pub address: IpAddr,
    pub country: Option<String>,
    pub user_agent: Option<String>,
    pub request_id: Option<String>,
    /// The lines of the header `Cookie`.
    cookies: Vec<String>,
    /// The query as it was sent.
    raw_query: Option<String>,
}

impl Deref for Visitor {
    type Target = VisitorData;

    fn deref(&self) -> &VisitorData {
        &self.0
    }
}

impl Visitor {
    pub fn of(app: &App, request: &Request) -> Visitor {
        Visitor::of_request(app, request.uri(), request.headers(), request.extensions())
    }

    /// The visitor that an outer layer has read already, or else read now.
    fn of_request(app: &App, uri: &Uri, headers: &HeaderMap, extensions: &Extensions) -> Visitor {
        let known = extensions.get::<Visitor>().cloned();
        known.unwrap_or_else(|| Visitor(Arc::new(VisitorData::read(app, uri, headers, extensions))))
    }
}

impl VisitorData {
    fn read(app: &App, uri: &Uri, headers: &HeaderMap, extensions: &Extensions) -> VisitorData {
        let query = Query::parse(uri.query());
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let spoken =
            |code: &str| [Language::Indonesian, Language::English].into_iter().find(|l| words::code(*l) == code);
        let asked = query.text(LANGUAGE_PARAMETER).ok().flatten().and_then(spoken);
        let remembered = cookie::read(headers, LANGUAGE_COOKIE).and_then(spoken);
        let language = asked.or(remembered).unwrap_or_else(|| {
            let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
            Language::from_accept_language(accepted)
        });
        let country = client::is_proxied(extensions, &app.settings.trusted_proxies)
            .then(|| COUNTRY_HEADERS.iter().find_map(|name| text(name)))
            .flatten()
            // Proxies send `XX` where they do not know the country.
            .filter(|code| code.len() == 2 && *code != "XX" && code.bytes().all(|byte| byte.is_ascii_uppercase()));
        let user_agent = headers.get(header::USER_AGENT).map(|value| String::from_utf8_lossy(value.as_bytes()));
        VisitorData {
            language,
            chose_language: asked.is_some(),
            path: uri.path().to_owned(),
            query,
            address: client::address(extensions, headers, &app.settings.trusted_proxies),
            country: country.map(str::to_owned),
            user_agent: user_agent.map(shortened),
            request_id: extensions.get::<RequestId>().and_then(|id| id.0.to_str().ok()).map(str::to_owned),
            cookies: headers
                .get_all(header::COOKIE)
                .iter()
                .filter_map(|line| line.to_str().ok())
                .map(str::to_owned)
                .collect(),
            raw_query: uri.query().map(str::to_owned),
        }
    }

    /// The requested path with its query string.
    pub fn address_again(&self) -> String {
        let query = self.raw_query.as_deref().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{query}", self.path)
    }

    /// The requested path with its query string in `language`. The parameters `shown_once`, which carry messages for one
    /// display only, are left out.
    pub fn address_in(&self, language: Language, shown_once: &[&str]) -> String {
        let query = self.raw_query.as_deref().unwrap_or_default();
        let name = |piece: &str| piece.split('=').next().unwrap_or_default().to_owned();
        let stays = |piece: &&str| {
            let name = name(piece);
            !piece.is_empty() && name != LANGUAGE_PARAMETER && !shown_once.contains(&name.as_str())
        };
        let kept: String = query.split('&').filter(stays).map(|piece| format!("{piece}&")).collect();
        format!("{}?{kept}{LANGUAGE_PARAMETER}={}", self.path, words::code(language))
    }

    /// The value of the first cookie of that name.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        cookie::find(self.cookies.iter().map(String::as_str), name)
    }
}

/// A browser's name for itself, which pages and the API show later.
fn shortened(user_agent: Cow<'_, str>) -> String {
    user_agent.chars().filter(|character| !changes_direction(*character)).take(USER_AGENT_CHARACTERS).collect()
}

impl FromRequestParts<App> for Visitor {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Visitor, Self::Rejection> {
        Ok(Visitor::of_request(app, &parts.uri, &parts.headers, &parts.extensions))
    }
}
