//! Openings, the jobs and calls about them, and what is asked of banks in which order.

use std::time::Duration;

use domain::{
    bank_difference::{ComparedBy, Difference, DifferenceKey, DifferenceKind, Reconciliation, Tally},
    bank_request::jakarta_day,
    id::first_id_at,
    money::Rupiah,
    opening::{JobKind, Opening, OpeningState},
    payment::State,
};
use store::{After, BankWrite, Change, CodeName, Guard, OpeningWrite, PaymentWrite, Window};

use crate::{
    bank_samples::kept_account,
    database::{Database, Outcome, commit, keep, on_every_database},
    opening_samples::{
        self, abandoned, attempted, code, issued, job, kept_issued, kept_opening, opened, paid, paid_unissued,
        payment_of,
    },
    samples::{AMOUNT, NOW, after, kept_link, kept_payment, kept_project, payment},
    terms_samples::full_terms,
};

on_every_database![
    an_opening_reads_back_as_it_was_written,
    a_code_is_found_by_every_name,
    an_opening_is_issued_once,
    money_that_comes_before_the_code_makes_the_payment,
    what_is_known_about_a_customer_moves_to_the_payment,
    customers_whose_code_never_came_are_forgotten,
    a_refused_opening_can_be_opened_again,
    a_job_is_leased_by_one_node_and_postponed_under_its_lease,
    a_job_that_is_queued_twice_is_due_at_the_earlier_time,
    jobs_are_listed_by_account_longest_due_first,
    payments_that_are_cancelled_queue_the_void_of_their_codes,
    payments_at_banks_expire_only_when_that_is_written,
    calls_keep_their_answers_until_they_are_forgotten,
    external_ids_that_are_numbers_are_reserved_once,
    a_day_that_is_compared_again_replaces_what_was_found,
    a_difference_is_found_and_settled_once,
    a_difference_is_open_again_when_the_bank_knows_another_amount,
];

async fn an_opening_reads_back_as_it_was_written(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let plain = kept_opening(&store, &project, &account).await;
    let link = kept_link(&store, &project, true).await;
    let (one, two) = (kept_payment(&store, payment(&project)).await, kept_payment(&store, payment(&project)).await);
    let of_link = attempted(opening_samples::opening(&project, &account), &[&one, &two]);
    let of_link = Opening { terms: full_terms(&project, &link), ..of_link };
    keep(&store, opened(&of_link, &code(&of_link))).await;
    let alone = attempted(opening_samples::opening(&project, &account), &[]);
    keep(&store, opened(&alone, &code(&alone))).await;
    for opening in [plain, of_link, alone] {
        assert_eq!(store.opening(opening.id).await.unwrap(), Some(opening.clone()));
        assert_eq!(store.codes_of_opening(opening.id).await.unwrap(), [code(&opening)]);
    }
}

async fn a_code_is_found_by_every_name(database: Database) {
    let store = database.open().await;
    let (project, account, other) =
        (kept_project(&store).await, kept_account(&store).await, kept_account(&store).await);
    let opening = kept_opening(&store, &project, &account).await;
    let told = OpeningWrite::CodeTold {
        account_id: account.id,
        reference: code(&opening).reference,
        bank_reference: Some("BANK-1".to_owned()),
        number: Some("7777700001".to_owned()),
    };
    keep(&store, told).await;
    let reference = code(&opening).reference;
    for name in [CodeName::Reference(&reference), CodeName::BankReference("BANK-1"), CodeName::Number("7777700001")] {
        let found = store.bank_code(account.id, name).await.unwrap().unwrap();
        assert_eq!((found.opening_id, found.bank_reference.as_deref()), (opening.id, Some("BANK-1")), "{name:?}");
        assert_eq!(store.bank_code(other.id, name).await.unwrap(), None, "another account's: {name:?}");
    }
    assert_eq!(store.bank_code(account.id, CodeName::Number("BANK-1")).await.unwrap(), None);
    // A number that the bank gives out again belongs to its newest code.
    let newer = kept_opening(&store, &project, &account).await;
    let told = OpeningWrite::CodeTold {
        account_id: account.id,
        reference: code(&newer).reference,
        bank_reference: None,
        number: Some("7777700001".to_owned()),
    };
    keep(&store, told).await;
    let found = store.bank_code(account.id, CodeName::Number("7777700001")).await.unwrap().unwrap();
    assert_eq!(found.opening_id, newer.id);
    // No number of an account is given out twice.
    let second = opening_samples::opening(&project, &account);
    let same = domain::opening::BankCode { number: Some("7777700001".to_owned()), ..code(&second) };
    assert_eq!(commit(&store, opened(&second, &same)).await, Outcome::Conflict(Guard::AccountNumber));
    assert_eq!(store.opening(second.id).await.unwrap(), None);
}

