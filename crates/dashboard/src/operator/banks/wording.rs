//! What pages say about bank accounts: their state, their credentials, and the banks' calls.

use domain::{
    bank_account::{Credential, CredentialKind, Stage},
    id::ProjectId,
    method::Method,
};
use engine::{BankAccountFile, BankCall, Error, Missing};
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

pub(crate) fn service(words: Words, number: i64) -> String {
    match number {
        24 => fl!(words, "bank-service-inquiry"),
        25 => fl!(words, "bank-service-payment"),
        73 => fl!(words, "bank-service-token"),
        other => other.to_string(),
    }
}

/// What we answered a call. A code has an HTTP status, the number of the service, and a case.
pub(crate) fn answer(words: Words, file: &BankAccountFile, call: &BankCall) -> Badge {
    let service = call.service.to_string();
    let parts = (call.code.get(..3).unwrap_or_default(), call.code.get(5..).unwrap_or_default());
    // A bank may want other codes for these two.
    let (status, case) = match &call.code {
        code if *code == file.parameters.inquiry_expired.code(&service) => ("404", "19"),
        code if *code == file.parameters.bad_data.code(&service) => ("400", "01"),
        _ => parts,
    };
    let (status, text) = match (status, case) {
        ("200" | "202", _) => ("good", accepted(words, call.service)),
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
        73 => fl!(words, "bank-code-token-given"),
        _ => fl!(words, "bank-code-accepted"),
    }
}
