use super::*;
use crate::{
    event::{EventKind, HeldMoney},
    id::mint,
    ledger::Account,
    method::Method,
    receipt::ReceiptKey,
};

const CREATED: i64 = 1_800_000_000_000;
const EXPIRES: i64 = CREATED + 900_000;
const AMOUNT: i64 = 50_000;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn payment(state: State) -> Payment {
    let (project_id, reference) = (mint(at(CREATED), [2; 10]), "order-1".to_owned());
    let terms = PaymentTerms::direct(project_id, reference, Rupiah::new(AMOUNT), Method::Qris, at(EXPIRES));
    let terms = PaymentTerms { fee: Rupiah::new(350), ..terms };
    Payment { state, ..Payment::pending(mint(at(CREATED), [1; 10]), terms, String::new(), at(CREATED)) }
}

fn with_fee(fee: i64, mut payment: Payment) -> Payment {
    payment.terms.fee = Rupiah::new(fee);
    payment
}

fn received(amount: i64, paid_at: i64) -> Receipt {
    Receipt {
        key: ReceiptKey { provider: "sandbox".to_owned(), id: "r-1".to_owned() },
        amount: Rupiah::new(amount),
        paid_at: at(paid_at),
        received_at: at(EXPIRES + 60_000),
    }
}

#[track_caller]
fn check(state: State, receipt: Receipt, expected: Result<(), Unapplied>) {
    let before = payment(state);
    let outcome = before.clone().confirm(&receipt, LinkClaim::NotNeeded, Duration::from_secs(60));
    assert_eq!(outcome.as_ref().map(|_| ()).map_err(|reason| *reason), expected, "{state:?} {receipt:?}");
    if let Ok(transition) = outcome {
        assert_eq!(transition.payment, Payment { state: State::Paid { at: receipt.paid_at }, ..before });
        assert_eq!(transition.event, Some(OwedEvent::Paid { at: receipt.paid_at }));
        assert_eq!(transition.settles_at, Some(receipt.received_at.plus(Duration::from_secs(60))));
        assert!(transition.posting.is_some());
    }
}

#[test]
fn only_money_in_full_and_in_time_pays() {
    let cancelled = State::Cancelled { at: at(EXPIRES - 1_000) };
    let failed = State::Failed { at: at(CREATED + 1) };
    let paid = State::Paid { at: at(CREATED + 1) };
    check(State::Pending, received(AMOUNT, EXPIRES), Ok(()));
    check(State::Pending, received(AMOUNT, EXPIRES + 1), Err(Unapplied::TooLate));
    check(State::Pending, received(AMOUNT - 1, EXPIRES), Err(Unapplied::WrongAmount));
    check(State::Pending, received(AMOUNT + 1, EXPIRES), Err(Unapplied::WrongAmount));
    check(State::Processing, received(AMOUNT, EXPIRES + 1), Ok(()));
    check(State::Processing, received(AMOUNT + 1, CREATED), Err(Unapplied::WrongAmount));
    check(State::Expired, received(AMOUNT, EXPIRES), Ok(()));
    check(State::Expired, received(AMOUNT, EXPIRES + 1), Err(Unapplied::TooLate));
    check(failed, received(AMOUNT, EXPIRES), Ok(()));
    check(failed, received(AMOUNT, EXPIRES + 1), Err(Unapplied::TooLate));
    check(cancelled, received(AMOUNT, EXPIRES - 1_000), Ok(()));
    check(cancelled, received(AMOUNT, EXPIRES - 999), Err(Unapplied::TooLate));
    check(paid, received(AMOUNT, CREATED), Err(Unapplied::AlreadyPaid));
    check(paid, received(AMOUNT + 1, CREATED), Err(Unapplied::WrongAmount));
}

#[test]
fn a_single_use_link_is_claimed_by_the_first_that_is_confirmed() {
    let link = mint(at(CREATED), [3; 10]);
    let receipt = received(AMOUNT, CREATED);
    for state in [State::Pending, State::Processing, State::Expired] {
        let transition = payment(state).confirm(&receipt, LinkClaim::Free(link), Duration::ZERO).unwrap();
        assert_eq!(transition.claims, Some(link));
        let taken = payment(state).confirm(&receipt, LinkClaim::Taken, Duration::ZERO);
        assert_eq!(taken, Err(Unapplied::LinkClaimed));
    }
}

