//! `/v1/events`: the project's events, for programs that missed webhooks and for signed-in members. It only reads.

use axum::{
    Json,
    extract::{RawQuery, State},
};
use domain::{event::EventKind, id::EventId, rules::Invalid};
use engine::EventFilter;
use web::{App, query::Query};
use wire::{event::EventJson, schemas};

use crate::{
    answer::Listing,
    auth::Reader,
    error::ApiError,
    error_code::{KEYED_OR_SIGNED_IN, RESOURCE_NOT_FOUND, ROLE_FORBIDS, USABLE, error_codes},
    openapi::{created_from, created_to, page, page_size, parameters, path, project, query},
    path_id::PathId,
};

parameters!(
    ListParameters: project(), page(), page_size(),
    query::<schemas::EventType>("type", "Only events of this type."),
    query::<schemas::EventId>("after", "Only events after this event, oldest first."),
    created_from(), created_to(),
);
error_codes!(ListErrors: KEYED_OR_SIGNED_IN, USABLE, &[ROLE_FORBIDS]);
parameters!(EventParameters: path::<schemas::EventId>("eventID"), project());
error_codes!(EventErrors: KEYED_OR_SIGNED_IN, USABLE, &[ROLE_FORBIDS, RESOURCE_NOT_FOUND]);

/// List events, newest first; with `after`, those that came after that event, oldest first.
#[utoipa::path(
    get, path = "/v1/events", tag = "Events", operation_id = "listEvents",
    security(("api_key" = []), ("session" = [])),
    params(ListParameters),
    responses((status = 200, description = "One page", body = Listing<EventJson>), ListErrors)
)]
pub(crate) async fn list(
    State(app): State<App>,
    reader: Reader,
    RawQuery(query): RawQuery,
) -> Result<Json<Listing<EventJson>>, ApiError> {
    let query = Query::parse(query.as_deref());
    let page = query.page()?;
    let kind = query.choice("type", &EventKind::ALL.map(|kind| (kind.word(), kind)))?;
    let after: Option<EventId> = query
        .text("after")?
        .map(str::parse)
        .transpose()
        .map_err(|_| Invalid::new("after", "must be the id of an event"))?;
    let filter = EventFilter { kind, after, created: query.created()? };
    let listed = app.engine.events(reader.project_id, filter, page.into()).await?;
    Ok(Listing::of(listed, page, |event| EventJson::of(&app.settings.pages_url, event)))
}

/// Get an event.
#[utoipa::path(
    get, path = "/v1/events/{eventID}", tag = "Events", operation_id = "getEvent",
    security(("api_key" = []), ("session" = [])),
    params(EventParameters),
    responses((status = 200, description = "The event", body = EventJson), EventErrors)
)]
pub(crate) async fn get(
    State(app): State<App>,
    reader: Reader,
    PathId(id): PathId<EventId>,
) -> Result<Json<EventJson>, ApiError> {
    let event = app.engine.event_of(reader.project_id, id).await?;
    Ok(Json(EventJson::of(&app.settings.pages_url, event)))
}
