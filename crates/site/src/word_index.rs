//! Which sections have words that begin with a term. Made once for all sections, so that a search looks words up and reads no text.
//!
//! Only ASCII letters are compared without regard to their case, so that places in a lower-case text are places in the text itself.

use std::collections::BTreeMap;

use crate::section::Section;

pub(crate) struct WordIndex {
    /// All words in alphabetical order, and the sections that have each.
    words: Vec<(Box<str>, Vec<SectionUse>)>,
    /// How many sections there are.
    sections: usize,
}

/// The number of a section, and where it has a word.
type SectionUse = (usize, WordUse);

/// Where one section has words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WordUse {
    pub(crate) in_title: bool,
    pub(crate) in_heading: bool,
    /// How often.
    pub(crate) in_text: u32,
    /// The first place in the text.
    pub(crate) first_at: Option<usize>,
}

impl WordUse {
    fn add(&mut self, other: WordUse) {
        self.in_title |= other.in_title;
        self.in_heading |= other.in_heading;
        self.in_text += other.in_text;
        self.first_at = self.first_at.into_iter().chain(other.first_at).min();
    }
}

impl WordIndex {
    pub(crate) fn of(sections: &[Section]) -> WordIndex {
        let mut index: BTreeMap<Box<str>, Vec<SectionUse>> = BTreeMap::new();
        let mut add = |word: &str, number: usize, used: WordUse| {
            let uses = index.entry(word.into()).or_default();
            // One section comes after the other.
            match uses.last_mut().filter(|(last, _)| *last == number) {
                Some((_, known)) => known.add(used),
                None => uses.push((number, used)),
            }
        };
        for (number, section) in sections.iter().enumerate() {
            for (_, word) in words(&section.page_title.to_ascii_lowercase()) {
                add(word, number, WordUse { in_title: true, ..WordUse::default() });
            }
            let heading = section.heading.as_ref().map(|heading| heading.text.to_ascii_lowercase());
            for (_, word) in words(&heading.unwrap_or_default()) {
                add(word, number, WordUse { in_heading: true, ..WordUse::default() });
            }
            for (at, word) in words(&section.text.to_ascii_lowercase()) {
                add(word, number, WordUse { in_text: 1, first_at: Some(at), ..WordUse::default() });
            }
        }
        WordIndex { words: index.into_iter().collect(), sections: sections.len() }
    }

    /// The sections with words that begin with `term`, which is in lower case and has no other characters than words have.
    pub(crate) fn uses(&self, term: &str) -> Vec<SectionUse> {
        let first = self.words.partition_point(|(word, _)| **word < *term);
        let mut all = vec![WordUse::default(); self.sections];
        for (_, sections) in self.words[first..].iter().take_while(|(word, _)| word.starts_with(term)) {
            for (number, used) in sections {
                all[*number].add(*used);
            }
        }
        all.into_iter().enumerate().filter(|(_, used)| *used != WordUse::default()).collect()
    }
}

/// What words consist of.
pub(crate) fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Whether a word begins at this place: a term counts there. Behind an underscore one begins too.
pub(crate) fn begins_word(text: &str, at: usize) -> bool {
    !text[..at].chars().next_back().is_some_and(char::is_alphanumeric)
}

/// Every place at which a word begins, with all that belongs to the word from there.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let begins = text.char_indices().filter(move |(at, one)| is_of_word(*one) && begins_word(text, *at));
    begins.map(move |(at, _)| {
        let rest = &text[at..];
        (at, &rest[..rest.find(|one: char| !is_of_word(one)).unwrap_or(rest.len())])
    })
}

#[cfg(test)]
mod tests {
    use domain::language::Language;

    use super::*;
    use crate::section::Heading;

    fn section(title: &str, heading: Option<&str>, text: &str) -> Section {
        Section {
            path: "/a".to_owned(),
            page_title: title.to_owned(),
            heading: heading.map(|text| Heading { id: "a".to_owned(), text: text.to_owned(), level: 2 }),
            text: text.to_owned(),
            language: Language::English,
        }
    }

    #[test]
    fn a_word_begins_behind_everything_but_letters_and_digits() {
        let words: Vec<(usize, &str)> = words("pay, re-pay sk_test_1 é").collect();
        assert_eq!(words, [(0, "pay"), (5, "re"), (8, "pay"), (12, "sk_test_1"), (15, "test_1"), (20, "1"), (22, "é")]);
    }

    #[test]
    fn a_term_is_looked_up_as_the_beginning_of_words_in_all_parts_of_a_section() {
        let index = WordIndex::of(&[
            section("Payments", None, "Pay and be paid. Repaying pays."),
            section("Other", Some("PAY_1"), "nothing"),
            section("Other", None, "nothing"),
        ]);
        let in_first = WordUse { in_title: true, in_heading: false, in_text: 2, first_at: Some(0) };
        let in_second = WordUse { in_heading: true, ..WordUse::default() };
        assert_eq!(index.uses("pay"), [(0, in_first), (1, in_second)]);
        assert_eq!(index.uses("pays")[0].1.first_at, Some(26));
        assert_eq!(index.uses("pa").len(), 2);
        assert!(index.uses("zebra").is_empty() && index.uses("aid").is_empty());
    }
}
