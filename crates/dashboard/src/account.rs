//! `/dashboard/account`: who one is, what one belongs to, and where one is signed in.

use askama::Template;
use axum::{
    Router,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::Response,
    routing::get,
};
use domain::{id::SessionId, project::Environment, time::Timestamp, user::Session};
use engine::{Error, Visit};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{
        device,
        moment::{Moment, moment},
        page_error::PageError,
        render::page,
        visitor::Visitor,
    },
};

use crate::{
    done::Done,
    session::{LastId, SignedForm, SignedIn},
    shell::{self, Flash, Section, Shell},
    sign_in::seconds_until,
    words::Words,
    wrong,
};

const PATH: &str = "/dashboard/account";

#[derive(Template)]
#[template(path = "account.html")]
pub(super) struct AccountPage {
    pub(super) shell: Shell,
    pub(super) since: Moment,
    pub(super) projects: Vec<ProjectRow>,
    pub(super) may_found: bool,
    pub(super) password_action: String,
    pub(super) password_hint: String,
    pub(super) old_mistake: Option<String>,
    pub(super) new_mistake: Option<String>,
    pub(super) sessions: Vec<SessionRow>,
    /// None where there are no others.
    pub(super) end_others_action: Option<String>,
}

pub(super) struct ProjectRow {
    pub(super) url: String,
    pub(super) name: String,
    pub(super) sandbox: bool,
    pub(super) role: String,
}

pub(super) struct SessionRow {
    pub(super) browser: String,
    pub(super) address: String,
    pub(super) since: Moment,
    pub(super) seen: Moment,
    /// None for the one in which the page is looked at.
    pub(super) end_action: Option<String>,
}

/// What is said about a form that was sent.
#[derive(Default)]
struct Said {
    old: Option<String>,
    new: Option<String>,
    notice: Option<String>,
}

pub(super) fn routes() -> Router<App> {
    // Whoever has to sign in before a form is taken comes back to its address, and finds the page there.
    Router::new()
        .route(PATH, get(show))
        .route("/dashboard/account/password", get(show).post(change_password))
        .route("/dashboard/account/end-others", get(show).post(end_others))
        .route("/dashboard/account/sessions/{session}/end", get(show).post(end))
}

async fn show(State(app): State<App>, visitor: Visitor, SignedIn(visit): SignedIn) -> Result<Response, PageError> {
    account_page(&app, &visitor, &visit, StatusCode::OK, Said::default()).await
}

async fn change_password(
    State(app): State<App>,
    visitor: Visitor,
    SignedIn(visit): SignedIn,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    let words = crate::words::words(visitor.language);
    let (old, new) = (form.text("old_password").unwrap_or_default(), form.text("new_password").unwrap_or_default());
    let said =
        Said { old: old.is_empty().then(|| fl!(words, "wrong-empty")), new: wrong::password(words, new), notice: None };
    // Only what could succeed is tried, since every try counts.
    if said.old.is_some() || said.new.is_some() {
        return account_page(&app, &visitor, &visit, StatusCode::UNPROCESSABLE_ENTITY, said).await;
    }
    match app.engine.change_password(&visit, old.into(), new.into()).await {
        Ok(()) => Ok(Done::PasswordChanged.leading_to(&app, PATH)),
        Err(Error::Invalid(_)) => {
            let said = Said { old: Some(fl!(words, "account-old-wrong")), ..Said::default() };
            account_page(&app, &visitor, &visit, StatusCode::UNPROCESSABLE_ENTITY, said).await
        }
        Err(Error::TryLater { until }) => later(&app, &visitor, &visit, words, until).await,
        Err(error) => Err(error.into()),
    }
}

async fn later(
    app: &App,
    visitor: &Visitor,
    visit: &Visit,
    words: Words,
    until: Timestamp,
) -> Result<Response, PageError> {
    let seconds = seconds_until(until, app.engine.now());
    let minutes = seconds.div_ceil(60).to_string();
    let said = Said { notice: Some(fl!(words, "sign-in-wait", minutes = minutes)), ..Said::default() };
    let mut response = account_page(app, visitor, visit, StatusCode::TOO_MANY_REQUESTS, said).await?;
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    Ok(response)
}

async fn end(
    State(app): State<App>,
    SignedIn(visit): SignedIn,
    LastId(id): LastId<SessionId>,
    SignedForm(_): SignedForm,
) -> Result<Response, PageError> {
    app.engine.end_session(&visit, id).await?;
    Ok(Done::SessionEnded.leading_to(&app, PATH))
}

async fn end_others(
    State(app): State<App>,
    SignedIn(visit): SignedIn,
    SignedForm(_): SignedForm,
) -> Result<Response, PageError> {
    app.engine.end_other_sessions(&visit).await?;
    Ok(Done::SessionEnded.leading_to(&app, PATH))
}

async fn account_page(
    app: &App,
    visitor: &Visitor,
    visit: &Visit,
    status: StatusCode,
    said: Said,
) -> Result<Response, PageError> {
    let mut shell = shell::signed_in(app, visitor, visit, Section::Account).await?;
    let is_wrong = said.old.is_some() || said.new.is_some();
    let notice = said.notice.or_else(|| is_wrong.then(|| fl!(shell.words, "wrong-form")));
    if let Some(text) = notice {
        shell.notice = Some(Flash { text, bad: true });
    }
    let words = shell.words;
    let projects = app.engine.projects_of(visit.user.id).await?;
    let projects = projects.iter().map(|(project, role)| ProjectRow {
        url: shell::base(app, project),
        name: project.name.clone(),
        sandbox: project.environment == Environment::Sandbox,
        role: shell::role_name(words, *role),
    });
    let sessions = app.engine.sessions(visit).await?;
    let others = sessions.iter().any(|session| session.id != visit.session.id);
    let view = AccountPage {
        since: moment(visit.user.created_at, visitor.language),
        projects: projects.collect(),
        may_found: app.engine.may_create_project(visit).await?,
        password_action: app.settings.urls.url("/dashboard/account/password"),
        password_hint: wrong::password_hint(words),
        old_mistake: said.old,
        new_mistake: said.new,
        sessions: sessions.iter().map(|session| session_row(app, visitor, words, visit, session)).collect(),
        end_others_action: others.then(|| app.settings.urls.url("/dashboard/account/end-others")),
        shell,
    };
    Ok(page(status, &view))
}

fn session_row(app: &App, visitor: &Visitor, words: Words, visit: &Visit, session: &Session) -> SessionRow {
    let is_other = session.id != visit.session.id;
    let action = || app.settings.urls.url(format_args!("/dashboard/account/sessions/{}/end", session.id));
    SessionRow {
        browser: browser(words, &session.browser),
        address: session.address.clone(),
        since: moment(session.created_at, visitor.language),
        seen: moment(session.seen_at, visitor.language),
        end_action: is_other.then(action),
    }
}

/// `Chrome · Android`, as far as the browser says.
fn browser(words: Words, user_agent: &str) -> String {
    let device = device::of(Some(user_agent));
    let known: Vec<String> = [device.browser, device.os].into_iter().flatten().collect();
    if known.is_empty() { fl!(words, "account-browser-unknown") } else { known.join(" · ") }
}
