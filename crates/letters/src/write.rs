//! Writes a letter: its subject, and its content in both forms.

use domain::language::Language;

use crate::{
    compose,
    html::html,
    letter::{Face, Letter, Written},
    plain::plain,
    shown::subject,
    words::words,
};

/// The letter in that language, from whom `face` says.
pub fn write(letter: &Letter, language: Language, face: &Face) -> Written {
    let content = compose::content(letter, language, face);
    let words = words(language);
    Written {
        subject: subject(&content.subject),
        plain: plain(words, face, &content),
        html: html(words, language, face, &content),
    }
}
