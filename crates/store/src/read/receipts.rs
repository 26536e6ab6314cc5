//! Receipts: providers' reports, and money that fits no payment.

use domain::{
    id::{PaymentId, ProjectId},
    money::Rupiah,
    receipt::{Decided, Decision, Receipt, ReceiptKey, Unapplied, UnappliedReceipt},
    time::Timestamp,
};

use super::{Conditions, Listed, Window};
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// A macro instead of a constant, so that `concat!` can build the statement at compile time.
macro_rules! columns {
    () => {
        "provider, id, amount, paid_at, received_at, project_id, payment_id, reason, decision, decided_at, decision_note"
    };
}

const BY_KEY: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM receipts WHERE provider = $1 AND id = $2 AND kind = 'money' AND outcome = 'unapplied'"
);

/// Which unapplied receipts to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnappliedFilter {
    /// Newest first.
    Undecided,
    /// Latest decision first.
    Decided,
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
        let parameters = [Value::shown(payment_id), provider, id];
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
        let stray = "SELECT amount, paid_at, payment_id, number FROM strays WHERE account_id = $1 AND receipt_id = $2";
        self.one(Query::new(stray, by_key(key)), booked).await
    }

    /// Whether a provider has ever reported money.
    pub async fn has_money_of(&self, provider: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM receipts WHERE provider = $1 LIMIT 1";
        Ok(self.one(Query::new(sql, [provider.to_owned().into()]), |_| Ok(())).await?.is_some())
    }

    /// An unapplied receipt of any project, whether or not somebody has decided about it.
    pub async fn unapplied_receipt(&self, key: &ReceiptKey) -> Result<Option<UnappliedReceipt>, StoreError> {
        self.one(Query::new(BY_KEY, by_key(key)), unapplied).await
    }

    pub async fn unapplied_receipts(
        &self,
        project_id: ProjectId,
        filter: UnappliedFilter,
        window: Window,
    ) -> Result<Listed<UnappliedReceipt>, StoreError> {
        let (wanted, order) = match filter {
            UnappliedFilter::Undecided => {
                ("project_id = ? AND outcome = 'unapplied' AND decision IS NULL", "received_at DESC, provider, id")
            }
            UnappliedFilter::Decided => ("project_id = ? AND decision IS NOT NULL", "decided_at DESC, provider, id"),
        };
        let mut conditions = Conditions::new();
        conditions.and(wanted, Value::shown(project_id));
        let Conditions { sql, mut parameters } = conditions;
        let count = Query::new(format!("SELECT COUNT(*) FROM receipts {sql}"), parameters.clone());
        let total = self.many(count, |columns| columns.integer()).await?.into_iter().sum();
        let page = format!("SELECT {} FROM receipts {sql} ORDER BY {order} LIMIT $2 OFFSET $3", columns!());
        parameters.extend([window.limit.into(), window.offset.into()]);
        let items = self.many(Query::new(page, parameters), unapplied).await?;
        Ok(Listed { items, total })
    }
}

fn by_key(key: &ReceiptKey) -> [Value; 2] {
    [key.provider.clone().into(), key.id.clone().into()]
}

fn unapplied(columns: &mut Columns<'_>) -> Result<UnappliedReceipt, StoreError> {
    Ok(UnappliedReceipt {
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

fn decided(columns: &mut Columns<'_>) -> Result<Option<Decided>, StoreError> {
    let (word, at, note) = (columns.optional_text()?, columns.optional_timestamp()?, columns.optional_text()?);
    match (word.as_deref().map(Decision::parse), at, note) {
        (None, None, None) => Ok(None),
        (Some(Some(decision)), Some(at), Some(note)) => Ok(Some(Decided { decision, at, note })),
        (_, at, note) => Err(StoreError::unexpected(format!("a receipt is decided {word:?} at {at:?}: {note:?}"))),
    }
}
