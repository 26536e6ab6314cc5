//! Receivers that hang delay only their own project, and nodes that share a database share the sending.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use domain::delivery::DeliveryState;
use engine::{Courier, Reconcilers};
use gateway::{AddressGuard, BoxFuture, Resolve, SendLimits, WebhookSender};
use testkit::{
    Answer, Api, Cluster, Kit, Received, Receiver, TestProject, on_every_database, on_postgres, on_sqlite_alone,
};

use crate::support::{
    nodes::Node,
    payments::paid,
    wait::{PATIENCE, until},
    webhooks::{delivery, events, newest_event, wait_for_attempts},
};

on_every_database![
    a_hanging_project_with_many_due_webhooks_delays_none_of_a_busy_neighbours,
    two_nodes_send_each_event_once,
    an_event_that_another_node_commits_is_sent_without_a_notification,
    an_attempt_that_could_not_be_recorded_is_retried_after_its_lease,
    webhooks_of_a_node_that_died_are_sent_by_another_after_their_leases,
    a_clock_that_jumps_ahead_makes_no_node_send_what_it_is_sending_already,
    an_event_resent_by_hand_during_an_attempt_is_sent_as_soon_as_that_has_ended,
    stopping_releases_webhooks_to_a_hanging_receiver_at_once,
];

on_sqlite_alone![
    a_receiver_that_hangs_holds_four_of_its_own_webhooks_and_none_of_anyone_elses,
    a_receiver_that_answers_quickly_gets_more_webhooks_at_once_up_to_the_limit,
    many_receivers_that_hang_delay_nobody_else,
    when_a_receiver_that_hung_answers_again_its_events_all_arrive,
    an_attempt_that_fails_on_our_side_is_retried_and_stops_no_other,
];

/// Longer than any test waits, so that what hangs does so until the test is over.
pub(super) const PATIENT: SendLimits = SendLimits { connect: PATIENCE, total: Duration::from_secs(240) };
const LEASE: Duration = Duration::from_secs(30);

pub(super) async fn pay_often(project: &TestProject, times: usize) {
    for number in 0..times {
        paid(project, &format!("k-{number}"), 15_000).await;
    }
}

fn event_ids(received: &[Received]) -> Vec<String> {
    let mut ids: Vec<String> = received.iter().map(Received::event_id).collect();
    ids.sort();
    ids
}

/// Sends an event of another project and waits for it, so that all due deliveries have been polled.
async fn wait_for_a_poll(witness: &(TestProject, Receiver)) {
    let before = witness.1.count();
    paid(&witness.0, &format!("round-{before}"), 15_000).await;
    witness.1.arrived(before + 1).await;
}

async fn a_receiver_that_hangs_holds_four_of_its_own_webhooks_and_none_of_anyone_elses(kit: Arc<Kit>) {
    let (hanging, stuck) = kit.hooked(Answer::Hang).await;
    let witness = kit.hooked(Answer::Status(200)).await;
    pay_often(&hanging, 12).await;
    kit.deliver(PATIENT);
    stuck.arrived(4).await;
    for _ in 0..10 {
        wait_for_a_poll(&witness).await;
    }
    assert_eq!((stuck.count(), stuck.waiting_most()), (4, 4));
    kit.crash();
    kit.may_leave_deliveries_due();
}

async fn a_receiver_that_answers_quickly_gets_more_webhooks_at_once_up_to_the_limit(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Hang).await;
    let witness = kit.hooked(Answer::Status(200)).await;
    pay_often(&project, 12).await;
    let reconcilers = Reconcilers::start(&kit.engine, Courier { in_flight_per_project: 5, ..kit.courier(PATIENT) });
    receiver.arrived(4).await;
    let mut held = 4;
    let began = Instant::now();
    // Answers that a busy machine makes slow set the window back to four, for ten seconds if it was at five. Then it grows again.
    while held < 5 {
        assert!(began.elapsed() < GROWN_WITHIN, "never more than four at once, of {} webhooks", receiver.count());
        held = held_after_quick_answers(&project, &receiver, &witness).await;
    }
    assert_eq!((held, receiver.waiting_most()), (5, 5));
    drop(reconcilers);
}

/// Longer than a window that was set back three times in a row is kept from growing.
const GROWN_WITHIN: Duration = Duration::from_secs(120);

