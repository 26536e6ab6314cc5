//! How an open page learns that something of its project has changed: it gets an event, and fetches itself again.

use std::time::Duration;

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, response::Response, routing::get};
use domain::{id::ProjectId, user::Token};
use engine::{Desk, Error};
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep};
use web::{
    App, client,
    page::{page_error::PageError, visitor::Visitor},
    session, stream,
};

use crate::session::Unattended;

/// How often a stream asks whether something has changed.
const POLL_EVERY: Duration = Duration::from_secs(1);
/// How often it asks whether its reader is still signed in and a member. Until then a reader learns that something happened, not what.
const CHECK_READER_EVERY: Duration = Duration::from_secs(5);
/// Enough that no two change tokens of a project look the same.
const MARK_BYTES: usize = 8;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/live", get(events))
}

/// A change token as an address holds it.
pub(super) fn mark(pulse: &str) -> String {
    let hash = Sha256::digest(pulse);
    hash[..MARK_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn events(
    State(app): State<App>,
    visitor: Visitor,
    Unattended(at): Unattended,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let slot = app.limits.stream(client::limited_as(visitor.address));
    let (Some(slot), Some(token)) = (slot, session::token(&app.settings.urls, &headers)) else {
        return Ok(stream::unavailable());
    };
    // A page was read before its stream began: what changed in between is news as well.
    let seen = visitor.query.text("seen").ok().flatten().map_or_else(|| mark(&at.pulse), str::to_owned);
    let now = Instant::now();
    let source = Changes {
        address: visitor.address.to_string(),
        project: at.desk.project().id,
        app,
        token,
        seen,
        sent_at: now,
        checked_at: now,
        desk: at.desk,
    };
    Ok(stream::answer(source, slot))
}

/// Sends an event whenever something of a project has changed.
struct Changes {
    app: App,
    token: Token,
    address: String,
    project: ProjectId,
    /// The mark of the last change that the page knows of.
    seen: String,
    sent_at: Instant,
    desk: Desk,
    checked_at: Instant,
}

impl stream::Source for Changes {
    fn first(&mut self) -> Bytes {
        Bytes::from_static(b"retry: 2000\n: here\n\n")
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            sleep(POLL_EVERY).await;
            if self.app.is_draining() || !self.may_read().await {
                return None;
            }
            let text: &'static [u8] = match self.desk.change_token().await.map(|pulse| mark(&pulse)) {
                Ok(pulse) if pulse != self.seen => {
                    self.seen = pulse;
                    b"event: news\ndata: 1\n\n"
                }
                _ if self.sent_at.elapsed() > stream::KEEP_ALIVE => b": here\n\n",
                _ => continue,
            };
            self.sent_at = Instant::now();
            return Some(Bytes::from_static(text));
        }
    }
}

impl Changes {
    /// Whether the reader is still signed in and a member, asked now and then.
    async fn may_read(&mut self) -> bool {
        if self.checked_at.elapsed() <= CHECK_READER_EVERY {
            return true;
        }
        self.checked_at = Instant::now();
        match self.desk_again().await {
            Ok(Some(desk)) => self.desk = desk,
            Ok(None) => return false,
            Err(error) => tracing::warn!(%error, "the reader of an event stream could not be checked"),
        }
        true
    }

    async fn desk_again(&self) -> Result<Option<Desk>, Error> {
        let Some(visit) = self.app.engine.visit(&self.token, self.address.clone(), false).await? else {
            return Ok(None);
        };
        match self.app.engine.desk(&visit, self.project).await {
            Ok(desk) => Ok(Some(desk)),
            Err(Error::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
