//! `/dashboard/invite/<token>`: the page of an invitation, on which the invited person becomes a member. Opening it
//! changes nothing.
//!
//! An invitation that is unknown, used, withdrawn or expired gets the same page, so that the page does not say which. Only
//! the form that has used it leads to the project again when it is sent twice.

#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{
    id::ProjectId,
    project::Environment,
    user::{Email, Token},
};
use engine::{Error, Invitation, NewSession, Visit};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{form::Form, moment::Moment, page_error::PageError},
};

use crate::{
    done::Done,
    input::{password_hint, password_mistake},
    labels::{role_name, role_text},
    page::{PublicPage, UserPage},
    session::{LinkToken, MaybeSignedIn, SignedForm},
    shell::Bare,
};

/// The path of an invitation, without its token. The token opens the invitation, so logs must not hold it.
pub(crate) const INVITATIONS: &str = "/dashboard/invite/";

#[derive(Template)]
#[template(path = "invite.html")]
pub(crate) struct InvitePage {
    pub(crate) frame: Bare,
    pub(crate) heading: String,
    pub(crate) sandbox: bool,
    pub(crate) role: String,
    /// What the role may do.
    pub(crate) role_text: String,
    /// The email that is invited.
    pub(crate) email: String,
    pub(crate) until: Moment,
    pub(crate) notice: Option<String>,
    pub(crate) way: Way,
}

/// How the visitor can accept the invitation.
pub(crate) enum Way {
    /// The invited email has no account: the visitor chooses a password.
    CreateAccount { action: String, hint: String, mistake: Option<String> },
    /// It has an account: the visitor signs in.
    SignIn { action: String, next: String },
    /// The visitor is signed in to that account.
    Join { action: String, form_token: String },
    /// The visitor is signed in to another account.
    OtherAccount { email: String, action: String, form_token: String },
}

#[derive(Template)]
#[template(path = "invite/gone.html")]
pub(crate) struct InviteGone {
    pub(crate) frame: Bare,
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/dashboard/invite/{token}", get(show).post(create_account))
        .route("/dashboard/invite/{token}/join", get(show).post(join))
}

async fn show(
    page: PublicPage,
    MaybeSignedIn(visit): MaybeSignedIn,
    LinkToken(token): LinkToken,
) -> Result<Response, PageError> {
    let visitor = InviteVisitor { page: &page, visit: visit.as_ref() };
    match visitor.invitation(token.as_ref()).await? {
        Some((token, invitation)) => Ok(visitor.show(StatusCode::OK, token, &invitation, Mistakes::default())),
        None => Ok(visitor.gone()),
    }
}

/// Creates an account that is a member at once.
async fn create_account(
    page: PublicPage,
    MaybeSignedIn(visit): MaybeSignedIn,
    LinkToken(token): LinkToken,
    form: Result<Form, PageError>,
) -> Result<Response, PageError> {
    let (form, engine) = (form?, &page.app.engine);
    let password = form.text("password").unwrap_or_default();
    let visitor = InviteVisitor { page: &page, visit: visit.as_ref() };
    let Some((token, invitation)) = visitor.invitation(token.as_ref()).await? else {
        return Ok(visitor.joined_before(token.as_ref(), password).await?.unwrap_or_else(|| visitor.gone()));
    };
    // A user who is signed in signs out first, and an email that has an account does not get a second one.
    if visit.is_some() || invitation.has_account {
        return Ok(visitor.show(StatusCode::CONFLICT, token, &invitation, Mistakes::default()));
    }
    if let Some(mistake) = password_mistake(page.words(), password) {
        let mistakes = Mistakes { password: Some(mistake), notice: None };
        return Ok(visitor.show(StatusCode::UNPROCESSABLE_ENTITY, token, &invitation, mistakes));
    }
    match engine.join_with_new_account(token, password.into(), &page.whereabouts()).await {
        Ok(session) => Ok(visitor.joined(invitation.project.id, Some(&session))),
        // Another request has just used the invitation or created an account for the same email.
        Err(error @ (Error::NotFound(_) | Error::Taken(_))) => {
            let before = visitor.joined_before(Some(token), password).await?;
            Ok(before.unwrap_or_else(|| match error {
                // The visitor signs in to the account.
                Error::Taken(_) => {
                    let invitation = Invitation { has_account: true, ..invitation };
                    visitor.show(StatusCode::CONFLICT, token, &invitation, Mistakes::default())
                }
                _ => visitor.gone(),
            }))
        }
        Err(error) => Err(error.into()),
    }
}

