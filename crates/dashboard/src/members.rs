//! `/dashboard/<project>/settings/members`: who belongs to a project, what they may do, and who is invited.

use askama::Template;
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use domain::{
    access::{Act, Role},
    id::{InviteId, UserId},
    user::{Invite, Token},
};
use engine::{Error, Member};
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
    done::Done,
    invite::{INVITATIONS, role_text},
    session::{AtDesk, LastId, SignedForm},
    shell::{self, Flash, Section, Shell},
    words::{self, Words},
    wrong,
};

#[derive(Template)]
#[template(path = "members.html")]
pub(super) struct MembersPage {
    pub(super) shell: Shell,
    /// `/dashboard/prj_…/settings`.
    pub(super) base: String,
    /// Whoever may not change anything sees no forms.
    pub(super) may_manage: bool,
    /// Of the invitation that was just made; shown this once.
    pub(super) fresh: Option<FreshInvite>,
    pub(super) members: Vec<MemberRow>,
    pub(super) invites: Vec<InviteRow>,
    pub(super) roles: Vec<RoleRow>,
    pub(super) email: String,
    pub(super) email_mistake: Option<String>,
}

pub(super) struct FreshInvite {
    pub(super) title: String,
    pub(super) url: String,
}

pub(super) struct MemberRow {
    pub(super) id: String,
    pub(super) email: String,
    pub(super) is_self: bool,
    pub(super) role: String,
    pub(super) joined: Moment,
}

pub(super) struct InviteRow {
    pub(super) id: String,
    pub(super) email: String,
    pub(super) role: String,
    pub(super) until: Moment,
}

pub(super) struct RoleRow {
    pub(super) word: &'static str,
    pub(super) name: String,
    pub(super) text: String,
    /// Chosen in the form.
    pub(super) chosen: bool,
}

#[derive(Template)]
#[template(path = "member_role.html")]
pub(super) struct RolePage {
    pub(super) shell: Shell,
    pub(super) members_url: String,
    pub(super) action: String,
    pub(super) heading: String,
    pub(super) roles: Vec<RoleRow>,
}

#[derive(Template)]
#[template(path = "member_remove.html")]
pub(super) struct RemovePage {
    pub(super) shell: Shell,
    pub(super) members_url: String,
    pub(super) action: String,
    pub(super) heading: String,
    pub(super) is_self: bool,
}

/// What the page says besides what is so.
struct Said {
    fresh: Option<(Invite, Token)>,
    email: String,
    email_mistake: Option<String>,
    role: Role,
    notice: Option<String>,
}

impl Default for Said {
    fn default() -> Said {
        Said { fresh: None, email: String::new(), email_mistake: None, role: Role::Developer, notice: None }
    }
}

pub(super) fn routes() -> Router<App> {
    // Whoever has to sign in before a form is taken comes back to its address, and finds the page there.
    Router::new()
        .route("/dashboard/{project}/settings/members", get(show).post(invite))
        .route("/dashboard/{project}/settings/members/{user}/role", get(ask_for_role).post(change_role))
        .route("/dashboard/{project}/settings/members/{user}/remove", get(ask_to_remove).post(remove))
        .route("/dashboard/{project}/settings/invites/{invite}/withdraw", get(show).post(withdraw))
}

async fn show(State(app): State<App>, visitor: Visitor, at: AtDesk) -> Result<Response, PageError> {
    members_page(&app, &visitor, &at, StatusCode::OK, Said::default()).await
}

async fn invite(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    check(&at)?;
    let words = words::words(visitor.language);
    let (email, role) = (form.text("email").unwrap_or_default(), form.text("role").and_then(Role::parse));
    let mut said = Said { email: email.to_owned(), role: role.unwrap_or(Role::Developer), ..Said::default() };
    said.email_mistake = wrong::email(words, email);
    let Some(role) = role.filter(|_| said.email_mistake.is_none()) else {
        said.notice = Some(fl!(words, "wrong-form"));
        return members_page(&app, &visitor, &at, StatusCode::UNPROCESSABLE_ENTITY, said).await;
    };
    said.notice = match at.desk.invite(email, role).await {
        Ok(fresh) => {
            let said = Said { fresh: Some(fresh), ..Said::default() };
            return members_page(&app, &visitor, &at, StatusCode::OK, said).await;
        }
        Err(Error::Taken(_)) => Some(fl!(words, "members-already")),
        Err(Error::TooMany { most, .. }) => {
            let most = most.to_string();
            Some(fl!(words, "members-invites-many", most = most))
        }
        Err(error) => return Err(error.into()),
    };
    members_page(&app, &visitor, &at, StatusCode::CONFLICT, said).await
}

async fn ask_for_role(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    LastId(id): LastId<UserId>,
) -> Result<Response, PageError> {
    check(&at)?;
    let member = at.desk.member(id).await?;
    let shell = shell::at_desk(&app, &visitor, &at, Section::Settings).await?;
    let email = member.user.email.as_str();
    let members_url = app.settings.urls.url(path(&at));
    let view = RolePage {
        heading: fl!(shell.words, "members-role-heading", email = email),
        action: format!("{members_url}/{id}/role"),
        roles: role_rows(shell.words, member.role),
        members_url,
        shell,
    };
    Ok(page(StatusCode::OK, &view))
}

