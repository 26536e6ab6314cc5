//! Signing in and out, and the page for whatever goes wrong. Whoever has to sign in does so where they are, and stays there.

use askama::Template;
use axum::{
    Router,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::Response,
    routing::{get, post},
};
use domain::time::Timestamp;
use engine::SignIn;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{
        form::Form,
        page_error::{PageError, ProblemKind},
        render::{page, see_other},
        visitor::Visitor,
    },
};

use crate::{
    session::{MaybeSignedIn, SignedForm, SignedIn},
    shell::{self, Bare},
    words::Words,
};

/// Where everything of the dashboard is.
const ROOT: &str = "/dashboard";
const SIGN_IN: &str = "/dashboard/sign-in";
const NEXT_CHARACTERS_MOST: usize = 2_000;

/// Who are you?
#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    frame: Bare,
    action: String,
    /// Where to go on afterwards.
    next: String,
    email: String,
    notice: Option<Notice>,
}

enum Notice {
    /// There was a session, and it is over.
    Ended,
    Refused,
    Wait {
        minutes: String,
    },
}

/// Something that cannot be shown.
#[derive(Template)]
#[template(path = "problem.html")]
struct Problem {
    frame: Bare,
    heading: String,
    text: String,
    support_reference: Option<String>,
    next_url: String,
}

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route(ROOT, get(enter))
        .route(SIGN_IN, get(show).post(submit))
        .route("/dashboard/sign-out", post(leave))
}

/// Leads to the first of one's projects.
async fn enter(State(app): State<App>, SignedIn(visit): SignedIn) -> Result<Response, PageError> {
    let projects = app.engine.projects_of(visit.user.id).await?;
    let url = match projects.first() {
        Some((project, _)) => shell::base(&app, project),
        None if visit.user.is_operator => app.settings.urls.url("/dashboard/operator"),
        None => app.settings.urls.url("/dashboard/account"),
    };
    Ok(see_other(&url))
}

async fn show(State(app): State<App>, visitor: Visitor, MaybeSignedIn(visit): MaybeSignedIn) -> Response {
    match visit {
        Some(_) => see_other(&app.settings.urls.url(ROOT)),
        None => sign_in_page(&app, &visitor, StatusCode::OK, ROOT, String::new(), None),
    }
}

async fn submit(
    State(app): State<App>,
    visitor: Visitor,
    MaybeSignedIn(before): MaybeSignedIn,
    form: Result<Form, PageError>,
) -> Result<Response, PageError> {
    let form = form?;
    let email = form.text("email").unwrap_or_default();
    let password = form.text("password").unwrap_or_default().into();
    let next = form.text("next").filter(|next| is_ours(next)).unwrap_or(ROOT);
    let answer = app.engine.sign_in(email, password, &web::session::whereabouts(&visitor)).await?;
    let (status, notice, retry_after) = match answer {
        SignIn::Done(token) => {
            // Whoever was signed in here before is not any more.
            if let Some(before) = before {
                app.engine.sign_out(&before).await?;
            }
            let mut response = see_other(&app.settings.urls.url(next));
            web::session::remember(&app.settings.urls, &token, response.headers_mut());
            return Ok(response);
        }
        SignIn::Refused => (StatusCode::UNAUTHORIZED, Notice::Refused, None),
        SignIn::Wait { until } => {
            let seconds = seconds_until(until, app.engine.now());
            let minutes = seconds.div_ceil(60).to_string();
            (StatusCode::TOO_MANY_REQUESTS, Notice::Wait { minutes }, Some(seconds))
        }
    };
    let mut response = sign_in_page(&app, &visitor, status, next, email.to_owned(), Some(notice));
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    Ok(response)
}

async fn leave(
    State(app): State<App>,
    SignedIn(visit): SignedIn,
    SignedForm(_): SignedForm,
) -> Result<Response, PageError> {
    app.engine.sign_out(&visit).await?;
    let mut response = see_other(&app.settings.urls.url(SIGN_IN));
    web::session::forget(&app.settings.urls, response.headers_mut());
    Ok(response)
}

