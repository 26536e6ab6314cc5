//! `/v1/api-keys`: keys revoke keys; making and listing them is for members who are signed in.

use axum::{
    Json,
    extract::{RawQuery, State},
    http::HeaderValue,
};
use domain::{audit::Actor, id::KeyId, rules::Invalid};
use engine::{Created, Listed};

use super::{
    answer::{Answer, Listing, Refused},
    body::JsonBytes,
    path::PathId,
};
use crate::{
    app::App,
    auth::{AnyCaller, KeyMaker, Member},
    document::{page, page_size, parameters, path, project, words},
    error::ApiError,
    refusal::{CONFLICT, JSON_BODY, KEYED, KEYED_OR_SIGNED_IN, MEMBERS_ONLY, RESOURCE_NOT_FOUND, refusals},
    wire::{
        api_key::{CreatedKeyJson, KeyJson, RevokedKeyJson},
        query::Query,
        shape::{Body, ignored_header},
    },
};

parameters!(KeyParameters: path::<words::ApiKeyId>("id"));
refusals!(RevokeRefusals: KEYED, &[RESOURCE_NOT_FOUND]);
parameters!(ListParameters: project(), page(), page_size());
refusals!(ListRefusals: KEYED_OR_SIGNED_IN, &[MEMBERS_ONLY]);
parameters!(CreateParameters: project());
refusals!(CreateRefusals: KEYED_OR_SIGNED_IN, &[MEMBERS_ONLY], JSON_BODY, &[CONFLICT]);

/// Revoke an API key of the project, the caller's own included.
#[utoipa::path(
    delete, path = "/v1/api-keys/{id}", tag = "API keys", operation_id = "revokeApiKey",
    params(KeyParameters),
    responses((status = 200, description = "The revoked key", body = RevokedKeyJson), RevokeRefusals)
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

/// List API keys, newest first, without their secrets; for members who are signed in.
#[utoipa::path(
    get, path = "/v1/api-keys", tag = "API keys", operation_id = "listApiKeys",
    security(("api_key" = []), ("session" = [])),
    params(ListParameters),
    responses((status = 200, description = "One page", body = Listing<KeyJson>), ListRefusals)
)]
pub(crate) async fn list(Member(desk): Member, RawQuery(query): RawQuery) -> Result<Json<Listing<KeyJson>>, ApiError> {
    let page = Query::parse(query.as_deref())?.page()?;
    let keys = desk.keys().await?;
    let total = i64::try_from(keys.len()).unwrap_or(i64::MAX);
    let [before, most] = [page.offset(), page.size].map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    let items = keys.into_iter().skip(before).take(most).collect();
    Ok(Listing::of(Listed { items, total }, page, KeyJson::from))
}

/// Create an API key, whose secret is in this answer only; for owners and developers who are signed in.
#[utoipa::path(
    post, path = "/v1/api-keys", tag = "API keys", operation_id = "createApiKey",
    security(("api_key" = []), ("session" = [])),
    params(CreateParameters),
    request_body = crate::wire::requests::CreateApiKey,
    responses((status = 201, description = "Created", body = CreatedKeyJson), CreateRefusals)
)]
pub(crate) async fn create(
    KeyMaker(desk): KeyMaker,
    JsonBytes(bytes): JsonBytes,
) -> Result<Answer<CreatedKeyJson>, Refused> {
    let (name, ignored) = decode(&bytes)?;
    let refused = |error| Refused::ignoring(error, ignored.as_ref());
    let name = name.ok_or_else(|| refused(Invalid::new("name", "is required").into()))?;
    let made = desk.create_key(name).await.map_err(refused)?;
    Ok(Answer::created(Created::New(made), |(key, secret)| CreatedKeyJson::of(key, &secret)).ignoring(ignored))
}

fn decode(bytes: &[u8]) -> Result<(Option<String>, Option<HeaderValue>), ApiError> {
    let body = Body::parse(bytes)?;
    let name = body.members().text("name")?;
    Ok((name, ignored_header(&body.ignored())))
}
