//! API keys: the list, a new key whose secret is shown once, and revoking a key for good.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{
    access::Act,
    api_key::{ApiKey, KeySecret, key_prefix},
    id::KeyId,
    rules::KEY_NAME,
};
use engine::{Error, KeyShown};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{moment::Moment, page_error::PageError},
};

use crate::{
    attempt,
    done::Done,
    input::text_mistake,
    labels::Badge,
    page::Page,
    session::{LastId, SignedForm},
    shell::{Section, Shell},
};

/// All keys, and the form for a new one.
#[derive(Template)]
#[template(path = "keys.html")]
pub(crate) struct Keys {
    pub(crate) shell: Shell,
    pub(crate) base: String,
    pub(crate) attempt: String,
    pub(crate) rows: Vec<KeyRow>,
    pub(crate) may_manage: bool,
    pub(crate) name: String,
    pub(crate) mistake: Option<String>,
    pub(crate) notice: Option<String>,
    /// The key that this request created.
    pub(crate) created: Option<CreatedKey>,
}

pub(crate) struct KeyRow {
    /// What `DELETE /v1/api-keys/{id}` names it by.
    pub(crate) id: String,
    pub(crate) name: String,
    /// `sk_test_…abcd`.
    pub(crate) shown: String,
    pub(crate) created: Moment,
    pub(crate) used: Option<Moment>,
    pub(crate) badge: Badge,
    /// None where the key is revoked already, or the member's role may not revoke it.
    pub(crate) revoke_url: Option<String>,
}

pub(crate) struct CreatedKey {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) secret: String,
    /// A command that sends a first request with the key.
    pub(crate) example: String,
}

/// Asks whether to revoke a key.
#[derive(Template)]
#[template(path = "key_revoke.html")]
pub(crate) struct RevokeKey {
    pub(crate) shell: Shell,
    pub(crate) keys_url: String,
    pub(crate) action: String,
    pub(crate) key: KeyRow,
    pub(crate) is_revoked: bool,
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/dashboard/{project}/keys", get(list).post(create))
        .route("/dashboard/{project}/keys/{key}/revoke", get(ask).post(revoke))
}

async fn list(page: Page) -> Result<Response, PageError> {
    Ok(page.render(StatusCode::OK, &keys(&page).await?))
}

async fn keys(page: &Page) -> Result<Keys, Error> {
    let shell = page.shell(Section::Keys).await?;
    let base = page.base();
    let may_manage = page.desk.may(Act::ManageKeys);
    let shown = page.desk.keys().await?;
    let rows = shown.iter().map(|shown| row(page, &base, shown, may_manage)).collect();
    Ok(Keys {
        shell,
        base,
        attempt: attempt::fresh(),
        rows,
        may_manage,
        name: String::new(),
        mistake: None,
        notice: None,
        created: None,
    })
}

fn row(page: &Page, base: &str, shown: &KeyShown, may_manage: bool) -> KeyRow {
    let KeyShown { key, last_used_at } = shown;
    let (words, is_live) = (page.words(), key.revoked_at.is_none());
    let badge = if is_live {
        Badge { status: "active", text: fl!(words, "key-active") }
    } else {
        Badge { status: "revoked", text: fl!(words, "key-revoked") }
    };
    KeyRow {
        id: key.id.to_string(),
        name: key.name.clone(),
        shown: format!("{}…{}", key_prefix(key.environment), key.last_four),
        created: page.moment(key.created_at),
        used: last_used_at.map(|at| page.moment(at)),
        badge,
        revoke_url: (is_live && may_manage).then(|| format!("{base}/keys/{}/revoke", key.id)),
    }
}

async fn create(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::ManageKeys)?;
    let name = form.text("name").unwrap_or_default().trim().to_owned();
    let (words, attempt) = (page.words(), attempt::sent(form.text("attempt")));
    let mistake = text_mistake(words, KEY_NAME, &name);
    let (status, mistake, notice) = if mistake.is_some() {
        (StatusCode::UNPROCESSABLE_ENTITY, mistake, None)
    } else {
        match page.desk.create_key(name.clone(), Some(&attempt)).await {
            Ok((key, secret)) => {
                let created = Some(created(&page, &key, &secret));
                return Ok(page.render(StatusCode::OK, &Keys { created, ..keys(&page).await? }));
            }
            Err(Error::Taken(_)) => (StatusCode::CONFLICT, Some(fl!(words, "key-taken")), None),
            Err(Error::Invalid(_)) => (StatusCode::UNPROCESSABLE_ENTITY, Some(fl!(words, "mistake-refused")), None),
            Err(Error::TooMany { most, .. }) => {
                let most = most.to_string();
                (StatusCode::CONFLICT, None, Some(fl!(words, "key-many", most = most)))
            }
            Err(error) => return Err(error.into()),
        }
    };
    Ok(page.render(status, &Keys { name, mistake, notice, ..keys(&page).await? }))
}

fn created(page: &Page, key: &ApiKey, secret: &KeySecret) -> CreatedKey {
    let (words, name) = (page.words(), key.name.as_str());
    let (secret, base_url, project) = (secret.reveal(), &page.app.settings.base_url, key.project_id);
    let lines = [
        format!("export LUNAS_API_KEY={secret}"),
        format!("curl -sS {base_url}/v1/payment-links \\"),
        "  -H \"Authorization: Bearer $LUNAS_API_KEY\" \\".to_owned(),
        "  -H \"Content-Type: application/json\" \\".to_owned(),
        format!("  -d '{{\"project_id\":\"{project}\",\"title\":\"Kopi susu\",\"amount\":15000}}'"),
    ];
    CreatedKey {
        id: key.id.to_string(),
        title: fl!(words, "key-ready", name = name),
        secret: secret.to_owned(),
        example: lines.join("\n"),
    }
}

async fn ask(page: Page, LastId(id): LastId<KeyId>) -> Result<Response, PageError> {
    page.require(Act::ManageKeys)?;
    let (shell, base) = (page.shell(Section::Keys).await?, page.base());
    let all = page.desk.keys().await?;
    let shown = all.iter().find(|shown| shown.key.id == id).ok_or(Error::NotFound("API key"))?;
    let is_revoked = shown.key.revoked_at.is_some();
    let view = RevokeKey {
        keys_url: format!("{base}/keys"),
        action: format!("{base}/keys/{id}/revoke"),
        key: row(&page, &base, shown, true),
        is_revoked,
        shell,
    };
    Ok(page.render(if is_revoked { StatusCode::CONFLICT } else { StatusCode::OK }, &view))
}

async fn revoke(page: Page, LastId(id): LastId<KeyId>, SignedForm(_): SignedForm) -> Result<Response, PageError> {
    page.desk.revoke_key(id).await?;
    Ok(page.redirect(page.path("/keys"), Done::KeyRevoked))
}
