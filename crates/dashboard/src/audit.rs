//! `/dashboard/<project>/audit`: who did what, the newest first. Pages for operators show the whole log in the same
//! rows.

#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{
    access::{Act, Role},
    audit::{Actor, AuditLine, Deed},
    audit_chain::Seal,
    key_rights::{KeyRight, KeyRights, READ_ONLY},
    project::Environment,
    time::Timestamp,
};
use engine::Audited;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{moment::Moment, page_error::PageError},
};

use crate::{
    labels::{key_rights_names, role_name},
    page::{Page, PublicPage},
    shell::{Section, Shell},
    table::{PageNumber, Paging},
    words::Words,
};

#[derive(Template)]
#[template(path = "audit.html")]
pub(crate) struct AuditPage {
    pub(crate) shell: Shell,
    pub(crate) log: Log,
    /// The log as files; none for members who may not take it out of the dashboard.
    pub(crate) files: Option<LogFiles>,
}

pub(crate) struct LogFiles {
    pub(crate) csv_url: String,
    pub(crate) json_url: String,
}

/// A part of the log, as a table.
pub(crate) struct Log {
    pub(crate) rows: Vec<LogRow>,
    pub(crate) paging: Paging,
}

pub(crate) struct LogRow {
    pub(crate) at: Moment,
    pub(crate) who: String,
    /// The network address of who did it, where it is known.
    pub(crate) address: String,
    pub(crate) deed: String,
    pub(crate) subject: String,
    pub(crate) detail: String,
    /// Where it is in its chain; empty until it is sealed.
    pub(crate) position: String,
    /// The project's name, where the log has lines of several projects.
    pub(crate) project: String,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/audit", get(show))
}

async fn show(page: Page) -> Result<Response, PageError> {
    let shell = page.shell(Section::Audit).await?;
    let number = PageNumber::of(&page);
    let listed = page.desk.audit(number.window()).await?;
    let paging = number.paging(&page, &page.path("/audit"), "", &listed);
    let rows = listed.items.iter().map(|audited| row(&page, audited, String::new())).collect();
    let files = page.desk.may(Act::ExportAudit).then(|| LogFiles {
        csv_url: page.url(page.path("/audit.csv")),
        json_url: page.url(page.path("/audit.jsonl")),
    });
    Ok(page.render(StatusCode::OK, &AuditPage { shell, log: Log { rows, paging }, files }))
}

pub(crate) fn row(page: &PublicPage, audited: &Audited, project: String) -> LogRow {
    let (line, words) = (&audited.line, page.words());
    let (who, address) = match &line.actor {
        Actor::User { id, address } => (audited.email().unwrap_or_else(|| id.to_string()), address.clone()),
        Actor::Key(id) => (id.to_string(), String::new()),
        Actor::CommandLine => (fl!(words, "audit-command-line"), String::new()),
        Actor::Stranger { address } => (fl!(words, "audit-stranger"), address.clone()),
    };
    LogRow {
        at: page.moment(line.at),
        who,
        address,
        deed: deed(words, line.deed),
        subject: subject(words, line),
        detail: detail(page, line),
        position: audited.seal.as_ref().map(|seal| position(words, seal)).unwrap_or_default(),
        project,
    }
}

fn position(words: Words, seal: &Seal) -> String {
    let position = seal.position.to_string();
    fl!(words, "audit-position", position = position)
}

