//! What the commands about bank accounts share: finding one, and the command that comes next on its way to take money.

use domain::{bank_account::CredentialKind, id::BankAccountId};
use engine::{BankAccountFile, Engine, Missing};

use crate::{error::CliError, output::Output};

/// What the commands work with.
pub(super) struct Desk<'a> {
    pub(super) engine: &'a Engine,
    pub(super) output: Output,
    /// Where banks reach this service; none where it is not known.
    pub(super) base_url: Option<String>,
}

impl Desk<'_> {
    /// The account with the id that the user has given.
    pub(super) async fn find(&self, id: &str) -> Result<BankAccountFile, CliError> {
        let unknown = || {
            let id = id.escape_debug();
            CliError::new(format!("there is no bank account {id} in this database; `lunas bank list` lists them"))
        };
        let parsed: BankAccountId = id.parse().map_err(|_| unknown())?;
        match self.engine.bank_account_file(parsed).await {
            Err(engine::Error::NotFound(_)) => Err(unknown()),
            found => Ok(found?),
        }
    }

    /// Where the bank calls us for this account.
    pub(super) fn inbound_url(&self, id: BankAccountId) -> Option<String> {
        self.base_url.as_ref().map(|base_url| format!("{base_url}/snap/{id}"))
    }
}

/// The command that comes next before the account takes money; none if it does.
pub(super) fn next_command(file: &BankAccountFile) -> Option<String> {
    let id = file.account.id;
    match file.missing.first() {
        Some(missing) => Some(command_for(*missing, id)),
        None if !file.account.enabled => Some(format!("lunas bank enable {id}")),
        None if file.assignments.is_empty() => {
            let method = file.only_method().unwrap_or("METHOD");
            Some(format!("lunas bank assign {id} --project PROJECT --method {method}"))
        }
        None => None,
    }
}

/// The command that gives an account what it misses.
pub(super) fn command_for(missing: Missing, id: BankAccountId) -> String {
    match missing {
        Missing::Setting(name) => format!("lunas bank set {id} {name}=VALUE"),
        Missing::Credential(CredentialKind::OurKey) => format!("lunas bank key {id} --make"),
        Missing::Credential(CredentialKind::BankKey) => format!("lunas bank key {id} --import FILE"),
        Missing::Credential(CredentialKind::Outbound) => {
            format!("lunas bank outbound {id} --client-id TEXT --secret-file FILE")
        }
        Missing::Credential(CredentialKind::Inbound) => format!("lunas bank inbound {id}"),
    }
}

/// What is missing, in words.
pub(super) fn in_words(missing: Missing) -> String {
    match missing {
        Missing::Setting(name) => format!("the setting {name}"),
        Missing::Credential(CredentialKind::OurKey) => "our key".to_owned(),
        Missing::Credential(CredentialKind::BankKey) => "the bank's public key".to_owned(),
        Missing::Credential(CredentialKind::Outbound) => {
            "the client id and secret for our calls to the bank".to_owned()
        }
        Missing::Credential(CredentialKind::Inbound) => "the client id and secret for the bank's calls".to_owned(),
    }
}

/// One line that says what cannot be done, and one for each thing that is missing.
pub(super) fn missing_error(what: &str, id: BankAccountId, missing: &[Missing]) -> CliError {
    let names: Vec<&str> = missing.iter().map(|missing| missing.name()).collect();
    let first = format!("{what}: {} missing", names.join(", "));
    let each = missing.iter().map(|missing| format!("for {}: {}", in_words(*missing), command_for(*missing, id)));
    CliError::several([first].into_iter().chain(each).collect())
}
