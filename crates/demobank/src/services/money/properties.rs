//! Random orders, fates, ends and waits: no rupiah is made or lost, and none leaves twice.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    books::{AccountKey, AccountState, Posting},
    ledger::{Ledger, Order},
    transfers::{Fate, TransferState},
};
use crate::prepared::Service;

const SOURCES: [&str; 2] = ["1", "2"];
const CUSTOMERS: [&str; 3] = ["7", "8", "9"];

#[derive(Clone, Debug)]
enum Step {
    BringIn { source: usize, amount: i64 },
    Send { source: usize, customer: usize, amount: i64, fate: Fate },
    GiveBack { amount: i64, fate: Fate },
    Pay { amount: i64 },
    Wait { ms: i64 },
    End { which: usize, state: TransferState },
    Shut { customer: usize, is_shut: bool },
}

fn fates() -> impl Strategy<Value = Fate> {
    let comes_back = prop_oneof![2 => Just(None), 1 => (0..5_000_i64).prop_map(Some)];
    (prop_oneof![Just(0), 1..5_000_i64], any::<bool>(), comes_back).prop_map(|(takes_ms, fails, comes_back_ms)| Fate {
        takes_ms,
        fails: fails && takes_ms > 0,
        comes_back_ms,
        hidden_ms: 0,
    })
}

fn steps() -> impl Strategy<Value = Step> {
    use TransferState::{Done, Failed, Pending, Refused, Returned};
    let states = prop::sample::select(vec![Done, Failed, Pending, Refused, Returned]);
    prop_oneof![
        (0..2_usize, 1..1_000_i64).prop_map(|(source, amount)| Step::BringIn { source, amount }),
        (0..2_usize, 0..3_usize, 1..800_i64, fates()).prop_map(|(source, customer, amount, fate)| Step::Send {
            source,
            customer,
            amount,
            fate
        }),
        (1..800_i64, fates()).prop_map(|(amount, fate)| Step::GiveBack { amount, fate }),
        (1..1_000_i64).prop_map(|amount| Step::Pay { amount }),
        (0..4_000_i64).prop_map(|ms| Step::Wait { ms }),
        (0..40_usize, states).prop_map(|(which, state)| Step::End { which, state }),
        (0..3_usize, any::<bool>()).prop_map(|(customer, is_shut)| Step::Shut { customer, is_shut }),
    ]
}

/// A bank, its clock, and how many orders it has had.
struct World {
    ledger: Ledger,
    now_ms: i64,
    orders: usize,
}

impl World {
    fn open() -> World {
        let mut ledger = Ledger::default();
        for number in SOURCES.iter().chain(&CUSTOMERS) {
            assert!(ledger.books.open(AccountKey::new("014", number), number, None));
        }
        World { ledger, now_ms: 0, orders: 0 }
    }

    fn post(&mut self, from: &AccountKey, to: &AccountKey, amount: i64) {
        let at_ms = self.now_ms;
        self.ledger.books.post(&Posting { from, to, amount, remarks: ["", ""], bank_reference: "", at_ms });
    }

    /// Carries an order out if its source has the money, as the doors see to.
    fn order(
        &mut self,
        source: AccountKey,
        beneficiary: AccountKey,
        amount: i64,
        fate: Fate,
        original: Option<String>,
    ) {
        if self.ledger.books.available(&source) < amount {
            return;
        }
        self.orders += 1;
        let reference = format!("R{}", self.orders);
        let order = Order {
            client_id: "c",
            service: Service::Intrabank,
            reference: &reference,
            bank_reference: format!("B{}", self.orders),
            external_id: &reference,
            source,
            beneficiary,
            amount,
            remark: "",
            original,
            now_ms: self.now_ms,
        };
        self.ledger.add_fate(fate);
        let answer = |is_pending| json!({ "responseCode": if is_pending { "2021700" } else { "2001700" } });
        let sent = self.ledger.carry_out(order, 0, answer);
        assert_eq!(sent.state == TransferState::Pending, fate.takes_ms > 0);
        assert_ne!(sent.answer, Value::Null);
    }

    fn take(&mut self, step: &Step) {
        let (outside, payers, float) = (AccountKey::outside(), AccountKey::payers(), AccountKey::float("c"));
        match step {
            Step::BringIn { source, amount } => self.post(&outside, &AccountKey::new("014", SOURCES[*source]), *amount),
            Step::Pay { amount } => self.post(&payers, &float, *amount),
            Step::Send { source, customer, amount, fate } => {
                let customer = AccountKey::new("014", CUSTOMERS[*customer]);
                self.order(AccountKey::new("014", SOURCES[*source]), customer, *amount, *fate, None);
            }
            Step::GiveBack { amount, fate } => self.order(float, payers, *amount, *fate, Some("code".to_owned())),
            Step::Wait { ms } => self.now_ms += ms,
            Step::End { which, state } => {
                let transfer = self.ledger.transfers.all().nth(*which).cloned();
                let before = transfer.as_ref().map(|transfer| transfer.state);
                let ended = transfer.is_some_and(|transfer| self.ledger.end(&transfer, *state, self.now_ms));
                use TransferState::{Done, Failed, Pending, Returned};
                let may = matches!((before, *state), (Some(Pending), Done | Failed) | (Some(Done), Returned));
                assert_eq!(ended, may, "{before:?} {state:?}");
            }
            Step::Shut { customer, is_shut } => {
                let key = AccountKey::new("014", CUSTOMERS[*customer]);
                let state = if *is_shut { AccountState::Closed } else { AccountState::Open };
                self.ledger.books.account_mut(&key).unwrap().state = state;
            }
        }
        self.ledger.advance(self.now_ms);
    }

    /// What must be true at every instant.
    fn check(&self) {
        let books = &self.ledger.books;
        assert_eq!(books.total(), 0);
        let (mut pending, mut arrived) = (BTreeMap::new(), BTreeMap::new());
        for transfer in self.ledger.transfers.all() {
            match transfer.state {
                TransferState::Pending => *pending.entry(&transfer.source).or_insert(0) += transfer.amount,
                TransferState::Done => *arrived.entry(&transfer.beneficiary).or_insert(0) += transfer.amount,
                TransferState::Failed | TransferState::Returned | TransferState::Refused => {}
            }
        }
        for account in books.at_banks() {
            assert_eq!(account.held, pending.get(&account.key).copied().unwrap_or(0));
            assert!(account.available() >= 0, "{account:?}");
            let lines: i64 = books.lines(&account.key).map(|line| line.amount).sum();
            assert_eq!(lines, account.balance);
            if CUSTOMERS.contains(&account.key.number.as_str()) {
                assert_eq!(account.balance, arrived.get(&account.key).copied().unwrap_or(0));
            }
        }
    }
}

proptest! {
    #[test]
    fn money_is_neither_made_nor_lost_and_what_is_held_is_what_is_pending(steps in prop::collection::vec(steps(), 1..60)) {
        let mut world = World::open();
        for step in &steps {
            world.take(step);
            world.check();
        }
        // In the end, all that was pending has an end.
        world.now_ms += 20_000;
        world.ledger.advance(world.now_ms);
        world.check();
        assert!(world.ledger.transfers.all().all(|transfer| transfer.state != TransferState::Pending));
    }
}
