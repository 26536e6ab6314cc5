//! What lists add up to: the same with sums that were stored in advance as without them, whatever happens to payments
//! afterwards.

use domain::{
    bank::Bank,
    id::mint,
    method::{Method, MethodKind},
    money::Rupiah,
    payment::{Payment, State, Status},
    project::Project,
    receipt::Unapplied,
    time::{HOUR_MILLIS, Timestamp},
};
use futures_util::future::join_all;
use store::{Matches, MethodFilter, PaymentFilter, PaymentWrite, Store, Sums, Window};

use crate::{
    database::{Database, keep, keep_many, on_every_database},
    samples::{self, NOW, after, entropy, kept_payment, kept_project},
};

on_every_database![
    lists_add_up_to_the_same_with_stored_sums_as_without_them,
    nothing_is_stored_for_payments_that_can_still_be_paid,
    a_payment_that_is_paid_after_it_had_ended_counts_at_once,
    a_payment_that_comes_below_a_checkpoint_counts_at_once,
    sums_that_are_stored_while_payments_move_are_right,
];

const COUNT: i64 = 4_200;

/// When all payments are old enough for checkpoints.
fn later() -> Timestamp {
    after(2 * HOUR_MILLIS)
}

fn payment_at(project: &Project, millis: i64, state: State) -> Payment {
    let created_at = after(millis);
    let method = match millis % 5 {
        0 => Method::VirtualAccount(Bank::Bca),
        1 => Method::VirtualAccount(Bank::Bri),
        _ => Method::Qris,
    };
    let payment = Payment { id: mint(created_at, entropy()), created_at, ..samples::payment(project) };
    let (code, amount) = (payment.id.to_string(), Rupiah::new(10_000 + millis));
    Payment {
        state,
        code,
        ..samples::with_terms(payment, |terms| {
            terms.method = method;
            terms.amount = amount;
            terms.fee = Rupiah::new(millis % 11);
        })
    }
}

/// Payments that have ended in different ways, oldest first, and some that can still be paid among the newest.
async fn history(store: &Store, project: &Project) -> Vec<Payment> {
    let ended = [State::Paid { at: NOW }, State::Expired, State::Failed { at: NOW }, State::Cancelled { at: NOW }];
    let state = |millis: i64| match millis {
        4_150.. if millis % 2 == 0 => State::Pending,
        4_150.. if millis % 3 == 0 => State::Processing,
        _ => ended[usize::try_from(millis % 4).unwrap()],
    };
    let payments: Vec<Payment> = (0..COUNT).map(|millis| payment_at(project, millis, state(millis))).collect();
    let writes = payments.iter().cloned().map(|payment| PaymentWrite::Created { payment });
    keep_many(store, writes).await;
    payments
}

fn rows(database: &Database, table: &str) -> usize {
    database.rows().iter().filter(|row| row.starts_with(table)).count()
}

/// Requests maintenance by reading lists, and runs it.
async fn maintain(store: &Store, project: &Project) {
    store.payments(project.id, &PaymentFilter::default(), Window { offset: 0, limit: 1 }).await.unwrap();
    store.payments_matching(project.id, &PaymentFilter::default()).await.unwrap();
    samples::maintain(store, later()).await;
}

fn filters() -> Vec<PaymentFilter> {
    let statuses = std::iter::once(None).chain(Status::ALL.map(|status| Some((status, NOW))));
    let methods = [
        None,
        Some(MethodFilter::Kind(MethodKind::Qris)),
        Some(MethodFilter::Kind(MethodKind::VirtualAccount)),
        Some(MethodFilter::One(Method::VirtualAccount(Bank::Bri))),
        Some(MethodFilter::One(Method::VirtualAccount(Bank::Bni))),
    ];
    let ranges =
        [None, Some((0, 9_000)), Some((999, 3_001)), Some((1_000, 3_000)), Some((10, 20)), Some((2_500, 9_000))];
    let mut filters = Vec::new();
    for status in statuses {
        for method in methods {
            for range in ranges {
                let created = range.map(|(from, until)| (after(from), after(until)));
                filters.push(PaymentFilter { status, method, created, ..PaymentFilter::default() });
            }
        }
    }
    filters
}

fn is_wanted(payment: &Payment, filter: &PaymentFilter) -> bool {
    filter.status.is_none_or(|(status, now)| payment.status_at(now) == status)
        && filter.method.is_none_or(|wanted| match wanted {
            MethodFilter::Kind(kind) => payment.terms.method.kind() == kind,
            MethodFilter::One(method) => payment.terms.method == method,
        })
        && filter.created.is_none_or(|(from, until)| (from..until).contains(&payment.created_at))
}

fn sums_of<'a>(payments: impl Iterator<Item = &'a Payment>) -> Sums {
    payments.fold(Sums::default(), |sums, payment| {
        let sums = Sums { payments: sums.payments + 1, ..sums };
        match payment.paid_at() {
            None => sums,
            Some(_) => Sums {
                paid: sums.paid + 1,
                amount: sums.amount + payment.terms.amount,
                fee: sums.fee + payment.terms.fee,
                ..sums
            },
        }
    })
}

/// Some of them, in which nearly every two values of different fields still meet.
fn some_filters() -> Vec<PaymentFilter> {
    filters().into_iter().step_by(7).collect()
}

async fn assert_sums(store: &Store, project: &Project, payments: &[Payment]) {
    assert_sums_by(some_filters(), store, project, payments).await;
}

