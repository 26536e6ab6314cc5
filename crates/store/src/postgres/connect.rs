//! Connections: how they are made and handed out.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use deadpool_postgres::{ClientWrapper, Connect, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use tokio::{
    io::{AsyncRead, AsyncWrite},
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

/// How long to wait for a connection that others use, and for a new one.
const WAIT_MOST: Duration = Duration::from_secs(5);
const MAKE_MOST: Duration = Duration::from_secs(5);
/// How long one of several hosts may take before the next one is tried.
const HOST_MOST: Duration = Duration::from_secs(3);

/// What a session is told before its first statement. A server that is set not to wait for its disk, or for its standby, is
/// told to wait after all, and to say so when it did not; no statement goes on for long once nobody waits for it; and none is compiled, spread over processes,
/// or made to read a whole table where an index leads to its rows, whatever the planner thinks of a project's share of it.
const SESSION: &str = "SELECT set_config('synchronous_commit', 'on', false) \
    WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write'); \
    SET client_min_messages = 'warning'; \
    SET default_transaction_isolation = 'read committed'; \
    SET statement_timeout = '30s'; \
    SET jit = off; SET max_parallel_workers_per_gather = 0; SET enable_seqscan = off; \
    SET idle_in_transaction_session_timeout = '30s'";

/// Makes connections to one database.
#[derive(Clone)]
pub(super) struct Connector {
    /// The hosts that there are, one of which takes writes.
    hosts: Arc<[Config]>,
    /// The one that took us last, which is tried first.
    last: Arc<AtomicUsize>,
    /// When that became another one.
    moved: watch::Sender<Option<Instant>>,
    tls: Option<MakeRustlsConnect>,
    doubts: Doubts,
}

/// Counts the warnings of the server. With synchronous replication a commit whose wait for the standby was broken off answers
/// that it was done, and only a warning says that the standby may not have it. Nothing else of ours causes one, so a commit
/// during which one came is not taken for done.
#[derive(Clone, Default)]
pub(super) struct Doubts(Arc<AtomicU64>);

impl Doubts {
    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn note(&self, notice: &DbError) {
        if notice.parsed_severity() == Some(Severity::Warning) {
            self.0.fetch_add(1, Ordering::SeqCst);
            tracing::warn!(warning = %notice, "the database warns");
        }
    }
}

impl Connector {
    pub(super) fn new(url: &PostgresUrl) -> Result<Connector, StoreError> {
        let tls = url.wants_tls().then(MakeRustlsConnect::with_native_certs).transpose();
        let tls = tls.map_err(|error| StoreError::unavailable(format!("no root certificates: {error:?}")))?;
        let tls = tls.map(|(tls, _)| tls);
        let (hosts, moved) = (url.by_host().into(), watch::Sender::default());
        Ok(Connector { hosts, last: Arc::default(), moved, tls, doubts: Doubts::default() })
    }

    /// Whether another host takes writes by now than when a connection was made, which then leads to one that does not.
    pub(super) fn left_behind(&self, made: Instant) -> bool {
        self.moved.borrow().is_some_and(|moved| made < moved)
    }

    /// Waits until the server has done all that it was asked on a connection that nobody waits for any more, or until another
    /// host has taken its place. A commit that waits for a standby goes on waiting for as long as that is away, and so does
    /// its connection: to leave it alone and make another would take one after the other, until the server has none left.
    pub(super) async fn ended(&self, connection: &ClientWrapper, made: Instant) {
        if connection.is_closed() {
            return;
        }
        tokio::select! {
            // Answered after all that was asked before.
            _ = connection.batch_execute("") => {}
            () = self.moved_on(made) => {}
        }
    }

    /// Waits until a connection is left behind.
    pub(super) async fn moved_on(&self, made: Instant) {
        // It cannot fail, as the other end is here.
        let _ = self.moved.subscribe().wait_for(|moved| moved.is_some_and(|moved| made < moved)).await;
    }

