//! Reconcilers: loops that poll the database for due work and do it. They take no other input, so a lost notification,
//! a crash or a second node only changes how long the work takes. Some also read what requests have noted in memory. When a
//! crash loses that, later requests note it again, but for what banks were told while nothing was known: that is in the log.
//!
//! `LOOPS` is the table of those that work in rounds; `Reconcilers::start` starts them, and the few that do not.

mod ask;
mod compare_days;
mod deliver;
mod expire;
mod nodes;
mod post;
mod quiet_thread;
mod settle;

use std::time::Duration;

use futures_util::future::{join, join3};
use gateway::BoxFuture;
use store::CommitError;
use tokio::{sync::watch, task::JoinSet};

use crate::{Engine, Error};

pub use deliver::Courier;

/// How long most loops wait when they found nothing more to do.
const REST: Duration = Duration::from_millis(500);
/// How long loops wait that look whether people must be told of something.
const WATCH_REST: Duration = Duration::from_secs(10);
/// Rows that one round takes.
const BATCH_MOST: i64 = 500;

/// Every loop that works in rounds. Each runs by itself, so that one that fails does not hold up the others.
const LOOPS: &[Loop] = &[
    Loop { name: "expire", rest: REST, round: Round::Batch(|engine| Box::pin(engine.expire_due())) },
    Loop { name: "settle", rest: REST, round: Round::Batch(|engine| Box::pin(engine.settle_due())) },
    Loop {
        name: "refunds of the sandbox",
        rest: REST,
        round: Round::Batch(|engine| Box::pin(engine.simulate_due_refunds())),
    },
    Loop { name: "refunds to send", rest: REST, round: Round::Sweep(|engine| Box::pin(engine.send_ready_refunds())) },
    Loop {
        name: "refunds to ask about",
        rest: REST,
        round: Round::Sweep(|engine| Box::pin(engine.ask_about_refunds())),
    },
    Loop { name: "undecided words", rest: REST, round: Round::Batch(|engine| Box::pin(engine.look_after_undecided())) },
    Loop {
        name: "compare days",
        rest: Duration::from_secs(30),
        round: Round::Sweep(|engine| Box::pin(engine.reconcile_due())),
    },
    Loop { name: "audit chain", rest: REST, round: Round::Batch(|engine| Box::pin(engine.seal_audit())) },
    Loop {
        name: "second factors to lift",
        rest: Duration::from_secs(30),
        round: Round::Sweep(|engine| Box::pin(engine.lift_due_factors())),
    },
    Loop { name: "lost passwords", rest: REST, round: Round::Batch(|engine| Box::pin(engine.answer_reset_requests())) },
    Loop {
        name: "failing webhooks",
        rest: WATCH_REST,
        round: Round::Sweep(|engine| Box::pin(engine.tell_of_failing_webhooks())),
    },
    Loop { name: "banks down", rest: WATCH_REST, round: Round::Sweep(|engine| Box::pin(engine.tell_of_banks_down())) },
    Loop { name: "summaries", rest: WATCH_REST, round: Round::Sweep(|engine| Box::pin(engine.queue_summaries())) },
    Loop {
        name: "old letters",
        rest: Duration::from_secs(60),
        round: Round::Batch(|engine| Box::pin(engine.forget_letters())),
    },
    Loop {
        name: "letters to erased customers",
        rest: Duration::from_mins(10),
        round: Round::Sweep(|engine| Box::pin(engine.delete_letters_to_erased_customers())),
    },
    // Maintenance: what was noted in memory is saved, what is old is forgotten, and reads are kept quick.
    Loop { name: "key uses", rest: REST, round: Round::Batch(|engine| Box::pin(engine.save_key_uses())) },
    Loop { name: "bank calls", rest: REST, round: Round::Batch(|engine| Box::pin(engine.save_bank_calls())) },
    Loop { name: "old calls to banks", rest: REST, round: Round::Batch(|engine| Box::pin(engine.forget_sends())) },
    Loop {
        name: "old attempts at banks",
        rest: REST,
        round: Round::Batch(|engine| Box::pin(engine.forget_attempts())),
    },
    Loop { name: "old inquiries", rest: REST, round: Round::Batch(|engine| Box::pin(engine.forget_inquiries())) },
    Loop { name: "page views", rest: REST, round: Round::Batch(|engine| Box::pin(engine.save_page_views())) },
    Loop {
        name: "list checkpoints",
        rest: REST,
        round: Round::Batch(|engine| of_store(engine.store.extend_list_checkpoints(engine.now()))),
    },
    Loop {
        name: "balance checkpoints",
        rest: REST,
        round: Round::Batch(|engine| of_store(engine.store.extend_balance_checkpoints(engine.now()))),
    },
    Loop {
        name: "closed hours",
        rest: REST,
        round: Round::Batch(|engine| of_store(engine.store.close_hours(engine.now()))),
    },
    Loop {
        name: "search index",
        rest: REST,
        round: Round::Batch(|engine| of_store(engine.store.extend_search_index(engine.now()))),
    },
];

