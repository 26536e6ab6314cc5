//! A refund as it was when something happened to it, for events: what changes later is put back.

use super::{Refund, RefundState};
use crate::{
    event::{Event, News},
    money::Rupiah,
    refund_news::RefundNews,
};

impl Refund {
    /// The refund at the moment of an event about it. All that is not put back here never changes after that event.
    #[must_use]
    pub fn as_seen_by(self, event: &Event) -> Refund {
        let News::Refund { news, .. } = event.news else { return self };
        let then = Refund { updated_at: event.created_at, ..self };
        match news {
            RefundNews::RequiresAction => Refund {
                state: RefundState::RequiresAction,
                destination: None,
                destination_by: None,
                bank_reference: None,
                failure_reason: None,
                ..then
            },
            RefundNews::Failed => match then.found {
                Some(found) => Refund {
                    state: RefundState::Failed,
                    fee_returned: Rupiah::ZERO,
                    bank_reference: None,
                    failure_reason: Some(found.failure),
                    found: None,
                    ..then
                },
                None => then,
            },
            RefundNews::Succeeded => {
                let at = then.state.succeeded_at().unwrap_or(event.created_at);
                Refund { state: RefundState::Succeeded { at }, failure_reason: None, ..then }
            }
            RefundNews::Cancelled | RefundNews::Returned => then,
        }
    }
}
