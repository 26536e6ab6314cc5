//! Attempts to pay a link: their bounds, their visitors, and that order of commits decides.

use std::time::Duration;

use domain::{
    id::PaymentId,
    link::Link,
    payment::{Payment, State},
    project::Project,
    time::Timestamp,
};
use futures_util::future::join_all;
use store::{AttemptBounds, AttemptRoom, Change, Guard, LinkWrite, NetworkBound, PaymentWrite, Store, VisitorAttempt};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{self, NOW, WIDE, after, attempted, kept_attempt, kept_link, kept_project},
};

on_every_database![
    an_attempt_after_the_links_expiry_is_not_committed,
    a_link_takes_as_many_pending_payments_as_its_bound_and_no_more,
    of_many_attempts_at_once_as_many_are_kept_as_there_is_room,
    a_network_has_so_many_attempts_within_a_window,
    attempts_stamped_by_a_clock_that_ran_ahead_do_not_shut_a_network_out_for_long,
    a_visitors_new_payment_replaces_their_pending_one_and_no_other,
    a_visitor_is_known_by_the_payment_that_the_browser_remembers,
    clocks_that_differ_or_step_back_break_no_invariant,
];

const WINDOW: Duration = Duration::from_mins(10);

fn attempt_at(project: &Project, link: &Link, at: Timestamp) -> Payment {
    let expires_at = at.plus(Duration::from_mins(15));
    Payment {
        created_at: at,
        ..samples::with_terms(samples::attempt(project, link), |terms| terms.expires_at = expires_at)
    }
}

fn pending_most(pending_most: i64) -> AttemptBounds {
    AttemptBounds { pending_most, network: None }
}

fn from(network: &str, most: i64) -> AttemptBounds {
    let network = Some(NetworkBound { network: network.to_owned(), most, window: WINDOW });
    AttemptBounds { network, ..WIDE }
}

async fn state_of(store: &Store, id: PaymentId) -> State {
    store.payment(id).await.unwrap().unwrap().state
}

async fn an_attempt_after_the_links_expiry_is_not_committed(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let link = Link { expires_at: Some(after(5)), ..samples::link(&project) };
    keep(&store, LinkWrite::Created { link: link.clone() }).await;
    let late = attempted(&attempt_at(&project, &link, after(6)), None, WIDE);
    assert_eq!(commit(&store, late).await, Outcome::Conflict(Guard::LinkOpen));
    kept_attempt(&store, attempt_at(&project, &link, after(5))).await;
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn a_link_takes_as_many_pending_payments_as_its_bound_and_no_more(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    for many in [false, true] {
        let link = kept_link(&store, &project, many).await;
        let room = |at| {
            let store = store.clone();
            async move { store.attempt_room(link.id, at, &pending_most(2)).await.unwrap().pending_full_until }
        };
        let start = |at| commit(&store, attempted(&attempt_at(&project, &link, at), None, pending_most(2)));
        assert_eq!(start(NOW).await, Outcome::Kept);
        assert_eq!(room(after(1)).await, None);
        assert_eq!(start(after(1)).await, Outcome::Kept);
        let first_ends = after(900_000);
        assert_eq!(room(after(2)).await, Some(first_ends));
        assert_eq!(start(after(2)).await, Outcome::Conflict(Guard::LinkOpen));
        assert_eq!(start(first_ends).await, Outcome::Conflict(Guard::LinkOpen), "pending until the last millisecond");
        // Nothing has written that the first one is expired; it makes room all the same.
        assert_eq!(room(after(900_001)).await, None);
        assert_eq!(start(after(900_001)).await, Outcome::Kept);
    }
}

async fn of_many_attempts_at_once_as_many_are_kept_as_there_is_room(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let link = kept_link(&store, &project, true).await;
    let tries = (0..24).map(|_| commit(&store, attempted(&samples::attempt(&project, &link), None, pending_most(5))));
    let outcomes = join_all(tries).await;
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Outcome::Kept).count(), 5);
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Outcome::Conflict(Guard::LinkOpen)).count(), 19);
}

async fn a_network_has_so_many_attempts_within_a_window(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (link, other) = (kept_link(&store, &project, false).await, kept_link(&store, &project, false).await);
    let start = |link: &Link, network: &str, at| {
        commit(&store, attempted(&attempt_at(&project, link, at), None, from(network, 2)))
    };
    assert_eq!(start(&link, "192.0.2.1", NOW).await, Outcome::Kept);
    assert_eq!(start(&link, "192.0.2.1", after(7)).await, Outcome::Kept);
    assert_eq!(start(&link, "192.0.2.1", after(8)).await, Outcome::Conflict(Guard::LinkOpen));
    assert_eq!(start(&link, "192.0.2.2", after(8)).await, Outcome::Kept, "another network");
    assert_eq!(start(&other, "192.0.2.1", after(8)).await, Outcome::Kept, "another link");
    let unknown = attempted(&attempt_at(&project, &link, after(8)), None, WIDE);
    assert_eq!(commit(&store, unknown).await, Outcome::Kept, "one that is not counted");
    let room = store.attempt_room(link.id, after(8), &from("192.0.2.1", 2)).await.unwrap();
    assert_eq!(room, AttemptRoom { pending_full_until: None, network_full_until: Some(NOW.plus(WINDOW)) });
    let before = Timestamp::from_millis(NOW.plus(WINDOW).as_millis() - 1);
    assert_eq!(start(&link, "192.0.2.1", before).await, Outcome::Conflict(Guard::LinkOpen));
    assert_eq!(start(&link, "192.0.2.1", NOW.plus(WINDOW)).await, Outcome::Kept);
}

