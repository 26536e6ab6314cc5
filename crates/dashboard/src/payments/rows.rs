//! Payments as rows of a list: who paid or is asked to, how much, by what, and when.

use domain::{payment::Payment, time::Timestamp};
use engine::Error;
use web::page::moment::Moment;

use crate::{
    labels::{Badge, payment_badge, short_method},
    page::{Page, PublicPage},
};

/// A payment in a list.
pub(crate) struct PaymentRow {
    pub(crate) url: String,
    /// The customer, or the title of the link, or the reference.
    pub(crate) who: String,
    /// The reference, where that is not what the row is called.
    pub(crate) reference: Option<String>,
    pub(crate) amount: String,
    pub(crate) badge: Badge,
    pub(crate) method: String,
    pub(crate) created: Moment,
}

/// The rows of one page of a list. The links of all of them are read at once.
pub(crate) async fn rows(page: &Page, payments: &[Payment]) -> Result<Vec<PaymentRow>, Error> {
    let (base, now, titles) = (page.base(), page.now(), page.desk.link_titles(payments).await?);
    let title = |payment: &Payment| payment.link_id.and_then(|id| titles.get(&id)).map(String::as_str);
    Ok(payments.iter().map(|payment| row(page, &base, payment, title(payment), now)).collect())
}

/// `base`: the address of its project's desk.
fn row(page: &PublicPage, base: &str, payment: &Payment, title: Option<&str>, now: Timestamp) -> PaymentRow {
    let words = page.words();
    let customer = payment.checkout.as_ref().and_then(|checkout| checkout.customer.called());
    let called = customer.or(title);
    PaymentRow {
        url: format!("{base}/payments/{}", payment.id),
        who: called.unwrap_or(&payment.reference).to_owned(),
        reference: called.is_some().then(|| payment.reference.clone()),
        amount: payment.amount.to_string(),
        badge: payment_badge(words, payment.status_at(now)),
        method: short_method(payment.method),
        created: page.row_moment(payment.created_at),
    }
}
