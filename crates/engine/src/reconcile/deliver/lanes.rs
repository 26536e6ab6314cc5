//! The leases of this node: which of them wait, which are being sent, and how many each project may have.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::{Duration, Instant},
};

use domain::{
    delivery::Delivery,
    id::{EventId, ProjectId},
};

use super::{
    lease::{Lane, Lease},
    window::{AttemptNumber, Pace, Window},
};

/// Leased deliveries of a project for each that may be sent at once: while some are sent, the next ones are being
/// leased and the last ones saved, and both take the disk about as long as sending.
const LEASED_PER_SENT: usize = 3;
/// Attempts that begin together: one read serves all of them.
const BATCH_MOST: usize = 16;
/// Attempts begin, and more is leased, when this part of what is allowed is free: doing either for every single
/// delivery would take longer than sending it.
const PART: usize = 8;
/// How long it is remembered how many a receiver takes, once nothing is left to send to it. That some number was too many is
/// remembered until it may be tried again.
const REMEMBERED: Duration = Duration::from_secs(10);

pub(super) struct Lanes {
    in_flight_most: usize,
    lanes: HashMap<Lane, State>,
    leased: HashMap<EventId, Lease>,
    /// Attempts that are under way.
    sending: HashMap<EventId, AttemptNumber>,
    /// Lanes of which more may be sent now.
    changed: HashSet<Lane>,
    /// Whether a lane within its own limit was left out, as all leases together have a limit too.
    squeezed: bool,
    wants_more: bool,
}

struct State {
    window: Window,
    /// Leased, and not yet sent.
    waiting: VecDeque<Lease>,
    /// All leases, also those whose attempt is being saved.
    leased: usize,
    /// Whether more was due than could be leased, when due deliveries were last read.
    more_due: bool,
    idle_since: Instant,
}

impl State {
    fn new(in_flight_most: usize) -> State {
        let (window, waiting) = (Window::new(in_flight_most), VecDeque::new());
        State { window, waiting, leased: 0, more_due: false, idle_since: Instant::now() }
    }

    fn lease_limit(&self) -> usize {
        self.window.size() * LEASED_PER_SENT
    }
}

