//! `/dashboard/<project>/settings/members`: the members of a project with their roles, and its open invitations.

#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{
    access::{Act, Role},
    api_key::ApiKey,
    id::{InviteId, UserId},
    user::{Invite, Token},
};
use engine::{Error, Member};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{moment::Moment, page_error::PageError},
};

use crate::{
    attempt,
    done::Done,
    input::email_mistake,
    invite::INVITATIONS,
    labels::{key_rights_names, role_name, role_text},
    page::{Page, PublicPage},
    session::{LastId, SignedForm},
    shell::{Section, Shell},
    words::Words,
};

#[derive(Template)]
#[template(path = "members.html")]
pub(crate) struct MembersPage {
    pub(crate) shell: Shell,
    /// `/dashboard/prj_…/settings`.
    pub(crate) base: String,
    /// A member whose role may not change anything sees no forms.
    pub(crate) may_manage: bool,
    /// The link of the invitation that this request created; it is shown this once.
    pub(crate) fresh: Option<FreshInvite>,
    pub(crate) members: Vec<MemberRow>,
    pub(crate) invites: Vec<InviteRow>,
    pub(crate) roles: Vec<RoleRow>,
    /// Whether every member needs a second factor, and whether this member has one.
    pub(crate) needs_factor: bool,
    pub(crate) has_factor: bool,
    pub(crate) attempt: String,
    pub(crate) email: String,
    pub(crate) email_mistake: Option<String>,
}

pub(crate) struct FreshInvite {
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) url: String,
}

pub(crate) struct MemberRow {
    pub(crate) id: String,
    pub(crate) email: String,
    pub(crate) is_self: bool,
    /// Whether an operator has deactivated them.
    pub(crate) is_deactivated: bool,
    pub(crate) role: String,
    pub(crate) joined: Moment,
}

pub(crate) struct InviteRow {
    pub(crate) id: String,
    pub(crate) email: String,
    pub(crate) role: String,
    pub(crate) until: Moment,
}

pub(crate) struct RoleRow {
    pub(crate) word: &'static str,
    pub(crate) name: String,
    pub(crate) text: String,
    /// Whether the form shows it as chosen.
    pub(crate) chosen: bool,
}

#[derive(Template)]
#[template(path = "members/role.html")]
pub(crate) struct RolePage {
    pub(crate) shell: Shell,
    pub(crate) members_url: String,
    pub(crate) action: String,
    pub(crate) heading: String,
    pub(crate) roles: Vec<RoleRow>,
    /// The live keys over money that the member has created.
    pub(crate) keys: Vec<CreatedKeyRow>,
}

#[derive(Template)]
#[template(path = "members/remove.html")]
pub(crate) struct RemovePage {
    pub(crate) shell: Shell,
    pub(crate) members_url: String,
    pub(crate) action: String,
    pub(crate) heading: String,
    pub(crate) is_self: bool,
    /// The live keys that the member has created.
    pub(crate) keys: Vec<CreatedKeyRow>,
    /// Live keys of which it is not known who created them.
    pub(crate) unknown_keys: Option<String>,
}

pub(crate) struct CreatedKeyRow {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) rights: String,
}

/// The result of a form, which the page shows beside the members.
struct FormResult {
    attempt: String,
    fresh: Option<(Invite, Token)>,
    email: String,
    email_mistake: Option<String>,
    role: Role,
    notice: Option<String>,
}

impl Default for FormResult {
    fn default() -> FormResult {
        FormResult {
            attempt: attempt::fresh(),
            fresh: None,
            email: String::new(),
            email_mistake: None,
            role: Role::Developer,
            notice: None,
        }
    }
}

pub(crate) fn routes() -> Router<App> {
    // A user whose session has ended signs in at the form's address, and then sees the page there.
    Router::new()
        .route("/dashboard/{project}/settings/members", get(show).post(invite))
        .route("/dashboard/{project}/settings/members/factor", get(show).post(require_factor))
        .route("/dashboard/{project}/settings/members/{user}/role", get(ask_for_role).post(change_role))
        .route("/dashboard/{project}/settings/members/{user}/remove", get(ask_to_remove).post(remove))
        .route("/dashboard/{project}/settings/invites/{invite}/withdraw", get(show).post(withdraw))
}

