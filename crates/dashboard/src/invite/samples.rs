//! The pages of an invitation, as samples for tests.

use askama::Template;

use super::{InviteGone, InvitePage, Way};
use crate::samples::{Setting, moment, url};

fn invite(setting: Setting, way: Way) -> String {
    let page = InvitePage {
        frame: setting.bare(),
        heading: setting.text(),
        sandbox: false,
        role: setting.text(),
        role_text: setting.text(),
        email: setting.text(),
        until: moment(),
        notice: setting.mistake(),
        way,
    };
    page.render().unwrap()
}

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    let (action, form_token) = (url("/invite/1"), "0123456789abcdef".to_owned());
    vec![
        (
            "invite-new-account",
            invite(
                setting,
                Way::CreateAccount { action: action.clone(), hint: setting.text(), mistake: setting.mistake() },
            ),
        ),
        ("invite-sign-in", invite(setting, Way::SignIn { action: action.clone(), next: action.clone() })),
        ("invite-join", invite(setting, Way::Join { action: action.clone(), form_token: form_token.clone() })),
        ("invite-other-account", invite(setting, Way::OtherAccount { email: setting.text(), action, form_token })),
        ("invite-gone", InviteGone { frame: setting.bare() }.render().unwrap()),
    ]
}
