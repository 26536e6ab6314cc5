//! `/dashboard/invite/<token>`: whoever was invited becomes a member, once. Opening it changes nothing.
//!
//! An invitation that is unknown, used, withdrawn or too old is told by one and the same page.

use askama::Template;
use axum::{
    Router,
    extract::{FromRequestParts, RawPathParams, State},
    http::{StatusCode, request::Parts},
    response::Response,
    routing::get,
};
use domain::{
    access::Role,
    project::Environment,
    user::{Email, Token},
};
use engine::{Error, Invitation, Visit};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{
        form::Form,
        moment::{Moment, moment},
        page_error::PageError,
        render::page,
        visitor::Visitor,
    },
};

use crate::{
    done::Done,
    session::{MaybeSignedIn, SignedForm, SignedIn},
    shell::{self, Bare},
    words::{self, Words},
    wrong,
};

/// Where invitations are. What follows is the token of one, and nobody else's business.
pub(crate) const INVITATIONS: &str = "/dashboard/invite/";

#[derive(Template)]
#[template(path = "invite.html")]
pub(super) struct InvitePage {
    pub(super) frame: Bare,
    pub(super) heading: String,
    pub(super) sandbox: bool,
    pub(super) role: String,
    /// What the role may do.
    pub(super) role_text: String,
    /// Who is invited.
    pub(super) email: String,
    pub(super) until: Moment,
    pub(super) notice: Option<String>,
    pub(super) way: Way,
}

/// How whoever looks at it can take it up.
pub(super) enum Way {
    /// They have no account, and choose a password.
    Anew { action: String, hint: String, mistake: Option<String> },
    /// They have one, and sign in first.
    SignIn { action: String, next: String },
    /// They are signed in.
    Join { action: String, form_token: String },
    /// Somebody else is signed in.
    SomebodyElse { email: String, action: String, form_token: String },
}

#[derive(Template)]
#[template(path = "invite_gone.html")]
pub(super) struct InviteGone {
    pub(super) frame: Bare,
}

/// The token of the address; one that is malformed is one that was never given to anybody.
struct InviteToken(Option<Token>);

impl FromRequestParts<App> for InviteToken {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<InviteToken, Self::Rejection> {
        let parameters = RawPathParams::from_request_parts(parts, app).await.ok();
        let text = parameters.as_ref().and_then(|parameters| parameters.iter().next());
        Ok(InviteToken(text.and_then(|(_, text)| Token::parse(text))))
    }
}

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/dashboard/invite/{token}", get(show).post(join_with_new_account))
        .route("/dashboard/invite/{token}/join", get(show).post(join))
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    MaybeSignedIn(visit): MaybeSignedIn,
    InviteToken(token): InviteToken,
) -> Result<Response, PageError> {
    let looking = Looking { app: &app, visitor: &visitor, visit: visit.as_ref() };
    match looking.invitation(token.as_ref()).await? {
        Some((token, invitation)) => Ok(looking.page(StatusCode::OK, token, &invitation, Said::default())),
        None => Ok(looking.gone()),
    }
}

