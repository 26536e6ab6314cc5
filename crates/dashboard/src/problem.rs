//! The page for errors.

use askama::Template;
use axum::{
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{
        page_error::{Demand, PageError, ProblemKind},
        render::see_other,
        visitor::Visitor,
    },
};

use crate::{
    page::PublicPage,
    prove, second_factor,
    shell::Bare,
    sign_in::{ROOT, session_needed},
    words::Words,
};

#[derive(Template)]
#[template(path = "problem.html")]
struct Problem {
    frame: Bare,
    heading: String,
    text: String,
    support_reference: Option<String>,
    next_url: String,
}

/// The page for an error. A visitor without a session gets the form for signing in; a user who must do something first is led there.
pub(crate) fn error_page(app: &App, visitor: &Visitor, error: &PageError) -> Response {
    let page = PublicPage { app: app.clone(), visitor: visitor.clone() };
    if error.status == StatusCode::UNAUTHORIZED {
        return session_needed(&page);
    }
    match error.demand {
        Some(Demand::Proof) => return see_other(&page.url(prove::path_to(&visitor.address_again()))),
        Some(Demand::SecondFactor) => return see_other(&page.url(second_factor::PATH)),
        None => {}
    }
    let (heading, text) = wording(page.words(), error);
    let is_miss = error.status == StatusCode::NOT_FOUND;
    let view = Problem {
        heading,
        text,
        support_reference: visitor.request_id.clone().filter(|_| !is_miss),
        next_url: page.url(ROOT),
        frame: page.frame(),
    };
    let mut response = page.render(error.status, &view);
    if let Some(seconds) = error.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn wording(words: Words, error: &PageError) -> (String, String) {
    match error.kind() {
        ProblemKind::NotFound => (fl!(words, "problem-missing"), fl!(words, "problem-missing-text")),
        ProblemKind::Forbidden => (fl!(words, "problem-forbidden"), fl!(words, "problem-forbidden-text")),
        ProblemKind::TooMany => (fl!(words, "problem-many"), fl!(words, "problem-many-text")),
        ProblemKind::Unavailable => (fl!(words, "problem-unavailable"), fl!(words, "problem-unavailable-text")),
        ProblemKind::Broken => (fl!(words, "problem-broken"), fl!(words, "problem-broken-text")),
        ProblemKind::NotUnderstood if error.status == StatusCode::CONFLICT => {
            (fl!(words, "problem-conflict"), fl!(words, "problem-conflict-text"))
        }
        ProblemKind::NotUnderstood => (fl!(words, "problem-understood"), fl!(words, "problem-understood-text")),
    }
}
