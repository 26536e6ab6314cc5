//! The second step of signing in: the code of the app, or a recovery code, after the right password.

#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{
    Router,
    http::{HeaderValue, StatusCode, header},
    response::Response,
    routing::get,
};
use engine::CodeAnswer;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{form::Form, page_error::PageError, render::see_other},
};

use crate::{
    page::PublicPage,
    session::MaybeSignedIn,
    shell::Bare,
    sign_in::{CODE, NEXT, ROOT, begin_again, is_ours, seconds_until, wait_text},
};

#[derive(Template)]
#[template(path = "sign_in_code.html")]
pub(crate) struct SignInCodePage {
    pub(crate) frame: Bare,
    pub(crate) action: String,
    /// The path that the visitor comes to after signing in.
    pub(crate) next: String,
    pub(crate) notice: Option<String>,
    pub(crate) begin_again_url: String,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/sign-in/code", get(show).post(submit))
}

async fn show(page: PublicPage) -> Response {
    let next = page.query(NEXT).filter(|next| is_ours(next)).unwrap_or(ROOT);
    if !page.app.engine.is_sign_in_pending(&page.whereabouts()) {
        return see_other(&page.url(next));
    }
    code_page(&page, StatusCode::OK, next, None)
}

async fn submit(
    page: PublicPage,
    MaybeSignedIn(before): MaybeSignedIn,
    form: Result<Form, PageError>,
) -> Result<Response, PageError> {
    let (form, engine) = (form?, &page.app.engine);
    let next = form.text(NEXT).filter(|next| is_ours(next)).unwrap_or(ROOT);
    let code = form.text("code").unwrap_or_default();
    let urls = &page.app.settings.urls;
    match engine.finish_sign_in(code.into(), &page.whereabouts()).await? {
        CodeAnswer::Done(session) => {
            // The new session replaces the one that this browser had.
            if let Some(before) = before {
                engine.sign_out(&before).await?;
            }
            let mut response = see_other(&page.url(next));
            web::session::remember(urls, &session, response.headers_mut());
            web::session::take_pending_back(urls, &page.visitor, response.headers_mut());
            web::session::take_ticket_back(urls, &page.visitor, response.headers_mut());
            Ok(response)
        }
        CodeAnswer::Wrong => {
            let notice = fl!(page.words(), "code-wrong");
            Ok(code_page(&page, StatusCode::UNAUTHORIZED, next, Some(notice)))
        }
        CodeAnswer::Wait { until } => {
            let seconds = seconds_until(until, page.now());
            let notice = wait_text(page.words(), seconds);
            let mut response = code_page(&page, StatusCode::TOO_MANY_REQUESTS, next, Some(notice));
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            Ok(response)
        }
        CodeAnswer::Over => {
            let mut response = begin_again(&page, next);
            web::session::take_pending_back(urls, &page.visitor, response.headers_mut());
            Ok(response)
        }
    }
}

fn code_page(page: &PublicPage, status: StatusCode, next: &str, notice: Option<String>) -> Response {
    let view = SignInCodePage {
        frame: page.frame(),
        action: page.url(CODE),
        next: next.to_owned(),
        notice,
        begin_again_url: page.url("/dashboard/sign-in"),
    };
    page.render(status, &view)
}
