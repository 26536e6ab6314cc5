//! Runs SQL for callers that wait for the answer, whether they are inside a runtime or not. It needs no program to be started.

use std::{
    error::Error as _,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, mpsc},
};

use tokio::{runtime::Runtime, time::timeout};
use tokio_postgres::{Client, Config, Error, NoTls, SimpleQueryMessage};

use crate::shared::PATIENCE;

/// How many connections are kept for the next administrative statement: one that creates a database, and one that drops
/// another meanwhile.
const KEPT_MOST: usize = 2;

/// A result that another thread is working on; `wait` blocks until it is there. Dropping it lets the work go on.
pub(crate) struct Pending(mpsc::Receiver<Result<String, String>>);

impl Pending {
    pub(crate) fn wait(self) -> Result<String, String> {
        self.0.recv().expect("the thread that runs SQL is there")
    }

    fn start(work: impl Future<Output = Result<String, String>> + Send + 'static) -> Pending {
        // Not a caller's runtime: tests block their only thread while they wait.
        static RUNTIME: OnceLock<Runtime> = OnceLock::new();
        let build = || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (sender, receiver) = mpsc::channel();
        RUNTIME.get_or_init(build).spawn(async move {
            let done = timeout(PATIENCE, work).await;
            // A caller that does not wait has dropped the receiver.
            let _ = sender.send(done.unwrap_or_else(|_| Err(format!("no answer within {PATIENCE:?}"))));
        });
        Pending(receiver)
    }
}

/// Connections of administrators, kept for their next statement.
#[derive(Clone, Default)]
pub(crate) struct Sessions(Arc<Mutex<Vec<Client>>>);

impl Sessions {
    /// Runs one statement that leaves nothing behind in its session, on a connection that is kept if possible.
    pub(crate) fn administer(&self, config: Config, sql: String) -> Pending {
        let sessions = self.clone();
        Pending::start(async move {
            let client = match sessions.take() {
                Some(client) => client,
                None => connect(config).await?,
            };
            let answer = query(&client, &sql).await;
            sessions.keep(client);
            answer
        })
    }

    /// Runs SQL on a new connection, which is closed afterwards.
    pub(crate) fn run(config: Config, sql: String) -> Pending {
        Pending::start(async move {
            let client = connect(config).await?;
            query(&client, &sql).await
        })
    }

    /// Closes the connections that are kept, as the server that they lead to is gone.
    pub(crate) fn close(&self) {
        self.lock().clear();
    }

    fn take(&self) -> Option<Client> {
        let mut kept = self.lock();
        kept.retain(|client| !client.is_closed());
        kept.pop()
    }

    fn keep(&self, client: Client) {
        let mut kept = self.lock();
        if kept.len() < KEPT_MOST && !client.is_closed() {
            kept.push(client);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Client>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn connect(config: Config) -> Result<Client, String> {
    let (client, connection) = config.connect(NoTls).await.map_err(|error| text(&error))?;
    // It ends when the client is dropped, and a statement that fails reports why.
    tokio::spawn(async move { drop(connection.await) });
    Ok(client)
}

/// One line per row, its columns separated by `|`; nothing stands for NULL.
async fn query(client: &Client, sql: &str) -> Result<String, String> {
    let messages = client.simple_query(sql).await.map_err(|error| text(&error))?;
    let rows = messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let line = |row: &tokio_postgres::SimpleQueryRow| {
        let columns: Vec<&str> = (0..row.len()).map(|column| row.get(column).unwrap_or_default()).collect();
        columns.join("|")
    };
    let lines: Vec<String> = rows.map(line).collect();
    Ok(lines.join("\n").trim().to_owned())
}

fn text(error: &Error) -> String {
    let Some(error) = error.as_db_error() else {
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        return format!("{error}{cause}");
    };
    let more = [("DETAIL", error.detail()), ("HINT", error.hint())];
    let more = more.iter().filter_map(|(name, text)| Some(format!("\n{name}: {}", (*text)?)));
    format!("{}: {}{}", error.severity(), error.message(), more.collect::<String>())
}
