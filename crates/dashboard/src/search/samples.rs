//! The search, as samples for tests.

use askama::Template;
use domain::language::Language;

use super::{CustomerRow, SearchLists, SearchPage};
use crate::{
    links::LinkRow,
    payments::samples::row,
    samples::{badge, hostile, now, shell},
};

fn search(language: Language, found: Option<usize>) -> SearchPage {
    let link = |_| LinkRow {
        url: "/x".to_owned(),
        title: hostile(),
        reference: hostile(),
        amount: "Rp1".to_owned(),
        badge: badge("paid"),
        created: now(language),
    };
    let customer = |_| CustomerRow { url: "/x".to_owned(), name: hostile(), reached: hostile() };
    SearchPage {
        shell: shell(language),
        path: "/x".to_owned(),
        q: hostile(),
        mistake: found.is_none().then(hostile),
        found: found.map(|rows| SearchLists {
            payments: (0..rows).map(|_| row(language, true)).collect(),
            more_url: Some("/x".to_owned()),
            links: (0..rows).map(link).collect(),
            customers: (0..rows).map(customer).collect(),
        }),
    }
}

pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
    vec![
        ("search", search(language, Some(2)).render().unwrap()),
        ("nothing found", search(language, Some(0)).render().unwrap()),
        ("mistaken search", search(language, None).render().unwrap()),
    ]
}
