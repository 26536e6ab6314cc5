//! Lists of payments, which stay fast however many there are: the list of all payments is counted and paged with list
//! checkpoints, and references are searched with an index of their trigrams. Payments that neither covers yet are read
//! row by row, and when those are many, maintenance is requested. The checkpoints' table is called `payment_marks`.

use domain::{
    id::{LinkId, PaymentId, ProjectId, first_id_at},
    method::{Method, MethodKind},
    money::Rupiah,
    payment::{Payment, Status},
    time::Timestamp,
};

use super::{
    Conditions, List, Listed, Window,
    payments::{checkout, checkout_columns, payment, payment_columns},
};
use crate::{
    Store,
    error::StoreError,
    maintenance::{AFTER_EVERY_ID, LONG_SEARCH, LONG_TAIL},
    plan::{Dialect, folded},
    value::{Columns, Query, Value},
};

/// Trigrams that a query of the index uses; more of them would hardly narrow the result down further.
const TRIGRAMS_MOST: usize = 4;
/// A project with at most this many payments is searched without the index.
const SMALL_PROJECT: i64 = 5_000;
/// References that are read to find out which trigrams are rare.
const SAMPLED: i64 = 50;

/// Matches of a filter that are counted and added up at most; with more, a page says only that there are more.
pub const MATCHES_COUNTED: i64 = 10_000;
/// Payments of a project that one read of [`Store::payments_scan`] goes through at most.
const SCANNED_MOST: i64 = 10_000;

/// Which payments of a project to list; all conditions must hold.
#[derive(Clone, Debug, Default)]
pub struct PaymentFilter {
    /// A substring of the reference.
    pub search: Option<String>,
    pub link_id: Option<LinkId>,
    /// The status as it is at the given instant.
    pub status: Option<(Status, Timestamp)>,
    pub method: Option<MethodFilter>,
    /// Created from the first instant on, and before the second.
    pub created: Option<(Timestamp, Timestamp)>,
}

/// A kind of method, or one method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodFilter {
    Kind(MethodKind),
    One(Method),
}

/// What a filter finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matches {
    /// How many payments, and the sum of their amounts.
    All { payments: i64, amount: Rupiah },
    /// More than [`MATCHES_COUNTED`].
    More,
}

/// A part of a list that is read as a whole.
#[derive(Debug)]
pub struct Scan {
    pub payments: Vec<Payment>,
    /// Where to go on; none at the end of the list.
    pub before: Option<PaymentId>,
}

/// A range of the list of all payments, by ids: `from` is included, `until` is not.
struct Range {
    from: Option<PaymentId>,
    until: Option<PaymentId>,
}

impl PaymentFilter {
    /// The range of the list of all payments, if the filter asks for nothing else; only that list has checkpoints.
    fn range(&self) -> Option<Range> {
        let PaymentFilter { search: None, link_id: None, status: None, method: None, created } = self else {
            return None;
        };
        let (from, until) = created.map(|(from, until)| (first_id_at(from), first_id_at(until))).unzip();
        Some(Range { from, until })
    }
}

impl Store {
    pub async fn payments(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        window: Window,
    ) -> Result<Listed<Payment>, StoreError> {
        if let Some(range) = filter.range() {
            return self.every_payment(project_id, &range, window).await;
        }
        let term = folded(filter.search.as_deref().unwrap_or_default());
        match self.is_worth_the_index(project_id, &term).await? {
            true => self.found_payments(project_id, filter, &term, window).await,
            false => self.listed(list(), conditions("p.project_id = ?", project_id, filter), window).await,
        }
    }

    /// At most `most` of a project's payments, newest first: with `before`, those older than that payment. Nothing is
    /// counted, so that lists of any length can be read page by page.
    pub async fn payments_page(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        before: Option<PaymentId>,
        most: i64,
    ) -> Result<Vec<Payment>, StoreError> {
        let mut conditions = self.wanted(project_id, filter).await?;
        if let Some(before) = before {
            conditions.and("p.id < ?", Value::shown(before));
        }
        self.page(&list(), conditions, Window { offset: 0, limit: most }).await
    }

