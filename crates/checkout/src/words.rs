//! The texts of the checkout in Indonesian and English, loaded from `locales`. No text is written in Rust.

use domain::language::Language;
use web::page::words::Catalogue;

pub(crate) use web::page::words::{Words, code};

static TEXTS: Catalogue =
    Catalogue::new("checkout", include_str!("../locales/id/checkout.ftl"), include_str!("../locales/en/checkout.ftl"));

pub(crate) fn words(language: Language) -> Words {
    TEXTS.words(language)
}

#[cfg(test)]
mod tests {
    use i18n_embed_fl::fl;

    use super::*;

    #[test]
    fn both_languages_load_and_have_texts_of_their_own() {
        let text = |language| fl!(words(language), "pay-button", amount = "Rp150.000");
        assert_eq!(text(Language::Indonesian), "Bayar Rp150.000");
        assert_eq!(text(Language::English), "Pay Rp150.000");
    }
}
