//! `/dashboard/operator/users`: who can sign in.

use askama::Template;
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{
        moment::{Moment, moment},
        page_error::PageError,
        render::page,
        visitor::Visitor,
    },
};

use crate::{
    operator::{PATH, Part, paged},
    session::AtOperator,
    shell::{self, Section, Shell},
    table::{PageNumber, Paging},
};

const USERS: &str = "/dashboard/operator/users";

#[derive(Template)]
#[template(path = "operator_users.html")]
pub(in super::super) struct UsersPage {
    pub(in super::super) shell: Shell,
    pub(in super::super) part: Part,
    pub(in super::super) base: String,
    pub(in super::super) rows: Vec<UserRow>,
    pub(in super::super) paging: Paging,
}

pub(in super::super) struct UserRow {
    pub(in super::super) id: String,
    pub(in super::super) email: String,
    pub(in super::super) is_operator: bool,
    pub(in super::super) since: Moment,
}

pub(super) fn routes() -> Router<App> {
    Router::new().route(USERS, get(show))
}

async fn show(State(app): State<App>, visitor: Visitor, at: AtOperator) -> Result<Response, PageError> {
    let shell = shell::signed_in(&app, &visitor, &at.visit, Section::Operator).await?;
    let number = PageNumber::of(&visitor);
    let listed = paged(number, at.operator.users().await?);
    let paging = number.paging(&app, USERS, "", &listed, shell.words);
    let rows = listed.items.into_iter().map(|user| UserRow {
        id: user.id.to_string(),
        email: user.email.to_string(),
        is_operator: user.is_operator,
        since: moment(user.created_at, visitor.language),
    });
    let rows = rows.collect();
    let base = app.settings.urls.url(PATH);
    Ok(page(StatusCode::OK, &UsersPage { shell, part: Part::Users, base, rows, paging }))
}
