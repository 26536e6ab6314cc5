//! The checkout over a shop's own page: `/embed.js`, which a shop includes, and what a page needs that is shown in its frame.
//!
//! The frame's address names the shop's origin. Where the project allows that origin, its pages may hold the frame, and the page
//! in it tells that origin, and no other, how the payment ended. All other pages stay as strict as ever.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::Response,
};
use domain::{payment::Payment, project::Project, time::Timestamp};
use web::{
    App,
    page::{assets::Asset, cookie, headers::FramedBy, visitor::Visitor},
};

use crate::view::{Framed, FramedPayment};

/// Where the script is that shops include; it is also the first and only part of its path.
pub(crate) const FOLDER: &str = "embed.js";
/// The parameter of the query that names the origin of the shop's page.
const ORIGIN: &str = "origin";

/// In every page that is shown in a frame.
pub(crate) static SCRIPT: Asset = Asset::script("framed", &[include_str!("../assets/framed.js")]);
/// In the shop's page.
static EMBED: Asset = Asset::script("embed", &[include_str!("../assets/embed.js")]);

/// `/embed.js`.
pub(crate) async fn script(headers: HeaderMap) -> Response {
    EMBED.answer_to_other_sites(&headers)
}

/// The origin that asks for the page in a frame.
fn requested_origin(visitor: &Visitor) -> Option<&str> {
    visitor.query.text(ORIGIN).ok().flatten()
}

/// How the page is framed; none where it is not, or by an origin that the project does not allow.
pub(crate) fn framed(app: &App, visitor: &Visitor, project: &Project) -> Option<Framed> {
    let origin =
        requested_origin(visitor).filter(|origin| project.frame_origins.iter().any(|allowed| allowed == origin))?;
    Some(Framed { origin: origin.to_owned(), script_url: app.settings.urls.url(SCRIPT.path()), payment: None })
}

/// What the shop's page is told of a payment.
pub(crate) fn framed_payment(payment: &Payment, now: Timestamp) -> FramedPayment {
    FramedPayment {
        id: payment.id.to_string(),
        reference: payment.terms.reference.clone(),
        status: payment.status_at(now).word(),
    }
}

/// Lets an origin that the project allows show the answer in a frame. The customer stays in the frame after a redirect too, and
/// the browser keeps its cookie there.
pub(crate) async fn allow_frame(State(app): State<App>, visitor: Visitor, request: Request, next: Next) -> Response {
    let origin = match requested_origin(&visitor) {
        Some(origin) if may_frame(&app, &visitor.path, origin).await => origin,
        _ => return next.run(request).await,
    };
    let mut response = next.run(request).await;
    if response.status() == StatusCode::SEE_OTHER {
        keep_origin(&mut response, origin);
    }
    cookie::keep_in_frame(response.headers_mut());
    response.extensions_mut().insert(FramedBy(origin.to_owned()));
    response
}

/// Whether the project of the link or the payment in the path allows the origin. While that cannot be read, it does not.
async fn may_frame(app: &App, path: &str, origin: &str) -> bool {
    let mut segments = path.split('/').skip(1);
    let allowed = match (segments.next(), segments.next()) {
        (Some("p"), Some(id)) => match id.parse() {
            Ok(id) => app.engine.may_frame_link(id, origin).await,
            Err(_) => return false,
        },
        (Some("pay"), Some(id)) => match id.parse() {
            Ok(id) => app.engine.may_frame_payment(id, origin).await,
            Err(_) => return false,
        },
        _ => return false,
    };
    allowed.unwrap_or(false)
}

/// The page that the answer leads to is in the same frame.
fn keep_origin(response: &mut Response, origin: &str) {
    let Some(location) = response.headers().get(header::LOCATION).and_then(|location| location.to_str().ok()) else {
        return;
    };
    let joint = if location.contains('?') { '&' } else { '?' };
    if let Ok(location) = HeaderValue::try_from(format!("{location}{joint}{ORIGIN}={origin}")) {
        response.headers_mut().insert(header::LOCATION, location);
    }
}
