//! What every page knows: the server that answers, and the visitor who asks.

use std::{convert::Infallible, fmt::Display};

use askama::Template;
use axum::{
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
    response::Response,
};
use domain::{language::Language, project::Project, time::Timestamp};
use engine::Whereabouts;
use web::{
    App,
    page::{
        moment::{self, Moment},
        render::{self, other_language, see_other},
        visitor::Visitor,
    },
    session,
};

use crate::{
    done::{DONE, Done},
    shell::{Bare, SCRIPT, STYLE},
    words::{self, Words},
};

/// A page that needs no session.
pub(crate) struct PublicPage {
    pub(crate) app: App,
    pub(crate) visitor: Visitor,
}

impl PublicPage {
    pub(crate) fn language(&self) -> Language {
        self.visitor.language
    }

    pub(crate) fn words(&self) -> Words {
        words::words(self.visitor.language)
    }

    /// Where the visitor is, as far as a session stores it.
    pub(crate) fn whereabouts(&self) -> Whereabouts {
        session::whereabouts(&self.app.settings.urls, &self.visitor)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.app.engine.now()
    }

    /// A parameter of the address; none where it is missing, or given more than once.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.visitor.query.text(name).ok().flatten()
    }

    /// The address of a path of the dashboard, which may begin with a prefix of this installation.
    pub(crate) fn url(&self, path: impl Display) -> String {
        self.app.settings.urls.url(path)
    }

    /// The address of a project's desk.
    pub(crate) fn desk_url(&self, project: &Project) -> String {
        self.url(format_args!("/dashboard/{}", project.id))
    }

    /// This same page in the other language.
    pub(crate) fn switch_url(&self) -> String {
        self.url(self.visitor.address_in(other_language(self.visitor.language), &[DONE]))
    }

    pub(crate) fn moment(&self, at: Timestamp) -> Moment {
        moment::moment(at, self.visitor.language)
    }

    /// The same where there is little room.
    pub(crate) fn short_moment(&self, at: Timestamp) -> Moment {
        moment::short_moment(at, self.visitor.language)
    }

    /// The same in one line of a list, whose head says in which time zone.
    pub(crate) fn row_moment(&self, at: Timestamp) -> Moment {
        moment::row_moment(at, self.now(), self.visitor.language)
    }

    /// What stands around a page without a session.
    pub(crate) fn frame(&self) -> Bare {
        Bare {
            words: self.words(),
            language: words::code(self.visitor.language),
            switch_url: self.switch_url(),
            style_url: self.url(STYLE.path()),
            script_url: self.url(SCRIPT.path()),
            home_url: self.url("/dashboard"),
        }
    }

    pub(crate) fn render(&self, status: StatusCode, view: &impl Template) -> Response {
        render::page(status, view)
    }

    /// Redirects the browser to `path`, where the page says what was done.
    pub(crate) fn redirect(&self, path: impl Display, done: Done) -> Response {
        see_other(&self.url(format_args!("{path}?{DONE}={}", done.word())))
    }
}

impl FromRequestParts<App> for PublicPage {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<PublicPage, Infallible> {
        let visitor = Visitor::from_request_parts(parts, app).await?;
        Ok(PublicPage { app: app.clone(), visitor })
    }
}
