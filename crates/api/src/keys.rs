//! `/v1/api-keys`: creating, listing and revoking API keys. A key may only revoke; creating and listing need a signed-in member,
//! and only owners give a right over money. A secret is in the answer that created it and in no other.

use axum::{
    Json,
    extract::{RawQuery, State},
    http::HeaderValue,
};
use domain::{
    api_key::{ApiKey, KeySecret, key_prefix},
    audit::Actor,
    id::KeyId,
    key_networks::{KeyNetworks, WrongNetworks},
    key_rights::KeyRights,
    rules::Invalid,
};
use engine::{Created, Desk, KeyShown, Listed, NewKey};
use serde::Serialize;
use utoipa::ToSchema;
use web::{App, query::Query};
use wire::{api_key::RevokedKeyJson, schemas};

use crate::{
    answer::{Answer, ErrorAnswer, Listing},
    auth::{KeyManager, KeyRevoker, Member},
    body::{JsonBytes, ignored::ignored_header, members::Body},
    error::ApiError,
    error_code::{
        JSON_BODY, KEY_CONFLICT, KEYED, KEYED_OR_SIGNED_IN, MEMBERS_ONLY, NEEDS_PAYMENTS_FOR_OTHERS, OWNERS_GIVE_MONEY,
        RESOURCE_NOT_FOUND, error_codes,
    },
    openapi::{page, page_size, parameters, path, project},
    path_id::PathId,
};

parameters!(KeyParameters: path::<schemas::ApiKeyId>("id"));
error_codes!(RevokeErrors: KEYED, &[NEEDS_PAYMENTS_FOR_OTHERS, RESOURCE_NOT_FOUND]);
parameters!(ListParameters: project(), page(), page_size());
error_codes!(ListErrors: KEYED_OR_SIGNED_IN, &[MEMBERS_ONLY]);
parameters!(CreateParameters: project());
error_codes!(CreateErrors: KEYED_OR_SIGNED_IN, &[OWNERS_GIVE_MONEY], JSON_BODY, &[KEY_CONFLICT]);

/// A key of the project, without its secret.
#[derive(Serialize, ToSchema)]
#[schema(title = "ApiKey", as = ApiKey)]
pub(crate) struct KeyJson {
    #[schema(value_type = schemas::ApiKeyId)]
    id: String,
    /// The name that the member who created the key gave it.
    #[schema(min_length = 1, max_length = 255, examples("Kasir 1"))]
    name: String,
    #[schema(value_type = schemas::Environment)]
    environment: &'static str,
    #[schema(value_type = schemas::ProjectId)]
    project_id: String,
    #[schema(value_type = schemas::KeyPrefix)]
    key_prefix: &'static str,
    #[schema(value_type = schemas::LastFour)]
    last_four: String,
    #[schema(value_type = schemas::DateTime)]
    created_at: String,
    /// What the key may do besides reading.
    #[schema(value_type = Vec<schemas::KeyRight>)]
    rights: Vec<&'static str>,
    /// The networks from which the key may be used; none: from everywhere.
    #[schema(value_type = Vec<schemas::KeyNetwork>)]
    networks: Vec<String>,
    /// When the key was last used, to the minute; null if never.
    #[schema(value_type = Option<schemas::DateTime>, required)]
    last_used_at: Option<String>,
    /// When a key that was replaced stops by itself; null for a key that was not replaced.
    #[schema(value_type = Option<schemas::DateTime>, required)]
    expires_at: Option<String>,
    /// When the key was revoked; null if it was not.
    #[schema(value_type = Option<schemas::DateTime>, required)]
    revoked_at: Option<String>,
}

impl From<KeyShown> for KeyJson {
    fn from(KeyShown { key, last_used_at, .. }: KeyShown) -> KeyJson {
        KeyJson {
            id: key.id.to_string(),
            environment: key.environment.word(),
            project_id: key.project_id.to_string(),
            key_prefix: key_prefix(key.environment),
            last_four: key.last_four,
            created_at: key.created_at.to_string(),
            rights: key.rights.words(),
            networks: key.networks.words(),
            last_used_at: last_used_at.map(|at| at.to_string()),
            expires_at: key.expires_at.map(|at| at.to_string()),
            revoked_at: key.revoked_at.map(|at| at.to_string()),
            name: key.name,
        }
    }
}

/// A new key, with its secret.
#[derive(Serialize, ToSchema)]
#[schema(title = "CreatedApiKey", as = CreatedApiKey)]
pub(crate) struct CreatedKeyJson {
    #[schema(value_type = schemas::ApiKeyId)]
    id: String,
    #[schema(value_type = schemas::KeySecret)]
    key: String,
    /// The name that the member who created the key gave it.
    #[schema(min_length = 1, max_length = 255, examples("Kasir 1"))]
    name: String,
    #[schema(value_type = schemas::Environment)]
    environment: &'static str,
    #[schema(value_type = schemas::ProjectId)]
    project_id: String,
    #[schema(value_type = schemas::KeyPrefix)]
    key_prefix: &'static str,
    #[schema(value_type = schemas::LastFour)]
    last_four: String,
    #[schema(value_type = schemas::DateTime)]
    created_at: String,
    /// What the key may do besides reading.
    #[schema(value_type = Vec<schemas::KeyRight>)]
    rights: Vec<&'static str>,
    /// The networks from which the key may be used; none: from everywhere.
    #[schema(value_type = Vec<schemas::KeyNetwork>)]
    networks: Vec<String>,
}

