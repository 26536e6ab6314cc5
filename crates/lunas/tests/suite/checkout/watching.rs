//! A watcher of a payment sees each of its changes, on whichever node or in whichever process it happens, at little
//! cost.

use std::{sync::Arc, time::Duration};

use domain::{
    method::Method,
    payment::{Payment, Status},
    time::Timestamp,
};
use engine::{Engine, Outcome, TooManyWatchers, WATCHERS_MOST, Watch};
use futures_util::{FutureExt, future::join_all};
use serde_json::Value;
use testkit::{Kit, ManualClock, TestProject, on_every_database, on_sqlite_alone};
use tokio::time::timeout;

use crate::support::{
    json::id,
    links::attempt,
    nodes::{Node, engine_on},
    samples,
    wait::{PATIENCE, until},
};

on_every_database![
    a_watcher_sees_each_new_status_of_its_payment,
    a_watcher_sees_its_payment_cancelled_with_its_link,
    a_change_between_the_read_and_the_watch_is_not_missed,
    all_watchers_of_a_payment_see_its_change_and_those_of_others_see_nothing,
    what_another_node_or_process_commits_is_seen,
    one_poller_serves_all_watchers_and_ends_with_the_last,
    stopping_ends_all_watches_and_no_new_one_begins,
    an_unreachable_database_ends_no_watch,
];

on_sqlite_alone![
    a_watcher_sees_an_expiry_to_the_millisecond_before_it_is_recorded,
    the_number_of_watchers_is_limited_and_one_that_leaves_makes_room,
];

const MILLISECOND: Duration = Duration::from_millis(1);

/// A payment as a page reads it before it starts watching.
async fn read(kit: &Kit, payment: &Value) -> Payment {
    kit.store.payment(id(payment).parse().unwrap()).await.unwrap().unwrap()
}

async fn pending(kit: &Kit, project: &TestProject, key: &str) -> Payment {
    read(kit, &project.api.pay(key, &samples::qris(project, 15_000)).await.expect(201)).await
}

async fn report(engine: &Engine, payment: &Payment, outcome: impl FnOnce(Timestamp) -> Outcome) {
    let project = engine.project(payment.terms.project_id).await.unwrap();
    engine.simulate(&project, payment.clone(), None, outcome).await.unwrap();
}

async fn pay(engine: &Engine, payment: &Payment) {
    let (amount, expires_at) = (payment.terms.amount, payment.terms.expires_at);
    // The money is in time, even where the report is late.
    report(engine, payment, |now| Outcome::Paid { amount, paid_at: now.min(expires_at) }).await;
}

async fn next(watch: &mut Watch) -> Option<Status> {
    timeout(PATIENCE, watch.changed()).await.unwrap()
}

fn sees_nothing(watch: &mut Watch) -> bool {
    watch.changed().now_or_never().is_none()
}

async fn a_watcher_sees_each_new_status_of_its_payment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending(&kit, &project, "k-1").await;
    let mut watch = kit.engine.watch(&payment).unwrap();
    report(&kit.engine, &payment, |_| Outcome::Processing).await;
    assert_eq!(next(&mut watch).await, Some(Status::Processing));
    pay(&kit.engine, &payment).await;
    assert_eq!(next(&mut watch).await, Some(Status::Paid));

    let payment = pending(&kit, &project, "k-2").await;
    let mut watch = kit.engine.watch(&payment).unwrap();
    report(&kit.engine, &payment, |_| Outcome::Failed).await;
    assert_eq!(next(&mut watch).await, Some(Status::Failed));
    pay(&kit.engine, &payment).await;
    assert_eq!(next(&mut watch).await, Some(Status::Paid), "money may come for what has ended otherwise");
}

async fn a_watcher_sees_its_payment_cancelled_with_its_link(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = project.api.post("/v1/payment-links", &samples::link(&project, 15_000)).await.expect(201);
    let payment = read(&kit, &attempt(&kit, &project, &link, Method::Qris).await).await;
    let mut watch = kit.engine.watch(&payment).unwrap();
    let project = kit.engine.project(project.id).await.unwrap();
    kit.engine.cancel_link(&project, id(&link).parse().unwrap()).await.unwrap();
    assert_eq!(next(&mut watch).await, Some(Status::Cancelled));
}

async fn a_watcher_sees_an_expiry_to_the_millisecond_before_it_is_recorded(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let earlier = pending(&kit, &project, "k-1").await;
    kit.clock.advance(MILLISECOND);
    let payment = pending(&kit, &project, "k-2").await;
    let (mut first, mut watch) = (kit.engine.watch(&earlier).unwrap(), kit.engine.watch(&payment).unwrap());
    kit.clock.set(payment.terms.expires_at);
    assert_eq!(next(&mut first).await, Some(Status::Expired));
    // The expiry is shown at once, also to a later watcher.
    drop(kit.engine.watch(&earlier).unwrap());
    assert!(sees_nothing(&mut watch));
    kit.clock.advance(MILLISECOND);
    assert_eq!(next(&mut watch).await, Some(Status::Expired));

    let mut late = kit.engine.watch(&payment).unwrap();
    assert!(sees_nothing(&mut late), "it has expired in the eyes of whoever comes later");
    pay(&kit.engine, &payment).await;
    for watch in [&mut watch, &mut late] {
        assert_eq!(next(watch).await, Some(Status::Paid), "timely money may be reported late");
    }
}

