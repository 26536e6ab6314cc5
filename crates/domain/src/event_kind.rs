//! The kinds of events, and which of them a project gets only if it asks for them.

use crate::refund_news::RefundNews;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    PaymentPaid,
    PaymentFailed,
    ApiKeyDeleted,
    PaymentExpired,
    PaymentCancelled,
    /// Money came that could not pay its payment.
    PaymentHeld,
    /// A refund needs the customer's bank account.
    RefundRequiresAction,
    RefundSucceeded,
    RefundFailed,
    RefundCancelled,
    /// A refund that had succeeded came back.
    RefundReturned,
}

impl EventKind {
    pub const ALL: [EventKind; 11] = [
        EventKind::PaymentPaid,
        EventKind::PaymentFailed,
        EventKind::ApiKeyDeleted,
        EventKind::PaymentExpired,
        EventKind::PaymentCancelled,
        EventKind::PaymentHeld,
        EventKind::RefundRequiresAction,
        EventKind::RefundSucceeded,
        EventKind::RefundFailed,
        EventKind::RefundCancelled,
        EventKind::RefundReturned,
    ];

    /// The kinds that a project gets only if its settings name them.
    pub const EXTRA: [EventKind; 8] = [
        EventKind::PaymentExpired,
        EventKind::PaymentCancelled,
        EventKind::PaymentHeld,
        EventKind::RefundRequiresAction,
        EventKind::RefundSucceeded,
        EventKind::RefundFailed,
        EventKind::RefundCancelled,
        EventKind::RefundReturned,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            EventKind::PaymentPaid => "payment.paid",
            EventKind::PaymentFailed => "payment.failed",
            EventKind::ApiKeyDeleted => "apikey.deleted",
            EventKind::PaymentExpired => "payment.expired",
            EventKind::PaymentCancelled => "payment.cancelled",
            EventKind::PaymentHeld => "payment.held",
            EventKind::RefundRequiresAction => "refund.requires_action",
            EventKind::RefundSucceeded => "refund.succeeded",
            EventKind::RefundFailed => "refund.failed",
            EventKind::RefundCancelled => "refund.cancelled",
            EventKind::RefundReturned => "refund.returned",
        }
    }

    pub fn is_extra(self) -> bool {
        EventKind::EXTRA.contains(&self)
    }

    /// What it tells of a refund; none where it is about something else.
    pub const fn refund_news(self) -> Option<RefundNews> {
        match self {
            EventKind::RefundRequiresAction => Some(RefundNews::RequiresAction),
            EventKind::RefundSucceeded => Some(RefundNews::Succeeded),
            EventKind::RefundFailed => Some(RefundNews::Failed),
            EventKind::RefundCancelled => Some(RefundNews::Cancelled),
            EventKind::RefundReturned => Some(RefundNews::Returned),
            _ => None,
        }
    }

    /// The event that tells this of a refund.
    pub const fn of_refund(news: RefundNews) -> EventKind {
        match news {
            RefundNews::RequiresAction => EventKind::RefundRequiresAction,
            RefundNews::Succeeded => EventKind::RefundSucceeded,
            RefundNews::Failed => EventKind::RefundFailed,
            RefundNews::Cancelled => EventKind::RefundCancelled,
            RefundNews::Returned => EventKind::RefundReturned,
        }
    }

    /// Whether it is about security: such an event is sent ahead of the project's other deliveries.
    pub const fn is_urgent(self) -> bool {
        matches!(self, EventKind::ApiKeyDeleted)
    }

    pub fn parse(word: &str) -> Option<EventKind> {
        EventKind::ALL.into_iter().find(|kind| kind.word() == word)
    }

    pub fn parse_extra(word: &str) -> Option<EventKind> {
        EventKind::EXTRA.into_iter().find(|kind| kind.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_by_their_words_and_only_extra_ones_can_be_asked_for() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::parse(kind.word()), Some(kind));
            assert_eq!(EventKind::parse_extra(kind.word()), Some(kind).filter(|kind| kind.is_extra()));
        }
        assert_eq!(EventKind::parse("payment"), None);
        let extra: Vec<EventKind> = EventKind::ALL.into_iter().filter(|kind| kind.is_extra()).collect();
        assert_eq!(extra, EventKind::EXTRA);
        assert_eq!(EventKind::ALL.iter().position(|kind| kind.is_extra()), Some(3));
    }

    #[test]
    fn what_happened_to_a_refund_has_an_event_of_its_own() {
        for news in RefundNews::ALL {
            let kind = EventKind::of_refund(*news);
            assert_eq!((kind.refund_news(), kind.word()), (Some(*news), format!("refund.{}", news.word()).as_str()));
        }
        assert_eq!(EventKind::PaymentHeld.refund_news(), None);
    }
}
