//! Balances and ledger lines.

use domain::{
    id::{PaymentId, ProjectId},
    ledger::Account,
    money::Rupiah,
    time::Timestamp,
};

use super::{Listed, Window};
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// The balances of a project's accounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    pub available: Rupiah,
    pub pending: Rupiah,
    pub unapplied: Rupiah,
}

/// One line of an account's statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerLine {
    pub at: Timestamp,
    /// The kind of its posting, such as `paid`.
    pub kind: String,
    pub payment_id: PaymentId,
    /// The payment's reference.
    pub reference: String,
    pub amount: Rupiah,
    /// The account's balance after this line.
    pub balance: Rupiah,
}

impl Store {
    /// The balance after all postings up to and including `at`; after all postings without it.
    pub async fn balance(&self, project_id: ProjectId, at: Option<Timestamp>) -> Result<Balance, StoreError> {
        let until = at.map_or(i64::MAX, Timestamp::as_millis);
        let sql = "SELECT account, CAST(SUM(amount) AS BIGINT) FROM entries \
                   WHERE project_id = $1 AND account IN ('available', 'pending', 'unapplied') AND at <= $2 \
                   GROUP BY account";
        let sums = self.many(Query::new(sql, [Value::shown(project_id), until.into()]), sum).await?;
        let of = |wanted| sums.iter().filter(|(account, _)| *account == wanted).map(|(_, amount)| *amount).sum();
        Ok(Balance {
            available: of(Account::Available),
            pending: of(Account::Pending),
            unapplied: of(Account::Unapplied),
        })
    }

    /// An account's lines, newest first. The balance of the newest line is the account's present balance.
    pub async fn ledger_lines(
        &self,
        project_id: ProjectId,
        account: Account,
        window: Window,
    ) -> Result<Listed<LedgerLine>, StoreError> {
        // One statement, so that lines and balances come from one snapshot.
        let sql = "WITH own AS NOT MATERIALIZED (SELECT at, posting_id, amount FROM entries \
                   WHERE project_id = $1 AND account = $2), \
                   shown AS (SELECT at, posting_id, amount FROM own ORDER BY at DESC, posting_id DESC \
                   LIMIT $3 OFFSET $4), \
                   whole AS (SELECT SUM(amount) AS amount, COUNT(*) AS lines FROM own), \
                   newer AS (SELECT amount FROM own ORDER BY at DESC, posting_id DESC LIMIT $4) \
                   SELECT s.at, o.kind, o.payment_id, p.reference, s.amount, \
                   CAST(w.amount - COALESCE((SELECT SUM(amount) FROM newer), 0) AS BIGINT), w.lines \
                   FROM shown s JOIN postings o ON o.id = s.posting_id JOIN payments p ON p.id = o.payment_id \
                   CROSS JOIN whole w \
                   ORDER BY s.at DESC, s.posting_id DESC";
        let of_account = [Value::shown(project_id), account.word().into()];
        let window = [window.limit.into(), window.offset.into()];
        let parameters = of_account.iter().cloned().chain(window).collect::<Vec<_>>();
        let lines = self.many(Query::new(sql, parameters), line).await?;
        let Some(&(ref first, total)) = lines.first() else {
            let count = "SELECT COUNT(*) FROM entries WHERE project_id = $1 AND account = $2";
            let total = self.many(Query::new(count, of_account), |columns| columns.integer()).await?.into_iter().sum();
            return Ok(Listed { items: Vec::new(), total });
        };
        let mut balance = first.balance;
        let items = lines.into_iter().map(|(line, _)| {
            let after = balance;
            balance = balance - line.amount;
            LedgerLine { balance: after, ..line }
        });
        Ok(Listed { items: items.collect(), total })
    }
}

fn line(columns: &mut Columns<'_>) -> Result<(LedgerLine, i64), StoreError> {
    let line = LedgerLine {
        at: columns.timestamp()?,
        kind: columns.text()?,
        payment_id: columns.parsed()?,
        reference: columns.text()?,
        amount: columns.rupiah()?,
        balance: columns.rupiah()?,
    };
    Ok((line, columns.integer()?))
}

fn sum(columns: &mut Columns<'_>) -> Result<(Account, Rupiah), StoreError> {
    Ok((columns.word(Account::parse)?, columns.rupiah()?))
}
