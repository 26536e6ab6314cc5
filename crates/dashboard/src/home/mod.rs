//! `/dashboard/<project>`: what was paid today, the latest payments, what needs attention, how much was paid in the last
//! days, and the steps to a first payment.

mod attention;
pub(crate) mod figures;
pub(crate) mod guide;
#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{access::Act, money::Rupiah, payment::Payment, project::Environment};
use engine::PaymentFilter;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{
        moment::{Moment, day},
        page_error::PageError,
        render::see_other,
    },
};

pub(crate) use self::attention::Concern;
use self::{
    attention::concerns,
    figures::{PeriodChoice, Stat, choices, chosen_period, period, stats},
    guide::Guide,
};
use crate::{
    chart::Chart,
    labels::{Badge, payment_badge, short_method},
    method_state,
    page::{Page, UserPage},
    shell::{Attention, Section, Shell},
};

const RECENT: i64 = 5;

#[derive(Template)]
#[template(path = "home.html")]
pub(crate) struct HomePage {
    pub(crate) shell: Shell,
    pub(crate) today: String,
    pub(crate) new_link_url: Option<String>,
    pub(crate) payments_url: String,
    /// None once all of its steps are done.
    pub(crate) guide: Option<Guide>,
    pub(crate) stats: Vec<Stat>,
    /// The chosen period, and the others.
    pub(crate) period: Stat,
    pub(crate) periods: Vec<PeriodChoice>,
    pub(crate) chart: Chart,
    /// Whether it is a production project that can take no money, because no method has an enabled bank account.
    pub(crate) lacks_accounts: bool,
    pub(crate) attention: Vec<Concern>,
    pub(crate) recent: Vec<Recent>,
}

/// One of the latest payments.
pub(crate) struct Recent {
    pub(crate) url: String,
    /// The customer's name, or the reference where it is not known.
    pub(crate) title: String,
    /// The method, and the reference where the title is a name.
    pub(crate) detail: String,
    pub(crate) amount: String,
    pub(crate) badge: Badge,
    pub(crate) created: Moment,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}", get(show))
}

/// A member who may only sell comes to the counter in place of a page that they may not see.
async fn show(user: UserPage, page: Result<Page, PageError>) -> Result<Response, PageError> {
    let page = match page {
        Err(error) if error.status == StatusCode::FORBIDDEN && error.demand.is_none() => {
            return Ok(see_other(&user.url(format_args!("{}/counter", user.visitor.path))));
        }
        page => page?,
    };
    let change_token = page.change_token().await?;
    let days = chosen_period(page.query("days"));
    let (home, now, language) = (page.desk.home(days).await?, page.now(), page.language());
    let shell = page.shell_with(Section::Home, &change_token, Attention::of(&home.held, &home.failing)).await?;
    let (words, base) = (shell.words, page.base());
    let recent = page.desk.payments_before(&PaymentFilter::default(), None, RECENT).await?;
    let received = page.desk.received_instead(&recent).await?;
    let guide = guide::of(&page, &home.setup, &recent).await?;
    let refunds = page.desk.refunds_waiting().await?;
    let standings = page.desk.method_standings().await?;
    let lacks_accounts =
        page.project().environment == Environment::Production && method_state::lacks_accounts(&standings);
    let may_create_link = page.desk.may(Act::ManageLinks) && page.project().is_usable();
    let view = HomePage {
        today: day(now, language),
        new_link_url: may_create_link.then(|| format!("{base}/links/new")),
        payments_url: format!("{base}/payments"),
        guide,
        stats: stats(words, language, &home, now),
        period: period(words, language, &home, days),
        periods: choices(words, &base, days),
        chart: Chart::of(&home.days, language),
        lacks_accounts,
        attention: concerns(&page, &shell, &home, &refunds, &base),
        recent: recent.iter().map(|payment| row(&page, &base, payment, received.get(&payment.id).copied())).collect(),
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

/// `received`: what came in place of the payment's amount.
fn row(page: &Page, base: &str, payment: &Payment, received: Option<Rupiah>) -> Recent {
    let (words, method) = (page.words(), short_method(payment.terms.method));
    let name = payment.terms.checkout.as_ref().map(|checkout| checkout.customer.name.clone()).unwrap_or_default();
    let (title, detail) = match name.is_empty() {
        true => (payment.terms.reference.clone(), method),
        false => (name, format!("{} · {method}", payment.terms.reference)),
    };
    Recent {
        url: format!("{base}/payments/{}", payment.id),
        title,
        detail,
        amount: received.unwrap_or(payment.terms.amount).to_string(),
        badge: payment_badge(words, payment.status_at(page.now())),
        created: page.short_moment(payment.created_at),
    }
}
