//! New refunds of payments and of held money. Money leaves the project's accounts with the commit.

use domain::{
    audit::Deed,
    destination::TypedDestination,
    id::{PaymentId, RefundId},
    idempotency::Idempotency,
    ledger::Posting,
    metadata::Metadata,
    money::Rupiah,
    project::{Environment, Project},
    refund::{
        Claim, Judged, NoRoom, Party, Refund, RefundOf, RefundRoad, RefundState, RefundStep, Split,
        request::{RefundOrder, RefundRequest},
    },
    rules::Invalid,
    user::Token,
};
use store::{Change, CommitError, Guard, LedgerWrite, RefundWrite, RefundableNow, SealedClaim, SealedColumn, Write};

use super::JUDGED_MOST;
use crate::{Created, Engine, Error, besides::bind, forms::random_seed};

/// A refund that is about to be made, with what is encrypted of it.
pub(crate) struct NewRefund {
    pub(crate) step: RefundStep,
    sealed_number: Option<Vec<u8>>,
    claim: Option<SealedClaim>,
    /// What the customer's link ends with.
    pub(crate) token: Option<Token>,
}

impl NewRefund {
    pub(crate) fn write(self) -> (RefundWrite, Option<Posting>, RefundStep) {
        let created = RefundWrite::Created {
            refund: Box::new(self.step.refund.clone()),
            sealed_number: self.sealed_number,
            claim: self.claim,
        };
        (created, self.step.posting.clone(), self.step)
    }
}

/// What a refund gives back, and why.
pub(crate) struct Draft {
    pub(crate) of: RefundOf,
    pub(crate) amount: Rupiah,
    pub(crate) split: Split,
    pub(crate) is_qris: bool,
    pub(crate) reason: String,
    pub(crate) metadata: Option<Metadata>,
}

