//! Where commits wait for a standby, nothing is acknowledged that the standby may not have. When that wait is
//! interrupted, PostgreSQL still answers that the commit succeeded, and only a warning says that the standby may lack
//! it (I9, docs/invariants.md).

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use domain::method::Method;
use futures_util::future::join_all;
use gateway::SendLimits;
use serde_json::{Value, json};
use store::CONNECTIONS;
use testkit::{Answer, Cluster, Database, Kit, Options, Receiver, Reply, StopMode, TestProject};
use tokio::task::{JoinHandle, block_in_place};

use crate::support::{
    json::id,
    links::attempt,
    load::{PATIENCE, says_to_come_back},
    payments::total,
    samples,
    wait::until_within,
};

const STANDBY: &str = "mirror";

/// A server on a database whose commits wait for a standby.
struct Mirrored {
    primary: Cluster,
    standby: Cluster,
    kit: Arc<Kit>,
    project: Arc<TestProject>,
    receiver: Receiver,
}

impl Mirrored {
    async fn start() -> Mirrored {
        // Warnings are off in this server's configuration, so the product must ask for them.
        let primary = block_in_place(|| Cluster::start(&[("client_min_messages", "error")]));
        let standby = block_in_place(|| primary.standby_of(STANDBY, &[]));
        let database = Database::Postgres { url: primary.fresh_database() };
        let kit = Kit::start(Options::default(), database, tempfile::tempdir().unwrap()).await;
        let (project, receiver) = kit.hooked(Answer::Status(200)).await;
        let mirrored = Mirrored { primary, standby, kit: Arc::new(kit), project: Arc::new(project), receiver };
        mirrored.wait_for(STANDBY);
        let synchronous = "SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        until_within(PATIENCE, async || mirrored.sql(synchronous) == "1").await;
        mirrored
    }

    fn sql(&self, text: &str) -> String {
        block_in_place(|| self.primary.run(&self.kit.database.url(), text).unwrap())
    }

    /// Sets which standbys commits wait for.
    fn wait_for(&self, names: &str) {
        self.sql(&format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'"));
        self.sql("SELECT pg_reload_conf()");
    }

    /// Cancels the wait for the standby once a commit waits for it; returns the answer of that request.
    async fn broken_off(&self, asked: JoinHandle<Reply>) -> Reply {
        let breaking = "SELECT COUNT(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        until_within(PATIENCE, async || asked.is_finished() || self.sql(breaking) != "0").await;
        asked.await.unwrap()
    }

    fn ask<Asked: Future<Output = Reply> + Send + 'static>(
        &self,
        ask: impl FnOnce(Arc<TestProject>) -> Asked,
    ) -> JoinHandle<Reply> {
        tokio::spawn(ask(Arc::clone(&self.project)))
    }

    async fn stop(self) {
        self.kit.stop_delivering().await;
        assert_eq!(self.kit.store.breaches().await.unwrap(), []);
        Arc::into_inner(self.kit).unwrap().stop().await;
    }
}

/// Sends a request while the standby is down and cancels its wait, then repeats it with and without a cancelled wait:
/// none is acknowledged. With the standby back, the same request is answered with the status `right`.
async fn holds<Asked: Future<Output = Reply> + Send + 'static>(
    mirrored: &Mirrored,
    ask: impl Fn(Arc<TestProject>) -> Asked,
    right: impl Fn(Reply),
) {
    block_in_place(|| mirrored.standby.stop(StopMode::Fast));
    for _ in 0..3 {
        says_to_come_back(mirrored.broken_off(mirrored.ask(&ask)).await);
    }
    says_to_come_back(mirrored.ask(&ask).await.unwrap());
    block_in_place(|| mirrored.standby.start_again());
    right(mirrored.ask(&ask).await.unwrap());
}

