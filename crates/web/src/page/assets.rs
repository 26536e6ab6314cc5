//! Style sheets and scripts. They are compiled into the program and compressed once per process, and their paths contain a hash
//! of their content, so that browsers may cache them for ever.

use std::{
    io::{self, Write},
    sync::OnceLock,
};

use axum::{
    Router,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use flate2::{Compression, write::GzEncoder};
use sha2::{Digest, Sha256};

/// The colours that all pages share. A surface puts them before its own style sheet.
pub const TOKENS: &str = include_str!("../../assets/tokens.css");
/// How much of the hash is in the path: enough that no two versions of a file share one.
const HASH_BYTES: usize = 8;
/// The content at a path never changes, so browsers need not ask again.
const CACHE_FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// For a path whose content changes with the program.
const CACHE_FOR_A_WHILE: HeaderValue = HeaderValue::from_static("public, max-age=3600");

/// A style sheet or script.
pub struct Asset {
    /// Such as `shop`, for `/assets/shop.0123456789abcdef.css`.
    name: &'static str,
    kind: Kind,
    /// Its text, in pieces that are concatenated.
    pieces: &'static [&'static str],
    built: OnceLock<Built>,
}

#[derive(Clone, Copy)]
enum Kind {
    Style,
    Script,
}

struct Built {
    path: String,
    etag: HeaderValue,
    plain: Vec<u8>,
    gzipped: Vec<u8>,
}

impl Kind {
    /// The text without its comments and indentation, so that a first visit on a phone does not pay for them. It handles the style
    /// of our own files only: no comment behind a line of script, and no string that goes on in the next line.
    fn condensed(self, text: &str) -> String {
        match self {
            Kind::Style => {
                let mut pieces = text.split("/*");
                let first = pieces.next().unwrap_or_default().to_owned();
                let kept = pieces.fold(first, |kept, piece| kept + piece.split_once("*/").map_or("", |(_, rest)| rest));
                kept.split_whitespace().collect::<Vec<_>>().join(" ")
            }
            Kind::Script => {
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
                lines.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

impl Asset {
    pub const fn style(name: &'static str, pieces: &'static [&'static str]) -> Asset {
        Asset { name, kind: Kind::Style, pieces, built: OnceLock::new() }
    }

    pub const fn script(name: &'static str, pieces: &'static [&'static str]) -> Asset {
        Asset { name, kind: Kind::Script, pieces, built: OnceLock::new() }
    }

    /// The path that it is served at.
    pub fn path(&'static self) -> &'static str {
        &self.built().path
    }

    fn built(&'static self) -> &'static Built {
        self.built.get_or_init(|| {
            let plain = self.kind.condensed(&self.pieces.concat()).into_bytes();
            let hash: String = Sha256::digest(&plain)[..HASH_BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
            let ending = match self.kind {
                Kind::Style => "css",
                Kind::Script => "js",
            };
            Built {
                path: format!("/assets/{}.{hash}.{ending}", self.name),
                etag: HeaderValue::try_from(format!("\"{hash}\"")).unwrap_or(HeaderValue::from_static("\"\"")),
                // Writing into memory does not fail. Should it do so, the plain file is sent instead.
                gzipped: gzipped(&plain).unwrap_or_default(),
                plain,
            }
        })
    }

    fn answer(&'static self, request: &HeaderMap) -> Response {
        self.answer_for(request, CACHE_FOREVER)
    }

    /// The file at a path that other sites' pages name: it stays the same when the content changes, so browsers ask again after a
    /// while.
    pub fn answer_to_other_sites(&'static self, request: &HeaderMap) -> Response {
        let mut response = self.answer_for(request, CACHE_FOR_A_WHILE);
        response.headers_mut().insert("cross-origin-resource-policy", HeaderValue::from_static("cross-origin"));
        response
    }

    fn answer_for(&'static self, request: &HeaderMap, cached: HeaderValue) -> Response {
        let built = self.built();
        let media_type = match self.kind {
            Kind::Style => "text/css; charset=utf-8",
            Kind::Script => "text/javascript; charset=utf-8",
        };
        let headers = [
            (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
            (header::CACHE_CONTROL, cached),
            (header::ETAG, built.etag.clone()),
            (header::VARY, HeaderValue::from_static("accept-encoding")),
        ];
        if request.get(header::IF_NONE_MATCH) == Some(&built.etag) {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        if accepts_gzip(request) && !built.gzipped.is_empty() {
            let encoding = [(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"))];
            return (headers, encoding, built.gzipped.as_slice()).into_response();
        }
        (headers, built.plain.as_slice()).into_response()
    }
}

/// The routes of these files.
pub(crate) fn router(assets: impl Iterator<Item = &'static Asset>) -> Router {
    assets.fold(Router::new(), |router, asset| {
        router.route(asset.path(), get(move |headers: HeaderMap| async move { asset.answer(&headers) }))
    })
}

fn gzipped(plain: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain)?;
    encoder.finish()
}

/// Whether the client accepts gzip; `q=0` means that it does not.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|offer| {
        let (encoding, quality) = offer.split_once(';').unwrap_or((offer, ""));
        let refused = quality.trim().strip_prefix("q=").is_some_and(|q| q.trim_matches(['0', '.', ' ']).is_empty());
        encoding.trim().eq_ignore_ascii_case("gzip") && !refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    static STYLE: Asset = Asset::style("sample", &["a{color:red}", "b{color:red}"]);

    fn asked(headers: &[(header::HeaderName, &'static str)]) -> (StatusCode, Option<String>) {
        let headers = headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect();
        let response = STYLE.answer(&headers);
        let encoding = response.headers().get(header::CONTENT_ENCODING);
        (response.status(), encoding.map(|encoding| encoding.to_str().unwrap().to_owned()))
    }

    #[test]
    fn the_path_of_a_file_changes_with_its_content() {
        static OTHER: Asset = Asset::style("sample", &["a{color:blue}"]);
        assert!(STYLE.path().starts_with("/assets/sample.") && STYLE.path().ends_with(".css"), "{}", STYLE.path());
        assert_ne!(STYLE.path(), OTHER.path());
    }

    #[test]
    fn a_file_is_served_without_its_comments_and_indentation() {
        let style = "/* Around. */\n:root {\n  --a: 1px; /* why */\n}\n/* two\n lines */ b { c: d }";
        assert_eq!(Kind::Style.condensed(style), ":root { --a: 1px; } b { c: d }");
        let script = "// Why.\nif (a) {\n  // Because.\n  b(\"// text\");\n}\n";
        assert_eq!(Kind::Script.condensed(script), "if (a) {\nb(\"// text\");\n}");
    }

    #[test]
    fn a_client_gets_gzip_where_it_accepts_it_and_nothing_where_it_has_the_file() {
        let gzip = (StatusCode::OK, Some("gzip".to_owned()));
        for accepted in ["gzip", "gzip, deflate, br", "br;q=1.0, GZIP;q=0.5", "deflate,gzip;q=1"] {
            assert_eq!(asked(&[(header::ACCEPT_ENCODING, accepted)]), gzip, "{accepted}");
        }
        for refused in ["", "br", "gzip;q=0", "gzip; q=0.0", "identity"] {
            assert_eq!(asked(&[(header::ACCEPT_ENCODING, refused)]), (StatusCode::OK, None), "{refused}");
        }
        let etag: &'static str = STYLE.built().etag.to_str().unwrap();
        assert_eq!(asked(&[(header::IF_NONE_MATCH, etag)]), (StatusCode::NOT_MODIFIED, None));
    }
}
