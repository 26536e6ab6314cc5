//! The texts of the dashboard, in Indonesian and English.

use domain::language::Language;
use web::page::words::Catalogue;

pub(crate) use web::page::words::{Words, code};

static TEXTS: Catalogue = Catalogue::new(
    "dashboard",
    include_str!("../locales/id/dashboard.ftl"),
    include_str!("../locales/en/dashboard.ftl"),
);

pub(crate) fn words(language: Language) -> Words {
    TEXTS.words(language)
}
