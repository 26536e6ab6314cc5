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
    password_reset::ResetMaker,
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

macro_rules! deeds_in_words {
    ($($name:ident $key:literal,)*) => {
        /// What was done, in a sentence.
        pub(crate) fn deed(words: Words, deed: Deed) -> String {
            match deed {
                $(Deed::$name => fl!(words, $key),)*
            }
        }
    };
}

deeds_in_words! {
    KeyCreated "deed-key-created",
    KeyRevoked "deed-key-revoked",
    KeyRotated "deed-key-rotated",
    WebhookUrlChanged "deed-webhook-url-changed",
    WebhookSecretShown "deed-webhook-secret-shown",
    WebhookSecretRotated "deed-webhook-secret-rotated",
    WebhookResent "deed-webhook-resent",
    WebhooksRecovered "deed-webhooks-recovered",
    WebhookTested "deed-webhook-tested",
    NoticeUrlChanged "deed-notice-url-changed",
    NoticeUrlRemoved "deed-notice-url-removed",
    NoticeSecretRotated "deed-notice-secret-rotated",
    NoticeTested "deed-notice-tested",
    LinkCreated "deed-link-created",
    LinkCancelled "deed-link-cancelled",
    LinkEdited "deed-link-edited",
    SaleCreated "deed-sale-created",
    SaleCancelled "deed-sale-cancelled",
    PaymentSimulated "deed-payment-simulated",
    ReceiptAccepted "deed-receipt-accepted",
    ReceiptAssigned "deed-receipt-assigned",
    ReceiptReturned "deed-receipt-returned",
    RefundCreated "deed-refund-created",
    RefundDestinationGiven "deed-refund-destination-given",
    RefundApproved "deed-refund-approved",
    RefundDeclined "deed-refund-declined",
    RefundCancelled "deed-refund-cancelled",
    RefundLinkRenewed "deed-refund-link-renewed",
    RefundMovedToTransfer "deed-refund-moved-to-transfer",
    RefundsExported "deed-refunds-exported",
    RefundMarkedDone "deed-refund-marked-done",
    RefundDoubted "deed-refund-doubted",
    RefundMarkedFailed "deed-refund-marked-failed",
    RefundMarkedReturned "deed-refund-marked-returned",
    RefundSimulated "deed-refund-simulated",
    SecretsResealed "deed-secrets-resealed",
    BankAccountCreated "deed-bank-account-created",
    BankAccountChanged "deed-bank-account-changed",
    BankAccountEnabled "deed-bank-account-enabled",
    BankAccountDisabled "deed-bank-account-disabled",
    BankAccountAssigned "deed-bank-account-assigned",
    BankAccountTested "deed-bank-account-tested",
    BankKeyMade "deed-bank-key-made",
    BankKeyImported "deed-bank-key-imported",
    BankSecretSet "deed-bank-secret-set",
    BankRotated "deed-bank-rotated",
    BankDayCompared "deed-bank-day-compared",
    DifferenceSettled "deed-difference-settled",
    StrayStated "deed-stray-stated",
    StrayAssigned "deed-stray-assigned",
    StrayReturned "deed-stray-returned",
    ProjectCreated "deed-project-created",
    SettingsChanged "deed-settings-changed",
    ProjectApproved "deed-project-approved",
    ApprovalWithdrawn "deed-approval-withdrawn",
    ProjectActivated "deed-project-activated",
    ProjectDeactivated "deed-project-deactivated",
    MemberInvited "deed-member-invited",
    InviteWithdrawn "deed-invite-withdrawn",
    MemberJoined "deed-member-joined",
    RoleChanged "deed-role-changed",
    MemberRemoved "deed-member-removed",
    UserCreated "deed-user-created",
    OperatorMade "deed-operator-made",
    OperatorUnmade "deed-operator-unmade",
    UserDeactivated "deed-user-deactivated",
    UserActivated "deed-user-activated",
    UserRemoved "deed-user-removed",
    SignedIn "deed-signed-in",
    SignInRefused "deed-sign-in-refused",
    SignedOut "deed-signed-out",
    PasswordChanged "deed-password-changed",
    ResetLinkMade "deed-reset-link-made",
    PasswordReset "deed-password-reset",
    SessionEnded "deed-session-ended",
    FactorAdded "deed-factor-added",
    FactorRemoved "deed-factor-removed",
    RecoveryCodesRenewed "deed-recovery-codes-renewed",
    RecoveryCodeUsed "deed-recovery-code-used",
    FactorLiftAsked "deed-factor-lift-asked",
    FactorLiftRefused "deed-factor-lift-refused",
    FactorLifted "deed-factor-lifted",
    FactorRequired "deed-factor-required",
    FactorNotRequired "deed-factor-not-required",
    LettersChosen "deed-letters-chosen",
    LettersStopped "deed-letters-stopped",
    LetterSentAgain "deed-letter-sent-again",
    ReceiptLettersChanged "deed-receipt-letters-changed",
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
        Deed::ResetLinkMade => ResetMaker::parse(detail).map(|maker| match maker {
            ResetMaker::Letter => fl!(words, "audit-reset-letter"),
            ResetMaker::Operator => fl!(words, "nav-operator"),
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
        "refunds" => fl!(words, "settings-refunds"),
        other => other.to_owned(),
    }
}
