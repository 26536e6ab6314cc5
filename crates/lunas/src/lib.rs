//! The `lunas` program: its command line, its configuration, and the assembly of engine, server and surfaces. It handles no
//! request itself.
//!
//! Commands answer on standard output; everything else goes to standard error. The exit status is 0 for success, 1 for failure
//! and 2 for a command line that cannot be parsed.

mod api_client;
mod bank;
mod copy;
mod database;
mod demo_credentials;
mod dev;
mod doctor;
mod error;
mod event;
mod event_cursor;
mod key;
mod listen;
mod logging;
mod migrate;
mod open_files;
mod options;
mod output;
mod password;
mod private_files;
mod project;
mod project_update;
mod rehearsal;
mod remote;
mod running_server;
mod secret;
mod secret_key;
mod serve;
mod simulate;
mod surfaces;
mod trigger;
mod user;
mod verify;
mod webhook;

use std::{ffi::OsString, process::ExitCode};

use clap::{Parser, Subcommand};

use error::CliError;
use logging::LogReader;
use options::GlobalOptions;
use simulate::Report;

pub use surfaces::bind;

const ENVIRONMENT_HELP: &str = "\
Environment variables that have a flag, which overrides them:
  LUNAS_DATABASE  is the database, as with --database: sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE.
  LUNAS_DATABASE_CONNECTIONS  is the most connections to open to a PostgreSQL server; 20 when not set.
  LUNAS_DATA  is the directory of `lunas dev`, where other commands find lunas.db too; ./lunas-data when not set.
  LUNAS_LISTEN  is the address and port to accept connections on; 127.0.0.1:8080 when not set.
  LUNAS_BASE_URL  is the URL at which merchants' programs reach the API, and banks their doors; `lunas serve` needs an https
    one.
  LUNAS_CHECKOUT_URL_BASE  is the URL at which people reach the checkout and the dashboard; the base URL when not set.
  LUNAS_RATE_LIMIT  is the number of requests per second that each API key may make; 100 when not set, 0 lifts all limits.
  LUNAS_TRUSTED_PROXIES  lists the networks, separated by commas, whose X-Forwarded-For is trusted; none when not set.
  LUNAS_ATTEMPTS_PENDING_SINGLE  is how many payments of a single-use link may be pending at a time; 20 when not set.
  LUNAS_ATTEMPTS_PENDING_MANY  is the same for a link that takes many payments; 1000 when not set.
  LUNAS_ATTEMPTS_PER_ADDRESS  is how many payments of a single-use link one address may start within the window; 10 when
    not set, 0 lifts this limit.
  LUNAS_ATTEMPTS_WINDOW_MINUTES  is the length of that window; 10 when not set.
  LUNAS_CONNECTIONS_PER_ADDRESS  is how many connections one address may have open; 2048 when not set, 0 lifts the limit.
  LUNAS_FEE_QRIS_BASIS_POINTS  is the QRIS fee in hundredths of a percent; 70 when not set.
  LUNAS_FEE_VIRTUAL_ACCOUNT  is the virtual account fee in rupiah; 4000 when not set.
  LUNAS_SETTLE_SANDBOX_SECONDS  is how long money of sandbox payments stays pending; 60 when not set.
  LUNAS_SETTLE_QRIS_SECONDS  is how long money of QRIS payments stays pending in production; 86400 when not set.
  LUNAS_SETTLE_VIRTUAL_ACCOUNT_SECONDS  is the same for virtual accounts; 86400 when not set.
  LUNAS_WEBHOOK_ALLOW  lists private networks, separated by commas, that webhooks may be sent to; none when not set.
  LUNAS_WEBHOOK_SIGNATURE_HEADER  is the header that carries a webhook's signature; X-Service-Signature when not set.
  LUNAS_WEBHOOK_IN_FLIGHT  is how many webhooks of one project may be in flight at once; 4 when not set.
  LUNAS_URL  is the server that `lunas listen` and `lunas trigger` call; that of `lunas dev` when not set.
  LUNAS_API_KEY  is the API key that they use; that of the demo project when not set.
  LUNAS_WEBHOOK_SECRET  is the secret that `lunas listen` signs with and `lunas webhook verify` checks with.

Environment variables without a flag:
  LUNAS_SECRET_KEY  is the key that stored secrets are encrypted with: 32 bytes in base64, which `openssl rand -base64 32`
    generates. `lunas serve` needs it; other commands also find it in the file secret.key, where `lunas dev` puts it:
    beside lunas.db, or in the directory LUNAS_DATA when the database is on a server.
  LUNAS_SECRET_KEY_PREVIOUS  is the key before it, while `lunas secret rotate` has not replaced it everywhere. It only decrypts.
    Commands also find it in the file secret.key.previous, beside secret.key.
  LUNAS_SECRET_KEY_NEXT  is the key that other nodes encrypt with already, while nodes change over one by one. It only decrypts.
  LUNAS_LOG  is the filter of the log on standard error, such as `debug` or `warn,engine=debug`.
  NO_COLOR  turns off the colours of this help.

To start: run `lunas dev`, and copy the commands that it prints.";

