//! Nodes: which of them are alive, and that the leases of one that is gone are given back, and no others.

use domain::{
    delivery::{Attempt, Delivery, DeliveryState, Jitter},
    id::EventId,
    project::Project,
    time::Timestamp,
};
use pgcluster::Cluster;
use store::{Guard, KeyWrite, NodeId, NodeWrite, Store, WebhookWrite};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{self, NOW, after, kept_delivery, kept_project},
};

on_every_database![
    what_a_node_that_is_gone_had_leased_is_due_at_once_and_nothing_else,
    a_node_that_beats_again_keeps_its_leases,
    what_nodes_without_a_beat_had_leased_is_due_once_a_server_starts,
    a_node_that_stops_is_forgotten_and_leaves_no_lease,
];

const DEAD: NodeId = NodeId::drawn(u64::MAX);
const ALIVE: NodeId = NodeId::drawn(7);

/// A delivery that a node has leased until then.
async fn leased(store: &Store, project: &Project, node: NodeId, until: Timestamp) -> Delivery {
    let delivery = kept_delivery(store, project).await;
    let event_id = delivery.event_id;
    keep(store, WebhookWrite::DeliveryMoved { event_id, from: NOW, to: until, leased_by: Some(node) }).await;
    delivery
}

/// A delivery that has failed once and is tried again later.
async fn failed(store: &Store, project: &Project) -> Delivery {
    let (delivery, attempt) = (kept_delivery(store, project).await, samples::attempt_refused());
    let delivery = delivery.attempted(&attempt.outcome, after(10), Jitter::NONE);
    keep(store, WebhookWrite::Attempted { leased_until: NOW, leased_by: None, delivery, attempt }).await;
    delivery
}

/// The ids of what is due then.
async fn due(store: &Store, at: Timestamp) -> Vec<EventId> {
    let due = store.due_deliveries(at, 100).await.unwrap();
    due.into_iter().map(|delivery| delivery.event_id).collect()
}

/// The attempt of a lease until `leased_until`, as the node would save it.
fn saved(delivery: Delivery, node: NodeId, leased_until: Timestamp) -> WebhookWrite {
    let attempt = Attempt { at: NOW, ..samples::attempt_refused() };
    let delivery = delivery.attempted(&attempt.outcome, after(10), Jitter::NONE);
    WebhookWrite::Attempted { leased_until, leased_by: Some(node), delivery, attempt }
}

/// One node beats once, the one that will be gone twice.
async fn beat_both(store: &Store) {
    for node in [DEAD, ALIVE, DEAD] {
        keep(store, NodeWrite::Beat { node }).await;
    }
    let mut nodes = store.nodes().await.unwrap();
    nodes.sort_by_key(|(_, beat)| *beat);
    assert_eq!(nodes, [(ALIVE, 1), (DEAD, 2)]);
}

async fn check_due(store: &Store, delivery: Delivery, due_at: Timestamp) {
    assert_eq!(store.delivery(delivery.event_id).await.unwrap(), Some(with_due(delivery, due_at)));
}

