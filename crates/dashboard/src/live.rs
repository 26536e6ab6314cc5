//! The event stream of an open page: when something of its project has changed, the page gets an event and fetches
//! itself again.

use std::time::Duration;

use axum::{Router, body::Bytes, http::HeaderMap, response::Response, routing::get};
use domain::{id::ProjectId, user::Token};
use engine::{Desk, Error};
use tokio::time::{Instant, sleep};
use web::{App, client, page::page_error::PageError, session, stream};

use crate::{change_mark::change_mark, page::LivePage};

/// How often a stream polls for changes.
const POLL_EVERY: Duration = Duration::from_secs(1);
/// How often it checks that its reader is still signed in and a member. In between, a reader who was removed learns
/// that something changed, but not what.
const CHECK_READER_EVERY: Duration = Duration::from_secs(5);

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/live", get(events))
}

async fn events(LivePage(page): LivePage, headers: HeaderMap) -> Result<Response, PageError> {
    let (app, address) = (page.app.clone(), page.visitor.address);
    let slot = app.limits.stream(client::limited_as(address));
    let (Some(slot), Some(token)) = (slot, session::token(&app.settings.urls, &headers)) else {
        return Ok(stream::unavailable());
    };
    // The page names the state that it shows. The project may have changed between its rendering and this request.
    let seen = match page.query("seen") {
        Some(mark) => mark.to_owned(),
        None => change_mark(&page.change_token().await?),
    };
    let now = Instant::now();
    let source = Changes {
        address: address.to_string(),
        project: page.project().id,
        app,
        token,
        seen,
        sent_at: now,
        checked_at: now,
        desk: page.desk,
    };
    Ok(stream::answer(source, slot))
}

/// Sends an event when something of a project has changed.
struct Changes {
    app: App,
    token: Token,
    address: String,
    project: ProjectId,
    /// The mark of the latest state that the page was notified of.
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
            let text: &'static [u8] = match self.desk.change_token().await.map(|token| change_mark(&token)) {
                Ok(mark) if mark != self.seen => {
                    self.seen = mark;
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
    /// Whether the reader is still signed in and a member, as far as the last check knows.
    async fn may_read(&mut self) -> bool {
        if self.checked_at.elapsed() <= CHECK_READER_EVERY {
            return true;
        }
        self.checked_at = Instant::now();
        match self.reopen_desk().await {
            Ok(Some(desk)) => self.desk = desk,
            Ok(None) => return false,
            Err(error) => tracing::warn!(%error, "the reader of an event stream could not be checked"),
        }
        true
    }

    async fn reopen_desk(&self) -> Result<Option<Desk>, Error> {
        let Some(visit) = self.app.engine.visit(&self.token, self.address.clone(), false).await? else {
            return Ok(None);
        };
        match self.app.engine.desk(&visit, self.project).await {
            Ok(desk) => Ok(Some(desk)),
            // They are no member any more, or one whose role sees nothing of the project.
            Err(Error::NotFound(_) | Error::RoleForbids) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