async fn pay(project: Arc<TestProject>, payment: Value) -> Reply {
    let report = json!({ "outcome": "paid", "receipt_id": "r-1" });
    project.api.post(&format!("/v1/sandbox/payments/{}/simulate", id(&payment)), &report).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payment_is_not_acknowledged_before_the_standby_has_it_and_neither_is_its_repetition() {
    let mirrored = Mirrored::start().await;
    let create = async |project: Arc<TestProject>| project.api.pay("k-1", &samples::qris(&project, 15_000)).await;
    let create = |project| Box::pin(create(project));
    holds(&mirrored, create, |reply| assert_eq!(reply.expect(200)["status"], "pending")).await;
    assert_eq!(total(&mirrored.project.api, "/v1/payments").await, 1);
    mirrored.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn money_is_not_acknowledged_before_the_standby_has_it_and_neither_is_its_repetition() {
    let mirrored = Mirrored::start().await;
    let payment = mirrored.project.api.pay("k-1", &samples::qris(&mirrored.project, 15_000)).await.expect(201);
    let report = |project| pay(project, payment.clone());
    holds(&mirrored, report, |reply| assert_eq!(reply.expect(200)["status"], "paid")).await;
    // The sender of webhooks waits for the standby too.
    mirrored.kit.deliver(SendLimits::default());
    mirrored.receiver.arrived(1).await;
    mirrored.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_webhook_is_sent_about_what_the_standby_may_not_have() {
    let mirrored = Mirrored::start().await;
    let payment = mirrored.project.api.pay("k-1", &samples::qris(&mirrored.project, 15_000)).await.expect(201);
    block_in_place(|| mirrored.standby.stop(StopMode::Fast));
    says_to_come_back(mirrored.broken_off(mirrored.ask(|project| pay(project, payment))).await);
    assert_eq!(mirrored.sql("SELECT COUNT(*) FROM deliveries"), "1", "the event is there for whoever looks");
    mirrored.kit.deliver(SendLimits::default());
    let leasing = "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    until_within(PATIENCE, async || mirrored.sql(leasing) != "0").await;
    assert_eq!(mirrored.receiver.count(), 0);
    block_in_place(|| mirrored.standby.start_again());
    until_within(PATIENCE, async || {
        mirrored.kit.clock.advance(Duration::from_secs(30));
        mirrored.receiver.count() > 0
    })
    .await;
    mirrored.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revocation_is_not_acknowledged_before_the_standby_has_it_and_neither_is_its_repetition() {
    let mirrored = Mirrored::start().await;
    let (key, _) = mirrored.kit.engine.create_key(mirrored.project.id, "spare".to_owned()).await.unwrap();
    let path = format!("/v1/api-keys/{}", key.id);
    let revoke = |project: Arc<TestProject>| {
        let path = path.clone();
        async move { project.api.delete(&path).await }
    };
    holds(&mirrored, revoke, |reply| drop(reply.expect(200))).await;
    mirrored.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancellation_is_not_acknowledged_before_the_standby_has_it_and_neither_is_its_repetition() {
    let mirrored = Mirrored::start().await;
    let project = &mirrored.project;
    let link = project.api.post("/v1/payment-links", &samples::link(project, 15_000)).await.expect(201);
    attempt(&mirrored.kit, project, &link, Method::Qris).await;
    let path = format!("/v1/payment-links/{}/cancel", id(&link));
    let cancel = |project: Arc<TestProject>| {
        let path = path.clone();
        async move { project.api.send(project.api.request(reqwest::Method::POST, &path)).await }
    };
    let ended = |reply: Reply| drop(reply.refused(409, "PAYMENT_LINK_NOT_ACTIVE"));
    holds(&mirrored, cancel, ended).await;
    mirrored.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_who_gives_the_standby_up_lets_commits_through() {
    let mirrored = Mirrored::start().await;
    block_in_place(|| mirrored.standby.stop(StopMode::Fast));
    let create = async |project: Arc<TestProject>| project.api.pay("k-1", &samples::qris(&project, 15_000)).await;
    says_to_come_back(mirrored.broken_off(mirrored.ask(|project| Box::pin(create(project)))).await);
    mirrored.wait_for("");
    create(Arc::clone(&mirrored.project)).await.expect(200);
    mirrored.stop().await;
}

/// Regression: the health check only read, so it said ready while every commit waited in vain.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_whose_commits_wait_for_the_standby_in_vain_is_not_ready() {
    let mirrored = Mirrored::start().await;
    let ready = async || mirrored.kit.anonymous().get("/readyz").await.status == 200;
    assert!(ready().await);
    block_in_place(|| mirrored.standby.stop(StopMode::Fast));
    until_within(PATIENCE, async || !ready().await).await;
    says_to_come_back(mirrored.kit.anonymous().get("/readyz").await);
    mirrored.project.api.get("/v1/payments").await.expect(200);
    block_in_place(|| mirrored.standby.start_again());
    until_within(PATIENCE, ready).await;
    mirrored.stop().await;
}

/// Regression: a commit that timed out kept waiting in the database and kept its connection, while the node opened
/// another, until the database had no connection left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_keeps_to_its_connections_however_long_the_standby_is_away() {
    let mirrored = Mirrored::start().await;
    let order = samples::qris(&mirrored.project, 15_000);
    mirrored.project.api.pay("k-0", &order).await.expect(201);
    block_in_place(|| mirrored.standby.stop(StopMode::Fast));
    // Half of the requests are new, and the others repeat acknowledged ones.
    let keys: Vec<String> = (0..40).map(|number| format!("k-{}", number / 2 * (number % 2))).collect();
    let ask = || join_all(keys.iter().map(|key| mirrored.project.api.pay(key, &order)));
    for _ in 0..2 {
        ask().await.into_iter().for_each(says_to_come_back);
        let taken = mirrored.sql("SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'lunas'");
        assert!(taken.parse::<usize>().unwrap() <= CONNECTIONS, "{taken} connections");
        mirrored.project.api.get("/v1/payments").await.expect(200);
    }
    block_in_place(|| mirrored.standby.start_again());
    let answered = async || ask().await.iter().all(|reply| [200, 201].contains(&reply.status.as_u16()));
    until_within(PATIENCE, answered).await;
    let made: BTreeSet<&String> = keys.iter().collect();
    assert_eq!(usize::try_from(total(&mirrored.project.api, "/v1/payments").await), Ok(made.len()));
    mirrored.stop().await;
}
