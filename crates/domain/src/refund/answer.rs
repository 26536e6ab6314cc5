//! What was last heard of an attempt to send a refund, as it is stored: in one line. The line is the bank's own code and message; or,
//! where the bank has not said what became of the order, words of ours for what we found. Pages say ours in both languages, and
//! never as the bank's.

use super::failure::FailureKind;

macro_rules! findings {
    ($($(#[$meaning:meta])* $variant:ident $words:expr,)*) => {
        /// What we found about an attempt, where there are no words of the bank.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum AttemptFinding {
            $($(#[$meaning])* $variant,)*
        }

        impl AttemptFinding {
            pub const ALL: &[AttemptFinding] = &[$(AttemptFinding::$variant,)*];

            /// As it is stored.
            pub const fn words(self) -> &'static str {
                match self {
                    $(AttemptFinding::$variant => $words,)*
                }
            }
        }
    };
}

findings! {
    /// The bank does not find it, and may still carry it out.
    NotFoundYet "not found, which proves nothing yet",
    /// The bank does not find it, and no statement tells whether it was made.
    NotFound "not found",
    NotFoundAnywhere "not found, and not on the account's statement",
    OnStatement "it is on the account's statement",
    OtherAmountOnStatement "it is on the account's statement with another amount",
    OnItsWay "on its way at the bank",
    NotSaid "the bank does not say",
    /// It may be another order than ours that the bank speaks of.
    NotShown "the bank shows neither amount nor account",
    Differs "the bank knows it with another amount or account",
    Done "the bank says that it is done",
    /// Told by the bank without having been asked.
    ToldDone "the bank has told that it is done",
    CameBack "it was done, and the money has come back",
    NotMade FailureKind::NotCarriedOut.sentence(),
    NeverSent "not_sent the order never left",
    /// A person has recorded that it was made. Nothing that the bank says after that changes it.
    RecordedByPerson "recorded by a person",
    /// There is no code any more by which the bank could be asked.
    NoCode "no_code",
    // The words of a call that got no usable answer.
    /// The settings are not right, the last calls have failed, or there was no token to call with.
    NotCalled "settings",
    NotReached "not_reached",
    TooLate "timeout",
    CutOff "cut_off",
    Unreadable "unreadable",
}

impl AttemptFinding {
    pub fn parse(words: &str) -> Option<AttemptFinding> {
        AttemptFinding::ALL.iter().copied().find(|finding| finding.words() == words)
    }
}

/// Whose words the stored line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptAnswer {
    /// The bank's own code and message.
    Bank(String),
    Ours(AttemptFinding),
}

impl AttemptAnswer {
    /// None where nothing was heard.
    pub fn read(line: &str) -> Option<AttemptAnswer> {
        let line = line.trim();
        if line.is_empty() {
            return None;
        }
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        // The code of the answer to the order stays in front of what was found later.
        let is_later = is_response_code(first) && is_found_later(rest);
        match AttemptFinding::parse(line) {
            Some(finding) => Some(AttemptAnswer::Ours(finding)),
            None if is_later => AttemptAnswer::read(rest),
            None => Some(answer_beginning_with(first, line)),
        }
    }
}

fn answer_beginning_with(first: &str, line: &str) -> AttemptAnswer {
    if is_response_code(first) {
        // Without a token the call itself was not made.
        let is_of_token = first.get(3..5) == Some(TOKEN_SERVICE);
        return if is_of_token {
            AttemptAnswer::Ours(AttemptFinding::NotCalled)
        } else {
            AttemptAnswer::Bank(line.to_owned())
        };
    }
    if let Some(answered) = line.strip_prefix(HTTP_STATUS) {
        return AttemptAnswer::Bank(format!("HTTP {answered}"));
    }
    match AttemptFinding::parse(first) {
        Some(finding) => AttemptAnswer::Ours(finding),
        None if is_own_code(first) => AttemptAnswer::Ours(AttemptFinding::NotCalled),
        None => AttemptAnswer::Bank(line.to_owned()),
    }
}

/// The service of a token in a bank's response code.
const TOKEN_SERVICE: &str = "73";
/// How an answer begins that has a status and no response code.
const HTTP_STATUS: &str = "http_";

fn is_response_code(word: &str) -> bool {
    word.len() == 7 && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// A word for why a call was not made, such as `no_swift`.
fn is_own_code(word: &str) -> bool {
    word.contains('_') && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

fn is_found_later(rest: &str) -> bool {
    let is_status = rest.starts_with(HTTP_STATUS) && !rest.contains(' ');
    AttemptFinding::parse(rest).is_some() || is_response_code(rest) || is_own_code(rest) || is_status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_we_found_is_read_as_it_is_stored_alone_and_behind_the_code_of_the_order() {
        for finding in AttemptFinding::ALL {
            let ours = Some(AttemptAnswer::Ours(*finding));
            assert_eq!(AttemptAnswer::read(finding.words()), ours);
            assert_eq!(AttemptAnswer::read(&format!("4041718 {}", finding.words())), ours, "{finding:?}");
        }
    }

    #[test]
    fn only_a_real_answer_is_the_banks() {
        let check =
            |line: &str, expected: Option<AttemptAnswer>| assert_eq!(AttemptAnswer::read(line), expected, "{line}");
        let bank = |words: &str| Some(AttemptAnswer::Bank(words.to_owned()));
        let ours = |finding| Some(AttemptAnswer::Ours(finding));
        check(" ", None);
        for said in
            ["5001800 General Error", "5001800 error", "5001800", "4041718 not found here", "00 Sukses", "Gagal"]
        {
            check(said, bank(said));
        }
        check("5001800 5003600", bank("5003600"));
        check("http_502 Bad Gateway", bank("HTTP 502 Bad Gateway"));
        check("4041718 http_502", bank("HTTP 502"));
        check("timeout the bank gave no usable answer: x", ours(AttemptFinding::TooLate));
        check("no_swift the bank refused: no_swift the bank has no known SWIFT code", ours(AttemptFinding::NotCalled));
        check("4041718 no_issuer_reference", ours(AttemptFinding::NotCalled));
        check("5007300 the bank cannot be reached now: HTTP 500", ours(AttemptFinding::NotCalled));
        check("4041718 4017300", ours(AttemptFinding::NotCalled));
    }
}
