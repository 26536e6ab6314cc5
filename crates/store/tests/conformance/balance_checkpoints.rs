//! Balance checkpoints: balances and ledger lines are the same with them and without, and read only what follows them.

use std::time::Duration;

use domain::{
    ledger::{Account, Posting},
    money::Rupiah,
    payment::Payment,
    time::Timestamp,
};
use futures_util::future::join;
use store::{Balance, LedgerWrite, MaintenanceWrite, Store, Window};

use crate::{
    database::{Database, keep, keep_many, on_every_database},
    samples::{self, NOW, after, kept_payment, kept_project, receipt_key},
};

on_every_database![
    balances_and_lines_are_the_same_with_checkpoints_and_without,
    a_balance_reads_nothing_that_a_checkpoint_covers,
    what_is_posted_before_a_checkpoint_counts_all_the_same,
    a_checkpoint_is_not_stored_when_its_entries_have_changed_since_they_were_read,
    two_nodes_add_the_same_checkpoints,
];

const COUNT: i64 = 5_300;
/// Late enough that everything that was posted counts as stable.
const LATER: Timestamp = Timestamp::from_millis(NOW.as_millis() + 2 * 3_600_000);

/// Money that is held; three lines in each millisecond.
fn held(payment: &Payment, number: i64) -> Posting {
    let receipt = receipt_key(&format!("r-{number:05}"));
    Posting::unapplied(payment.terms.project_id, payment.id, receipt, amount(number), after(number / 3))
}

const fn amount(number: i64) -> Rupiah {
    Rupiah::new(number % 7 + 1)
}

/// A payment for which money was held so often that a read requests checkpoints.
async fn with_lines(store: &Store) -> Payment {
    let project = kept_project(store).await;
    let payment = kept_payment(store, samples::payment(&project)).await;
    let postings = (0..COUNT).map(|number| LedgerWrite::Posting(held(&payment, number)));
    keep_many(store, postings).await;
    payment
}

async fn balance(store: &Store, payment: &Payment, at: Option<Timestamp>) -> Balance {
    store.balance(payment.terms.project_id, at).await.unwrap()
}

async fn add_checkpoints(store: &Store, payment: &Payment) {
    balance(store, payment, None).await;
    while store.extend_balance_checkpoints(LATER).await.unwrap() {}
}

fn checkpoints(database: &Database) -> usize {
    database.rows().iter().filter(|row| row.starts_with("balance_checkpoints:")).count()
}

/// What the first `count` lines add up to.
fn sum(count: i64) -> Rupiah {
    (0..count).map(amount).sum()
}

async fn assert_lines(store: &Store, payment: &Payment, offset: i64, limit: i64) {
    let window = Window { offset, limit };
    let listed = store.ledger_lines(payment.terms.project_id, Account::Unapplied, window).await.unwrap();
    let found: Vec<_> = listed.items.iter().map(|line| (line.at, line.amount, line.balance)).collect();
    let numbers = (0..COUNT).rev().skip(offset as usize).take(limit as usize);
    let expected: Vec<_> = numbers.map(|number| (after(number / 3), amount(number), sum(number + 1))).collect();
    assert_eq!((found, listed.total), (expected, COUNT), "{window:?}");
}

async fn assert_balances(store: &Store, payment: &Payment) {
    for (at, count) in [(-1, 0), (0, 3), (332, 999), (333, 1_002), (1_000, 3_003), (1_700, 5_103), (9_999, COUNT)] {
        let at = Some(after(at));
        assert_eq!(balance(store, payment, at).await.unapplied, sum(count), "{at:?}");
    }
    let now = Balance { unapplied: sum(COUNT), ..Balance::default() };
    assert_eq!(balance(store, payment, None).await, now);
    for (offset, limit) in
        [(0, 20), (0, 0), (1, 3), (199, 3), (200, 1), (1_199, 30), (4_190, 20), (5_190, 20), (5_200, 5), (9_000, 5)]
    {
        assert_lines(store, payment, offset, limit).await;
    }
}

async fn balances_and_lines_are_the_same_with_checkpoints_and_without(database: Database) {
    let store = database.open().await;
    let payment = with_lines(&store).await;
    assert!(!store.extend_balance_checkpoints(LATER).await.unwrap(), "no read has requested them");
    assert_balances(&store, &payment).await;
    // What was posted less than ten minutes ago may not be complete yet.
    store.extend_balance_checkpoints(after(400).plus(Duration::from_mins(10))).await.unwrap();
    assert_eq!(checkpoints(&database), 6);
    assert_balances(&store, &payment).await;
    add_checkpoints(&store, &payment).await;
    assert_eq!(checkpoints(&database), 26);
    assert_balances(&store, &payment).await;
    // With few lines after the last one, nothing requests more.
    assert!(!store.extend_balance_checkpoints(LATER).await.unwrap());
    assert_no_breach(&store).await;
}

