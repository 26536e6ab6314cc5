//! Attempts to send a refund: none follows one that the bank may have carried out, and what is in a batch is not sent.

use domain::{
    bank_account::BankAccount,
    destination::Rail,
    id::{BankAccountId, RefundId},
    money::Rupiah,
    project::{Environment, Project},
    refund::{
        Refund, RefundRoad,
        transfer::{AttemptState, TransferAttempt},
    },
    refund_settings::Party,
    time::Timestamp,
};
use futures_util::future::join_all;
use store::{Change, Guard, ProjectWrite, RefundFilter, RefundWrite, Store, TriedWay};

use crate::{
    bank_samples::kept_account,
    database::{Database, Outcome, commit, keep, on_every_database},
    refund_samples::{PROCESSING, begun, cancelled, on_its_way, paid, step, succeeded},
    samples::{self, EVERYTHING, after},
};

on_every_database![
    an_attempt_is_sent_once_however_many_try_at_once,
    at_banks_that_take_one_refund_of_a_payment_at_a_time_one_is_sent,
    the_next_attempt_needs_the_final_refusal_of_the_one_before,
    what_is_known_of_an_attempt_is_stored_over_what_was_read,
    a_refund_that_was_sent_is_not_ready_until_it_is_refused,
    what_is_in_a_batch_is_not_sent_and_in_no_other_batch,
    a_batch_says_how_many_of_its_refunds_are_open,
    an_attempt_is_asked_about_when_its_time_has_come,
    the_references_of_transfers_are_those_of_an_account_and_an_amount,
    how_refunds_were_tried_is_read_for_many_at_once,
];

pub(crate) fn attempt(account: &BankAccount, refund: &Refund, number: i64) -> TransferAttempt {
    TransferAttempt {
        refund_id: refund.id,
        number,
        account_id: account.id,
        reference: format!("{}-{number}", refund.id),
        external_id: format!("E{number}"),
        rail: Some(Rail::BiFast),
        state: AttemptState::Sent,
        bank_reference: None,
        answer: None,
        sent_at: after(200),
        updated_at: after(200),
        ask_at: Some(after(260)),
        asked: 0,
        statement: None,
    }
}

pub(crate) fn sent(attempt: TransferAttempt, refund: &Refund) -> RefundWrite {
    let (project_id, refund_version, from) = (refund.project_id, refund.version, refund.state);
    RefundWrite::AttemptSent { attempt, project_id, refund_version, from }
}

pub(crate) fn noted(attempt: &TransferAttempt, state: AttemptState) -> RefundWrite {
    let ask_at = if state == AttemptState::Unknown { Some(after(400)) } else { None };
    let asked = attempt.asked + 1;
    let answer = Some("2021700 in progress".to_owned());
    let attempt_now = TransferAttempt { state, ask_at, asked, answer, updated_at: after(300), ..attempt.clone() };
    RefundWrite::AttemptNoted { attempt: attempt_now, from: attempt.state, asked: attempt.asked }
}

pub(crate) async fn production(store: &Store) -> Project {
    let project = Project { environment: Environment::Production, ..samples::project() };
    keep(store, ProjectWrite::Created { project: project.clone(), sealed_webhook_secret: vec![1, 2, 3] }).await;
    project
}

async fn world(store: &Store) -> (BankAccount, Project, Refund) {
    let (account, project) = (kept_account(store).await, production(store).await);
    let payment = paid(store, &project).await;
    let refund = on_its_way(store, &project, payment.id, 1_000).await;
    (account, project, refund)
}

async fn kept(store: &Store, refund: &Refund) -> Refund {
    store.refund(refund.id).await.unwrap().unwrap()
}

async fn an_attempt_is_sent_once_however_many_try_at_once(database: Database) {
    let store = database.open().await;
    let (account, _, refund) = world(&store).await;
    let sending = (0..8).map(|index| {
        let attempt = TransferAttempt { reference: format!("node-{index}"), ..attempt(&account, &refund, 1) };
        commit(&store, sent(attempt, &refund))
    });
    let outcomes = join_all(sending).await;
    let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    assert_eq!((count(Outcome::Kept), count(Outcome::Conflict(Guard::RefundVersion))), (1, 7));
    assert_eq!(store.refund_attempts(refund.id).await.unwrap().len(), 1);
    assert_eq!(store.breaches().await.unwrap(), []);
}

