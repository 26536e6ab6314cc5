//! Refunds at a desk. Money leaves only by an owner who has proved lately that they are there, and what waits for an approval is let
//! go by another owner than the one who asked; the only owner of a project approves their own.

use domain::{
    access::{Act, Role},
    destination::DestinationRequest,
    id::{PaymentId, RefundId},
    idempotency::{Endpoint, Idempotency},
    money::Rupiah,
    payment::Payment,
    project::Environment,
    refund::{
        NoRoom, Party, PendingReason, Refund, RefundRoad, RefundSettings, RefundState, RefundStatus,
        request::RefundRequest,
        transfer::{AttemptState, TransferAttempt},
    },
    time::Timestamp,
    user::{Email, Token},
};
use store::{Listed, RefundBatch, RefundFilter, RefundStanding, TriedWay, Window};

use super::Desk;
use crate::{BatchedTransfer, Created, Engine, Error, RefundOutcome, UncertainRefund};

/// Batches that a page shows.
const BATCHES_MOST: i64 = 50;

/// Who sees to it that a pending refund is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// A bank, or the sandbox.
    Usual,
    /// A person transfers it.
    ByHand,
    /// A bank was asked, and has not said whether it has done it.
    Uncertain,
}

/// A refund with the payment that it is about.
#[derive(Clone, Debug)]
pub struct ListedRefund {
    pub refund: Refund,
    pub payment: Payment,
    pub sending: Sending,
}

/// Who somebody is.
#[derive(Clone, Debug)]
pub struct NamedParty {
    pub party: Party,
    /// The address of a user who was not removed.
    pub email: Option<Email>,
}

/// Whether the member may let a refund go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approval {
    Another,
    /// They asked for it, or typed where it goes; another owner may.
    Own,
    /// The same, but nobody else could.
    Alone,
}

/// The link for the customer, while it takes an account.
pub struct OpenClaim {
    /// None where the member has to prove first that they are there.
    pub token: Option<Token>,
    pub expires_at: Timestamp,
}

/// Everything about one refund.
pub struct RefundFile {
    pub refund: Refund,
    pub payment: Payment,
    pub sending: Sending,
    pub attempts: Vec<TransferAttempt>,
    /// Where it waits for an approval.
    pub approval: Option<Approval>,
    pub claim: Option<OpenClaim>,
    /// The whole number of the account, for who transfers it.
    pub number: Option<String>,
    pub made_by: NamedParty,
    pub destination_by: Option<NamedParty>,
    pub approved_by: Option<NamedParty>,
    /// Where a bank may have made it and has not said so, also of one that people have ended as failed.
    pub uncertain: Option<UncertainRefund>,
    /// Who has said that it was not made.
    pub doubted_by: Option<NamedParty>,
}

/// What giving back a payment's money would do now.
pub struct RefundOutlook {
    pub payment: Payment,
    pub received: Rupiah,
    pub left: Rupiah,
    /// What the project's money covers at most.
    pub covered: Rupiah,
    /// How it goes if nobody types an account.
    pub road: RefundRoad,
    pub returns_fee: bool,
    /// Whether nobody but the member could approve it.
    pub is_alone: bool,
    /// Why nothing can be given back.
    pub refusal: Option<NoRoom>,
    settings: RefundSettings,
    environment: Environment,
    by: Party,
}

impl RefundOutlook {
    /// Whether such an amount waits for an approval, if the member types where it goes or the customer does.
    pub fn needs_approval(&self, amount: Rupiah) -> bool {
        self.settings.needs_approval(amount, Some(self.by), self.environment == Environment::Production)
    }
}

/// How many refunds, and what they add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefundSum {
    pub refunds: i64,
    pub amount: Rupiah,
}

impl RefundSum {
    fn of(refunds: &[Refund]) -> RefundSum {
        let amount = refunds.iter().map(|refund| refund.amount).sum();
        RefundSum { refunds: i64::try_from(refunds.len()).unwrap_or(i64::MAX), amount }
    }
}

