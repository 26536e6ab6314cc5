//! Unpaid payments that held money could be used for: those of the same amount, or those that the member searches for.

use domain::{
    payment::{Payment, State},
    receipt::UnappliedReceipt,
    search::SearchTerm,
};
use engine::{Error, PaymentFilter};
use i18n_embed_fl::fl;
use web::page::moment::Moment;

use super::wording::{customer_line, decide_url};
use crate::{
    labels::{Badge, payment_badge},
    page::Page,
};

/// Payments that are read to find unpaid ones among them, and unpaid ones that are shown.
const READ_MOST: i64 = 200;
const SHOWN_MOST: usize = 10;

/// The payments to choose from, and the search for others.
pub(crate) struct Choices {
    /// What was searched for, and what is wrong with it.
    pub(crate) asked: String,
    pub(crate) mistake: Option<String>,
    pub(crate) title: String,
    /// What to say where there are none.
    pub(crate) none: String,
    pub(crate) rows: Vec<Choice>,
}

pub(crate) struct Choice {
    pub(crate) url: String,
    pub(crate) reference: String,
    pub(crate) customer: Option<String>,
    pub(crate) amount: String,
    pub(crate) badge: Badge,
    pub(crate) created: Moment,
}

/// Unpaid payments of the same amount: among the newest of the project, and those that a search finds.
pub(super) async fn suggestions(page: &Page, held: &UnappliedReceipt) -> Result<Choices, Error> {
    let amount = held.receipt.amount;
    let newest = page.desk.payments_before(&PaymentFilter::default(), None, READ_MOST).await?;
    let by_amount = match SearchTerm::parse(&amount.get().to_string()) {
        Ok(term) => found(page, term).await?,
        Err(_) => Vec::new(),
    };
    let mut payments: Vec<Payment> =
        newest.into_iter().chain(by_amount).filter(|one| one.terms.amount == amount).collect();
    payments.sort_by_key(|payment| std::cmp::Reverse(payment.id));
    payments.dedup_by_key(|payment| payment.id);
    let none = fl!(page.words(), "receipt-assign-none", amount = amount.to_string());
    let title = fl!(page.words(), "receipt-assign-suggested");
    Ok(Choices { asked: String::new(), mistake: None, title, none, rows: rows(page, held, payments) })
}

/// Unpaid payments that the member searches for, those of the same amount first.
pub(super) async fn searched(page: &Page, held: &UnappliedReceipt, typed: &str) -> Result<Choices, Error> {
    let words = page.words();
    let Ok(term) = SearchTerm::parse(typed) else {
        let mistake = Some(fl!(words, "receipt-assign-short"));
        return Ok(Choices { asked: typed.to_owned(), mistake, ..suggestions(page, held).await? });
    };
    let mut payments = found(page, term).await?;
    payments.sort_by_key(|payment| payment.terms.amount != held.receipt.amount);
    let (title, none) = (fl!(words, "receipt-assign-found"), fl!(words, "receipt-assign-nothing"));
    Ok(Choices { asked: typed.to_owned(), mistake: None, title, none, rows: rows(page, held, payments) })
}

async fn found(page: &Page, term: SearchTerm) -> Result<Vec<Payment>, Error> {
    let filter = PaymentFilter { q: Some(term), ..PaymentFilter::default() };
    page.desk.payments_before(&filter, None, READ_MOST).await
}

fn rows(page: &Page, held: &UnappliedReceipt, payments: Vec<Payment>) -> Vec<Choice> {
    let url = decide_url(&page.base(), held.id);
    let is_open = |payment: &Payment| {
        payment.id != held.payment_id
            && !matches!(payment.state, State::Paid { .. })
            && payment.terms.fee <= held.receipt.amount
    };
    let row = |payment: Payment| Choice {
        url: format!("{url}/assign?payment={}", payment.id),
        customer: customer_line(payment.terms.checkout.as_ref()),
        amount: payment.terms.amount.to_string(),
        badge: payment_badge(page.words(), payment.status_at(page.now())),
        created: page.short_moment(payment.created_at),
        reference: payment.terms.reference,
    };
    payments.into_iter().filter(is_open).take(SHOWN_MOST).map(row).collect()
}
