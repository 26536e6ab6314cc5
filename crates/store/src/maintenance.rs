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
    money::Rupiah,
    time::Timestamp,
};

use crate::{
    Change, CommitError, Store, StoreError, Write,
    plan::{Dialect, HOUR_MILLIS},
    value::{Columns, Query, Value},
};

/// Payments from one mark of a list to the next.
const APART: i64 = 1_000;
/// Marks made in one go.
const MARKS_AT_ONCE: usize = 64;
/// Hours that are closed in one go.
const HOURS_AT_ONCE: i64 = 6;
/// Marks and closed hours stand for good, so they keep away from where payments may still come in: a request may take half a minute, and
/// the clocks of two nodes may differ.
const SETTLED_AFTER: Duration = Duration::from_hours(1);
/// References put into the search index in one go.
const REFERENCES_AT_ONCE: i64 = 500;
/// Payments after the last mark or in hours that are not closed, and references not in the index, from which on something is to
/// be done.
pub(crate) const LONG_TAIL: i64 = 2 * APART;
pub(crate) const LONG_SEARCH: i64 = 1_000;
/// Ids are made of letters, digits and an underscore.
pub(crate) const AFTER_EVERY_ID: &str = "~";

/// What reads have found too long since it was last tended to.
#[derive(Default)]
pub(crate) struct Wanting {
    lists: Projects,
    volumes: Projects,
    search: AtomicBool,
}

impl Wanting {
    pub(crate) fn shorter_list(&self, project_id: ProjectId) {
        self.lists.all().insert(project_id);
    }

    pub(crate) fn closed_hours(&self, project_id: ProjectId) {
        self.volumes.all().insert(project_id);
    }

    pub(crate) fn longer_search(&self) {
        self.search.store(true, Ordering::Relaxed);
    }
}

/// Those that something is to be done about.
#[derive(Default)]
struct Projects(Mutex<HashSet<ProjectId>>);

impl Projects {
    fn any(&self) -> Option<ProjectId> {
        self.all().iter().next().copied()
    }

    /// Takes a project off unless there is more to do about it. Where it failed, whoever reads again wishes for it again.
    fn done(&self, project_id: ProjectId, more: &Result<bool, CommitError>) {
        if !matches!(more, Ok(true)) {
            self.all().remove(&project_id);
        }
    }

    fn all(&self) -> MutexGuard<'_, HashSet<ProjectId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Does one piece of what reads have wished for; answers whether there may be more to do at once.
    pub async fn tend(&self, now: Timestamp) -> Result<bool, CommitError> {
        let marked = match self.wanting.lists.any() {
            Some(project_id) => {
                let more = self.mark(project_id, now).await;
                self.wanting.lists.done(project_id, &more);
                more
            }
            None => Ok(false),
        };
        let closed = match self.wanting.volumes.any() {
            Some(project_id) => {
                let more = self.close_hours(project_id, now).await;
                self.wanting.volumes.done(project_id, &more);
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
        Ok(marked? | closed? | extended?)
    }

    /// Adds up the next hours in which anything was paid; answers whether more may follow. They are noted in their order, all or
    /// none, so that a project's latest one tells which are.
    async fn close_hours(&self, project_id: ProjectId, now: Timestamp) -> Result<bool, CommitError> {
        let open = now.minus(SETTLED_AFTER).as_millis() / HOUR_MILLIS;
        let next = self.closed_hour(project_id).await?.map_or(0, |hour| hour + 1);
        let Some(first) = self.first_paid_hour(project_id, next, open).await? else { return Ok(false) };
        let until = open.min(first + HOURS_AT_ONCE);
        let paid = self.paid_by_hour(project_id, first, until).await?;
        let volumes = paid.into_iter().map(|hour| Write::Volume {
            project_id,
            hour: hour.hour,
            payments: hour.payments,
            amount: hour.amount,
        });
        self.commit(Change::default().with_all(volumes)).await?;
        Ok(until < open)
    }

    /// Sets the next marks of a list; answers whether more may follow.
    async fn mark(&self, project_id: ProjectId, now: Timestamp) -> Result<bool, CommitError> {
        let last = "SELECT id, position, amount FROM payment_marks WHERE project_id = $1 ORDER BY id DESC LIMIT 1";
        let last = Query::new(last, [Value::shown(project_id)]);
        let last = self.one(last, |columns| Ok((columns.text()?, columns.integer()?, columns.rupiah()?))).await?;
        let (mut id, mut position, mut amount) = last.unwrap_or_default();
        let mut marks = Vec::new();
        while marks.len() < MARKS_AT_ONCE
            && let Some((next, added)) = self.next_to_mark(project_id, &id, now).await?
        {
            position += APART;
            amount = amount + added;
            id = next.to_string();
            marks.push(Write::PaymentMark { project_id, id: next, position, amount });
        }
        let more = marks.len() == MARKS_AT_ONCE;
        if !marks.is_empty() {
            self.commit(Change::default().with_all(marks)).await?;
        }
        Ok(more)
    }

    /// Where the next mark belongs, and what the payments from the last one to it add up to; none where there are too few.
    async fn next_to_mark(
        &self,
        project_id: ProjectId,
        after: &str,
        now: Timestamp,
    ) -> Result<Option<(PaymentId, Rupiah)>, StoreError> {
        let sql = "SELECT MAX(id), CAST(SUM(amount) AS BIGINT) FROM (SELECT id, amount FROM payments \
                   WHERE project_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT $4) next HAVING COUNT(*) = $4";
        let until = Value::shown(settled(now));
        let parameters = [Value::shown(project_id), after.to_owned().into(), until, APART.into()];
        let next = |columns: &mut Columns<'_>| Ok((columns.parsed()?, columns.rupiah()?));
        Ok(self.many(Query::new(sql, parameters), next).await?.pop())
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
