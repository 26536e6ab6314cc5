//! Why something about a bank account was not done, in words for its operator.

use domain::bank_account::CredentialKind;
use gateway::snap::{BadSetting, KeyError};

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
    #[error("numbers that live at the bank need calls that are not made yet; set hosting=ours")]
    HostedThere,
    #[error("sign_in=client_ts leaves the body of a call unsigned, so no money can be taken on it; set another")]
    BodyUnsigned,
    #[error("the profile `{profile}` serves {serves}, not {method}")]
    OtherMethod { profile: &'static str, serves: &'static str, method: String },
    #[error("only production projects take real money; this one is a sandbox")]
    NotProduction,
    #[error("there is nothing to rotate to; set the next key or secret first")]
    NothingNext,
    #[error("we make no calls to this bank, so there is nothing to test there")]
    NoCalls,
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
