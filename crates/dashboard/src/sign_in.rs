//! Signing in and out. A visitor without a session signs in at the address that they asked for, and stays there.

use askama::Template;
use axum::{
    Router,
    http::{HeaderValue, StatusCode, header},
    response::Response,
    routing::{get, post},
};
use domain::time::Timestamp;
use engine::{FORGOT, SignIn};
use i18n_embed_fl::fl;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use web::{
    App,
    page::{form::Form, page_error::PageError, render::see_other},
};

use crate::{
    done::Done,
    page::{PublicPage, UserPage},
    session::{MaybeSignedIn, SignedForm},
    shell::Bare,
    words::Words,
};

/// All paths of the dashboard begin with this.
pub(crate) const ROOT: &str = "/dashboard";
pub(crate) const SIGN_IN: &str = "/dashboard/sign-in";
const NEXT_CHARACTERS_MOST: usize = 2_000;
/// From this many seconds on a wait is shown in minutes.
const SHOWN_IN_MINUTES: u64 = 60;

/// The second step of signing in, for users with a second factor.
pub(crate) const CODE: &str = "/dashboard/sign-in/code";
/// The parameter that names the page to open after that.
pub(crate) const NEXT: &str = "next";

/// The form for signing in.
#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    frame: Bare,
    action: String,
    /// The path that the visitor comes to after signing in.
    next: String,
    email: String,
    notice: Option<SignInNotice>,
    /// Where the visitor asks for a new password; none where letters are not set up.
    forgot_url: Option<String>,
}

enum SignInNotice {
    /// The visitor's session has ended.
    Ended,
    /// The visitor has set a new password.
    PasswordReset,
    Refused,
    /// The visitor took too long for their second factor.
    Over,
    Wait {
        text: String,
    },
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route(ROOT, get(enter))
        .route(SIGN_IN, get(show).post(submit))
        .route("/dashboard/sign-out", post(leave))
}

/// Redirects the user to the first of their projects.
async fn enter(page: UserPage) -> Result<Response, PageError> {
    let user = &page.visit.user;
    let projects = page.app.engine.projects_of(user.id).await?;
    let url = match projects.first() {
        Some((project, _)) => page.desk_url(project),
        None if user.is_operator => page.url("/dashboard/operator"),
        None => page.url("/dashboard/account"),
    };
    Ok(see_other(&url))
}

async fn show(page: PublicPage, MaybeSignedIn(visit): MaybeSignedIn) -> Response {
    match visit {
        Some(_) => see_other(&page.url(ROOT)),
        None => {
            let is_reset = Done::asked_for(&page.visitor) == Some(Done::PasswordReset);
            let notice = is_reset.then_some(SignInNotice::PasswordReset);
            sign_in_page(&page, StatusCode::OK, ROOT, String::new(), notice)
        }
    }
}

async fn submit(
    page: PublicPage,
    MaybeSignedIn(before): MaybeSignedIn,
    form: Result<Form, PageError>,
) -> Result<Response, PageError> {
    let (form, engine) = (form?, &page.app.engine);
    let email = form.text("email").unwrap_or_default();
    let password = form.text("password").unwrap_or_default().into();
    let next = form.text("next").filter(|next| is_ours(next)).unwrap_or(ROOT);
    let answer = engine.sign_in(email, password, &page.whereabouts()).await?;
    let urls = &page.app.settings.urls;
    let (status, notice, wait) = match answer {
        SignIn::Done(session) => {
            // The new session replaces the one that this browser had.
            if let Some(before) = before {
                engine.sign_out(&before).await?;
            }
            let mut response = see_other(&page.url(next));
            web::session::remember(urls, &session, response.headers_mut());
            web::session::take_ticket_back(urls, &page.visitor, response.headers_mut());
            return Ok(response);
        }
        SignIn::CodeNeeded { pending } => {
            let mut response = see_other(&page.url(code_path(next)));
            web::session::hand_out_pending(urls, &pending, response.headers_mut());
            return Ok(response);
        }
        SignIn::Refused => (StatusCode::UNAUTHORIZED, SignInNotice::Refused, None),
        SignIn::Wait { until, ticket } => {
            let seconds = seconds_until(until, page.now());
            let text = wait_text(page.words(), seconds);
            (StatusCode::TOO_MANY_REQUESTS, SignInNotice::Wait { text }, Some((seconds, ticket)))
        }
    };
    let mut response = sign_in_page(&page, status, next, email.to_owned(), Some(notice));
    if let Some((seconds, ticket)) = wait {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        if let Some(ticket) = ticket {
            web::session::hand_out_ticket(urls, &ticket, response.headers_mut());
        }
    }
    Ok(response)
}