async fn an_opening_is_issued_once(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let (opening, payment) = kept_issued(&store, &project, &account).await;
    assert_eq!(store.opening(opening.id).await.unwrap(), Some(opening.clone()));
    assert_eq!(store.opening_of_payment(payment.id).await.unwrap().map(|found| found.id), Some(opening.id));
    assert_eq!(store.payment(payment.id).await.unwrap(), Some(payment));
    let stale = Opening { version: 1, ..opening.clone() };
    assert_eq!(commit(&store, issued(&stale, &payment_of(&stale))).await, Outcome::Conflict(Guard::OpeningVersion));
    assert_eq!(commit(&store, abandoned(&opening)).await, Outcome::Conflict(Guard::OpeningVersion));
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn money_that_comes_before_the_code_makes_the_payment(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let opening = kept_opening(&store, &project, &account).await;
    let (payment, made) = paid_unissued(&account, &opening, "early");
    let key = job(&code(&opening), JobKind::Issue, NOW).key;
    keep(&store, made.with(OpeningWrite::JobDone { key, outcome: "paid".to_owned() })).await;
    assert_eq!(store.payment(payment.id).await.unwrap().unwrap().state, State::Paid { at: NOW });
    let receipt = domain::receipt::ReceiptKey { provider: account.id.to_string(), id: "early".to_owned() };
    assert_eq!(store.booked_money(&receipt).await.unwrap().unwrap().payment_id, Some(payment.id));
    let (other, again) = paid_unissued(&account, &kept_opening(&store, &project, &account).await, "early");
    assert_eq!(commit(&store, again).await, Outcome::Conflict(Guard::Receipt));
    assert_eq!(store.payment(other.id).await.unwrap(), None);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn what_is_known_about_a_customer_moves_to_the_payment(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let link = kept_link(&store, &project, true).await;
    let of_link = || {
        opening_samples::with_terms(opening_samples::opening(&project, &account), |terms| terms.link_id = Some(link.id))
    };
    for is_issued in [true, false] {
        let (of_customer, other) = (attempted(of_link(), &[]), attempted(of_link(), &[]));
        for opening in [&of_customer, &other] {
            keep(&store, opened(opening, &code(opening))).await;
        }
        let (payment, change) = match is_issued {
            true => {
                let payment = payment_of(&of_customer);
                let change = issued(&of_customer, &payment);
                (payment, change)
            }
            false => paid_unissued(&account, &of_customer, "early"),
        };
        keep(&store, change).await;
        let found = store.opening(of_customer.id).await.unwrap().unwrap();
        assert_eq!((found.terms.checkout, found.attempt, found.state.word()), (None, None, "issued"));
        assert_eq!(store.payment(payment.id).await.unwrap().unwrap().terms.checkout, of_customer.terms.checkout);
        assert_eq!(store.opening(other.id).await.unwrap(), Some(other));
    }
}

async fn customers_whose_code_never_came_are_forgotten(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let of_customer = || attempted(opening_samples::opening(&project, &account), &[]);
    let (refused, given_up, open) = (of_customer(), of_customer(), of_customer());
    for opening in [&refused, &given_up, &open] {
        keep(&store, opened(opening, &code(opening))).await;
    }
    keep(&store, OpeningWrite::Refused { id: refused.id, version: 1, at: after(2) }).await;
    keep(&store, abandoned(&given_up)).await;
    let (then, later) = (first_id_at(NOW), first_id_at(after(1)));
    let left = async || {
        let mut left = 0;
        for opening in [&refused, &given_up] {
            left += i32::from(store.opening(opening.id).await.unwrap().unwrap().terms.checkout.is_some());
        }
        left
    };
    // The last round finds one that is open, which is none of them.
    for (before, any, expected) in [(then, false, 2), (later, true, 1), (later, true, 0), (later, false, 0)] {
        assert_eq!(store.any_attempt_before(before).await.unwrap(), any);
        keep(&store, OpeningWrite::AttemptsForgotten { before, most: 1 }).await;
        assert_eq!(left().await, expected);
    }
    assert_eq!(store.opening(open.id).await.unwrap(), Some(open));
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn a_refused_opening_can_be_opened_again(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let opening = kept_opening(&store, &project, &account).await;
    let key = job(&code(&opening), JobKind::Issue, NOW).key;
    let refused = OpeningWrite::Refused { id: opening.id, version: 1, at: after(2) };
    keep(&store, Change::from(refused).with(OpeningWrite::JobDone { key, outcome: "4034705".to_owned() })).await;
    let found = store.opening(opening.id).await.unwrap().unwrap();
    assert_eq!((found.state, found.version), (OpeningState::Refused { at: after(2) }, 2));
    let next = Opening {
        generation: 2,
        version: 2,
        created_at: after(5),
        ..opening_samples::with_terms(opening, |terms| terms.expires_at = after(2_000))
    };
    let reopened = |version| {
        Change::from(OpeningWrite::Reopened {
            id: next.id,
            version,
            account_id: account.id,
            created_at: next.created_at,
            expires_at: next.terms.expires_at,
            code: code(&next),
        })
        .with(OpeningWrite::JobQueued(job(&code(&next), JobKind::Issue, after(35))))
    };
    assert_eq!(commit(&store, reopened(1)).await, Outcome::Conflict(Guard::OpeningVersion));
    keep(&store, reopened(2)).await;
    assert_eq!(store.opening(next.id).await.unwrap(), Some(Opening { version: 3, ..next.clone() }));
    assert_eq!(store.codes_of_opening(next.id).await.unwrap().len(), 2);
    assert_eq!(store.code_of_generation(next.id, 2).await.unwrap(), Some(code(&next)));
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn a_job_is_leased_by_one_node_and_postponed_under_its_lease(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let opening = kept_opening(&store, &project, &account).await;
    let key = job(&code(&opening), JobKind::Issue, NOW).key;
    let lease = |from, to| OpeningWrite::JobLeased { key, from, to };
    let outcome = || "timeout".to_owned();
    assert_eq!(commit(&store, lease(after(29), after(60))).await, Outcome::Conflict(Guard::JobDue));
    keep(&store, lease(after(30), after(60))).await;
    assert_eq!(commit(&store, lease(after(30), after(61))).await, Outcome::Conflict(Guard::JobDue));
    let late = OpeningWrite::JobPostponed { key, from: after(30), to: after(99), outcome: outcome() };
    assert_eq!(commit(&store, late).await, Outcome::Conflict(Guard::JobDue));
    keep(&store, OpeningWrite::JobPostponed { key, from: after(60), to: after(90), outcome: outcome() }).await;
    let found = store.bank_job(key).await.unwrap().unwrap();
    assert_eq!((found.due_at, found.tries), (Some(after(90)), 1));
    keep(&store, OpeningWrite::JobDone { key, outcome: outcome() }).await;
    assert_eq!(store.bank_job(key).await.unwrap().unwrap().due_at, None);
}

async fn a_job_that_is_queued_twice_is_due_at_the_earlier_time(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let (opening, _) = kept_issued(&store, &project, &account).await;
    let key = job(&code(&opening), JobKind::Query, NOW).key;
    let due = async || store.bank_job(key).await.unwrap().unwrap().due_at;
    assert_eq!(due().await, Some(after(1_060)));
    // It is moved in any case, so that a node that has its lease does not end it.
    let just_before = |seconds| after(seconds).minus(Duration::from_millis(1));
    for (queued, expected) in [(2_000, just_before(1_060)), (50, after(50)), (60, just_before(50))] {
        keep(&store, OpeningWrite::JobQueued(job(&code(&opening), JobKind::Query, after(queued)))).await;
        assert_eq!(due().await, Some(expected));
    }
    let ended = |leased_until| OpeningWrite::JobEnded { key, leased_until, outcome: "unpaid".to_owned() };
    keep(&store, ended(after(50))).await;
    assert_eq!(due().await, Some(just_before(50)), "the lease is another's by now");
    keep(&store, ended(just_before(50))).await;
    assert_eq!(due().await, None);
    keep(&store, OpeningWrite::JobDone { key, outcome: String::new() }).await;
    keep(&store, OpeningWrite::JobQueued(job(&code(&opening), JobKind::Query, after(70)))).await;
    assert_eq!(due().await, Some(after(70)), "what was done is to be done again");
}

async fn jobs_are_listed_by_account_longest_due_first(database: Database) {
    let store = database.open().await;
    let (project, one, two) = (kept_project(&store).await, kept_account(&store).await, kept_account(&store).await);
    let first = kept_opening(&store, &project, &one).await;
    let second = kept_opening(&store, &project, &one).await;
    kept_opening(&store, &project, &two).await;
    keep(&store, OpeningWrite::JobQueued(job(&code(&second), JobKind::Issue, after(20)))).await;
    assert_eq!(store.accounts_with_jobs(after(19)).await.unwrap(), []);
    assert_eq!(store.accounts_with_jobs(after(20)).await.unwrap(), [one.id]);
    assert_eq!(store.accounts_with_jobs(after(30)).await.unwrap().len(), 2);
    let due: Vec<_> =
        store.due_jobs(one.id, after(30), 9).await.unwrap().iter().map(|job| job.key.opening_id).collect();
    assert_eq!(due, [second.id, first.id]);
    assert_eq!(store.due_jobs(one.id, after(30), 1).await.unwrap().len(), 1);
    let waiting = store.jobs_waiting(one.id, after(30), 9).await.unwrap();
    assert_eq!((waiting.count, waiting.oldest_due_at), (2, Some(after(20))));
    let none = store.jobs_waiting(two.id, NOW, 9).await.unwrap();
    assert_eq!((none.count, none.oldest_due_at), (0, None));
}

async fn payments_that_are_cancelled_queue_the_void_of_their_codes(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let link = kept_link(&store, &project, true).await;
    let mut made = Vec::new();
    for _ in 0..3 {
        let opening = opening_samples::with_terms(opening_samples::opening(&project, &account), |terms| {
            terms.link_id = Some(link.id)
        });
        keep(&store, opened(&opening, &code(&opening))).await;
        let payment = payment_of(&opening);
        keep(&store, issued(&opening, &payment)).await;
        made.push((opening, payment));
    }
    let (winner, losers) = (made[0].1.id, &made[1..]);
    keep(&store, PaymentWrite::PendingCancelled { link_id: link.id, but: Some(winner), at: after(5) }).await;
    let void = async |opening: &Opening| store.bank_job(job(&code(opening), JobKind::Void, NOW).key).await.unwrap();
    assert_eq!(void(&made[0].0).await, None);
    for (opening, _) in losers {
        assert_eq!(void(opening).await.unwrap().due_at, Some(after(5)));
    }
    keep(&store, OpeningWrite::VoidQueued { payment_id: winner, at: after(6) }).await;
    assert_eq!(void(&made[0].0).await.unwrap().due_at, Some(after(6)));
    // A payment that no bank has issued has nothing to void.
    let local = kept_payment(&store, payment(&project)).await;
    keep(&store, OpeningWrite::VoidQueued { payment_id: local.id, at: after(6) }).await;
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn payments_at_banks_expire_only_when_that_is_written(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let (_, at_bank) = kept_issued(&store, &project, &account).await;
    let late = after(1_000_000);
    assert!(!store.any_to_expire(late).await.unwrap());
    let expired = PaymentWrite::PendingExpired { now: late, most: 10 };
    assert_eq!(commit(&store, expired).await, Outcome::Conflict(Guard::AnyExpired));
    assert_eq!(store.payment(at_bank.id).await.unwrap().unwrap().state, State::Pending);
}

async fn calls_keep_their_answers_until_they_are_forgotten(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let opening = kept_opening(&store, &project, &account).await;
    let first = opening_samples::send(&code(&opening), &code(&opening).reference);
    assert_eq!(store.latest_sends(opening.id, 9).await.unwrap(), std::slice::from_ref(&first));
    assert_eq!(commit(&store, OpeningWrite::Sent(first.clone())).await, Outcome::Conflict(Guard::ExternalId));
    let (day, external_id) = (first.day, first.external_id.clone());
    let answered =
        OpeningWrite::Answered { account_id: account.id, day, external_id, code: "2004700".to_owned(), at: after(1) };
    keep(&store, answered).await;
    let kept = store.latest_sends(opening.id, 9).await.unwrap();
    assert_eq!(kept[0].answer, Some(("2004700".to_owned(), after(1))));
    assert!(!store.any_send_before(day).await.unwrap() && store.any_send_before(day + 1).await.unwrap());
    keep(&store, OpeningWrite::SendsForgotten { before: day, most: 10 }).await;
    assert_eq!(store.latest_sends(opening.id, 9).await.unwrap().len(), 1);
    keep(&store, OpeningWrite::SendsForgotten { before: day + 1, most: 10 }).await;
    assert_eq!(store.latest_sends(opening.id, 9).await.unwrap(), []);
}

async fn external_ids_that_are_numbers_are_reserved_once(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    let reserve = |from, upto| OpeningWrite::SerialsReserved { account_id: account.id, day: 7, from, upto };
    assert_eq!(store.serials_upto(account.id, 7).await.unwrap(), 0);
    keep(&store, reserve(0, 100)).await;
    assert_eq!(commit(&store, reserve(0, 100)).await, Outcome::Conflict(Guard::Serials));
    keep(&store, reserve(100, 200)).await;
    assert_eq!(
        (store.serials_upto(account.id, 7).await.unwrap(), store.serials_upto(account.id, 8).await.unwrap()),
        (200, 0)
    );
}

async fn a_day_that_is_compared_again_replaces_what_was_found(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let (_, payment) = kept_issued(&store, &project, &account).await;
    keep(&store, paid(&account, &payment, "paid")).await;
    let since = |at| After { at, text: String::new(), most: 9 };
    let [told] = &store.told_money(account.id, since(NOW), after(1)).await.unwrap()[..] else { panic!("one was told") };
    assert_eq!((told.amount, told.payment.map(|payment| payment.id)), (AMOUNT, Some(payment.id)));
    assert_eq!(store.told_money(account.id, since(after(1)), after(2)).await.unwrap(), []);
    let day = jakarta_day(NOW);
    let tally = |count, amount| Tally { count, amount: Rupiah::new(amount) };
    let compared = Reconciliation {
        account_id: account.id,
        day,
        by: ComparedBy::Query,
        first_at: after(9),
        at: after(9),
        matched: tally(1, 150_000),
        missing_here: tally(0, 0),
        missing_there: tally(1, 7),
        bank_fees: tally(2, 9),
        differing: tally(1, 5),
    };
    keep(&store, OpeningWrite::Reconciled(compared)).await;
    let again = Reconciliation { matched: tally(2, 300_000), ..compared };
    keep(&store, OpeningWrite::Reconciled(again)).await;
    assert_eq!(store.reconciliations(account.id, 9).await.unwrap(), [again]);
}

/// Regression: a settled difference stayed settled whatever the bank said of the money afterwards.
async fn a_difference_is_open_again_when_the_bank_knows_another_amount(database: Database) {
    let store = database.open().await;
    let account = kept_account(&store).await;
    let key = DifferenceKey { account_id: account.id, subject: "paid".to_owned(), kind: DifferenceKind::Undecided };
    let found = |theirs: Option<i64>, found_at| Difference {
        key: key.clone(),
        day: jakarta_day(NOW),
        payment_id: None,
        ours: Some(AMOUNT),
        theirs: theirs.map(Rupiah::new),
        found_at: after(found_at),
        settled: None,
    };
    let is = async |expected| assert_eq!(store.difference(&key).await.unwrap(), Some(expected));
    keep(&store, OpeningWrite::DifferenceFound(found(None, 1))).await;
    keep(&store, OpeningWrite::DifferenceFound(found(Some(5), 2))).await;
    is(found(Some(5), 1)).await;
    let settle = || OpeningWrite::DifferenceSettled { key: key.clone(), at: after(20), note: "by phone".to_owned() };
    keep(&store, settle()).await;
    keep(&store, OpeningWrite::DifferenceFound(found(Some(6), 30))).await;
    is(found(Some(6), 30)).await;
    keep(&store, settle()).await;
    let answered = |theirs| BankWrite::DifferenceAnswered { key: key.clone(), theirs };
    keep(&store, answered(Rupiah::new(6))).await;
    keep(&store, answered(AMOUNT)).await;
    let settled = Some((after(20), "by phone".to_owned()));
    is(Difference { settled, ..found(Some(AMOUNT.get()), 30) }).await;
    keep(&store, answered(Rupiah::ZERO)).await;
    is(found(Some(0), 30)).await;
}

async fn a_difference_is_found_and_settled_once(database: Database) {
    let store = database.open().await;
    let (project, account) = (kept_project(&store).await, kept_account(&store).await);
    let (_, payment) = kept_issued(&store, &project, &account).await;
    let key = DifferenceKey { account_id: account.id, subject: "paid".to_owned(), kind: DifferenceKind::Amount };
    let difference = Difference {
        key: key.clone(),
        day: jakarta_day(NOW),
        payment_id: Some(payment.id),
        ours: Some(AMOUNT),
        theirs: Some(Rupiah::new(1)),
        found_at: after(9),
        settled: None,
    };
    keep(&store, OpeningWrite::DifferenceFound(difference.clone())).await;
    keep(&store, OpeningWrite::DifferenceFound(Difference { theirs: None, ..difference.clone() })).await;
    let window = Window { offset: 0, limit: 9 };
    assert_eq!(store.differences(true, window).await.unwrap().items, std::slice::from_ref(&difference));
    let settle = || OpeningWrite::DifferenceSettled { key: key.clone(), at: after(20), note: "by phone".to_owned() };
    keep(&store, settle()).await;
    assert_eq!(commit(&store, settle()).await, Outcome::Conflict(Guard::DifferenceOpen));
    let settled = Difference { settled: Some((after(20), "by phone".to_owned())), ..difference.clone() };
    for known in [&difference, &Difference { theirs: None, found_at: after(30), ..difference.clone() }] {
        keep(&store, OpeningWrite::DifferenceFound(known.clone())).await;
        assert_eq!(store.difference(&key).await.unwrap(), Some(settled.clone()));
    }
    assert_eq!(
        (store.differences(true, window).await.unwrap().total, store.differences(false, window).await.unwrap().total),
        (0, 1)
    );
}
