//! `/dashboard/account/factor`: adding a second factor, its recovery codes, and removing it.

#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::second_factor::{FactorSecret, RecoveryCode};
use engine::Error;
use i18n_embed_fl::fl;
use picture::qr_image;
use web::{
    App,
    page::{page_error::PageError, render::see_other},
};

use crate::{
    attempt,
    done::Done,
    page::UserPage,
    session::SignedForm,
    shell::{Section, Shell},
};

pub(crate) const PATH: &str = "/dashboard/account/factor";
const CODES: &str = "/dashboard/account/factor/codes";
const REMOVE: &str = "/dashboard/account/factor/remove";
const ACCOUNT: &str = "/dashboard/account";
/// What apps show above the codes.
const ISSUER: &str = "Lunas";

/// The secret of a new factor, which the user scans or types, and the form for a first code.
#[derive(Template)]
#[template(path = "second_factor.html")]
pub(crate) struct AddFactorPage {
    pub(crate) shell: Shell,
    pub(crate) action: String,
    pub(crate) account_url: String,
    pub(crate) attempt: String,
    /// The QR code, as a `data:` address.
    pub(crate) image: String,
    pub(crate) secret: String,
    pub(crate) mistake: Option<String>,
    /// Whether the user needs one before they can do anything else.
    pub(crate) is_needed: bool,
}

/// Recovery codes that were just made; they are shown this once.
#[derive(Template)]
#[template(path = "second_factor/codes.html")]
pub(crate) struct CodesPage {
    pub(crate) shell: Shell,
    pub(crate) account_url: String,
    pub(crate) heading: String,
    /// One in each line.
    pub(crate) codes: String,
}

/// Asks whether to do it.
#[derive(Template)]
#[template(path = "second_factor/confirm.html")]
pub(crate) struct ConfirmPage {
    pub(crate) shell: Shell,
    pub(crate) action: String,
    pub(crate) account_url: String,
    pub(crate) attempt: String,
    pub(crate) heading: String,
    pub(crate) text: String,
    pub(crate) button: String,
    pub(crate) is_dangerous: bool,
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route(PATH, get(show).post(add))
        .route(CODES, get(ask_to_renew).post(renew))
        .route(REMOVE, get(ask_to_remove).post(remove))
        .route("/dashboard/account/factor/keep", get(account).post(keep))
}

async fn account(page: UserPage) -> Response {
    see_other(&page.url(ACCOUNT))
}

async fn show(page: UserPage) -> Result<Response, PageError> {
    add_page(&page, StatusCode::OK, attempt::fresh(), None).await
}

async fn add_page(
    page: &UserPage,
    status: StatusCode,
    attempt: String,
    mistake: Option<String>,
) -> Result<Response, PageError> {
    let secret = match page.app.engine.new_factor_secret(&page.visit, &attempt).await {
        Err(Error::Taken(_)) => return Ok(see_other(&page.url(ACCOUNT))),
        secret => secret?,
    };
    let view = AddFactorPage {
        shell: page.shell(Section::Account).await?,
        action: page.url(PATH),
        account_url: page.url(ACCOUNT),
        image: qr_code(&secret, page.visit.user.email.as_str()),
        secret: secret.text(),
        attempt,
        mistake,
        is_needed: page.app.engine.needs_factor(&page.visit).await?,
    };
    Ok(page.render(status, &view))
}

fn qr_code(secret: &FactorSecret, email: &str) -> String {
    let png = qr_image::png(&secret.address(ISSUER, email)).unwrap_or_default();
    format!("data:image/png;base64,{}", STANDARD.encode(png))
}

async fn add(page: UserPage, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    let (words, attempt) = (page.words(), attempt::sent(form.text("attempt")));
    match page.app.engine.add_factor(&page.visit, &attempt, form.text("code").unwrap_or_default()).await {
        Ok(codes) => codes_page(&page, fl!(words, "factor-added"), &codes).await,
        Err(Error::Invalid(_)) => {
            let mistake = Some(fl!(words, "factor-code-wrong"));
            add_page(&page, StatusCode::UNPROCESSABLE_ENTITY, attempt, mistake).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn codes_page(page: &UserPage, heading: String, codes: &[RecoveryCode]) -> Result<Response, PageError> {
    let view = CodesPage {
        shell: page.shell(Section::Account).await?,
        account_url: page.url(ACCOUNT),
        heading,
        codes: codes.iter().map(RecoveryCode::reveal).collect::<Vec<_>>().join("\n"),
    };
    Ok(page.render(StatusCode::OK, &view))
}

async fn ask_to_renew(page: UserPage) -> Result<Response, PageError> {
    let words = page.words();
    let texts = (fl!(words, "factor-codes-renew"), fl!(words, "factor-codes-renew-text"));
    confirm_page(&page, CODES, texts, false).await
}

async fn renew(page: UserPage, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    let attempt = attempt::sent(form.text("attempt"));
    let codes = page.app.engine.renew_recovery_codes(&page.visit, &attempt).await?;
    codes_page(&page, fl!(page.words(), "factor-codes-renewed"), &codes).await
}

async fn ask_to_remove(page: UserPage) -> Result<Response, PageError> {
    let words = page.words();
    let texts = (fl!(words, "factor-remove"), fl!(words, "factor-remove-text"));
    confirm_page(&page, REMOVE, texts, true).await
}

async fn remove(page: UserPage, SignedForm(_): SignedForm) -> Result<Response, PageError> {
    page.app.engine.remove_factor(&page.visit).await?;
    Ok(page.redirect(ACCOUNT, Done::FactorRemoved))
}

async fn keep(page: UserPage, SignedForm(_): SignedForm) -> Result<Response, PageError> {
    page.app.engine.refuse_lift(&page.visit).await?;
    Ok(page.redirect(ACCOUNT, Done::FactorKept))
}

/// `texts`: the heading, which the button repeats, and what follows.
async fn confirm_page(
    page: &UserPage,
    path: &str,
    texts: (String, String),
    is_dangerous: bool,
) -> Result<Response, PageError> {
    if page.visit.factor.is_none() {
        return Ok(see_other(&page.url(ACCOUNT)));
    }
    let (heading, text) = texts;
    let view = ConfirmPage {
        shell: page.shell(Section::Account).await?,
        action: page.url(path),
        account_url: page.url(ACCOUNT),
        attempt: attempt::fresh(),
        button: heading.clone(),
        heading,
        text,
        is_dangerous,
    };
    Ok(page.render(StatusCode::OK, &view))
}
