//! Writes about API keys.

use domain::{
    api_key::{ApiKey, KeyHash},
    id::{KeyId, ProjectId, UserId},
    key_rights::KeyRight,
    time::Timestamp,
};

pub enum KeyWrite {
    /// Guarded: no live key of the project has that name, but for those that were replaced, and one more live key is within the
    /// project's bound.
    Created { key: ApiKey, hash: KeyHash },
    /// The key stops by itself at `expires_at`, as another has replaced it. Guarded: it is neither revoked nor replaced yet.
    Replaced { id: KeyId, project_id: ProjectId, expires_at: Timestamp },
    /// Guarded: the key is not revoked yet.
    Revoked { id: KeyId, project_id: ProjectId, at: Timestamp },
    /// Changes nothing. Guarded: no key of the project that the user created is live.
    AllRevokedOf { project_id: ProjectId, created_by: UserId },
    /// Changes nothing. Guarded: no key of any project that the user created is live.
    AllRevokedBy { created_by: UserId },
    /// Changes nothing. Guarded: no key of the project that the user created and that has this right is live.
    AllRevokedWith { project_id: ProjectId, created_by: UserId, right: KeyRight },
    /// Sets the time of the key's last use, unless a later one is stored.
    Used { key_id: KeyId, project_id: ProjectId, at: Timestamp },
}
