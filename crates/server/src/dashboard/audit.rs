//! `/dashboard/<project>/audit`: who did what, the newest first. Operators read the whole log with the same eyes.

use askama::Template;
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use domain::{
    access::Role,
    audit::{Actor, AuditLine, Deed},
    project::Environment,
    time::Timestamp,
};
use engine::Audited;
use i18n_embed_fl::fl;

use super::{
    session::AtDesk,
    shell::{self, Section, Shell},
    table::{PageNumber, Paging},
};
use crate::{
    app::App,
    pages::{
        moment::{Moment, moment},
        refused::Refused,
        render::page,
        visitor::Visitor,
        words::Words,
    },
};

#[derive(Template)]
#[template(path = "dashboard/audit.html")]
pub(super) struct AuditPage {
    pub(super) shell: Shell,
    pub(super) log: Log,
}

/// A part of the log, as a table.
pub(super) struct Log {
    pub(super) rows: Vec<LogRow>,
    pub(super) paging: Paging,
}

pub(super) struct LogRow {
    pub(super) at: Moment,
    pub(super) who: String,
    /// Where they were, when that is known.
    pub(super) address: String,
    pub(super) deed: String,
    pub(super) subject: String,
    pub(super) detail: String,
    /// Whose log it is, where several are read at once.
    pub(super) project: String,
}

pub(super) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/audit", get(show))
}

async fn show(State(app): State<App>, visitor: Visitor, at: AtDesk) -> Result<Response, Refused> {
    let shell = shell::at_desk(&app, &visitor, &at, Section::Audit).await?;
    let number = PageNumber::of(&visitor);
    let listed = at.desk.audit(number.window()).await?;
    let path = format!("/dashboard/{}/audit", at.desk.project().id);
    let paging = number.paging(&app, &path, "", &listed, shell.words);
    let rows = listed.items.iter().map(|audited| row(&visitor, shell.words, audited, String::new())).collect();
    Ok(page(StatusCode::OK, &AuditPage { shell, log: Log { rows, paging } }))
}

pub(super) fn row(visitor: &Visitor, words: Words, audited: &Audited, project: String) -> LogRow {
    let Audited { line, user } = audited;
    let email = user.as_ref().map(|user| user.email.to_string());
    let (who, address) = match &line.actor {
        Actor::User { id, address } => (email.unwrap_or_else(|| id.to_string()), address.clone()),
        Actor::Key(id) => (id.to_string(), String::new()),
        Actor::CommandLine => (fl!(words, "dash-audit-command-line"), String::new()),
        Actor::Stranger { address } => (fl!(words, "dash-audit-stranger"), address.clone()),
    };
    LogRow {
        at: moment(line.at, visitor.language),
        who,
        address,
        deed: deed(words, line.deed),
        subject: subject(words, line),
        detail: detail(visitor, words, line),
        project,
    }
}

