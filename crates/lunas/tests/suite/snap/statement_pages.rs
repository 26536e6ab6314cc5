//! The statement of the account that pays, which banks tell in pages: what stands on a later page is found, and nothing is said to
//! be absent from a statement that was not read to its end.

use std::{sync::Arc, time::Duration};

use demobank::{Fate, Fault, MoneyRules, Service};
use domain::{
    refund::{Refund, RefundStatus, answer::AttemptFinding, doubt::StatementFinding, transfer::TransferAttempt},
    time::Timestamp,
};
use serde_json::Value;
use testkit::{Kit, on_every_database, on_sqlite_alone};

use crate::support::{
    refund_bank::{OTHER_BANK, OWN_BANK, RefundBank},
    rows::run_by_hand,
};

on_every_database![a_transfer_on_a_later_page_of_the_statement_is_found];

on_sqlite_alone![
    a_transfer_that_was_booked_on_the_next_day_is_found,
    nothing_is_absent_from_a_statement_that_was_not_read_to_its_end,
    a_statement_that_is_too_long_for_some_days_is_read_day_by_day,
    a_reference_that_the_bank_tells_in_lines_is_found,
    money_of_the_same_amount_that_may_be_ours_proves_no_absence,
    a_transfer_that_was_booked_days_later_is_found,
    a_transfer_that_was_booked_on_the_day_before_by_the_banks_clock_is_found,
];

const MINUTE: Duration = Duration::from_mins(1);
const AMOUNT: i64 = 10_000;
/// Ten days.
const HIDDEN_MS: i64 = 240 * 3_600_000;

/// For ten days 36 finds nothing, and 14 tells so many lines at once.
fn set_rules(bank: &RefundBank, statement_lines: usize) {
    let rules = MoneyRules { hidden_ms: HIDDEN_MS, statement_lines, ..MoneyRules::default() };
    bank.acquired.asked.set_money_rules(&bank.acquired.client_id, rules);
}

/// A refund whose order was lost before it got to the bank, or after it was carried out.
async fn lose_order(bank: &RefundBank, payment: &Value, fault: Fault) -> Refund {
    let refund = bank.refund_to(payment, AMOUNT, OTHER_BANK).await;
    bank.acquired.asked.fail_next_of(Service::Interbank, fault);
    bank.engine.send_ready_refunds().await.unwrap();
    refund
}

/// Other movements of the account, one in each minute.
fn add_movements(kit: &Kit, bank: &RefundBank, count: i64) {
    for amount in 1..=count {
        kit.clock.advance(MINUTE);
        bank.acquired.asked.deposit(OWN_BANK, RefundBank::source(), amount, "sales").unwrap();
    }
}

async fn after_patience(kit: &Kit, bank: &RefundBank, refund: &Refund) -> (RefundStatus, TransferAttempt) {
    let (refund, attempts) = bank.follow(kit, refund, (10 * MINUTE, 7)).await;
    (refund.status(), attempts.into_iter().next().unwrap())
}

async fn a_transfer_on_a_later_page_of_the_statement_is_found(kit: Arc<Kit>) {
    for pages in ["last_record", "numbers:3"] {
        let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[("statement_pages", pages)]).await;
        set_rules(&bank, 3);
        let refund = lose_order(&bank, &payment, Fault::LostAfter).await;
        add_movements(&kit, &bank, 8);
        let (status, attempt) = after_patience(&kit, &bank, &refund).await;
        assert_eq!(status, RefundStatus::Succeeded, "{pages}: {attempt:?}");
        assert!(bank.calls(Service::Statement) >= 3, "{pages}");
        assert_eq!((bank.done().len(), bank.calls(Service::Interbank)), (1, 1), "{pages}");
    }
}

async fn a_transfer_that_was_booked_on_the_next_day_is_found(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    set_rules(&bank, 500);
    kit.clock.set(Timestamp::parse("2026-11-15T23:59:30+07:00").unwrap());
    bank.acquired.asked.fate_of_next(Fate { takes_ms: 120_000, ..Fate::default() });
    let refund = lose_order(&bank, &payment, Fault::LostAfter).await;
    let (status, attempt) = after_patience(&kit, &bank, &refund).await;
    assert_eq!(status, RefundStatus::Succeeded, "{attempt:?}");
    let asked: Value = serde_json::from_str(&bank.acquired.asked.calls_of(Service::Statement)[0].body).unwrap();
    assert_eq!(asked["fromDateTime"], "2026-11-15T00:00:00+07:00");
    assert_eq!(asked["toDateTime"], "2026-11-17T00:00:00+07:00", "the day of the order, and the next one");
}

