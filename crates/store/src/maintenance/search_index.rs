//! The search index. New payments are added in batches rather than with each payment, which would make every payment slower.
//! Payments whose texts have changed are added again, and customers' texts that have no folded form get one.
//! Links have an index of their own; a link waits for it from its commit on, just as payments whose texts have changed.

use std::sync::atomic::Ordering;

use domain::{id::PaymentId, payment::Customer, search::customer_text, time::Timestamp};

use super::first_unstable_id;
use crate::{
    Change, CommitError, MaintenanceWrite, Store, StoreError,
    change::{FoldedCheckout, IndexedBatch, IndexedRow, SearchIndex},
    plan::Dialect,
    search_tokens::{self, Searched},
    value::{Columns, Decode, Query, Value},
};

/// Payments, or links, added by one commit.
const ROWS_AT_ONCE: i64 = 500;
/// A search that finds more payments missing from the index requests maintenance.
pub(crate) const LONG_SEARCH: i64 = 1_000;

/// What a payment is searched by. This is the one place that reads it for the index; `read/payment_search.rs` has the one
/// that compares it with a term.
macro_rules! searched {
    ($key:literal, $from:literal) => {
        concat!(
            "SELECT ",
            $key,
            ", p.project_id, p.search_text, CASE WHEN p.method = 'qris' THEN '' ELSE p.code END, p.amount, \
             COALESCE(c.customer_name, ''), COALESCE(c.customer_email, ''), COALESCE(c.customer_phone, ''), \
             COALESCE(l.search_text, ''), COALESCE(p.metadata_text, '') FROM ",
            $from,
            " LEFT JOIN checkouts c ON c.payment_id = p.id LEFT JOIN links l ON l.id = p.link_id "
        )
    };
}

const NEXT_ON_SQLITE: &str =
    concat!(searched!("p.number", "payments p"), "WHERE p.number > $1 ORDER BY p.number LIMIT $2");
const NEXT_ON_POSTGRES: &str =
    concat!(searched!("p.id", "payments p"), "WHERE p.id > $1 AND p.id < $2 ORDER BY p.id LIMIT $3");
const AGAIN_ON_SQLITE: &str = concat!(
    searched!("a.number, p.number", "payment_search_again a JOIN payments p ON p.id = a.payment_id"),
    "ORDER BY a.number LIMIT $1"
);
const AGAIN_ON_POSTGRES: &str = concat!(
    searched!("a.number, p.id", "payment_search_again a JOIN payments p ON p.id = a.payment_id"),
    "ORDER BY a.number LIMIT $1"
);

const LINKS_ON_SQLITE: &str = "SELECT a.number, n.number, l.project_id, l.search_text FROM link_search_again a \
    JOIN links l ON l.id = a.link_id JOIN link_search_numbers n ON n.link_id = a.link_id ORDER BY a.number LIMIT $1";
const LINKS_ON_POSTGRES: &str = "SELECT a.number, l.id, l.project_id, l.search_text FROM link_search_again a \
    JOIN links l ON l.id = a.link_id ORDER BY a.number LIMIT $1";

impl Store {
    /// Adds the next payments to the index if a search has requested it, and those whose texts have changed, and links;
    /// answers whether there is more to do.
    pub async fn extend_search_index(&self, now: Timestamp) -> Result<bool, CommitError> {
        let mut more = self.fold_checkouts().await?;
        more |= self.index_again(SearchIndex::Payments).await?;
        more |= self.index_again(SearchIndex::Links).await?;
        if self.maintenance.search_index.swap(false, Ordering::Relaxed) && self.index_next(now).await? {
            self.maintenance.search_index();
            more = true;
        }
        Ok(more)
    }

    /// SQLite numbers payments in the order of their commits, so the index can follow that order. On PostgreSQL, only
    /// payments from before the first unstable id are known to be complete.
    async fn index_next(&self, now: Timestamp) -> Result<bool, CommitError> {
        let (after, most) = (self.indexed_upto().await?, Value::from(ROWS_AT_ONCE));
        let payments = match self.dialect() {
            Dialect::Sqlite => self.due(Query::new(NEXT_ON_SQLITE, [after.clone(), most]), numbered).await?,
            Dialect::Postgres => {
                let until = Value::stored(first_unstable_id(now));
                self.due(Query::new(NEXT_ON_POSTGRES, [after.clone(), until, most]), named).await?
            }
        };
        let Some(upto) = payments.last().map(|payment| payment.key.clone()) else { return Ok(false) };
        let more = is_full(&payments);
        self.commit(MaintenanceWrite::SearchIndexed(IndexedBatch { payments, after, upto }).into()).await?;
        Ok(more)
    }

