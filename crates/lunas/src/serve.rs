//! `lunas serve`: the production server. It does not start while a setting that it needs to be safe is missing or wrong.

use std::net::SocketAddr;

use clap::Args;
use engine::{OperatorUrl, Settings};
use gateway::Mailer;
use serde::Serialize;
use store::Tables;
use web::ServerConfig;

use engine::addresses::Scheme;

use crate::{
    database::{Database, Installation},
    error::CliError,
    mail_options::MailOptions,
    notice_options::NoticeOptions,
    options::{AttemptOptions, GlobalOptions, MoneyOptions, ServerOptions, UserOptions, WebhookOptions},
    running_server::{RunningServer, Sending},
    secret_key::{self, FoundKeys},
};

#[derive(Args)]
pub(crate) struct ServeOptions {
    #[command(flatten)]
    server: ServerOptions,
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

#[derive(Serialize)]
struct Ready<'a> {
    /// The bound address, with the port that the system chose where port 0 was given.
    listen: SocketAddr,
    base_url: &'a str,
    checkout_url_base: &'a str,
}

pub(crate) async fn run(options: ServeOptions, global: &GlobalOptions) -> Result<(), CliError> {
    let Prepared { installation, config, mailer, operators } = prepare(&options, global).await?;
    // Where the database cannot answer this, the hint below is left out; the server starts all the same.
    let has_operator = installation.engine.has_operator().await.unwrap_or(true);
    let sending = Sending { webhooks: &options.webhooks, mailer, operators };
    let running = RunningServer::start(installation, config, sending, None).await?;
    let listen = running.address();
    let ready = Ready { listen, base_url: running.base_url(), checkout_url_base: running.pages_url() };
    tracing::info!(%listen, base_url = ready.base_url, checkout_url_base = ready.checkout_url_base, "serving");
    if !has_operator {
        tracing::info!("there is no operator yet; `lunas user create EMAIL --operator` creates one");
    }
    let output = global.output();
    if output.json {
        output.show(&ready, |_| String::new())?;
    }
    running.until_stopped().await;
    Ok(())
}

/// What a server is started with.
struct Prepared {
    installation: Installation,
    config: ServerConfig,
    mailer: Option<Mailer>,
    operators: Option<OperatorUrl>,
}

/// Checks everything before it fails, so that the operator gets all reasons at once.
async fn prepare(options: &ServeOptions, global: &GlobalOptions) -> Result<Prepared, CliError> {
    let mut reasons = Vec::new();
    let key = secret_key::from_environment().and_then(|key| key.ok_or_else(missing_key));
    let key = value_or_reasons(key, &mut reasons);
    let config = value_or_reasons(options.server.config(Scheme::HttpsOnly).map_err(CliError::several), &mut reasons);
    let mailer = value_or_reasons(options.mail.mailer(), &mut reasons);
    let guard = options.webhooks.targets.guard(false);
    let operators = value_or_reasons(options.notices.operators(&guard, true), &mut reasons);
    let sound = reasons.is_empty();
    let settings = options.attempts.with(options.webhooks.targets.with(options.money.settings()));
    let settings = options.users.with(settings);
    let installation = value_or_reasons(open(global, settings, key, sound).await, &mut reasons);
    match (config, mailer, operators, installation) {
        (Some(config), Some(mailer), Some(operators), Some(Some(installation))) if reasons.is_empty() => {
            Ok(Prepared { installation, config, mailer, operators })
        }
        (_, _, _, installation) => {
            if let Some(Some(installation)) = installation {
                installation.close().await;
            }
            Err(CliError::several(reasons))
        }
    }
}

/// Opens the database and checks it. `sound` says that nothing else is wrong: only then a missing database is created.
async fn open(
    global: &GlobalOptions,
    settings: Settings,
    found: Option<FoundKeys>,
    sound: bool,
) -> Result<Option<Installation>, CliError> {
    let database = Database::of(global)?;
    if !sound && database.has_directory() && database.table_state().await? == Tables::Missing {
        return Ok(None);
    }
    // A missing directory is reported by opening the database.
    let lock = if database.has_directory() { database.lock_for_server()? } else { None };
    let store = database.open().await?;
    let keys = match &found {
        Some(found) => found.keys.clone(),
        None => secret_key::placeholder()?,
    };
    let installation = Installation::new(store, settings, keys).holding(lock);
    if installation.engine.is_development().await? {
        installation.close().await;
        let what_to_do = "use another one with --database or LUNAS_DATABASE";
        return Err(CliError::new(format!(
            "{database} is a development database, created by `lunas dev`; {what_to_do}"
        )));
    }
    if let Some(found) = found {
        installation.check_keys(&found).await?;
    }
    Ok(Some(installation))
}

fn missing_key() -> CliError {
    let (variable, how) = (secret_key::VARIABLE, secret_key::HOW_TO_GENERATE);
    CliError::new(format!("{variable} is not set, but stored secrets are encrypted with it; {how}; keep it safe"))
}

/// The value, or none where it failed; then its reasons are added to `reasons`.
fn value_or_reasons<T>(outcome: Result<T, CliError>, reasons: &mut Vec<String>) -> Option<T> {
    match outcome {
        Ok(value) => Some(value),
        Err(error) => {
            reasons.extend_from_slice(error.reasons());
            None
        }
    }
}
