//! Pages of a project's desk.

use std::ops::Deref;

use askama::Template;
use axum::{
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
    response::Response,
};
use domain::{access::Act, id::ProjectId, project::Project};
use engine::{Desk, Error};
use web::{App, page::page_error::PageError, path, session::mark_as_refresh};

use super::UserPage;
use crate::{
    change_mark::change_mark,
    shell::{Attention, Section, Shell},
};

/// A page of the project that the address names, for one of its members.
pub(crate) struct Page {
    user: UserPage,
    pub(crate) desk: Desk,
}

/// The same for a request that an open page makes by itself, at an address of its own: it does not prolong the session.
pub(crate) struct LivePage(pub(crate) Page);

impl Page {
    pub(crate) fn project(&self) -> &Project {
        self.desk.project()
    }

    /// The path of a page of this desk: `/dashboard/prj_…` and `rest`.
    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/dashboard/{}{rest}", self.project().id)
    }

    /// The address of this desk.
    pub(crate) fn base(&self) -> String {
        self.desk_url(self.project())
    }

    /// Answers with the page, and remembers the project for pages that belong to none.
    pub(crate) fn render(&self, status: StatusCode, view: &impl Template) -> Response {
        let mut response = self.user.render(status, view);
        self.user.remember(self.project(), &mut response);
        response
    }

    /// Refuses a member whose role does not allow `act`. The desk checks that again when the act is done; a handler
    /// that checks first says nothing about a form to a member who may not send it.
    pub(crate) fn require(&self, act: Act) -> Result<(), Error> {
        if self.desk.may(act) { Ok(()) } else { Err(Error::RoleForbids) }
    }

    /// The state of the project that a page is about to show. It must be read before anything else that the page shows,
    /// so that the page is notified of every change that it does not show yet.
    pub(crate) async fn change_token(&self) -> Result<String, Error> {
        self.desk.change_token().await
    }

    /// What stands around the page. It begins by reading the change token, so a handler calls it before it reads what
    /// the page shows, and never for an answer that redirects.
    pub(crate) async fn shell(&self, section: Section) -> Result<Shell, Error> {
        let change_token = self.change_token().await?;
        let attention = Attention::of(&self.desk.held_sum().await?, &self.desk.failing_deliveries().await?);
        self.shell_with(section, &change_token, attention).await
    }

    /// The same for a page that has read the change token, and then what needs attention.
    pub(crate) async fn shell_with(
        &self,
        section: Section,
        change_token: &str,
        attention: Attention,
    ) -> Result<Shell, Error> {
        let mut shell = self.user.shell_of(section, self.project(), self.desk.role(), attention).await?;
        shell.live_url = Some(format!("{}/live?seen={}", self.base(), change_mark(change_token)));
        Ok(shell)
    }
}

impl Deref for Page {
    type Target = UserPage;

    fn deref(&self) -> &UserPage {
        &self.user
    }
}

impl FromRequestParts<App> for Page {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Page, PageError> {
        let user = UserPage::from_request_parts(parts, app).await?;
        let project: ProjectId = path::first(parts, app).await.ok_or(Error::NotFound("page"))?;
        let desk = app.engine.desk(&user.visit, project).await?;
        Ok(Page { user, desk })
    }
}

impl FromRequestParts<App> for LivePage {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<LivePage, PageError> {
        mark_as_refresh(&mut parts.headers);
        Page::from_request_parts(parts, app).await.map(LivePage)
    }
}
