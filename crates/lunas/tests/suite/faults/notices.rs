//! Notices while processes die and databases are away: each is sent at least once, and twice only where the answer was lost.

use std::{sync::Arc, time::Duration};

use engine::{Notices, Reconcilers};
use gateway::SendLimits;
use store::{LetterWrite, NodeId, NodeWrite};
use testkit::{Answer, Kit, Receiver, on_every_database, on_postgres};

use crate::support::{
    held::held_late,
    letters::{letters, states},
    nodes::Node,
    notices::notice_to,
    wait::{until, until_within},
};

on_every_database![
    a_notice_whose_process_died_before_it_was_sent_is_sent_after_the_next_start on 2 threads,
    a_notice_that_was_under_way_as_its_process_died_is_sent_once_more_with_the_same_id on 2 threads,
    a_server_that_stops_gives_notices_back on 2 threads,
    a_report_that_comes_twice_causes_one_notice on 2 threads,
];

/// Longer than it takes until a node is found gone.
const PATIENCE: Duration = Duration::from_secs(60);

/// Has another node send notices too.
fn set_up(node: &Node, kit: &Kit) {
    node.engine.set_up_notices(Notices { pages_url: kit.pages_url.clone(), operators: None });
}

async fn a_notice_whose_process_died_before_it_was_sent_is_sent_after_the_next_start(kit: Arc<Kit>) {
    let (project, receiver) = (kit.sandbox().await, Receiver::start().await);
    notice_to(&kit, project.id, &receiver, &[]).await;
    held_late(&kit, &project, "held").await;
    let letter = letters(&kit).await.remove(0);
    let lease = LetterWrite::Leased { id: letter.id, due_at: letter.state.at(), node: NodeId::drawn(99) };
    kit.store.commit(lease.into()).await.unwrap();
    kit.engine.release_orphaned_leases().await.unwrap();
    kit.deliver(SendLimits::default());
    until(async || states(&kit).await == ["sent"]).await;
    assert_eq!(receiver.count(), 1);
}

async fn a_notice_that_was_under_way_as_its_process_died_is_sent_once_more_with_the_same_id(kit: Arc<Kit>) {
    let (project, receiver) = (kit.sandbox().await, Receiver::answering(Answer::Hang).await);
    notice_to(&kit, project.id, &receiver, &[]).await;
    kit.deliver(SendLimits::default());
    held_late(&kit, &project, "held").await;
    receiver.arrived(1).await;
    kit.crash();
    assert_eq!(states(&kit).await, ["waiting"]);
    receiver.answer(Answer::Status(200));
    // What the next start does on SQLite, and on PostgreSQL another node that sees no beat any more.
    for (node, beat) in kit.store.nodes().await.unwrap() {
        kit.store.commit(NodeWrite::Gone { node, beat, at: kit.engine.now() }.into()).await.unwrap();
    }
    kit.engine.release_orphaned_leases().await.unwrap();
    kit.deliver(SendLimits::default());
    let received = receiver.arrived(2).await;
    assert_eq!(received[0].body, received[1].body);
    until(async || states(&kit).await == ["sent"]).await;
    assert_eq!(receiver.count(), 2, "its answer was lost, so it came twice");
}

async fn a_server_that_stops_gives_notices_back(kit: Arc<Kit>) {
    let (project, receiver) = (kit.sandbox().await, Receiver::answering(Answer::Hang).await);
    notice_to(&kit, project.id, &receiver, &[]).await;
    kit.deliver(SendLimits::default());
    for number in 0..3 {
        held_late(&kit, &project, &format!("held-{number}")).await;
    }
    receiver.arrived(2).await;
    kit.stop_delivering().await;
    assert_eq!(kit.store.due_notices(kit.engine.now(), 9).await.unwrap().len(), 3);
    receiver.answer(Answer::Status(200));
    kit.deliver(SendLimits::default());
    until(async || states(&kit).await == vec!["sent"; 3]).await;
    assert_eq!(receiver.count(), 5);
}

