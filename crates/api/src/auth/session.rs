//! Requests with a session of the dashboard: from a page of our own, within the limit, and by a member of the project.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use domain::{id::ProjectId, rules::Invalid};
use engine::{Desk, Error, Visit};
use web::{
    App, Failure, LoggedAs, LoggedCaller, client,
    limits::{Limited, Standing},
    query::Query,
    session,
};

use super::{
    caller::Authenticated,
    findings::{unknown_caller, write_findings},
};
use crate::{cors, error::ApiError};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// The query parameter that names the project.
const PROJECT: &str = "project_id";

pub(super) async fn by_session(app: App, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let visit = match visit(&app, &mut parts).await {
        Ok(visit) => visit,
        Err(error) => return error.into_response(),
    };
    let standing = app.limits.request(Limited::Session(visit.session.id));
    let mut logged = LoggedCaller { project_id: None, who: LoggedAs::User(visit.user.id) };
    let mut response = match admit(&app, &visit, standing, &parts).await {
        Err(error) => error.into_response(),
        Ok(desk) => {
            logged.project_id = Some(desk.project().id);
            parts.extensions.insert(Authenticated::Session(desk.into()));
            next.run(Request::from_parts(parts, body)).await
        }
    };
    response.extensions_mut().insert(logged);
    // A page of our own needs no CORS header to read the answer, and no other page gets one.
    write_findings(response.headers_mut(), standing, None);
    // Shared caches do not store answers to requests with `Authorization`, but they may store those with cookies.
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Who is signed in. A look-up that fails is not the same as an unknown session.
async fn visit(app: &App, parts: &mut Parts) -> Result<Visit, ApiError> {
    let address = client::address(&parts.extensions, &parts.headers, &app.settings.trusted_proxies);
    match session::visit(app, &parts.headers, &mut parts.extensions, address).await {
        Ok(Some(visit)) => Ok(visit),
        Ok(None) => Err(unknown_caller(app, &parts.headers, &parts.extensions, "the session has ended; sign in again")),
        Err(error) => Err(ApiError::AuthUnavailable(error)),
    }
}

async fn admit(app: &App, visit: &Visit, standing: Option<Standing>, parts: &Parts) -> Result<Desk, ApiError> {
    check_site(app, &parts.headers)?;
    if let Some(retry_after) = standing.and_then(|standing| standing.retry_after) {
        return Err(Failure::RateLimited { retry_after }.into());
    }
    let project_id = project_id(app, visit, parts.uri.query()).await?;
    match app.engine.desk(visit, project_id).await {
        Err(Error::NotFound(_)) => Err(ApiError::NotAMember),
        found => Ok(found?),
    }
}

/// Refuses requests that another site's page makes: the browser adds the cookie to them by itself.
fn check_site(app: &App, headers: &HeaderMap) -> Result<(), ApiError> {
    let of_our_own = |site: &HeaderValue| site == "same-origin" || site == "none";
    let own_site = headers.get_all(SEC_FETCH_SITE).iter().all(of_our_own);
    let own_origin = headers.get_all(header::ORIGIN).iter().all(|origin| cors::is_own(app, origin));
    if own_site && own_origin { Ok(()) } else { Err(ApiError::ForeignPage) }
}

/// The project that the request names, or the only one there is to name.
async fn project_id(app: &App, visit: &Visit, query: Option<&str>) -> Result<ProjectId, ApiError> {
    match Query::parse(query)?.text(PROJECT)? {
        Some("") => Err(Invalid::new(PROJECT, "must not be empty").into()),
        // A text that is no id names no project that the user is a member of.
        Some(text) => text.parse().map_err(|_| ApiError::NotAMember),
        None => match app.engine.projects_of(visit.user.id).await?.as_slice() {
            [] => Err(ApiError::NotAMember),
            [(project, _)] => Ok(project.id),
            _ => Err(Invalid::new(PROJECT, "is required of a member of several projects").into()),
        },
    }
}
