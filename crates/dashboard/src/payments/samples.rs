//! The list of payments, as samples for tests.

use askama::Template;
use domain::language::Language;

use super::{
    OfferedLink, PaymentList, PaymentsPage, Tile,
    filter::{Choice, Mistakes, TypedFilter},
    picks::{Head, Pick},
    rows::PaymentRow,
};
use crate::samples::{badge, hostile, now, paging, shell};

pub(crate) fn row(language: Language, is_named: bool) -> PaymentRow {
    PaymentRow {
        url: "/dashboard/prj_1/payments/pay_1".to_owned(),
        who: hostile(),
        reference: is_named.then(hostile),
        amount: "Rp999.999.999.999".to_owned(),
        billed: is_named.then(|| "tagihan Rp999.999.999.998".to_owned()),
        badge: badge("paid"),
        refunded: is_named.then(|| badge("off")),
        method: "QRIS".to_owned(),
        created: now(language),
    }
}

fn pick() -> Pick {
    Pick { url: "/x".to_owned(), label: hostile(), is_chosen: true }
}

fn payments(language: Language, found: Option<(usize, bool)>) -> PaymentsPage {
    let mistake = || found.is_none().then(hostile);
    let [q, status, method, period, from, to, link, sort] = [(); 8].map(|()| hostile());
    let choice = || vec![Choice { value: hostile(), label: hostile(), chosen: true }];
    let head = |sorted| Head { url: "/x".to_owned(), sorted };
    PaymentsPage {
        shell: shell(language),
        path: "/dashboard/prj_1/payments".to_owned(),
        asked: TypedFilter { q, status, method, period, from, to, link, sort },
        mistakes: Mistakes { q: mistake(), link: mistake(), from: mistake(), sort: mistake(), ..Mistakes::default() },
        tabs: vec![pick()],
        periods: vec![pick()],
        chosen: vec![pick()],
        statuses: choice(),
        methods: Vec::new(),
        sorts: choice(),
        titles: vec![hostile()],
        offered: vec![OfferedLink { url: "/x".to_owned(), title: hostile(), reference: hostile() }],
        found: found.map(|(rows, is_everything)| PaymentList {
            rows: (0..rows).map(|index| row(language, index == 0)).collect(),
            is_everything,
            sums: vec![Tile { label: "Dibayar".to_owned(), figure: "Rp1".to_owned(), text: "x".to_owned() }],
            unsorted: is_everything.then(hostile),
            by_time: head("descending"),
            by_amount: head(""),
            paging: paging(),
            csv_url: "/x.csv".to_owned(),
            excel_url: "/x.csv?separator=semicolon".to_owned(),
        }),
        begin_url: Some("/x".to_owned()),
    }
}

pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
    vec![
        ("payments", payments(language, Some((2, false))).render().unwrap()),
        ("no payments", payments(language, Some((0, true))).render().unwrap()),
        ("no match", payments(language, Some((0, false))).render().unwrap()),
        ("mistaken", payments(language, None).render().unwrap()),
    ]
}
