//! The JSON of an event. Webhooks carry the same bytes as `GET /v1/events/{eventID}` answers, so it must not depend on who reads
//! it.

use domain::{
    api_key::ApiKey,
    event::{Event, News},
    language::Language,
    payment::Payment,
    project::SuccessWord,
    refund::Refund,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    api_key::RevokedKeyJson,
    payment::{PaymentJson, View},
    refund::RefundJson,
    schemas,
};

/// An event, and the state of its subject when the event happened.
#[derive(Clone, Debug)]
pub struct EventWithSubject {
    pub event: Event,
    pub subject: Subject,
}

#[derive(Clone, Debug)]
pub enum Subject {
    Payment(Box<Payment>),
    Refund(Box<Refund>),
    ApiKey(ApiKey),
}

/// One thing that happened.
#[derive(Serialize, ToSchema)]
#[schema(title = "Event", as = Event)]
pub struct EventJson {
    #[schema(value_type = schemas::EventId)]
    id: String,
    #[serde(rename = "type")]
    #[schema(value_type = schemas::EventType)]
    kind: &'static str,
    /// When it happened.
    #[schema(value_type = schemas::DateTime)]
    created_at: String,
    data: EventDataJson,
}

/// The event's subject, as it was when the event happened.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(title = "EventData", as = EventData)]
enum EventDataJson {
    Payment(Box<PaymentJson>),
    Refund(Box<RefundJson>),
    ApiKey(RevokedKeyJson),
}

impl EventJson {
    /// Texts in an event are always Indonesian, so that every reader gets the same bytes.
    pub fn of(pages_url: &str, EventWithSubject { event, subject }: EventWithSubject) -> EventJson {
        let success_word = match event.news {
            News::PaymentPaid { word, .. } | News::PaymentHeld { word, .. } => word,
            News::PaymentFailed { .. }
            | News::PaymentExpired { .. }
            | News::PaymentCancelled { .. }
            | News::Refund { .. }
            | News::ApiKeyDeleted { .. } => SuccessWord::default(),
        };
        let held = match event.news {
            News::PaymentHeld { money, .. } => Some(money),
            _ => None,
        };
        let view = View { now: event.created_at, success_word, language: Language::Indonesian, pages_url };
        EventJson {
            id: event.id.to_string(),
            kind: event.kind().word(),
            created_at: event.created_at.to_string(),
            data: match subject {
                Subject::Payment(payment) => {
                    EventDataJson::Payment(Box::new(PaymentJson::with_receipt(*payment, view, held)))
                }
                // Keys that may only read read events too, so none leads to the page of the customer.
                Subject::Refund(refund) => EventDataJson::Refund(Box::new(RefundJson::of(*refund, None))),
                Subject::ApiKey(key) => EventDataJson::ApiKey(key.into()),
            },
        }
    }
}

/// The bytes of an event, as webhooks sign and send them.
#[expect(clippy::expect_used, reason = "an event is made of texts and numbers, which always have a JSON form")]
pub fn body(pages_url: &str, event: EventWithSubject) -> Vec<u8> {
    serde_json::to_vec(&EventJson::of(pages_url, event)).expect("an event has a JSON form")
}
