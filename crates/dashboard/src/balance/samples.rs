//! The balance, as samples for tests.

use askama::Template;
use domain::language::Language;

use super::{AccountingForm, BalancePage, Line, Tab, Tile};
use crate::samples::{chart, hostile, now, paging, shell};

fn balance(language: Language, lines: usize) -> BalancePage {
    let line = |_| Line {
        at: now(language),
        kind: hostile(),
        payment_url: "/x".to_owned(),
        reference: hostile(),
        amount: "+Rp1".to_owned(),
        balance: "Rp1".to_owned(),
    };
    BalancePage {
        shell: shell(language),
        tiles: vec![Tile { label: "Tersedia".to_owned(), amount: "Rp1".to_owned(), text: "x".to_owned() }],
        receipts_url: "/x".to_owned(),
        undecided: (lines > 0).then(hostile),
        chart: chart(language),
        tabs: vec![Tab { url: "/x".to_owned(), label: "Tersedia".to_owned(), is_chosen: true }],
        lines: (0..lines).map(line).collect(),
        paging: paging(),
        accounting_url: "/x".to_owned(),
        accounting: AccountingForm { from: hostile(), to_mistake: Some(hostile()), ..AccountingForm::default() },
    }
}

pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
    vec![("balance", balance(language, 2).render().unwrap()), ("empty balance", balance(language, 0).render().unwrap())]
}
