//! A server for one test, with a new database and a clock that the test moves.

use std::{
    future::Future,
    net::SocketAddr,
    num::NonZeroU32,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use domain::{
    attempt_limits::AttemptLimits,
    id::{KeyId, ProjectId},
    key_rights::KeyRights,
    project::Environment,
};
use engine::{
    Clock, Courier, Engine, NewKey, NewProject, Notices, OperatorUrl, ProjectUpdate, Reconcilers, SecretKey, Settings,
};
use gateway::{AddressGuard, SendLimits, WebhookSender};
use pgcluster::ScratchDatabase;
use store::{Store, StoreError};
use tempfile::TempDir;
use tokio::{sync::oneshot, task::JoinHandle};
use web::{ServerConfig, Timeouts, limits::BANK_CALLS_PER_SECOND};

use crate::{Answer, Api, Database, ManualClock, Receiver};

/// What a test may set otherwise than usual.
#[derive(Clone, Default)]
pub struct Options {
    /// Requests per second and key; 0, the default, lifts all limits.
    pub rate_limit_per_second: u32,
    /// Calls per second and bank account; as a server of an operator has it when not given.
    pub bank_calls_per_second: Option<NonZeroU32>,
    pub timeouts: Timeouts,
    pub base_url: Option<String>,
    pub trusted_proxies: Vec<ipnet::IpNet>,
    pub attempts: AttemptLimits,
    /// Connections of one address; 0, the default, lifts the limit.
    pub connections_per_address: usize,
    /// Serves no documentation.
    pub without_docs: bool,
    /// Every user needs a second factor.
    pub factor_required: bool,
    /// Where notices for operators go.
    pub operator_url: Option<OperatorUrl>,
}

/// How long deliveries that are due when a test ends may take, and how often they are looked for.
const DUE_WITHIN: Duration = Duration::from_secs(30);
const DUE_POLL: Duration = Duration::from_millis(10);

/// A running server with its engine, its store and its clock. Reconcilers run only when a test starts or calls them.
pub struct Kit {
    pub address: SocketAddr,
    pub engine: Engine,
    pub store: Store,
    pub clock: Arc<ManualClock>,
    pub directory: TempDir,
    pub database: Database,
    /// Where this server's pages are.
    pub pages_url: String,
    /// The installation's key for stored secrets, which its other nodes need too.
    pub secret_key: SecretKey,
    reconcilers: Mutex<Vec<Reconcilers>>,
    /// Whether the test fails when it ends with a due delivery.
    leaves_nothing_due: AtomicBool,
    stop: Mutex<Option<oneshot::Sender<()>>>,
    task: Mutex<Option<JoinHandle<()>>>,
    /// Drops the database, unless the test has created it.
    _scratch: Option<ScratchDatabase>,
}

/// A project with a live key.
pub struct TestProject {
    pub id: ProjectId,
    pub key_id: KeyId,
    pub key: String,
    pub api: Api,
}

/// Makes two tests of each function in the list, `on_sqlite::rule` and `on_postgres::rule`, so that a failure says on
/// which database a rule does not hold, and both run side by side. It is for rules that the database decides; for all
/// others there is [`on_sqlite_alone!`]. A function takes an `Arc<Kit>`; a function that is in no list is dead code, of
/// which the compiler warns.
///
/// An entry may say how many threads the test runs on (one, unless it says so), and name the function of the same file
/// that makes the server's [`Options`]:
///
/// ```ignore
/// on_every_database![
///     a_rule,
///     a_rule_of_a_limited_server with rate_limit(1),
///     a_rule_about_races on 4 threads,
/// ];
/// ```
#[macro_export]
macro_rules! on_every_database {
    (@options) => { $crate::Options::default() };
    (@options $options:expr) => { $options };
    (@test $run:ident, $test:ident, [], $($options:expr)?) => {
        #[tokio::test]
        async fn $test() {
            $crate::$run($crate::on_every_database!(@options $($options)?), super::$test).await;
        }
    };
    (@test $run:ident, $test:ident, [$threads:tt], $($options:expr)?) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = $threads)]
        async fn $test() {
            $crate::$run($crate::on_every_database!(@options $($options)?), super::$test).await;
        }
    };
    ($($test:ident $(on $threads:tt threads)? $(with $options:ident($($argument:expr),*))?),* $(,)?) => {
        mod on_sqlite {
            $($crate::on_every_database!(@test
                on_sqlite_with, $test, [$($threads)?], $(super::$options($($argument),*))?);)*
        }

        mod on_postgres {
            $($crate::on_every_database!(@test
                on_postgres_with, $test, [$($threads)?], $(super::$options($($argument),*))?);)*
        }
    };
}

/// Makes one test of each function in the list, `on_sqlite_alone::rule`, for rules that no database decides: what is read
/// from a request, and how an answer or a page looks. Entries are as in [`on_every_database!`].
#[macro_export]
macro_rules! on_sqlite_alone {
    ($($test:ident $(on $threads:tt threads)? $(with $options:ident($($argument:expr),*))?),* $(,)?) => {
        mod on_sqlite_alone {
            $($crate::on_every_database!(@test
                on_sqlite_with, $test, [$($threads)?], $(super::$options($($argument),*))?);)*
        }
    };
}

