//! The page of a user's account, as samples for tests.

use askama::Template;

use super::{
    AccountPage, FactorRow, ProjectRow, SessionRow,
    letters::{KindChoice, LetterChoicesPage},
};
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
        factor: (!mistaken).then(|| FactorRow { since: moment(), codes_left: setting.text(), few_left: true }),
        factor_url: url("/account/factor"),
        password_action: url("/account/password"),
        password_hint: setting.text(),
        old_mistake: setting.mistake().filter(|_| mistaken),
        new_mistake: setting.mistake().filter(|_| mistaken),
        sessions: vec![session(None), session(Some(url("/account/sessions/ses_1/end")))],
        letters_url: url("/account/letters"),
        end_others_action: Some(url("/account/end-others")),
    };
    page.render().unwrap()
}

fn letters(setting: Setting, has_mail: bool) -> String {
    let kind = |field| KindChoice { field, name: setting.text(), is_wanted: has_mail };
    let page = LetterChoicesPage {
        shell: setting.shell(Section::Account, false),
        action: url("/account/letters"),
        has_mail,
        chosen_language: "en",
        summary: "daily",
        kinds: vec![kind("money_held"), kind("webhook_failing")],
        always: vec![setting.text()],
    };
    page.render().unwrap()
}

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    vec![
        ("account", account(setting, false)),
        ("account-mistaken", account(setting, true)),
        ("account-letters", letters(setting, true)),
        ("account-letters-without-mail", letters(setting, false)),
    ]
}
