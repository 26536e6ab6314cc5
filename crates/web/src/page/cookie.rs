//! Reads and writes cookies. Malformed cookies of a request are skipped; every cookie we set is `HttpOnly` and `SameSite=Lax`.

use axum::http::{HeaderMap, HeaderValue, header};

/// The value of the first cookie of that name.
pub fn read<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    find(headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok()), name)
}

/// The value of the first cookie of that name among lines of the header `Cookie`.
pub(crate) fn find<'a>(lines: impl Iterator<Item = &'a str>, name: &str) -> Option<&'a str> {
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(given, _)| *given == name).map(|(_, value)| value)
}

/// A cookie to set. Scripts cannot read it, and browsers do not send it with forms of other sites.
pub struct Cookie<'a> {
    pub name: &'static str,
    /// Letters, digits, `-` and `_` only.
    pub value: &'a str,
    pub path: &'a str,
    pub seconds: u32,
    pub secure: bool,
}

impl Cookie<'_> {
    pub fn write(&self, headers: &mut HeaderMap) {
        let Cookie { name, value, path, seconds, secure } = self;
        let secure = if *secure { "; Secure" } else { "" };
        let line = format!("{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
        if let Ok(line) = HeaderValue::try_from(line) {
            headers.append(header::SET_COOKIE, line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_among_others_and_malformed_ones_are_skipped() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_static("a=1; lang=en;; =; b"));
        headers.append(header::COOKIE, HeaderValue::from_static("lang=id; c=3"));
        assert_eq!(read(&headers, "lang"), Some("en"));
        assert_eq!(read(&headers, "c"), Some("3"));
        assert_eq!(read(&headers, "b"), None);
    }
}
