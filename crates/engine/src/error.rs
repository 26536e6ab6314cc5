//! Why a use case did not happen, by what the caller can do about it.

use domain::{rules::Invalid, time::Timestamp};
use gateway::ProviderError;
use store::{CommitError, StoreError};

use crate::vault::VaultError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Invalid(#[from] Invalid),
    #[error("this Idempotency-Key was used with a different body")]
    IdempotencyConflict,
    #[error("the project has no webhook URL")]
    NoWebhookUrl,
    #[error("the webhook secret was replaced less than a day ago, and the one before is valid until {until}")]
    StillRotating { until: Timestamp },
    /// It does not exist, or it is another project's: the caller cannot tell.
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
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error("too many others changed the same thing at once")]
    Contended,
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A guard failed that nothing else could have touched: a bug of ours.
    #[error("a change was refused unexpectedly")]
    Refused(#[source] CommitError),
}

impl From<CommitError> for Error {
    fn from(error: CommitError) -> Error {
        match error {
            CommitError::Store(error) => Error::Store(error),
            conflict @ CommitError::Conflict(_) => Error::Refused(conflict),
        }
    }
}
