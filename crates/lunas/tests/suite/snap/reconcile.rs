//! Days are compared with the banks that issue codes: by their report, or by asking about each code.

use std::{collections::HashSet, sync::Arc, time::Duration};

use demobank::{CodeState, Fault, NotifyHabit, PayOrder, Service, Style};
use domain::{
    bank_difference::{ComparedBy, Difference, DifferenceKind, Reconciliation, Tally},
    bank_request::{jakarta_day, jakarta_day_begin},
    money::Rupiah,
};
use engine::{BankError, Comparison, Error, LineClass, Window};
use serde_json::Value;
use testkit::{Kit, on_every_database, on_sqlite_alone};

use crate::support::{
    acquirers::{AMOUNT, Acquired, acquired, ask_after, code_of, hosted_there},
    banks::contracted,
    json::id,
    nodes::Node,
    payments::{events_of, status, unapplied},
    rows::rows,
};

on_every_database![
    a_day_of_virtual_accounts_is_compared_by_the_report_and_missed_money_is_booked,
    a_day_of_qr_codes_is_compared_by_asking_about_each,
    a_day_of_virtual_accounts_without_a_report_is_compared_by_asking_about_each,
    what_the_bank_knows_otherwise_is_a_difference_for_a_person,
    a_day_that_is_compared_twice_has_the_same_sums_and_books_nothing_twice,
    a_day_ends_at_midnight_in_jakarta_for_the_report_and_for_questions,
    a_day_is_due_from_half_past_midnight_on_and_seven_missed_days_are_caught_up,
    a_bank_that_fails_leaves_no_row_and_is_asked_again_after_ten_minutes,
    two_nodes_compare_a_day_once on 2 threads,
    every_call_for_a_report_is_stored_before_with_an_external_id_of_its_own,
    money_for_an_opening_that_nobody_waits_for_any_more_is_found,
    a_comparison_that_was_cut_off_goes_on_from_there_with_all_that_it_had_found,
];

on_sqlite_alone![
    an_answer_that_cannot_be_read_leaves_no_row,
    an_account_whose_numbers_live_here_is_not_compared_and_says_so,
    a_day_that_is_not_over_or_before_the_account_is_refused,
];

/// To a moment of the next day in Jakarta, after its comparison is due.
fn next_day(kit: &Kit) {
    kit.clock.set(jakarta_day_begin(jakarta_day(kit.engine.now()) + 1).plus(Duration::from_mins(31)));
}

fn yesterday(kit: &Kit) -> i64 {
    jakarta_day(kit.engine.now()) - 1
}

fn quietly() -> PayOrder {
    PayOrder { notice: NotifyHabit::Never, ..PayOrder::default() }
}

fn tally(count: i64, amount: i64) -> Tally {
    Tally { count, amount: Rupiah::new(amount) }
}

async fn row(kit: &Kit, acquired: &Acquired) -> Option<Reconciliation> {
    kit.engine.reconciliations(acquired.account, 10).await.unwrap().into_iter().next()
}

async fn open_differences(kit: &Kit) -> Vec<Difference> {
    kit.engine.differences(true, Window { offset: 0, limit: 100 }).await.unwrap().items
}

/// How the money of a payment stands in a comparison.
fn class_of(comparison: &Comparison, payment: &Value) -> Vec<LineClass> {
    let lines = comparison.lines.iter().filter(|line| line.payment_id.is_some_and(|of| of.to_string() == id(payment)));
    lines.map(|line| line.class).collect()
}

async fn a_day_of_virtual_accounts_is_compared_by_the_report_and_missed_money_is_booked(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    let (told, missed, unpaid) = (acquired.payment().await, acquired.payment().await, acquired.payment().await);
    acquired.pays(&told).await;
    acquired.pays_as(&missed, quietly()).await;
    next_day(&kit);
    assert_eq!(kit.engine.reconcile_due().await.unwrap(), 1);
    let row = row(&kit, &acquired).await.unwrap();
    assert_eq!((row.day, row.by), (yesterday(&kit), ComparedBy::Report));
    assert_eq!((row.matched, row.missing_here), (tally(1, AMOUNT), tally(1, AMOUNT)));
    assert_eq!((row.missing_there, row.differing, row.bank_fees), (tally(0, 0), tally(0, 0), tally(0, 0)));
    assert_eq!(status(&acquired.project, &missed).await, "paid");
    assert_eq!(status(&acquired.project, &unpaid).await, "pending");
    assert_eq!(events_of(&acquired.project, &missed, "payment.paid").await.len(), 1);
    assert_eq!(acquired.asked.calls_of(Service::Report).len(), 24);
    assert_eq!((kit.engine.reconcile_due().await.unwrap(), open_differences(&kit).await), (0, Vec::new()));
}

