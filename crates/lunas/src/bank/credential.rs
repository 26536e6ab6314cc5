//! `lunas bank key`, `inbound`, `outbound` and `rotate`: keys and secrets of an account. A secret is shown only by the command that
//! made it.

use std::path::Path;

use domain::{
    bank_account::{CredentialKind, Stage},
    id::BankAccountId,
};
use engine::BankAccountFile;
use secrecy::ExposeSecret;
use serde::Serialize;

use super::{
    account::{Desk, next_command},
    input,
};
use crate::{error::CliError, output::fields};

#[derive(Serialize)]
struct KeyJson {
    id: String,
    kind: &'static str,
    stage: &'static str,
    public_key: String,
    next: Option<String>,
}

#[derive(Serialize)]
struct SecretJson {
    id: String,
    kind: &'static str,
    stage: &'static str,
    client_id: String,
    /// Only where it was made here.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    next: Option<String>,
}

#[derive(Serialize)]
struct RotatedJson {
    id: String,
    rotated: Vec<&'static str>,
    next: Option<String>,
}

pub(super) async fn make_key(desk: &Desk<'_>, id: &str) -> Result<(), CliError> {
    let id = desk.find(id).await?.account.id;
    let public_key = desk.engine.make_bank_key(id).await?;
    let (stage, next) = after(desk, id, CredentialKind::OurKey).await?;
    let made =
        KeyJson { id: id.to_string(), kind: CredentialKind::OurKey.word(), stage: stage.word(), public_key, next };
    desk.output.show(&made, |made| {
        let text = format!("{}\nGive this public key to the bank.{}", made.public_key, waits(stage));
        with_next(text, made.next.as_deref())
    })
}

pub(super) async fn import_key(desk: &Desk<'_>, id: &str, path: &Path) -> Result<(), CliError> {
    let id = desk.find(id).await?.account.id;
    let pem = input::read("the bank's public key", path)?;
    desk.engine.import_bank_key(id, pem.expose_secret()).await?;
    let file = desk.engine.bank_account_file(id).await?;
    let stage = stage(&file, CredentialKind::BankKey);
    let public_key = file.credential(CredentialKind::BankKey, stage).and_then(|key| key.public_key.clone());
    let imported = KeyJson {
        id: id.to_string(),
        kind: CredentialKind::BankKey.word(),
        stage: stage.word(),
        public_key: public_key.unwrap_or_default(),
        next: next(&file, stage),
    };
    desk.output.show(&imported, |imported| {
        with_next(format!("The bank's public key is imported.{}", waits(stage)), imported.next.as_deref())
    })
}

pub(super) async fn set_inbound(
    desk: &Desk<'_>,
    id: &str,
    client_id: Option<String>,
    secret_file: Option<&Path>,
) -> Result<(), CliError> {
    let id = desk.find(id).await?.account.id;
    let given = secret_file.map(input::read_secret).transpose()?;
    let is_made = given.is_none();
    let new = desk.engine.set_bank_inbound(id, client_id, given).await?;
    let (stage, next) = after(desk, id, CredentialKind::Inbound).await?;
    let set = SecretJson {
        id: id.to_string(),
        kind: CredentialKind::Inbound.word(),
        stage: stage.word(),
        client_id: new.client_id,
        secret: is_made.then(|| new.secret.expose_secret().to_owned()),
        next,
    };
    desk.output.show(&set, |set| {
        let mut lines = vec![("client id", set.client_id.clone())];
        let advice = match &set.secret {
            Some(secret) => {
                lines.push(("secret", secret.clone()));
                "Give both to the bank now: the secret is not shown again."
            }
            None => "The bank uses them at our token door.",
        };
        with_next(format!("{}\n\n{advice}{}", fields(&lines), waits(stage)), set.next.as_deref())
    })
}

pub(super) async fn set_outbound(
    desk: &Desk<'_>,
    id: &str,
    client_id: String,
    secret_file: &Path,
) -> Result<(), CliError> {
    let id = desk.find(id).await?.account.id;
    let secret = input::read_secret(secret_file)?;
    desk.engine.set_bank_outbound(id, client_id.clone(), secret).await?;
    let (stage, next) = after(desk, id, CredentialKind::Outbound).await?;
    let kind = CredentialKind::Outbound.word();
    let set = SecretJson { id: id.to_string(), kind, stage: stage.word(), client_id, secret: None, next };
    desk.output.show(&set, |set| {
        let text = format!("The client id {} and its secret are set.{}", set.client_id, waits(stage));
        with_next(text, set.next.as_deref())
    })
}

pub(super) async fn rotate(desk: &Desk<'_>, id: &str) -> Result<(), CliError> {
    let id = desk.find(id).await?.account.id;
    let rotated = desk.engine.rotate_bank_account(id).await?;
    let file = desk.engine.bank_account_file(id).await?;
    let rotated = RotatedJson {
        id: id.to_string(),
        rotated: rotated.into_iter().map(CredentialKind::word).collect(),
        next: next_command(&file),
    };
    desk.output.show(&rotated, |rotated| {
        let what = format!("in use now: {}; what they replace has ended", rotated.rotated.join(", "));
        with_next(what, rotated.next.as_deref())
    })
}

/// The stage of what was set last, and the command that comes next.
async fn after(desk: &Desk<'_>, id: BankAccountId, kind: CredentialKind) -> Result<(Stage, Option<String>), CliError> {
    let file = desk.engine.bank_account_file(id).await?;
    let stage = stage(&file, kind);
    Ok((stage, next(&file, stage)))
}

/// What was set last is next where something else is in use.
fn stage(file: &BankAccountFile, kind: CredentialKind) -> Stage {
    match file.credential(kind, Stage::Next) {
        Some(_) => Stage::Next,
        None => Stage::Current,
    }
}

fn next(file: &BankAccountFile, stage: Stage) -> Option<String> {
    match stage {
        Stage::Next => Some(format!("lunas bank rotate {}", file.account.id)),
        Stage::Current => next_command(file),
    }
}

fn waits(stage: Stage) -> &'static str {
    match stage {
        Stage::Current => "",
        Stage::Next => "\nIt waits as `next`, beside the one in use; rotate once both sides have changed over.",
    }
}

fn with_next(text: String, next: Option<&str>) -> String {
    match next {
        Some(next) => format!("{text}\n\nnext: {next}"),
        None => text,
    }
}
