//! A revoked API key, as the answer to its revocation and the event about it show it.

use domain::api_key::{ApiKey, key_prefix};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
#[schema(title = "RevokedApiKey", as = RevokedApiKey)]
pub(crate) struct RevokedKeyJson {
    #[schema(example = "key_01kzdq3f5ve8x9m2r7t4w6y8za")]
    id: String,
    name: String,
    #[schema(example = "sandbox")]
    environment: &'static str,
    project_id: String,
    #[schema(example = "sk_test_")]
    key_prefix: &'static str,
    #[schema(format = DateTime)]
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
