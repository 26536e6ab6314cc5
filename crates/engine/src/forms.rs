//! Forms of signed-in users that create something. A form carries an id, and one that is sent twice creates once: the
//! second time it gets the result of the first.
//!
//! Secrets that a form creates are derived from its id and the installation's key. So the second answer can show them
//! as well, although only their hashes are stored.

use domain::{hex::hex, id::UserId, project::Project, time::Timestamp, user::Token};
use rand::Rng;
use sha2::{Digest, Sha256};
use store::{CommitError, Guard, SessionWrite};

use crate::{Engine, Error};

/// A form that somebody has sent, or something like it that is never sent again.
pub(crate) struct SentForm {
    user_id: UserId,
    /// None where it has no id.
    key: Option<String>,
    /// What its secrets are made of.
    seed: [u8; 32],
}

impl Engine {
    /// `kind`: what the form creates. `id`: its id. `fields`: what was filled in; a user who goes back and changes a
    /// field wants something else.
    pub(crate) fn sent_form(&self, user_id: UserId, kind: &str, id: Option<&str>, fields: &[&str]) -> SentForm {
        let mut hasher = Sha256::new();
        for field in fields {
            hasher.update(field.len().to_be_bytes());
            hasher.update(field);
        }
        let digest = hex(&hasher.finalize()[..16]);
        let key = id.map(|id| format!("{kind} {id} {digest}"));
        let seed = match &key {
            Some(key) => self.vault.derive(&format!("form {user_id} {key}")),
            None => random_seed(),
        };
        SentForm { user_id, key, seed }
    }

    /// What the form has created, if it was sent before.
    pub(crate) async fn created_by_form(&self, form: &SentForm) -> Result<Option<String>, Error> {
        match &form.key {
            Some(key) => Ok(self.store.form_resource(form.user_id, key).await?),
            None => Ok(None),
        }
    }
}

impl Engine {
    /// The project that the form has created, if it was sent before.
    pub(crate) async fn project_of_form(&self, form: &SentForm) -> Result<Option<Project>, Error> {
        match self.created_by_form(form).await?.and_then(|id| id.parse().ok()) {
            Some(id) => Ok(Some(self.project(id).await?)),
            None => Ok(None),
        }
    }
}

/// Whether a change was not committed because its form was sent before.
pub(crate) fn is_form_used(error: &Error) -> bool {
    matches!(error, Error::UnexpectedConflict(CommitError::Conflict(Guard::FormUnused)))
}

impl SentForm {
    /// The secret of an invitation.
    pub(crate) fn token(&self) -> Token {
        Token::of(self.seed)
    }

    /// What an API key is made of.
    pub(crate) fn seed(&self) -> [u8; 32] {
        self.seed
    }

    /// To be committed together with what the form creates.
    pub(crate) fn sent(&self, resource: impl ToString, at: Timestamp) -> Option<SessionWrite> {
        let form = self.key.clone()?;
        Some(SessionWrite::FormSent { user_id: self.user_id, form, resource: resource.to_string(), at })
    }
}

pub(crate) fn random_seed() -> [u8; 32] {
    let mut seed = [0; 32];
    rand::rng().fill_bytes(&mut seed);
    seed
}