impl Lanes {
    pub(super) fn new(in_flight_most: usize) -> Lanes {
        let (lanes, leased, sending) = (HashMap::new(), HashMap::new(), HashMap::new());
        Lanes { in_flight_most, lanes, leased, sending, changed: HashSet::new(), squeezed: false, wants_more: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.leased.is_empty()
    }

    pub(super) fn leases(&self) -> Vec<Lease> {
        self.leased.values().copied().collect()
    }

    /// How many leases a lane may have.
    pub(super) fn lease_limit(&self, lane: Lane) -> usize {
        self.lanes.get(&lane).map_or_else(|| self.first_limit(), State::lease_limit)
    }

    /// How many leases a lane may have of which nothing is known.
    pub(super) fn first_limit(&self) -> usize {
        Window::new(self.in_flight_most).size() * LEASED_PER_SENT
    }

    /// Projects that may get more leases than others, and how many more at most.
    pub(super) fn with_more_room(&self) -> (HashSet<ProjectId>, usize) {
        let first = self.first_limit();
        let room = |state: &State| state.lease_limit().saturating_sub(state.leased);
        let more = self.lanes.iter().filter(|(_, state)| room(state) > first);
        let most = more.clone().map(|(_, state)| room(state)).max().unwrap_or_default();
        (more.map(|(lane, _)| lane.project_id).collect(), most)
    }

    /// Remembers which lanes have more due deliveries than were chosen, also because only a part of them was read, and
    /// forgets those that were idle for long.
    pub(super) fn note_due(&mut self, due: &[Delivery], chosen: &[Delivery], partly_read: HashSet<Lane>) {
        let now = Instant::now();
        self.lanes.retain(|_, state| {
            state.more_due = false;
            let is_recent = now.duration_since(state.idle_since) < REMEMBERED;
            state.leased > 0 || is_recent || state.window.remembers_trouble(now)
        });
        (self.squeezed, self.wants_more) = (false, false);
        let mut chosen_of: HashMap<Lane, usize> = HashMap::new();
        for delivery in chosen {
            *chosen_of.entry(Lane::of(delivery)).or_default() += 1;
        }
        let chosen: HashSet<EventId> = chosen.iter().map(|delivery| delivery.event_id).collect();
        for delivery in due {
            if chosen.contains(&delivery.event_id) || self.leased.contains_key(&delivery.event_id) {
                continue;
            }
            let lane = Lane::of(delivery);
            let state = self.lanes.entry(lane).or_insert_with(|| State::new(self.in_flight_most));
            state.more_due = true;
            let leased = state.leased + chosen_of.get(&lane).copied().unwrap_or_default();
            self.squeezed |= leased < state.lease_limit();
        }
        for lane in partly_read {
            self.lanes.entry(lane).or_insert_with(|| State::new(self.in_flight_most)).more_due = true;
        }
    }

    pub(super) fn add(&mut self, lease: Lease) {
        let lane = Lane::of(&lease.delivery);
        let state = self.lanes.entry(lane).or_insert_with(|| State::new(self.in_flight_most));
        state.leased += 1;
        state.waiting.push_back(lease);
        self.leased.insert(lease.delivery.event_id, lease);
        self.changed.insert(lane);
    }

    /// Takes what may be sent now, in batches of one lane each, urgent ones first.
    pub(super) fn batches(&mut self) -> Vec<Vec<Lease>> {
        let mut batches = Vec::new();
        for lane in self.changed.drain() {
            let Some(state) = self.lanes.get_mut(&lane) else { continue };
            loop {
                let free = state.window.free();
                let enough = (state.window.size() / PART).max(1).min(state.waiting.len());
                if state.waiting.is_empty() || free < enough {
                    break;
                }
                let batch: Vec<Lease> = state.waiting.drain(..free.min(state.waiting.len()).min(BATCH_MOST)).collect();
                for lease in &batch {
                    self.sending.insert(lease.delivery.event_id, state.window.begin());
                }
                batches.push(batch);
            }
        }
        batches.sort_by_key(|batch: &Vec<Lease>| batch.first().is_some_and(|lease| !lease.delivery.urgent));
        batches
    }

    /// A lease lasts longer now.
    pub(super) fn renewed(&mut self, lease: Lease) {
        if let Some(leased) = self.leased.get_mut(&lease.delivery.event_id) {
            *leased = lease;
        }
    }

    /// An attempt has ended, and is yet to be saved; without a pace if nothing was sent.
    pub(super) fn sent(&mut self, event_id: EventId, pace: Option<Pace>) {
        let (Some(attempt), Some(lease)) = (self.sending.remove(&event_id), self.leased.get(&event_id)) else { return };
        let lane = Lane::of(&lease.delivery);
        if let Some(state) = self.lanes.get_mut(&lane) {
            let wait = state.more_due || !state.waiting.is_empty();
            state.window.end(attempt, pace, wait, Instant::now());
            self.changed.insert(lane);
        }
    }

    /// This node has nothing more to do with a lease.
    pub(super) fn ended(&mut self, event_id: EventId) {
        let Some(lease) = self.leased.remove(&event_id) else { return };
        if let Some(state) = self.lanes.get_mut(&Lane::of(&lease.delivery)) {
            state.leased = state.leased.saturating_sub(1);
            state.idle_since = Instant::now();
            let (limit, enough) = (state.lease_limit(), (state.lease_limit() / PART).max(1));
            self.wants_more |= self.squeezed || state.more_due && state.leased + enough <= limit;
        }
    }

    /// Whether there is room for more of the deliveries that were due when they were last read.
    pub(super) const fn wants_more(&self) -> bool {
        self.wants_more
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::samples::{NOW, due},
        *,
    };

    fn lease(delivery: Delivery) -> Lease {
        Lease { delivery, until: NOW, leased_at: Instant::now() }
    }

    fn sizes(batches: &[Vec<Lease>]) -> Vec<usize> {
        batches.iter().map(Vec::len).collect()
    }

    const QUICK: Option<Pace> = Some(Pace::Quick(Duration::from_millis(5)));

    /// Ends an attempt and saves it.
    fn end(lanes: &mut Lanes, lease: &Lease) {
        lanes.sent(lease.delivery.event_id, QUICK);
        lanes.ended(lease.delivery.event_id);
    }

    #[test]
    fn a_lane_sends_four_at_once_until_its_receiver_is_quick() {
        let mut lanes = Lanes::new(64);
        let all: Vec<Delivery> = (0..200).map(|number| due(1, number, false)).collect();
        assert_eq!((lanes.first_limit(), lanes.lease_limit(Lane::of(&all[0]))), (12, 12));
        lanes.note_due(&all[..12], &all[..12], HashSet::from([Lane::of(&all[0])]));
        all[..12].iter().for_each(|delivery| lanes.add(lease(*delivery)));
        let first = lanes.batches();
        assert_eq!(sizes(&first), [4]);
        assert!(lanes.batches().is_empty(), "the others wait");
        assert!(!lanes.wants_more());
        end(&mut lanes, &first[0][0]);
        let second = lanes.batches();
        assert_eq!(sizes(&second), [1], "for the one that has ended");
        first[0][1..].iter().for_each(|lease| end(&mut lanes, lease));
        assert_eq!(sizes(&lanes.batches()), [4], "for the three that have ended, and one more");
        assert_eq!(lanes.lease_limit(Lane::of(&all[0])), 15);
        assert!(lanes.wants_more(), "as more was due than could be leased");
    }

    #[test]
    fn a_wide_window_is_filled_in_batches_and_not_one_by_one() {
        let mut lanes = Lanes::new(64);
        let all: Vec<Delivery> = (0..1_000).map(|number| due(1, number, false)).collect();
        all[..140].iter().for_each(|delivery| lanes.add(lease(*delivery)));
        let mut sent: Vec<Lease> = Vec::new();
        for delivery in &all[140..] {
            lanes.add(lease(*delivery));
            sent.extend(lanes.batches().into_iter().flatten());
            let next = sent.remove(0);
            lanes.sent(next.delivery.event_id, QUICK);
        }
        sent.extend(lanes.batches().into_iter().flatten());
        let under_way = sent.len();
        assert!((57..=64).contains(&under_way), "{under_way}");
        let mut began = Vec::new();
        for lease in &sent[..16] {
            lanes.sent(lease.delivery.event_id, QUICK);
            began.extend(sizes(&lanes.batches()));
        }
        assert_eq!(began.iter().filter(|size| **size < 8).count(), 0, "{began:?}");
        assert!(!began.is_empty());
    }

    #[test]
    fn urgent_batches_come_first_and_lanes_do_not_wait_for_each_other() {
        let mut lanes = Lanes::new(64);
        for number in 0..6 {
            lanes.add(lease(due(1, number, false)));
            lanes.add(lease(due(2, number, true)));
        }
        let batches = lanes.batches();
        assert_eq!(batches.iter().map(|batch| batch[0].delivery.urgent).collect::<Vec<_>>(), [true, false]);
        assert_eq!(sizes(&batches), [4, 4]);
    }

    #[test]
    fn whatever_ends_makes_room_for_a_project_that_all_leases_together_left_out() {
        let mut lanes = Lanes::new(64);
        let (sent, left_out) = (due(1, 1, false), due(2, 1, false));
        lanes.add(lease(sent));
        lanes.note_due(&[left_out], &[], HashSet::new());
        assert!(!lanes.wants_more());
        lanes.ended(sent.event_id);
        assert!(lanes.wants_more() && lanes.is_empty());
        lanes.note_due(&[left_out], &[left_out], HashSet::new());
        assert!(!lanes.wants_more());
    }
}
