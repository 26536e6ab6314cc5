//! What becomes of refunds of which no bank says what became of them: people end them as failed, and some are found done later.

use super::{
    Refund, RefundNews, RefundState, RefundStep, RefundStuck, SumsMove,
    doubt::{Doubt, Evidence, NotProven},
    found::{FoundDone, FoundSource},
};
use crate::{money::Rupiah, refund_settings::Party, time::Timestamp};

impl Refund {
    /// The doubt that somebody has recorded about this attempt.
    pub fn doubt_about(&self, attempt: i64) -> Option<Doubt> {
        self.doubt.filter(|doubt| doubt.attempt == attempt)
    }

    /// A person says that it was not made, though the bank may have made it: the first records a doubt, and a second one ends it. A doubt
    /// of somebody who has not looked at the bank's own statement ends where that is needed: the next one takes its place.
    pub fn mark_not_transferred(
        self,
        by: Party,
        evidence: &Evidence,
        why: String,
        is_unsettled: bool,
        now: Timestamp,
    ) -> Result<RefundStep, RefundStuck> {
        self.check_on_its_way()?;
        let counts = |doubt: &Doubt| doubt.is_confirmed || !evidence.needs_eyes();
        let first = self.doubt_about(evidence.attempt).filter(counts);
        if first.is_some_and(|first| first.by == by) {
            return Err(NotProven::OwnDoubt.into());
        }
        evidence.check_doubt()?;
        if first.is_some() {
            evidence.check_end(now)?;
            return self.fail(why, is_unsettled, now);
        }
        let doubt = Doubt { by, at: now, attempt: evidence.attempt, is_confirmed: evidence.is_confirmed };
        let state = self.state;
        Ok(Refund { doubt: Some(doubt), failure_reason: Some(why), ..self }.moved(state, now))
    }

    /// The bank has carried it out, though people had ended it as failed.
    pub fn found_done(
        self,
        source: FoundSource<'_>,
        bank_reference: Option<String>,
        now: Timestamp,
    ) -> Result<RefundStep, RefundStuck> {
        if self.state != RefundState::Failed {
            return Err(RefundStuck::Ended);
        }
        let found = FoundDone { at: now, failure: self.failure_reason.unwrap_or_default() };
        let refund = Refund {
            split: source.split(self.amount),
            found: Some(found),
            bank_reference: bank_reference.or(self.bank_reference),
            failure_reason: None,
            ..self
        };
        let posting = refund.money().found_done(now);
        let sums = SumsMove { succeeded: refund.amount, unfinished: Rupiah::ZERO };
        let step = refund.moved(RefundState::Succeeded { at: now }, now);
        Ok(RefundStep { posting: Some(posting), sums, news: Some(RefundNews::Succeeded), ..step })
    }
}

impl From<NotProven> for RefundStuck {
    fn from(why: NotProven) -> RefundStuck {
        RefundStuck::NotProven(why)
    }
}
