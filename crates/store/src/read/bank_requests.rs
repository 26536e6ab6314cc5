//! What banks asked before, and how we answered.

use domain::{
    bank_request::{BankRequest, BankService, Verdict},
    id::BankAccountId,
    money::Rupiah,
    receipt::ReceiptKey,
    time::Timestamp,
    undecided::UndecidedWord,
};

use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// A macro instead of a constant, so that `concat!` can build the statements at compile time.
macro_rules! columns {
    () => {
        "account_id, service, day, external_id, request_id, receipt_id, is_first, number, payment_id, amount, verdict, at"
    };
}

const BY_EXTERNAL_ID: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM bank_requests WHERE account_id = $1 AND service = $2 AND day = $3 AND external_id = $4"
);
const FIRST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM bank_requests WHERE account_id = $1 AND request_id = $2 AND number = $3 AND amount = $4 AND is_first = 1 \
     ORDER BY at DESC, receipt_id DESC LIMIT 1"
);
/// A request that was refused, or that came later, hides none that was accepted before.
const BOOKING: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM bank_requests WHERE account_id = $1 AND request_id = $2 AND number = $3 AND amount = $4 AND is_first = 1 \
     AND verdict = 'accepted' AND at <= $5 ORDER BY at DESC, receipt_id DESC LIMIT 1"
);

impl Store {
    /// The request that a bank sent on that day with this external id.
    pub async fn bank_request(
        &self,
        id: BankAccountId,
        service: BankService,
        day: i64,
        external_id: &str,
    ) -> Result<Option<BankRequest>, StoreError> {
        let parameters = [Value::stored(id), service.number().into(), day.into(), external_id.to_owned().into()];
        self.one(Query::new(BY_EXTERNAL_ID, parameters), request).await
    }

    /// The first request to take money of this request id, number and amount, whenever it was. Where there are several, since
    /// the number was given out again, the latest of them.
    pub async fn first_bank_request(
        &self,
        id: BankAccountId,
        request_id: &str,
        number: &str,
        amount: Rupiah,
    ) -> Result<Option<BankRequest>, StoreError> {
        let parameters = [Value::stored(id), request_id.to_owned().into(), number.to_owned().into(), amount.into()];
        self.one(Query::new(FIRST, parameters), request).await
    }

    /// The request by which money was booked before its bank was told that nothing is decided: the one that was answered so, or
    /// an earlier one. Where there are several, the latest of them.
    pub async fn booking_of(&self, word: &UndecidedWord) -> Result<Option<BankRequest>, StoreError> {
        let parameters = [
            Value::stored(word.account_id),
            word.request_id.clone().into(),
            word.number.clone().into(),
            word.amount.into(),
            word.booked_until().into(),
        ];
        self.one(Query::new(BOOKING, parameters), request).await
    }

    /// Whether money of a bank account was judged or booked under this id.
    pub async fn is_receipt_id_taken(&self, key: &ReceiptKey) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM bank_requests WHERE account_id = $1 AND receipt_id = $2 AND is_first = 1 \
                   UNION ALL SELECT 1 FROM receipts WHERE provider = $1 AND id = $2 \
                   UNION ALL SELECT 1 FROM strays WHERE account_id = $1 AND receipt_id = $2 LIMIT 1";
        let parameters = [key.provider.clone().into(), key.id.clone().into()];
        Ok(self.one(Query::new(sql, parameters), |_| Ok(())).await?.is_some())
    }

    /// Whether there are inquiries from before `before`.
    pub async fn any_inquiry_before(&self, before: Timestamp) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM bank_requests WHERE service = 24 AND at < $1 LIMIT 1";
        Ok(self.one(Query::new(sql, [before.into()]), |_| Ok(())).await?.is_some())
    }
}

fn request(columns: &mut Columns<'_>) -> Result<BankRequest, StoreError> {
    Ok(BankRequest {
        account_id: columns.parsed()?,
        service: {
            let number = columns.integer()?;
            BankService::from_number(number)
                .ok_or_else(|| StoreError::unexpected(format!("{number} is no service of banks")))?
        },
        day: columns.integer()?,
        external_id: columns.text()?,
        request_id: columns.text()?,
        receipt_id: columns.optional_text()?,
        is_first: columns.truth()?,
        number: columns.text()?,
        payment_id: columns.optional_parsed()?,
        amount: columns.optional_integer()?.map(Rupiah::new),
        verdict: columns.word(Verdict::parse)?,
        at: columns.timestamp()?,
    })
}