/// What was done, in a sentence.
pub(crate) fn deed(words: Words, deed: Deed) -> String {
    match deed {
        Deed::KeyCreated => fl!(words, "deed-key-created"),
        Deed::KeyRevoked => fl!(words, "deed-key-revoked"),
        Deed::KeyRotated => fl!(words, "deed-key-rotated"),
        Deed::WebhookUrlChanged => fl!(words, "deed-webhook-url-changed"),
        Deed::WebhookSecretShown => fl!(words, "deed-webhook-secret-shown"),
        Deed::WebhookSecretRotated => fl!(words, "deed-webhook-secret-rotated"),
        Deed::WebhookResent => fl!(words, "deed-webhook-resent"),
        Deed::WebhooksRecovered => fl!(words, "deed-webhooks-recovered"),
        Deed::WebhookTested => fl!(words, "deed-webhook-tested"),
        Deed::LinkCreated => fl!(words, "deed-link-created"),
        Deed::LinkCancelled => fl!(words, "deed-link-cancelled"),
        Deed::LinkEdited => fl!(words, "deed-link-edited"),
        Deed::SaleCreated => fl!(words, "deed-sale-created"),
        Deed::SaleCancelled => fl!(words, "deed-sale-cancelled"),
        Deed::PaymentSimulated => fl!(words, "deed-payment-simulated"),
        Deed::ReceiptAccepted => fl!(words, "deed-receipt-accepted"),
        Deed::ReceiptAssigned => fl!(words, "deed-receipt-assigned"),
        Deed::ReceiptReturned => fl!(words, "deed-receipt-returned"),
        Deed::SecretsResealed => fl!(words, "deed-secrets-resealed"),
        Deed::BankAccountCreated => fl!(words, "deed-bank-account-created"),
        Deed::BankAccountChanged => fl!(words, "deed-bank-account-changed"),
        Deed::BankAccountEnabled => fl!(words, "deed-bank-account-enabled"),
        Deed::BankAccountDisabled => fl!(words, "deed-bank-account-disabled"),
        Deed::BankAccountAssigned => fl!(words, "deed-bank-account-assigned"),
        Deed::BankAccountTested => fl!(words, "deed-bank-account-tested"),
        Deed::BankKeyMade => fl!(words, "deed-bank-key-made"),
        Deed::BankKeyImported => fl!(words, "deed-bank-key-imported"),
        Deed::BankSecretSet => fl!(words, "deed-bank-secret-set"),
        Deed::BankRotated => fl!(words, "deed-bank-rotated"),
        Deed::BankDayCompared => fl!(words, "deed-bank-day-compared"),
        Deed::DifferenceSettled => fl!(words, "deed-difference-settled"),
        Deed::StrayStated => fl!(words, "deed-stray-stated"),
        Deed::StrayAssigned => fl!(words, "deed-stray-assigned"),
        Deed::StrayReturned => fl!(words, "deed-stray-returned"),
        Deed::ProjectCreated => fl!(words, "deed-project-created"),
        Deed::SettingsChanged => fl!(words, "deed-settings-changed"),
        Deed::ProjectApproved => fl!(words, "deed-project-approved"),
        Deed::ApprovalWithdrawn => fl!(words, "deed-approval-withdrawn"),
        Deed::ProjectActivated => fl!(words, "deed-project-activated"),
        Deed::ProjectDeactivated => fl!(words, "deed-project-deactivated"),
        Deed::MemberInvited => fl!(words, "deed-member-invited"),
        Deed::InviteWithdrawn => fl!(words, "deed-invite-withdrawn"),
        Deed::MemberJoined => fl!(words, "deed-member-joined"),
        Deed::RoleChanged => fl!(words, "deed-role-changed"),
        Deed::MemberRemoved => fl!(words, "deed-member-removed"),
        Deed::UserCreated => fl!(words, "deed-user-created"),
        Deed::OperatorMade => fl!(words, "deed-operator-made"),
        Deed::OperatorUnmade => fl!(words, "deed-operator-unmade"),
        Deed::UserDeactivated => fl!(words, "deed-user-deactivated"),
        Deed::UserActivated => fl!(words, "deed-user-activated"),
        Deed::UserRemoved => fl!(words, "deed-user-removed"),
        Deed::SignedIn => fl!(words, "deed-signed-in"),
        Deed::SignInRefused => fl!(words, "deed-sign-in-refused"),
        Deed::SignedOut => fl!(words, "deed-signed-out"),
        Deed::PasswordChanged => fl!(words, "deed-password-changed"),
        Deed::SessionEnded => fl!(words, "deed-session-ended"),
    }
}

