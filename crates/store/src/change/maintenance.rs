//! Writes of the maintenance jobs, which keep lists, totals and searches fast.

use std::collections::BTreeSet;

use domain::{
    id::{PaymentId, ProjectId},
    ledger::Account,
    money::Rupiah,
    payment::Customer,
    time::Timestamp,
};

use crate::value::Value;

/// The search indexes.
#[derive(Clone, Copy)]
pub enum SearchIndex {
    Payments,
    Links,
}

impl SearchIndex {
    pub(crate) const fn table(self) -> &'static str {
        match self {
            SearchIndex::Payments => "payment_search",
            SearchIndex::Links => "link_search",
        }
    }
}

/// A payment or a link as its search index has it.
pub struct IndexedRow {
    /// Its number on SQLite, its id on PostgreSQL.
    pub(crate) key: Value,
    pub(crate) tokens: BTreeSet<i32>,
}

/// Payments that follow each other.
pub struct IndexedBatch {
    pub(crate) payments: Vec<IndexedRow>,
    pub(crate) after: Value,
    pub(crate) upto: Value,
}

pub struct FoldedCheckout {
    pub(crate) payment_id: PaymentId,
    pub(crate) customer: Customer,
    pub(crate) search_text: String,
}

pub enum MaintenanceWrite {
    /// Stores how many payments the project has up to and including this one. `previous` is the id of the checkpoint before
    /// it, empty for the first.
    ListCheckpoint { project_id: ProjectId, id: PaymentId, position: i64, previous: Option<PaymentId> },
    /// Adds up the payments from the checkpoint before up to this one. Nothing is stored unless all of them have ended.
    ListSums { project_id: ProjectId, id: PaymentId },
    /// Stores what was paid in an hour that is over. All hours before the latest stored one count as closed too; those
    /// without a row are empty.
    HourClosed { project_id: ProjectId, hour: i64, payments: i64, amount: Rupiah },
    /// Stores how many entries an account has up to and including this one, and what they add up to. Nothing is stored
    /// if the entries since the checkpoint before it have changed since they were read.
    BalanceCheckpoint {
        project_id: ProjectId,
        account: Account,
        /// The entry of the checkpoint before it.
        after: (Timestamp, String),
        at: Timestamp,
        posting_id: String,
        lines: i64,
        balance: Rupiah,
    },
    /// Adds payments to the search index, if it still ends before them; it then ends with them.
    SearchIndexed(IndexedBatch),
    /// Adds what has waited to a search index, and takes `numbers` from the list of those that wait for it.
    SearchIndexedAgain { index: SearchIndex, rows: Vec<IndexedRow>, numbers: Vec<i64> },
    /// Stores the form in which a customer's texts are searched, unless the texts have changed since they were read.
    CheckoutFolded(FoldedCheckout),
    /// Writes something and deletes it again, to see whether commits succeed.
    CommitProbe,
}
