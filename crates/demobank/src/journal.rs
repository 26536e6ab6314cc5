//! What the bank remembers of its own calls, in memory and bounded.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    answer::Answer,
    conclusion::Conclusion,
    prepared::{Prepared, Service},
};

/// How many calls are remembered. The oldest are forgotten first.
const ENTRIES_MOST: usize = 10_000;
/// How many request ids of inquiries wait for their payment.
const REQUEST_IDS_MOST: usize = 1_000;

/// One call and its end.
#[derive(Clone, Debug)]
pub struct Entry {
    pub at_ms: i64,
    pub contract: String,
    pub service: Service,
    pub number: String,
    pub amount: i64,
    pub external_id: String,
    pub request_id: String,
    /// 0 for silence.
    pub status: u16,
    pub code: String,
    pub flag: String,
    pub conclusion: Option<Conclusion>,
}

#[derive(Default)]
pub(crate) struct Journal {
    entries: Mutex<VecDeque<Entry>>,
    /// By contract and number: the request id of an inquiry that no payment has followed.
    inquired: Mutex<HashMap<(String, String), String>>,
}

impl Journal {
    pub(crate) fn write(&self, at_ms: i64, answer: &Answer) {
        let sent = &answer.sent;
        let mut entries = held(&self.entries);
        if entries.len() >= ENTRIES_MOST {
            entries.pop_front();
        }
        entries.push_back(Entry {
            at_ms,
            contract: sent.contract.clone(),
            service: sent.service,
            number: sent.number.clone(),
            amount: sent.amount,
            external_id: sent.external_id.clone(),
            request_id: sent.request_id.clone(),
            status: answer.status,
            code: answer.code().to_owned(),
            flag: answer.flag().to_owned(),
            conclusion: answer.conclusion,
        });
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        held(&self.entries).iter().cloned().collect()
    }

    /// The external id that a contract used last.
    pub(crate) fn last_external_id(&self, contract: &str) -> Option<String> {
        let entries = held(&self.entries);
        let mut own = entries.iter().rev().filter(|entry| entry.contract == contract && !entry.external_id.is_empty());
        own.next().map(|entry| entry.external_id.clone())
    }

    /// What stands booked for a number. A payment counts once however often it was sent, by its last conclusion; a later
    /// answer that settles nothing does not undo one that did.
    pub(crate) fn booked(&self, contract: &str, number: &str) -> i64 {
        let mut settled: HashMap<String, i64> = HashMap::new();
        for entry in held(&self.entries).iter().filter(|entry| entry.contract == contract && entry.number == number) {
            match entry.conclusion {
                Some(Conclusion::Booked) => settled.insert(entry.request_id.clone(), entry.amount),
                Some(Conclusion::Reversed) => settled.remove(&entry.request_id),
                Some(Conclusion::Suspended) | None => None,
            };
        }
        settled.values().sum()
    }

    /// Remembers the request id of an inquiry for the payment that follows.
    pub(crate) fn inquired(&self, inquiry: &Prepared) {
        let mut inquired = held(&self.inquired);
        if inquired.len() >= REQUEST_IDS_MOST {
            inquired.clear();
        }
        inquired.insert((inquiry.contract.clone(), inquiry.number.clone()), inquiry.request_id.clone());
    }

    /// Takes the request id of the inquiry about a number, if no payment has taken it.
    pub(crate) fn take_inquired(&self, contract: &str, number: &str) -> Option<String> {
        held(&self.inquired).remove(&(contract.to_owned(), number.to_owned()))
    }
}

/// A lock whose holder panicked is taken over: each write here is complete in itself.
pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
