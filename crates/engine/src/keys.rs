//! API keys: made once, shown once, revoked for good.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::{
    api_key::{ApiKey, KeySecret},
    audit::Deed,
    event::{Event, News},
    id::{KeyId, ProjectId},
    project::{Environment, Project},
    rules::KEY_NAME,
    time::Timestamp,
};
use rand::RngExt;
use store::{Change, CommitError, Guard, Write};

use crate::{Engine, Error};

/// How exactly it is known when a key was last used.
const KEPT_EVERY: Duration = Duration::from_mins(1);
const KEPT_AT_ONCE: usize = 100;
/// Keys remembered; beyond that all are forgotten, and come back with their next request.
const KEYS_MOST: usize = 100_000;

/// A live key and the project that it opens.
#[derive(Clone, Debug)]
pub struct KeyOwner {
    pub key_id: KeyId,
    pub project: Arc<Project>,
}

/// Keys that were used, until somebody writes it down. Every request has a key, and none should wait for a write.
#[derive(Default)]
pub(crate) struct KeyUses(Mutex<HashMap<KeyId, KeyUse>>);

struct KeyUse {
    project_id: ProjectId,
    at: Timestamp,
    /// What was written down last.
    kept: Option<Timestamp>,
}

impl KeyUses {
    fn note(&self, key_id: KeyId, project_id: ProjectId, at: Timestamp) {
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if uses.len() >= KEYS_MOST {
            uses.clear();
        }
        uses.entry(key_id).or_insert(KeyUse { project_id, at, kept: None }).at = at;
    }

    /// What is worth writing down now: a first use at once, later ones once a minute.
    fn due(&self) -> Vec<Write> {
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = uses.iter_mut().filter(|(_, used)| used.kept.is_none_or(|kept| used.at >= kept.plus(KEPT_EVERY)));
        due.take(KEPT_AT_ONCE)
            .map(|(key_id, used)| {
                used.kept = Some(used.at);
                Write::KeyUsed { key_id: *key_id, project_id: used.project_id, at: used.at }
            })
            .collect()
    }
}

/// The thread's own numbers end here, so that nobody carries them to another thread.
fn new_key(environment: Environment) -> KeySecret {
    let mut rng = rand::rng();
    KeySecret::make(environment, || rng.random_range(0..62))
}

impl Engine {
    /// Writes down which keys were used; answers whether there was anything to write.
    pub(crate) async fn keep_key_uses(&self) -> Result<usize, Error> {
        let due = self.key_uses.due();
        let count = due.len();
        if count > 0 {
            self.store.commit(Change::default().with_all(due)).await?;
        }
        Ok(count)
    }

    /// Whose key this is, if it is anybody's and not revoked. Asked of the database every time.
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
        let change = Change::from(Write::ApiKey { key: key.clone(), hash: secret.hash() }).with(self.audit(
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
        let change = Change::from(Write::ApiKeyRevoked { id, project_id: key.project_id, at: now })
            .with(Write::Event(event))
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
