//! How the language of a letter is stored.

use domain::language::Language;

pub(crate) const fn word(language: Language) -> &'static str {
    match language {
        Language::Indonesian => "id",
        Language::English => "en",
    }
}

pub(crate) fn read(word: &str) -> Option<Language> {
    match word {
        "id" => Some(Language::Indonesian),
        "en" => Some(Language::English),
        _ => None,
    }
}
