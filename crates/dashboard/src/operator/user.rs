//! `/dashboard/operator/users/<user>`: one user, their projects, and what can be decided about them.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{access::Role, id::UserId, project::Project, user::User};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{moment::Moment, page_error::PageError},
};

use super::{
    project::ActLink,
    tabs::{USERS, project_path, user_path},
    user_decision::UserDecision,
};
use crate::{
    labels::{Badge, role_name},
    page::OperatorPage,
    session::LastId,
    shell::Shell,
    words::Words,
};

#[derive(Template)]
#[template(path = "operator/user.html")]
pub(crate) struct UserFile {
    pub(crate) shell: Shell,
    pub(crate) users_url: String,
    pub(crate) email: String,
    pub(crate) user_id: String,
    pub(crate) is_operator: bool,
    pub(crate) state: Badge,
    pub(crate) since: Moment,
    pub(crate) projects: Vec<MembershipRow>,
    pub(crate) acts: Vec<ActLink>,
}

pub(crate) struct MembershipRow {
    pub(crate) url: String,
    pub(crate) name: String,
    pub(crate) role: String,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/operator/users/{user}", get(show))
}

async fn show(page: OperatorPage, LastId(id): LastId<UserId>) -> Result<Response, PageError> {
    let (shell, user) = (page.shell().await?, page.operator.user(id).await?);
    let projects = page.operator.projects_of(id).await?;
    let act = |decision: UserDecision| ActLink {
        url: page.url(format!("{}/{}", user_path(id), decision.word())),
        text: decision.button(page.words()),
        bad: decision.takes_away(),
    };
    let reset = user.is_active().then(|| ActLink {
        url: page.url(format_args!("{}/reset", user_path(id))),
        text: fl!(shell.words, "user-reset"),
        bad: false,
    });
    let view = UserFile {
        users_url: page.url(USERS),
        email: user.email.to_string(),
        user_id: id.to_string(),
        is_operator: user.is_operator,
        state: user_badge(shell.words, &user),
        since: page.moment(user.created_at),
        projects: projects.iter().map(|(project, role)| membership_row(&page, project, *role)).collect(),
        acts: reset.into_iter().chain(UserDecision::of(&user).into_iter().map(act)).collect(),
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

pub(crate) fn user_badge(words: Words, user: &User) -> Badge {
    match user.is_active() {
        true => Badge { status: "active", text: fl!(words, "user-active") },
        false => Badge { status: "inactive", text: fl!(words, "user-deactivated") },
    }
}

fn membership_row(page: &OperatorPage, project: &Project, role: Role) -> MembershipRow {
    MembershipRow {
        url: page.url(project_path(project.id)),
        name: project.name.clone(),
        role: role_name(page.words(), role),
    }
}