async fn show(page: Page) -> Result<Response, PageError> {
    members_page(&page, StatusCode::OK, FormResult::default()).await
}

async fn invite(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::ManageMembers)?;
    let words = page.words();
    let (email, role) = (form.text("email").unwrap_or_default(), form.text("role").and_then(Role::parse));
    let mut result = FormResult {
        attempt: attempt::sent(form.text("attempt")),
        email: email.to_owned(),
        role: role.unwrap_or(Role::Developer),
        ..FormResult::default()
    };
    result.email_mistake = email_mistake(words, email);
    let Some(role) = role.filter(|_| result.email_mistake.is_none()) else {
        result.notice = Some(fl!(words, "mistake-form"));
        return members_page(&page, StatusCode::UNPROCESSABLE_ENTITY, result).await;
    };
    result.notice = match page.desk.invite(email, role, page.language(), Some(&result.attempt)).await {
        Ok(fresh) => {
            let result = FormResult { fresh: Some(fresh), ..FormResult::default() };
            return members_page(&page, StatusCode::OK, result).await;
        }
        Err(Error::Taken(_)) => Some(fl!(words, "members-already")),
        Err(Error::TooMany { most, .. }) => {
            let most = most.to_string();
            Some(fl!(words, "members-invites-many", most = most))
        }
        Err(error) => return Err(error.into()),
    };
    members_page(&page, StatusCode::CONFLICT, result).await
}

async fn require_factor(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    let required = form.text("required").is_some();
    page.desk.require_factor(required).await?;
    let done = if required { Done::FactorRequired } else { Done::FactorNotRequired };
    Ok(page.redirect(members_path(&page), done))
}

