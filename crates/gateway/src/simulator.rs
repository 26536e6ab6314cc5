//! What stands in for banks in the sandbox: it issues valid QRIS payloads and plausible account numbers, and reports what
//! its caller asks for.

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
    payment::Payment,
    project::MerchantProfile,
    qris,
    receipt::ReceiptKey,
    time::{DAY_MILLIS, Timestamp},
};

use crate::observation::{Observation, Outcome};

const NAME: &str = "sandbox";
/// Account numbers repeat after ten days. The longest-lived account expires after seven.
const WINDOW_MILLIS: u64 = 10 * DAY_MILLIS.unsigned_abs();
/// Account numbers of one millisecond. When they are used up, those of the next ones are given out.
const NUMBERS_PER_MILLI: u64 = 100;

#[derive(Clone)]
pub struct Simulator {
    /// The last account number was this one of all since 1970.
    last: Arc<AtomicU64>,
    /// At which number of each millisecond this node begins: a random one, so that nodes of one installation do not issue the same
    /// numbers at the same moment.
    first: u64,
}

impl Default for Simulator {
    fn default() -> Simulator {
        let first = RandomState::new().build_hasher().finish() % NUMBERS_PER_MILLI;
        Simulator { last: Arc::default(), first }
    }
}

impl Simulator {
    /// The code that the customer of a new payment pays with: a QRIS payload, or a virtual account number.
    pub fn code(&self, payment: &Payment, merchant: &MerchantProfile) -> String {
        match payment.terms.method {
            Method::Qris => {
                let merchant =
                    qris::Merchant { name: &merchant.name, city: &merchant.city, postal_code: &merchant.postal_code };
                qris::dynamic_payload(&merchant, payment.terms.amount, payment.id)
            }
            Method::VirtualAccount(bank) => bank.account_number(self.serial(payment.created_at)),
        }
    }

    /// The report that a bank would send. Merchants choose receipt ids themselves, so ids are unique only within a
    /// project.
    pub fn report(&self, project: ProjectId, payment_id: PaymentId, receipt_id: &str, outcome: Outcome) -> Observation {
        let receipt = ReceiptKey { provider: NAME.to_owned(), id: format!("{project}:{receipt_id}") };
        Observation { receipt, payment_id, outcome }
    }

    /// A serial that grows with time, so that neighbouring payments are neighbours on disk.
    fn serial(&self, now: Timestamp) -> u64 {
        let earliest = now.as_millis().unsigned_abs() * NUMBERS_PER_MILLI;
        let next = |last: u64| earliest.max(last + 1);
        let last = self.last.update(Ordering::Relaxed, Ordering::Relaxed, next);
        let (milli, number) = (next(last) / NUMBERS_PER_MILLI, next(last) % NUMBERS_PER_MILLI);
        let within = milli % WINDOW_MILLIS;
        within * NUMBERS_PER_MILLI + (number + self.first) % NUMBERS_PER_MILLI
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use domain::bank::Bank;

    use super::*;

    const START: u64 = WINDOW_MILLIS * 2_000;

    fn serials(simulator: &Simulator, milli: u64, count: u64) -> Vec<u64> {
        let now = Timestamp::from_millis(i64::try_from(START + milli).unwrap());
        (0..count).map(|_| simulator.serial(now)).collect()
    }

    #[test]
    fn serials_of_one_window_fit_every_bank_and_do_not_repeat() {
        let simulator = Simulator::default();
        let millis = [0, 1, WINDOW_MILLIS / 2, WINDOW_MILLIS - 1];
        let issued = millis.map(|milli| serials(&simulator, milli, NUMBERS_PER_MILLI)).concat();
        let seen: HashSet<u64> = issued.iter().copied().collect();
        assert_eq!(seen.len(), issued.len());
        for bank in Bank::ALL {
            let numbers: HashSet<String> = seen.iter().map(|serial| bank.account_number(*serial)).collect();
            assert_eq!(numbers.len(), seen.len(), "{}", bank.code());
        }
    }

    #[test]
    fn when_the_numbers_of_a_millisecond_are_used_up_those_of_the_next_are_issued() {
        let simulator = Simulator::default();
        let burst = serials(&simulator, 0, 3 * NUMBERS_PER_MILLI);
        // The clock has been set back, or has not come so far yet.
        let after = [0, 1, 2].map(|milli| serials(&simulator, milli, 10)).concat();
        let seen: HashSet<u64> = burst.iter().chain(&after).copied().collect();
        assert_eq!(seen.len(), burst.len() + after.len());
        assert!(burst.iter().all(|serial| *serial < 3 * NUMBERS_PER_MILLI), "no number is left out");
    }
}
