//! Why a refund was not made, or came back: the kinds that pages word in both languages. What is stored and what programs read is
//! the kind's English sentence, with the bank's own code behind it where a bank has said so.

use std::fmt;

use super::FAILURE;

macro_rules! kinds {
    ($($(#[$meaning:meta])* $variant:ident $sentence:literal,)*) => {
        /// What kept a refund from being made.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum FailureKind {
            $($(#[$meaning])* $variant,)*
        }

        impl FailureKind {
            pub const ALL: &[FailureKind] = &[$(FailureKind::$variant,)*];

            /// None begins with another's.
            pub const fn sentence(self) -> &'static str {
                match self {
                    $(FailureKind::$variant => $sentence,)*
                }
            }
        }
    };
}

kinds! {
    NoSuchAccount "The bank knows no such account",
    AccountClosed "The account is closed",
    AccountDormant "The account is dormant",
    /// Blocked, or suspected by its bank.
    AccountBlocked "The account's bank takes no money for it",
    OverLimit "The amount is above a limit of the bank",
    /// The bank that sends does not reach the customer's.
    NoRoute "The bank that sends does not reach the customer's bank",
    /// It answers the question, and neither names the holder nor denies the account.
    NoName "The bank does not say whose account it is",
    NoMoney "The account that pays lacks money",
    CutOff "The bank sends nothing at this time",
    /// Its settings or keys do not fit ours.
    NotTaken "The bank did not take the order as it stands",
    NotByCode "The bank does not give this payment's money back by its code",
    NotABanksCode "The code that was paid was not issued by a bank that can give its money back",
    NoRefunds "The bank that issued the code gives no money back by itself",
    WindowOver "The time in which the bank gives money back by the code is over",
    LessLeft "The bank says that less of the payment is left than our books say",
    NotCarriedOut "The bank says that it was not carried out",
    CameBack "The bank has sent the money back",
    Refused "The bank has refused it",
    /// The last digits of the amount ask for it.
    SandboxRefused "The sandbox refuses it, as the amount asks",
    SandboxReturned "The sandbox sends it back",
}

/// Why a refund was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    /// The bank's response code.
    pub code: Option<String>,
}

impl From<FailureKind> for Failure {
    fn from(kind: FailureKind) -> Failure {
        Failure { kind, code: None }
    }
}

impl Failure {
    /// What a bank's response code of seven digits means, of an order or of a question about an account; none where it decides
    /// nothing.
    pub fn of_code(code: &str) -> Option<Failure> {
        let is_code = code.len() == 7 && code.bytes().all(|byte| byte.is_ascii_digit());
        let kind = match (code.get(..3)?, code.get(5..)?) {
            ("403", "18") => FailureKind::AccountClosed,
            ("403", "09") => FailureKind::AccountDormant,
            ("403", "03" | "05") => FailureKind::AccountBlocked,
            ("404", "11") => FailureKind::NoSuchAccount,
            ("403", "02" | "04" | "20" | "23") => FailureKind::OverLimit,
            ("404", "02" | "03") => FailureKind::NoRoute,
            ("403", "14") => FailureKind::NoMoney,
            ("403", "06") => FailureKind::CutOff,
            ("403", "15") | ("405", "01") => FailureKind::NotByCode,
            ("404", "13") => FailureKind::LessLeft,
            ("400" | "401", _) => FailureKind::NotTaken,
            _ => return None,
        };
        is_code.then(|| Failure { kind, code: Some(code.to_owned()) })
    }

    /// What a bank has refused with this code.
    pub fn of_refusal(code: &str) -> Failure {
        Failure::of_code(code).unwrap_or_else(|| Failure { kind: FailureKind::Refused, code: Some(code.to_owned()) })
    }

    /// A stored reason; none where a person has written it.
    pub fn read(reason: &str) -> Option<Failure> {
        FailureKind::ALL.iter().find_map(|kind| {
            let rest = reason.strip_prefix(kind.sentence())?;
            let code = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')'));
            (rest.is_empty() || code.is_some()).then(|| Failure { kind: *kind, code: code.map(str::to_owned) })
        })
    }

    /// As it is stored.
    pub fn reason(&self) -> String {
        self.to_string().chars().take(FAILURE.most).collect()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.code {
            Some(code) => write!(f, "{} ({code})", self.kind.sentence()),
            None => f.write_str(self.kind.sentence()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_read_as_it_is_stored_and_a_persons_words_are_none() {
        for kind in FailureKind::ALL {
            for code in [None, Some("4031718".to_owned()), Some("http_404".to_owned())] {
                let failure = Failure { kind: *kind, code };
                assert_eq!(Failure::read(&failure.reason()), Some(failure.clone()), "{failure}");
            }
            let is_alone = |other: &FailureKind| other == kind || !other.sentence().starts_with(kind.sentence());
            assert!(FailureKind::ALL.iter().all(is_alone), "{kind:?}");
        }
        for written in ["", "the customer has changed their mind", "The account is closed, says Budi", "The account"] {
            assert_eq!(Failure::read(written), None, "{written}");
        }
    }

    #[test]
    fn a_banks_code_says_why() {
        for (code, kind) in [
            ("4031718", FailureKind::AccountClosed),
            ("4031609", FailureKind::AccountDormant),
            ("4031805", FailureKind::AccountBlocked),
            ("4041611", FailureKind::NoSuchAccount),
            ("4031802", FailureKind::OverLimit),
            ("4041803", FailureKind::NoRoute),
            ("4031714", FailureKind::NoMoney),
            ("4031706", FailureKind::CutOff),
            ("4057801", FailureKind::NotByCode),
            ("4047813", FailureKind::LessLeft),
            ("4011701", FailureKind::NotTaken),
        ] {
            assert_eq!(Failure::of_code(code), Some(Failure { kind, code: Some(code.to_owned()) }));
        }
        for code in ["", "4031714x", "403", "4031799", "5001700", "2001700", "timeout", "403é14"] {
            assert_eq!(Failure::of_code(code), None, "{code}");
        }
        assert_eq!(Failure::of_refusal("4999999").to_string(), "The bank has refused it (4999999)");
    }
}
