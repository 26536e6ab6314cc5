//! One bank account: the way to its first money, what the bank needs to know, and what the bank called.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use domain::{
    bank_account::{Credential, CredentialKind, Stage},
    id::BankAccountId,
    visible::escape_hidden,
};
use engine::{BankAccountFile, BankCall, BankDoor};
use i18n_embed_fl::fl;
use web::page::{moment::Moment, page_error::PageError};

use super::{
    checklist::{Progress, Step, method, steps},
    compared::{Compared, Typed, compared},
    figures::{self, Figures},
    list::{numbers, warnings},
    wording::{Use, answer, credential_name, direction, service, stage, state, uses},
};
use crate::{
    labels::Badge,
    operator::tabs::{bank_path, banks_path},
    page::OperatorPage,
    session::LastId,
    shell::Shell,
    words::Words,
};

#[derive(Template)]
#[template(path = "operator/banks/account.html")]
pub(crate) struct AccountPage {
    pub(crate) shell: Shell,
    pub(crate) list_url: String,
    pub(crate) url: String,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) profile: String,
    pub(crate) state: Badge,
    pub(crate) enabled: bool,
    /// Whether nothing is missing, so that it can be enabled.
    pub(crate) complete: bool,
    pub(crate) created: Moment,
    pub(crate) numbers: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) progress: String,
    pub(crate) steps: Vec<Step>,
    pub(crate) uses: Vec<Use>,
    pub(crate) handed: Vec<Handed>,
    /// Our public key in PEM; none while there is none.
    pub(crate) public_key: Option<String>,
    pub(crate) settings: Vec<SettingRow>,
    pub(crate) credentials: Vec<CredentialRow>,
    pub(crate) commands: Vec<Command>,
    pub(crate) compared: Compared,
    pub(crate) figures: Figures,
    pub(crate) calls: Vec<CallRow>,
    /// Calls at the doors that have not proved to be the bank's.
    pub(crate) unproved: Vec<CallRow>,
}

/// Something that the bank must be told.
pub(crate) struct Handed {
    /// The id of its element.
    pub(crate) id: &'static str,
    pub(crate) label: String,
    pub(crate) value: String,
}

pub(crate) struct SettingRow {
    pub(crate) name: String,
    pub(crate) value: String,
    /// Whether it is the account's own, and not its profile's.
    pub(crate) own: bool,
}

/// A credential without its secret part.
pub(crate) struct CredentialRow {
    pub(crate) kind: String,
    pub(crate) stage: Badge,
    pub(crate) client_id: String,
    pub(crate) set: Moment,
    pub(crate) old: bool,
}

pub(crate) struct Command {
    /// The id of its element.
    pub(crate) id: &'static str,
    pub(crate) title: String,
    pub(crate) text: String,
}

/// A call of the bank, or one of ours. It has no names, numbers or secrets.
pub(crate) struct CallRow {
    pub(crate) direction: String,
    pub(crate) at: Moment,
    pub(crate) service: String,
    pub(crate) code: String,
    pub(crate) answer: Badge,
    pub(crate) latency_ms: i64,
}

pub(crate) async fn show(page: OperatorPage, LastId(id): LastId<BankAccountId>) -> Result<Response, PageError> {
    account_page(&page, StatusCode::OK, id, None).await
}

/// The page, with the reason why something was not done.
pub(super) async fn account_page(
    page: &OperatorPage,
    status: StatusCode,
    id: BankAccountId,
    why: Option<String>,
) -> Result<Response, PageError> {
    account_page_with(page, status, id, why, Typed::default()).await
}

/// The page, with the day that was typed too.
pub(super) async fn account_page_with(
    page: &OperatorPage,
    status: StatusCode,
    id: BankAccountId,
    why: Option<String>,
    typed: Typed,
) -> Result<Response, PageError> {
    let mut shell = page.shell().await?;
    if let Some(why) = why {
        shell.warn(why);
    }
    let (file, words) = (page.operator.bank_account_file(id).await?, shell.words);
    let uses = uses(page, &file.assignments).await?;
    let has_money = page.operator.has_bank_money(id).await?;
    let health = page.operator.bank_health(&file).await?;
    let steps = steps(words, &Progress { file: &file, uses: &uses, has_money });
    let (done, all) = (steps.iter().filter(|step| step.done).count(), steps.len());
    let view = AccountPage {
        list_url: page.url(banks_path()),
        url: page.url(bank_path(id)),
        id: id.to_string(),
        profile: file.profile.title.to_owned(),
        state: state(words, &file),
        enabled: file.account.enabled,
        complete: file.missing.is_empty(),
        created: page.moment(file.account.created_at),
        numbers: numbers(words, &file),
        warnings: warnings(words, page.now(), &file).into_iter().chain(figures::warnings(page, &health)).collect(),
        progress: fl!(words, "guide-progress", count = done, all = all),
        steps,
        uses,
        handed: handed(page, &file),
        public_key: newest(&file, CredentialKind::OurKey).and_then(|key| key.public_key.clone()),
        settings: settings(&file),
        credentials: file.credentials.iter().map(|credential| credential_row(page, credential)).collect(),
        commands: commands(words, &file),
        compared: compared(page, id, typed).await?,
        figures: figures::figures(page, &file, &health),
        calls: file.calls.iter().map(|call| call_row(page, &file, call)).collect(),
        unproved: file.unproved.iter().map(|call| call_row(page, &file, call)).collect(),
        name: file.account.name.clone(),
        shell,
    };
    Ok(page.render(status, &view))
}

