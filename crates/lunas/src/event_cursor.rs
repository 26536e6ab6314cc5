//! A cursor over a project's events that yields each event once.
//!
//! Ids sort by time of creation, not of commit, so an event may appear before one that was read already. Therefore each poll begins a
//! minute before the newest event, and the ids that were seen within that minute are remembered.

use std::{collections::BTreeSet, time::Duration};

use domain::{
    id::{ENTROPY_BYTES, EventId, mint},
    time::Timestamp,
};

/// How long before the newest event another one may still appear.
const OVERLAP: Duration = Duration::from_secs(60);

/// The events that have been seen so far.
#[derive(Default)]
pub(crate) struct EventCursor {
    /// Events before this one are skipped.
    earliest: Option<EventId>,
    newest: Option<Timestamp>,
    seen: BTreeSet<EventId>,
}

impl EventCursor {
    /// A cursor that begins with this event.
    pub(crate) fn since(id: EventId, created_at: Timestamp) -> EventCursor {
        EventCursor { earliest: Some(id), newest: Some(created_at), seen: BTreeSet::new() }
    }

    /// The id after which the next poll begins. It sorts before every event of its millisecond.
    pub(crate) fn after(&self) -> EventId {
        let from = self.newest.map_or(Timestamp::from_millis(0), |newest| newest.minus(OVERLAP));
        mint(from, [0; ENTROPY_BYTES])
    }

    /// Marks an event as seen; returns whether it is new.
    pub(crate) fn note(&mut self, id: EventId, created_at: Timestamp) -> bool {
        let new = self.earliest.is_none_or(|earliest| id >= earliest) && self.seen.insert(id);
        self.newest = self.newest.max(Some(created_at));
        // The next poll does not read earlier events again, so their ids can be dropped.
        self.seen = self.seen.split_off(&self.after());
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_794_648_600_000;

    fn event(seconds: i64, random: u8) -> (EventId, Timestamp) {
        let at = Timestamp::from_millis(NOON + seconds * 1_000);
        (mint(at, [random; ENTROPY_BYTES]), at)
    }

    fn note(cursor: &mut EventCursor, (id, at): (EventId, Timestamp)) -> bool {
        cursor.note(id, at)
    }

    #[test]
    fn an_event_is_new_once_in_any_order() {
        let mut cursor = EventCursor::default();
        for event in [event(0, 9), event(0, 3), event(-59, 1), event(30, 1), event(-20, 7)] {
            assert!(note(&mut cursor, event));
            assert!(!note(&mut cursor, event));
        }
    }

    #[test]
    fn a_poll_begins_a_minute_before_the_newest_event_and_before_all_of_its_millisecond() {
        let mut cursor = EventCursor::default();
        assert!(cursor.after() < event(-1_000_000, 0).0, "with nothing seen, everything is read");
        note(&mut cursor, event(0, 5));
        note(&mut cursor, event(-30, 5));
        let (on_the_edge, beyond) = (event(-60, 1).0, event(-61, 255).0);
        assert!(cursor.after() < on_the_edge && cursor.after() > beyond);
    }

    #[test]
    fn events_that_are_never_read_again_are_dropped() {
        let mut cursor = EventCursor::default();
        for second in 0..1_000 {
            note(&mut cursor, event(second, 1));
        }
        assert_eq!(cursor.seen.len(), 61);
    }

    #[test]
    fn since_an_event_includes_it_and_excludes_those_before() {
        let (id, at) = event(0, 5);
        let mut cursor = EventCursor::since(id, at);
        assert!(cursor.after() < id);
        assert!(!note(&mut cursor, event(0, 4)));
        assert!(!note(&mut cursor, event(-10, 9)));
        assert!(note(&mut cursor, event(0, 5)));
        assert!(note(&mut cursor, event(0, 6)));
        assert!(!note(&mut cursor, event(0, 5)));
    }
}
