//! What was sent, what is still tried, and sending again all that failed.

use std::time::Duration;

use axum::{extract::State, http::StatusCode, response::Response};
use domain::{
    access::Act,
    delivery::{Delivery, DeliveryState},
    event::{Event, News as Happened},
};
use engine::{Desk, Error, EventLogFilter};
use futures_util::future::try_join_all;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{
        moment::{Moment, moment},
        page_error::PageError,
        render::page,
        visitor::Visitor,
    },
};

use crate::{
    fragment::{Badge, delivery_badge},
    notifications::{News, Notifications, conflict, view},
    session::{AtDesk, SignedForm},
    table::{PageNumber, Paging},
    typed::{self, only_for},
    words::{self, Words},
};

/// From when on what failed is sent again, unless another moment is typed: the last day.
pub(super) const SINCE_USUAL: Duration = Duration::from_hours(24);
const FAILING: &str = "failing";

/// An event and how it was told.
pub(crate) struct EventRow {
    pub(crate) url: String,
    /// `payment.paid`.
    pub(crate) kind: &'static str,
    /// The payment's reference, or the key's name.
    pub(crate) about: String,
    pub(crate) created: Moment,
    pub(crate) badge: Badge,
    /// When it is tried again.
    pub(crate) next: Option<Moment>,
    pub(crate) attempts: String,
}

pub(super) struct Log {
    pub(super) rows: Vec<EventRow>,
    pub(super) paging: Paging,
    pub(super) failing_only: bool,
}

pub(super) async fn listed(app: &App, visitor: &Visitor, at: &AtDesk, words: Words, base: &str) -> Result<Log, Error> {
    let failing_only = visitor.query.text("show").ok().flatten() == Some(FAILING);
    let number = PageNumber::of(visitor);
    let listed = at.desk.log(EventLogFilter { failing_only, kind: None }, number.window()).await?;
    let path = format!("/dashboard/{}/notifications", at.desk.project().id);
    let query = if failing_only { format!("show={FAILING}") } else { String::new() };
    let paging = number.paging(app, &path, &query, &listed, words);
    let rows = listed.items.iter().map(|(event, delivery)| async move {
        let about = about(&at.desk, event).await?;
        Ok::<_, Error>(row(visitor, words, base, event, delivery.as_ref(), about))
    });
    Ok(Log { rows: try_join_all(rows).await?, paging, failing_only })
}

async fn about(desk: &Desk, event: &Event) -> Result<String, Error> {
    match event.news {
        Happened::PaymentPaid { payment, .. } | Happened::PaymentFailed { payment } => {
            Ok(desk.payment(payment).await?.reference)
        }
        Happened::ApiKeyDeleted { key } => Ok(desk.key(key).await?.name),
    }
}

fn row(
    visitor: &Visitor,
    words: Words,
    base: &str,
    event: &Event,
    delivery: Option<&Delivery>,
    about: String,
) -> EventRow {
    EventRow {
        url: format!("{base}/notifications/deliveries/{}", event.id),
        kind: event.kind().word(),
        about,
        created: moment(event.created_at, visitor.language),
        badge: delivery_badge(words, delivery),
        next: next_attempt(delivery).map(|at| moment(at, visitor.language)),
        attempts: delivery.map_or(0, |delivery| delivery.attempts).to_string(),
    }
}

/// When a delivery that has failed is tried again.
pub(crate) fn next_attempt(delivery: Option<&Delivery>) -> Option<domain::time::Timestamp> {
    let delivery = delivery.filter(|delivery| delivery.attempts > delivery.resent_after)?;
    match delivery.state {
        DeliveryState::Pending { due_at } => Some(due_at),
        DeliveryState::Delivered | DeliveryState::Exhausted => None,
    }
}

/// Sends again all that has failed since a moment, and says how many those are.
pub(super) async fn recover(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    only_for(&at.desk, Act::ManageWebhooks)?;
    let words = words::words(visitor.language);
    let typed = form.text("since").unwrap_or_default().to_owned();
    let since = match typed::moment(&typed) {
        Some(since) if since <= app.engine.now() => since,
        given => {
            let why = match given {
                Some(_) => fl!(words, "hook-recover-future"),
                None => fl!(words, "typed-moment"),
            };
            let (since_mistake, text) = (Some(why), fl!(words, "typed-look"));
            let news = Some(News { text, bad: true });
            let view = Notifications { since: typed, since_mistake, news, ..view(&app, &visitor, &at).await? };
            return Ok(page(StatusCode::UNPROCESSABLE_ENTITY, &view));
        }
    };
    let text = match at.desk.recover(since).await {
        Ok(0) => fl!(words, "hook-recovered-none"),
        Ok(count) => {
            let count = count.to_string();
            fl!(words, "hook-recovered", count = count)
        }
        Err(Error::NoWebhookUrl) => return conflict(&app, &visitor, &at, fl!(words, "hook-resend-no-url")).await,
        Err(error) => return Err(error.into()),
    };
    let news = Some(News { text, bad: false });
    Ok(page(StatusCode::OK, &Notifications { since: typed, news, ..view(&app, &visitor, &at).await? }))
}
