//! Expiring and cancelling many payments at a time.

use domain::{
    id::PaymentId,
    payment::{Payment, State},
};
use store::{Guard, PaymentWrite, Store};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{self, NOW, after, kept_link, kept_payment, kept_project},
};

on_every_database![
    expiries_are_written_down_a_few_at_a_time_and_the_oldest_first,
    only_pending_payments_past_their_time_expire,
    cancelling_pending_payments_spares_what_has_ended_or_is_on_its_way,
];

async fn state_of(store: &Store, id: PaymentId) -> State {
    store.payment(id).await.unwrap().unwrap().state
}

async fn expiries_are_written_down_a_few_at_a_time_and_the_oldest_first(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let mut payments = Vec::new();
    // They are not created in the order of their expiry.
    for end in [-3, -1, -5, -2, -4] {
        payments.push(
            kept_payment(
                &store,
                samples::with_terms(samples::payment(&project), |terms| terms.expires_at = after(end)),
            )
            .await,
        );
    }
    payments.sort_by_key(|payment| payment.terms.expires_at);
    for (most, expired) in [(0, 0), (2, 2), (1, 3), (10, 5), (10, 5)] {
        let any = store.any_to_expire(NOW).await.unwrap() && most > 0;
        let outcome = if any { Outcome::Kept } else { Outcome::Conflict(Guard::AnyExpired) };
        assert_eq!(commit(&store, PaymentWrite::PendingExpired { now: NOW, most }).await, outcome);
        for (index, payment) in payments.iter().enumerate() {
            let state = if index < expired { State::Expired } else { State::Pending };
            let version = if index < expired { 2 } else { 1 };
            let expected = Payment { state, version, ..payment.clone() };
            assert_eq!(store.payment(payment.id).await.unwrap(), Some(expected));
        }
        assert_eq!(store.any_to_expire(NOW).await.unwrap(), expired < payments.len());
    }
}

async fn only_pending_payments_past_their_time_expire(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let mut rows = Vec::new();
    for (state, expires_at, expected) in [
        (State::Pending, after(-1), State::Expired),
        (State::Pending, NOW, State::Pending),
        (State::Pending, after(1), State::Pending),
        (State::Processing, after(-1), State::Processing),
        (State::Paid { at: NOW }, after(-1), State::Paid { at: NOW }),
        (State::Failed { at: NOW }, after(-1), State::Failed { at: NOW }),
        (State::Cancelled { at: NOW }, after(-1), State::Cancelled { at: NOW }),
    ] {
        let payment = kept_payment(
            &store,
            Payment { state, ..samples::with_terms(samples::payment(&project), |terms| terms.expires_at = expires_at) },
        )
        .await;
        rows.push((payment.id, expected));
    }
    for (now, due) in [(after(-1), false), (NOW, true)] {
        assert_eq!(store.any_to_expire(now).await.unwrap(), due);
    }
    keep(&store, PaymentWrite::PendingExpired { now: NOW, most: 100 }).await;
    assert!(!store.any_to_expire(NOW).await.unwrap());
    assert!(store.any_to_expire(after(1)).await.unwrap());
    for (id, expected) in rows {
        assert_eq!(state_of(&store, id).await, expected);
    }
}

async fn cancelling_pending_payments_spares_what_has_ended_or_is_on_its_way(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (link, other) = (kept_link(&store, &project, false).await, kept_link(&store, &project, false).await);
    let cancelled = State::Cancelled { at: NOW };
    let mut rows = Vec::new();
    for (state, expires_at, expected) in [
        (State::Pending, NOW, cancelled),
        (State::Pending, after(1), cancelled),
        (State::Pending, after(-1), State::Pending),
        (State::Processing, after(1), State::Processing),
        (State::Paid { at: after(-2) }, after(1), State::Paid { at: after(-2) }),
        (State::Failed { at: after(-2) }, after(1), State::Failed { at: after(-2) }),
        (State::Expired, after(-1), State::Expired),
        (State::Cancelled { at: after(-2) }, after(1), State::Cancelled { at: after(-2) }),
    ] {
        let payment = Payment {
            state,
            ..samples::with_terms(samples::attempt(&project, &link), |terms| terms.expires_at = expires_at)
        };
        let payment = kept_payment(&store, payment).await;
        let version = if state == expected { 1 } else { 2 };
        rows.push(Payment { state: expected, version, ..payment });
    }
    let claiming = kept_payment(&store, samples::attempt(&project, &link)).await;
    let elsewhere = kept_payment(&store, samples::attempt(&project, &other)).await;
    let direct = kept_payment(&store, samples::payment(&project)).await;
    keep(&store, PaymentWrite::PendingCancelled { link_id: link.id, but: Some(claiming.id), at: NOW }).await;
    for expected in rows.into_iter().chain([claiming.clone(), elsewhere.clone(), direct]) {
        assert_eq!(store.payment(expected.id).await.unwrap(), Some(expected));
    }
    keep(&store, PaymentWrite::PendingCancelled { link_id: link.id, but: None, at: after(5) }).await;
    assert_eq!(state_of(&store, claiming.id).await, State::Cancelled { at: after(5) });
    assert_eq!(state_of(&store, elsewhere.id).await, State::Pending);
}
