//! `/dashboard/<project>`: how to get paid for the first time, how it goes, and what needs somebody.

pub(super) mod guide;

use askama::Template;
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use domain::{access::Act, money::Rupiah};
use engine::{Day, Home, PaymentFilter};
use i18n_embed_fl::fl;

pub(crate) use self::guide::{Guide, Standing};
use web::{
    App,
    page::{
        moment::{day, moment},
        page_error::PageError,
        render::page,
        visitor::Visitor,
    },
};

use crate::{
    chart::Chart,
    payments::{PaymentRow, row},
    receipts,
    session::AtDesk,
    shell::{self, Section, Shell, Unusable},
    words::Words,
};

const RECENT: i64 = 5;

#[derive(Template)]
#[template(path = "home.html")]
pub(super) struct HomePage {
    pub(super) shell: Shell,
    pub(super) today: String,
    pub(super) new_link_url: Option<String>,
    pub(super) payments_url: String,
    /// None once all of it is done.
    pub(super) guide: Option<Guide>,
    pub(super) stats: Vec<Stat>,
    pub(super) chart: Chart,
    pub(super) attention: Vec<Concern>,
    pub(super) recent: Vec<PaymentRow>,
}

pub(super) struct Stat {
    pub(super) label: String,
    pub(super) amount: String,
    pub(super) count: String,
}

/// Something that needs somebody.
pub(super) struct Concern {
    pub(super) url: String,
    pub(super) title: String,
    pub(super) detail: String,
}

pub(super) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}", get(show))
}

async fn show(State(app): State<App>, visitor: Visitor, at: AtDesk) -> Result<Response, PageError> {
    let shell = shell::at_desk(&app, &visitor, &at, Section::Home).await?;
    let (home, now) = (at.desk.home().await?, app.engine.now());
    let recent = at.desk.payments_before(&PaymentFilter::default(), None, RECENT).await?;
    let base = shell::base(&app, at.desk.project());
    let guide = guide::of(&app, &visitor, &at, &home.setup, &recent).await?;
    let makes_links = at.desk.may(Act::ManageLinks) && at.desk.project().is_usable();
    let view = HomePage {
        today: day(now, visitor.language),
        new_link_url: makes_links.then(|| format!("{base}/links/new")),
        payments_url: format!("{base}/payments"),
        guide,
        stats: stats(shell.words, &home.days),
        chart: Chart::of(&home.days, visitor.language),
        attention: attention(&visitor, &at, &shell, &home, &base),
        recent: recent.iter().map(|payment| row(&base, payment, now, &visitor)).collect(),
        shell,
    };
    Ok(page(StatusCode::OK, &view))
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

/// What needs somebody, money first.
fn attention(visitor: &Visitor, at: &AtDesk, shell: &Shell, home: &Home, base: &str) -> Vec<Concern> {
    let words = shell.words;
    let mut concerns = Vec::new();
    for held in &home.undecided.items {
        let amount = held.receipt.amount.to_string();
        concerns.push(Concern {
            url: receipts::decide_url(base, &held.receipt.key),
            title: fl!(words, "attention-money", amount = amount),
            detail: receipts::reason(words, held.reason),
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
        let since = moment(since, visitor.language).text;
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
    if at.desk.project().webhook_url.is_none() {
        concerns.push(Concern {
            url: format!("{base}/notifications"),
            title: fl!(words, "attention-no-url"),
            detail: fl!(words, "attention-no-url-text"),
        });
    }
    concerns
}
