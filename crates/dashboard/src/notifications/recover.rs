//! Sending again every webhook that has failed since a time.

use axum::{http::StatusCode, response::Response};
use domain::access::Act;
use engine::Error;
use i18n_embed_fl::fl;
use web::page::page_error::PageError;

use super::view::{Notifications, conflict, view};
use crate::{input::local_time, page::Page, session::SignedForm, shell::Flash};

pub(crate) async fn recover(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::ManageWebhooks)?;
    let words = page.words();
    let typed = form.text("since").unwrap_or_default().to_owned();
    let since = match local_time(&typed) {
        Some(since) if since <= page.now() => since,
        Some(_) => return wrong_time(&page, typed, fl!(words, "hook-recover-future")).await,
        None => return wrong_time(&page, typed, fl!(words, "mistake-time")).await,
    };
    let text = match page.desk.recover(since).await {
        Ok(0) => fl!(words, "hook-recovered-none"),
        Ok(count) => fl!(words, "hook-recovered", count = count),
        Err(Error::NoWebhookUrl) => return conflict(&page, fl!(words, "hook-resend-no-url")).await,
        Err(error) => return Err(error.into()),
    };
    let flash = Some(Flash { text, bad: false });
    Ok(page.render(StatusCode::OK, &Notifications { since: typed, flash, ..view(&page).await? }))
}

async fn wrong_time(page: &Page, typed: String, why: String) -> Result<Response, PageError> {
    let flash = Some(Flash { text: fl!(page.words(), "mistake-form"), bad: true });
    let view = Notifications { since: typed, since_mistake: Some(why), flash, ..view(page).await? };
    Ok(page.render(StatusCode::UNPROCESSABLE_ENTITY, &view))
}
