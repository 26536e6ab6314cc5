//! Which sections answer a search, best first.

use std::{cmp::Reverse, collections::BTreeMap};

use domain::language::Language;

use crate::{
    section::Section,
    word_index::{WordIndex, WordUse, is_of_word},
};

/// Further words of a search are ignored.
const TERMS_MOST: usize = 8;
/// A single letter is in almost every section.
const TERM_CHARACTERS_LEAST: usize = 2;
pub(crate) const RESULTS_MOST: usize = 20;
/// How many sections of one page are shown, so that one page does not hide the others.
const RESULTS_OF_PAGE_MOST: usize = 3;
/// What it counts that a term is in the title of the page, for its beginning and for its other sections.
const IN_TITLE: u32 = 12;
const IN_TITLE_ABOVE: u32 = 2;
const IN_HEADING: u32 = 8;
/// More occurrences in a text count as this many.
const IN_TEXT_MOST: u32 = 4;

/// All sections, with an index of their words.
pub(crate) struct Library {
    sections: Vec<Section>,
    index: WordIndex,
}

/// A section that answers a search.
pub(crate) struct SearchHit<'a> {
    pub(crate) section: &'a Section,
    /// Where in its text the first of the terms is; none where they are in its headings alone.
    pub(crate) first_at: Option<usize>,
}

/// How a section fits.
#[derive(Clone, Default)]
struct Candidate {
    /// How many of the terms it has.
    matched: usize,
    weight: u32,
    first_at: Option<usize>,
}

impl Library {
    pub(crate) fn new(sections: Vec<Section>) -> Library {
        Library { index: WordIndex::of(&sections), sections }
    }

    /// The sections that fit best. Those with more of the terms come first; a term counts the more, the fewer sections have it. Of two
    /// that fit alike, the one in the visitor's language is first.
    pub(crate) fn ranked(&self, terms: &[String], language: Language) -> Vec<SearchHit<'_>> {
        let candidates = self.sections.iter().zip(self.candidates(terms));
        let mut found: Vec<(&Section, Candidate)> = candidates.filter(|(_, one)| one.matched > 0).collect();
        // The order of the guides decides between equals, since the sort is stable.
        found.sort_by_key(|(section, one)| Reverse((one.matched, one.weight, section.language == language)));
        let mut of_page: BTreeMap<&str, usize> = BTreeMap::new();
        let found = found.into_iter().map(|(section, one)| SearchHit { section, first_at: one.first_at });
        let found = found.filter(|one| {
            let shown = of_page.entry(&one.section.path).or_default();
            *shown += 1;
            *shown <= RESULTS_OF_PAGE_MOST
        });
        found.take(RESULTS_MOST).collect()
    }

    /// One for each section.
    fn candidates(&self, terms: &[String]) -> Vec<Candidate> {
        let mut all = vec![Candidate::default(); self.sections.len()];
        for term in terms {
            let uses = self.index.uses(term);
            let rarity =
                self.sections.len().checked_div(uses.len()).and_then(usize::checked_ilog2).unwrap_or_default() + 1;
            for (number, used) in uses {
                let one = &mut all[number];
                one.matched += 1;
                one.weight += fit(&self.sections[number], &used) * rarity;
                one.first_at = one.first_at.into_iter().chain(used.first_at).min();
            }
        }
        all
    }
}

/// How well a term fits a section that has it.
fn fit(section: &Section, used: &WordUse) -> u32 {
    let in_title = if section.heading.is_none() { IN_TITLE } else { IN_TITLE_ABOVE };
    let in_text = used.in_text.min(IN_TEXT_MOST);
    u32::from(used.in_title) * in_title + u32::from(used.in_heading) * IN_HEADING + in_text
}

