//! Strays: money that fits no payment of any project.

use domain::{
    id::StrayId,
    money::Rupiah,
    stray::{Stray, StrayDecided, StrayDecision},
};

use super::{Listed, Window, banks::OpenStrays};
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

const COLUMNS: &str = "id, account_id, receipt_id, number, amount, paid_at, received_at, decision, decided_at, \
    decision_note, project_id, payment_id, body";

impl Store {
    pub async fn stray(&self, id: StrayId) -> Result<Option<Stray>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM strays WHERE id = $1");
        self.one(Query::new(sql, [Value::stored(id)]), stray).await
    }

    /// Strays that nobody has decided about, or those that somebody has; newest first.
    pub async fn strays(&self, open: bool, window: Window) -> Result<Listed<Stray>, StoreError> {
        let wanted = if open { "decision IS NULL" } else { "decision IS NOT NULL" };
        let count = Query::new(format!("SELECT COUNT(*) FROM strays WHERE {wanted}"), []);
        let total = self.many(count, |columns| columns.integer()).await?.into_iter().sum();
        let page = format!("SELECT {COLUMNS} FROM strays WHERE {wanted} ORDER BY id DESC LIMIT $1 OFFSET $2");
        let items = self.many(Query::new(page, [window.limit.into(), window.offset.into()]), stray).await?;
        Ok(Listed { items, total })
    }

    /// How many strays are open, and what they add up to.
    pub async fn open_strays(&self) -> Result<OpenStrays, StoreError> {
        let sql = "SELECT COUNT(*), CAST(COALESCE(SUM(amount), 0) AS BIGINT), COUNT(*) - COUNT(amount) FROM strays \
                   WHERE decision IS NULL";
        let open = |columns: &mut Columns<'_>| {
            let (count, amount) = (columns.integer()?, columns.rupiah()?);
            Ok(OpenStrays { count, amount, unreadable: columns.integer()? })
        };
        let found = self.many(Query::new(sql, []), open).await?;
        found.into_iter().next().ok_or_else(|| StoreError::unexpected("a sum has no row"))
    }
}

fn stray(columns: &mut Columns<'_>) -> Result<Stray, StoreError> {
    Ok(Stray {
        id: columns.parsed()?,
        account_id: columns.parsed()?,
        receipt_id: columns.text()?,
        number: columns.text()?,
        amount: columns.optional_integer()?.map(Rupiah::new),
        paid_at: columns.timestamp()?,
        received_at: columns.timestamp()?,
        decided: decided(columns)?,
        body: columns.optional_text()?,
    })
}

fn decided(columns: &mut Columns<'_>) -> Result<Option<StrayDecided>, StoreError> {
    let (word, at, note) = (columns.optional_text()?, columns.optional_timestamp()?, columns.optional_text()?);
    let (project_id, payment_id) = (columns.optional_parsed()?, columns.optional_parsed()?);
    let Some(((word, at), note)) = word.zip(at).zip(note) else { return Ok(None) };
    let decision = match (word.as_str(), project_id, payment_id) {
        ("returned", None, None) => StrayDecision::Returned,
        ("assigned", Some(project_id), Some(payment_id)) => StrayDecision::Assigned { project_id, payment_id },
        _ => return Err(StoreError::unexpected(format!("a stray is decided {word:?}"))),
    };
    Ok(Some(StrayDecided { decision, at, note }))
}