/// What was done, in a sentence.
pub(super) fn deed(words: Words, deed: Deed) -> String {
    match deed {
        Deed::KeyCreated => fl!(words, "dash-deed-key-created"),
        Deed::KeyRevoked => fl!(words, "dash-deed-key-revoked"),
        Deed::WebhookUrlChanged => fl!(words, "dash-deed-webhook-url-changed"),
        Deed::WebhookSecretShown => fl!(words, "dash-deed-webhook-secret-shown"),
        Deed::WebhookSecretRotated => fl!(words, "dash-deed-webhook-secret-rotated"),
        Deed::WebhookResent => fl!(words, "dash-deed-webhook-resent"),
        Deed::WebhooksRecovered => fl!(words, "dash-deed-webhooks-recovered"),
        Deed::WebhookTested => fl!(words, "dash-deed-webhook-tested"),
        Deed::LinkCreated => fl!(words, "dash-deed-link-created"),
        Deed::LinkCancelled => fl!(words, "dash-deed-link-cancelled"),
        Deed::PaymentSimulated => fl!(words, "dash-deed-payment-simulated"),
        Deed::ReceiptAccepted => fl!(words, "dash-deed-receipt-accepted"),
        Deed::ReceiptReturned => fl!(words, "dash-deed-receipt-returned"),
        Deed::ProjectCreated => fl!(words, "dash-deed-project-created"),
        Deed::SettingsChanged => fl!(words, "dash-deed-settings-changed"),
        Deed::ProjectApproved => fl!(words, "dash-deed-project-approved"),
        Deed::ApprovalWithdrawn => fl!(words, "dash-deed-approval-withdrawn"),
        Deed::ProjectActivated => fl!(words, "dash-deed-project-activated"),
        Deed::ProjectDeactivated => fl!(words, "dash-deed-project-deactivated"),
        Deed::MemberInvited => fl!(words, "dash-deed-member-invited"),
        Deed::InviteWithdrawn => fl!(words, "dash-deed-invite-withdrawn"),
        Deed::MemberJoined => fl!(words, "dash-deed-member-joined"),
        Deed::RoleChanged => fl!(words, "dash-deed-role-changed"),
        Deed::MemberRemoved => fl!(words, "dash-deed-member-removed"),
        Deed::UserCreated => fl!(words, "dash-deed-user-created"),
        Deed::OperatorMade => fl!(words, "dash-deed-operator-made"),
        Deed::OperatorUnmade => fl!(words, "dash-deed-operator-unmade"),
        Deed::SignedIn => fl!(words, "dash-deed-signed-in"),
        Deed::SignInRefused => fl!(words, "dash-deed-sign-in-refused"),
        Deed::SignedOut => fl!(words, "dash-deed-signed-out"),
        Deed::PasswordChanged => fl!(words, "dash-deed-password-changed"),
        Deed::SessionEnded => fl!(words, "dash-deed-session-ended"),
    }
}

fn subject(words: Words, line: &AuditLine) -> String {
    match (line.deed, line.subject.as_str()) {
        (Deed::SessionEnded, "others") => fl!(words, "dash-audit-other-sessions"),
        (Deed::WebhooksRecovered, count) => fl!(words, "dash-audit-webhooks", count = count),
        (_, subject) => subject.to_owned(),
    }
}

/// The log keeps words of the API; people read their own.
fn detail(visitor: &Visitor, words: Words, line: &AuditLine) -> String {
    let detail = line.detail.as_str();
    let said = match line.deed {
        Deed::MemberInvited | Deed::MemberJoined | Deed::RoleChanged => {
            Role::parse(detail).map(|role| shell::role_name(words, role))
        }
        Deed::ProjectCreated => Environment::parse(detail).map(|environment| match environment {
            Environment::Sandbox => fl!(words, "dash-sandbox"),
            Environment::Production => fl!(words, "dash-production"),
        }),
        Deed::UserCreated => (detail == "operator").then(|| fl!(words, "dash-nav-operator")),
        Deed::SettingsChanged => {
            Some(detail.split(", ").map(|name| setting(words, name)).collect::<Vec<_>>().join(", "))
        }
        Deed::WebhooksRecovered => detail.strip_prefix("since ").and_then(|at| Timestamp::parse(at).ok()).map(|at| {
            let since = moment(at, visitor.language).text;
            fl!(words, "dash-audit-since", since = since)
        }),
        Deed::WebhookUrlChanged => detail.is_empty().then(|| fl!(words, "dash-audit-no-url")),
        _ => None,
    };
    said.unwrap_or_else(|| detail.to_owned())
}

fn setting(words: Words, name: &str) -> String {
    match name {
        "merchant" => fl!(words, "dash-settings-merchant"),
        "success_word" => fl!(words, "dash-settings-success"),
        "fees" => fl!(words, "dash-audit-fees"),
        "banks" => fl!(words, "dash-settings-banks"),
        "default_methods" => fl!(words, "dash-settings-defaults"),
        "allowed_origins" => fl!(words, "dash-settings-origins-label"),
        other => other.to_owned(),
    }
}
