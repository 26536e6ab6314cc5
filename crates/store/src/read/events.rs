//! Events.

use std::sync::LazyLock;

use domain::{
    event::{Event, EventKind, News},
    id::{EventId, ProjectId},
    project::SuccessWord,
};

use super::{Conditions, List, Listed, Window};
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

pub(super) const COLUMNS: &str = "id, project_id, kind, subject, created_at, paid_at, success_word";

static OF_PROJECT_BY_ID: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {COLUMNS} FROM events WHERE project_id = $1 AND id = $2"));

impl Store {
    pub async fn event(&self, project_id: ProjectId, id: EventId) -> Result<Option<Event>, StoreError> {
        self.one(Query::new(OF_PROJECT_BY_ID.as_str(), [Value::shown(project_id), Value::shown(id)]), event).await
    }

    /// An event of any project, for the operator.
    pub async fn event_of_any(&self, id: EventId) -> Result<Option<Event>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM events WHERE id = $1");
        self.one(Query::new(sql, [Value::shown(id)]), event).await
    }

    /// A project's events: with `after`, those after that event in ascending order; otherwise newest first.
    pub async fn events(
        &self,
        project_id: ProjectId,
        kind: Option<EventKind>,
        after: Option<EventId>,
        window: Window,
    ) -> Result<Listed<Event>, StoreError> {
        let mut conditions = Conditions::new();
        conditions.and("project_id = ?", Value::shown(project_id));
        if let Some(kind) = kind {
            conditions.and("kind = ?", kind.word());
        }
        if let Some(after) = after {
            conditions.and("id > ?", Value::shown(after));
        }
        let order = if after.is_some() { "id" } else { "id DESC" };
        let list = List { columns: COLUMNS, from: "events", table: "events", id: "id", order, decode: event };
        self.listed(list, conditions, window).await
    }
}

pub(super) fn event(columns: &mut Columns<'_>) -> Result<Event, StoreError> {
    let (id, project_id) = (columns.parsed()?, columns.parsed()?);
    let kind = columns.word(EventKind::parse)?;
    Ok(match kind {
        EventKind::PaymentPaid => {
            let payment = columns.parsed()?;
            let created_at = columns.timestamp()?;
            let (paid_at, word) = (columns.timestamp()?, columns.word(SuccessWord::parse)?);
            Event { id, project_id, created_at, news: News::PaymentPaid { payment, paid_at, word } }
        }
        EventKind::PaymentFailed => {
            let news = News::PaymentFailed { payment: columns.parsed()? };
            Event { id, project_id, created_at: columns.timestamp()?, news }
        }
        EventKind::ApiKeyDeleted => {
            let news = News::ApiKeyDeleted { key: columns.parsed()? };
            Event { id, project_id, created_at: columns.timestamp()?, news }
        }
    })
}