/// Runs a test on a new server with an SQLite database, for what needs no other database, such as how pages look.
pub async fn on_sqlite<Test: Future<Output = ()>>(test: impl FnOnce(Arc<Kit>) -> Test) {
    on_sqlite_with(Options::default(), test).await;
}

/// Runs a test on a new server with a PostgreSQL database, for what a file on one machine cannot do.
pub async fn on_postgres<Test: Future<Output = ()>>(test: impl FnOnce(Arc<Kit>) -> Test) {
    on_postgres_with(Options::default(), test).await;
}

pub async fn on_sqlite_with<Test: Future<Output = ()>>(options: Options, test: impl FnOnce(Arc<Kit>) -> Test) {
    run(Kit::start_on_sqlite(options).await, test).await;
}

pub async fn on_postgres_with<Test: Future<Output = ()>>(options: Options, test: impl FnOnce(Arc<Kit>) -> Test) {
    run(Kit::start_on_postgres(options).await, test).await;
}

/// Runs a test, and checks afterwards that every invariant holds and that a test that delivered has left nothing due.
async fn run<Test: Future<Output = ()>>(kit: Kit, test: impl FnOnce(Arc<Kit>) -> Test) {
    let kit = Arc::new(kit);
    let database = kit.database.name();
    test(Arc::clone(&kit)).await;
    if kit.leaves_nothing_due.load(Ordering::SeqCst) {
        // What a test requested last may still be due.
        let made = async {
            while !patiently(async || kit.store.due_deliveries(kit.engine.now(), 1).await).await.is_empty() {
                tokio::time::sleep(DUE_POLL).await;
            }
        };
        let _ = tokio::time::timeout(DUE_WITHIN, made).await;
    }
    kit.stop_delivering().await;
    if kit.leaves_nothing_due.load(Ordering::SeqCst) {
        let due = patiently(async || kit.store.due_deliveries(kit.engine.now(), 1).await).await;
        assert_eq!(due, [], "a delivery is due and was not made, on {database}");
    }
    let breaches = patiently(async || kit.store.breaches().await).await;
    assert_eq!(breaches, [], "an invariant is broken after the test, on {database}");
    if let Ok(kit) = Arc::try_unwrap(kit) {
        kit.stop().await;
    }
}

/// Reads after a test. On a busy machine a connection may take longer to open than a server would wait for one.
async fn patiently<T>(read: impl AsyncFn() -> Result<T, StoreError>) -> T {
    let began = Instant::now();
    loop {
        match read().await {
            Err(StoreError::Unavailable(_)) if began.elapsed() < DUE_WITHIN => tokio::time::sleep(DUE_POLL).await,
            found => return found.unwrap(),
        }
    }
}

impl Kit {
    async fn start_on_sqlite(options: Options) -> Kit {
        let directory = tempfile::tempdir().unwrap();
        let database = Database::fresh_sqlite(directory.path()).await;
        Kit::start(options, database, directory).await
    }

    async fn start_on_postgres(options: Options) -> Kit {
        let scratch = Database::fresh_postgres().await;
        let database = Database::Postgres { url: scratch.url().to_owned() };
        let kit = Kit::start(options, database, tempfile::tempdir().unwrap()).await;
        Kit { _scratch: Some(scratch), ..kit }
    }

    /// Runs a test on one more server with other options, which has a new database of the same kind as this one.
    pub async fn on_another<Test: Future<Output = ()>>(&self, options: Options, test: impl FnOnce(Arc<Kit>) -> Test) {
        match self.database {
            Database::Sqlite(_) => on_sqlite_with(options, test).await,
            Database::Postgres { .. } => on_postgres_with(options, test).await,
        }
    }

    /// A server on a database that the test has made.
    pub async fn start(options: Options, database: Database, directory: TempDir) -> Kit {
        let store = database.open().await;
        let clock = Arc::new(ManualClock::default());
        let secret_key = SecretKey::from_base64(&SecretKey::generate_base64()).unwrap();
        let ticking: Arc<dyn Clock> = clock.clone();
        let settings =
            Settings { attempts: options.attempts, factor_required: options.factor_required, ..Settings::default() };
        let engine = Engine::new(store.clone(), ticking, settings, secret_key.clone());
        let config = ServerConfig {
            listen: ([127, 0, 0, 1], 0).into(),
            base_url: options.base_url,
            pages_url: None,
            rate_limit_per_second: options.rate_limit_per_second,
            bank_calls_per_second: options.bank_calls_per_second.unwrap_or(BANK_CALLS_PER_SECOND),
            trusted_proxies: options.trusted_proxies,
            connections_per_address: options.connections_per_address,
            signature_header: "X-Service-Signature".to_owned(),
            is_development: false,
            has_docs: !options.without_docs,
            timeouts: options.timeouts,
        };
        let server = lunas::bind(engine.clone(), config).await.unwrap();
        let (address, pages_url) = (server.address(), server.pages_url().to_owned());
        engine.set_up_notices(Notices { pages_url: pages_url.clone(), operators: options.operator_url });
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(server.run(async {
            let _ = stopped.await;
        }));
        Kit {
            address,
            engine,
            store,
            clock,
            directory,
            database,
            pages_url,
            secret_key,
            reconcilers: Mutex::default(),
            leaves_nothing_due: AtomicBool::new(false),
            stop: Mutex::new(Some(stop)),
            task: Mutex::new(Some(task)),
            _scratch: None,
        }
    }

