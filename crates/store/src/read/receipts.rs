//! Receipts: reports of money, and money that fits no payment.

use std::collections::HashMap;

use domain::{
    id::{PaymentId, ProjectId, ReceiptId},
    money::Rupiah,
    payment::Payment,
    receipt::{Decided, Decider, Decision, Receipt, ReceiptKey, Unapplied, UnappliedReceipt},
    time::Timestamp,
};

use super::{
    Conditions, Listed, Window,
    bank_money::{MoneyNaming, naming},
    payments::{checkout_columns, payment_columns, payment_with_checkout},
};
use crate::{
    Store,
    error::StoreError,
    plan::Dialect,
    value::{Columns, Decode, Query, Value},
};

/// Macros instead of constants, so that `concat!` can build the statements at compile time.
macro_rules! columns {
    () => {
        "r.public_id, r.provider, r.id, r.amount, r.paid_at, r.received_at, r.project_id, r.payment_id, r.reason, \
         r.decision, r.decided_payment_id, r.difference, r.decided_at, r.decision_note, r.decided_by, r.decided_refund_id"
    };
}
macro_rules! money_columns {
    () => {
        concat!(columns!(), ", ", payment_columns!(), ", ", checkout_columns!())
    };
}

const BY_ID: &str = concat!("SELECT ", columns!(), " FROM receipts r WHERE r.project_id = $1 AND r.public_id = $2");
const WITH_PAYMENT: &str =
    "receipts r JOIN payments p ON p.id = r.payment_id LEFT JOIN checkouts c ON c.payment_id = p.id";
/// The most receipts that are read for some payments: a payment has few.
const OF_PAYMENTS_MOST: i64 = 200;

/// Which unapplied receipts to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnappliedFilter {
    /// All of them, newest first.
    All,
    /// Newest first.
    Undecided,
    /// Latest decision first, like those below.
    Decided,
    Accepted,
    Returned,
}

impl UnappliedFilter {
    /// The condition, in which `?` is the project, and the order.
    const fn sql(self) -> (&'static str, &'static str) {
        let (newest, latest) = ("r.received_at DESC, r.provider, r.id", "r.decided_at DESC, r.provider, r.id");
        match self {
            UnappliedFilter::All => ("r.project_id = ? AND r.outcome = 'unapplied'", newest),
            UnappliedFilter::Undecided => {
                ("r.project_id = ? AND r.outcome = 'unapplied' AND r.decision IS NULL", newest)
            }
            UnappliedFilter::Decided => ("r.project_id = ? AND r.decision IS NOT NULL", latest),
            UnappliedFilter::Accepted => {
                ("r.project_id = ? AND r.decision IS NOT NULL AND r.decision = 'accepted'", latest)
            }
            UnappliedFilter::Returned => {
                ("r.project_id = ? AND r.decision IS NOT NULL AND r.decision = 'returned'", latest)
            }
        }
    }
}

/// Which of a project's unapplied receipts to list; everything that is given must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptFilter {
    pub state: UnappliedFilter,
    /// Those that were sent for this payment, or that pay it.
    pub payment: Option<PaymentId>,
    /// Received from the first instant on, and before the second.
    pub received: Option<(Timestamp, Timestamp)>,
}

/// A receipt that could not pay its payment, with the payment that it was sent for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldReceipt {
    pub receipt: UnappliedReceipt,
    pub payment: Payment,
}

/// The receipts that nobody has decided about: how many, and the sum of their amounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldSum {
    pub receipts: i64,
    pub amount: Rupiah,
}

/// Money that a bank has taken, as it is booked here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookedMoney {
    pub amount: Rupiah,
    pub paid_at: Timestamp,
    /// None for a stray that nobody has assigned.
    pub payment_id: Option<PaymentId>,
    /// How the bank named what was paid, if the money was or is a stray.
    pub stray_number: Option<String>,
}

