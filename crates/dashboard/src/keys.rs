//! API keys: the list, a new key whose secret is shown once, and revoking a key for good. Rights over money are offered to
//! owners only.

#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{
    access::Act,
    api_key::{ApiKey, KeySecret, KeyState, key_prefix},
    id::KeyId,
    key_networks::{KEY_NETWORKS_MOST, KeyNetworks, NetworkFault, WrongNetworks},
    key_rights::{KeyRight, KeyRights},
    rules::KEY_NAME,
};
use engine::{Error, KeyShown, NewKey};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{form::Form, moment::Moment, page_error::PageError},
};

use crate::{
    attempt,
    done::Done,
    input::text_mistake,
    labels::{Badge, key_right_name, key_rights_names},
    page::Page,
    session::{LastId, SignedForm},
    shell::{Section, Shell},
    words::Words,
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
    pub(crate) new: KeyFields,
    pub(crate) notice: Option<String>,
    /// The key that this request created.
    pub(crate) created: Option<CreatedKey>,
    /// When the key stops that the created one has replaced.
    pub(crate) old_until: Option<Moment>,
}

/// The form for a new key, as it was filled in.
pub(crate) struct KeyFields {
    pub(crate) name: String,
    pub(crate) name_mistake: Option<String>,
    pub(crate) rights: Vec<RightChoice>,
    /// Whether there are rights that the member may not give.
    pub(crate) owners_give_more: bool,
    pub(crate) networks: String,
    pub(crate) networks_mistake: Option<String>,
}

/// A checkbox for one right.
pub(crate) struct RightChoice {
    pub(crate) field: String,
    pub(crate) name: String,
    pub(crate) hint: String,
    pub(crate) checked: bool,
}

pub(crate) struct KeyRow {
    /// What `DELETE /v1/api-keys/{id}` names it by.
    pub(crate) id: String,
    pub(crate) name: String,
    /// `sk_test_…abcd`.
    pub(crate) shown: String,
    pub(crate) rights: String,
    /// Empty where the key may be used from everywhere.
    pub(crate) networks: String,
    pub(crate) created: Moment,
    pub(crate) used: Option<Moment>,
    pub(crate) badge: Badge,
    /// When a key that was replaced stops, or has stopped.
    pub(crate) ends: Option<Moment>,
    /// Whether nobody has used it for a long time.
    pub(crate) is_unused: bool,
    /// None where the key is revoked or replaced already, or the member may not give its rights.
    pub(crate) rotate_url: Option<String>,
    /// None where the key is revoked already, or the member's role may not revoke it.
    pub(crate) revoke_url: Option<String>,
}

pub(crate) struct CreatedKey {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) secret: String,
    pub(crate) rights: String,
    /// A command that sends a first request with the key, and what it does.
    pub(crate) example: String,
    pub(crate) example_text: String,
}

/// Asks whether to revoke a key.
#[derive(Template)]
#[template(path = "keys/revoke.html")]
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

pub(crate) async fn keys(page: &Page) -> Result<Keys, Error> {
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
        new: fields(page, KeyRights::USUAL),
        notice: None,
        created: None,
        old_until: None,
    })
}

/// The name of the checkbox for a right.
fn right_field(right: KeyRight) -> String {
    format!("right-{}", right.word())
}

/// An empty form in which these rights are chosen.
fn fields(page: &Page, chosen: KeyRights) -> KeyFields {
    let words = page.words();
    let choice = |right: KeyRight| RightChoice {
        field: right_field(right),
        name: key_right_name(words, right),
        hint: match right {
            KeyRight::Payments => fl!(words, "key-right-payments-text"),
            KeyRight::HeldMoney => fl!(words, "key-right-held-money-text"),
            KeyRight::Refunds => fl!(words, "key-right-refunds-text"),
        },
        checked: chosen.has(right),
    };
    let given: Vec<KeyRight> = KeyRight::ALL.into_iter().filter(|right| page.desk.may_give(*right)).collect();
    KeyFields {
        name: String::new(),
        name_mistake: None,
        owners_give_more: given.len() < KeyRight::ALL.len(),
        rights: given.into_iter().map(choice).collect(),
        networks: String::new(),
        networks_mistake: None,
    }
}

/// What is wrong with networks, one of which is shown as it was typed.
fn networks_mistake(words: Words, typed: &[&str], wrong: WrongNetworks) -> String {
    match wrong {
        WrongNetworks::TooMany => {
            let most = KEY_NETWORKS_MOST.to_string();
            fl!(words, "key-networks-many", most = most)
        }
        WrongNetworks::One { index, fault } => {
            let typed = typed.get(index).copied().unwrap_or_default();
            match fault {
                NetworkFault::Malformed => fl!(words, "key-networks-malformed", typed = typed),
                NetworkFault::Inside(network) => {
                    let network = network.to_string();
                    fl!(words, "key-networks-inside", typed = typed, network = network)
                }
                NetworkFault::Mapped => fl!(words, "key-networks-mapped", typed = typed),
            }
        }
    }
}

