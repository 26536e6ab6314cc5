//! Writes about refunds.

use domain::{
    id::{PaymentId, ProjectId, RefundId},
    refund::{
        Refund, RefundState, SumsMove,
        doubt::StatementReading,
        transfer::{AttemptState, TransferAttempt},
    },
    refund_settings::Party,
    time::Timestamp,
    user::TokenHash,
};

/// The link of a claim page, encrypted, and what it is looked up by.
pub struct SealedClaim {
    pub hash: TokenHash,
    pub sealed: Vec<u8>,
}

pub enum RefundWrite {
    Created {
        refund: Box<Refund>,
        sealed_number: Option<Vec<u8>>,
        claim: Option<SealedClaim>,
    },
    /// Stores a refund as it has become. Guarded: it has the version that was read, which `refund` still has. `from` is its state
    /// before. Without a new number or claim, those that are stored stay as long as the refund has a destination or a claim.
    Changed {
        refund: Box<Refund>,
        from: RefundState,
        sealed_number: Option<Vec<u8>>,
        claim: Option<SealedClaim>,
    },
    /// Moves the sums that a payment keeps of its refunds. Guarded: the payment is paid and has the version that was read, and
    /// its refunds do not exceed the money that was received.
    Sums {
        payment_id: PaymentId,
        version: i64,
        moved: SumsMove,
    },
    /// The same for a refund that was found done after people had ended it as failed, whose money may have been given back once more
    /// meanwhile: the sum may exceed what was received.
    SumsFoundDone {
        payment_id: PaymentId,
        version: i64,
        moved: SumsMove,
    },
    /// Guarded: the project has as much available. Of two refunds that need it at the same time, one comes after the other.
    Covered {
        project_id: ProjectId,
        needed: domain::money::Rupiah,
    },
    /// Guarded: no other refund of the project has this reference of the bank.
    ReferenceFree {
        project_id: ProjectId,
        refund_id: RefundId,
        reference: String,
    },
    /// Somebody sends the form of the claim page. Guarded: the page is open, and was not tried too often.
    ClaimTried {
        id: RefundId,
        hash: TokenHash,
        now: Timestamp,
    },
    /// Stores an attempt as sent, before the bank is called. Guarded: the refund has the version that was read and is ready, and
    /// every attempt before was refused for good.
    AttemptSent {
        attempt: TransferAttempt,
        project_id: ProjectId,
        refund_version: i64,
        from: RefundState,
    },
    /// Guarded: no other refund of the payment is on its way by the code that was paid. Of two that are sent at the same time, one comes after the
    /// other. It stands before [`RefundWrite::AttemptSent`].
    AloneOfPayment {
        payment_id: PaymentId,
        refund_id: RefundId,
    },
    /// Stores what is known of an attempt. Guarded: it is still in the state that was read, and was asked about as often.
    AttemptNoted {
        attempt: TransferAttempt,
        from: AttemptState,
        asked: i64,
    },
    /// Keeps what the statement of the account says about an attempt, unless a later reading is kept.
    StatementRead {
        refund_id: RefundId,
        number: i64,
        reading: StatementReading,
    },
    /// Puts refunds into a batch of transfers. Guarded: no batch has the number, each refund has its version and is ready, and
    /// nothing of it was sent.
    Batch {
        project_id: ProjectId,
        number: i64,
        made_by: Party,
        at: Timestamp,
        refunds: Vec<(RefundId, i64)>,
    },
}
