//! The log of banks' calls: which service, what we answered, how long it took. Calls are noted in memory and saved by a
//! reconciler, so that no bank waits for the log and nobody can fill the database with bad calls. Calls that have not proved
//! to be the bank's are bounded for themselves, in memory and in the log: however many there are, the bank's stay.

use std::time::Duration;

use domain::{
    api_key::BASE62,
    bank_request::{jakarta_day, jakarta_day_begin},
    id::{BankAccountId, first_id_at},
    time::{DAY, Timestamp},
};
use gateway::snap::Service;
use store::{BankCall, BankWrite, Change, OpeningWrite};

use crate::{Engine, Error, random_text};

/// Calls of each account that the log keeps.
pub(crate) const CALLS_KEPT: i64 = 200;
/// The same for calls that have not proved to be the bank's.
pub(crate) const UNPROVED_KEPT: i64 = 50;
/// How long inquiries are remembered: longer than a day, within which their external ids must be unique.
const INQUIRIES_KEPT: Duration = DAY.saturating_mul(3);
/// How long calls to banks are remembered, for the timelines of payments.
const SENDS_KEPT_DAYS: i64 = 90;
const RANDOM_CHARACTERS: usize = 6;
const FORGOTTEN_AT_ONCE: i64 = 500;

/// Who has made a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Caller {
    Us,
    Bank,
    /// Somebody who has not proved to be the bank.
    Anybody,
}

impl Engine {
    /// Notes a call of a bank for the log.
    pub fn note_bank_call(&self, id: BankAccountId, at: Timestamp, service: i64, code: &str, latency: Duration) {
        self.note_call(id, at, service, code, latency, Caller::Bank);
    }

    /// Notes a call at a bank's doors that has not proved to be the bank's.
    pub fn note_unproved_call(&self, id: BankAccountId, at: Timestamp, service: i64, code: &str, latency: Duration) {
        self.note_call(id, at, service, code, latency, Caller::Anybody);
    }

    /// Notes a call that we made.
    pub(in crate::banks) fn note_call_to_bank(
        &self,
        id: BankAccountId,
        at: Timestamp,
        service: Service,
        code: &str,
        latency: Duration,
    ) {
        self.note_call(id, at, service.code().parse().unwrap_or_default(), code, latency, Caller::Us);
    }

    fn note_call(&self, id: BankAccountId, at: Timestamp, service: i64, code: &str, latency: Duration, by: Caller) {
        let number = self.bank_calls.next_number();
        // The calls of two nodes within a millisecond differ by their random end.
        let sorted = format!("{:015}-{number:012}-{}", at.as_millis(), random_text(BASE62, RANDOM_CHARACTERS));
        let latency_ms = i64::try_from(latency.as_millis()).unwrap_or(i64::MAX);
        let (outbound, proved) = (by == Caller::Us, by != Caller::Anybody);
        let call = BankCall { id: sorted, at, service, code: code.to_owned(), latency_ms, outbound, proved };
        self.bank_calls.note(id, call);
    }

    /// One round: saves the calls that were noted. Answers 0, since nothing is left to do at once.
    pub async fn save_bank_calls(&self) -> Result<usize, Error> {
        let proved = self.bank_calls.take_proved().into_iter().map(|calls| latest(calls, CALLS_KEPT));
        let unproved = self.bank_calls.take_unproved().into_iter().map(|calls| latest(calls, UNPROVED_KEPT));
        let writes: Vec<BankWrite> = proved.chain(unproved).collect();
        if !writes.is_empty() {
            self.store.commit(Change::default().with_all(writes)).await?;
        }
        Ok(0)
    }

    /// One round: forgets calls to banks that are older than anybody looks at. Answers 0 when there is nothing more to do.
    pub async fn forget_sends(&self) -> Result<usize, Error> {
        let before = jakarta_day(self.now()) - SENDS_KEPT_DAYS;
        if !self.store.any_send_before(before).await? {
            return Ok(0);
        }
        self.store.commit(OpeningWrite::SendsForgotten { before, most: FORGOTTEN_AT_ONCE }.into()).await?;
        Ok(1)
    }

    /// One round: forgets customers whose code never came, when no call to the bank about it is remembered either. Answers 0
    /// when there is nothing more to do.
    pub async fn forget_attempts(&self) -> Result<usize, Error> {
        let before = first_id_at(jakarta_day_begin(jakarta_day(self.now()) - SENDS_KEPT_DAYS));
        if !self.store.any_attempt_before(before).await? {
            return Ok(0);
        }
        self.store.commit(OpeningWrite::AttemptsForgotten { before, most: FORGOTTEN_AT_ONCE }.into()).await?;
        Ok(1)
    }

    /// One round: forgets inquiries that are no longer needed. Answers 0 when there is nothing more to do at once.
    pub async fn forget_inquiries(&self) -> Result<usize, Error> {
        let before = self.now().minus(INQUIRIES_KEPT);
        if !self.store.any_inquiry_before(before).await? {
            return Ok(0);
        }
        self.store.commit(BankWrite::InquiriesForgotten { before, most: FORGOTTEN_AT_ONCE }.into()).await?;
        Ok(1)
    }
}

/// What saves the latest calls of an account: only they would be kept.
fn latest((account_id, mut calls): (BankAccountId, Vec<BankCall>), keep: i64) -> BankWrite {
    let first = calls.len().saturating_sub(usize::try_from(keep).unwrap_or(usize::MAX));
    BankWrite::Called { account_id, calls: calls.split_off(first), keep }
}
