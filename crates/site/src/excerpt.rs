//! The part of a section that a search result shows, with the terms of the search marked.

use crate::ranking::occurrences;

/// How much of a section is shown, in bytes.
const EXCERPT_BYTES: usize = 220;
/// How much of it stands before the first term.
const BEFORE_BYTES: usize = 60;

/// A piece of an excerpt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    /// Whether it is a term of the search.
    pub(crate) is_marked: bool,
}

/// The part of `text` around the first of the terms, or its beginning.
pub(crate) fn excerpt(text: &str, terms: &[String]) -> Vec<Piece> {
    let lower = text.to_ascii_lowercase();
    let first = terms.iter().filter_map(|term| occurrences(&lower, term).next()).min().unwrap_or_default();
    let start = word_start(text, first.saturating_sub(BEFORE_BYTES));
    let end = word_end(text, start + EXCERPT_BYTES);
    let mut marks: Vec<(usize, usize)> = terms
        .iter()
        .flat_map(|term| occurrences(&lower, term).map(move |at| (at, at + term.len())))
        .filter(|(from, to)| *from >= start && *to <= end)
        .collect();
    marks.sort_unstable();
    let mut pieces = Vec::new();
    let mut push = |text: &str, is_marked| {
        if !text.is_empty() {
            pieces.push(Piece { text: text.to_owned(), is_marked });
        }
    };
    push(if start > 0 { "… " } else { "" }, false);
    let mut done = start;
    for (from, to) in marks {
        // A term may be the beginning of another one.
        if from >= done {
            push(&text[done..from], false);
            push(&text[from..to], true);
            done = to;
        }
    }
    push(&text[done..end], false);
    push(if end < text.len() { " …" } else { "" }, false);
    pieces
}

/// The beginning of the word at or before `at`.
fn word_start(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    text[..at].rfind(' ').map_or(0, |space| space + 1)
}

/// The end of the last word that ends at or before `at`.
fn word_end(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    let at = text.floor_char_boundary(at);
    text[..at].rfind(' ').unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, terms: &[&str]) -> String {
        let terms: Vec<String> = terms.iter().map(|term| (*term).to_owned()).collect();
        let piece = |piece: Piece| if piece.is_marked { format!("[{}]", piece.text) } else { piece.text };
        excerpt(text, &terms).into_iter().map(piece).collect()
    }

    #[test]
    fn the_terms_are_marked_where_words_begin_with_them() {
        assert_eq!(shown("Pay, repay and payments", &["pay"]), "[Pay], repay and [pay]ments");
        assert_eq!(shown("payments paid", &["pay", "payment"]), "[pay]ments paid");
        assert_eq!(shown("nothing here", &["pay"]), "nothing here");
        assert_eq!(shown("", &["pay"]), "");
    }

    #[test]
    fn a_long_text_is_shown_around_the_first_term_between_whole_words() {
        let text = format!("{}target {}", "before ".repeat(50), "after ".repeat(80));
        let part = shown(&text, &["target"]);
        assert!(part.starts_with("… before ") && part.ends_with(" after …"), "{part}");
        assert!(part.contains("before [target] after"), "{part}");
        assert!(part.len() < EXCERPT_BYTES + 20, "{part}");
    }

    #[test]
    fn letters_of_several_bytes_stay_whole() {
        for text in ["é".repeat(400), format!("{} pay {}", "é ".repeat(90), "ü ".repeat(200)), "😀".repeat(100)] {
            assert!(!shown(&text, &["pay"]).is_empty());
        }
    }
}
