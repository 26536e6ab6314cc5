//! The pages about all projects and users, as samples for tests.

use askama::Template;

use super::{
    audit::OperatorAuditPage,
    create::CreatePage,
    decide::DecisionPage,
    letters::{LetterFilterLink, LettersPage, OperatorNotices},
    project::{ActLink, ProjectPage},
    projects::{self, ProjectsPage},
    refunds::{self, RefundPage, RefundsPage, UncertainForm},
    tabs::Tab,
    user::{MembershipRow, UserFile},
    user_decide::UserDecisionPage,
    user_reset::UserResetPage,
    users::{LiftPage, UserFactor, UserRow, UsersPage},
};
use crate::{
    audit::samples::log,
    labels::Badge,
    members::{CreatedKeyRow, FreshInvite},
    payment::customer::Fact,
    receipts::wording::Answer,
    refunds::uncertain::Uncertainty,
    samples::{Setting, moment, url},
    shell::Section,
};

fn operator(setting: Setting, rows: usize, waiting_only: bool) -> String {
    let row = || projects::ProjectRow {
        url: url("/operator/projects/prj_1"),
        name: setting.text(),
        about: setting.text(),
        state: Badge { status: "wait", text: setting.text() },
        undecided: 1,
        failing: 0,
        last_payment: None,
    };
    let page = ProjectsPage {
        shell: setting.shell(Section::Operator, false),
        tab: Tab::Projects,
        base: url("/operator"),
        total: 2,
        waiting: 1,
        waiting_only,
        rows: std::iter::repeat_with(row).take(rows).collect(),
        paging: setting.paging(),
    };
    page.render().unwrap()
}

fn letters(setting: Setting, has_mail: bool) -> String {
    let filter = |is_current| LetterFilterLink { url: url("/operator/letters"), text: setting.text(), is_current };
    let page = LettersPage {
        shell: setting.shell(Section::Operator, false),
        tab: Tab::Letters,
        base: url("/operator"),
        has_mail,
        notices: has_mail
            .then(|| OperatorNotices { text: setting.text(), test_url: url("/operator/letters/test-notice") }),
        filters: vec![filter(true), filter(false)],
        rows: if has_mail { setting.letters(Some(url("/operator/letters/ltr_1/again"))) } else { vec![] },
        paging: setting.paging(),
    };
    page.render().unwrap()
}

fn operator_project(setting: Setting) -> String {
    let act = |bad| ActLink { url: url("/operator/projects/prj_1/approve"), text: setting.text(), bad };
    let page = ProjectPage {
        shell: setting.shell(Section::Operator, false),
        base: url("/operator"),
        name: setting.text(),
        project_id: "prj_1".to_owned(),
        sandbox: false,
        state: Badge { status: "wait", text: setting.text() },
        created: moment(),
        members: 2,
        undecided: 1,
        failing: 0,
        last_payment: Some(moment()),
        methods: setting.methods(),
        banks_url: url("/operator/banks"),
        acts: vec![act(false), act(true)],
        desk_url: Some(url("/prj_1")),
    };
    page.render().unwrap()
}

fn operator_user(setting: Setting) -> String {
    let act = |bad| ActLink { url: url("/operator/users/usr_1/remove"), text: setting.text(), bad };
    let page = UserFile {
        shell: setting.shell(Section::Operator, false),
        users_url: url("/operator/users"),
        email: setting.text(),
        user_id: "usr_1".to_owned(),
        is_operator: true,
        state: Badge { status: "inactive", text: setting.text() },
        since: moment(),
        projects: vec![MembershipRow {
            url: url("/operator/projects/prj_1"),
            name: setting.text(),
            role: setting.text(),
        }],
        acts: vec![act(false), act(true)],
    };
    page.render().unwrap()
}

fn user_decide(setting: Setting, refusal: Option<String>) -> String {
    let page = UserDecisionPage {
        shell: setting.shell(Section::Operator, false),
        user_url: url("/operator/users/usr_1"),
        email: setting.text(),
        user_id: "usr_1".to_owned(),
        action: url("/operator/users/usr_1/remove"),
        heading: setting.text(),
        effects: vec![setting.text()],
        refusal,
        keys: vec![CreatedKeyRow { id: "key_1".to_owned(), name: setting.text(), rights: setting.text() }],
        button: setting.text(),
        bad: true,
    };
    page.render().unwrap()
}

fn user_reset(setting: Setting, by_letter: bool, link: Option<String>) -> String {
    let page = UserResetPage {
        shell: setting.shell(Section::Operator, false),
        user_url: url("/operator/users/usr_1"),
        email: setting.text(),
        heading: setting.text(),
        user_id: "usr_1".to_owned(),
        action: url("/operator/users/usr_1/reset"),
        by_letter,
        link,
    };
    page.render().unwrap()
}

