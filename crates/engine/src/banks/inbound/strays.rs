//! Decisions about strays: an operator assigns one to the payment that it was meant for, or has it returned. Where the bank's notice
//! cannot be read, they state its amount first.

use std::sync::Arc;

use domain::{
    audit::Deed,
    bank_money::MoneyMarks,
    id::{PaymentId, StrayId},
    money::Rupiah,
    opening::MoneySource,
    payment::Payment,
    project::{Environment, Project},
    receipt::{DECISION_NOTE, Unapplied},
    stray::{Stray, StrayDecided, StrayDecision},
};
use store::{BankWrite, Change, CommitError, Guard, Listed, OpenStrays, OpeningWrite, Window};

use crate::{
    DECIDE_MOST, Engine, Error,
    bank_error::BankError,
    observe::{Money, PaymentMove},
};

/// What a stray would do to a payment that it might be assigned to.
pub struct StrayFit {
    pub project: Arc<Project>,
    pub payment: Payment,
    /// Why it would not pay the payment and be held there; none if it would pay it.
    pub unapplied: Option<Unapplied>,
}

impl Engine {
    /// Strays that nobody has decided about, or those that somebody has; newest first.
    pub async fn strays(&self, open: bool, window: Window) -> Result<Listed<Stray>, Error> {
        Ok(self.store.strays(open, window).await?)
    }

    pub async fn open_strays(&self) -> Result<OpenStrays, Error> {
        Ok(self.store.open_strays().await?)
    }

    pub async fn stray(&self, id: StrayId) -> Result<Stray, Error> {
        self.store.stray(id).await?.ok_or(Error::NotFound("stray"))
    }

    /// Takes the amount of a stray whose notice cannot be read from an operator. From then on it is on the installation's books.
    pub async fn state_stray(&self, id: StrayId, amount: Rupiah, note: String) -> Result<Stray, Error> {
        let note = DECISION_NOTE.check(note)?;
        if amount <= Rupiah::ZERO || amount > Rupiah::MAX {
            return Err(BankError::AmountOutOfRange.into());
        }
        let (stray, now) = (self.open_stray(id).await?, self.now());
        if stray.amount.is_some() {
            return Err(BankError::AmountKnown.into());
        }
        let line = self.audit(None, Deed::StrayStated, id, format!("{} {note}", amount.get()));
        let told = OpeningWrite::MoneyTold {
            receipt: stray.receipt_key(),
            bank_id: stray.receipt_id,
            marks: MoneyMarks::default(),
            source: MoneySource::Notification,
            amount,
            paid_at: stray.paid_at,
            at: now,
        };
        let stated = BankWrite::StrayStated { id, amount, at: now };
        match self.store.commit(Change::from(stated).with(told).with(line)).await {
            Ok(()) => self.stray(id).await,
            Err(CommitError::Conflict(Guard::StrayUndecided | Guard::Receipt)) => Err(BankError::AmountKnown.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives a stray to a payment. It pays the payment if it fits, and is held there for the merchant if not.
    pub async fn assign_stray(&self, id: StrayId, payment_id: PaymentId, note: String) -> Result<Stray, Error> {
        let note = DECISION_NOTE.check(note)?;
        for _ in 0..DECIDE_MOST {
            let stray = self.open_stray(id).await?;
            let (StrayFit { project, .. }, decision) = self.judge_stray(&stray, payment_id).await?;
            let line = self.audit(Some(project.id), Deed::StrayAssigned, id, format!("{payment_id} {note}"));
            let assigned = StrayDecision::Assigned { project_id: project.id, payment_id };
            if self.commit_stray(decision.change.with(line), &stray, assigned, &note).await? {
                return self.stray(id).await;
            }
        }
        Err(Error::Contended)
    }

    /// What would follow if the stray were assigned to this payment now. Changes nothing.
    pub async fn stray_fit(&self, stray: &Stray, payment_id: PaymentId) -> Result<StrayFit, Error> {
        self.judge_stray(stray, payment_id).await.map(|(fit, _)| fit)
    }

    async fn judge_stray(&self, stray: &Stray, payment_id: PaymentId) -> Result<(StrayFit, PaymentMove), Error> {
        let payment = self.known_payment(payment_id).await?;
        let project = self.project_of(&payment).await?;
        if project.environment != Environment::Production {
            return Err(BankError::NotProduction.into());
        }
        let amount = stray.amount.ok_or(BankError::AmountUnknown)?;
        let money = Money { amount, paid_at: stray.paid_at, reused: false };
        let decision = self.on_money(&stray.receipt_key(), &payment, &project, money).await?;
        Ok((StrayFit { project, payment, unapplied: decision.moved.as_ref().err().copied() }, decision))
    }

    /// Records that the bank was told to give a stray back.
    pub async fn return_stray(&self, id: StrayId, note: String) -> Result<Stray, Error> {
        let note = DECISION_NOTE.check(note)?;
        for _ in 0..DECIDE_MOST {
            let stray = self.open_stray(id).await?;
            let line = self.audit(None, Deed::StrayReturned, id, &note);
            if self.commit_stray(Change::from(line), &stray, StrayDecision::Returned, &note).await? {
                return self.stray(id).await;
            }
        }
        Err(Error::Contended)
    }

    async fn open_stray(&self, id: StrayId) -> Result<Stray, Error> {
        let stray = self.stray(id).await?;
        match stray.decided {
            None => Ok(stray),
            Some(_) => Err(Error::AlreadyDecided),
        }
    }

    /// Commits a decision; false if the payment has changed or somebody else has decided meanwhile.
    async fn commit_stray(
        &self,
        change: Change,
        stray: &Stray,
        decision: StrayDecision,
        note: &str,
    ) -> Result<bool, Error> {
        let decided = StrayDecided { decision, at: self.now(), note: note.to_owned() };
        let change = change.with(BankWrite::StrayDecided { stray: stray.clone(), decided });
        match self.store.commit(change).await {
            Ok(()) => Ok(true),
            Err(CommitError::Conflict(
                Guard::StrayUndecided | Guard::Receipt | Guard::PaymentVersion | Guard::LinkUnclaimed,
            )) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
