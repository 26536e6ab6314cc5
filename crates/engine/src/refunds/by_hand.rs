//! Transfers that a person makes: which refunds are put into a numbered batch and taken to the bank, and how they end. What is in a
//! batch can be neither cancelled nor sent otherwise, and its file is always the same.

use domain::{
    audit::Deed,
    destination::{AccountNumber, TransferBank},
    id::{BankAccountId, RefundId},
    money::Rupiah,
    project::Project,
    refund::{
        BANK_REFERENCE, FAILURE, Party, Refund, RefundState, RefundStuck,
        doubt::Evidence,
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

/// Transfers of one batch, and refunds that are read at once to find them.
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
    /// Whether people have recorded since that it was not transferred.
    pub is_released: bool,
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
            let ready = self.refunds_by_hand(project).await?;
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

    /// The refunds that a person can transfer now, newest first, at most as many as a batch has. One that an account of the installation
    /// sends is not among them, also while that account waits for morning, for money or for its bank: it may send at any moment.
    pub(crate) async fn refunds_by_hand(&self, project: &Project) -> Result<Vec<Refund>, Error> {
        let filter = RefundFilter { to_transfer: true, ..RefundFilter::default() };
        let payers = self.payers_of(project).await?;
        let (mut by_hand, mut cursor) = (Vec::new(), None);
        let most = usize::try_from(BATCH_MOST).unwrap_or(usize::MAX);
        // A person may have to transfer one that is older than any number of others that an account sends, so all pages are read: each
        // begins where the one before ended, and the last one has the project's oldest refund.
        loop {
            let page = self.store.refunds_before(project.id, filter, cursor, BATCH_MOST).await?;
            let is_last = page.len() < most;
            cursor = page.last().map(|refund| refund.id);
            // An attempt that was refused only ever closes a way: those of refunds that no account carries anyway are not read.
            let carried = page.iter().filter(|refund| payers.carry(refund, &[]));
            let carried: Vec<RefundId> = carried.map(|refund| refund.id).collect();
            let tried = self.store.tried_ways(&carried).await?;
            by_hand.extend(page.into_iter().filter(|refund| {
                let tried = tried.get(&refund.id).map(Vec::as_slice).unwrap_or_default();
                !payers.carry(refund, tried)
            }));
            if is_last || by_hand.len() >= most {
                break;
            }
        }
        by_hand.truncate(most);
        Ok(by_hand)
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
                is_released: refund.state == RefundState::Failed,
            });
        }
        Ok(transfers)
    }

    /// A person has transferred a refund, or says that the bank has: `reference` is how the bank names the transfer, and no other
    /// refund has it. One that people had ended as failed while the bank may have made it succeeds after all.
    pub async fn mark_transferred(&self, project: &Project, id: RefundId, reference: String) -> Result<Refund, Error> {
        let reference = BANK_REFERENCE.check(reference)?;
        let refund = self.refund(project.id, id).await?;
        let paid_at = match refund.batch {
            Some(_) => self.account_of_money(project, &refund).await?,
            None => None,
        };
        let marked = self.advance_refund(project, id, |basis| {
            let attempt = uncertain(basis)?;
            let ordered = attempt.map(|attempt| (attempt.account_id, attempt.reference.clone()));
            let taken_there = paid_at.map(|account_id| (account_id, id.to_string()));
            let decided = match ordered.or(taken_there) {
                Some(about) if basis.refund.state == RefundState::Failed => {
                    self.found_done(basis, about, reference.clone())?
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

    /// The account at which the payment of a refund was paid: we do not know by which one people have transferred it.
    async fn account_of_money(&self, project: &Project, refund: &Refund) -> Result<Option<BankAccountId>, Error> {
        if let Some(money) = self.store.paying_money(refund.of.about()).await? {
            return Ok(Some(money.account_id));
        }
        let assigned = self.store.project_accounts(project.id).await?;
        Ok(assigned.first().map(|(_, account_id)| *account_id))
    }

    /// A person says that a refund was not transferred and will not be. Where a bank may have made it all the same, as it was asked or
    /// has got it in a batch, a second person must say so too. `is_confirmed`: they have looked at the bank's own statement.
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
                    // The bank may have said so while its statement was read.
                    let evidence = Evidence { is_on_its_way: attempt.is_on_its_way(), ..*evidence };
                    refund.mark_not_transferred(by, &evidence, why.clone(), basis.is_unsettled, basis.now)?
                }
                // It was sent, or is uncertain, only since.
                (Some(_), _) => return Err(RefundStuck::Sent.into()),
                (None, _) if refund.batch.is_some() => {
                    let evidence = Evidence::of_batch(is_confirmed);
                    refund.mark_not_transferred(by, &evidence, why.clone(), basis.is_unsettled, basis.now)?
                }
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
    RefundWrite::AttemptNoted { attempt: attempt.clone().recorded_done(now), from, asked }
}
