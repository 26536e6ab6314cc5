//! Connections to PostgreSQL: opening them, their settings, the pool, and what happens to them after a failover.

use std::{
    error::Error as _,
    future::poll_fn,
    io,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use deadpool_postgres::{ClientWrapper, Connect, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::Handle,
    sync::{mpsc, watch},
    task::JoinHandle,
    time::timeout,
};
use tokio_postgres::{
    AsyncMessage, Client, Config, Connection, Error, NoTls,
    error::{DbError, Severity},
    tls::MakeTlsConnect,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::PostgresUrl;
use crate::error::StoreError;

/// How long to wait for a free connection of the pool, and for a new connection.
const WAIT_MOST: Duration = Duration::from_secs(5);
const MAKE_MOST: Duration = Duration::from_secs(5);
/// How long to wait for one of several hosts before the next one is tried.
const HOST_MOST: Duration = Duration::from_secs(3);

/// The settings of every session. Commits wait for the disk and for synchronous standbys even if the server is
/// configured otherwise, and warnings are sent to us. Statements and idle transactions time out. No statement is
/// compiled or run by several processes, and none reads a whole table where there is an index, even if the planner
/// expects most rows to match.
const SESSION: &str = "SELECT set_config('synchronous_commit', 'on', false) \
    WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write'); \
    SET client_min_messages = 'warning'; \
    SET default_transaction_isolation = 'read committed'; \
    SET statement_timeout = '30s'; \
    SET jit = off; SET max_parallel_workers_per_gather = 0; SET enable_seqscan = off; \
    SET idle_in_transaction_session_timeout = '30s'";

/// What a session returns to after a statement with a time limit of its own; as in [`SESSION`].
pub(super) const STATEMENT_TIMEOUT: &str = "SET statement_timeout = '30s'";

/// Opens connections to one database.
#[derive(Clone)]
pub(super) struct Connector {
    /// All hosts; one of them accepts writes.
    hosts: Arc<[Config]>,
    /// The host that accepted the last connection; it is tried first.
    last: Arc<AtomicUsize>,
    /// When `last` changed to another host: the time of the last failover.
    moved: watch::Sender<Option<Instant>>,
    tls: Option<MakeRustlsConnect>,
    warnings: Warnings,
    /// The runtime that drives all connections, also those that the thread for webhooks opens: that of requests, which outlasts it.
    runtime: Handle,
}

/// Counts the server's warnings. With synchronous replication, a commit whose wait for the standby was cancelled still
/// answers success, and only a warning says that the standby may not have it. None of our statements causes other
/// warnings, so a commit during which a warning came does not count as done.
#[derive(Clone, Default)]
pub(super) struct Warnings(Arc<AtomicU64>);

impl Warnings {
    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn note(&self, notice: &DbError) {
        if notice.parsed_severity() == Some(Severity::Warning) {
            self.0.fetch_add(1, Ordering::SeqCst);
            tracing::warn!(warning = %notice, "the database sent a warning");
        }
    }
}

impl Connector {
    pub(super) fn new(url: &PostgresUrl) -> Result<Connector, StoreError> {
        let tls = url.wants_tls().then(MakeRustlsConnect::with_native_certs).transpose();
        let tls = tls.map_err(|error| StoreError::unavailable(format!("no root certificates: {error:?}")))?;
        let tls = tls.map(|(tls, _)| tls);
        let (hosts, moved) = (url.by_host().into(), watch::Sender::default());
        let runtime = Handle::current();
        Ok(Connector { hosts, last: Arc::default(), moved, tls, warnings: Warnings::default(), runtime })
    }

    /// Whether there was a failover since the connection was made, so that its server no longer accepts writes.
    pub(super) fn is_stale(&self, made: Instant) -> bool {
        self.moved.borrow().is_some_and(|moved| made < moved)
    }

    /// Waits until the server has finished everything on a connection whose caller has gone, or until there is a
    /// failover. A commit that waits for a standby keeps its connection busy for as long as the standby is away;
    /// opening another connection each time would use up all connections of the server.
    pub(super) async fn finished(&self, connection: &ClientWrapper, made: Instant) {
        if connection.is_closed() {
            return;
        }
        tokio::select! {
            // The server answers this after everything that was sent before.
            _ = connection.batch_execute("") => {}
            () = self.failover_since(made) => {}
        }
    }

    /// Asks the server to cancel what it does on a connection. It may have finished by then, or not hear of it.
    pub(super) async fn cancel(&self, connection: &ClientWrapper) {
        let token = connection.cancel_token();
        let asked = async {
            match &self.tls {
                Some(tls) => token.cancel_query(tls.clone()).await,
                None => token.cancel_query(NoTls).await,
            }
        };
        if !matches!(timeout(HOST_MOST, asked).await, Ok(Ok(()))) {
            tracing::debug!("a query that nobody waits for was not cancelled; it ends by itself");
        }
    }

    /// Waits until there is a failover after the connection was made.
    pub(super) async fn failover_since(&self, made: Instant) {
        // It cannot fail, as this value holds the sender.
        let _ = self.moved.subscribe().wait_for(|moved| moved.is_some_and(|moved| made < moved)).await;
    }

    /// Takes a connection from the pool; stale ones are closed.
    pub(super) async fn take(&self, pool: &Pool) -> Result<Object, StoreError> {
        loop {
            let connection = pool.get().await.map_err(StoreError::unavailable)?;
            if !self.is_stale(Object::metrics(&connection).created) {
                return Ok(connection);
            }
            drop(Object::take(connection));
        }
    }

    pub(super) fn warnings(&self) -> &Warnings {
        &self.warnings
    }

    pub(super) fn pool(&self, connections: usize) -> Result<Pool, StoreError> {
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let pool = Pool::builder(Manager::from_connect(Config::new(), self.clone(), recycling))
            .max_size(connections)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(WAIT_MOST))
            .create_timeout(Some(self.within()));
        pool.build().map_err(StoreError::unavailable)
    }

    /// How long opening a connection may take: every host may use up its time before the last one answers.
    pub(super) fn within(&self) -> Duration {
        let before = u32::try_from(self.hosts.len().saturating_sub(1)).unwrap_or(u32::MAX);
        HOST_MOST.saturating_mul(before).saturating_add(MAKE_MOST)
    }

    /// Opens a connection without the settings of a session. Notifications of the server go to `notifications`. Each
    /// host has a time limit, so that a host that accepts connections and does not answer does not keep us from the
    /// others.
    async fn open(&self, notifications: Option<mpsc::Sender<String>>) -> Result<(Client, JoinHandle<()>), Error> {
        let (count, first) = (self.hosts.len(), self.last.load(Ordering::SeqCst));
        for host in (first..first + count - 1).map(|number| number % count) {
            if let Ok(Ok(opened)) = timeout(HOST_MOST, self.open_at(host, notifications.clone())).await {
                return Ok(opened);
            }
        }
        self.open_at((first + count - 1) % count, notifications).await
    }

    async fn open_at(
        &self,
        host: usize,
        notifications: Option<mpsc::Sender<String>>,
    ) -> Result<(Client, JoinHandle<()>), Error> {
        let opened = match self.try_at(host, notifications.clone()).await {
            // The next try comes from another port: a system that remembers an earlier connection from the same one may drop every
            // packet that would begin a new one.
            Err(error) if is_not_accepted(&error) => self.try_at(host, notifications).await,
            opened => opened,
        };
        if opened.is_ok() && self.last.swap(host, Ordering::SeqCst) != host {
            self.moved.send_replace(Some(Instant::now()));
        }
        opened
    }

    async fn try_at(
        &self,
        host: usize,
        notifications: Option<mpsc::Sender<String>>,
    ) -> Result<(Client, JoinHandle<()>), Error> {
        let config = &self.hosts[host];
        match &self.tls {
            Some(tls) => self.open_with(config, tls.clone(), notifications).await,
            None => self.open_with(config, NoTls, notifications).await,
        }
    }

    pub(super) async fn open_in_time(
        &self,
        notifications: Option<mpsc::Sender<String>>,
    ) -> Result<Result<(Client, JoinHandle<()>), Error>, StoreError> {
        timeout(self.within(), self.open(notifications)).await.map_err(StoreError::unavailable)
    }

    /// Opens a connection with the settings of a session.
    pub(super) async fn session(&self) -> Result<ClientWrapper, StoreError> {
        let opened = timeout(self.within(), self.open_session()).await.map_err(StoreError::unavailable)?;
        let (client, task) = opened.map_err(StoreError::unavailable)?;
        Ok(ClientWrapper::new(client, task))
    }

    async fn open_session(&self) -> Result<(Client, JoinHandle<()>), Error> {
        let (client, task) = self.open(None).await?;
        client.batch_execute(SESSION).await?;
        Ok((client, task))
    }

    async fn open_with<Tls>(
        &self,
        config: &Config,
        tls: Tls,
        notifications: Option<mpsc::Sender<String>>,
    ) -> Result<(Client, JoinHandle<()>), Error>
    where
        Tls: MakeTlsConnect<tokio_postgres::Socket>,
        Tls::Stream: Send + 'static,
    {
        let mut connected = pin!(config.connect(tls));
        let (client, connection) = poll_fn(|context| {
            let _entered = self.runtime.enter();
            connected.as_mut().poll(context)
        })
        .await?;
        Ok((client, self.runtime.spawn(drive(connection, self.warnings.clone(), notifications))))
    }
}

/// Whether the server has not accepted a connection in time.
fn is_not_accepted(error: &Error) -> bool {
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::TimedOut)
}

/// Runs the protocol of a connection until it ends, and takes notices and notifications.
async fn drive<Stream>(
    mut connection: Connection<tokio_postgres::Socket, Stream>,
    warnings: Warnings,
    notifications: Option<mpsc::Sender<String>>,
) where
    Stream: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
        match message {
            Ok(AsyncMessage::Notice(notice)) => warnings.note(&notice),
            Ok(AsyncMessage::Notification(notification)) => {
                if let Some(notifications) = &notifications {
                    // One notification says as much as several, so those that do not fit are dropped.
                    let _ = notifications.try_send(notification.payload().to_owned());
                }
            }
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(%error, "a connection to the database has ended");
                return;
            }
        }
    }
}

impl Connect for Connector {
    fn connect(
        &self,
        _: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + '_>> {
        Box::pin(self.open_session())
    }
}