async fn a_balance_reads_nothing_that_a_checkpoint_covers(database: Database) {
    let store = database.open().await;
    let payment = with_lines(&store).await;
    add_checkpoints(&store, &payment).await;
    let before = balance(&store, &payment, None).await;
    // One checkpoint covers the first 5,000 lines, another 4,000 of them.
    database.damage("DELETE FROM entries WHERE posting_id < 'unapplied:sandbox:r-04000'");
    assert_lines(&store, &payment, 1_150, 20).await;
    database.damage("DELETE FROM entries WHERE posting_id < 'unapplied:sandbox:r-05000'");
    assert_eq!(balance(&store, &payment, None).await, before);
    assert_eq!(balance(&store, &payment, Some(after(1_700))).await.unapplied, sum(5_103));
    assert_lines(&store, &payment, 0, 20).await;
    assert_lines(&store, &payment, 150, 50).await;
}

/// These postings have no receipts, so only the invariant about checkpoints is checked.
async fn assert_no_breach(store: &Store) {
    let breaches = store.breaches().await.unwrap();
    assert!(!breaches.iter().any(|breach| breach.invariant.starts_with("I2 ")), "{breaches:?}");
}

async fn what_is_posted_before_a_checkpoint_counts_all_the_same(database: Database) {
    let store = database.open().await;
    let payment = with_lines(&store).await;
    add_checkpoints(&store, &payment).await;
    // The clock was set back.
    let (project_id, late, more) = (payment.terms.project_id, after(700), Rupiah::new(1_000_000));
    let posting = Posting::unapplied(project_id, payment.id, receipt_key("late"), more, late);
    keep(&store, LedgerWrite::Posting(posting)).await;
    assert_eq!(checkpoints(&database), 10, "the eleventh one was at 733 milliseconds");
    assert_eq!(balance(&store, &payment, None).await.unapplied, sum(COUNT) + more);
    assert_eq!(balance(&store, &payment, Some(after(699))).await.unapplied, sum(2_100));
    assert_eq!(balance(&store, &payment, Some(late)).await.unapplied, sum(2_103) + more);
    add_checkpoints(&store, &payment).await;
    assert_eq!(balance(&store, &payment, None).await.unapplied, sum(COUNT) + more);
    assert_no_breach(&store).await;
}

/// The checkpoint of the first `lines` lines, as it is computed from what was read.
fn computed(payment: &Payment, lines: i64) -> MaintenanceWrite {
    let entry = |lines: i64| match lines {
        0 => (Timestamp::from_millis(-1), String::new()),
        _ => (after((lines - 1) / 3), held(payment, lines - 1).id()),
    };
    let (at, posting_id) = entry(lines);
    MaintenanceWrite::BalanceCheckpoint {
        project_id: payment.terms.project_id,
        account: Account::Unapplied,
        after: entry(lines - 1_000),
        at,
        posting_id,
        lines,
        balance: sum(lines),
    }
}

/// Regression: the clock is set back between the read and the commit. The balance would be wrong from then on.
async fn a_checkpoint_is_not_stored_when_its_entries_have_changed_since_they_were_read(database: Database) {
    let store = database.open().await;
    let payment = with_lines(&store).await;
    keep(&store, computed(&payment, 1_000)).await;
    assert_eq!(checkpoints(&database), 1);
    let more = Rupiah::new(1_000_000);
    let posting = Posting::unapplied(payment.terms.project_id, payment.id, receipt_key("late"), more, after(400));
    keep(&store, LedgerWrite::Posting(posting)).await;
    keep(&store, computed(&payment, 2_000)).await;
    assert_eq!(checkpoints(&database), 1, "a line has come between");
    let posting = Posting::unapplied(payment.terms.project_id, payment.id, receipt_key("later"), more, after(10));
    keep(&store, LedgerWrite::Posting(posting)).await;
    keep(&store, computed(&payment, 3_000)).await;
    assert_eq!(checkpoints(&database), 0, "the checkpoint before it has gone");
    assert_eq!(balance(&store, &payment, None).await.unapplied, sum(COUNT) + more + more);
    add_checkpoints(&store, &payment).await;
    assert_eq!(checkpoints(&database), 26);
    assert_no_breach(&store).await;
}

async fn two_nodes_add_the_same_checkpoints(database: Database) {
    let (store, node) = (database.open().await, database.open().await);
    let payment = with_lines(&store).await;
    for store in [&store, &node] {
        balance(store, &payment, None).await;
    }
    while {
        let (one, other) = join(store.extend_balance_checkpoints(LATER), node.extend_balance_checkpoints(LATER)).await;
        one.unwrap() | other.unwrap()
    } {}
    assert_eq!(checkpoints(&database), 26);
    assert_balances(&node, &payment).await;
    assert_no_breach(&store).await;
}
