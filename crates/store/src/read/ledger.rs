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
    maintenance::LONG_BALANCE,
    value::{Columns, Query, Value},
};

/// The balances of a project's accounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    pub available: Rupiah,
    pub pending: Rupiah,
    pub unapplied: Rupiah,
    pub refunding: Rupiah,
    pub refunded: Rupiah,
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

/// One posting with all its legs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerPosting {
    pub at: Timestamp,
    pub id: String,
    /// Its kind, such as `paid`.
    pub kind: String,
    pub payment_id: PaymentId,
    /// The payment's reference.
    pub reference: String,
    /// What it moves, in the order of [`Account::ALL`].
    amounts: [Rupiah; Account::ALL.len()],
}

impl LedgerPosting {
    /// What it moves into an account; negative where it takes from it.
    pub fn amount(&self, account: Account) -> Rupiah {
        Account::ALL.into_iter().zip(self.amounts).filter(|(of, _)| *of == account).map(|(_, amount)| amount).sum()
    }
}

/// A place between two postings of a project, in the order of their times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostingCursor {
    at: Timestamp,
    id: String,
}

impl PostingCursor {
    /// Before all postings of this instant.
    pub const fn before(at: Timestamp) -> PostingCursor {
        PostingCursor { at, id: String::new() }
    }

    pub fn after(posting: &LedgerPosting) -> PostingCursor {
        PostingCursor { at: posting.at, id: posting.id.clone() }
    }
}

/// The next postings after a place. Entries of an account are in the order of their times, so that only the beginning of
/// what is left of each account is read.
static POSTINGS: LazyLock<String> = LazyLock::new(|| {
    let next = |account: Account| {
        let account = account.word();
        format!(
            "SELECT at, posting_id FROM (SELECT at, posting_id FROM entries WHERE project_id = $1 \
             AND account = '{account}' AND (at, posting_id) > ($2, $3) AND at < $4 ORDER BY at, posting_id LIMIT $5) {account}"
        )
    };
    let amount = |account: Account| {
        format!(
            "COALESCE((SELECT e.amount FROM entries e WHERE e.project_id = $1 AND e.account = '{}' AND e.at = n.at \
             AND e.posting_id = n.posting_id), 0)",
            account.word()
        )
    };
    // UNION, as a posting has legs in several accounts.
    format!(
        "WITH next AS (SELECT at, posting_id FROM ({}) every ORDER BY at, posting_id LIMIT $5) \
         SELECT n.at, n.posting_id, o.kind, o.payment_id, p.reference, {} FROM next n \
         JOIN postings o ON o.id = n.posting_id JOIN payments p ON p.id = o.payment_id ORDER BY n.at, n.posting_id",
        Account::ALL.map(next).join(" UNION "),
        Account::ALL.map(amount).join(", ")
    )
});

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
static BALANCE: LazyLock<String> = LazyLock::new(|| Account::OF_PROJECT.map(balance_of).join(" UNION ALL "));
static AVAILABLE: LazyLock<String> = LazyLock::new(|| balance_of(Account::Available));

fn balance_of(account: Account) -> String {
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
}

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
        let sums = self.sums(&BALANCE, project_id, at).await?;
        let of = |wanted| sums.iter().filter(|sum| sum.account == wanted).map(|sum| sum.balance).sum();
        Ok(Balance {
            available: of(Account::Available),
            pending: of(Account::Pending),
            unapplied: of(Account::Unapplied),
            refunding: of(Account::Refunding),
            refunded: of(Account::Refunded),
        })
    }

    /// What is available after all postings.
    pub async fn available(&self, project_id: ProjectId) -> Result<Rupiah, StoreError> {
        let sums = self.sums(&AVAILABLE, project_id, None).await?;
        Ok(sums.iter().map(|sum| sum.balance).sum())
    }

    async fn sums(
        &self,
        sql: &'static LazyLock<String>,
        project_id: ProjectId,
        at: Option<Timestamp>,
    ) -> Result<Vec<Sum>, StoreError> {
        let until = at.map_or(i64::MAX, Timestamp::as_millis);
        let sums = self.many(Query::new(sql.as_str(), [Value::stored(project_id), until.into()]), sum).await?;
        if sums.iter().any(|sum| sum.tail > LONG_BALANCE) {
            self.maintenance.balance_checkpoints(project_id);
        }
        Ok(sums)
    }

    /// The next postings of a project before `until`, at most `most`, oldest first. For reading a ledger as a whole, in small
    /// pieces.
    pub async fn postings(
        &self,
        project_id: ProjectId,
        cursor: &PostingCursor,
        until: Timestamp,
        most: i64,
    ) -> Result<Vec<LedgerPosting>, StoreError> {
        let PostingCursor { at, id } = cursor.clone();
        let parameters = [Value::stored(project_id), at.into(), id.into(), until.into(), most.into()];
        self.many(Query::new(POSTINGS.as_str(), parameters), posting).await
    }

    /// An account's lines, newest first. The balance of the newest line is the account's present balance. Lines are
    /// counted and added up from the last checkpoint on, and skipped from the checkpoint above the first line.
    pub async fn ledger_lines(
        &self,
        project_id: ProjectId,
        account: Account,
        window: Window,
    ) -> Result<Listed<LedgerLine>, StoreError> {
        let of_account = [Value::stored(project_id), account.word().into()];
        let parameters: Vec<Value> =
            of_account.iter().cloned().chain([window.offset.into(), window.limit.into()]).collect();
        let lines = self.many(Query::new(LINES, parameters), line).await?;
        let whole = match lines.first() {
            Some(&(_, whole)) => whole,
            None => self.many(Query::new(WHOLE, of_account), whole).await?.pop().unwrap_or_default(),
        };
        if whole.tail > LONG_BALANCE {
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

fn posting(columns: &mut Columns<'_>) -> Result<LedgerPosting, StoreError> {
    Ok(LedgerPosting {
        at: columns.timestamp()?,
        id: columns.text()?,
        kind: columns.text()?,
        payment_id: columns.parsed()?,
        reference: columns.text()?,
        amounts: {
            let mut amounts = [Rupiah::ZERO; Account::ALL.len()];
            for amount in &mut amounts {
                *amount = columns.rupiah()?;
            }
            amounts
        },
    })
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
