//! The security headers of every page: browsers load only our own files, store no page, and send no `Referer` to other sites.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                                       connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const HSTS: &str = "max-age=31536000";

/// Writes the headers; where pages are reached over https, also the one that forbids http from then on.
pub(super) fn protect(headers: &mut HeaderMap, https: bool) {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("x-robots-tag"), "noindex"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if https {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(HSTS));
    }
}
