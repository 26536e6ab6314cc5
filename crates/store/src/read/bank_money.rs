//! Money that banks have told us of, by what they say of it.

use domain::{
    bank_money::MoneyMarks, id::BankAccountId, money::Rupiah, opening::MoneySource, receipt::ReceiptKey,
    time::Timestamp,
};

use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// The money that could be what is told: everything that both messages say agrees. Times of two notifications agree within a
/// second, since banks write milliseconds in one and not in another. Where the bank was asked, or reports, it may state when it
/// took the money, or when it was done with it, and the other message the other: those agree within minutes. Money that was booked
/// without an amount can have any. An empty text or zero stands for what is not said.
const ALIKE: &str = "SELECT receipt_id, source, reference, bank_reference, number, rrn, payment_reference, stated_at, lacks_amount \
    FROM bank_money WHERE account_id = $1 AND (bank_id = $2 OR (bank_id = '' AND receipt_id = $2)) \
    AND (CAST($3 AS TEXT) = '' OR reference IS NULL OR reference = $3) \
    AND (CAST($4 AS TEXT) = '' OR bank_reference IS NULL OR bank_reference = $4) AND (CAST($5 AS TEXT) = '' OR number IS NULL OR number = $5) \
    AND (CAST($6 AS TEXT) = '' OR rrn IS NULL OR rrn = $6) \
    AND (CAST($7 AS TEXT) = '' OR payment_reference IS NULL OR payment_reference = $7) \
    AND (CAST($8 AS BIGINT) = 0 OR stated_at IS NULL OR ABS(stated_at - $8) \
        < CASE WHEN CAST($9 AS BIGINT) = 0 OR source <> 'notification' THEN 300000 ELSE 1000 END) \
    AND (CAST($9 AS BIGINT) = 0 OR amount = $9 OR lacks_amount = 1) \
    ORDER BY CASE WHEN amount = $10 THEN 0 ELSE 1 END, CASE WHEN reference IS NULL THEN 1 ELSE 0 END, \
        CASE WHEN CAST($8 AS BIGINT) = 0 THEN 0 ELSE COALESCE(ABS(stated_at - $8), 300000) END, told_at, receipt_id LIMIT 1";
const NAMING: &str =
    "SELECT bank_id, lacks_amount, stated_at FROM bank_money WHERE account_id = $1 AND receipt_id = $2";
const CALLED: &str = "SELECT receipt_id, bank_id, lacks_amount, stated_at FROM bank_money \
    WHERE account_id = $1 AND bank_id IN ($2, $3) ORDER BY told_at, receipt_id LIMIT $4";
/// Money of one code that is looked at to find out which of it the bank names.
const CALLED_MOST: i64 = 64;
const OTHERS: &str = "SELECT receipt_id FROM bank_money WHERE account_id = $1 \
    AND (bank_id = $2 OR (bank_id = '' AND receipt_id = $2)) AND (reference IS NULL OR reference <> $3) LIMIT 1";

/// Money that a bank has told us of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedMoney {
    /// The id under which it is booked.
    pub receipt_id: String,
    /// Whether a notification has told of it, so that its time is one of a notification.
    pub is_notified: bool,
    pub marks: MoneyMarks,
}

/// How a bank has named money, and how it has stated its amount.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoneyNaming {
    /// The bank's id; what stands in its place as long as the bank has told none.
    pub bank_id: String,
    /// Whether the bank had left out the amount when the money was booked.
    pub lacks_amount: bool,
    /// When it was paid, where the bank has said so.
    pub stated_at: Option<Timestamp>,
}

impl Store {
    /// Money of a bank account with this id of the bank that agrees with everything that is said here; in this amount first, or
    /// in this amount alone if a notification says it. None if there is none.
    pub async fn money_alike(
        &self,
        id: BankAccountId,
        bank_id: &str,
        marks: &MoneyMarks,
        (amount, source): (Rupiah, MoneySource),
    ) -> Result<Option<MarkedMoney>, StoreError> {
        let text = |mark: &Option<String>| Value::from(mark.clone().unwrap_or_default());
        let parameters = [
            Value::stored(id),
            bank_id.to_owned().into(),
            text(&marks.reference),
            text(&marks.bank_reference),
            text(&marks.number),
            text(&marks.rrn),
            text(&marks.payment_reference),
            marks.paid_at.map_or(0, Timestamp::as_millis).into(),
            if source == MoneySource::Notification { amount.get() } else { 0 }.into(),
            amount.into(),
        ];
        self.one(Query::new(ALIKE, parameters), marked).await
    }

    /// How money that a bank has told us of is named by now.
    pub async fn money_naming(&self, key: &ReceiptKey) -> Result<Option<MoneyNaming>, StoreError> {
        let parameters = [key.provider.clone().into(), key.id.clone().into()];
        self.one(Query::new(NAMING, parameters), naming).await
    }

    /// Money of a bank account that has one of these two ids of the bank, with the ids under which it is booked, the earliest first.
    pub async fn money_called(
        &self,
        id: BankAccountId,
        [one, other]: [&str; 2],
    ) -> Result<Vec<(String, MoneyNaming)>, StoreError> {
        let parameters = [Value::stored(id), one.to_owned().into(), other.to_owned().into(), CALLED_MOST.into()];
        self.many(Query::new(CALLED, parameters), |columns| Ok((columns.text()?, naming(columns)?))).await
    }

    /// Whether money of a bank account with this id of the bank was told for something else than the code of this reference.
    pub async fn is_bank_id_shared(&self, key: &ReceiptKey, reference: &str) -> Result<bool, StoreError> {
        let parameters = [key.provider.clone().into(), key.id.clone().into(), reference.to_owned().into()];
        Ok(self.one(Query::new(OTHERS, parameters), |_| Ok(())).await?.is_some())
    }
}

pub(super) fn naming(columns: &mut Columns<'_>) -> Result<MoneyNaming, StoreError> {
    Ok(MoneyNaming {
        bank_id: columns.text()?,
        lacks_amount: columns.truth()?,
        stated_at: columns.optional_timestamp()?,
    })
}

fn marked(columns: &mut Columns<'_>) -> Result<MarkedMoney, StoreError> {
    Ok(MarkedMoney {
        receipt_id: columns.text()?,
        is_notified: columns.text()? == MoneySource::Notification.word(),
        marks: MoneyMarks {
            reference: columns.optional_text()?,
            bank_reference: columns.optional_text()?,
            number: columns.optional_text()?,
            rrn: columns.optional_text()?,
            payment_reference: columns.optional_text()?,
            paid_at: columns.optional_timestamp()?,
            lacks_amount: columns.truth()?,
        },
    })
}
