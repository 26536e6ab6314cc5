//! What lists of payments add up to. Most of a list was added up by maintenance, from one checkpoint to the next; the
//! payments that were not, since they are recent or can still be paid, are read.

use domain::{
    id::{PaymentId, ProjectId},
    money::Rupiah,
    payment::Status,
};

use super::{
    Conditions,
    payment_kinds::{MONEY, merged},
    payment_list::{
        MATCHES_COUNTED, Matches, PaymentFilter, PaymentOrder, Range, Sums, Way, and_status, conditions, upper,
    },
};
use crate::{
    Store,
    error::StoreError,
    maintenance::{LONG_TAIL, PAYMENTS_APART},
    value::{Columns, Query, Value},
};

/// Payments that are read at most beside the stored sums; where more are left, a list is counted one by one.
const READ_MOST: i64 = 100 * PAYMENTS_APART;
/// Payments of a list that are skipped one by one; farther down, the sums of checkpoints are used.
const FAR: i64 = 2 * PAYMENTS_APART;
/// Checkpoints without sums that a list may have before maintenance is requested.
const UNSUMMED_MOST: i64 = 2;

/// The first and the last checkpoint of a range. All payments after the first, up to the last, are in the range. A range that
/// begins with the list needs no first one.
const EDGES: &str = "SELECT COALESCE((SELECT id FROM payment_marks WHERE project_id = $1 AND $2 <> '' AND id >= $2 \
    AND id < $3 ORDER BY id LIMIT 1), '') AS first, COALESCE((SELECT id FROM payment_marks WHERE project_id = $1 \
    AND id >= $2 AND id < $3 ORDER BY id DESC LIMIT 1), '') AS last";
/// The checkpoints in between that have no sums.
const UNSUMMED: &str =
    "payment_marks m WHERE m.project_id = $1 AND m.is_summed = 0 AND m.id > e.first AND m.id <= e.last";

impl Store {
    /// How many payments match the filter, and what the paid ones add up to, as far as that can be told without reading
    /// very many.
    pub async fn payments_matching(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
    ) -> Result<Matches, StoreError> {
        let sums = match self.stored_sums(project_id, filter).await? {
            Some(sums) => sums,
            None => {
                let sums = self.counted_sums(project_id, filter, MATCHES_COUNTED + 1).await?;
                if sums.payments > MATCHES_COUNTED {
                    return Ok(Matches::More);
                }
                sums
            }
        };
        let differences = self.accepted_differences(project_id, filter).await?;
        Ok(Matches::All(Sums { amount: sums.amount + differences, ..sums }))
    }

    /// By how much more money came for the payments than their amounts, where held money was accepted with the difference.
    /// That is rare, so it is not stored with the other sums.
    async fn accepted_differences(&self, project_id: ProjectId, filter: &PaymentFilter) -> Result<Rupiah, StoreError> {
        let Conditions { sql, parameters } = conditions("p.project_id = ?", project_id, filter);
        let sql = format!(
            "SELECT CAST(COALESCE(SUM(r.difference), 0) AS BIGINT) FROM receipts r CROSS JOIN payments p {sql} \
             AND r.project_id = p.project_id AND r.difference <> 0 AND p.id = r.decided_payment_id"
        );
        Ok(self.many(Query::new(sql, parameters), |columns| columns.rupiah()).await?.into_iter().sum())
    }

    /// How many payments match a filter that asks for no link and searches nothing.
    pub(super) async fn payments_total(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
    ) -> Result<i64, StoreError> {
        match self.stored_sums(project_id, filter).await? {
            Some(sums) => Ok(sums.payments),
            None => Ok(self.counted_sums(project_id, filter, i64::MAX).await?.payments),
        }
    }

    /// The sums of a list from those of its checkpoints; none where they do not help.
    async fn stored_sums(&self, project_id: ProjectId, filter: &PaymentFilter) -> Result<Option<Sums>, StoreError> {
        match self.has_sums(project_id, filter).await? {
            true => Ok(self.many(summing(project_id, filter), sums).await?.pop()),
            false => Ok(None),
        }
    }

