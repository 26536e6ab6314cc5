//! A refund: money that goes back to a customer, out of a payment or out of held money, and the only ways in which it
//! changes.
//!
//! How it hangs together:
//! - `Refund` is what is known of one. `RefundState` says where it stands; `status()` and `pending_reason()` are its words
//!   in the API. Each transition consumes the refund and answers a [`RefundStep`]: the refund as it is then, what is posted,
//!   and what merchants are told. The engine (`engine/src/refunds/`) commits a step as a whole.
//! - Money leaves at creation into the account `refunding`: [`Split`] says from where, and by that it goes back. From
//!   `refunding` it goes on to `refunded` when the bank has it.
//! - Versions are the guards. Every change of a refund needs the version that was read: of the claim page, typing,
//!   approval, cancellation and sending, one wins. Every change that moves money of a payment needs the payment's version
//!   as well, as settling does. So the sum of refunds never exceeds what was received.
//! - A refund is *ready to be sent* when [`Refund::is_ready`] holds and it has no [`transfer::TransferAttempt`] that the bank may have
//!   carried out. An attempt is committed as sent before the call; the next needs the final refusal of the one before. What
//!   was sent and not refused is only asked about.
//! - What no bank says the end of, two people may end as failed ([`doubt`]). If the bank has made it all the same, it succeeds
//!   after that ([`found`]).
//! - The number of a destination and the token of the claim page are stored encrypted and are no part of `Refund`.

pub mod answer;
pub mod doubt;
mod failure;
pub mod found;
mod history;
mod postings;
pub mod request;
pub mod split;
pub mod transfer;
mod uncertain;
mod words;

use crate::{
    destination::Destination,
    id::{PaymentId, ProjectId, ReceiptId, RefundId},
    ledger::Posting,
    metadata::Metadata,
    money::Rupiah,
    rules::TextRule,
    time::Timestamp,
};
use doubt::{Doubt, NotProven};
pub use failure::{Failure, FailureKind};
use found::FoundDone;
use postings::RefundMoney;
pub use split::{Judged, NoRoom, Refundable, Split};
pub use words::{PendingReason, RefundRoad, RefundStatus};

pub use crate::{
    refund_news::RefundNews,
    refund_settings::{Party, RefundSettings},
};

pub const REASON: TextRule = TextRule { field: "reason", least: 0, most: 255, line_breaks: false };
/// How a bank names a transfer.
pub const BANK_REFERENCE: TextRule = TextRule { field: "bank_reference", least: 1, most: 64, line_breaks: false };
/// Why a refund failed, was declined or came back, in a person's words.
pub const FAILURE: TextRule = TextRule { field: "failure_reason", least: 1, most: 255, line_breaks: false };

/// What a refund gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefundOf {
    Payment(PaymentId),
    /// Held money, and the payment that it was sent for.
    Receipt {
        receipt: ReceiptId,
        sent_for: PaymentId,
    },
}

impl RefundOf {
    /// The payment that it is about: that which was paid, or that which the held money was sent for.
    pub const fn about(self) -> PaymentId {
        match self {
            RefundOf::Payment(id) | RefundOf::Receipt { sent_for: id, .. } => id,
        }
    }

    /// The payment whose money it is; none for held money.
    pub const fn payment(self) -> Option<PaymentId> {
        match self {
            RefundOf::Payment(id) => Some(id),
            RefundOf::Receipt { .. } => None,
        }
    }

