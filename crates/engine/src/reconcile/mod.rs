//! Reconcilers: loops that look at what is, and make it what it should be by now. They take no input, so a lost wake,
//! a crash or a second node changes nothing but the time it takes.

mod deliver;
mod expire;
mod settle;
mod tend;

use std::{future::Future, time::Duration};

use tokio::{sync::watch, task::JoinSet};

use crate::{Engine, Error};

pub use deliver::Courier;

/// How long a reconciler rests when it found nothing more to do.
const REST: Duration = Duration::from_millis(500);
/// Rows taken in one go.
const BATCH_MOST: i64 = 500;

/// The running loops of one process.
pub struct Reconcilers {
    stop: watch::Sender<bool>,
    loops: JoinSet<()>,
}

impl Reconcilers {
    pub fn start(engine: &Engine, courier: Courier) -> Reconcilers {
        let (stop, stopped) = watch::channel(false);
        let mut loops = JoinSet::new();
        loops.spawn(deliver::run(engine.clone(), courier, stopped.clone()));
        let expiring = engine.clone();
        loops.spawn(repeat("expire", stopped.clone(), move || {
            let engine = expiring.clone();
            async move { engine.expire_due().await }
        }));
        let settling = engine.clone();
        loops.spawn(repeat("settle", stopped.clone(), move || {
            let engine = settling.clone();
            async move { engine.settle_due().await }
        }));
        let tending = engine.clone();
        loops.spawn(repeat("tend", stopped, move || {
            let engine = tending.clone();
            async move { engine.tend_store().await }
        }));
        Reconcilers { stop, loops }
    }

    /// Lets each loop finish the round it is in, and no further.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        self.loops.join_all().await;
    }
}

async fn repeat<Round: Future<Output = Result<usize, Error>>>(
    name: &'static str,
    mut stopped: watch::Receiver<bool>,
    round: impl Fn() -> Round,
) {
    while !*stopped.borrow() {
        match round().await {
            Ok(0) => {}
            Ok(_) => continue,
            Err(error) => tracing::warn!(%error, reconciler = name, "a round failed and will be tried again"),
        }
        // Either way the loop looks at `stopped` next.
        let _ = tokio::time::timeout(REST, stopped.changed()).await;
    }
}
