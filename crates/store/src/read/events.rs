//! Events.

use std::sync::LazyLock;

use domain::{
    event::{Event, EventKind, HeldMoney, News},
    id::{EventId, PaymentId, ProjectId, first_id_at, kind},
    payment::State,
    project::SuccessWord,
    receipt::Unapplied,
    time::Timestamp,
};

use super::{Conditions, List, Listed, Window};
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

pub(super) const COLUMNS: &str = "id, project_id, kind, subject, created_at, paid_at, success_word, receipt_id, \
    receipt_amount, receipt_reason, receipt_paid_at, payment_state, payment_state_at, payment_expires_at";

static OF_PROJECT_BY_ID: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {COLUMNS} FROM events WHERE project_id = $1 AND id = $2"));

/// Which of a project's events to list; everything that is given must match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    pub kind: Option<EventKind>,
    /// Only those after this event, in ascending order; otherwise newest first.
    pub after: Option<EventId>,
    /// From the first instant on, and before the second.
    pub created: Option<(Timestamp, Timestamp)>,
}

impl Store {
    pub async fn event(&self, project_id: ProjectId, id: EventId) -> Result<Option<Event>, StoreError> {
        self.one(Query::new(OF_PROJECT_BY_ID.as_str(), [Value::stored(project_id), Value::stored(id)]), event).await
    }

    /// An event of any project, for the operator.
    pub async fn event_of_any(&self, id: EventId) -> Result<Option<Event>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM events WHERE id = $1");
        self.one(Query::new(sql, [Value::stored(id)]), event).await
    }

    pub async fn events(
        &self,
        project_id: ProjectId,
        filter: EventFilter,
        window: Window,
    ) -> Result<Listed<Event>, StoreError> {
        let EventFilter { kind, after, created } = filter;
        let mut conditions = Conditions::new();
        conditions.and("project_id = ?", Value::stored(project_id));
        if let Some(kind) = kind {
            conditions.and("kind = ?", kind.word());
        }
        if let Some(after) = after {
            conditions.and("id > ?", Value::stored(after));
        }
        // Ids contain `created_at`, so their index has the events in order of creation.
        if let Some((from, until)) = created {
            conditions.and("id >= ?", Value::stored(first_id_at::<kind::Event>(from)));
            conditions.and("id < ?", Value::stored(first_id_at::<kind::Event>(until)));
        }
        let order = if after.is_some() { "id" } else { "id DESC" };
        let list = List { columns: COLUMNS, from: "events", table: "events", id: "id", order, decode: event };
        self.listed(list, conditions, window).await
    }
}

pub(super) fn event(columns: &mut Columns<'_>) -> Result<Event, StoreError> {
    let (id, project_id) = (columns.parsed()?, columns.parsed()?);
    let kind = columns.word(EventKind::parse)?;
    if kind == EventKind::ApiKeyDeleted {
        let news = News::ApiKeyDeleted { key: columns.parsed()? };
        return Ok(Event { id, project_id, created_at: columns.timestamp()?, news });
    }
    if let Some(news) = kind.refund_news() {
        let news = News::Refund { refund: columns.parsed()?, news };
        return Ok(Event { id, project_id, created_at: columns.timestamp()?, news });
    }
    let (payment, created_at) = (columns.parsed()?, columns.timestamp()?);
    let news = match kind {
        EventKind::PaymentPaid => {
            News::PaymentPaid { payment, paid_at: columns.timestamp()?, word: columns.word(SuccessWord::parse)? }
        }
        EventKind::PaymentHeld => held(payment, columns)?,
        EventKind::PaymentExpired => News::PaymentExpired { payment },
        EventKind::PaymentCancelled => News::PaymentCancelled { payment },
        _ => News::PaymentFailed { payment },
    };
    Ok(Event { id, project_id, created_at, news })
}

fn held(payment: PaymentId, columns: &mut Columns<'_>) -> Result<News, StoreError> {
    // When a payment was paid that is told to be paid.
    columns.skip(1);
    Ok(News::PaymentHeld {
        payment,
        word: columns.word(SuccessWord::parse)?,
        money: HeldMoney {
            receipt: columns.parsed()?,
            amount: columns.rupiah()?,
            reason: columns.word(Unapplied::parse)?,
            paid_at: columns.timestamp()?,
        },
        state: {
            let (word, at) = (columns.text()?, columns.optional_timestamp()?);
            let state = match (word.as_str(), at) {
                ("pending", None) => Some(State::Pending),
                ("processing", None) => Some(State::Processing),
                ("paid", Some(at)) => Some(State::Paid { at }),
                ("failed", Some(at)) => Some(State::Failed { at }),
                ("expired", None) => Some(State::Expired),
                ("cancelled", Some(at)) => Some(State::Cancelled { at }),
                _ => None,
            };
            state.ok_or_else(|| StoreError::unexpected(format!("a payment was {word:?} with the time {at:?}")))?
        },
        expires_at: columns.timestamp()?,
    })
}
