//! What can go wrong with the store, by what a caller can do about it.

type BoxError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database did not answer or took no more work; trying again later may help.
    #[error("the database is unavailable")]
    Unavailable(#[source] BoxError),
    /// The database answered something we never write, or refused what must be right: a bug of ours or a damaged file.
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

/// Why a database was not opened. Nothing of it was changed.
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

/// The oldest PostgreSQL that has all we use.
pub(crate) const OLDEST_POSTGRES: u32 = 13;

/// Why a change was not committed. Nothing of it was kept.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    #[error("a guard did not hold: {0:?}")]
    Conflict(Guard),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a statement was sure of and the database did not confirm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The Idempotency-Key was unused.
    IdempotencyKey,
    /// The account number was not live.
    AccountNumber,
    /// The payment was as it was read.
    PaymentVersion,
    /// The link was as it was read.
    LinkVersion,
    /// Nobody had claimed the link.
    LinkUnclaimed,
    /// The link took attempts.
    LinkOpen,
    /// The provider's notification was new.
    Receipt,
    /// The project was as it was read.
    ProjectVersion,
    /// No live key of the project had that name.
    KeyName,
    /// The key was not revoked yet.
    KeyNotRevoked,
    /// The payment's money had not settled yet.
    Unsettled,
    /// The delivery was due when it was read to be.
    DeliveryDue,
    /// The lease under which a delivery was tried still held: nobody else had tried it, or sent it by hand.
    DeliveryAttempts,
    /// The installation's value was not set yet.
    InstallationUnset,
    /// Something had expired that nobody else has in hand.
    AnyExpired,
    /// The project's webhook secret was the one to be replaced.
    WebhookSecret,
    /// Nobody had that address.
    EmailFree,
    /// The password was the one that was compared.
    PasswordStands,
    /// The user was not a member of the project.
    NotMember,
    /// The user was a member, and somebody else stays an owner.
    OwnerRemains,
    /// The session was there, and that user's.
    SessionLive,
    /// The invitation was there, unused and in time.
    InviteOpen,
    /// Nobody had to wait before trying again.
    SignInAllowed,
    /// The money paid nothing, and nobody had decided about it.
    ReceiptUndecided,
}
