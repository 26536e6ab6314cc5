//! Where the pages of a payment lead the customer back to: an address of the merchant's own site.

use url::{Host, Url};

use crate::{
    id::PaymentId,
    project::Environment,
    rules::{Invalid, TextRule},
};

pub const RETURN_URL: TextRule = TextRule { field: "return_url", least: 1, most: 2_048, line_breaks: false };

/// An address that satisfies the rules, as the merchant has written it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnUrl(String);

impl ReturnUrl {
    /// Takes https, and in the sandbox also http to the same computer, where a merchant's developer tries things out.
    pub fn check(text: String, environment: Environment) -> Result<ReturnUrl, Invalid> {
        let text = RETURN_URL.check(text)?;
        let refused = |rule: &str| Err(Invalid::new(RETURN_URL.field, rule));
        // The parser would change these silently.
        if text.contains(|character: char| character.is_whitespace() || character == '\\') {
            return refused("must not contain white space or backslashes");
        }
        let wanted = match environment {
            Environment::Sandbox => "must be an absolute https:// address, or http:// to this computer in the sandbox",
            Environment::Production => "must be an absolute https:// address",
        };
        let Ok(url) = Url::parse(&text) else { return refused(wanted) };
        let is_taken = match url.scheme() {
            "https" => true,
            "http" => environment == Environment::Sandbox && is_loopback(&url),
            _ => false,
        };
        // The parser also reads `https:host` and `https:/host`, and skips more slashes to find a host.
        let after_scheme = text.get(url.scheme().len()..).and_then(|rest| rest.strip_prefix("://"));
        let Some(rest) = after_scheme.filter(|rest| is_taken && !rest.starts_with('/')) else { return refused(wanted) };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return refused("must not contain a user name or a password");
        }
        Ok(ReturnUrl(text))
    }

    /// What was checked before.
    pub const fn stored(text: String) -> ReturnUrl {
        ReturnUrl(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address with what the merchant's page may look up. Its own query and fragment stay as they are.
    pub fn with(&self, payment_id: PaymentId, reference: &str, status: &str) -> String {
        let Ok(mut url) = Url::parse(&self.0) else { return self.0.clone() };
        url.query_pairs_mut()
            .append_pair("payment_id", &payment_id.to_string())
            .append_pair("reference", reference)
            .append_pair("status", status);
        url.into()
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{id::mint, time::Timestamp};

    fn sandbox(text: &str) -> Result<ReturnUrl, Invalid> {
        ReturnUrl::check(text.to_owned(), Environment::Sandbox)
    }

    #[test]
    fn https_is_taken_and_http_only_to_this_computer_in_the_sandbox() {
        for text in ["https://shop.example", "HTTPS://Shop.Example:8443/a?b=c#d", "https://toko-é.example/selesai"] {
            assert_eq!(sandbox(text).unwrap().as_str(), text);
            assert!(ReturnUrl::check(text.to_owned(), Environment::Production).is_ok(), "{text}");
        }
        for text in ["http://localhost:3000/x", "http://127.0.0.1", "http://[::1]:80/", "http://shop.localhost"] {
            assert!(sandbox(text).is_ok(), "{text}");
            let refused = ReturnUrl::check(text.to_owned(), Environment::Production).unwrap_err();
            assert_eq!(refused.to_string(), "`return_url` must be an absolute https:// address", "{text}");
        }
    }

    #[test]
    fn nothing_else_is_an_address_to_return_to() {
        for text in [
            "http://shop.example",
            "http://localhost.shop.example",
            "http://192.168.0.1",
            "javascript:alert(1)",
            "JavaScript://shop.example/%0aalert(1)",
            "data:text/html,x",
            "ftp://shop.example",
            "shop://return",
            "intent://x#Intent;end",
            "//shop.example",
            "/return",
            "https:shop.example",
            "https:/shop.example",
            "https://",
            "https:///x",
            "https:////shop.example",
            "http:///localhost",
            "HTTPS:///shop.example/",
            "https:/shop.example/?to=http://shop.example",
            "https:shop.example/?to=http://shop.example",
            "https://?shop.example",
            "https://#shop.example",
            "https://:443",
            "https://shop.example:port",
            "https://%00",
        ] {
            let wanted =
                "`return_url` must be an absolute https:// address, or http:// to this computer in the sandbox";
            assert_eq!(sandbox(text).unwrap_err().to_string(), wanted, "{text}");
        }
        for (text, rule) in [
            ("", "must not be empty"),
            ("https://shop.example/\n", "must not contain control characters"),
            ("https://shop.example/\r\nSet-Cookie: a=b", "must not contain control characters"),
            ("https://shop.example/\u{202e}", "must not contain characters that change the direction of text"),
            (" https://shop.example", "must not contain white space or backslashes"),
            ("https://shop.example/a b", "must not contain white space or backslashes"),
            ("https:\\\\shop.example", "must not contain white space or backslashes"),
            ("https://shop.example\\@other.example", "must not contain white space or backslashes"),
            ("https://user@shop.example", "must not contain a user name or a password"),
            ("https://user:password@shop.example", "must not contain a user name or a password"),
            ("https://@shop.example", "must not contain a user name or a password"),
        ] {
            assert_eq!(sandbox(text).unwrap_err().rule, rule, "{text:?}");
        }
    }

    #[test]
    fn an_address_has_at_most_2048_characters() {
        let long = |length: usize| format!("https://shop.example/{}", "a".repeat(length - 21));
        assert!(sandbox(&long(2_048)).is_ok());
        assert_eq!(sandbox(&long(2_049)).unwrap_err().rule, "must be at most 2048 characters, not 2049");
    }

    #[test]
    fn the_query_is_added_to_and_the_fragment_stays() {
        let id: PaymentId = mint(Timestamp::from_millis(1_800_000_000_000), [1; 10]);
        for (text, start, end) in [
            ("https://shop.example", "https://shop.example/?", ""),
            ("https://shop.example/done?order=1&b=%20x", "https://shop.example/done?order=1&b=%20x&", ""),
            ("https://shop.example/#/done?x", "https://shop.example/?", "#/done?x"),
            ("https://shop.example/?status=mine#end", "https://shop.example/?status=mine&", "#end"),
        ] {
            let added = format!("payment_id={id}&reference=INV+1%26status%3Dpaid%23&status=paid");
            let url = sandbox(text).unwrap().with(id, "INV 1&status=paid#", "paid");
            assert_eq!(url, format!("{start}{added}{end}"));
        }
    }
}
