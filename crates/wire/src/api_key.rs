//! The JSON of a revoked API key, as the API answers a revocation and as the event `apikey.deleted` carries it.

use domain::api_key::{ApiKey, key_prefix};
use serde::Serialize;
use utoipa::ToSchema;

use crate::schemas;

/// An API key that was revoked.
#[derive(Serialize, ToSchema)]
#[schema(title = "RevokedApiKey", as = RevokedApiKey)]
pub struct RevokedKeyJson {
    #[schema(value_type = schemas::ApiKeyId)]
    id: String,
    /// The name that the member who created the key gave it.
    #[schema(min_length = 1, max_length = 255, examples("Kasir 1"))]
    name: String,
    #[schema(value_type = schemas::Environment)]
    environment: &'static str,
    #[schema(value_type = schemas::ProjectId)]
    project_id: String,
    #[schema(value_type = schemas::KeyPrefix)]
    key_prefix: &'static str,
    /// When the key was revoked.
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
