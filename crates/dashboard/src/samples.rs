//! What the samples of several pages share. The samples of a page are in `samples.rs` in the folder of its name, and
//! `page_rules.rs` has what must hold on all of them.

use domain::{access::Role, language::Language, money::Rupiah, time::Timestamp};
use engine::Day;
use web::page::moment::{self, Moment};

use crate::{
    chart::Chart,
    labels::Badge,
    letters::LetterRow,
    method_state::MethodState,
    shell::{Attention, Bare, Failing, Flash, LiftNotice, ProjectChoice, Section, Shell, ShellProject},
    table::Paging,
    words::{code, words},
};

pub(crate) const LANGUAGES: [Language; 2] = [Language::Indonesian, Language::English];
/// A text that tries to break out of its place, and a word that tries to push the page sideways.
pub(crate) const HOSTILE: &str =
    "</textarea><script>alert(1)</script>\"'&WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW";
const NOW: Timestamp = Timestamp::from_millis(1_794_753_000_000);

pub(crate) fn hostile() -> String {
    HOSTILE.to_owned()
}

pub(crate) fn text(text: &str) -> String {
    text.to_owned()
}

pub(crate) fn shell(language: Language) -> Shell {
    Shell {
        words: words(language),
        language: code(language),
        switch_url: "/dashboard?lang=en".to_owned(),
        style_url: "/assets/dashboard.css".into(),
        script_url: "/assets/dashboard.js".into(),
        email: "siti@example.com".to_owned(),
        is_operator: false,
        form_token: "token".to_owned(),
        home_url: "/dashboard".to_owned(),
        new_project_url: "/dashboard/projects/new".to_owned(),
        account_url: "/dashboard/account".to_owned(),
        sign_out_url: "/dashboard/sign-out".to_owned(),
        operator_url: "/dashboard/operator".to_owned(),
        docs_url: Some("/docs".to_owned()),
        project: Some(ShellProject {
            name: hostile(),
            sandbox: true,
            rehearsal: true,
            base: "/dashboard/prj_1".to_owned(),
            may_look: true,
            may_sell: true,
            attention: Attention { undecided: 1, failing: Failing::Exhausted },
        }),
        projects: vec![ProjectChoice {
            url: "/dashboard/prj_1".to_owned(),
            name: hostile(),
            sandbox: true,
            role: Role::Owner,
            current: true,
        }],
        section: Section::Home,
        notice: None,
        unusable: None,
        live_url: Some("/dashboard/prj_1/live".to_owned()),
        lift: None,
    }
}

pub(crate) fn now(language: Language) -> Moment {
    moment::moment(NOW, language)
}

pub(crate) fn badge(status: &'static str) -> Badge {
    Badge { status, text: "Dibayar".to_owned() }
}

pub(crate) fn chart(language: Language) -> Chart {
    let amounts = [150_000, 90_000, 0, 120_000, 80_000_000];
    let day = |amount| Day { begins: NOW, payments: 2, amount: Rupiah::new(amount) };
    Chart::of(&amounts.map(day), language)
}

pub(crate) fn paging() -> Paging {
    Paging { summary: "1–1".to_owned(), newer: Some("?page=1".to_owned()), older: Some("?page=3".to_owned()) }
}

/// The language of a sample page, and the text in all of its places.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) language: Language,
    pub(crate) text: &'static str,
}

pub(crate) fn moment() -> Moment {
    Moment { text: "15 November 2026, 21:30 WIB".to_owned(), utc: "2026-11-15T14:30:00.000Z".to_owned() }
}

pub(crate) fn url(path: &str) -> String {
    format!("/dashboard{path}")
}

impl Setting {
    pub(crate) fn text(self) -> String {
        self.text.to_owned()
    }

    pub(crate) fn mistake(self) -> Option<String> {
        Some(self.text())
    }

    pub(crate) fn shell(self, section: Section, has_project: bool) -> Shell {
        Shell {
            words: words(self.language),
            language: code(self.language),
            switch_url: url("?lang=en"),
            style_url: "/assets/dashboard.css?v=1".into(),
            script_url: "/assets/dashboard.js?v=1".into(),
            email: self.text(),
            is_operator: true,
            form_token: "0123456789abcdef".to_owned(),
            home_url: url(""),
            new_project_url: url("/projects/new"),
            account_url: url("/account"),
            sign_out_url: url("/sign-out"),
            operator_url: url("/operator"),
            docs_url: Some("/docs".to_owned()),
            project: has_project.then(|| ShellProject {
                name: self.text(),
                sandbox: true,
                rehearsal: true,
                base: url("/prj_1"),
                may_look: true,
                may_sell: true,
                attention: Attention { undecided: 1, failing: Failing::Retrying },
            }),
            projects: vec![ProjectChoice {
                url: url("/prj_1"),
                name: self.text(),
                sandbox: true,
                role: Role::Owner,
                current: has_project,
            }],
            section,
            notice: Some(Flash { text: self.text(), bad: true }),
            unusable: None,
            live_url: has_project.then(|| url("/prj_1/live")),
            lift: (!has_project).then(|| LiftNotice { text: self.text(), keep_action: url("/account/factor/keep") }),
        }
    }

    pub(crate) fn bare(self) -> Bare {
        Bare {
            words: words(self.language),
            language: code(self.language),
            switch_url: url("?lang=en"),
            style_url: "/assets/dashboard.css?v=1".into(),
            script_url: "/assets/dashboard.js?v=1".into(),
            home_url: url(""),
        }
    }

    /// Letters of a list, with what else a letter may have.
    pub(crate) fn letters(self, again: Option<String>) -> Vec<LetterRow> {
        let row = |status, again: Option<String>| LetterRow {
            kind: self.text(),
            address: self.text(),
            state: Badge { status, text: self.text() },
            queued: moment(),
            answer: self.text(),
            again,
        };
        vec![row("wait", None), row("bad", again)]
    }

    pub(crate) fn paging(self) -> Paging {
        Paging { summary: self.text(), newer: Some(url("?page=1")), older: Some(url("?page=3")) }
    }

    pub(crate) fn badge(self) -> Badge {
        Badge { status: "wait", text: self.text() }
    }

    pub(crate) fn methods(self) -> Vec<MethodState> {
        vec![MethodState { name: self.text(), badge: Badge { status: "wait", text: self.text() } }]
    }
}
