//! The state machine of refunds, and what they are taken from.

use proptest::prelude::*;

use super::{
    doubt::{Evidence, StatementFinding, StatementReading},
    found::FoundSource,
    *,
};
use crate::{
    destination::TransferBank,
    event::{Event, News},
    id::mint,
    ledger::Account,
    payment_state::State,
};

mod uncertain;

const NOW: Timestamp = Timestamp::from_millis(1_000);
const LATER: Timestamp = Timestamp::from_millis(2_000);

fn rupiah(amount: i64) -> Rupiah {
    Rupiah::new(amount)
}

fn party(number: u8) -> Party {
    Party::User(mint(NOW, [number; 10]))
}

fn destination() -> Destination {
    let bank = &TransferBank::ALL[0];
    Destination { bank, last_digits: "7890".to_owned(), holder: Some("Siti".to_owned()), is_checked: false }
}

fn refund(road: RefundRoad, state: RefundState) -> Refund {
    Refund {
        id: mint(NOW, [1; 10]),
        project_id: mint(NOW, [2; 10]),
        of: RefundOf::Payment(mint(NOW, [3; 10])),
        amount: rupiah(10_000),
        split: Split { pending: rupiah(6_000), available: rupiah(4_000), ..Split::default() },
        fee_returned: Rupiah::ZERO,
        state,
        road,
        reason: String::new(),
        destination: None,
        destination_by: None,
        claim: None,
        made_by: party(4),
        approved_by: None,
        doubt: None,
        found: None,
        bank_reference: None,
        failure_reason: None,
        metadata: None,
        batch: None,
        simulated_at: None,
        created_at: NOW,
        updated_at: NOW,
        version: 1,
    }
}

const PROCESSING: RefundState = RefundState::Pending(PendingReason::Processing);
const AWAITING: RefundState = RefundState::Pending(PendingReason::AwaitingApproval);
const SUCCEEDED: RefundState = RefundState::Succeeded { at: NOW };
const RETURNED: RefundState = RefundState::Returned { succeeded_at: NOW };

const EVERY_STATE: [RefundState; 8] = [
    RefundState::RequiresAction,
    AWAITING,
    RefundState::Pending(PendingReason::InsufficientBalance),
    PROCESSING,
    SUCCEEDED,
    RefundState::Failed,
    RefundState::Cancelled,
    RETURNED,
];

fn after(step: Result<RefundStep, RefundStuck>) -> Result<(RefundState, Option<RefundNews>), RefundStuck> {
    step.map(|step| (step.refund.state, step.news))
}

#[test]
fn a_transfer_waits_for_a_destination_then_for_an_approval_and_then_goes() {
    let next = Refund::next_state;
    assert_eq!(next(RefundRoad::Transfer, false, true), RefundState::RequiresAction);
    assert_eq!(next(RefundRoad::Transfer, true, true), AWAITING);
    assert_eq!(next(RefundRoad::Transfer, true, false), PROCESSING);
    assert_eq!(next(RefundRoad::Qris, false, false), PROCESSING);
    assert_eq!(next(RefundRoad::Qris, false, true), AWAITING);
    let begun = refund(RefundRoad::Transfer, RefundState::RequiresAction).begin();
    assert_eq!(begun.news, Some(RefundNews::RequiresAction));
    let given = begun.refund.give_destination(destination(), Party::Customer, true, LATER).unwrap().refund;
    assert_eq!(given.state, AWAITING);
    let approved = given.approve(party(9), false, LATER).unwrap().refund;
    assert_eq!((approved.state, approved.approved_by), (PROCESSING, Some(party(9))));
}

#[test]
fn only_what_is_on_its_way_succeeds_or_fails() {
    for state in EVERY_STATE {
        let of = || refund(RefundRoad::Qris, state);
        let expected = |to: RefundState, news| match state {
            PROCESSING | RefundState::Pending(PendingReason::InsufficientBalance) => Ok((to, Some(news))),
            _ if state.is_unfinished() => Err(RefundStuck::NotProcessing),
            _ => Err(RefundStuck::Ended),
        };
        let succeeded = expected(RefundState::Succeeded { at: LATER }, RefundNews::Succeeded);
        assert_eq!(after(of().succeed(None, LATER)), succeeded, "{state:?}");
        let failed = expected(RefundState::Failed, RefundNews::Failed);
        assert_eq!(after(of().fail("no".to_owned(), true, LATER)), failed, "{state:?}");
        let returned = match state {
            SUCCEEDED => Ok((RETURNED, Some(RefundNews::Returned))),
            _ => Err(RefundStuck::NotSucceeded),
        };
        assert_eq!(after(of().come_back("closed".to_owned(), true, LATER)), returned, "{state:?}");
    }
}

