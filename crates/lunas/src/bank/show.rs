//! `lunas bank add`, `set`, `enable`, `disable`, `show` and `list`: accounts as a whole. Secret parts are never among what is shown.

use domain::bank_account::{Credential, CredentialKind};
use engine::{BankAccountFile, BankCall, BankDoor, BankError, BankHealth, NewBankAccount};
use serde::Serialize;

use super::{
    account::{Desk, in_words, missing_error, next_command},
    assign::word,
    health::{HealthJson, caller},
    settings::{Assignment, by_name},
};
use crate::{
    error::CliError,
    output::{fields, table},
    project::yes_or_no,
};

/// How many of the latest calls are shown.
const CALLS_SHOWN: usize = 20;

/// An account in short.
#[derive(Serialize)]
struct AccountJson {
    id: String,
    name: String,
    profile: String,
    enabled: bool,
    /// Where the bank calls us; none where the public URL is not known.
    inbound_url: Option<String>,
    /// What it needs before it can be enabled.
    missing: Vec<&'static str>,
    assignments: Vec<AssignmentJson>,
    /// How many of 100 numbers are in use or rest.
    numbers_used_percent: u64,
    last_call_at: Option<String>,
    created_at: String,
    /// The command that comes next before the account takes money.
    next: Option<String>,
    #[serde(skip)]
    missing_in_words: Vec<String>,
}

#[derive(Serialize)]
struct AssignmentJson {
    project_id: String,
    method: &'static str,
}

/// An account with all that may be shown of it.
#[derive(Serialize)]
struct WholeJson {
    #[serde(flatten)]
    account: AccountJson,
    /// Every address that the bank must be told.
    doors: Vec<DoorJson>,
    settings: Vec<SettingJson>,
    credentials: Vec<CredentialJson>,
    health: HealthJson,
    calls: Vec<CallJson>,
    /// The latest calls at the doors that have not proved to be the bank's.
    unproved_calls: Vec<CallJson>,
}

/// A door that the bank calls.
#[derive(Serialize)]
struct DoorJson {
    /// The service's number in SNAP.
    service: i64,
    /// None where the public URL is not known.
    url: Option<String>,
    /// Its path below the public URL.
    path: String,
}

#[derive(Serialize)]
struct SettingJson {
    name: String,
    value: String,
    /// Whether the account has a value of its own; else it is the profile's.
    own: bool,
}

#[derive(Serialize)]
struct CredentialJson {
    kind: &'static str,
    stage: &'static str,
    client_id: Option<String>,
    public_key: Option<String>,
    set_at: String,
}

#[derive(Serialize)]
struct CallJson {
    at: String,
    /// The service's number in SNAP.
    service: i64,
    /// Whether we made it.
    outbound: bool,
    /// What was answered.
    code: String,
    latency_ms: i64,
}

impl AccountJson {
    fn of(desk: &Desk<'_>, file: &BankAccountFile) -> AccountJson {
        let assignments = file.assignments.iter();
        let assignments = assignments
            .map(|(project_id, method)| AssignmentJson { project_id: project_id.to_string(), method: word(*method) });
        AccountJson {
            id: file.account.id.to_string(),
            name: file.account.name.clone(),
            profile: file.account.profile.clone(),
            enabled: file.account.enabled,
            inbound_url: desk.inbound_url(file.account.id),
            missing: file.missing.iter().map(|missing| missing.name()).collect(),
            assignments: assignments.collect(),
            numbers_used_percent: file.numbers_taken_percent(),
            last_call_at: file.last_call_of_bank().map(|call| call.at.to_string()),
            created_at: file.account.created_at.to_string(),
            next: next_command(file),
            missing_in_words: file.missing.iter().copied().map(in_words).collect(),
        }
    }