/// Refunds that go no further by themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefundsWaiting {
    /// A bank was asked, and has not said whether it has done it.
    pub uncertain: RefundSum,
    /// The bank account that pays lacks money.
    pub short: RefundSum,
    pub to_approve: RefundSum,
    /// A person transfers them.
    pub to_transfer: RefundSum,
    /// They need the customer's account.
    pub without_account: RefundSum,
}

/// Refunds that a person can transfer now.
pub struct ReadyTransfers {
    pub refunds: Vec<ListedRefund>,
    pub sum: RefundSum,
}

impl Desk {
    /// Gives back a payment's money. `form` identifies one filled-in form: sent twice, it makes one refund.
    pub async fn create_refund(
        &self,
        form: &str,
        payment_id: PaymentId,
        request: RefundRequest,
    ) -> Result<Refund, Error> {
        self.check_refunding().await?;
        // API clients cannot send a key with a space in it, so a form never collides with a request of the API.
        let key = format!("form {form}");
        let idempotency = Idempotency { project_id: self.id(), endpoint: Endpoint::Refunds, key, request: [0; 16] };
        match self.engine.create_refund(&self.project, idempotency, payment_id, request).await? {
            Created::New(refund) | Created::Replayed(refund) => Ok(refund),
        }
    }

    /// The same for a request of the API, which has a key of its own.
    pub async fn create_refund_once(
        &self,
        idempotency: Idempotency,
        payment_id: PaymentId,
        request: RefundRequest,
    ) -> Result<Created<Refund>, Error> {
        self.check_refunding().await?;
        self.engine.create_refund(&self.project, idempotency, payment_id, request).await
    }

    pub async fn cancel_refund(&self, id: RefundId) -> Result<Refund, Error> {
        self.check(Act::Refund)?;
        self.engine.cancel_refund(&self.project, id).await
    }

    /// `seen` is the refund's version as it was shown.
    pub async fn approve_refund(&self, id: RefundId, seen: i64) -> Result<Refund, Error> {
        self.check_refunding().await?;
        let alone = self.is_only_owner().await?;
        self.engine.approve_refund(&self.project, id, seen, alone).await
    }

    pub async fn decline_refund(&self, id: RefundId, why: String) -> Result<Refund, Error> {
        self.check(Act::Refund)?;
        self.engine.decline_refund(&self.project, id, why).await
    }

    pub async fn give_destination(&self, id: RefundId, destination: DestinationRequest) -> Result<Refund, Error> {
        self.check_refunding().await?;
        self.engine.give_destination(&self.project, id, destination).await
    }

    pub async fn renew_refund_link(&self, id: RefundId) -> Result<Refund, Error> {
        self.check(Act::Refund)?;
        self.fresh_proof().await?;
        self.engine.renew_refund_link(&self.project, id).await
    }

    /// Takes it off the road of the code: the customer's account is needed.
    pub async fn refund_by_transfer(&self, id: RefundId, why: String) -> Result<Refund, Error> {
        self.check(Act::Refund)?;
        self.engine.refund_by_transfer(&self.project, id, why).await
    }

    pub async fn mark_transferred(&self, id: RefundId, reference: String) -> Result<Refund, Error> {
        self.check_refunding().await?;
        self.engine.mark_transferred(&self.project, id, reference).await
    }

    /// `is_confirmed`: the member has looked at the bank's own statement.
    pub async fn mark_not_transferred(&self, id: RefundId, why: String, is_confirmed: bool) -> Result<Refund, Error> {
        self.check_refunding().await?;
        self.engine.mark_not_transferred(&self.project, id, why, is_confirmed).await
    }

    pub async fn mark_returned(&self, id: RefundId, why: String) -> Result<Refund, Error> {
        self.check_refunding().await?;
        self.engine.note_returned(&self.project, id, why).await
    }

