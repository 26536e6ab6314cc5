//! `lunas key`: creates, lists, rotates and revokes API keys of a project. A key's secret is in the answer that created it and in no other.

use std::str::FromStr;

use clap::Subcommand;
use domain::{
    api_key::{ApiKey, Overlap, key_prefix},
    id::KeyId,
    key_networks::{KEY_NETWORKS_MOST, KeyNetworks, WrongNetworks},
    key_rights::{KeyRights, READ_ONLY},
};
use engine::{Engine, NewKey, RotatedKey, Settings};
use serde::Serialize;

use crate::{
    database::Installation,
    error::CliError,
    options::GlobalOptions,
    output::{Output, fields, table},
    project,
};

/// Rights separated by commas; `none` alone for a key that only reads.
#[derive(Clone, Copy)]
pub(crate) struct Rights(KeyRights);

impl FromStr for Rights {
    type Err = String;

    fn from_str(text: &str) -> Result<Rights, String> {
        let words: Vec<&str> =
            if text.trim() == "none" { Vec::new() } else { text.split(',').map(str::trim).collect() };
        KeyRights::parse(&words).map(Rights).map_err(|invalid| format!("{}, or none alone", invalid.rule))
    }
}

/// Networks of a key, separated by commas.
#[derive(Clone)]
pub(crate) struct KeyNetworksArgument(KeyNetworks);

impl FromStr for KeyNetworksArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<KeyNetworksArgument, String> {
        let texts: Vec<&str> = text.split(',').map(str::trim).collect();
        KeyNetworks::parse(&texts).map(KeyNetworksArgument).map_err(|wrong| match wrong {
            WrongNetworks::TooMany => format!("at most {KEY_NETWORKS_MOST} networks can be given"),
            WrongNetworks::One { index, fault } => {
                format!("`{}` {fault}", texts.get(index).copied().unwrap_or_default())
            }
        })
    }
}

#[derive(Subcommand)]
pub(crate) enum KeyCommand {
    /// Create an API key. It is shown once and never again.
    Create {
        /// The project's id, prj_….
        #[arg(long, value_name = "ID")]
        project: String,
        /// A name for the key, which no other valid key of the project has.
        #[arg(long)]
        name: String,
        /// What the key may do besides reading, separated by commas: payments, held-money, refunds; or none.
        #[arg(long, default_value = "payments")]
        rights: Rights,
        /// The networks from which the key may be used, separated by commas. Without them, it may be used from everywhere.
        #[arg(long, value_name = "NETWORKS")]
        networks: Option<KeyNetworksArgument>,
    },
    /// List a project's API keys, without their secrets.
    List {
        /// The project's id, prj_….
        #[arg(long, value_name = "ID")]
        project: String,
    },
    /// Replace an API key by a new one with its name, rights and networks. The old key goes on for a while, then stops by itself.
    Rotate {
        /// The key's id, key_….
        id: String,
        /// For how many hours the old key goes on: from 1 to 720, which is 30 days.
        #[arg(long, value_name = "HOURS", default_value = "24", value_parser = overlap)]
        overlap: Overlap,
    },
    /// Revoke an API key. It stops working at once, and this cannot be undone.
    Revoke {
        /// The key's id, key_….
        id: String,
    },
}

#[derive(Serialize)]
struct CreatedJson {
    id: String,
    key: String,
    name: String,
    project_id: String,
    environment: &'static str,
    key_prefix: &'static str,
    rights: Vec<&'static str>,
    networks: Vec<String>,
}

#[derive(Serialize)]
struct RotatedJson {
    id: String,
    key: String,
    name: String,
    project_id: String,
    environment: &'static str,
    key_prefix: &'static str,
    rights: Vec<&'static str>,
    networks: Vec<String>,
    old_id: String,
    old_expires_at: String,
}

fn overlap(text: &str) -> Result<Overlap, String> {
    let hours = text.parse().ok().and_then(|hours| Overlap::of_hours(hours).ok());
    hours.ok_or_else(|| "it must be a whole number of hours, from 1 to 720".to_owned())
}

#[derive(Serialize)]
struct ListedJson {
    id: String,
    name: String,
    key_prefix: &'static str,
    last_four: String,
    rights: Vec<&'static str>,
    networks: Vec<String>,
    created_at: String,
    expires_at: Option<String>,
    revoked_at: Option<String>,
}

#[derive(Serialize)]
struct RevokedJson {
    id: String,
    name: String,
    environment: &'static str,
    project_id: String,
    key_prefix: &'static str,
    revoked_at: Option<String>,
}

pub(crate) async fn run(command: KeyCommand, global: &GlobalOptions) -> Result<(), CliError> {
    let installation = Installation::existing(global, Settings::default()).await?;
    let (engine, output) = (&installation.engine, global.output());
    let answer = match command {
        KeyCommand::Create { project, name, rights: Rights(rights), networks } => {
            let networks = networks.map(|KeyNetworksArgument(networks)| networks).unwrap_or_default();
            create(&project, NewKey { name, rights, networks }, engine, output).await
        }
        KeyCommand::List { project } => list(&project, engine, output).await,
        KeyCommand::Rotate { id, overlap } => rotate(&id, overlap, engine, output).await,
        KeyCommand::Revoke { id } => revoke(&id, engine, output).await,
    };
    installation.close().await;
    answer
}