fn subject(words: Words, line: &AuditLine) -> String {
    let subject = line.subject.as_str();
    let text = match line.deed {
        Deed::SessionEnded => (subject == "others").then(|| fl!(words, "audit-other-sessions")),
        Deed::WebhooksRecovered => subject.parse::<i64>().ok().map(|count| fl!(words, "audit-webhooks", count = count)),
        _ => None,
    };
    text.unwrap_or_else(|| subject.to_owned())
}

/// The log holds words of the API; the page shows them in its own language.
fn detail(page: &PublicPage, line: &AuditLine) -> String {
    let (words, detail) = (page.words(), line.detail.as_str());
    let text = match line.deed {
        Deed::MemberInvited | Deed::MemberJoined | Deed::RoleChanged => {
            Role::parse(detail).map(|role| role_name(words, role))
        }
        Deed::KeyCreated => new_key(words, detail),
        Deed::KeyRotated => detail.split_once(" until ").and_then(|(key, at)| {
            let until = page.moment(Timestamp::parse(at).ok()?).text;
            Some(fl!(words, "audit-rotated", key = key, until = until))
        }),
        Deed::ProjectCreated => Environment::parse(detail).map(|environment| match environment {
            Environment::Sandbox => fl!(words, "sandbox"),
            Environment::Production => fl!(words, "production"),
        }),
        Deed::UserCreated => (detail == "operator").then(|| fl!(words, "nav-operator")),
        Deed::SettingsChanged => {
            Some(detail.split(", ").map(|name| setting(words, name)).collect::<Vec<_>>().join(", "))
        }
        Deed::LinkEdited => Some(detail.split(", ").map(|name| link_term(words, name)).collect::<Vec<_>>().join(", ")),
        Deed::WebhooksRecovered => detail.strip_prefix("since ").and_then(|at| Timestamp::parse(at).ok()).map(|at| {
            let since = page.moment(at).text;
            fl!(words, "audit-since", since = since)
        }),
        Deed::SignInRefused => (!detail.is_empty()).then(|| fl!(words, "audit-last-of-hour")),
        Deed::WebhookUrlChanged => detail.is_empty().then(|| fl!(words, "audit-no-url")),
        _ => None,
    };
    text.unwrap_or_else(|| detail.to_owned())
}

/// `Server (payments, held-money; 203.0.113.0/24)` with the rights in words. Lines of earlier versions have the name alone.
fn new_key(words: Words, detail: &str) -> Option<String> {
    let (name, about) = detail.strip_suffix(')')?.rsplit_once(" (")?;
    let (rights, networks) =
        about.split_once("; ").map_or((about, None), |(rights, networks)| (rights, Some(networks)));
    let rights: KeyRights = match rights {
        READ_ONLY => KeyRights::NONE,
        rights => rights.split(", ").map(KeyRight::parse).collect::<Option<_>>()?,
    };
    let rights = key_rights_names(words, rights);
    Some(match networks {
        Some(networks) => format!("{name} ({rights}; {networks})"),
        None => format!("{name} ({rights})"),
    })
}

fn link_term(words: Words, name: &str) -> String {
    match name {
        "title" => fl!(words, "link-title"),
        "description" => fl!(words, "link-description"),
        "expires_at" => fl!(words, "link-expires"),
        other => other.to_owned(),
    }
}

fn setting(words: Words, name: &str) -> String {
    match name {
        "merchant" => fl!(words, "settings-merchant"),
        "success_word" => fl!(words, "settings-success"),
        "extra_events" => fl!(words, "hook-events"),
        "fees" => fl!(words, "audit-fees"),
        "banks" => fl!(words, "settings-banks"),
        "default_methods" => fl!(words, "settings-defaults"),
        "allowed_origins" => fl!(words, "settings-origins-label"),
        "logo" => fl!(words, "face-logo"),
        "colour" => fl!(words, "face-colour"),
        "contacts" => fl!(words, "face-contacts"),
        "frame_origins" => fl!(words, "settings-frames"),
        other => other.to_owned(),
    }
}
