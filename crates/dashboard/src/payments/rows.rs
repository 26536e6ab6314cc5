//! Payments as rows of a list: who paid or is asked to, how much, by what, and when.

use domain::{money::Rupiah, payment::Payment};
use engine::Error;
use i18n_embed_fl::fl;
use web::page::moment::Moment;

use crate::{
    labels::{Badge, payment_badge, refunded_badge, short_method},
    page::{Page, PublicPage},
};

/// A payment in a list.
pub(crate) struct PaymentRow {
    pub(crate) url: String,
    /// The customer, or the title of the link, or the reference.
    pub(crate) who: String,
    /// The reference, where that is not what the row is called.
    pub(crate) reference: Option<String>,
    /// What came, or what is asked for while nothing has.
    pub(crate) amount: String,
    /// The bill, where another amount paid it.
    pub(crate) billed: Option<String>,
    pub(crate) badge: Badge,
    /// Whether its money was given back, partly or fully.
    pub(crate) refunded: Option<Badge>,
    pub(crate) method: String,
    pub(crate) created: Moment,
}

/// The rows of one page of a list. The links of all of them are read at once.
pub(crate) async fn rows(page: &Page, payments: &[Payment]) -> Result<Vec<PaymentRow>, Error> {
    let (base, titles) = (page.base(), page.desk.link_titles(payments).await?);
    let received = page.desk.received_instead(payments).await?;
    let title = |payment: &Payment| payment.terms.link_id.and_then(|id| titles.get(&id)).map(String::as_str);
    let row = |payment: &Payment| row(page, &base, payment, title(payment), received.get(&payment.id).copied());
    Ok(payments.iter().map(row).collect())
}

/// `base`: the address of its project's desk. `received`: what came in place of its amount.
fn row(page: &PublicPage, base: &str, payment: &Payment, title: Option<&str>, received: Option<Rupiah>) -> PaymentRow {
    let (words, bill) = (page.words(), payment.terms.amount.to_string());
    let customer = payment.terms.checkout.as_ref().and_then(|checkout| checkout.customer.called());
    let called = customer.or(title);
    PaymentRow {
        url: format!("{base}/payments/{}", payment.id),
        who: called.unwrap_or(&payment.terms.reference).to_owned(),
        reference: called.is_some().then(|| payment.terms.reference.clone()),
        amount: received.unwrap_or(payment.terms.amount).to_string(),
        billed: received.map(|_| fl!(words, "row-billed", amount = bill)),
        badge: payment_badge(words, payment.status_at(page.now())),
        refunded: refunded_badge(words, payment, received.unwrap_or(payment.terms.amount)),
        method: short_method(payment.terms.method),
        created: page.row_moment(payment.created_at),
    }
}
