//! The texts of the pages use the words of `docs/words.md`: one word for one thing, and no English in Indonesian texts.

use std::{collections::BTreeSet, fs};

use super::{
    locales::{LANGUAGES, SURFACES},
    source_rules::none,
};
use crate::support::repository::root;

/// Shorter words are the same in many languages by chance.
const LETTERS_LEAST: usize = 3;

/// The rows of the table below a heading, each with its cells.
fn table(document: &str, heading: &str) -> Vec<Vec<String>> {
    let section = document.split("\n## ").find(|section| section.starts_with(heading)).unwrap();
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    let cells = |row: &str| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    rows.map(cells).collect()
}

fn words_document() -> String {
    fs::read_to_string(root().join("docs/words.md")).unwrap()
}

/// Every line of a language's texts with its place, without variables and without keys.
fn lines(language: &str) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for surface in SURFACES {
        let file = format!("crates/{surface}/locales/{language}/{surface}.ftl");
        let content = fs::read_to_string(root().join(&file)).unwrap();
        for (index, line) in content.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            let text = line.split_once(" =").map_or(line, |(_, text)| text);
            lines.push((format!("{file}:{}", index + 1), without_variables(text).to_lowercase()));
        }
    }
    lines
}

fn without_variables(text: &str) -> String {
    let mut kept = String::new();
    let mut depth = 0;
    for character in text.chars() {
        match character {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ if depth == 0 => kept.push(character),
            _ => {}
        }
    }
    kept
}

/// The words of a text. A dot within a word keeps it together, so that `payment.paid` is one word.
fn words(text: &str) -> Vec<&str> {
    let words = text.split(|character: char| !(character.is_alphanumeric() || "-._".contains(character)));
    words.map(|word| word.trim_matches(['-', '.', '_'])).filter(|word| !word.is_empty()).collect()
}

/// Whether a text has these words next to each other.
fn has(text: &str, wanted: &str) -> bool {
    let (words, wanted) = (words(text), words(wanted));
    words.windows(wanted.len()).any(|some| some == wanted)
}

#[test]
fn no_text_uses_a_word_that_another_one_replaces() {
    let mut found = Vec::new();
    let replaced = table(&words_document(), "Words that we do not use");
    assert!(replaced.len() > 15, "{replaced:?}");
    for row in &replaced {
        let [language, not, but] = row.as_slice() else { panic!("{row:?} is no row of three cells") };
        assert!(LANGUAGES.contains(&language.as_str()), "{row:?}");
        let with_suffix = [not.clone(), format!("{not}-nya")];
        for (place, line) in lines(language) {
            if with_suffix.iter().any(|not| has(&line, not)) {
                found.push(format!("{place} says “{not}”, not “{but}”"));
            }
        }
    }
    none(found);
}

#[test]
fn every_term_is_used_in_the_texts_of_its_language() {
    let terms = table(&words_document(), "Terms");
    assert!(terms.len() > 20, "{terms:?}");
    for (column, language) in [(0, "en"), (1, "id")] {
        let text: String = lines(language).into_iter().map(|(_, line)| line + "\n").collect();
        for row in &terms {
            assert!(text.contains(&row[column].to_lowercase()), "no text in {language} says {}", row[column]);
        }
    }
}

#[test]
fn an_indonesian_text_has_no_english_word() {
    let document = words_document();
    let shared = document.split("\n## Words that both languages have").nth(1).unwrap();
    let shared: BTreeSet<&str> = words(shared).into_iter().collect();
    let english = lines("en");
    // The switch to the other language is written in that language.
    let is_switch = |line: &str| line.trim() == "bahasa indonesia";
    let english = english.iter().filter(|(_, line)| !is_switch(line));
    let english: BTreeSet<&str> = english.flat_map(|(_, line)| words(line)).collect();
    let is_english = |word: &&str| {
        let is_plain = word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-');
        word.len() >= LETTERS_LEAST && is_plain && english.contains(word) && !shared.contains(word)
    };
    let mut found = Vec::new();
    for (place, line) in lines("id") {
        let of_line = words(&line).into_iter().filter(is_english).filter(|word| *word != "english");
        found.extend(of_line.map(|word| format!("{place} says {word}")));
    }
    none(found);
}
