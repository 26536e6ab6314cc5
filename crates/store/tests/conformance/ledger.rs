//! The ledger: balances at any instant, settlement only once, and no posting ever changed.

use domain::{
    ledger::{Account, Posting},
    money::Rupiah,
    payment::{Payment, State},
    project::Project,
    receipt::Unapplied,
    time::Timestamp,
};
use futures_util::future::join_all;
use store::{Balance, Guard, LedgerLine, LedgerWrite, PaymentWrite, Store, Window};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{self, AMOUNT, EVERYTHING, FEE, NOW, after, kept_payment, kept_project},
};

on_every_database![
    a_balance_holds_everything_up_to_and_including_its_instant,
    the_largest_amounts_add_up,
    what_is_due_settles_in_order_and_a_few_at_a_time,
    a_payment_settles_only_once,
    a_fee_that_eats_everything_leaves_nothing_to_settle,
    postings_and_entries_are_append_only,
    the_lines_of_an_account_add_up_to_its_balance,
    the_lines_of_an_account_say_why_it_changed,
];

const NET: Rupiah = Rupiah::new(AMOUNT.get() - FEE.get());

fn balance(available: Rupiah, pending: Rupiah, unapplied: Rupiah) -> Balance {
    Balance { available, pending, unapplied, ..Balance::default() }
}

fn paid_posting(payment: &Payment, at: Timestamp) -> LedgerWrite {
    LedgerWrite::Posting(Posting::paid(
        payment.terms.project_id,
        payment.id,
        payment.terms.amount,
        payment.terms.fee,
        at,
    ))
}

async fn a_balance_holds_everything_up_to_and_including_its_instant(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let first = kept_payment(&store, samples::payment(&project)).await;
    let second = kept_payment(&store, samples::payment(&project)).await;
    let elsewhere = kept_payment(&store, samples::payment(&other)).await;
    let surplus = Rupiah::new(500);
    let unapplied = |id| Posting::unapplied(project.id, first.id, samples::receipt_key(id), surplus, after(20));
    let settled = Posting::settled(project.id, first.id, first.merchant_net(), after(30));
    // Committed in another order than their times: a balance depends on the times.
    for write in [LedgerWrite::Posting(settled), paid_posting(&first, after(10)), paid_posting(&elsewhere, after(10))] {
        keep(&store, write).await;
    }
    for write in [
        LedgerWrite::Posting(unapplied("one")),
        LedgerWrite::Posting(unapplied("two")),
        paid_posting(&second, after(30)),
    ] {
        keep(&store, write).await;
    }
    let (nothing, both) = (Rupiah::ZERO, surplus + surplus);
    for (at, expected) in [
        (Some(Timestamp::from_millis(0)), Balance::default()),
        (Some(after(9)), Balance::default()),
        (Some(after(10)), balance(nothing, NET, nothing)),
        (Some(after(19)), balance(nothing, NET, nothing)),
        (Some(after(20)), balance(nothing, NET, both)),
        (Some(after(29)), balance(nothing, NET, both)),
        (Some(after(30)), balance(NET, NET, both)),
        (Some(Timestamp::from_millis(i64::MAX)), balance(NET, NET, both)),
        (None, balance(NET, NET, both)),
    ] {
        assert_eq!(store.balance(project.id, at).await.unwrap(), expected, "{at:?}");
    }
    assert_eq!(store.available(project.id).await.unwrap(), NET);
    assert_eq!(store.balance(other.id, None).await.unwrap(), balance(nothing, NET, nothing));
    let unused = kept_project(&store).await;
    assert_eq!(store.balance(unused.id, None).await.unwrap(), Balance::default());
    assert_eq!(store.available(unused.id).await.unwrap(), nothing);
}

async fn the_largest_amounts_add_up(database: Database) {
    const COUNT: i64 = 20;
    let store = database.open().await;
    let project = kept_project(&store).await;
    for _ in 0..COUNT {
        let payment = samples::with_terms(samples::payment(&project), |terms| {
            terms.amount = Rupiah::MAX;
            terms.fee = Rupiah::new(1);
        });
        let payment = kept_payment(&store, payment).await;
        keep(&store, paid_posting(&payment, NOW)).await;
    }
    let pending = Rupiah::new(COUNT * (Rupiah::MAX.get() - 1));
    assert_eq!(store.balance(project.id, None).await.unwrap(), balance(Rupiah::ZERO, pending, Rupiah::ZERO));
}

/// A paid payment whose net is due at `settles_at`; its version is that before it was paid.
async fn due_payment(store: &Store, project: &Project, settles_at: Timestamp) -> Payment {
    let payment = kept_payment(store, samples::payment(project)).await;
    let Payment { id, version, .. } = payment;
    let state = State::Paid { at: NOW };
    keep(store, PaymentWrite::Moved { id, version, state, settles_at: Some(settles_at), link_id: None }).await;
    Payment { state, ..payment }
}

