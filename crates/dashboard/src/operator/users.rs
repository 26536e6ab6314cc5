//! `/dashboard/operator/users`: the users of the installation, and lifting the second factor of one who has lost theirs.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{id::UserId, second_factor::SecondFactor, user::User};
use engine::Error;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{moment::Moment, page_error::PageError},
};

use super::tabs::{PATH, Tab, USERS, user_path};
use crate::{
    done::Done,
    page::OperatorPage,
    session::{LastId, SignedForm},
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
    pub(crate) factor: UserFactor,
}

pub(crate) enum UserFactor {
    None,
    /// The address of the page that asks whether to lift it.
    Has {
        lift_url: String,
    },
    /// When it is lifted.
    Lifting {
        at: String,
    },
}

/// Asks whether to lift a user's second factor.
#[derive(Template)]
#[template(path = "operator/users/lift.html")]
pub(crate) struct LiftPage {
    pub(crate) shell: Shell,
    pub(crate) users_url: String,
    pub(crate) action: String,
    pub(crate) heading: String,
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/dashboard/operator/users", get(show))
        .route("/dashboard/operator/users/{user}/lift", get(ask).post(lift))
}

async fn show(page: OperatorPage) -> Result<Response, PageError> {
    let (shell, number) = (page.shell().await?, PageNumber::of(&page));
    let listed = page.operator.users(number.window()).await?;
    let factors = page.operator.factors_of(&listed.items).await?;
    let words = shell.words;
    let factor = |user: &User| match factors.get(&user.id) {
        None => UserFactor::None,
        Some(SecondFactor { lift_at: None, .. }) => {
            UserFactor::Has { lift_url: page.url(format_args!("{USERS}/{}/lift", user.id)) }
        }
        Some(SecondFactor { lift_at: Some(at), .. }) => {
            let at = page.short_moment(*at).text;
            UserFactor::Lifting { at: fl!(words, "operator-factor-lifting", at = at) }
        }
    };
    let row = |user: &User| UserRow {
        factor: factor(user),
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

async fn ask(page: OperatorPage, LastId(id): LastId<UserId>) -> Result<Response, PageError> {
    let (shell, user) = (page.shell().await?, page.operator.user(id).await?);
    if !page.operator.factors_of(std::slice::from_ref(&user)).await?.contains_key(&id) {
        return Err(Error::NotFound("second factor").into());
    }
    let email = user.email.as_str();
    let view = LiftPage {
        users_url: page.url(USERS),
        action: page.url(format_args!("{USERS}/{id}/lift")),
        heading: fl!(shell.words, "operator-lift", email = email),
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

async fn lift(
    page: OperatorPage,
    LastId(id): LastId<UserId>,
    SignedForm(_): SignedForm,
) -> Result<Response, PageError> {
    page.operator.ask_to_lift_factor(id).await?;
    Ok(page.redirect(USERS, Done::LiftAsked))
}
