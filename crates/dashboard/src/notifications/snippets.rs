//! How a receiver verifies the signature of a webhook, in four programming languages. The snippets are those of
//! docs/webhooks.md, where a test runs each of them.

const PAGE: &str = include_str!("../../../../docs/webhooks.md");
/// The name of a language in the documentation's code blocks, and its name for readers.
const LANGUAGES: [(&str, &str); 4] = [("js", "Node.js"), ("python", "Python"), ("php", "PHP"), ("go", "Go")];

pub(crate) struct Snippet {
    pub(crate) id: String,
    pub(crate) language: &'static str,
    pub(crate) text: &'static str,
}

pub(crate) fn snippets() -> Vec<Snippet> {
    let of = |(mark, language)| Some(Snippet { id: format!("verify-{mark}"), language, text: block(mark)? });
    LANGUAGES.into_iter().filter_map(of).collect()
}

/// The first code block of the documentation in that language.
fn block(mark: &str) -> Option<&'static str> {
    let (_, rest) = PAGE.split_once(&format!("\n```{mark}\n"))?;
    rest.split_once("\n```").map(|(text, _)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_a_snippet_for_each_language() {
        let texts: Vec<&str> = snippets().iter().map(|snippet| snippet.text).collect();
        assert_eq!(texts.len(), LANGUAGES.len());
        for (text, word) in texts.iter().zip(["timingSafeEqual", "compare_digest", "hash_equals", "hmac.Equal"]) {
            assert!(text.contains(word) && !text.contains("```"), "{text}");
        }
    }
}
