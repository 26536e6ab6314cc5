//! Refunds at the same time: no more goes back than came, and none is half made.

use domain::{
    money::Rupiah,
    refund::{NoRoom, RefundState},
};
use futures_util::future::join_all;
use store::{Change, Guard};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    refund_samples::{
        PROCESSING, beginning, begun, cancelled, failed, paid, returned, settled, settlement_now, step, succeeded,
    },
    samples::{AMOUNT, FEE, after, kept_project},
};

on_every_database![
    of_twenty_refunds_of_everything_at_once_one_is_made,
    refunds_of_two_payments_at_once_do_not_take_the_same_money_twice,
    a_settlement_and_a_refund_at_once_come_one_after_the_other,
    of_two_who_end_a_refund_at_once_one_does,
    a_refund_whose_payment_changed_meanwhile_leaves_nothing_behind,
    the_database_itself_refuses_more_than_was_received,
];

async fn of_twenty_refunds_of_everything_at_once_one_is_made(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = paid(&store, &project).await;
    let mut changes = Vec::new();
    for _ in 0..20 {
        changes.push(beginning(&store, &project, payment.id, None, PROCESSING).await.unwrap().1);
    }
    let outcomes = join_all(changes.into_iter().map(|change| commit(&store, change))).await;
    let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    assert_eq!((count(Outcome::Kept), count(Outcome::Conflict(Guard::PaymentVersion))), (1, 19));
    let again = beginning(&store, &project, payment.id, None, PROCESSING).await;
    assert_eq!(again.err(), Some(NoRoom::NothingLeft));
    let balance = store.balance(project.id, None).await.unwrap();
    assert_eq!((balance.refunding, balance.pending, balance.available), (AMOUNT, Rupiah::ZERO, -FEE));
    let kept = store.payment(payment.id).await.unwrap().unwrap();
    assert_eq!((kept.refunds.succeeded, kept.refunds.unfinished), (Rupiah::ZERO, AMOUNT));
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn refunds_of_two_payments_at_once_do_not_take_the_same_money_twice(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (one, two) = (paid(&store, &project).await, paid(&store, &project).await);
    for payment in [&one, &two] {
        settled(&store, payment.id, after(60_000)).await;
    }
    // 19,860 are available, and each refund needs 10,000 of them.
    let mut changes = Vec::new();
    for payment in [&one, &two] {
        changes.push(beginning(&store, &project, payment.id, None, PROCESSING).await.unwrap().1);
    }
    let outcomes = join_all(changes.into_iter().map(|change| commit(&store, change))).await;
    let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    assert_eq!((count(Outcome::Kept), count(Outcome::Conflict(Guard::RefundCovered))), (1, 1));
    let balance = store.balance(project.id, None).await.unwrap();
    assert_eq!((balance.refunding, balance.available), (AMOUNT, AMOUNT - FEE - FEE));
    let loser = if outcomes[0] == Outcome::Kept { &two } else { &one };
    let covered = AMOUNT - FEE;
    let again = beginning(&store, &project, loser.id, None, PROCESSING).await;
    assert_eq!(again.err(), Some(NoRoom::NotCovered { covered }), "what is available, and the fee");
    begun(&store, &project, loser.id, covered.get(), PROCESSING).await;
    assert_eq!(store.balance(project.id, None).await.unwrap().available, -FEE);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn a_settlement_and_a_refund_at_once_come_one_after_the_other(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = paid(&store, &project).await;
    let (_, refund) = beginning(&store, &project, payment.id, Some(4_000), PROCESSING).await.unwrap();
    let settlement = settlement_now(&store, payment.id, after(60_000)).await;
    let (refunded, settled_once) = tokio::join!(commit(&store, refund), commit(&store, settlement));
    let outcomes = [refunded, settled_once];
    assert!(
        outcomes == [Outcome::Kept, Outcome::Conflict(Guard::Unsettled)]
            || outcomes == [Outcome::Conflict(Guard::PaymentVersion), Outcome::Kept],
        "{outcomes:?}"
    );
    assert_eq!(store.breaches().await.unwrap(), []);
    // Whoever lost comes again.
    if refunded == Outcome::Kept {
        settled(&store, payment.id, after(60_000)).await;
    } else {
        begun(&store, &project, payment.id, 4_000, PROCESSING).await;
    }
    let balance = store.balance(project.id, None).await.unwrap();
    assert_eq!((balance.pending, balance.available), (Rupiah::ZERO, AMOUNT - FEE - Rupiah::new(4_000)));
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn of_two_who_end_a_refund_at_once_one_does(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = paid(&store, &project).await;
    for _ in 0..4 {
        let refund = begun(&store, &project, payment.id, 1_000, PROCESSING).await;
        let done = step(&store, &refund, |refund, _| refund.succeed(None, after(200))).await;
        let given_up = step(&store, &refund, |refund, unsettled| refund.cancel(false, unsettled, after(200))).await;
        let (done, given_up) = tokio::join!(commit(&store, done), commit(&store, given_up));
        let lost = Outcome::Conflict(Guard::PaymentVersion);
        assert!([done, given_up] == [Outcome::Kept, lost] || [done, given_up] == [lost, Outcome::Kept]);
        assert_eq!(store.breaches().await.unwrap(), []);
    }
}

async fn a_refund_whose_payment_changed_meanwhile_leaves_nothing_behind(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = paid(&store, &project).await;
    let (_, stale) = beginning(&store, &project, payment.id, Some(1_000), PROCESSING).await.unwrap();
    let refund = begun(&store, &project, payment.id, 2_000, PROCESSING).await;
    let end = step(&store, &refund, |refund, _| refund.succeed(None, after(200))).await;
    let before = database.rows();
    assert_eq!(commit(&store, stale).await, Outcome::Conflict(Guard::PaymentVersion));
    assert_eq!(database.rows(), before);
    failed(&store, &refund).await;
    let before = database.rows();
    assert_eq!(commit(&store, end).await, Outcome::Conflict(Guard::PaymentVersion));
    assert_eq!(database.rows(), before);
    let again = begun(&store, &project, payment.id, 2_000, RefundState::RequiresAction).await;
    cancelled(&store, &again).await;
    let third = begun(&store, &project, payment.id, AMOUNT.get(), PROCESSING).await;
    succeeded(&store, &third).await;
    returned(&store, &third).await;
    let balance = store.balance(project.id, None).await.unwrap();
    assert_eq!((balance.pending, balance.available, balance.refunding), (AMOUNT - FEE, Rupiah::ZERO, Rupiah::ZERO));
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn the_database_itself_refuses_more_than_was_received(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = paid(&store, &project).await;
    begun(&store, &project, payment.id, 6_000, PROCESSING).await;
    let version = store.refundable(payment.id).await.unwrap().unwrap().version;
    let sums = |unfinished| store::RefundWrite::Sums {
        payment_id: payment.id,
        version,
        moved: domain::refund::SumsMove { succeeded: Rupiah::ZERO, unfinished: Rupiah::new(unfinished) },
    };
    let before = database.rows();
    assert_eq!(commit(&store, Change::from(sums(4_001))).await, Outcome::Conflict(Guard::PaymentVersion));
    assert_eq!(database.rows(), before);
    keep(&store, sums(4_000)).await;
}
