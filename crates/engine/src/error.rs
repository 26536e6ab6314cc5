//! Why a use case failed, by what the caller can do about it.

use domain::{
    pricing::Mispriced,
    receipt::Unfit,
    refund::{NoRoom, RefundStuck},
    rules::Invalid,
    time::Timestamp,
};
use store::{CommitError, StoreError};

use crate::{bank_error::BankError, blocking_work::WorkError, passwords::HashError, vault::VaultError};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error(transparent)]
    Mispriced(#[from] Mispriced),
    #[error("this Idempotency-Key was used with a different body")]
    IdempotencyConflict,
    #[error("the project has no webhook URL")]
    NoWebhookUrl,
    #[error("the webhook secret was replaced less than a day ago, and the one before is valid until {until}")]
    StillRotating { until: Timestamp },
    /// It does not exist, or it is another project's; the caller does not learn which.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    #[error("the payment link no longer accepts payments")]
    LinkNotActive,
    #[error("the payment can no longer be changed")]
    NotEditable,
    #[error("{0} is already in use")]
    Taken(&'static str),
    #[error("only a sandbox payment can be simulated")]
    NotSandbox,
    /// The user is a member who may create keys, but not with a right over money.
    #[error("only owners of the project may create keys with a right over money")]
    RightNotGiven,
    /// The user is a member, but their role does not allow the action.
    #[error("this role may not do that")]
    RoleForbids,
    /// The last proof that the user is there is too old for what they want to do.
    #[error("prove first that it is you: sign in again, or confirm it in the dashboard")]
    ProofNeeded,
    /// The project or the installation demands a second factor, and the user has none.
    #[error("every member needs a second factor here; add yours in the dashboard")]
    FactorMissing,
    #[error("the project is inactive, or in production and not approved yet")]
    ProjectUnusable,
    #[error("only a production project needs an approval")]
    NotProduction,
    #[error("a project needs an owner, and this is the last one")]
    LastOwner,
    #[error("the installation needs an operator, and this is the last active one")]
    LastOperator,
    /// The user is the last active owner of these projects.
    #[error("the user is the only active owner of {}", .projects.join(", "))]
    OnlyOwner { projects: Vec<String> },
    #[error("the key was replaced or revoked already")]
    KeyReplaced,
    #[error("there are {most} {what} already, and no more are taken")]
    TooMany { what: &'static str, most: i64 },
    #[error("somebody has decided about this money already")]
    AlreadyDecided,
    #[error("somebody has settled this difference already")]
    AlreadySettled,
    #[error("{}", .0.sentence())]
    DoesNotFit(Unfit),
    /// The refund cannot be made of what is left.
    #[error("{}", .0.sentence())]
    NoRoom(NoRoom),
    /// The refund cannot be changed like that as it stands now.
    #[error("{}", .0.sentence())]
    RefundStuck(RefundStuck),
    /// It is not as the person has seen it who decided about it.
    #[error("the refund has changed since it was shown; look at it again")]
    RefundChanged,
    #[error("no refund waits for a person to transfer it")]
    NothingToTransfer,
    /// The link of a claim page has expired, or was tried too often.
    #[error("this link is not open any more; ask for a new one")]
    ClaimClosed,
    #[error("too many attempts have failed; try again after {until}")]
    TryLater { until: Timestamp },
    /// The link has as many pending payments, or recent attempts from this address, as it may have.
    #[error("too many attempts to pay this link were made; try again after {until}")]
    AttemptsFull { until: Timestamp },
    #[error(transparent)]
    NoBank(#[from] NoBank),
    #[error(transparent)]
    Bank(#[from] BankError),
    #[error("this form was sent before, and what it created has changed since")]
    FormUsed,
    #[error("too many others changed the same thing at once")]
    Contended,
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Hash(#[from] HashError),
    #[error(transparent)]
    Work(#[from] WorkError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A guard failed that the use case does not expect to fail: a bug of ours.
    #[error("a change met an unexpected conflict")]
    UnexpectedConflict(#[source] CommitError),
}

/// Why no bank does what it is needed for, mostly to issue the code of a payment.
#[derive(Debug, thiserror::Error)]
pub enum NoBank {
    #[error("no bank account is set up for payments of this method")]
    NotSetUp,
    #[error("the bank does not answer")]
    Down,
}

impl From<CommitError> for Error {
    fn from(error: CommitError) -> Error {
        match error {
            CommitError::Store(error) => Error::Store(error),
            conflict @ CommitError::Conflict(_) => Error::UnexpectedConflict(conflict),
        }
    }
}