async fn what_is_due_settles_in_order_and_a_few_at_a_time(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let late = due_payment(&store, &project, after(300)).await;
    let early = due_payment(&store, &project, after(100)).await;
    let middle = due_payment(&store, &other, after(200)).await;
    kept_payment(&store, samples::payment(&project)).await;
    for (now, most, expected) in [
        (after(99), 10, &[][..]),
        (after(100), 10, &[&early][..]),
        (after(200), 10, &[&early, &middle]),
        (after(200), 1, &[&early]),
        (after(300), 10, &[&early, &middle, &late]),
    ] {
        let due = store.due_to_settle(now, most).await.unwrap();
        let found: Vec<_> = due.iter().map(|due| (due.project_id, due.payment_id, due.left)).collect();
        let expected: Vec<_> = expected.iter().map(|payment| (payment.terms.project_id, payment.id, NET)).collect();
        assert_eq!(found, expected, "{now} {most}");
    }
    keep(&store, samples::settlement(&early, after(300))).await;
    let due = store.due_to_settle(after(300), 10).await.unwrap();
    assert_eq!(due.iter().map(|due| due.payment_id).collect::<Vec<_>>(), [middle.id, late.id]);
    // Settling moves money only; of the payment itself, nothing changes but its version.
    assert_eq!(store.payment(early.id).await.unwrap(), Some(Payment { version: early.version + 2, ..early }));
}

async fn a_payment_settles_only_once(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = due_payment(&store, &project, NOW).await;
    keep(&store, paid_posting(&payment, NOW)).await;
    let settle = || commit(&store, samples::settlement(&payment, after(1)));
    let outcomes = join_all((0..16).map(|_| settle())).await;
    let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    assert_eq!((count(Outcome::Kept), count(Outcome::Conflict(Guard::Unsettled))), (1, 15));
    assert_eq!(settle().await, Outcome::Conflict(Guard::Unsettled));
    assert_eq!(store.balance(project.id, None).await.unwrap(), balance(NET, Rupiah::ZERO, Rupiah::ZERO));
}

async fn a_fee_that_eats_everything_leaves_nothing_to_settle(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment =
        kept_payment(&store, samples::with_terms(samples::payment(&project), |terms| terms.fee = AMOUNT)).await;
    keep(&store, samples::confirmation(&payment, None, "one")).await;
    assert!(store.due_to_settle(Timestamp::from_millis(i64::MAX), 10).await.unwrap().is_empty());
    assert_eq!(store.balance(project.id, None).await.unwrap(), Balance::default());
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn postings_and_entries_are_append_only(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = kept_payment(&store, samples::payment(&project)).await;
    keep(&store, samples::confirmation(&payment, None, "one")).await;
    keep(&store, samples::surplus(&payment, "two", AMOUNT, Unapplied::AlreadyPaid)).await;
    let before = database.rows();
    for sql in [
        "UPDATE entries SET amount = amount + 1",
        "UPDATE entries SET account = 'available' WHERE account = 'pending'",
        "UPDATE entries SET at = at - 1",
        "DELETE FROM entries",
        "DELETE FROM entries WHERE account = 'fees'",
        "UPDATE postings SET at = at + 1",
        "UPDATE postings SET kind = 'unapplied'",
        "DELETE FROM postings WHERE kind = 'unapplied'",
        "DELETE FROM postings",
    ] {
        let refused = database.run_beside(sql);
        assert!(refused.as_ref().is_err_and(|error| error.contains("append-only")), "{sql}: {refused:?}");
    }
    assert_eq!(database.rows(), before);
}

/// Five payments that were paid, two of which have settled.
async fn with_lines(store: &Store, project: &Project) -> Vec<Payment> {
    let mut payments = Vec::new();
    for number in 0..5 {
        let payment = samples::with_terms(samples::payment(project), |terms| terms.reference = format!("INV-{number}"));
        let payment = kept_payment(store, payment).await;
        // Two of them at the same instant.
        keep(store, paid_posting(&payment, after(number / 2))).await;
        payments.push(payment);
    }
    for (payment, at) in payments.iter().zip([after(3), after(4)]) {
        keep(store, LedgerWrite::Posting(Posting::settled(project.id, payment.id, NET, at))).await;
    }
    payments
}

async fn the_lines_of_an_account_add_up_to_its_balance(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    with_lines(&store, &project).await;
    with_lines(&store, &other).await;
    let balance = store.balance(project.id, None).await.unwrap();
    let all = store.ledger_lines(project.id, Account::Pending, EVERYTHING).await.unwrap().items;
    assert_eq!((all.len(), all[0].balance, all[6].balance), (7, balance.pending, NET));
    for pair in all.windows(2) {
        assert_eq!(pair[0].balance, pair[1].balance + pair[0].amount);
        assert!(pair[0].at >= pair[1].at);
    }
    for (offset, limit) in [(0, 100), (0, 1), (1, 2), (3, 10), (6, 1), (7, 5), (0, 0)] {
        let window = Window { offset, limit };
        let some = store.ledger_lines(project.id, Account::Pending, window).await.unwrap();
        let expected: Vec<_> = all.iter().skip(offset as usize).take(limit as usize).cloned().collect();
        assert_eq!((some.items, some.total), (expected, 7), "{window:?}");
    }
}

async fn the_lines_of_an_account_say_why_it_changed(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payments = with_lines(&store, &project).await;
    let available = store.ledger_lines(project.id, Account::Available, EVERYTHING).await.unwrap().items;
    let line = |payment: &Payment, at, balance| LedgerLine {
        at,
        kind: "settled".to_owned(),
        payment_id: payment.id,
        reference: payment.terms.reference.clone(),
        amount: NET,
        balance,
    };
    assert_eq!(available, [line(&payments[1], after(4), NET + NET), line(&payments[0], after(3), NET)]);
    let kinds = store.ledger_lines(project.id, Account::Fees, EVERYTHING).await.unwrap().items;
    assert!(kinds.iter().all(|line| line.kind == "paid" && line.amount == FEE));
    assert_eq!(store.ledger_lines(project.id, Account::Unapplied, EVERYTHING).await.unwrap().total, 0);
}
