//! Events: what merchants learn through webhooks and the API, one per change that owes one.
//!
//! An event stores only those facts about its subject that may change later; the rest is read from the subject itself.

pub use crate::event_kind::EventKind;
use crate::{
    id::{EventId, KeyId, PaymentId, ProjectId, ReceiptId, RefundId},
    money::Rupiah,
    payment_state::State,
    project::SuccessWord,
    receipt::Unapplied,
    refund_news::RefundNews,
    time::Timestamp,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub id: EventId,
    pub project_id: ProjectId,
    pub created_at: Timestamp,
    pub news: News,
}

/// What happened, and to which payment, refund or key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    PaymentExpired {
        payment: PaymentId,
    },
    PaymentCancelled {
        payment: PaymentId,
    },
    /// With the payment's state and expiry at that moment, since the money may yet pay it.
    PaymentHeld {
        payment: PaymentId,
        state: State,
        expires_at: Timestamp,
        word: SuccessWord,
        money: HeldMoney,
    },
    /// Something happened to a refund.
    Refund {
        refund: RefundId,
        news: RefundNews,
    },
}

/// Money that could not pay its payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldMoney {
    pub receipt: ReceiptId,
    pub amount: Rupiah,
    pub reason: Unapplied,
    /// When the customer paid, as the provider says.
    pub paid_at: Timestamp,
}

impl Event {
    /// The id of the payment, refund or key that the event is about.
    pub fn subject(&self) -> String {
        match self.news {
            News::PaymentPaid { payment, .. }
            | News::PaymentFailed { payment }
            | News::PaymentExpired { payment }
            | News::PaymentCancelled { payment }
            | News::PaymentHeld { payment, .. } => payment.to_string(),
            News::ApiKeyDeleted { key } => key.to_string(),
            News::Refund { refund, .. } => refund.to_string(),
        }
    }

    pub const fn kind(&self) -> EventKind {
        match self.news {
            News::PaymentPaid { .. } => EventKind::PaymentPaid,
            News::PaymentFailed { .. } => EventKind::PaymentFailed,
            News::ApiKeyDeleted { .. } => EventKind::ApiKeyDeleted,
            News::PaymentExpired { .. } => EventKind::PaymentExpired,
            News::PaymentCancelled { .. } => EventKind::PaymentCancelled,
            News::PaymentHeld { .. } => EventKind::PaymentHeld,
            News::Refund { news, .. } => EventKind::of_refund(news),
        }
    }
}

impl News {
    /// The payment that it is about; none if it is about a refund or a key.
    pub const fn payment(&self) -> Option<PaymentId> {
        match *self {
            News::PaymentPaid { payment, .. }
            | News::PaymentFailed { payment }
            | News::PaymentExpired { payment }
            | News::PaymentCancelled { payment }
            | News::PaymentHeld { payment, .. } => Some(payment),
            News::Refund { .. } | News::ApiKeyDeleted { .. } => None,
        }
    }
}
