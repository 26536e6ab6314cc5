//! What a customer has paid. A customer is an email address or a phone number as it was given; nothing but the checkouts of
//! payments is read, so a customer is gone together with them.

use domain::{
    id::ProjectId,
    money::Rupiah,
    payment::{Customer, Payment},
    time::Timestamp,
};

use super::{
    Conditions, Window,
    payment_list::{MATCHES_COUNTED, Matches, PaymentOrder, Sums, list},
};
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// The payments of a customer: `$1` is the project, `$2` the email address, `$3` the phone number. The comparisons with the
/// empty text let the databases use their indexes, which leave it out.
const OF_CUSTOMER: &str = "SELECT payment_id FROM checkouts WHERE project_id = $1 AND customer_email <> '' \
    AND customer_email = $2 UNION ALL SELECT payment_id FROM checkouts WHERE project_id = $1 AND customer_phone <> '' \
    AND customer_phone = $3";

/// What a customer's payments add up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomerSums {
    pub matches: Matches,
    /// When the first and the last of the counted payments were created.
    pub span: Option<(Timestamp, Timestamp)>,
    /// Money that came for their payments and waits for a decision: how many times, and how much.
    pub held: (i64, Rupiah),
}

impl Store {
    /// One window of a customer's payments, newest first.
    pub async fn customer_payments(
        &self,
        project_id: ProjectId,
        customer: &Customer,
        window: Window,
    ) -> Result<Vec<Payment>, StoreError> {
        let conditions = Conditions {
            sql: format!("WHERE p.id IN ({OF_CUSTOMER})"),
            parameters: parameters(project_id, customer).into(),
        };
        self.page(&list(PaymentOrder::Newest), conditions, window).await
    }

    pub async fn customer_sums(&self, project_id: ProjectId, customer: &Customer) -> Result<CustomerSums, StoreError> {
        let sum = format!(
            "SELECT COUNT(*), COUNT(paid_at), \
             CAST(COALESCE(SUM(CASE WHEN paid_at IS NOT NULL THEN amount END), 0) AS BIGINT), \
             CAST(COALESCE(SUM(CASE WHEN paid_at IS NOT NULL THEN fee END), 0) AS BIGINT), \
             MIN(created_at), MAX(created_at) FROM (SELECT p.paid_at AS paid_at, p.amount + \
             COALESCE((SELECT MAX(r.difference) FROM receipts r WHERE r.decided_payment_id = p.id), 0) AS amount, p.fee AS fee, \
             p.created_at AS created_at FROM payments p WHERE p.id IN ({OF_CUSTOMER}) ORDER BY p.id DESC LIMIT $4) found"
        );
        let mut counted = Vec::from(parameters(project_id, customer));
        counted.push((MATCHES_COUNTED + 1).into());
        let (sums, span) = self.many(Query::new(sum, counted), sums).await?.pop().unwrap_or_default();
        let held = format!(
            "SELECT COUNT(*), CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM receipts WHERE payment_id IN ({OF_CUSTOMER}) \
             AND outcome = 'unapplied' AND decision IS NULL"
        );
        let held = Query::new(held, parameters(project_id, customer));
        let held = self.many(held, |columns| Ok((columns.integer()?, columns.rupiah()?))).await?;
        Ok(CustomerSums {
            matches: if sums.payments > MATCHES_COUNTED { Matches::More } else { Matches::All(sums) },
            span,
            held: held.into_iter().next().unwrap_or_default(),
        })
    }
}

fn parameters(project_id: ProjectId, customer: &Customer) -> [Value; 3] {
    [Value::stored(project_id), customer.email.clone().into(), customer.phone.clone().into()]
}

fn sums(columns: &mut Columns<'_>) -> Result<(Sums, Option<(Timestamp, Timestamp)>), StoreError> {
    let (payments, paid) = (columns.integer()?, columns.integer()?);
    let sums = Sums { payments, paid, amount: columns.rupiah()?, fee: columns.rupiah()? };
    Ok((sums, columns.optional_timestamp()?.zip(columns.optional_timestamp()?)))
}
