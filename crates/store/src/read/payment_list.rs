//! Lists of payments, which stay quick however many there are: the whole list is counted and reached from marks that stand
//! along it, and references are searched by an index of their trigrams. What neither covers yet is read row by row, and
//! when that is much, [`Store::tend`] hears of it.

use domain::{
    id::{LinkId, ProjectId},
    method::MethodKind,
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
    tend::{LONG_SEARCH, LONG_TAIL},
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
    pub method: Option<MethodKind>,
}

impl Store {
    pub async fn payments(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        window: Window,
    ) -> Result<Listed<Payment>, StoreError> {
        if let PaymentFilter { search: None, link_id: None, status: None, method: None } = filter {
            return self.every_payment(project_id, window).await;
        }
        let term = folded(filter.search.as_deref().unwrap_or_default());
        match self.is_worth_the_index(project_id, &term).await? {
            true => self.found_payments(project_id, filter, &term, window).await,
            false => self.listed(list(), conditions("p.project_id = ?", project_id, filter), window).await,
        }
    }

    /// The whole list. Each mark knows its place in it, so no more is counted than what came after the last one, and no
    /// more is skipped than lies between two.
    async fn every_payment(&self, project_id: ProjectId, window: Window) -> Result<Listed<Payment>, StoreError> {
        let (marked, tail) = self.counted(project_id).await?;
        if tail > LONG_TAIL {
            self.wanting.shorter_list(project_id);
        }
        let total = marked + tail;
        let (from, offset) = match self.mark_above(project_id, total - window.offset).await? {
            Some((id, position)) => (Some(id), position - (total - window.offset)),
            None => (None, window.offset),
        };
        let mut conditions = Conditions::new();
        conditions.and("p.project_id = ?", Value::shown(project_id));
        if let Some(id) = from {
            conditions.and("p.id <= ?", id);
        }
        let items = self.page(&list(), conditions, Window { offset, ..window }).await?;
        Ok(Listed { items, total })
    }

    /// How many payments there are up to the last mark, and how many after it.
    async fn counted(&self, project_id: ProjectId) -> Result<(i64, i64), StoreError> {
        let sql = "SELECT COALESCE((SELECT MAX(position) FROM payment_marks WHERE project_id = $1), 0), \
                   (SELECT COUNT(*) FROM payments WHERE project_id = $1 AND id > \
                   COALESCE((SELECT MAX(id) FROM payment_marks WHERE project_id = $1), ''))";
        let counted = self.many(Query::new(sql, [Value::shown(project_id)]), pair).await?;
        Ok(counted.into_iter().next().unwrap_or_default())
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
        let (marked, tail) = self.counted(project_id).await?;
        Ok(marked + tail > SMALL_PROJECT)
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
        if self.search_lacks(None, LONG_SEARCH).await? {
            self.wanting.longer_search();
        }
        let (hits, parameters) = match self.dialect() {
            Dialect::Sqlite => self.hits_by_rarest(project_id, filter, term).await?,
            Dialect::Postgres => hits_by_index(project_id, filter),
        };
        let count = Query::new(format!("SELECT COUNT(*) FROM ({hits}) hits"), parameters.clone());
        let total = self.many(count, |columns| columns.integer()).await?.into_iter().sum();
        let found = Conditions { sql: format!("WHERE p.id IN ({hits})"), parameters };
        let items = self.page(&list(), found, window).await?;
        Ok(Listed { items, total })
    }

    /// A statement for the ids of what is found: by the term's rarest trigrams in the index, and by reading what is not in it.
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
        Some(MethodKind::Qris) => conditions.and("p.method = ?", "qris"),
        Some(MethodKind::VirtualAccount) => conditions.and("p.method <> ?", "qris"),
        None => {}
    }
    if let Some(term) = &filter.search {
        conditions.and_contains("p.search_text", term);
    }
    conditions
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
