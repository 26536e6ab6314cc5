//! The log of what members did, as samples for tests.

use askama::Template;
use domain::audit::Deed;

use super::{AuditPage, Log, LogFiles, LogRow, deed};
use crate::{
    samples::{LANGUAGES, Setting, moment, url},
    shell::Section,
    words::words,
};

pub(crate) fn log(setting: Setting, rows: usize) -> Log {
    let row = || LogRow {
        at: moment(),
        who: setting.text(),
        address: setting.text(),
        deed: deed(words(setting.language), Deed::KeyCreated),
        subject: setting.text(),
        detail: setting.text(),
        position: setting.text(),
        project: setting.text(),
    };
    Log { rows: std::iter::repeat_with(row).take(rows).collect(), paging: setting.paging() }
}

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    let page = |rows, files| {
        AuditPage { shell: setting.shell(Section::Audit, true), log: log(setting, rows), files }.render().unwrap()
    };
    let files = LogFiles { csv_url: url("/prj_1/audit.csv"), json_url: url("/prj_1/audit.jsonl") };
    vec![("audit", page(2, Some(files))), ("audit-empty", page(0, None))]
}

#[test]
fn every_deed_has_a_sentence_of_its_own() {
    for language in LANGUAGES {
        let mut texts: Vec<String> = Deed::ALL.iter().map(|of| deed(words(language), *of)).collect();
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), Deed::ALL.len());
    }
}