/// The page for whatever went wrong. Who is not signed in can do something about it right there.
pub(crate) fn error_page(app: &App, visitor: &Visitor, error: &PageError) -> Response {
    if error.status == StatusCode::UNAUTHORIZED {
        return sign_in_page(app, visitor, error.status, &visitor.address_again(), String::new(), Some(Notice::Ended));
    }
    let frame = shell::bare(app, visitor);
    let (heading, text) = wording(frame.words, error);
    let is_miss = error.status == StatusCode::NOT_FOUND;
    let mut response = page(
        error.status,
        &Problem {
            heading,
            text,
            support_reference: visitor.request_id.clone().filter(|_| !is_miss),
            next_url: app.settings.urls.url(ROOT),
            frame,
        },
    );
    if let Some(seconds) = error.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn wording(words: Words, error: &PageError) -> (String, String) {
    match error.kind() {
        ProblemKind::NotFound => (fl!(words, "problem-missing"), fl!(words, "problem-missing-text")),
        ProblemKind::Forbidden => (fl!(words, "problem-forbidden"), fl!(words, "problem-forbidden-text")),
        ProblemKind::TooMany => (fl!(words, "problem-many"), fl!(words, "problem-many-text")),
        ProblemKind::Unavailable => (fl!(words, "problem-unavailable"), fl!(words, "problem-unavailable-text")),
        ProblemKind::Broken => (fl!(words, "problem-broken"), fl!(words, "problem-broken-text")),
        ProblemKind::NotUnderstood if error.status == StatusCode::CONFLICT => {
            (fl!(words, "problem-conflict"), fl!(words, "problem-conflict-text"))
        }
        ProblemKind::NotUnderstood => (fl!(words, "problem-understood"), fl!(words, "problem-understood-text")),
    }
}

fn sign_in_page(
    app: &App,
    visitor: &Visitor,
    status: StatusCode,
    next: &str,
    email: String,
    notice: Option<Notice>,
) -> Response {
    let frame = shell::bare(app, visitor);
    let action = app.settings.urls.url(SIGN_IN);
    // Nobody who comes for the first time is told that something is over.
    let notice = notice.filter(|notice| {
        !matches!(notice, Notice::Ended) || visitor.cookie(web::session::cookie_name(app.settings.urls.https)).is_some()
    });
    page(status, &SignInPage { frame, action, next: next.to_owned(), email, notice })
}

/// Whether that is an address of the dashboard, and nothing that only looks like one.
fn is_ours(next: &str) -> bool {
    let rest = next.strip_prefix(ROOT).filter(|_| next.len() <= NEXT_CHARACTERS_MOST);
    let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'"' | b'<' | b'>' | b'#');
    rest.is_some_and(|rest| {
        (rest.is_empty() || rest.starts_with(['/', '?'])) && !next.contains("//") && next.bytes().all(plain)
    })
}

/// Whole seconds, at least one.
pub(super) fn seconds_until(until: Timestamp, now: Timestamp) -> u64 {
    let millis = until.as_millis().saturating_sub(now.as_millis()).max(0).unsigned_abs();
    millis.div_ceil(1_000).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_led_on_to_pages_of_the_dashboard_only() {
        for fine in ["/dashboard", "/dashboard/prj_1/payments?status=paid&page=2", "/dashboard?done=joined"] {
            assert!(is_ours(fine), "{fine}");
        }
        for wrong in [
            "",
            "/",
            "//evil.example",
            "https://evil.example/dashboard",
            "/dashboard//evil.example",
            "/dashboardevil",
            "/dashboard/\\evil",
            "/dashboard/a b",
            "/dashboard/\r\nSet-Cookie: a=b",
            "/v1/payments",
            &format!("/dashboard/{}", "a".repeat(2_000)),
        ] {
            assert!(!is_ours(wrong), "{wrong}");
        }
    }
}