/// The second commit of the same report is rolled back, and its notice with it.
async fn a_report_that_comes_twice_causes_one_notice(kit: Arc<Kit>) {
    let (project, receiver) = (kit.sandbox().await, Receiver::start().await);
    notice_to(&kit, project.id, &receiver, &[]).await;
    let held = held_late(&kit, &project, "held").await;
    let path = format!("/v1/sandbox/payments/{}/simulate", held.payment["id"].as_str().unwrap());
    let again = serde_json::json!({ "outcome": "paid", "receipt_id": "held" });
    let reports = (0..8).map(|_| project.api.post(&path, &again));
    futures_util::future::join_all(reports).await;
    assert_eq!(letters(&kit).await.len(), 1);
    kit.deliver(SendLimits::default());
    until(async || states(&kit).await == ["sent"]).await;
    assert_eq!(receiver.count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_node_had_under_way_is_sent_by_another() {
    on_postgres(async |kit: Arc<Kit>| {
        let (project, receiver) = (kit.sandbox().await, Receiver::answering(Answer::Hang).await);
        notice_to(&kit, project.id, &receiver, &[]).await;
        let node = Node::beside(&kit).await;
        set_up(&node, &kit);
        let killed = Reconcilers::start(&node.engine, kit.courier(SendLimits::default()));
        for number in 0..2 {
            held_late(&kit, &project, &format!("held-{number}")).await;
        }
        receiver.arrived(2).await;
        // Dropped in the middle of its work, as the death of the process would.
        drop(killed);
        receiver.answer(Answer::Status(200));
        kit.deliver(SendLimits::default());
        until_within(PATIENCE, async || states(&kit).await == vec!["sent"; 2]).await;
        let mut bodies: Vec<Vec<u8>> = receiver.received().into_iter().map(|received| received.body).collect();
        bodies.sort();
        assert_eq!(bodies.len(), 4, "each came once more");
        assert!(bodies[0] == bodies[1] && bodies[2] == bodies[3], "with the same bytes");
        node.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_send_each_notice_once() {
    on_postgres(async |kit: Arc<Kit>| {
        let (project, receiver) = (kit.sandbox().await, Receiver::start().await);
        notice_to(&kit, project.id, &receiver, &[]).await;
        let node = Node::beside(&kit).await;
        set_up(&node, &kit);
        kit.deliver(SendLimits::default());
        let beside = Reconcilers::start(&node.engine, kit.courier(SendLimits::default()));
        for number in 0..20 {
            held_late(&kit, &project, &format!("held-{number}")).await;
        }
        until(async || states(&kit).await == vec!["sent"; 20]).await;
        let mut ids: Vec<String> = receiver.received().iter().map(|received| received.event_id()).collect();
        ids.sort();
        let sent = ids.len();
        ids.dedup();
        assert_eq!((ids.len(), sent), (20, 20));
        beside.stop().await;
        node.stop().await;
    })
    .await;
}

/// A receiver that has taken a notice is not asked again because the database was away as that was to be saved.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_notice_that_was_taken_while_postgresql_was_away_is_not_sent_twice() {
    on_postgres(async |kit: Arc<Kit>| {
        let (project, receiver) = (kit.sandbox().await, Receiver::answering(Answer::Hang).await);
        notice_to(&kit, project.id, &receiver, &[]).await;
        kit.deliver(SendLimits::default());
        held_late(&kit, &project, "held").await;
        receiver.arrived(1).await;
        let url = kit.database.url();
        let sql = |text: &str| testkit::Cluster::shared().run(&url, text).unwrap();
        sql("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN RAISE EXCEPTION SQLSTATE '57P03'; END $$; \
             CREATE TRIGGER refuse BEFORE UPDATE ON letters FOR EACH ROW EXECUTE FUNCTION refuse()");
        receiver.release();
        receiver.answer(Answer::Status(200));
        held_late(&kit, &project, "another").await;
        assert_eq!(states(&kit).await, ["waiting", "waiting"]);
        sql("DROP TRIGGER refuse ON letters");
        until(async || states(&kit).await == ["sent", "sent"]).await;
        assert_eq!(receiver.count(), 2);
    })
    .await;
}
