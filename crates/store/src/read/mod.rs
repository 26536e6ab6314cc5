//! Typed reads, one file per subject. A read that takes a project's id never returns another project's rows.

pub(crate) mod attempts;
pub(crate) mod audit;
pub(crate) mod bank_money;
pub(crate) mod bank_requests;
pub(crate) mod bank_stories;
pub(crate) mod banks;
pub(crate) mod change_token;
pub(crate) mod customers;
pub(crate) mod deliveries;
pub(crate) mod events;
pub(crate) mod factors;
pub(crate) mod idempotency;
pub(crate) mod installation;
pub(crate) mod invites;
pub(crate) mod keys;
pub(crate) mod ledger;
pub(crate) mod letters;
pub(crate) mod link_search;
pub(crate) mod link_titles;
pub(crate) mod links;
pub(crate) mod log;
pub(crate) mod nodes;
pub(crate) mod notices;
pub(crate) mod openings;
pub(crate) mod paid_codes;
mod password_resets;
pub(crate) mod payment_kinds;
pub(crate) mod payment_list;
pub(crate) mod payment_search;
pub(crate) mod payment_sums;
pub(crate) mod payments;
pub(crate) mod project_health;
pub(crate) mod projects;
pub(crate) mod receipts;
pub(crate) mod reconciliations;
pub(crate) mod refund_attempts;
pub(crate) mod refunds;
pub(crate) mod sales;
pub(crate) mod sealed;
pub(crate) mod search_term;
pub(crate) mod sessions;
pub(crate) mod strays;
mod undecided;
pub(crate) mod users;
mod verify;
pub(crate) mod volume;

use domain::search::folded;

use crate::{
    Store,
    error::StoreError,
    value::{Decode, Query, Value},
};

/// Which rows of a list to return.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub offset: i64,
    pub limit: i64,
}

/// A part of a list, and the length of the whole list.
#[derive(Debug)]
pub struct Listed<T> {
    pub items: Vec<T>,
    pub total: i64,
}

/// Conditions joined by AND; parameters are numbered in the order in which they are added.
pub(crate) struct Conditions {
    pub(crate) sql: String,
    pub(crate) parameters: Vec<Value>,
}

impl Conditions {
    fn new() -> Conditions {
        Conditions { sql: String::new(), parameters: Vec::new() }
    }

    /// Adds `condition`, in which each `?` stands for `value`.
    fn and(&mut self, condition: &str, value: impl Into<Value>) {
        let place = self.place(value);
        self.and_sql(&condition.replace('?', &place));
    }

    /// Adds a condition whose parameters have their places already.
    fn and_sql(&mut self, condition: &str) {
        self.sql.push_str(if self.sql.is_empty() { "WHERE " } else { " AND " });
        self.sql.push_str(condition);
    }

    /// A parameter's place in the statement.
    fn place(&mut self, value: impl Into<Value>) -> String {
        self.parameters.push(value.into());
        format!("${}", self.parameters.len())
    }

    /// Adds the condition that `column` contains `term`, ignoring case; no character of the term is special.
    fn and_contains(&mut self, column: &str, term: &str) {
        self.and(&format!("{column} LIKE ? ESCAPE '\\'"), pattern(&folded(term)));
    }
}

/// The pattern of texts that contain a folded text.
fn pattern(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{escaped}%")
}

/// The columns, tables and order of a list.
struct List<T> {
    columns: &'static str,
    /// The table and its joins.
    from: &'static str,
    /// The table without joins that add only columns; enough to count and to find ids.
    table: &'static str,
    id: &'static str,
    order: &'static str,
    decode: Decode<T>,
}

impl Store {
    /// Counts a list and reads one window of it.
    async fn listed<T: Send + 'static>(
        &self,
        list: List<T>,
        conditions: Conditions,
        window: Window,
    ) -> Result<Listed<T>, StoreError> {
        let Conditions { sql, parameters } = &conditions;
        let count = Query::new(format!("SELECT COUNT(*) FROM {} {sql}", list.table), parameters.clone());
        let total = self.many(count, |columns| columns.integer()).await?.into_iter().sum();
        let items = self.page(&list, conditions, window).await?;
        Ok(Listed { items, total })
    }

    /// Finds the ids of a window first, which an index may serve by itself, and then reads only those rows.
    async fn page<T: Send + 'static>(
        &self,
        list: &List<T>,
        conditions: Conditions,
        window: Window,
    ) -> Result<Vec<T>, StoreError> {
        let List { columns, from, table, id, order, decode } = list;
        let Conditions { sql, mut parameters } = conditions;
        let (limit, offset) = (parameters.len() + 1, parameters.len() + 2);
        let ids = format!("SELECT {id} FROM {table} {sql} ORDER BY {order} LIMIT ${limit} OFFSET ${offset}");
        let page = format!("SELECT {columns} FROM {from} WHERE {id} IN ({ids}) ORDER BY {order}");
        parameters.extend([window.limit.into(), window.offset.into()]);
        self.many(Query::new(page, parameters), *decode).await
    }
}
