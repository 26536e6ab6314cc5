//! `/dashboard/prove`: a user proves that they are there, by their second factor where they have one, else by their password. What
//! weighs much asks for it when the last proof is too old. A page is opened after the proof; a form is sent with it, so that
//! nothing that was typed is lost.

#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
    routing::get,
};
use i18n_embed_fl::fl;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use web::{
    App,
    page::{
        page_error::{Demand, PageError},
        render::see_other,
        visitor::Visitor,
    },
};

use crate::{
    page::{PublicPage, UserPage},
    session::{KeptForm, PostedForm, ProofMistake, SignedForm},
    shell::{Section, Shell},
    sign_in::{ROOT, is_ours, seconds_until, wait_text},
};

const PATH: &str = "/dashboard/prove";
/// The parameter that names the page to open after the proof.
const THEN: &str = "then";

#[derive(Template)]
#[template(path = "prove.html")]
pub(crate) struct ProvePage {
    pub(crate) shell: Shell,
    /// Where the proof is sent to: the address of the form that was held up, or this page's own.
    pub(crate) action: String,
    /// The fields of that form.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) by_factor: bool,
    pub(crate) mistake: Option<String>,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route(PATH, get(show).post(submit))
}

/// The path of this page, which leads to `then`.
pub(crate) fn path_to(then: &str) -> String {
    format!("{PATH}?{THEN}={}", utf8_percent_encode(then, NON_ALPHANUMERIC))
}

async fn show(page: UserPage) -> Result<Response, PageError> {
    let then = page.query(THEN).filter(|then| is_ours(then)).unwrap_or(ROOT);
    if page.app.engine.fresh_proof(&page.visit).await.is_ok() {
        return Ok(see_other(&page.url(then)));
    }
    let view = ProvePage {
        shell: page.shell(Section::Other).await?,
        action: page.url(PATH),
        fields: vec![(THEN.to_owned(), then.to_owned())],
        by_factor: page.visit.factor.is_some(),
        mistake: None,
    };
    Ok(page.render(StatusCode::OK, &view))
}

/// The form has checked the proof that it carries; one without any gets the page again.
async fn submit(page: UserPage, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.app.engine.fresh_proof(&page.visit).await?;
    Ok(see_other(&page.url(form.text(THEN).filter(|then| is_ours(then)).unwrap_or(ROOT))))
}

/// Asks for a proof in place of an answer that needs one, and keeps the form that was sent.
pub(crate) async fn ask_in_place(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let (visitor, posted) = (Visitor::of(&app, &request), PostedForm::default());
    request.extensions_mut().insert(posted.clone());
    let response = next.run(request).await;
    let demand = response.extensions().get::<PageError>().and_then(|error| error.demand);
    match posted.kept().filter(|_| demand == Some(Demand::Proof)) {
        Some(kept) => in_place(PublicPage { app, visitor }, kept).await.unwrap_or_else(IntoResponse::into_response),
        None => response,
    }
}

async fn in_place(public: PublicPage, kept: &KeptForm) -> Result<Response, PageError> {
    let page = UserPage::of(public, kept.visit.clone());
    let words = page.words();
    let (status, mistake, wait) = match kept.mistake {
        None => (StatusCode::FORBIDDEN, None, None),
        Some(ProofMistake::Wrong) if kept.visit.factor.is_some() => {
            (StatusCode::UNPROCESSABLE_ENTITY, Some(fl!(words, "code-wrong")), None)
        }
        Some(ProofMistake::Wrong) => (StatusCode::UNPROCESSABLE_ENTITY, Some(fl!(words, "account-old-wrong")), None),
        Some(ProofMistake::Wait { until }) => {
            let seconds = seconds_until(until, page.now());
            (StatusCode::TOO_MANY_REQUESTS, Some(wait_text(words, seconds)), Some(seconds))
        }
    };
    let view = ProvePage {
        shell: page.shell(Section::Other).await?,
        action: page.url(page.visitor.address_again()),
        fields: kept.fields.clone(),
        by_factor: page.visit.factor.is_some(),
        mistake,
    };
    let mut response = page.render(status, &view);
    if let Some(seconds) = wait {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    Ok(response)
}
