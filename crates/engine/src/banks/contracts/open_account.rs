//! Bank accounts as they are used: settings understood, keys opened. They are cached by version, which is read from the
//! database each time, so a change takes effect on all nodes at once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use domain::{
    bank_account::{BankAccount, Credential, CredentialKind, Stage},
    id::{BankAccountId, CredentialId},
};
use gateway::snap::{Parameters, PrivateKey, Profile, PublicKey};
use secrecy::SecretString;
use store::{SealedColumn, SealedCredential};

use crate::{Engine, Error, NoBank, bank_error::BankError};

/// Accounts in the cache. When there are more, the cache is cleared; the next call of each adds it again.
const ACCOUNTS_MOST: usize = 1_000;

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
    outgoing: Option<Outgoing>,
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

#[derive(Default)]
pub(crate) struct OpenAccounts(Mutex<HashMap<BankAccountId, Arc<OpenAccount>>>);

impl OpenAccounts {
    fn get(&self, id: BankAccountId, version: i64) -> Option<Arc<OpenAccount>> {
        let accounts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.get(&id).filter(|open| open.account.version == version).cloned()
    }

    fn last_seen(&self, id: BankAccountId) -> Option<Arc<OpenAccount>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    fn put(&self, open: &Arc<OpenAccount>) {
        let mut accounts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if accounts.len() >= ACCOUNTS_MOST {
            accounts.clear();
        }
        accounts.insert(open.id(), Arc::clone(open));
    }
}

impl Engine {
    /// The account that a bank calls, also one that is disabled; none if there is no such account.
    pub async fn bank_door(&self, id: BankAccountId) -> Result<Option<Arc<OpenAccount>>, Error> {
        match self.store.bank_account_version(id).await? {
            Some(version) => Ok(Some(self.account_at(id, version).await?)),
            None => Ok(None),
        }
    }

    /// The account as this node has last read it, for a word to its bank while the database is away. It may have changed.
    pub fn last_seen_bank_account(&self, id: BankAccountId) -> Option<Arc<OpenAccount>> {
        self.accounts.last_seen(id)
    }

    /// An account as it is now, whether or not it is enabled.
    pub(crate) async fn open_account(&self, id: BankAccountId) -> Result<Arc<OpenAccount>, Error> {
        let version = self.store.bank_account_version(id).await?.ok_or(Error::NotFound("bank account"))?;
        self.account_at(id, version).await
    }

    /// An account whose version the caller has just read from the database. The answer may be newer.
    pub(crate) async fn account_at(&self, id: BankAccountId, version: i64) -> Result<Arc<OpenAccount>, Error> {
        if let Some(open) = self.accounts.get(id, version) {
            return Ok(open);
        }
        let account = self.bank_account(id).await?;
        let open = Arc::new(self.open(account).await?);
        self.accounts.put(&open);
        Ok(open)
    }

    async fn open(&self, account: BankAccount) -> Result<OpenAccount, Error> {
        let (profile, parameters) = understood(&account)?;
        let (mut bank_keys, mut inbound) = (Vec::new(), Vec::new());
        let (mut outbound, mut our_key) = (None, None);
        for SealedCredential { credential, sealed } in self.store.bank_credentials(account.id).await? {
            let Credential { id, kind, stage, client_id, public_key, .. } = credential;
            match (kind, client_id, public_key, sealed) {
                (CredentialKind::BankKey, _, Some(pem), _) => {
                    bank_keys.push((id, PublicKey::from_pem(&pem).map_err(BankError::from)?));
                }
                (CredentialKind::Inbound, Some(client_id), _, Some(sealed)) => {
                    let secret = self.vault.open(SealedColumn::BankCredential, &id.to_string(), &sealed)?;
                    inbound.push(InboundClient { id, client_id, secret });
                }
                // What is next is used by us only once the account is rotated.
                (CredentialKind::Outbound, Some(client_id), _, Some(sealed)) if stage == Stage::Current => {
                    let secret = self.vault.open(SealedColumn::BankCredential, &id.to_string(), &sealed)?;
                    outbound = Some((id, client_id, secret));
                }
                (CredentialKind::OurKey, _, _, Some(sealed)) if stage == Stage::Current => {
                    let pem = self.vault.open(SealedColumn::BankCredential, &id.to_string(), &sealed)?;
                    our_key = Some(PrivateKey::from_pkcs8_pem(&pem).map_err(BankError::from)?);
                }
                _ => {}
            }
        }
        let outgoing = outbound.zip(our_key);
        let outgoing =
            outgoing.map(|((credential, client_id, secret), key)| Outgoing { credential, client_id, secret, key });
        Ok(OpenAccount { account, profile, parameters, bank_keys, inbound, outgoing })
    }
}

/// The profile of an account, and its parameters with the account's own settings.
pub(in crate::banks) fn understood(account: &BankAccount) -> Result<(&'static Profile, Parameters), BankError> {
    let profile = Profile::named(&account.profile).ok_or_else(|| BankError::NoProfile(account.profile.clone()))?;
    Ok((profile, profile.parameters(&account.settings)?))
}