    /// The next payments that match the filter, at most `most`, newest first: with `before`, those older than that
    /// payment. One call goes through a limited number of the project's payments, so it may find fewer, or none, and
    /// still not be at the end. For reading long lists as a whole, in one pass and in small pieces.
    pub async fn payments_scan(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        before: Option<PaymentId>,
        most: i64,
    ) -> Result<Scan, StoreError> {
        let (from, until) = filter.created.map(|(from, until)| (first_id_at(from), first_id_at(until))).unzip();
        let before = before.or(until);
        let sql = "SELECT id FROM payments WHERE project_id = $1 AND id < $2 ORDER BY id DESC LIMIT 1 OFFSET $3";
        let parameters = [Value::shown(project_id), upper(before), (SCANNED_MOST - 1).into()];
        let scanned: Option<PaymentId> =
            self.many(Query::new(sql, parameters), |columns| columns.parsed()).await?.pop();
        let mut conditions = conditions("p.project_id = ?", project_id, filter);
        and_range(&mut conditions, &Range { from: scanned, until: before });
        let payments = self.page(&list(), conditions, Window { offset: 0, limit: most }).await?;
        let is_full = i64::try_from(payments.len()).is_ok_and(|found| found == most);
        let next = if is_full { payments.last().map(|payment| payment.id) } else { scanned };
        let is_within = |next: &PaymentId| from.is_none_or(|from: PaymentId| *next > from);
        Ok(Scan { payments, before: next.filter(is_within) })
    }

    /// How many payments match the filter, and the sum of their amounts, as far as that can be told without reading
    /// very many.
    pub async fn payments_matching(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
    ) -> Result<Matches, StoreError> {
        if let Some(Range { from, until }) = filter.range() {
            let before = match from {
                Some(from) => self.added_up(project_id, Some(from)).await?,
                None => (0, Rupiah::ZERO),
            };
            let (payments, amount) = self.added_up(project_id, until).await?;
            return Ok(Matches::All { payments: payments - before.0, amount: amount - before.1 });
        }
        let Conditions { sql, mut parameters } = self.wanted(project_id, filter).await?;
        parameters.push((MATCHES_COUNTED + 1).into());
        let sum = format!(
            "SELECT COUNT(*), CAST(COALESCE(SUM(amount), 0) AS BIGINT) \
             FROM (SELECT p.amount AS amount FROM payments p {sql} LIMIT ${}) found",
            parameters.len()
        );
        let sums = |columns: &mut Columns<'_>| Ok((columns.integer()?, columns.rupiah()?));
        let (payments, amount) = self.many(Query::new(sum, parameters), sums).await?.pop().unwrap_or_default();
        Ok(if payments > MATCHES_COUNTED { Matches::More } else { Matches::All { payments, amount } })
    }

    /// One window of the payments that match the filter, newest first. Nothing is counted where that could take long.
    pub async fn payments_window(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        window: Window,
    ) -> Result<Vec<Payment>, StoreError> {
        match filter.range() {
            Some(range) => self.every_payment(project_id, &range, window).await.map(|listed| listed.items),
            None => self.page(&list(), self.wanted(project_id, filter).await?, window).await,
        }
    }