/// Makes a user who has an account already a member.
async fn join(page: UserPage, LinkToken(token): LinkToken, SignedForm(_): SignedForm) -> Result<Response, PageError> {
    let visitor = InviteVisitor { page: &page, visit: Some(&page.visit) };
    let Some((token, invitation)) = visitor.invitation(token.as_ref()).await? else {
        return Ok(visitor.joined_before(token.as_ref(), "").await?.unwrap_or_else(|| visitor.gone()));
    };
    match page.app.engine.join(&page.visit, token).await {
        Ok(project) => Ok(visitor.joined(project.id, None)),
        Err(Error::NotFound(_)) => Ok(visitor.joined_before(Some(token), "").await?.unwrap_or_else(|| visitor.gone())),
        Err(Error::Invalid(_)) => Ok(visitor.show(StatusCode::CONFLICT, token, &invitation, Mistakes::default())),
        Err(Error::Taken(_)) => {
            let notice = Some(fl!(page.words(), "invite-member"));
            Ok(visitor.show(StatusCode::CONFLICT, token, &invitation, Mistakes { notice, password: None }))
        }
        Err(error) => Err(error.into()),
    }
}

/// What is wrong with a form that was sent.
#[derive(Default)]
struct Mistakes {
    notice: Option<String>,
    password: Option<String>,
}

/// A visitor at the page of an invitation, with their session, if they have one.
struct InviteVisitor<'a> {
    page: &'a PublicPage,
    visit: Option<&'a Visit>,
}

impl InviteVisitor<'_> {
    async fn invitation<'t>(&self, token: Option<&'t Token>) -> Result<Option<(&'t Token, Invitation)>, Error> {
        let Some(token) = token else { return Ok(None) };
        match self.page.app.engine.invitation(token).await {
            Ok(invitation) => Ok(Some((token, invitation))),
            Err(Error::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn joined(&self, project_id: ProjectId, session: Option<&NewSession>) -> Response {
        let mut response = self.page.redirect(format_args!("/dashboard/{project_id}"), Done::Joined);
        if let Some(session) = session {
            web::session::remember(&self.page.app.settings.urls, session, response.headers_mut());
        }
        response
    }

    /// The same answer as before, for a visitor whose form has already made them a member: it was sent twice. Who is not
    /// signed in must have sent their password with it.
    async fn joined_before(&self, token: Option<&Token>, password: &str) -> Result<Option<Response>, Error> {
        let (Some(token), engine) = (token, &self.page.app.engine) else { return Ok(None) };
        if let Some(visit) = self.visit {
            let project_id = engine.joined_before(visit, token).await?;
            return Ok(project_id.map(|project_id| self.joined(project_id, None)));
        }
        let joined = engine.join_again(token, password.into(), &self.page.whereabouts()).await?;
        Ok(joined.map(|(project_id, session)| self.joined(project_id, Some(&session))))
    }

    fn gone(&self) -> Response {
        self.page.render(StatusCode::NOT_FOUND, &InviteGone { frame: self.page.frame() })
    }

    fn show(&self, status: StatusCode, token: &Token, invitation: &Invitation, mistakes: Mistakes) -> Response {
        let Invitation { invite, project, has_account } = invitation;
        let (words, name) = (self.page.words(), project.name.as_str());
        let view = InvitePage {
            heading: fl!(words, "invite-heading", project = name),
            sandbox: project.environment == Environment::Sandbox,
            role: role_name(words, invite.role),
            role_text: role_text(words, invite.role),
            email: invite.email.to_string(),
            until: self.page.moment(invite.expires_at),
            notice: mistakes.notice,
            way: self.way(token, &invite.email, *has_account, mistakes.password),
            frame: self.page.frame(),
        };
        self.page.render(status, &view)
    }

    fn way(&self, token: &Token, invited: &Email, has_account: bool, mistake: Option<String>) -> Way {
        let page = self.page;
        let path = format!("{INVITATIONS}{}", token.reveal());
        match self.visit {
            Some(visit) if visit.user.email == *invited => {
                Way::Join { action: page.url(format_args!("{path}/join")), form_token: visit.form_token().to_owned() }
            }
            Some(visit) => Way::OtherAccount {
                email: visit.user.email.to_string(),
                action: page.url("/dashboard/sign-out"),
                form_token: visit.form_token().to_owned(),
            },
            None if has_account => Way::SignIn { action: page.url("/dashboard/sign-in"), next: path },
            None => Way::CreateAccount { action: page.url(path), hint: password_hint(page.words()), mistake },
        }
    }
}
