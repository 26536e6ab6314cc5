//! Connections: how they are made and handed out.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use deadpool_postgres::{ClientWrapper, Connect, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
    task::JoinHandle,
    time::timeout,
};
use tokio_postgres::{
    AsyncMessage, Client, Config, Connection, Error, NoTls, Row,
    error::{DbError, Severity},
    tls::MakeTlsConnect,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{address::PostgresUrl, fault, rows};
use crate::{error::StoreError, value::Query};

/// How long to wait for a connection that others use, and for a new one.
const WAIT_MOST: Duration = Duration::from_secs(5);
const MAKE_MOST: Duration = Duration::from_secs(5);

/// What a session is told before its first statement. A server that is set not to wait for its disk, or for its standby, is
/// told to wait after all; and no statement goes on for long once nobody waits for it.
const SESSION: &str = "SELECT set_config('synchronous_commit', 'on', false) \
    WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write'); \
    SET default_transaction_isolation = 'read committed'; \
    SET statement_timeout = '30s'; \
    SET idle_in_transaction_session_timeout = '30s'";

/// Makes connections to one database.
#[derive(Clone)]
pub(super) struct Connector {
    config: Config,
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
        Ok(Connector { config: url.config().clone(), tls, doubts: Doubts::default() })
    }

    pub(super) fn doubts(&self) -> &Doubts {
        &self.doubts
    }

    pub(super) fn pool(&self, connections: usize) -> Result<Pool, StoreError> {
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let pool = Pool::builder(Manager::from_connect(self.config.clone(), self.clone(), recycling))
            .max_size(connections)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(WAIT_MOST))
            .create_timeout(Some(MAKE_MOST));
        pool.build().map_err(StoreError::unavailable)
    }

    /// A connection of one's own, without the settings of a session. What the server tells of its own accord goes to `heard`.
    pub(super) async fn open(&self, heard: Option<mpsc::Sender<String>>) -> Result<(Client, JoinHandle<()>), Error> {
        match &self.tls {
            Some(tls) => self.open_with(tls.clone(), heard).await,
            None => self.open_with(NoTls, heard).await,
        }
    }

    pub(super) async fn open_in_time(&self) -> Result<Result<(Client, JoinHandle<()>), Error>, StoreError> {
        timeout(MAKE_MOST, self.open(None)).await.map_err(StoreError::unavailable)
    }

    /// A connection of one's own, ready for our statements.
    pub(super) async fn session(&self) -> Result<ClientWrapper, StoreError> {
        let opened = timeout(MAKE_MOST, self.connect(&self.config)).await.map_err(StoreError::unavailable)?;
        let (client, task) = opened.map_err(StoreError::unavailable)?;
        Ok(ClientWrapper::new(client, task))
    }

    async fn open_with<Tls>(
        &self,
        tls: Tls,
        heard: Option<mpsc::Sender<String>>,
    ) -> Result<(Client, JoinHandle<()>), Error>
    where
        Tls: MakeTlsConnect<tokio_postgres::Socket>,
        Tls::Stream: Send + 'static,
    {
        let (client, connection) = self.config.connect(tls).await?;
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
        Box::pin(async move {
            let (client, task) = self.open(None).await?;
            client.batch_execute(SESSION).await?;
            Ok((client, task))
        })
    }
}

pub(super) async fn taken(pool: &Pool) -> Result<Object, StoreError> {
    pool.get().await.map_err(StoreError::unavailable)
}

/// Keeps a connection from being handed out again.
pub(super) fn discard(connection: Object) {
    drop(Object::take(connection));
}

/// A connection that many use at once: what they ask is sent as it comes, without waiting for the answers to what was asked
/// before, so that a few connections serve all short reads.
pub(super) struct Lane {
    connector: Connector,
    current: Mutex<Option<Arc<ClientWrapper>>>,
    opening: tokio::sync::Mutex<()>,
}

impl Lane {
    pub(super) fn new(connector: Connector) -> Lane {
        Lane { connector, current: Mutex::default(), opening: tokio::sync::Mutex::default() }
    }

    async fn connection(&self) -> Result<Arc<ClientWrapper>, StoreError> {
        if let Some(connection) = self.usable() {
            return Ok(connection);
        }
        // One opens it, and the others find it open.
        let _opening = self.opening.lock().await;
        if let Some(connection) = self.usable() {
            return Ok(connection);
        }
        let opened = Arc::new(self.connector.session().await?);
        *self.current() = Some(Arc::clone(&opened));
        Ok(opened)
    }

    fn usable(&self) -> Option<Arc<ClientWrapper>> {
        self.current().as_ref().filter(|connection| !connection.is_closed()).cloned()
    }

    pub(super) async fn rows(&self, query: &Query) -> Result<Vec<Row>, StoreError> {
        let connection = self.connection().await?;
        rows(&connection, query).await.map_err(|error| {
            if fault::spoils_the_connection(&error) {
                self.give_up();
            }
            fault::failure(error)
        })
    }

    /// Has the next one open a connection of its own. The old one ends with the last who still waits for an answer on it.
    pub(super) fn give_up(&self) {
        *self.current() = None;
    }

    fn current(&self) -> MutexGuard<'_, Option<Arc<ClientWrapper>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
