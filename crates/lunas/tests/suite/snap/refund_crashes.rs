//! Real processes that are killed while a bank gives money back: for each refund one order is carried out, and books and bank agree,
//! whenever the process dies, whether it is started again or another node goes on.

use demobank::Fault;
use serde_json::Value;
use testkit::{Database, Running};
use tokio::net::TcpListener;

use crate::support::{
    held_writes::HeldWrites,
    refund_nodes::{AMOUNT, RefundNodes, Road, Wish, send},
    wait::{PATIENCE, until},
};

/// When the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// The merchant has asked for the refund, which cannot be committed.
    Creating,
    /// The refund is committed, and nobody has read the answer.
    Created,
    /// The bank is asked whose the account is.
    Question,
    /// The attempt is about to be committed as sent.
    Committing,
    /// The attempt is committed, and the call never gets to the bank.
    Leaving,
    /// The bank has the call, and carries it out after the process has died.
    Sent,
    /// The same, but only after the bank was asked about it, and had found nothing.
    Late,
    /// The bank has carried it out and has not answered.
    Done,
    /// The bank has answered, and nothing of that is committed.
    Answered,
    /// All is committed.
    Concluded,
}

const MOMENTS: [Moment; 10] = [
    Moment::Creating,
    Moment::Created,
    Moment::Question,
    Moment::Committing,
    Moment::Sent,
    Moment::Late,
    Moment::Done,
    Moment::Answered,
    Moment::Concluded,
    // The last, since nobody knows what became of it.
    Moment::Leaving,
];

impl Moment {
    /// By code nothing is asked first; and on SQLite nothing can hold up the attempt's commit and not the refund's.
    fn is_reached(self, nodes: &RefundNodes) -> bool {
        let is_sqlite = matches!(nodes.database, Database::Sqlite(_));
        match (self, nodes.road) {
            (Moment::Question, Road::Code) => false,
            (Moment::Committing, Road::Code) => !is_sqlite,
            _ => true,
        }
    }
}

/// What keeps the process where it is until it is killed.
#[derive(Default)]
struct Kept {
    writes: Option<HeldWrites>,
    mute: Option<TcpListener>,
}

/// Asks for a refund, and returns once it has come as far as it shall.
async fn reach(nodes: &RefundNodes, running: &Running, moment: Moment, wish: &Wish) -> Kept {
    let mut kept = prepare(nodes, moment).await;
    begin(nodes, moment, wish).await;
    match (moment, nodes.road.question()) {
        (Moment::Creating | Moment::Created | Moment::Leaving, None) | (Moment::Creating | Moment::Created, _) => {}
        (Moment::Concluded, _) => {
            let (_, refund) = nodes.ask(wish).await;
            until(async || nodes.has_succeeded(&refund).await).await;
        }
        (Moment::Committing, None) => until(async || nodes.has_waiting_statements()).await,
        (Moment::Committing | Moment::Leaving, Some(_)) => {
            wait_held(nodes).await;
            let writes = HeldWrites::of(&nodes.database, "refund_attempts").await;
            nodes.bank.asked.release();
            is_answered(running, "2001600").await;
            if matches!(nodes.database, Database::Postgres { .. }) {
                until(async || nodes.has_waiting_statements()).await;
            }
            if moment == Moment::Leaving {
                kept.mute = Some(nodes.mute_bank().await);
                writes.end();
            } else {
                kept.writes = Some(writes);
            }
        }
        _ => wait_held(nodes).await,
    }
    if moment == Moment::Leaving {
        until(async || nodes.count("SELECT COUNT(*) FROM refund_attempts WHERE ask_at IS NOT NULL") > 0).await;
    }
    kept
}

/// What is in the way before anything is asked for.
async fn prepare(nodes: &RefundNodes, moment: Moment) -> Kept {
    let (asked, order) = (&nodes.bank.asked, nodes.road.order());
    let mut kept = Kept::default();
    match (moment, nodes.road.question()) {
        (Moment::Creating, _) => kept.writes = Some(HeldWrites::of(&nodes.database, "refunds").await),
        (Moment::Question, Some(question)) => asked.fail_next_of(question, Fault::HeldBefore),
        (Moment::Committing | Moment::Leaving, Some(question)) => asked.fail_next_of(question, Fault::HeldAfter),
        (Moment::Committing, None) => kept.writes = Some(HeldWrites::of(&nodes.database, "refund_attempts").await),
        (Moment::Leaving, None) => kept.mute = Some(nodes.mute_bank().await),
        (Moment::Sent | Moment::Late, _) => asked.fail_next_of(order, Fault::HeldBefore),
        (Moment::Done | Moment::Answered, _) => asked.fail_next_of(order, Fault::HeldAfter),
        (Moment::Question | Moment::Created | Moment::Concluded, _) => {}
    }
    kept
}

