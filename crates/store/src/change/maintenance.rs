//! Writes of the maintenance jobs, which keep lists, totals and searches fast.

use domain::{
    id::{PaymentId, ProjectId},
    ledger::Account,
    money::Rupiah,
    time::Timestamp,
};

pub enum MaintenanceWrite {
    /// Stores how many payments the project has up to and including this one, and the sum of their amounts.
    ListCheckpoint { project_id: ProjectId, id: PaymentId, position: i64, amount: Rupiah },
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
    /// Adds the next references to the search index, at most `most`, of payments created before `until`.
    SearchIndexed { until: PaymentId, most: i64 },
    /// Writes something and deletes it again, to see whether commits succeed.
    CommitProbe,
}
