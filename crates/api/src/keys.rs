//! `/v1/api-keys`: creating, listing and revoking API keys. A key may only revoke; creating and listing need a signed-in member.
//! A secret is in the answer that created it and in no other.

use axum::{
    Json,
    extract::{RawQuery, State},
    http::HeaderValue,
};
use domain::{
    api_key::{ApiKey, KeySecret, key_prefix},
    audit::Actor,
    id::KeyId,
    rules::Invalid,
};
use engine::{Created, KeyShown, Listed};
use serde::Serialize;
use utoipa::ToSchema;
use web::{App, query::Query};
use wire::{api_key::RevokedKeyJson, schemas};

use crate::{
    answer::{Answer, ErrorAnswer, Listing},
    auth::{AnyCaller, KeyManager, Member},
    body::{
        JsonBytes,
        members::{Body, ignored_header},
    },
    error::ApiError,
    error_code::{CONFLICT, JSON_BODY, KEYED, KEYED_OR_SIGNED_IN, MEMBERS_ONLY, RESOURCE_NOT_FOUND, error_codes},
    openapi::{page, page_size, parameters, path, project},
    path_id::PathId,
};

parameters!(KeyParameters: path::<schemas::ApiKeyId>("id"));
error_codes!(RevokeErrors: KEYED, &[RESOURCE_NOT_FOUND]);
parameters!(ListParameters: project(), page(), page_size());
error_codes!(ListErrors: KEYED_OR_SIGNED_IN, &[MEMBERS_ONLY]);
parameters!(CreateParameters: project());
error_codes!(CreateErrors: KEYED_OR_SIGNED_IN, &[MEMBERS_ONLY], JSON_BODY, &[CONFLICT]);

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
    /// When the key was last used, to the minute; null if never.
    #[schema(value_type = Option<schemas::DateTime>, required)]
    last_used_at: Option<String>,
    /// When the key was revoked; null while it is valid.
    #[schema(value_type = Option<schemas::DateTime>, required)]
    revoked_at: Option<String>,
}

impl From<KeyShown> for KeyJson {
    fn from(KeyShown { key, last_used_at }: KeyShown) -> KeyJson {
        KeyJson {
            id: key.id.to_string(),
            environment: key.environment.word(),
            project_id: key.project_id.to_string(),
            key_prefix: key_prefix(key.environment),
            last_four: key.last_four,
            created_at: key.created_at.to_string(),
            last_used_at: last_used_at.map(|at| at.to_string()),
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
            name: key.name,
        }
    }
}

/// Revoke an API key of the project. A key may revoke itself.
#[utoipa::path(
    delete, path = "/v1/api-keys/{id}", tag = "API keys", operation_id = "revokeApiKey",
    params(KeyParameters),
    responses((status = 200, description = "The revoked key", body = RevokedKeyJson), RevokeErrors)
)]
pub(crate) async fn revoke(
    State(app): State<App>,
    caller: AnyCaller,
    PathId(id): PathId<KeyId>,
) -> Result<Json<RevokedKeyJson>, ApiError> {
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
#[schema(examples(json!({ "name": "Kasir 1" })))]
pub(crate) struct CreateApiKey {
    /// A name for the key, which no other valid key of the project has.
    #[schema(
        min_length = 1,
        max_length = 255,
        pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$",
        examples("Kasir 1")
    )]
    name: String,
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
    let (name, ignored) = decode(&bytes)?;
    let refused = |error| ErrorAnswer::ignoring(error, ignored.as_ref());
    let name = name.ok_or_else(|| refused(Invalid::new("name", "is required").into()))?;
    let made = desk.create_key(name, None).await.map_err(refused)?;
    Ok(Answer::created(Created::New(made), |(key, secret)| CreatedKeyJson::of(key, &secret)).ignoring(ignored))
}

fn decode(bytes: &[u8]) -> Result<(Option<String>, Option<HeaderValue>), ApiError> {
    let body = Body::parse(bytes)?;
    let name = body.members().text("name")?;
    Ok((name, ignored_header(&body.ignored())))
}
