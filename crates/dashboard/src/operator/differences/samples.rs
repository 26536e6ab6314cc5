//! The pages about differences with banks, as samples for tests.

use askama::Template;

use super::{
    list::DifferencesPage,
    settle::DifferencePage,
    wording::{DifferenceFacts, Settled},
};
use crate::{
    operator::tabs::Tab,
    receipts::wording::Answer,
    samples::{Setting, moment, url},
    shell::Section,
};

fn difference_facts(setting: Setting, settled: bool) -> DifferenceFacts {
    DifferenceFacts {
        url: url("/operator/differences/look?account=bac_1"),
        title: setting.text(),
        advice: setting.text(),
        account_id: "bac_1".to_owned(),
        bank: setting.text(),
        bank_url: url("/operator/banks/bac_1"),
        subject: setting.text(),
        shown_subject: setting.text(),
        kind: "amount",
        day: "2026-11-14".to_owned(),
        payment_id: setting.text(),
        ours: setting.text(),
        theirs: setting.text(),
        found: moment(),
        settled: settled.then(|| Settled { at: moment(), note: setting.text() }),
    }
}

fn difference_list(setting: Setting, rows: usize, settled: bool) -> String {
    let page = DifferencesPage {
        shell: setting.shell(Section::Operator, false),
        tab: Tab::Differences,
        base: url("/operator"),
        path: url("/operator/differences"),
        settled,
        open: (!settled).then(|| setting.text()),
        rows: std::iter::repeat_with(|| difference_facts(setting, settled)).take(rows).collect(),
        paging: setting.paging(),
    };
    page.render().unwrap()
}

fn difference(setting: Setting, settled: bool) -> String {
    let page = DifferencePage {
        shell: setting.shell(Section::Operator, false),
        list_url: url("/operator/differences"),
        action: url("/operator/differences/settle"),
        facts: difference_facts(setting, settled),
        notice: setting.mistake(),
        answer: Answer { note: setting.text(), mistake: setting.mistake() },
    };
    page.render().unwrap()
}

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    vec![
        ("operator-differences", difference_list(setting, 2, false)),
        ("operator-differences-settled", difference_list(setting, 1, true)),
        ("operator-differences-empty", difference_list(setting, 0, false)),
        ("operator-differences-none-settled", difference_list(setting, 0, true)),
        ("operator-difference", difference(setting, false)),
        ("operator-difference-settled", difference(setting, true)),
    ]
}
