//! The second step of signing in, as samples for tests.

use askama::Template;

use super::SignInCodePage;
use crate::samples::{Setting, url};

fn code(setting: Setting, is_wrong: bool) -> String {
    let page = SignInCodePage {
        frame: setting.bare(),
        action: url("/sign-in/code"),
        next: setting.text(),
        notice: setting.mistake().filter(|_| is_wrong),
        begin_again_url: url("/sign-in"),
    };
    page.render().unwrap()
}

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    vec![("sign-in-code", code(setting, false)), ("sign-in-code-wrong", code(setting, true))]
}
