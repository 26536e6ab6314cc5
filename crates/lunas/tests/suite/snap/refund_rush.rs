//! Twenty requests for the whole of a payment at once, at two nodes of which one is killed in the middle: one refund is made, and
//! the bank moves its money once.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::Value;
use testkit::Api;

use crate::support::{
    acquirers::AMOUNT,
    held_writes::HeldWrites,
    json::id,
    refund_nodes::{RefundNodes, Road, Wish, send},
    wait::{PATIENCE, until},
};

const AT_ONCE: usize = 20;
/// How long a client waits before it tries the other node, so that it does not spin on one that is down.
const BACK_OFF: Duration = Duration::from_millis(10);

/// What a client is answered, by whichever node answers.
async fn persist(nodes: [Api; 2], first: usize, wish: Wish) -> (u16, Value) {
    for turn in first.. {
        match send(&nodes[turn % 2], &wish).await {
            Some((503, _)) | None => tokio::time::sleep(BACK_OFF).await,
            Some(answer) => return answer,
        }
    }
    unreachable!("one of the nodes answers")
}

/// Once with what the killed node has sent to the database and not committed, and once without.
async fn one_of_twenty_wins(road: Road) {
    let mut nodes = RefundNodes::on_postgres(road).await;
    for (round, lands) in [(1, false), (2, true)] {
        let first = nodes.start();
        let payment = nodes.paid().await;
        let second = nodes.start_beside();
        let addresses = [first.address(), second.address()];
        let apis = addresses.map(|address| Api::new(address, Some(&nodes.bank.project.key)));
        let writes = HeldWrites::of(&nodes.database, "refunds").await;
        let ask = |turn| tokio::spawn(persist(apis.clone(), turn, nodes.wish(&payment, None)));
        let asked: Vec<_> = (0..AT_ONCE).map(ask).collect();
        until(async || nodes.has_waiting_statements()).await;
        first.kill();
        if lands {
            writes.end()
        } else {
            writes.end_of_the_dead()
        }
        let answers = tokio::time::timeout(PATIENCE, join_all(asked)).await.expect("a request hangs");
        let (won, lost): (Vec<_>, Vec<_>) =
            answers.into_iter().map(Result::unwrap).partition(|(status, _)| [200, 201].contains(status));
        assert_eq!(won.len(), 1, "one of {AT_ONCE} wins: {won:?}");
        for (status, answer) in lost {
            assert_eq!((status, answer["error"]["code"].as_str()), (409, Some("CONFLICT")), "{answer}");
        }
        nodes.moved_to(second.address());
        let listed = nodes.bank.project.api.get(&format!("/v1/refunds?payment_id={}", id(&payment))).await.expect(200);
        assert_eq!(listed["pagination"]["total_items"], 1, "{listed}");
        nodes.is_asked_until_it_succeeds(&won[0].1).await;
        nodes.has_moved(round, 0, AMOUNT);
        assert_eq!(second.terminate(), Some(0));
        nodes.is_sound();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_twenty_refunds_by_code_at_two_nodes_of_which_one_is_killed_one_is_made() {
    one_of_twenty_wins(Road::Code).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_twenty_transfers_at_two_nodes_of_which_one_is_killed_one_is_made() {
    one_of_twenty_wins(Road::Account).await;
}
