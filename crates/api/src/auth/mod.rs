//! Authentication, the first check of every `/v1` request: by API key or by a session of the dashboard.
//!
//! A request with `Authorization` is checked by its key alone. A session counts only without that header, and only on routes that
//! accept sessions.

mod answers;
mod caller;
mod key;
mod session;

use axum::{
    extract::{Request, State},
    http::header,
    middleware::Next,
    response::Response,
};
use web::App;

pub(crate) use caller::{
    AuditReader, Caller, KeyManager, KeyRevoker, Member, MoneyDecider, PaymentsCaller, Reader, RefundReader,
    RefundSimulator, RefundsCaller, SandboxCaller,
};
pub(crate) use key::require_key;

/// Authenticates by session where the request has one and no key, and else by key, so that a request with neither is asked for
/// a key.
pub(crate) async fn require_key_or_session(State(app): State<App>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let has_session = web::session::token(&app.settings.urls, headers).is_some();
    if has_session && !headers.contains_key(header::AUTHORIZATION) {
        session::require_session(app, request, next).await
    } else {
        require_key(State(app), request, next).await
    }
}
