//! Who ends a refund as failed that a bank may have made, and when.

use super::*;

/// The same as [`proof`], but the statement has a transfer of the amount that names nothing of ours.
fn unclear() -> Evidence {
    let reading = StatementReading { at: Timestamp::from_millis(1_900), found: StatementFinding::Unclear };
    Evidence { reading: Some(reading), ..proof() }
}

#[test]
fn what_a_bank_may_have_made_is_ended_as_failed_by_two_people() {
    let first = mark_not_transferred(refund(RefundRoad::Transfer, PROCESSING), 6, proof()).unwrap();
    let doubt = Doubt { by: party(6), at: LATER, attempt: 1, is_confirmed: false };
    assert_eq!((first.refund.state, first.refund.doubt, first.posting), (PROCESSING, Some(doubt), None));
    let own = Err(RefundStuck::NotProven(NotProven::OwnDoubt));
    assert_eq!(after(mark_not_transferred(first.refund.clone(), 6, proof())), own);
    let ended = after(mark_not_transferred(first.refund.clone(), 7, proof()));
    assert_eq!(ended, Ok((RefundState::Failed, Some(RefundNews::Failed))));
    for state in [SUCCEEDED, RefundState::Failed, RETURNED] {
        assert_eq!(
            after(mark_not_transferred(refund(RefundRoad::Transfer, state), 6, proof())),
            Err(RefundStuck::Ended)
        );
    }
    // What was said of one attempt says nothing of the next.
    let next = mark_not_transferred(first.refund, 7, Evidence { attempt: 2, ..proof() }).unwrap().refund;
    assert_eq!((next.state, next.doubt.map(|doubt| doubt.attempt)), (PROCESSING, Some(2)));
}

#[test]
fn an_uncertain_refund_is_ended_only_after_the_banks_time_and_not_against_the_statement() {
    let until = Timestamp::from_millis(1_500);
    let read = |at: i64, found| Some(StatementReading { at: Timestamp::from_millis(at), found });
    let late = Evidence { proves_nothing_until: LATER, ..proof() };
    let none = Evidence { has_statement: false, reading: None, ..proof() };
    let on_it = |found| Evidence { reading: read(1_200, found), ..proof() };
    let holds = |found| Some(NotProven::OnStatement(StatementReading { at: Timestamp::from_millis(1_200), found }));
    let [debited, returned, other] =
        [StatementFinding::Debited, StatementFinding::Returned, StatementFinding::OtherAmount];
    for (evidence, first, second) in [
        (proof(), None, None),
        (late, None, Some(NotProven::TooEarly { until: LATER })),
        (Evidence { is_on_its_way: true, ..proof() }, None, Some(NotProven::OnItsWay)),
        (Evidence { reading: None, ..proof() }, None, Some(NotProven::StatementUnread)),
        // It was read, but the transfer might have come after that.
        (on_it(StatementFinding::Absent), None, Some(NotProven::StatementUnread)),
        (
            Evidence { reading: read(until.as_millis(), StatementFinding::Absent), ..proof() },
            None,
            Some(NotProven::StatementUnread),
        ),
        (on_it(debited), holds(debited), holds(debited)),
        (on_it(returned), holds(returned), holds(returned)),
        (on_it(other), holds(other), holds(other)),
        (none, Some(NotProven::StatementNotConfirmed), Some(NotProven::StatementNotConfirmed)),
        (
            on_it(StatementFinding::Unclear),
            Some(NotProven::StatementNotConfirmed),
            Some(NotProven::StatementNotConfirmed),
        ),
        (Evidence { is_confirmed: true, ..on_it(StatementFinding::Unclear) }, None, Some(NotProven::StatementUnread)),
        (Evidence { is_confirmed: true, ..unclear() }, None, None),
        (Evidence { is_confirmed: true, ..none }, None, None),
    ] {
        let untouched = refund(RefundRoad::Transfer, PROCESSING);
        let result = mark_not_transferred(untouched.clone(), 6, evidence).map(|step| step.refund.state);
        assert_eq!(result, first.map_or(Ok(PROCESSING), |why| Err(why.into())), "the first, {evidence:?}");
        let first = Evidence { is_confirmed: true, ..proof() };
        let doubted_once = mark_not_transferred(untouched, 6, first).unwrap().refund;
        let result = mark_not_transferred(doubted_once, 7, evidence).map(|step| step.refund.state);
        assert_eq!(result, second.map_or(Ok(RefundState::Failed), |why| Err(why.into())), "the second, {evidence:?}");
    }
    for finding in StatementFinding::ALL {
        assert_eq!(StatementFinding::parse(finding.word()), Some(finding));
    }
}

/// Regression: who had doubted before the statement left a doubt, and so had not looked, was one of the two who ended it.
#[test]
fn a_doubt_of_somebody_who_has_not_looked_ends_where_each_person_has_to() {
    let by_code = Evidence { has_statement: false, reading: None, ..proof() };
    for evidence in [unclear(), by_code] {
        let looked = Evidence { is_confirmed: true, ..evidence };
        let early = mark_not_transferred(refund(RefundRoad::Transfer, PROCESSING), 6, proof()).unwrap().refund;
        let unconfirmed = Err(RefundStuck::NotProven(NotProven::StatementNotConfirmed));
        for by in [6, 7] {
            assert_eq!(after(mark_not_transferred(early.clone(), by, evidence)), unconfirmed);
            let next = mark_not_transferred(early.clone(), by, looked).unwrap();
            let doubt = Doubt { by: party(by), at: LATER, attempt: 1, is_confirmed: true };
            assert_eq!((next.refund.state, next.refund.doubt, next.posting), (PROCESSING, Some(doubt), None));
            let own = Err(RefundStuck::NotProven(NotProven::OwnDoubt));
            assert_eq!(after(mark_not_transferred(next.refund.clone(), by, looked)), own);
            assert_eq!(after(mark_not_transferred(next.refund.clone(), 13 - by, evidence)), unconfirmed);
            let ended = after(mark_not_transferred(next.refund, 13 - by, looked));
            assert_eq!(ended, Ok((RefundState::Failed, Some(RefundNews::Failed))));
        }
    }
}