    /// Where to go on for a page that is far down the list: below this payment, and with so many payments skipped.
    pub(super) async fn skipped(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        offset: i64,
    ) -> Result<Option<(PaymentId, i64)>, StoreError> {
        if offset < FAR || !self.has_sums(project_id, filter).await? {
            return Ok(None);
        }
        let below = |columns: &mut Columns<'_>| Ok((columns.parsed()?, columns.integer()?));
        Ok(self.many(skipping(project_id, filter, offset), below).await?.pop())
    }

    /// Whether stored sums help with a list.
    async fn has_sums(&self, project_id: ProjectId, filter: &PaymentFilter) -> Result<bool, StoreError> {
        // Sums are stored of payments that have ended. All others are few, and read by their index.
        let is_open = matches!(filter.status, Some((Status::Pending | Status::Processing, _)));
        Ok(!is_open && filter.way() != Way::Other && self.is_summed(project_id, filter.range()).await?)
    }

    /// Whether few of the range's payments are left to be read. Otherwise maintenance is requested.
    async fn is_summed(&self, project_id: ProjectId, range: Range) -> Result<bool, StoreError> {
        let unsummed = format!("SELECT COUNT(*) FROM ({EDGES}) e CROSS JOIN {UNSUMMED}");
        let unsummed = Query::new(unsummed, bounds(project_id, range));
        let unsummed: i64 = self.many(unsummed, |columns| columns.integer()).await?.into_iter().sum();
        let (_, tail) = self.counted(project_id, range.until).await?;
        if unsummed > UNSUMMED_MOST || tail > LONG_TAIL {
            self.maintenance.list_checkpoints(project_id);
        }
        Ok(unsummed * PAYMENTS_APART + tail <= READ_MOST)
    }

    /// The sums of at most `most` payments, each of which is read.
    async fn counted_sums(&self, project_id: ProjectId, filter: &PaymentFilter, most: i64) -> Result<Sums, StoreError> {
        let (found, mut parameters) = if filter.way() == Way::Kinds {
            let kinds = self.kinds(project_id, filter).await?;
            let part = (filter.range(), PaymentOrder::Newest);
            let Some(merged) = merged(project_id, &kinds, part, MONEY, most) else { return Ok(Sums::default()) };
            merged
        } else {
            let Conditions { sql, parameters } = self.wanted(project_id, filter).await?;
            (format!("SELECT {MONEY} FROM payments p {sql}"), parameters)
        };
        parameters.push(most.into());
        let sql = format!(
            "SELECT COUNT(*), COUNT(paid_at), \
             CAST(COALESCE(SUM(CASE WHEN paid_at IS NOT NULL THEN amount END), 0) AS BIGINT), \
             CAST(COALESCE(SUM(CASE WHEN paid_at IS NOT NULL THEN fee END), 0) AS BIGINT) \
             FROM (SELECT amount, fee, paid_at FROM ({found}) matching LIMIT ${}) found",
            parameters.len()
        );
        Ok(self.many(Query::new(sql, parameters), sums).await?.pop().unwrap_or_default())
    }
}

/// The project, the first id of the range, empty where it begins with the list, and the first id after the range.
fn bounds(project_id: ProjectId, range: Range) -> Vec<Value> {
    let from = range.from.map_or_else(|| "".into(), Value::stored);
    vec![Value::stored(project_id), from, upper(range.until)]
}

/// The parts of a statement about stored sums `s` and about payments `p` that are read, within the ranges `r` that have no
/// sums. All joins are CROSS JOINs, whose order SQLite keeps: else it may go through all payments first.
struct Parts {
    stored: String,
    read: String,
    parameters: Vec<Value>,
}

