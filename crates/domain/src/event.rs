//! Events: what merchants learn through webhooks and the API, one per change that owes one.
//!
//! An event stores only those facts about its subject that may change later; the rest is read from the subject itself.

use crate::{
    id::{EventId, KeyId, PaymentId, ProjectId},
    project::SuccessWord,
    time::Timestamp,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    PaymentPaid,
    PaymentFailed,
    ApiKeyDeleted,
}

impl EventKind {
    pub const ALL: [EventKind; 3] = [EventKind::PaymentPaid, EventKind::PaymentFailed, EventKind::ApiKeyDeleted];

    pub const fn word(self) -> &'static str {
        match self {
            EventKind::PaymentPaid => "payment.paid",
            EventKind::PaymentFailed => "payment.failed",
            EventKind::ApiKeyDeleted => "apikey.deleted",
        }
    }

    /// Whether it is about security: such an event is sent ahead of the project's other deliveries.
    pub const fn is_urgent(self) -> bool {
        match self {
            EventKind::ApiKeyDeleted => true,
            EventKind::PaymentPaid | EventKind::PaymentFailed => false,
        }
    }

    pub fn parse(word: &str) -> Option<EventKind> {
        EventKind::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub id: EventId,
    pub project_id: ProjectId,
    pub created_at: Timestamp,
    pub news: News,
}

/// What happened, and to which payment or key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// With the word that the project's API used for success at that moment.
    PaymentPaid {
        payment: PaymentId,
        paid_at: Timestamp,
        word: SuccessWord,
    },
    PaymentFailed {
        payment: PaymentId,
    },
    ApiKeyDeleted {
        key: KeyId,
    },
}

impl Event {
    /// The id of the payment or key that the event is about.
    pub fn subject(&self) -> String {
        match self.news {
            News::PaymentPaid { payment, .. } | News::PaymentFailed { payment } => payment.to_string(),
            News::ApiKeyDeleted { key } => key.to_string(),
        }
    }

    pub const fn kind(&self) -> EventKind {
        match self.news {
            News::PaymentPaid { .. } => EventKind::PaymentPaid,
            News::PaymentFailed { .. } => EventKind::PaymentFailed,
            News::ApiKeyDeleted { .. } => EventKind::ApiKeyDeleted,
        }
    }
}