async fn compared_by_questions(kit: &Kit, acquired: Acquired, query: Service) {
    let mut payments = Vec::new();
    for _ in 0..5 {
        payments.push(acquired.payment().await);
    }
    let [told, missed, lost, refunded, unpaid] = payments.try_into().unwrap();
    for payment in [&told, &lost, &refunded] {
        acquired.pays(payment).await;
    }
    ask_after(kit, Duration::ZERO).await;
    acquired.pays_as(&missed, quietly()).await;
    acquired.asked.forget_money(code_of(&lost)).unwrap();
    acquired.asked.set_state(code_of(&refunded), CodeState::Refunded).unwrap();
    next_day(kit);
    let asked_before = acquired.asked.calls_of(query).len();
    let comparison = kit.engine.compare_bank_day(acquired.account, yesterday(kit)).await.unwrap();
    let row = comparison.reconciliation;
    assert_eq!(row.by, ComparedBy::Query);
    assert_eq!((row.matched, row.missing_here), (tally(1, AMOUNT), tally(1, AMOUNT)));
    assert_eq!((row.missing_there, row.differing), (tally(1, AMOUNT), tally(1, AMOUNT)));
    for (payment, classes) in [
        (&told, &[LineClass::Matched][..]),
        (&missed, &[LineClass::MissingHere]),
        (&lost, &[LineClass::MissingThere]),
        (&refunded, &[LineClass::Differing]),
        (&unpaid, &[]),
    ] {
        assert_eq!(class_of(&comparison, payment), classes);
    }
    assert_eq!(acquired.asked.calls_of(query).len() - asked_before, 5, "each code is asked about once");
    assert!(acquired.asked.calls_of(Service::Report).is_empty());
    assert_eq!(status(&acquired.project, &missed).await, "paid");
    let mut kinds: Vec<&str> = open_differences(kit).await.iter().map(|found| found.key.kind.word()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["missing_there", "refunded"]);
}

async fn a_day_of_qr_codes_is_compared_by_asking_about_each(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    compared_by_questions(&kit, acquired, Service::Query).await;
}

async fn a_day_of_virtual_accounts_without_a_report_is_compared_by_asking_about_each(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "doku").await;
    compared_by_questions(&kit, acquired, Service::Status).await;
}

async fn what_the_bank_knows_otherwise_is_a_difference_for_a_person(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    let mut payments = Vec::new();
    for _ in 0..5 {
        payments.push(acquired.payment().await);
    }
    let [lost, other, dear, fair, dear_and_missed] = payments.try_into().unwrap();
    acquired.pays(&lost).await;
    acquired.asked.forget_money(code_of(&lost)).unwrap();
    acquired
        .pays_as(&other, PayOrder { amount: Some(AMOUNT - 1), told_amount: Some(AMOUNT), ..PayOrder::default() })
        .await;
    let with_fee = |fee, order| PayOrder { fee: Some(fee), ..order };
    acquired.pays_as(&dear, with_fee(4_001, PayOrder::default())).await;
    acquired.pays_as(&fair, with_fee(4_000, PayOrder::default())).await;
    acquired.pays_as(&dear_and_missed, with_fee(5_000, quietly())).await;
    next_day(&kit);
    let comparison = kit.engine.compare_bank_day(acquired.account, yesterday(&kit)).await.unwrap();
    let row = comparison.reconciliation;
    assert_eq!((row.matched, row.missing_here), (tally(1, AMOUNT), tally(1, AMOUNT)));
    assert_eq!((row.missing_there, row.differing), (tally(1, AMOUNT), tally(2, 2 * AMOUNT - 1)));
    assert_eq!(row.bank_fees, tally(3, 13_001));
    assert_eq!(class_of(&comparison, &fair), [LineClass::Matched]);
    let found = open_differences(&kit).await;
    let mut said: Vec<_> =
        found.iter().map(|one| (one.key.kind.word(), one.ours.map(Rupiah::get), one.theirs.map(Rupiah::get))).collect();
    said.sort_unstable();
    let expected = [
        ("amount", Some(AMOUNT), Some(AMOUNT - 1)),
        ("fee", Some(4_000), Some(4_001)),
        ("fee", Some(4_000), Some(5_000)),
        ("missing_there", Some(AMOUNT), None),
    ];
    assert_eq!(said, expected);
    assert!(found.iter().all(|one| one.payment_id.is_some() && one.day == yesterday(&kit)));
    // What the report left out was asked about singly before.
    assert_eq!(acquired.asked.calls_of(Service::Status).len(), 1);

    let key = &found.iter().find(|one| one.key.kind == DifferenceKind::MissingThere).unwrap().key;
    kit.engine.settle_difference(key, "the bank found it".to_owned()).await.unwrap();
    let again = kit.engine.settle_difference(key, "twice".to_owned()).await;
    assert!(matches!(again, Err(Error::AlreadySettled)));
    kit.engine.compare_bank_day(acquired.account, yesterday(&kit)).await.unwrap();
    assert_eq!(open_differences(&kit).await.len(), 3, "what was settled is not opened again");
}

