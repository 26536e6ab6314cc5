//! Payments: what is stored of them, their transitions, and which codes they may have.

use domain::{
    bank::Bank,
    id::{PaymentId, mint},
    link::Link,
    method::Method,
    money::Rupiah,
    payment::{Checkout, Customer, Payment, State},
    return_url::ReturnUrl,
};
use futures_util::future::join_all;
use store::{Guard, PaymentState, PaymentWrite, StoreError};

use crate::{
    database::{Database, Outcome, commit, keep, keep_many, on_every_database},
    samples::{self, AMOUNT, NOW, after, entropy, kept_link, kept_payment, kept_project},
    terms_samples::full_terms,
};

on_every_database![
    a_payment_is_read_back_as_it_was_committed,
    a_payment_moves_if_it_is_as_it_was_read,
    the_states_of_many_payments_are_read_at_once,
    an_account_number_is_given_once_while_it_is_live,
    an_account_number_is_free_again_once_its_payment_ended,
    of_many_payments_with_one_account_number_exactly_one_is_made,
    qris_codes_are_not_held_against_each_other,
    a_value_we_never_write_is_an_error_and_not_a_guess,
    a_payment_is_found_by_its_code_while_it_can_be_paid,
    a_payload_is_found_however_many_payments_came_after_it,
    a_payments_first_view_is_the_one_that_counts,
];

const EVERY_STATE: [State; 6] = [
    State::Pending,
    State::Processing,
    State::Paid { at: after(1) },
    State::Failed { at: after(2) },
    State::Expired,
    State::Cancelled { at: after(3) },
];

fn is_live(state: State) -> bool {
    matches!(state, State::Pending | State::Processing)
}

async fn a_payment_is_read_back_as_it_was_committed(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let link = kept_link(&store, &project, true).await;
    let sparse =
        Checkout { customer: Customer { name: "Siti".to_owned(), ..Customer::default() }, ..Checkout::default() };
    let back = Some(ReturnUrl::stored("https://shop.example/?a=É#b".to_owned()));
    let mut payments = vec![
        samples::with_terms(samples::payment(&project), |terms| {
            terms.amount = Rupiah::MAX;
            terms.fee = Rupiah::ZERO;
        }),
        samples::with_terms(samples::payment(&project), |terms| {
            terms.amount = AMOUNT;
            terms.fee = AMOUNT;
        }),
        Payment {
            version: 9,
            ..samples::with_terms(samples::payment(&project), |terms| terms.reference = "É'\"%_\\".to_owned())
        },
        samples::with_terms(samples::attempt(&project, &link), |terms| terms.checkout = Some(sparse)),
        Payment { terms: full_terms(&project, &link), ..samples::payment(&project) },
        samples::with_terms(samples::payment(&project), |terms| terms.return_url = back),
        Payment { id: mint(after(1), entropy()), created_at: after(1), ..samples::payment(&project) },
    ];
    for state in EVERY_STATE {
        payments.push(Payment { state, ..samples::payment(&project) });
        payments.push(Payment { state, ..samples::attempt(&project, &link) });
    }
    for bank in Bank::ALL {
        let code = bank.account_number(7);
        payments.push(Payment {
            code,
            ..samples::with_terms(samples::payment(&project), |terms| terms.method = Method::VirtualAccount(bank))
        });
    }
    for payment in payments {
        keep(&store, PaymentWrite::Created { payment: payment.clone() }).await;
        assert_eq!(store.payment(payment.id).await.unwrap(), Some(payment));
    }
    assert_eq!(store.payment(mint(NOW, entropy())).await.unwrap(), None);
}

async fn a_payment_moves_if_it_is_as_it_was_read(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let link = kept_link(&store, &project, true).await;
    for from in EVERY_STATE {
        for to in EVERY_STATE {
            let payment = kept_payment(&store, Payment { state: from, ..samples::attempt(&project, &link) }).await;
            let ahead = Payment { version: 2, ..payment.clone() };
            let stale = Outcome::Conflict(Guard::PaymentVersion);
            assert_eq!(commit(&store, samples::moved_to(&ahead, to)).await, stale);
            assert_eq!(commit(&store, samples::moved_to(&payment, to)).await, Outcome::Kept);
            assert_eq!(commit(&store, samples::moved_to(&payment, from)).await, stale);
            // Only its state has changed.
            let expected = Payment { state: to, version: 2, ..payment.clone() };
            assert_eq!(store.payment(payment.id).await.unwrap(), Some(expected));
        }
    }
}

