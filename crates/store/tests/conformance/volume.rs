//! What was paid, by hours: the same before and after hours are closed, and after the clock was set back.

use domain::{
    id::mint, ledger::Posting, money::Rupiah, payment::Payment, project::Project, receipt::Unapplied, time::Timestamp,
};
use futures_util::future::join;
use store::{Change, HourVolume, LedgerWrite, Paid, PaymentWrite, Store, Write};

use crate::{
    database::{Database, keep, on_every_database},
    samples::{self, AMOUNT, FEE, NOW, after, entropy, kept_payment, kept_project, receipt_key},
};

on_every_database![
    what_is_paid_and_accepted_is_added_up_by_the_hour_of_its_posting,
    closed_hours_say_what_the_postings_say,
    what_is_paid_in_a_closed_hour_counts_all_the_same,
    days_are_the_sums_of_their_hours_whether_or_not_those_are_closed,
    what_was_paid_up_to_a_moment_is_counted_to_the_millisecond,
    two_nodes_close_the_same_hours,
];

const HOUR: i64 = 3_600_000;
const FIRST: i64 = NOW.as_millis() / HOUR;

fn at_hour(hour: i64, millis: i64) -> Timestamp {
    Timestamp::from_millis((FIRST + hour) * HOUR + millis)
}

fn volume(hour: i64, payments: i64, amount: i64) -> HourVolume {
    HourVolume { hour: FIRST + hour, payments, amount: Rupiah::new(amount) }
}

async fn what_is_paid_and_accepted_is_added_up_by_the_hour_of_its_posting(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let payment = |fee| samples::with_terms(samples::payment(&project), |terms| terms.fee = fee);
    let paid = |payment: &Payment, at| {
        LedgerWrite::Posting(Posting::paid(
            payment.terms.project_id,
            payment.id,
            payment.terms.amount,
            payment.terms.fee,
            at,
        ))
    };
    // A fee of zero, of a part and of the whole amount.
    for (fee, at) in [(Rupiah::ZERO, at_hour(0, 0)), (FEE, at_hour(0, HOUR - 1)), (AMOUNT, at_hour(1, 0))] {
        let payment = kept_payment(&store, payment(fee)).await;
        keep(&store, paid(&payment, at)).await;
        // None of these postings is income.
        keep(&store, samples::surplus(&payment, &payment.id.to_string(), AMOUNT, Unapplied::AlreadyPaid)).await;
        keep(&store, samples::giving_back(&payment, &payment.id.to_string(), AMOUNT, at_hour(1, 1))).await;
        if payment.merchant_net() > Rupiah::ZERO {
            let net = payment.merchant_net();
            keep(&store, LedgerWrite::Posting(Posting::settled(project.id, payment.id, net, at_hour(2, 0)))).await;
        }
    }
    let late = kept_payment(&store, payment(FEE)).await;
    let accepted = Posting::accepted(project.id, late.id, receipt_key("late"), AMOUNT, FEE, at_hour(1, 5));
    keep(&store, LedgerWrite::Posting(accepted)).await;
    let elsewhere = kept_payment(&store, samples::payment(&other)).await;
    keep(&store, paid(&elsewhere, at_hour(5, 0))).await;
    let (first, second) = (volume(0, 2, 20_000), volume(1, 2, 20_000));
    for (from, to, expected) in [
        (at_hour(0, 0), at_hour(24, 0), &[first, second][..]),
        (at_hour(0, 0), at_hour(1, 0), &[first]),
        // Whole hours, even when a part of one is asked for.
        (at_hour(0, 5), at_hour(1, 1), &[first, second]),
        (at_hour(1, 0), at_hour(2, 0), &[second]),
        (at_hour(2, 0), at_hour(9, 0), &[]),
        (at_hour(1, 0), at_hour(0, 0), &[]),
    ] {
        assert_eq!(store.volume(project.id, from, to).await.unwrap(), expected, "{from} {to}");
    }
    assert_eq!(store.volume(other.id, at_hour(0, 0), at_hour(9, 0)).await.unwrap(), [volume(5, 1, 10_000)]);
}

/// Payments that were paid at these instants.
fn paid(project: &Project, instants: impl Iterator<Item = Timestamp>) -> Change {
    let payments = instants.map(|at| {
        let payment = Payment { id: mint(at, entropy()), created_at: at, ..samples::payment(project) };
        let posting = Posting::paid(project.id, payment.id, payment.terms.amount, payment.terms.fee, at);
        [Write::from(PaymentWrite::Created { payment }), LedgerWrite::Posting(posting).into()]
    });
    Change::default().with_all(payments.flatten())
}

async fn assert_volumes(store: &Store, project: &Project, expected: &[HourVolume]) {
    let all = store.volume(project.id, at_hour(-1_000, 0), at_hour(1_000, 0)).await.unwrap();
    assert_eq!(all, expected);
    let some = store.volume(project.id, at_hour(2, 0), at_hour(31, 0)).await.unwrap();
    let is_within = |volume: &&HourVolume| (FIRST + 2..FIRST + 31).contains(&volume.hour);
    assert_eq!(some, expected.iter().filter(is_within).copied().collect::<Vec<_>>());
}

fn closed(database: &Database) -> usize {
    database.rows().iter().filter(|row| row.starts_with("volumes:")).count()
}