#[test]
fn expiry_is_exact_to_the_millisecond() {
    let payment = payment(State::Pending);
    assert_eq!(payment.status_at(at(EXPIRES)), Status::Pending);
    assert_eq!(payment.status_at(at(EXPIRES + 1)), Status::Expired);
}

#[test]
fn processing_never_expires() {
    assert_eq!(payment(State::Processing).status_at(at(EXPIRES * 2)), Status::Processing);
}

#[test]
fn final_states_take_no_refusal_and_no_progress() {
    let now = at(CREATED + 5);
    let late = at(EXPIRES + 1);
    let ended = [State::Paid { at: now }, State::Failed { at: now }, State::Expired, State::Cancelled { at: now }];
    for (state, when) in ended.into_iter().map(|state| (state, now)).chain([(State::Pending, late)]) {
        assert_eq!(payment(state).refuse(when), Err(NotMoved::Final), "{state:?}");
        assert_eq!(payment(state).begin_processing(when), Err(NotMoved::Final), "{state:?}");
    }
}

#[test]
fn refusal_fails_a_payment_and_owes_an_event() {
    let now = at(CREATED + 5);
    for state in [State::Pending, State::Processing] {
        let transition = payment(state).refuse(now).unwrap();
        assert_eq!(transition.payment.state, State::Failed { at: now });
        assert_eq!(transition.event, Some(OwedEvent::Failed));
        assert_eq!(transition.posting, None);
    }
}

#[test]
fn an_owed_event_says_what_the_transition_did() {
    let (id, at) = (payment(State::Pending).id, at(CREATED + 5));
    let (word, event) = (SuccessWord::Succeeded, |news| Event {
        id: mint(at, [4; 10]),
        project_id: payment(State::Pending).terms.project_id,
        created_at: at,
        news,
    });
    let paid = event(OwedEvent::Paid { at }.news(id, word));
    assert_eq!(
        (paid.kind(), paid.news),
        (EventKind::PaymentPaid, News::PaymentPaid { payment: id, paid_at: at, word })
    );
    for (owed, kind) in [
        (OwedEvent::Failed, EventKind::PaymentFailed),
        (OwedEvent::Cancelled, EventKind::PaymentCancelled),
        (OwedEvent::Expired, EventKind::PaymentExpired),
    ] {
        let told = event(owed.news(id, word));
        assert_eq!((told.kind(), told.subject()), (kind, id.to_string()));
    }
}

#[test]
fn an_event_shows_the_payment_as_it_was_then() {
    let (now, later) = (at(CREATED + 5), at(CREATED + 9));
    let mut paid = payment(State::Paid { at: later });
    paid.terms.expires_at = later;
    let (payment, word) = (paid.id, SuccessWord::Paid);
    let money =
        HeldMoney { receipt: mint(now, [5; 10]), amount: Rupiah::new(1), reason: Unapplied::WrongAmount, paid_at: now };
    let held = News::PaymentHeld { payment, state: State::Pending, expires_at: at(EXPIRES), word, money };
    for (news, state, expires_at) in [
        (News::PaymentExpired { payment }, State::Expired, later),
        (News::PaymentCancelled { payment }, State::Cancelled { at: now }, later),
        (News::PaymentFailed { payment }, State::Failed { at: now }, later),
        (held, State::Pending, at(EXPIRES)),
    ] {
        let event = Event { id: mint(now, [4; 10]), project_id: paid.terms.project_id, created_at: now, news };
        let seen = paid.clone().as_seen_by(&event);
        assert_eq!((seen.state, seen.terms.expires_at), (state, expires_at), "{news:?}");
    }
}

#[test]
fn a_payment_that_is_replaced_is_cancelled_and_owes_an_event() {
    let now = at(CREATED + 5);
    let transition = payment(State::Pending).replace(now).unwrap();
    assert_eq!(transition.payment.state, State::Cancelled { at: now });
    assert_eq!((transition.event, transition.posting), (Some(OwedEvent::Cancelled), None));
    assert_eq!(payment(State::Pending).replace(at(EXPIRES + 1)), Err(NotMoved::Final));
}

