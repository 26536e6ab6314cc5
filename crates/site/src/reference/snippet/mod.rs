//! Examples of one request in several languages. Each language has a file, which also knows how the language quotes texts. The key
//! comes from the environment, so that nobody keeps one in a program.

mod curl;
mod go;
mod node;
mod php;
mod python;
mod request;
#[cfg(test)]
mod tests;

pub(super) use request::Request;

/// An example in one language.
pub(crate) struct Snippet {
    /// For the id of its tab.
    pub(crate) id: &'static str,
    pub(crate) language: &'static str,
    pub(crate) code: String,
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
