//! What becomes of a refund for each way in which its bank can behave, by both roads: how the refund ends, what the bank has moved,
//! and that the books of both agree. Calls that are lost, repeated or answered with errors are in `refunds_sent`.

use std::{sync::Arc, time::Duration};

use demobank::{AccountState, Fate, Fault, MoneyRules, Service, TransferState};
use domain::refund::{
    RefundStatus,
    transfer::{AttemptState, TransferAttempt},
};
use testkit::{Kit, on_every_database};

use crate::support::{
    acquirers::AMOUNT,
    refund_bank::{OTHER_BANK, OWN_BANK, RefundBank},
};

on_every_database![
    each_knob_of_a_bank_ends_a_transfer_as_it_shall_and_books_agree,
    each_knob_of_a_bank_ends_a_refund_by_code_as_it_shall_and_books_agree,
];

/// How the bank behaves at the next order.
#[derive(Clone, Copy, Debug)]
enum Knob {
    Late,
    OtherName,
    Closed,
    Dormant,
    NoMoney,
    CutOff,
    /// It does it later, and says so.
    TakesTime,
    /// It says later that it has failed.
    FailsInTime,
    /// It was done and comes back, and the answer to the order is lost.
    ComesBack,
}

use AttemptState::{Done, Refused};
use RefundStatus::{Failed, RequiresAction, Returned, Succeeded};

