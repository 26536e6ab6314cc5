//! `lunas dev`: everything on an embedded database, with a sandbox project ready to use.

use std::{
    fs::File,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use clap::Args;
use domain::project::Environment;
use engine::Settings;
use serde::Serialize;

use super::{
    addresses::Scheme,
    database::{Database, Installation},
    demo::{self, Credentials},
    error::CliError,
    files,
    options::{DATABASE_FILE, DEFAULT_DATA, GlobalOptions, MoneyOptions, ServerOptions, WebhookOptions},
    output::{fields, shell_word},
    remote,
    running::Running,
    secret_key,
};

const LOCK_FILE: &str = "dev.lock";

#[derive(Args)]
pub(crate) struct DevOptions {
    #[command(flatten)]
    server: ServerOptions,
    /// Keep the database, the secret key and the demo credentials in this directory, which is made when it is missing.
    #[arg(long, env = "LUNAS_DATA", value_name = "DIRECTORY", default_value = DEFAULT_DATA)]
    data: PathBuf,
    #[command(flatten)]
    money: MoneyOptions,
    #[command(flatten)]
    webhooks: WebhookOptions,
}

/// What a program that starts us needs to know, once we are ready.
#[derive(Serialize)]
struct Ready<'a> {
    base_url: &'a str,
    checkout_url_base: &'a str,
    dashboard_url: &'a str,
    dashboard_email: &'a str,
    dashboard_password: &'a str,
    project_id: &'a str,
    api_key: &'a str,
    webhook_secret: &'a str,
}

pub(crate) async fn run(options: DevOptions, global: &GlobalOptions) -> Result<(), CliError> {
    let config = options.server.config(Scheme::HttpOrHttps).map_err(CliError::several)?;
    let data = options.data.as_path();
    let database = Database::at(data.join(DATABASE_FILE));
    if global.database().is_some() && Database::of(global)? != database {
        tracing::warn!("`lunas dev` works on {database} and takes no other; --data chooses its directory");
    }
    let settings = options.webhooks.targets.with(options.money.settings());
    let (installation, credentials) = prepare(data, &database, settings).await?;
    let running = Running::start(installation, config, &options.webhooks).await?;
    note_address(data, running.address())?;
    let ready = Ready {
        base_url: running.base_url(),
        checkout_url_base: running.checkout_url_base(),
        dashboard_url: "",
        dashboard_email: "",
        dashboard_password: "",
        project_id: &credentials.project_id,
        api_key: &credentials.api_key,
        webhook_secret: &credentials.webhook_secret,
    };
    global.output().show(&ready, |ready| block(ready, data))?;
    running.until_stopped().await;
    Ok(())
}

/// Makes whatever is missing. Only one process does so at a time, so that two first runs agree on what was made.
async fn prepare(
    data: &Path,
    database: &Database,
    settings: Settings,
) -> Result<(Installation, Credentials), CliError> {
    files::make_private_directory(data).map_err(|error| CliError::file("make the directory", data, &error))?;
    let _turn = turn(data)?;
    let installation = open(database, settings).await?;
    installation.engine.mark_development().await?;
    let credentials = demo::credentials(&installation.engine, &demo::place(data)).await?;
    Ok((installation, credentials))
}

/// Waits until no other process makes something in the directory.
fn turn(data: &Path) -> Result<File, CliError> {
    let lock = data.join(LOCK_FILE);
    files::lock(&lock).map_err(|error| CliError::file("lock", &lock, &error))
}

fn note_address(data: &Path, listen: SocketAddr) -> Result<(), CliError> {
    let _turn = turn(data)?;
    remote::keep_address(data, listen)
}

async fn open(database: &Database, settings: Settings) -> Result<Installation, CliError> {
    let found = secret_key::find(database.path())?;
    let store = database.open().await?;
    let projects = store.projects().await?;
    let found = match found {
        Some(found) => found,
        None if projects.is_empty() => secret_key::generate(database.path())?,
        None => {
            let (variable, file) = (secret_key::VARIABLE, secret_key::FILE);
            let what = format!("{database} has sealed secrets, and the key that opens them is missing");
            return Err(CliError::new(format!("{what}; set {variable} or put {file} back beside it")));
        }
    };
    let installation = Installation::new(store, settings, found.key);
    installation.check_key(&found.origin).await?;
    let production = projects.iter().any(|project| project.environment == Environment::Production);
    if production && !installation.engine.is_development().await? {
        let what = format!("{database} has production projects, and a development database can never serve them");
        return Err(CliError::new(format!("{what}; choose another directory with --data")));
    }
    Ok(installation)
}

/// What a developer sees when all is ready: where things are, and how to take a first payment.
fn block(ready: &Ready<'_>, data: &Path) -> String {
    let Ready { base_url, project_id, api_key, .. } = ready;
    let places = fields(&[
        ("  API", ready.base_url.to_owned()),
        ("  Checkout", ready.checkout_url_base.to_owned()),
        ("  Docs", format!("{base_url}/openapi.json")),
        ("  Project", ready.project_id.to_owned()),
        ("  API key", ready.api_key.to_owned()),
        ("  Webhook secret", ready.webhook_secret.to_owned()),
        ("  Data", data.display().to_string()),
    ]);
    let method = r#""payment_method":{"type":"qris"}"#;
    let body = format!(r#"{{"project_id":"{project_id}","reference":"ORDER-1","amount":15000,{method}}}"#);
    let url = shell_word(&format!("{base_url}/v1/payments"));
    let pay = pay_command(data);
    format!(
        r#"
Lunas is ready. This is a sandbox: no money moves.

{places}

Make a first payment:

  curl -sS {url} \
    -H 'Authorization: Bearer {api_key}' \
    -H 'Content-Type: application/json' \
    -H "Idempotency-Key: first-$(date +%s)" \
    -d '{body}'

Pay it from another terminal, with the `id` of the answer:

  {pay} PAYMENT_ID

Ctrl-C stops it; the next run finds everything as it is.
"#
    )
}

/// The command that pays, as this very program was started, so that it works where `lunas` is not installed.
fn pay_command(data: &Path) -> String {
    let program = std::env::args().next().unwrap_or_else(|| "lunas".to_owned());
    let program = shell_word(&program);
    match data == Path::new(DEFAULT_DATA) {
        true => format!("{program} pay"),
        false => {
            let database = Database::at(data.join(DATABASE_FILE)).to_string();
            format!("{program} --database {} pay", shell_word(&database))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_pays_names_the_database_unless_it_is_the_usual_one() {
        assert!(pay_command(Path::new("./lunas-data")).ends_with(" pay"));
        assert!(!pay_command(Path::new("./lunas-data")).contains("--database"));
        assert!(pay_command(Path::new("/tmp/my data")).ends_with(" --database 'sqlite:/tmp/my data/lunas.db' pay"));
    }
}
