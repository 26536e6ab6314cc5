//! Under load, a primary that dies is replaced by its standby, again and again: two nodes that know both addresses
//! recover by themselves, and nothing that was acknowledged is lost (I9), doubled (I5) or left unsent (I7,
//! docs/invariants.md).

use std::sync::Arc;

use engine::Reconcilers;
use gateway::SendLimits;
use testkit::{Answer, Api, Cluster, Database, Kit, Options, Receiver};
use tokio::task::block_in_place;

use crate::support::{
    load::{CLIENTS, Load, PATIENCE},
    nodes::Node,
    wait::until_within,
};

/// How often the primary is killed, unless this variable says otherwise.
const PROMOTIONS: usize = 3;
const PROMOTIONS_VARIABLE: &str = "LUNAS_TEST_PROMOTIONS";
const STANDBY: &str = "mirror";
/// A promoted standby waits for a standby of its own: until it has one, it acknowledges nothing.
const WAITS: [(&str, &str); 1] = [("synchronous_standby_names", STANDBY)];

/// A primary and the standby that its commits wait for.
struct Pair {
    primary: Cluster,
    standby: Cluster,
}

impl Pair {
    async fn start(settings: &[(&str, &str)]) -> Pair {
        let primary = block_in_place(|| Cluster::start(&[]));
        let standby = block_in_place(|| primary.standby_of(STANDBY, settings));
        let wait = format!("ALTER SYSTEM SET synchronous_standby_names = '{STANDBY}'");
        primary.run("postgres", &wait).unwrap();
        primary.run("postgres", "SELECT pg_reload_conf()").unwrap();
        Pair { primary, standby }.mirrored().await
    }

    /// A URL that names both of them.
    fn url(&self, database: &str) -> String {
        let (primary, standby) = (self.primary.port(), self.standby.port());
        let both = format!("127.0.0.1:{primary},127.0.0.1:{standby}");
        self.primary.url(database).replace(&format!("127.0.0.1:{primary}"), &both)
    }

    /// Waits until commits are synchronous with the standby.
    async fn mirrored(self) -> Pair {
        let synchronous = "SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        let mirrors = async || block_in_place(|| self.primary.run("postgres", synchronous)).as_deref() == Ok("1");
        until_within(PATIENCE, mirrors).await;
        self
    }

    /// Pauses the standby until it lacks commits that clients wait for.
    async fn fall_behind(&self) {
        block_in_place(|| self.standby.pause());
        let waiting = "SELECT COUNT(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        until_within(PATIENCE, async || block_in_place(|| self.primary.run("postgres", waiting)).as_deref() == Ok("t"))
            .await;
    }

    /// Kills the primary, promotes the standby, and starts a new standby where the primary was.
    async fn fail_over(self) -> Pair {
        let pair = block_in_place(|| {
            self.primary.kill();
            // The standby may be paused.
            self.standby.resume();
            self.standby.promote();
            let standby = self.primary.replaced_by_standby_of(&self.standby, STANDBY, &WAITS);
            Pair { primary: self.standby, standby }
        });
        pair.mirrored().await
    }
}

/// Two nodes that share a pair of databases, and their clients.
struct Shop {
    kit: Kit,
    node: Node,
    sending: Reconcilers,
    receiver: Receiver,
    load: Arc<Load>,
}

impl Shop {
    async fn open(pair: &Pair) -> Shop {
        pair.primary.run("postgres", "CREATE DATABASE shop").unwrap();
        let database = Database::Postgres { url: pair.url("shop") };
        let kit = Kit::start(Options::default(), database, tempfile::tempdir().unwrap()).await;
        let node = Node::beside(&kit).await;
        let (project, receiver) = kit.hooked(Answer::Status(200)).await;
        kit.deliver(SendLimits::default());
        let sending = Reconcilers::start(&node.engine, kit.courier(SendLimits::default()));
        let apis = [kit.address, node.address].map(|address| Api::new(address, Some(&project.key)));
        Shop { kit, node, sending, receiver, load: Load::new(project, apis.to_vec()) }
    }

    async fn judge_and_close(self) {
        self.load.judge(&self.kit, &self.receiver).await;
        self.kit.stop_delivering().await;
        self.sending.stop().await;
        self.node.stop().await;
        self.kit.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_however_often_the_standby_takes_over() {
    let wanted = std::env::var(PROMOTIONS_VARIABLE).map(|wanted| wanted.parse().expect("a number of promotions"));
    let promotions = wanted.unwrap_or(PROMOTIONS);
    let mut pair = Pair::start(&WAITS).await;
    let shop = Shop::open(&pair).await;
    let clients = shop.load.begin();
    for promotion in 0..promotions {
        // Different numbers, so that the kills happen at different points.
        shop.load.acknowledges(25 * CLIENTS + 17 * (promotion % 5)).await;
        if promotion % 2 == 1 {
            pair.fall_behind().await;
        }
        pair = pair.fail_over().await;
    }
    shop.load.acknowledges(5 * CLIENTS).await;
    shop.load.end(clients).await;
    let (created, paid, unavailable) = shop.load.counts();
    println!("{promotions} promotions: {created} created, {paid} paid, {unavailable} told to come back");
    shop.judge_and_close().await;
}

/// A hanging primary keeps its connections open and accepts new ones, but answers nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_leave_a_hanging_primary_for_the_new_one() {
    let pair = Pair::start(&[]).await;
    let shop = Shop::open(&pair).await;
    let clients = shop.load.begin();
    shop.load.acknowledges(5 * CLIENTS).await;
    block_in_place(|| {
        pair.primary.pause();
        pair.standby.promote();
    });
    shop.load.acknowledges(5 * CLIENTS).await;
    block_in_place(|| pair.primary.kill());
    shop.load.acknowledges(5 * CLIENTS).await;
    shop.load.end(clients).await;
    shop.judge_and_close().await;
}
