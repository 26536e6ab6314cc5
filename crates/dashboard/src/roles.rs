//! `/dashboard/<project>/settings/roles`: which role may do what, and which members have it. The table is made from the rules that
//! every request is judged by.

#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{
    access::{Act, Role},
    key_rights::KeyRight,
};
use i18n_embed_fl::fl;
use web::{App, page::page_error::PageError};

use crate::{
    labels::{key_right_name, role_name, role_text},
    page::Page,
    shell::{Section, Shell},
    words::Words,
};

#[derive(Template)]
#[template(path = "roles.html")]
pub(crate) struct RolesPage {
    pub(crate) shell: Shell,
    /// `/dashboard/prj_…/settings`.
    pub(crate) base: String,
    pub(crate) roles: Vec<RoleMembers>,
    pub(crate) acts: Vec<ActRow>,
}

/// A role, and the members who have it.
pub(crate) struct RoleMembers {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) members: Vec<String>,
}

/// Something that a role may allow.
pub(crate) struct ActRow {
    pub(crate) text: String,
    /// In the order of [`Role::ALL`].
    pub(crate) cells: Vec<Allowed>,
}

pub(crate) struct Allowed {
    pub(crate) role: String,
    pub(crate) is_allowed: bool,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/settings/roles", get(show))
}

async fn show(page: Page) -> Result<Response, PageError> {
    let shell = page.shell(Section::Settings).await?;
    let (words, members) = (shell.words, page.desk.members().await?);
    let of = |role: Role| {
        let having = members.iter().filter(|member| member.role == role);
        RoleMembers {
            name: role_name(words, role),
            text: role_text(words, role),
            members: having.map(|member| member.user.email.to_string()).collect(),
        }
    };
    let view = RolesPage {
        base: page.url(page.path("/settings")),
        roles: Role::ALL.map(of).into(),
        acts: act_rows(words),
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

/// Every act, and giving every right to a key, with the roles that may do it.
fn act_rows(words: Words) -> Vec<ActRow> {
    let cells = |may: &dyn Fn(Role) -> bool| {
        Role::ALL.map(|role| Allowed { role: role_name(words, role), is_allowed: may(role) }).into()
    };
    let acts = Act::ALL.map(|act| ActRow { text: act_text(words, act), cells: cells(&|role| role.may(act)) });
    let rights = KeyRight::ALL.map(|right| {
        let name = key_right_name(words, right);
        ActRow { text: fl!(words, "act-give", right = name), cells: cells(&|role| role.may_give(right)) }
    });
    acts.into_iter().chain(rights).collect()
}

fn act_text(words: Words, act: Act) -> String {
    match act {
        Act::Look => fl!(words, "act-look"),
        Act::Sell => fl!(words, "act-sell"),
        Act::ManageLinks => fl!(words, "act-links"),
        Act::Simulate => fl!(words, "act-simulate"),
        Act::ManageKeys => fl!(words, "act-keys"),
        Act::ManageWebhooks => fl!(words, "act-webhooks"),
        Act::DecideReceipts => fl!(words, "act-receipts"),
        Act::Refund => fl!(words, "act-refund"),
        Act::Configure => fl!(words, "act-configure"),
        Act::ManageMembers => fl!(words, "act-members"),
        Act::ExportAudit => fl!(words, "act-audit"),
    }
}
