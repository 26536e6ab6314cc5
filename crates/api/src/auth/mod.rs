//! Who calls, and whether they may: the first checks of every `/v1` request, in the contract's order.
//!
//! A request with `Authorization` is judged by its key alone. Only where the route says so, and only without that header, a session
//! of the dashboard counts instead.

mod caller;
mod findings;
mod key;
mod session;

use axum::{
    extract::{Request, State},
    http::header,
    middleware::Next,
    response::Response,
};
use web::App;

pub(crate) use caller::{AnyCaller, Caller, KeyMaker, Member, Reader, SandboxCaller};
pub(crate) use key::by_key;

/// Takes a session of the dashboard where no key is sent. A request with neither is told to send a key.
pub(crate) async fn by_key_or_session(State(app): State<App>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let has_session = web::session::token(&app.settings.urls, headers).is_some();
    if has_session && !headers.contains_key(header::AUTHORIZATION) {
        session::by_session(app, request, next).await
    } else {
        by_key(State(app), request, next).await
    }
}
