//! The pages about a user's second factor, as samples for tests.

use askama::Template;

use super::{AddFactorPage, CodesPage, ConfirmPage};
use crate::{
    samples::{Setting, url},
    shell::Section,
};

fn add(setting: Setting, is_needed: bool) -> String {
    let page = AddFactorPage {
        shell: setting.shell(Section::Account, false),
        action: url("/account/factor"),
        account_url: url("/account"),
        attempt: setting.text(),
        image: "data:image/png;base64,".to_owned(),
        secret: setting.text(),
        mistake: setting.mistake().filter(|_| is_needed),
        is_needed,
    };
    page.render().unwrap()
}

fn confirm(setting: Setting, is_dangerous: bool) -> String {
    let page = ConfirmPage {
        shell: setting.shell(Section::Account, false),
        action: url("/account/factor/remove"),
        account_url: url("/account"),
        attempt: setting.text(),
        heading: setting.text(),
        text: setting.text(),
        button: setting.text(),
        is_dangerous,
    };
    page.render().unwrap()
}

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    let codes = CodesPage {
        shell: setting.shell(Section::Account, false),
        account_url: url("/account"),
        heading: setting.text(),
        codes: setting.text(),
    };
    vec![
        ("factor-add", add(setting, false)),
        ("factor-add-needed", add(setting, true)),
        ("factor-codes", codes.render().unwrap()),
        ("factor-codes-renew", confirm(setting, false)),
        ("factor-remove", confirm(setting, true)),
    ]
}
