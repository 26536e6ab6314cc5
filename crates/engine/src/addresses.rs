//! Web addresses that operators and merchants enter: the base URL of the service, and a project's allowed origins. The
//! webhook URL is checked by the gateway's address guard instead.

use domain::{project::Environment, rules::changes_direction};
use url::{Host, Url};

/// Servers and proxies reject longer URLs.
const URL_CHARACTERS_MOST: usize = 2_048;
/// Origins of one project; each CORS preflight request searches all of them.
pub const ORIGINS_MOST: usize = 100;
/// Origins of one project whose pages may show its checkout in a frame.
pub const FRAME_ORIGINS_MOST: usize = 20;

/// Which schemes an address may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    HttpOrHttps,
    HttpsOnly,
}

/// The base URL of this service without a trailing slash, or the rule that `text` breaks.
pub fn base_url(text: &str, scheme: Scheme) -> Result<String, String> {
    let url = web_address(text, scheme)?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must not have a query or a fragment".to_owned());
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// The address of a merchant's own site, or the rule that `text` breaks.
pub fn site(text: &str) -> Result<String, String> {
    web_address(text, Scheme::HttpsOnly).map(String::from)
}

/// Why a list of origins is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongOrigins {
    #[error("a project has at most {most} such origins, not {given}")]
    TooMany { given: usize, most: usize },
    #[error("the origin `{}` {rule}", .origin.escape_debug())]
    Wrong { origin: String, rule: String },
}

/// The allowed origins as browsers send them, each once.
pub fn origins(texts: &[String]) -> Result<Vec<String>, WrongOrigins> {
    list_of_origins(texts, ORIGINS_MOST, |_| Ok(()))
}

/// The origins whose pages may show the checkout in a frame, each once. They are https; a sandbox may also be tried out on
/// this machine, over http.
pub fn frame_origins(texts: &[String], environment: Environment) -> Result<Vec<String>, WrongOrigins> {
    let rule = match environment {
        Environment::Sandbox => "must begin with https://, or with http:// and name this machine, such as localhost",
        Environment::Production => "must begin with https://",
    };
    list_of_origins(texts, FRAME_ORIGINS_MOST, |url| {
        let is_reached = url.scheme() == "https" || environment == Environment::Sandbox && is_loopback(url);
        if is_reached && is_plain_host(url) { Ok(()) } else { Err(rule.to_owned()) }
    })
}

/// The parser lets marks such as `;` and `,` be part of a name. In a header they would end the origin.
fn is_plain_host(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)),
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
        None => false,
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// A single empty text means none.
fn list_of_origins(
    texts: &[String],
    most: usize,
    fits: impl Fn(&Url) -> Result<(), String>,
) -> Result<Vec<String>, WrongOrigins> {
    if let [only] = texts
        && only.is_empty()
    {
        return Ok(Vec::new());
    }
    if texts.len() > most {
        return Err(WrongOrigins::TooMany { given: texts.len(), most });
    }
    let mut origins = Vec::with_capacity(texts.len());
    for text in texts {
        let origin = origin(text, &fits).map_err(|rule| WrongOrigins::Wrong { origin: text.clone(), rule })?;
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    }
    Ok(origins)
}

fn origin(text: &str, fits: impl Fn(&Url) -> Result<(), String>) -> Result<String, String> {
    let url = web_address(text, Scheme::HttpOrHttps)?;
    let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    if !bare || text.contains('*') {
        return Err("must be scheme://host or scheme://host:port, with no path and no wildcard".to_owned());
    }
    fits(&url)?;
    Ok(url.origin().ascii_serialization())
}