impl Store {
    /// Whether any report about the payment was stored under this key: money or a notice.
    pub async fn noted(&self, key: &ReceiptKey, payment_id: PaymentId) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM payments p WHERE p.id = $1 AND (EXISTS (SELECT 1 FROM receipts r \
                   WHERE r.provider = $2 AND r.id = $3 AND r.payment_id = $1) OR EXISTS (SELECT 1 FROM notices n \
                   WHERE n.payment_id = $1 AND n.provider = $2 AND n.id = $3))";
        let [provider, id] = by_key(key);
        let parameters = [Value::stored(payment_id), provider, id];
        Ok(self.one(Query::new(sql, parameters), |_| Ok(())).await?.is_some())
    }

    /// The payment for which money was stored under this key.
    pub async fn payment_of_receipt(&self, key: &ReceiptKey) -> Result<Option<PaymentId>, StoreError> {
        let sql = "SELECT payment_id FROM receipts WHERE provider = $1 AND id = $2";
        self.one(Query::new(sql, by_key(key)), |columns| columns.parsed()).await
    }

    /// Money of a bank by its key, as it is booked here.
    pub async fn booked_money(&self, key: &ReceiptKey) -> Result<Option<BookedMoney>, StoreError> {
        let receipt = "SELECT r.amount, r.paid_at, r.payment_id, s.number FROM receipts r LEFT JOIN strays s \
                       ON s.account_id = r.provider AND s.receipt_id = r.id WHERE r.provider = $1 AND r.id = $2";
        if let Some(booked) = self.one(Query::new(receipt, by_key(key)), booked).await? {
            return Ok(Some(booked));
        }
        let stray = "SELECT COALESCE(amount, 0), paid_at, payment_id, number FROM strays \
                     WHERE account_id = $1 AND receipt_id = $2";
        self.one(Query::new(stray, by_key(key)), booked).await
    }

    /// Money that a provider has reported for a payment, with the ids, the earliest first, and how the provider has named it.
    pub async fn money_of_payment(
        &self,
        provider: &str,
        payment_id: PaymentId,
    ) -> Result<Vec<(String, MoneyNaming, BookedMoney)>, StoreError> {
        let sql = "SELECT r.id, COALESCE(m.bank_id, ''), COALESCE(m.lacks_amount, 0), m.stated_at, r.amount, r.paid_at, r.payment_id, s.number FROM receipts r \
                   LEFT JOIN strays s ON s.account_id = r.provider AND s.receipt_id = r.id \
                   LEFT JOIN bank_money m ON m.account_id = r.provider AND m.receipt_id = r.id \
                   WHERE r.payment_id = $1 AND r.provider = $2 \
                   ORDER BY r.received_at, r.id LIMIT $3";
        let parameters = [Value::stored(payment_id), provider.to_owned().into(), OF_PAYMENTS_MOST.into()];
        self.many(Query::new(sql, parameters), |columns| Ok((columns.text()?, naming(columns)?, booked(columns)?)))
            .await
    }

    /// Whether a provider has ever reported money.
    pub async fn has_money_of(&self, provider: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM receipts WHERE provider = $1 LIMIT 1";
        Ok(self.one(Query::new(sql, [provider.to_owned().into()]), |_| Ok(())).await?.is_some())
    }

    /// An unapplied receipt of the project, whether or not somebody has decided about it.
    pub async fn unapplied_receipt(
        &self,
        project_id: ProjectId,
        id: ReceiptId,
    ) -> Result<Option<UnappliedReceipt>, StoreError> {
        self.one(Query::new(BY_ID, [Value::stored(project_id), Value::stored(id)]), unapplied).await
    }

    /// Unapplied receipts of the project; with `payment`, those that were sent for it or that pay it.
    pub async fn unapplied_receipts(
        &self,
        project_id: ProjectId,
        filter: UnappliedFilter,
        payment: Option<PaymentId>,
        window: Window,
    ) -> Result<Listed<UnappliedReceipt>, StoreError> {
        self.filtered_receipts(project_id, ReceiptFilter { state: filter, payment, received: None }, window).await
    }

    pub async fn filtered_receipts(
        &self,
        project_id: ProjectId,
        filter: ReceiptFilter,
        window: Window,
    ) -> Result<Listed<UnappliedReceipt>, StoreError> {
        self.receipts(columns!(), "receipts r", unapplied, receipt_conditions(project_id, filter), window).await
    }

    /// Unapplied receipts of the project, each with the payment that it was sent for.
    pub async fn held_receipts(
        &self,
        project_id: ProjectId,
        filter: UnappliedFilter,
        window: Window,
    ) -> Result<Listed<HeldReceipt>, StoreError> {
        let filter = ReceiptFilter { state: filter, payment: None, received: None };
        self.receipts(money_columns!(), WITH_PAYMENT, held_receipt, receipt_conditions(project_id, filter), window)
            .await
    }

    async fn receipts<T: Send + 'static>(
        &self,
        columns: &'static str,
        from: &'static str,
        decode: Decode<T>,
        (conditions, order): (Conditions, &'static str),
        window: Window,
    ) -> Result<Listed<T>, StoreError> {
        let Conditions { sql, mut parameters } = conditions;
        let count = Query::new(format!("SELECT COUNT(*) FROM receipts r {sql}"), parameters.clone());
        let total = self.many(count, |columns| columns.integer()).await?.into_iter().sum();
        let (limit, offset) = (parameters.len() + 1, parameters.len() + 2);
        let page = format!("SELECT {columns} FROM {from} {sql} ORDER BY {order} LIMIT ${limit} OFFSET ${offset}");
        parameters.extend([window.limit.into(), window.offset.into()]);
        Ok(Listed { items: self.many(Query::new(page, parameters), decode).await?, total })
    }

    /// What is held for the project until somebody decides.
    pub async fn held_sum(&self, project_id: ProjectId) -> Result<HeldSum, StoreError> {
        let sql = "SELECT COUNT(*), CAST(COALESCE(SUM(r.amount), 0) AS BIGINT) FROM receipts r \
                   WHERE r.project_id = $1 AND r.outcome = 'unapplied' AND r.decision IS NULL";
        let sum = |columns: &mut Columns<'_>| Ok(HeldSum { receipts: columns.integer()?, amount: columns.rupiah()? });
        let found = self.many(Query::new(sql, [Value::stored(project_id)]), sum).await?.pop();
        Ok(found.unwrap_or_default())
    }

    /// The unapplied receipts that were sent for these payments of the project, decided about or not, newest first.
    pub async fn receipts_sent_for(
        &self,
        project_id: ProjectId,
        payments: &[PaymentId],
    ) -> Result<Vec<UnappliedReceipt>, StoreError> {
        let sql = match self.dialect() {
            Dialect::Sqlite => concat!(
                "SELECT ",
                columns!(),
                " FROM json_each('[\"' || replace($1, ',', '\",\"') || '\"]') wanted \
                 CROSS JOIN receipts r ON r.payment_id = payment_short(wanted.value) WHERE r.project_id = $2 \
                 AND r.outcome = 'unapplied' ORDER BY r.received_at DESC, r.provider, r.id LIMIT $3"
            ),
            Dialect::Postgres => concat!(
                "SELECT ",
                columns!(),
                " FROM receipts r WHERE r.payment_id = ANY (string_to_array($1, ',')) AND r.project_id = $2 \
                 AND r.outcome = 'unapplied' ORDER BY r.received_at DESC, r.provider, r.id LIMIT $3"
            ),
        };
        let wanted = payments.iter().map(PaymentId::to_string).collect::<Vec<_>>().join(",");
        let parameters = [wanted.into(), Value::stored(project_id), OF_PAYMENTS_MOST.into()];
        self.many(Query::new(sql, parameters), unapplied).await
    }

    /// What came for these payments of the project in place of their amounts: held money that somebody accepted with the
    /// difference. All others are left out. Ask for those of one page of a list.
    pub async fn received_instead(
        &self,
        project_id: ProjectId,
        payments: &[PaymentId],
    ) -> Result<HashMap<PaymentId, Rupiah>, StoreError> {
        if payments.is_empty() {
            return Ok(HashMap::new());
        }
        let sql = match self.dialect() {
            Dialect::Sqlite => {
                "SELECT r.decided_payment_id, r.amount FROM json_each('[\"' || replace($1, ',', '\",\"') || '\"]') wanted \
                 CROSS JOIN receipts r ON r.decided_payment_id = payment_short(wanted.value) \
                 WHERE r.project_id = $2 AND r.difference <> 0"
            }
            Dialect::Postgres => {
                "SELECT r.decided_payment_id, r.amount FROM receipts r \
                 WHERE r.decided_payment_id = ANY (string_to_array($1, ',')) AND r.project_id = $2 AND r.difference <> 0"
            }
        };
        let wanted = payments.iter().map(PaymentId::to_string).collect::<Vec<_>>().join(",");
        let received = |columns: &mut Columns<'_>| Ok((columns.payment_id()?, columns.rupiah()?));
        let rows = self.many(Query::new(sql, [wanted.into(), Value::stored(project_id)]), received).await?;
        Ok(rows.into_iter().collect())
    }
}

