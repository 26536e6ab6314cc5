//! The texts of these pages in Indonesian and English, loaded from `locales`. No text is written in Rust; guides are texts of their
//! own.

use domain::language::Language;
use web::page::words::Catalogue;

pub(crate) use web::page::words::{Words, code};

static TEXTS: Catalogue =
    Catalogue::new("site", include_str!("../locales/id/site.ftl"), include_str!("../locales/en/site.ftl"));

pub(crate) fn words(language: Language) -> Words {
    TEXTS.words(language)
}

#[cfg(test)]
mod tests {
    use i18n_embed_fl::fl;

    use super::*;

    #[test]
    fn both_languages_load_and_have_texts_of_their_own() {
        assert_eq!(fl!(words(Language::Indonesian), "docs"), "Dokumentasi");
        assert_eq!(fl!(words(Language::English), "docs"), "Docs");
    }
}
