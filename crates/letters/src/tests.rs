//! What must hold for every letter, in both languages.

use std::{collections::BTreeSet, env, fs, path::Path};

use domain::{face::LogoMark, language::Language, letter::LetterKind, rules::changes_direction};

use crate::{
    compose::{content, notice_test},
    letter::{Face, Letter, Shop, Written},
    notice,
    samples::{Texts, letters},
    shown::SUBJECT_MOST,
    words::code,
    write,
};

const LANGUAGES: [Language; 2] = [Language::Indonesian, Language::English];

/// Checks what `holds` says of every letter of these texts, with its name.
fn check(texts: &Texts, holds: impl Fn(&str, &Letter, Language, &Face, &Written)) {
    for (name, letter, face) in letters(texts) {
        for language in LANGUAGES {
            let name = format!("{name} ({})", code(language));
            holds(&name, &letter, language, &face, &write(&letter, language, &face));
        }
    }
}

/// The text that a reader sees of HTML, without styles and with its white space joined.
fn visible(html: &str) -> String {
    let body = html.split_once("<body").unwrap().1;
    let texts = body.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text);
    let text = texts.collect::<Vec<_>>().join(" ");
    let text = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")]
        .into_iter()
        .fold(text, |text, (escaped, plain)| text.replace(escaped, plain));
    joined(&text)
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_kind_of_letter_has_a_sample() {
    let kinds: BTreeSet<LetterKind> = letters(&Texts::usual()).iter().map(|(_, letter, _)| letter.kind()).collect();
    assert_eq!(kinds, LetterKind::ALL.iter().copied().collect());
}

#[test]
fn html_and_plain_text_state_the_same() {
    for texts in [Texts::usual(), Texts::hostile()] {
        check(&texts, |name, letter, language, face, written| {
            let content = content(letter, language, face);
            let (html, plain) = (visible(&written.html), joined(&written.plain));
            let facts = content.facts.iter().flat_map(|fact| [&fact.label, &fact.value]);
            let action = content.action.iter().flat_map(|action| [&action.label, &action.url]);
            let warning = content.warning.iter().flat_map(|warning| [&warning.question, &warning.answer]);
            let contacts = content.contacts.iter().map(|contact| &contact.text);
            let all = facts.chain(action).chain(warning).chain(contacts).chain(&content.lead).chain(&content.after);
            for text in all.chain(&content.amount).chain([&content.heading, &content.why]) {
                let text = joined(text);
                assert!(html.contains(&text), "{name}: {text:?} in {html}");
                assert!(plain.contains(&text), "{name}: {text:?} in {plain}");
            }
            assert!(!content.facts.is_empty(), "{name}");
        });
    }
}

#[test]
fn both_languages_state_the_same_facts_in_words_of_their_own() {
    for (name, letter, face) in letters(&Texts::usual()) {
        let [indonesian, english] = LANGUAGES.map(|language| content(&letter, language, &face));
        assert_eq!(indonesian.facts.len(), english.facts.len(), "{name}");
        assert_eq!(indonesian.amount, english.amount, "{name}");
        assert_ne!(indonesian.heading, english.heading, "{name}");
        assert_ne!(indonesian.why, english.why, "{name}");
        let url = |action: &Option<crate::content::Action>| action.as_ref().map(|action| action.url.clone());
        assert_eq!(url(&indonesian.action), url(&english.action), "{name}");
    }
}

#[test]
fn a_letter_has_all_its_texts_and_its_language() {
    check(&Texts::usual(), |name, _, language, _, written| {
        assert!(written.html.contains(&format!("<html lang=\"{}\"", code(language))), "{name}");
        assert_eq!(written.html.matches("<h1").count(), 1, "{name}");
        for text in [&written.subject, &written.html, &written.plain] {
            assert!(!text.contains("No localization") && !text.contains("{ $") && !text.is_empty(), "{name}: {text}");
        }
    });
}

