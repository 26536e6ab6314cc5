//! The page that asks for a proof, as samples for tests.

use askama::Template;

use super::ProvePage;
use crate::{
    samples::{Setting, url},
    shell::Section,
};

fn prove(setting: Setting, by_factor: bool) -> String {
    let page = ProvePage {
        shell: setting.shell(Section::Other, true),
        action: url("/prj_1/keys"),
        fields: vec![("name".to_owned(), setting.text()), ("networks".to_owned(), setting.text())],
        by_factor,
        mistake: setting.mistake().filter(|_| by_factor),
    };
    page.render().unwrap()
}

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    vec![("prove-by-password", prove(setting, false)), ("prove-by-factor", prove(setting, true))]
}
