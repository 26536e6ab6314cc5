//! Keys and secrets of bank accounts. The first one of a kind is in use at once; a later one waits as `next` until the
//! account is rotated, and the bank may use either meanwhile. Secret parts are sealed and never shown again.

use domain::{
    api_key::BASE62,
    audit::Deed,
    bank_account::{CLIENT_ID, CLIENT_SECRET, Credential, CredentialKind, Stage},
    id::{BankAccountId, CredentialId},
};
use gateway::snap::{PrivateKey, PublicKey};
use secrecy::{ExposeSecret, SecretString};
use store::{BankWrite, SealedColumn, SealedCredential, Write};

use crate::{Engine, Error, bank_error::BankError, random_text};

const CLIENT_ID_CHARACTERS: usize = 24;
const SECRET_CHARACTERS: usize = 48;

/// What the bank is to use at our doors. The secret is shown this once.
pub struct NewInbound {
    pub client_id: String,
    pub secret: SecretString,
}

/// The open and the secret part of a new credential.
struct NewCredential {
    kind: CredentialKind,
    client_id: Option<String>,
    public_key: Option<String>,
    secret: Option<SecretString>,
}

impl Engine {
    /// Makes our RSA key for an account, and answers its public part in PEM, for the bank.
    pub async fn make_bank_key(&self, id: BankAccountId) -> Result<String, Error> {
        // Finding two primes takes a while.
        let made = tokio::task::spawn_blocking(PrivateKey::generate).await.map_err(|_| Error::Contended)?;
        let key = made.map_err(BankError::from)?;
        let public_key = key.public_key_pem();
        let new = NewCredential {
            kind: CredentialKind::OurKey,
            client_id: None,
            public_key: Some(public_key.clone()),
            secret: Some(key.to_pkcs8_pem()),
        };
        self.set_credential(id, new, Deed::BankKeyMade).await?;
        Ok(public_key)
    }

    /// Takes the bank's public key.
    pub async fn import_bank_key(&self, id: BankAccountId, pem: &str) -> Result<(), Error> {
        let key = PublicKey::from_pem(pem).map_err(BankError::from)?;
        let new = NewCredential {
            kind: CredentialKind::BankKey,
            client_id: None,
            public_key: Some(key.to_pem()),
            secret: None,
        };
        self.set_credential(id, new, Deed::BankKeyImported).await
    }

    /// Sets what the bank uses at our doors; what is not given is made up.
    pub async fn set_bank_inbound(
        &self,
        id: BankAccountId,
        client_id: Option<String>,
        secret: Option<SecretString>,
    ) -> Result<NewInbound, Error> {
        let client_id = CLIENT_ID.check(client_id.unwrap_or_else(|| random_text(BASE62, CLIENT_ID_CHARACTERS)))?;
        let secret = check_secret(secret.unwrap_or_else(|| random_text(BASE62, SECRET_CHARACTERS).into()))?;
        let new = NewCredential {
            kind: CredentialKind::Inbound,
            client_id: Some(client_id.clone()),
            public_key: None,
            secret: Some(secret.clone()),
        };
        self.set_credential(id, new, Deed::BankSecretSet).await?;
        Ok(NewInbound { client_id, secret })
    }

    /// Sets what we use at the bank.
    pub async fn set_bank_outbound(
        &self,
        id: BankAccountId,
        client_id: String,
        secret: SecretString,
    ) -> Result<(), Error> {
        let new = NewCredential {
            kind: CredentialKind::Outbound,
            client_id: Some(CLIENT_ID.check(client_id)?),
            public_key: None,
            secret: Some(check_secret(secret)?),
        };
        self.set_credential(id, new, Deed::BankSecretSet).await
    }

    /// Puts every credential that waits as `next` into use, and ends those that it replaces.
    pub async fn rotate_bank_account(&self, id: BankAccountId) -> Result<Vec<CredentialKind>, Error> {
        let before = self
            .change_bank_account(id, |_, credentials| {
                let waiting: Vec<&Credential> = waiting(credentials).collect();
                if waiting.is_empty() {
                    return Err(BankError::NothingNext.into());
                }
                let words: Vec<&str> = waiting.iter().map(|credential| credential.kind.word()).collect();
                let line = self.audit(None, Deed::BankRotated, id, words.join(", "));
                let promoted = |credential: &&Credential| {
                    let (kind, next) = (credential.kind, credential.id);
                    Write::from(BankWrite::CredentialPromoted { account_id: id, kind, id: next })
                };
                Ok(waiting.iter().map(promoted).chain([line]).collect())
            })
            .await?;
        Ok(waiting(&before).map(|credential| credential.kind).collect())
    }

    /// The open parts of an account's credentials.
    pub(in crate::banks) async fn bank_credentials(&self, id: BankAccountId) -> Result<Vec<Credential>, Error> {
        let credentials = self.store.bank_credentials(id).await?;
        Ok(credentials.into_iter().map(|sealed| sealed.credential).collect())
    }

    /// The secret part of a credential in use.
    pub(in crate::banks) async fn bank_secret(
        &self,
        id: BankAccountId,
        kind: CredentialKind,
    ) -> Result<Option<(Credential, SecretString)>, Error> {
        let credentials = self.store.bank_credentials(id).await?;
        let is_in_use =
            |sealed: &SealedCredential| sealed.credential.kind == kind && sealed.credential.stage == Stage::Current;
        let Some(SealedCredential { credential, sealed: Some(sealed) }) = credentials.into_iter().find(is_in_use)
        else {
            return Ok(None);
        };
        let secret = self.vault.open(SealedColumn::BankCredential, &credential.id.to_string(), &sealed)?;
        Ok(Some((credential, secret)))
    }

    async fn set_credential(&self, id: BankAccountId, new: NewCredential, deed: Deed) -> Result<(), Error> {
        let now = self.now();
        let credential_id: CredentialId = self.mint(now);
        let row = credential_id.to_string();
        let sealed = match &new.secret {
            Some(secret) => {
                Some(self.vault.seal(SealedColumn::BankCredential, &row, secret.expose_secret().as_bytes())?)
            }
            None => None,
        };
        self.change_bank_account(id, |_, credentials| {
            let in_use = |known: &Credential| known.kind == new.kind && known.stage == Stage::Current;
            let credential = Credential {
                id: credential_id,
                account_id: id,
                kind: new.kind,
                stage: if credentials.iter().any(in_use) { Stage::Next } else { Stage::Current },
                client_id: new.client_id.clone(),
                public_key: new.public_key.clone(),
                set_at: now,
            };
            let line = self.audit(None, deed, id, format!("{} {}", credential.kind.word(), credential.stage.word()));
            Ok(vec![BankWrite::CredentialSet { credential, sealed: sealed.clone() }.into(), line])
        })
        .await?;
        Ok(())
    }
}

fn waiting(credentials: &[Credential]) -> impl Iterator<Item = &Credential> {
    credentials.iter().filter(|credential| credential.stage == Stage::Next)
}

fn check_secret(secret: SecretString) -> Result<SecretString, Error> {
    Ok(CLIENT_SECRET.check(secret.expose_secret().to_owned())?.into())
}
