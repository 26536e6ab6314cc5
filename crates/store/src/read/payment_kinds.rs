//! Lists of payments of one status or method. The index of states and methods has the payments of one state and one method
//! in the order of their ids, so a list is merged from a few parts of the index, of each of which only the beginning is
//! read.

use domain::{
    id::ProjectId,
    method::{Method, MethodKind},
    payment::{Payment, Status},
    time::Timestamp,
};

use super::{
    List, Window,
    payment_list::{MethodFilter, PaymentFilter, PaymentOrder, Range, list},
};
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// A part of the index: the payments of one state and one method, and a condition on their expiry.
pub(crate) struct Kind {
    pub(crate) state: &'static str,
    pub(crate) method: Method,
    pub(crate) expiry: Option<(&'static str, Timestamp)>,
}

/// What is read of each payment: for lists that are sorted by time only what the index has.
const IDS: &str = "p.id AS id";
const IDS_WITH_AMOUNTS: &str = "p.id AS id, p.amount AS amount";
pub(super) const MONEY: &str = "p.amount AS amount, p.fee AS fee, p.paid_at AS paid_at";

impl Store {
    /// One window of the payments of the filter's status and method within a range.
    pub(super) async fn payments_of_kinds(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        (range, order): (Range, PaymentOrder),
        window: Window,
    ) -> Result<Vec<Payment>, StoreError> {
        let kinds = self.kinds(project_id, filter).await?;
        let skipped = match order {
            PaymentOrder::Newest => self.skipped(project_id, filter, window.offset).await?,
            PaymentOrder::Oldest | PaymentOrder::AmountHighest | PaymentOrder::AmountLowest => None,
        };
        let (range, offset) = match skipped {
            Some((below, newer)) => (Range { until: Some(below), ..range }, window.offset - newer),
            None => (range, window.offset),
        };
        let window = Window { offset, ..window };
        let Some(ids) = ids(project_id, &kinds, (range, order), window) else { return Ok(Vec::new()) };
        let ids = self.many(ids, |columns| columns.payment_id()).await?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        // The ids are parameters and not a subquery, for which PostgreSQL may choose to read the whole table.
        let numbers: Vec<String> = (0..ids.len()).map(|index| format!("${}", index + 2)).collect();
        let List { columns, from, order, decode, .. } = list(order);
        let sql = format!(
            "SELECT {columns} FROM {from} WHERE p.project_id = $1 AND p.id IN ({}) ORDER BY {order}",
            numbers.join(", ")
        );
        let parameters: Vec<Value> =
            std::iter::once(Value::stored(project_id)).chain(ids.into_iter().map(Value::stored)).collect();
        self.many(Query::new(sql, parameters), decode).await
    }

    /// The parts of the index that have payments of the filter's status and method.
    pub(super) async fn kinds(&self, project_id: ProjectId, filter: &PaymentFilter) -> Result<Vec<Kind>, StoreError> {
        let states = states(filter.status);
        let found = |columns: &mut Columns<'_>| Ok((columns.text()?, columns.method()?));
        let found: Vec<(String, Method)> = self.many(existing_kinds(project_id, &states), found).await?;
        let wanted =
            found.into_iter().filter(|(_, method)| filter.method.is_none_or(|wanted| wanted.includes(*method)));
        let kind = |(name, method): (String, Method)| {
            let (state, expiry) = states.iter().find(|(state, _)| *state == name)?;
            Some(Kind { state, method, expiry: *expiry })
        };
        Ok(wanted.filter_map(kind).collect())
    }
}

impl MethodFilter {
    fn includes(self, method: Method) -> bool {
        match self {
            MethodFilter::Kind(kind) => method.kind() == kind,
            MethodFilter::One(one) => method == one,
        }
    }

    /// The condition for a column with a method; `?` stands for the value.
    pub(super) fn condition(self, column: &str) -> (String, Value) {
        match self {
            MethodFilter::Kind(MethodKind::Qris) => (format!("{column} = ?"), "qris".into()),
            MethodFilter::Kind(MethodKind::VirtualAccount) => (format!("{column} <> ?"), "qris".into()),
            MethodFilter::One(method) => (format!("{column} = ?"), Value::stored(method)),
        }
    }
}

/// A stored state, and a condition on the expiry in which `?` stands for the time.
type State = (&'static str, Option<(&'static str, Timestamp)>);

