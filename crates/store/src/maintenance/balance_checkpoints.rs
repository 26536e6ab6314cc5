//! Balance checkpoints: every two-hundredth entry of an account that a project has, with the account's balance after it.
//! With them, balances and pages of the ledger are read without adding up the whole history.

use domain::{id::ProjectId, ledger::Account, money::Rupiah, time::Timestamp};

use super::POSTED_AFTER;
use crate::{
    Change, CommitError, MaintenanceWrite, Store, StoreError,
    value::{Columns, Query, Value},
};

/// Entries from one checkpoint to the next.
const ENTRIES_APART: i64 = 200;
/// A read that goes through more entries after the last checkpoint requests more checkpoints.
pub(crate) const LONG_BALANCE: i64 = 5 * ENTRIES_APART;
/// Checkpoints of one account that are added by one commit.
const CHECKPOINTS_AT_ONCE: usize = 64;

/// An entry of an account, how many entries there are up to and including it, and what they add up to.
#[derive(Clone)]
struct Checkpoint {
    at: Timestamp,
    posting_id: String,
    lines: i64,
    balance: Rupiah,
}

/// Sorts before every entry.
const BEGINNING: Checkpoint =
    Checkpoint { at: Timestamp::from_millis(-1), posting_id: String::new(), lines: 0, balance: Rupiah::ZERO };

impl Store {
    /// Adds the next checkpoints for one project that a read has requested them for; answers whether there is more to
    /// do.
    pub async fn extend_balance_checkpoints(&self, now: Timestamp) -> Result<bool, CommitError> {
        let Some(project_id) = self.maintenance.balance_checkpoints.any() else { return Ok(false) };
        let more = self.add_balance_checkpoints(project_id, now).await;
        self.maintenance.balance_checkpoints.done(project_id, &more);
        more
    }

    async fn add_balance_checkpoints(&self, project_id: ProjectId, now: Timestamp) -> Result<bool, CommitError> {
        let mut more = false;
        for account in Account::OF_PROJECT {
            let mut last = self.last_balance_checkpoint(project_id, account).await?.unwrap_or(BEGINNING);
            let mut writes = Vec::new();
            while writes.len() < CHECKPOINTS_AT_ONCE
                && let Some(next) = self.next_balance_checkpoint(project_id, account, &last, now).await?
            {
                let before = std::mem::replace(&mut last, next.clone());
                let Checkpoint { at, posting_id, lines, balance } = next;
                writes.push(MaintenanceWrite::BalanceCheckpoint {
                    project_id,
                    account,
                    after: (before.at, before.posting_id),
                    at,
                    posting_id,
                    lines,
                    balance,
                });
            }
            more |= writes.len() == CHECKPOINTS_AT_ONCE;
            if !writes.is_empty() {
                self.commit(Change::default().with_all(writes)).await?;
            }
        }
        Ok(more)
    }

    async fn last_balance_checkpoint(
        &self,
        project_id: ProjectId,
        account: Account,
    ) -> Result<Option<Checkpoint>, StoreError> {
        let sql = "SELECT at, posting_id, lines, balance FROM balance_checkpoints \
                   WHERE project_id = $1 AND account = $2 ORDER BY at DESC, posting_id DESC LIMIT 1";
        self.one(Query::new(sql, [Value::stored(project_id), account.word().into()]), checkpoint).await
    }

    /// The checkpoint that follows `last`; none where there are too few entries.
    async fn next_balance_checkpoint(
        &self,
        project_id: ProjectId,
        account: Account,
        last: &Checkpoint,
        now: Timestamp,
    ) -> Result<Option<Checkpoint>, StoreError> {
        let sql = "WITH next AS (SELECT at, posting_id, amount FROM entries WHERE project_id = $1 AND account = $2 \
                   AND (at, posting_id) > ($3, $4) AND at < $5 ORDER BY at, posting_id LIMIT $6) \
                   SELECT at, posting_id, (SELECT COUNT(*) FROM next), \
                   (SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM next) \
                   FROM next ORDER BY at DESC, posting_id DESC LIMIT 1";
        let parameters = [
            Value::stored(project_id),
            account.word().into(),
            last.at.into(),
            last.posting_id.clone().into(),
            now.minus(POSTED_AFTER).into(),
            ENTRIES_APART.into(),
        ];
        let next = self.many(Query::new(sql, parameters), checkpoint).await?.pop();
        Ok(next.filter(|added| added.lines == ENTRIES_APART).map(|added| Checkpoint {
            lines: last.lines + added.lines,
            balance: last.balance + added.balance,
            ..added
        }))
    }
}

fn checkpoint(columns: &mut Columns<'_>) -> Result<Checkpoint, StoreError> {
    Ok(Checkpoint {
        at: columns.timestamp()?,
        posting_id: columns.text()?,
        lines: columns.integer()?,
        balance: columns.rupiah()?,
    })
}