impl Parts {
    fn of(project_id: ProjectId, filter: &PaymentFilter) -> Parts {
        let mut stored = Conditions {
            sql: "edges e CROSS JOIN payment_sums s WHERE s.project_id = $1 AND s.id > e.first AND s.id <= e.last"
                .to_owned(),
            parameters: bounds(project_id, filter.range()),
        };
        if let Some((status, _)) = filter.status {
            stored.and("s.state = ?", status.word());
        }
        if let Some((condition, method)) = filter.method.map(|method| method.condition("s.method")) {
            stored.and(&condition, method);
        }
        let ranges = format!(
            "(SELECT m.previous AS after, m.id AS upto FROM edges e CROSS JOIN {UNSUMMED} \
             UNION ALL SELECT '', first FROM edges UNION ALL SELECT last, $3 FROM edges) r"
        );
        let within = "p.project_id = $1 AND p.id > r.after AND p.id <= r.upto AND p.id >= $2 AND p.id < $3";
        let mut read =
            Conditions { sql: format!("{ranges} CROSS JOIN payments p WHERE {within}"), parameters: stored.parameters };
        if let Some((status, now)) = filter.status {
            and_status(&mut read, status, now);
        }
        if let Some((condition, method)) = filter.method.map(|method| method.condition("p.method")) {
            read.and(&condition, method);
        }
        Parts { stored: stored.sql, read: read.sql, parameters: read.parameters }
    }
}

/// Adds stored sums to those of the payments that are read. One statement, so that no sums can be removed in between.
fn summing(project_id: ProjectId, filter: &PaymentFilter) -> Query {
    let Parts { stored, read, parameters } = Parts::of(project_id, filter);
    let sql = format!(
        "WITH edges AS ({EDGES}) \
         SELECT CAST(COALESCE(SUM(payments), 0) AS BIGINT), CAST(COALESCE(SUM(paid), 0) AS BIGINT), \
         CAST(COALESCE(SUM(amount), 0) AS BIGINT), CAST(COALESCE(SUM(fee), 0) AS BIGINT) FROM \
         (SELECT s.payments AS payments, CASE s.state WHEN 'paid' THEN s.payments END AS paid, \
         CASE s.state WHEN 'paid' THEN s.amount END AS amount, CASE s.state WHEN 'paid' THEN s.fee END AS fee \
         FROM {stored} UNION ALL SELECT COUNT(*), COUNT(p.paid_at), \
         SUM(CASE WHEN p.paid_at IS NOT NULL THEN p.amount END), SUM(CASE WHEN p.paid_at IS NOT NULL THEN p.fee END) \
         FROM {read}) sums"
    );
    Query::new(sql, parameters)
}

/// Finds how far down the list the sums lead: the payment below which to go on, and how many payments of the list are not
/// below it, at most `offset`.
fn skipping(project_id: ProjectId, filter: &PaymentFilter, offset: i64) -> Query {
    let Parts { stored, read, mut parameters } = Parts::of(project_id, filter);
    parameters.push(offset.into());
    let sql = format!(
        "WITH edges AS ({EDGES}), segments AS (SELECT s.id AS upto, SUM(s.payments) AS payments FROM {stored} \
         GROUP BY s.id UNION ALL SELECT r.upto, COUNT(*) FROM {read} GROUP BY r.upto), \
         running AS (SELECT upto, CAST(SUM(payments) OVER (ORDER BY upto DESC) AS BIGINT) AS newer FROM segments) \
         SELECT (SELECT p.id FROM payments p WHERE p.project_id = $1 AND p.id > COALESCE((SELECT m.previous \
         FROM payment_marks m WHERE m.project_id = $1 AND m.id = running.upto), (SELECT last FROM edges)) \
         ORDER BY p.id LIMIT 1), newer FROM running WHERE newer <= ${} ORDER BY upto LIMIT 1",
        parameters.len()
    );
    Query::new(sql, parameters)
}

fn sums(columns: &mut Columns<'_>) -> Result<Sums, StoreError> {
    let (payments, paid) = (columns.integer()?, columns.integer()?);
    Ok(Sums { payments, paid, amount: columns.rupiah()?, fee: columns.rupiah()? })
}
