//! Tells the other nodes that something was committed which they may wait for, and hears it from them.
//!
//! A wake carries nothing and may be lost: whoever waits looks by itself now and then. It is sent after the commit and at most
//! every few milliseconds, since a NOTIFY inside transactions would make them commit one after the other.

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

use super::{Borrowed, connect::Connector, fault};
use crate::error::StoreError;

const CHANNEL: &str = "lunas";
/// How long it may take to tell the others, or to begin to listen.
const TELL_WITHIN: Duration = Duration::from_secs(5);
const APART: Duration = Duration::from_millis(10);
/// The rest before the next try to listen, when the connection has ended.
const LISTEN_AGAIN: Duration = Duration::from_millis(500);
/// Wakes that wait to be heard; more of them would say no more.
const HEARD_MOST: usize = 16;

/// What is told to whoever waits, on this node and on others.
#[derive(Clone)]
pub(crate) struct Wakes {
    told: watch::Sender<u64>,
    others: Arc<Notify>,
    tasks: Arc<Tasks>,
}

#[derive(Default)]
struct Tasks(Mutex<Vec<AbortHandle>>);

impl Wakes {
    pub(crate) fn new(told: watch::Sender<u64>) -> Wakes {
        Wakes { told, others: Arc::default(), tasks: Arc::default() }
    }

    /// Begins to tell and to listen.
    pub(super) fn attend(&self, connector: Connector, pool: Pool) {
        // Enough to know one's own wakes by; everyone here has heard of those already.
        let name = format!("{:x}", RandomState::new().build_hasher().finish());
        let telling = tokio::spawn(tell(connector.clone(), pool, Arc::clone(&self.others), name.clone()));
        let listening = tokio::spawn(listen(connector, self.told.clone(), name));
        self.tasks.lock().extend([telling.abort_handle(), listening.abort_handle()]);
    }

    pub(super) fn close(&self) {
        self.tasks.end();
    }

    /// Something was committed here.
    pub(crate) fn tell_others(&self) {
        self.others.notify_one();
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

async fn tell(connector: Connector, pool: Pool, others: Arc<Notify>, name: String) {
    loop {
        others.notified().await;
        let told = async {
            let connection = Borrowed::from(&pool, &connector, None).await?;
            let statement = connection.get().prepare_cached("SELECT pg_notify($1, $2)").await;
            let statement = statement.map_err(fault::failure)?;
            connection.get().execute(&statement, &[&CHANNEL, &name]).await.map_err(fault::failure)?;
            connection.give_back();
            Ok::<(), StoreError>(())
        };
        if !matches!(timeout(TELL_WITHIN, told).await, Ok(Ok(()))) {
            tracing::debug!("other nodes were not told and will look by themselves");
        }
        sleep(APART).await;
    }
}

async fn listen(connector: Connector, told: watch::Sender<u64>, name: String) {
    loop {
        if let Err(error) = hear(&connector, &told, &name).await {
            tracing::debug!(%error, "other nodes are not heard for a moment");
        }
        sleep(LISTEN_AGAIN).await;
    }
}

/// Listens until the connection ends.
async fn hear(connector: &Connector, told: &watch::Sender<u64>, name: &str) -> Result<(), StoreError> {
    let (sender, mut heard) = mpsc::channel(HEARD_MOST);
    let (client, task) = connector.open_in_time(Some(sender)).await?.map_err(fault::failure)?;
    let (_ending, made) = (EndWith(task.abort_handle()), Instant::now());
    let listening = timeout(TELL_WITHIN, client.batch_execute(&format!("LISTEN {CHANNEL}"))).await;
    listening.map_err(StoreError::unavailable)?.map_err(fault::failure)?;
    // What was told while nobody listened.
    told.send_modify(|count| *count += 1);
    loop {
        tokio::select! {
            from = heard.recv() => match from {
                Some(from) if from != name => told.send_modify(|count| *count += 1),
                Some(_) => {}
                None => return Ok(()),
            },
            // Whoever tells anything tells it elsewhere by now.
            () = connector.moved_on(made) => return Ok(()),
        }
    }
}

struct EndWith(AbortHandle);

impl Drop for EndWith {
    fn drop(&mut self) {
        self.0.abort();
    }
}
