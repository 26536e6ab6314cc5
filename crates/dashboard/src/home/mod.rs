//! `/dashboard/<project>`: the steps to a first payment, how much was paid, and what needs attention.

pub(crate) mod guide;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{access::Act, money::Rupiah, project::Environment};
use engine::{Day, Home, PaymentFilter};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{moment::day, page_error::PageError},
};

use self::guide::Guide;
use crate::{
    chart::Chart,
    method_state,
    page::Page,
    payments::{PaymentRow, row},
    receipts::wording,
    shell::{Attention, Section, Shell, Unusable},
    words::Words,
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
    pub(crate) chart: Chart,
    /// Whether it is a production project that can take no money, because no method has an enabled bank account.
    pub(crate) lacks_accounts: bool,
    pub(crate) attention: Vec<Concern>,
    pub(crate) recent: Vec<PaymentRow>,
}

pub(crate) struct Stat {
    pub(crate) label: String,
    pub(crate) amount: String,
    pub(crate) count: String,
}

/// Something that needs attention.
pub(crate) struct Concern {
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) detail: String,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}", get(show))
}

async fn show(page: Page) -> Result<Response, PageError> {
    let change_token = page.change_token().await?;
    let (home, now) = (page.desk.home().await?, page.now());
    let attention = Attention { undecided: home.undecided.total, failing: home.failing.is_some() };
    let shell = page.shell_with(Section::Home, &change_token, attention).await?;
    let recent = page.desk.payments_before(&PaymentFilter::default(), None, RECENT).await?;
    let (base, guide) = (page.base(), guide::of(&page, &home.setup, &recent).await?);
    let standings = page.desk.method_standings().await?;
    let lacks_accounts =
        page.project().environment == Environment::Production && method_state::lacks_accounts(&standings);
    let may_create_link = page.desk.may(Act::ManageLinks) && page.project().is_usable();
    let view = HomePage {
        today: day(now, page.language()),
        new_link_url: may_create_link.then(|| format!("{base}/links/new")),
        payments_url: format!("{base}/payments"),
        guide,
        stats: stats(shell.words, &home.days),
        chart: Chart::of(&home.days, page.language()),
        lacks_accounts,
        attention: concerns(&page, &shell, &home, &base),
        recent: recent.iter().map(|payment| row(&page, &base, payment, now)).collect(),
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

fn stats(words: Words, days: &[Day]) -> Vec<Stat> {
    let sum = |days: &[Day]| {
        let amount: Rupiah = days.iter().map(|day| day.amount).sum();
        (amount.to_string(), days.iter().map(|day| day.payments).sum::<i64>())
    };
    let today = days.last().map(std::slice::from_ref).unwrap_or_default();
    [(fl!(words, "home-today"), sum(today)), (fl!(words, "home-month"), sum(days))]
        .into_iter()
        .map(|(label, (amount, payments))| Stat {
            label,
            amount,
            count: fl!(words, "payments-count", count = payments),
        })
        .collect()
}

/// What needs attention, money first.
fn concerns(page: &Page, shell: &Shell, home: &Home, base: &str) -> Vec<Concern> {
    let words = shell.words;
    let mut concerns = Vec::new();
    for held in &home.undecided.items {
        let amount = held.receipt.amount.to_string();
        concerns.push(Concern {
            url: wording::decide_url(base, &held.receipt.key),
            title: fl!(words, "attention-money", amount = amount),
            detail: wording::reason(words, held.reason),
        });
    }
    let others = home.undecided.total - i64::try_from(home.undecided.items.len()).unwrap_or(0);
    if others > 0 {
        concerns.push(Concern {
            url: format!("{base}/balance/receipts"),
            title: fl!(words, "attention-more", count = others),
            detail: fl!(words, "attention-more-text"),
        });
    }
    if let Some((count, since)) = home.failing {
        let since = page.moment(since).text;
        concerns.push(Concern {
            url: format!("{base}/notifications"),
            title: fl!(words, "attention-failing", count = count),
            detail: fl!(words, "attention-since", since = since),
        });
    }
    if let Some(unusable) = shell.unusable {
        let (title, detail) = match unusable {
            Unusable::Inactive => (fl!(words, "attention-inactive"), fl!(words, "attention-inactive-text")),
            Unusable::AwaitingApproval => (fl!(words, "attention-awaiting"), fl!(words, "attention-awaiting-text")),
        };
        concerns.push(Concern { url: format!("{base}/settings"), title, detail });
    }
    if page.project().webhook_url.is_none() {
        concerns.push(Concern {
            url: format!("{base}/notifications"),
            title: fl!(words, "attention-no-url"),
            detail: fl!(words, "attention-no-url-text"),
        });
    }
    concerns
}
