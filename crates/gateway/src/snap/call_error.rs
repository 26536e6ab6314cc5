//! Why a call to a bank gave no result.

use std::fmt;

/// Why a call gave no result, by what the caller may do about it. No variant quotes a secret or a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The bank did nothing: it was not reached, or it says that it cannot work now. Try again later.
    #[error("the bank cannot be reached now: {0}")]
    Unavailable(Reason),
    /// The bank understood and said no: final. A code of small letters is ours: the bank answered, and its answer is
    /// not fit for use, or there is nothing to ask by.
    #[error("the bank refused: {code} {message}")]
    Refused { code: String, message: String },
    /// The request was sent, and no usable answer came: it may have had its effect.
    #[error("the bank gave no usable answer: {0}")]
    Unknown(Reason),
    /// The bank did nothing, since our token is over. It has been dropped: the same call with a new external id gets a
    /// new one. A caller repeats once and then gives up.
    #[error("the bank refused our token: {0}")]
    TokenRefused(Reason),
    /// No call will work until a person changes a setting, a key or a secret.
    #[error("the account is not set up right: {0}")]
    Misconfigured(Reason),
}

/// What went wrong, for people and for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    cause: Cause,
    code: String,
    words: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// No connection, or none with TLS.
    NotReached,
    TooLate,
    /// The connection ended within the answer.
    CutOff,
    /// There is an answer, but no meaning in it.
    Unreadable,
    Status(u16),
    /// A setting is missing or wrong, and nothing was sent.
    Setting,
}

impl Reason {
    pub(super) fn new(cause: Cause, words: impl Into<String>) -> Reason {
        let code = match cause {
            Cause::NotReached => "not_reached".to_owned(),
            Cause::TooLate => "timeout".to_owned(),
            Cause::CutOff => "cut_off".to_owned(),
            Cause::Unreadable => "unreadable".to_owned(),
            Cause::Status(status) => format!("http_{status}"),
            Cause::Setting => "settings".to_owned(),
        };
        Reason { cause, code, words: words.into() }
    }

    /// The bank's response code stands in the place of ours.
    pub(super) fn with_code(self, code: &str) -> Reason {
        if code.is_empty() { self } else { Reason { code: code.to_owned(), ..self } }
    }
}

/// What a setting lacks, in words.
impl From<String> for Reason {
    fn from(words: String) -> Reason {
        Reason::new(Cause::Setting, words)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl CallError {
    pub(super) fn setting(words: impl Into<String>) -> CallError {
        CallError::Misconfigured(Reason::new(Cause::Setting, words))
    }

    /// A refusal of our own: `code` is a word of small letters.
    pub(super) fn refused(code: &str, message: impl Into<String>) -> CallError {
        CallError::Refused { code: code.to_owned(), message: message.into() }
    }

    /// One word for logs and metrics: the bank's response code, or what happened instead of one.
    pub fn code(&self) -> &str {
        match self {
            CallError::Refused { code, .. } => code,
            CallError::Unavailable(reason)
            | CallError::Unknown(reason)
            | CallError::TokenRefused(reason)
            | CallError::Misconfigured(reason) => &reason.code,
        }
    }

    /// Whether it speaks against the bank's health: it was not reached, it was too late, its answer was cut off or made no
    /// sense, or it was a 5xx or a 401. A refusal of one order does not, nor does a token that is over.
    pub fn is_fault(&self) -> bool {
        match self {
            CallError::Refused { .. } | CallError::TokenRefused(_) => false,
            CallError::Unavailable(reason) | CallError::Unknown(reason) | CallError::Misconfigured(reason) => {
                match reason.cause {
                    Cause::NotReached | Cause::TooLate | Cause::CutOff | Cause::Unreadable => true,
                    Cause::Status(status) => matches!(status, 401 | 500..=599),
                    Cause::Setting => false,
                }
            }
        }
    }
}
