use domain::{id::ProjectId, ledger::Account, money::Rupiah, time::Timestamp};

use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// What a project's accounts held at some instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    pub available: Rupiah,
    pub pending: Rupiah,
    pub unapplied: Rupiah,
}

impl Store {
    /// The balance after everything posted up to and including `at`; after everything when there is no such instant.
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
}

fn sum(columns: &mut Columns<'_>) -> Result<(Account, Rupiah), StoreError> {
    Ok((columns.word(Account::parse)?, columns.rupiah()?))
}