impl Engine {
    /// Gives back a payment's money, or a part of it. However many ask at once, no more is given back than was received: each is
    /// judged by what is true at its commit.
    pub async fn create_refund(
        &self,
        project: &Project,
        idempotency: Idempotency,
        payment_id: PaymentId,
        request: RefundRequest,
    ) -> Result<Created<Refund>, Error> {
        if self.recent_keys.note(&idempotency)
            && let Some(refund) = self.replayed_refund(project, &idempotency).await?
        {
            return Ok(Created::Replayed(refund));
        }
        let order = match request.check() {
            Ok(order) => order,
            Err(invalid) => return self.replayed_refund_or(project, &idempotency, invalid.into()).await,
        };
        for _ in 0..JUDGED_MOST {
            let (change, refund) = match self.refund_change(project, payment_id, order.clone()).await {
                Ok(made) => made,
                Err(Error::Store(error)) => return Err(error.into()),
                Err(error) => return self.replayed_refund_or(project, &idempotency, error).await,
            };
            let bound = bind(Some(&idempotency), &refund.id.to_string());
            match self.store.commit(Change::default().with_all(bound).then(change)).await {
                Ok(()) => return Ok(Created::New(refund)),
                Err(CommitError::Conflict(Guard::IdempotencyKey)) => {
                    return self.replayed_refund_or(project, &idempotency, Error::Contended).await;
                }
                // Another refund was made meanwhile, or the payment has settled: it is judged by what is left then.
                Err(CommitError::Conflict(Guard::PaymentVersion | Guard::RefundCovered)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }

    async fn replayed_refund_or(
        &self,
        project: &Project,
        idempotency: &Idempotency,
        error: Error,
    ) -> Result<Created<Refund>, Error> {
        self.replayed_refund(project, idempotency).await?.map(Created::Replayed).ok_or(error)
    }

    async fn replayed_refund(&self, project: &Project, idempotency: &Idempotency) -> Result<Option<Refund>, Error> {
        match self.bound_to::<RefundId>(idempotency).await? {
            Some(id) => self.refund(project.id, id).await.map(Some),
            None => Ok(None),
        }
    }

    /// What refunds of a payment are judged by now, beside what is available to its project.
    pub(crate) async fn refundable_now(
        &self,
        project: &Project,
        payment_id: PaymentId,
    ) -> Result<RefundableNow, Error> {
        let basis = self.store.refundable(payment_id).await?.filter(|basis| basis.project_id == project.id);
        basis.ok_or(Error::NotFound("payment"))
    }

    /// Judges a refund by what is true now; answers what to commit.
    async fn refund_change(
        &self,
        project: &Project,
        payment_id: PaymentId,
        order: RefundOrder,
    ) -> Result<(Change, Refund), Error> {
        let basis = self.refundable_now(project, payment_id).await?;
        let available = match basis.refundable.takes_only_own_pending(order.amount) {
            true => Rupiah::ZERO,
            false => self.store.available(project.id).await?,
        };
        let Judged { amount, split } = match basis.refundable.judge(order.amount, available) {
            Ok(judged) => judged,
            Err(NoRoom::AboveReceived { received }) => {
                return Err(
                    Invalid::new("amount", format!("must be at most {}, which was received", received.get())).into()
                );
            }
            Err(why) => return Err(Error::NoRoom(why)),
        };
        let destination = order.destination.map(|typed| typed.check(amount)).transpose()?;
        let draft = Draft {
            of: RefundOf::Payment(payment_id),
            amount,
            split,
            is_qris: basis.is_qris && self.goes_back_by_code(project, payment_id).await?,
            reason: order.reason,
            metadata: order.metadata,
        };
        let new = self.new_refund(project, draft, destination)?;
        let sums = RefundWrite::Sums { payment_id, version: basis.version, moved: new.step.sums };
        let needed = split.needs_available();
        let covered = (needed > Rupiah::ZERO).then_some(RefundWrite::Covered { project_id: project.id, needed });
        let refund = new.step.refund.clone();
        let letters = self.creation_letters(project, &new).await?;
        let change = Change::from(sums).with_all(covered).then(self.creation(project, new)).with_all(letters);
        Ok((change, refund))
    }

    /// A refund as it begins.
    pub(crate) fn new_refund(
        &self,
        project: &Project,
        draft: Draft,
        destination: Option<TypedDestination>,
    ) -> Result<NewRefund, Error> {
        let (now, by) = (self.now(), Party::of(&self.actor));
        let id: RefundId = self.mint(now);
        let typed_by = destination.as_ref().map(|_| by);
        let needs_approval = self.needs_approval(project, draft.amount, typed_by);
        let road = match draft.is_qris && destination.is_none() && !self.refuses_qris(project, draft.amount) {
            true => RefundRoad::Qris,
            false => RefundRoad::Transfer,
        };
        let state = Refund::next_state(road, destination.is_some(), needs_approval);
        let sealed_number = destination.as_ref().map(|to| self.sealed_number(id, to)).transpose()?;
        let claim = match state {
            RefundState::RequiresAction => Some(self.new_claim(id)?),
            _ => None,
        };
        let (claim, token) = claim.unzip();
        let refund = Refund {
            id,
            project_id: project.id,
            of: draft.of,
            amount: draft.amount,
            split: draft.split,
            fee_returned: Rupiah::ZERO,
            state,
            road,
            reason: draft.reason,
            destination: destination.map(|to| to.shown()),
            destination_by: typed_by,
            claim: claim.as_ref().map(|_| Claim::opened(now)),
            made_by: by,
            approved_by: None,
            doubt: None,
            found: None,
            bank_reference: None,
            failure_reason: None,
            metadata: draft.metadata,
            batch: None,
            simulated_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        };
        let simulated_at = self.simulated_next(project, &refund, now);
        Ok(NewRefund { step: Refund { simulated_at, ..refund }.begin(), sealed_number, claim, token })
    }

    /// The writes by which a new refund comes to be, but for those about its payment or its receipt.
    pub(crate) fn creation(&self, project: &Project, new: NewRefund) -> Change {
        let (created, posting, step) = new.write();
        let refund = &step.refund;
        let line = self.audit(Some(project.id), Deed::RefundCreated, refund.id, refund_line(refund));
        let told = step.news.map(|news| self.refund_event(refund, news, refund.created_at));
        Change::from(created).with_all(posting.map(LedgerWrite::Posting)).with_all(told).with(line)
    }

    /// The writes that tell people of a new refund.
    pub(crate) async fn creation_letters(&self, project: &Project, new: &NewRefund) -> Result<Vec<Write>, Error> {
        let refund = &new.step.refund;
        let mut letters = self.refund_letters(project, refund, new.token.as_ref()).await?;
        letters.extend(self.approval_letters(project, refund).await?);
        Ok(letters)
    }

    /// Whether a refund of this amount waits for an approval once it is known where it goes.
    pub(crate) fn needs_approval(&self, project: &Project, amount: Rupiah, typed_by: Option<Party>) -> bool {
        project.refunds.needs_approval(amount, typed_by, project.environment == Environment::Production)
    }

    /// The number of a destination, encrypted for its refund.
    pub(crate) fn sealed_number(&self, id: RefundId, to: &TypedDestination) -> Result<Vec<u8>, Error> {
        let number = to.number.reveal().as_bytes();
        Ok(self.vault.seal(SealedColumn::RefundDestination, &id.to_string(), number)?)
    }

    /// A new link for the customer.
    pub(crate) fn new_claim(&self, id: RefundId) -> Result<(SealedClaim, Token), Error> {
        let token = Token::of(random_seed());
        let sealed = self.vault.seal(SealedColumn::RefundClaim, &id.to_string(), token.reveal().as_bytes())?;
        Ok((SealedClaim { hash: token.hash(), sealed }, token))
    }
}

/// What the audit log says of a refund.
pub(crate) fn refund_line(refund: &Refund) -> String {
    let to = refund.destination.as_ref().map(|to| format!(" {} *{}", to.bank.code, to.last_digits)).unwrap_or_default();
    format!("{} {}{to}", refund.of.about(), refund.amount)
}