#[test]
fn only_what_was_not_sent_is_cancelled() {
    for state in EVERY_STATE {
        let cancelled = refund(RefundRoad::Qris, state).cancel(false, true, LATER);
        let expected = match state.is_unfinished() {
            true => Ok((RefundState::Cancelled, Some(RefundNews::Cancelled))),
            false => Err(RefundStuck::Ended),
        };
        assert_eq!(after(cancelled), expected, "{state:?}");
    }
    let processing = || refund(RefundRoad::Qris, PROCESSING);
    assert_eq!(after(processing().cancel(true, true, LATER)), Err(RefundStuck::Sent));
    let exported = Refund { batch: Some(1), ..processing() };
    assert!(!exported.is_ready());
    assert_eq!(after(exported.cancel(false, true, LATER)), Err(RefundStuck::InBatch));
}

#[test]
fn nobody_approves_what_they_asked_for_or_where_they_sent_it_unless_they_are_alone() {
    let waiting = || Refund { destination_by: Some(party(5)), ..refund(RefundRoad::Transfer, AWAITING) };
    for own in [party(4), party(5)] {
        assert_eq!(after(waiting().approve(own, false, LATER)), Err(RefundStuck::OwnRefund));
        assert_eq!(after(waiting().approve(own, true, LATER)), Ok((PROCESSING, None)));
    }
    assert_eq!(after(waiting().approve(party(6), false, LATER)), Ok((PROCESSING, None)));
    for state in EVERY_STATE.into_iter().filter(|state| *state != AWAITING) {
        let of = || refund(RefundRoad::Transfer, state);
        assert_eq!(after(of().approve(party(6), false, LATER)), Err(RefundStuck::NotAwaitingApproval));
        assert_eq!(after(of().decline("no".to_owned(), true, LATER)), Err(RefundStuck::NotAwaitingApproval));
    }
}

#[test]
fn another_destination_takes_an_approval_back_and_is_not_taken_once_a_refund_goes() {
    let waiting = Refund { approved_by: Some(party(6)), ..refund(RefundRoad::Transfer, AWAITING) };
    let again = waiting.give_destination(destination(), party(7), true, LATER).unwrap().refund;
    assert_eq!((again.state, again.approved_by, again.destination_by), (AWAITING, None, Some(party(7))));
    for state in EVERY_STATE.into_iter().filter(|state| !matches!(state, RefundState::RequiresAction)) {
        let given = refund(RefundRoad::Transfer, state).give_destination(destination(), party(7), false, LATER);
        let refused = if state.is_unfinished() { RefundStuck::NoDestinationNeeded } else { RefundStuck::Ended };
        let expected = if state == AWAITING { Ok((PROCESSING, None)) } else { Err(refused) };
        assert_eq!(after(given), expected, "{state:?}");
    }
}

/// All that it needs to end an uncertain refund as failed at [`LATER`].
fn proof() -> Evidence {
    let at = Timestamp::from_millis(1_900);
    Evidence {
        attempt: 1,
        proves_nothing_until: Timestamp::from_millis(1_500),
        is_on_its_way: false,
        has_statement: true,
        reading: Some(StatementReading { at, found: StatementFinding::Absent }),
        is_confirmed: false,
    }
}

fn mark_not_transferred(of: Refund, by: u8, evidence: Evidence) -> Result<RefundStep, RefundStuck> {
    of.mark_not_transferred(party(by), &evidence, "not there".to_owned(), true, LATER)
}

/// A refund that two people have ended as failed.
fn given_up() -> Refund {
    let first = mark_not_transferred(refund(RefundRoad::Transfer, PROCESSING), 6, proof()).unwrap();
    mark_not_transferred(first.refund, 7, proof()).unwrap().refund
}

fn payment_with(own_pending: i64) -> Refundable {
    Refundable {
        state: State::Paid { at: NOW },
        received: rupiah(10_000),
        fee: Rupiah::ZERO,
        is_unsettled: true,
        refunded: Rupiah::ZERO,
        taken: Split { pending: rupiah(10_000 - own_pending), ..Split::default() },
        succeeded: Rupiah::ZERO,
        fee_returned: Rupiah::ZERO,
    }
}

