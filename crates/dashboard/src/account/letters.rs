//! `/dashboard/account/letters`: which letters the signed-in user gets, and in which language.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{
    language::Language,
    letter::{LetterKind, SummaryPeriod},
};
use i18n_embed_fl::fl;
use web::{App, page::page_error::PageError};

use crate::{
    done::Done,
    letters::kind_name,
    page::UserPage,
    session::SignedForm,
    shell::{Section, Shell},
    words::code,
};

const PATH: &str = "/dashboard/account/letters";
/// Letters that cannot be switched off; the page names them.
const ALWAYS: [LetterKind; 4] =
    [LetterKind::NewDevice, LetterKind::PasswordChanged, LetterKind::FactorChanged, LetterKind::PasswordReset];

#[derive(Template)]
#[template(path = "account/letters.html")]
pub(crate) struct LetterChoicesPage {
    pub(crate) shell: Shell,
    pub(crate) action: String,
    pub(crate) has_mail: bool,
    /// `id` or `en`.
    pub(crate) chosen_language: &'static str,
    /// `daily`, `weekly`, or nothing.
    pub(crate) summary: &'static str,
    pub(crate) kinds: Vec<KindChoice>,
    /// What nobody can switch off.
    pub(crate) always: Vec<String>,
}

pub(crate) struct KindChoice {
    pub(crate) field: &'static str,
    pub(crate) name: String,
    pub(crate) is_wanted: bool,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route(PATH, get(show).post(save))
}

/// What a user switches on and off.
fn optional() -> impl Iterator<Item = LetterKind> {
    LetterKind::ALL.iter().copied().filter(|kind| kind.is_optional() && *kind != LetterKind::Summary)
}

async fn show(page: UserPage) -> Result<Response, PageError> {
    let shell = page.shell(Section::Account).await?;
    let chosen = page.app.engine.letter_choices(&page.visit, page.visitor.language).await?;
    let words = shell.words;
    // Banks are a matter for operators alone.
    let kinds = optional().filter(|kind| *kind != LetterKind::BankDown || page.visit.user.is_operator);
    let kind = |kind: LetterKind| KindChoice {
        field: kind.word(),
        name: kind_name(words, kind),
        is_wanted: !chosen.refused.contains(&kind),
    };
    let view = LetterChoicesPage {
        action: page.url(PATH),
        has_mail: page.app.engine.has_mail(),
        chosen_language: code(chosen.language),
        summary: chosen.summary.map_or("", SummaryPeriod::word),
        kinds: kinds.map(kind).collect(),
        always: ALWAYS.into_iter().map(|kind| kind_name(words, kind)).collect(),
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

async fn save(page: UserPage, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    let language = match form.text("language") {
        Some("en") => Language::English,
        _ => Language::Indonesian,
    };
    let summary = form.text("summary").and_then(SummaryPeriod::parse);
    let is_operator = page.visit.user.is_operator;
    let wanted: Vec<LetterKind> = optional()
        .filter(|kind| form.text(kind.word()).is_some() || *kind == LetterKind::BankDown && !is_operator)
        .collect();
    page.app.engine.choose_letters(&page.visit, language, summary, &wanted).await?;
    Ok(page.redirect(PATH, Done::LettersChosen))
}