    fn fields(&self) -> String {
        let unknown = || "not known here: set LUNAS_BASE_URL, or give --base-url".to_owned();
        fields(&[
            ("id", self.id.clone()),
            ("name", self.name.clone()),
            ("profile", self.profile.clone()),
            ("enabled", yes_or_no(self.enabled)),
            ("inbound URL", self.inbound_url.clone().unwrap_or_else(unknown)),
            ("missing", none_or(&self.missing_in_words)),
            ("projects", none_or(&self.assigned())),
            ("numbers used", format!("{} %", self.numbers_used_percent)),
            ("last call", self.last_call_at.clone().unwrap_or_else(|| "never".to_owned())),
        ])
    }

    fn assigned(&self) -> Vec<String> {
        self.assignments.iter().map(|assigned| format!("{} ({})", assigned.project_id, assigned.method)).collect()
    }

    fn text(&self) -> String {
        match &self.next {
            Some(next) => format!("{}\n\nnext: {next}", self.fields()),
            None => self.fields(),
        }
    }
}

impl WholeJson {
    fn of(desk: &Desk<'_>, file: &BankAccountFile, health: &BankHealth) -> WholeJson {
        let own = |name: &String| file.account.settings.contains_key(name);
        let setting = |(name, value): (String, String)| SettingJson { own: own(&name), name, value };
        let door = |door: BankDoor| DoorJson {
            service: door.service(),
            url: desk.inbound_url(file.account.id).map(|url| format!("{url}{}", door.path())),
            path: format!("/snap/{}{}", file.account.id, door.path()),
        };
        WholeJson {
            account: AccountJson::of(desk, file),
            doors: file.doors().into_iter().map(door).collect(),
            settings: file.parameters.in_force().into_iter().map(setting).collect(),
            credentials: file.credentials.iter().map(CredentialJson::of).collect(),
            health: HealthJson::of(health),
            calls: file.calls.iter().take(CALLS_SHOWN).map(CallJson::of).collect(),
            unproved_calls: file.unproved.iter().take(CALLS_SHOWN).map(CallJson::of).collect(),
        }
    }

    fn text(&self) -> String {
        let settings: Vec<_> = self
            .settings
            .iter()
            .map(|setting| {
                let origin = if setting.own { "account" } else { "profile" };
                [setting.name.clone(), setting.value.clone(), origin.to_owned()]
            })
            .collect();
        let credentials: Vec<_> = self
            .credentials
            .iter()
            .map(|credential| {
                let client_id = credential.client_id.clone().unwrap_or_default();
                [credential.kind.to_owned(), credential.stage.to_owned(), credential.set_at.clone(), client_id]
            })
            .collect();
        let door = |door: &DoorJson| [door.service.to_string(), door.url.as_ref().unwrap_or(&door.path).clone()];
        let doors: Vec<_> = self.doors.iter().map(door).collect();
        let mut parts = vec![
            self.account.fields(),
            table(["SERVICE", "ADDRESS FOR THE BANK"], &doors),
            table(["SETTING", "VALUE", "FROM"], &settings),
        ];
        if !credentials.is_empty() {
            parts.push(table(["KEY OR SECRET", "STAGE", "SET", "CLIENT ID"], &credentials));
        }
        if !self.calls.is_empty() {
            let by = |call: &CallJson| caller(call.outbound).to_owned();
            parts.push(self.health.text());
            parts.push(call_table("CALL", &self.calls, by));
        }
        if !self.unproved_calls.is_empty() {
            parts.push(call_table("CALL WITHOUT PROOF", &self.unproved_calls, |_| "anybody".to_owned()));
        }
        let ours = self.credentials.iter().filter(|credential| credential.kind == CredentialKind::OurKey.word());
        for (stage, key) in ours.filter_map(|credential| Some((credential.stage, credential.public_key.as_ref()?))) {
            parts.push(format!("Our public key ({stage}), for the bank:\n{}", key.trim_end()));
        }
        parts.extend(self.account.next.as_ref().map(|next| format!("next: {next}")));
        parts.join("\n\n")
    }
}