    /// The list of all payments or a range of it. Each checkpoint has its position in the list, so that only payments
    /// after the last checkpoint are counted, and only payments between two checkpoints are skipped.
    async fn every_payment(
        &self,
        project_id: ProjectId,
        range: &Range,
        window: Window,
    ) -> Result<Listed<Payment>, StoreError> {
        let (up_to_checkpoint, tail) = self.counted(project_id, range.until).await?;
        if tail > LONG_TAIL {
            self.maintenance.list_checkpoints(project_id);
        }
        let end = up_to_checkpoint + tail;
        let begin = match range.from {
            Some(from) => {
                self.counted(project_id, Some(from)).await.map(|(up_to_checkpoint, tail)| up_to_checkpoint + tail)?
            }
            None => 0,
        };
        let position = end - window.offset;
        let checkpoint =
            self.checkpoint_above(project_id, position).await?.filter(|(_, up_to_checkpoint)| *up_to_checkpoint <= end);
        let mut conditions = Conditions::new();
        conditions.and("p.project_id = ?", Value::shown(project_id));
        let offset = match checkpoint {
            Some((id, up_to_checkpoint)) => {
                conditions.and("p.id <= ?", id);
                up_to_checkpoint - position
            }
            None => window.offset,
        };
        and_range(&mut conditions, range);
        let items = self.page(&list(), conditions, Window { offset, ..window }).await?;
        Ok(Listed { items, total: end - begin })
    }

    /// How many payments there are up to the last checkpoint before `until`, and how many from there to `until`.
    async fn counted(&self, project_id: ProjectId, until: Option<PaymentId>) -> Result<(i64, i64), StoreError> {
        let sql = "SELECT COALESCE((SELECT position FROM payment_marks WHERE project_id = $1 AND id < $2 \
                   ORDER BY id DESC LIMIT 1), 0), \
                   (SELECT COUNT(*) FROM payments WHERE project_id = $1 AND id < $2 AND id > COALESCE((SELECT MAX(id) \
                   FROM payment_marks WHERE project_id = $1 AND id < $2), ''))";
        let counted = self.many(Query::new(sql, [Value::shown(project_id), upper(until)]), pair).await?;
        Ok(counted.into_iter().next().unwrap_or_default())
    }

