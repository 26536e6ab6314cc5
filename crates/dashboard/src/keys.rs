//! API keys: who uses which, a new one whose secret is shown once, and revoking one for good.

use askama::Template;
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
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
    page::{
        moment::{Moment, moment},
        page_error::PageError,
        render::page,
        visitor::Visitor,
    },
};

use crate::{
    done::Done,
    fragment::Badge,
    session::{AtDesk, LastId, SignedForm},
    shell::{self, Section, Shell},
    typed::{only_for, text_mistake},
    words::Words,
};

/// All keys, and the form for a new one.
#[derive(Template)]
#[template(path = "keys.html")]
pub(super) struct Keys {
    pub(super) shell: Shell,
    pub(super) base: String,
    pub(super) rows: Vec<KeyRow>,
    pub(super) may_manage: bool,
    pub(super) name: String,
    pub(super) mistake: Option<String>,
    pub(super) notice: Option<String>,
    /// The one that was made just now.
    pub(super) made: Option<MadeKey>,
}

pub(super) struct KeyRow {
    pub(super) name: String,
    /// `sk_test_…abcd`.
    pub(super) shown: String,
    pub(super) created: Moment,
    pub(super) used: Option<Moment>,
    pub(super) badge: Badge,
    /// None where it is revoked, or not this person's to revoke.
    pub(super) revoke_url: Option<String>,
}

pub(super) struct MadeKey {
    pub(super) title: String,
    pub(super) secret: String,
    /// A first request with it.
    pub(super) example: String,
}

/// Really revoke it?
#[derive(Template)]
#[template(path = "key_revoke.html")]
pub(super) struct RevokeKey {
    pub(super) shell: Shell,
    pub(super) keys_url: String,
    pub(super) action: String,
    pub(super) key: KeyRow,
    pub(super) is_revoked: bool,
}

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/dashboard/{project}/keys", get(list).post(create))
        .route("/dashboard/{project}/keys/{key}/revoke", get(ask).post(revoke))
}

async fn list(State(app): State<App>, visitor: Visitor, at: AtDesk) -> Result<Response, PageError> {
    Ok(page(StatusCode::OK, &keys(&app, &visitor, &at).await?))
}

async fn keys(app: &App, visitor: &Visitor, at: &AtDesk) -> Result<Keys, Error> {
    let shell = shell::at_desk(app, visitor, at, Section::Keys).await?;
    let base = shell::base(app, at.desk.project());
    let may_manage = at.desk.may(Act::ManageKeys);
    let shown = at.desk.keys().await?;
    let rows = shown.iter().map(|shown| row(visitor, &base, shell.words, shown, may_manage)).collect();
    Ok(Keys { shell, base, rows, may_manage, name: String::new(), mistake: None, notice: None, made: None })
}

fn row(visitor: &Visitor, base: &str, words: Words, shown: &KeyShown, may_manage: bool) -> KeyRow {
    let KeyShown { key, last_used_at } = shown;
    let live = key.revoked_at.is_none();
    let badge = match live {
        true => Badge { status: "active", text: fl!(words, "key-active") },
        false => Badge { status: "revoked", text: fl!(words, "key-revoked") },
    };
    KeyRow {
        name: key.name.clone(),
        shown: format!("{}…{}", key_prefix(key.environment), key.last_four),
        created: moment(key.created_at, visitor.language),
        used: last_used_at.map(|at| moment(at, visitor.language)),
        badge,
        revoke_url: (live && may_manage).then(|| format!("{base}/keys/{}/revoke", key.id)),
    }
}

async fn create(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    only_for(&at.desk, Act::ManageKeys)?;
    let name = form.text("name").unwrap_or_default().trim().to_owned();
    let words = crate::words::words(visitor.language);
    let mistake = text_mistake(words, KEY_NAME, &name);
    let (status, mistake, notice) = if mistake.is_some() {
        (StatusCode::UNPROCESSABLE_ENTITY, mistake, None)
    } else {
        match at.desk.create_key(name.clone()).await {
            Ok((key, secret)) => {
                let made = Some(made(&app, words, &key, &secret));
                return Ok(page(StatusCode::OK, &Keys { made, ..keys(&app, &visitor, &at).await? }));
            }
            Err(Error::Taken(_)) => (StatusCode::CONFLICT, Some(fl!(words, "key-taken")), None),
            Err(Error::Invalid(_)) => (StatusCode::UNPROCESSABLE_ENTITY, Some(fl!(words, "typed-malformed")), None),
            Err(Error::TooMany { most, .. }) => {
                let most = most.to_string();
                (StatusCode::CONFLICT, None, Some(fl!(words, "key-many", most = most)))
            }
            Err(error) => return Err(error.into()),
        }
    };
    Ok(page(status, &Keys { name, mistake, notice, ..keys(&app, &visitor, &at).await? }))
}

fn made(app: &App, words: Words, key: &ApiKey, secret: &KeySecret) -> MadeKey {
    let name = key.name.as_str();
    let (secret, base_url, project) = (secret.reveal(), &app.settings.base_url, key.project_id);
    let lines = [
        format!("export LUNAS_API_KEY={secret}"),
        format!("curl -sS {base_url}/v1/payment-links \\"),
        "  -H \"Authorization: Bearer $LUNAS_API_KEY\" \\".to_owned(),
        "  -H \"Content-Type: application/json\" \\".to_owned(),
        format!("  -d '{{\"project_id\":\"{project}\",\"title\":\"Kopi susu\",\"amount\":15000}}'"),
    ];
    MadeKey { title: fl!(words, "key-made", name = name), secret: secret.to_owned(), example: lines.join("\n") }
}

async fn ask(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    LastId(id): LastId<KeyId>,
) -> Result<Response, PageError> {
    only_for(&at.desk, Act::ManageKeys)?;
    let all = at.desk.keys().await?;
    let shown = all.iter().find(|shown| shown.key.id == id).ok_or(Error::NotFound("API key"))?;
    let shell = shell::at_desk(&app, &visitor, &at, Section::Keys).await?;
    let base = shell::base(&app, at.desk.project());
    let is_revoked = shown.key.revoked_at.is_some();
    let view = RevokeKey {
        keys_url: format!("{base}/keys"),
        action: format!("{base}/keys/{id}/revoke"),
        key: row(&visitor, &base, shell.words, shown, true),
        is_revoked,
        shell,
    };
    Ok(page(if is_revoked { StatusCode::CONFLICT } else { StatusCode::OK }, &view))
}

async fn revoke(
    State(app): State<App>,
    at: AtDesk,
    LastId(id): LastId<KeyId>,
    SignedForm(_): SignedForm,
) -> Result<Response, PageError> {
    let key = at.desk.revoke_key(id).await?;
    Ok(Done::KeyRevoked.leading_to(&app, format_args!("/dashboard/{}/keys", key.project_id)))
}