impl CredentialJson {
    fn of(credential: &Credential) -> CredentialJson {
        CredentialJson {
            kind: credential.kind.word(),
            stage: credential.stage.word(),
            client_id: credential.client_id.clone(),
            public_key: credential.public_key.clone(),
            set_at: credential.set_at.to_string(),
        }
    }
}

impl CallJson {
    fn of(call: &BankCall) -> CallJson {
        CallJson {
            at: call.at.to_string(),
            service: call.service,
            outbound: call.outbound,
            code: call.code.clone(),
            latency_ms: call.latency_ms,
        }
    }
}

fn call_table(title: &'static str, calls: &[CallJson], by: impl Fn(&CallJson) -> String) -> String {
    let row = |call: &CallJson| {
        let took = format!("{} ms", call.latency_ms);
        [call.at.clone(), by(call), call.service.to_string(), call.code.clone(), took]
    };
    let rows: Vec<_> = calls.iter().map(row).collect();
    table([title, "BY", "SERVICE", "ANSWER", "TOOK"], &rows)
}

pub(super) async fn add(
    desk: &Desk<'_>,
    profile: String,
    name: String,
    settings: Vec<Assignment>,
) -> Result<(), CliError> {
    let new = NewBankAccount { name, profile, settings: by_name(settings)? };
    let account = desk.engine.create_bank_account(new).await?;
    let file = desk.engine.bank_account_file(account.id).await?;
    desk.output.show(&AccountJson::of(desk, &file), AccountJson::text)
}

pub(super) async fn set(desk: &Desk<'_>, id: &str, settings: Vec<Assignment>) -> Result<(), CliError> {
    let file = desk.find(id).await?;
    let settings = by_name(settings)?;
    match desk.engine.set_bank_account(file.account.id, &settings).await {
        Err(engine::Error::Bank(BankError::Missing(missing))) => {
            let what = "the account is enabled, and would lack something with these settings";
            return Err(missing_error(what, file.account.id, &missing));
        }
        done => done?,
    };
    let file = desk.engine.bank_account_file(file.account.id).await?;
    desk.output.show(&AccountJson::of(desk, &file), AccountJson::text)
}

/// Repeating it changes nothing but the audit log, and answers the same.
pub(super) async fn enable(desk: &Desk<'_>, id: &str, enabled: bool) -> Result<(), CliError> {
    let file = desk.find(id).await?;
    match desk.engine.enable_bank_account(file.account.id, enabled).await {
        Err(engine::Error::Bank(BankError::Missing(missing))) => {
            return Err(missing_error("the account cannot be enabled", file.account.id, &missing));
        }
        done => done?,
    };
    let file = desk.engine.bank_account_file(file.account.id).await?;
    desk.output.show(&AccountJson::of(desk, &file), AccountJson::text)
}

pub(super) async fn show(desk: &Desk<'_>, id: &str) -> Result<(), CliError> {
    let file = desk.find(id).await?;
    let health = desk.engine.bank_health(&file).await?;
    desk.output.show(&WholeJson::of(desk, &file, &health), WholeJson::text)
}

pub(super) async fn list(desk: &Desk<'_>) -> Result<(), CliError> {
    let files = desk.engine.bank_accounts().await?;
    let accounts: Vec<_> = files.iter().map(|file| AccountJson::of(desk, file)).collect();
    desk.output.show(accounts.as_slice(), |accounts| {
        let row = |account: &AccountJson| {
            [
                account.id.clone(),
                account.name.clone(),
                account.profile.clone(),
                yes_or_no(account.enabled),
                none_or(&account.assigned()),
                account.last_call_at.clone().unwrap_or_else(|| "never".to_owned()),
                account.missing.join(", "),
            ]
        };
        let rows: Vec<_> = accounts.iter().map(row).collect();
        table(["ID", "NAME", "PROFILE", "ENABLED", "PROJECTS", "LAST CALL", "MISSING"], &rows)
    })
}

fn none_or(values: &[String]) -> String {
    if values.is_empty() { "none".to_owned() } else { values.join(", ") }
}