/// A loop that works in rounds until it is stopped.
struct Loop {
    name: &'static str,
    /// How long it waits after a round that left nothing to do, or that failed.
    rest: Duration,
    round: Round,
}

/// How a loop does a round, and when the next one follows.
enum Round {
    /// Does a part of what is due, and answers 0 when there is nothing more to do; otherwise the next round follows at once.
    /// A stop waits for its end.
    Batch(Work),
    /// Does all that is due, and waits for banks meanwhile. A stop drops it: what is left undone has a lease that runs out.
    /// The loop rests after it whatever it answers, since what a bank could not answer stays due.
    Sweep(Work),
}

/// The work of one round. [`Round`] says what its answer means.
type Work = fn(&Engine) -> BoxFuture<'_, Result<usize, Error>>;

/// A round that the store does, which answers whether there is more to do.
fn of_store<'a>(
    round: impl Future<Output = Result<bool, CommitError>> + Send + 'a,
) -> BoxFuture<'a, Result<usize, Error>> {
    Box::pin(async move { Ok(usize::from(round.await?)) })
}

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
        // These do not work in rounds, or keep leases. `deliver` has a thread of its own and wakes up at each commit; `post` hands
        // letters to a relay, and sends notices; `nodes` beats while either sends, and looks at the others after each beat; `ask` goes on to look while its tasks wait for banks.
        let notices = post::run_notices(engine.clone(), courier.clone(), stopped.clone());
        let webhooks = quiet_thread::run("lunas-webhooks", deliver::run(engine.clone(), courier, stopped.clone()));
        let letters = post::run(engine.clone(), stopped.clone());
        let sending = async {
            join3(webhooks, letters, notices).await;
        };
        loops.spawn(nodes::beat_while(engine.clone(), sending));
        loops.spawn(nodes::watch_others(engine.clone(), stopped.clone()));
        loops.spawn(ask::run(engine.clone(), stopped.clone()));
        for each in LOOPS {
            loops.spawn(each.run(engine.clone(), stopped.clone()));
        }
        Reconcilers { stop, loops, engine: engine.clone() }
    }

    /// Stops each loop, most of them after their present round, and lets calls to banks end. What banks were told is stored at once,
    /// as a round may take so long that the process is killed meanwhile; and again at last, for what was said since.
    pub async fn stop(self) {
        let Reconcilers { stop, mut loops, engine } = self;
        stop.send_replace(true);
        let ending = async {
            while let Some(ended) = loops.join_next().await {
                if let Err(error) = ended {
                    tracing::error!(%error, "a reconciler has failed");
                }
            }
        };
        join(ending, engine.try_to_save_words()).await;
        engine.finish_bank_calls().await;
        engine.save_last_words().await;
    }
}

impl Loop {
    async fn run(&self, engine: Engine, mut stopped: watch::Receiver<bool>) {
        while !*stopped.borrow() {
            let done = match self.round {
                Round::Batch(work) => work(&engine).await,
                Round::Sweep(work) => tokio::select! {
                    // The loop reads `stopped` next.
                    _ = stopped.changed() => continue,
                    done = work(&engine) => done.map(|_| 0),
                },
            };
            match done {
                Ok(0) => {}
                Ok(_) => continue,
                Err(error) => tracing::warn!(%error, reconciler = self.name, "a round failed and will be retried"),
            }
            // The loop reads `stopped` next, whether it has changed or the time is over.
            let _ = tokio::time::timeout(self.rest, stopped.changed()).await;
        }
    }
}
