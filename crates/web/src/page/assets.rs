//! Style sheets and scripts. They are compiled into the program and compressed once per process, and their paths contain a hash
//! of their content, so that browsers may cache them for ever.

use std::sync::OnceLock;

use axum::{
    Router,
    http::{HeaderMap, HeaderValue},
    response::Response,
    routing::get,
};

use crate::stored_file::StoredFile;

/// The colours that all pages share. A surface puts them before its own style sheet.
pub const TOKENS: &str = include_str!("../../assets/tokens.css");
/// Defines `copyText`. A surface whose pages copy texts puts it before its own script.
pub const COPY_TEXT: &str = include_str!("../../assets/copy_text.js");
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
    file: StoredFile,
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
            let (media_type, ending) = match self.kind {
                Kind::Style => ("text/css; charset=utf-8", "css"),
                Kind::Script => ("text/javascript; charset=utf-8", "js"),
            };
            let file = StoredFile::new(media_type, plain);
            Built { path: format!("/assets/{}.{}.{ending}", self.name, file.hash()), file }
        })
    }

    fn answer(&'static self, request: &HeaderMap) -> Response {
        self.built().file.answer(request, CACHE_FOREVER)
    }

    /// The file at a path that other sites' pages name: it stays the same when the content changes, so browsers ask again after a
    /// while.
    pub fn answer_to_other_sites(&'static self, request: &HeaderMap) -> Response {
        let mut response = self.built().file.answer(request, CACHE_FOR_A_WHILE);
        response.headers_mut().insert("cross-origin-resource-policy", HeaderValue::from_static("cross-origin"));
        response
    }
}

/// The routes of these files.
pub(crate) fn router(assets: impl Iterator<Item = &'static Asset>) -> Router {
    assets.fold(Router::new(), |router, asset| {
        router.route(asset.path(), get(move |headers: HeaderMap| async move { asset.answer(&headers) }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    static STYLE: Asset = Asset::style("sample", &["a{color:red}", "b{color:red}"]);

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
}
