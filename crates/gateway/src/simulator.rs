//! The sandbox's provider: it issues valid QRIS payloads and plausible account numbers, and reports what its caller
//! asks for.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use domain::{
    id::{PaymentId, ProjectId},
    method::Method,
    qris,
    receipt::ReceiptKey,
    time::{DAY_MILLIS, Timestamp},
};

use crate::provider::{BoxFuture, Issue, Observation, Outcome, Provider, ProviderError};

const NAME: &str = "sandbox";
/// Account numbers repeat after ten days. The longest-lived account expires after seven.
const WINDOW_MILLIS: i64 = 10 * DAY_MILLIS;
/// Account numbers within one millisecond.
const NUMBERS_PER_MILLI: u64 = 100;

#[derive(Clone)]
pub struct Simulator {
    issued: Arc<AtomicU64>,
}

impl Default for Simulator {
    /// Starts at a random number, so that nodes of one installation do not issue the same numbers at the same moment.
    fn default() -> Simulator {
        Simulator { issued: Arc::new(AtomicU64::new(RandomState::new().build_hasher().finish())) }
    }
}

impl Simulator {
    /// The report that a bank would send. Merchants choose receipt ids themselves, so ids are unique only within a
    /// project.
    pub fn report(&self, project: ProjectId, payment_id: PaymentId, receipt_id: &str, outcome: Outcome) -> Observation {
        let receipt = ReceiptKey { provider: NAME.to_owned(), id: format!("{project}:{receipt_id}") };
        Observation { receipt, payment_id, outcome }
    }

    /// A serial that grows with time, so that neighbouring payments are neighbours on disk.
    fn serial(&self, now: Timestamp) -> u64 {
        let within = now.as_millis().rem_euclid(WINDOW_MILLIS).unsigned_abs();
        let number = self.issued.fetch_add(1, Ordering::Relaxed) % NUMBERS_PER_MILLI;
        within * NUMBERS_PER_MILLI + number
    }
}

impl Provider for Simulator {
    fn issue<'a>(&'a self, issue: Issue<'a>) -> BoxFuture<'a, Result<String, ProviderError>> {
        let code = match issue.method {
            Method::Qris => {
                let merchant = qris::Merchant {
                    name: &issue.merchant.name,
                    city: &issue.merchant.city,
                    postal_code: &issue.merchant.postal_code,
                };
                qris::dynamic_payload(&merchant, issue.amount, issue.payment_id)
            }
            Method::VirtualAccount(bank) => bank.account_number(self.serial(issue.created_at)),
        };
        Box::pin(std::future::ready(Ok(code)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use domain::bank::Bank;

    use super::*;

    #[test]
    fn serials_of_one_window_fit_every_bank_and_do_not_repeat() {
        let simulator = Simulator::default();
        let start = WINDOW_MILLIS * 200_000;
        let mut seen = HashSet::new();
        for milli in [0, 1, WINDOW_MILLIS / 2, WINDOW_MILLIS - 1] {
            for _ in 0..NUMBERS_PER_MILLI {
                assert!(seen.insert(simulator.serial(Timestamp::from_millis(start + milli))));
            }
        }
        for bank in Bank::ALL {
            let numbers: HashSet<String> = seen.iter().map(|serial| bank.account_number(*serial)).collect();
            assert_eq!(numbers.len(), seen.len(), "{}", bank.code());
        }
    }
}
