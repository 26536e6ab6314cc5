//! The form for a new link, as samples for tests.

use askama::Template;
use domain::language::Language;

use super::{
    Choice, NewLink,
    filled::{Filled, Mistakes},
    preview::{FeeRow, Fees, Phone, PhoneMethod, Preview},
    price::{PriceFields, PriceMistakes},
};
use crate::{
    samples::{LANGUAGES, hostile, shell, text},
    words::words,
};

const BASE: &str = "/dashboard/prj_01kc2m8r5gfq9t3v7x1y4z6a8b";

fn fees(language: Language) -> Fees {
    let row = FeeRow {
        method: text("QRIS"),
        customer_pays: text("Rp150.000"),
        fee: text("Rp1.050"),
        you_receive: text("Rp148.950"),
    };
    Fees { words: words(language), rows: vec![row], note: Some(text("Paling sedikit Rp10.000")) }
}

fn preview(language: Language) -> Preview {
    let phone = Phone {
        words: words(language),
        is_sandbox: true,
        shop: hostile(),
        initial: text("<"),
        logo: None,
        amount: Some(text("Rp150.000")),
        choice: Some(hostile()),
        title: hostile(),
        description: hostile(),
        reference: hostile(),
        methods: vec![PhoneMethod { mark: text("QR"), name: "QRIS" }],
        asked: vec![text("Nama")],
    };
    Preview { fees: fees(language), phone }
}

fn new_link(language: Language, mistake: Option<String>) -> String {
    let choice = |name: &str| Choice { name: text(name), text: text("QRIS"), checked: true };
    let view = NewLink {
        shell: shell(language),
        base: text(BASE),
        attempt: text("0"),
        filled: Filled {
            title: hostile(),
            price: PriceFields { amount: hostile(), ..PriceFields::default() },
            description: hostile(),
            ..Filled::default()
        },
        mistakes: Mistakes {
            title: mistake.clone(),
            price: PriceMistakes {
                amount: mistake.clone(),
                quantity_max: mistake.clone(),
                amount_min: mistake.clone(),
                amount_max: mistake.clone(),
            },
            reference: mistake.clone(),
            description: mistake.clone(),
            expires_at: mistake.clone(),
            return_url: mistake.clone(),
            methods: mistake.clone(),
        },
        notice: mistake,
        preview: preview(language),
        prices: vec![choice("fixed")],
        methods: vec![choice("qris"), choice("virtual_account:bca")],
        asked: vec![choice("ask_name")],
    };
    view.render().unwrap()
}

pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
    vec![("new link", new_link(language, None)), ("new link again", new_link(language, Some(text("Salah"))))]
}

#[test]
fn the_preview_alone_is_what_the_form_shows_of_it() {
    for language in LANGUAGES {
        let (alone, whole) = (preview(language).render().unwrap(), new_link(language, None));
        assert!(alone.contains("Rp148.950") && !alone.contains("<html") && !alone.contains("<script>alert"));
        for part in [fees(language).render().unwrap(), preview(language).phone.render().unwrap()] {
            assert!(alone.contains(part.trim()) && whole.contains(part.trim()), "{part}");
        }
    }
}