/// Of two refunds of one payment that two nodes send at the same time, one goes first, whichever was made first.
async fn at_banks_that_take_one_refund_of_a_payment_at_a_time_one_is_sent(database: Database) {
    let store = database.open().await;
    let (account, project) = (kept_account(&store).await, production(&store).await);
    for round in 0..8 {
        let payment = paid(&store, &project).await;
        let mut refunds = Vec::new();
        for _ in 0..2 {
            refunds.push(begun(&store, &project, payment.id, 100, PROCESSING).await);
        }
        let sending = refunds.iter().map(|refund| {
            let alone = RefundWrite::AloneOfPayment { payment_id: payment.id, refund_id: refund.id };
            commit(&store, Change::from(alone).with(sent(attempt(&account, refund, 1), refund)))
        });
        let outcomes = join_all(sending).await;
        let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
        assert_eq!(
            (count(Outcome::Kept), count(Outcome::Conflict(Guard::RefundAlone))),
            (1, 1),
            "{round} {outcomes:?}"
        );
        let first = outcomes.iter().position(|outcome| *outcome == Outcome::Kept).unwrap();
        let known = store.refund_attempts(refunds[first].id).await.unwrap().remove(0);
        keep(&store, noted(&known, AttemptState::Refused)).await;
        let other = kept(&store, &refunds[1 - first]).await;
        let alone = RefundWrite::AloneOfPayment { payment_id: payment.id, refund_id: other.id };
        keep(&store, Change::from(alone).with(sent(attempt(&account, &other, 1), &other))).await;
    }
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn the_next_attempt_needs_the_final_refusal_of_the_one_before(database: Database) {
    let store = database.open().await;
    let (account, _, refund) = world(&store).await;
    let first = attempt(&account, &refund, 1);
    let before = database.rows();
    let outcome = commit(&store, sent(attempt(&account, &refund, 2), &refund)).await;
    assert_eq!(outcome, Outcome::Conflict(Guard::TransferAttempt), "the first is the first");
    assert_eq!(database.rows(), before);
    keep(&store, sent(first.clone(), &refund)).await;
    for state in [AttemptState::Sent, AttemptState::Unknown] {
        let refund = kept(&store, &refund).await;
        for number in [1, 2] {
            let again = TransferAttempt { reference: "another".to_owned(), ..attempt(&account, &refund, number) };
            assert_eq!(
                commit(&store, sent(again, &refund)).await,
                Outcome::Conflict(Guard::TransferAttempt),
                "{state:?}"
            );
        }
        let known = store.refund_attempts(refund.id).await.unwrap().remove(0);
        keep(&store, noted(&known, AttemptState::Unknown)).await;
    }
    let known = store.refund_attempts(refund.id).await.unwrap().remove(0);
    keep(&store, noted(&known, AttemptState::Refused)).await;
    let refund = kept(&store, &refund).await;
    let same = TransferAttempt { reference: first.reference.clone(), ..attempt(&account, &refund, 2) };
    assert_eq!(commit(&store, sent(same, &refund)).await, Outcome::Conflict(Guard::TransferAttempt), "its reference");
    keep(&store, sent(attempt(&account, &refund, 2), &refund)).await;
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn what_is_known_of_an_attempt_is_stored_over_what_was_read(database: Database) {
    let store = database.open().await;
    let (account, _, refund) = world(&store).await;
    let first = attempt(&account, &refund, 1);
    keep(&store, sent(first.clone(), &refund)).await;
    keep(&store, noted(&first, AttemptState::Unknown)).await;
    assert_eq!(commit(&store, noted(&first, AttemptState::Refused)).await, Outcome::Conflict(Guard::TransferAttempt));
    let unknown = store.refund_attempts(refund.id).await.unwrap().remove(0);
    assert_eq!(
        (unknown.state, unknown.asked, unknown.answer.as_deref()),
        (AttemptState::Unknown, 1, Some("2021700 in progress"))
    );
    let done = step(&store, &refund, |refund, _| refund.succeed(Some("FT1".to_owned()), after(300))).await;
    keep(&store, done.with(noted(&unknown, AttemptState::Done))).await;
    let done = store.refund_attempts(refund.id).await.unwrap().remove(0);
    assert_eq!((done.state, done.ask_at), (AttemptState::Done, None));
    for state in AttemptState::ALL {
        assert_eq!(commit(&store, noted(&done, state)).await, Outcome::Conflict(Guard::TransferAttempt));
    }
    assert_eq!(store.refund_attempt_by_reference(&done.reference).await.unwrap(), Some(done));
    assert_eq!(store.breaches().await.unwrap(), []);
}

/// What is ready, and how many a person may transfer.
async fn open(store: &Store, project: &Project) -> (Vec<(RefundId, i64)>, usize) {
    let ready = store.refunds_ready_to_send(RefundRoad::Transfer, None, 10).await.unwrap();
    let to_transfer = RefundFilter { to_transfer: true, ..RefundFilter::default() };
    let listed = store.refunds(project.id, to_transfer, EVERYTHING).await.unwrap().items.len();
    (ready.into_iter().map(|ready| (ready.refund.id, ready.next_attempt)).collect(), listed)
}

/// Stores what has become of the last attempt.
async fn note_last(store: &Store, refund: &Refund, state: AttemptState) {
    let last = store.refund_attempts(refund.id).await.unwrap().pop().unwrap();
    keep(store, noted(&last, state)).await;
}

async fn a_refund_that_was_sent_is_not_ready_until_it_is_refused(database: Database) {
    let store = database.open().await;
    let (account, project, refund) = world(&store).await;
    assert_eq!(open(&store, &project).await, (vec![(refund.id, 1)], 1));
    keep(&store, sent(attempt(&account, &refund, 1), &refund)).await;
    assert_eq!(open(&store, &project).await, (vec![], 0));
    note_last(&store, &refund, AttemptState::Unknown).await;
    assert_eq!(open(&store, &project).await, (vec![], 0));
    assert_eq!(store.uncertain_refunds(project.id).await.unwrap(), (1, Rupiah::new(1_000)));
    note_last(&store, &refund, AttemptState::Refused).await;
    assert_eq!(open(&store, &project).await, (vec![(refund.id, 2)], 1));
    cancelled(&store, &refund).await;
    assert_eq!(open(&store, &project).await, (vec![], 0));
    assert_eq!(store.breaches().await.unwrap(), []);
}

fn batch(project: &Project, number: i64, refunds: &[&Refund]) -> RefundWrite {
    RefundWrite::Batch {
        project_id: project.id,
        number,
        made_by: Party::CommandLine,
        at: after(210),
        refunds: refunds.iter().map(|refund| (refund.id, refund.version)).collect(),
    }
}

async fn what_is_in_a_batch_is_not_sent_and_in_no_other_batch(database: Database) {
    let store = database.open().await;
    let (account, project, refund) = world(&store).await;
    let payment = paid(&store, &project).await;
    let other = on_its_way(&store, &project, payment.id, 2_000).await;
    keep(&store, batch(&project, 1, &[&refund])).await;
    let exported = kept(&store, &refund).await;
    assert_eq!(exported.batch, Some(1));
    let taken = commit(&store, batch(&project, 1, &[&other])).await;
    assert_eq!(taken, Outcome::Conflict(Guard::RefundBatch));
    for refused in [
        batch(&project, 2, &[&other, &refund]),
        batch(&project, 2, &[&exported]),
        sent(attempt(&account, &exported, 1), &exported),
    ] {
        assert_eq!(commit(&store, refused).await, Outcome::Conflict(Guard::RefundVersion));
    }
    keep(&store, sent(attempt(&account, &other, 1), &other)).await;
    let was_sent = batch(&project, 2, &[&kept(&store, &other).await]);
    assert_eq!(commit(&store, was_sent).await, Outcome::Conflict(Guard::RefundVersion));
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn a_batch_says_how_many_of_its_refunds_are_open(database: Database) {
    let store = database.open().await;
    let (_, project, refund) = world(&store).await;
    keep(&store, batch(&project, 1, &[&refund])).await;
    assert_eq!(store.last_refund_batch(project.id).await.unwrap(), 1);
    let found = store.refund_batch(project.id, 1).await.unwrap().unwrap();
    assert_eq!((found.refunds, found.amount, found.open), (1, Rupiah::new(1_000), 1));
    succeeded(&store, &refund).await;
    let found = store.refund_batches(project.id, 10).await.unwrap();
    assert_eq!(found.iter().map(|batch| (batch.number, batch.open, batch.released)).collect::<Vec<_>>(), [(1, 0, 0)]);
    assert_eq!(store.refund_batch(project.id, 2).await.unwrap(), None);
}

async fn an_attempt_is_asked_about_when_its_time_has_come(database: Database) {
    let store = database.open().await;
    let (account, _, refund) = world(&store).await;
    let first = attempt(&account, &refund, 1);
    keep(&store, sent(first.clone(), &refund)).await;
    let due = async |now: Timestamp| {
        let accounts = store.accounts_with_refund_attempts(now).await.unwrap();
        (accounts.len(), store.refund_attempts_to_ask(account.id, now, 10).await.unwrap().len())
    };
    assert_eq!((due(after(259)).await, due(after(260)).await), ((0, 0), (1, 1)));
    keep(&store, noted(&first, AttemptState::Unknown)).await;
    assert_eq!((due(after(399)).await, due(after(400)).await), ((0, 0), (1, 1)));
    let known = store.refund_attempts(refund.id).await.unwrap().remove(0);
    keep(&store, noted(&known, AttemptState::Refused)).await;
    assert_eq!(due(after(9_999)).await, (0, 0));
}

async fn the_references_of_transfers_are_those_of_an_account_and_an_amount(database: Database) {
    let store = database.open().await;
    let (account, project, refund) = world(&store).await;
    let payment = paid(&store, &project).await;
    let others =
        [on_its_way(&store, &project, payment.id, 1_000).await, on_its_way(&store, &project, payment.id, 900).await];
    let by_code = TransferAttempt { rail: None, ..attempt(&account, &others[0], 1) };
    for (attempt, refund) in [
        (attempt(&account, &refund, 1), &refund),
        (by_code, &others[0]),
        (attempt(&account, &others[1], 1), &others[1]),
    ] {
        keep(&store, sent(attempt, refund)).await;
    }
    let read = async |amount: i64, since: Timestamp, most: i64| {
        store.references_of_transfers(account.id, Rupiah::new(amount), others[0].id, since, most).await.unwrap()
    };
    assert_eq!(read(1_000, after(100), 10).await, [format!("{}-1", refund.id)]);
    assert_eq!(read(900, after(100), 10).await, [format!("{}-1", others[1].id)]);
    for (amount, since, most) in [(901, after(100), 10), (900, after(101), 10), (900, after(100), 0)] {
        assert_eq!(read(amount, since, most).await, [""; 0], "{amount} {most}");
    }
    let elsewhere = kept_account(&store).await;
    let found = async |account: BankAccountId, but: RefundId| {
        store.references_of_transfers(account, Rupiah::new(900), but, after(100), 10).await.unwrap()
    };
    assert_eq!(found(elsewhere.id, others[0].id).await, [""; 0]);
    assert_eq!(found(account.id, others[1].id).await, [""; 0], "its own are not others");
}

async fn how_refunds_were_tried_is_read_for_many_at_once(database: Database) {
    let store = database.open().await;
    let (account, project, refused) = world(&store).await;
    let payment = paid(&store, &project).await;
    let [waiting, untried, other] = [
        on_its_way(&store, &project, payment.id, 1_000).await,
        on_its_way(&store, &project, payment.id, 1_000).await,
        on_its_way(&store, &project, payment.id, 1_000).await,
    ];
    // Three attempts of which two came to the same.
    for (number, rail) in [(1, Some(Rail::BiFast)), (2, None), (3, Some(Rail::BiFast))] {
        let sending = TransferAttempt { rail, ..attempt(&account, &refused, number) };
        keep(&store, sent(sending.clone(), &kept(&store, &refused).await)).await;
        keep(&store, noted(&sending, AttemptState::Refused)).await;
    }
    for refund in [&waiting, &other] {
        keep(&store, sent(attempt(&account, refund, 1), refund)).await;
    }
    let way = |rail, state, answer: Option<&str>, attempts| TriedWay {
        account_id: account.id,
        rail,
        state,
        answer: answer.map(str::to_owned),
        attempts,
    };
    let mut tried = store.tried_ways(&[refused.id, waiting.id, untried.id]).await.unwrap();
    assert_eq!(tried.len(), 2, "{tried:?}");
    assert_eq!(tried[&waiting.id], [way(Some(Rail::BiFast), AttemptState::Sent, None, 1)]);
    let ways = tried.get_mut(&refused.id).unwrap();
    ways.sort_by_key(|way| way.attempts);
    let code = Some("2021700 ");
    let expected = [way(None, AttemptState::Refused, code, 1), way(Some(Rail::BiFast), AttemptState::Refused, code, 2)];
    assert_eq!(*ways, expected);
    assert!(store.tried_ways(&[]).await.unwrap().is_empty());
}