    /// How many payments there are before `until`, and the sum of their amounts.
    async fn added_up(&self, project_id: ProjectId, until: Option<PaymentId>) -> Result<(i64, Rupiah), StoreError> {
        let sql = "SELECT COALESCE((SELECT position FROM payment_marks WHERE project_id = $1 AND id < $2 \
                   ORDER BY id DESC LIMIT 1), 0), COALESCE((SELECT amount FROM payment_marks WHERE project_id = $1 \
                   AND id < $2 ORDER BY id DESC LIMIT 1), 0), COUNT(*), CAST(COALESCE(SUM(amount), 0) AS BIGINT) \
                   FROM payments WHERE project_id = $1 AND id < $2 AND id > COALESCE((SELECT MAX(id) \
                   FROM payment_marks WHERE project_id = $1 AND id < $2), '')";
        let sums = |columns: &mut Columns<'_>| {
            Ok((columns.integer()?, columns.rupiah()?, columns.integer()?, columns.rupiah()?))
        };
        let sums = self.many(Query::new(sql, [Value::shown(project_id), upper(until)]), sums).await?;
        let (position, amount, tail, added) = sums.into_iter().next().unwrap_or_default();
        if tail > LONG_TAIL {
            self.maintenance.list_checkpoints(project_id);
        }
        Ok((position + tail, amount + added))
    }

    /// The checkpoint at `position` or the next one above it.
    async fn checkpoint_above(
        &self,
        project_id: ProjectId,
        position: i64,
    ) -> Result<Option<(String, i64)>, StoreError> {
        let sql = "SELECT id, position FROM payment_marks WHERE project_id = $1 AND position >= $2 \
                   ORDER BY position LIMIT 1";
        self.one(Query::new(sql, [Value::shown(project_id), position.into()]), checkpoint).await
    }

    /// The index contains the references of all projects, so a small project is searched faster without it, in a time
    /// that does not depend on the other projects.
    async fn is_worth_the_index(&self, project_id: ProjectId, term: &str) -> Result<bool, StoreError> {
        if trigrams(term).is_empty() {
            return Ok(false);
        }
        let (up_to_checkpoint, tail) = self.counted(project_id, None).await?;
        Ok(up_to_checkpoint + tail > SMALL_PROJECT)
    }

    /// The conditions of the filter, with the search index where that is faster.
    async fn wanted(&self, project_id: ProjectId, filter: &PaymentFilter) -> Result<Conditions, StoreError> {
        let term = folded(filter.search.as_deref().unwrap_or_default());
        if !self.is_worth_the_index(project_id, &term).await? {
            return Ok(conditions("p.project_id = ?", project_id, filter));
        }
        let (hits, parameters) = self.hits(project_id, filter, &term).await?;
        Ok(Conditions { sql: format!("WHERE p.id IN ({hits})"), parameters })
    }

    /// Searches with the index, and among payments that are not in the index yet.
    async fn found_payments(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        term: &str,
        window: Window,
    ) -> Result<Listed<Payment>, StoreError> {
        let (hits, parameters) = self.hits(project_id, filter, term).await?;
        let count = Query::new(format!("SELECT COUNT(*) FROM ({hits}) hits"), parameters.clone());
        let total = self.many(count, |columns| columns.integer()).await?.into_iter().sum();
        let found = Conditions { sql: format!("WHERE p.id IN ({hits})"), parameters };
        let items = self.page(&list(), found, window).await?;
        Ok(Listed { items, total })
    }

    /// A statement that selects the ids of matching payments.
    async fn hits(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        term: &str,
    ) -> Result<(String, Vec<Value>), StoreError> {
        if self.search_lacks(None, LONG_SEARCH).await? {
            self.maintenance.search_index();
        }
        match self.dialect() {
            Dialect::Sqlite => self.hits_by_rarest(project_id, filter, term).await,
            Dialect::Postgres => Ok(hits_by_index(project_id, filter)),
        }
    }

    /// Queries the index for the term's rarest trigrams and keeps the rows that really contain the term; payments that
    /// are not in the index yet are read one by one.
    async fn hits_by_rarest(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        term: &str,
    ) -> Result<(String, Vec<Value>), StoreError> {
        // The plus keeps SQLite from reading the whole project by the project's index instead.
        let Conditions { sql, mut parameters } = conditions("+p.project_id = ?", project_id, filter);
        let sample = "SELECT search_text FROM payments WHERE project_id = $1 ORDER BY id DESC LIMIT $2";
        let sample = Query::new(sample, [Value::shown(project_id), SAMPLED.into()]);
        let sample = self.many(sample, |columns| columns.text()).await?;
        parameters.push(rarest_trigrams(term, &sample).into());
        let trigrams = parameters.len();
        let hits = format!(
            "SELECT p.id AS id FROM payments p {sql} AND p.number IN \
             (SELECT rowid FROM payment_search WHERE payment_search MATCH ${trigrams}) \
             UNION ALL SELECT p.id FROM payments p {sql} AND p.number > (SELECT upto FROM payment_searchable)"
        );
        Ok((hits, parameters))
    }
}

/// The same for PostgreSQL, whose index chooses the trigrams by itself.
fn hits_by_index(project_id: ProjectId, filter: &PaymentFilter) -> (String, Vec<Value>) {
    let unsearched = PaymentFilter { search: None, ..filter.clone() };
    let mut conditions = conditions("p.project_id = ?", project_id, &unsearched);
    let others = conditions.sql.clone();
    conditions.and_contains("p.search_text", filter.search.as_deref().unwrap_or_default());
    let Conditions { sql, parameters } = conditions;
    let has_term = sql[others.len()..].replacen("p.search_text", "s.search_text", 1);
    let hits = format!(
        "SELECT p.id AS id FROM payment_search s JOIN payments p ON p.id = s.id {others}{has_term} \
         UNION ALL SELECT p.id FROM payments p {sql} AND p.id > (SELECT upto FROM payment_searchable)"
    );
    (hits, parameters)
}

fn list() -> List<Payment> {
    List {
        columns: concat!(payment_columns!(), ", ", checkout_columns!()),
        from: "payments p LEFT JOIN checkouts c ON c.payment_id = p.id",
        table: "payments p",
        id: "p.id",
        // Ids contain `created_at`, so their order is that of creation.
        order: "p.id DESC",
        decode: listed_payment,
    }
}

