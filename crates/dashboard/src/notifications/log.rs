//! The log of events: which were delivered, and which are retried or failed.

use domain::{
    delivery::{Delivery, DeliveryState},
    event::{Event, News},
    time::Timestamp,
};
use engine::{Desk, Error, EventLogFilter};
use futures_util::future::try_join_all;
use web::page::moment::Moment;

use crate::{
    labels::{Badge, delivery_badge},
    page::Page,
    table::{PageNumber, Paging},
};

const FAILING: &str = "failing";

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
    pub(crate) attempts: String,
}

/// The part of the log that the address asks for.
pub(crate) struct Log {
    pub(crate) rows: Vec<EventRow>,
    pub(crate) paging: Paging,
    pub(crate) failing_only: bool,
}

pub(crate) async fn read(page: &Page, base: &str) -> Result<Log, Error> {
    let failing_only = page.query("show") == Some(FAILING);
    let number = PageNumber::of(page);
    let listed = page.desk.log(EventLogFilter { failing_only, kind: None }, number.window()).await?;
    let query = if failing_only { format!("show={FAILING}") } else { String::new() };
    let paging = number.paging(page, &page.path("/notifications"), &query, &listed);
    let rows = listed.items.iter().map(|(event, delivery)| async move {
        let about = about(&page.desk, event).await?;
        Ok::<_, Error>(row(page, base, event, delivery.as_ref(), about))
    });
    Ok(Log { rows: try_join_all(rows).await?, paging, failing_only })
}

async fn about(desk: &Desk, event: &Event) -> Result<String, Error> {
    match event.news {
        News::PaymentPaid { payment, .. } | News::PaymentFailed { payment } => {
            Ok(desk.payment(payment).await?.reference)
        }
        News::ApiKeyDeleted { key } => Ok(desk.key(key).await?.name),
    }
}

fn row(page: &Page, base: &str, event: &Event, delivery: Option<&Delivery>, about: String) -> EventRow {
    EventRow {
        url: format!("{base}/notifications/deliveries/{}", event.id),
        kind: event.kind().word(),
        about,
        created: page.moment(event.created_at),
        badge: delivery_badge(page.words(), delivery),
        next: next_attempt(delivery).map(|at| page.moment(at)),
        attempts: delivery.map_or(0, |delivery| delivery.attempts).to_string(),
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
