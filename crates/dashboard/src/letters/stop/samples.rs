//! The page that ends letters, as samples for tests.

use askama::Template;

use super::StopPage;
use crate::samples::{Setting, url};

fn stop(setting: Setting, action: Option<String>) -> String {
    let page = StopPage { frame: setting.bare(), kind: setting.text(), action, account_url: url("/account/letters") };
    page.render().unwrap()
}

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    vec![("letters-stop", stop(setting, Some(url("/letters/stop/0a")))), ("letters-stopped", stop(setting, None))]
}
