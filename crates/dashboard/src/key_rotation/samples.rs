//! The page about rotating a key, as a sample for tests.

use askama::Template;
use domain::language::Language;

use super::{OverlapChoice, RotateKey};
use crate::{
    keys::samples::key_row,
    samples::{hostile, shell, text},
};

pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
    let overlap = |chosen| OverlapChoice { hours: text("24"), text: hostile(), chosen };
    let page = RotateKey {
        shell: shell(language),
        keys_url: text("/dashboard/prj_1/keys"),
        action: text("/dashboard/prj_1/keys/key_1/rotate"),
        attempt: text("0"),
        key: key_row(language),
        overlaps: vec![overlap(false), overlap(true)],
    };
    vec![("rotate key", page.render().unwrap())]
}