/// Releases what the receiver holds, lets it answer some webhooks at once and hold the next ones. Answers how many it holds when
/// no more come.
async fn held_after_quick_answers(
    project: &TestProject,
    receiver: &Receiver,
    witness: &(TestProject, Receiver),
) -> usize {
    // The first four show whether there may be a fifth. More would only give a busy machine more time to be slow.
    const QUICK: usize = 8;
    let before = receiver.count();
    for number in 0..QUICK + 4 {
        paid(project, &format!("held-{before}-{number}"), 15_000).await;
    }
    receiver.answer_next(vec![Answer::Status(200); QUICK]);
    receiver.release();
    receiver.arrived(before + QUICK + 4).await;
    for _ in 0..5 {
        wait_for_a_poll(witness).await;
    }
    receiver.count() - before - QUICK
}

async fn many_receivers_that_hang_delay_nobody_else(kit: Arc<Kit>) {
    let (first, stuck) = kit.hooked(Answer::Hang).await;
    pay_often(&first, 6).await;
    for _ in 1..25 {
        let project = kit.sandbox().await;
        kit.set_webhook_url(project.id, Some(&stuck.url())).await;
        pay_often(&project, 6).await;
    }
    let witness = kit.hooked(Answer::Status(200)).await;
    kit.deliver(PATIENT);
    stuck.arrived(100).await;
    for _ in 0..5 {
        wait_for_a_poll(&witness).await;
    }
    assert_eq!(stuck.count(), 100, "four of each");
    kit.crash();
    kit.may_leave_deliveries_due();
}

async fn a_hanging_project_with_many_due_webhooks_delays_none_of_a_busy_neighbours(kit: Arc<Kit>) {
    let (hanging, stuck) = kit.hooked(Answer::Hang).await;
    pay_often(&hanging, 60).await;
    let (busy, receiver) = kit.hooked(Answer::Status(200)).await;
    pay_often(&busy, 60).await;
    kit.deliver(PATIENT);
    receiver.arrived(60).await;
    stuck.arrived(4).await;
    assert_eq!(stuck.count(), 4, "and all of the neighbour's have arrived");
    kit.crash();
    kit.may_leave_deliveries_due();
}

async fn when_a_receiver_that_hung_answers_again_its_events_all_arrive(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Hang).await;
    pay_often(&project, 10).await;
    kit.deliver(SendLimits { total: Duration::from_secs(2), ..PATIENT });
    receiver.arrived(4).await;
    receiver.answer(Answer::Status(200));
    // The deliveries that hung are due again after the first retry delay; the others do not wait for them.
    until(async || {
        kit.clock.advance(Duration::from_secs(6));
        let mut told = event_ids(&receiver.received());
        told.dedup();
        told.len() == 10
    })
    .await;
    for event in events(&project).await {
        let event = event["id"].as_str().unwrap();
        until(async || {
            kit.clock.advance(Duration::from_secs(6));
            delivery(&kit, event).await.0.state == DeliveryState::Delivered
        })
        .await;
    }
}

async fn two_nodes_send_each_event_once(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(200)).await;
    let node = Node::beside(&kit).await;
    kit.deliver(PATIENT);
    let other = Reconcilers::start(&node.engine, kit.courier(PATIENT));
    pay_often(&project, 60).await;
    receiver.arrived(60).await;
    kit.stop_delivering().await;
    other.stop().await;
    node.stop().await;
    let mut told = event_ids(&receiver.received());
    assert_eq!(told.len(), 60);
    told.dedup();
    assert_eq!(told.len(), 60, "none twice");
    for event in told {
        assert_eq!(wait_for_attempts(&kit, &event, 1).await.0.state, DeliveryState::Delivered);
    }
}

/// On SQLite no notification reaches the sender when another process commits.
async fn an_event_that_another_node_commits_is_sent_without_a_notification(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(200)).await;
    let node = Node::beside(&kit).await;
    kit.deliver(PATIENT);
    let api = Api::new(node.address, Some(&project.key));
    let elsewhere = TestProject { api, key: project.key.clone(), ..project };
    paid(&elsewhere, "k-1", 15_000).await;
    assert_eq!(receiver.arrived(1).await[0].event_id(), newest_event(&elsewhere).await);
    node.stop().await;
}

async fn an_attempt_that_could_not_be_recorded_is_retried_after_its_lease(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Hang).await;
    let node = Node::beside(&kit).await;
    let failing = Reconcilers::start(&node.engine, kit.courier(PATIENT));
    paid(&project, "k-1", 15_000).await;
    let event = receiver.arrived(1).await[0].event_id();
    // From now on the node's database accepts no commits.
    node.stop().await;
    receiver.answer(Answer::Status(200));
    receiver.release();
    failing.stop().await;
    assert_eq!(delivery(&kit, &event).await.0.attempts, 0);
    kit.deliver(PATIENT);
    kit.clock.advance(LEASE);
    receiver.arrived(2).await;
    assert_eq!(wait_for_attempts(&kit, &event, 1).await.0.state, DeliveryState::Delivered);
}