    /// Stops as on SIGTERM: requests in flight are answered first.
    pub async fn stop(self) {
        self.ask_to_stop();
        self.stopped().await;
        self.store.close().await;
    }

    /// Asks the server to stop, and does not wait until it has.
    pub fn ask_to_stop(&self) {
        if let Some(stop) = self.stop.lock().unwrap().take() {
            // The server may have stopped already.
            let _ = stop.send(());
        }
    }

    /// Whether the server has stopped, or [`Kit::stopped`] waits for that.
    pub fn has_stopped(&self) -> bool {
        self.task.lock().unwrap().as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits until the server has stopped.
    pub async fn stopped(&self) {
        let task = self.task.lock().unwrap().take();
        if let Some(task) = task {
            task.await.unwrap();
        }
    }

    /// Sends this server's webhooks, with these time limits.
    pub fn courier(&self, limits: SendLimits) -> Courier {
        Courier {
            // The receivers of tests are on this machine, which the guard allows for development.
            sender: WebhookSender::new(AddressGuard::new(Vec::new(), true), limits).unwrap(),
            signature_header: "X-Service-Signature".to_owned(),
            in_flight_per_project: 64,
            pages_url: self.pages_url.clone(),
        }
    }

    /// Starts the reconcilers as the server does; they run until the test ends, or until [`Kit::stop_delivering`].
    pub fn deliver(&self, limits: SendLimits) {
        self.leaves_nothing_due.store(true, Ordering::SeqCst);
        self.reconcilers.lock().unwrap().push(Reconcilers::start(&self.engine, self.courier(limits)));
    }

    /// Stops what [`Kit::deliver`] has started, as the server does when it stops.
    pub async fn stop_delivering(&self) {
        let reconcilers = std::mem::take(&mut *self.reconcilers.lock().unwrap());
        for reconcilers in reconcilers {
            reconcilers.stop().await;
        }
    }

    /// Drops what [`Kit::deliver`] has started in the middle of its work, as the death of the process would.
    pub fn crash(&self) {
        self.reconcilers.lock().unwrap().clear();
    }

    /// For a test at whose end deliveries are due on purpose.
    pub fn may_leave_deliveries_due(&self) {
        self.leaves_nothing_due.store(false, Ordering::SeqCst);
    }

    /// A sandbox project, and the receiver of its webhooks, which gives that answer.
    pub async fn hooked(&self, answer: Answer) -> (TestProject, Receiver) {
        let (project, receiver) = (self.sandbox().await, Receiver::answering(answer).await);
        self.set_webhook_url(project.id, Some(&receiver.url())).await;
        (project, receiver)
    }

    /// Sets a project's webhook URL, and marks the installation as one for development, which may send to this machine.
    pub async fn set_webhook_url(&self, project: ProjectId, url: Option<&str>) {
        self.engine.mark_development().await.unwrap();
        let webhook_url = Some(url.map(str::to_owned));
        self.update(project, ProjectUpdate { webhook_url, ..ProjectUpdate::default() }).await;
    }

    /// A client without a key.
    pub fn anonymous(&self) -> Api {
        Api::new(self.address, None)
    }

    pub async fn sandbox(&self) -> TestProject {
        self.project(Environment::Sandbox).await
    }

    /// A production project that an operator has approved.
    pub async fn production(&self) -> TestProject {
        let project = self.project(Environment::Production).await;
        self.update(project.id, ProjectUpdate { approved: Some(true), ..ProjectUpdate::default() }).await;
        project
    }

    pub async fn project(&self, environment: Environment) -> TestProject {
        let new = NewProject { name: "Toko".to_owned(), environment, merchant_name: Some("Toko Kopi".to_owned()) };
        let (project, _) = self.engine.create_project(new).await.unwrap();
        let new = NewKey { rights: KeyRights::ALL, ..NewKey::from("first".to_owned()) };
        let (key, secret) = self.engine.create_key(project.id, new).await.unwrap();
        let key_text = secret.reveal().to_owned();
        let api = Api::new(self.address, Some(&key_text));
        TestProject { id: project.id, key_id: key.id, key: key_text, api }
    }

    pub async fn update(&self, project: ProjectId, update: ProjectUpdate) {
        self.engine.update_project(project, update).await.unwrap();
    }
}
