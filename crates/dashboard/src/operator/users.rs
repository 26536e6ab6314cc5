//! `/dashboard/operator/users`: the users of the installation.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::user::User;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{moment::Moment, page_error::PageError},
};

use super::tabs::{PATH, Tab, USERS, user_path};
use crate::{
    page::OperatorPage,
    shell::Shell,
    table::{PageNumber, Paging},
};

#[derive(Template)]
#[template(path = "operator/users.html")]
pub(crate) struct UsersPage {
    pub(crate) shell: Shell,
    pub(crate) tab: Tab,
    pub(crate) base: String,
    pub(crate) rows: Vec<UserRow>,
    pub(crate) paging: Paging,
}

pub(crate) struct UserRow {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) email: String,
    pub(crate) is_operator: bool,
    pub(crate) is_active: bool,
    pub(crate) since: Moment,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/operator/users", get(show))
}

async fn show(page: OperatorPage) -> Result<Response, PageError> {
    let (shell, number) = (page.shell().await?, PageNumber::of(&page));
    let listed = page.operator.users(number.window()).await?;
    let row = |user: &User| UserRow {
        id: user.id.to_string(),
        url: page.url(user_path(user.id)),
        email: user.email.to_string(),
        is_operator: user.is_operator,
        is_active: user.is_active(),
        since: page.moment(user.created_at),
    };
    let view = UsersPage {
        tab: Tab::Users,
        base: page.url(PATH),
        rows: listed.items.iter().map(row).collect(),
        paging: number.paging(&page, USERS, "", &listed),
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}