/// Parses an absolute http or https URL without a user name or password.
fn web_address(text: &str, scheme: Scheme) -> Result<Url, String> {
    if text.chars().count() > URL_CHARACTERS_MOST {
        return Err(format!("must be at most {URL_CHARACTERS_MOST} characters"));
    }
    // The parser drops these silently, but what we store should be what was entered.
    if text.contains(|c: char| c.is_control() || c.is_whitespace() || changes_direction(c)) {
        return Err("must not contain white space or control characters".to_owned());
    }
    // The parser reads them as slashes.
    if text.contains('\\') {
        return Err("must not contain backslashes".to_owned());
    }
    let wanted = match scheme {
        Scheme::HttpOrHttps => "must be an absolute http:// or https:// address",
        Scheme::HttpsOnly => "must be an absolute https:// address",
    };
    let url = Url::parse(text).map_err(|error| format!("{wanted} ({error})"))?;
    let known = match url.scheme() {
        "https" => true,
        "http" => scheme == Scheme::HttpOrHttps,
        _ => false,
    };
    // The parser also reads `https:host`, `https:/host` and `https:///host`, which people only write by mistake.
    let names_host = text.get(url.scheme().len()..).and_then(|rest| rest.strip_prefix("://"));
    if !known || !url.has_host() || names_host.is_none_or(|rest| rest.starts_with('/')) {
        return Err(wanted.to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not contain a user name or a password".to_owned());
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_kept_as_browsers_send_them() {
        for (text, origin) in [
            ("https://shop.example", "https://shop.example"),
            ("HTTPS://Shop.Example:443/", "https://shop.example"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://[::1]:3000", "http://[::1]:3000"),
            ("https://toko-é.example", "https://xn--toko--fsa.example"),
        ] {
            assert_eq!(origins(&[text.to_owned()]).unwrap(), [origin], "{text}");
        }
        assert_eq!(origins(&[String::new()]).unwrap(), Vec::<String>::new());
        let twice = ["https://a.example".to_owned(), "https://a.example:443".to_owned()];
        assert_eq!(origins(&twice).unwrap(), ["https://a.example"]);
    }

    #[test]
    fn what_is_not_an_origin_is_refused() {
        for text in [
            "*",
            "null",
            "shop.example",
            "https://*.shop.example",
            "https://shop.example/path",
            "https://shop.example?query",
            "https://shop.example/#part",
            "https://user@shop.example",
            "ftp://shop.example",
            "file:///etc",
            "https:shop.example",
            "https://",
            "https:///shop.example",
            "https:/shop.example",
            "https:\\\\shop.example",
            "https://shop.example\\",
            "https:shop.example?://",
            "https://shop.example\n",
        ] {
            assert!(origins(&[text.to_owned()]).is_err(), "{text}");
        }
        assert!(origins(&[String::new(), "https://a.example".to_owned()]).is_err());
        let many: Vec<String> = (0..=ORIGINS_MOST).map(|n| format!("https://s{n}.example")).collect();
        assert!(origins(&many).is_err());
    }

    #[test]
    fn frames_are_held_by_https_origins_and_in_the_sandbox_by_this_machine() {
        let fits = |text: &str, environment| frame_origins(&[text.to_owned()], environment).is_ok();
        for (text, sandbox, production) in [
            ("https://shop.example", true, true),
            ("https://localhost:3000", true, true),
            ("http://localhost:3000", true, false),
            ("http://127.0.0.1:3000", true, false),
            ("http://[::1]", true, false),
            ("http://shop.example", false, false),
            ("http://localhost.shop.example", false, false),
            ("http://192.168.1.2", false, false),
            ("https://*.shop.example", false, false),
            ("https://shop.example/path", false, false),
            ("https://a.example,https://b.example", false, false),
            ("https://a.example;script-src", false, false),
            ("https://a.example,b.example", false, false),
            ("https://a.example'", false, false),
            ("https:///a.example", false, false),
            ("http:///localhost", false, false),
            ("https://\\a.example", false, false),
            ("*", false, false),
        ] {
            assert_eq!(fits(text, Environment::Sandbox), sandbox, "{text}");
            assert_eq!(fits(text, Environment::Production), production, "{text}");
        }
        let many: Vec<String> = (0..=FRAME_ORIGINS_MOST).map(|n| format!("https://s{n}.example")).collect();
        assert!(frame_origins(&many[1..], Environment::Production).is_ok());
        assert!(frame_origins(&many, Environment::Production).is_err());
    }

    #[test]
    fn the_services_own_address_has_no_slash_at_its_end() {
        assert_eq!(base_url("https://pay.example/", Scheme::HttpsOnly).unwrap(), "https://pay.example");
        assert_eq!(base_url("http://127.0.0.1:80", Scheme::HttpOrHttps).unwrap(), "http://127.0.0.1");
        for text in [
            "http://pay.example",
            "pay.example",
            "https://pay.example?x",
            "https://u:p@pay.example",
            "https:///pay.example",
            "https:/pay.example/://",
            "",
        ] {
            assert!(base_url(text, Scheme::HttpsOnly).is_err(), "{text}");
        }
    }

    #[test]
    fn a_shops_own_site_names_its_host() {
        assert_eq!(site("https://Shop.Example/kontak?a=b").unwrap(), "https://shop.example/kontak?a=b");
        for text in
            ["https:///shop.example", "https:shop.example", "https:\\\\shop.example", "https://", "http://shop.example"]
        {
            assert!(site(text).is_err(), "{text}");
        }
    }
}
