//! An API key as it is after its revocation.

use domain::api_key::{ApiKey, key_prefix};
use serde::Serialize;
use utoipa::ToSchema;

use crate::schemas;

/// A key that is no longer accepted.
#[derive(Serialize, ToSchema)]
#[schema(title = "RevokedApiKey", as = RevokedApiKey)]
pub struct RevokedKeyJson {
    #[schema(value_type = schemas::ApiKeyId)]
    id: String,
    /// What its owner called it.
    #[schema(min_length = 1, max_length = 255, examples("Kasir 1"))]
    name: String,
    #[schema(value_type = schemas::Environment)]
    environment: &'static str,
    #[schema(value_type = schemas::ProjectId)]
    project_id: String,
    #[schema(value_type = schemas::KeyPrefix)]
    key_prefix: &'static str,
    /// From when on it was refused.
    #[schema(value_type = schemas::DateTime, required)]
    revoked_at: Option<String>,
}

impl From<ApiKey> for RevokedKeyJson {
    fn from(key: ApiKey) -> RevokedKeyJson {
        RevokedKeyJson {
            id: key.id.to_string(),
            environment: key.environment.word(),
            project_id: key.project_id.to_string(),
            key_prefix: key_prefix(key.environment),
            revoked_at: key.revoked_at.map(|at| at.to_string()),
            name: key.name,
        }
    }
}