    /// Lets the sandbox's simulator say what has become of a refund.
    pub async fn simulate_refund(&self, id: RefundId, outcome: RefundOutcome) -> Result<Refund, Error> {
        self.check_sandbox()?;
        self.engine.simulate_refund(&self.project, id, outcome).await
    }

    /// Puts all that can be transferred now into a batch.
    pub async fn make_refund_batch(&self, form: &str) -> Result<i64, Error> {
        self.check_refunding().await?;
        // In the sandbox, the simulator says what becomes of refunds.
        if self.project.environment == Environment::Sandbox {
            return Err(Error::NothingToTransfer);
        }
        let form = self.sent_form("refund batch", Some(form), &[]);
        if let Some(number) = self.engine.created_by_form(&form).await?.and_then(|number| number.parse().ok()) {
            return Ok(number);
        }
        self.engine
            .make_refund_batch(&self.project, |number| form.sent(number, self.engine.now()).map(Into::into))
            .await
    }

    pub async fn refund_batches(&self) -> Result<Vec<RefundBatch>, Error> {
        Ok(self.engine.store.refund_batches(self.id(), BATCHES_MOST).await?)
    }

    pub async fn refund_batch(&self, number: i64) -> Result<RefundBatch, Error> {
        let found = self.engine.store.refund_batch(self.id(), number).await?;
        found.ok_or(Error::NotFound("batch"))
    }

    pub async fn refunds_of_batch(&self, number: i64) -> Result<Vec<ListedRefund>, Error> {
        let refunds = self.engine.batch_of(&self.project, number).await?;
        self.listed_refunds(refunds).await
    }

    /// The lines of a batch, with whole account numbers.
    pub async fn transfers_of_batch(&self, number: i64) -> Result<Vec<BatchedTransfer>, Error> {
        self.check_refunding().await?;
        self.engine.transfers_of_batch(&self.project, number).await
    }

    pub async fn refund(&self, id: RefundId) -> Result<Refund, Error> {
        self.engine.refund(self.id(), id).await
    }

    /// Newest first.
    pub async fn refunds(&self, filter: RefundFilter, window: Window) -> Result<Listed<ListedRefund>, Error> {
        let Listed { items, total } = self.engine.refunds(self.id(), filter, window).await?;
        Ok(Listed { items: self.listed_refunds(items).await?, total })
    }

    /// The next refunds made before `cursor`, newest first; for reading all of them in pieces.
    pub async fn refunds_before(
        &self,
        filter: RefundFilter,
        cursor: Option<RefundId>,
        most: i64,
    ) -> Result<Vec<ListedRefund>, Error> {
        let refunds = self.engine.store.refunds_before(self.id(), filter, cursor, most).await?;
        self.listed_refunds(refunds).await
    }

    /// What the refunds that fit add up to, by how they stand.
    pub async fn refund_sums(&self, filter: RefundFilter) -> Result<Vec<RefundStanding>, Error> {
        Ok(self.engine.store.refund_sums(self.id(), filter).await?)
    }

    pub async fn refunds_of_payment(&self, id: PaymentId) -> Result<Vec<ListedRefund>, Error> {
        let payment = self.payment(id).await?;
        let refunds = self.engine.refunds_of_payment(payment.id).await?;
        self.listed_refunds(refunds).await
    }

    /// What giving back a payment's money would do now.
    pub async fn refund_outlook(&self, id: PaymentId) -> Result<RefundOutlook, Error> {
        let payment = self.payment(id).await?;
        let basis = self.engine.refundable_now(&self.project, id).await?;
        let available = self.engine.store.available(self.id()).await?;
        let refundable = basis.refundable;
        let left = refundable.left();
        let road = if basis.is_qris { RefundRoad::Qris } else { RefundRoad::Transfer };
        let least = left.min(Rupiah::new(1));
        Ok(RefundOutlook {
            received: refundable.received,
            left,
            covered: refundable.covered(available).max(Rupiah::ZERO),
            road,
            returns_fee: self.project.refunds.returns_fee,
            is_alone: self.is_only_owner().await?,
            refusal: refundable.judge(Some(least), available).err(),
            settings: self.project.refunds,
            environment: self.project.environment,
            by: Party::User(self.user.id),
            payment,
        })
    }

