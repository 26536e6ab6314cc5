//! Rotating API keys: a new key with the name, rights and networks of an old one, which goes on for a while beside it and then
//! stops by itself.

use domain::{
    api_key::{ApiKey, KeySecret, Overlap},
    audit::Deed,
    id::KeyId,
    time::Timestamp,
};
use store::{KeyWrite, Write};

use crate::{Engine, Error, NewKey, forms::random_seed};

/// A key that has replaced another.
pub struct RotatedKey {
    pub key: ApiKey,
    pub secret: KeySecret,
    /// When the old key stops.
    pub old_until: Timestamp,
}

impl Engine {
    /// Rotates a key of any project; only commands on the machine itself do this.
    pub async fn rotate_key(&self, id: KeyId, overlap: Overlap) -> Result<RotatedKey, Error> {
        let old = self.key(id, None).await?;
        self.rotate_key_with(old, overlap, random_seed(), |_| Vec::new()).await
    }

    /// Creates a key like `old` whose secret is made of `seed`, and ends `old` after the overlap. Commits the writes of
    /// `besides` before that.
    pub(crate) async fn rotate_key_with(
        &self,
        old: ApiKey,
        overlap: Overlap,
        seed: [u8; 32],
        besides: impl FnOnce(&ApiKey) -> Vec<Write>,
    ) -> Result<RotatedKey, Error> {
        let ApiKey { id, project_id, .. } = old;
        if old.revoked_at.is_some() || old.expires_at.is_some() {
            return Err(Error::KeyReplaced);
        }
        let mut old_until = old.created_at;
        let new = NewKey { name: old.name, rights: old.rights, networks: old.networks };
        let replace = |key: &ApiKey| {
            old_until = overlap.ends_at(key.created_at);
            let detail = format!("{} until {old_until}", key.id);
            let mut writes = besides(key);
            writes.push(KeyWrite::Replaced { id, project_id, expires_at: old_until }.into());
            writes.push(self.audit(Some(project_id), Deed::KeyRotated, id, detail));
            writes
        };
        let (key, secret) = self.create_key_with(project_id, new, seed, replace).await?;
        Ok(RotatedKey { key, secret, old_until })
    }

    /// A key that was made of `seed`, as the answer to a form that is sent again.
    pub(crate) async fn rotated_key_of_seed(&self, old: &ApiKey, seed: [u8; 32]) -> Result<RotatedKey, Error> {
        let (key, secret) = self.key_of_seed(old.environment, seed).await?.ok_or(Error::FormUsed)?;
        let old_until = old.expires_at.or(old.revoked_at).ok_or(Error::FormUsed)?;
        Ok(RotatedKey { key, secret, old_until })
    }
}
