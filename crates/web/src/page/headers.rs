//! The security headers of every page: browsers load only our own files, store no page, send no `Referer` to other sites, and show
//! no page in a frame, but for an origin that the answer names.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                                       connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// What the policy says about frames.
const NO_FRAME: &str = "frame-ancestors 'none'";
const HSTS: &str = "max-age=31536000";

/// The one origin whose pages may show an answer in a frame. It is an extension of that answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FramedBy(pub String);

/// Writes the headers; where pages are reached over https, also the one that forbids http from then on.
pub(super) fn protect(headers: &mut HeaderMap, framed_by: Option<FramedBy>, https: bool) {
    // An origin is plain text that a header may hold.
    let framed = framed_by
        .map(|FramedBy(origin)| CONTENT_SECURITY_POLICY.replace(NO_FRAME, &format!("frame-ancestors {origin}")));
    let framed = framed.and_then(|policy| HeaderValue::try_from(policy).ok());
    let policy = framed.unwrap_or(HeaderValue::from_static(CONTENT_SECURITY_POLICY));
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    for (name, value) in [
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