/// Sends the request; of the first moments nobody reads the answer.
async fn begin(nodes: &RefundNodes, moment: Moment, wish: &Wish) {
    if !matches!(moment, Moment::Creating | Moment::Created) {
        let (status, refund) = nodes.ask(wish).await;
        assert_eq!(status, 201, "{refund}");
        return;
    }
    let (api, wish) = (nodes.bank.project.api.clone(), wish.clone());
    let known = nodes.count("SELECT COUNT(*) FROM refunds");
    // It ends with the process.
    let request = tokio::spawn(async move { send(&api, &wish).await });
    if moment == Moment::Created {
        until(async || nodes.count("SELECT COUNT(*) FROM refunds") > known).await;
        return;
    }
    // What was asked afterwards is answered: the request is there, and waits.
    for _ in 0..20 {
        nodes.bank.project.api.get("/v1/balance").await.expect(200);
    }
    assert!(!request.is_finished(), "nothing is answered before it is committed");
}

async fn wait_held(nodes: &RefundNodes) {
    tokio::time::timeout(PATIENCE, nodes.bank.asked.wait_held(1)).await.expect("the bank is not asked");
}

/// Waits until the process has this answer of the bank.
async fn is_answered(running: &Running, code: &str) {
    let has_it = |line: &str| line.contains("a bank answered a call") && line.contains(code);
    until(async || running.log().lines().any(has_it)).await;
}

/// Kills the server. What the bank still has to do it does then, unless it is late.
async fn kill(nodes: &RefundNodes, running: Running, moment: Moment, kept: Kept) {
    let mut writes = kept.writes;
    if moment == Moment::Answered {
        writes = Some(HeldWrites::of(&nodes.database, "refund_attempts").await);
        nodes.bank.asked.release();
        is_answered(&running, &format!("200{}00", nodes.road.order().digits())).await;
    }
    running.kill();
    if moment != Moment::Late {
        nodes.bank.asked.release();
    }
    if let Some(writes) = writes {
        writes.end_of_the_dead();
    }
    if let Some(mute) = kept.mute {
        drop(mute);
        nodes.bank.doors.reopen().await.unwrap();
    }
}

/// The refund goes on after the crash, as far as it can. Whether the bank has moved its money.
async fn goes_on(nodes: &RefundNodes, moment: Moment, refund: &Value) -> bool {
    let (made, questions) = (nodes.bank.asked.transfers().len(), nodes.questions());
    let is_lost = moment == Moment::Leaving && nodes.road == Road::Account;
    if moment == Moment::Late || is_lost {
        nodes.end_leases();
        until(async || nodes.questions() > questions).await;
        assert!(!nodes.has_succeeded(refund).await && nodes.bank.asked.transfers().len() == made);
        nodes.bank.asked.release();
    }
    if is_lost {
        // Nothing says that it never arrived: it is not sent again, and people decide.
        assert_eq!(refund["status"], "pending", "{refund}");
    } else {
        nodes.is_asked_until_it_succeeds(refund).await;
    }
    !is_lost
}

/// Kills the server at each moment, and lets it start again, or another node that runs by then go on.
async fn survives_every_moment(mut nodes: RefundNodes, has_another: bool) {
    let mut moved = 0;
    let moments: Vec<Moment> = MOMENTS.into_iter().filter(|moment| moment.is_reached(&nodes)).collect();
    for moment in moments {
        println!("{moment:?}");
        let running = nodes.start();
        let payment = nodes.paid().await;
        let wish = nodes.wish(&payment, Some(AMOUNT));
        let kept = reach(&nodes, &running, moment, &wish).await;
        let other = has_another.then(|| nodes.start_beside());
        kill(&nodes, running, moment, kept).await;
        let running = match other {
            Some(other) => {
                nodes.moved_to(other.address());
                other
            }
            None => nodes.start(),
        };
        nodes.is_sound();
        let (status, refund) = nodes.ask(&wish).await;
        assert_eq!(status, if moment == Moment::Creating { 201 } else { 200 }, "{refund}");
        let is_moved = goes_on(&nodes, moment, &refund).await;
        moved += usize::from(is_moved);
        nodes.has_moved(moved, usize::from(!is_moved), AMOUNT);
        assert_eq!(running.terminate(), Some(0));
        nodes.is_sound();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_at_any_moment_of_a_refund_by_code_has_it_made_once_on_sqlite() {
    survives_every_moment(RefundNodes::on_sqlite(Road::Code).await, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_at_any_moment_of_a_transfer_has_it_made_once_on_sqlite() {
    survives_every_moment(RefundNodes::on_sqlite(Road::Account).await, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_goes_on_with_a_refund_by_code_whenever_another_is_killed() {
    survives_every_moment(RefundNodes::on_postgres(Road::Code).await, true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_goes_on_with_a_transfer_whenever_another_is_killed() {
    survives_every_moment(RefundNodes::on_postgres(Road::Account).await, true).await;
}
