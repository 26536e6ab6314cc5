//! Notifies the other nodes of commits that they may be waiting for, and listens to their notifications.
//!
//! A notification has no content and may be lost, so tasks that wait also poll now and then. It is sent after the
//! commit and at most every few milliseconds, since NOTIFY inside of transactions would make them commit one after the
//! other.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use deadpool_postgres::Pool;
use tokio::{
    sync::{Notify, mpsc, watch},
    task::AbortHandle,
    time::{sleep, timeout},
};

use super::{borrowed::Borrowed, connect::Connector, fault};
use crate::error::StoreError;

const CHANNEL: &str = "lunas";
/// How long sending a NOTIFY, or starting to LISTEN, may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// The least time between two notifications of this node.
const APART: Duration = Duration::from_millis(10);
/// The wait before LISTEN is retried when the connection has ended.
const RECONNECT_AFTER: Duration = Duration::from_millis(500);
/// Notifications that may wait to be read; more of them would say no more.
const QUEUE_MOST: usize = 16;

/// Sends notifications of this node's commits, and passes on those of other nodes.
#[derive(Clone)]
pub(crate) struct CommitNotifier {
    /// Changes with every notification of another node.
    commit_signal: watch::Sender<u64>,
    /// This node has committed something that the others must be notified of.
    committed: Arc<Notify>,
    tasks: Arc<Tasks>,
}

#[derive(Default)]
struct Tasks(Mutex<Vec<AbortHandle>>);

impl CommitNotifier {
    pub(crate) fn new(commit_signal: watch::Sender<u64>) -> CommitNotifier {
        CommitNotifier { commit_signal, committed: Arc::default(), tasks: Arc::default() }
    }

    /// Starts to send and to listen.
    pub(super) fn start(&self, connector: Connector, pool: Pool) {
        // A random name, by which a node recognises and ignores its own notifications.
        let name = format!("{:x}", RandomState::new().build_hasher().finish());
        let sending = tokio::spawn(send(connector.clone(), pool, Arc::clone(&self.committed), name.clone()));
        let listening = tokio::spawn(listen(connector, self.commit_signal.clone(), name));
        self.tasks.lock().extend([sending.abort_handle(), listening.abort_handle()]);
    }

    pub(super) fn close(&self) {
        self.tasks.end();
    }

    /// This node has committed something that other nodes may be waiting for.
    pub(crate) fn notify_others(&self) {
        self.committed.notify_one();
    }
}

impl Tasks {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        for task in self.lock().drain(..) {
            task.abort();
        }
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.end();
    }
}

async fn send(connector: Connector, pool: Pool, committed: Arc<Notify>, name: String) {
    loop {
        committed.notified().await;
        let sent = async {
            let connection = Borrowed::from(&pool, &connector, None).await?;
            let statement = connection.get().prepare_cached("SELECT pg_notify($1, $2)").await;
            let statement = statement.map_err(fault::failure)?;
            connection.get().execute(&statement, &[&CHANNEL, &name]).await.map_err(fault::failure)?;
            connection.give_back();
            Ok::<(), StoreError>(())
        };
        if !matches!(timeout(ANSWER_WITHIN, sent).await, Ok(Ok(()))) {
            tracing::debug!("other nodes were not notified of a commit and will find it when they poll");
        }
        sleep(APART).await;
    }
}

async fn listen(connector: Connector, commit_signal: watch::Sender<u64>, name: String) {
    loop {
        if let Err(error) = receive(&connector, &commit_signal, &name).await {
            tracing::debug!(%error, "listening for commits of other nodes failed and will be retried");
        }
        sleep(RECONNECT_AFTER).await;
    }
}

/// Receives notifications until the connection ends.
async fn receive(connector: &Connector, commit_signal: &watch::Sender<u64>, name: &str) -> Result<(), StoreError> {
    let (sender, mut notifications) = mpsc::channel(QUEUE_MOST);
    let (client, task) = connector.open_in_time(Some(sender)).await?.map_err(fault::failure)?;
    let (_abort, made) = (AbortOnDrop(task.abort_handle()), Instant::now());
    let listening = timeout(ANSWER_WITHIN, client.batch_execute(&format!("LISTEN {CHANNEL}"))).await;
    listening.map_err(StoreError::unavailable)?.map_err(fault::failure)?;
    // Notifications may have been sent before this connection was listening.
    commit_signal.send_modify(|count| *count += 1);
    loop {
        tokio::select! {
            from = notifications.recv() => match from {
                Some(from) if from != name => commit_signal.send_modify(|count| *count += 1),
                Some(_) => {}
                None => return Ok(()),
            },
            // After a failover, NOTIFY goes to the new primary, so this connection would hear nothing more: reconnect.
            () = connector.failover_since(made) => return Ok(()),
        }
    }
}

struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
