//! Where walks through a merchant's money take place: on a server of a test, whose clock moves and whose nodes are replaced, or on a
//! real process, which is killed.

use std::{collections::BTreeMap, fs, process::Command, sync::Arc, time::Duration};

use reqwest::RequestBuilder;
use serde_json::json;
use testkit::{Api, Cluster, Database, Kit, Program, Ran, Running};

use super::{commands::program, nodes::Node, rows::run_by_hand, wait::until};

const SEED_VARIABLE: &str = "LUNAS_TEST_SEED";
/// Longer than payments of the sandbox take to settle.
const SETTLEMENT: Duration = Duration::from_secs(61);

/// The seeds of so many walks, or the one that somebody wants to see again.
pub(crate) fn seeds(walks: u64) -> Vec<u64> {
    match std::env::var(SEED_VARIABLE) {
        Ok(seed) => vec![seed.parse().expect("a seed is a number")],
        Err(_) => (1..=walks).collect(),
    }
}

/// Draws numbers that are the same for the same seed.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) const fn new(seed: u64) -> Draw {
        Draw(seed)
    }

    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % most as u64).unwrap()
    }
}

/// What each account of a project's ledger holds.
pub(crate) fn ledger(database: &Database, project_id: &str) -> BTreeMap<String, i64> {
    let project = match database {
        Database::Sqlite(_) => format!("(SELECT n.short FROM project_numbers n WHERE n.id = '{project_id}')"),
        Database::Postgres { .. } => format!("'{project_id}'"),
    };
    let sums = "SELECT account || ' ' || CAST(SUM(amount) AS TEXT) FROM entries";
    let sql = format!("{sums} WHERE project_id = {project} GROUP BY account");
    let lines: Vec<String> = match database {
        Database::Sqlite(path) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            connection.busy_timeout(Duration::from_secs(10)).unwrap();
            let mut statement = connection.prepare(&sql).unwrap();
            statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
        }
        Database::Postgres { url } => {
            let sums = tokio::task::block_in_place(|| Cluster::shared().run(url, &sql)).unwrap();
            sums.lines().map(str::to_owned).collect()
        }
    };
    let sum = |line: &String| {
        let (account, sum) = line.split_once(' ').unwrap();
        (account.to_owned(), sum.parse().unwrap())
    };
    lines.iter().map(sum).collect()
}

/// A number that the database answers.
pub(crate) fn number(database: &Database, sql: &str) -> i64 {
    match database {
        Database::Sqlite(path) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            connection.busy_timeout(Duration::from_secs(10)).unwrap();
            connection.query_row(sql, [], |row| row.get(0)).unwrap()
        }
        Database::Postgres { url } => {
            tokio::task::block_in_place(|| Cluster::shared().run(url, sql)).unwrap().trim().parse().unwrap()
        }
    }
}

pub(crate) enum Place {
    Inside { kit: Arc<Kit>, key: String, node: Option<Box<Node>> },
    Outside(Killed),
}

impl Place {
    pub(crate) const fn inside(kit: Arc<Kit>, key: String) -> Place {
        Place::Inside { kit, key, node: None }
    }

    pub(crate) fn database(&self) -> &Database {
        match self {
            Place::Inside { kit, .. } => &kit.database,
            Place::Outside(killed) => &killed.database,
        }
    }

    pub(crate) fn api(&self) -> Api {
        match self {
            Place::Inside { kit, key, node } => {
                Api::new(node.as_ref().map_or(kit.address, |node| node.address), Some(key))
            }
            Place::Outside(killed) => killed.running().api(),
        }
    }

    /// The time by which payments and refunds are judged. On a process nothing of a walk depends on it.
    pub(crate) fn now(&self) -> i64 {
        match self {
            Place::Inside { kit, .. } => kit.engine.now().as_millis(),
            Place::Outside(_) => 0,
        }
    }

    /// Lets time pass, where a test can.
    pub(crate) fn pass(&self, time: Duration) -> bool {
        match self {
            Place::Inside { kit, .. } => {
                kit.clock.advance(time);
                true
            }
            Place::Outside(_) => false,
        }
    }