#[test]
fn no_text_of_others_becomes_markup_or_hides_something() {
    let usual: Vec<Written> =
        letters(&Texts::usual()).iter().map(|(_, letter, face)| write(letter, LANGUAGES[0], face)).collect();
    let hostile: Vec<Written> =
        letters(&Texts::hostile()).iter().map(|(_, letter, face)| write(letter, LANGUAGES[0], face)).collect();
    for (usual, hostile) in usual.iter().zip(&hostile) {
        // As many elements as with usual texts, and the same addresses.
        assert_eq!(usual.html.matches('<').count(), hostile.html.matches('<').count(), "{}", hostile.html);
        assert_eq!(usual.html.matches("href=\"").count(), hostile.html.matches("href=\"").count());
        let has_control = |text: &str| text.contains(|character: char| character.is_control() && character != '\n');
        assert!(!has_control(&hostile.html) && !has_control(&hostile.plain), "{}", hostile.plain);
    }
    check(&Texts::hostile(), |name, _, _, _, written| {
        assert!(!written.html.contains("<script"), "{name}");
        for text in [&written.html, &written.plain] {
            // Isolates come in pairs and are ours; nothing else changes the direction.
            assert_eq!(text.matches('\u{2068}').count(), text.matches('\u{2069}').count(), "{name}");
            let turns = |character: char| changes_direction(character) && !matches!(character, '\u{2068}' | '\u{2069}');
            assert!(!text.contains(turns), "{name}");
        }
    });
}

#[test]
fn a_subject_is_one_short_line_without_hidden_characters() {
    for texts in [Texts::usual(), Texts::hostile()] {
        check(&texts, |name, _, _, _, written| {
            let subject = &written.subject;
            assert!(!subject.contains(|c: char| c.is_control() || changes_direction(c)), "{name}: {subject:?}");
            assert!(subject.chars().count() <= SUBJECT_MOST && !subject.is_empty(), "{name}: {subject}");
        });
    }
}

#[test]
fn a_letter_loads_nothing_and_runs_nothing() {
    check(&Texts::hostile(), |name, _, _, _, written| {
        let html = &written.html;
        for forbidden in
            ["<img", "<link", "<script", "<iframe", "<form", "<table", "src=", "url(", "@import", "@font-face"]
        {
            assert!(!html.contains(forbidden), "{name} has {forbidden}");
        }
        for address in html.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            let is_ours = address.starts_with("https://bayar.kopi.example/");
            let is_contact = ["https://wa.me/", "mailto:"].iter().any(|start| address.starts_with(start));
            assert!(is_ours || is_contact, "{name}: {address}");
        }
    });
}

#[test]
fn a_logo_is_shown_from_within_the_letter_and_in_its_own_shape() {
    let (_, letter, face) = letters(&Texts::usual()).into_iter().find(|(_, _, face)| face.shop.is_some()).unwrap();
    let shop = face.shop.clone().unwrap();
    for ((width, height), shown) in
        [((480, 160), (144, 48)), ((160, 160), (48, 48)), ((480, 40), (160, 13)), ((20, 10), (20, 10))]
    {
        let logo = Some(LogoMark { hash: "5a".repeat(16), width, height });
        let face = Face { shop: Some(Shop { logo, ..shop.clone() }), ..face.clone() };
        let html = write(&letter, LANGUAGES[0], &face).html;
        assert_eq!((html.matches("<img").count(), html.matches("src=\"").count()), (1, 1), "{html}");
        let size = format!("src=\"cid:logo\" alt=\"\" width=\"{}\" height=\"{}\"", shown.0, shown.1);
        assert!(html.contains(&size), "{size}: {html}");
    }
}

#[test]
fn only_letters_that_grant_access_have_a_link_with_a_token() {
    let token = "5a".repeat(32);
    check(&Texts::usual(), |name, letter, _, _, written| {
        let grants = letter.kind().grants_access();
        assert_eq!(written.html.contains(&token), grants, "{name}");
        assert_eq!(written.plain.contains(&token), grants, "{name}");
    });
}

