//! API keys: created, shown once, revoked for good.

use std::sync::Arc;

use domain::{
    api_key::{ACTIVE_KEYS_MOST, ApiKey, KeySecret},
    audit::{Actor, Deed},
    event::{Event, News},
    id::{KeyId, ProjectId},
    key_networks::KeyNetworks,
    key_rights::{KeyRights, READ_ONLY},
    project::{Environment, Project},
    rules::KEY_NAME,
    time::Timestamp,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use store::{Change, CommitError, Guard, KeyWrite, WebhookWrite, Write};

use crate::{Engine, Error, forms::random_seed};

/// A live key with what it may do, and its project.
#[derive(Clone, Debug)]
pub struct KeyOwner {
    pub key_id: KeyId,
    pub project: Arc<Project>,
    pub rights: KeyRights,
    pub networks: KeyNetworks,
}

/// A key that is to be created.
#[derive(Clone, Debug)]
pub struct NewKey {
    pub name: String,
    pub rights: KeyRights,
    pub networks: KeyNetworks,
}

impl From<String> for NewKey {
    /// A key for which nothing but its name is chosen.
    fn from(name: String) -> NewKey {
        NewKey { name, rights: KeyRights::USUAL, networks: KeyNetworks::default() }
    }
}

/// What the audit log says of a new key: `Server (payments, held-money; 203.0.113.0/24)`.
fn key_detail(key: &ApiKey) -> String {
    let rights = if key.rights.is_empty() { READ_ONLY.to_owned() } else { key.rights.words().join(", ") };
    let mut about = vec![rights];
    if !key.networks.is_empty() {
        about.push(key.networks.words().join(", "));
    }
    format!("{} ({})", key.name, about.join("; "))
}

fn secret_of(environment: Environment, seed: [u8; 32]) -> KeySecret {
    let mut rng = StdRng::from_seed(seed);
    KeySecret::make(environment, || rng.random_range(0..62))
}

impl Engine {
    /// The owner of a key that is neither revoked nor expired. Every request reads it from the database.
    pub async fn key_owner(&self, secret: &KeySecret) -> Result<Option<KeyOwner>, Error> {
        let found = self.store.key_owner(secret.hash()).await?;
        // A key that was replaced stops at its time on every node, whatever else runs or does not.
        let works = |owner: &store::KeyOwner| owner.expires_at.is_none_or(|at| self.now() < at);
        let Some(owner) = found.filter(works) else { return Ok(None) };
        let project = self.project_at(owner.project_id, owner.project_version).await?;
        self.key_uses.note(owner.key_id, owner.project_id, self.now());
        Ok(Some(KeyOwner { key_id: owner.key_id, project, rights: owner.rights, networks: owner.networks }))
    }

    pub async fn create_key(
        &self,
        project_id: ProjectId,
        new: impl Into<NewKey>,
    ) -> Result<(ApiKey, KeySecret), Error> {
        self.create_key_with(project_id, new.into(), random_seed(), |_| Vec::new()).await
    }

    /// Creates a key whose secret is made of `seed`, and commits the writes of `besides` before it.
    pub(crate) async fn create_key_with(
        &self,
        project_id: ProjectId,
        NewKey { name, rights, networks }: NewKey,
        seed: [u8; 32],
        besides: impl FnOnce(&ApiKey) -> Vec<Write>,
    ) -> Result<(ApiKey, KeySecret), Error> {
        let project = self.project(project_id).await?;
        let now = self.now();
        let secret = secret_of(project.environment, seed);
        let key = ApiKey {
            id: self.mint(now),
            project_id,
            environment: project.environment,
            name: KEY_NAME.check(name)?,
            last_four: secret.last_four(),
            created_at: now,
            revoked_at: None,
            expires_at: None,
            created_by: match *self.actor {
                Actor::User { id, .. } => Some(id),
                Actor::Key(_) | Actor::CommandLine | Actor::Stranger { .. } => None,
            },
            rights,
            networks,
        };
        let change = Change::default()
            .with_all(besides(&key))
            .with(KeyWrite::Created { key: key.clone(), hash: secret.hash() })
            .with(self.audit(Some(project_id), Deed::KeyCreated, key.id, key_detail(&key)));
        match self.store.commit(change).await {
            Ok(()) => Ok((key, secret)),
            Err(CommitError::Conflict(Guard::KeyName)) => Err(Error::Taken("that name")),
            Err(CommitError::Conflict(Guard::KeyNotReplaced)) => Err(Error::KeyReplaced),
            Err(CommitError::Conflict(Guard::KeysBelowMost)) => {
                Err(Error::TooMany { what: "active keys", most: ACTIVE_KEYS_MOST })
            }
            Err(error) => Err(error.into()),
        }
    }

    pub async fn keys(&self, project_id: ProjectId) -> Result<Vec<ApiKey>, Error> {
        let project = self.project(project_id).await?;
        Ok(self.store.keys(project.id).await?)
    }

    /// Revokes a key of the project `within`, or of any project for the operator. Revoking it again changes nothing.
    pub async fn revoke_key(&self, id: KeyId, within: Option<ProjectId>) -> Result<ApiKey, Error> {
        let key = self.key(id, within).await?;
        if key.revoked_at.is_some() {
            self.store.confirm().await?;
            return Ok(key);
        }
        let now = self.now();
        match self.store.commit(Change::default().with_all(self.revocation(&key, now))).await {
            Ok(()) => Ok(ApiKey { revoked_at: Some(now), ..key }),
            Err(CommitError::Conflict(Guard::KeyNotRevoked)) => {
                self.store.confirm().await?;
                self.key(id, within).await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Everything that a revocation writes.
    pub(crate) fn revocation(&self, key: &ApiKey, now: Timestamp) -> [Write; 3] {
        let ApiKey { id, project_id, .. } = *key;
        let event = Event { id: self.mint(now), project_id, created_at: now, news: News::ApiKeyDeleted { key: id } };
        [
            KeyWrite::Revoked { id, project_id, at: now }.into(),
            WebhookWrite::Event(event).into(),
            self.audit(Some(project_id), Deed::KeyRevoked, id, &key.name),
        ]
    }

    /// The live key that was made of `seed`.
    pub(crate) async fn key_of_seed(
        &self,
        environment: Environment,
        seed: [u8; 32],
    ) -> Result<Option<(ApiKey, KeySecret)>, Error> {
        let secret = secret_of(environment, seed);
        let Some(owner) = self.store.key_owner(secret.hash()).await? else { return Ok(None) };
        Ok(self.store.key(owner.key_id).await?.map(|key| (key, secret)))
    }

    pub(crate) async fn key(&self, id: KeyId, within: Option<ProjectId>) -> Result<ApiKey, Error> {
        let key = self.store.key(id).await?;
        key.filter(|key| within.is_none_or(|project_id| key.project_id == project_id)).ok_or(Error::NotFound("API key"))
    }
}
