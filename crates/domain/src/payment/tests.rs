use super::*;
use crate::{event::EventKind, id::mint, receipt::ReceiptKey};

const CREATED: i64 = 1_800_000_000_000;
const EXPIRES: i64 = CREATED + 900_000;
const AMOUNT: i64 = 50_000;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn payment(state: State) -> Payment {
    Payment {
        id: mint(at(CREATED), [1; 10]),
        project_id: mint(at(CREATED), [2; 10]),
        link_id: None,
        reference: "order-1".to_owned(),
        amount: Rupiah::new(AMOUNT),
        fee: Rupiah::new(350),
        method: Method::Qris,
        code: String::new(),
        checkout: None,
        state,
        created_at: at(CREATED),
        expires_at: at(EXPIRES),
        version: 1,
    }
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
        project_id: payment(State::Pending).project_id,
        created_at: at,
        news,
    });
    let paid = event(OwedEvent::Paid { at }.news(id, word));
    assert_eq!(
        (paid.kind(), paid.news.clone()),
        (EventKind::PaymentPaid, News::PaymentPaid { payment: id, paid_at: at, word })
    );
    assert_eq!(event(OwedEvent::Failed.news(id, word)).kind(), EventKind::PaymentFailed);
}

#[test]
fn progress_owes_no_event() {
    let now = at(CREATED + 5);
    assert_eq!(payment(State::Pending).begin_processing(now).unwrap().event, None);
    assert_eq!(payment(State::Processing).begin_processing(now), Err(NotMoved::Already));
}

#[test]
fn a_payment_whose_fee_eats_it_whole_settles_nothing() {
    let eaten = Payment { fee: Rupiah::new(AMOUNT), ..payment(State::Pending) };
    let transition = eaten.confirm(&received(AMOUNT, CREATED), LinkClaim::NotNeeded, Duration::ZERO).unwrap();
    assert_eq!(transition.settles_at, None);
}

#[test]
fn money_that_came_late_can_be_accepted_but_only_in_full_and_for_what_nobody_has_paid() {
    let (now, late) = (at(EXPIRES + 120_000), received(AMOUNT, EXPIRES + 1));
    let (delay, link) = (Duration::from_secs(60), mint(at(CREATED), [3; 10]));
    let ended = at(CREATED + 1);
    for state in [State::Pending, State::Expired, State::Failed { at: ended }, State::Cancelled { at: ended }] {
        let transition = payment(state).accept(&late, LinkClaim::Free(link), delay, now).unwrap();
        assert_eq!(transition.payment.state, State::Paid { at: late.paid_at });
        assert_eq!((transition.event, transition.claims), (Some(OwedEvent::Paid { at: late.paid_at }), Some(link)));
        assert_eq!(transition.settles_at, Some(now.plus(delay)));
        assert_eq!(transition.posting.map(|posting| posting.kind()), Some("accepted"));
        let refused = |receipt: Receipt, link| payment(state).accept(&receipt, link, delay, now).unwrap_err();
        assert_eq!(refused(received(AMOUNT - 1, EXPIRES + 1), LinkClaim::NotNeeded), Unapplied::WrongAmount);
        assert_eq!(refused(late.clone(), LinkClaim::Taken), Unapplied::LinkClaimed);
    }
    let paid = payment(State::Paid { at: ended }).accept(&late, LinkClaim::NotNeeded, delay, now);
    assert_eq!(paid, Err(Unapplied::AlreadyPaid));
}