impl CreatedKeyJson {
    pub(crate) fn of(key: ApiKey, secret: &KeySecret) -> CreatedKeyJson {
        CreatedKeyJson {
            id: key.id.to_string(),
            key: secret.reveal().to_owned(),
            environment: key.environment.word(),
            project_id: key.project_id.to_string(),
            key_prefix: key_prefix(key.environment),
            last_four: key.last_four,
            created_at: key.created_at.to_string(),
            rights: key.rights.words(),
            networks: key.networks.words(),
            name: key.name,
        }
    }
}

/// Revoke an API key of the project. A key may always revoke itself; to revoke another it needs the right `payments`.
#[utoipa::path(
    delete, path = "/v1/api-keys/{id}", tag = "API keys", operation_id = "revokeApiKey",
    params(KeyParameters),
    responses((status = 200, description = "The revoked key", body = RevokedKeyJson), RevokeErrors)
)]
pub(crate) async fn revoke(
    State(app): State<App>,
    caller: KeyRevoker,
    id: Result<PathId<KeyId>, ApiError>,
) -> Result<Json<RevokedKeyJson>, ApiError> {
    // Whether the key may do this at all is checked before 404, and depends on whether it names itself.
    caller.check(id.as_ref().ok().map(|PathId(id)| *id))?;
    let PathId(id) = id?;
    let engine = app.engine.by(Actor::Key(caller.key_id));
    let key = engine.revoke_key(id, Some(caller.project.id)).await?;
    Ok(Json(key.into()))
}

/// List API keys, newest first, without their secrets; for signed-in members.
#[utoipa::path(
    get, path = "/v1/api-keys", tag = "API keys", operation_id = "listApiKeys",
    security(("api_key" = []), ("session" = [])),
    params(ListParameters),
    responses((status = 200, description = "One page", body = Listing<KeyJson>), ListErrors)
)]
pub(crate) async fn list(Member(desk): Member, RawQuery(query): RawQuery) -> Result<Json<Listing<KeyJson>>, ApiError> {
    let page = Query::parse(query.as_deref()).page()?;
    let keys = desk.keys().await?;
    let total = i64::try_from(keys.len()).unwrap_or(i64::MAX);
    let [before, most] = [page.offset(), page.size].map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    let items = keys.into_iter().skip(before).take(most).collect();
    Ok(Listing::of(Listed { items, total }, page, KeyJson::from))
}

// Only for the OpenAPI document. The body itself is read member by member, so that each mistake gets its own message.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({ "name": "Kasir 1", "rights": ["payments"], "networks": ["203.0.113.0/24"] })))]
pub(crate) struct CreateApiKey {
    /// A name for the key, which no other valid key of the project has.
    #[schema(
        min_length = 1,
        max_length = 255,
        pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$",
        examples("Kasir 1")
    )]
    name: String,
    /// What the key may do besides reading: `payments` if omitted, and nothing if empty. Only owners may give `held-money`.
    #[schema(value_type = Option<Vec<schemas::KeyRight>>)]
    rights: Option<Vec<String>>,
    /// The networks from which the key may be used: from everywhere if omitted or empty. An address alone is a network of one.
    #[schema(value_type = Option<Vec<schemas::GivenNetwork>>, max_items = 20)]
    networks: Option<Vec<String>>,
}

/// Create an API key; for signed-in owners and developers. The secret is in this answer only.
#[utoipa::path(
    post, path = "/v1/api-keys", tag = "API keys", operation_id = "createApiKey",
    security(("api_key" = []), ("session" = [])),
    params(CreateParameters),
    request_body = CreateApiKey,
    responses((status = 201, description = "Created", body = CreatedKeyJson), CreateErrors)
)]
pub(crate) async fn create(
    KeyManager(desk): KeyManager,
    JsonBytes(bytes): JsonBytes,
) -> Result<Answer<CreatedKeyJson>, ErrorAnswer> {
    let (asked, ignored) = decode(&bytes)?;
    let refused = |error| ErrorAnswer::ignoring(error, ignored.as_ref());
    let new = asked.check(&desk).map_err(refused)?;
    let made = desk.create_key(new, None).await.map_err(|error| refused(error.into()))?;
    Ok(Answer::created(Created::New(made), |(key, secret)| CreatedKeyJson::of(key, &secret)).ignoring(ignored))
}

/// A key as a body describes it.
struct AskedKey {
    name: Option<String>,
    rights: Option<Vec<String>>,
    networks: Option<Vec<String>>,
}

impl AskedKey {
    /// Checks first whether the member may create such a key at all.
    fn check(self, desk: &Desk) -> Result<NewKey, ApiError> {
        let rights = self.rights.map_or(Ok(KeyRights::USUAL), |words| KeyRights::parse(&words))?;
        desk.check_giving(rights)?;
        let name = self.name.ok_or_else(|| Invalid::new("name", "is required"))?;
        let networks = KeyNetworks::parse(&self.networks.unwrap_or_default()).map_err(WrongNetworks::invalid)?;
        Ok(NewKey { name, rights, networks })
    }
}

fn decode(bytes: &[u8]) -> Result<(AskedKey, Option<HeaderValue>), ApiError> {
    let body = Body::parse(bytes)?;
    let members = body.members();
    let asked = AskedKey {
        name: members.text("name")?,
        rights: members.text_list("rights")?,
        networks: members.text_list("networks")?,
    };
    Ok((asked, ignored_header(&body.ignored())))
}
