//! Pages of a user who is signed in.

use std::ops::Deref;

use axum::{extract::FromRequestParts, http::request::Parts, response::Response};
use domain::{
    access::{Act, Role},
    project::{Environment, Project},
};
use engine::{Error, Visit};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{cookie::Cookie, page_error::PageError},
};

use super::PublicPage;
use crate::{
    done::Done,
    session::SignedIn,
    shell::{
        Attention, Flash, KEEP_FACTOR, LiftNotice, ProjectChoice, SCRIPT, STYLE, Section, Shell, ShellProject, Unusable,
    },
    words,
};

/// Names the project of the last page that belonged to one, so that the menu of the next page is that project's.
const PROJECT_COOKIE: &str = "lunas_project";
/// How long the project of the last page is remembered.
const PROJECT_SECONDS: u32 = 30 * 24 * 60 * 60;

/// A page of a user who is signed in.
pub(crate) struct UserPage {
    public: PublicPage,
    pub(crate) visit: Visit,
}

impl UserPage {
    /// The page of a visitor whose session was read before.
    pub(crate) fn of(public: PublicPage, visit: Visit) -> UserPage {
        UserPage { public, visit }
    }

    /// What stands around a page that belongs to no project: the menu is that of the project the user comes from.
    pub(crate) async fn shell(&self, section: Section) -> Result<Shell, Error> {
        let words = self.words();
        let projects = self.app.engine.projects_of(self.visit.user.id).await?;
        let last = self.visitor.cookie(PROJECT_COOKIE);
        let last = projects.iter().find(|(project, _)| last == Some(&project.id.to_string()));
        let last = last.map(|(project, role)| self.shell_project(project, *role));
        let choice = |(project, role)| ProjectChoice {
            url: self.desk_url(&project),
            sandbox: project.environment == Environment::Sandbox,
            name: project.name,
            role,
            current: false,
        };
        Ok(Shell {
            words,
            language: words::code(self.language()),
            switch_url: self.switch_url(),
            style_url: self.url(STYLE.path()),
            script_url: self.url(SCRIPT.path()),
            email: self.visit.user.email.to_string(),
            is_operator: self.visit.user.is_operator,
            form_token: self.visit.form_token().to_owned(),
            home_url: self.url("/dashboard"),
            new_project_url: self.url("/dashboard/projects/new"),
            account_url: self.url("/dashboard/account"),
            sign_out_url: self.url("/dashboard/sign-out"),
            operator_url: self.url("/dashboard/operator"),
            docs_url: self.app.settings.has_docs.then(|| self.url("/docs")),
            project: last,
            projects: projects.into_iter().map(choice).collect(),
            section,
            notice: Done::asked_for(&self.visitor).map(|done| Flash { text: done.text(words), bad: false }),
            unusable: None,
            live_url: None,
            lift: self.lift_notice(),
        })
    }

    /// What every page says while the user's second factor is about to be lifted.
    fn lift_notice(&self) -> Option<LiftNotice> {
        let at = self.moment(self.visit.factor?.lift_at?).text;
        Some(LiftNotice { text: fl!(self.words(), "factor-lift-notice", at = at), keep_action: self.url(KEEP_FACTOR) })
    }

    /// A project in the menu, without what needs attention.
    pub(super) fn shell_project(&self, project: &Project, role: Role) -> ShellProject {
        let is_sandbox = project.environment == Environment::Sandbox;
        ShellProject {
            name: project.name.clone(),
            sandbox: is_sandbox,
            rehearsal: !is_sandbox && self.app.settings.is_development,
            base: self.desk_url(project),
            may_look: role.may(Act::Look),
            may_sell: role.may(Act::Sell),
            attention: Attention::default(),
        }
    }

    /// What stands around a page of `project`. The caller has read what needs attention, if the role may see that.
    pub(super) async fn shell_of(
        &self,
        section: Section,
        project: &Project,
        role: Role,
        attention: Attention,
    ) -> Result<Shell, Error> {
        let (mut shell, base) = (self.shell(section).await?, self.desk_url(project));
        for choice in &mut shell.projects {
            choice.current = choice.url == base;
        }
        shell.unusable = unusable(project);
        shell.project = Some(ShellProject { attention, ..self.shell_project(project, role) });
        Ok(shell)
    }

    /// Remembers the project of a page, for pages that belong to none.
    pub(super) fn remember(&self, project: &Project, response: &mut Response) {
        let (urls, project) = (&self.app.settings.urls, project.id.to_string());
        if self.visitor.cookie(PROJECT_COOKIE) != Some(&project) {
            let path = urls.url("/dashboard");
            let cookie = Cookie {
                name: PROJECT_COOKIE,
                value: &project,
                path: &path,
                seconds: PROJECT_SECONDS,
                secure: urls.https,
            };
            cookie.write(response.headers_mut());
        }
    }
}

fn unusable(project: &Project) -> Option<Unusable> {
    if !project.active {
        return Some(Unusable::Inactive);
    }
    (!project.is_usable()).then_some(Unusable::AwaitingApproval)
}

impl Deref for UserPage {
    type Target = PublicPage;

    fn deref(&self) -> &PublicPage {
        &self.public
    }
}

impl FromRequestParts<App> for UserPage {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<UserPage, PageError> {
        let SignedIn(visit) = SignedIn::from_request_parts(parts, app).await?;
        let Ok(public) = PublicPage::from_request_parts(parts, app).await;
        Ok(UserPage { public, visit })
    }
}
