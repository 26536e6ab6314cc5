//! `/dashboard/<project>/customers/<payment>`: the customer of a payment, with all that they have paid. Addresses name a
//! payment, so that no address holds personal data.

#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{id::PaymentId, payment::Customer};
use engine::{CustomerFile, CustomerSums, MATCHES_COUNTED, Matches, Sums};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{page_error::PageError, words::grouped},
};

use crate::{
    page::Page,
    payments::rows::{PaymentRow, rows},
    session::LastId,
    shell::{Section, Shell},
    table::{PageNumber, Paging},
};

#[derive(Template)]
#[template(path = "customer.html")]
pub(crate) struct CustomerPage {
    pub(crate) shell: Shell,
    pub(crate) payments_url: String,
    pub(crate) name: String,
    /// How to reach them, as they gave it.
    pub(crate) email: String,
    pub(crate) phone: String,
    pub(crate) figures: Vec<Figure>,
    /// Money that waits for a decision, in a sentence.
    pub(crate) held: Option<String>,
    pub(crate) receipts_url: String,
    pub(crate) rows: Vec<PaymentRow>,
    pub(crate) paging: Paging,
}

/// One figure of what a customer has paid.
pub(crate) struct Figure {
    pub(crate) label: String,
    pub(crate) figure: String,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/customers/{payment}", get(show))
}

async fn show(page: Page, LastId(id): LastId<PaymentId>) -> Result<Response, PageError> {
    let shell = page.shell(Section::Payments).await?;
    let number = PageNumber::of(&page);
    let CustomerFile { customer, payments, sums } = page.desk.customer(id, number.window()).await?;
    let (base, path, shown) = (page.base(), page.path(&format!("/customers/{id}")), payments.len());
    let (times, amount) = (sums.held.0, sums.held.1.to_string());
    let view = CustomerPage {
        payments_url: format!("{base}/payments"),
        name: customer.called().unwrap_or_default().to_owned(),
        figures: figures(&page, &sums),
        held: (times > 0).then(|| fl!(shell.words, "customer-held", amount = amount)),
        receipts_url: format!("{base}/balance/receipts"),
        rows: rows(&page, &payments).await?,
        paging: match sums.matches {
            Matches::All(Sums { payments, .. }) => number.paging_of(&page, &path, "", shown, payments),
            Matches::More => number.paging_of_many(&page, &path, "", shown),
        },
        email: unless_name(&customer, &customer.email),
        phone: unless_name(&customer, &customer.phone),
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

/// What they gave, unless the page is already called so.
fn unless_name(customer: &Customer, text: &str) -> String {
    if customer.called() == Some(text) { String::new() } else { text.to_owned() }
}

fn figures(page: &Page, sums: &CustomerSums) -> Vec<Figure> {
    let (words, language) = (page.words(), page.language());
    let figure = |label: String, figure: String| Figure { label, figure };
    let Matches::All(Sums { payments, paid, amount, .. }) = sums.matches else {
        let most = grouped(language, MATCHES_COUNTED);
        return vec![figure(fl!(words, "nav-payments"), fl!(words, "sums-many", most = most))];
    };
    let (paid, payments) = (grouped(language, paid), grouped(language, payments));
    let mut figures = vec![
        figure(fl!(words, "customer-paid"), amount.to_string()),
        figure(fl!(words, "customer-times"), fl!(words, "customer-times-of", paid = paid, payments = payments)),
    ];
    if let Some((first, last)) = sums.span {
        figures.push(figure(fl!(words, "customer-first"), page.row_moment(first).text));
        figures.push(figure(fl!(words, "customer-last"), page.row_moment(last).text));
    }
    figures
}