async fn change_role(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    LastId(id): LastId<UserId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    check(&at)?;
    let Some(role) = form.text("role").and_then(Role::parse) else {
        return Err(PageError::with(StatusCode::UNPROCESSABLE_ENTITY));
    };
    match at.desk.change_role(id, role).await {
        Ok(()) => Ok(Done::RoleChanged.leading_to(&app, path(&at))),
        Err(Error::LastOwner) => last_owner(&app, &visitor, &at).await,
        Err(error) => Err(error.into()),
    }
}

async fn ask_to_remove(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    LastId(id): LastId<UserId>,
) -> Result<Response, PageError> {
    check(&at)?;
    let member = at.desk.member(id).await?;
    let shell = shell::at_desk(&app, &visitor, &at, Section::Settings).await?;
    let email = member.user.email.as_str();
    let members_url = app.settings.urls.url(path(&at));
    let view = RemovePage {
        heading: fl!(shell.words, "members-remove-heading", email = email),
        action: format!("{members_url}/{id}/remove"),
        is_self: id == at.visit.user.id,
        members_url,
        shell,
    };
    Ok(page(StatusCode::OK, &view))
}

async fn remove(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    LastId(id): LastId<UserId>,
    SignedForm(_): SignedForm,
) -> Result<Response, PageError> {
    match at.desk.remove_member(id).await {
        // Whoever has left finds nothing here any more.
        Ok(()) if id == at.visit.user.id => Ok(Done::MemberRemoved.leading_to(&app, "/dashboard/account")),
        Ok(()) => Ok(Done::MemberRemoved.leading_to(&app, path(&at))),
        Err(Error::LastOwner) => last_owner(&app, &visitor, &at).await,
        Err(error) => Err(error.into()),
    }
}

async fn withdraw(
    State(app): State<App>,
    at: AtDesk,
    LastId(id): LastId<InviteId>,
    SignedForm(_): SignedForm,
) -> Result<Response, PageError> {
    at.desk.withdraw_invite(id).await?;
    Ok(Done::InviteWithdrawn.leading_to(&app, path(&at)))
}

/// Whoever may not change anything is not told what would be wrong with it.
fn check(at: &AtDesk) -> Result<(), Error> {
    if at.desk.may(Act::ManageMembers) { Ok(()) } else { Err(Error::RoleForbids) }
}

fn path(at: &AtDesk) -> String {
    format!("/dashboard/{}/settings/members", at.desk.project().id)
}

async fn last_owner(app: &App, visitor: &Visitor, at: &AtDesk) -> Result<Response, PageError> {
    let notice = Some(fl!(words::words(visitor.language), "members-last-owner"));
    members_page(app, visitor, at, StatusCode::CONFLICT, Said { notice, ..Said::default() }).await
}

async fn members_page(
    app: &App,
    visitor: &Visitor,
    at: &AtDesk,
    status: StatusCode,
    said: Said,
) -> Result<Response, PageError> {
    let mut shell = shell::at_desk(app, visitor, at, Section::Settings).await?;
    if let Some(text) = said.notice {
        shell.notice = Some(Flash { text, bad: true });
    }
    let words = shell.words;
    let (members, invites) = (at.desk.members().await?, at.desk.invites().await?);
    let view = MembersPage {
        base: app.settings.urls.url(format_args!("/dashboard/{}/settings", at.desk.project().id)),
        may_manage: at.desk.may(Act::ManageMembers),
        fresh: said.fresh.map(|(invite, token)| fresh_invite(app, words, invite.email.as_str(), &token)),
        members: members.iter().map(|member| member_row(visitor, words, at, member)).collect(),
        invites: invites.iter().map(|invite| invite_row(visitor, words, invite)).collect(),
        roles: role_rows(words, said.role),
        email: said.email,
        email_mistake: said.email_mistake,
        shell,
    };
    Ok(page(status, &view))
}

fn role_rows(words: Words, chosen: Role) -> Vec<RoleRow> {
    let row = |role: Role| RoleRow {
        word: role.word(),
        name: shell::role_name(words, role),
        text: role_text(words, role),
        chosen: role == chosen,
    };
    Role::ALL.into_iter().map(row).collect()
}

/// The link that takes an invitation up, for whoever was invited.
pub(super) fn fresh_invite(app: &App, words: Words, email: &str, token: &Token) -> FreshInvite {
    FreshInvite {
        title: fl!(words, "members-fresh", email = email),
        url: format!("{}{INVITATIONS}{}", app.settings.pages_url, token.reveal()),
    }
}

fn member_row(visitor: &Visitor, words: Words, at: &AtDesk, member: &Member) -> MemberRow {
    MemberRow {
        id: member.user.id.to_string(),
        email: member.user.email.to_string(),
        is_self: member.user.id == at.visit.user.id,
        role: shell::role_name(words, member.role),
        joined: moment(member.joined_at, visitor.language),
    }
}

fn invite_row(visitor: &Visitor, words: Words, invite: &Invite) -> InviteRow {
    InviteRow {
        id: invite.id.to_string(),
        email: invite.email.to_string(),
        role: shell::role_name(words, invite.role),
        until: moment(invite.expires_at, visitor.language),
    }
}
