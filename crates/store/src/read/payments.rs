use domain::{
    id::{PaymentId, ProjectId},
    method::Method,
    money::Rupiah,
    payment::{Checkout, Customer, Device, Location, Payment, State},
    time::Timestamp,
};

use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

/// As literals, so that the statements of single reads are put together by the compiler.
macro_rules! payment_columns {
    () => {
        "p.id, p.project_id, p.link_id, p.reference, p.amount, p.fee, p.method, p.code, p.state, p.paid_at, \
         p.ended_at, p.created_at, p.expires_at, p.version"
    };
}
macro_rules! checkout_columns {
    () => {
        "c.payment_id, c.customer_name, c.customer_email, c.customer_phone, c.customer_address, c.ip, c.country, \
         c.device_kind, c.device_os, c.device_browser, c.user_agent"
    };
}
pub(super) use {checkout_columns, payment_columns};

const BY_ID: &str = concat!("SELECT ", payment_columns!(), " FROM payments p WHERE p.id = $1");
const CHECKOUT_BY_ID: &str = concat!("SELECT ", checkout_columns!(), " FROM checkouts c WHERE c.payment_id = $1");

/// Money whose delay is over.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    pub project_id: ProjectId,
    pub payment_id: PaymentId,
    pub net: Rupiah,
}

impl Store {
    /// A payment whoever owns it; for notifications and the hosted page, which have no key.
    pub async fn payment(&self, id: PaymentId) -> Result<Option<Payment>, StoreError> {
        match self.one(Query::new(BY_ID, [Value::shown(id)]), payment).await? {
            // Only the page of a link asks customers who they are.
            Some(payment) if payment.link_id.is_some() => {
                let checkout = self.one(Query::new(CHECKOUT_BY_ID, [Value::shown(id)]), checkout).await?.flatten();
                Ok(Some(Payment { checkout, ..payment }))
            }
            direct => Ok(direct),
        }
    }

    /// Whether any pending payment's time is over, so that writing its expiry down is due.
    pub async fn any_to_expire(&self, now: Timestamp) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM payments WHERE state = 'pending' AND expires_at < $1 LIMIT 1";
        Ok(self.one(Query::new(sql, [now.into()]), |_| Ok(())).await?.is_some())
    }

    /// Payments whose net is due to settle, the longest due first.
    pub async fn due_to_settle(&self, now: Timestamp, most: i64) -> Result<Vec<Due>, StoreError> {
        let sql = "SELECT project_id, id, amount - fee FROM payments WHERE settles_at <= $1 \
                   ORDER BY settles_at LIMIT $2";
        self.due(Query::new(sql, [now.into(), most.into()]), due).await
    }
}

fn due(columns: &mut Columns<'_>) -> Result<Due, StoreError> {
    Ok(Due { project_id: columns.parsed()?, payment_id: columns.parsed()?, net: columns.rupiah()? })
}

/// A payment without what its checkout collected.
pub(super) fn payment(columns: &mut Columns<'_>) -> Result<Payment, StoreError> {
    Ok(Payment {
        id: columns.parsed()?,
        project_id: columns.parsed()?,
        link_id: columns.optional_parsed()?,
        reference: columns.text()?,
        amount: columns.rupiah()?,
        fee: columns.rupiah()?,
        method: columns.word(Method::parse)?,
        code: columns.text()?,
        state: state(columns)?,
        created_at: columns.timestamp()?,
        expires_at: columns.timestamp()?,
        version: columns.integer()?,
        checkout: None,
    })
}

fn state(columns: &mut Columns<'_>) -> Result<State, StoreError> {
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
    Ok(Some(Checkout {
        customer: Customer {
            name: columns.text()?,
            email: columns.text()?,
            phone: columns.text()?,
            address: columns.text()?,
        },
        location: Location { ip: columns.optional_text()?, country: columns.optional_text()? },
        device: Device {
            kind: columns.optional_text()?,
            os: columns.optional_text()?,
            browser: columns.optional_text()?,
            user_agent: columns.optional_text()?,
        },
    }))
}