    /// A connection from the pool; one that was left behind is none.
    pub(super) async fn taken(&self, pool: &Pool) -> Result<Object, StoreError> {
        loop {
            let connection = pool.get().await.map_err(StoreError::unavailable)?;
            if !self.left_behind(Object::metrics(&connection).created) {
                return Ok(connection);
            }
            drop(Object::take(connection));
        }
    }

    pub(super) fn doubts(&self) -> &Doubts {
        &self.doubts
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

    /// How long a new connection may take: one host may hang, and the last one still gets its time.
    pub(super) fn within(&self) -> Duration {
        let before = u32::try_from(self.hosts.len().saturating_sub(1)).unwrap_or(u32::MAX);
        HOST_MOST.saturating_mul(before).saturating_add(MAKE_MOST)
    }

    /// A connection of one's own, without the settings of a session. What the server tells of its own accord goes to `heard`.
    /// A host that takes connections and says nothing must not keep us from the others, so each has its time.
    async fn open(&self, heard: Option<mpsc::Sender<String>>) -> Result<(Client, JoinHandle<()>), Error> {
        let (count, first) = (self.hosts.len(), self.last.load(Ordering::SeqCst));
        for host in (first..first + count - 1).map(|number| number % count) {
            if let Ok(Ok(opened)) = timeout(HOST_MOST, self.open_at(host, heard.clone())).await {
                return Ok(opened);
            }
        }
        self.open_at((first + count - 1) % count, heard).await
    }

    async fn open_at(
        &self,
        host: usize,
        heard: Option<mpsc::Sender<String>>,
    ) -> Result<(Client, JoinHandle<()>), Error> {
        let config = &self.hosts[host];
        let opened = match &self.tls {
            Some(tls) => self.open_with(config, tls.clone(), heard).await,
            None => self.open_with(config, NoTls, heard).await,
        };
        if opened.is_ok() && self.last.swap(host, Ordering::SeqCst) != host {
            self.moved.send_replace(Some(Instant::now()));
        }
        opened
    }

    pub(super) async fn open_in_time(
        &self,
        heard: Option<mpsc::Sender<String>>,
    ) -> Result<Result<(Client, JoinHandle<()>), Error>, StoreError> {
        timeout(self.within(), self.open(heard)).await.map_err(StoreError::unavailable)
    }

    /// A connection of one's own, ready for our statements.
    pub(super) async fn session(&self) -> Result<ClientWrapper, StoreError> {
        let opened = timeout(self.within(), self.prepared()).await.map_err(StoreError::unavailable)?;
        let (client, task) = opened.map_err(StoreError::unavailable)?;
        Ok(ClientWrapper::new(client, task))
    }

    async fn prepared(&self) -> Result<(Client, JoinHandle<()>), Error> {
        let (client, task) = self.open(None).await?;
        client.batch_execute(SESSION).await?;
        Ok((client, task))
    }

    async fn open_with<Tls>(
        &self,
        config: &Config,
        tls: Tls,
        heard: Option<mpsc::Sender<String>>,
    ) -> Result<(Client, JoinHandle<()>), Error>
    where
        Tls: MakeTlsConnect<tokio_postgres::Socket>,
        Tls::Stream: Send + 'static,
    {
        let (client, connection) = config.connect(tls).await?;
        Ok((client, tokio::spawn(attend(connection, self.doubts.clone(), heard))))
    }
}

/// Moves a connection along until it ends, and hears what the server says.
async fn attend<Stream>(
    mut connection: Connection<tokio_postgres::Socket, Stream>,
    doubts: Doubts,
    heard: Option<mpsc::Sender<String>>,
) where
    Stream: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
        match message {
            Ok(AsyncMessage::Notice(notice)) => doubts.note(&notice),
            Ok(AsyncMessage::Notification(notification)) => {
                if let Some(heard) = &heard {
                    // A wake is as good as two, so what does not fit is not missed.
                    let _ = heard.try_send(notification.payload().to_owned());
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
        Box::pin(self.prepared())
    }
}