async fn webhooks_of_a_node_that_died_are_sent_by_another_after_their_leases(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Hang).await;
    let witness = kit.hooked(Answer::Status(200)).await;
    let node = Node::beside(&kit).await;
    kit.deliver(PATIENT);
    paid(&project, "k-1", 15_000).await;
    let event = receiver.arrived(1).await[0].event_id();
    kit.crash();
    receiver.answer(Answer::Status(200));
    let other = Reconcilers::start(&node.engine, kit.courier(PATIENT));
    kit.clock.advance(LEASE - Duration::from_millis(1));
    wait_for_a_poll(&witness).await;
    // Other nodes on PostgreSQL see after some seconds that a node is gone, and do not wait for the end of its leases.
    if !kit.store.is_shared() {
        assert_eq!(receiver.count(), 1, "the lease still holds");
    }
    kit.clock.advance(Duration::from_millis(1));
    receiver.arrived(2).await;
    assert_eq!(wait_for_attempts(&kit, &event, 1).await.0.state, DeliveryState::Delivered);
    other.stop().await;
    node.stop().await;
}

/// Regression: leases went by the clock alone, so after a jump a node sent webhooks that it was already sending.
async fn a_clock_that_jumps_ahead_makes_no_node_send_what_it_is_sending_already(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Hang).await;
    let witness = kit.hooked(Answer::Status(200)).await;
    kit.deliver(PATIENT);
    pay_often(&project, 3).await;
    receiver.arrived(3).await;
    for _ in 0..3 {
        kit.clock.advance(Duration::from_hours(1));
        wait_for_a_poll(&witness).await;
    }
    receiver.release();
    for event in events(&project).await {
        wait_for_attempts(&kit, event["id"].as_str().unwrap(), 1).await;
    }
    assert_eq!(receiver.count(), 3);
}

/// Regression: the outcome of the running attempt overwrote the request to resend, and the event was not sent again.
async fn an_event_resent_by_hand_during_an_attempt_is_sent_as_soon_as_that_has_ended(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Hang).await;
    let witness = kit.hooked(Answer::Status(200)).await;
    kit.deliver(PATIENT);
    paid(&project, "k-1", 15_000).await;
    let event = receiver.arrived(1).await[0].event_id();
    receiver.answer(Answer::Status(200));
    kit.engine.resend(project.id, event.parse().unwrap()).await.unwrap();
    wait_for_a_poll(&witness).await;
    assert_eq!(receiver.count(), 1, "never twice at once");
    receiver.release();
    receiver.arrived(2).await;
    assert_eq!(wait_for_attempts(&kit, &event, 1).await.0.state, DeliveryState::Delivered);
}

async fn stopping_releases_webhooks_to_a_hanging_receiver_at_once(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Hang).await;
    kit.deliver(PATIENT);
    pay_often(&project, 6).await;
    receiver.arrived(4).await;
    tokio::time::timeout(PATIENCE, kit.stop_delivering()).await.unwrap();
    let due = kit.store.due_deliveries(kit.engine.now(), 10).await.unwrap();
    assert_eq!(due.len(), 6, "all are due, without waiting for a lease");
    assert!(due.iter().all(|delivery| delivery.attempts == 0));
    receiver.answer(Answer::Status(200));
    kit.deliver(PATIENT);
    receiver.arrived(10).await;
    for event in events(&project).await {
        wait_for_attempts(&kit, event["id"].as_str().unwrap(), 1).await;
    }
}

/// Regression: a node whose beats failed sent all that it had leased, also what another node had taken over and sent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_cannot_beat_sends_nothing_that_another_has_taken_over() {
    on_postgres(sends_nothing_that_it_has_lost).await;
}

/// Regression: once it had beaten again, a node took for its own what it had leased before, and sent it again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_beats_again_asks_about_what_it_had_leased_before() {
    on_postgres(asks_about_what_it_had_leased).await;
}

/// Of these, four are sent at once, and eight more are leased and wait.
const LEASED: usize = 12;

fn sql(kit: &Kit, text: &str) -> String {
    tokio::task::block_in_place(|| Cluster::shared().run(&kit.database.url(), text)).unwrap()
}

