//! Whose a bank account is, as its bank says.

use std::time::Duration;

use domain::{
    destination::{AccountNumber, HOLDER, TypedDestination},
    money::Rupiah,
    project::{Environment, Project},
    rules::changes_direction,
};

use tokio::time::timeout;

use crate::{Engine, Error, banks::AccountName};

/// How long a customer waits for a bank's answer. A page must be answered in less than 30 seconds.
const PATIENCE: Duration = Duration::from_secs(15);
/// Sandbox account numbers that end like this are unknown to their bank.
const UNKNOWN_NUMBER: &str = "404";
/// Sandbox account numbers that end like this have a bank that does not answer.
const SILENT_NUMBER: &str = "503";

/// What a bank says about an account.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HolderAnswer {
    Said(String),
    /// It knows no such account, or none that can receive money.
    Refused,
    /// No bank could be asked.
    Unknown,
}

impl Engine {
    /// Asks whose account it is that somebody has typed.
    pub(crate) async fn ask_for_holder(
        &self,
        project: &Project,
        typed: &TypedDestination,
        amount: Rupiah,
    ) -> Result<HolderAnswer, Error> {
        let answer = match project.environment {
            Environment::Sandbox => simulate_holder(&typed.number),
            Environment::Production => match timeout(PATIENCE, self.account_name(project, typed, amount)).await {
                Ok(answer) => match answer? {
                    AccountName::Told(name) => HolderAnswer::Said(name),
                    AccountName::NoAccount => HolderAnswer::Refused,
                    AccountName::Unchecked => HolderAnswer::Unknown,
                },
                Err(_) => HolderAnswer::Unknown,
            },
        };
        Ok(match answer {
            HolderAnswer::Said(name) => shown_name(&name).map_or(HolderAnswer::Unknown, HolderAnswer::Said),
            other => other,
        })
    }
}

/// A bank's name for a holder as it is shown and stored: banks pad names and cut them, and none is trusted to send plain text.
fn shown_name(name: &str) -> Option<String> {
    let plain = name.chars().filter(|character| !changes_direction(*character));
    let plain: String = plain.map(|character| if character.is_control() { ' ' } else { character }).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let shown: String = words.join(" ").chars().take(HOLDER.most).collect();
    (!shown.is_empty()).then_some(shown)
}

/// What the banks of the sandbox answer.
fn simulate_holder(number: &AccountNumber) -> HolderAnswer {
    let digits = number.reveal();
    if digits.ends_with(UNKNOWN_NUMBER) {
        HolderAnswer::Refused
    } else if digits.ends_with(SILENT_NUMBER) {
        HolderAnswer::Unknown
    } else {
        HolderAnswer::Said(format!("PEMILIK UJI COBA {}", number.last_digits()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holders_name_is_plain_text_of_one_line() {
        for (said, shown) in [
            ("  SARI   DEWI  ", Some("SARI DEWI".to_owned())),
            ("SARI\u{202e}IWED\u{0}\nX", Some("SARIIWED X".to_owned())),
            (&"N".repeat(300), Some("N".repeat(HOLDER.most))),
            ("", None),
            (" \u{202e}\u{7}", None),
        ] {
            assert_eq!(shown_name(said), shown);
            assert!(shown.is_none_or(|shown| HOLDER.fault(&shown).is_none()), "{said}");
        }
    }

    #[test]
    fn the_sandbox_knows_most_accounts() {
        let answer = |digits| simulate_holder(&AccountNumber::parse(digits).unwrap());
        assert_eq!(answer("0001112404"), HolderAnswer::Refused);
        assert_eq!(answer("0001112503"), HolderAnswer::Unknown);
        assert_eq!(answer("0123456789"), HolderAnswer::Said("PEMILIK UJI COBA 6789".to_owned()));
    }
}
