//! What an operator needs to know about a bank account: what it is made of, what is missing before it can take money,
//! and whether the bank answers.

use std::collections::BTreeMap;

use domain::{
    bank_account::{BankAccount, Credential, CredentialKind, Stage},
    id::{BankAccountId, ProjectId},
    method::Method,
};
use gateway::snap::{Parameters, Profile, Service};
use store::BankCall;

use super::{call_log::CALLS_KEPT, call_log::UNPROVED_KEPT, numbers_taken::NumbersTaken, open_account::understood};
use crate::{
    Engine, Error,
    bank_error::{BankError, Missing},
};

/// From this part of all numbers on, operators are warned.
pub const NUMBERS_LOW_PERCENT: u64 = 80;

/// Everything that an operator may see of a bank account.
pub struct BankAccountFile {
    pub account: BankAccount,
    pub profile: &'static Profile,
    pub parameters: Parameters,
    /// Without their secret parts.
    pub credentials: Vec<Credential>,
    pub assignments: Vec<(ProjectId, Method)>,
    pub missing: Vec<Missing>,
    pub numbers_taken: NumbersTaken,
    /// The latest calls of the bank and of ours, newest first.
    pub calls: Vec<BankCall>,
    /// The latest calls at its doors that have not proved to be the bank's, newest first.
    pub unproved: Vec<BankCall>,
}

impl BankAccountFile {
    /// How many of 100 numbers are in use or rest.
    pub fn numbers_taken_percent(&self) -> u64 {
        let all = 10_u128.pow(self.parameters.customer_digits.min(30));
        let taken = u128::try_from(self.numbers_taken.count).unwrap_or_default();
        u64::try_from(taken * 100 / all).unwrap_or(u64::MAX)
    }

    /// Whether the bank first asks us for a token, with a client id from us.
    pub fn has_token_door(&self) -> bool {
        self.parameters.takes_token()
    }

    /// Whether we call the bank, for which we need a key and a client id there.
    pub fn calls_bank(&self) -> bool {
        calls_bank(&self.parameters)
    }

    /// The latest call that has proved to be the bank's.
    pub fn last_call_of_bank(&self) -> Option<&BankCall> {
        self.calls.iter().find(|call| !call.outbound)
    }

    pub fn credential(&self, kind: CredentialKind, stage: Stage) -> Option<&Credential> {
        self.credentials.iter().find(|credential| (credential.kind, credential.stage) == (kind, stage))
    }
}

impl Engine {
    pub async fn bank_account_file(&self, id: BankAccountId) -> Result<BankAccountFile, Error> {
        let account = self.bank_account(id).await?;
        let (profile, parameters) = understood(&account)?;
        let credentials = self.bank_credentials(id).await?;
        let missing = missing(&parameters, &credentials);
        Ok(BankAccountFile {
            profile,
            missing,
            assignments: self.store.bank_assignments(id).await?,
            numbers_taken: self.numbers_taken(id, &parameters).await?,
            calls: self.store.bank_calls(id, CALLS_KEPT).await?,
            unproved: self.store.unproved_calls(id, UNPROVED_KEPT).await?,
            account,
            parameters,
            credentials,
        })
    }

    /// All bank accounts, in the order of their creation.
    pub async fn bank_accounts(&self) -> Result<Vec<BankAccountFile>, Error> {
        let mut files = Vec::new();
        for account in self.store.bank_accounts().await? {
            files.push(self.bank_account_file(account.id).await?);
        }
        Ok(files)
    }
}

/// What a new account needs before it can be enabled, if it keeps to its profile. An address of the bank, which lets us
/// call it, adds our key and what we show the bank.
pub fn needs_of_profile(profile: &Profile) -> Result<Vec<Missing>, BankError> {
    Ok(missing(&profile.parameters(&BTreeMap::new())?, &[]))
}

pub(in crate::banks) fn missing(parameters: &Parameters, credentials: &[Credential]) -> Vec<Missing> {
    let has = |kind| credentials.iter().any(|credential| (credential.kind, credential.stage) == (kind, Stage::Current));
    // A bank that only sends money for us never calls, unless it tells later what became of it.
    let by_signature: &[CredentialKind] = match (parameters.is_told(), parameters.takes_token()) {
        (false, _) => &[],
        (true, true) => &[CredentialKind::BankKey, CredentialKind::Inbound],
        (true, false) => &[CredentialKind::BankKey],
    };
    let we_call: &[CredentialKind] = match calls_bank(parameters) {
        true => &[CredentialKind::OurKey, CredentialKind::Outbound],
        false => &[],
    };
    let credentials = by_signature.iter().chain(we_call).copied().filter(|kind| !has(*kind));
    parameters.missing().into_iter().map(Missing::Setting).chain(credentials.map(Missing::Credential)).collect()
}

/// Whether we call the bank: for its codes, to send money, or where its address is set.
fn calls_bank(parameters: &Parameters) -> bool {
    parameters.calls_bank() || parameters.url(Service::Token).is_some()
}
