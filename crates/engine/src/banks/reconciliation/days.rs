//! Days of accounts, compared with their banks: once a day by a loop, and when a person asks. One node does it at a time.

use std::time::Duration;

use domain::{
    audit::Deed,
    bank_difference::{Difference, DifferenceKey, Reconciliation},
    bank_request::{day_text, jakarta_day},
    id::BankAccountId,
    receipt::DECISION_NOTE,
    time::Timestamp,
};
use store::{Change, CommitError, Guard, Listed, OpeningWrite, Window, Write};

use super::{
    compare::Run,
    comparison::{Comparison, Ways},
};
use crate::{
    Engine, Error, NoBank,
    bank_error::BankError,
    banks::{contracts::open_account::OpenAccount, memory::unfinished::Findings},
};

/// How long one comparison may take.
const COMPARE_MOST: Duration = Duration::from_mins(30);
/// How long a node has before it must renew its lease: longer than the calls in between can take.
const LEASE: Duration = Duration::from_mins(5);
/// How long after a failure a comparison is tried again.
const RETRY_AFTER: Duration = Duration::from_mins(10);
/// How long a person waits for a comparison that goes on by itself.
const WAIT_MOST: Duration = Duration::from_secs(20);
/// A day's comparison is due when the bank has had so long to close its books.
const DUE_AFTER: Duration = Duration::from_mins(30);
/// So many days that were missed are caught up.
const CAUGHT_UP_MOST: i64 = 7;
/// Differences that one commit adds.
const DIFFERENCES_AT_ONCE: usize = 200;

impl Engine {
    /// Compares a day of an account with its bank, as a person has asked for.
    pub async fn compare_bank_day(&self, id: BankAccountId, day: i64) -> Result<Comparison, Error> {
        let open = self.open_account(id).await?;
        let ways = Ways::of(&open.parameters).ok_or(BankError::NotComparable)?;
        if day >= jakarta_day(self.now()) {
            return Err(BankError::DayNotOver(day).into());
        }
        if day < jakarta_day(open.account.created_at) {
            return Err(BankError::DayBeforeAccount(day).into());
        }
        let line = self.audit(None, Deed::BankDayCompared, id, day_text(day));
        let compared = self.leased_compare(&open, ways, day, false, Some(line)).await?;
        compared.ok_or_else(|| BankError::BeingCompared.into())
    }

    /// The same in a task of its own; none if it takes longer than a person waits, and goes on.
    pub(crate) async fn begin_comparison(&self, id: BankAccountId, day: i64) -> Result<Option<Comparison>, Error> {
        let place = self.outbound.enter().ok_or(NoBank::Down)?;
        let engine = self.clone();
        let task = tokio::spawn(async move {
            let _place = place;
            engine.compare_bank_day(id, day).await
        });
        match tokio::time::timeout(WAIT_MOST, task).await {
            Ok(Ok(outcome)) => outcome.map(Some),
            Ok(Err(_)) => Err(NoBank::Down.into()),
            Err(_) => Ok(None),
        }
    }

    /// Whether days of the account can be compared.
    pub async fn is_comparable(&self, id: BankAccountId) -> Result<bool, Error> {
        Ok(Ways::of(&self.open_account(id).await?.parameters).is_some())
    }

