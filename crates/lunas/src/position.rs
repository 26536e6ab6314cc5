//! Where a follower of a project's events stands, so that it sees each of them once.
//!
//! Ids are in order of creation, not of commit: an event may appear below one that was read before. So each reading begins a
//! minute back, and what was seen is remembered for as long.

use std::{collections::BTreeSet, time::Duration};

use domain::{
    id::{ENTROPY_BYTES, EventId, mint},
    time::Timestamp,
};

/// How far below the newest event another may still appear.
const OVERLAP: Duration = Duration::from_secs(60);

/// What has been seen so far.
#[derive(Default)]
pub(crate) struct Position {
    /// Nothing that sorts before this one is wanted.
    earliest: Option<EventId>,
    newest: Option<Timestamp>,
    seen: BTreeSet<EventId>,
}

impl Position {
    /// To read from this event on, itself included.
    pub(crate) fn since(id: EventId, created_at: Timestamp) -> Position {
        Position { earliest: Some(id), newest: Some(created_at), seen: BTreeSet::new() }
    }

    /// The id after which the next reading begins. It sorts before every event of its millisecond.
    pub(crate) fn after(&self) -> EventId {
        let from = self.newest.map_or(Timestamp::from_millis(0), |newest| newest.minus(OVERLAP));
        mint(from, [0; ENTROPY_BYTES])
    }

    /// Takes note of an event; answers whether it is a new one.
    pub(crate) fn note(&mut self, id: EventId, created_at: Timestamp) -> bool {
        let new = self.earliest.is_none_or(|earliest| id >= earliest) && self.seen.insert(id);
        self.newest = self.newest.max(Some(created_at));
        // Whatever sorts before the next reading is never read again.
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

    fn note(position: &mut Position, (id, at): (EventId, Timestamp)) -> bool {
        position.note(id, at)
    }

    #[test]
    fn an_event_is_new_once_in_whatever_order_they_come() {
        let mut position = Position::default();
        for event in [event(0, 9), event(0, 3), event(-59, 1), event(30, 1), event(-20, 7)] {
            assert!(note(&mut position, event));
            assert!(!note(&mut position, event));
        }
    }

    #[test]
    fn reading_begins_a_minute_below_the_newest_event_and_before_all_of_its_millisecond() {
        let mut position = Position::default();
        assert!(position.after() < event(-1_000_000, 0).0, "with nothing seen, everything is read");
        note(&mut position, event(0, 5));
        note(&mut position, event(-30, 5));
        let (on_the_edge, beyond) = (event(-60, 1).0, event(-61, 255).0);
        assert!(position.after() < on_the_edge && position.after() > beyond);
    }

    #[test]
    fn what_is_never_read_again_is_forgotten() {
        let mut position = Position::default();
        for second in 0..1_000 {
            note(&mut position, event(second, 1));
        }
        assert_eq!(position.seen.len(), 61);
    }

    #[test]
    fn since_an_event_means_with_it_and_without_those_before() {
        let (id, at) = event(0, 5);
        let mut position = Position::since(id, at);
        assert!(position.after() < id);
        assert!(!note(&mut position, event(0, 4)));
        assert!(!note(&mut position, event(-10, 9)));
        assert!(note(&mut position, event(0, 5)));
        assert!(note(&mut position, event(0, 6)));
        assert!(!note(&mut position, event(0, 5)));
    }
}