#[test]
fn progress_owes_no_event() {
    let now = at(CREATED + 5);
    assert_eq!(payment(State::Pending).begin_processing(now).unwrap().event, None);
    assert_eq!(payment(State::Processing).begin_processing(now), Err(NotMoved::Already));
}

#[test]
fn a_payment_whose_fee_eats_it_whole_settles_nothing() {
    let eaten = with_fee(AMOUNT, payment(State::Pending));
    let transition = eaten.confirm(&received(AMOUNT, CREATED), LinkClaim::NotNeeded, Duration::ZERO).unwrap();
    assert_eq!(transition.settles_at, None);
}

#[test]
fn held_money_can_be_accepted_however_late_it_came_but_only_for_what_nobody_has_paid() {
    let (now, late) = (at(EXPIRES + 120_000), received(AMOUNT, EXPIRES + 1));
    let (delay, link) = (Duration::from_secs(60), mint(at(CREATED), [3; 10]));
    let ended = at(CREATED + 1);
    for difference in [Difference::Refused, Difference::Accepted] {
        let unpaid = [
            State::Pending,
            State::Processing,
            State::Expired,
            State::Failed { at: ended },
            State::Cancelled { at: ended },
        ];
        for state in unpaid {
            let transition = payment(state).accept(&late, LinkClaim::Free(link), difference, delay, now).unwrap();
            assert_eq!(transition.payment.state, State::Paid { at: late.paid_at });
            assert_eq!((transition.event, transition.claims), (Some(OwedEvent::Paid { at: late.paid_at }), Some(link)));
            assert_eq!(transition.settles_at, Some(now.plus(delay)));
            assert_eq!(transition.posting.map(|posting| posting.kind()), Some("accepted"));
            let taken = payment(state).accept(&late, LinkClaim::Taken, difference, delay, now);
            assert_eq!(taken, Err(Unfit::LinkClaimed));
        }
        for receipt in [&late, &received(AMOUNT - 1, EXPIRES + 1)] {
            let paid = payment(State::Paid { at: ended }).accept(receipt, LinkClaim::NotNeeded, difference, delay, now);
            assert_eq!(paid, Err(Unfit::AlreadyPaid));
        }
    }
}

#[test]
fn another_amount_pays_only_when_the_difference_is_accepted_and_it_covers_the_fee() {
    let (now, delay) = (at(EXPIRES + 1), Duration::from_secs(60));
    let of = |fee: i64| with_fee(fee, payment(State::Expired));
    let accept = |fee: i64, amount: i64, difference| {
        of(fee).accept(&received(amount, EXPIRES + 1), LinkClaim::NotNeeded, difference, delay, now)
    };
    for amount in [1, 69, AMOUNT - 1, AMOUNT + 1, AMOUNT * 2] {
        assert_eq!(accept(70, amount, Difference::Refused), Err(Unfit::WrongAmount), "{amount}");
    }
    for amount in [1, 69] {
        assert_eq!(accept(70, amount, Difference::Accepted), Err(Unfit::BelowFee), "{amount}");
    }
    for (amount, settles) in [(70, false), (71, true), (AMOUNT - 1, true), (AMOUNT + 1, true), (AMOUNT * 2, true)] {
        let transition = accept(70, amount, Difference::Accepted).unwrap();
        assert_eq!(transition.settles_at.is_some(), settles, "{amount}");
        let posting = transition.posting.unwrap();
        let of = |account| posting.legs().iter().find(|leg| leg.0 == account).map_or(0, |leg| leg.1.get());
        let moved = [Account::Unapplied, Account::Pending, Account::Fees].map(of);
        assert_eq!(moved, [-amount, amount - 70, 70], "{amount}");
        // What the merchant asked for stays as it was.
        assert_eq!(
            (transition.payment.terms.amount, transition.payment.terms.fee),
            (Rupiah::new(AMOUNT), Rupiah::new(70))
        );
    }
    let free = accept(0, 1, Difference::Accepted).unwrap();
    assert!(free.settles_at.is_some(), "without a fee all of it is left");
}
