//! `lunas dev`: a development server in one process, by default on an embedded database, with a sandbox project and its owner, and with
//! `--rehearse` a production project at a bank of our own. It never serves a database whose production projects take real money.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use clap::Args;
use domain::project::Environment;
use engine::Settings;
use serde::Serialize;
use web::ServerConfig;

use engine::addresses::Scheme;

use crate::{
    database::{Database, Installation},
    demo_credentials::{self, Credentials},
    error::CliError,
    mail_options::MailOptions,
    notice_options::NoticeOptions,
    options::{
        AttemptOptions, DATABASE_FILE, DEFAULT_DATA, GlobalOptions, MoneyOptions, ServerOptions, UserOptions,
        WebhookOptions,
    },
    output::{fields, shell_word},
    private_files,
    rehearsal::{Rehearsal, RehearsalReady},
    remote,
    running_server::{RunningServer, Sending},
    secret_key,
};

const LOCK_FILE: &str = "dev.lock";

#[derive(Args)]
pub(crate) struct DevOptions {
    #[command(flatten)]
    server: ServerOptions,
    /// The directory of `lunas dev`, with its database, its secret key and the demo credentials, which other commands find there
    /// too. It is created if it is missing.
    #[arg(long, env = "LUNAS_DATA", value_name = "DIRECTORY", default_value = DEFAULT_DATA)]
    data: PathBuf,
    /// Adds a production project whose banks are our own, with their screens at /bank, to rehearse real payments.
    #[arg(long)]
    rehearse: bool,
    /// Show no line for each request, so that what is printed at the start stays in sight. What goes wrong is still shown.
    #[arg(long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    users: UserOptions,
    #[command(flatten)]
    attempts: AttemptOptions,
    #[command(flatten)]
    money: MoneyOptions,
    #[command(flatten)]
    webhooks: WebhookOptions,
    #[command(flatten)]
    mail: MailOptions,
    #[command(flatten)]
    notices: NoticeOptions,
}

/// What a program that starts `lunas dev --json` reads once the server is ready.
#[derive(Serialize)]
struct Ready<'a> {
    base_url: &'a str,
    checkout_url_base: &'a str,
    dashboard_url: &'a str,
    dashboard_email: &'a str,
    dashboard_password: &'a str,
    project_id: &'a str,
    api_key: &'a str,
    /// What `DELETE /v1/api-keys/{id}` names the key by; for people, as programs get it from `lunas key list`.
    #[serde(skip)]
    api_key_id: &'a str,
    /// The documentation for people; where it is turned off, the description of the API for programs.
    #[serde(skip)]
    docs_url: &'a str,
    webhook_secret: &'a str,
    #[serde(flatten)]
    rehearsal: Option<RehearsalReady>,
}

pub(crate) async fn run(options: DevOptions, global: &GlobalOptions) -> Result<(), CliError> {
    let config = options.server.config(Scheme::HttpOrHttps).map_err(CliError::several)?;
    let config = ServerConfig { is_development: true, ..config };
    let mailer = options.mail.mailer()?;
    let operators = options.notices.operators(&options.webhooks.targets.guard(true), false)?;
    let data = options.data.as_path();
    let database = database(data, global)?;
    let settings = options.attempts.with(options.webhooks.targets.with(options.money.settings()));
    let settings = options.users.with(settings);
    let (installation, credentials) = prepare(data, &database, settings).await?;
    let key_id = demo_credentials::key_id(&installation.engine, &credentials).await?;
    let rehearsal = match options.rehearse {
        true => Some(Rehearsal::prepare(&installation.engine, data).await?),
        false => None,
    };
    let screens = rehearsal.as_ref().map(Rehearsal::screens);
    let has_docs = config.has_docs;
    let running =
        RunningServer::start(installation, config, Sending { webhooks: &options.webhooks, mailer, operators }, screens)
            .await?;
    remote::save_address(data, running.address())?;
    // The dashboard has the same URL as all pages, because browsers keep sessions by host.
    let dashboard_url = format!("{}/dashboard", running.pages_url());
    let docs_url = match has_docs {
        true => format!("{}/docs", running.pages_url()),
        false => format!("{}/openapi.json", running.base_url()),
    };
    let ready = Ready {
        base_url: running.base_url(),
        checkout_url_base: running.pages_url(),
        dashboard_url: &dashboard_url,
        dashboard_email: &credentials.dashboard_email,
        dashboard_password: &credentials.dashboard_password,
        project_id: &credentials.project_id,
        api_key: &credentials.api_key,
        api_key_id: &key_id,
        docs_url: &docs_url,
        webhook_secret: &credentials.webhook_secret,
        rehearsal: rehearsal
            .map(|rehearsal| rehearsal.open(running.address(), running.base_url(), running.pages_url())),
    };
    global.output().show(&ready, |ready| welcome(ready, data, &database))?;
    running.until_stopped().await;
    Ok(())
}

/// The database file in `data`, or the PostgreSQL server that was given.
fn database(data: &Path, global: &GlobalOptions) -> Result<Database, CliError> {
    let own = Database::Sqlite(data.join(DATABASE_FILE));
    let asked = global.database().map(|_| Database::of(global)).transpose()?;
    match asked {
        Some(database @ Database::Postgres(..)) => return Ok(database),
        Some(Database::Sqlite(path)) if path != data.join(DATABASE_FILE) => {
            tracing::warn!("`lunas dev` uses {own} and no other file; --data changes its directory");
        }
        _ => {}
    }
    Ok(own)
}