    pub const fn receipt(self) -> Option<ReceiptId> {
        match self {
            RefundOf::Payment(_) => None,
            RefundOf::Receipt { receipt, .. } => Some(receipt),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefundState {
    RequiresAction,
    Pending(PendingReason),
    Succeeded { at: Timestamp },
    Failed,
    Cancelled,
    Returned { succeeded_at: Timestamp },
}

impl RefundState {
    pub const fn status(self) -> RefundStatus {
        match self {
            RefundState::RequiresAction => RefundStatus::RequiresAction,
            RefundState::Pending(_) => RefundStatus::Pending,
            RefundState::Succeeded { .. } => RefundStatus::Succeeded,
            RefundState::Failed => RefundStatus::Failed,
            RefundState::Cancelled => RefundStatus::Cancelled,
            RefundState::Returned { .. } => RefundStatus::Returned,
        }
    }

    pub const fn pending_reason(self) -> Option<PendingReason> {
        match self {
            RefundState::Pending(reason) => Some(reason),
            _ => None,
        }
    }

    pub const fn succeeded_at(self) -> Option<Timestamp> {
        match self {
            RefundState::Succeeded { at } | RefundState::Returned { succeeded_at: at } => Some(at),
            _ => None,
        }
    }

    /// Whether its money is in `refunding`.
    pub const fn is_unfinished(self) -> bool {
        matches!(self, RefundState::RequiresAction | RefundState::Pending(_))
    }
}

/// The link by which the customer says where the money shall go, and then follows the refund to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    pub expires_at: Timestamp,
    /// How often somebody has sent the page's form.
    pub tries: i64,
}

/// How often the form of a claim page may be sent. After that, the merchant makes a new link.
pub const CLAIM_TRIES_MOST: i64 = 10;
/// How long a claim page is open.
pub const CLAIM_LIFETIME: std::time::Duration = std::time::Duration::from_hours(14 * 24);

impl Claim {
    pub fn opened(now: Timestamp) -> Claim {
        Claim { expires_at: now.plus(CLAIM_LIFETIME), tries: 0 }
    }

    fn is_open(self, now: Timestamp) -> bool {
        now <= self.expires_at && self.tries < CLAIM_TRIES_MOST
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refund {
    pub id: RefundId,
    pub project_id: ProjectId,
    pub of: RefundOf,
    pub amount: Rupiah,
    pub split: Split,
    /// How much of the payment's fee the merchant got back when it succeeded.
    pub fee_returned: Rupiah,
    pub state: RefundState,
    pub road: RefundRoad,
    /// For the customer; empty where there is none.
    pub reason: String,
    pub destination: Option<Destination>,
    /// Who typed the destination.
    pub destination_by: Option<Party>,
    pub claim: Option<Claim>,
    pub made_by: Party,
    pub approved_by: Option<Party>,
    /// That somebody says of an uncertain transfer that it was not made. A second person must say it too.
    pub doubt: Option<Doubt>,
    pub bank_reference: Option<String>,
    /// Why it failed, was declined, came back or needs the customer's account, in plain words.
    pub failure_reason: Option<String>,
    pub metadata: Option<Metadata>,
    /// That it was found done after people had ended it as failed.
    pub found: Option<FoundDone>,
    /// The numbered batch of transfers that it was exported with.
    pub batch: Option<i64>,
    /// When the sandbox's simulator does something next.
    pub simulated_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub version: i64,
}

/// How a refund moves the sums that its payment keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SumsMove {
    pub succeeded: Rupiah,
    pub unfinished: Rupiah,
}

/// Everything that one transition causes; it is committed as a whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefundStep {
    /// The refund as it is then; its version is still the one that was read.
    pub refund: Refund,
    pub posting: Option<Posting>,
    pub sums: SumsMove,
    /// What merchants are told who ask for it.
    pub news: Option<RefundNews>,
}

impl RefundStep {
    /// The same where the refund has succeeded and the merchant gets back this much of the payment's fee.
    #[must_use]
    pub fn returning_fee(self, fee: Rupiah) -> RefundStep {
        let RefundState::Succeeded { at } = self.refund.state else { return self };
        let refund = Refund { fee_returned: fee, ..self.refund };
        let money = refund.money();
        let posting = if refund.found.is_some() { money.found_done(at) } else { money.succeeded(at) };
        RefundStep { posting: Some(posting), refund, ..self }
    }
}

/// Why a transition did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefundStuck {
    /// It has ended.
    Ended,
    /// A transfer was sent that the bank may have carried out.
    Sent,
    /// It is in a batch of transfers.
    InBatch,
    /// It does not wait for an approval.
    NotAwaitingApproval,
    /// Who asked for it, or typed where it goes, cannot approve it.
    OwnRefund,
    /// It does not wait for a bank account.
    NoDestinationNeeded,
    /// It is not on its way.
    NotProcessing,
    /// It has not succeeded.
    NotSucceeded,
    /// The bank may have made it, and too little says that it has not.
    NotProven(NotProven),
}

impl RefundStuck {
    /// In a sentence, for developers.
    pub fn sentence(self) -> String {
        let sentence = match self {
            RefundStuck::NotProven(why) => return why.sentence(),
            RefundStuck::Ended => "the refund has ended",
            RefundStuck::Sent => "the refund was sent to the bank already",
            RefundStuck::InBatch => "the refund is in a batch of transfers",
            RefundStuck::NotAwaitingApproval => "the refund does not wait for an approval",
            RefundStuck::OwnRefund => "who asked for a refund or typed its destination cannot approve it",
            RefundStuck::NoDestinationNeeded => "the refund does not wait for a bank account",
            RefundStuck::NotProcessing => "the refund is not on its way",
            RefundStuck::NotSucceeded => "the refund has not succeeded",
        };
        sentence.to_owned()
    }
}

impl Refund {
    pub const fn status(&self) -> RefundStatus {
        self.state.status()
    }

