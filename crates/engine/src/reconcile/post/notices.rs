//! Sends notices to their URLs. It is a loop of its own, so that a URL that hangs holds up no letter to people; and a URL has only a
//! few notices under way, so that it holds up no other URL.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use domain::letter_queue::{BOUND_WITHIN, Channel, HELD_BACK_FOR, LetterState, QueuedLetter, TO_URL_MOST};
use futures_util::{StreamExt, stream::FuturesUnordered};
use store::{CommitError, Guard, LetterWrite};
use tokio::{
    select,
    sync::watch,
    time::{sleep, timeout},
};

use super::{GIVEN_BACK_EVERY, STOP_WITHIN, round::Leased};
use crate::{Courier, Engine, Error};

/// How long to rest before due notices are looked for again.
const REST: Duration = Duration::from_millis(500);
/// Notices that are under way at once, and those of them to one URL.
const UNDER_WAY_MOST: usize = 32;
const TO_ONE_URL_MOST: usize = 2;

/// How many notices are under way to each URL.
#[derive(Default)]
struct UnderWay(HashMap<String, usize>);

impl UnderWay {
    fn total(&self) -> usize {
        self.0.values().sum()
    }

    fn has_room_for(&self, recipient: &str) -> bool {
        self.total() < UNDER_WAY_MOST && self.0.get(recipient).copied().unwrap_or_default() < TO_ONE_URL_MOST
    }

    fn begin(&mut self, recipient: &str) {
        *self.0.entry(recipient.to_owned()).or_default() += 1;
    }

    fn end(&mut self, recipient: &str) {
        if let Some(count) = self.0.get_mut(recipient) {
            *count -= 1;
        }
        self.0.retain(|_, count| *count > 0);
    }
}

pub(in crate::reconcile) async fn run(engine: Engine, courier: Courier, mut stopped: watch::Receiver<bool>) {
    if engine.notices().is_none() {
        return;
    }
    select! {
        () = engine.join_nodes() => {}
        // The loop reads `stopped` next.
        _ = stopped.changed() => {}
    }
    let (mut sending, mut under_way) = (FuturesUnordered::new(), UnderWay::default());
    let (mut is_unsure, mut orphans_at) = (false, Instant::now());
    while !*stopped.borrow() {
        if orphans_at.elapsed() >= GIVEN_BACK_EVERY {
            orphans_at = Instant::now();
            engine.give_orphans_back().await;
        }
        // After a lease of which it is not known whether it was committed, what is under way ends first, and then all is given back.
        if is_unsure && sending.is_empty() {
            is_unsure = !engine.give_notices_back().await;
        }
        if !is_unsure {
            let (leased, all_sure) = engine.lease_notices(&under_way).await;
            is_unsure = !all_sure;
            for leased in leased {
                under_way.begin(&leased.letter.recipient);
                sending.push(engine.send_notice(&courier, leased));
            }
        }
        select! {
            // The loop reads `stopped` next.
            _ = stopped.changed() => {}
            Some(recipient) = sending.next() => under_way.end(&recipient),
            () = sleep(REST) => {}
        }
    }
    // Notices under way may end, and no other is begun.
    let _ = timeout(STOP_WITHIN, async { while sending.next().await.is_some() {} }).await;
    let _ = timeout(STOP_WITHIN, engine.give_notices_back()).await;
}

impl Engine {
    /// Leases notices that are due, as many as there is room for. False where one may have been leased that is not among them.
    async fn lease_notices(&self, under_way: &UnderWay) -> (Vec<Leased>, bool) {
        let due = match self.choose_notices(under_way).await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "looking for notices to send failed and will be retried");
                return (Vec::new(), true);
            }
        };
        let mut leased = Vec::new();
        for letter in due {
            let LetterState::Waiting { due_at } = letter.state else { continue };
            let at = Instant::now();
            let lease = LetterWrite::Leased { id: letter.id, due_at, node: self.node };
            match self.store.commit(lease.into()).await {
                Ok(()) => leased.push(Leased { letter, at }),
                // Another node was faster.
                Err(CommitError::Conflict(Guard::LetterDue)) => {}
                Err(error) => {
                    tracing::warn!(%error, "a notice could not be leased and will be later");
                    return (leased, false);
                }
            }
        }
        (leased, true)
    }

    /// Chooses notices for which there is room; those of a URL that has got enough for now are put off.
    async fn choose_notices(&self, under_way: &UnderWay) -> Result<Vec<QueuedLetter>, Error> {
        let now = self.now();
        let mut room = UnderWay(under_way.0.clone());
        let mut full: HashMap<String, bool> = HashMap::new();
        let mut chosen = Vec::new();
        for letter in self.store.due_notices(now, TO_ONE_URL_MOST).await? {
            let recipient = letter.recipient.clone();
            if !room.has_room_for(&recipient) {
                continue;
            }
            let is_full = match full.get(&recipient) {
                Some(is_full) => *is_full,
                None => {
                    let sent = self.store.letters_sent_to(&recipient, now.minus(BOUND_WITHIN), TO_URL_MOST).await?;
                    *full.entry(recipient.clone()).or_insert(sent >= TO_URL_MOST)
                }
            };
            if is_full {
                let until = now.plus(HELD_BACK_FOR);
                self.store.commit(LetterWrite::NoticesPutOff { recipient, until }.into()).await?;
                continue;
            }
            room.begin(&recipient);
            chosen.push(letter);
        }
        Ok(chosen)
    }

    /// False where that failed.
    async fn give_notices_back(&self) -> bool {
        let own = LetterWrite::AllReleased { node: self.node, channel: Channel::Notice };
        match self.store.commit(own.into()).await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "leases of notices were not given back and will be later");
                false
            }
        }
    }

    /// Gives back what nodes have leased that are not known. On SQLite none is, and this server is the only one.
    async fn give_orphans_back(&self) {
        if !self.store.is_shared() {
            return;
        }
        if let Err(error) = self.store.commit(LetterWrite::OrphansReleased.into()).await {
            tracing::warn!(%error, "leases of letters that nobody sends were not given back and will be later");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_gets_a_few_notices_at_once_and_leaves_room_for_others() {
        let mut under_way = UnderWay::default();
        for _ in 0..TO_ONE_URL_MOST {
            assert!(under_way.has_room_for("slow"));
            under_way.begin("slow");
        }
        assert!(!under_way.has_room_for("slow") && under_way.has_room_for("quick"));
        under_way.end("slow");
        assert!(under_way.has_room_for("slow"));
        for number in 0..UNDER_WAY_MOST - 1 {
            under_way.begin(&number.to_string());
        }
        assert!(!under_way.has_room_for("slow") && !under_way.has_room_for("quick"));
        under_way.end("0");
        assert!(under_way.has_room_for("quick") && under_way.total() == UNDER_WAY_MOST - 1);
    }
}
