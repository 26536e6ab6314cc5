//! Reads bank accounts for use, and opens their keys. They are cached by version, which is read from the database each
//! time, so a change takes effect on all nodes at once.

use std::sync::Arc;

use domain::{
    bank_account::{BankAccount, Credential, CredentialKind, Stage},
    id::BankAccountId,
};
use gateway::snap::{PrivateKey, PublicKey};
use store::{SealedColumn, SealedCredential};

use super::open_account::{InboundClient, OpenAccount, Outgoing, understood};
use crate::{Engine, Error, bank_error::BankError};

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
