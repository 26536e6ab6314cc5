//! Pages of a project's counter.

use std::ops::Deref;

use askama::Template;
use axum::{
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
    response::Response,
};
use domain::{id::ProjectId, project::Project};
use engine::{Counter, Error};
use web::{App, page::page_error::PageError, path, session::mark_as_refresh};

use super::UserPage;
use crate::shell::{Attention, Section, Shell};

/// A page of the counter of the project that the address names, for members who may sell.
pub(crate) struct CounterPage {
    user: UserPage,
    pub(crate) counter: Counter,
}

/// The same for a request that an open page makes by itself, at an address of its own: it does not prolong the session.
pub(crate) struct LiveCounterPage(pub(crate) CounterPage);

impl CounterPage {
    pub(crate) fn project(&self) -> &Project {
        self.counter.project()
    }

    /// The address of the counter.
    pub(crate) fn base(&self) -> String {
        format!("{}/counter", self.desk_url(self.project()))
    }

    /// What stands around the page. It tells nothing of what else happens in the project.
    pub(crate) async fn shell(&self) -> Result<Shell, Error> {
        self.user.shell_of(Section::Counter, self.project(), self.counter.role(), Attention::default()).await
    }

    pub(crate) fn render(&self, status: StatusCode, view: &impl Template) -> Response {
        let mut response = self.user.render(status, view);
        self.user.remember(self.project(), &mut response);
        response
    }
}

impl Deref for CounterPage {
    type Target = UserPage;

    fn deref(&self) -> &UserPage {
        &self.user
    }
}

impl FromRequestParts<App> for CounterPage {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<CounterPage, PageError> {
        let user = UserPage::from_request_parts(parts, app).await?;
        let project: ProjectId = path::first(parts, app).await.ok_or(Error::NotFound("page"))?;
        let counter = app.engine.counter(&user.visit, project).await?;
        Ok(CounterPage { user, counter })
    }
}

impl FromRequestParts<App> for LiveCounterPage {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<LiveCounterPage, PageError> {
        mark_as_refresh(&mut parts.headers);
        CounterPage::from_request_parts(parts, app).await.map(LiveCounterPage)
    }
}
