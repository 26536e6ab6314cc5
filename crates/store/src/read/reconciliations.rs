//! What banks say about days that are over, and what a person must look at.

use domain::{
    bank_difference::{ComparedBy, Difference, DifferenceKey, DifferenceKind, Reconciliation, Tally},
    id::{BankAccountId, PaymentId},
    method::Method,
    money::Rupiah,
    opening::BankCode,
    time::Timestamp,
};

use super::{
    Listed, Window,
    openings::{CODE, code},
};
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value, stored_method},
};

const DIFFERENCE: &str = "account_id, subject, kind, day, payment_id, ours, theirs, found_at, settled_at, note";
const RECONCILIATION: &str = "account_id, day, compared_by, first_at, at, matched, matched_amount, missing_here, \
                              missing_here_amount, missing_there, missing_there_amount, differing, differing_amount, \
                              bank_fees, bank_fees_amount";
const TOLD: &str = "SELECT m.receipt_id, m.amount, m.paid_at, m.told_at, p.id, p.method, p.fee FROM bank_money m \
                    LEFT JOIN receipts r ON r.provider = m.account_id AND r.id = m.receipt_id \
                    LEFT JOIN payments p ON p.id = r.payment_id";

/// Money that a bank has told us of, as it is booked here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldMoney {
    pub receipt_id: String,
    pub amount: Rupiah,
    /// By the bank's clock, where it has said when.
    pub paid_at: Timestamp,
    pub told_at: Timestamp,
    /// What it was booked for; none while it is a stray.
    pub payment: Option<ToldPayment>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToldPayment {
    pub id: PaymentId,
    pub method: Method,
    /// What we charge for it.
    pub fee: Rupiah,
}

/// A page of rows in the order of a time and of a text: those after the two.
#[derive(Clone, Debug)]
pub struct After {
    pub at: Timestamp,
    pub text: String,
    pub most: i64,
}

impl Store {
    /// Money of an account that was paid before `until`, oldest first.
    pub async fn told_money(
        &self,
        id: BankAccountId,
        after: After,
        until: Timestamp,
    ) -> Result<Vec<ToldMoney>, StoreError> {
        let sql = format!(
            "{TOLD} WHERE m.account_id = $1 AND (m.paid_at, m.receipt_id) > ($2, $3) AND m.paid_at < $4 \
             ORDER BY m.paid_at, m.receipt_id LIMIT $5"
        );
        let After { at, text, most } = after;
        self.many(Query::new(sql, [Value::stored(id), at.into(), text.into(), until.into(), most.into()]), told_money)
            .await
    }

    /// Money of an account by the bank's id of it.
    pub async fn told_receipt(&self, id: BankAccountId, receipt_id: &str) -> Result<Option<ToldMoney>, StoreError> {
        let sql = format!("{TOLD} WHERE m.account_id = $1 AND m.receipt_id = $2");
        self.one(Query::new(sql, [Value::stored(id), receipt_id.to_owned().into()]), told_money).await
    }

    /// The newest codes of openings that were asked for before `until` and could be paid, or were paid, at `from` or later;
    /// in the order in which they were asked for.
    pub async fn codes_between(
        &self,
        id: BankAccountId,
        after: After,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<BankCode>, StoreError> {
        let columns = CODE.split(", ").map(|column| format!("c.{column}")).collect::<Vec<_>>().join(", ");
        let sql = format!(
            "SELECT {columns} FROM bank_codes c JOIN openings o ON o.id = c.opening_id AND o.generation = c.generation \
             LEFT JOIN payments p ON p.id = o.payment_id WHERE c.account_id = $1 \
             AND (c.asked_at, c.reference) > ($2, $3) AND c.asked_at < $4 AND o.state <> 'refused' \
             AND (p.paid_at >= $5 OR (p.paid_at IS NULL AND o.expires_at >= $5 AND COALESCE(o.resolved_at, p.ended_at, $5) >= $5)) \
             ORDER BY c.asked_at, c.reference LIMIT $6"
        );
        let After { at, text, most } = after;
        let parameters = [Value::stored(id), at.into(), text.into(), until.into(), from.into(), most.into()];
        self.many(Query::new(sql, parameters), code).await
    }

    /// The days from `from` on that were compared.
    pub async fn compared_days(&self, id: BankAccountId, from: i64) -> Result<Vec<i64>, StoreError> {
        let sql = "SELECT day FROM bank_reconciliations WHERE account_id = $1 AND day >= $2 ORDER BY day";
        self.many(Query::new(sql, [Value::stored(id), from.into()]), |columns| columns.integer()).await
    }

    /// When a comparison of the account that failed may be tried again; none if none has failed.
    pub async fn comparison_retry_at(&self, id: BankAccountId) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT retry_at FROM bank_comparisons WHERE account_id = $1";
        self.one(Query::new(sql, [Value::stored(id)]), |columns| columns.timestamp()).await
    }

