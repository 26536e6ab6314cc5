//! The pages about people, settings and the installation, rendered from samples, and what must hold on all of them.

use askama::Template;
use domain::{access::Role, audit::Deed, language::Language};
use web::page::moment::Moment;

use crate::{
    account::{AccountPage, ProjectRow, SessionRow},
    audit::{self, AuditPage, Log, LogRow},
    invite::{InviteGone, InvitePage, Way},
    labels::Badge,
    logo::ShownLogo,
    members::{CreatedKeyRow, FreshInvite, InviteRow, MemberRow, MembersPage, RemovePage, RolePage, RoleRow},
    method_state::MethodState,
    new_project::NewProjectPage,
    operator::{
        audit::OperatorAuditPage,
        create::CreatePage,
        decide::DecisionPage,
        project::{ActLink, ProjectPage},
        projects::{self, ProjectsPage},
        tabs::Tab,
        users::{UserRow, UsersPage},
    },
    settings::face::{ColourForm, ContactField, ContactsForm, FacePage, Swatch, UsedColours},
    settings::view::{Check, Facts, MerchantForm, MethodsForm, OriginsForm, SettingsPage},
    shell::{Attention, Bare, Failing, Flash, ProjectChoice, Section, Shell, ShellProject},
    table::Paging,
    words::{code, words},
};

/// A text that tries to break out of its place.
const HOSTILE: &str = "<script>alert(1)</script>\"'&";