    /// Whether the customer may say now where the money shall go.
    pub fn takes_claims(&self, now: Timestamp) -> bool {
        self.state == RefundState::RequiresAction && self.claim.is_some_and(|claim| claim.is_open(now))
    }

    /// Whether the customer may confirm an account now that was looked at before. After the last try that still goes.
    pub fn takes_account(&self, now: Timestamp) -> bool {
        self.state == RefundState::RequiresAction && self.claim.is_some_and(|claim| now <= claim.expires_at)
    }

    /// Whether it may be sent, if nothing was sent that the bank may have carried out.
    pub const fn is_ready(&self) -> bool {
        matches!(self.state, RefundState::Pending(PendingReason::Processing | PendingReason::InsufficientBalance))
            && self.batch.is_none()
    }

    /// Where a new refund, or one whose destination has become known, goes on. One that waits for an approval waits for its
    /// destination first, since an approval is for both.
    pub const fn next_state(road: RefundRoad, has_destination: bool, needs_approval: bool) -> RefundState {
        match road {
            RefundRoad::Transfer if !has_destination => RefundState::RequiresAction,
            _ if needs_approval => RefundState::Pending(PendingReason::AwaitingApproval),
            _ => RefundState::Pending(PendingReason::Processing),
        }
    }

    /// The first step of a new refund: its money leaves.
    pub fn begin(self) -> RefundStep {
        let posting = self.money().started(self.created_at);
        let news = (self.state == RefundState::RequiresAction).then_some(RefundNews::RequiresAction);
        let sums = SumsMove { succeeded: Rupiah::ZERO, unfinished: self.amount };
        RefundStep { posting: Some(posting), sums, news, refund: self }
    }

    /// Somebody says where the money shall go. What waits for an approval waits for it still, or again: an approval is for
    /// one destination.
    pub fn give_destination(
        self,
        destination: Destination,
        by: Party,
        needs_approval: bool,
        now: Timestamp,
    ) -> Result<RefundStep, RefundStuck> {
        match self.state {
            RefundState::RequiresAction => {}
            RefundState::Pending(PendingReason::AwaitingApproval) if self.road == RefundRoad::Transfer => {}
            RefundState::Pending(_) => return Err(RefundStuck::NoDestinationNeeded),
            _ => return Err(RefundStuck::Ended),
        }
        let state = Refund::next_state(RefundRoad::Transfer, true, needs_approval);
        Ok(Refund {
            destination: Some(destination),
            destination_by: Some(by),
            road: RefundRoad::Transfer,
            approved_by: None,
            failure_reason: None,
            ..self
        }
        .moved(state, now))
    }

    /// Another than who asked lets it go. `alone`: the project has one owner, who has proved afresh that they are there.
    pub fn approve(self, by: Party, alone: bool, now: Timestamp) -> Result<RefundStep, RefundStuck> {
        if self.state != RefundState::Pending(PendingReason::AwaitingApproval) {
            return Err(RefundStuck::NotAwaitingApproval);
        }
        if !alone && (by == self.made_by || Some(by) == self.destination_by) {
            return Err(RefundStuck::OwnRefund);
        }
        Ok(Refund { approved_by: Some(by), ..self }.moved(RefundState::Pending(PendingReason::Processing), now))
    }

    /// It shall not go. Whoever may approve may decline, also what they asked for themselves.
    pub fn decline(self, why: String, is_unsettled: bool, now: Timestamp) -> Result<RefundStep, RefundStuck> {
        match self.state {
            RefundState::Pending(PendingReason::AwaitingApproval) => {
                Ok(Refund { failure_reason: Some(why), ..self }.released(RefundState::Cancelled, is_unsettled, now))
            }
            _ => Err(RefundStuck::NotAwaitingApproval),
        }
    }