async fn the_states_of_many_payments_are_read_at_once(database: Database) {
    const OF_EACH: usize = 80;
    let store = database.open().await;
    let project = kept_project(&store).await;
    let states = EVERY_STATE.into_iter().flat_map(|state| [state; OF_EACH]);
    let payments: Vec<Payment> = states.map(|state| Payment { state, ..samples::payment(&project) }).collect();
    join_all(payments.iter().map(|payment| keep(&store, PaymentWrite::Created { payment: payment.clone() }))).await;
    keep(&store, samples::moved_to(&payments[0], State::Paid { at: NOW })).await;
    let mut expected: Vec<PaymentState> =
        payments.iter().map(|&Payment { id, state, version, .. }| PaymentState { id, state, version }).collect();
    expected[0] = PaymentState { state: State::Paid { at: NOW }, version: 2, ..expected[0] };

    let unknown = mint(NOW, entropy());
    for wanted in [&expected[..], &expected[..1], &expected[7..100], &[]] {
        let ids: Vec<PaymentId> = wanted.iter().map(|state| state.id).chain([unknown]).collect();
        let mut found = store.payment_states(&ids).await.unwrap();
        found.sort_by_key(|state| state.id);
        assert_eq!(found, wanted);
    }
    assert_eq!(store.payment_states(&[]).await.unwrap(), []);
}

async fn an_account_number_is_given_once_while_it_is_live(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    for (index, state) in EVERY_STATE.into_iter().enumerate() {
        let number = format!("11000{index}");
        kept_payment(&store, Payment { state, ..samples::account_payment(&project, &number) }).await;
        // No other project or bank may use the number meanwhile.
        let elsewhere = samples::with_terms(samples::account_payment(&other, &number), |terms| {
            terms.method = Method::VirtualAccount(Bank::Bni)
        });
        let expected = if is_live(state) { Outcome::Conflict(Guard::AccountNumber) } else { Outcome::Kept };
        assert_eq!(commit(&store, PaymentWrite::Created { payment: elsewhere }).await, expected, "{state:?}");
    }
}

/// A way for a payment to end.
type End = fn(&Payment, &Link) -> PaymentWrite;

async fn an_account_number_is_free_again_once_its_payment_ended(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let link = kept_link(&store, &project, true).await;
    let taken = Outcome::Conflict(Guard::AccountNumber);
    let ends: [(&str, End); 6] = [
        ("paid", |payment, _| samples::moved_to(payment, State::Paid { at: NOW })),
        ("failed", |payment, _| samples::moved_to(payment, State::Failed { at: NOW })),
        ("expired", |payment, _| samples::moved_to(payment, State::Expired)),
        ("cancelled", |payment, _| samples::moved_to(payment, State::Cancelled { at: NOW })),
        ("expired with all", |payment, _| PaymentWrite::PendingExpired {
            now: payment.terms.expires_at.plus(std::time::Duration::from_millis(1)),
            most: 10,
        }),
        ("cancelled with its link", |_, link| PaymentWrite::PendingCancelled { link_id: link.id, but: None, at: NOW }),
    ];
    for (end, ended) in ends {
        let number = "1100000001";
        let payment =
            samples::with_terms(samples::account_payment(&project, number), |terms| terms.link_id = Some(link.id));
        let first = kept_payment(&store, payment).await;
        let again = || PaymentWrite::Created { payment: samples::account_payment(&project, number) };
        assert_eq!(commit(&store, again()).await, taken, "{end}");
        keep(&store, ended(&first, &link)).await;
        let next = samples::account_payment(&project, number);
        assert_eq!(commit(&store, PaymentWrite::Created { payment: next.clone() }).await, Outcome::Kept, "{end}");
        assert_eq!(commit(&store, again()).await, taken, "{end}");
        keep(&store, samples::moved_to(&next, State::Expired)).await;
    }
}

async fn of_many_payments_with_one_account_number_exactly_one_is_made(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payments: Vec<Payment> = (0..16).map(|_| samples::account_payment(&project, "1100000001")).collect();
    let outcomes =
        join_all(payments.iter().map(|payment| commit(&store, PaymentWrite::Created { payment: payment.clone() })))
            .await;
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == Outcome::Kept).count(), 1);
    for (payment, outcome) in payments.iter().zip(outcomes) {
        let found = store.payment(payment.id).await.unwrap();
        assert_eq!(found.is_some(), outcome == Outcome::Kept);
    }
}

