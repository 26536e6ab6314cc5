//! Where projects want notices to go.

use domain::{id::ProjectId, letter::SummaryPeriod, time::Timestamp};

use crate::{
    Store,
    change::NoticeTarget,
    error::StoreError,
    language_column,
    value::{Columns, Query, Value},
};

const COLUMNS: &str = "project_id, language, sends_receipts, summary";

/// Where notices of a project go and what signs them, sealed.
pub struct SealedNoticeTarget {
    pub target: NoticeTarget,
    pub url: Vec<u8>,
    pub secret: Vec<u8>,
    /// The secret before it, and when it was replaced.
    pub previous: Option<(Vec<u8>, Timestamp)>,
}

impl Store {
    /// What a project has chosen; none where its notices go nowhere.
    pub async fn notice_target(&self, id: ProjectId) -> Result<Option<SealedNoticeTarget>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS}, url, secret, previous_secret, rotated_at FROM notice_targets WHERE project_id = $1"
        );
        self.one(Query::new(sql, [Value::stored(id)]), sealed_target).await
    }

    /// The choices of those projects that want summaries.
    pub async fn notice_summaries(&self) -> Result<Vec<NoticeTarget>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM notice_targets WHERE summary IS NOT NULL ORDER BY project_id");
        self.many(Query::new(sql, []), target).await
    }
}

fn sealed_target(columns: &mut Columns<'_>) -> Result<SealedNoticeTarget, StoreError> {
    let target = target(columns)?;
    let (url, secret, previous) = (columns.bytes()?, columns.bytes()?, columns.optional_bytes()?);
    Ok(SealedNoticeTarget { target, url, secret, previous: previous.zip(columns.optional_timestamp()?) })
}

fn target(columns: &mut Columns<'_>) -> Result<NoticeTarget, StoreError> {
    Ok(NoticeTarget {
        project_id: columns.project_id()?,
        language: columns.word(language_column::read)?,
        sends_receipts: columns.truth()?,
        summary: columns.optional_text()?.and_then(|word| SummaryPeriod::parse(&word)),
    })
}