/// Creates what is missing. Locks on the directory and on the database are held until the server has stopped, so no second server
/// can use either.
async fn prepare(
    data: &Path,
    database: &Database,
    settings: Settings,
) -> Result<(Installation, Credentials), CliError> {
    private_files::create_private_directory(data)
        .map_err(|error| CliError::file("create the directory", data, &error))?;
    let locks = [Some(lock(data)?), database.lock_for_server()?];
    let installation = open(data, database, settings).await?.holding(locks.into_iter().flatten());
    installation.engine.mark_development().await?;
    let credentials = demo_credentials::ensure(&installation.engine, &demo_credentials::path_in(data)).await?;
    Ok((installation, credentials))
}

/// Locks the data directory, which another `lunas dev` may be using.
fn lock(data: &Path) -> Result<File, CliError> {
    let lock = data.join(LOCK_FILE);
    let locked = private_files::try_lock(&lock).map_err(|error| CliError::file("lock", &lock, &error))?;
    locked.ok_or_else(|| {
        let what_to_do = "stop it first, or give this one another directory with --data";
        CliError::new(format!("another `lunas dev` is running with the data in {}; {what_to_do}", data.display()))
    })
}

async fn open(data: &Path, database: &Database, settings: Settings) -> Result<Installation, CliError> {
    let found = secret_key::find(data)?;
    let store = database.open().await?;
    let projects = store.projects().await?;
    let found = match found {
        Some(found) => found,
        None if projects.is_empty() => secret_key::generate(data)?,
        None => {
            let (variable, file) = (secret_key::VARIABLE, secret_key::file_in(data));
            let what = format!("{database} has encrypted secrets, and the key that decrypts them is missing");
            return Err(CliError::new(format!("{what}; set {variable} or put {} back", file.display())));
        }
    };
    let installation = Installation::new(store, settings, found.keys.clone());
    installation.check_keys(&found).await?;
    let production = projects.iter().any(|project| project.environment == Environment::Production);
    if production && !installation.engine.is_development().await? {
        let what = format!("{database} has production projects, which `lunas dev` does not serve");
        return Err(CliError::new(format!("{what}; use another database with --data or --database")));
    }
    Ok(installation)
}

/// The URLs and credentials.
fn summary(ready: &Ready<'_>, data: &Path, database: &Database) -> String {
    let mut summary = vec![
        ("  API", ready.base_url.to_owned()),
        ("  Checkout", ready.checkout_url_base.to_owned()),
        ("  Dashboard", ready.dashboard_url.to_owned()),
        ("", format!("sign in as {} with {}", ready.dashboard_email, ready.dashboard_password)),
        ("  Docs", ready.docs_url.to_owned()),
        ("  Project", ready.project_id.to_owned()),
        ("  API key", ready.api_key.to_owned()),
        ("  API key id", ready.api_key_id.to_owned()),
        ("  Webhook secret", ready.webhook_secret.to_owned()),
        ("  Data", data.display().to_string()),
    ];
    if let Database::Postgres(..) = database {
        summary.push(("  Database", database.to_string()));
    }
    fields(&summary)
}

/// What the developer sees when the server is ready: URLs, credentials, and the commands for a first payment.
fn welcome(ready: &Ready<'_>, data: &Path, database: &Database) -> String {
    let Ready { base_url, project_id, api_key, .. } = ready;
    let summary = summary(ready, data, database);
    let method = r#""payment_method":{"type":"qris"}"#;
    let body = format!(r#"{{"project_id":"{project_id}","reference":"ORDER-1","amount":15000,{method}}}"#);
    let url = shell_word(&format!("{base_url}/v1/payments"));
    let (terminal, pay) = pay_command(data, database);
    let rehearsal = ready.rehearsal.as_ref().map(RehearsalReady::steps).unwrap_or_default();
    format!(
        r#"
Lunas is ready. This is a sandbox: no money moves.

{summary}

Create a first payment:

  curl -sS {url} \
    -H 'Authorization: Bearer {api_key}' \
    -H 'Content-Type: application/json' \
    -H "Idempotency-Key: first-$(date +%s)" \
    -d '{body}'

Pay it from another terminal{terminal}, with the `id` of the answer:

  {pay} PAYMENT_ID
{rehearsal}
Ctrl-C stops the server. The next run continues with the same data.
"#
    )
}

/// What the other terminal needs, and the command that pays there. The command starts this program by the path that it was started
/// with, so that it works where `lunas` is not installed. A server's URL may contain a password, so it is not in the command.
fn pay_command(data: &Path, database: &Database) -> (&'static str, String) {
    let program = std::env::args().next().unwrap_or_else(|| "lunas".to_owned());
    let program = shell_word(&program);
    match database {
        Database::Postgres(..) => (" where LUNAS_DATABASE is the URL of this database", format!("{program} pay")),
        Database::Sqlite(_) if data == Path::new(DEFAULT_DATA) => ("", format!("{program} pay")),
        Database::Sqlite(_) => ("", format!("{program} --database {} pay", shell_word(&database.to_string()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_pays_names_the_database_unless_it_is_the_usual_one_or_has_a_password() {
        let pay = |data: &str| pay_command(Path::new(data), &Database::Sqlite(Path::new(data).join(DATABASE_FILE))).1;
        assert!(pay("./lunas-data").ends_with(" pay"));
        assert!(!pay("./lunas-data").contains("--database"));
        assert!(pay("/tmp/my data").ends_with(" --database 'sqlite:/tmp/my data/lunas.db' pay"));
        let server = Database::parse("postgres://u:quiet@h/d", store::CONNECTIONS).unwrap();
        let (terminal, command) = pay_command(Path::new("/tmp/my data"), &server);
        assert!(terminal.contains("LUNAS_DATABASE") && !command.contains("postgres"));
    }
}