    /// Whether a walk may leave a refund of this amount alone: on a process most end by themselves.
    pub(crate) fn takes(&self, amount: i64) -> bool {
        matches!(self, Place::Inside { .. }) || amount % 1_000 == 903
    }

    /// Those amounts that a walk may refund here.
    pub(crate) fn amounts(&self, all: &[i64]) -> Vec<i64> {
        all.iter().copied().filter(|amount| self.takes(*amount)).collect()
    }

    /// Lets the sandbox do what is due.
    pub(crate) async fn simulate_due(&self) {
        if let Place::Inside { kit, node, .. } = self {
            let engine = node.as_ref().map_or(&kit.engine, |node| &node.engine);
            engine.simulate_due_refunds().await.unwrap();
        }
    }

    /// Lets all payments settle.
    pub(crate) async fn settle(&self) {
        match self {
            Place::Inside { kit, node, .. } => {
                kit.clock.advance(SETTLEMENT);
                let engine = node.as_ref().map_or(&kit.engine, |node| &node.engine);
                while engine.settle_due().await.unwrap() > 0 {}
            }
            Place::Outside(killed) => {
                let due = "UPDATE payments SET settles_at = created_at WHERE settles_at IS NOT NULL";
                tokio::task::block_in_place(|| run_by_hand(&killed.database, due));
                let unsettled = "SELECT COUNT(*) FROM payments WHERE settles_at IS NOT NULL";
                until(async || number(&killed.database, unsettled) == 0).await;
            }
        }
    }

    /// Another server goes on, which remembers nothing.
    pub(crate) async fn restart(&mut self) {
        match self {
            Place::Inside { kit, node, .. } => {
                let before = node.replace(Box::new(Node::beside(kit).await));
                if let Some(before) = before {
                    before.stop().await;
                }
            }
            Place::Outside(killed) => killed.restart(),
        }
    }

    /// Sends a request of which nobody hears the answer: the client hangs up after a while, or the server dies.
    pub(crate) async fn lose(&mut self, request: RequestBuilder, after: Duration) {
        match self {
            // Whether it came so far that it was answered is the same to the walk.
            Place::Inside { .. } => drop(tokio::time::timeout(after, request.send()).await),
            Place::Outside(killed) => {
                let sent = tokio::spawn(request.send());
                tokio::time::sleep(after).await;
                killed.restart();
                // A broken connection is what is wanted.
                drop(sent.await.unwrap());
            }
        }
    }

    pub(crate) async fn close(self) {
        match self {
            Place::Inside { node, .. } => {
                if let Some(node) = node {
                    node.stop().await;
                }
            }
            Place::Outside(killed) => killed.end(),
        }
    }
}

/// `lunas dev`, which is killed and started again.
pub(crate) struct Killed {
    program: Program,
    database: Database,
    running: Option<Running>,
}

impl Killed {
    pub(crate) fn on_sqlite() -> Killed {
        let program = program();
        fs::create_dir(program.data()).unwrap();
        let database = Database::sqlite_in(&program.data());
        Killed::on(program, database)
    }

    pub(crate) fn on_postgres() -> Killed {
        Killed::on(program(), Database::Postgres { url: Cluster::shared().fresh_database() })
    }

    fn on(program: Program, database: Database) -> Killed {
        let mut killed = Killed { program, database, running: None };
        killed.restart();
        killed
    }

    fn running(&self) -> &Running {
        self.running.as_ref().unwrap()
    }

    pub(crate) fn project_id(&self) -> &str {
        self.running().said("project_id")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program.command(arguments);
        command.env("LUNAS_DATABASE", self.database.url()).env("LUNAS_RATE_LIMIT", "0");
        command
    }

    fn restart(&mut self) {
        if let Some(running) = self.running.take() {
            running.kill();
        }
        let mut command = self.command(&["dev", "--json", "--listen", "127.0.0.1:0", "--data"]);
        command.arg(self.program.data());
        self.running = Some(tokio::task::block_in_place(|| Running::start(command, self.program.directory.path())));
    }

    fn end(self) {
        let verified = Ran::from(self.command(&["verify", "--json"]).output().unwrap()).json(0);
        assert_eq!((&verified["ok"], &verified["breaches"]), (&json!(true), &json!([])));
    }
}