fn users(setting: Setting) -> String {
    let user = |factor| UserRow {
        id: "usr_1".to_owned(),
        url: url("/operator/users/usr_1"),
        email: setting.text(),
        is_operator: true,
        is_active: false,
        since: moment(),
        factor,
    };
    let page = UsersPage {
        shell: setting.shell(Section::Operator, false),
        tab: Tab::Users,
        base: url("/operator"),
        rows: vec![
            user(UserFactor::None),
            user(UserFactor::Has { lift_url: url("/operator/users/usr_1/lift") }),
            user(UserFactor::Lifting { at: setting.text() }),
        ],
        paging: setting.paging(),
    };
    page.render().unwrap()
}

fn lift(setting: Setting) -> String {
    let page = LiftPage {
        shell: setting.shell(Section::Operator, false),
        users_url: url("/operator/users"),
        action: url("/operator/users/usr_1/lift"),
        heading: setting.text(),
    };
    page.render().unwrap()
}

fn refunds(setting: Setting, rows: usize) -> String {
    let row = || refunds::Row {
        url: url("/operator/refunds/rfd_1"),
        amount: setting.text(),
        project: setting.text(),
        road: setting.text(),
        badge: setting.badge(),
        created: moment(),
    };
    let page = RefundsPage {
        shell: setting.shell(Section::Operator, false),
        tab: Tab::Refunds,
        base: url("/operator"),
        rows: std::iter::repeat_with(row).take(rows).collect(),
        paging: setting.paging(),
    };
    page.render().unwrap()
}

fn refund(setting: Setting, waits: bool, may_approve: bool) -> String {
    let page = RefundPage {
        shell: setting.shell(Section::Operator, false),
        list_url: url("/operator/refunds"),
        url: url("/operator/refunds/rfd_1"),
        notice: setting.mistake(),
        version: "1".to_owned(),
        heading: setting.text(),
        amount: setting.text(),
        badge: setting.badge(),
        sentence: setting.text(),
        project: setting.text(),
        project_url: url("/operator/projects/prj_1"),
        facts: vec![Fact { label: setting.text(), text: setting.text() }],
        created: moment(),
        warning: setting.mistake(),
        waits,
        may_approve,
        decline: Answer { note: setting.text(), mistake: setting.mistake() },
        uncertain: (!waits).then(|| UncertainForm {
            known: Uncertainty {
                sentences: vec![setting.text()],
                doubted: Some(setting.text()),
                asks_confirmation: true,
            },
            failed: Answer { note: setting.text(), mistake: setting.mistake() },
        }),
    };
    page.render().unwrap()
}

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    let decision = DecisionPage {
        shell: setting.shell(Section::Operator, false),
        subject: setting.text(),
        subject_url: url("/operator/projects/prj_1"),
        subject_id: "prj_1".to_owned(),
        action: url("/operator/projects/prj_1/deactivate"),
        heading: setting.text(),
        effects: vec![setting.text()],
        methods: setting.methods(),
        button: setting.text(),
        bad: true,
    };
    let create = CreatePage {
        shell: setting.shell(Section::Operator, false),
        base: url("/operator"),
        attempt: setting.text(),
        action: url("/operator/projects/new"),
        fresh: Some(FreshInvite { title: setting.text(), text: setting.text(), url: setting.text() }),
        name: setting.text(),
        name_mistake: setting.mistake(),
        owner: setting.text(),
        owner_mistake: setting.mistake(),
        environment: "sandbox",
        environment_mistake: None,
    };
    let audit = OperatorAuditPage {
        shell: setting.shell(Section::Operator, false),
        tab: Tab::Log,
        base: url("/operator"),
        log: log(setting, 1),
    };
    vec![
        ("operator-letters", letters(setting, true)),
        ("operator-letters-none", letters(setting, false)),
        ("operator-audit", audit.render().unwrap()),
        ("operator", operator(setting, 1, false)),
        ("operator-project", operator_project(setting)),
        ("operator-empty", operator(setting, 0, false)),
        ("operator-none-waiting", operator(setting, 0, true)),
        ("operator-users", users(setting)),
        ("operator-user", operator_user(setting)),
        ("operator-user-decide", user_decide(setting, None)),
        ("operator-user-refused", user_decide(setting, Some(setting.text()))),
        ("operator-user-reset", user_reset(setting, true, None)),
        ("operator-user-reset-by-hand", user_reset(setting, false, None)),
        ("operator-user-reset-link", user_reset(setting, false, Some(setting.text()))),
        ("operator-lift", lift(setting)),
        ("operator-refunds", refunds(setting, 2)),
        ("operator-no-refunds", refunds(setting, 0)),
        ("operator-refund", refund(setting, true, true)),
        ("operator-own-refund", refund(setting, true, false)),
        ("operator-ended-refund", refund(setting, false, false)),
        ("operator-decide", decision.render().unwrap()),
        ("operator-create", create.render().unwrap()),
    ]
}