fn deliveries(kit: &Kit, which: &str) -> String {
    sql(kit, &format!("SELECT COUNT(*) FROM deliveries WHERE {which}"))
}

/// Lets the node of `kit` lease webhooks whose receiver hangs, and another node take them over and send them, since beats of the
/// first are refused. Answers the id of the first, and the other.
async fn taken_over(kit: &Kit, project: &TestProject, receiver: &Receiver) -> (String, Node, Reconcilers) {
    pay_often(project, LEASED).await;
    kit.deliver(PATIENT);
    receiver.arrived(4).await;
    until(async || deliveries(kit, "leased_by IS NOT NULL") == LEASED.to_string()).await;
    let node = sql(kit, "SELECT id FROM nodes");
    let refuse = format!(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$; \
         CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON nodes FOR EACH ROW WHEN (NEW.id = {node}) \
         EXECUTE FUNCTION refuse()"
    );
    sql(kit, &refuse);
    receiver.answer(Answer::Status(200));
    // So that the other node's leases do not end at the same moment.
    kit.clock.advance(Duration::from_millis(1));
    let other = Node::beside(kit).await;
    let sending = Reconcilers::start(&other.engine, kit.courier(PATIENT));
    until(async || deliveries(kit, "state = 'delivered'") == LEASED.to_string()).await;
    (node, other, sending)
}

async fn sends_nothing_that_it_has_lost(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Hang).await;
    let (_, other, sending) = taken_over(&kit, &project, &receiver).await;
    // What hung ends, so the first node goes on with what it has leased.
    receiver.release();
    kit.stop_delivering().await;
    assert_eq!(receiver.count(), 4 + LEASED, "each once by the node that has it, and what hung");
    sending.stop().await;
    other.stop().await;
}

async fn asks_about_what_it_had_leased(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Hang).await;
    let (node, other, sending) = taken_over(&kit, &project, &receiver).await;
    sending.stop().await;
    other.stop().await;
    sql(&kit, "DROP TRIGGER refuse ON nodes");
    // It beats one after the other, so it knows of the first of two.
    until(async || sql(&kit, &format!("SELECT COUNT(*) FROM nodes WHERE id = {node} AND beat >= 2")) == "1").await;
    // What hung ends, so the first node goes on with what it has leased, and then with what comes behind it.
    receiver.release();
    paid(&project, "k-behind", 15_000).await;
    until(async || deliveries(&kit, "state = 'delivered'") == (LEASED + 1).to_string()).await;
    kit.stop_delivering().await;
    assert_eq!(receiver.count(), 4 + LEASED + 1, "each once by the node that has it, and what hung");
}

/// Panics when a host is looked up for the first time.
#[derive(Default)]
struct ResolverThatPanicsOnce {
    panicked: AtomicBool,
}

impl Resolve for ResolverThatPanicsOnce {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        assert!(self.panicked.swap(true, Ordering::SeqCst), "this attempt breaks off");
        Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) })
    }
}

/// A courier whose first attempt panics.
fn courier_that_fails_once(kit: &Kit) -> Courier {
    let guard = AddressGuard::new(Vec::new(), true).with_resolver(Arc::<ResolverThatPanicsOnce>::default());
    Courier { sender: WebhookSender::new(guard, PATIENT).unwrap(), ..kit.courier(PATIENT) }
}

async fn an_attempt_that_fails_on_our_side_is_retried_and_stops_no_other(kit: Arc<Kit>) {
    let (project, receiver) = kit.hooked(Answer::Status(200)).await;
    // By name, so that the resolver is asked.
    let url = receiver.url().replace("127.0.0.1", "localhost");
    kit.set_webhook_url(project.id, Some(&url)).await;
    paid(&project, "k-1", 15_000).await;
    let reconcilers = Reconcilers::start(&kit.engine, courier_that_fails_once(&kit));
    let event = newest_event(&project).await;
    let leased = async || delivery(&kit, &event).await.0.state != DeliveryState::Pending { due_at: kit.engine.now() };
    until(leased).await;
    pay_others(&project).await;
    receiver.arrived(5).await;
    kit.clock.advance(LEASE);
    let webhooks = receiver.arrived(6).await;
    assert_eq!(webhooks[5].event_id(), event);
    reconcilers.stop().await;
}

async fn pay_others(project: &TestProject) {
    for number in 0..5 {
        paid(project, &format!("other-{number}"), 15_000).await;
    }
}
