//! Searching everything of a project at once, for the one box that every page has.

use domain::{
    id::{LinkId, PaymentId},
    link::Link,
    payment::{Customer, Payment},
    search::{SearchTerm, folded, phone_digits},
};
use store::PaymentFilter;

use super::Desk;
use crate::Error;

/// Results of each kind at most.
const PAYMENTS_SHOWN: usize = 20;
const LINKS_SHOWN: i64 = 5;
const CUSTOMERS_SHOWN: usize = 5;
/// The newest payments that customers are looked for among.
const PAYMENTS_READ: i64 = 100;

/// What a term finds, the newest first.
#[derive(Debug)]
pub struct SearchResults {
    pub payments: Vec<Payment>,
    /// Whether there are more payments than these.
    pub more: bool,
    pub links: Vec<Link>,
    pub customers: Vec<FoundCustomer>,
}

/// A customer in whose name, e-mail address or phone number the term occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundCustomer {
    pub customer: Customer,
    /// The newest payment of theirs that was found.
    pub payment_id: PaymentId,
}

/// The one thing that a text names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jump {
    Payment(PaymentId),
    Link(LinkId),
}

impl Desk {
    pub async fn search(&self, term: &SearchTerm) -> Result<SearchResults, Error> {
        let filter = PaymentFilter { q: Some(term.clone()), ..PaymentFilter::default() };
        let mut payments = self.engine.store.payments_page(self.id(), &filter, None, PAYMENTS_READ).await?;
        let customers = customers_among(&payments, term);
        let more = payments.len() > PAYMENTS_SHOWN;
        payments.truncate(PAYMENTS_SHOWN);
        let links = self.engine.store.links_found(self.id(), term, LINKS_SHOWN).await?;
        Ok(SearchResults { payments, more, links, customers })
    }

    /// What a text names as a whole: an id, or the reference or the account number that exactly one payment has, or the
    /// reference of exactly one link.
    pub async fn jump(&self, text: &str) -> Result<Option<Jump>, Error> {
        let text = text.trim();
        if let Ok(id) = text.parse() {
            return absent_as_none(self.payment(id).await.map(|payment| Jump::Payment(payment.id)));
        }
        if let Ok(id) = text.parse() {
            return absent_as_none(self.link(id).await.map(|link| Jump::Link(link.id)));
        }
        let Ok(term) = SearchTerm::parse(text) else { return Ok(None) };
        let store = &self.engine.store;
        match store.payments_named(self.id(), text, &term).await?.as_slice() {
            [] => {}
            [one] => return Ok(Some(Jump::Payment(*one))),
            [_, _, ..] => return Ok(None),
        }
        Ok(match store.links_named(self.id(), text).await?.as_slice() {
            [one] => Some(Jump::Link(*one)),
            _ => None,
        })
    }
}

fn absent_as_none(found: Result<Jump, Error>) -> Result<Option<Jump>, Error> {
    match found {
        Ok(jump) => Ok(Some(jump)),
        Err(Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The customers that the term is about, each once. Payments with the same e-mail address are of one customer, or else those
/// with the same phone number, or else with the same name.
fn customers_among(payments: &[Payment], term: &SearchTerm) -> Vec<FoundCustomer> {
    let mut found: Vec<(String, FoundCustomer)> = Vec::new();
    for payment in payments {
        let Some(customer) = payment.terms.checkout.as_ref().map(|checkout| &checkout.customer) else { continue };
        let identity = match (customer.email.as_str(), customer.phone.as_str()) {
            ("", "") => folded(&customer.name),
            ("", phone) => phone_digits(phone),
            (email, _) => folded(email),
        };
        if term.is_about(customer) && found.iter().all(|(other, _)| *other != identity) {
            found.push((identity, FoundCustomer { customer: customer.clone(), payment_id: payment.id }));
        }
    }
    found.into_iter().map(|(_, customer)| customer).take(CUSTOMERS_SHOWN).collect()
}
