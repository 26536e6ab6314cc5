//! While PostgreSQL is down, slow or refuses, a server answers 503, and it recovers by itself. Nothing that was
//! acknowledged is missing afterwards, and nothing is there twice (I9 and I10, docs/invariants.md).

use std::{sync::Arc, thread};

use gateway::SendLimits;
use testkit::{Answer, Api, Cluster, Database, Kit, Options, Receiver, StopMode};
use tokio::task::block_in_place;

use crate::support::{
    load::{CLIENTS, Load, PATIENCE, says_to_come_back},
    wait::until_within,
};

const ROLE: &str = "shop";

/// A server under load, and the database that it has for itself.
struct Stage {
    cluster: Cluster,
    kit: Kit,
    receiver: Receiver,
    load: Arc<Load>,
}

impl Stage {
    async fn set() -> Stage {
        let cluster = block_in_place(|| Cluster::start(&[]));
        // Not the superuser's role, to which no limit applies.
        let admin = cluster.url(ROLE);
        let (address, password) = (admin.split_once('@').unwrap().1, "only for tests");
        cluster.run("postgres", &format!("CREATE ROLE {ROLE} LOGIN PASSWORD '{password}'")).unwrap();
        cluster.run("postgres", &format!("CREATE DATABASE {ROLE} OWNER {ROLE}")).unwrap();
        let url = format!("postgres://{ROLE}:{}@{address}", password.replace(' ', "%20"));
        let kit = Kit::start(Options::default(), Database::Postgres { url }, tempfile::tempdir().unwrap()).await;
        let (project, receiver) = kit.hooked(Answer::Status(200)).await;
        kit.deliver(SendLimits::default());
        let api = Api::new(kit.address, Some(&project.key));
        Stage { cluster, kit, receiver, load: Load::new(project, vec![api]) }
    }

    fn sql(&self, text: &str) -> String {
        block_in_place(|| self.cluster.run(ROLE, text).unwrap())
    }

    fn set_for_all(&self, setting: &str) {
        self.sql(&format!("ALTER SYSTEM {setting}"));
        self.sql("SELECT pg_reload_conf()");
    }

    fn disconnect_all(&self) {
        self.sql(&format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{ROLE}'"));
    }

    /// Waits until requests are answered 503, and checks that the health check says so too.
    async fn turns_away(&self) {
        self.load.turns_away(CLIENTS).await;
        says_to_come_back(self.kit.anonymous().get("/readyz").await);
        self.kit.anonymous().get("/healthz").await;
    }

    /// Waits until the server has recovered by itself.
    async fn recovers(&self) {
        let ready = async || self.kit.anonymous().get("/readyz").await.status == 200;
        until_within(PATIENCE, ready).await;
        self.load.acknowledges(5 * CLIENTS).await;
    }
}

/// Puts a server under load, lets `fault` happen and end some times, and compares what is stored with what was
/// acknowledged.
async fn survives(times: usize, fault: impl AsyncFn(&Stage)) {
    let stage = Stage::set().await;
    let clients = stage.load.begin();
    stage.load.acknowledges(5 * CLIENTS).await;
    for _ in 0..times {
        fault(&stage).await;
        stage.recovers().await;
    }
    stage.load.end(clients).await;
    stage.load.judge(&stage.kit, &stage.receiver).await;
    stage.kit.stop_delivering().await;
    stage.kit.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_outlives_a_restart_of_its_database() {
    survives(2, async |stage| {
        block_in_place(|| stage.cluster.stop(StopMode::Fast));
        stage.turns_away().await;
        block_in_place(|| stage.cluster.start_again());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_outlives_a_crash_of_its_database() {
    survives(3, async |stage| {
        block_in_place(|| stage.cluster.kill());
        stage.turns_away().await;
        block_in_place(|| stage.cluster.start_again());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_outlives_a_database_that_hangs() {
    survives(1, async |stage| {
        block_in_place(|| stage.cluster.pause());
        stage.turns_away().await;
        block_in_place(|| stage.cluster.resume());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_outlives_the_loss_of_all_its_connections() {
    survives(10, async |stage| stage.disconnect_all()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_outlives_having_no_connections_left() {
    survives(1, async |stage| {
        stage.sql(&format!("ALTER ROLE {ROLE} CONNECTION LIMIT 0"));
        stage.disconnect_all();
        stage.turns_away().await;
        // A few are left: requests that get one are served, and the others are answered 503.
        stage.sql(&format!("ALTER ROLE {ROLE} CONNECTION LIMIT 3"));
        stage.load.turns_away(CLIENTS).await;
        stage.sql(&format!("ALTER ROLE {ROLE} CONNECTION LIMIT -1"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_outlives_a_database_that_takes_no_writes() {
    survives(2, async |stage| {
        stage.set_for_all("SET default_transaction_read_only = on");
        stage.turns_away().await;
        stage.set_for_all("RESET default_transaction_read_only");
    })
    .await;
}

/// Writes, reads by key and lists all wait for the same lock, until all connections are taken.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_outlives_a_lock_that_keeps_all_its_connections_waiting() {
    survives(1, async |stage| {
        let lock = "BEGIN; LOCK TABLE payments IN ACCESS EXCLUSIVE MODE; SELECT 'held', pg_sleep(600)";
        thread::scope(|scope| {
            scope.spawn(|| stage.cluster.run(ROLE, lock).unwrap_err());
            let handle = tokio::runtime::Handle::current();
            block_in_place(|| handle.block_on(stage.load.turns_away(3 * CLIENTS)));
            stage.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%''held''%' \
                 AND pid <> pg_backend_pid()",
            );
        });
    })
    .await;
}
