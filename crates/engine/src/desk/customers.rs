//! A customer of the project: what they told a link, and all that they have paid.

use domain::{
    id::PaymentId,
    payment::{Customer, Payment},
};
use store::{CustomerSums, Window};

use super::Desk;
use crate::Error;

/// A customer with everything that their page shows.
#[derive(Clone, Debug)]
pub struct CustomerFile {
    /// As they named themselves for the payment by which they are found.
    pub customer: Customer,
    /// One page of their payments.
    pub payments: Vec<Payment>,
    pub sums: CustomerSums,
}

impl Desk {
    /// The customer of a payment, with all payments for which the same email address or phone number was given. A
    /// customer who gave neither cannot be told from others and has no page.
    pub async fn customer(&self, id: PaymentId, window: Window) -> Result<CustomerFile, Error> {
        let customer = self.payment(id).await?.terms.checkout.map(|checkout| checkout.customer).unwrap_or_default();
        if !customer.is_known() {
            return Err(Error::NotFound("customer"));
        }
        let store = &self.engine.store;
        let payments = store.customer_payments(self.id(), &customer, window).await?;
        let sums = store.customer_sums(self.id(), &customer).await?;
        Ok(CustomerFile { customer, payments, sums })
    }
}
