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

pub(super) async fn run(engine: Engine, mut stopped: watch::Receiver<bool>) {
    let mut asking: JoinSet<BankAccountId> = JoinSet::new();
    let mut busy: HashSet<BankAccountId> = HashSet::new();
    while !*stopped.borrow() {
        match engine.store.accounts_with_jobs(engine.now()).await {
            Ok(accounts) => {
                for id in accounts {
                    if busy.insert(id) {
                        let engine = engine.clone();
                        asking.spawn(async move {
                            if let Err(error) = engine.ask_account(id).await {
                                tracing::warn!(%error, account = %id, "asking a bank failed and will be retried");
                            }
                            id
                        });
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "looking for what to ask banks failed and will be retried"),
        }
        tokio::select! {
            // The loop reads `stopped` next.
            _ = stopped.changed() => {}
            Some(ended) = asking.join_next() => match ended {
                Ok(id) => drop(busy.remove(&id)),
                Err(error) => {
                    tracing::error!(%error, "asking a bank panicked and will be retried");
                    busy.clear();
                }
            },
            () = tokio::time::sleep(REST) => {}
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
