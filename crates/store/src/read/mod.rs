//! Typed reads, one file per kind of thing. Statements that take a project's id never show another project's rows.

pub(crate) mod audit;
pub(crate) mod deliveries;
pub(crate) mod events;
pub(crate) mod idempotency;
pub(crate) mod installation;
pub(crate) mod invites;
pub(crate) mod keys;
pub(crate) mod ledger;
pub(crate) mod links;
pub(crate) mod log;
pub(crate) mod payment_list;
pub(crate) mod payments;
pub(crate) mod projects;
pub(crate) mod pulse;
pub(crate) mod receipts;
pub(crate) mod sessions;
pub(crate) mod users;
pub(crate) mod volume;

use crate::{
    Store,
    error::StoreError,
    plan::folded,
    value::{Decode, Query, Value},
};

/// Which rows of a list are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub offset: i64,
    pub limit: i64,
}

/// A part of a list, and how long the whole list is.
#[derive(Debug)]
pub struct Listed<T> {
    pub items: Vec<T>,
    pub total: i64,
}

/// Conditions joined by AND, with their parameters numbered as they come.
struct Conditions {
    sql: String,
    parameters: Vec<Value>,
}

impl Conditions {
    fn new() -> Conditions {
        Conditions { sql: String::new(), parameters: Vec::new() }
    }

    /// Adds `condition`, in which each `?` stands for `value`.
    fn and(&mut self, condition: &str, value: impl Into<Value>) {
        self.parameters.push(value.into());
        let number = format!("${}", self.parameters.len());
        self.sql.push_str(if self.sql.is_empty() { "WHERE " } else { " AND " });
        self.sql.push_str(&condition.replace('?', &number));
    }

    /// A case-insensitive substring of `column`, in which no character is special.
    fn and_contains(&mut self, column: &str, term: &str) {
        let escaped = folded(term).replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
        self.and(&format!("{column} LIKE ? ESCAPE '\\'"), format!("%{escaped}%"));
    }
}

/// What a list shows, and in which order.
struct List<T> {
    columns: &'static str,
    /// The table and its joins.
    from: &'static str,
    /// The table alone, which is enough to count.
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

    /// Finds the ids of a window, which an index alone may know, and then reads the rows of no others.
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
