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

use super::{
    session::{self, MaybeSignedIn, SignedForm, SignedIn},
    shell::{self, Bare},
};
use crate::{
    app::App,
    pages::{
        form::Form,
        refused::{ProblemKind, Refused},
        render::{page, see_other},
        visitor::Visitor,
        words::Words,
    },
};

/// Where everything of the dashboard is.
const ROOT: &str = "/dashboard";
const SIGN_IN: &str = "/dashboard/sign-in";
const NEXT_CHARACTERS_MOST: usize = 2_000;

/// Who are you?
#[derive(Template)]
#[template(path = "dashboard/sign_in.html")]
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
#[template(path = "dashboard/problem.html")]
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
async fn enter(State(app): State<App>, SignedIn(visit): SignedIn) -> Result<Response, Refused> {
    let projects = app.engine.projects_of(visit.user.id).await?;
    let url = match projects.first() {
        Some((project, _)) => shell::base(&app, project),
        None if visit.user.is_operator => app.shared.place.url("/dashboard/operator"),
        None => app.shared.place.url("/dashboard/account"),
    };
    Ok(see_other(&url))
}

async fn show(State(app): State<App>, visitor: Visitor, MaybeSignedIn(visit): MaybeSignedIn) -> Response {
    match visit {
        Some(_) => see_other(&app.shared.place.url(ROOT)),
        None => sign_in_page(&app, &visitor, StatusCode::OK, ROOT, String::new(), None),
    }
}

async fn submit(
    State(app): State<App>,
    visitor: Visitor,
    MaybeSignedIn(before): MaybeSignedIn,
    form: Result<Form, Refused>,
) -> Result<Response, Refused> {
    let form = form?;
    let email = form.text("email").unwrap_or_default();
    let password = form.text("password").unwrap_or_default().into();
    let next = form.text("next").filter(|next| is_ours(next)).unwrap_or(ROOT);
    let answer = app.engine.sign_in(email, password, &session::whereabouts(&visitor)).await?;
    let (status, notice, retry_after) = match answer {
        SignIn::Done(token) => {
            // Whoever was signed in here before is not any more.
            if let Some(before) = before {
                app.engine.sign_out(&before).await?;
            }
            let mut response = see_other(&app.shared.place.url(next));
            session::remember(&app.shared.place, &token, response.headers_mut());
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
) -> Result<Response, Refused> {
    app.engine.sign_out(&visit).await?;
    let mut response = see_other(&app.shared.place.url(SIGN_IN));
    session::forget(&app.shared.place, response.headers_mut());
    Ok(response)
}

/// The page for whatever went wrong. Who is not signed in can do something about it right there.
pub(crate) fn problem(app: &App, visitor: &Visitor, refused: &Refused) -> Response {
    if refused.status == StatusCode::UNAUTHORIZED {
        return sign_in_page(
            app,
            visitor,
            refused.status,
            &visitor.address_again(),
            String::new(),
            Some(Notice::Ended),
        );
    }
    let frame = shell::bare(app, visitor);
    let (heading, text) = told(frame.words, refused);
    let is_miss = refused.status == StatusCode::NOT_FOUND;
    let mut response = page(
        refused.status,
        &Problem {
            heading,
            text,
            support_reference: visitor.request_id.clone().filter(|_| !is_miss),
            next_url: app.shared.place.url(ROOT),
            frame,
        },
    );
    if let Some(seconds) = refused.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn told(words: Words, refused: &Refused) -> (String, String) {
    match refused.kind() {
        ProblemKind::NotFound => (fl!(words, "dash-problem-missing"), fl!(words, "dash-problem-missing-text")),
        ProblemKind::Forbidden => (fl!(words, "dash-problem-forbidden"), fl!(words, "dash-problem-forbidden-text")),
        ProblemKind::TooMany => (fl!(words, "dash-problem-many"), fl!(words, "dash-problem-many-text")),
        ProblemKind::Unavailable => {
            (fl!(words, "dash-problem-unavailable"), fl!(words, "dash-problem-unavailable-text"))
        }
        ProblemKind::Broken => (fl!(words, "dash-problem-broken"), fl!(words, "dash-problem-broken-text")),
        ProblemKind::NotUnderstood if refused.status == StatusCode::CONFLICT => {
            (fl!(words, "dash-problem-conflict"), fl!(words, "dash-problem-conflict-text"))
        }
        ProblemKind::NotUnderstood => {
            (fl!(words, "dash-problem-understood"), fl!(words, "dash-problem-understood-text"))
        }
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
    let action = app.shared.place.url(SIGN_IN);
    // Nobody who comes for the first time is told that something is over.
    let notice = notice.filter(|notice| !matches!(notice, Notice::Ended) || visitor.had_session);
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