/// The language of a sample page, and the text in all of its places.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    language: Language,
    text: &'static str,
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
        }
    }

    fn bare(self) -> Bare {
        Bare {
            words: words(self.language),
            language: code(self.language),
            switch_url: url("?lang=en"),
            style_url: "/assets/dashboard.css?v=1".into(),
            script_url: "/assets/dashboard.js?v=1".into(),
            home_url: url(""),
        }
    }

    pub(crate) fn paging(self) -> Paging {
        Paging { summary: self.text(), newer: Some(url("?page=1")), older: Some(url("?page=3")) }
    }

    fn account(self, mistaken: bool) -> String {
        let session = |end_action| SessionRow {
            browser: self.text(),
            address: self.text(),
            since: moment(),
            seen: moment(),
            end_action,
        };
        let project = ProjectRow { url: url("/prj_1"), name: self.text(), sandbox: false, role: self.text() };
        let page = AccountPage {
            shell: self.shell(Section::Account, false),
            since: moment(),
            projects: if mistaken { vec![] } else { vec![project] },
            may_create_project: !mistaken,
            password_action: url("/account/password"),
            password_hint: self.text(),
            old_mistake: self.mistake().filter(|_| mistaken),
            new_mistake: self.mistake().filter(|_| mistaken),
            sessions: vec![session(None), session(Some(url("/account/sessions/ses_1/end")))],
            end_others_action: Some(url("/account/end-others")),
        };
        page.render().unwrap()
    }

    fn invite(self, way: Way) -> String {
        let page = InvitePage {
            frame: self.bare(),
            heading: self.text(),
            sandbox: false,
            role: self.text(),
            role_text: self.text(),
            email: self.text(),
            until: moment(),
            notice: self.mistake(),
            way,
        };
        page.render().unwrap()
    }

    fn invites(self) -> Vec<(&'static str, String)> {
        let (action, form_token) = (url("/invite/1"), "0123456789abcdef".to_owned());
        vec![
            (
                "invite-new-account",
                self.invite(Way::CreateAccount { action: action.clone(), hint: self.text(), mistake: self.mistake() }),
            ),
            ("invite-sign-in", self.invite(Way::SignIn { action: action.clone(), next: action.clone() })),
            ("invite-join", self.invite(Way::Join { action: action.clone(), form_token: form_token.clone() })),
            ("invite-other-account", self.invite(Way::OtherAccount { email: self.text(), action, form_token })),
            ("invite-gone", InviteGone { frame: self.bare() }.render().unwrap()),
        ]
    }

    fn new_project(self) -> String {
        let page = NewProjectPage {
            shell: self.shell(Section::Other, false),
            attempt: self.text(),
            action: url("/projects/new"),
            name: self.text(),
            name_mistake: self.mistake(),
            environment: "production",
            environment_mistake: self.mistake(),
        };
        page.render().unwrap()
    }

    fn settings(self, may_configure: bool) -> String {
        let check = |field: &str| Check { field: field.to_owned(), label: self.text(), checked: true };
        let page = SettingsPage {
            shell: self.shell(Section::Settings, true),
            base: url("/prj_1/settings"),
            may_configure,
            facts: Facts {
                project_id: self.text(),
                sandbox: true,
                state: Badge { status: "active", text: self.text() },
                fee_qris: "0,7%".to_owned(),
                fee_account: "Rp4.000".to_owned(),
            },
            method_states: self.methods(),
            merchant: MerchantForm {
                name: self.text(),
                name_mistake: self.mistake(),
                city: self.text(),
                city_mistake: self.mistake(),
                postal_code: self.text(),
                postal_mistake: None,
            },
            origins: OriginsForm { text: self.text(), mistake: self.mistake() },
            frames: OriginsForm { text: self.text(), mistake: self.mistake() },
            methods: MethodsForm {
                banks: vec![check("bank_bca")],
                defaults: vec![check("default_qris"), check("default_bca")],
                mistake: self.mistake(),
                offered: self.text(),
                chosen: self.text(),
            },
            success_word: "paid",
            success_mistake: self.mistake(),
        };
        page.render().unwrap()
    }

    fn face(self, may_configure: bool) -> String {
        let field = || ContactField { text: self.text(), mistake: self.mistake() };
        let swatch = || Swatch { label: self.text(), colour: "#0b57d0".to_owned() };
        let page = FacePage {
            shell: self.shell(Section::Settings, true),
            base: url("/prj_1/settings"),
            may_configure,
            logo: Some(ShownLogo { url: "/p/logo/0a.png".to_owned(), width: 480, height: 160 }),
            logo_hint: self.text(),
            logo_mistake: self.mistake(),
            colour: ColourForm {
                is_own: true,
                asked: self.text(),
                mistake: self.mistake(),
                used: Some(UsedColours { swatches: vec![swatch(), swatch()], is_adjusted: true }),
            },
            contacts: ContactsForm { whatsapp: field(), phone: field(), email: field(), site: field() },
        };
        page.render().unwrap()
    }

    fn members(self, may_manage: bool) -> String {
        let role = |word, chosen| RoleRow { word, name: self.text(), text: self.text(), chosen };
        let page = MembersPage {
            shell: self.shell(Section::Settings, true),
            base: url("/prj_1/settings"),
            may_manage,
            fresh: may_manage.then(|| FreshInvite { title: self.text(), url: self.text() }),
            members: vec![MemberRow {
                id: "usr_1".to_owned(),
                email: self.text(),
                is_self: true,
                role: self.text(),
                joined: moment(),
            }],
            invites: vec![InviteRow { id: "inv_1".to_owned(), email: self.text(), role: self.text(), until: moment() }],
            roles: vec![role("owner", false), role("viewer", true)],
            attempt: self.text(),
            email: self.text(),
            email_mistake: self.mistake(),
        };
        page.render().unwrap()
    }

    fn role(self) -> String {
        let page = RolePage {
            shell: self.shell(Section::Settings, true),
            members_url: url("/prj_1/settings/members"),
            action: url("/prj_1/settings/members/usr_1/role"),
            heading: self.text(),
            roles: vec![RoleRow { word: "owner", name: self.text(), text: self.text(), chosen: true }],
            keys: vec![CreatedKeyRow { id: "key_1".to_owned(), name: self.text(), rights: self.text() }],
        };
        page.render().unwrap()
    }

    fn remove(self) -> String {
        let page = RemovePage {
            shell: self.shell(Section::Settings, true),
            members_url: url("/prj_1/settings/members"),
            action: url("/prj_1/settings/members/usr_1/remove"),
            heading: self.text(),
            is_self: false,
            keys: vec![CreatedKeyRow { id: "key_1".to_owned(), name: self.text(), rights: self.text() }],
            unknown_keys: Some(self.text()),
        };
        page.render().unwrap()
    }

    fn log(self, rows: usize) -> Log {
        let row = || LogRow {
            at: moment(),
            who: self.text(),
            address: self.text(),
            deed: audit::deed(words(self.language), Deed::KeyCreated),
            subject: self.text(),
            detail: self.text(),
            project: self.text(),
        };
        Log { rows: std::iter::repeat_with(row).take(rows).collect(), paging: self.paging() }
    }

    fn audits(self) -> Vec<(&'static str, String)> {
        let log = |rows| AuditPage { shell: self.shell(Section::Audit, true), log: self.log(rows) }.render().unwrap();
        let whole = OperatorAuditPage {
            shell: self.shell(Section::Operator, false),
            tab: Tab::Log,
            base: url("/operator"),
            log: self.log(1),
        };
        vec![("audit", log(2)), ("audit-empty", log(0)), ("operator-audit", whole.render().unwrap())]
    }

    fn operator(self, rows: usize, waiting_only: bool) -> String {
        let row = || projects::ProjectRow {
            url: url("/operator/projects/prj_1"),
            name: self.text(),
            about: self.text(),
            state: Badge { status: "wait", text: self.text() },
            undecided: 1,
            failing: 0,
            last_payment: None,
        };
        let page = ProjectsPage {
            shell: self.shell(Section::Operator, false),
            tab: Tab::Projects,
            base: url("/operator"),
            total: 2,
            waiting: 1,
            waiting_only,
            rows: std::iter::repeat_with(row).take(rows).collect(),
            paging: self.paging(),
        };
        page.render().unwrap()
    }

    fn methods(self) -> Vec<MethodState> {
        vec![MethodState { name: self.text(), badge: Badge { status: "wait", text: self.text() } }]
    }

    fn operator_project(self) -> String {
        let act = |bad| ActLink { url: url("/operator/projects/prj_1/approve"), text: self.text(), bad };
        let page = ProjectPage {
            shell: self.shell(Section::Operator, false),
            base: url("/operator"),
            name: self.text(),
            project_id: "prj_1".to_owned(),
            sandbox: false,
            state: Badge { status: "wait", text: self.text() },
            created: moment(),
            members: 2,
            undecided: 1,
            failing: 0,
            last_payment: Some(moment()),
            methods: self.methods(),
            banks_url: url("/operator/banks"),
            acts: vec![act(false), act(true)],
            desk_url: Some(url("/prj_1")),
        };
        page.render().unwrap()
    }

    fn operators(self) -> Vec<(&'static str, String)> {
        let user = UserRow { id: "usr_1".to_owned(), email: self.text(), is_operator: true, since: moment() };
        let users = UsersPage {
            shell: self.shell(Section::Operator, false),
            tab: Tab::Users,
            base: url("/operator"),
            rows: vec![user],
            paging: self.paging(),
        };
        let decision = DecisionPage {
            shell: self.shell(Section::Operator, false),
            subject: self.text(),
            subject_url: url("/operator/projects/prj_1"),
            subject_id: "prj_1".to_owned(),
            action: url("/operator/projects/prj_1/deactivate"),
            heading: self.text(),
            effects: vec![self.text()],
            methods: self.methods(),
            button: self.text(),
            bad: true,
        };
        let create = CreatePage {
            shell: self.shell(Section::Operator, false),
            base: url("/operator"),
            attempt: self.text(),
            action: url("/operator/projects/new"),
            fresh: Some(FreshInvite { title: self.text(), url: self.text() }),
            name: self.text(),
            name_mistake: self.mistake(),
            owner: self.text(),
            owner_mistake: self.mistake(),
            environment: "sandbox",
            environment_mistake: None,
        };
        vec![
            ("operator", self.operator(1, false)),
            ("operator-project", self.operator_project()),
            ("operator-empty", self.operator(0, false)),
            ("operator-none-waiting", self.operator(0, true)),
            ("operator-users", users.render().unwrap()),
            ("operator-decide", decision.render().unwrap()),
            ("operator-create", create.render().unwrap()),
        ]
    }

    fn pages(self) -> Vec<(&'static str, String)> {
        let mut pages = vec![
            ("account", self.account(false)),
            ("account-mistaken", self.account(true)),
            ("new-project", self.new_project()),
            ("settings", self.settings(true)),
            ("face", self.face(true)),
            ("face-read", self.face(false)),
            ("settings-of-others", self.settings(false)),
            ("members", self.members(true)),
            ("members-of-others", self.members(false)),
            ("member-role", self.role()),
            ("member-remove", self.remove()),
        ];
        pages.extend(self.invites());
        pages.extend(self.audits());
        pages.extend(self.operators());
        pages.extend(self.banks());
        pages.extend(self.strays());
        pages.extend(self.differences());
        pages
    }
}

