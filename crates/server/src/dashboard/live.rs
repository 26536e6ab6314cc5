//! How an open page learns that something of its project has changed: it is told so, and fetches itself anew.

use std::{convert::Infallible, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{id::ProjectId, user::Token};
use engine::{Desk, Error};
use futures_util::stream;
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep};

use super::session::{self, Unattended};
use crate::{
    app::App,
    client,
    limit::Place,
    pages::{refused::Refused, visitor::Visitor},
};

/// How often it is looked whether something has changed.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often it is looked whether somebody is still signed in and a member. Until then they learn that something happened, not what.
const ASK_EVERY: Duration = Duration::from_secs(5);
/// How often something is sent where nothing happens, so that both sides notice when a connection is dead.
const SIGN_OF_LIFE: Duration = Duration::from_secs(25);
/// A page that is still open after this long connects anew.
const STREAM_LONGEST: Duration = Duration::from_mins(15);
const RETRY_AFTER: u64 = 30;
/// Enough that no two pulses of a project are taken for the same.
const MARK_BYTES: usize = 8;

pub(super) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/live", get(events))
}

/// A pulse as it stands in an address.
pub(super) fn mark(pulse: &str) -> String {
    let hash = Sha256::digest(pulse);
    hash[..MARK_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn events(
    State(app): State<App>,
    visitor: Visitor,
    Unattended(at): Unattended,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    let place = app.shared.limits.stream(client::limited_as(visitor.address));
    let (Some(place), Some(token)) = (place, session::token(&app.shared.place, &headers)) else {
        let retry_after = [(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER))];
        return Ok((StatusCode::SERVICE_UNAVAILABLE, retry_after, axum::Json(())).into_response());
    };
    // What a page has seen is older than this connection: what came between the two is news as well.
    let seen = visitor.query.text("seen").ok().flatten().map_or_else(|| mark(&at.pulse), str::to_owned);
    let now = Instant::now();
    let open = Open {
        address: visitor.address.to_string(),
        project: at.desk.project().id,
        app,
        token,
        seen,
        told: false,
        sent_at: now,
        asked_at: now,
        desk: at.desk,
        ends: now + STREAM_LONGEST,
        _place: place,
    };
    let body = Body::from_stream(stream::unfold(open, Open::next));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        // Proxies that gather answers would keep the news to themselves.
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    Ok((headers, body).into_response())
}

/// A stream that somebody reads.
struct Open {
    app: App,
    token: Token,
    address: String,
    project: ProjectId,
    /// The mark of the last pulse that was told of.
    seen: String,
    told: bool,
    sent_at: Instant,
    desk: Desk,
    asked_at: Instant,
    ends: Instant,
    _place: Place,
}

impl Open {
    /// What is sent next: a word whenever something has changed, and a sign of life. Nothing more once nobody is signed in,
    /// the server stops, or the stream is old.
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Open)> {
        if !self.told {
            self.told = true;
            return Some((Ok(Bytes::from_static(b"retry: 2000\n: here\n\n")), self));
        }
        loop {
            sleep(LOOK_EVERY).await;
            if self.app.is_draining() || Instant::now() > self.ends {
                return None;
            }
            // Whoever was signed out, or is no member any more, is told nothing more.
            if self.asked_at.elapsed() > ASK_EVERY {
                self.asked_at = Instant::now();
                match self.desk_again().await {
                    Ok(Some(desk)) => self.desk = desk,
                    Ok(None) => return None,
                    Err(error) => tracing::warn!(%error, "a page that is open could not be looked after"),
                }
            }
            let text: &'static [u8] = match self.desk.pulse().await.map(|pulse| mark(&pulse)) {
                Ok(pulse) if pulse != self.seen => {
                    self.seen = pulse;
                    b"event: news\ndata: 1\n\n"
                }
                _ if self.sent_at.elapsed() > SIGN_OF_LIFE => b": here\n\n",
                _ => continue,
            };
            self.sent_at = Instant::now();
            return Some((Ok(Bytes::from_static(text)), self));
        }
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