#[test]
fn what_is_found_done_is_taken_from_its_own_pending_money_and_then_from_what_is_available() {
    let settled = Refundable { is_unsettled: false, ..payment_with(10_000) };
    for (payment, pending, available) in [
        (payment_with(10_000), 10_000, 0),
        (payment_with(3_000), 3_000, 7_000),
        (payment_with(-1), 0, 10_000),
        (settled, 0, 10_000),
    ] {
        let found = given_up().found_done(FoundSource::Payment(&payment), Some("FT1".to_owned()), LATER).unwrap();
        assert_eq!(balance(&[&found], Account::Pending), -pending);
        assert_eq!(balance(&[&found], Account::Available), -available);
        assert_eq!(balance(&[&found], Account::Refunded), 10_000);
        assert_eq!(
            (found.news, found.refund.state),
            (Some(RefundNews::Succeeded), RefundState::Succeeded { at: LATER })
        );
        assert_eq!(found.refund.bank_reference.as_deref(), Some("FT1"));
        assert_eq!(found.sums, SumsMove { succeeded: rupiah(10_000), unfinished: Rupiah::ZERO });
        let fee = found.clone().returning_fee(rupiah(70));
        assert_eq!((balance(&[&fee], Account::Available), balance(&[&fee], Account::Fees)), (70 - available, -70));
        let back = fee.refund.clone().come_back("closed".to_owned(), true, LATER).unwrap();
        for account in Account::ALL {
            assert_eq!(balance(&[&fee, &back], account), 0, "{account:?}");
        }
    }
    let held = Refund { split: Split::of_held_money(rupiah(10_000)), ..given_up() };
    let again = held.clone().found_done(FoundSource::HeldMoney, None, LATER).unwrap();
    assert_eq!(balance(&[&again], Account::Unapplied), -10_000);
    let elsewhere = held.found_done(FoundSource::Available, None, LATER).unwrap();
    assert_eq!(balance(&[&elsewhere], Account::Available), -10_000);
}

#[test]
fn only_what_was_ended_as_failed_is_found_done_and_once() {
    for state in EVERY_STATE.into_iter().filter(|state| *state != RefundState::Failed) {
        let found = refund(RefundRoad::Transfer, state).found_done(FoundSource::Available, None, LATER);
        assert_eq!(after(found), Err(RefundStuck::Ended), "{state:?}");
    }
    let found = given_up().found_done(FoundSource::Available, None, LATER).unwrap().refund;
    assert_eq!(after(found.clone().found_done(FoundSource::Available, None, LATER)), Err(RefundStuck::Ended));
    let event = Event {
        id: mint(NOW, [9; 10]),
        project_id: found.project_id,
        created_at: NOW,
        news: News::Refund { refund: found.id, news: RefundNews::Failed },
    };
    let then = found.as_seen_by(&event);
    assert_eq!((then.state, then.failure_reason.as_deref()), (RefundState::Failed, Some("not there")));
}

#[test]
fn a_code_that_cannot_be_refunded_leads_to_the_customers_account() {
    let refused = refund(RefundRoad::Qris, PROCESSING).need_destination("settled".to_owned(), LATER).unwrap();
    assert_eq!((refused.refund.road, refused.refund.state), (RefundRoad::Transfer, RefundState::RequiresAction));
    assert_eq!((refused.news, refused.posting), (Some(RefundNews::RequiresAction), None));
}

#[test]
fn a_claim_is_open_until_it_expires_or_was_tried_too_often() {
    let claim = Claim::opened(NOW);
    let of = |claim, state| Refund { claim: Some(claim), ..refund(RefundRoad::Transfer, state) };
    let waiting = of(claim, RefundState::RequiresAction);
    let end = NOW.plus(CLAIM_LIFETIME);
    assert!(waiting.takes_claims(end) && !waiting.takes_claims(Timestamp::from_millis(end.as_millis() + 1)));
    let tried = Claim { tries: CLAIM_TRIES_MOST, ..claim };
    assert!(!of(tried, RefundState::RequiresAction).takes_claims(NOW));
    for state in EVERY_STATE.into_iter().filter(|state| *state != RefundState::RequiresAction) {
        assert!(!of(claim, state).takes_claims(NOW), "{state:?}");
    }
}

/// What each account has after the postings of these steps.
fn balance(steps: &[&RefundStep], account: Account) -> i64 {
    let legs = steps.iter().filter_map(|step| step.posting.as_ref()).flat_map(|posting| posting.legs());
    legs.filter(|(of, _)| *of == account).map(|(_, amount)| amount.get()).sum()
}

