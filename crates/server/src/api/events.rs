//! `/v1/events`: what happened, for receivers that were down, and for members who are signed in.

use std::sync::Arc;

use axum::{
    Json,
    extract::{RawQuery, State},
};
use domain::{
    event::{EventKind, News},
    id::EventId,
    project::SuccessWord,
    rules::Invalid,
    steps::Language,
};
use engine::{Subject, Told};
use serde::Serialize;
use utoipa::ToSchema;

use super::{answer::Listing, path::PathId};
use crate::{
    app::App,
    auth::Reader,
    document::{page, page_size, parameters, path, project, query, words},
    error::ApiError,
    refusal::{KEYED_OR_SIGNED_IN, RESOURCE_NOT_FOUND, USABLE, refusals},
    wire::{
        api_key::RevokedKeyJson,
        payment::{PaymentJson, View},
        query::Query,
    },
};

parameters!(
    ListParameters: project(), page(), page_size(),
    query::<words::EventType>("type", "Only events of this type."),
    query::<words::EventId>("after", "Only events after this one, oldest first."),
);
refusals!(ListRefusals: KEYED_OR_SIGNED_IN, USABLE);
parameters!(EventParameters: path::<words::EventId>("eventID"), project());
refusals!(EventRefusals: KEYED_OR_SIGNED_IN, USABLE, &[RESOURCE_NOT_FOUND]);

/// One thing that happened.
#[derive(Serialize, ToSchema)]
#[schema(title = "Event", as = Event)]
pub(crate) struct EventJson {
    #[schema(value_type = words::EventId)]
    id: String,
    #[serde(rename = "type")]
    #[schema(value_type = words::EventType)]
    kind: &'static str,
    /// When it happened.
    #[schema(value_type = words::DateTime)]
    created_at: String,
    data: EventDataJson,
}

/// What the event tells of, as it was at that moment.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(title = "EventData", as = EventData)]
enum EventDataJson {
    Payment(Box<PaymentJson>),
    ApiKey(RevokedKeyJson),
}

impl EventJson {
    /// Texts of an event are Indonesian whoever reads it, so that every reader sees the same.
    fn of(checkout_url_base: &str, told: Told) -> EventJson {
        let event = told.event;
        let success_word = match event.news {
            News::PaymentPaid { word, .. } => word,
            News::PaymentFailed { .. } | News::ApiKeyDeleted { .. } => SuccessWord::default(),
        };
        let view = View { now: event.created_at, success_word, language: Language::Indonesian, checkout_url_base };
        EventJson {
            id: event.id.to_string(),
            kind: event.kind().word(),
            created_at: event.created_at.to_string(),
            data: match told.subject {
                Subject::Payment(payment) => EventDataJson::Payment(Box::new(PaymentJson::of(*payment, view))),
                Subject::ApiKey(key) => EventDataJson::ApiKey(key.into()),
            },
        }
    }
}

/// The bytes in which a webhook tells of an event: those that `GET /v1/events/{eventID}` answers.
#[expect(clippy::expect_used, reason = "an event is made of texts and numbers, which always have a JSON form")]
pub(crate) fn webhook_body(checkout_url_base: String) -> engine::Body {
    Arc::new(move |told| {
        serde_json::to_vec(&EventJson::of(&checkout_url_base, told)).expect("an event has a JSON form")
    })
}

/// List events, newest first; with `after`, those that came after that event, oldest first.
#[utoipa::path(
    get, path = "/v1/events", tag = "Events", operation_id = "listEvents",
    security(("api_key" = []), ("session" = [])),
    params(ListParameters),
    responses((status = 200, description = "One page", body = Listing<EventJson>), ListRefusals)
)]
pub(crate) async fn list(
    State(app): State<App>,
    reader: Reader,
    RawQuery(query): RawQuery,
) -> Result<Json<Listing<EventJson>>, ApiError> {
    let query = Query::parse(query.as_deref())?;
    let page = query.page()?;
    let kind = query.choice("type", &EventKind::ALL.map(|kind| (kind.word(), kind)))?;
    let after: Option<EventId> = query
        .text("after")?
        .map(str::parse)
        .transpose()
        .map_err(|_| Invalid::new("after", "must be the id of an event"))?;
    let listed = app.engine.events(reader.project_id, kind, after, page.into()).await?;
    Ok(Listing::of(listed, page, |told| EventJson::of(&app.shared.checkout_url_base, told)))
}

/// Get an event.
#[utoipa::path(
    get, path = "/v1/events/{eventID}", tag = "Events", operation_id = "getEvent",
    security(("api_key" = []), ("session" = [])),
    params(EventParameters),
    responses((status = 200, description = "The event", body = EventJson), EventRefusals)
)]
pub(crate) async fn get(
    State(app): State<App>,
    reader: Reader,
    PathId(id): PathId<EventId>,
) -> Result<Json<EventJson>, ApiError> {
    let told = app.engine.event_of(reader.project_id, id).await?;
    Ok(Json(EventJson::of(&app.shared.checkout_url_base, told)))
}
