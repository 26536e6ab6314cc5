//! Authentication by session cookie: the request must come from our own pages, be within the rate limit, and name a project that
//! the user is a member of.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use domain::{id::ProjectId, rules::Invalid};
use engine::{Desk, Error, Visit};
use web::{App, CallerNotes, LoggedCaller, client, limits::LimitedCaller, query::Query, session};

use super::{
    answers::{note_usage, unknown_caller, within_rate},
    caller::Authenticated,
};
use crate::{cors, error::ApiError};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// The query parameter that names the project.
const PROJECT: &str = "project_id";

/// Lets a request with a valid session through, and notes the headers of its answer.
pub(super) async fn require_session(app: App, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let visit = match visit(&app, &mut parts).await {
        Ok(visit) => visit,
        Err(error) => return error.into_response(),
    };
    match open_desk(&app, &visit, &parts).await {
        Err(error) => error.into_response(),
        Ok(desk) => {
            parts.extensions.insert(Authenticated::Session(desk.into()));
            next.run(Request::from_parts(parts, body)).await
        }
    }
}

/// The user behind the session. A database that does not answer is 503, not an unknown session.
async fn visit(app: &App, parts: &mut Parts) -> Result<Visit, ApiError> {
    let address = client::address(&parts.extensions, &parts.headers, &app.settings.trusted_proxies);
    match session::visit(app, &parts.headers, &mut parts.extensions, address).await {
        Ok(Some(visit)) => Ok(visit),
        Ok(None) => Err(unknown_caller(app, &parts.headers, &parts.extensions, "the session has ended; sign in again")),
        Err(error) => Err(ApiError::AuthUnavailable(error)),
    }
}

async fn open_desk(app: &App, visit: &Visit, parts: &Parts) -> Result<Desk, ApiError> {
    let notes = CallerNotes::of(&parts.extensions);
    let mut caller = LoggedCaller { user_id: Some(visit.user.id), ..LoggedCaller::default() };
    notes.caller_is(caller);
    // Our own pages need no CORS header to read the answer, and other pages must not get one.
    let usage = app.limits.request(LimitedCaller::Session(visit.session.id));
    note_usage(&notes, usage);
    // Shared caches do not store answers to requests with `Authorization`, but may store those to requests with cookies.
    notes.add_headers(|headers| drop(headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))));
    check_site(app, &parts.headers)?;
    within_rate(usage)?;
    let project_id = project_id(app, visit, parts.uri.query()).await?;
    let desk = match app.engine.desk(visit, project_id).await {
        Err(Error::NotFound(_)) => return Err(ApiError::NotAMember),
        found => found?,
    };
    caller.project_id = Some(desk.project().id);
    notes.caller_is(caller);
    Ok(desk)
}

/// Refuses requests from pages of other sites, because browsers add the session cookie to those too.
fn check_site(app: &App, headers: &HeaderMap) -> Result<(), ApiError> {
    let of_our_own = |site: &HeaderValue| site == "same-origin" || site == "none";
    let own_site = headers.get_all(SEC_FETCH_SITE).iter().all(of_our_own);
    let own_origin = headers.get_all(header::ORIGIN).iter().all(|origin| cors::is_own(app, origin));
    if own_site && own_origin { Ok(()) } else { Err(ApiError::ForeignPage) }
}

/// The project that the request names, or the user's only project where it names none.
async fn project_id(app: &App, visit: &Visit, query: Option<&str>) -> Result<ProjectId, ApiError> {
    match Query::parse(query).text(PROJECT)? {
        Some("") => Err(Invalid::new(PROJECT, "must not be empty").into()),
        // No project has a malformed id.
        Some(text) => text.parse().map_err(|_| ApiError::NotAMember),
        None => match app.engine.projects_of(visit.user.id).await?.as_slice() {
            [] => Err(ApiError::NotAMember),
            [(project, _)] => Ok(project.id),
            _ => Err(Invalid::new(PROJECT, "is required, because you are a member of several projects").into()),
        },
    }
}
