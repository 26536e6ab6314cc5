//! API keys as they are listed, as they are shown once, and as they are after their revocation.

use domain::api_key::{ApiKey, KeySecret, key_prefix};
use engine::KeyShown;
use serde::Serialize;
use utoipa::ToSchema;

use crate::document::words;

/// A key that is no longer accepted.
#[derive(Serialize, ToSchema)]
#[schema(title = "RevokedApiKey", as = RevokedApiKey)]
pub(crate) struct RevokedKeyJson {
    #[schema(value_type = words::ApiKeyId)]
    id: String,
    /// What its owner called it.
    #[schema(min_length = 1, max_length = 255, examples("Kasir 1"))]
    name: String,
    #[schema(value_type = words::Environment)]
    environment: &'static str,
    #[schema(value_type = words::ProjectId)]
    project_id: String,
    #[schema(value_type = words::KeyPrefix)]
    key_prefix: &'static str,
    /// From when on it was refused.
    #[schema(value_type = words::DateTime, required)]
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

/// A key of the project, without its secret.
#[derive(Serialize, ToSchema)]
#[schema(title = "ApiKey", as = ApiKey)]
pub(crate) struct KeyJson {
    #[schema(value_type = words::ApiKeyId)]
    id: String,
    /// What its owner called it.
    #[schema(min_length = 1, max_length = 255, examples("Kasir 1"))]
    name: String,
    #[schema(value_type = words::Environment)]
    environment: &'static str,
    #[schema(value_type = words::ProjectId)]
    project_id: String,
    #[schema(value_type = words::KeyPrefix)]
    key_prefix: &'static str,
    #[schema(value_type = words::LastFour)]
    last_four: String,
    #[schema(value_type = words::DateTime)]
    created_at: String,
    /// To the minute; null when it was never used.
    #[schema(value_type = Option<words::DateTime>, required)]
    last_used_at: Option<String>,
    /// From when on it was refused; null while it is accepted.
    #[schema(value_type = Option<words::DateTime>, required)]
    revoked_at: Option<String>,
}

impl From<KeyShown> for KeyJson {
    fn from(KeyShown { key, last_used_at }: KeyShown) -> KeyJson {
        KeyJson {
            id: key.id.to_string(),
            environment: key.environment.word(),
            project_id: key.project_id.to_string(),
            key_prefix: key_prefix(key.environment),
            last_four: key.last_four,
            created_at: key.created_at.to_string(),
            last_used_at: last_used_at.map(|at| at.to_string()),
            revoked_at: key.revoked_at.map(|at| at.to_string()),
            name: key.name,
        }
    }
}

/// A key that was just made, with its secret.
#[derive(Serialize, ToSchema)]
#[schema(title = "CreatedApiKey", as = CreatedApiKey)]
pub(crate) struct CreatedKeyJson {
    #[schema(value_type = words::ApiKeyId)]
    id: String,
    #[schema(value_type = words::KeySecret)]
    key: String,
    /// What its owner called it.
    #[schema(min_length = 1, max_length = 255, examples("Kasir 1"))]
    name: String,
    #[schema(value_type = words::Environment)]
    environment: &'static str,
    #[schema(value_type = words::ProjectId)]
    project_id: String,
    #[schema(value_type = words::KeyPrefix)]
    key_prefix: &'static str,
    #[schema(value_type = words::LastFour)]
    last_four: String,
    #[schema(value_type = words::DateTime)]
    created_at: String,
}

impl CreatedKeyJson {
    pub(crate) fn of(key: ApiKey, secret: &KeySecret) -> CreatedKeyJson {
        CreatedKeyJson {
            id: key.id.to_string(),
            key: secret.reveal().to_owned(),
            environment: key.environment.word(),
            project_id: key.project_id.to_string(),
            key_prefix: key_prefix(key.environment),
            last_four: key.last_four,
            created_at: key.created_at.to_string(),
            name: key.name,
        }
    }
}
