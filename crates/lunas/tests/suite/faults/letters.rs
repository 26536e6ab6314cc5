//! Letters while processes die and databases are away: each is sent at least once, and twice only where the relay's answer was lost.

use std::{sync::Arc, time::Duration};

use domain::{access::Role, time::HOUR};
use engine::{Mail, Reconcilers};
use gateway::SendLimits;
use store::{LetterWrite, NodeId, NodeWrite};
use testkit::{Kit, Manner, Relay, on_every_database, on_postgres};

use crate::support::{
    held::held_late,
    letters::{letters, send_to, set_up, states},
    nodes::Node,
    people::{Person, make},
    wait::{until, until_within},
};

on_every_database![
    a_letter_whose_process_died_between_cause_and_sending_is_sent_after_the_next_start on 2 threads,
    a_letter_that_was_under_way_as_its_process_died_is_sent_once_more_after_the_next_start on 2 threads,
    a_server_that_stops_lets_letters_under_way_end_and_gives_the_others_back on 2 threads,
];

/// Longer than it takes until a node is found gone.
const PATIENCE: Duration = Duration::from_secs(60);

async fn owner_is_told(kit: &Kit, receipt: &str) {
    let project = kit.sandbox().await;
    Person::member(kit, project.id, Role::Owner, &format!("{receipt}@example.com")).await;
    held_late(kit, &project, receipt).await;
}

async fn a_letter_whose_process_died_between_cause_and_sending_is_sent_after_the_next_start(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    set_up(&kit, relay.mailer());
    owner_is_told(&kit, "held").await;
    // It has leased the letter, and dies before it sends it.
    let letter = letters(&kit).await.remove(0);
    let lease = LetterWrite::Leased { id: letter.id, due_at: letter.state.at(), node: NodeId::drawn(99) };
    kit.store.commit(lease.into()).await.unwrap();
    kit.engine.release_orphaned_leases().await.unwrap();
    kit.deliver(SendLimits::default());
    relay.has(1).await;
    until(async || states(&kit).await == ["sent"]).await;
    assert_eq!(relay.taken().len(), 1);
}

async fn a_letter_that_was_under_way_as_its_process_died_is_sent_once_more_after_the_next_start(kit: Arc<Kit>) {
    let relay = Relay::with(Manner::HangsAfterTaking).await;
    send_to(&kit, &relay);
    owner_is_told(&kit, "held").await;
    relay.has(1).await;
    kit.crash();
    assert_eq!(states(&kit).await, ["waiting"]);
    relay.behave(Manner::Takes);
    // What the next start does on SQLite, and on PostgreSQL another node that sees no beat any more.
    for (node, beat) in kit.store.nodes().await.unwrap() {
        kit.store.commit(NodeWrite::Gone { node, beat, at: kit.engine.now() }.into()).await.unwrap();
    }
    kit.engine.release_orphaned_leases().await.unwrap();
    kit.deliver(SendLimits::default());
    let taken = relay.has(2).await;
    assert_eq!(taken[0].header("Message-ID"), taken[1].header("Message-ID"));
    until(async || states(&kit).await == ["sent"]).await;
    assert_eq!(relay.taken().len(), 2, "its answer was lost, so it came twice");
}

async fn a_server_that_stops_lets_letters_under_way_end_and_gives_the_others_back(kit: Arc<Kit>) {
    let relay = Relay::with(Manner::Slow).await;
    send_to(&kit, &relay);
    for number in 0..12 {
        owner_is_told(&kit, &format!("held-{number}")).await;
    }
    relay.has(1).await;
    kit.stop_delivering().await;
    assert!(letters(&kit).await.iter().all(|letter| !letter.state.is_waiting() || letter.attempts == 0));
    relay.behave(Manner::Takes);
    kit.deliver(SendLimits::default());
    until(async || states(&kit).await == vec!["sent"; 12]).await;
    assert_eq!(relay.taken().len(), 12, "each came once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_node_had_under_way_is_sent_by_another() {
    on_postgres(async |kit: Arc<Kit>| {
        let (hanging, relay) = (Relay::with(Manner::Hangs).await, Relay::start().await);
        let node = Node::beside(&kit).await;
        node.engine.set_up_mail(Mail { mailer: hanging.mailer(), pages_url: kit.pages_url.clone() });
        set_up(&kit, relay.mailer());
        let killed = Reconcilers::start(&node.engine, kit.courier(SendLimits::default()));
        for number in 0..4 {
            owner_is_told(&kit, &format!("held-{number}")).await;
        }
        until(async || hanging.connections() > 0).await;
        kit.deliver(SendLimits::default());
        // Dropped in the middle of its work, as the death of the process would.
        drop(killed);
        until_within(PATIENCE, async || states(&kit).await == vec!["sent"; 4]).await;
        assert_eq!((relay.taken().len(), hanging.taken().len()), (4, 0));
        node.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_send_each_letter_once() {
    on_postgres(async |kit: Arc<Kit>| {
        let relay = Relay::start().await;
        let node = Node::beside(&kit).await;
        set_up(&kit, relay.mailer());
        node.engine.set_up_mail(Mail { mailer: relay.mailer(), pages_url: kit.pages_url.clone() });
        kit.deliver(SendLimits::default());
        let beside = Reconcilers::start(&node.engine, kit.courier(SendLimits::default()));
        let mut wanted = Vec::new();
        for number in 0..30 {
            let email = format!("orang-{number}@example.com");
            let user = make(&kit, &email, false).await;
            kit.engine.reset_password(&user, "another long one".into()).await.unwrap();
            wanted.push(email);
        }
        until(async || states(&kit).await == vec!["sent"; 30]).await;
        let mut to: Vec<String> = relay.taken().into_iter().map(|letter| letter.to).collect();
        to.sort();
        wanted.sort();
        assert_eq!(to, wanted);
        beside.stop().await;
        node.stop().await;
    })
    .await;
}

/// A relay that has taken a letter is not asked again because the database was away as that was to be saved.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_letter_that_was_taken_while_postgresql_was_away_is_not_sent_twice() {
    on_postgres(async |kit: Arc<Kit>| {
        let relay = Relay::with(Manner::HangsAfterTaking).await;
        send_to(&kit, &relay);
        owner_is_told(&kit, "held").await;
        relay.has(1).await;
        let url = kit.database.url();
        let sql = |text: &str| testkit::Cluster::shared().run(&url, text).unwrap();
        sql("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN RAISE EXCEPTION SQLSTATE '57P03'; END $$; \
             CREATE TRIGGER refuse BEFORE UPDATE ON letters FOR EACH ROW EXECUTE FUNCTION refuse()");
        relay.behave(Manner::Takes);
        relay.release();
        tokio::time::timeout(PATIENCE, async {
            while relay.released() == 0 {
                tokio::task::yield_now().await
            }
        })
        .await
        .unwrap();
        assert_eq!(states(&kit).await, ["waiting"]);
        sql("DROP TRIGGER refuse ON letters");
        until(async || states(&kit).await == ["sent"]).await;
        kit.clock.advance(HOUR);
        assert_eq!(relay.taken().len(), 1);
    })
    .await;
}
