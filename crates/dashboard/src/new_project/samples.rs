//! The form for a new project, as a sample for tests.

use askama::Template;

use super::NewProjectPage;
use crate::{
    samples::{Setting, url},
    shell::Section,
};

fn new_project(setting: Setting) -> String {
    let page = NewProjectPage {
        shell: setting.shell(Section::Other, false),
        attempt: setting.text(),
        action: url("/projects/new"),
        name: setting.text(),
        name_mistake: setting.mistake(),
        environment: "production",
        environment_mistake: setting.mistake(),
    };
    page.render().unwrap()
}

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    vec![("new-project", new_project(setting))]
}
