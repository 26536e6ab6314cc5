use domain::receipt::ReceiptKey;

use crate::{Store, error::StoreError, value::Query};

impl Store {
    /// Whether a notification of this kind was taken before: `money`, `refusal` or `progress`.
    pub async fn noted(&self, key: &ReceiptKey, kind: &'static str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM receipts WHERE provider = $1 AND id = $2 AND kind = $3";
        let parameters = [key.provider.clone().into(), key.id.clone().into(), kind.into()];
        Ok(self.one(Query::new(sql, parameters), |columns| columns.integer()).await?.is_some())
    }
}
