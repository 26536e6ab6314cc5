//! The errors of the store, by what a caller can do about them.

type BoxError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database did not answer or is too busy; retrying later may help.
    #[error("the database is unavailable")]
    Unavailable(#[source] BoxError),
    /// A change that had to be committed by some time may or may not have been. Only changes with such a time get this error;
    /// for others, being unavailable says nothing about it.
    #[error("it is not known whether the database has committed it")]
    Undecided(#[source] BoxError),
    /// The database returned something we never write, or rejected a statement that must be valid: a bug of ours or a
    /// damaged file.
    #[error("the database holds or refuses something unexpected")]
    Unexpected(#[source] BoxError),
}

impl StoreError {
    pub(crate) fn unavailable(source: impl Into<BoxError>) -> StoreError {
        StoreError::Unavailable(source.into())
    }

    pub(crate) fn unexpected(source: impl Into<BoxError>) -> StoreError {
        StoreError::Unexpected(source.into())
    }
}

/// Why a database was not opened. Nothing in it was changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the server cannot be reached: {0}; check its host and port, and that it runs")]
    Unreachable(String),
    #[error(
        "the connection cannot be encrypted: {0}; trust its certificate, or write sslmode=disable where nobody listens in"
    )]
    Unencrypted(String),
    #[error("the server does not let this user in: {0}; check the user and the password")]
    NotLetIn(String),
    #[error("{0}; make it first, such as with `createdb`, or give another")]
    NoDatabase(String),
    #[error("the server takes no writes, as a standby does not; name its primary, or all of its hosts between commas")]
    TakesNoWrites,
    #[error("the server runs PostgreSQL {0}, and {OLDEST_POSTGRES} is the oldest that will do; use a newer one")]
    TooOld(String),
    #[error("this user may not use or make its tables: {0}; let the user own the database")]
    MissingRights(String),
    #[error("the extension pg_trgm cannot be made: {0}; let an administrator run `CREATE EXTENSION pg_trgm` in it")]
    NoTrigrams(String),
    #[error("it holds the tables of another program; give lunas a database of its own")]
    OtherProgram,
    #[error("it was made by a newer version of lunas; use that one")]
    Newer,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The oldest version of PostgreSQL that has everything we use.
pub(crate) const OLDEST_POSTGRES: u32 = 13;

/// Why a change was not committed. Nothing of it was stored, unless the store says that this is not known.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    #[error("a guard did not hold: {0:?}")]
    Conflict(Guard),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A condition of a write that did not hold in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The Idempotency-Key was unused.
    IdempotencyKey,
    /// No payment had the account number that could still be paid, or for which it still rests.
    AccountNumber,
    /// The payment had the version that was read.
    PaymentVersion,
    /// The link was neither cancelled nor past its expiry.
    LinkActive,
    /// The link had the terms that were read, was active, and no payment of it was paid.
    LinkEditable,
    /// No payment had claimed the link.
    LinkUnclaimed,
    /// The link took payments, and one more was within its bounds.
    LinkOpen,
    /// No money had the provider's receipt id; or the payment had no such notice under it.
    Receipt,
    /// The project had the version that was read.
    ProjectVersion,
    /// No live key of the project had that name.
    KeyName,
    /// The project had fewer live keys than it may have.
    KeysBelowMost,
    /// The key was not revoked yet.
    KeyNotRevoked,
    /// The key was neither revoked nor replaced yet.
    KeyNotReplaced,
    /// No key that the user created was live.
    KeysRevoked,
    /// The payment's money had not settled yet.
    Unsettled,
    /// The delivery was due at the time that was read.
    DeliveryDue,
    /// The lease under which the attempt was made still held: no other node had taken the delivery over, and nobody had
    /// asked to send it again.
    DeliveryAttempts,
    /// The letter was due at the time that was read, and no node had it.
    LetterDue,
    /// The node still had the letter.
    LetterLeased,
    /// The letter had ended, and what it says was still known.
    LetterEnded,
    /// Nobody had noted yet that this is amiss.
    AlertNew,
    /// The node's beat was the one that was read.
    NodeSilent,
    /// The audit chain ended where it was read, and none of the lines had a seal.
    AuditChain,
    /// The installation's value was not set yet.
    InstallationUnset,
    /// A payment had expired that no other node had locked.
    AnyExpired,
    /// The project's webhook secret was the one to be replaced.
    WebhookSecret,
    /// The project's notices went to a URL, or to none, as was expected, and their secret was the one to be replaced.
    NoticeTarget,
    /// Nobody had that e-mail address.
    EmailFree,
    /// The password was still the one that was checked.
    PasswordUnchanged,
    /// The user was not a member of the project.
    NotMember,
    /// The user was a member, and the project keeps an owner.
    OwnerRemains,
    /// The user had that role in the project.
    RoleHeld,
    /// The user was an active operator.
    OperatorHeld,
    /// An active operator remains.
    OperatorRemains,
    /// The user was active.
    UserActive,
    /// The user was deactivated and not removed.
    UserInactive,
    /// The user was not removed.
    UserPresent,
    /// The form had not been sent before.
    FormUnused,
    /// The session existed and was that user's.
    SessionLive,
    /// The invitation existed, was unused and had not expired.
    InviteOpen,
    /// The request for a new password was the one that was read.
    ResetRequested,
    /// The link for a new password existed, was unused and had not expired.
    ResetOpen,
    /// No delay for further attempts to sign in was in force.
    SignInAllowed,
    /// The user had no second factor, or had shown it.
    FactorShown,
    /// The user had a second factor, in the state that the change is for.
    FactorPresent,
    /// The step of the code was later than that of the last one, or the recovery code was unused.
    FactorCode,
    /// The encrypted value was the one that was read.
    SealedValue,
    /// The money was unapplied, and nobody had decided about it.
    ReceiptUndecided,
    /// The bank account had the version that was read.
    BankAccountVersion,
    /// The bank had not sent the external id on that day, nor the request id of the same money.
    BankRequest,
    /// Nobody had decided about the stray.
    StrayUndecided,
    /// The opening had the version that was read.
    OpeningVersion,
    /// The job was due at the time that was read, or the lease under which it was done still held.
    JobDue,
    /// The external id was new on that day.
    ExternalId,
    /// The counter of external ids was where it was read.
    Serials,
    /// The refund had the version that was read, and stood so that it could be changed like that.
    RefundVersion,
    /// The project's available money covered the refund.
    RefundCovered,
    /// No transfer of the project had that reference.
    RefundReference,
    /// The claim page was open, and had not been tried too often.
    ClaimOpen,
    /// The attempt was the next of its refund, or still the one that was read.
    TransferAttempt,
    /// No other refund of the payment was on its way by the code that was paid.
    RefundAlone,
    /// No other batch had that number.
    RefundBatch,
    /// The receipt was returned by that refund.
    ReceiptReturning,
    /// Nobody had settled the difference.
    DifferenceOpen,
    /// No other node compared a day of the account, or this node still did.
    Comparing,
}
