//! What stands around every page: where one is, where one can go, and what needs somebody.

use domain::{
    access::Role,
    project::{Environment, Project},
};
use engine::{Desk, Error, Visit};
use web::{
    App,
    page::{
        assets::{self, Asset},
        render::other_language,
        visitor::Visitor,
    },
};

use crate::{
    done::{DONE, Done},
    live,
    session::AtDesk,
    words::{self, Words},
};

pub(crate) static STYLE: Asset = Asset::style("dashboard", &[assets::TOKENS, include_str!("../assets/dashboard.css")]);
pub(crate) static SCRIPT: Asset = Asset::script("dashboard", &[include_str!("../assets/dashboard.js")]);

/// What stands around a page of somebody who is signed in.
pub(crate) struct Shell {
    pub(crate) words: Words,
    /// `id` or `en`.
    pub(crate) language: &'static str,
    /// This same page in the other language.
    pub(crate) switch_url: String,
    pub(crate) style_url: String,
    pub(crate) script_url: String,
    pub(crate) email: String,
    pub(crate) is_operator: bool,
    pub(crate) form_token: String,
    pub(crate) home_url: String,
    pub(crate) new_project_url: String,
    pub(crate) account_url: String,
    pub(crate) sign_out_url: String,
    pub(crate) operator_url: String,
    /// None on pages that belong to a person or to the installation.
    pub(crate) project: Option<ShellProject>,
    pub(crate) projects: Vec<ProjectChoice>,
    pub(crate) section: Section,
    pub(crate) notice: Option<Flash>,
    /// Whether webhooks do not get through.
    pub(crate) failing: bool,
    pub(crate) unusable: Option<Unusable>,
    pub(crate) live_url: Option<String>,
}

pub(crate) struct ShellProject {
    pub(crate) name: String,
    pub(crate) sandbox: bool,
    /// `/dashboard/prj_…`.
    pub(crate) base: String,
    /// How much needs somebody.
    pub(crate) attention: i64,
}

pub(crate) struct ProjectChoice {
    pub(crate) url: String,
    pub(crate) name: String,
    pub(crate) sandbox: bool,
    pub(crate) current: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Home,
    Payments,
    Links,
    Balance,
    Keys,
    Notifications,
    Simulator,
    Settings,
    Audit,
    Account,
    Operator,
    Other,
}

/// What has just happened.
pub(crate) struct Flash {
    pub(crate) text: String,
    pub(crate) bad: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    Inactive,
    AwaitingApproval,
}

/// What stands around a page of whoever is not signed in.
pub(crate) struct Bare {
    pub(crate) words: Words,
    pub(crate) language: &'static str,
    pub(crate) switch_url: String,
    pub(crate) style_url: String,
    pub(crate) script_url: String,
    pub(crate) home_url: String,
}

/// The address of a project's desk.
pub(crate) fn base(app: &App, project: &Project) -> String {
    app.settings.urls.url(format_args!("/dashboard/{}", project.id))
}

/// The shell of a project's page.
pub(crate) async fn at_desk(app: &App, visitor: &Visitor, at: &AtDesk, section: Section) -> Result<Shell, Error> {
    let project = at.desk.project();
    let base = base(app, project);
    let failing = at.desk.is_failing().await?;
    Ok(Shell {
        project: Some(ShellProject {
            name: project.name.clone(),
            sandbox: project.environment == Environment::Sandbox,
            attention: at.desk.undecided().await? + i64::from(failing),
            base: base.clone(),
        }),
        failing,
        unusable: unusable(&at.desk),
        live_url: Some(format!("{base}/live?seen={}", live::mark(&at.pulse))),
        ..around(app, visitor, &at.visit, Some(project), section).await?
    })
}

/// The shell of a page that belongs to no project.
pub(crate) async fn signed_in(app: &App, visitor: &Visitor, visit: &Visit, section: Section) -> Result<Shell, Error> {
    around(app, visitor, visit, None, section).await
}

async fn around(
    app: &App,
    visitor: &Visitor,
    visit: &Visit,
    current: Option<&Project>,
    section: Section,
) -> Result<Shell, Error> {
    let urls = &app.settings.urls;
    let projects = app.engine.projects_of(visit.user.id).await?;
    let words = words::words(visitor.language);
    Ok(Shell {
        words,
        language: words::code(visitor.language),
        switch_url: urls.url(visitor.address_in(other_language(visitor.language), &[DONE])),
        style_url: urls.url(STYLE.path()),
        script_url: urls.url(SCRIPT.path()),
        email: visit.user.email.to_string(),
        is_operator: visit.user.is_operator,
        form_token: visit.form_token().to_owned(),
        home_url: urls.url("/dashboard"),
        new_project_url: urls.url("/dashboard/projects/new"),
        account_url: urls.url("/dashboard/account"),
        sign_out_url: urls.url("/dashboard/sign-out"),
        operator_url: urls.url("/dashboard/operator"),
        project: None,
        projects: projects.iter().map(|(project, _)| choice(app, project, current)).collect(),
        section,
        notice: Done::of(visitor).map(|done| Flash { text: done.text(words), bad: false }),
        failing: false,
        unusable: None,
        live_url: None,
    })
}

fn choice(app: &App, project: &Project, current: Option<&Project>) -> ProjectChoice {
    ProjectChoice {
        url: base(app, project),
        name: project.name.clone(),
        sandbox: project.environment == Environment::Sandbox,
        current: current.is_some_and(|current| current.id == project.id),
    }
}

fn unusable(desk: &Desk) -> Option<Unusable> {
    let project = desk.project();
    match project.active {
        false => Some(Unusable::Inactive),
        true => (!project.is_usable()).then_some(Unusable::AwaitingApproval),
    }
}

pub(crate) fn bare(app: &App, visitor: &Visitor) -> Bare {
    let urls = &app.settings.urls;
    Bare {
        words: words::words(visitor.language),
        language: words::code(visitor.language),
        switch_url: urls.url(visitor.address_in(other_language(visitor.language), &[DONE])),
        style_url: urls.url(STYLE.path()),
        script_url: urls.url(SCRIPT.path()),
        home_url: urls.url("/dashboard"),
    }
}

/// What a role is called.
pub(crate) fn role_name(words: Words, role: Role) -> String {
    use i18n_embed_fl::fl;
    match role {
        Role::Owner => fl!(words, "role-owner"),
        Role::Developer => fl!(words, "role-developer"),
        Role::Viewer => fl!(words, "role-viewer"),
    }
}