    pub async fn refund_file(&self, id: RefundId) -> Result<RefundFile, Error> {
        let refund = self.refund(id).await?;
        let payment = self.payment(refund.of.about()).await?;
        let attempts = self.engine.store.refund_attempts(id).await?;
        let tried: Vec<TriedWay> = attempts.iter().map(TriedWay::from).collect();
        let is_carried =
            self.is_for_transfer(&refund) && self.engine.payers_of(&self.project).await?.carry(&refund, &tried);
        let sending = sending(self.project.environment, &refund, &tried, is_carried);
        let may = self.may(Act::Refund);
        let approval = match refund.state {
            RefundState::Pending(PendingReason::AwaitingApproval) if may => {
                Some(self.engine.approval_of(&refund, Party::User(self.user.id), self.is_only_owner().await?))
            }
            _ => None,
        };
        let claim = match may {
            true => self.engine.open_claim(&refund, self.sees_claims().await?).await?,
            false => None,
        };
        let number = match sending {
            Sending::ByHand | Sending::Uncertain if may => self.engine.refund_number(&refund).await?,
            _ => None,
        };
        Ok(RefundFile {
            sending,
            approval,
            claim,
            number: number.map(|number| number.reveal().to_owned()),
            made_by: self.engine.named(refund.made_by).await?,
            destination_by: self.engine.named_if(refund.destination_by).await?,
            approved_by: self.engine.named_if(refund.approved_by).await?,
            uncertain: self.engine.uncertain_refund(&refund, &attempts).await,
            doubted_by: self.engine.named_if(refund.doubt.map(|doubt| doubt.by)).await?,
            payment,
            attempts,
            refund,
        })
    }

    /// Refunds that a person can transfer now.
    pub async fn transfers_ready(&self) -> Result<ReadyTransfers, Error> {
        let ready = self.engine.refunds_by_hand(&self.project).await?;
        let sum = RefundSum::of(&ready);
        Ok(ReadyTransfers { refunds: self.listed_refunds(ready).await?, sum })
    }

    /// Refunds that go no further by themselves.
    pub async fn refunds_waiting(&self) -> Result<RefundsWaiting, Error> {
        let standings = self.engine.refund_standings(self.id()).await?;
        let of = |status, reason| {
            let fits = |of: &&RefundStanding| of.status == status && of.pending_reason == reason;
            let found = standings.iter().find(fits);
            found.map(|of| RefundSum { refunds: of.refunds, amount: of.amount }).unwrap_or_default()
        };
        let pending = |reason| of(RefundStatus::Pending, Some(reason));
        let is_production = self.project.environment == Environment::Production;
        let (to_transfer, uncertain) = match is_production && pending(PendingReason::Processing).refunds > 0 {
            true => (
                RefundSum::of(&self.engine.refunds_by_hand(&self.project).await?),
                self.engine.store.uncertain_refunds(self.id()).await?,
            ),
            false => (RefundSum::default(), (0, Rupiah::ZERO)),
        };
        Ok(RefundsWaiting {
            uncertain: RefundSum { refunds: uncertain.0, amount: uncertain.1 },
            short: pending(PendingReason::InsufficientBalance),
            to_approve: pending(PendingReason::AwaitingApproval),
            to_transfer,
            without_account: of(RefundStatus::RequiresAction, None),
        })
    }

