//! The way to the first real money: what is done, and which command does the next thing.

use domain::bank_account::{CredentialKind, Stage};
use engine::{BankAccountFile, Missing};
use i18n_embed_fl::fl;

use super::wording::{Use, missing};
use crate::words::Words;

/// One step on the way.
pub(crate) struct Step {
    pub(crate) title: String,
    pub(crate) done: bool,
    /// Whether it is the first that is not done.
    pub(crate) next: bool,
    /// What to do, where the step is the next one.
    pub(crate) text: String,
    /// The command that does it; none where a page or the bank does it.
    pub(crate) command: Option<String>,
}

/// What the steps are judged by.
pub(super) struct Progress<'a> {
    pub(super) file: &'a BankAccountFile,
    pub(super) uses: &'a [Use],
    pub(super) has_money: bool,
}

pub(super) fn steps(words: Words, progress: &Progress<'_>) -> Vec<Step> {
    let mut steps: Vec<Step> =
        credentials(words, progress.file).into_iter().chain(use_and_money(words, progress)).collect();
    if let Some(step) = steps.iter_mut().find(|step| !step.done) {
        step.next = true;
    }
    steps
}

/// What the account itself needs.
fn credentials(words: Words, file: &BankAccountFile) -> Vec<Step> {
    let id = file.account.id;
    let has = |kind| file.credential(kind, Stage::Current).is_some();
    let settings: Vec<Missing> =
        file.missing.iter().filter(|missing| matches!(missing, Missing::Setting(_))).copied().collect();
    let names = missing(words, &settings);
    let mut steps = vec![
        Step {
            title: fl!(words, "bank-step-settings"),
            done: settings.is_empty(),
            next: false,
            text: fl!(words, "bank-step-settings-text", names = names),
            command: settings.first().map(|missing| format!("lunas bank set {id} {}=…", missing.name())),
        },
        Step {
            title: fl!(words, "bank-step-bank-key"),
            done: has(CredentialKind::BankKey),
            next: false,
            text: fl!(words, "bank-step-bank-key-text"),
            command: Some(format!("lunas bank key {id} --import bank.pem")),
        },
    ];
    if file.has_token_door() {
        steps.push(Step {
            title: fl!(words, "bank-step-inbound"),
            done: has(CredentialKind::Inbound),
            next: false,
            text: fl!(words, "bank-step-inbound-text"),
            command: Some(format!("lunas bank inbound {id}")),
        });
    }
    if file.calls_bank() {
        steps.push(Step {
            title: fl!(words, "bank-step-our-key"),
            done: has(CredentialKind::OurKey),
            next: false,
            text: fl!(words, "bank-step-our-key-text"),
            command: Some(format!("lunas bank key {id} --make")),
        });
        steps.push(Step {
            title: fl!(words, "bank-step-outbound"),
            done: has(CredentialKind::Outbound),
            next: false,
            text: fl!(words, "bank-step-outbound-text"),
            command: Some(format!("lunas bank outbound {id} --client-id … --secret-file -")),
        });
    }
    steps
}

/// Who uses it, and what has come by it.
fn use_and_money(words: Words, progress: &Progress<'_>) -> Vec<Step> {
    let Progress { file, uses, has_money } = progress;
    let (id, method) = (file.account.id, method(file));
    vec![
        Step {
            title: fl!(words, "bank-step-assigned"),
            done: !uses.is_empty(),
            next: false,
            text: fl!(words, "bank-step-assigned-text"),
            command: Some(format!("lunas bank assign {id} --project … --method {method}")),
        },
        Step {
            title: fl!(words, "bank-step-approved"),
            done: uses.iter().any(|each| each.usable),
            next: false,
            text: fl!(words, "bank-step-approved-text"),
            command: None,
        },
        Step {
            title: fl!(words, "bank-step-enabled"),
            done: file.account.enabled,
            next: false,
            text: fl!(words, "bank-step-enabled-text"),
            command: None,
        },
        called(words, file),
        Step {
            title: fl!(words, "bank-step-money"),
            done: *has_money,
            next: false,
            text: fl!(words, "bank-step-money-text"),
            command: None,
        },
    ]
}

/// Where the bank issues codes we call it first; else it calls us.
fn called(words: Words, file: &BankAccountFile) -> Step {
    match file.parameters.issues_by_call() {
        true => Step {
            title: fl!(words, "bank-step-answered"),
            done: file.calls.iter().any(|call| call.outbound && call.code.starts_with("200")),
            next: false,
            text: fl!(words, "bank-step-answered-text"),
            command: Some(format!("lunas bank test {}", file.account.id)),
        },
        false => Step {
            title: fl!(words, "bank-step-called"),
            done: file.last_call_of_bank().is_some(),
            next: false,
            text: fl!(words, "bank-step-called-text"),
            command: None,
        },
    }
}

/// The method to assign it to, as commands call it.
pub(super) fn method(file: &BankAccountFile) -> &'static str {
    file.only_method().unwrap_or("…")
}
