//! Lists of payments, which stay quick however many there are: the whole list is counted and reached from marks that stand
//! along it, and references are searched by an index of their trigrams. What neither covers yet is read row by row, and
//! when that is much, [`Store::tend`] hears of it.

use domain::{
    id::{ENTROPY_BYTES, LinkId, PaymentId, ProjectId, mint},
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
    plan::{Dialect, folded},
    tend::{AFTER_EVERY_ID, LONG_SEARCH, LONG_TAIL},
    value::{Columns, Query, Value},
};

/// Trigrams that the index is asked for; more of them would narrow down hardly any further.
const TRIGRAMS_MOST: usize = 4;
/// Payments of a project up to which a search reads them all.
const SMALL_PROJECT: i64 = 5_000;
/// References looked at to see which trigrams are rare.
const SAMPLED: i64 = 50;

/// Which payments of a project are wanted; conditions add up.
#[derive(Clone, Debug, Default)]
pub struct PaymentFilter {
    /// A substring of the reference.
    pub search: Option<String>,
    pub link_id: Option<LinkId>,
    /// The status as it is at the given instant.
    pub status: Option<(Status, Timestamp)>,
    pub method: Option<MethodFilter>,
    /// Made from the first instant on, and before the second.
    pub created: Option<(Timestamp, Timestamp)>,
}

/// Every payment of a kind, or those by one way to pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodFilter {
    Kind(MethodKind),
    One(Method),
}

/// A stretch of a list, by ids: from the first one on, and before the second.
struct Stretch {
    from: Option<PaymentId>,
    until: Option<PaymentId>,
}

impl PaymentFilter {
    /// Where nothing else is asked for, what is wanted is a stretch of the list of all payments, which has marks.
    fn stretch(&self) -> Option<Stretch> {
        let PaymentFilter { search: None, link_id: None, status: None, method: None, created } = self else {
            return None;
        };
        let (from, until) = created.map(|(from, until)| (first_made_at(from), first_made_at(until))).unzip();
        Some(Stretch { from, until })
    }
}

/// Ids sort by their instant, so this one stands before all of it.
fn first_made_at(instant: Timestamp) -> PaymentId {
    mint(instant, [0; ENTROPY_BYTES])
}

impl Store {
    pub async fn payments(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        window: Window,
    ) -> Result<Listed<Payment>, StoreError> {
        if let Some(stretch) = filter.stretch() {
            return self.every_payment(project_id, &stretch, window).await;
        }
        let term = folded(filter.search.as_deref().unwrap_or_default());
        match self.is_worth_the_index(project_id, &term).await? {
            true => self.found_payments(project_id, filter, &term, window).await,
            false => self.listed(list(), conditions("p.project_id = ?", project_id, filter), window).await,
        }
    }

    /// The next `most` of a project's payments before one of them, or else the newest, newest first. Nothing is counted, so that
    /// page after page can be read of lists of any length.
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

    /// What the amounts of all payments that are wanted add up to.
    pub async fn payments_total(&self, project_id: ProjectId, filter: &PaymentFilter) -> Result<Rupiah, StoreError> {
        if let Some(Stretch { from, until }) = filter.stretch() {
            let before = match from {
                Some(from) => self.added_up(project_id, Some(from)).await?,
                None => Rupiah::ZERO,
            };
            return Ok(self.added_up(project_id, until).await? - before);
        }
        let Conditions { sql, parameters } = self.wanted(project_id, filter).await?;
        let sum = format!("SELECT CAST(COALESCE(SUM(p.amount), 0) AS BIGINT) FROM payments p {sql}");
        Ok(self.many(Query::new(sum, parameters), |columns| columns.rupiah()).await?.into_iter().sum())
    }

    /// The whole list or a stretch of it. Each mark knows its place in it, so no more is counted than what came after the last
    /// one, and no more is skipped than lies between two.
    async fn every_payment(
        &self,
        project_id: ProjectId,
        stretch: &Stretch,
        window: Window,
    ) -> Result<Listed<Payment>, StoreError> {
        let (marked, tail) = self.counted(project_id, stretch.until).await?;
        if tail > LONG_TAIL {
            self.wanting.shorter_list(project_id);
        }
        let end = marked + tail;
        let begin = match stretch.from {
            Some(from) => self.counted(project_id, Some(from)).await.map(|(marked, tail)| marked + tail)?,
            None => 0,
        };
        let position = end - window.offset;
        let mark = self.mark_above(project_id, position).await?.filter(|(_, marked)| *marked <= end);
        let mut conditions = Conditions::new();
        conditions.and("p.project_id = ?", Value::shown(project_id));
        let offset = match mark {
            Some((id, marked)) => {
                conditions.and("p.id <= ?", id);
                marked - position
            }
            None => window.offset,
        };
        and_stretch(&mut conditions, stretch);
        let items = self.page(&list(), conditions, Window { offset, ..window }).await?;
        Ok(Listed { items, total: end - begin })
    }

    /// How many payments there are up to the last mark before `until`, and how many from there to it.
    async fn counted(&self, project_id: ProjectId, until: Option<PaymentId>) -> Result<(i64, i64), StoreError> {
        let sql = "SELECT COALESCE((SELECT position FROM payment_marks WHERE project_id = $1 AND id < $2 \
                   ORDER BY id DESC LIMIT 1), 0), \
                   (SELECT COUNT(*) FROM payments WHERE project_id = $1 AND id < $2 AND id > COALESCE((SELECT MAX(id) \
                   FROM payment_marks WHERE project_id = $1 AND id < $2), ''))";
        let counted = self.many(Query::new(sql, [Value::shown(project_id), upper(until)]), pair).await?;
        Ok(counted.into_iter().next().unwrap_or_default())
    }