async fn qris_codes_are_not_held_against_each_other(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let first = kept_payment(&store, samples::payment(&project)).await;
    let second = Payment { code: first.code.clone(), ..samples::payment(&project) };
    assert_eq!(commit(&store, PaymentWrite::Created { payment: second }).await, Outcome::Kept);
    // A QRIS payment may have a code that is an account number elsewhere.
    kept_payment(&store, samples::account_payment(&project, "1100000001")).await;
    let third = Payment { code: "1100000001".to_owned(), ..samples::payment(&project) };
    assert_eq!(commit(&store, PaymentWrite::Created { payment: third }).await, Outcome::Kept);
}

async fn a_value_we_never_write_is_an_error_and_not_a_guess(database: Database) {
    for damage in [
        "method = 'cash'",
        "state = 'unsure'",
        "state = 'paid'",
        "paid_at = 1",
        "ended_at = 1",
        "project_id = 'prj_1'",
        "amount = 'much'",
        "expires_at = 'soon'",
    ] {
        if database.is_typed() && ["much", "soon"].iter().any(|word| damage.contains(word)) {
            continue;
        }
        let database = database.another().await;
        let store = database.open().await;
        let project = kept_project(&store).await;
        let payment = kept_payment(&store, samples::payment(&project)).await;
        database.damage(&format!("UPDATE payments SET {damage}"));
        let read = store.payment(payment.id).await;
        assert!(matches!(read, Err(StoreError::Unexpected(_))), "{damage}: {read:?}");
    }
}

async fn a_payment_is_found_by_its_code_while_it_can_be_paid(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let link = kept_link(&store, &project, true).await;
    let account = kept_payment(&store, samples::account_payment(&project, "1100000001")).await;
    let payload = kept_payment(&store, samples::attempt(&project, &link)).await;
    kept_payment(&store, samples::account_payment(&other, "1100000002")).await;
    for payment in [&account, &payload] {
        let found = store.payment_by_code(project.id, &payment.code).await.unwrap();
        assert_eq!(found.as_ref(), Some(payment));
        assert_eq!(store.payment_by_code(other.id, &payment.code).await.unwrap(), None);
        keep(&store, samples::moved_to(payment, State::Processing)).await;
        let found = store.payment_by_code(project.id, &payment.code).await.unwrap();
        assert_eq!(found.map(|payment| payment.state), Some(State::Processing));
        let processing = Payment { version: 2, ..payment.clone() };
        keep(&store, samples::moved_to(&processing, State::Failed { at: NOW })).await;
        assert_eq!(store.payment_by_code(project.id, &payment.code).await.unwrap(), None);
    }
    for code in ["", "1100000002", "no code"] {
        assert_eq!(store.payment_by_code(project.id, code).await.unwrap(), None, "{code}");
    }
}

async fn a_payload_is_found_however_many_payments_came_after_it(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = kept_payment(&store, samples::payment(&project)).await;
    let newer = (0..10_100).map(|_| PaymentWrite::Created { payment: samples::payment(&project) });
    keep_many(&store, newer).await;
    let found = store.payment_by_code(project.id, &payment.code).await.unwrap();
    assert_eq!(found, Some(payment.clone()));
    // Another payload that ends in the same way is another payload.
    let longer = format!("0{}", payment.code);
    assert_eq!(store.payment_by_code(project.id, &longer).await.unwrap(), None);
}

async fn a_payments_first_view_is_the_one_that_counts(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = kept_payment(&store, samples::payment(&project)).await;
    assert_eq!(store.view_of(payment.id).await.unwrap(), None);
    for at in [after(5), after(3), after(9)] {
        keep(&store, PaymentWrite::Viewed { payment_id: payment.id, project_id: project.id, at }).await;
    }
    assert_eq!(store.view_of(payment.id).await.unwrap(), Some(after(5)));
    let missing = samples::payment(&project);
    let viewed = PaymentWrite::Viewed { payment_id: missing.id, project_id: project.id, at: NOW };
    assert_eq!(commit(&store, viewed).await, Outcome::Unexpected);
}
