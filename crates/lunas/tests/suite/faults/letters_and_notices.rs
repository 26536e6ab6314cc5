//! What holds of letters and notices alike: of one cause both go once, or neither is there.

use std::{sync::Arc, time::Duration};

use domain::{access::Role, letter_queue::LetterState};
use gateway::SendLimits;
use serde_json::json;
use store::{LetterFilter, Window};
use testkit::{Answer, Cluster, Database, Kit, Manner, Options, Receiver, Relay, TestProject, on_every_database};
use tokio::task::block_in_place;

use crate::support::{
    held::held_late,
    letters::{letters, send_to, set_up, states},
    notices::notice_to,
    payments::{pending_qris, simulate, unapplied},
    rows::run_by_hand,
    wait::{until, until_within},
};

on_every_database![a_change_that_is_rolled_back_causes_no_letter_and_no_notice on 2 threads];

/// Longer than it takes until PostgreSQL is up again and leases are looked after.
const PATIENCE: Duration = Duration::from_secs(60);
const CAUSES: usize = 5;

/// A project whose owner gets letters, and whose notices go to the receiver.
async fn told_twice(kit: &Kit, receiver: &Receiver) -> TestProject {
    let project = kit.sandbox().await;
    notice_to(kit, project.id, receiver, &[]).await;
    assert_eq!(kit.store.members(project.id).await.unwrap()[0].role, Role::Owner);
    project
}

/// Fails every transaction that has queued both, after it has written them.
fn refuse_both(database: &Database) {
    run_by_hand(
        database,
        match database {
            Database::Sqlite(_) => {
                "CREATE TRIGGER refuse AFTER INSERT ON letters WHEN (SELECT COUNT(*) FROM letters) > 1 \
                 BEGIN SELECT RAISE(ABORT, 'refused'); END"
            }
            Database::Postgres { .. } => {
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN IF (SELECT COUNT(*) FROM letters) > 1 THEN RAISE EXCEPTION 'refused'; END IF; RETURN NEW; END $$; \
                 CREATE TRIGGER refuse AFTER INSERT ON letters FOR EACH ROW EXECUTE FUNCTION refuse()"
            }
        },
    );
}

fn refuse_no_more(database: &Database) {
    run_by_hand(
        database,
        match database {
            Database::Sqlite(_) => "DROP TRIGGER refuse",
            Database::Postgres { .. } => "DROP TRIGGER refuse ON letters",
        },
    );
}

async fn a_change_that_is_rolled_back_causes_no_letter_and_no_notice(kit: Arc<Kit>) {
    let (relay, receiver) = (Relay::start().await, Receiver::start().await);
    let project = told_twice(&kit, &receiver).await;
    set_up(&kit, relay.mailer());
    let payment = pending_qris(&project, 15_000).await;
    let report = json!({ "outcome": "paid", "amount": 10_000, "receipt_id": "wrong amount" });
    refuse_both(&kit.database);
    simulate(&project, &payment, &report).await.refused(500, "INTERNAL_ERROR");
    assert_eq!((letters(&kit).await.len(), unapplied(&project).await), (0, 0), "neither the cause is there");
    refuse_no_more(&kit.database);
    simulate(&project, &payment, &report).await.expect(200);
    kit.deliver(SendLimits::default());
    until(async || states(&kit).await == ["sent"; 2]).await;
    assert_eq!((relay.taken().len(), receiver.count(), unapplied(&project).await), (1, 1, 10_000));
}

/// Whether all are sent; connections that died with PostgreSQL may still be found broken.
async fn are_sent(kit: &Kit) -> bool {
    let listed = kit.store.letters(&LetterFilter::default(), Window { offset: 0, limit: 100 }).await;
    listed.is_ok_and(|listed| {
        let sent = listed.items.iter().filter(|letter| matches!(letter.state, LetterState::Sent { .. }));
        sent.count() == 2 * CAUSES
    })
}

/// Some are under way as PostgreSQL dies, and are taken before it is back; the others wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_letter_and_a_notice_that_wait_while_postgresql_is_dead_go_once_when_it_is_back() {
    let cluster = block_in_place(|| Cluster::start(&[]));
    let database = Database::Postgres { url: cluster.fresh_database() };
    let kit = Kit::start(Options::default(), database, tempfile::tempdir().unwrap()).await;
    let (relay, receiver) = (Relay::with(Manner::HangsAfterTaking).await, Receiver::answering(Answer::Hang).await);
    let project = told_twice(&kit, &receiver).await;
    send_to(&kit, &relay);
    for number in 0..CAUSES {
        held_late(&kit, &project, &format!("held-{number}")).await;
    }
    relay.has(1).await;
    receiver.arrived(2).await;
    block_in_place(|| cluster.kill());
    relay.behave(Manner::Takes);
    relay.release();
    receiver.answer(Answer::Status(200));
    receiver.release();
    until_within(PATIENCE, async || kit.anonymous().get("/readyz").await.status == 503).await;
    block_in_place(|| cluster.start_again());
    until_within(PATIENCE, async || kit.anonymous().get("/readyz").await.status == 200).await;
    until_within(PATIENCE, async || are_sent(&kit).await).await;
    let mut ids: Vec<String> = receiver.received().iter().map(|received| received.event_id()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), receiver.count()), (CAUSES, CAUSES), "each notice came once");
    let mut letters: Vec<Option<String>> = relay.taken().iter().map(|letter| letter.header("Message-ID")).collect();
    letters.sort();
    letters.dedup();
    assert_eq!((letters.len(), relay.taken().len()), (CAUSES, CAUSES), "each letter came once");
    assert_eq!(kit.engine.verify().await.unwrap(), []);
    kit.stop_delivering().await;
    kit.stop().await;
}