/// The conditions of a list of receipts, and its order.
fn receipt_conditions(project_id: ProjectId, filter: ReceiptFilter) -> (Conditions, &'static str) {
    let ReceiptFilter { state, payment, received } = filter;
    let (wanted, order) = state.sql();
    let mut conditions = Conditions::new();
    conditions.and(wanted, Value::stored(project_id));
    if let Some(id) = payment {
        conditions.and("(r.payment_id = ? OR r.decided_payment_id = ?)", Value::stored(id));
    }
    if let Some((from, until)) = received {
        conditions.and("r.received_at >= ?", from);
        conditions.and("r.received_at < ?", until);
    }
    (conditions, order)
}

fn by_key(key: &ReceiptKey) -> [Value; 2] {
    [key.provider.clone().into(), key.id.clone().into()]
}

fn unapplied(columns: &mut Columns<'_>) -> Result<UnappliedReceipt, StoreError> {
    Ok(UnappliedReceipt {
        id: columns.parsed()?,
        receipt: Receipt {
            key: ReceiptKey { provider: columns.text()?, id: columns.text()? },
            amount: columns.rupiah()?,
            paid_at: columns.timestamp()?,
            received_at: columns.timestamp()?,
        },
        project_id: columns.parsed()?,
        payment_id: columns.parsed()?,
        reason: columns.word(Unapplied::parse)?,
        decided: decided(columns)?,
    })
}