async fn a_day_that_is_compared_twice_has_the_same_sums_and_books_nothing_twice(kit: Arc<Kit>) {
    for acquired in [hosted_there(&kit, "briva-ws").await, acquired(&kit, "dana").await] {
        let (told, missed) = (acquired.payment().await, acquired.payment().await);
        acquired.pays(&told).await;
        ask_after(&kit, Duration::ZERO).await;
        acquired.pays_as(&missed, quietly()).await;
        next_day(&kit);
        let day = yesterday(&kit);
        let first = kit.engine.compare_bank_day(acquired.account, day).await.unwrap();
        assert_eq!(first.reconciliation.missing_here, tally(1, AMOUNT));
        for _ in 0..2 {
            kit.clock.advance(Duration::from_mins(3));
            let again = kit.engine.compare_bank_day(acquired.account, day).await.unwrap();
            assert_eq!(again.lines, first.lines);
            assert_eq!(Reconciliation { at: first.reconciliation.at, ..again.reconciliation }, first.reconciliation);
        }
        let compared = kit.engine.reconciliations(acquired.account, 10).await.unwrap();
        assert_eq!(compared.iter().filter(|row| row.day == day).count(), 1);
        assert_eq!(events_of(&acquired.project, &missed, "payment.paid").await.len(), 1);
        assert_eq!((unapplied(&acquired.project).await, open_differences(&kit).await.len()), (0, 0));
    }
}

async fn a_day_ends_at_midnight_in_jakarta_for_the_report_and_for_questions(kit: Arc<Kit>) {
    for profile in ["briva-ws", "doku"] {
        let acquired = hosted_there(&kit, profile).await;
        let day = jakarta_day(kit.engine.now());
        let midnight = jakarta_day_begin(day + 1).as_millis();
        let (last, first) = (acquired.payment().await, acquired.payment().await);
        let at = |paid_at_ms| PayOrder { paid_at_ms: Some(paid_at_ms), ..PayOrder::default() };
        next_day(&kit);
        // The bank tells of both after midnight.
        acquired.pays_as(&last, at(midnight - 1_000)).await;
        acquired.pays_as(&first, at(midnight)).await;
        ask_after(&kit, Duration::ZERO).await;
        for (day, payment) in [(day, &last), (day + 1, &first)] {
            let comparison = kit.engine.compare_bank_day(acquired.account, day).await.unwrap();
            assert_eq!(comparison.reconciliation.matched, tally(1, AMOUNT), "{profile}");
            assert_eq!(comparison.lines.len(), 1, "{profile}");
            assert_eq!(class_of(&comparison, payment), [LineClass::Matched], "{profile}");
            next_day(&kit);
        }
        assert_eq!(open_differences(&kit).await, Vec::new());
    }
}

async fn a_day_is_due_from_half_past_midnight_on_and_seven_missed_days_are_caught_up(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    let (day, before) = (jakarta_day(kit.engine.now()), Duration::from_mins(30));
    kit.clock.set(jakarta_day_begin(day + 1).plus(before).minus(Duration::from_millis(1)));
    assert_eq!(kit.engine.reconcile_due().await.unwrap(), 0);
    kit.clock.advance(Duration::from_millis(1));
    assert_eq!(kit.engine.reconcile_due().await.unwrap(), 1);
    assert_eq!(row(&kit, &acquired).await.unwrap().day, day);
    kit.clock.advance(Duration::from_hours(24 * 10));
    assert_eq!((kit.engine.reconcile_due().await.unwrap(), kit.engine.reconcile_due().await.unwrap()), (7, 0));
    let days: Vec<i64> =
        kit.engine.reconciliations(acquired.account, 100).await.unwrap().iter().map(|row| row.day).collect();
    assert_eq!(days, [10, 9, 8, 7, 6, 5, 4, 0].map(|after| day + after));
    kit.clock.advance(Duration::from_hours(24));
    kit.engine.enable_bank_account(acquired.account, false).await.unwrap();
    assert_eq!(kit.engine.reconcile_due().await.unwrap(), 0, "a disabled account is left alone");
}

