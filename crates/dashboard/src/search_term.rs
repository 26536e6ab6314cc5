//! What a person types to search for, and the sentence that says what is wrong with it.

use domain::search::{SearchTerm, TERM_CHARACTERS, WORD_LEAST, WORDS_MOST};
use i18n_embed_fl::fl;

use crate::words::Words;

/// The term to search for, none where nothing was typed, or what to do about it.
pub(crate) fn search_term(words: Words, text: &str) -> Result<Option<SearchTerm>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    SearchTerm::parse(text).map(Some).map_err(|_| mistake(words, text.trim()))
}

fn mistake(words: Words, text: &str) -> String {
    if text.chars().nth(TERM_CHARACTERS).is_some() {
        return fl!(words, "search-too-long", most = TERM_CHARACTERS);
    }
    if text.contains(char::is_control) {
        return fl!(words, "search-control");
    }
    if text.split_whitespace().nth(WORDS_MOST).is_some() {
        return fl!(words, "search-too-many", most = WORDS_MOST);
    }
    fl!(words, "search-too-short", least = WORD_LEAST)
}
