//! Account numbers that are ours: each belongs to one payment, and to another only when it has rested.

use std::time::Duration;

use domain::{
    bank_account::{BankAccount, number_rests_until},
    id::{PaymentId, mint},
    payment::Payment,
    project::Project,
    time::Timestamp,
};
use futures_util::future::join_all;
use store::{BankWrite, Change, Guard, PaymentWrite, Store};

use crate::{
    bank_samples::{kept_account, taken},
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{self, NOW, account_payment, after, entropy, kept_payment, kept_project},
};

on_every_database![
    a_number_belongs_to_its_payment_until_it_has_rested,
    a_number_that_has_rested_is_given_to_another_payment,
    the_same_number_may_be_taken_at_two_accounts,
    the_first_numbers_are_read_in_their_order_and_up_to_a_limit,
    a_payment_has_one_number,
    of_many_that_take_a_number_at_once_exactly_one_wins,
    of_many_that_take_a_number_which_has_rested_exactly_one_wins,
    a_payment_and_its_number_are_kept_together_or_not_at_all,
];

const NUMBER: &str = "123450000000001";
const CALLERS: usize = 48;

/// A payment that was given the number, as far as its own row says. Its code differs, so that only the table of numbers
/// keeps two payments apart.
async fn bearer(store: &Store, project: &Project) -> Payment {
    let payment = account_payment(project, "");
    let code = format!("{NUMBER} {}", payment.id);
    let stored = kept_payment(store, Payment { code, ..payment }).await;
    Payment { code: NUMBER.to_owned(), ..stored }
}

/// The payment that the number was given to last.
async fn owner(store: &Store, account: &BankAccount, number: &str) -> Option<PaymentId> {
    store.payment_of_number(account.id, number).await.unwrap().map(|(payment, _)| payment.id)
}

async fn numbers_taken(store: &Store, account: &BankAccount, at: Timestamp) -> i64 {
    store.first_numbers(account.id, "12345", i64::MAX, at).await.unwrap().taken
}

async fn a_number_belongs_to_its_payment_until_it_has_rested(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let (first, second) = (bearer(&store, &project).await, bearer(&store, &project).await);
    assert!(!store.is_number_taken(account.id, NUMBER, NOW).await.unwrap());
    keep(&store, taken(&account, &first, NOW)).await;
    let free_at = number_rests_until(first.terms.expires_at);
    assert_eq!(first.terms.expires_at.until(free_at), Duration::from_hours(30 * 24));
    let later = samples::with_terms(second, |terms| terms.expires_at = free_at.plus(Duration::from_mins(15)));
    for at in [NOW, first.terms.expires_at, free_at] {
        let refused = commit(&store, taken(&account, &later, at)).await;
        assert_eq!(refused, Outcome::Conflict(Guard::AccountNumber), "{at:?}");
        assert!(store.is_number_taken(account.id, NUMBER, at).await.unwrap(), "{at:?}");
        assert_eq!(numbers_taken(&store, &account, at).await, 1, "{at:?}");
    }
}

async fn a_number_that_has_rested_is_given_to_another_payment(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let (first, second) = (bearer(&store, &project).await, bearer(&store, &project).await);
    let bearer_now = async || owner(&store, &account, NUMBER).await;
    assert_eq!(bearer_now().await, None);
    keep(&store, taken(&account, &first, NOW)).await;
    let rested = number_rests_until(first.terms.expires_at).plus(Duration::from_millis(1));
    assert!(!store.is_number_taken(account.id, NUMBER, rested).await.unwrap());
    assert_eq!(numbers_taken(&store, &account, rested).await, 0);
    // Until another payment has it, it leads to the one that had it, so that a late inquiry is told what became of it.
    assert_eq!(bearer_now().await, Some(first.id));
    let later = samples::with_terms(second, |terms| terms.expires_at = rested.plus(Duration::from_mins(15)));
    keep(&store, taken(&account, &later, rested)).await;
    assert_eq!(bearer_now().await, Some(later.id));
    assert!(store.is_number_taken(account.id, NUMBER, rested).await.unwrap());
}

async fn the_same_number_may_be_taken_at_two_accounts(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (one, two) = (kept_account(&store).await, kept_account(&store).await);
    let (first, second) = (bearer(&store, &project).await, bearer(&store, &project).await);
    keep(&store, taken(&one, &first, NOW)).await;
    assert!(!store.is_number_taken(two.id, NUMBER, NOW).await.unwrap());
    keep(&store, taken(&two, &second, NOW)).await;
    for (account, payment) in [(&one, first), (&two, second)] {
        assert_eq!(owner(&store, account, NUMBER).await, Some(payment.id));
        assert_eq!(numbers_taken(&store, account, NOW).await, 1);
    }
}