#[test]
fn money_goes_back_where_it_came_from_and_to_available_once_the_payment_has_settled() {
    let begun = refund(RefundRoad::Qris, PROCESSING).begin();
    for (is_unsettled, pending, available) in [(true, 0, 0), (false, -6_000, 6_000)] {
        let of = || begun.refund.clone();
        let failed = of().fail("no".to_owned(), is_unsettled, LATER).unwrap();
        let succeeded = of().succeed(None, LATER).unwrap();
        let returned = succeeded.refund.clone().come_back("no".to_owned(), is_unsettled, LATER).unwrap();
        for steps in [&[&begun, &failed][..], &[&begun, &succeeded, &returned]] {
            assert_eq!(balance(steps, Account::Pending), pending);
            assert_eq!(balance(steps, Account::Available), available);
            assert_eq!((balance(steps, Account::Refunding), balance(steps, Account::Refunded)), (0, 0));
        }
        assert_eq!(balance(&[&begun, &succeeded], Account::Refunded), 10_000);
    }
}

fn refundable(received: i64, fee: i64) -> Refundable {
    Refundable {
        state: State::Paid { at: NOW },
        received: rupiah(received),
        fee: rupiah(fee),
        is_unsettled: true,
        refunded: Rupiah::ZERO,
        taken: Split::default(),
        succeeded: Rupiah::ZERO,
        fee_returned: Rupiah::ZERO,
    }
}

#[test]
fn the_fee_goes_back_in_the_same_parts_as_the_money_and_never_twice() {
    // Thirds of 10,000 with a fee of 70: 23.3 and 46.7 and 70.
    let mut of = refundable(10_000, 70);
    for (amount, part) in [(3_333, 23), (3_333, 24), (3_334, 23)] {
        let fee = of.fee_to_return(rupiah(amount));
        assert_eq!(fee, rupiah(part));
        of.succeeded = of.succeeded + rupiah(amount);
        of.fee_returned = of.fee_returned + fee;
    }
    assert_eq!(of.fee_to_return(rupiah(1)), Rupiah::ZERO);
    assert_eq!(refundable(1, 0).fee_to_return(rupiah(1)), Rupiah::ZERO);
    let begun = refund(RefundRoad::Qris, PROCESSING).begin();
    let succeeded = begun.refund.clone().succeed(None, LATER).unwrap().returning_fee(rupiah(70));
    let steps = &[&begun, &succeeded][..];
    assert_eq!((balance(steps, Account::Fees), balance(steps, Account::Available)), (-70, -3_930));
    let returned = succeeded.refund.clone().come_back("no".to_owned(), true, LATER).unwrap();
    let steps = &[&begun, &succeeded, &returned][..];
    assert_eq!((balance(steps, Account::Fees), balance(steps, Account::Available)), (0, 0));
    assert_eq!(returned.refund.fee_returned, Rupiah::ZERO);
}

#[test]
fn a_refund_takes_the_payments_own_pending_first_then_what_is_available_and_then_the_fee() {
    let judge = |available, amount| refundable(10_000, 70).judge(amount, rupiah(available)).map(|judged| judged.split);
    let split = |pending, available, fee| Split {
        pending: rupiah(pending),
        available: rupiah(available),
        fee: rupiah(fee),
        unapplied: Rupiah::ZERO,
    };
    assert_eq!(judge(0, Some(rupiah(5_000))), Ok(split(5_000, 0, 0)));
    assert_eq!(judge(0, None), Ok(split(9_930, 70, 70)));
    assert_eq!(judge(30, None), Ok(split(9_930, 70, 40)));
    assert_eq!(judge(70, None), Ok(split(9_930, 70, 0)));
    assert_eq!(judge(-500, None), Ok(split(9_930, 70, 70)), "the fee part is not bounded by what is available");
    assert_eq!(judge(0, Some(rupiah(10_001))), Err(NoRoom::AboveReceived { received: rupiah(10_000) }));
}

#[test]
fn a_refund_of_what_is_still_pending_is_the_same_whatever_is_available() {
    let begun = Refundable {
        refunded: rupiah(4_000),
        taken: Split { pending: rupiah(4_000), ..Split::default() },
        ..refundable(10_000, 70)
    };
    let settled = Refundable { is_unsettled: false, ..begun };
    let unpaid = Refundable { state: State::Pending, ..begun };
    for basis in [refundable(10_000, 70), begun, settled, unpaid] {
        for amount in [None, Some(1), Some(5_930), Some(5_931), Some(6_000), Some(9_930), Some(9_931), Some(10_001)] {
            let amount = amount.map(rupiah);
            let judged = [-500, 0, 1_000_000].map(|available| basis.judge(amount, rupiah(available)));
            if basis.takes_only_own_pending(amount) {
                assert!(judged.iter().all(|other| *other == judged[0]), "{basis:?} {amount:?}");
            }
        }
    }
    assert!(begun.takes_only_own_pending(Some(rupiah(5_930))) && !begun.takes_only_own_pending(Some(rupiah(5_931))));
    assert!(!begun.takes_only_own_pending(None) && !settled.takes_only_own_pending(Some(rupiah(1))));
}

