//! `/dashboard/operator/users/<user>/<decision>`: asks for confirmation and about the user's keys, and then carries a decision
//! out.

use askama::Template;
use axum::{
    Router,
    http::StatusCode,
    response::Response,
    routing::{MethodRouter, get},
};
use domain::{id::UserId, user::User};
use engine::Error;
use i18n_embed_fl::fl;
use web::{App, page::page_error::PageError};

use super::{
    tabs::{USERS, user_path},
    user_decision::UserDecision,
};
use crate::{
    done::Done,
    members::{CreatedKeyRow, created_key_row},
    page::OperatorPage,
    session::{LastId, SignedForm},
    shell::Shell,
    words::Words,
};

#[derive(Template)]
#[template(path = "operator/user_decide.html")]
pub(crate) struct UserDecisionPage {
    pub(crate) shell: Shell,
    pub(crate) user_url: String,
    pub(crate) email: String,
    pub(crate) user_id: String,
    pub(crate) action: String,
    pub(crate) heading: String,
    pub(crate) effects: Vec<String>,
    /// Why it cannot be carried out now; then there is no button.
    pub(crate) refusal: Option<String>,
    /// The live keys that the user has created, if they are asked about.
    pub(crate) keys: Vec<CreatedKeyRow>,
    pub(crate) button: String,
    /// Whether less can be done afterwards.
    pub(crate) bad: bool,
}

pub(crate) fn routes() -> Router<App> {
    UserDecision::ALL.into_iter().fold(Router::new(), |router, decision| {
        router.route(&format!("{USERS}/{{user}}/{}", decision.word()), ask_and_decide(decision))
    })
}

fn ask_and_decide(decision: UserDecision) -> MethodRouter<App> {
    let ask = move |page: OperatorPage, LastId(id): LastId<UserId>| async move {
        let user = page.operator.user(id).await?;
        let alone = match decision.takes_away() {
            true => page.operator.projects_owned_alone(id).await?,
            false => Vec::new(),
        };
        let names: Vec<String> = alone.into_iter().map(|project| project.name).collect();
        let refusal = (!names.is_empty()).then(|| only_owner(page.words(), &names));
        decision_page(&page, StatusCode::OK, &user, decision, refusal).await
    };
    let decide = move |page: OperatorPage, LastId(id): LastId<UserId>, SignedForm(form): SignedForm| async move {
        decide(&page, id, decision, form.text("revoke_keys").is_some()).await
    };
    get(ask).post(decide)
}

async fn decide(
    page: &OperatorPage,
    id: UserId,
    decision: UserDecision,
    with_keys: bool,
) -> Result<Response, PageError> {
    let (operator, words) = (&page.operator, page.words());
    let user = operator.user(id).await?;
    let done = match decision {
        UserDecision::Deactivate => operator.deactivate_user(id, with_keys).await.map(|()| Done::UserDeactivated),
        UserDecision::Activate => operator.activate_user(id).await.map(|()| Done::UserActivated),
        UserDecision::Remove => operator.remove_user(id, with_keys).await.map(|()| Done::UserRemoved),
    };
    let refusal = match done {
        Ok(Done::UserRemoved) => return Ok(page.redirect(USERS, Done::UserRemoved)),
        Ok(done) => return Ok(page.redirect(user_path(id), done)),
        Err(Error::OnlyOwner { projects }) => only_owner(words, &projects),
        Err(Error::LastOperator) => fl!(words, "user-last-operator"),
        Err(error) => return Err(error.into()),
    };
    decision_page(page, StatusCode::CONFLICT, &user, decision, Some(refusal)).await
}

fn only_owner(words: Words, projects: &[String]) -> String {
    let projects = projects.join(", ");
    fl!(words, "user-only-owner", projects = projects)
}

async fn decision_page(
    page: &OperatorPage,
    status: StatusCode,
    user: &User,
    decision: UserDecision,
    refusal: Option<String>,
) -> Result<Response, PageError> {
    let (shell, words) = (page.shell().await?, page.words());
    let keys = match decision.takes_away() {
        true => page.operator.keys_created_by(user.id).await?,
        false => Vec::new(),
    };
    let user_url = page.url(user_path(user.id));
    let view = UserDecisionPage {
        shell,
        action: format!("{user_url}/{}", decision.word()),
        user_url,
        user_id: user.id.to_string(),
        heading: decision.question(words, user.email.as_str()),
        email: user.email.to_string(),
        effects: decision.effects(words),
        refusal,
        keys: keys.into_iter().map(|key| created_key_row(words, key)).collect(),
        button: decision.button(words),
        bad: decision.takes_away(),
    };
    Ok(page.render(status, &view))
}