async fn a_change_between_the_read_and_the_watch_is_not_missed(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (other, payment) = (pending(&kit, &project, "k-1").await, pending(&kit, &project, "k-2").await);
    pay(&kit.engine, &payment).await;
    let mut first = kit.engine.watch(&payment).unwrap();
    assert_eq!(next(&mut first).await, Some(Status::Paid), "where nobody watched before");

    // The poller has seen the last commit, so only the new watcher makes it read again.
    let payment = pending(&kit, &project, "k-3").await;
    let mut watching = kit.engine.watch(&other).unwrap();
    pay(&kit.engine, &payment).await;
    pay(&kit.engine, &other).await;
    assert_eq!(next(&mut watching).await, Some(Status::Paid));
    let mut late = kit.engine.watch(&payment).unwrap();
    assert_eq!(next(&mut late).await, Some(Status::Paid), "where someone watched another payment");
}

async fn all_watchers_of_a_payment_see_its_change_and_those_of_others_see_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payment, other) = (pending(&kit, &project, "k-1").await, pending(&kit, &project, "k-2").await);
    let watching = (0..100).map(|_| {
        let mut watch = kit.engine.watch(&payment).unwrap();
        tokio::spawn(async move { next(&mut watch).await })
    });
    let watching: Vec<_> = watching.collect();
    let mut elsewhere = kit.engine.watch(&other).unwrap();
    pay(&kit.engine, &payment).await;
    for seen in join_all(watching).await {
        assert_eq!(seen.unwrap(), Some(Status::Paid));
    }
    assert!(sees_nothing(&mut elsewhere));
    let mut late = kit.engine.watch(&payment).unwrap();
    assert_eq!(next(&mut late).await, Some(Status::Paid), "though it was read before all that");
}

async fn what_another_node_or_process_commits_is_seen(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let beside = Node::beside(&kit).await;
    for round in 0..3 {
        let payment = pending(&kit, &project, &format!("k-{round}")).await;
        let mut watches = [kit.engine.watch(&payment).unwrap(), beside.engine.watch(&payment).unwrap()];
        report(&beside.engine, &payment, |_| Outcome::Processing).await;
        assert_eq!(join_all(watches.iter_mut().map(next)).await, [Some(Status::Processing); 2]);
        pay(&kit.engine, &payment).await;
        assert_eq!(join_all(watches.iter_mut().map(next)).await, [Some(Status::Paid); 2]);
    }
    beside.stop().await;
}

async fn the_number_of_watchers_is_limited_and_one_that_leaves_makes_room(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payment, other) = (pending(&kit, &project, "k-1").await, pending(&kit, &project, "k-2").await);
    let mut watches: Vec<Watch> = (0..WATCHERS_MOST).map(|_| kit.engine.watch(&payment).unwrap()).collect();
    for _ in 0..3 {
        assert_eq!(kit.engine.watch(&other).err(), Some(TooManyWatchers));
        watches.pop();
        watches.push(kit.engine.watch(&other).unwrap());
    }
    pay(&kit.engine, &payment).await;
    let mut seen = join_all(watches.iter_mut().take(WATCHERS_MOST - 1).map(next)).await;
    seen.dedup();
    assert_eq!(seen, [Some(Status::Paid)], "nobody is too many to see it");
}

/// An engine that no server uses, and its clock, whose references show whether the engine is still in use.
async fn engine_beside(kit: &Kit) -> (Engine, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::default());
    let engine = engine_on(kit.database.open().await, clock.clone());
    assert_eq!(Arc::strong_count(&clock), 2);
    (engine, clock)
}

async fn one_poller_serves_all_watchers_and_ends_with_the_last(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payments = [pending(&kit, &project, "k-1").await, pending(&kit, &project, "k-2").await];
    let (engine, clock) = engine_beside(&kit).await;
    for _ in 0..3 {
        let watching = payments.iter().cycle().take(100).map(|payment| engine.watch(payment).unwrap());
        let mut watches: Vec<Watch> = watching.collect();
        assert_eq!(Arc::strong_count(&clock), 3);
        watches.truncate(1);
        assert!(sees_nothing(&mut watches[0]));
        assert_eq!(Arc::strong_count(&clock), 3);
        drop(watches);
        until(async || Arc::strong_count(&clock) == 2).await;
    }
}

async fn stopping_ends_all_watches_and_no_new_one_begins(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (payment, other) = (pending(&kit, &project, "k-1").await, pending(&kit, &project, "k-2").await);
    let (engine, clock) = engine_beside(&kit).await;
    let mut watches: Vec<Watch> = [&payment, &payment, &other].map(|payment| engine.watch(payment).unwrap()).into();
    engine.stop_watching();
    watches.push(engine.watch(&payment).unwrap());
    for watch in &mut watches {
        assert_eq!(watch.changed().now_or_never(), Some(None), "at once");
    }
    until(async || Arc::strong_count(&clock) == 2).await;
    pay(&engine, &payment).await;
    for watch in &mut watches {
        assert_eq!(watch.changed().now_or_never(), Some(None), "and for good");
    }
}

async fn an_unreachable_database_ends_no_watch(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (expiring, moved) = (pending(&kit, &project, "k-1").await, pending(&kit, &project, "k-2").await);
    kit.clock.advance(MILLISECOND);
    let later = pending(&kit, &project, "k-3").await;
    pay(&kit.engine, &moved).await;
    let (mut first, mut last) = (kit.engine.watch(&expiring).unwrap(), kit.engine.watch(&later).unwrap());
    kit.database.take_away();
    let mut newcomer = kit.engine.watch(&moved).unwrap();
    kit.clock.set(later.terms.expires_at);
    assert_eq!(next(&mut first).await, Some(Status::Expired), "the clock goes on");
    kit.database.bring_back();
    // As long as nothing can be read, the payment seems to have expired.
    while next(&mut newcomer).await != Some(Status::Paid) {}
    until(async || kit.engine.is_ready().await).await;
    pay(&kit.engine, &later).await;
    assert_eq!(next(&mut last).await, Some(Status::Paid));
}
