//! What pages say about bank accounts: their state, their credentials, and the banks' calls.

use domain::{
    bank_account::{Credential, CredentialKind, Stage},
    id::ProjectId,
    method::Method,
};
use engine::{BankAccountFile, Error, Missing};
use i18n_embed_fl::fl;

use crate::{
    labels::{Badge, method_name},
    operator::tabs::project_path,
    page::OperatorPage,
    words::Words,
};

/// A project that uses an account for one method.
pub(crate) struct Use {
    pub(crate) project: String,
    pub(crate) project_url: String,
    pub(crate) method: String,
    /// Whether the project may take payments.
    pub(crate) usable: bool,
}

pub(crate) async fn uses(page: &OperatorPage, assignments: &[(ProjectId, Method)]) -> Result<Vec<Use>, Error> {
    let mut uses = Vec::new();
    for (id, method) in assignments {
        let project = page.operator.project(*id).await?;
        uses.push(Use {
            project_url: page.url(project_path(*id)),
            method: method_name(page.words(), *method),
            usable: project.is_usable(),
            project: project.name,
        });
    }
    Ok(uses)
}

pub(crate) fn state(words: Words, file: &BankAccountFile) -> Badge {
    match (file.account.enabled, file.missing.is_empty()) {
        (true, _) => Badge { status: "active", text: fl!(words, "bank-enabled") },
        (false, true) => Badge { status: "inactive", text: fl!(words, "bank-disabled") },
        (false, false) => Badge { status: "wait", text: fl!(words, "bank-incomplete") },
    }
}

pub(crate) fn credential_name(words: Words, kind: CredentialKind) -> String {
    match kind {
        CredentialKind::OurKey => fl!(words, "bank-our-key"),
        CredentialKind::BankKey => fl!(words, "bank-bank-key"),
        CredentialKind::Outbound => fl!(words, "bank-outbound"),
        CredentialKind::Inbound => fl!(words, "bank-inbound"),
    }
}

pub(crate) fn stage(words: Words, credential: &Credential) -> Badge {
    match credential.stage {
        Stage::Current => Badge { status: "good", text: fl!(words, "bank-current") },
        Stage::Next => Badge { status: "wait", text: fl!(words, "bank-next") },
    }
}

