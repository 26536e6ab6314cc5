//! Which sections answer a search, best first. The documentation is small enough to be read through for every search, so there is no
//! index that could be out of date.

use std::collections::BTreeMap;

use domain::language::Language;

use crate::section::Section;

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
const IN_TEXT_MOST: usize = 4;

/// A section that searches are compared with: its texts in lower case. Only ASCII letters are changed, so that places in them are
/// places in the section's own texts.
pub(crate) struct Searched {
    pub(crate) section: Section,
    title: String,
    heading: String,
    text: String,
}

impl Searched {
    pub(crate) fn new(section: Section) -> Searched {
        Searched {
            title: section.page_title.to_ascii_lowercase(),
            heading: section.heading.as_ref().map(|heading| heading.text.to_ascii_lowercase()).unwrap_or_default(),
            text: section.text.to_ascii_lowercase(),
            section,
        }
    }

    /// How well one term fits; 0 where it occurs nowhere.
    fn fit(&self, term: &str) -> u32 {
        let has = |text: &str| occurrences(text, term).next().is_some();
        let in_title = if self.section.heading.is_none() { IN_TITLE } else { IN_TITLE_ABOVE };
        let in_text = occurrences(&self.text, term).take(IN_TEXT_MOST).count();
        u32::from(has(&self.title)) * in_title
            + u32::from(has(&self.heading)) * IN_HEADING
            + u32::try_from(in_text).unwrap_or_default()
    }
}

/// The different words of a search, in lower case.
pub(crate) fn terms(query: &str) -> Vec<String> {
    let query = query.to_ascii_lowercase();
    let mut terms: Vec<String> = Vec::new();
    for word in query.split(|one: char| !one.is_alphanumeric() && one != '_') {
        let is_new = !terms.iter().any(|term| term == word);
        if is_new && word.chars().nth(TERM_CHARACTERS_LEAST - 1).is_some() && terms.len() < TERMS_MOST {
            terms.push(word.to_owned());
        }
    }
    terms
}

/// Where words of `text` begin with `term`.
pub(crate) fn occurrences<'a>(text: &'a str, term: &'a str) -> impl Iterator<Item = usize> + 'a {
    let begins_word = move |at: &usize| !text[..*at].chars().next_back().is_some_and(char::is_alphanumeric);
    text.match_indices(term).map(|(at, _)| at).filter(begins_word)
}

/// The sections that fit best. Those with more of the terms come first; a term counts the more, the fewer sections have it. Of two
/// that fit alike, the one in the visitor's language is first.
pub(crate) fn ranked<'a>(all: &'a [Searched], terms: &[String], language: Language) -> Vec<&'a Searched> {
    let fits: Vec<Vec<u32>> = all.iter().map(|one| terms.iter().map(|term| one.fit(term)).collect()).collect();
    let rarity: Vec<u32> = (0..terms.len())
        .map(|term| {
            let found = fits.iter().filter(|fits| fits[term] > 0).count();
            all.len().checked_div(found).and_then(usize::checked_ilog2).unwrap_or_default() + 1
        })
        .collect();
    let mut found: Vec<(usize, u32, bool, &Searched)> = Vec::new();
    for (one, fits) in all.iter().zip(&fits) {
        let matched = fits.iter().filter(|fit| **fit > 0).count();
        let weight = fits.iter().zip(&rarity).map(|(fit, rarity)| fit * rarity).sum();
        if matched > 0 {
            found.push((matched, weight, one.section.language == language, one));
        }
    }
    // The order of the guides decides between equals, since the sort is stable.
    found.sort_by_key(|(matched, weight, is_own, _)| std::cmp::Reverse((*matched, *weight, *is_own)));
    let mut of_page: BTreeMap<&str, usize> = BTreeMap::new();
    let found = found.into_iter().map(|(.., one)| one).filter(|one| {
        let shown = of_page.entry(&one.section.path).or_default();
        *shown += 1;
        *shown <= RESULTS_OF_PAGE_MOST
    });
    found.take(RESULTS_MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::Heading;

    fn section(path: &str, title: &str, heading: Option<&str>, text: &str) -> Searched {
        let heading = heading.map(|text| Heading { id: text.to_lowercase(), text: text.to_owned(), level: 2 });
        Searched::new(Section {
            path: path.to_owned(),
            page_title: title.to_owned(),
            heading,
            text: text.to_owned(),
            language: Language::English,
        })
    }

    fn found(all: &[Searched], query: &str) -> Vec<String> {
        let name = |one: &&Searched| {
            let heading = one.section.heading.as_ref().map(|heading| format!("#{}", heading.id)).unwrap_or_default();
            format!("{}{heading}", one.section.path)
        };
        ranked(all, &terms(query), Language::English).iter().map(name).collect()
    }

    fn library() -> Vec<Searched> {
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
        assert_eq!(found(&library(), "webhook"), ["/a", "/a#signature", "/b#errors"]);
        assert_eq!(found(&library(), "signature"), ["/a#signature", "/b#errors"]);
    }

    #[test]
    fn sections_with_more_of_the_terms_come_first_and_rare_terms_count_more() {
        assert_eq!(found(&library(), "signature errors")[0], "/b#errors");
        assert_eq!(found(&library(), "the lists")[0], "/b#lists");
        let often = |number| section(&format!("/{number}"), "T", None, "the and the and the");
        let all: Vec<Searched> = (0..60).map(often).chain([section("/rare", "T", None, "zebra")]).collect();
        assert_eq!(found(&all, "the zebra")[0], "/rare", "one term each");
    }

    #[test]
    fn a_term_is_the_beginning_of_a_word_in_any_case() {
        assert_eq!(found(&library(), "SIGNA").len(), 2);
        assert_eq!(found(&library(), "nature"), [""; 0]);
        assert_eq!(occurrences("pay repay pay_1 pay", "pay").collect::<Vec<_>>(), [0, 10, 16]);
    }

    #[test]
    fn a_search_is_bounded() {
        let many: Vec<Searched> =
            (0..100).map(|number| section(&format!("/{}", number / 10), "T", Some("H"), "same")).collect();
        assert_eq!(found(&many, "same").len(), RESULTS_MOST);
        assert_eq!(found(&many[..10], "same").len(), RESULTS_OF_PAGE_MOST);
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
