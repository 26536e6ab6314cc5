//! Asks banks what is due to be asked. Each account has tasks of its own, so that a bank that does not answer delays no other.

use std::{collections::HashSet, time::Duration};

use domain::{id::BankAccountId, opening::BankJob};
use futures_util::{StreamExt, stream};
use tokio::{sync::watch, task::JoinSet};

use crate::{Engine, Error};

/// How often to look for due jobs.
const REST: Duration = Duration::from_millis(500);
/// Jobs of one account that are done at once, and that one look takes.
const PER_ACCOUNT_AT_ONCE: usize = 8;
const JOBS_AT_ONCE: i64 = 64;

pub(super) async fn run(engine: Engine, stopped: watch::Receiver<bool>) {
    let look = || {
        let engine = engine.clone();
        async move { Ok(engine.store.accounts_with_jobs(engine.now()).await?) }
    };
    let ask = |id| {
        let engine = engine.clone();
        async move {
            if let Err(error) = engine.ask_account(id).await {
                tracing::warn!(%error, account = %id, "asking a bank failed and will be retried");
            }
        }
    };
    each_account(stopped, look, ask).await;
}

/// Looks for accounts with due jobs, and has each asked by a task of its own. It rests before every further look: an account
/// whose bank is down stays due, and its task ends at once.
async fn each_account<L, A>(mut stopped: watch::Receiver<bool>, look: impl Fn() -> L, ask: impl Fn(BankAccountId) -> A)
where
    L: Future<Output = Result<Vec<BankAccountId>, Error>>,
    A: Future<Output = ()> + Send + 'static,
{
    let mut asking: JoinSet<BankAccountId> = JoinSet::new();
    let mut busy: HashSet<BankAccountId> = HashSet::new();
    while !*stopped.borrow() {
        match look().await {
            Ok(accounts) => {
                for id in accounts {
                    if busy.insert(id) {
                        let asked = ask(id);
                        asking.spawn(async move {
                            asked.await;
                            id
                        });
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "looking for what to ask banks failed and will be retried"),
        }
        // The loop reads `stopped` next, whether it has changed or the time is over.
        let _ = tokio::time::timeout(REST, stopped.changed()).await;
        while let Some(ended) = asking.try_join_next() {
            match ended {
                Ok(id) => drop(busy.remove(&id)),
                Err(error) => {
                    tracing::error!(%error, "asking a bank panicked and will be retried");
                    busy.clear();
                }
            }
        }
    }
    // What is left undone has a lease that runs out.
    asking.shutdown().await;
}

impl Engine {
    /// One round over all accounts; answers how many jobs were due.
    pub async fn ask_due(&self) -> Result<usize, Error> {
        let accounts = self.store.accounts_with_jobs(self.now()).await?;
        let mut done = 0;
        for id in accounts {
            done += self.ask_account(id).await?;
        }
        Ok(done)
    }

    /// Does the due jobs of one account, as many as one look takes.
    async fn ask_account(&self, id: BankAccountId) -> Result<usize, Error> {
        // A bank that is known to be down is left alone until its breaker lets a call through.
        if self.outbound.is_down(id, self.now()) {
            return Ok(0);
        }
        let jobs = self.store.due_jobs(id, self.now(), JOBS_AT_ONCE).await?;
        let count = jobs.len();
        stream::iter(jobs).for_each_concurrent(PER_ACCOUNT_AT_ONCE, |job| self.ask(job)).await;
        Ok(count)
    }

    async fn ask(&self, job: BankJob) {
        if let Err(error) = self.do_job(job).await {
            tracing::warn!(%error, opening = %job.key.opening_id, "a job at a bank failed and will be retried");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use domain::{id::mint, time::Timestamp};

    use super::*;

    /// Far more looks than the time of a test has room for.
    const LOOKS_MOST: u32 = 1_000;

    #[tokio::test(start_paused = true)]
    async fn an_account_that_stays_due_is_looked_for_and_asked_once_in_each_rest() {
        let (stop, stopped) = watch::channel(false);
        let (looks, asked) = (Cell::new(0), Cell::new(0));
        let look = || async {
            looks.set(looks.get() + 1);
            assert!(looks.get() < LOOKS_MOST, "it looks without resting");
            // What a store does, too: the tasks go on meanwhile.
            tokio::task::yield_now().await;
            Ok(vec![mint(Timestamp::from_millis(1), [7; 10])])
        };
        let ask = |_| {
            asked.set(asked.get() + 1);
            async {}
        };
        let stopping = async {
            tokio::time::sleep(REST * 10 - REST / 2).await;
            stop.send_replace(true);
        };
        tokio::join!(each_account(stopped, look, ask), stopping);
        assert_eq!((looks.get(), asked.get()), (10, 10));
    }
}
