use domain::receipt::ReceiptKey;

use crate::{Store, error::StoreError, value::Query};

impl Store {
    /// Whether this notification was taken before.
    pub async fn noted(&self, key: &ReceiptKey) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM receipts WHERE provider = $1 AND id = $2";
        let parameters = [key.provider.clone().into(), key.id.clone().into()];
        Ok(self.one(Query::new(sql, parameters), |_| Ok(())).await?.is_some())
    }
}
