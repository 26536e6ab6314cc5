//! Transfers that a person makes: which refunds are put into a numbered batch and taken to the bank, and how they end. What is in a
//! batch can be neither cancelled nor sent otherwise, and its file is always the same.

use domain::{
    audit::Deed,
    destination::{AccountNumber, TransferBank},
    id::RefundId,
    money::Rupiah,
    project::Project,
    refund::{
        BANK_REFERENCE, FAILURE, Party, Refund, RefundState, RefundStuck,
        transfer::{AttemptState, TransferAttempt},
    },
    time::Timestamp,
};
use store::{Change, CommitError, Guard, RefundFilter, RefundWrite, Window, Write};

use super::{
    JUDGED_MOST,
    create::refund_line,
    steps::{Decided, StepBasis},
};
use crate::{Engine, Error};

/// Transfers of one batch.
const BATCH_MOST: i64 = 500;

/// One line of a batch, with the whole number of the account.
pub struct BatchedTransfer {
    pub refund_id: RefundId,
    pub bank: &'static TransferBank,
    pub number: AccountNumber,
    pub holder: Option<String>,
    pub amount: Rupiah,
    /// What the receiver reads.
    pub reference: String,
}

impl Engine {
    /// Puts all refunds that a person can transfer now into a batch, and answers its number. One that is cancelled or sent at
    /// this moment stays out of it.
    pub async fn make_refund_batch(
        &self,
        project: &Project,
        besides: impl Fn(i64) -> Option<Write>,
    ) -> Result<i64, Error> {
        for _ in 0..JUDGED_MOST {
            let filter = RefundFilter { to_transfer: true, ..RefundFilter::default() };
            let window = Window { offset: 0, limit: BATCH_MOST };
            let ready = self.store.refunds(project.id, filter, window).await?.items;
            if ready.is_empty() {
                return Err(Error::NothingToTransfer);
            }
            let number = self.store.last_refund_batch(project.id).await? + 1;
            let batch = RefundWrite::Batch {
                project_id: project.id,
                number,
                made_by: Party::of(&self.actor),
                at: self.now(),
                refunds: ready.iter().map(|refund| (refund.id, refund.version)).collect(),
            };
            let sum: Rupiah = ready.iter().map(|refund| refund.amount).sum();
            let line = self.audit(Some(project.id), Deed::RefundsExported, number, format!("{} {sum}", ready.len()));
            match self.store.commit(Change::from(batch).with_all(besides(number)).with(line)).await {
                Ok(()) => return Ok(number),
                Err(CommitError::Conflict(Guard::RefundBatch | Guard::RefundVersion)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    /// The refunds of a batch, in the order in which they were made.
    pub(crate) async fn batch_of(&self, project: &Project, number: i64) -> Result<Vec<Refund>, Error> {
        let filter = RefundFilter { batch: Some(number), ..RefundFilter::default() };
        let window = Window { offset: 0, limit: BATCH_MOST };
        let mut refunds = self.store.refunds(project.id, filter, window).await?.items;
        if refunds.is_empty() {
            return Err(Error::NotFound("batch"));
        }
        refunds.reverse();
        Ok(refunds)
    }

    /// The lines of a batch for the bank.
    pub async fn transfers_of_batch(&self, project: &Project, number: i64) -> Result<Vec<BatchedTransfer>, Error> {
        let mut transfers = Vec::new();
        for refund in self.batch_of(project, number).await? {
            let account = self.refund_number(&refund).await?;
            let Some((to, account)) = refund.destination.zip(account) else { continue };
            transfers.push(BatchedTransfer {
                refund_id: refund.id,
                bank: to.bank,
                number: account,
                holder: to.holder,
                amount: refund.amount,
                reference: project.merchant.name.clone(),
            });
        }
        Ok(transfers)
    }

    /// A person has transferred a refund, or says that the bank has: `reference` is how the bank names the transfer, and no other
    /// refund has it. One that people had ended as failed while no bank knew what became of it succeeds after all.
    pub async fn mark_transferred(&self, project: &Project, id: RefundId, reference: String) -> Result<Refund, Error> {
        let reference = BANK_REFERENCE.check(reference)?;
        let marked = self.advance_refund(project, id, |basis| {
            let attempt = uncertain(basis)?;
            let decided = match attempt {
                Some(attempt) if basis.refund.state == RefundState::Failed => {
                    self.found_done(basis, attempt, reference.clone())?
                }
                _ => basis.refund.clone().succeed(Some(reference.clone()), basis.now)?.into(),
            };
            let line = format!("{} {reference}", refund_line(&basis.refund));
            let free =
                RefundWrite::ReferenceFree { project_id: project.id, refund_id: id, reference: reference.clone() };
            let done = attempt.map(|attempt| ended(attempt, basis.now));
            let line = self.audit(Some(project.id), Deed::RefundMarkedDone, id, line);
            let besides = done.into_iter().map(Write::from).chain([free.into(), line]);
            Ok(besides.fold(decided, Decided::with))
        });
        match marked.await {
            Err(Error::UnexpectedConflict(CommitError::Conflict(Guard::RefundReference))) => {
                Err(Error::Taken("the reference of the bank"))
            }
            marked => marked,
        }
    }

    /// A person says that a refund was not transferred and will not be. Where a bank may have made it all the same, a second person
    /// must say so too. `is_confirmed`: they have looked at the bank's own statement.
    pub async fn mark_not_transferred(
        &self,
        project: &Project,
        id: RefundId,
        why: String,
        is_confirmed: bool,
    ) -> Result<Refund, Error> {
        let why = FAILURE.check(why)?;
        let evidence = self.refund_evidence(project, id, is_confirmed).await?;
        let by = Party::of(&self.actor);
        self.advance_refund(project, id, |basis| {
            let refund = basis.refund.clone();
            let step = match (uncertain(basis)?, &evidence) {
                (Some(attempt), Some(evidence)) if attempt.number == evidence.attempt => {
                    refund.doubted(by, evidence, why.clone(), basis.is_unsettled, basis.now)?
                }
                // It was sent, or is uncertain, only since.
                (Some(_), _) => return Err(RefundStuck::Sent.into()),
                (None, _) => refund.fail(why.clone(), basis.is_unsettled, basis.now)?,
            };
            let deed = if step.refund.state.is_unfinished() { Deed::RefundDoubted } else { Deed::RefundMarkedFailed };
            Ok(Decided::from(step).with(self.audit(Some(project.id), deed, id, &why)))
        })
        .await
    }
}

/// The attempt of which the bank has not said what became of it. What was sent just now, people leave to the bank.
fn uncertain(basis: &StepBasis) -> Result<Option<&TransferAttempt>, RefundStuck> {
    match &basis.live {
        Some(attempt) if attempt.state != AttemptState::Unknown => Err(RefundStuck::Sent),
        live => Ok(live.as_ref()),
    }
}

/// A person says that the bank has made it.
fn ended(attempt: &TransferAttempt, now: Timestamp) -> RefundWrite {
    let (from, asked) = (attempt.state, attempt.asked);
    let done = TransferAttempt { state: AttemptState::Done, ask_at: None, updated_at: now, ..attempt.clone() };
    RefundWrite::AttemptNoted { attempt: done, from, asked }
}
