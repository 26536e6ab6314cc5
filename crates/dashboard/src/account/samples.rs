//! The page of a user's account, as samples for tests.

use askama::Template;

use super::{AccountPage, ProjectRow, SessionRow};
use crate::{
    samples::{Setting, moment, url},
    shell::Section,
};

fn account(setting: Setting, mistaken: bool) -> String {
    let session = |end_action| SessionRow {
        browser: setting.text(),
        address: setting.text(),
        since: moment(),
        seen: moment(),
        end_action,
    };
    let project = ProjectRow { url: url("/prj_1"), name: setting.text(), sandbox: false, role: setting.text() };
    let page = AccountPage {
        shell: setting.shell(Section::Account, false),
        since: moment(),
        projects: if mistaken { vec![] } else { vec![project] },
        may_create_project: !mistaken,
        password_action: url("/account/password"),
        password_hint: setting.text(),
        old_mistake: setting.mistake().filter(|_| mistaken),
        new_mistake: setting.mistake().filter(|_| mistaken),
        sessions: vec![session(None), session(Some(url("/account/sessions/ses_1/end")))],
        end_others_action: Some(url("/account/end-others")),
    };
    page.render().unwrap()
}

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    vec![("account", account(setting, false)), ("account-mistaken", account(setting, true))]
}
