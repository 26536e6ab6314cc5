//! The pages about links, as samples for tests.

use askama::Template;
use domain::language::Language;
use picture::qr_image;
use web::page::render::other_language;

use super::{
    CancelLink, LinkPage, LinkRow, Links, PaymentRow,
    edit::{EditLink, EditMistakes, Saved},
    poster::{Poster, SizeChoice},
    share::Share,
};
use crate::{
    samples::{HOSTILE, badge, hostile, now, paging, shell, text},
    words::{code, words},
};

const BASE: &str = "/dashboard/prj_01kc2m8r5gfq9t3v7x1y4z6a8b";

fn link_row(language: Language) -> LinkRow {
    LinkRow {
        url: format!("{BASE}/links/pl_1"),
        title: hostile(),
        reference: hostile(),
        amount: text("Rp999.999.999.999"),
        badge: badge("active"),
        created: now(language),
    }
}

fn links(language: Language, rows: Vec<LinkRow>, search: &str) -> String {
    let view = Links {
        shell: shell(language),
        base: text(BASE),
        search: text(search),
        rows,
        paging: paging(),
        may_create: true,
    };
    view.render().unwrap()
}

fn link(language: Language, payments: Vec<PaymentRow>) -> String {
    let view = LinkPage {
        shell: shell(language),
        base: text(BASE),
        row: link_row(language),
        description: hostile(),
        metadata: vec![(hostile(), hostile()), (text("kasir"), text(""))],
        checkout_url: text("https://pay.example/p/pl_1"),
        share: Some(Share {
            whatsapp_url: text("https://wa.me/?text=Kopi"),
            poster_url: format!("{BASE}/links/pl_1/poster"),
            title: hostile(),
            text: hostile(),
        }),
        image_url: format!("{BASE}/links/pl_1/qr.png"),
        image_name: text("QR-PL-1.png"),
        expires: Some(now(language)),
        return_url: Some(hostile()),
        cancelled: Some(now(language)),
        many: false,
        methods: vec![text("QRIS"), text("Virtual account BCA")],
        asked: vec![text("Nama")],
        payments,
        payments_url: format!("{BASE}/payments?link=pl_1"),
        payments_total: Some(text("11")),
        duplicate_url: Some(format!("{BASE}/links/new?from=pl_1")),
        edit_url: Some(format!("{BASE}/links/pl_1/edit")),
        cancel_url: Some(format!("{BASE}/links/pl_1/cancel")),
    };
    view.render().unwrap()
}

fn payment_row(language: Language) -> PaymentRow {
    PaymentRow {
        url: format!("{BASE}/payments/pay_1"),
        customer: hostile(),
        method: text("QRIS"),
        amount: text("Rp150.000"),
        badge: badge("paid"),
        created: now(language),
    }
}

fn cancel_link(language: Language, ended: Option<String>) -> String {
    let view = CancelLink {
        shell: shell(language),
        link_url: format!("{BASE}/links/pl_1"),
        title: hostile(),
        action: format!("{BASE}/links/pl_1/cancel"),
        pending: text("2"),
        ended,
    };
    view.render().unwrap()
}

fn edit(language: Language, mistake: Option<String>, refused: Option<String>) -> String {
    let saved = mistake.is_some().then(|| Saved { title: hostile(), description: hostile(), expires: hostile() });
    let view = EditLink {
        shell: shell(language),
        link_url: "/x".to_owned(),
        name: hostile(),
        action: "/x/edit".to_owned(),
        seen: "0".to_owned(),
        title: hostile(),
        description: hostile(),
        expires_at: "2026-11-15T21:30".to_owned(),
        mistakes: EditMistakes { title: mistake.clone(), description: mistake.clone(), expires_at: mistake.clone() },
        notice: mistake,
        saved,
        refused,
    };
    view.render().unwrap()
}

fn poster(language: Language, amount: Option<String>) -> String {
    let other = other_language(language);
    let view = Poster {
        words: words(language),
        other_words: words(other),
        language: code(language),
        other_language: code(other),
        style_url: "/assets/poster.css".to_owned(),
        script_url: "/assets/dashboard.js".to_owned(),
        back_url: "/x".to_owned(),
        sizes: vec![SizeChoice { name: "A6", url: "/x?size=a6".to_owned(), current: true }],
        switch_url: "?lang=en".to_owned(),
        shop: hostile(),
        logo: None,
        colour: Some("#0b57d0".to_owned()),
        contacts: hostile(),
        title: hostile(),
        closed: amount.is_none(),
        amount,
        address: "bayar.example/p/pl_1".to_owned(),
        qr: qr_image::path("https://bayar.example/p/pl_1").unwrap(),
    };
    view.render().unwrap()
}

pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
    vec![
        ("links", links(language, vec![link_row(language)], HOSTILE)),
        ("no links", links(language, Vec::new(), "")),
        ("no link found", links(language, Vec::new(), HOSTILE)),
        ("link", link(language, vec![payment_row(language)])),
        ("new link's page", link(language, Vec::new())),
        ("cancel link", cancel_link(language, None)),
        ("cancelled link", cancel_link(language, Some(text("Sudah dibatalkan")))),
    ]
}

/// The form that changes a link.
pub(crate) fn edit_pages(language: Language) -> [(&'static str, String); 3] {
    let wrong = || Some(text("Salah"));
    [
        ("edit link", edit(language, None, None)),
        ("edit link again", edit(language, wrong(), None)),
        ("link that cannot be edited", edit(language, None, wrong())),
    ]
}

/// The poster of a link that can be paid, and of one that cannot.
pub(crate) fn posters(language: Language) -> [(&'static str, String); 2] {
    [("poster", poster(language, Some(text("Rp999.999.999.999")))), ("poster of a closed link", poster(language, None))]
}
