//! API keys: created, shown once, revoked for good.

use std::sync::Arc;

use domain::{
    api_key::{ApiKey, KeySecret},
    audit::Deed,
    event::{Event, News},
    id::{KeyId, ProjectId},
    project::{Environment, Project},
    rules::KEY_NAME,
};
use rand::RngExt;
use store::{Change, CommitError, Guard, KeyWrite, WebhookWrite};

use crate::{Engine, Error};

/// A live key and its project.
#[derive(Clone, Debug)]
pub struct KeyOwner {
    pub key_id: KeyId,
    pub project: Arc<Project>,
}

/// A function of its own, so that the thread's random number generator is not held across an `await`.
fn new_key(environment: Environment) -> KeySecret {
    let mut rng = rand::rng();
    KeySecret::make(environment, || rng.random_range(0..62))
}

impl Engine {
    /// The owner of a key that is not revoked. Every request reads it from the database.
    pub async fn key_owner(&self, secret: &KeySecret) -> Result<Option<KeyOwner>, Error> {
        let Some(owner) = self.store.key_owner(secret.hash()).await? else { return Ok(None) };
        let project = self.project_at(owner.project_id, owner.project_version).await?;
        self.key_uses.note(owner.key_id, owner.project_id, self.now());
        Ok(Some(KeyOwner { key_id: owner.key_id, project }))
    }

    pub async fn create_key(&self, project_id: ProjectId, name: String) -> Result<(ApiKey, KeySecret), Error> {
        let project = self.project(project_id).await?;
        let now = self.now();
        let secret = new_key(project.environment);
        let key = ApiKey {
            id: self.mint(now),
            project_id,
            environment: project.environment,
            name: KEY_NAME.check(name)?,
            last_four: secret.last_four(),
            created_at: now,
            revoked_at: None,
        };
        let change = Change::from(KeyWrite::Created { key: key.clone(), hash: secret.hash() }).with(self.audit(
            Some(project_id),
            Deed::KeyCreated,
            key.id,
            &key.name,
        ));
        match self.store.commit(change).await {
            Ok(()) => Ok((key, secret)),
            Err(CommitError::Conflict(Guard::KeyName)) => Err(Error::Taken("that name")),
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
        let event = Event {
            id: self.mint(now),
            project_id: key.project_id,
            created_at: now,
            news: News::ApiKeyDeleted { key: id },
        };
        let change = Change::from(KeyWrite::Revoked { id, project_id: key.project_id, at: now })
            .with(WebhookWrite::Event(event))
            .with(self.audit(Some(key.project_id), Deed::KeyRevoked, id, &key.name));
        match self.store.commit(change).await {
            Ok(()) => Ok(ApiKey { revoked_at: Some(now), ..key }),
            Err(CommitError::Conflict(Guard::KeyNotRevoked)) => {
                self.store.confirm().await?;
                self.key(id, within).await
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) async fn key(&self, id: KeyId, within: Option<ProjectId>) -> Result<ApiKey, Error> {
        let key = self.store.key(id).await?;
        key.filter(|key| within.is_none_or(|project_id| key.project_id == project_id)).ok_or(Error::NotFound("API key"))
    }
}