async fn attempts_stamped_by_a_clock_that_ran_ahead_do_not_shut_a_network_out_for_long(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let link = kept_link(&store, &project, false).await;
    let bounds = || from("192.0.2.1", 1);
    keep(&store, attempted(&attempt_at(&project, &link, after(60_000)), None, bounds())).await;
    let room = store.attempt_room(link.id, NOW, &bounds()).await.unwrap();
    assert_eq!(room.network_full_until, Some(NOW.plus(WINDOW)), "no longer than a window");
    // A clock that was a day ahead.
    let elsewhere = kept_link(&store, &project, false).await;
    let ahead = attempt_at(&project, &elsewhere, after(86_400_000));
    keep(&store, attempted(&ahead, None, bounds())).await;
    assert_eq!(commit(&store, attempted(&attempt_at(&project, &elsewhere, NOW), None, bounds())).await, Outcome::Kept);
}

async fn a_visitors_new_payment_replaces_their_pending_one_and_no_other(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (link, other) = (kept_link(&store, &project, true).await, kept_link(&store, &project, true).await);
    let start = |link: &Link, visitor: &'static str| {
        let (store, payment) = (store.clone(), samples::attempt(&project, link));
        async move {
            keep(&store, attempted(&payment, Some(visitor), pending_most(3))).await;
            payment.id
        }
    };
    let (ones, others, elsewhere) =
        (start(&link, "one").await, start(&link, "other").await, start(&other, "one").await);
    let again = start(&link, "one").await;
    assert_eq!(state_of(&store, ones).await, State::Cancelled { at: NOW });
    for id in [others, elsewhere, again] {
        assert_eq!(state_of(&store, id).await, State::Pending);
    }
    // Replacing needs no room beyond the bound.
    start(&link, "third").await;
    let last = start(&link, "one").await;
    assert_eq!(
        (state_of(&store, again).await, state_of(&store, last).await),
        (State::Cancelled { at: NOW }, State::Pending)
    );
    // At the same time, each replaces the one before it.
    let raced = join_all((0..8).map(|_| start(&other, "one"))).await;
    let states = join_all(raced.iter().map(|id| state_of(&store, *id))).await;
    assert_eq!(states.iter().filter(|state| **state == State::Pending).count(), 1, "{states:?}");
    assert_eq!(state_of(&store, elsewhere).await, State::Cancelled { at: NOW });
}

async fn a_visitor_is_known_by_the_payment_that_the_browser_remembers(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (link, other) = (kept_link(&store, &project, true).await, kept_link(&store, &project, true).await);
    let mut made = Vec::new();
    for visitor in ["one", "other", "one"] {
        let payment = samples::attempt(&project, &link);
        keep(&store, attempted(&payment, Some(visitor), WIDE)).await;
        made.push(payment.id);
    }
    let unknown = kept_attempt(&store, samples::attempt(&project, &link)).await;
    let latest = |visitor: &str, payment_id| Some(VisitorAttempt { visitor: visitor.to_owned(), payment_id });
    for (link, remembered, visitor, expected) in [
        (&link, None, Some("one"), latest("one", made[2])),
        (&link, Some(made[0]), Some("other"), latest("one", made[2])),
        (&link, Some(made[1]), None, latest("other", made[1])),
        (&link, Some(unknown.id), Some("other"), latest("other", made[1])),
        (&link, None, Some("nobody"), None),
        (&link, None, None, None),
        (&other, Some(made[0]), Some("one"), None),
    ] {
        assert_eq!(store.latest_attempt(link.id, remembered, visitor).await.unwrap(), expected);
    }
}

/// Before, the check compared times: these rows, in the right order of commits, failed `lunas verify` for good.
async fn clocks_that_differ_or_step_back_break_no_invariant(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let link = kept_link(&store, &project, false).await;
    kept_attempt(&store, attempt_at(&project, &link, after(60_000))).await;
    let cancellation = Change::from(LinkWrite::Cancelled { id: link.id, at: NOW });
    keep(&store, cancellation.with(PaymentWrite::PendingCancelled { link_id: link.id, but: None, at: NOW })).await;
    assert_eq!((store.breaches().await.unwrap(), store.notes().await.unwrap()), (vec![], vec![]));
}
