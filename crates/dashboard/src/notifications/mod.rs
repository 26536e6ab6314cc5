//! `/dashboard/<project>/notifications`: webhooks. Where they are sent, the secret that signs them, a test, and the log
//! of deliveries.

pub(crate) mod delivery;
pub(crate) mod events;
pub(crate) mod log;
mod recover;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod secret;
pub(crate) mod snippets;
pub(crate) mod url;
pub(crate) mod view;

use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::access::Act;
use engine::Error;
use i18n_embed_fl::fl;
use web::{App, page::page_error::PageError};

use crate::{attempt, done::Done, page::Page, session::SignedForm};

pub(crate) fn routes() -> Router<App> {
    // A user whose session has ended signs in at the form's address, and then sees the page there.
    Router::new()
        .route("/dashboard/{project}/notifications", get(show))
        .route("/dashboard/{project}/notifications/url", get(show).post(url::save))
        .route("/dashboard/{project}/notifications/url/remove", get(url::ask).post(url::remove))
        .route("/dashboard/{project}/notifications/events", get(show).post(events::save))
        .route("/dashboard/{project}/notifications/secret/show", get(show).post(secret::reveal))
        .route("/dashboard/{project}/notifications/secret/roll", get(secret::ask).post(secret::replace))
        .route("/dashboard/{project}/notifications/test", get(show).post(send_test))
        .route("/dashboard/{project}/notifications/recover", get(show).post(recover::recover))
        .merge(delivery::routes())
}

async fn show(page: Page) -> Result<Response, PageError> {
    Ok(page.render(StatusCode::OK, &view::view(&page).await?))
}

/// Creates a payment and pays it, so that a real webhook is sent.
async fn send_test(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::ManageWebhooks)?;
    match page.desk.send_test(&attempt::sent(form.text("attempt"))).await {
        Ok(_) => Ok(page.redirect(page.path("/notifications"), Done::Tested)),
        Err(Error::NoWebhookUrl) => view::conflict(&page, fl!(page.words(), "hook-test-no-url")).await,
        Err(Error::ProjectUnusable) => view::conflict(&page, fl!(page.words(), "hook-unusable")).await,
        Err(error) => Err(error.into()),
    }
}