async fn create(project: &str, new: NewKey, engine: &Engine, output: Output) -> Result<(), CliError> {
    let project = project::find(engine, project).await?;
    let (key, secret) = match engine.create_key(project.id, new).await {
        Err(engine::Error::Taken(_)) => {
            let what_to_do = "choose another name, or revoke that key first";
            return Err(CliError::new(format!("a valid key of this project has that name already; {what_to_do}")));
        }
        Err(engine::Error::TooMany { most, .. }) => {
            return Err(CliError::new(format!(
                "this project has {most} valid keys, which is the most; revoke one first"
            )));
        }
        made => made?,
    };
    let created = CreatedJson {
        id: key.id.to_string(),
        key: secret.reveal().to_owned(),
        name: key.name,
        project_id: key.project_id.to_string(),
        environment: key.environment.word(),
        key_prefix: key_prefix(key.environment),
        rights: key.rights.words(),
        networks: key.networks.words(),
    };
    output.show(&created, |created| {
        let fields = fields(&[
            ("id", created.id.clone()),
            ("key", created.key.clone()),
            ("name", created.name.clone()),
            ("project", created.project_id.clone()),
            ("environment", created.environment.to_owned()),
            ("rights", shown_rights(&created.rights)),
            ("networks", shown_networks(&created.networks)),
        ]);
        format!("{fields}\n\nSave the key now: it is not shown again.")
    })
}

fn shown_rights(rights: &[&str]) -> String {
    if rights.is_empty() { READ_ONLY.to_owned() } else { rights.join(", ") }
}

fn shown_networks(networks: &[String]) -> String {
    if networks.is_empty() { "everywhere".to_owned() } else { networks.join(", ") }
}

async fn list(project: &str, engine: &Engine, output: Output) -> Result<(), CliError> {
    let project = project::find(engine, project).await?;
    let listed = |key: ApiKey| ListedJson {
        id: key.id.to_string(),
        name: key.name,
        key_prefix: key_prefix(key.environment),
        last_four: key.last_four,
        rights: key.rights.words(),
        networks: key.networks.words(),
        created_at: key.created_at.to_string(),
        expires_at: key.expires_at.map(|at| at.to_string()),
        revoked_at: key.revoked_at.map(|at| at.to_string()),
    };
    let keys: Vec<_> = engine.keys(project.id).await?.into_iter().map(listed).collect();
    output.show(keys.as_slice(), |keys| {
        let row = |key: &ListedJson| {
            [
                key.id.clone(),
                key.name.clone(),
                format!("{}…{}", key.key_prefix, key.last_four),
                shown_rights(&key.rights),
                shown_networks(&key.networks),
                key.created_at.clone(),
                key.expires_at.clone().unwrap_or_else(|| "no".to_owned()),
                key.revoked_at.clone().unwrap_or_else(|| "no".to_owned()),
            ]
        };
        let rows: Vec<_> = keys.iter().map(row).collect();
        table(["ID", "NAME", "KEY", "RIGHTS", "NETWORKS", "CREATED", "EXPIRES", "REVOKED"], &rows)
    })
}

fn unknown(id: &str) -> CliError {
    let id = id.escape_debug();
    CliError::new(format!("there is no API key {id} in this database; `lunas key list --project ID` shows them"))
}

async fn rotate(id: &str, overlap: Overlap, engine: &Engine, output: Output) -> Result<(), CliError> {
    let parsed: KeyId = id.parse().map_err(|_| unknown(id))?;
    let RotatedKey { key, secret, old_until } = match engine.rotate_key(parsed, overlap).await {
        Err(engine::Error::NotFound(_)) => return Err(unknown(id)),
        Err(engine::Error::TooMany { most, .. }) => {
            let what = format!("this project has {most} valid keys, which is the most");
            return Err(CliError::new(format!("{what}; the old key counts until it stops, so revoke another first")));
        }
        rotated => rotated?,
    };
    let rotated = RotatedJson {
        id: key.id.to_string(),
        key: secret.reveal().to_owned(),
        name: key.name,
        project_id: key.project_id.to_string(),
        environment: key.environment.word(),
        key_prefix: key_prefix(key.environment),
        rights: key.rights.words(),
        networks: key.networks.words(),
        old_id: parsed.to_string(),
        old_expires_at: old_until.to_string(),
    };
    output.show(&rotated, |rotated| {
        let fields = fields(&[
            ("id", rotated.id.clone()),
            ("key", rotated.key.clone()),
            ("name", rotated.name.clone()),
            ("project", rotated.project_id.clone()),
            ("environment", rotated.environment.to_owned()),
            ("rights", shown_rights(&rotated.rights)),
            ("networks", shown_networks(&rotated.networks)),
        ]);
        let old = format!("The old key {} works until {}.", rotated.old_id, rotated.old_expires_at);
        format!("{fields}\n\n{old} Save the new key now: it is not shown again.")
    })
}

async fn revoke(id: &str, engine: &Engine, output: Output) -> Result<(), CliError> {
    let parsed: KeyId = id.parse().map_err(|_| unknown(id))?;
    let key = match engine.revoke_key(parsed, None).await {
        Err(engine::Error::NotFound(_)) => return Err(unknown(id)),
        revoked => revoked?,
    };
    let revoked = RevokedJson {
        id: key.id.to_string(),
        name: key.name,
        environment: key.environment.word(),
        project_id: key.project_id.to_string(),
        key_prefix: key_prefix(key.environment),
        revoked_at: key.revoked_at.map(|at| at.to_string()),
    };
    output.show(&revoked, |revoked| {
        let at = revoked.revoked_at.as_deref().unwrap_or_default();
        format!("{} ({}) was revoked at {at}", revoked.id, revoked.name)
    })
}
