//! The beats by which this node tells others that it is alive.

use std::time::{Duration, Instant};

/// How long after a beat no other node can have found this one gone, which takes them six beats. The rest of that
/// time is for an attempt to begin.
pub(crate) const SURE_FOR: Duration = Duration::from_secs(3);

/// The beats of this node, as far as they followed each other so quickly that no other node can have found it gone in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beats {
    /// When the first of them had been committed. What was leased before may have been given back since.
    since: Instant,
    /// When the last of them began. The others may have seen it from then on.
    last_began_at: Instant,
}

impl Beats {
    /// The beats with one more, which was committed from `began_at` to `ended_at`. The others see it at its end at the latest, and
    /// have seen the one before since its beginning at the earliest.
    pub(crate) fn with(before: Option<Beats>, began_at: Instant, ended_at: Instant) -> Beats {
        let unbroken = before.filter(|before| ended_at.duration_since(before.last_began_at) < SURE_FOR);
        Beats { since: unbroken.map_or(ended_at, |before| before.since), last_began_at: began_at }
    }

    /// Whether no other node can have taken over at `now` what this one leased at `leased_at`.
    pub(crate) fn cover(self, leased_at: Instant, now: Instant) -> bool {
        self.since <= leased_at && now.duration_since(self.last_began_at) < SURE_FOR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_sure_of_its_leases_for_three_seconds_after_a_beat_that_succeeded() {
        let began_at = Instant::now();
        let beats = Beats::with(None, began_at, began_at);
        let after = |millis| beats.cover(began_at, began_at + Duration::from_millis(millis));
        assert!(after(0) && after(2_999) && !after(3_000) && !after(60_000));
    }

    #[test]
    fn after_a_gap_between_its_beats_a_node_is_sure_only_of_what_it_has_leased_since() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let first = Beats::with(None, at(0), at(10));
        assert!(!first.cover(at(9), at(10)) && first.cover(at(10), at(10)), "it was not known to the others before");
        let second = Beats::with(Some(first), at(1_010), at(2_999));
        assert!(second.cover(at(10), at(4_009)) && !second.cover(at(10), at(4_010)));
        for (name, broken) in [
            ("the beat failed in between", Beats::with(None, at(1_010), at(2_999))),
            ("the beat took long", Beats::with(Some(first), at(1_010), at(3_000))),
            ("the beat came late", Beats::with(Some(first), at(2_995), at(3_000))),
        ] {
            let ended_at = broken.since;
            assert!(!broken.cover(at(10), ended_at) && broken.cover(ended_at, ended_at), "{name}");
        }
    }
}