/// How the refund ends by a knob, how often the bank has moved its money for good, and how the attempts end.
type Row = (Knob, RefundStatus, usize, &'static [AttemptState]);

const TRANSFERS: &[Row] = &[
    (Knob::Late, Succeeded, 1, &[Done]),
    (Knob::OtherName, Succeeded, 1, &[Done]),
    (Knob::Closed, Failed, 0, &[]),
    (Knob::Dormant, Failed, 0, &[]),
    (Knob::NoMoney, Succeeded, 1, &[Refused, Done]),
    (Knob::CutOff, Succeeded, 1, &[Refused, Done]),
    (Knob::TakesTime, Succeeded, 1, &[Done]),
    (Knob::FailsInTime, Failed, 0, &[Refused]),
    (Knob::ComesBack, Returned, 0, &[Done]),
];

const BY_CODE: &[Row] = &[
    (Knob::Late, Succeeded, 1, &[Done]),
    (Knob::NoMoney, Succeeded, 1, &[Refused, Done]),
    (Knob::CutOff, Succeeded, 1, &[Refused, Done]),
    (Knob::TakesTime, Succeeded, 1, &[Done]),
    (Knob::FailsInTime, RequiresAction, 0, &[Refused]),
];

const MINUTE_MS: i64 = 60_000;

impl Knob {
    fn turn(self, bank: &RefundBank, order: Service) {
        let asked = &bank.acquired.asked;
        match self {
            Knob::Late => asked.fail_next_of(order, Fault::Late(Duration::from_millis(50))),
            Knob::OtherName => asked.fail_next_of(Service::ExternalInquiry, Fault::Name("BUDI SANTOSO")),
            Knob::Closed => bank.set_customer(OTHER_BANK, AccountState::Closed),
            Knob::Dormant => bank.set_customer(OTHER_BANK, AccountState::Dormant),
            Knob::NoMoney => asked.fail_next_of(order, Fault::Case(403, "14")),
            Knob::CutOff => {
                let rules = MoneyRules { is_cut_off: true, ..MoneyRules::default() };
                asked.set_money_rules(&bank.acquired.client_id, rules);
            }
            Knob::TakesTime => asked.fate_of_next(Fate { takes_ms: 5 * MINUTE_MS, ..Fate::default() }),
            Knob::FailsInTime => {
                asked.fate_of_next(Fate { takes_ms: 5 * MINUTE_MS, fails: true, ..Fate::default() });
            }
            Knob::ComesBack => {
                asked.fate_of_next(Fate { comes_back_ms: Some(0), ..Fate::default() });
                asked.fail_next_of(order, Fault::LostAfter);
            }
        }
    }

    fn turn_back(self, bank: &RefundBank) {
        match self {
            Knob::Closed | Knob::Dormant => bank.set_customer(OTHER_BANK, AccountState::Open),
            Knob::CutOff => bank.acquired.asked.set_money_rules(&bank.acquired.client_id, MoneyRules::default()),
            _ => {}
        }
    }
}

fn states(attempts: &[TransferAttempt]) -> Vec<AttemptState> {
    attempts.iter().map(|attempt| attempt.state).collect()
}

/// What our books call refunded has left the bank, and nothing else has.
async fn books_agree(kit: &Kit, bank: &RefundBank, on_their_way: i64, about: Knob) {
    let balance = kit.store.balance(bank.project.id, None).await.unwrap();
    let gone: i64 = bank.done().iter().map(|made| made.amount).sum();
    let ours = (balance.refunded.get(), balance.refunding.get());
    assert_eq!(ours, (gone, on_their_way), "{about:?}");
    assert_eq!(bank.acquired.asked.books_total(), 0, "{about:?}");
    assert_eq!(kit.store.breaches().await.unwrap(), [], "{about:?}");
}

async fn each_knob_of_a_bank_ends_a_transfer_as_it_shall_and_books_agree(kit: Arc<Kit>) {
    let (bank, payment) = RefundBank::with_payment(&kit, "generic", &[]).await;
    for (knob, status, moved, attempts) in TRANSFERS {
        let before = bank.done().len();
        let refund = bank.refund_to(&payment, 10_000, OTHER_BANK).await;
        knob.turn(&bank, Service::Interbank);
        let _ = bank.follow(&kit, &refund, (Duration::from_mins(2), 2)).await;
        knob.turn_back(&bank);
        let (now, made) = bank.follow(&kit, &refund, (Duration::from_mins(30), 48)).await;
        assert_eq!((now.status(), states(&made).as_slice()), (*status, *attempts), "{knob:?}: {now:?} {made:?}");
        assert_eq!(bank.done().len() - before, *moved, "{knob:?}");
        books_agree(&kit, &bank, 0, *knob).await;
    }
    let asked = &bank.acquired.asked;
    assert!(asked.calls_of(Service::Interbank)[1].body.contains("BUDI SANTOSO"), "the bank's name goes with the order");
    let returned = asked.transfers().iter().filter(|made| made.state == TransferState::Returned).count();
    assert_eq!(returned, 1);
    let source = asked.account(OWN_BANK, RefundBank::source()).unwrap();
    assert_eq!((source.held, bank.arrived(OTHER_BANK)), (0, 10_000 * i64::try_from(bank.done().len()).unwrap()));
}

async fn each_knob_of_a_bank_ends_a_refund_by_code_as_it_shall_and_books_agree(kit: Arc<Kit>) {
    let bank = RefundBank::open(&kit, "dana", &[("resend", "never")]).await;
    let mut on_their_way = 0;
    for (knob, status, moved, attempts) in BY_CODE {
        let before = bank.done().len();
        let refund = bank.refund(&bank.paid().await, AMOUNT).await;
        knob.turn(&bank, Service::DebitRefund);
        let _ = bank.follow(&kit, &refund, (Duration::from_mins(2), 2)).await;
        knob.turn_back(&bank);
        let (now, made) = bank.follow(&kit, &refund, (Duration::from_mins(30), 48)).await;
        assert_eq!((now.status(), states(&made).as_slice()), (*status, *attempts), "{knob:?}: {now:?} {made:?}");
        assert_eq!(bank.done().len() - before, *moved, "{knob:?}");
        on_their_way += if *status == RequiresAction { AMOUNT } else { 0 };
        books_agree(&kit, &bank, on_their_way, *knob).await;
    }
}
