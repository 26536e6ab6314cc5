//! Sales at the counter, by who made them.

use domain::{
    id::{PaymentId, ProjectId, UserId},
    payment::Payment,
    time::Timestamp,
};

use super::payments::{payment, payment_columns};
use crate::{
    Store,
    error::StoreError,
    value::{Query, Value},
};

/// Where a bank issues the code, a sale names the opening until the payment is there.
const SINCE: &str = concat!(
    "SELECT ",
    payment_columns!(),
    " FROM sales s LEFT JOIN openings o ON o.id = s.resource \
     JOIN payments p ON p.id = COALESCE(o.payment_id, s.resource) \
     WHERE s.project_id = $1 AND s.user_id = $2 AND s.at >= $3 ORDER BY s.at DESC, p.id DESC LIMIT $4"
);
const IS_OF_USER: &str = "SELECT 1 FROM sales s WHERE s.project_id = $1 AND s.user_id = $2 \
    AND s.resource = COALESCE((SELECT o.id FROM openings o WHERE o.payment_id = $3), $3)";

impl Store {
    /// The payments that a user has made at a project's counter since then, newest first, at most `most`.
    pub async fn sales(
        &self,
        project_id: ProjectId,
        user_id: UserId,
        since: Timestamp,
        most: i64,
    ) -> Result<Vec<Payment>, StoreError> {
        let parameters = [Value::stored(project_id), Value::stored(user_id), since.into(), most.into()];
        self.many(Query::new(SINCE, parameters), payment).await
    }

    /// Whether the user has made that payment at the project's counter.
    pub async fn is_sale_of(&self, project_id: ProjectId, user_id: UserId, id: PaymentId) -> Result<bool, StoreError> {
        let parameters = [Value::stored(project_id), Value::stored(user_id), Value::stored(id)];
        Ok(self.one(Query::new(IS_OF_USER, parameters), |_| Ok(())).await?.is_some())
    }
}
