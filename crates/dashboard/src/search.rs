//! `/dashboard/<project>/search`: the box that every page of a project has. It finds payments, links and customers; what
//! names one payment or link as a whole opens it.

#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use engine::{Error, FoundCustomer, Jump, SearchResults};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{page_error::PageError, render::see_other},
};

use crate::{
    links::{self, LinkRow},
    page::Page,
    payments::{
        filter::TypedFilter,
        rows::{PaymentRow, rows},
    },
    search_term::search_term,
    shell::{Section, Shell},
};

#[derive(Template)]
#[template(path = "search.html")]
pub(crate) struct SearchPage {
    pub(crate) shell: Shell,
    pub(crate) path: String,
    pub(crate) q: String,
    /// Why nothing was searched for.
    pub(crate) mistake: Option<String>,
    /// None where nothing was searched for.
    pub(crate) found: Option<SearchLists>,
}

/// What was found, by kind.
pub(crate) struct SearchLists {
    pub(crate) payments: Vec<PaymentRow>,
    /// The list of all payments that were found, where this page does not have all of them.
    pub(crate) more_url: Option<String>,
    pub(crate) links: Vec<LinkRow>,
    pub(crate) customers: Vec<CustomerRow>,
}

/// A customer in a list.
pub(crate) struct CustomerRow {
    pub(crate) url: String,
    pub(crate) name: String,
    /// The email address and the phone number, as far as they are not the name.
    pub(crate) reached: String,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/search", get(search))
}

async fn search(page: Page) -> Result<Response, PageError> {
    let (words, given) = (page.words(), page.visitor.query.text("q"));
    let q = given.as_ref().ok().copied().flatten().unwrap_or_default().to_owned();
    let term = match given {
        Ok(_) => search_term(words, &q),
        Err(_) => Err(fl!(words, "search-twice")),
    };
    if matches!(term, Ok(Some(_)))
        && let Some(jump) = page.desk.jump(&q).await?
    {
        return Ok(see_other(&address(&page.base(), jump)));
    }
    let shell = page.shell(Section::Other).await?;
    let (found, mistake) = match term {
        Ok(None) => (None, None),
        Ok(Some(term)) => (Some(found(&page, &q, page.desk.search(&term).await?).await?), None),
        Err(why) => (None, Some(why)),
    };
    let status = if mistake.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let view = SearchPage { path: format!("{}/search", page.base()), q, mistake, found, shell };
    Ok(page.render(status, &view))
}

fn address(base: &str, jump: Jump) -> String {
    match jump {
        Jump::Payment(id) => format!("{base}/payments/{id}"),
        Jump::Link(id) => format!("{base}/links/{id}"),
    }
}

async fn found(page: &Page, q: &str, results: SearchResults) -> Result<SearchLists, Error> {
    let base = page.base();
    let everything = TypedFilter { q: q.to_owned(), ..TypedFilter::default() };
    Ok(SearchLists {
        payments: rows(page, &results.payments).await?,
        more_url: results.more.then(|| format!("{base}/payments?{}", everything.query())),
        links: results.links.iter().map(|link| links::row(page, &base, link)).collect(),
        customers: results.customers.iter().map(|found| customer(&base, found)).collect(),
    })
}

/// A customer's own page or, where they cannot be told from others, their payment.
fn customer(base: &str, found: &FoundCustomer) -> CustomerRow {
    let FoundCustomer { customer, payment_id } = found;
    let name = customer.called().unwrap_or_default();
    let reached = [&customer.email, &customer.phone].into_iter().map(String::as_str);
    let reached: Vec<&str> = reached.filter(|text| !text.is_empty() && *text != name).collect();
    CustomerRow {
        url: match customer.is_known() {
            true => format!("{base}/customers/{payment_id}"),
            false => format!("{base}/payments/{payment_id}"),
        },
        name: name.to_owned(),
        reached: reached.join(" · "),
    }
}