async fn ask_for_role(page: Page, LastId(id): LastId<UserId>) -> Result<Response, PageError> {
    page.require(Act::ManageMembers)?;
    let shell = page.shell(Section::Settings).await?;
    let member = page.desk.member(id).await?;
    let email = member.user.email.as_str();
    let members_url = page.url(members_path(&page));
    let keys = page.desk.keys_over_money_of(id).await?;
    let view = RolePage {
        keys: keys.into_iter().map(|key| created_key_row(shell.words, key)).collect(),
        heading: fl!(shell.words, "members-role-heading", email = email),
        action: format!("{members_url}/{id}/role"),
        roles: role_rows(shell.words, member.role),
        members_url,
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

async fn change_role(
    page: Page,
    LastId(id): LastId<UserId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    page.require(Act::ManageMembers)?;
    let Some(role) = form.text("role").and_then(Role::parse) else {
        return Err(PageError::with(StatusCode::UNPROCESSABLE_ENTITY));
    };
    match page.desk.change_role(id, role, form.text("revoke_keys").is_some()).await {
        Ok(()) => Ok(page.redirect(members_path(&page), Done::RoleChanged)),
        Err(Error::LastOwner) => last_owner(&page).await,
        Err(error) => Err(error.into()),
    }
}

async fn ask_to_remove(page: Page, LastId(id): LastId<UserId>) -> Result<Response, PageError> {
    page.require(Act::ManageMembers)?;
    let shell = page.shell(Section::Settings).await?;
    let member = page.desk.member(id).await?;
    let (keys, unknown) = page.desk.keys_created_by(id).await?;
    let email = member.user.email.as_str();
    let members_url = page.url(members_path(&page));
    let view = RemovePage {
        heading: fl!(shell.words, "members-remove-heading", email = email),
        action: format!("{members_url}/{id}/remove"),
        is_self: id == page.visit.user.id,
        keys: keys.into_iter().map(|key| created_key_row(shell.words, key)).collect(),
        unknown_keys: (unknown > 0).then(|| fl!(shell.words, "members-remove-keys-unknown", count = unknown)),
        members_url,
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

pub(crate) fn created_key_row(words: Words, key: ApiKey) -> CreatedKeyRow {
    CreatedKeyRow { id: key.id.to_string(), rights: key_rights_names(words, key.rights), name: key.name }
}

async fn remove(page: Page, LastId(id): LastId<UserId>, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    match page.desk.remove_member(id, form.text("revoke_keys").is_some()).await {
        // A user who has left the project can no longer open its pages.
        Ok(()) if id == page.visit.user.id => Ok(page.redirect("/dashboard/account", Done::MemberRemoved)),
        Ok(()) => Ok(page.redirect(members_path(&page), Done::MemberRemoved)),
        Err(Error::LastOwner) => last_owner(&page).await,
        Err(error) => Err(error.into()),
    }
}

async fn withdraw(page: Page, LastId(id): LastId<InviteId>, SignedForm(_): SignedForm) -> Result<Response, PageError> {
    page.desk.withdraw_invite(id).await?;
    Ok(page.redirect(members_path(&page), Done::InviteWithdrawn))
}

fn members_path(page: &Page) -> String {
    page.path("/settings/members")
}

async fn last_owner(page: &Page) -> Result<Response, PageError> {
    let notice = Some(fl!(page.words(), "members-last-owner"));
    members_page(page, StatusCode::CONFLICT, FormResult { notice, ..FormResult::default() }).await
}

async fn members_page(page: &Page, status: StatusCode, result: FormResult) -> Result<Response, PageError> {
    let mut shell = page.shell(Section::Settings).await?;
    if let Some(text) = result.notice {
        shell.warn(text);
    }
    let words = shell.words;
    let (members, invites) = (page.desk.members().await?, page.desk.invites().await?);
    let view = MembersPage {
        base: page.url(page.path("/settings")),
        may_manage: page.desk.may(Act::ManageMembers),
        fresh: result.fresh.map(|(invite, token)| fresh_invite(page, invite.email.as_str(), &token)),
        members: members.iter().map(|member| member_row(page, member)).collect(),
        invites: invites.iter().map(|invite| invite_row(page, invite)).collect(),
        roles: role_rows(words, result.role),
        needs_factor: page.desk.requires_factor().await?,
        has_factor: page.visit.factor.is_some(),
        attempt: result.attempt,
        email: result.email,
        email_mistake: result.email_mistake,
        shell,
    };
    Ok(page.render(status, &view))
}

fn role_rows(words: Words, chosen: Role) -> Vec<RoleRow> {
    let row = |role: Role| RoleRow {
        word: role.word(),
        name: role_name(words, role),
        text: role_text(words, role),
        chosen: role == chosen,
    };
    Role::ALL.into_iter().map(row).collect()
}

/// The link of a new invitation, which the user sends to the person they invite.
pub(crate) fn fresh_invite(page: &PublicPage, email: &str, token: &Token) -> FreshInvite {
    let words = page.words();
    FreshInvite {
        title: fl!(words, "members-fresh", email = email),
        text: match page.app.engine.has_mail() {
            true => fl!(words, "members-fresh-mailed"),
            false => fl!(words, "members-fresh-text"),
        },
        url: format!("{}{INVITATIONS}{}", page.app.settings.pages_url, token.reveal()),
    }
}

fn member_row(page: &Page, member: &Member) -> MemberRow {
    MemberRow {
        id: member.user.id.to_string(),
        email: member.user.email.to_string(),
        is_self: member.user.id == page.visit.user.id,
        is_deactivated: !member.user.is_active(),
        role: role_name(page.words(), member.role),
        joined: page.moment(member.joined_at),
    }
}

fn invite_row(page: &Page, invite: &Invite) -> InviteRow {
    InviteRow {
        id: invite.id.to_string(),
        email: invite.email.to_string(),
        role: role_name(page.words(), invite.role),
        until: page.moment(invite.expires_at),
    }
}