/// Every three consecutive characters of a folded term; a term of two characters or fewer has none.
fn trigrams(term: &str) -> Vec<String> {
    let characters: Vec<char> = term.chars().collect();
    characters.windows(3).map(|three| three.iter().collect()).collect()
}

/// The query for the index. Trigrams that many references contain, such as those of `order-`, are slow to look up and
/// narrow down little; a sample of references shows which those are.
fn rarest_trigrams(term: &str, sample: &[String]) -> String {
    let mut trigrams = trigrams(term);
    trigrams.sort_by_cached_key(|trigram| sample.iter().filter(|text| text.contains(trigram)).count());
    let quoted = |trigram: &String| format!("\"{}\"", trigram.replace('"', "\"\""));
    trigrams.iter().take(TRIGRAMS_MOST).map(quoted).collect::<Vec<_>>().join(" AND ")
}

fn conditions(of_project: &str, project_id: ProjectId, filter: &PaymentFilter) -> Conditions {
    let mut conditions = Conditions::new();
    conditions.and(of_project, Value::shown(project_id));
    if let Some(link_id) = filter.link_id {
        conditions.and("p.link_id = ?", Value::shown(link_id));
    }
    if let Some((status, now)) = filter.status {
        and_status(&mut conditions, status, now);
    }
    match filter.method {
        Some(MethodFilter::Kind(MethodKind::Qris)) => conditions.and("p.method = ?", "qris"),
        Some(MethodFilter::Kind(MethodKind::VirtualAccount)) => conditions.and("p.method <> ?", "qris"),
        Some(MethodFilter::One(method)) => conditions.and("p.method = ?", Value::shown(method)),
        None => {}
    }
    if let Some((from, until)) = filter.created {
        let range = Range { from: Some(first_id_at(from)), until: Some(first_id_at(until)) };
        and_range(&mut conditions, &range);
    }
    if let Some(term) = &filter.search {
        conditions.and_contains("p.search_text", term);
    }
    conditions
}

fn and_range(conditions: &mut Conditions, range: &Range) {
    if let Some(from) = range.from {
        conditions.and("p.id >= ?", Value::shown(from));
    }
    if let Some(until) = range.until {
        conditions.and("p.id < ?", Value::shown(until));
    }
}

fn upper(until: Option<PaymentId>) -> Value {
    until.map_or_else(|| AFTER_EVERY_ID.into(), Value::shown)
}

/// A pending payment past its expiry is expired, whether or not that was written yet.
fn and_status(conditions: &mut Conditions, status: Status, now: Timestamp) {
    match status {
        Status::Pending => conditions.and("p.state = 'pending' AND p.expires_at >= ?", now),
        Status::Expired => {
            conditions.and("(p.state = 'expired' OR (p.state = 'pending' AND p.expires_at < ?))", now);
        }
        Status::Processing | Status::Paid | Status::Failed | Status::Cancelled => {
            conditions.and("p.state = ?", status.word());
        }
    }
}

fn listed_payment(columns: &mut Columns<'_>) -> Result<Payment, StoreError> {
    let payment = payment(columns)?;
    Ok(Payment { checkout: checkout(columns)?, ..payment })
}

fn pair(columns: &mut Columns<'_>) -> Result<(i64, i64), StoreError> {
    Ok((columns.integer()?, columns.integer()?))
}

fn checkpoint(columns: &mut Columns<'_>) -> Result<(String, i64), StoreError> {
    Ok((columns.text()?, columns.integer()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_is_queried_for_the_trigrams_that_few_references_have() {
        let sample = ["order-1", "order-2"].map(str::to_owned);
        assert_eq!(rarest_trigrams("order-17", &sample), r#""-17" AND "r-1" AND "ord" AND "rde""#);
        assert_eq!(rarest_trigrams("a\"é", &sample), r#""a""é""#);
        for short in ["", "a", "ab", "éé"] {
            assert!(trigrams(short).is_empty(), "{short}");
        }
    }
}
