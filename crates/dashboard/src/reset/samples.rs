//! The pages of a link for a lost password, as samples for tests.

use askama::Template;

use super::{ResetGone, ResetPage};
use crate::samples::{Setting, url};

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    let form = |mistake| {
        let (action, email, hint) = (url("/reset/1"), setting.text(), setting.text());
        ResetPage { frame: setting.bare(), action, email, hint, mistake }.render().unwrap()
    };
    let gone = |forgot_url| ResetGone { frame: setting.bare(), forgot_url }.render().unwrap();
    vec![
        ("reset-form", form(None)),
        ("reset-mistake", form(setting.mistake())),
        ("reset-gone", gone(Some(url("/forgot")))),
        ("reset-gone-without-mail", gone(None)),
    ]
}
