//! What keeps lists and searches quick as they grow. Reads note what they found long; tending does a little about it at a
//! time, so that nobody waits for it and a project whose lists nobody opens costs nothing.

use std::{
    collections::HashSet,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use domain::{
    id::{ENTROPY_BYTES, PaymentId, ProjectId, mint},
    time::Timestamp,
};

use crate::{
    Change, CommitError, Store, StoreError, Write,
    plan::Dialect,
    value::{Query, Value},
};

/// Payments from one mark of a list to the next.
const APART: i64 = 1_000;
/// Marks made in one go.
const MARKS_AT_ONCE: usize = 64;
/// Marks stand for good, so they keep away from where payments may still come in: a request may take half a minute, and
/// the clocks of two nodes may differ.
const SETTLED_AFTER: Duration = Duration::from_hours(1);
/// References put into the search index in one go.
const REFERENCES_AT_ONCE: i64 = 500;
/// Payments after the last mark, and references not in the index, from which on something is to be done.
pub(crate) const LONG_TAIL: i64 = 2 * APART;
pub(crate) const LONG_SEARCH: i64 = 1_000;
/// Ids are made of letters, digits and an underscore.
const AFTER_EVERY_ID: &str = "~";

/// What reads have found too long since it was last tended to.
#[derive(Default)]
pub(crate) struct Wanting {
    lists: Mutex<HashSet<ProjectId>>,
    search: AtomicBool,
}

impl Wanting {
    pub(crate) fn shorter_list(&self, project_id: ProjectId) {
        self.lists().insert(project_id);
    }

    pub(crate) fn longer_search(&self) {
        self.search.store(true, Ordering::Relaxed);
    }

    fn any_list(&self) -> Option<ProjectId> {
        self.lists().iter().next().copied()
    }

    fn lists(&self) -> MutexGuard<'_, HashSet<ProjectId>> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Does one piece of what reads have wished for; answers whether there may be more to do at once.
    pub async fn tend(&self, now: Timestamp) -> Result<bool, CommitError> {
        let marked = match self.wanting.any_list() {
            Some(project_id) => {
                let more = self.mark(project_id, now).await;
                // A list that cannot be marked now is wished for again when it is opened again.
                if !matches!(more, Ok(true)) {
                    self.wanting.lists().remove(&project_id);
                }
                more
            }
            None => Ok(false),
        };
        let extended = match self.wanting.search.swap(false, Ordering::Relaxed) {
            true => self.extend_search(now).await,
            false => Ok(false),
        };
        if matches!(extended, Ok(true)) {
            self.wanting.longer_search();
        }
        Ok(marked? | extended?)
    }

    /// Sets the next marks of a list; answers whether more may follow.
    async fn mark(&self, project_id: ProjectId, now: Timestamp) -> Result<bool, CommitError> {
        let last = "SELECT id, position FROM payment_marks WHERE project_id = $1 ORDER BY id DESC LIMIT 1";
        let last = Query::new(last, [Value::shown(project_id)]);
        let last = self.one(last, |columns| Ok((columns.text()?, columns.integer()?))).await?;
        let (mut id, mut position) = last.unwrap_or_default();
        let mut marks = Vec::new();
        while marks.len() < MARKS_AT_ONCE
            && let Some(next) = self.next_to_mark(project_id, &id, now).await?
        {
            position += APART;
            id = next.to_string();
            marks.push(Write::PaymentMark { project_id, id: next, position });
        }
        let more = marks.len() == MARKS_AT_ONCE;
        if !marks.is_empty() {
            self.commit(Change::default().with_all(marks)).await?;
        }
        Ok(more)
    }

    async fn next_to_mark(
        &self,
        project_id: ProjectId,
        after: &str,
        now: Timestamp,
    ) -> Result<Option<PaymentId>, StoreError> {
        let sql = "SELECT id FROM payments WHERE project_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT 1 OFFSET $4";
        let until = Value::shown(settled(now));
        let parameters = [Value::shown(project_id), after.to_owned().into(), until, (APART - 1).into()];
        Ok(self.many(Query::new(sql, parameters), |columns| columns.parsed()).await?.pop())
    }

    /// Puts the next references into the search index; answers whether more may follow.
    async fn extend_search(&self, now: Timestamp) -> Result<bool, CommitError> {
        let until = settled(now);
        self.commit(Write::SearchExtended { until, most: REFERENCES_AT_ONCE }.into()).await?;
        Ok(self.search_lacks(Some(until), REFERENCES_AT_ONCE).await?)
    }

    /// Whether the search index lacks more than `many` references, of payments made before `until` if there is such a time.
    pub(crate) async fn search_lacks(&self, until: Option<PaymentId>, many: i64) -> Result<bool, StoreError> {
        let query = match self.dialect() {
            Dialect::Sqlite => Query::new(
                "SELECT 1 FROM payment_searchable s WHERE (SELECT MAX(number) FROM payments) - s.upto > $1",
                [many.into()],
            ),
            Dialect::Postgres => Query::new(
                "SELECT 1 FROM payments WHERE id > (SELECT upto FROM payment_searchable) AND id < $1 LIMIT 1 OFFSET $2",
                [until.map_or_else(|| AFTER_EVERY_ID.into(), Value::shown), many.into()],
            ),
        };
        Ok(self.one(query, |_| Ok(())).await?.is_some())
    }
}

/// The first id that a payment could have which may still be on its way in.
fn settled(now: Timestamp) -> PaymentId {
    mint(now.minus(SETTLED_AFTER), [0; ENTROPY_BYTES])
}
