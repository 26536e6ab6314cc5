//! `/dashboard/forgot`: a user who has lost their password asks for a link by letter. What is answered, and when, does not depend on
//! whether there is such a user.

#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{
    Router,
    http::{HeaderValue, StatusCode, header},
    response::Response,
    routing::get,
};
use engine::{FORGOT, ResetAsked};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{form::Form, page_error::PageError},
};

use crate::{
    done::Done,
    input::email_to_look_up_mistake,
    page::PublicPage,
    shell::Bare,
    sign_in::{SIGN_IN, seconds_until, wait_text},
};

#[derive(Template)]
#[template(path = "forgot.html")]
pub(crate) struct ForgotPage {
    pub(crate) frame: Bare,
    pub(crate) sign_in_url: String,
    pub(crate) state: Asking,
}

/// How far the visitor is.
pub(crate) enum Asking {
    /// Letters are not set up, so an operator must help.
    NoMail,
    Form {
        action: String,
        email: String,
        mistake: Option<String>,
        /// Why the visitor must wait.
        notice: Option<String>,
    },
    /// There will be a letter, if there is such a user.
    Asked,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/forgot", get(show).post(submit))
}

async fn show(page: PublicPage) -> Response {
    if Done::asked_for(&page.visitor) == Some(Done::ResetAsked) {
        return forgot_page(&page, StatusCode::OK, Asking::Asked);
    }
    let state = match page.app.engine.has_mail() {
        true => filled_form(&page, "", None, None),
        false => Asking::NoMail,
    };
    forgot_page(&page, StatusCode::OK, state)
}

async fn submit(page: PublicPage, form: Result<Form, PageError>) -> Result<Response, PageError> {
    let form = form?;
    let email = form.text("email").unwrap_or_default();
    if !page.app.engine.has_mail() {
        return Ok(forgot_page(&page, StatusCode::NOT_FOUND, Asking::NoMail));
    }
    if let Some(mistake) = email_to_look_up_mistake(page.words(), email) {
        let state = filled_form(&page, email, Some(mistake), None);
        return Ok(forgot_page(&page, StatusCode::UNPROCESSABLE_ENTITY, state));
    }
    match page.app.engine.request_reset(email, page.language(), &page.whereabouts()).await? {
        ResetAsked::Taken => Ok(page.redirect(FORGOT, Done::ResetAsked)),
        ResetAsked::Wait { until } => {
            let seconds = seconds_until(until, page.now());
            let state = filled_form(&page, email, None, Some(wait_text(page.words(), seconds)));
            let mut response = forgot_page(&page, StatusCode::TOO_MANY_REQUESTS, state);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            Ok(response)
        }
    }
}

fn filled_form(page: &PublicPage, email: &str, mistake: Option<String>, notice: Option<String>) -> Asking {
    Asking::Form { action: page.url(FORGOT), email: email.to_owned(), mistake, notice }
}

fn forgot_page(page: &PublicPage, status: StatusCode, state: Asking) -> Response {
    page.render(status, &ForgotPage { frame: page.frame(), sign_in_url: page.url(SIGN_IN), state })
}
