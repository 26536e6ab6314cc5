//! What happened at a bank about one opening, for people to read: the codes that were asked for, the calls, and the jobs.

use domain::{
    id::OpeningId,
    opening::{BankCode, BankSend, JobKey, JobKind},
    time::Timestamp,
};

use super::openings::{CODE, SEND, code, send};
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// A job, and how its latest try ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobStanding {
    pub key: JobKey,
    /// None once it is done.
    pub due_at: Option<Timestamp>,
    pub tries: i64,
    pub created_at: Timestamp,
    /// Empty before the first try has ended.
    pub outcome: String,
}

impl Store {
    /// The latest codes of an opening, oldest first.
    pub async fn latest_codes(&self, id: OpeningId, most: i64) -> Result<Vec<BankCode>, StoreError> {
        let sql = format!("SELECT {CODE} FROM bank_codes WHERE opening_id = $1 ORDER BY generation DESC LIMIT $2");
        self.oldest_first(Query::new(sql, [Value::stored(id), most.into()]), code).await
    }

    /// The latest calls about an opening, oldest first.
    pub async fn latest_sends(&self, id: OpeningId, most: i64) -> Result<Vec<BankSend>, StoreError> {
        let sql = format!(
            "SELECT {SEND} FROM bank_sends WHERE opening_id = $1 ORDER BY sent_at DESC, external_id DESC LIMIT $2"
        );
        self.oldest_first(Query::new(sql, [Value::stored(id), most.into()]), send).await
    }

    /// The jobs of the latest codes of an opening, oldest code first.
    pub async fn latest_jobs(&self, id: OpeningId, most: i64) -> Result<Vec<JobStanding>, StoreError> {
        let sql = "SELECT opening_id, kind, generation, due_at, tries, created_at, outcome FROM bank_jobs \
                   WHERE opening_id = $1 ORDER BY generation DESC, kind DESC LIMIT $2";
        self.oldest_first(Query::new(sql, [Value::stored(id), most.into()]), standing).await
    }

    async fn oldest_first<T: Send + 'static>(
        &self,
        query: Query,
        decode: fn(&mut Columns<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut found = self.many(query, decode).await?;
        found.reverse();
        Ok(found)
    }
}

fn standing(columns: &mut Columns<'_>) -> Result<JobStanding, StoreError> {
    let (opening_id, kind) = (columns.parsed()?, columns.word(JobKind::parse)?);
    Ok(JobStanding {
        key: JobKey { opening_id, kind, generation: columns.integer()? },
        due_at: columns.optional_timestamp()?,
        tries: columns.integer()?,
        created_at: columns.timestamp()?,
        outcome: columns.text()?,
    })
}