fn booked(columns: &mut Columns<'_>) -> Result<BookedMoney, StoreError> {
    Ok(BookedMoney {
        amount: columns.rupiah()?,
        paid_at: columns.timestamp()?,
        payment_id: columns.optional_parsed()?,
        stray_number: columns.optional_text()?,
    })
}

fn held_receipt(columns: &mut Columns<'_>) -> Result<HeldReceipt, StoreError> {
    Ok(HeldReceipt { receipt: unapplied(columns)?, payment: payment_with_checkout(columns)? })
}

fn decided(columns: &mut Columns<'_>) -> Result<Option<Decided>, StoreError> {
    let (word, payment_id) = (columns.optional_text()?, columns.optional_parsed()?);
    let difference = columns.optional_integer()?.map(Rupiah::new);
    let (at, note) = (columns.optional_timestamp()?, columns.optional_text()?);
    let by = columns.optional_text()?.as_deref().and_then(Decider::parse);
    let refund = columns.optional_parsed()?;
    let decision = match (word.as_deref(), payment_id, difference) {
        (None, None, None) => return Ok(None),
        (Some("accepted"), Some(payment_id), Some(difference)) => Decision::Accepted { payment_id, difference },
        (Some("returned"), None, None) => Decision::Returned,
        _ => return Err(StoreError::unexpected(format!("a receipt is {word:?} for {payment_id:?}"))),
    };
    match (at, note) {
        (Some(at), Some(note)) => Ok(Some(Decided { decision, at, note, by, refund })),
        (at, note) => Err(StoreError::unexpected(format!("a receipt is decided {word:?} at {at:?}: {note:?}"))),
    }
}