    pub async fn reconciliation(&self, id: BankAccountId, day: i64) -> Result<Option<Reconciliation>, StoreError> {
        let sql = format!("SELECT {RECONCILIATION} FROM bank_reconciliations WHERE account_id = $1 AND day = $2");
        self.one(Query::new(sql, [Value::stored(id), day.into()]), reconciliation).await
    }

    /// How many differences nobody has settled.
    pub async fn count_open_differences(&self) -> Result<i64, StoreError> {
        let sql = "SELECT COUNT(*) FROM bank_differences WHERE settled_at IS NULL";
        Ok(self.many(Query::new(sql, []), |columns| columns.integer()).await?.into_iter().sum())
    }

    /// The latest comparisons of an account, newest day first.
    pub async fn reconciliations(&self, id: BankAccountId, most: i64) -> Result<Vec<Reconciliation>, StoreError> {
        let sql = format!(
            "SELECT {RECONCILIATION} FROM bank_reconciliations WHERE account_id = $1 ORDER BY day DESC LIMIT $2"
        );
        self.many(Query::new(sql, [Value::stored(id), most.into()]), reconciliation).await
    }

    /// What a person must look at, or what somebody has settled; newest first.
    pub async fn differences(&self, open: bool, window: Window) -> Result<Listed<Difference>, StoreError> {
        let wanted = if open { "settled_at IS NULL" } else { "settled_at IS NOT NULL" };
        let count = Query::new(format!("SELECT COUNT(*) FROM bank_differences WHERE {wanted}"), []);
        let total = self.many(count, |columns| columns.integer()).await?.into_iter().sum();
        let page = format!(
            "SELECT {DIFFERENCE} FROM bank_differences WHERE {wanted} \
             ORDER BY found_at DESC, account_id, subject, kind LIMIT $1 OFFSET $2"
        );
        let items = self.many(Query::new(page, [window.limit.into(), window.offset.into()]), difference).await?;
        Ok(Listed { items, total })
    }

    pub async fn difference(&self, key: &DifferenceKey) -> Result<Option<Difference>, StoreError> {
        let sql =
            format!("SELECT {DIFFERENCE} FROM bank_differences WHERE account_id = $1 AND subject = $2 AND kind = $3");
        let parameters = [Value::stored(key.account_id), key.subject.clone().into(), key.kind.word().into()];
        self.one(Query::new(sql, parameters), difference).await
    }
}

fn tally(columns: &mut Columns<'_>) -> Result<Tally, StoreError> {
    Ok(Tally { count: columns.integer()?, amount: columns.rupiah()? })
}

fn reconciliation(columns: &mut Columns<'_>) -> Result<Reconciliation, StoreError> {
    Ok(Reconciliation {
        account_id: columns.parsed()?,
        day: columns.integer()?,
        by: columns.word(ComparedBy::parse)?,
        first_at: columns.timestamp()?,
        at: columns.timestamp()?,
        matched: tally(columns)?,
        missing_here: tally(columns)?,
        missing_there: tally(columns)?,
        differing: tally(columns)?,
        bank_fees: tally(columns)?,
    })
}

fn told_money(columns: &mut Columns<'_>) -> Result<ToldMoney, StoreError> {
    Ok(ToldMoney {
        receipt_id: columns.text()?,
        amount: columns.rupiah()?,
        paid_at: columns.timestamp()?,
        told_at: columns.timestamp()?,
        payment: {
            let (id, method) = (columns.optional_parsed()?, columns.optional_text()?);
            let fee = columns.optional_integer()?.map(Rupiah::new);
            match (id, method, fee) {
                (Some(id), Some(word), Some(fee)) => {
                    let method = stored_method(&word);
                    let method = method.ok_or_else(|| StoreError::unexpected(format!("a method is {word:?}")))?;
                    Some(ToldPayment { id, method, fee })
                }
                _ => None,
            }
        },
    })
}

fn difference(columns: &mut Columns<'_>) -> Result<Difference, StoreError> {
    let (account_id, subject) = (columns.parsed()?, columns.text()?);
    Ok(Difference {
        key: DifferenceKey { account_id, subject, kind: columns.word(DifferenceKind::parse)? },
        day: columns.integer()?,
        payment_id: columns.optional_parsed()?,
        ours: columns.optional_integer()?.map(Rupiah::new),
        theirs: columns.optional_integer()?.map(Rupiah::new),
        found_at: columns.timestamp()?,
        settled: {
            let (at, note) = (columns.optional_timestamp()?, columns.optional_text()?);
            at.zip(note)
        },
    })
}
