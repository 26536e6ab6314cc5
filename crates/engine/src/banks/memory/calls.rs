//! Calls of banks and to banks for their logs, until they are saved. Those that have not proved to be the bank's are
//! bounded for themselves: however many there are, the bank's stay.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use domain::id::BankAccountId;
use store::BankCall;

/// Calls that wait to be saved. Further ones are not logged.
const CALLS_MOST: usize = 2_000;
/// The same for calls that have not proved to be the bank's.
const UNPROVED_MOST: usize = 500;

#[derive(Default)]
pub(crate) struct Calls {
    proved: Mutex<Vec<(BankAccountId, BankCall)>>,
    unproved: Mutex<Vec<(BankAccountId, BankCall)>>,
    noted: AtomicU64,
}

impl Calls {
    /// The number of the next call: it orders the calls of one millisecond.
    pub(in crate::banks) fn next_number(&self) -> u64 {
        self.noted.fetch_add(1, Ordering::Relaxed)
    }

    pub(in crate::banks) fn note(&self, id: BankAccountId, call: BankCall) {
        let (calls, most) = match call.proved {
            true => (&self.proved, CALLS_MOST),
            false => (&self.unproved, UNPROVED_MOST),
        };
        let mut calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() < most {
            calls.push((id, call));
        }
    }

    /// Takes the calls that wait to be saved: ours, and those that have proved to be the bank's.
    pub(in crate::banks) fn take_proved(&self) -> BTreeMap<BankAccountId, Vec<BankCall>> {
        take(&self.proved)
    }

    /// The same for calls that have not proved to be the bank's.
    pub(in crate::banks) fn take_unproved(&self) -> BTreeMap<BankAccountId, Vec<BankCall>> {
        take(&self.unproved)
    }
}

fn take(calls: &Mutex<Vec<(BankAccountId, BankCall)>>) -> BTreeMap<BankAccountId, Vec<BankCall>> {
    let calls = std::mem::take(&mut *calls.lock().unwrap_or_else(PoisonError::into_inner));
    let mut by_account: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (id, call) in calls {
        by_account.entry(id).or_default().push(call);
    }
    by_account
}