    /// What the amounts of all payments before `until` add up to.
    async fn added_up(&self, project_id: ProjectId, until: Option<PaymentId>) -> Result<Rupiah, StoreError> {
        let sql = "SELECT COALESCE((SELECT amount FROM payment_marks WHERE project_id = $1 AND id < $2 \
                   ORDER BY id DESC LIMIT 1), 0), COUNT(*), CAST(COALESCE(SUM(amount), 0) AS BIGINT) \
                   FROM payments WHERE project_id = $1 AND id < $2 AND id > COALESCE((SELECT MAX(id) \
                   FROM payment_marks WHERE project_id = $1 AND id < $2), '')";
        let sums = |columns: &mut Columns<'_>| Ok((columns.rupiah()?, columns.integer()?, columns.rupiah()?));
        let sums = self.many(Query::new(sql, [Value::shown(project_id), upper(until)]), sums).await?;
        let (marked, tail, added) = sums.into_iter().next().unwrap_or_default();
        if tail > LONG_TAIL {
            self.wanting.shorter_list(project_id);
        }
        Ok(marked + added)
    }

    /// The mark at `position` or the next one above it.
    async fn mark_above(&self, project_id: ProjectId, position: i64) -> Result<Option<(String, i64)>, StoreError> {
        let sql = "SELECT id, position FROM payment_marks WHERE project_id = $1 AND position >= $2 \
                   ORDER BY position LIMIT 1";
        self.one(Query::new(sql, [Value::shown(project_id), position.into()]), mark).await
    }

    /// The index knows the references of all projects together, so a small project is searched faster without it, and never
    /// at the price of what the others have.
    async fn is_worth_the_index(&self, project_id: ProjectId, term: &str) -> Result<bool, StoreError> {
        if trigrams(term).is_empty() {
            return Ok(false);
        }
        let (marked, tail) = self.counted(project_id, None).await?;
        Ok(marked + tail > SMALL_PROJECT)
    }

    /// What the rows that are wanted have in common, by the index of references where that is quicker.
    async fn wanted(&self, project_id: ProjectId, filter: &PaymentFilter) -> Result<Conditions, StoreError> {
        let term = folded(filter.search.as_deref().unwrap_or_default());
        if !self.is_worth_the_index(project_id, &term).await? {
            return Ok(conditions("p.project_id = ?", project_id, filter));
        }
        let (hits, parameters) = self.hits(project_id, filter, &term).await?;
        Ok(Conditions { sql: format!("WHERE p.id IN ({hits})"), parameters })
    }

    /// Those whose reference has the term's rarest trigrams, and those that are not in the index yet; of both, those that
    /// really have the term.
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

    /// A statement for the ids of what is found.
    async fn hits(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        term: &str,
    ) -> Result<(String, Vec<Value>), StoreError> {
        if self.search_lacks(None, LONG_SEARCH).await? {
            self.wanting.longer_search();
        }
        match self.dialect() {
            Dialect::Sqlite => self.hits_by_rarest(project_id, filter, term).await,
            Dialect::Postgres => Ok(hits_by_index(project_id, filter)),
        }
    }

    /// By the term's rarest trigrams in the index, and by reading what is not in it.
    async fn hits_by_rarest(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        term: &str,
    ) -> Result<(String, Vec<Value>), StoreError> {
        // The plus keeps SQLite from walking through the whole project by its index instead.
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

/// The same where the database finds the rarest trigrams by itself.
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
        // Ids are made at `created_at`, so their order is that of creation.
        order: "p.id DESC",
        decode: listed_payment,
    }
}

/// Every three characters in a row of a folded term; one of two characters or fewer has none.
fn trigrams(term: &str) -> Vec<String> {
    let characters: Vec<char> = term.chars().collect();
    characters.windows(3).map(|three| three.iter().collect()).collect()
}

/// What to ask the index for. Trigrams that stand in many references, such as those of `order-`, take it long and tell it
/// little; a look at a few references shows which those are.
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
        let stretch = Stretch { from: Some(first_made_at(from)), until: Some(first_made_at(until)) };
        and_stretch(&mut conditions, &stretch);
    }
    if let Some(term) = &filter.search {
        conditions.and_contains("p.search_text", term);
    }
    conditions
}

fn and_stretch(conditions: &mut Conditions, stretch: &Stretch) {
    if let Some(from) = stretch.from {
        conditions.and("p.id >= ?", Value::shown(from));
    }
    if let Some(until) = stretch.until {
        conditions.and("p.id < ?", Value::shown(until));
    }
}

fn upper(until: Option<PaymentId>) -> Value {
    until.map_or_else(|| AFTER_EVERY_ID.into(), Value::shown)
}

/// A pending payment past its expiry is expired, whether or not that has been written down.
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

fn mark(columns: &mut Columns<'_>) -> Result<(String, i64), StoreError> {
    Ok((columns.text()?, columns.integer()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_is_asked_for_the_trigrams_that_few_references_have() {
        let sample = ["order-1", "order-2"].map(str::to_owned);
        assert_eq!(rarest_trigrams("order-17", &sample), r#""-17" AND "r-1" AND "ord" AND "rde""#);
        assert_eq!(rarest_trigrams("a\"é", &sample), r#""a""é""#);
        for short in ["", "a", "ab", "éé"] {
            assert!(trigrams(short).is_empty(), "{short}");
        }
    }
}