    /// The merchant does not want it any more. `may_be_sent`: whether there is an attempt that the bank has not finally refused.
    pub fn cancel(self, may_be_sent: bool, is_unsettled: bool, now: Timestamp) -> Result<RefundStep, RefundStuck> {
        match self.state {
            _ if !self.state.is_unfinished() => Err(RefundStuck::Ended),
            _ if may_be_sent => Err(RefundStuck::Sent),
            _ if self.batch.is_some() => Err(RefundStuck::InBatch),
            _ => Ok(self.released(RefundState::Cancelled, is_unsettled, now)),
        }
    }

    /// It cannot go back the way that the money came: the customer's bank account is needed.
    pub fn need_destination(self, why: String, now: Timestamp) -> Result<RefundStep, RefundStuck> {
        if !self.is_ready() {
            return Err(RefundStuck::NotProcessing);
        }
        let refund = Refund { road: RefundRoad::Transfer, failure_reason: Some(why), destination: None, ..self };
        Ok(RefundStep { news: Some(RefundNews::RequiresAction), ..refund.moved(RefundState::RequiresAction, now) })
    }

    /// The bank account that pays lacks money, or has it again.
    pub fn note_balance(self, is_enough: bool, now: Timestamp) -> Result<RefundStep, RefundStuck> {
        let reason = if is_enough { PendingReason::Processing } else { PendingReason::InsufficientBalance };
        match self.is_ready() {
            true => Ok(self.moved(RefundState::Pending(reason), now)),
            false => Err(RefundStuck::NotProcessing),
        }
    }

    /// The bank has carried it out.
    pub fn succeed(self, bank_reference: Option<String>, now: Timestamp) -> Result<RefundStep, RefundStuck> {
        self.check_on_its_way()?;
        let posting = self.money().succeeded(now);
        let sums = SumsMove { succeeded: self.amount, unfinished: -self.amount };
        let bank_reference = bank_reference.or(self.bank_reference);
        let refund = Refund { bank_reference, failure_reason: None, ..self };
        let step = refund.moved(RefundState::Succeeded { at: now }, now);
        Ok(RefundStep { posting: Some(posting), sums, news: Some(RefundNews::Succeeded), ..step })
    }

    /// The bank has refused it for good, or a person says that it was not made.
    pub fn fail(self, why: String, is_unsettled: bool, now: Timestamp) -> Result<RefundStep, RefundStuck> {
        self.check_on_its_way()?;
        Ok(Refund { failure_reason: Some(why), ..self }.released(RefundState::Failed, is_unsettled, now))
    }

    /// The transfer was made and has come back.
    pub fn come_back(self, why: String, is_unsettled: bool, now: Timestamp) -> Result<RefundStep, RefundStuck> {
        let RefundState::Succeeded { at } = self.state else { return Err(RefundStuck::NotSucceeded) };
        let posting = self.money().returned(is_unsettled, now);
        let sums = SumsMove { succeeded: -self.amount, unfinished: Rupiah::ZERO };
        let refund = Refund { failure_reason: Some(why), fee_returned: Rupiah::ZERO, ..self };
        let step = refund.moved(RefundState::Returned { succeeded_at: at }, now);
        Ok(RefundStep { posting: Some(posting), sums, news: Some(RefundNews::Returned), ..step })
    }

    const fn money(&self) -> RefundMoney {
        let (id, project_id, about) = (self.id, self.project_id, self.of.about());
        RefundMoney { id, project_id, about, amount: self.amount, split: self.split, fee_returned: self.fee_returned }
    }

    fn check_on_its_way(&self) -> Result<(), RefundStuck> {
        match self.state {
            RefundState::Pending(PendingReason::Processing | PendingReason::InsufficientBalance) => Ok(()),
            _ if self.state.is_unfinished() => Err(RefundStuck::NotProcessing),
            _ => Err(RefundStuck::Ended),
        }
    }

    /// It ends without having been made: its money goes back where it came from.
    fn released(self, state: RefundState, is_unsettled: bool, now: Timestamp) -> RefundStep {
        let posting = self.money().released(is_unsettled, now);
        let sums = SumsMove { succeeded: Rupiah::ZERO, unfinished: -self.amount };
        let news = if state == RefundState::Failed { RefundNews::Failed } else { RefundNews::Cancelled };
        RefundStep { posting: Some(posting), sums, news: Some(news), ..self.moved(state, now) }
    }

    fn moved(self, state: RefundState, now: Timestamp) -> RefundStep {
        let refund = Refund { state, updated_at: now, simulated_at: None, ..self };
        RefundStep { refund, posting: None, sums: SumsMove::default(), news: None }
    }
}

#[cfg(test)]
mod tests;
