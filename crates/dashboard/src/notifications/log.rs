//! The log of events: which were delivered, and which are retried or failed.

use domain::{
    delivery::{Delivery, DeliveryState},
    event::{Event, EventKind, News},
    time::Timestamp,
};
use engine::{DeliveryFilter, Desk, Error, EventLogFilter, LastAttempt, LoggedEvent};
use futures_util::future::try_join_all;
use i18n_embed_fl::fl;
use web::page::moment::Moment;

use crate::{
    labels::{Badge, delivery_badge},
    page::Page,
    table::{PageNumber, Paging},
    words::Words,
};

/// An event and its delivery.
pub(crate) struct EventRow {
    pub(crate) url: String,
    /// `payment.paid`.
    pub(crate) kind: &'static str,
    /// The payment's reference, or the key's name.
    pub(crate) about: String,
    pub(crate) created: Moment,
    pub(crate) badge: Badge,
    /// When it is retried.
    pub(crate) next: Option<Moment>,
    pub(crate) last: Option<LastShown>,
    pub(crate) attempts: String,
}

/// The latest attempt of a delivery.
pub(crate) struct LastShown {
    /// `200`, for example; none where the receiver did not answer.
    pub(crate) status: Option<String>,
    pub(crate) latency: String,
    pub(crate) is_failure: bool,
}

/// The part of the log that the address asks for.
pub(crate) struct Log {
    pub(crate) rows: Vec<EventRow>,
    pub(crate) paging: Paging,
    pub(crate) filters: Vec<FilterChoice>,
    /// The word of the chosen filter by deliveries in the address; empty for all.
    pub(crate) show: &'static str,
    pub(crate) kinds: Vec<KindChoice>,
    /// Whether the log has no events because of a filter.
    pub(crate) is_filtered: bool,
}

pub(crate) struct FilterChoice {
    pub(crate) url: String,
    pub(crate) label: String,
    pub(crate) is_chosen: bool,
}

pub(crate) struct KindChoice {
    pub(crate) word: &'static str,
    pub(crate) is_chosen: bool,
}

const FILTERS: [DeliveryFilter; 3] = [DeliveryFilter::All, DeliveryFilter::Failing, DeliveryFilter::Exhausted];

/// The filter in the address.
const fn word(filter: DeliveryFilter) -> &'static str {
    match filter {
        DeliveryFilter::All => "",
        DeliveryFilter::Failing => "failing",
        DeliveryFilter::Exhausted => "exhausted",
    }
}

fn label(words: Words, filter: DeliveryFilter) -> String {
    match filter {
        DeliveryFilter::All => fl!(words, "hook-log-all"),
        DeliveryFilter::Failing => fl!(words, "hook-log-failing"),
        DeliveryFilter::Exhausted => fl!(words, "hook-log-exhausted"),
    }
}

/// The parameters of an address that asks for these events.
fn query(deliveries: DeliveryFilter, kind: Option<EventKind>) -> String {
    let show = Some(word(deliveries)).filter(|word| !word.is_empty()).map(|word| format!("show={word}"));
    let kind = kind.map(|kind| format!("type={}", kind.word()));
    show.into_iter().chain(kind).collect::<Vec<_>>().join("&")
}

pub(crate) async fn read(page: &Page, base: &str) -> Result<Log, Error> {
    let asked = page.query("show").unwrap_or_default();
    let deliveries = FILTERS.into_iter().find(|filter| word(*filter) == asked).unwrap_or_default();
    let filter = EventLogFilter { deliveries, kind: page.query("type").and_then(EventKind::parse) };
    let (number, query_of_page) = (PageNumber::of(page), query(deliveries, filter.kind));
    let log = page.desk.log(filter, number.window()).await?;
    let (path, shown) = (page.path("/notifications"), log.items.len());
    let rows = log.items.iter().map(|logged| async move {
        let about = about(&page.desk, &logged.event).await?;
        Ok::<_, Error>(row(page, base, logged, about))
    });
    let choice = |to: DeliveryFilter| FilterChoice {
        url: Some(query(to, filter.kind))
            .filter(|query| !query.is_empty())
            .map_or_else(|| format!("{base}/notifications"), |query| format!("{base}/notifications?{query}")),
        label: label(page.words(), to),
        is_chosen: to == deliveries,
    };
    Ok(Log {
        rows: try_join_all(rows).await?,
        paging: match log.total {
            Some(total) => number.paging_of(page, &path, &query_of_page, shown, total),
            None => number.paging_of_many(page, &path, &query_of_page, shown),
        },
        filters: FILTERS.map(choice).into(),
        show: word(deliveries),
        kinds: EventKind::ALL
            .into_iter()
            .map(|kind| KindChoice { word: kind.word(), is_chosen: filter.kind == Some(kind) })
            .collect(),
        is_filtered: !query_of_page.is_empty(),
    })
}

async fn about(desk: &Desk, event: &Event) -> Result<String, Error> {
    match event.news {
        News::PaymentPaid { payment, .. }
        | News::PaymentFailed { payment }
        | News::PaymentExpired { payment }
        | News::PaymentCancelled { payment }
        | News::PaymentHeld { payment, .. } => Ok(desk.payment(payment).await?.terms.reference),
        News::Refund { refund, .. } => Ok(refund.to_string()),
        News::ApiKeyDeleted { key } => Ok(desk.key(key).await?.name),
    }
}

fn row(page: &Page, base: &str, logged: &LoggedEvent, about: String) -> EventRow {
    let LoggedEvent { event, delivery, last_attempt } = logged;
    let delivery = delivery.as_ref();
    EventRow {
        url: format!("{base}/notifications/deliveries/{}", event.id),
        kind: event.kind().word(),
        about,
        created: page.short_moment(event.created_at),
        badge: delivery_badge(page.words(), delivery),
        next: next_attempt(delivery).map(|at| page.short_moment(at)),
        last: last_attempt.map(last),
        attempts: delivery.map_or(0, |delivery| delivery.attempts).to_string(),
    }
}

fn last(attempt: LastAttempt) -> LastShown {
    LastShown {
        status: attempt.status.map(|status| status.to_string()),
        latency: attempt.latency.as_millis().to_string(),
        is_failure: attempt.failure.is_some(),
    }
}

/// When a delivery that has failed is retried.
pub(crate) fn next_attempt(delivery: Option<&Delivery>) -> Option<Timestamp> {
    let delivery = delivery.filter(|delivery| delivery.attempts > delivery.resent_after)?;
    match delivery.state {
        DeliveryState::Pending { due_at } => Some(due_at),
        DeliveryState::Delivered | DeliveryState::Exhausted => None,
    }
}
