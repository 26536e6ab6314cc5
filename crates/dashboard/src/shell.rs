//! What stands around every page: where the user is, where they can go, and what needs attention.

use askama::Template;
use domain::access::Role;
use engine::{FailingDeliveries, HeldSum};
use i18n_embed_fl::fl;
use web::page::assets::{self, Asset};

use crate::words::Words;

pub(crate) static STYLE: Asset = Asset::style("dashboard", &[assets::TOKENS, include_str!("../assets/dashboard.css")]);
pub(crate) static SCRIPT: Asset =
    Asset::script("dashboard", &[assets::COPY_TEXT, include_str!("../assets/dashboard.js")]);

/// Where a user sends that they keep a second factor that an operator has asked to lift.
pub(crate) const KEEP_FACTOR: &str = "/dashboard/account/factor/keep";

/// What stands around a page of a user who is signed in.
pub(crate) struct Shell {
    pub(crate) words: Words,
    /// `id` or `en`.
    pub(crate) language: &'static str,
    /// This same page in the other language.
    pub(crate) switch_url: String,
    pub(crate) style_url: String,
    pub(crate) script_url: String,
    pub(crate) email: String,
    pub(crate) is_operator: bool,
    pub(crate) form_token: String,
    pub(crate) home_url: String,
    pub(crate) new_project_url: String,
    pub(crate) account_url: String,
    pub(crate) sign_out_url: String,
    pub(crate) operator_url: String,
    /// The documentation; none where it is turned off.
    pub(crate) docs_url: Option<String>,
    /// The project of the page. On a page of a user or of the installation, the project that the user comes from, if any.
    pub(crate) project: Option<ShellProject>,
    /// All projects of the user.
    pub(crate) projects: Vec<ProjectChoice>,
    pub(crate) section: Section,
    pub(crate) notice: Option<Flash>,
    pub(crate) unusable: Option<Unusable>,
    /// The event stream that notifies the page of changes.
    pub(crate) live_url: Option<String>,
    pub(crate) lift: Option<LiftNotice>,
}

/// What stands between the title of a page and its content. It is a template of its own so that it is compiled once: what
/// `bases/frame.html` says itself is compiled into every page.
#[derive(Template)]
#[template(path = "shell.html")]
pub(crate) struct FrameTop<'a> {
    shell: &'a Shell,
}

/// The project whose page is shown.
pub(crate) struct ShellProject {
    pub(crate) name: String,
    pub(crate) sandbox: bool,
    /// Whether it is a production project of an installation for development, whose banks are not real.
    pub(crate) rehearsal: bool,
    /// `/dashboard/prj_…`.
    pub(crate) base: String,
    /// Whether the user's role sees the pages of its desk, and whether it sells at its counter.
    pub(crate) may_look: bool,
    pub(crate) may_sell: bool,
    pub(crate) attention: Attention,
}

/// What of a project needs attention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attention {
    /// Receipts without a decision.
    pub(crate) undecided: i64,
    pub(crate) failing: Failing,
}

/// Whether deliveries of webhooks fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Failing {
    #[default]
    No,
    /// Some have failed, and all of them are retried.
    Retrying,
    /// Some are not retried any more.
    Exhausted,
}

/// One of the user's projects.
pub(crate) struct ProjectChoice {
    pub(crate) url: String,
    pub(crate) name: String,
    pub(crate) sandbox: bool,
    /// The user's role in it.
    pub(crate) role: Role,
    /// Whether the page belongs to it.
    pub(crate) current: bool,
}

/// The entry of the menu that a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Home,
    Payments,
    Refunds,
    Links,
    Balance,
    Keys,
    Notifications,
    Counter,
    Simulator,
    Settings,
    Audit,
    Account,
    Operator,
    Other,
}

/// A sentence above the page: what was done, or why it was not.
pub(crate) struct Flash {
    pub(crate) text: String,
    pub(crate) bad: bool,
}

/// An operator has asked to lift the user's second factor, and it has not taken effect yet.
pub(crate) struct LiftNotice {
    pub(crate) text: String,
    /// Where the user sends that they keep it.
    pub(crate) keep_action: String,
}

/// Why a project takes no payments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    Inactive,
    AwaitingApproval,
}

/// What stands around a page without a session.
pub(crate) struct Bare {
    pub(crate) words: Words,
    pub(crate) language: &'static str,
    pub(crate) switch_url: String,
    pub(crate) style_url: String,
    pub(crate) script_url: String,
    pub(crate) home_url: String,
}

impl Shell {
    pub(crate) fn top(&self) -> FrameTop<'_> {
        FrameTop { shell: self }
    }

    /// Whether the user may do nothing in this project but sell, so that the menu has the counter alone.
    pub(crate) fn only_sells(&self) -> bool {
        self.project.as_ref().is_some_and(|project| !project.may_look)
    }

    /// Shows `text` above the page as an error, in place of what was done.
    pub(crate) fn warn(&mut self, text: String) {
        self.notice = Some(Flash { text, bad: true });
    }
}

impl Attention {
    pub(crate) fn of(held: &HeldSum, failing: &FailingDeliveries) -> Attention {
        let failing = match (failing.exhausted, failing.retrying) {
            (Some(_), _) => Failing::Exhausted,
            (None, Some(_)) => Failing::Retrying,
            (None, None) => Failing::No,
        };
        Attention { undecided: held.receipts, failing }
    }

    /// How many things need attention.
    pub(crate) fn count(self) -> i64 {
        self.undecided + i64::from(self.failing != Failing::No)
    }
}
