//! Bank accounts as they are used: settings understood, keys opened.

use domain::{
    bank_account::BankAccount,
    id::{BankAccountId, CredentialId},
};
use gateway::snap::{Parameters, PrivateKey, Profile, PublicKey};
use secrecy::SecretString;

use crate::{Error, NoBank, bank_error::BankError};

/// A bank account that is ready for use.
pub struct OpenAccount {
    pub account: BankAccount,
    pub profile: &'static Profile,
    pub parameters: Parameters,
    /// The bank's keys: the current one and the next.
    pub(in crate::banks) bank_keys: Vec<(CredentialId, PublicKey)>,
    /// What the bank shows us: the current one and the next.
    pub inbound: Vec<InboundClient>,
    /// What we call the bank with; none while it is not set up.
    pub(super) outgoing: Option<Outgoing>,
}

/// What we call a bank with.
pub(in crate::banks) struct Outgoing {
    pub(in crate::banks) credential: CredentialId,
    pub(in crate::banks) client_id: String,
    pub(in crate::banks) secret: SecretString,
    pub(in crate::banks) key: PrivateKey,
}

/// A client id that the bank uses, with its secret.
pub struct InboundClient {
    pub(in crate::banks) id: CredentialId,
    pub client_id: String,
    pub secret: SecretString,
}

impl OpenAccount {
    pub fn id(&self) -> BankAccountId {
        self.account.id
    }

    /// The client ids under which the bank may call: those that it uses here, and ours there, which some banks use.
    pub fn client_ids(&self) -> impl Iterator<Item = &str> {
        let ours = self.outgoing.iter().map(|outgoing| outgoing.client_id.as_str());
        self.inbound.iter().map(|client| client.client_id.as_str()).chain(ours)
    }

    pub(in crate::banks) fn outgoing(&self) -> Result<&Outgoing, Error> {
        self.outgoing.as_ref().ok_or_else(|| NoBank::NotSetUp.into())
    }

    /// The keys that the bank may have signed with.
    pub fn bank_keys(&self) -> impl Iterator<Item = &PublicKey> {
        self.bank_keys.iter().map(|(_, key)| key)
    }
}

/// The profile of an account, and its parameters with the account's own settings.
pub(in crate::banks) fn understood(account: &BankAccount) -> Result<(&'static Profile, Parameters), BankError> {
    let profile = Profile::named(&account.profile).ok_or_else(|| BankError::NoProfile(account.profile.clone()))?;
    Ok((profile, profile.parameters(&account.settings)?))
}