async fn assert_sums_by(filters: Vec<PaymentFilter>, store: &Store, project: &Project, payments: &[Payment]) {
    for filter in filters {
        let expected = sums_of(payments.iter().filter(|payment| is_wanted(payment, &filter)));
        let matches = store.payments_matching(project.id, &filter).await.unwrap();
        assert_eq!(matches, Matches::All(expected), "{filter:?}");
        let newest_first: Vec<&Payment> = payments.iter().rev().filter(|payment| is_wanted(payment, &filter)).collect();
        // The last two are far down the list, where stored sums are skipped.
        for offset in [3, 2_001, 3_500] {
            let listed = store.payments(project.id, &filter, Window { offset, limit: 2 }).await.unwrap();
            assert_eq!(listed.total, expected.payments, "{filter:?}");
            let offset = usize::try_from(offset).unwrap();
            let wanted: Vec<Payment> = newest_first.iter().skip(offset).take(2).copied().cloned().collect();
            assert_eq!(listed.items, wanted, "{filter:?} from {offset}");
        }
    }
}

async fn lists_add_up_to_the_same_with_stored_sums_as_without_them(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let payments = history(&store, &project).await;
    kept_payment(&store, payment_at(&other, 1_500, State::Paid { at: NOW })).await;
    assert_sums_by(filters(), &store, &project, &payments).await;
    maintain(&store, &project).await;
    let stored = rows(&database, "payment_sums:");
    assert_eq!((rows(&database, "payment_marks:"), stored > 4), (4, true), "{stored}");
    assert_sums_by(filters(), &store, &project, &payments).await;
    assert_eq!(rows(&database, "payment_sums:"), stored);
    let none = store.payments_matching(other.id, &PaymentFilter::default()).await.unwrap();
    assert!(matches!(none, Matches::All(Sums { payments: 1, paid: 1, .. })), "{none:?}");
}

async fn nothing_is_stored_for_payments_that_can_still_be_paid(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let mut payments = history(&store, &project).await;
    let open = payment_at(&project, 2_500, State::Pending);
    payments.insert(2_501, kept_payment(&store, open.clone()).await);
    payments[2_500..2_502].sort_by_key(|payment| payment.id.to_string());
    maintain(&store, &project).await;
    let checkpoints = |database: &Database| {
        let rows = database.rows();
        let ids = rows
            .iter()
            .filter_map(|row| row.strip_prefix("payment_sums:"))
            .map(|row| payments.iter().position(|payment| row.contains(&payment.id.to_string())).unwrap());
        ids.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(checkpoints(&database).into_iter().collect::<Vec<_>>(), [999, 1_999, 3_999]);
    assert_sums(&store, &project, &payments).await;
    // It is paid in the usual way.
    keep(&store, samples::confirmation(&open, None, "paid")).await;
    let index = payments.iter().position(|payment| payment.id == open.id).unwrap();
    payments[index].state = State::Paid { at: NOW };
    payments[index].version += 1;
    assert_sums(&store, &project, &payments).await;
}

async fn a_payment_that_is_paid_after_it_had_ended_counts_at_once(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let mut payments = history(&store, &project).await;
    maintain(&store, &project).await;
    let stored = rows(&database, "payment_sums:");
    // A report that came late, and money that a member accepts.
    let (late, held) = (payments[1_001].clone(), payments[1_005].clone());
    assert_eq!([late.state, held.state], [State::Expired; 2]);
    keep(&store, samples::confirmation(&late, None, "late")).await;
    assert!(rows(&database, "payment_sums:") < stored);
    keep(&store, samples::surplus(&held, "held", held.terms.amount, Unapplied::TooLate)).await;
    keep(&store, samples::acceptance(&held, "held", after(20))).await;
    for index in [1_001, 1_005] {
        payments[index].state = State::Paid { at: NOW };
        payments[index].version += 1;
    }
    assert_sums(&store, &project, &payments).await;
    maintain(&store, &project).await;
    assert_sums(&store, &project, &payments).await;
}

async fn a_payment_that_comes_below_a_checkpoint_counts_at_once(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let mut payments = history(&store, &project).await;
    maintain(&store, &project).await;
    // The clock was set back.
    let early = kept_payment(&store, payment_at(&project, 1_500, State::Paid { at: NOW })).await;
    payments.push(early);
    payments.sort_by_key(|payment| payment.id.to_string());
    assert_sums(&store, &project, &payments).await;
    maintain(&store, &project).await;
    assert_sums(&store, &project, &payments).await;
}

async fn sums_that_are_stored_while_payments_move_are_right(database: Database) {
    let (store, beside) = (database.open().await, database.open().await);
    let project = kept_project(&store).await;
    let mut payments = history(&store, &project).await;
    store.payments_matching(project.id, &PaymentFilter::default()).await.unwrap();
    let late: Vec<usize> = (0..4_000).filter(|index| index % 4 == 1).step_by(20).collect();
    let reports = late.iter().map(|index| {
        let (payment, beside) = (&payments[*index], &beside);
        async move { keep(beside, samples::confirmation(payment, None, &format!("late {index}"))).await }
    });
    let stored = async {
        for _ in 0..3 {
            maintain(&store, &project).await;
        }
    };
    futures_util::future::join(join_all(reports), stored).await;
    for index in late {
        payments[index].state = State::Paid { at: NOW };
        payments[index].version += 1;
    }
    assert_sums(&store, &project, &payments).await;
    let sums: Vec<_> = store
        .breaches()
        .await
        .unwrap()
        .into_iter()
        .filter(|breach| breach.invariant.contains("list checkpoint"))
        .collect();
    assert_eq!(sums, []);
}
