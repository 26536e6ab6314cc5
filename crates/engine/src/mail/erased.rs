//! Letters to customers whose data was deleted. Of a customer we have what the checkouts of their payments say; who deletes that has
//! deleted the customer, and receipts of payments and of refunds that were written to them go as well.

use store::{Change, LetterWrite};

use crate::{Engine, Error};

/// Receipts that are read at once.
const READ_AT_ONCE: i64 = 1_000;

impl Engine {
    /// Deletes the receipts whose payments have no customer with an address any more. One that is being sent is left to the next round.
    pub async fn delete_letters_to_erased_customers(&self) -> Result<usize, Error> {
        let mut after = String::new();
        loop {
            let receipts = self.store.receipt_letters_after(&after, READ_AT_ONCE).await?;
            let Some(last) = receipts.last() else { return Ok(0) };
            after.clone_from(&last.cause);
            let erased: Vec<LetterWrite> = receipts
                .into_iter()
                .filter(|receipt| !receipt.has_customer)
                .map(|receipt| LetterWrite::Erased { id: receipt.id })
                .collect();
            if !erased.is_empty() {
                self.store.commit(Change::default().with_all(erased)).await?;
            }
        }
    }
}
