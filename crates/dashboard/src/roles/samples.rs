//! The page about roles, as a sample for tests.

use askama::Template;
use domain::{
    access::{Act, Role},
    key_rights::KeyRight,
};

use super::{RoleMembers, RolesPage, act_rows};
use crate::{
    samples::{LANGUAGES, Setting, url},
    shell::Section,
    words::words,
};

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    let role = |members| RoleMembers { name: setting.text(), text: setting.text(), members };
    let page = RolesPage {
        shell: setting.shell(Section::Settings, true),
        base: url("/prj_1/settings"),
        roles: vec![role(vec![setting.text()]), role(Vec::new())],
        acts: act_rows(words(setting.language)),
    };
    vec![("roles", page.render().unwrap())]
}

#[test]
fn the_table_says_what_every_role_may_do_and_each_row_is_about_something_else() {
    for language in LANGUAGES {
        let rows = act_rows(words(language));
        let allowed = |at: usize| rows[at].cells.iter().map(|cell| cell.is_allowed).collect::<Vec<_>>();
        for (at, act) in Act::ALL.into_iter().enumerate() {
            assert_eq!(allowed(at), Role::ALL.map(|role| role.may(act)), "{act:?}");
        }
        for (at, right) in KeyRight::ALL.into_iter().enumerate() {
            assert_eq!(allowed(Act::ALL.len() + at), Role::ALL.map(|role| role.may_give(right)), "{right:?}");
        }
        assert_eq!(rows.len(), Act::ALL.len() + KeyRight::ALL.len());
        let mut texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), rows.len());
    }
}