/// The different words of a search, in lower case.
pub(crate) fn terms(query: &str) -> Vec<String> {
    let query = query.to_ascii_lowercase();
    let mut terms: Vec<String> = Vec::new();
    for word in query.split(|one: char| !is_of_word(one)) {
        let is_new = !terms.iter().any(|term| term == word);
        if is_new && word.chars().nth(TERM_CHARACTERS_LEAST - 1).is_some() && terms.len() < TERMS_MOST {
            terms.push(word.to_owned());
        }
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::Heading;

    fn section(path: &str, title: &str, heading: Option<&str>, text: &str) -> Section {
        let heading = heading.map(|text| Heading { id: text.to_lowercase(), text: text.to_owned(), level: 2 });
        Section {
            path: path.to_owned(),
            page_title: title.to_owned(),
            heading,
            text: text.to_owned(),
            language: Language::English,
        }
    }

    fn search_headings(all: &[Section], query: &str) -> Vec<String> {
        let name = |one: &SearchHit<'_>| {
            let heading = one.section.heading.as_ref().map(|heading| format!("#{}", heading.id)).unwrap_or_default();
            format!("{}{heading}", one.section.path)
        };
        Library::new(all.to_vec()).ranked(&terms(query), Language::English).iter().map(name).collect()
    }

    fn library() -> Vec<Section> {
        vec![
            section("/a", "Webhooks", None, "Lunas notifies your server."),
            section("/a", "Webhooks", Some("Signature"), "Each request has a signature. Compare the signature."),
            section(
                "/b",
                "The API",
                Some("Errors"),
                "A wrong signature is the error of the caller, and the webhook waits.",
            ),
            section("/b", "The API", Some("Lists"), "The pages of the list are the pages of the list."),
            section("/c", "Payments", None, "The payment is the one that the customer pays."),
        ]
    }

    #[test]
    fn a_page_about_the_term_comes_before_one_that_mentions_it() {
        assert_eq!(search_headings(&library(), "webhook"), ["/a", "/a#signature", "/b#errors"]);
        assert_eq!(search_headings(&library(), "signature"), ["/a#signature", "/b#errors"]);
    }

    #[test]
    fn sections_with_more_of_the_terms_come_first_and_rare_terms_count_more() {
        assert_eq!(search_headings(&library(), "signature errors")[0], "/b#errors");
        assert_eq!(search_headings(&library(), "the lists")[0], "/b#lists");
        let often = |number| section(&format!("/{number}"), "T", None, "the and the and the");
        let all: Vec<Section> = (0..60).map(often).chain([section("/rare", "T", None, "zebra")]).collect();
        assert_eq!(search_headings(&all, "the zebra")[0], "/rare", "one term each");
    }

    #[test]
    fn a_term_is_the_beginning_of_a_word_in_any_case() {
        assert_eq!(search_headings(&library(), "SIGNA").len(), 2);
        assert_eq!(search_headings(&library(), "nature"), [""; 0]);
    }

    #[test]
    fn a_result_says_where_its_text_has_the_first_of_the_terms() {
        let all = Library::new(library());
        let first_at = |query| all.ranked(&terms(query), Language::English)[0].first_at;
        assert_eq!(first_at("zebra signature"), Some(19));
        assert_eq!(first_at("signature errors"), Some(8), "of the section about errors");
        assert_eq!(first_at("payments"), None, "it is in the title alone");
    }

    #[test]
    fn a_search_is_bounded() {
        let many: Vec<Section> =
            (0..100).map(|number| section(&format!("/{}", number / 10), "T", Some("H"), "same")).collect();
        assert_eq!(search_headings(&many, "same").len(), RESULTS_MOST);
        assert_eq!(search_headings(&many[..10], "same").len(), RESULTS_OF_PAGE_MOST);
        let words: Vec<String> = (0..100).map(|number| format!("word{number}")).collect();
        assert_eq!(terms(&words.join(" ")).len(), TERMS_MOST);
        for nothing in ["", " ", "a", "?!", "a b c"] {
            assert_eq!(terms(nothing), [""; 0], "{nothing:?}");
        }
        assert_eq!(
            terms("Payment.paid payment X-Request-ID sk_test_"),
            ["payment", "paid", "request", "id", "sk_test_"]
        );
    }
}
