//! The page for a lost password in each of its states, as samples for tests.

use askama::Template;

use super::{Asking, ForgotPage};
use crate::samples::{Setting, url};

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    let page = |state| ForgotPage { frame: setting.bare(), sign_in_url: url("/sign-in"), state }.render().unwrap();
    let form = |mistake, notice| Asking::Form { action: url("/forgot"), email: setting.text(), mistake, notice };
    vec![
        ("forgot-form", page(form(None, None))),
        ("forgot-mistake", page(form(setting.mistake(), None))),
        ("forgot-wait", page(form(None, setting.mistake()))),
        ("forgot-asked", page(Asking::Asked)),
        ("forgot-no-mail", page(Asking::NoMail)),
    ]
}
