//! Hands letters to the relay, in rounds, and sends notices to their URLs. A round leases a few letters, sends them over a few connections, and saves what came of
//! each right after.
//!
//! A lease names its node and has no end: it holds for as long as the node is known to live (`reconcile/nodes.rs`), so neither a
//! slow relay nor clocks that differ let two nodes send one letter. A node asks whether it still has a letter before it sends it,
//! unless it has beaten all the time.

mod notices;
mod pace;
mod round;
mod save;
mod send;
mod send_notice;

use std::time::{Duration, Instant};

use domain::letter_queue::Channel;
use store::{Change, LetterWrite};
use tokio::{
    pin, select,
    sync::watch,
    time::{sleep, timeout},
};

use crate::Engine;
use pace::Pace;

pub(super) use notices::run as run_notices;

/// How long a stop waits for letters that are under way.
const STOP_WITHIN: Duration = Duration::from_secs(5);
/// How often leases are given back that nobody has: those of this node, which has no letter between two rounds, so they are of commits
/// whose answer was lost; and those of nodes that are not known, as nodes of earlier versions give back only those of webhooks.
const GIVEN_BACK_EVERY: Duration = Duration::from_secs(10);

pub(super) async fn run(engine: Engine, mut stopped: watch::Receiver<bool>) {
    if !engine.has_mail() {
        return;
    }
    select! {
        () = engine.join_nodes() => {}
        // The loop reads `stopped` next.
        _ = stopped.changed() => {}
    }
    let (mut pace, mut given_back_at) = (Pace::default(), Instant::now());
    while !*stopped.borrow() {
        if given_back_at.elapsed() >= GIVEN_BACK_EVERY {
            given_back_at = Instant::now();
            engine.give_letters_back().await;
        }
        let over = stopped.clone();
        let round = engine.post_round(pace.letters_most(), &over);
        pin!(round);
        let done = select! {
            done = &mut round => Some(done),
            // Letters under way may end, and no other is begun.
            _ = stopped.changed() => timeout(STOP_WITHIN, round).await.ok(),
        };
        let Some(done) = done else { break };
        let rest = pace.after(&done);
        select! {
            // The loop reads `stopped` next.
            _ = stopped.changed() => {}
            () = sleep(rest) => {}
        }
    }
    let released = engine.store.commit(LetterWrite::AllReleased { node: engine.node, channel: Channel::Mail }.into());
    if let Ok(Err(error)) = timeout(STOP_WITHIN, released).await {
        tracing::warn!(%error, "leases of letters were not given back, and will be once this node is found gone");
    }
}

impl Engine {
    async fn give_letters_back(&self) {
        let own = Change::from(LetterWrite::AllReleased { node: self.node, channel: Channel::Mail });
        let change = if self.store.is_shared() { own.with(LetterWrite::OrphansReleased) } else { own };
        if let Err(error) = self.store.commit(change).await {
            tracing::warn!(%error, "leases of letters that nobody sends were not given back and will be later");
        }
    }
}
