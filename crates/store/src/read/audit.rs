//! The audit log and its chains.

use domain::{
    audit::{Actor, AuditLine, Deed},
    audit_chain::{ChainHead, Seal, SealedLine, chain_name, chain_named},
    id::{AuditId, ProjectId},
    time::Timestamp,
};

use super::{Conditions, List, Listed, Window};
use crate::{
    Store,
    error::StoreError,
    plan::{COMMAND_LINE, STRANGER},
    value::{Columns, Query, Value},
};

const COLUMNS: &str = "id, at, actor, address, project_id, deed, subject, detail, \
    position, seal_version, hash, subject_digest, salt";

/// Which lines of a project's log to return.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    pub deed: Option<Deed>,
    /// From the first instant on, and before the second.
    pub at: Option<(Timestamp, Timestamp)>,
}

impl Store {
    /// The lines of one project, or of the whole installation, that a filter asks for, with their seals, newest first.
    pub async fn audit_list(
        &self,
        project_id: Option<ProjectId>,
        filter: &AuditFilter,
        window: Window,
    ) -> Result<Listed<SealedLine>, StoreError> {
        let mut conditions = Conditions::new();
        if let Some(id) = project_id {
            conditions.and("project_id = ?", Value::stored(id));
        }
        if let Some(deed) = filter.deed {
            conditions.and("deed = ?", deed.word());
        }
        if let Some((from, until)) = filter.at {
            conditions.and("at >= ?", from);
            conditions.and("at < ?", until);
        }
        let list = List { columns: COLUMNS, from: "audit", table: "audit", id: "id", order: "id DESC", decode: line };
        self.listed(list, conditions, window).await
    }

    /// The next lines of a project's log after the line `after`, oldest first, at most `most`.
    pub async fn audit_after(
        &self,
        project_id: ProjectId,
        after: Option<AuditId>,
        most: i64,
    ) -> Result<Vec<SealedLine>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM audit WHERE project_id = $1 AND id > $2 ORDER BY id LIMIT $3");
        let after = after.map_or("".into(), Value::stored);
        self.many(Query::new(sql, [Value::stored(project_id), after, most.into()]), line).await
    }

    /// Lines without a seal, oldest first, at most `most`, but for those of the chains `without`.
    pub async fn audit_unsealed(&self, most: i64, without: &[Option<ProjectId>]) -> Result<Vec<AuditLine>, StoreError> {
        let mut parameters: Vec<Value> = without.iter().map(|chain| chain.map_or("".into(), Value::stored)).collect();
        let others: String =
            (1..=without.len()).map(|number| format!(" AND COALESCE(project_id, '') <> ${number}")).collect();
        parameters.push(most.into());
        let limit = parameters.len();
        let sql = format!("SELECT {COLUMNS} FROM audit WHERE position IS NULL{others} ORDER BY id LIMIT ${limit}");
        let found = self.due(Query::new(sql, parameters), line).await?;
        Ok(found.into_iter().map(|sealed| sealed.line).collect())
    }

    /// Where the chain of a project ends, or that of the installation; none while it has no lines.
    pub async fn audit_head(&self, project_id: Option<ProjectId>) -> Result<Option<ChainHead>, StoreError> {
        let sql = "SELECT length, hash FROM audit_heads WHERE chain = $1";
        let head =
            |columns: &mut Columns<'_>| Ok(ChainHead { length: columns.integer()?, hash: digest(columns.bytes()?)? });
        self.one(Query::new(sql, [chain_name(project_id).into()]), head).await
    }

    /// Every chain that has a head or a sealed line.
    pub(super) async fn audit_chains(&self) -> Result<Vec<Option<ProjectId>>, StoreError> {
        let headed = |columns: &mut Columns<'_>| columns.word(chain_named);
        let mut chains = self.many(Query::new("SELECT chain FROM audit_heads", []), headed).await?;
        let sql = "SELECT DISTINCT project_id FROM audit WHERE position IS NOT NULL";
        chains.extend(self.many(Query::new(sql, []), |columns| columns.optional_parsed()).await?);
        chains.sort();
        chains.dedup();
        Ok(chains)
    }

    /// The sealed lines of a chain with the `most` positions after that one, in their order.
    pub(super) async fn audit_chain_after(
        &self,
        project_id: Option<ProjectId>,
        position: i64,
        most: i64,
    ) -> Result<Vec<SealedLine>, StoreError> {
        let mut parameters = vec![position.into(), most.into()];
        let of = match project_id {
            Some(id) => {
                parameters.push(Value::stored(id));
                "project_id = $3"
            }
            None => "project_id IS NULL",
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM audit WHERE position > $1 AND position <= $1 + $2 AND {of} ORDER BY position, id"
        );
        self.many(Query::new(sql, parameters), line).await
    }
}

impl Store {
    /// The last position that a line of the chain has; 0 where none has one.
    pub(super) async fn audit_last_position(&self, project_id: Option<ProjectId>) -> Result<i64, StoreError> {
        let (of, parameters) = match project_id {
            Some(id) => ("project_id = $1", vec![Value::stored(id)]),
            None => ("project_id IS NULL", Vec::new()),
        };
        let sql = format!("SELECT COALESCE(MAX(position), 0) FROM audit WHERE {of} AND position > 0");
        Ok(self.many(Query::new(sql, parameters), |columns| columns.integer()).await?.into_iter().sum())
    }
}

fn line(columns: &mut Columns<'_>) -> Result<SealedLine, StoreError> {
    let (id, at) = (columns.parsed()?, columns.timestamp()?);
    let (actor, address) = (columns.text()?, columns.optional_text()?);
    let line = AuditLine {
        id,
        at,
        actor: self::actor(&actor, address.unwrap_or_default())?,
        project_id: columns.optional_parsed()?,
        deed: columns.word(Deed::parse)?,
        subject: columns.text()?,
        detail: columns.text()?,
    };
    Ok(SealedLine { line, seal: seal(columns)? })
}

fn seal(columns: &mut Columns<'_>) -> Result<Option<Seal>, StoreError> {
    let Some(position) = columns.optional_integer()? else { return Ok(None) };
    Ok(Some(Seal {
        position,
        version: columns.integer()?,
        hash: digest(columns.bytes()?)?,
        subject_digest: digest(columns.bytes()?)?,
        salt: columns.optional_bytes()?,
    }))
}

fn digest(bytes: Vec<u8>) -> Result<[u8; 32], StoreError> {
    bytes.try_into().map_err(|_| StoreError::unexpected("a hash of the audit log has another length"))
}

fn actor(word: &str, address: String) -> Result<Actor, StoreError> {
    match word {
        COMMAND_LINE => Ok(Actor::CommandLine),
        STRANGER => Ok(Actor::Stranger { address }),
        id => match (id.parse(), id.parse()) {
            (Ok(id), _) => Ok(Actor::User { id, address }),
            (_, Ok(id)) => Ok(Actor::Key(id)),
            _ => Err(StoreError::unexpected(format!("the audit log names {id:?}"))),
        },
    }
}
