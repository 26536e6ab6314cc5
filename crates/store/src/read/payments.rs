//! Single payments, and payments that a reconciler must act on.

use domain::{
    id::{BankAccountId, PaymentId, ProjectId},
    money::Rupiah,
    payment::{Checkout, Payment, RefundSums, State},
    time::Timestamp,
};

use crate::{
    Store,
    error::StoreError,
    plan::Dialect,
    terms_columns,
    value::{Columns, Query, Value},
};

/// Macros instead of constants, so that `concat!` can build the statements of single reads at compile time.
macro_rules! payment_columns {
    () => {
        concat!(
            "p.id, p.code, p.state, p.paid_at, p.ended_at, p.created_at, p.version, p.refunded, p.refunding, ",
            $crate::terms_columns::terms_columns!("p.")
        )
    };
}
/// The columns of a checkout which there may be or not.
macro_rules! checkout_columns {
    () => {
        concat!("c.payment_id, ", $crate::terms_columns::checkout_columns!("c."))
    };
}
pub(super) use {checkout_columns, payment_columns};

const BY_ID: &str = concat!("SELECT ", payment_columns!(), " FROM payments p WHERE p.id = $1");
const BY_NUMBER: &str = concat!(
    "SELECT ",
    payment_columns!(),
    ", (SELECT o.version FROM projects o WHERE o.id = p.project_id) FROM bank_numbers n \
     JOIN payments p ON p.id = n.payment_id WHERE n.account_id = $1 AND n.number = $2"
);
const CHECKOUT_BY_ID: &str = concat!("SELECT ", checkout_columns!(), " FROM checkouts c WHERE c.payment_id = $1");

/// A payment whose settlement delay is over.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    pub project_id: ProjectId,
    pub payment_id: PaymentId,
    /// What is pending for it: its net, without what refunds have taken.
    pub left: Rupiah,
    pub version: i64,
}

/// The state of a payment, without what never changes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaymentState {
    pub id: PaymentId,
    pub state: State,
    pub version: i64,
}

impl Store {
    /// A payment of any project, for reports of banks and the hosted page, which have no key.
    pub async fn payment(&self, id: PaymentId) -> Result<Option<Payment>, StoreError> {
        match self.one(Query::new(BY_ID, [Value::stored(id)]), payment).await? {
            // Only payments of links have a checkout.
            Some(mut payment) if payment.terms.link_id.is_some() => {
                let checkout = self.one(Query::new(CHECKOUT_BY_ID, [Value::stored(id)]), checkout).await?;
                payment.terms.checkout = checkout.flatten();
                Ok(Some(payment))
            }
            direct => Ok(direct),
        }
    }

    /// The payment that a number of a bank account was given to last, in any state, and its project's version.
    pub async fn payment_of_number(
        &self,
        id: BankAccountId,
        number: &str,
    ) -> Result<Option<(Payment, i64)>, StoreError> {
        let parameters = [Value::stored(id), number.to_owned().into()];
        let found = |columns: &mut Columns<'_>| Ok((payment(columns)?, columns.integer()?));
        match self.one(Query::new(BY_NUMBER, parameters), found).await? {
            Some((payment, version)) if payment.terms.link_id.is_some() => {
                Ok(self.payment(payment.id).await?.map(|payment| (payment, version)))
            }
            direct => Ok(direct),
        }
    }

    /// A payment of the project that can still be paid, by its account number or its QRIS payload.
    pub async fn payment_by_code(&self, project_id: ProjectId, code: &str) -> Result<Option<Payment>, StoreError> {
        let by_account = concat!(
            "SELECT ",
            payment_columns!(),
            " FROM payments p WHERE p.code = $1 AND p.method <> 'qris' AND p.state IN ('pending', 'processing') \
             AND p.project_id = $2"
        );
        let parameters = [code.to_owned().into(), Value::stored(project_id)];
        let found = match self.one(Query::new(by_account, parameters), payment).await? {
            Some(payment) => Some(payment),
            None => self.payment_by_payload(project_id, code).await?,
        };
        match found {
            Some(payment) if payment.terms.link_id.is_some() => self.payment(payment.id).await,
            direct => Ok(direct),
        }
    }

    /// Reads the project's live payloads, by the index of states and methods: they live for an hour at most, and only the sandbox
    /// looks for one, so they have no index of their own.
    async fn payment_by_payload(&self, project_id: ProjectId, code: &str) -> Result<Option<Payment>, StoreError> {
        let sql = concat!(
            "SELECT ",
            payment_columns!(),
            " FROM payments p WHERE p.project_id = $1 AND p.state IN ('pending', 'processing') AND p.method = 'qris' \
             AND p.code = $2 LIMIT 1"
        );
        let parameters = [Value::stored(project_id), code.to_owned().into()];
        Ok(self.many(Query::new(sql, parameters), payment).await?.pop())
    }

