//! Keys of banks. To make one takes long, so tests share them.

use std::{
    cell::Cell,
    sync::{Mutex, PoisonError},
};

use demobank::BankKey;

thread_local! {
    /// How many keys the test of this thread has; each test runs on a thread of its own.
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

/// A bank's key, another one each time that a test asks.
pub(crate) fn bank_key() -> BankKey {
    static MADE: Mutex<Vec<BankKey>> = Mutex::new(Vec::new());
    let taken = TAKEN.replace(TAKEN.get() + 1);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    while made.len() <= taken {
        made.push(BankKey::generate().unwrap());
    }
    made[taken].clone()
}

/// The public part of one, as a bank sends it.
pub(crate) fn public_bank_key() -> String {
    bank_key().public_key_pem()
}
