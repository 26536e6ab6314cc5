//! The page of a customer, as a sample for tests.

use askama::Template;
use domain::language::Language;

use super::{CustomerPage, Figure};
use crate::{
    payments::samples::row,
    samples::{hostile, paging, shell},
};

fn customer(language: Language) -> CustomerPage {
    CustomerPage {
        shell: shell(language),
        payments_url: "/x".to_owned(),
        name: hostile(),
        email: hostile(),
        phone: hostile(),
        figures: vec![Figure { label: "Sudah dibayar".to_owned(), figure: "Rp1".to_owned() }],
        held: Some(hostile()),
        receipts_url: "/x".to_owned(),
        rows: vec![row(language, true)],
        paging: paging(),
    }
}

pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
    vec![("customer", customer(language).render().unwrap())]
}
