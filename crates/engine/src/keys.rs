//! API keys: made once, shown once, revoked for good.

use std::sync::Arc;

use domain::{
    api_key::{ApiKey, KeySecret},
    event::{Event, News},
    id::{KeyId, ProjectId},
    project::Project,
    rules::KEY_NAME,
};
use rand::RngExt;
use store::{Change, CommitError, Guard, Write};

use crate::{Engine, Error};

/// A live key and the project that it opens.
#[derive(Clone, Debug)]
pub struct KeyOwner {
    pub key_id: KeyId,
    pub project: Arc<Project>,
}

impl Engine {
    /// Whose key this is, if it is anybody's and not revoked. Asked of the database every time.
    pub async fn key_owner(&self, secret: &KeySecret) -> Result<Option<KeyOwner>, Error> {
        let Some(owner) = self.store.key_owner(secret.hash()).await? else { return Ok(None) };
        let project = self.project_at(owner.project_id, owner.project_version).await?;
        Ok(Some(KeyOwner { key_id: owner.key_id, project }))
    }

    pub async fn create_key(&self, project_id: ProjectId, name: String) -> Result<(ApiKey, KeySecret), Error> {
        let project = self.project(project_id).await?;
        let now = self.now();
        let mut rng = rand::rng();
        let secret = KeySecret::make(project.environment, || rng.random_range(0..62));
        let key = ApiKey {
            id: self.mint(now),
            project_id,
            environment: project.environment,
            name: KEY_NAME.check(name)?,
            last_four: secret.last_four(),
            created_at: now,
            revoked_at: None,
        };
        match self.store.commit(Write::ApiKey { key: key.clone(), hash: secret.hash() }.into()).await {
            Ok(()) => Ok((key, secret)),
            Err(CommitError::Conflict(Guard::KeyName)) => Err(Error::Taken("that name")),
            Err(error) => Err(error.into()),
        }
    }

    pub async fn keys(&self, project_id: ProjectId) -> Result<Vec<ApiKey>, Error> {
        let project = self.project(project_id).await?;
        Ok(self.store.keys(project.id).await?)
    }

    /// Revokes a key of `within`, or of any project when the operator asks. A second time changes nothing.
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
        let change =
            Change::from(Write::ApiKeyRevoked { id, project_id: key.project_id, at: now }).with(Write::Event(event));
        match self.store.commit(change).await {
            Ok(()) => Ok(ApiKey { revoked_at: Some(now), ..key }),
            Err(CommitError::Conflict(Guard::KeyNotRevoked)) => {
                self.store.confirm().await?;
                self.key(id, within).await
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn key(&self, id: KeyId, within: Option<ProjectId>) -> Result<ApiKey, Error> {
        let key = self.store.key(id).await?;
        key.filter(|key| within.is_none_or(|project_id| key.project_id == project_id)).ok_or(Error::NotFound("API key"))
    }
}