/// These postings have no receipts, so only the invariants about sums are checked.
async fn assert_sums_hold(store: &Store) {
    let breaches = store.breaches().await.unwrap();
    assert!(!breaches.iter().any(|breach| breach.invariant.starts_with("I2 ")), "{breaches:?}");
}

const HOURS: [i64; 7] = [0, 1, 2, 7, 30, 31, 32];

/// So many payments that a read requests closing the hours.
async fn with_volumes(store: &Store, project: &Project) -> Vec<HourVolume> {
    let instants = HOURS.iter().flat_map(|hour| (0..400).map(|millis| at_hour(*hour, millis)));
    keep(store, paid(project, instants)).await;
    HOURS.map(|hour| volume(hour, 400, 4_000_000)).into()
}

async fn closed_hours_say_what_the_postings_say(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let expected = with_volumes(&store, &project).await;
    keep(&store, paid(&other, std::iter::once(at_hour(0, 0)))).await;
    // An hour stays open for ten minutes more, and projects with few payments in hours that are over request nothing.
    for (now, rows) in [(at_hour(0, HOUR - 1), 0), (at_hour(2, 0), 1), (at_hour(32, HOUR - 1), 6), (at_hour(34, 0), 6)]
    {
        assert_volumes(&store, &project, &expected).await;
        while store.close_hours(now).await.unwrap() {}
        assert_eq!(closed(&database), rows, "{now}");
        assert_volumes(&store, &project, &expected).await;
    }
    assert_eq!(store.volume(other.id, NOW, after(1)).await.unwrap(), [volume(0, 1, 10_000)]);
    assert_sums_hold(&store).await;
}

async fn days_are_the_sums_of_their_hours_whether_or_not_those_are_closed(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    with_volumes(&store, &project).await;
    keep(&store, paid(&other, std::iter::once(at_hour(0, 0)))).await;
    let of = |payments| Paid { payments, amount: Rupiah::new(payments * 10_000) };
    // Nothing is closed, some hours of the second day are, all are.
    for now in [at_hour(0, 0), at_hour(31, HOUR / 2), at_hour(40, 0)] {
        while store.close_hours(now).await.unwrap() {}
        for (first, days, expected) in [
            (0, 2, &[of(1_600), of(1_200)][..]),
            (-24, 4, &[of(0), of(1_600), of(1_200), of(0)]),
            // Days begin where the caller says.
            (1, 1, &[of(1_200)]),
            (-17, 3, &[of(1_200), of(800), of(800)]),
            (48, 1, &[of(0)]),
            (0, 0, &[]),
        ] {
            let volume = store.daily_volume(project.id, at_hour(first, 0), days).await.unwrap();
            assert_eq!(volume, expected, "{first}, at {now}");
        }
    }
    assert_eq!(store.daily_volume(other.id, at_hour(0, 0), 1).await.unwrap(), [of(1)]);
}

async fn what_was_paid_up_to_a_moment_is_counted_to_the_millisecond(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    with_volumes(&store, &project).await;
    for now in [at_hour(0, 0), at_hour(40, 0)] {
        while store.close_hours(now).await.unwrap() {}
        for (from, to, payments) in [
            (at_hour(0, 0), at_hour(0, 0), 0),
            (at_hour(0, 0), at_hour(0, 1), 1),
            (at_hour(0, 0), at_hour(0, 400), 400),
            (at_hour(0, 0), at_hour(2, 5), 805),
            (at_hour(1, 0), at_hour(7, 0), 800),
            (at_hour(0, 0), at_hour(32, HOUR - 1), 2_800),
            (at_hour(2, 0), at_hour(1, 5), 0),
        ] {
            let paid = store.paid_between(project.id, from, to).await.unwrap();
            assert_eq!(paid, Paid { payments, amount: Rupiah::new(payments * 10_000) }, "{from} {to}, at {now}");
        }
    }
    assert_eq!(store.paid_between(other.id, at_hour(0, 0), at_hour(40, 0)).await.unwrap(), Paid::default());
}

async fn what_is_paid_in_a_closed_hour_counts_all_the_same(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let mut expected = with_volumes(&store, &project).await;
    assert_volumes(&store, &project, &expected).await;
    while store.close_hours(at_hour(40, 0)).await.unwrap() {}
    assert_eq!(closed(&database), 7);
    // The clock was set back.
    keep(&store, paid(&project, std::iter::once(at_hour(7, 5_000)))).await;
    expected[3] = volume(7, 401, 4_010_000);
    assert_eq!(closed(&database), 3);
    assert_volumes(&store, &project, &expected).await;
    assert_sums_hold(&store).await;
}

async fn two_nodes_close_the_same_hours(database: Database) {
    let (store, node) = (database.open().await, database.open().await);
    let project = kept_project(&store).await;
    let expected = with_volumes(&store, &project).await;
    for store in [&store, &node] {
        assert_volumes(store, &project, &expected).await;
    }
    let now = at_hour(50, 0);
    while {
        let (one, other) = join(store.close_hours(now), node.close_hours(now)).await;
        one.unwrap() | other.unwrap()
    } {}
    assert_eq!(closed(&database), HOURS.len());
    for store in [&store, &node] {
        assert_volumes(store, &project, &expected).await;
    }
    assert_sums_hold(&store).await;
}
