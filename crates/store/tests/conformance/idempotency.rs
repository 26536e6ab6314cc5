//! An Idempotency-Key is bound once, to what it has created.

use domain::{
    idempotency::{Endpoint, Idempotency},
    payment::Payment,
};
use futures_util::future::join_all;
use store::{Change, CommitError, Guard, PaymentFilter, PaymentWrite};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{self, EVERYTHING, kept_project},
};

on_every_database![
    of_many_that_bind_one_idempotency_key_exactly_one_wins,
    changes_whose_keys_are_used_stop_none_of_those_beside_them,
    an_idempotency_key_leads_to_what_it_was_bound_to,
];

async fn of_many_that_bind_one_idempotency_key_exactly_one_wins(database: Database) {
    const CALLERS: usize = 64;
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payments: Vec<Payment> = (0..CALLERS).map(|_| samples::payment(&project)).collect();
    let callers = payments.iter().cloned().map(|payment| {
        let store = store.clone();
        let change = Change::from(samples::bind(&project, "same", payment.id)).with(PaymentWrite::Created { payment });
        tokio::spawn(async move { commit(&store, change).await })
    });
    let outcomes: Vec<Outcome> = join_all(callers).await.into_iter().map(Result::unwrap).collect();

    let winners: Vec<usize> = (0..CALLERS).filter(|index| outcomes[*index] == Outcome::Kept).collect();
    let losers = outcomes.iter().filter(|outcome| **outcome == Outcome::Conflict(Guard::IdempotencyKey)).count();
    assert_eq!((winners.len(), losers), (1, CALLERS - 1));
    let winner = &payments[winners[0]];
    let listed = store.payments(project.id, &PaymentFilter::default(), EVERYTHING).await.unwrap();
    assert_eq!((listed.total, listed.items.as_slice()), (1, std::slice::from_ref(winner)));
    let bound = store.bound(&samples::idempotency(&project, "same")).await.unwrap().unwrap();
    assert_eq!(bound.resource, winner.id.to_string());
}

async fn changes_whose_keys_are_used_stop_none_of_those_beside_them(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    for used in ["0", "3"] {
        keep(&store, samples::bind(&project, used, "pl_1")).await;
    }
    let payments: Vec<Payment> = (0..6).map(|_| samples::payment(&project)).collect();
    let changes = payments.iter().zip(0..).map(|(payment, key)| {
        let bind = samples::bind(&project, &key.to_string(), payment.id);
        Change::from(bind).with(PaymentWrite::Created { payment: payment.clone() })
    });
    let outcomes: Vec<bool> = store
        .commit_each(changes.collect())
        .await
        .into_iter()
        .map(|outcome| match outcome {
            Ok(()) => true,
            Err(CommitError::Conflict(Guard::IdempotencyKey)) => false,
            Err(error) => panic!("{error}"),
        })
        .collect();
    assert_eq!(outcomes, [false, true, true, false, true, true]);
    for (payment, is_kept) in payments.iter().zip(outcomes) {
        assert_eq!(store.payment(payment.id).await.unwrap().as_ref(), is_kept.then_some(payment));
    }
    let bound = store.bound(&samples::idempotency(&project, "3")).await.unwrap().unwrap();
    assert_eq!(bound.resource, "pl_1");
}

async fn an_idempotency_key_leads_to_what_it_was_bound_to(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    keep(&store, samples::bind(&project, "used", "pl_1")).await;
    let bound = store.bound(&samples::idempotency(&project, "used")).await.unwrap().unwrap();
    assert_eq!((bound.request, bound.resource), (vec![7; 16], "pl_1".to_owned()));
    let used = samples::idempotency(&project, "used");
    let elsewhere = kept_project(&store).await.id;
    for unused in [
        samples::idempotency(&project, "unused"),
        Idempotency { endpoint: Endpoint::Links, ..used.clone() },
        Idempotency { project_id: elsewhere, ..used.clone() },
    ] {
        assert!(store.bound(&unused).await.unwrap().is_none(), "{unused:?}");
    }
}
