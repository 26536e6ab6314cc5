//! The operators' pages about banks, rendered from samples. What must hold on them is checked with those about people.

use askama::Template;

use crate::{
    labels::Badge,
    operator::{
        banks::{
            account::{AccountPage, CallRow, Command, CredentialRow, Handed, SettingRow},
            checklist::Step,
            compared::{Compared, DayRow, Sum},
            figures::{FigureRow, Figures, OwnCalls},
            list::{AccountRow, BanksPage, LastCall},
            wording::Use,
        },
        differences::{
            list::DifferencesPage,
            settle::DifferencePage,
            wording::{DifferenceFacts, Settled},
        },
        strays::{
            decide::{AssignPage, PaymentFacts},
            list::{Row, StraysPage},
            stray::StrayPage,
            wording::{Assigned, StrayFacts, TakenDecision},
        },
        tabs::Tab,
    },
    people_samples::{Setting, moment, url},
    receipts::wording::Answer,
    shell::Section,
};

impl Setting {
    fn badge(self) -> Badge {
        Badge { status: "wait", text: self.text() }
    }

    fn uses(self) -> Vec<Use> {
        let project_url = url("/operator/projects/prj_1");
        vec![Use { project: self.text(), project_url, method: self.text(), usable: false }]
    }

    fn bank_list(self, rows: usize) -> String {
        let row = || AccountRow {
            url: url("/operator/banks/bac_1"),
            name: self.text(),
            profile: self.text(),
            state: self.badge(),
            uses: self.uses(),
            last_call: Some(LastCall { at: moment(), service: self.text(), answer: self.badge() }),
            numbers: "81% (81)".to_owned(),
            warnings: vec![self.text()],
        };
        let page = BanksPage {
            shell: self.shell(Section::Operator, false),
            tab: Tab::Banks,
            base: url("/operator"),
            rows: std::iter::repeat_with(row).take(rows).collect(),
            begin: self.text(),
            strays: Some(self.text()),
            differences: Some(self.text()),
        };
        page.render().unwrap()
    }

    fn bank(self, is_new: bool) -> String {
        let step = |done, next| Step { title: self.text(), done, next, text: self.text(), command: Some(self.text()) };
        let credential =
            CredentialRow { kind: self.text(), stage: self.badge(), client_id: self.text(), set: moment(), old: true };
        let call = || CallRow {
            direction: self.text(),
            at: moment(),
            service: self.text(),
            code: self.text(),
            answer: self.badge(),
            latency_ms: 12,
        };
        let page = AccountPage {
            shell: self.shell(Section::Operator, false),
            list_url: url("/operator/banks"),
            url: url("/operator/banks/bac_1"),
            id: "bac_1".to_owned(),
            name: self.text(),
            profile: self.text(),
            state: self.badge(),
            enabled: !is_new,
            complete: is_new,
            created: moment(),
            numbers: self.text(),
            warnings: vec![self.text()],
            progress: self.text(),
            steps: vec![step(true, false), step(false, true), step(false, false)],
            uses: if is_new { Vec::new() } else { self.uses() },
            handed: vec![Handed { id: "client-id", label: self.text(), value: self.text() }],
            public_key: (!is_new).then(|| self.text()),
            settings: vec![SettingRow { name: self.text(), value: self.text(), own: true }],
            credentials: if is_new { Vec::new() } else { vec![credential] },
            commands: vec![Command { id: "command-set", title: self.text(), text: self.text() }],
            compared: self.compared(!is_new),
            figures: self.figures(is_new),
            calls: if is_new { Vec::new() } else { vec![call()] },
            unproved: if is_new { Vec::new() } else { vec![call()] },
        };
        page.render().unwrap()
    }

    fn compared(self, possible: bool) -> Compared {
        let sum = || Sum { count: 2, amount: Some(self.text()) };
        let row = DayRow {
            day: "2026-11-14".to_owned(),
            by: self.text(),
            matched: sum(),
            missing_here: sum(),
            missing_there: sum(),
            differing: sum(),
            bank_fees: sum(),
            at: moment(),
            bad: true,
        };
        let (rows, date) = (if possible { vec![row] } else { Vec::new() }, "2026-11-14".to_owned());
        Compared { possible, rows, date, mistake: self.mistake(), limits: "required max=2026-11-14".to_owned() }
    }

    fn difference_facts(self, settled: bool) -> DifferenceFacts {
        DifferenceFacts {
            url: url("/operator/differences/look?account=bac_1"),
            title: self.text(),
            advice: self.text(),
            account_id: "bac_1".to_owned(),
            bank: self.text(),
            bank_url: url("/operator/banks/bac_1"),
            subject: self.text(),
            shown_subject: self.text(),
            kind: "amount",
            day: "2026-11-14".to_owned(),
            payment_id: self.text(),
            ours: self.text(),
            theirs: self.text(),
            found: moment(),
            settled: settled.then(|| Settled { at: moment(), note: self.text() }),
        }
    }

