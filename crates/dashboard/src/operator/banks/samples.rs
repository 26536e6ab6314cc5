//! The pages about bank accounts, as samples for tests.

use askama::Template;

use super::{
    account::{AccountPage, CallRow, Command, CredentialRow, Handed, SettingRow},
    checklist::Step,
    compared::{Compared, DayRow, Sum},
    figures::{FigureRow, Figures, OwnCalls},
    list::{AccountRow, BanksPage, LastCall},
    wording::Use,
};
use crate::{
    operator::tabs::Tab,
    samples::{Setting, moment, url},
    shell::Section,
};

fn uses(setting: Setting) -> Vec<Use> {
    let project_url = url("/operator/projects/prj_1");
    vec![Use { project: setting.text(), project_url, method: setting.text(), usable: false }]
}

fn bank_list(setting: Setting, rows: usize) -> String {
    let row = || AccountRow {
        url: url("/operator/banks/bac_1"),
        name: setting.text(),
        profile: setting.text(),
        state: setting.badge(),
        uses: uses(setting),
        last_call: Some(LastCall { at: moment(), service: setting.text(), answer: setting.badge() }),
        numbers: "81% (81)".to_owned(),
        warnings: vec![setting.text()],
    };
    let page = BanksPage {
        shell: setting.shell(Section::Operator, false),
        tab: Tab::Banks,
        base: url("/operator"),
        rows: std::iter::repeat_with(row).take(rows).collect(),
        begin: setting.text(),
        strays: Some(setting.text()),
        differences: Some(setting.text()),
    };
    page.render().unwrap()
}

fn bank(setting: Setting, is_new: bool) -> String {
    let step =
        |done, next| Step { title: setting.text(), done, next, text: setting.text(), command: Some(setting.text()) };
    let credential = CredentialRow {
        kind: setting.text(),
        stage: setting.badge(),
        client_id: setting.text(),
        set: moment(),
        old: true,
    };
    let call = || CallRow {
        direction: setting.text(),
        at: moment(),
        service: setting.text(),
        code: setting.text(),
        answer: setting.badge(),
        latency_ms: 12,
    };
    let page = AccountPage {
        shell: setting.shell(Section::Operator, false),
        list_url: url("/operator/banks"),
        url: url("/operator/banks/bac_1"),
        id: "bac_1".to_owned(),
        name: setting.text(),
        profile: setting.text(),
        state: setting.badge(),
        enabled: !is_new,
        complete: is_new,
        created: moment(),
        numbers: setting.text(),
        warnings: vec![setting.text()],
        progress: setting.text(),
        steps: vec![step(true, false), step(false, true), step(false, false)],
        uses: if is_new { Vec::new() } else { uses(setting) },
        handed: vec![Handed { id: "client-id", label: setting.text(), value: setting.text() }],
        public_key: (!is_new).then(|| setting.text()),
        settings: vec![SettingRow { name: setting.text(), value: setting.text(), own: true }],
        credentials: if is_new { Vec::new() } else { vec![credential] },
        commands: vec![Command { id: "command-set", title: setting.text(), text: setting.text() }],
        compared: compared(setting, !is_new),
        figures: figures(setting, is_new),
        calls: if is_new { Vec::new() } else { vec![call()] },
        unproved: if is_new { Vec::new() } else { vec![call()] },
    };
    page.render().unwrap()
}

fn compared(setting: Setting, possible: bool) -> Compared {
    let sum = || Sum { count: 2, amount: Some(setting.text()) };
    let row = DayRow {
        day: "2026-11-14".to_owned(),
        by: setting.text(),
        matched: sum(),
        missing_here: sum(),
        missing_there: sum(),
        differing: sum(),
        bank_fees: sum(),
        at: moment(),
        bad: true,
    };
    let (rows, date) = (if possible { vec![row] } else { Vec::new() }, "2026-11-14".to_owned());
    Compared { possible, rows, date, mistake: setting.mistake(), limits: "required max=2026-11-14".to_owned() }
}

fn figures(setting: Setting, is_new: bool) -> Figures {
    let row = FigureRow {
        direction: setting.text(),
        service: setting.text(),
        code: setting.text(),
        answer: setting.badge(),
        count: 3,
        median_ms: 5,
        worst_ms: 70,
    };
    let ours = OwnCalls {
        state: setting.badge(),
        token: (!is_new).then(moment),
        due: setting.text(),
        oldest: (!is_new).then(moment),
    };
    Figures { ours: Some(ours), rows: if is_new { Vec::new() } else { vec![row] } }
}

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    vec![
        ("operator-banks", bank_list(setting, 2)),
        ("operator-banks-empty", bank_list(setting, 0)),
        ("operator-bank", bank(setting, false)),
        ("operator-bank-new", bank(setting, true)),
    ]
}