#[test]
fn what_is_settled_is_covered_by_what_is_available_and_the_fee_alone() {
    let settled = Refundable { is_unsettled: false, ..refundable(10_000, 70) };
    assert_eq!(settled.judge(None, rupiah(9_929)), Err(NoRoom::NotCovered { covered: rupiah(9_999) }));
    let whole = settled.judge(None, rupiah(9_930)).unwrap();
    assert_eq!((whole.split.available, whole.split.fee), (rupiah(10_000), rupiah(70)));
    assert_eq!(whole.split.needs_available(), rupiah(9_930));
    let used = Refundable { taken: Split { fee: rupiah(70), ..Split::default() }, ..settled };
    assert_eq!(used.judge(None, rupiah(9_999)), Err(NoRoom::NotCovered { covered: rupiah(9_999) }));
}

#[test]
fn only_what_is_left_of_a_paid_payment_is_refunded() {
    let pending = Refundable { state: State::Pending, ..refundable(10_000, 70) };
    assert_eq!(pending.judge(None, Rupiah::MAX), Err(NoRoom::NotPaid));
    let partly = Refundable { refunded: rupiah(4_000), ..refundable(10_000, 70) };
    assert_eq!(partly.judge(Some(rupiah(6_001)), Rupiah::MAX), Err(NoRoom::TooMuch { left: rupiah(6_000) }));
    assert_eq!(partly.judge(None, Rupiah::MAX).map(|judged| judged.amount), Ok(rupiah(6_000)));
    let whole = Refundable { refunded: rupiah(10_000), ..refundable(10_000, 70) };
    assert_eq!(whole.judge(Some(rupiah(1)), Rupiah::MAX), Err(NoRoom::NothingLeft));
}

proptest! {
    #[test]
    fn a_split_adds_up_and_never_takes_more_than_there_is(
        received in 100..2_000_000_i64,
        fee in 0..100_i64,
        available in -1_000_000..1_000_000_i64,
        amount in 1..2_000_000_i64,
        is_unsettled in any::<bool>(),
    ) {
        let of = Refundable { is_unsettled, ..refundable(received, fee) };
        if let Ok(Judged { amount, split }) = of.judge(Some(rupiah(amount)), rupiah(available)) {
            prop_assert_eq!(split.pending + split.available, amount);
            prop_assert!(split.pending <= of.own_pending() && split.fee <= of.fee && split.fee <= split.available);
            prop_assert!(split.needs_available() <= rupiah(available.max(0)));
        }
    }
}

#[test]
fn words_are_read_back() {
    for status in RefundStatus::ALL {
        assert_eq!(RefundStatus::parse(status.word()), Some(*status));
    }
    for state in EVERY_STATE {
        assert_eq!(state.pending_reason().is_some(), state.status() == RefundStatus::Pending);
    }
    assert_eq!(RefundRoad::parse("qris"), Some(RefundRoad::Qris));
    assert_eq!(PendingReason::parse("processing"), Some(PendingReason::Processing));
}

#[test]
fn an_event_tells_of_a_refund_as_it_was_then() {
    let event = |of: &Refund, news, at| Event {
        id: mint(at, [9; 10]),
        project_id: of.project_id,
        created_at: at,
        news: News::Refund { refund: of.id, news },
    };
    let asked = refund(RefundRoad::Transfer, RefundState::RequiresAction).begin().refund;
    let given = asked.clone().give_destination(destination(), Party::Customer, false, LATER).unwrap().refund;
    let done = given.succeed(Some("4711".to_owned()), LATER).unwrap().refund;
    let back = done.clone().come_back("closed".to_owned(), true, Timestamp::from_millis(3_000)).unwrap().refund;
    assert_eq!(back.clone().as_seen_by(&event(&back, RefundNews::RequiresAction, NOW)), asked);
    assert_eq!(back.clone().as_seen_by(&event(&back, RefundNews::Succeeded, LATER)), done);
    assert_eq!(back.clone().as_seen_by(&event(&back, RefundNews::Returned, back.updated_at)), back);
}
