//! Attempts to pay a link. Each read takes the same time however many attempts there were.

use domain::{
    id::{LinkId, PaymentId},
    time::Timestamp,
};

use crate::{
    Store,
    change::AttemptBounds,
    error::StoreError,
    value::{Columns, Query, Value},
};

pub(crate) const ROOM: &str = "SELECT \
    (SELECT CASE WHEN COUNT(*) >= $1 THEN MIN(expires_at) END FROM (SELECT p.expires_at FROM payments p \
    WHERE p.link_id = $2 AND p.state = 'pending' AND p.expires_at >= $3 ORDER BY p.expires_at LIMIT $1) pending), \
    (SELECT CASE WHEN COUNT(*) >= $4 THEN MIN(at) END FROM (SELECT a.at FROM link_attempts a \
    WHERE a.link_id = $2 AND a.network = $5 AND a.at > $6 AND a.at <= $7 ORDER BY a.at DESC LIMIT $4) recent)";
pub(crate) const LATEST: &str = "SELECT a.visitor, a.payment_id FROM link_attempts a WHERE a.link_id = $1 \
    AND a.visitor = COALESCE((SELECT b.visitor FROM link_attempts b WHERE b.payment_id = $2 AND b.link_id = $1), $3) \
    ORDER BY a.link_version DESC LIMIT 1";

/// Whether a link takes one more attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptRoom {
    /// Set when as many payments of the link are pending as may be: when the first of them expires.
    pub pending_full_until: Option<Timestamp>,
    /// Set when as many attempts came from the network as may: when the first of them is a window ago.
    pub network_full_until: Option<Timestamp>,
}

/// The latest payment that a visitor has started through a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisitorAttempt {
    pub visitor: String,
    pub payment_id: PaymentId,
}

impl Store {
    pub async fn attempt_room(
        &self,
        link_id: LinkId,
        at: Timestamp,
        bounds: &AttemptBounds,
    ) -> Result<AttemptRoom, StoreError> {
        let network = bounds.network.as_ref();
        let window = network.map(|bound| bound.window).unwrap_or_default();
        let query = Query::new(
            ROOM,
            [
                bounds.pending_most.into(),
                Value::stored(link_id),
                at.into(),
                network.map_or(1, |bound| bound.most).into(),
                network.map(|bound| bound.network.clone()).into(),
                at.minus(window).into(),
                at.plus(window).into(),
            ],
        );
        let room = self.one(query, room).await?.ok_or_else(|| StoreError::unexpected("a count without a row"))?;
        // A clock that was set back has stamped attempts ahead of now; nobody waits longer than a window for them.
        let network_full_until = room.network_full_until.map(|first| first.min(at).plus(window));
        Ok(AttemptRoom { network_full_until, ..room })
    }

    /// The latest attempt of the visitor who has made the payment `remembered` through this link; if nobody has, of
    /// `visitor`.
    pub async fn latest_attempt(
        &self,
        link_id: LinkId,
        remembered: Option<PaymentId>,
        visitor: Option<&str>,
    ) -> Result<Option<VisitorAttempt>, StoreError> {
        let remembered = remembered.map(Value::stored).unwrap_or(Value::Null);
        let query = Query::new(LATEST, [Value::stored(link_id), remembered, visitor.map(str::to_owned).into()]);
        self.one(query, visitor_attempt).await
    }
}

fn room(columns: &mut Columns<'_>) -> Result<AttemptRoom, StoreError> {
    Ok(AttemptRoom {
        pending_full_until: columns.optional_timestamp()?,
        network_full_until: columns.optional_timestamp()?,
    })
}

fn visitor_attempt(columns: &mut Columns<'_>) -> Result<VisitorAttempt, StoreError> {
    Ok(VisitorAttempt { visitor: columns.text()?, payment_id: columns.parsed()? })
}
