//! What banks asked before, and how we answered.

use domain::{
    bank_request::{BankRequest, BankService, Verdict},
    id::BankAccountId,
    money::Rupiah,
    time::Timestamp,
};

use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// A macro instead of a constant, so that `concat!` can build the statements at compile time.
macro_rules! columns {
    () => {
        "account_id, service, day, external_id, request_id, is_first, number, payment_id, amount, verdict, at"
    };
}

const BY_EXTERNAL_ID: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM bank_requests WHERE account_id = $1 AND service = $2 AND day = $3 AND external_id = $4"
);
const FIRST: &str =
    concat!("SELECT ", columns!(), " FROM bank_requests WHERE account_id = $1 AND request_id = $2 AND is_first = 1");

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

    /// The first request to take the money with this request id, whenever it was.
    pub async fn first_bank_request(
        &self,
        id: BankAccountId,
        request_id: &str,
    ) -> Result<Option<BankRequest>, StoreError> {
        self.one(Query::new(FIRST, [Value::stored(id), request_id.to_owned().into()]), request).await
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
        is_first: columns.truth()?,
        number: columns.text()?,
        payment_id: columns.optional_parsed()?,
        amount: columns.optional_integer()?.map(Rupiah::new),
        verdict: columns.word(Verdict::parse)?,
        at: columns.timestamp()?,
    })
}
