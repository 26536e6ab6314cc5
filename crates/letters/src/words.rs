//! The texts of the letters, in Indonesian and English.

use domain::language::Language;
use wording::words::Catalogue;

pub(crate) use wording::words::{Words, code};

static TEXTS: Catalogue =
    Catalogue::new("letters", include_str!("../locales/id/letters.ftl"), include_str!("../locales/en/letters.ftl"));

pub(crate) fn words(language: Language) -> Words {
    TEXTS.words(language)
}
