//! What happened at a bank about one payment, for its page.

use domain::{
    id::PaymentId,
    opening::{BankCode, BankSend},
};
use store::JobStanding;

use crate::{Engine, Error};

/// Codes, calls and jobs that are shown: the latest.
const CODES_MOST: i64 = 20;
const SENDS_MOST: i64 = 100;
const JOBS_MOST: i64 = 60;

/// The codes that a bank was asked for, and what was asked about them; each oldest first.
#[derive(Clone, Debug, Default)]
pub struct BankStory {
    pub codes: Vec<BankCode>,
    pub sends: Vec<BankSend>,
    pub jobs: Vec<JobStanding>,
}

impl Engine {
    /// None if no bank was asked for the payment's code.
    pub(crate) async fn bank_story(&self, id: PaymentId) -> Result<Option<BankStory>, Error> {
        let Some(opening) = self.store.opening_of_payment(id).await? else { return Ok(None) };
        Ok(Some(BankStory {
            codes: self.store.latest_codes(opening.id, CODES_MOST).await?,
            sends: self.store.latest_sends(opening.id, SENDS_MOST).await?,
            jobs: self.store.latest_jobs(opening.id, JOBS_MOST).await?,
        }))
    }
}
