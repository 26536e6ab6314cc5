//! The steps of handing over a letter, and how each went.

use std::time::Duration;

/// A step of handing over a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A connection, its greeting, and TLS where that comes first.
    Connect,
    StartTls,
    SignIn,
    Sender,
    Recipient,
    /// The relay is asked whether it takes what the letter says.
    Data,
    /// What the letter says, and the answer to that.
    Letter,
}

impl Step {
    pub const fn word(self) -> &'static str {
        match self {
            Step::Connect => "connect",
            Step::StartTls => "starttls",
            Step::SignIn => "sign in",
            Step::Sender => "sender",
            Step::Recipient => "recipient",
            Step::Data => "data",
            Step::Letter => "letter",
        }
    }

    /// How long it may take.
    pub(super) const fn limit(self) -> Duration {
        match self {
            Step::Connect | Step::StartTls | Step::SignIn | Step::Sender | Step::Recipient | Step::Data => {
                Duration::from_secs(15)
            }
            // A relay may look through a letter before it answers.
            Step::Letter => Duration::from_secs(60),
        }
    }
}

/// How a step went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepReport {
    pub step: Step,
    /// What the relay said, or what went wrong.
    pub outcome: Result<String, String>,
}