/// A self-hosted payment service: QRIS and virtual accounts, payment links and webhooks.
#[derive(Parser)]
#[command(name = "lunas", version, after_help = ENVIRONMENT_HELP, arg_required_else_help = true)]
struct Arguments {
    #[command(flatten)]
    global: GlobalOptions,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start a development server with an embedded database, a sandbox project and its API key. With --database it uses a
    /// PostgreSQL server in place of the embedded database.
    Dev(Box<dev::DevOptions>),
    /// Start the production server. While a setting that it needs to be safe is missing, it does not start and says why, one
    /// line per reason.
    Serve(Box<serve::ServeOptions>),
    /// Create, change and show projects.
    #[command(subcommand)]
    Project(project::ProjectCommand),
    /// Create, list and revoke API keys.
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Create and list users of the dashboard, set their passwords, and add them to projects.
    #[command(subcommand)]
    User(user::UserCommand),
    /// Show events and their webhook deliveries, and send events again.
    #[command(subcommand)]
    Event(event::EventCommand),
    /// Pay a sandbox payment, as a customer's bank would. Money that cannot be applied to it is kept as unapplied.
    Pay(simulate::SimulateOptions),
    /// Let a sandbox payment fail, as a customer's bank would.
    Fail(simulate::SimulateOptions),
    /// Forward a project's events to a program on this machine, signed like webhooks, until Ctrl-C. Each event is sent once.
    Listen(Box<listen::ListenOptions>),
    /// Cause an event in the sandbox, and print its id.
    Trigger(trigger::TriggerOptions),
    /// Check signatures of webhooks, and rotate the secret that they are signed with.
    #[command(subcommand)]
    Webhook(webhook::WebhookCommand),
    /// Set up accounts at banks, by which production projects take real money, and decide about money that fits no payment.
    Bank(Box<bank::BankArguments>),
    /// Rotate the secret key that stored secrets are encrypted with.
    #[command(subcommand)]
    Secret(secret::SecretCommand),
    /// Create or update the database's tables. Servers do so by themselves when they start; several at once are safe.
    Migrate,
    /// Copy an installation from the embedded database to PostgreSQL, completely or not at all. Stop its server first: until the
    /// copy is done, a running server answers 503 to every request that writes.
    Copy(copy::CopyOptions),
    /// Examine the database, the secret key and the bank accounts, and say what is wrong and what to do about it. It changes
    /// nothing.
    Doctor(doctor::DoctorOptions),
    /// Check the invariants of the data in the database. It lists the rows that break one, and then fails.
    Verify,
    /// Print the OpenAPI document of the API.
    Openapi,
}

impl Command {
    fn log_reader(&self) -> LogReader {
        match self {
            Command::Dev(_) | Command::Listen(_) => LogReader::Developer,
            Command::Serve(_) => LogReader::Collector,
            _ => LogReader::CommandUser,
        }
    }
}

/// Runs the command of this process's arguments.
pub fn run() -> ExitCode {
    run_from(std::env::args_os())
}

/// Runs the command that `words` ask for; the first of them is the program's name.
pub fn run_from(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let Arguments { global, command } = Arguments::parse_from(words);
    let outcome = logging::start(command.log_reader()).and_then(|()| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|error| CliError::because("cannot start threads", &error))?;
        runtime.block_on(dispatch(command, &global))
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            for reason in error.reasons() {
                logging::tell(reason);
            }
            ExitCode::FAILURE
        }
    }
}

async fn dispatch(command: Command, global: &GlobalOptions) -> Result<(), CliError> {
    match command {
        Command::Dev(options) => dev::run(*options, global).await,
        Command::Serve(options) => serve::run(*options, global).await,
        Command::Project(command) => project::run(command, global).await,
        Command::Key(command) => key::run(command, global).await,
        Command::User(command) => user::run(command, global).await,
        Command::Event(command) => event::run(command, global).await,
        Command::Pay(options) => simulate::run(Report::Paid, options, global).await,
        Command::Fail(options) => simulate::run(Report::Failed, options, global).await,
        Command::Listen(options) => listen::run(*options, global).await,
        Command::Trigger(options) => trigger::run(options, global).await,
        Command::Webhook(command) => webhook::run(command, global).await,
        Command::Bank(arguments) => bank::run(*arguments, global).await,
        Command::Secret(command) => secret::run(command, global).await,
        Command::Migrate => migrate::run(global).await,
        Command::Copy(options) => copy::run(&options, global).await,
        Command::Doctor(options) => doctor::run(&options, global).await,
        Command::Verify => verify::run(global).await,
        Command::Openapi => output::print(&api::openapi_json()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn global_options_go_before_and_after_the_command() {
        for line in [
            &["lunas", "--json", "--database", "sqlite:a", "project", "list"][..],
            &["lunas", "project", "--json", "list", "--database", "sqlite:a"],
            &["lunas", "project", "list", "--database=sqlite:a", "--json"],
        ] {
            let arguments = Arguments::try_parse_from(line).ok().unwrap();
            assert!(arguments.global.output().json);
            assert_eq!(arguments.global.database(), Some("sqlite:a"));
        }
    }

    #[test]
    fn the_help_explains_every_environment_variable() {
        fn variables(command: &clap::Command, into: &mut Vec<String>) {
            into.extend(command.get_arguments().filter_map(|argument| Some(argument.get_env()?.to_str()?.to_owned())));
            command.get_subcommands().for_each(|command| variables(command, into));
        }
        let mut named = Vec::new();
        variables(&Arguments::command(), &mut named);
        assert!(named.len() > 10);
        for variable in named {
            assert!(ENVIRONMENT_HELP.contains(&format!("  {variable}  ")), "{variable}");
        }
    }
}
