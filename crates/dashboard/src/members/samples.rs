//! The pages about members, as samples for tests.

use askama::Template;

use super::{CreatedKeyRow, FreshInvite, InviteRow, MemberRow, MembersPage, RemovePage, RolePage, RoleRow};
use crate::{
    samples::{Setting, moment, url},
    shell::Section,
};

fn members(setting: Setting, may_manage: bool) -> String {
    let role = |word, chosen| RoleRow { word, name: setting.text(), text: setting.text(), chosen };
    let page = MembersPage {
        shell: setting.shell(Section::Settings, true),
        base: url("/prj_1/settings"),
        may_manage,
        fresh: may_manage.then(|| FreshInvite { title: setting.text(), text: setting.text(), url: setting.text() }),
        members: vec![MemberRow {
            id: "usr_1".to_owned(),
            email: setting.text(),
            is_self: true,
            is_deactivated: true,
            role: setting.text(),
            joined: moment(),
        }],
        invites: vec![InviteRow {
            id: "inv_1".to_owned(),
            email: setting.text(),
            role: setting.text(),
            until: moment(),
        }],
        roles: vec![role("owner", false), role("viewer", true)],
        needs_factor: !may_manage,
        has_factor: true,
        attempt: setting.text(),
        email: setting.text(),
        email_mistake: setting.mistake(),
    };
    page.render().unwrap()
}

fn role(setting: Setting) -> String {
    let page = RolePage {
        shell: setting.shell(Section::Settings, true),
        members_url: url("/prj_1/settings/members"),
        action: url("/prj_1/settings/members/usr_1/role"),
        heading: setting.text(),
        roles: vec![RoleRow { word: "owner", name: setting.text(), text: setting.text(), chosen: true }],
        keys: vec![CreatedKeyRow { id: "key_1".to_owned(), name: setting.text(), rights: setting.text() }],
    };
    page.render().unwrap()
}

fn remove(setting: Setting) -> String {
    let page = RemovePage {
        shell: setting.shell(Section::Settings, true),
        members_url: url("/prj_1/settings/members"),
        action: url("/prj_1/settings/members/usr_1/remove"),
        heading: setting.text(),
        is_self: false,
        keys: vec![CreatedKeyRow { id: "key_1".to_owned(), name: setting.text(), rights: setting.text() }],
        unknown_keys: Some(setting.text()),
    };
    page.render().unwrap()
}

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    vec![
        ("members", members(setting, true)),
        ("members-of-others", members(setting, false)),
        ("member-role", role(setting)),
        ("member-remove", remove(setting)),
    ]
}
