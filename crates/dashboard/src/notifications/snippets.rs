//! How a receiver verifies what comes, in the languages that merchants use. The documentation holds the snippets, each of which is
//! run by a test there.

const PAGE: &str = include_str!("../../../../docs/webhooks.md");
/// What the page calls a language, and what people call it.
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

/// The first block of the page that is marked as being in that language.
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