/// A new account that is a member at once.
async fn join_with_new_account(
    State(app): State<App>,
    visitor: Visitor,
    MaybeSignedIn(visit): MaybeSignedIn,
    InviteToken(token): InviteToken,
    form: Result<Form, PageError>,
) -> Result<Response, PageError> {
    let form = form?;
    let looking = Looking { app: &app, visitor: &visitor, visit: visit.as_ref() };
    let Some((token, invitation)) = looking.invitation(token.as_ref()).await? else { return Ok(looking.gone()) };
    // Nobody becomes somebody else without leaving first.
    if visit.is_some() || invitation.has_account {
        return Ok(looking.page(StatusCode::CONFLICT, token, &invitation, Said::default()));
    }
    let words = words::words(visitor.language);
    let password = form.text("password").unwrap_or_default();
    if let Some(mistake) = wrong::password(words, password) {
        let said = Said { mistake: Some(mistake), notice: None };
        return Ok(looking.page(StatusCode::UNPROCESSABLE_ENTITY, token, &invitation, said));
    }
    match app.engine.join_with_new_account(token, password.into(), &web::session::whereabouts(&visitor)).await {
        Ok(session) => {
            let mut response = Done::Joined.leading_to(&app, format_args!("/dashboard/{}", invitation.project.id));
            web::session::remember(&app.settings.urls, &session, response.headers_mut());
            Ok(response)
        }
        Err(Error::NotFound(_)) => Ok(looking.gone()),
        // The same address has got an account in between, and signs in with it.
        Err(Error::Taken(_)) => {
            let invitation = Invitation { has_account: true, ..invitation };
            Ok(looking.page(StatusCode::CONFLICT, token, &invitation, Said::default()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Somebody who has an account already.
async fn join(
    State(app): State<App>,
    visitor: Visitor,
    SignedIn(visit): SignedIn,
    InviteToken(token): InviteToken,
    SignedForm(_): SignedForm,
) -> Result<Response, PageError> {
    let looking = Looking { app: &app, visitor: &visitor, visit: Some(&visit) };
    let Some((token, invitation)) = looking.invitation(token.as_ref()).await? else { return Ok(looking.gone()) };
    match app.engine.join(&visit, token).await {
        Ok(project) => Ok(Done::Joined.leading_to(&app, format_args!("/dashboard/{}", project.id))),
        Err(Error::NotFound(_)) => Ok(looking.gone()),
        Err(Error::Invalid(_)) => Ok(looking.page(StatusCode::CONFLICT, token, &invitation, Said::default())),
        Err(Error::Taken(_)) => {
            let notice = Some(fl!(words::words(visitor.language), "invite-member"));
            Ok(looking.page(StatusCode::CONFLICT, token, &invitation, Said { notice, mistake: None }))
        }
        Err(error) => Err(error.into()),
    }
}

/// What is said about a form that was sent.
#[derive(Default)]
struct Said {
    notice: Option<String>,
    mistake: Option<String>,
}

/// Whoever looks at an invitation.
struct Looking<'a> {
    app: &'a App,
    visitor: &'a Visitor,
    visit: Option<&'a Visit>,
}

impl Looking<'_> {
    async fn invitation<'t>(&self, token: Option<&'t Token>) -> Result<Option<(&'t Token, Invitation)>, Error> {
        let Some(token) = token else { return Ok(None) };
        match self.app.engine.invitation(token).await {
            Ok(invitation) => Ok(Some((token, invitation))),
            Err(Error::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn gone(&self) -> Response {
        page(StatusCode::NOT_FOUND, &InviteGone { frame: shell::bare(self.app, self.visitor) })
    }

    fn page(&self, status: StatusCode, token: &Token, invitation: &Invitation, said: Said) -> Response {
        let Invitation { invite, project, has_account } = invitation;
        let frame = shell::bare(self.app, self.visitor);
        let words = frame.words;
        let name = project.name.as_str();
        let view = InvitePage {
            heading: fl!(words, "invite-heading", project = name),
            sandbox: project.environment == Environment::Sandbox,
            role: shell::role_name(words, invite.role),
            role_text: role_text(words, invite.role),
            email: invite.email.to_string(),
            until: moment(invite.expires_at, self.visitor.language),
            notice: said.notice,
            way: self.way(words, token, &invite.email, *has_account, said.mistake),
            frame,
        };
        page(status, &view)
    }

    fn way(&self, words: Words, token: &Token, invited: &Email, has_account: bool, mistake: Option<String>) -> Way {
        let urls = &self.app.settings.urls;
        let path = format!("{INVITATIONS}{}", token.reveal());
        match self.visit {
            Some(visit) if visit.user.email == *invited => {
                Way::Join { action: urls.url(format_args!("{path}/join")), form_token: visit.form_token().to_owned() }
            }
            Some(visit) => Way::SomebodyElse {
                email: visit.user.email.to_string(),
                action: urls.url("/dashboard/sign-out"),
                form_token: visit.form_token().to_owned(),
            },
            None if has_account => Way::SignIn { action: urls.url("/dashboard/sign-in"), next: path },
            None => Way::Anew { action: urls.url(path), hint: wrong::password_hint(words), mistake },
        }
    }
}

/// What a role may do, in a sentence.
pub(super) fn role_text(words: Words, role: Role) -> String {
    match role {
        Role::Owner => fl!(words, "role-owner-text"),
        Role::Developer => fl!(words, "role-developer-text"),
        Role::Viewer => fl!(words, "role-viewer-text"),
    }
}