async fn what_a_node_that_is_gone_had_leased_is_due_at_once_and_nothing_else(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    beat_both(&store).await;
    let of_dead = leased(&store, &project, DEAD, after(30)).await;
    let of_alive = leased(&store, &project, ALIVE, after(30)).await;
    let scheduled = failed(&store, &project).await;
    assert_eq!(due(&store, after(3)).await, []);
    let gone = || NodeWrite::Gone { node: DEAD, beat: 2, at: after(3) };
    keep(&store, gone()).await;
    assert_eq!(due(&store, after(3)).await, [of_dead.event_id]);
    for (delivery, due_at) in [(of_dead, after(3)), (of_alive, after(30))] {
        check_due(&store, delivery, due_at).await;
    }
    assert_eq!(store.delivery(scheduled.event_id).await.unwrap(), Some(scheduled));
    assert_eq!(store.nodes().await.unwrap(), [(ALIVE, 1)]);
    assert_eq!(commit(&store, gone()).await, Outcome::Conflict(Guard::NodeSilent), "another node was faster");
    // It was only paused, and has sent what it had leased; but another node may send it too, whose word counts.
    let late = commit(&store, saved(of_dead, DEAD, after(30))).await;
    assert_eq!(late, Outcome::Conflict(Guard::DeliveryAttempts));
    keep(&store, saved(of_alive, ALIVE, after(30))).await;
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn a_node_that_beats_again_keeps_its_leases(database: Database) {
    let store = database.open().await;
    assert_eq!(store.is_shared(), database.is_typed());
    let project = kept_project(&store).await;
    keep(&store, NodeWrite::Beat { node: ALIVE }).await;
    leased(&store, &project, ALIVE, after(30)).await;
    let gone = NodeWrite::Gone { node: ALIVE, beat: 1, at: after(3) };
    keep(&store, NodeWrite::Beat { node: ALIVE }).await;
    assert_eq!(commit(&store, gone).await, Outcome::Conflict(Guard::NodeSilent));
    assert_eq!((due(&store, after(3)).await, store.nodes().await.unwrap()), (vec![], vec![(ALIVE, 2)]));
}

async fn what_nodes_without_a_beat_had_leased_is_due_once_a_server_starts(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    keep(&store, NodeWrite::Beat { node: ALIVE }).await;
    let of_alive = leased(&store, &project, ALIVE, after(30)).await;
    let of_dead = [leased(&store, &project, DEAD, after(30)).await, leased(&store, &project, DEAD, after(29)).await];
    let over = leased(&store, &project, DEAD, after(2)).await;
    let scheduled = failed(&store, &project).await;
    keep(&store, NodeWrite::OrphansReleased { at: after(3) }).await;
    for delivery in of_dead {
        check_due(&store, delivery, after(3)).await;
    }
    for (delivery, due_at) in [(of_alive, after(30)), (over, after(2))] {
        check_due(&store, delivery, due_at).await;
    }
    assert_eq!(store.delivery(scheduled.event_id).await.unwrap(), Some(scheduled));
}

async fn a_node_that_stops_is_forgotten_and_leaves_no_lease(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    beat_both(&store).await;
    let of_stopped = leased(&store, &project, DEAD, after(30)).await;
    let of_alive = leased(&store, &project, ALIVE, after(30)).await;
    for _ in 0..2 {
        keep(&store, NodeWrite::Left { node: DEAD, at: after(3) }).await;
        assert_eq!(store.nodes().await.unwrap(), [(ALIVE, 1)]);
    }
    for (delivery, due_at) in [(of_stopped, after(3)), (of_alive, after(30))] {
        check_due(&store, delivery, due_at).await;
    }
}

/// The fewest connections that a node may have, of which one is for changes that are committed one by one.
const FEWEST_CONNECTIONS: usize = 8;

/// Regression: the beats of a node waited behind rare changes, and so other nodes found it gone while it went on leasing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_beats_while_rare_changes_take_all_their_connections() {
    let Database::Postgres(scratch) = Database::postgres().await else { panic!("it is on PostgreSQL") };
    let store = Store::open_postgres(&scratch.url().parse().unwrap(), FEWEST_CONNECTIONS).await.unwrap();
    let key = samples::key(&kept_project(&store).await, "slow");
    let run = |sql: &str| Cluster::shared().run(scratch.url(), sql).unwrap();
    run("CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN PERFORM pg_sleep(3600); RETURN NEW; END $$; \
         CREATE TRIGGER stall BEFORE INSERT ON api_keys FOR EACH ROW EXECUTE FUNCTION stall()");
    let (writer, write) = (store.clone(), KeyWrite::Created { hash: samples::key_hash(&key), key });
    let stalled = tokio::spawn(async move { commit(&writer, write).await });
    let of_sleepers = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
    while run(&format!("SELECT COUNT(*) {of_sleepers}")) != "1" {
        assert!(!stalled.is_finished(), "it waits");
    }
    for beat in 1..=3 {
        keep(&store, NodeWrite::Beat { node: ALIVE }).await;
        assert_eq!(store.nodes().await.unwrap(), [(ALIVE, beat)]);
    }
    assert!(!stalled.is_finished(), "it has waited all the time");
    run(&format!("SELECT pg_cancel_backend(pid) {of_sleepers}"));
    assert_eq!(stalled.await.unwrap(), Outcome::Unavailable);
    store.close().await;
}

fn with_due(delivery: Delivery, due_at: Timestamp) -> Delivery {
    Delivery { state: DeliveryState::Pending { due_at }, ..delivery }
}
