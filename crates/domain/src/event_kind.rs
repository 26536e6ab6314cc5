//! The kinds of events, and which of them a project gets only if it asks for them.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    PaymentPaid,
    PaymentFailed,
    ApiKeyDeleted,
    PaymentExpired,
    PaymentCancelled,
    /// Money came that could not pay its payment.
    PaymentHeld,
}

impl EventKind {
    pub const ALL: [EventKind; 6] = [
        EventKind::PaymentPaid,
        EventKind::PaymentFailed,
        EventKind::ApiKeyDeleted,
        EventKind::PaymentExpired,
        EventKind::PaymentCancelled,
        EventKind::PaymentHeld,
    ];

    /// The kinds that a project gets only if its settings name them.
    pub const EXTRA: [EventKind; 3] = [EventKind::PaymentExpired, EventKind::PaymentCancelled, EventKind::PaymentHeld];

    pub const fn word(self) -> &'static str {
        match self {
            EventKind::PaymentPaid => "payment.paid",
            EventKind::PaymentFailed => "payment.failed",
            EventKind::ApiKeyDeleted => "apikey.deleted",
            EventKind::PaymentExpired => "payment.expired",
            EventKind::PaymentCancelled => "payment.cancelled",
            EventKind::PaymentHeld => "payment.held",
        }
    }

    pub fn is_extra(self) -> bool {
        EventKind::EXTRA.contains(&self)
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
        assert_eq!(EventKind::ALL.map(EventKind::is_extra), [false, false, false, true, true, true]);
    }
}