async fn leave(page: UserPage, SignedForm(_): SignedForm) -> Result<Response, PageError> {
    page.app.engine.sign_out(&page.visit).await?;
    let mut response = see_other(&page.url(SIGN_IN));
    web::session::forget(&page.app.settings.urls, response.headers_mut());
    Ok(response)
}

/// The form for signing in, in place of a page that only a session opens.
pub(crate) fn session_needed(page: &PublicPage) -> Response {
    let asked_for = page.visitor.address_again();
    sign_in_page(page, StatusCode::UNAUTHORIZED, &asked_for, String::new(), Some(SignInNotice::Ended))
}

/// The form for a visitor who must give their password again, as their second factor came too late.
pub(crate) fn begin_again(page: &PublicPage, next: &str) -> Response {
    sign_in_page(page, StatusCode::UNAUTHORIZED, next, String::new(), Some(SignInNotice::Over))
}

fn sign_in_page(
    page: &PublicPage,
    status: StatusCode,
    next: &str,
    email: String,
    notice: Option<SignInNotice>,
) -> Response {
    // A visitor without a session's cookie comes for the first time, and had no session that could have ended.
    let cookie = web::session::cookie_name(page.app.settings.urls.https);
    let had_session = page.visitor.cookie(cookie).is_some();
    let notice = notice.filter(|notice| had_session || !matches!(notice, SignInNotice::Ended));
    let forgot_url = page.app.engine.has_mail().then(|| page.url(FORGOT));
    let (action, next) = (page.url(SIGN_IN), next.to_owned());
    let view = SignInPage { frame: page.frame(), action, next, email, notice, forgot_url };
    page.render(status, &view)
}

/// The path of the second step, for a visitor who asked for `next`.
fn code_path(next: &str) -> String {
    format!("{CODE}?{NEXT}={}", utf8_percent_encode(next, NON_ALPHANUMERIC))
}

/// Whether `next` is a path of the dashboard, and not another site's address in disguise.
pub(crate) fn is_ours(next: &str) -> bool {
    let rest = next.strip_prefix(ROOT).filter(|_| next.len() <= NEXT_CHARACTERS_MOST);
    let plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'"' | b'<' | b'>' | b'#');
    rest.is_some_and(|rest| {
        (rest.is_empty() || rest.starts_with(['/', '?']))
            && !next.contains("//")
            && next.bytes().all(plain)
            && is_normalised(next)
    })
}

/// Whether browsers leave a path as it is: they resolve `..`, also where its dots are encoded. An encoded slash or
/// backslash is one to some servers.
fn is_normalised(address: &str) -> bool {
    let path = address.split('?').next().unwrap_or_default().to_ascii_lowercase();
    let is_dots = |segment: &str| matches!(segment.replace("%2e", ".").as_str(), "." | "..");
    !path.contains("%2f") && !path.contains("%5c") && !path.split('/').any(is_dots)
}

/// When the visitor may try again.
pub(crate) fn wait_text(words: Words, seconds: u64) -> String {
    if seconds < SHOWN_IN_MINUTES {
        let seconds = seconds.to_string();
        return fl!(words, "sign-in-wait-seconds", seconds = seconds);
    }
    let minutes = seconds.div_ceil(60).to_string();
    fl!(words, "sign-in-wait", minutes = minutes)
}

/// Whole seconds, at least one.
pub(crate) fn seconds_until(until: Timestamp, now: Timestamp) -> u64 {
    let millis = until.as_millis().saturating_sub(now.as_millis()).max(0).unsigned_abs();
    millis.div_ceil(1_000).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_signing_in_only_pages_of_the_dashboard_are_opened() {
        for fine in [
            "/dashboard",
            "/dashboard/prj_1/payments?status=paid&page=2",
            "/dashboard?done=joined",
            "/dashboard/prj_1/payments.csv?search=../..",
            "/dashboard/prj_1/...",
        ] {
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
            "/dashboard/..",
            "/dashboard/../../evil",
            "/dashboard/../v1/payments",
            "/dashboard/./../evil",
            "/dashboard/.%2e/evil",
            "/dashboard/%2E%2e/%2e%2E/evil",
            "/dashboard/..%2f..%2fevil",
            "/dashboard/..%5Cevil",
            "/dashboard/prj_1/..?page=2",
            "/dashboard/a b",
            "/dashboard/\r\nSet-Cookie: a=b",
            "/v1/payments",
            &format!("/dashboard/{}", "a".repeat(2_000)),
        ] {
            assert!(!is_ours(wrong), "{wrong}");
        }
    }
}
