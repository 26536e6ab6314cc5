//! Why something about a bank account was not done, in words for its operator.

use domain::{bank_account::CredentialKind, bank_request::day_text};
use gateway::snap::{BadSetting, CallError, KeyError};

/// Why something about a bank account was not done.
#[derive(Debug, thiserror::Error)]
pub enum BankError {
    #[error("there is no profile `{0}`; `lunas bank profiles` lists them")]
    NoProfile(String),
    #[error(transparent)]
    Setting(#[from] BadSetting),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("the account cannot be enabled: {} missing", .0.iter().map(|missing| missing.name()).collect::<Vec<_>>().join(", "))]
    Missing(Vec<Missing>),
    #[error("sign_in=client_ts leaves the body of a call unsigned, so no money can be taken on it; set another")]
    BodyUnsigned,
    #[error("the profile `{profile}` serves {serves}, not {method}")]
    OtherMethod { profile: &'static str, serves: &'static str, method: String },
    #[error("only production projects take real money; this one is a sandbox")]
    NotProduction,
    #[error(
        "the bank's notice cannot be read, so the amount is not known; state it with `lunas bank stray ID --amount`"
    )]
    AmountUnknown,
    #[error("the amount of this stray is known already")]
    AmountKnown,
    #[error("the amount must be at least 1 and at most 999999999999")]
    AmountOutOfRange,
    #[error("there is nothing to rotate to; set the next key or secret first")]
    NothingNext,
    #[error("we make no calls to this bank, so there is nothing to test there")]
    NoCalls,
    #[error(
        "not supported: the numbers of this account live here, and its bank offers no report, so nothing can be compared"
    )]
    NotComparable,
    #[error("{} is not over in Jakarta yet; a day is compared when it is over", day_text(*.0))]
    DayNotOver(i64),
    #[error("{} lies before the account was created", day_text(*.0))]
    DayBeforeAccount(i64),
    #[error("a day of this account is being compared at present; try again in a few minutes")]
    BeingCompared,
    #[error("the bank could not be asked, so the day was not compared: {0}")]
    CompareFailed(CallError),
    #[error("the day was not compared: that took longer than {0} minutes")]
    CompareTooLong(u64),
    #[error("the day was not compared: it has more than {0} transactions")]
    CompareTooMuch(usize),
}

/// Something that an account needs before it can be enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    Setting(&'static str),
    Credential(CredentialKind),
}

impl Missing {
    /// What it is called on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Missing::Setting(name) => name,
            Missing::Credential(kind) => kind.word(),
        }
    }
}