async fn a_bank_that_fails_leaves_no_row_and_is_asked_again_after_ten_minutes(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    let missed = acquired.payment().await;
    acquired.pays_as(&missed, quietly()).await;
    next_day(&kit);
    acquired.asked.fail_every(Service::Report, Some(Fault::Status(503)));
    assert_eq!(kit.engine.reconcile_due().await.unwrap(), 0);
    assert_eq!(row(&kit, &acquired).await, None);
    let asked = acquired.asked.calls_of(Service::Report).len();
    acquired.asked.fail_every(Service::Report, None);
    kit.clock.advance(Duration::from_secs(599));
    assert_eq!(kit.engine.reconcile_due().await.unwrap(), 0);
    assert_eq!(acquired.asked.calls_of(Service::Report).len(), asked, "the bank is left alone for a while");
    kit.clock.advance(Duration::from_secs(1));
    assert_eq!(kit.engine.reconcile_due().await.unwrap(), 1);
    assert_eq!(row(&kit, &acquired).await.unwrap().missing_here, tally(1, AMOUNT));
    assert_eq!(status(&acquired.project, &missed).await, "paid");
}

async fn an_answer_that_cannot_be_read_leaves_no_row(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    next_day(&kit);
    for fault in [Fault::BrokenJson, Fault::LostAfter, Fault::Case(400, "01"), Fault::Status(202)] {
        acquired.asked.fail_next_of(Service::Report, fault.clone());
        let failed = kit.engine.compare_bank_day(acquired.account, yesterday(&kit)).await;
        assert!(matches!(failed, Err(Error::Bank(BankError::CompareFailed(_)))), "{fault:?}");
        assert_eq!(row(&kit, &acquired).await, None, "{fault:?}");
        // The breaker lets calls through again.
        kit.clock.advance(Duration::from_mins(1));
    }
    acquired.asked.fail_next_of(Service::Report, Fault::TokenDies);
    kit.engine.compare_bank_day(acquired.account, yesterday(&kit)).await.unwrap();
    assert_eq!(acquired.asked.calls_of(Service::Token).len(), 2, "a token that dies is renewed");
}

async fn two_nodes_compare_a_day_once(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    let missed = acquired.payment().await;
    acquired.pays_as(&missed, quietly()).await;
    let node = Node::beside(&kit).await;
    next_day(&kit);
    acquired.asked.fail_next_of(Service::Report, Fault::Late(Duration::from_millis(300)));
    let (here, there) = tokio::join!(kit.engine.reconcile_due(), node.engine.reconcile_due());
    assert_eq!(here.unwrap() + there.unwrap(), 1);
    assert_eq!(acquired.asked.calls_of(Service::Report).len(), 24);
    assert_eq!(events_of(&acquired.project, &missed, "payment.paid").await.len(), 1);
    assert_eq!(node.engine.reconcile_due().await.unwrap(), 0);
    let day = yesterday(&kit);
    acquired.asked.fail_next_of(Service::Report, Fault::Late(Duration::from_millis(300)));
    let (here, there) = tokio::join!(
        kit.engine.compare_bank_day(acquired.account, day),
        node.engine.compare_bank_day(acquired.account, day)
    );
    let (done, refused) = if here.is_ok() { (here, there) } else { (there, here) };
    assert!(done.is_ok() && matches!(refused, Err(Error::Bank(BankError::BeingCompared))), "{done:?} {refused:?}");
    node.stop().await;
}

async fn an_account_whose_numbers_live_here_is_not_compared_and_says_so(kit: Arc<Kit>) {
    let own = contracted(&kit, Style::BCA).await;
    next_day(&kit);
    assert_eq!(kit.engine.reconcile_due().await.unwrap(), 0);
    let refused = kit.engine.compare_bank_day(own.account, yesterday(&kit)).await.unwrap_err();
    assert!(matches!(refused, Error::Bank(BankError::NotComparable)));
    assert!(refused.to_string().starts_with("not supported: "), "{refused}");
    assert_eq!(kit.engine.reconciliations(own.account, 10).await.unwrap(), []);
}