    async fn listed_refunds(&self, refunds: Vec<Refund>) -> Result<Vec<ListedRefund>, Error> {
        let mut listed = Vec::with_capacity(refunds.len());
        let is_production = self.project.environment == Environment::Production;
        // The bank accounts and the attempts are read once for the whole list.
        let payers = match refunds.iter().any(|refund| self.is_for_transfer(refund)) {
            true => Some(self.engine.payers_of(&self.project).await?),
            false => None,
        };
        let ready = refunds.iter().filter(|refund| is_production && refund.is_ready());
        let ready: Vec<RefundId> = ready.map(|refund| refund.id).collect();
        let tried = self.engine.store.tried_ways(&ready).await?;
        for refund in refunds {
            let payment = self.payment(refund.of.about()).await?;
            let tried = tried.get(&refund.id).map(Vec::as_slice).unwrap_or_default();
            let is_carried = payers.as_ref().is_some_and(|payers| payers.carry(&refund, tried));
            let sending = sending(self.project.environment, &refund, tried, is_carried);
            listed.push(ListedRefund { refund, payment, sending });
        }
        Ok(listed)
    }

    /// Whether a bank account of the installation or a person transfers it.
    fn is_for_transfer(&self, refund: &Refund) -> bool {
        let is_production = self.project.environment == Environment::Production;
        is_production && refund.is_ready() && refund.road == RefundRoad::Transfer
    }

    /// Whether the member may make money leave, and has proved lately that they are there.
    async fn check_refunding(&self) -> Result<(), Error> {
        self.check(Act::Refund)?;
        self.check_usable()?;
        self.fresh_proof().await
    }

    /// Whether the member is shown the links for customers now. With such a link they could name an account as the customer would, so it
    /// takes the same proof as typing one.
    pub async fn sees_claims(&self) -> Result<bool, Error> {
        if !self.may(Act::Refund) {
            return Ok(false);
        }
        match self.fresh_proof().await {
            Ok(()) => Ok(true),
            Err(Error::ProofNeeded) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether the member is the project's only owner, who approves by themselves what they asked for.
    pub async fn is_only_owner(&self) -> Result<bool, Error> {
        let members = self.engine.store.members(self.id()).await?;
        let owners = members.iter().filter(|member| member.role == Role::Owner && member.user.is_active());
        Ok(self.role == Role::Owner && owners.count() == 1)
    }
}

impl Engine {
    pub(crate) fn approval_of(&self, refund: &Refund, by: Party, alone: bool) -> Approval {
        match refund.made_by == by || refund.destination_by == Some(by) {
            false => Approval::Another,
            true if alone => Approval::Alone,
            true => Approval::Own,
        }
    }

    pub(crate) async fn named(&self, party: Party) -> Result<NamedParty, Error> {
        let email = match party {
            Party::User(id) => {
                let user = self.store.user(id).await?.filter(|user| !user.is_removed());
                user.map(|user| user.email)
            }
            Party::Key(_) | Party::CommandLine | Party::Customer => None,
        };
        Ok(NamedParty { party, email })
    }

    pub(crate) async fn named_if(&self, party: Option<Party>) -> Result<Option<NamedParty>, Error> {
        match party {
            Some(party) => self.named(party).await.map(Some),
            None => Ok(None),
        }
    }
}

/// `is_carried`: an account of the installation sends it, if not now then later. Then no person may.
fn sending(environment: Environment, refund: &Refund, tried: &[TriedWay], is_carried: bool) -> Sending {
    let RefundState::Pending(PendingReason::Processing | PendingReason::InsufficientBalance) = refund.state else {
        return Sending::Usual;
    };
    let live = tried.iter().find(|way| way.state.may_be_done());
    match (environment, live) {
        // What the simulator will not end by itself.
        (Environment::Sandbox, _) if refund.simulated_at.is_none() && refund.batch.is_none() => Sending::Uncertain,
        (Environment::Sandbox, _) => Sending::Usual,
        (_, Some(way)) if way.state == AttemptState::Unknown => Sending::Uncertain,
        (_, Some(_)) => Sending::Usual,
        (_, None) if refund.road == RefundRoad::Transfer && !is_carried => Sending::ByHand,
        (_, None) => Sending::Usual,
    }
}