    /// Compares the days of an account that are due; answers how many it has compared.
    pub(crate) async fn compare_due_days(&self, id: BankAccountId) -> Result<usize, Error> {
        let (open, now) = (self.open_account(id).await?, self.now());
        let Some(ways) = Ways::of(&open.parameters) else { return Ok(0) };
        if self.store.comparison_retry_at(id).await?.is_some_and(|retry_at| now < retry_at) {
            return Ok(0);
        }
        let last = jakarta_day(now.minus(DUE_AFTER)) - 1;
        let first = (last - CAUGHT_UP_MOST + 1).max(jakarta_day(open.account.created_at));
        let compared = self.store.compared_days(id, first).await?;
        let mut count = 0;
        for day in (first..=last).filter(|day| !compared.contains(day)) {
            match self.leased_compare(&open, ways, day, true, None).await {
                Ok(Some(_)) => count += 1,
                // Another node is at it.
                Ok(None) => return Ok(count),
                // It is gone on with in the next round. The days behind it need not wait for that.
                Err(Error::Bank(error @ (BankError::CompareTooLong(_) | BankError::CompareTooMuch(_)))) => {
                    tracing::warn!(%error, account = %id, day = day_text(day), "a day could not be compared as a whole");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }

    /// Compares while this node has the account's lease; none if another node has it, or has done a day that was due.
    async fn leased_compare(
        &self,
        open: &OpenAccount,
        ways: Ways,
        day: i64,
        is_due: bool,
        besides: Option<Write>,
    ) -> Result<Option<Comparison>, Error> {
        let (id, now) = (open.id(), self.now());
        let until = now.plus(LEASE);
        match self.store.commit(OpeningWrite::ComparisonLeased { account_id: id, now, until }.into()).await {
            Ok(()) => {}
            Err(CommitError::Conflict(Guard::Comparing)) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let before = self.store.reconciliation(id, day).await?;
        if is_due && before.is_some() {
            self.end_comparison(id, until, now).await?;
            return Ok(None);
        }
        let unfinished = self.unfinished.take(id, day, now);
        let first_at = before.map(|before| before.first_at).or(unfinished.as_ref().map(|found| found.began_at));
        let found = unfinished.unwrap_or_else(|| Findings::nothing(now));
        let mut run = Run::new(self, open, ways, day, found, (first_at, until));
        let lines = match tokio::time::timeout(COMPARE_MOST, run.compare()).await {
            Ok(lines) => lines,
            Err(_) => Err(BankError::CompareTooLong(COMPARE_MOST.as_secs() / 60).into()),
        };
        let until = run.leased_until;
        match lines {
            Ok(lines) => {
                let comparison = Comparison::of(id, day, ways.word(), (first_at.unwrap_or(now), self.now()), lines);
                self.keep(&comparison, besides).await?;
                self.end_comparison(id, until, now).await?;
                Ok(Some(comparison))
            }
            Err(error) => {
                self.unfinished.keep(id, day, run.found);
                self.end_comparison(id, until, self.now().plus(RETRY_AFTER)).await?;
                Err(error)
            }
        }
    }

    /// Commits what was found, the row of the day last.
    async fn keep(&self, comparison: &Comparison, besides: Option<Write>) -> Result<(), Error> {
        let found: Vec<Difference> = comparison.differences().collect();
        for some in found.chunks(DIFFERENCES_AT_ONCE) {
            let writes = some.iter().cloned().map(OpeningWrite::DifferenceFound);
            self.store.commit(Change::default().with_all(writes)).await?;
        }
        let reconciled = OpeningWrite::Reconciled(comparison.reconciliation);
        self.store.commit(Change::from(reconciled).with_all(besides)).await?;
        let Reconciliation { account_id, day, missing_here, missing_there, differing, .. } = comparison.reconciliation;
        tracing::info!(
            account = %account_id,
            day = day_text(day),
            missing_here = missing_here.count,
            missing_there = missing_there.count,
            differing = differing.count,
            "a day was compared with the bank"
        );
        Ok(())
    }

    async fn end_comparison(&self, id: BankAccountId, from: Timestamp, retry_at: Timestamp) -> Result<(), Error> {
        Ok(self.store.commit(OpeningWrite::ComparisonEnded { account_id: id, from, retry_at }.into()).await?)
    }

    /// The new end of this node's lease.
    pub(in crate::banks) async fn renew_comparison(
        &self,
        id: BankAccountId,
        from: Timestamp,
    ) -> Result<Timestamp, Error> {
        let until = self.now().plus(LEASE);
        match self.store.commit(OpeningWrite::ComparisonRenewed { account_id: id, from, until }.into()).await {
            Ok(()) => Ok(until),
            Err(CommitError::Conflict(Guard::Comparing)) => Err(BankError::BeingCompared.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// The latest comparisons of an account, newest day first.
    pub async fn reconciliations(&self, id: BankAccountId, most: i64) -> Result<Vec<Reconciliation>, Error> {
        Ok(self.store.reconciliations(id, most).await?)
    }

    /// What a person must look at, or what somebody has settled; newest first.
    pub async fn differences(&self, open: bool, window: Window) -> Result<Listed<Difference>, Error> {
        Ok(self.store.differences(open, window).await?)
    }

    pub async fn open_differences(&self) -> Result<i64, Error> {
        Ok(self.store.count_open_differences().await?)
    }

    pub async fn difference(&self, key: &DifferenceKey) -> Result<Difference, Error> {
        self.store.difference(key).await?.ok_or(Error::NotFound("difference"))
    }

    /// Records that somebody has seen to a difference, and how. It changes no money.
    pub async fn settle_difference(&self, key: &DifferenceKey, note: String) -> Result<Difference, Error> {
        let note = DECISION_NOTE.check(note)?;
        self.difference(key).await?;
        let detail = format!("{} {note}", key.kind.word());
        let line = self.audit(None, Deed::DifferenceSettled, &key.subject, detail);
        let settled = OpeningWrite::DifferenceSettled { key: key.clone(), at: self.now(), note };
        match self.store.commit(Change::from(settled).with(line)).await {
            Ok(()) => self.difference(key).await,
            Err(CommitError::Conflict(Guard::DifferenceOpen)) => Err(Error::AlreadySettled),
            Err(error) => Err(error.into()),
        }
    }
}
