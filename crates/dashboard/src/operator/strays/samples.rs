//! The pages about money that fits no payment, as samples for tests.

use askama::Template;

use super::{
    decide::{AssignPage, PaymentFacts},
    list::{Row, StraysPage},
    stray::StrayPage,
    wording::{Assigned, StrayFacts, TakenDecision},
};
use crate::{
    operator::tabs::Tab,
    receipts::wording::Answer,
    samples::{Setting, moment, url},
    shell::Section,
};

fn stray_facts(setting: Setting) -> StrayFacts {
    StrayFacts {
        url: url("/operator/strays/str_1"),
        id: "str_1".to_owned(),
        amount: setting.text(),
        bank: setting.text(),
        bank_url: url("/operator/banks/bac_1"),
        number: setting.text(),
        paid: moment(),
        received: moment(),
        receipt_id: setting.text(),
        unreadable: false,
        body: None,
    }
}

fn stray_unreadable(setting: Setting) -> String {
    let facts = StrayFacts { unreadable: true, body: Some(setting.text()), ..stray_facts(setting) };
    let page = StrayPage {
        shell: setting.shell(Section::Operator, false),
        list_url: url("/operator/strays"),
        facts,
        notice: None,
        decision: None,
        payment: String::new(),
        payment_mistake: None,
        returning: Answer::default(),
    };
    page.render().unwrap()
}

fn stray_decision(setting: Setting) -> TakenDecision {
    let project_url = url("/operator/projects/prj_1");
    let assigned = Some(Assigned { payment_id: "pay_1".to_owned(), project: setting.text(), project_url });
    TakenDecision { badge: setting.badge(), note: setting.text(), at: moment(), assigned }
}

fn stray_list(setting: Setting, rows: usize, decided: bool) -> String {
    let row = || Row { facts: stray_facts(setting), decision: decided.then(|| stray_decision(setting)) };
    let page = StraysPage {
        shell: setting.shell(Section::Operator, false),
        tab: Tab::Strays,
        base: url("/operator"),
        path: url("/operator/strays"),
        decided,
        open: (!decided).then(|| setting.text()),
        rows: std::iter::repeat_with(row).take(rows).collect(),
        paging: setting.paging(),
    };
    page.render().unwrap()
}

fn stray(setting: Setting, decided: bool) -> String {
    let page = StrayPage {
        shell: setting.shell(Section::Operator, false),
        list_url: url("/operator/strays"),
        facts: stray_facts(setting),
        notice: setting.mistake(),
        decision: decided.then(|| stray_decision(setting)),
        payment: setting.text(),
        payment_mistake: setting.mistake(),
        returning: Answer { note: setting.text(), mistake: setting.mistake() },
    };
    page.render().unwrap()
}

fn stray_assign(setting: Setting, pays: bool) -> String {
    let page = AssignPage {
        shell: setting.shell(Section::Operator, false),
        facts: stray_facts(setting),
        payment: PaymentFacts {
            id: "pay_1".to_owned(),
            project: setting.text(),
            project_url: url("/operator/projects/prj_1"),
            reference: setting.text(),
            method: setting.text(),
            amount: setting.text(),
            badge: setting.badge(),
        },
        unapplied: (!pays).then(|| setting.text()),
        answer: Answer { note: setting.text(), mistake: setting.mistake() },
    };
    page.render().unwrap()
}

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    vec![
        ("operator-strays", stray_list(setting, 2, false)),
        ("operator-strays-decided", stray_list(setting, 1, true)),
        ("operator-strays-empty", stray_list(setting, 0, false)),
        ("operator-strays-none-decided", stray_list(setting, 0, true)),
        ("operator-stray", stray(setting, false)),
        ("operator-stray-unreadable", stray_unreadable(setting)),
        ("operator-stray-decided", stray(setting, true)),
        ("operator-stray-assign", stray_assign(setting, true)),
        ("operator-stray-held", stray_assign(setting, false)),
    ]
}
