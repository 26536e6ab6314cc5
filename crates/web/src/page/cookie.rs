//! Reads and writes cookies. Malformed cookies of a request are skipped; every cookie we set is `HttpOnly` and
//! `SameSite=Lax`, but in a frame of another site.

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

/// Makes the cookies of an answer ones that browsers keep for a page in another site's frame. Browsers keep them apart from those
/// of the same page elsewhere, and send them with nothing but that frame in that site's pages.
pub fn keep_in_frame(headers: &mut HeaderMap) {
    let lines: Vec<HeaderValue> = headers.get_all(header::SET_COOKIE).iter().cloned().collect();
    headers.remove(header::SET_COOKIE);
    for line in lines {
        let text = line.to_str().unwrap_or_default();
        let bare = text.trim_end_matches("; Secure").trim_end_matches("; SameSite=Lax");
        if let Ok(line) = HeaderValue::try_from(format!("{bare}; SameSite=None; Secure; Partitioned")) {
            headers.append(header::SET_COOKIE, line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_kept_in_a_frame_apart_from_all_others() {
        let mut headers = HeaderMap::new();
        for secure in [false, true] {
            Cookie { name: "a", value: "1", path: "/p", seconds: 60, secure }.write(&mut headers);
        }
        keep_in_frame(&mut headers);
        let lines: Vec<&HeaderValue> = headers.get_all(header::SET_COOKIE).iter().collect();
        assert_eq!(lines, ["a=1; Path=/p; Max-Age=60; HttpOnly; SameSite=None; Secure; Partitioned"; 2]);
    }

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
