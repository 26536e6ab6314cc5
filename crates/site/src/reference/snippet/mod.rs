//! Examples of one request in several languages. Each language has a file, which also knows how the language quotes texts. The key
//! comes from the environment, so that nobody keeps one in a program.

mod curl;
mod go;
mod node;
mod php;
mod python;
#[cfg(test)]
mod tests;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::json::Json;

/// The variable of the environment that examples take the key from; our clients do the same.
const KEY_VARIABLE: &str = "LUNAS_API_KEY";
/// What a value in an address keeps as it is.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A request as an example sends it.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// With its parameters filled in.
    pub(super) path: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: Vec<(String, String)>,
    /// Whether it carries an API key.
    pub(super) is_keyed: bool,
    pub(super) body: Option<Json>,
}

/// An example in one language.
pub(crate) struct Snippet {
    /// For the id of its tab.
    pub(crate) id: &'static str,
    pub(crate) language: &'static str,
    pub(crate) code: String,
}

impl Request {
    /// Puts a value in place of a parameter of the path.
    pub(super) fn fill_path(&mut self, name: &str, value: &str) {
        self.path = self.path.replace(&format!("{{{name}}}"), &encoded(value));
    }

    fn url(&self, base_url: &str) -> String {
        let pairs = self.query.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
        let query = pairs.collect::<Vec<_>>().join("&");
        let joint = if query.is_empty() { "" } else { "?" };
        format!("{base_url}{}{joint}{query}", self.path)
    }

    /// All headers but that of the key.
    fn plain_headers(&self) -> Vec<(&str, &str)> {
        let given = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        given.chain(self.body.is_some().then_some(("Content-Type", "application/json"))).collect()
    }
}

/// The request in every language.
pub(super) fn snippets(base_url: &str, request: &Request) -> Vec<Snippet> {
    let url = request.url(base_url);
    let snippet =
        |id, language, write: fn(&str, &Request) -> String| Snippet { id, language, code: write(&url, request) };
    vec![
        snippet("curl", "curl", curl::write),
        snippet("node", "Node.js", node::write),
        snippet("php", "PHP", php::write),
        snippet("python", "Python", python::write),
        snippet("go", "Go", go::write),
    ]
}

fn encoded(value: &str) -> String {
    utf8_percent_encode(value, ENCODED).to_string()
}