async fn a_day_that_is_not_over_or_before_the_account_is_refused(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    let today = jakarta_day(kit.engine.now());
    for day in [today, today + 1, i64::MAX / 200_000_000] {
        let refused = kit.engine.compare_bank_day(acquired.account, day).await;
        assert!(matches!(refused, Err(Error::Bank(BankError::DayNotOver(of))) if of == day), "{day}");
    }
    for day in [today - 1, 0, -1] {
        let refused = kit.engine.compare_bank_day(acquired.account, day).await;
        assert!(matches!(refused, Err(Error::Bank(BankError::DayBeforeAccount(of))) if of == day), "{day}");
    }
    assert!(acquired.asked.calls_of(Service::Report).is_empty());
}

async fn every_call_for_a_report_is_stored_before_with_an_external_id_of_its_own(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    next_day(&kit);
    assert_eq!(kit.engine.reconcile_due().await.unwrap(), 1);
    let calls = acquired.asked.calls_of(Service::Report);
    let ids: HashSet<&str> = calls.iter().map(|call| call.external_id.as_str()).collect();
    assert_eq!((ids.len(), calls.len()), (24, 24));
    let stored = rows(&kit.database);
    for external_id in ids {
        let cells = [format!(",{external_id},"), format!(">{external_id}<")];
        assert!(stored.iter().any(|row| cells.iter().any(|cell| row.contains(cell))), "{external_id}");
    }
}

async fn money_for_an_opening_that_nobody_waits_for_any_more_is_found(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    acquired.asked.fail_next_of(Service::Generate, Fault::LostAfter);
    acquired.asked.fail_every(Service::Query, Some(Fault::Status(503)));
    assert_eq!(acquired.pay("key").await.status, 503);
    ask_after(&kit, Duration::from_mins(11)).await;
    let code = acquired.asked.codes().remove(0);
    acquired.asked.pay_code(&code.reference, quietly()).await.unwrap();
    acquired.asked.fail_every(Service::Query, None);
    next_day(&kit);
    let comparison = kit.engine.compare_bank_day(acquired.account, yesterday(&kit)).await.unwrap();
    assert_eq!(comparison.reconciliation.missing_here, tally(1, AMOUNT));
    assert_eq!(comparison.lines[0].ours, Some(Rupiah::new(AMOUNT)));
}

/// Codes are asked about in groups of this many.
const FIRST: usize = 64;

/// A day with a group of codes and three more: money that we were told of and money that we were not in both, and one refund.
async fn a_day_of_two_groups(kit: &Kit, acquired: &Acquired) -> Vec<Value> {
    let mut payments = Vec::new();
    for _ in 0..FIRST + 3 {
        payments.push(acquired.payment().await);
        kit.clock.advance(Duration::from_millis(10));
    }
    for told in [0, FIRST] {
        acquired.pays(&payments[told]).await;
    }
    for missed in [1, FIRST + 1] {
        acquired.pays_as(&payments[missed], quietly()).await;
    }
    acquired.asked.set_state(code_of(&payments[2]), CodeState::Refunded).unwrap();
    payments
}

async fn a_comparison_that_was_cut_off_goes_on_from_there_with_all_that_it_had_found(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let payments = a_day_of_two_groups(&kit, &acquired).await;
    next_day(&kit);
    for _ in 0..FIRST {
        acquired.asked.fail_next_of(Service::Query, Fault::WhiteSpace);
    }
    acquired.asked.fail_next_of(Service::Query, Fault::Status(503));
    assert_eq!((kit.engine.reconcile_due().await.unwrap(), row(&kit, &acquired).await), (0, None));
    assert_eq!(status(&acquired.project, &payments[1]).await, "paid", "what was found is booked");
    let before = acquired.asked.calls_of(Service::Query).len();
    assert_eq!(before, FIRST + 1);

    kit.clock.advance(Duration::from_mins(10));
    assert_eq!(kit.engine.reconcile_due().await.unwrap(), 1);
    assert_eq!(acquired.asked.calls_of(Service::Query).len() - before, 3, "no code is asked about twice");
    let found = row(&kit, &acquired).await.unwrap();
    assert_eq!((found.matched, found.missing_here), (tally(2, 2 * AMOUNT), tally(2, 2 * AMOUNT)));
    assert_eq!((found.missing_there, found.differing), (tally(0, 0), tally(1, AMOUNT)));
    assert_eq!(open_differences(&kit).await.len(), 1);

    // From the beginning, the same comes of it.
    let again = kit.engine.compare_bank_day(acquired.account, found.day).await.unwrap().reconciliation;
    assert_eq!(acquired.asked.calls_of(Service::Query).len() - before, 3 + FIRST + 3);
    assert_eq!(Reconciliation { at: found.at, ..again }, found);
}
