//! `/dashboard/<project>/keys/<key>/rotate`: replaces a key by a new one with its name, rights and networks, and says for how long
//! the old one goes on. The new key is shown once, on the page of all keys.

#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{access::Act, api_key::Overlap, id::KeyId};
use engine::{Error, RotatedKey};
use i18n_embed_fl::fl;
use web::{App, page::page_error::PageError};

use crate::{
    attempt,
    keys::{KeyRow, Keys, created, keys, row},
    page::Page,
    session::{LastId, SignedForm},
    shell::{Section, Shell},
    words::Words,
};

/// Asks for how long the old key goes on.
#[derive(Template)]
#[template(path = "key_rotation.html")]
pub(crate) struct RotateKey {
    pub(crate) shell: Shell,
    pub(crate) keys_url: String,
    pub(crate) action: String,
    pub(crate) attempt: String,
    pub(crate) key: KeyRow,
    pub(crate) overlaps: Vec<OverlapChoice>,
}

pub(crate) struct OverlapChoice {
    pub(crate) hours: String,
    pub(crate) text: String,
    pub(crate) chosen: bool,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/keys/{key}/rotate", get(ask).post(rotate))
}

async fn ask(page: Page, LastId(id): LastId<KeyId>) -> Result<Response, PageError> {
    page.require(Act::ManageKeys)?;
    let (shell, base) = (page.shell(Section::Keys).await?, page.base());
    let all = page.desk.keys().await?;
    let shown = all.iter().find(|shown| shown.key.id == id).ok_or(Error::NotFound("API key"))?;
    let key = row(&page, &base, shown, true);
    if key.rotate_url.is_none() {
        page.desk.check_giving(shown.key.rights)?;
        return refused(&page, fl!(page.words(), "key-rotate-already")).await;
    }
    let view = RotateKey {
        keys_url: format!("{base}/keys"),
        action: format!("{base}/keys/{id}/rotate"),
        attempt: attempt::fresh(),
        key,
        overlaps: overlaps(shell.words),
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

fn overlaps(words: Words) -> Vec<OverlapChoice> {
    let choice = |overlap: Overlap| OverlapChoice {
        hours: overlap.hours().to_string(),
        text: match overlap.hours() {
            hours if hours < 24 => fl!(words, "key-overlap-hours", count = hours),
            hours => fl!(words, "key-overlap-days", count = (hours / 24)),
        },
        chosen: overlap == Overlap::USUAL,
    };
    Overlap::CHOICES.map(choice).into()
}

async fn rotate(page: Page, LastId(id): LastId<KeyId>, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::ManageKeys)?;
    let hours = form.text("overlap").and_then(|hours| hours.parse().ok()).unwrap_or_default();
    let Ok(overlap) = Overlap::of_hours(hours) else {
        return Err(PageError::with(StatusCode::UNPROCESSABLE_ENTITY));
    };
    let attempt = attempt::sent(form.text("attempt"));
    match page.desk.rotate_key(id, overlap, Some(&attempt)).await {
        Ok(RotatedKey { key, secret, old_until }) => {
            let (created, old_until) = (Some(created(&page, &key, &secret)), Some(page.moment(old_until)));
            Ok(page.render(StatusCode::OK, &Keys { created, old_until, ..keys(&page).await? }))
        }
        Err(Error::KeyReplaced) => refused(&page, fl!(page.words(), "key-rotate-already")).await,
        Err(Error::TooMany { most, .. }) => {
            let most = most.to_string();
            refused(&page, fl!(page.words(), "key-many", most = most)).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn refused(page: &Page, notice: String) -> Result<Response, PageError> {
    Ok(page.render(StatusCode::CONFLICT, &Keys { notice: Some(notice), ..keys(page).await? }))
}