    fn difference_list(self, rows: usize, settled: bool) -> String {
        let page = DifferencesPage {
            shell: self.shell(Section::Operator, false),
            tab: Tab::Differences,
            base: url("/operator"),
            path: url("/operator/differences"),
            settled,
            open: (!settled).then(|| self.text()),
            rows: std::iter::repeat_with(|| self.difference_facts(settled)).take(rows).collect(),
            paging: self.paging(),
        };
        page.render().unwrap()
    }

    fn difference(self, settled: bool) -> String {
        let page = DifferencePage {
            shell: self.shell(Section::Operator, false),
            list_url: url("/operator/differences"),
            action: url("/operator/differences/settle"),
            facts: self.difference_facts(settled),
            notice: self.mistake(),
            answer: Answer { note: self.text(), mistake: self.mistake() },
        };
        page.render().unwrap()
    }

    pub(crate) fn differences(self) -> Vec<(&'static str, String)> {
        vec![
            ("operator-differences", self.difference_list(2, false)),
            ("operator-differences-settled", self.difference_list(1, true)),
            ("operator-differences-empty", self.difference_list(0, false)),
            ("operator-differences-none-settled", self.difference_list(0, true)),
            ("operator-difference", self.difference(false)),
            ("operator-difference-settled", self.difference(true)),
        ]
    }

    fn figures(self, is_new: bool) -> Figures {
        let row = FigureRow {
            direction: self.text(),
            service: self.text(),
            code: self.text(),
            answer: self.badge(),
            count: 3,
            median_ms: 5,
            worst_ms: 70,
        };
        let ours = OwnCalls {
            state: self.badge(),
            token: (!is_new).then(moment),
            due: self.text(),
            oldest: (!is_new).then(moment),
        };
        Figures { ours: Some(ours), rows: if is_new { Vec::new() } else { vec![row] } }
    }

    pub(crate) fn banks(self) -> Vec<(&'static str, String)> {
        vec![
            ("operator-banks", self.bank_list(2)),
            ("operator-banks-empty", self.bank_list(0)),
            ("operator-bank", self.bank(false)),
            ("operator-bank-new", self.bank(true)),
        ]
    }

    fn stray_facts(self) -> StrayFacts {
        StrayFacts {
            url: url("/operator/strays/str_1"),
            id: "str_1".to_owned(),
            amount: self.text(),
            bank: self.text(),
            bank_url: url("/operator/banks/bac_1"),
            number: self.text(),
            paid: moment(),
            received: moment(),
            receipt_id: self.text(),
            unreadable: false,
            body: None,
        }
    }

    fn stray_unreadable(self) -> String {
        let facts = StrayFacts { unreadable: true, body: Some(self.text()), ..self.stray_facts() };
        let page = StrayPage {
            shell: self.shell(Section::Operator, false),
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

    fn stray_decision(self) -> TakenDecision {
        let project_url = url("/operator/projects/prj_1");
        let assigned = Some(Assigned { payment_id: "pay_1".to_owned(), project: self.text(), project_url });
        TakenDecision { badge: self.badge(), note: self.text(), at: moment(), assigned }
    }

    fn stray_list(self, rows: usize, decided: bool) -> String {
        let row = || Row { facts: self.stray_facts(), decision: decided.then(|| self.stray_decision()) };
        let page = StraysPage {
            shell: self.shell(Section::Operator, false),
            tab: Tab::Strays,
            base: url("/operator"),
            path: url("/operator/strays"),
            decided,
            open: (!decided).then(|| self.text()),
            rows: std::iter::repeat_with(row).take(rows).collect(),
            paging: self.paging(),
        };
        page.render().unwrap()
    }

    fn stray(self, decided: bool) -> String {
        let page = StrayPage {
            shell: self.shell(Section::Operator, false),
            list_url: url("/operator/strays"),
            facts: self.stray_facts(),
            notice: self.mistake(),
            decision: decided.then(|| self.stray_decision()),
            payment: self.text(),
            payment_mistake: self.mistake(),
            returning: Answer { note: self.text(), mistake: self.mistake() },
        };
        page.render().unwrap()
    }

    fn stray_assign(self, pays: bool) -> String {
        let page = AssignPage {
            shell: self.shell(Section::Operator, false),
            facts: self.stray_facts(),
            payment: PaymentFacts {
                id: "pay_1".to_owned(),
                project: self.text(),
                project_url: url("/operator/projects/prj_1"),
                reference: self.text(),
                method: self.text(),
                amount: self.text(),
                badge: self.badge(),
            },
            unapplied: (!pays).then(|| self.text()),
            answer: Answer { note: self.text(), mistake: self.mistake() },
        };
        page.render().unwrap()
    }

    pub(crate) fn strays(self) -> Vec<(&'static str, String)> {
        vec![
            ("operator-strays", self.stray_list(2, false)),
            ("operator-strays-decided", self.stray_list(1, true)),
            ("operator-strays-empty", self.stray_list(0, false)),
            ("operator-strays-none-decided", self.stray_list(0, true)),
            ("operator-stray", self.stray(false)),
            ("operator-stray-unreadable", self.stray_unreadable()),
            ("operator-stray-decided", self.stray(true)),
            ("operator-stray-assign", self.stray_assign(true)),
            ("operator-stray-held", self.stray_assign(false)),
        ]
    }
}