    async fn index_again(&self, index: SearchIndex) -> Result<bool, CommitError> {
        let (sql, waiting): (&str, Decode<(i64, IndexedRow)>) = match (index, self.dialect()) {
            (SearchIndex::Payments, Dialect::Sqlite) => {
                (AGAIN_ON_SQLITE, |columns| Ok((columns.integer()?, numbered(columns)?)))
            }
            (SearchIndex::Payments, Dialect::Postgres) => {
                (AGAIN_ON_POSTGRES, |columns| Ok((columns.integer()?, named(columns)?)))
            }
            (SearchIndex::Links, Dialect::Sqlite) => {
                (LINKS_ON_SQLITE, |columns| Ok((columns.integer()?, link(columns.integer()?.into(), columns)?)))
            }
            (SearchIndex::Links, Dialect::Postgres) => {
                (LINKS_ON_POSTGRES, |columns| Ok((columns.integer()?, link(columns.text()?.into(), columns)?)))
            }
        };
        let waiting = self.due(Query::new(sql, [ROWS_AT_ONCE.into()]), waiting).await?;
        let more = is_full(&waiting);
        let (numbers, rows): (Vec<i64>, Vec<IndexedRow>) = waiting.into_iter().unzip();
        if !rows.is_empty() {
            self.commit(MaintenanceWrite::SearchIndexedAgain { index, rows, numbers }.into()).await?;
        }
        Ok(more)
    }

    async fn fold_checkouts(&self) -> Result<bool, CommitError> {
        let sql = "SELECT payment_id, customer_name, customer_email, customer_phone FROM checkouts \
                   WHERE search_text IS NULL ORDER BY payment_id LIMIT $1";
        let unfolded = self.due(Query::new(sql, [ROWS_AT_ONCE.into()]), unfolded).await?;
        let more = is_full(&unfolded);
        let folded = unfolded.into_iter().map(|(payment_id, customer)| {
            let search_text = customer_text(&customer);
            MaintenanceWrite::CheckoutFolded(FoldedCheckout { payment_id, customer, search_text })
        });
        let change = Change::default().with_all(folded);
        if !change.writes.is_empty() {
            self.commit(change).await?;
        }
        Ok(more)
    }

    /// The last payment that is in the index: its number on SQLite, its id on PostgreSQL.
    pub(crate) async fn indexed_upto(&self) -> Result<Value, StoreError> {
        let query = Query::new("SELECT upto FROM payment_searchable WHERE single = $1", [1.into()]);
        let upto = match self.dialect() {
            Dialect::Sqlite => self.one(query, |columns| columns.integer().map(Value::from)).await?,
            Dialect::Postgres => self.one(query, |columns| columns.text().map(Value::from)).await?,
        };
        upto.ok_or_else(|| StoreError::unexpected("the search index has no end"))
    }

    /// Whether more than `many` payments come after `upto`.
    pub(crate) async fn search_lacks(&self, upto: Value, many: i64) -> Result<bool, StoreError> {
        let sql = match self.dialect() {
            Dialect::Sqlite => {
                "SELECT 1 FROM payments WHERE number = (SELECT MAX(number) FROM payments) AND number > $1 + $2"
            }
            Dialect::Postgres => "SELECT 1 FROM payments WHERE id > $1 ORDER BY id LIMIT 1 OFFSET $2",
        };
        Ok(self.one(Query::new(sql, [upto, many.into()]), |_| Ok(())).await?.is_some())
    }
}

fn is_full<T>(batch: &[T]) -> bool {
    i64::try_from(batch.len()).is_ok_and(|count| count == ROWS_AT_ONCE)
}

fn numbered(columns: &mut Columns<'_>) -> Result<IndexedRow, StoreError> {
    Ok(IndexedRow { key: columns.integer()?.into(), tokens: searched(columns)?.tokens() })
}

fn named(columns: &mut Columns<'_>) -> Result<IndexedRow, StoreError> {
    Ok(IndexedRow { key: columns.text()?.into(), tokens: searched(columns)?.tokens() })
}

fn link(key: Value, columns: &mut Columns<'_>) -> Result<IndexedRow, StoreError> {
    let (project_id, text) = (columns.parsed()?, columns.text()?);
    Ok(IndexedRow { key, tokens: search_tokens::of_text(project_id, &text) })
}

fn searched(columns: &mut Columns<'_>) -> Result<Searched, StoreError> {
    Ok(Searched {
        project_id: columns.parsed()?,
        reference: columns.text()?,
        account_number: columns.text()?,
        amount: columns.rupiah()?,
        customer: customer(columns)?,
        link: columns.text()?,
        metadata: columns.text()?,
    })
}

fn unfolded(columns: &mut Columns<'_>) -> Result<(PaymentId, Customer), StoreError> {
    Ok((columns.parsed()?, customer(columns)?))
}

fn customer(columns: &mut Columns<'_>) -> Result<Customer, StoreError> {
    let (name, email, phone) = (columns.text()?, columns.text()?, columns.text()?);
    Ok(Customer { name, email, phone, ..Customer::default() })
}