/// The credential that the bank should be told about: the next one, if there is one.
fn newest(file: &BankAccountFile, kind: CredentialKind) -> Option<&Credential> {
    file.credential(kind, Stage::Next).or_else(|| file.credential(kind, Stage::Current))
}

fn handed(page: &OperatorPage, file: &BankAccountFile) -> Vec<Handed> {
    let words = page.words();
    let door = |door: BankDoor| {
        let (id, label) = match door {
            BankDoor::Token => ("door-token", fl!(words, "bank-door-token")),
            BankDoor::Inquiry => ("door-inquiry", fl!(words, "bank-door-inquiry")),
            BankDoor::Payment => ("door-payment", fl!(words, "bank-door-payment")),
            BankDoor::VaNotice => ("door-va-notice", fl!(words, "bank-door-va-notice")),
            BankDoor::QrNotice | BankDoor::DebitNotice => ("door-qr-notice", fl!(words, "bank-door-qr-notice")),
            BankDoor::SknNotice => ("door-skn-notice", fl!(words, "bank-door-skn-notice")),
            BankDoor::RtgsNotice => ("door-rtgs-notice", fl!(words, "bank-door-rtgs-notice")),
        };
        let value = format!("{}/snap/{}{}", page.app.settings.base_url, file.account.id, door.path());
        Handed { id, label, value }
    };
    let client_id = newest(file, CredentialKind::Inbound).and_then(|inbound| inbound.client_id.clone());
    let client_id = client_id.map(|value| Handed { id: "client-id", label: fl!(words, "bank-client-id"), value });
    file.doors().into_iter().map(door).chain(client_id).collect()
}

fn settings(file: &BankAccountFile) -> Vec<SettingRow> {
    let row = |(name, value): (String, String)| {
        let own = file.account.settings.contains_key(&name);
        SettingRow { name, value, own }
    };
    let mut rows: Vec<SettingRow> = file.parameters.in_force().into_iter().map(row).collect();
    rows.sort_by_key(|row| !row.own);
    rows
}

fn credential_row(page: &OperatorPage, credential: &Credential) -> CredentialRow {
    CredentialRow {
        kind: credential_name(page.words(), credential.kind),
        stage: stage(page.words(), credential),
        client_id: credential.client_id.clone().unwrap_or_default(),
        set: page.moment(credential.set_at),
        old: credential.is_old(page.now()),
    }
}

fn call_row(page: &OperatorPage, file: &BankAccountFile, call: &BankCall) -> CallRow {
    CallRow {
        direction: match call.proved {
            true => direction(page.words(), call.outbound),
            false => fl!(page.words(), "bank-from-anybody"),
        },
        at: page.moment(call.at),
        service: service(page.words(), call.service),
        code: escape_hidden(&call.code),
        answer: answer(page.words(), file, call.outbound, call.service, &call.code),
        latency_ms: call.latency_ms,
    }
}

fn commands(words: Words, file: &BankAccountFile) -> Vec<Command> {
    let (account, method) = (file.account.id, method(file));
    let commands = [
        ("command-set", fl!(words, "bank-command-set"), format!("lunas bank set {account} NAME=VALUE"), true),
        (
            "command-import",
            fl!(words, "bank-command-import"),
            format!("lunas bank key {account} --import bank.pem"),
            true,
        ),
        ("command-make", fl!(words, "bank-command-make"), format!("lunas bank key {account} --make"), true),
        (
            "command-inbound",
            fl!(words, "bank-command-inbound"),
            format!("lunas bank inbound {account}"),
            file.has_token_door(),
        ),
        (
            "command-outbound",
            fl!(words, "bank-command-outbound"),
            format!("lunas bank outbound {account} --client-id … --secret-file -"),
            file.calls_bank(),
        ),
        ("command-rotate", fl!(words, "bank-command-rotate"), format!("lunas bank rotate {account}"), true),
        (
            "command-assign",
            fl!(words, "bank-command-assign"),
            format!("lunas bank assign {account} --project … --method {method}"),
            true,
        ),
        ("command-test", fl!(words, "bank-command-test"), format!("lunas bank test {account}"), file.calls_bank()),
    ];
    let fits = commands.into_iter().filter(|(.., is_offered)| *is_offered);
    fits.map(|(id, title, text, _)| Command { id, title, text }).collect()
}