/// The key that a form asks for, or the form with its mistakes.
fn asked_key(page: &Page, form: &Form, rights: KeyRights) -> Result<NewKey, Box<KeyFields>> {
    let words = page.words();
    let name = form.text("name").unwrap_or_default().trim().to_owned();
    let text = form.text("networks").unwrap_or_default();
    let typed: Vec<&str> = text.split([',', ' ', '\t', '\r', '\n']).filter(|part| !part.is_empty()).collect();
    let name_mistake = text_mistake(words, KEY_NAME, &name);
    match (KeyNetworks::parse(&typed), &name_mistake) {
        (Ok(networks), None) => Ok(NewKey { name, rights, networks }),
        (networks, _) => Err(Box::new(KeyFields {
            name,
            name_mistake,
            networks: text.to_owned(),
            networks_mistake: networks.err().map(|wrong| networks_mistake(words, &typed, wrong)),
            ..fields(page, rights)
        })),
    }
}

pub(crate) fn row(page: &Page, base: &str, shown: &KeyShown, may_manage: bool) -> KeyRow {
    let KeyShown { key, last_used_at, state, is_unused } = shown;
    let words = page.words();
    let (badge, ends) = match *state {
        KeyState::Active => (Badge { status: "active", text: fl!(words, "key-active") }, None),
        KeyState::Replaced { until } => (Badge { status: "wait", text: fl!(words, "key-replaced") }, Some(until)),
        KeyState::Expired { at } => (Badge { status: "expired", text: fl!(words, "key-expired") }, Some(at)),
        KeyState::Revoked { .. } => (Badge { status: "revoked", text: fl!(words, "key-revoked") }, None),
    };
    let may_rotate = *state == KeyState::Active && may_manage && page.desk.check_giving(key.rights).is_ok();
    let may_revoke = matches!(state, KeyState::Active | KeyState::Replaced { .. }) && may_manage;
    KeyRow {
        id: key.id.to_string(),
        name: key.name.clone(),
        shown: format!("{}…{}", key_prefix(key.environment), key.last_four),
        rights: key_rights_names(words, key.rights),
        networks: key.networks.words().join(", "),
        created: page.moment(key.created_at),
        used: last_used_at.map(|at| page.moment(at)),
        badge,
        ends: ends.map(|at| page.moment(at)),
        is_unused: *is_unused,
        rotate_url: may_rotate.then(|| format!("{base}/keys/{}/rotate", key.id)),
        revoke_url: may_revoke.then(|| format!("{base}/keys/{}/revoke", key.id)),
    }
}

async fn create(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::ManageKeys)?;
    let (words, attempt) = (page.words(), attempt::sent(form.text("attempt")));
    let is_chosen = |right: &KeyRight| form.text(&right_field(*right)).is_some();
    let rights: KeyRights = KeyRight::ALL.into_iter().filter(is_chosen).collect();
    page.desk.check_giving(rights)?;
    let asked = match asked_key(&page, &form, rights) {
        Ok(asked) => asked,
        Err(new) => {
            let new = *new;
            return Ok(page.render(StatusCode::UNPROCESSABLE_ENTITY, &Keys { new, ..keys(&page).await? }));
        }
    };
    let (status, name_mistake, notice) = match page.desk.create_key(asked.clone(), Some(&attempt)).await {
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
    };
    let networks = form.text("networks").unwrap_or_default().to_owned();
    let new = KeyFields { name: asked.name, name_mistake, networks, ..fields(&page, rights) };
    Ok(page.render(status, &Keys { new, notice, ..keys(&page).await? }))
}

pub(crate) fn created(page: &Page, key: &ApiKey, secret: &KeySecret) -> CreatedKey {
    let (words, name) = (page.words(), key.name.as_str());
    let (secret, base_url, project) = (secret.reveal(), &page.app.settings.base_url, key.project_id);
    let mut lines = vec![format!("export LUNAS_API_KEY={secret}")];
    let may_create = key.rights.has(KeyRight::Payments);
    if may_create {
        lines.extend([
            format!("curl -sS {base_url}/v1/payment-links \\"),
            "  -H \"Authorization: Bearer $LUNAS_API_KEY\" \\".to_owned(),
            "  -H \"Content-Type: application/json\" \\".to_owned(),
            format!("  -d '{{\"project_id\":\"{project}\",\"title\":\"Kopi susu\",\"amount\":15000}}'"),
        ]);
    } else {
        lines.extend([
            format!("curl -sS {base_url}/v1/payments \\"),
            "  -H \"Authorization: Bearer $LUNAS_API_KEY\"".to_owned(),
        ]);
    }
    CreatedKey {
        id: key.id.to_string(),
        title: fl!(words, "key-ready", name = name),
        secret: secret.to_owned(),
        rights: key_rights_names(words, key.rights),
        example: lines.join("\n"),
        example_text: if may_create { fl!(words, "key-try-text") } else { fl!(words, "key-try-read-text") },
    }
}

async fn ask(page: Page, LastId(id): LastId<KeyId>) -> Result<Response, PageError> {
    page.require(Act::ManageKeys)?;
    let (shell, base) = (page.shell(Section::Keys).await?, page.base());
    let all = page.desk.keys().await?;
    let shown = all.iter().find(|shown| shown.key.id == id).ok_or(Error::NotFound("API key"))?;
    let is_revoked = !matches!(shown.state, KeyState::Active | KeyState::Replaced { .. });
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
