//! By which code of which bank the money of a payment came.

use domain::{
    id::{BankAccountId, PaymentId},
    money::Rupiah,
    time::Timestamp,
};

use crate::{
    Store,
    error::StoreError,
    value::{Query, Value},
};

/// Money that has paid a payment at a bank, as far as the bank has named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayingMoney {
    pub account_id: BankAccountId,
    /// Our reference of the code that was paid.
    pub reference: Option<String>,
    /// The number that the issuer gave to the transaction.
    pub rrn: Option<String>,
    pub amount: Rupiah,
    pub paid_at: Timestamp,
}

impl Store {
    /// The money that has paid a payment, also money for another payment that somebody has accepted for it; none where no bank
    /// has told us of it.
    pub async fn paying_money(&self, id: PaymentId) -> Result<Option<PayingMoney>, StoreError> {
        let sql = "SELECT m.account_id, m.reference, m.rrn, r.amount, COALESCE(r.paid_at, r.received_at) FROM receipts r \
                   JOIN bank_money m ON m.account_id = r.provider AND m.receipt_id = r.id \
                   WHERE r.kind = 'money' AND ((r.payment_id = $1 AND r.outcome = 'applied') OR r.decided_payment_id = $1) \
                   ORDER BY r.received_at, r.id LIMIT 1";
        self.one(Query::new(sql, [Value::stored(id)]), |columns| {
            Ok(PayingMoney {
                account_id: columns.parsed()?,
                reference: columns.optional_text()?,
                rrn: columns.optional_text()?,
                amount: columns.rupiah()?,
                paid_at: columns.timestamp()?,
            })
        })
        .await
    }
}