#[test]
fn a_notice_is_made_of_every_letter_but_those_for_one_person_and_states_the_same_facts() {
    for texts in [Texts::usual(), Texts::hostile()] {
        check(&texts, |name, letter, language, face, _| {
            let kind = letter.kind();
            let Some(noticed) = notice(letter, language, face) else {
                assert!(kind.is_security() || kind.grants_access(), "{name}");
                return;
            };
            assert!(!kind.is_security() && !kind.grants_access(), "{name}");
            let content = match letter {
                Letter::Test(test) => notice_test(test, language, face),
                letter => content(letter, language, face),
            };
            for fact in &content.facts {
                assert!(noticed.text.contains(&format!("{}: {}", fact.label, fact.value)), "{name}: {}", noticed.text);
            }
            assert!(content.action.iter().all(|action| noticed.text.contains(&action.url)), "{name}");
            assert!(content.why.is_empty() || !noticed.text.contains(&content.why), "{name}");
            let has_control = |text: &str| text.contains(|c: char| c.is_control() && c != '\n');
            assert!(!has_control(&noticed.text) && noticed.text.len() < 8 * 1_024, "{name}: {}", noticed.text);
            assert!(!noticed.subject.contains(|c: char| c.is_control() || changes_direction(c)), "{name}");
            let values = serde_json::to_value(&noticed.values).unwrap();
            assert!(values.as_object().is_some_and(|values| !values.is_empty()), "{name}: {values}");
            assert!(!noticed.text.to_lowercase().contains("email ini"), "{name}: {}", noticed.text);
        });
    }
}

/// The table's other words of code are no names of values.
#[test]
fn the_documentation_names_exactly_the_values_that_a_notice_has() {
    let page = include_str!("../../../docs/notices.md");
    for kind in LetterKind::ALL.iter().filter(|kind| kind.may_be_notice()) {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", kind.word()))).unwrap();
        let words = row.split(" | ").last().unwrap().split('`').skip(1).step_by(2);
        let named: BTreeSet<&str> = words.filter(|word| !["null", "receipt"].contains(word)).collect();
        let samples = letters(&Texts::usual()).into_iter().filter(|(_, letter, _)| letter.kind() == *kind);
        let mut names = BTreeSet::new();
        for (name, letter, face) in samples {
            let values = serde_json::to_value(notice(&letter, LANGUAGES[0], &face).unwrap().values).unwrap();
            assert!(named.iter().all(|named| values.get(named).is_some() || is_of_customer(named)), "{name}: {values}");
            names.extend(values.as_object().unwrap().keys().cloned());
        }
        let outer: BTreeSet<&str> = named.into_iter().filter(|named| !is_of_customer(named)).collect();
        assert_eq!(outer, names.iter().map(String::as_str).collect(), "{}", kind.word());
    }
}

fn is_of_customer(name: &str) -> bool {
    ["name", "email", "phone"].contains(&name)
}

#[test]
fn a_letter_is_the_same_after_it_was_stored() {
    for texts in [Texts::usual(), Texts::hostile()] {
        for (name, letter, _) in letters(&texts) {
            let stored = serde_json::to_string(&letter).unwrap();
            assert!(serde_json::from_str::<Letter>(&stored).unwrap() == letter, "{name}: {stored}");
        }
    }
    let wrong = r#"{"invitation":{"project":"a","role":"king","invited_by":null,"link":"b","expires_at":1}}"#;
    assert!(serde_json::from_str::<Letter>(wrong).is_err());
}

/// Writes every letter to files, for people who want to look at them: `LUNAS_LETTER_SAMPLES=<folder>`.
#[test]
fn letters_can_be_looked_at() {
    let Some(folder) = env::var_os("LUNAS_LETTER_SAMPLES") else { return };
    fs::create_dir_all(&folder).unwrap();
    for (kind, texts) in [("usual", Texts::usual()), ("hostile", Texts::hostile())] {
        check(&texts, |name, _, _, _, written| {
            let path = |ending: &str| Path::new(&folder).join(format!("{kind} {name}.{ending}"));
            fs::write(path("html"), &written.html).unwrap();
            fs::write(path("txt"), format!("{}\n\n{}", written.subject, written.plain)).unwrap();
        });
    }
}