/// What an account still needs, with commas. A setting is called what the command line calls it.
pub(crate) fn missing(words: Words, missing: &[Missing]) -> String {
    let name = |missing: &Missing| match missing {
        Missing::Setting(name) => (*name).to_owned(),
        Missing::Credential(kind) => within_sentence(&credential_name(words, *kind)),
    };
    missing.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn within_sentence(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

/// A service by its name and its number in SNAP.
pub(crate) fn service(words: Words, number: i64) -> String {
    match number {
        11 => fl!(words, "bank-service-balance"),
        14 => fl!(words, "bank-service-statement"),
        15 | 16 | 42 => fl!(words, "bank-service-holder", number = number),
        17 | 18 | 22 | 23 | 43 => fl!(words, "bank-service-transfer", number = number),
        24 => fl!(words, "bank-service-inquiry"),
        25 => fl!(words, "bank-service-payment"),
        26 => fl!(words, "bank-service-va-status"),
        27 => fl!(words, "bank-service-va-create"),
        31 => fl!(words, "bank-service-va-delete"),
        34 => fl!(words, "bank-service-va-notice"),
        35 => fl!(words, "bank-service-report"),
        36 => fl!(words, "bank-service-transfer-status"),
        47 => fl!(words, "bank-service-qr-create"),
        51 => fl!(words, "bank-service-qr-status"),
        52 => fl!(words, "bank-service-qr-notice"),
        55 => fl!(words, "bank-service-debit-status"),
        56 => fl!(words, "bank-service-debit-notice"),
        57 => fl!(words, "bank-service-debit-cancel"),
        58 | 78 => fl!(words, "bank-service-refund", number = number),
        73 => fl!(words, "bank-service-token"),
        75 | 76 => fl!(words, "bank-service-transfer-notice", number = number),
        77 => fl!(words, "bank-service-qr-cancel"),
        other => other.to_string(),
    }
}

/// Who has called whom.
pub(crate) fn direction(words: Words, outbound: bool) -> String {
    match outbound {
        true => fl!(words, "bank-to-bank"),
        false => fl!(words, "bank-from-bank"),
    }
}

/// How a call ended: what we answered the bank, or what it answered us.
pub(crate) fn answer(words: Words, file: &BankAccountFile, outbound: bool, service: i64, code: &str) -> Badge {
    match outbound {
        true => their_answer(words, code),
        false => our_answer(words, file, service, code),
    }
}

/// A code of digits begins with an HTTP status; a word is what happened in place of an answer.
fn their_answer(words: Words, code: &str) -> Badge {
    let status = code.strip_prefix("http_").unwrap_or(code);
    let (badge, text) = match code {
        "not_reached" => ("bad", fl!(words, "bank-code-not-reached")),
        "timeout" => ("bad", fl!(words, "bank-code-too-late")),
        "settings" => ("bad", fl!(words, "bank-code-not-sent")),
        "cut_off" | "unreadable" | "bad_qr" | "bad_number" => ("bad", fl!(words, "bank-code-unusable")),
        _ if status.starts_with("200") => ("good", fl!(words, "bank-code-answered")),
        _ if status.starts_with("202") => ("wait", fl!(words, "bank-code-later")),
        _ if status.starts_with("401") || status.starts_with("403") => ("bad", fl!(words, "bank-code-not-let-in")),
        _ if status.starts_with("429") => ("bad", fl!(words, "bank-code-many")),
        _ if status.starts_with('5') => ("bad", fl!(words, "bank-code-theirs")),
        _ => ("off", fl!(words, "bank-code-refused")),
    };
    Badge { status: badge, text }
}

/// What we answered a call. A code has an HTTP status, the number of the service, and a case.
fn our_answer(words: Words, file: &BankAccountFile, number: i64, code: &str) -> Badge {
    let service = number.to_string();
    let parts = (code.get(..3).unwrap_or_default(), code.get(5..).unwrap_or_default());
    // A bank may want other codes for these two.
    let (status, case) = match code {
        code if code == file.parameters.inquiry_expired.code(&service) => ("404", "19"),
        code if code == file.parameters.bad_data.code(&service) => ("400", "01"),
        _ => parts,
    };
    let (status, text) = match (status, case) {
        ("202", _) => ("wait", fl!(words, "bank-code-undecided")),
        ("200", _) => ("good", accepted(words, number)),
        ("404", "12") => ("off", fl!(words, "bank-code-unknown")),
        ("404", "13") => ("off", fl!(words, "bank-code-amount")),
        ("404", "14") => ("off", fl!(words, "bank-code-paid")),
        ("404", "18") => ("off", fl!(words, "bank-code-repeat")),
        ("404", "19") => ("off", fl!(words, "bank-code-expired")),
        ("400", "01") => ("bad", fl!(words, "bank-code-format")),
        ("400", "02") => ("bad", fl!(words, "bank-code-field")),
        ("400", _) => ("bad", fl!(words, "bank-code-body")),
        ("401", "01") => ("bad", fl!(words, "bank-code-token")),
        ("401", _) => ("bad", fl!(words, "bank-code-unauthorized")),
        ("409", _) => ("bad", fl!(words, "bank-code-conflict")),
        ("413", _) => ("bad", fl!(words, "bank-code-large")),
        ("429", _) => ("bad", fl!(words, "bank-code-many")),
        (status, _) if status.starts_with('5') => ("bad", fl!(words, "bank-code-ours")),
        _ => ("bad", fl!(words, "bank-code-refused")),
    };
    Badge { status, text }
}

fn accepted(words: Words, service: i64) -> String {
    match service {
        24 => fl!(words, "bank-code-bill"),
        25 => fl!(words, "bank-code-taken"),
        34 | 52 | 56 | 75 | 76 => fl!(words, "bank-code-noted"),
        73 => fl!(words, "bank-code-token-given"),
        _ => fl!(words, "bank-code-accepted"),
    }
}
