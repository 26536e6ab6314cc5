//! All stored secrets at once: whether the given keys open them, and sealing them anew when the secret key is rotated.
//!
//! Each value is replaced by a commit of its own, if it is still the one that was read. So a rotation can be stopped at
//! any moment and continued later, while servers that have both keys read and write the same values.

use domain::audit::Deed;
use futures_util::future::join_all;
use secrecy::{ExposeSecret, SecretSlice};
use store::{CommitError, Guard, SealedColumn, SealedValue, Write};

use crate::{Engine, Error, vault::VaultError};

/// Values that are read and replaced together.
const VALUES_AT_ONCE: i64 = 64;
/// How often all values are gone through until none is left. More than two passes are needed only if others change
/// them meanwhile.
const PASSES_MOST: usize = 8;

/// What was found out about all stored secrets.
#[derive(Debug, Default)]
pub struct SecretsFound {
    /// How many are sealed with the current key and bound to their row and column.
    pub current: u64,
    /// How many open, but are sealed with another key that was given, or by version 0.1.
    pub outdated: u64,
    pub unopened: Vec<UnopenedSecret>,
}

/// A stored secret that does not open.
#[derive(Debug, PartialEq, Eq)]
pub struct UnopenedSecret {
    /// Its column and its row.
    pub place: String,
    /// Whether no key was given that it could be sealed with. If one was, it is damaged or belongs to another place.
    pub key_is_missing: bool,
}

/// How a rotation ended.
#[derive(Debug)]
pub enum Rotation {
    /// All stored secrets are sealed with the current key.
    Done { resealed: u64, total: u64 },
    /// Nothing was changed, since these do not open.
    Unopened(Vec<UnopenedSecret>),
    /// Others keep on sealing secrets with another key.
    Unfinished,
}

impl Engine {
    /// Opens every stored secret, and forgets it.
    pub async fn examine_secrets(&self) -> Result<SecretsFound, Error> {
        let mut found = SecretsFound::default();
        for column in SealedColumn::ALL {
            let mut after = String::new();
            while let Some(values) = self.secrets_after(column, &mut after).await? {
                for value in &values {
                    match self.vault.unseal(column, &value.row, &value.sealed) {
                        Ok(opened) if opened.is_current => found.current += 1,
                        Ok(_) => found.outdated += 1,
                        Err(error) => found.unopened.push(UnopenedSecret {
                            place: format!("{} of {}", column.name(), value.row),
                            key_is_missing: matches!(error, VaultError::KeyNotGiven),
                        }),
                    }
                }
            }
        }
        Ok(found)
    }

    /// Seals every stored secret anew that is not sealed with the current key, or that version 0.1 has sealed. If one
    /// of them does not open, nothing is changed.
    pub async fn rotate_secrets(&self) -> Result<Rotation, Error> {
        let mut found = self.examine_secrets().await?;
        if !found.unopened.is_empty() {
            return Ok(Rotation::Unopened(found.unopened));
        }
        if found.outdated > 0 {
            let line = self.audit(None, Deed::SecretsResealed, found.outdated, "");
            self.store.commit(line.into()).await?;
        }
        let mut resealed = 0;
        for _ in 0..PASSES_MOST {
            if found.outdated == 0 && found.unopened.is_empty() {
                return Ok(Rotation::Done { resealed, total: found.current });
            }
            resealed += self.reseal_outdated().await?;
            found = self.examine_secrets().await?;
        }
        Ok(Rotation::Unfinished)
    }

    /// One pass over all values; answers how many were replaced.
    async fn reseal_outdated(&self) -> Result<u64, Error> {
        let mut resealed = 0;
        for column in SealedColumn::ALL {
            let mut after = String::new();
            while let Some(values) = self.secrets_after(column, &mut after).await? {
                let mut outdated = Vec::new();
                for value in values {
                    match self.vault.unseal(column, &value.row, &value.sealed) {
                        Ok(opened) if !opened.is_current => outdated.push((value, opened.secret)),
                        // One that does not open was written a moment ago by somebody with yet another key.
                        Ok(_) | Err(_) => {}
                    }
                }
                let commits = outdated.into_iter().map(|(value, secret)| self.reseal(column, value, secret));
                for replaced in join_all(commits).await {
                    resealed += u64::from(replaced?);
                }
            }
        }
        Ok(resealed)
    }

    /// Replaces one value; false if somebody else has replaced it meanwhile.
    async fn reseal(&self, column: SealedColumn, value: SealedValue, secret: SecretSlice<u8>) -> Result<bool, Error> {
        let to = self.vault.seal(column, &value.row, secret.expose_secret())?;
        let write = Write::Resealed { column, row: value.row, from: value.sealed, to };
        match self.store.commit(write.into()).await {
            Ok(()) => Ok(true),
            Err(CommitError::Conflict(Guard::SealedValue)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The next values of a column, after the row `after`, which becomes the last one of these; none at the end.
    async fn secrets_after(&self, column: SealedColumn, after: &mut String) -> Result<Option<Vec<SealedValue>>, Error> {
        let values = self.store.sealed_values(column, after, VALUES_AT_ONCE).await?;
        let Some(last) = values.last() else { return Ok(None) };
        after.clone_from(&last.row);
        Ok(Some(values))
    }
}
