//! `/dashboard/account`: the user's own account, projects, password and sessions.

pub(crate) mod letters;
#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{
    Router,
    http::{HeaderValue, StatusCode, header},
    response::Response,
    routing::get,
};
use domain::{id::SessionId, time::Timestamp, user::Session};
use engine::Error;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{device, moment::Moment, page_error::PageError},
};

use crate::{
    done::Done,
    input::{password_hint, password_mistake},
    labels::role_name,
    page::UserPage,
    session::{LastId, SignedForm},
    shell::{ProjectChoice, Section, Shell},
    sign_in::{seconds_until, wait_text},
    words::Words,
};

const PATH: &str = "/dashboard/account";
/// The pages of the user's second factor.
const FACTOR: &str = "/dashboard/account/factor";
/// So few recovery codes that the page advises to make new ones.
const FEW_CODES: i64 = 3;

#[derive(Template)]
#[template(path = "account.html")]
pub(crate) struct AccountPage {
    pub(crate) shell: Shell,
    pub(crate) since: Moment,
    pub(crate) projects: Vec<ProjectRow>,
    pub(crate) may_create_project: bool,
    /// None where the user has no second factor.
    pub(crate) factor: Option<FactorRow>,
    pub(crate) factor_url: String,
    pub(crate) password_action: String,
    pub(crate) password_hint: String,
    pub(crate) old_mistake: Option<String>,
    pub(crate) new_mistake: Option<String>,
    pub(crate) sessions: Vec<SessionRow>,
    pub(crate) letters_url: String,
    /// None where there are no others.
    pub(crate) end_others_action: Option<String>,
}

pub(crate) struct ProjectRow {
    pub(crate) url: String,
    pub(crate) name: String,
    pub(crate) sandbox: bool,
    pub(crate) role: String,
}

pub(crate) struct FactorRow {
    pub(crate) since: Moment,
    pub(crate) codes_left: String,
    /// Whether so few recovery codes are left that new ones are due.
    pub(crate) few_left: bool,
}

pub(crate) struct SessionRow {
    pub(crate) browser: String,
    pub(crate) address: String,
    pub(crate) since: Moment,
    pub(crate) seen: Moment,
    /// None for the session of this request.
    pub(crate) end_action: Option<String>,
}

/// What is wrong with a form that was sent.
#[derive(Default)]
struct Mistakes {
    old: Option<String>,
    new: Option<String>,
    notice: Option<String>,
}

pub(crate) fn routes() -> Router<App> {
    // A user whose session has ended signs in at the form's address, and then sees the page there.
    Router::new()
        .route(PATH, get(show))
        .route("/dashboard/account/password", get(show).post(change_password))
        .route("/dashboard/account/end-others", get(show).post(end_others))
        .route("/dashboard/account/sessions/{session}/end", get(show).post(end))
        .merge(letters::routes())
}

async fn show(page: UserPage) -> Result<Response, PageError> {
    account_page(&page, StatusCode::OK, Mistakes::default()).await
}

async fn change_password(page: UserPage, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    let words = page.words();
    let (old, new) = (form.text("old_password").unwrap_or_default(), form.text("new_password").unwrap_or_default());
    let mistakes = Mistakes {
        old: old.is_empty().then(|| fl!(words, "mistake-empty")),
        new: password_mistake(words, new),
        notice: None,
    };
    // Every attempt with a wrong password is counted, so a form that cannot succeed does not become one.
    if mistakes.old.is_some() || mistakes.new.is_some() {
        return account_page(&page, StatusCode::UNPROCESSABLE_ENTITY, mistakes).await;
    }
    match page.app.engine.change_password(&page.visit, old.into(), new.into()).await {
        Ok(()) => Ok(page.redirect(PATH, Done::PasswordChanged)),
        Err(Error::Invalid(_)) => {
            let mistakes = Mistakes { old: Some(fl!(words, "account-old-wrong")), ..Mistakes::default() };
            account_page(&page, StatusCode::UNPROCESSABLE_ENTITY, mistakes).await
        }
        Err(Error::TryLater { until }) => try_later(&page, until).await,
        Err(error) => Err(error.into()),
    }
}

async fn try_later(page: &UserPage, until: Timestamp) -> Result<Response, PageError> {
    let words = page.words();
    let seconds = seconds_until(until, page.now());
    let mistakes = Mistakes { notice: Some(wait_text(words, seconds)), ..Mistakes::default() };
    let mut response = account_page(page, StatusCode::TOO_MANY_REQUESTS, mistakes).await?;
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    Ok(response)
}

async fn end(page: UserPage, LastId(id): LastId<SessionId>, SignedForm(_): SignedForm) -> Result<Response, PageError> {
    page.app.engine.end_session(&page.visit, id).await?;
    Ok(page.redirect(PATH, Done::SessionEnded))
}

async fn end_others(page: UserPage, SignedForm(_): SignedForm) -> Result<Response, PageError> {
    page.app.engine.end_other_sessions(&page.visit).await?;
    Ok(page.redirect(PATH, Done::SessionEnded))
}

async fn account_page(page: &UserPage, status: StatusCode, mistakes: Mistakes) -> Result<Response, PageError> {
    let mut shell = page.shell(Section::Account).await?;
    let is_wrong = mistakes.old.is_some() || mistakes.new.is_some();
    let notice = mistakes.notice.or_else(|| is_wrong.then(|| fl!(shell.words, "mistake-form")));
    if let Some(text) = notice {
        shell.warn(text);
    }
    let words = shell.words;
    let row = |choice: &ProjectChoice| ProjectRow {
        url: choice.url.clone(),
        name: choice.name.clone(),
        sandbox: choice.sandbox,
        role: role_name(words, choice.role),
    };
    let sessions = page.app.engine.sessions(&page.visit).await?;
    let others = sessions.iter().any(|session| session.id != page.visit.session.id);
    let factor = page.app.engine.factor_state(page.visit.user.id).await?.map(|state| FactorRow {
        since: page.moment(state.factor.added_at),
        codes_left: fl!(words, "factor-codes-left", count = state.codes_left),
        few_left: state.codes_left <= FEW_CODES,
    });
    let view = AccountPage {
        factor,
        factor_url: page.url(FACTOR),
        since: page.moment(page.visit.user.created_at),
        projects: shell.projects.iter().map(row).collect(),
        may_create_project: page.app.engine.may_create_project(&page.visit).await?,
        password_action: page.url("/dashboard/account/password"),
        password_hint: password_hint(words),
        old_mistake: mistakes.old,
        new_mistake: mistakes.new,
        sessions: sessions.iter().map(|session| session_row(page, session)).collect(),
        letters_url: page.url("/dashboard/account/letters"),
        end_others_action: others.then(|| page.url("/dashboard/account/end-others")),
        shell,
    };
    Ok(page.render(status, &view))
}

fn session_row(page: &UserPage, session: &Session) -> SessionRow {
    let is_other = session.id != page.visit.session.id;
    let action = || page.url(format_args!("/dashboard/account/sessions/{}/end", session.id));
    SessionRow {
        browser: browser(page.words(), &session.browser),
        address: session.address.clone(),
        since: page.moment(session.created_at),
        seen: page.moment(session.seen_at),
        end_action: is_other.then(action),
    }
}

/// `Chrome · Android`, as far as the browser says.
fn browser(words: Words, user_agent: &str) -> String {
    let device = device::of(Some(user_agent));
    let known: Vec<String> = [device.browser, device.os].into_iter().flatten().collect();
    if known.is_empty() { fl!(words, "account-browser-unknown") } else { known.join(" · ") }
}
