//! A cache of bank accounts that are ready for use. Callers pass the version that they have just read from the
//! database, so a change takes effect on all nodes at once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use domain::id::BankAccountId;

use crate::banks::contracts::open_account::OpenAccount;

/// Accounts in the cache. When there are more, the cache is cleared; the next call of each adds it again.
const ACCOUNTS_MOST: usize = 1_000;

#[derive(Default)]
pub(crate) struct OpenAccounts(Mutex<HashMap<BankAccountId, Arc<OpenAccount>>>);

impl OpenAccounts {
    pub(in crate::banks) fn get(&self, id: BankAccountId, version: i64) -> Option<Arc<OpenAccount>> {
        let accounts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.get(&id).filter(|open| open.account.version == version).cloned()
    }

    pub(in crate::banks) fn last_seen(&self, id: BankAccountId) -> Option<Arc<OpenAccount>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    pub(in crate::banks) fn put(&self, open: &Arc<OpenAccount>) {
        let mut accounts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if accounts.len() >= ACCOUNTS_MOST {
            accounts.clear();
        }
        accounts.insert(open.id(), Arc::clone(open));
    }
}
