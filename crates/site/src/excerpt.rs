//! The part of a section that a search result shows, with the terms of the search marked.

use crate::word_index::begins_word;

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

/// The part of `text` around the first of the terms, which is at `first_at`; its beginning where the text has none of them.
pub(crate) fn excerpt(text: &str, terms: &[String], first_at: Option<usize>) -> Vec<Piece> {
    let start = word_start(text, first_at.unwrap_or_default().saturating_sub(BEFORE_BYTES));
    let end = word_end(text, start + EXCERPT_BYTES);
    // It begins behind a space or with the text, so words begin in it where they begin in the text.
    let lower = text[start..end].to_ascii_lowercase();
    let mut marks: Vec<(usize, usize)> = terms
        .iter()
        .flat_map(|term| occurrences(&lower, term).map(move |at| (start + at, start + at + term.len())))
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

/// Where words of `text` begin with `term`.
fn occurrences<'a>(text: &'a str, term: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(term).map(|(at, _)| at).filter(|at| begins_word(text, *at))
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
        let lower = text.to_ascii_lowercase();
        let first_at = terms.iter().filter_map(|term| occurrences(&lower, term).next()).min();
        excerpt(text, &terms, first_at).into_iter().map(piece).collect()
    }

    #[test]
    fn the_terms_are_marked_where_words_begin_with_them() {
        assert_eq!(shown("Pay, repay and payments", &["pay"]), "[Pay], repay and [pay]ments");
        assert_eq!(shown("payments paid", &["pay", "payment"]), "[pay]ments paid");
        assert_eq!(shown("nothing here", &["pay"]), "nothing here");
        assert_eq!(shown("", &["pay"]), "");
        assert_eq!(occurrences("pay repay pay_1 pay", "pay").collect::<Vec<_>>(), [0, 10, 16]);
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
