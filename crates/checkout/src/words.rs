//! The texts of the checkout, in Indonesian and English.

use domain::language::Language;
use web::page::words::Catalogue;

pub(crate) use web::page::words::{Words, code};

static TEXTS: Catalogue =
    Catalogue::new("checkout", include_str!("../locales/id/checkout.ftl"), include_str!("../locales/en/checkout.ftl"));

pub(crate) fn words(language: Language) -> Words {
    TEXTS.words(language)
}