/// The stored states of payments with a status. A pending payment past its expiry is
/// expired, whether or not that was written yet.
pub(crate) fn states(status: Option<(Status, Timestamp)>) -> Vec<State> {
    match status {
        None => Status::ALL.map(|status| (status.word(), None)).into(),
        Some((Status::Pending, now)) => vec![("pending", Some(("p.expires_at >= ?", now)))],
        Some((Status::Expired, now)) => vec![("expired", None), ("pending", Some(("p.expires_at < ?", now)))],
        Some((status, _)) => vec![(status.word(), None)],
    }
}

/// The query for the states and methods of which there are payments.
pub(crate) fn existing_kinds(project_id: ProjectId, states: &[State]) -> Query {
    let names: Vec<String> = states.iter().map(|(state, _)| format!("SELECT '{state}' AS state")).collect();
    // Each step goes to the next method of a state, which is one look-up in the index.
    let sql = format!(
        "WITH RECURSIVE kinds(state, method) AS (SELECT s.state, (SELECT p.method FROM payments p \
         WHERE p.project_id = $1 AND p.state = s.state ORDER BY p.method LIMIT 1) FROM ({}) s \
         UNION ALL SELECT k.state, (SELECT p.method FROM payments p WHERE p.project_id = $1 AND p.state = k.state \
         AND p.method > k.method ORDER BY p.method LIMIT 1) FROM kinds k WHERE k.method IS NOT NULL) \
         SELECT state, method FROM kinds WHERE method IS NOT NULL",
        names.join(" UNION ALL ")
    );
    Query::new(sql, [Value::stored(project_id)])
}

/// The query for the ids of a window; none where there are no kinds.
pub(crate) fn ids(
    project_id: ProjectId,
    kinds: &[Kind],
    (range, order): (Range, PaymentOrder),
    window: Window,
) -> Option<Query> {
    let by_time = matches!(order, PaymentOrder::Newest | PaymentOrder::Oldest);
    let (columns, most) =
        if by_time { (IDS, window.offset.saturating_add(window.limit)) } else { (IDS_WITH_AMOUNTS, i64::MAX) };
    let (parts, mut parameters) = merged(project_id, kinds, (range, order), columns, most)?;
    parameters.extend([window.limit.into(), window.offset.into()]);
    let order = match order {
        PaymentOrder::Newest => "id DESC",
        PaymentOrder::Oldest => "id",
        PaymentOrder::AmountHighest => "amount DESC, id DESC",
        PaymentOrder::AmountLowest => "amount, id DESC",
    };
    let (limit, offset) = (parameters.len() - 1, parameters.len());
    let sql = format!("SELECT id FROM ({parts}) found ORDER BY {order} LIMIT ${limit} OFFSET ${offset}");
    Some(Query::new(sql, parameters))
}

/// The first payments of each kind, at most `most` of each; none where there are no kinds.
pub(super) fn merged(
    project_id: ProjectId,
    kinds: &[Kind],
    (range, order): (Range, PaymentOrder),
    columns: &str,
    most: i64,
) -> Option<(String, Vec<Value>)> {
    let mut parameters = vec![Value::stored(project_id)];
    let mut add = |value: Value| {
        parameters.push(value);
        format!("${}", parameters.len())
    };
    let direction = if order == PaymentOrder::Oldest { "" } else { " DESC" };
    let mut parts = Vec::new();
    for Kind { state, method, expiry } in kinds {
        let mut part = format!("SELECT {columns} FROM payments p WHERE p.project_id = $1 AND p.state = ");
        part += &add((*state).into());
        part += &format!(" AND p.method = {}", add(Value::stored(method)));
        if let Some((condition, at)) = expiry {
            part += &format!(" AND {}", condition.replace('?', &add((*at).into())));
        }
        if let Some(from) = range.from {
            part += &format!(" AND p.id >= {}", add(Value::stored(from)));
        }
        if let Some(until) = range.until {
            part += &format!(" AND p.id < {}", add(Value::stored(until)));
        }
        part += &format!(" ORDER BY p.id{direction} LIMIT {}", add(most.into()));
        parts.push(format!("SELECT * FROM ({part}) part{}", parts.len()));
    }
    (!parts.is_empty()).then(|| (parts.join(" UNION ALL "), parameters))
}
