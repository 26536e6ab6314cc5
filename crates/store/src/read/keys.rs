//! API keys.

use domain::{
    api_key::{ApiKey, KeyHash},
    id::{KeyId, ProjectId, UserId},
    key_networks::KeyNetworks,
    key_rights::{KeyRight, KeyRights},
    project::Environment,
    time::Timestamp,
};

use crate::{
    Backend, Store,
    error::StoreError,
    key_owner::KeyOwner,
    value::{Columns, Query, Value},
};

const COLUMNS: &str = "k.id, k.project_id, p.environment, k.name, k.last_four, k.created_at, k.revoked_at, \
    k.expires_at, k.created_by, k.rights, k.networks";

impl Store {
    /// The owner of a key that is not revoked; it may have expired. Every request reads it, so that a revocation takes effect
    /// at once.
    pub async fn key_owner(&self, hash: KeyHash) -> Result<Option<KeyOwner>, StoreError> {
        let sql = "SELECT k.id, p.id, p.version, k.expires_at, k.rights, k.networks FROM api_keys k \
                   JOIN projects p ON p.id = k.project_id \
                   WHERE k.hash = $1 AND k.revoked_at IS NULL";
        let query = Query::new(sql, [hash.0.to_vec().into()]);
        match &self.backend {
            Backend::Sqlite(sqlite) => sqlite.key_owner(hash, &query, owner),
            Backend::Postgres(postgres) => postgres.one(query, owner).await,
        }
    }

    pub async fn key(&self, id: KeyId) -> Result<Option<ApiKey>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM api_keys k JOIN projects p ON p.id = k.project_id WHERE k.id = $1");
        self.one(Query::new(sql, [Value::stored(id)]), key).await
    }

    /// The live keys of all projects that a user has created.
    pub async fn keys_created_by(&self, id: UserId) -> Result<Vec<ApiKey>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM api_keys k JOIN projects p ON p.id = k.project_id \
             WHERE k.created_by = $1 AND k.revoked_at IS NULL ORDER BY k.id"
        );
        self.many(Query::new(sql, [Value::stored(id)]), key).await
    }

    pub async fn keys(&self, project_id: ProjectId) -> Result<Vec<ApiKey>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM api_keys k JOIN projects p ON p.id = k.project_id \
             WHERE k.project_id = $1 ORDER BY k.id"
        );
        self.many(Query::new(sql, [Value::stored(project_id)]), key).await
    }

    /// When each of a project's keys was last used, to about a minute. Keys that were never used are left out.
    pub async fn key_uses(&self, project_id: ProjectId) -> Result<Vec<(KeyId, Timestamp)>, StoreError> {
        let sql = "SELECT key_id, at FROM key_uses WHERE project_id = $1 ORDER BY key_id";
        let used = |columns: &mut Columns<'_>| Ok((columns.parsed()?, columns.timestamp()?));
        self.many(Query::new(sql, [Value::stored(project_id)]), used).await
    }
}

fn owner(columns: &mut Columns<'_>) -> Result<KeyOwner, StoreError> {
    Ok(KeyOwner {
        key_id: columns.parsed()?,
        project_id: columns.parsed()?,
        project_version: columns.integer()?,
        expires_at: columns.optional_timestamp()?,
        rights: rights(columns)?,
        networks: networks(columns)?,
    })
}

fn key(columns: &mut Columns<'_>) -> Result<ApiKey, StoreError> {
    Ok(ApiKey {
        id: columns.parsed()?,
        project_id: columns.parsed()?,
        environment: columns.word(Environment::parse)?,
        name: columns.text()?,
        last_four: columns.text()?,
        created_at: columns.timestamp()?,
        revoked_at: columns.optional_timestamp()?,
        expires_at: columns.optional_timestamp()?,
        created_by: columns.optional_parsed()?,
        rights: rights(columns)?,
        networks: networks(columns)?,
    })
}

fn rights(columns: &mut Columns<'_>) -> Result<KeyRights, StoreError> {
    Ok(columns.words(KeyRight::parse)?.into_iter().collect())
}

fn networks(columns: &mut Columns<'_>) -> Result<KeyNetworks, StoreError> {
    let text = columns.text()?;
    let texts: Vec<&str> = text.split(',').filter(|network| !network.is_empty()).collect();
    KeyNetworks::parse(&texts).map_err(|wrong| StoreError::unexpected(wrong.invalid()))
}