    /// When a customer's browser first showed the payment's page.
    pub async fn view_of(&self, id: PaymentId) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT at FROM views WHERE payment_id = $1";
        self.one(Query::new(sql, [Value::stored(id)]), |columns| columns.timestamp()).await
    }

    /// The states of these payments, in no particular order. Ids without a payment are left out. Ask for a few hundred
    /// at a time: this uses the permits of the reconcilers' polls, since behind long lists customers would wait for
    /// seconds.
    pub async fn payment_states(&self, ids: &[PaymentId]) -> Result<Vec<PaymentState>, StoreError> {
        let sql = match self.dialect() {
            // CROSS JOIN makes SQLite look payments up by the ids and not the other way round.
            Dialect::Sqlite => {
                "SELECT p.id, p.state, p.paid_at, p.ended_at, p.version \
                 FROM json_each('[\"' || replace($1, ',', '\",\"') || '\"]') wanted CROSS JOIN payments p ON p.id = payment_short(wanted.value)"
            }
            Dialect::Postgres => {
                "SELECT p.id, p.state, p.paid_at, p.ended_at, p.version \
                 FROM payments p WHERE p.id = ANY (string_to_array($1, ','))"
            }
        };
        let wanted = ids.iter().map(PaymentId::to_string).collect::<Vec<_>>().join(",");
        self.due(Query::new(sql, [wanted.into()]), payment_state).await
    }

    /// Whether the expiry of any pending payment is due to be written.
    pub async fn any_to_expire(&self, now: Timestamp) -> Result<bool, StoreError> {
        let sql =
            "SELECT 1 FROM payments WHERE state = 'pending' AND closes_after_query = 0 AND expires_at < $1 LIMIT 1";
        Ok(self.one(Query::new(sql, [now.into()]), |_| Ok(())).await?.is_some())
    }

    /// Payments that are due to settle, longest due first.
    pub async fn due_to_settle(&self, now: Timestamp, most: i64) -> Result<Vec<Due>, StoreError> {
        // Held money that was accepted may be more or less than the amount; what is left of it after the fee is pending.
        let sql = "SELECT p.project_id, p.id, p.amount - p.fee + COALESCE((SELECT MAX(r.difference) FROM receipts r \
                   WHERE r.decided_payment_id = p.id), 0) - CASE WHEN p.refunded + p.refunding = 0 THEN 0 ELSE \
                   COALESCE((SELECT CAST(SUM(COALESCE(f.found_from_pending, f.from_pending)) AS BIGINT) FROM refunds f WHERE f.payment_id = p.id \
                   AND f.status IN ('requires_action', 'pending', 'succeeded')), 0) END, p.version FROM payments p WHERE p.settles_at <= $1 \
                   ORDER BY p.settles_at LIMIT $2";
        self.due(Query::new(sql, [now.into(), most.into()]), due).await
    }
}

fn due(columns: &mut Columns<'_>) -> Result<Due, StoreError> {
    Ok(Due {
        project_id: columns.project_id()?,
        payment_id: columns.payment_id()?,
        left: columns.rupiah()?,
        version: columns.integer()?,
    })
}

fn payment_state(columns: &mut Columns<'_>) -> Result<PaymentState, StoreError> {
    Ok(PaymentState { id: columns.payment_id()?, state: state(columns)?, version: columns.integer()? })
}

/// A payment without its checkout.
pub(super) fn payment(columns: &mut Columns<'_>) -> Result<Payment, StoreError> {
    Ok(Payment {
        id: columns.payment_id()?,
        code: columns.text()?,
        state: state(columns)?,
        created_at: columns.timestamp()?,
        version: columns.integer()?,
        refunds: RefundSums { succeeded: columns.rupiah()?, unfinished: columns.rupiah()? },
        terms: terms_columns::terms(columns)?,
    })
}

/// A payment, and behind its columns those of its checkout.
pub(super) fn payment_with_checkout(columns: &mut Columns<'_>) -> Result<Payment, StoreError> {
    let mut payment = payment(columns)?;
    payment.terms.checkout = checkout(columns)?;
    Ok(payment)
}

pub(super) fn state(columns: &mut Columns<'_>) -> Result<State, StoreError> {
    let (word, paid_at, ended_at) = (columns.text()?, columns.optional_timestamp()?, columns.optional_timestamp()?);
    match (word.as_str(), paid_at, ended_at) {
        ("pending", None, None) => Ok(State::Pending),
        ("processing", None, None) => Ok(State::Processing),
        ("paid", Some(at), None) => Ok(State::Paid { at }),
        ("failed", None, Some(at)) => Ok(State::Failed { at }),
        ("expired", None, None) => Ok(State::Expired),
        ("cancelled", None, Some(at)) => Ok(State::Cancelled { at }),
        _ => Err(StoreError::unexpected(format!("a payment is {word:?} with times {paid_at:?}, {ended_at:?}"))),
    }
}

pub(super) fn checkout(columns: &mut Columns<'_>) -> Result<Option<Checkout>, StoreError> {
    if columns.optional_text()?.is_none() {
        return Ok(None);
    }
    terms_columns::checkout(columns).map(Some)
}
