//! The audit log.

use domain::{
    audit::{Actor, AuditLine, Deed},
    id::ProjectId,
};

use super::{Conditions, List, Listed, Window};
use crate::{
    Store,
    error::StoreError,
    plan::{COMMAND_LINE, STRANGER},
    value::{Columns, Value},
};

const COLUMNS: &str = "id, at, actor, address, project_id, deed, subject, detail";

impl Store {
    /// The lines of one project, or of the whole installation, newest first.
    pub async fn audit(&self, project_id: Option<ProjectId>, window: Window) -> Result<Listed<AuditLine>, StoreError> {
        let mut conditions = Conditions::new();
        if let Some(id) = project_id {
            conditions.and("project_id = ?", Value::stored(id));
        }
        let list = List { columns: COLUMNS, from: "audit", table: "audit", id: "id", order: "id DESC", decode: line };
        self.listed(list, conditions, window).await
    }
}

fn line(columns: &mut Columns<'_>) -> Result<AuditLine, StoreError> {
    let (id, at) = (columns.parsed()?, columns.timestamp()?);
    let (actor, address) = (columns.text()?, columns.optional_text()?);
    Ok(AuditLine {
        id,
        at,
        actor: self::actor(&actor, address.unwrap_or_default())?,
        project_id: columns.optional_parsed()?,
        deed: columns.word(Deed::parse)?,
        subject: columns.text()?,
        detail: columns.text()?,
    })
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
