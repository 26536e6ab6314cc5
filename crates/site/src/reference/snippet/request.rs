//! A request as an example sends it, before it is written in a language.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::reference::json::Json;

/// The variable of the environment that examples take the key from; our clients do the same.
pub(super) const KEY_VARIABLE: &str = "LUNAS_API_KEY";
/// What a value in an address keeps as it is.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

#[derive(Clone, Debug)]
pub(in crate::reference) struct Request {
    pub(in crate::reference) method: String,
    /// With its parameters filled in.
    pub(in crate::reference) path: String,
    pub(in crate::reference) query: Vec<(String, String)>,
    pub(in crate::reference) headers: Vec<(String, String)>,
    /// Whether it carries an API key.
    pub(in crate::reference) is_keyed: bool,
    pub(in crate::reference) body: Option<Json>,
}

impl Request {
    /// Puts a value in place of a parameter of the path.
    pub(in crate::reference) fn fill_path(&mut self, name: &str, value: &str) {
        self.path = self.path.replace(&format!("{{{name}}}"), &encoded(value));
    }

    pub(super) fn url(&self, base_url: &str) -> String {
        let pairs = self.query.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
        let query = pairs.collect::<Vec<_>>().join("&");
        let joint = if query.is_empty() { "" } else { "?" };
        format!("{base_url}{}{joint}{query}", self.path)
    }

    /// All headers but that of the key.
    pub(super) fn plain_headers(&self) -> Vec<(&str, &str)> {
        let given = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        given.chain(self.body.is_some().then_some(("Content-Type", "application/json"))).collect()
    }
}

fn encoded(value: &str) -> String {
    utf8_percent_encode(value, ENCODED).to_string()
}