fn check(holds: impl Fn(&str, &'static str, &str)) {
    for language in [Language::Indonesian, Language::English] {
        for (name, html) in (Setting { language, text: HOSTILE }).pages() {
            holds(name, code(language), &html);
        }
    }
}

#[test]
fn every_page_has_its_language_one_heading_and_a_title() {
    check(|name, language, html| {
        assert!(html.contains(&format!("<html lang=\"{language}\">")), "{name}");
        assert_eq!(html.matches("<h1").count(), 1, "{name}");
        assert_eq!(html.matches("<main").count(), 1, "{name}");
        let title = html.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>")).unwrap().0;
        assert!(!title.trim_start_matches([' ', '·']).starts_with("Lunas"), "{name}: {title}");
        // A text that is missing is shown as its key.
        assert!(!html.contains("dash-") && !html.contains("No localization"), "{name}");
    });
}

#[test]
fn no_text_of_a_user_becomes_markup_and_no_page_breaks_its_policy() {
    check(|name, _, html| {
        assert_eq!(html.matches("<script").count(), 1, "{name}");
        assert!(!html.contains(HOSTILE), "{name}");
        assert!(!html.contains("<style") && !html.contains(" style=") && !html.contains(" onclick="), "{name}");
    });
}

#[test]
fn every_form_that_a_signed_in_user_posts_carries_their_token() {
    check(|name, _, html| {
        for form in html.split("<form").skip(1).map(|form| form.split("</form>").next().unwrap()) {
            let is_open_to_strangers = name == "invite-new-account" || name == "invite-sign-in";
            let posts = form.contains("method=\"post\"") && !is_open_to_strangers;
            assert_eq!(form.contains("name=\"form_token\" value=\"0123456789abcdef\""), posts, "{name}: {form}");
        }
    });
}

#[test]
fn a_member_who_may_not_change_anything_sees_no_form_for_it() {
    check(|name, _, html| {
        if name.ends_with("-of-others") {
            // The one that signs out is in the menu twice; searching changes nothing.
            let posted = html.split("<form").skip(1).filter(|form| form.contains("method=\"post\""));
            assert_eq!(posted.count(), 2, "{name}");
            assert!(!html.contains("<button class=\"main\""), "{name}");
        }
    });
}

#[test]
fn every_deed_has_a_sentence_of_its_own() {
    for language in [Language::Indonesian, Language::English] {
        let mut texts: Vec<String> = Deed::ALL.iter().map(|deed| audit::deed(words(language), *deed)).collect();
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), Deed::ALL.len());
    }
}
