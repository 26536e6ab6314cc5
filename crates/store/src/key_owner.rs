//! Who an API key belongs to, as every request with it reads.

use domain::{
    id::{KeyId, ProjectId},
    key_networks::KeyNetworks,
    key_rights::KeyRights,
    time::Timestamp,
};

/// A key that is not revoked, with what it may do, its project, and the project's version at the moment of the read.
#[derive(Clone, Debug)]
pub struct KeyOwner {
    pub key_id: KeyId,
    pub project_id: ProjectId,
    pub project_version: i64,
    /// When it stops by itself; the caller compares it with the time.
    pub expires_at: Option<Timestamp>,
    pub rights: KeyRights,
    pub networks: KeyNetworks,
}
