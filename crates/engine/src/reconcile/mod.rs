//! Reconcilers: loops that poll the database for due work and do it. They take no other input, so a lost notification,
//! a crash or a second node only changes how long the work takes. The maintenance jobs also read what requests have
//! noted in memory; when a crash loses that, later requests note it again.

mod ask;
mod balance_checkpoints;
mod closed_hours;
mod compare_days;
mod deliver;
mod expire;
mod list_checkpoints;
mod nodes;
mod quiet_thread;
mod search_index;
mod settle;

use std::time::Duration;

use gateway::BoxFuture;
use tokio::{sync::watch, task::JoinSet};

use crate::{Engine, Error};

pub use deliver::Courier;

/// How long a reconciler waits when it found nothing more to do.
const REST: Duration = Duration::from_millis(500);
/// Rows that one round takes.
const BATCH_MOST: i64 = 500;

/// One round of a reconciler; answers 0 when there is nothing more to do.
type Round = fn(Engine) -> BoxFuture<'static, Result<usize, Error>>;

/// The running loops of one process.
pub struct Reconcilers {
    stop: watch::Sender<bool>,
    loops: JoinSet<()>,
    engine: Engine,
}

impl Reconcilers {
    pub fn start(engine: &Engine, courier: Courier) -> Reconcilers {
        let (stop, stopped) = watch::channel(false);
        let mut loops = JoinSet::new();
        let sending = quiet_thread::run("lunas-webhooks", deliver::run(engine.clone(), courier, stopped.clone()));
        loops.spawn(nodes::beat_while(engine.clone(), sending));
        loops.spawn(nodes::watch_others(engine.clone(), stopped.clone()));
        loops.spawn(ask::run(engine.clone(), stopped.clone()));
        loops.spawn(compare_days::run(engine.clone(), stopped.clone()));
        let mut repeat = |name, round| loops.spawn(repeat(name, engine.clone(), stopped.clone(), round));
        repeat("expire", |engine| Box::pin(async move { engine.expire_due().await }));
        repeat("settle", |engine| Box::pin(async move { engine.settle_due().await }));
        repeat("undecided words", |engine| Box::pin(async move { engine.look_after_undecided().await }));
        // Maintenance. Each job has its own loop, so that one that fails does not hold up the others.
        repeat("key uses", |engine| Box::pin(async move { engine.save_key_uses().await }));
        repeat("bank calls", |engine| Box::pin(async move { engine.save_bank_calls().await }));
        repeat("old calls to banks", |engine| Box::pin(async move { engine.forget_sends().await }));
        repeat("old attempts at banks", |engine| Box::pin(async move { engine.forget_attempts().await }));
        repeat("old inquiries", |engine| Box::pin(async move { engine.forget_inquiries().await }));
        repeat("page views", |engine| Box::pin(async move { engine.save_page_views().await }));
        repeat("list checkpoints", |engine| Box::pin(async move { engine.extend_list_checkpoints().await }));
        repeat("balance checkpoints", |engine| Box::pin(async move { engine.extend_balance_checkpoints().await }));
        repeat("closed hours", |engine| Box::pin(async move { engine.close_hours().await }));
        repeat("search index", |engine| Box::pin(async move { engine.extend_search_index().await }));
        Reconcilers { stop, loops, engine: engine.clone() }
    }

    /// Lets each loop finish its present round, then stops it, and lets calls to banks end.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        self.loops.join_all().await;
        self.engine.save_last_words().await;
        self.engine.finish_bank_calls().await;
    }
}

/// Runs rounds until it is stopped: at once while there is more to do, otherwise after [`REST`].
async fn repeat(name: &'static str, engine: Engine, mut stopped: watch::Receiver<bool>, round: Round) {
    while !*stopped.borrow() {
        match round(engine.clone()).await {
            Ok(0) => {}
            Ok(_) => continue,
            Err(error) => tracing::warn!(%error, reconciler = name, "a round failed and will be retried"),
        }
        // The loop reads `stopped` next, whether it has changed or the time is over.
        let _ = tokio::time::timeout(REST, stopped.changed()).await;
    }
}
