//! Balances and ledger lines.

use std::sync::LazyLock;

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
    maintenance::LONG_TAIL,
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

/// The balance of an account, and how many entries were read for it.
struct Sum {
    account: Account,
    balance: Rupiah,
    tail: i64,
}

/// How many lines an account has, and how many of them come after its last checkpoint.
#[derive(Clone, Copy, Default)]
struct Whole {
    lines: i64,
    tail: i64,
}

/// The balance of each account of a project, and how many entries were read for it. One statement, so that all come from
/// one snapshot.
static BALANCE: LazyLock<String> = LazyLock::new(|| {
    let of = |account: Account| {
        let account = account.word();
        let last = |column| last_checkpoint(account, column);
        format!(
            "SELECT '{account}', CAST(COALESCE({}, 0) + COALESCE(SUM(amount), 0) AS BIGINT), COUNT(*) FROM entries \
             WHERE project_id = $1 AND account = '{account}' AND at <= $2 \
             AND (at, posting_id) > (COALESCE({}, -1), COALESCE({}, ''))",
            last("balance"),
            last("at"),
            last("posting_id"),
        )
    };
    Account::OF_PROJECT.map(of).join(" UNION ALL ")
});

/// A column of the last checkpoint up to the time that is asked for.
fn last_checkpoint(account: &str, column: &str) -> String {
    format!(
        "(SELECT {column} FROM balance_checkpoints WHERE project_id = $1 AND account = '{account}' AND at <= $2 \
         ORDER BY at DESC, posting_id DESC LIMIT 1)"
    )
}

/// The last checkpoint of an account, and the whole of its lines: how many there are, what they add up to, and how many
/// come after the checkpoint. A macro instead of a constant, so that `concat!` can build the statements.
macro_rules! whole {
    () => {
        "WITH last AS (SELECT at, posting_id, lines, balance FROM balance_checkpoints \
         WHERE project_id = $1 AND account = $2 ORDER BY at DESC, posting_id DESC LIMIT 1), \
         tail AS (SELECT COUNT(*) AS lines, COALESCE(SUM(amount), 0) AS balance FROM entries \
         WHERE project_id = $1 AND account = $2 AND (at, posting_id) > \
         (COALESCE((SELECT at FROM last), -1), COALESCE((SELECT posting_id FROM last), ''))), \
         whole AS (SELECT COALESCE((SELECT lines FROM last), 0) + t.lines AS lines, \
         COALESCE((SELECT balance FROM last), 0) + t.balance AS balance, t.lines AS tail FROM tail t)"
    };
}

const WHOLE: &str = concat!(whole!(), " SELECT lines, tail FROM whole");

/// One page of an account's lines. `above` is the line from which lines are skipped: that of the checkpoint at or above
/// the first line of the page, or else the newest one. One statement, so that lines and balances come from one snapshot.
const LINES: &str = concat!(
    whole!(),
    ", checkpoint AS (SELECT at, posting_id, lines, balance FROM balance_checkpoints \
     WHERE project_id = $1 AND account = $2 AND lines >= (SELECT lines FROM whole) - $3 ORDER BY lines LIMIT 1), \
     above AS (SELECT COALESCE(c.at, 9223372036854775807) AS at, COALESCE(c.posting_id, '') AS posting_id, \
     COALESCE(c.balance, w.balance) AS balance, COALESCE(c.lines, w.lines) - (w.lines - $3) AS skipped \
     FROM whole w LEFT JOIN checkpoint c ON TRUE), \
     own AS NOT MATERIALIZED (SELECT at, posting_id, amount FROM entries WHERE project_id = $1 AND account = $2 \
     AND (at, posting_id) <= ((SELECT at FROM above), (SELECT posting_id FROM above))), \
     newer AS (SELECT amount FROM own ORDER BY at DESC, posting_id DESC LIMIT (SELECT skipped FROM above)), \
     shown AS (SELECT at, posting_id, amount FROM own ORDER BY at DESC, posting_id DESC \
     LIMIT $4 OFFSET (SELECT skipped FROM above)) \
     SELECT s.at, o.kind, o.payment_id, p.reference, s.amount, \
     CAST(a.balance - COALESCE((SELECT SUM(amount) FROM newer), 0) AS BIGINT), w.lines, w.tail \
     FROM shown s JOIN postings o ON o.id = s.posting_id JOIN payments p ON p.id = o.payment_id \
     CROSS JOIN above a CROSS JOIN whole w ORDER BY s.at DESC, s.posting_id DESC"
);

impl Store {
    /// The balance after all postings up to and including `at`; after all postings without it. An account is added up
    /// from its last checkpoint on.
    pub async fn balance(&self, project_id: ProjectId, at: Option<Timestamp>) -> Result<Balance, StoreError> {
        let until = at.map_or(i64::MAX, Timestamp::as_millis);
        let query = Query::new(BALANCE.as_str(), [Value::shown(project_id), until.into()]);
        let sums = self.many(query, sum).await?;
        if sums.iter().any(|sum| sum.tail > LONG_TAIL) {
            self.maintenance.balance_checkpoints(project_id);
        }
        let of = |wanted| sums.iter().filter(|sum| sum.account == wanted).map(|sum| sum.balance).sum();
        Ok(Balance {
            available: of(Account::Available),
            pending: of(Account::Pending),
            unapplied: of(Account::Unapplied),
        })
    }

    /// An account's lines, newest first. The balance of the newest line is the account's present balance. Lines are
    /// counted and added up from the last checkpoint on, and skipped from the checkpoint above the first line.
    pub async fn ledger_lines(
        &self,
        project_id: ProjectId,
        account: Account,
        window: Window,
    ) -> Result<Listed<LedgerLine>, StoreError> {
        let of_account = [Value::shown(project_id), account.word().into()];
        let parameters: Vec<Value> =
            of_account.iter().cloned().chain([window.offset.into(), window.limit.into()]).collect();
        let lines = self.many(Query::new(LINES, parameters), line).await?;
        let whole = match lines.first() {
            Some(&(_, whole)) => whole,
            None => self.many(Query::new(WHOLE, of_account), whole).await?.pop().unwrap_or_default(),
        };
        if whole.tail > LONG_TAIL {
            self.maintenance.balance_checkpoints(project_id);
        }
        let Some((first, _)) = lines.first() else { return Ok(Listed { items: Vec::new(), total: whole.lines }) };
        let mut balance = first.balance;
        let items = lines.into_iter().map(|(line, _)| {
            let after = balance;
            balance = balance - line.amount;
            LedgerLine { balance: after, ..line }
        });
        Ok(Listed { items: items.collect(), total: whole.lines })
    }
}

fn line(columns: &mut Columns<'_>) -> Result<(LedgerLine, Whole), StoreError> {
    let line = LedgerLine {
        at: columns.timestamp()?,
        kind: columns.text()?,
        payment_id: columns.parsed()?,
        reference: columns.text()?,
        amount: columns.rupiah()?,
        balance: columns.rupiah()?,
    };
    Ok((line, whole(columns)?))
}

fn whole(columns: &mut Columns<'_>) -> Result<Whole, StoreError> {
    Ok(Whole { lines: columns.integer()?, tail: columns.integer()? })
}

fn sum(columns: &mut Columns<'_>) -> Result<Sum, StoreError> {
    Ok(Sum { account: columns.word(Account::parse)?, balance: columns.rupiah()?, tail: columns.integer()? })
}
