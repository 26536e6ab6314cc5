//! The form that changes a link and the poster of a link, rendered from samples in both languages.

use askama::Template;
use domain::language::Language;
use picture::qr_image;
use web::page::render::other_language;

use crate::{
    links::{
        edit::{EditLink, EditMistakes, Saved},
        poster::{Poster, SizeChoice},
    },
    money_samples::{check_page, hostile, shell},
    words::{code, words},
};

const LANGUAGES: [Language; 2] = [Language::Indonesian, Language::English];

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

#[test]
fn every_page_about_a_link_is_whole_in_both_languages_and_lets_nothing_break_out() {
    for language in LANGUAGES {
        let wrong = Some("Salah".to_owned());
        for html in [
            edit(language, None, None),
            edit(language, wrong.clone(), None),
            edit(language, None, wrong),
            poster(language, Some("Rp999.999.999.999".to_owned())),
            poster(language, None),
        ] {
            check_page("a link", &html, language);
        }
        assert_eq!(poster(language, None).matches("class=\"amount\"").count(), 0);
    }
}