async fn nothing_is_absent_from_a_statement_that_was_not_read_to_its_end(kit: Arc<Kit>) {
    for (settings, lines, answer) in [
        (vec![("statement_pages", "none")], 3, "not found"),
        (vec![("statement_pages", "none")], 500, "not found, and not on the account's statement"),
        (vec![], 3, "not found, and not on the account's statement"),
    ] {
        let (bank, payment) = RefundBank::with_payment(&kit, "generic", &settings).await;
        set_rules(&bank, lines);
        let refund = lose_order(&bank, &payment, Fault::LostBefore).await;
        add_movements(&kit, &bank, 8);
        let (status, attempt) = after_patience(&kit, &bank, &refund).await;
        assert_eq!((status, attempt.answer.as_deref()), (RefundStatus::Pending, Some(answer)), "{settings:?} {lines}");
    }
    // A page that fails is the end of nothing.
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    set_rules(&bank, 3);
    bank.acquired.asked.fail_every(Service::Statement, Some(Fault::Status(500)));
    let refund = lose_order(&bank, &payment, Fault::LostBefore).await;
    let (status, attempt) = after_patience(&kit, &bank, &refund).await;
    assert_eq!((status, attempt.answer.as_deref()), (RefundStatus::Pending, Some("not found")));
}

async fn a_statement_that_is_too_long_for_some_days_is_read_day_by_day(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[("statement_pages", "none")]).await;
    set_rules(&bank, 5);
    kit.clock.set(Timestamp::parse("2026-11-15T23:50:00+07:00").unwrap());
    let refund = lose_order(&bank, &payment, Fault::LostAfter).await;
    kit.clock.advance(15 * MINUTE);
    add_movements(&kit, &bank, 5);
    let (status, attempt) = after_patience(&kit, &bank, &refund).await;
    assert_eq!(status, RefundStatus::Succeeded, "{attempt:?}");
    assert_eq!(bank.calls(Service::Statement), 3, "both days at once, and each by itself");
}

/// Regression: a reference of 25 characters did not stand on a statement whose remarks have lines of 18.
async fn a_reference_that_the_bank_tells_in_lines_is_found(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    let rules = MoneyRules { hidden_ms: HIDDEN_MS, remark_line: 18, ..MoneyRules::default() };
    bank.acquired.asked.set_money_rules(&bank.acquired.client_id, rules);
    let refund = lose_order(&bank, &payment, Fault::LostAfter).await;
    let (status, attempt) = after_patience(&kit, &bank, &refund).await;
    assert_eq!(status, RefundStatus::Succeeded, "{attempt:?}");
    assert_eq!((bank.done().len(), bank.calls(Service::Interbank)), (1, 1));
}

async fn money_of_the_same_amount_that_may_be_ours_proves_no_absence(kit: Arc<Kit>) {
    for (is_withdrawn, finding) in [(false, AttemptFinding::NotFoundAnywhere), (true, AttemptFinding::NotFound)] {
        let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
        // A refund of the same amount is known by its reference.
        let other = bank.refund_to(&payment, AMOUNT, OTHER_BANK).await;
        assert_eq!(bank.follow(&kit, &other, (MINUTE, 0)).await.0.status(), RefundStatus::Succeeded);
        set_rules(&bank, 500);
        let refund = lose_order(&bank, &payment, Fault::LostBefore).await;
        if is_withdrawn {
            bank.acquired.asked.withdraw(OWN_BANK, RefundBank::source(), AMOUNT, "TRSF E-BANKING").unwrap();
        }
        let (status, attempt) = after_patience(&kit, &bank, &refund).await;
        assert_eq!((status, attempt.answer.as_deref()), (RefundStatus::Pending, Some(finding.words())));
        let found = if is_withdrawn { StatementFinding::Unclear } else { StatementFinding::Absent };
        assert_eq!(attempt.statement.map(|reading| reading.found), Some(found));
    }
}

/// Regression: the statement was never read past the second day after the order.
async fn a_transfer_that_was_booked_days_later_is_found(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    set_rules(&bank, 500);
    bank.acquired.asked.fate_of_next(Fate { takes_ms: 5 * 24 * 3_600_000, ..Fate::default() });
    let refund = lose_order(&bank, &payment, Fault::LostAfter).await;
    let (refund, attempts) = bank.follow(&kit, &refund, (6 * 60 * MINUTE, 22)).await;
    assert_eq!((refund.status(), bank.done().len()), (RefundStatus::Succeeded, 1), "{attempts:?}");
}

/// Regression: where our clock was ahead at midnight, the day on which the bank had booked the order was not read.
async fn a_transfer_that_was_booked_on_the_day_before_by_the_banks_clock_is_found(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    set_rules(&bank, 500);
    kit.clock.set(Timestamp::parse("2026-11-15T23:59:30+07:00").unwrap());
    let refund = lose_order(&bank, &payment, Fault::LostAfter).await;
    run_by_hand(&kit.database, "UPDATE refund_attempts SET sent_at = sent_at + 60000");
    let (status, attempt) = after_patience(&kit, &bank, &refund).await;
    assert_eq!(status, RefundStatus::Succeeded, "{attempt:?}");
}