async fn the_first_numbers_are_read_in_their_order_and_up_to_a_limit(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let first = async |prefix: &str, most| {
        let first = store.first_numbers(account.id, prefix, most, NOW).await.unwrap();
        (first.read, first.taken, first.last)
    };
    assert_eq!(first("12345", 10).await, (0, 0, None));
    for number in ["12345999", "12345000", "1234600", "12344999", "12345500"] {
        let payment = bearer(&store, &project).await;
        keep(&store, taken(&account, &Payment { code: number.to_owned(), ..payment }, NOW)).await;
    }
    assert_eq!(first("12345", 10).await, (3, 3, Some("12345999".to_owned())));
    assert_eq!(first("12345", 2).await, (2, 2, Some("12345500".to_owned())));
    assert_eq!(first("", 10).await, (5, 5, Some("1234600".to_owned())));
    assert_eq!(first("9", 10).await, (0, 0, None));
}

async fn a_payment_has_one_number(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let payment = bearer(&store, &project).await;
    keep(&store, taken(&account, &payment, NOW)).await;
    let before = database.rows();
    let another = Payment { code: "123450000000002".to_owned(), ..payment.clone() };
    assert_eq!(commit(&store, taken(&account, &another, NOW)).await, Outcome::Unexpected);
    let of_nothing = Payment { id: mint(NOW, entropy()), ..another };
    assert_eq!(commit(&store, taken(&account, &of_nothing, NOW)).await, Outcome::Unexpected);
    let BankWrite::NumberTaken { account_id, project_id, .. } = taken(&account, &payment, NOW) else { panic!() };
    let number = "123450000000003".to_owned();
    let over =
        BankWrite::NumberTaken { account_id, number, project_id, payment_id: of_nothing.id, at: NOW, free_at: NOW };
    assert_eq!(commit(&store, over).await, Outcome::Unexpected);
    assert_eq!(database.rows(), before);
}

/// Commits changes that arrive at the same time, so that PostgreSQL gets many of them as one batch.
async fn at_once(store: &Store, changes: Vec<Change>) -> Vec<Outcome> {
    let callers = changes.into_iter().map(|change| {
        let store = store.clone();
        tokio::spawn(async move { commit(&store, change).await })
    });
    join_all(callers).await.into_iter().map(Result::unwrap).collect()
}

/// `CALLERS` payments take the number at once, while others take numbers of their own.
async fn race_for_the_number(store: &Store, at: Timestamp) {
    let (project, account) = (kept_project(store).await, kept_account(store).await);
    let previous = bearer(store, &project).await;
    if at > NOW {
        keep(store, taken(&account, &previous, NOW)).await;
    }
    let mut payments = Vec::new();
    for index in 0..CALLERS {
        let payment = samples::with_terms(bearer(store, &project).await, |terms| {
            terms.expires_at = at.plus(Duration::from_mins(15))
        });
        let code = if index % 4 == 0 { format!("{NUMBER}{index}") } else { payment.code.clone() };
        payments.push(Payment { code, ..payment });
    }
    let changes = payments.iter().map(|payment| taken(&account, payment, at).into()).collect();
    let outcomes = at_once(store, changes).await;
    let mut winners = Vec::new();
    for (payment, outcome) in payments.iter().zip(outcomes) {
        match payment.code == NUMBER {
            true if outcome == Outcome::Kept => winners.push(payment.id),
            true => assert_eq!(outcome, Outcome::Conflict(Guard::AccountNumber)),
            false => assert_eq!(outcome, Outcome::Kept),
        }
    }
    let [winner] = winners[..] else { panic!("{winners:?}") };
    assert_eq!(owner(store, &account, NUMBER).await, Some(winner));
}

async fn of_many_that_take_a_number_at_once_exactly_one_wins(database: Database) {
    race_for_the_number(&database.open().await, NOW).await;
}

async fn of_many_that_take_a_number_which_has_rested_exactly_one_wins(database: Database) {
    let rested = number_rests_until(after(900_000)).plus(Duration::from_millis(1));
    race_for_the_number(&database.open().await, rested).await;
}

/// What the engine commits for a new payment.
async fn a_payment_and_its_number_are_kept_together_or_not_at_all(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let payments: Vec<Payment> =
        (0..CALLERS).map(|index| account_payment(&project, &format!("12345{:010}", index / 2))).collect();
    let issued = |payment: &Payment| {
        Change::from(PaymentWrite::Created { payment: payment.clone() }).with(taken(&account, payment, NOW))
    };
    let outcomes = at_once(&store, payments.iter().map(issued).collect()).await;
    for (two, outcomes) in payments.chunks(2).zip(outcomes.chunks(2)) {
        let kept: Vec<usize> = (0..2).filter(|index| outcomes[*index] == Outcome::Kept).collect();
        let [kept] = kept[..] else { panic!("{outcomes:?}") };
        assert_eq!(outcomes[1 - kept], Outcome::Conflict(Guard::AccountNumber));
        assert_eq!(owner(&store, &account, &two[0].code).await, Some(two[kept].id));
        assert_eq!(store.payment(two[1 - kept].id).await.unwrap(), None);
    }
    assert_eq!(store.breaches().await.unwrap(), []);
}
