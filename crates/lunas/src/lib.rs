//! The binary: the command line, its configuration, and putting the parts together. It handles no request itself.
//!
//! Answers go to standard output, everything else to standard error. Status 0 is done, 1 failed, 2 not understood.

mod api_client;
mod copy;
mod database;
mod demo;
mod dev;
mod doctor;
mod error;
mod event;
mod files;
mod key;
mod listen;
mod logging;
mod migrate;
mod open_files;
mod options;
mod output;
mod password;
mod position;
mod project;
mod project_update;
mod remote;
mod running;
mod secret_key;
mod serve;
mod simulate;
mod site;
mod trigger;
mod user;
mod verify;
mod webhook;

use std::{ffi::OsString, process::ExitCode};

use clap::{Parser, Subcommand};

use error::CliError;
use logging::Readers;
use options::GlobalOptions;
use simulate::Report;

pub use site::bind;

const ENVIRONMENT_HELP: &str = "\
Environment variables, each of which its flag overrides:
  LUNAS_DATABASE  names the database, as --database does: sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE.
  LUNAS_DATABASE_CONNECTIONS  is how many connections to open to a PostgreSQL server at most; 20 when not set.
  LUNAS_DATA  is the directory of `lunas dev`, and where commands look for lunas.db; ./lunas-data when not set.
  LUNAS_LISTEN  is the address and port to accept connections on; 127.0.0.1:8080 when not set.
  LUNAS_BASE_URL  is the address at which merchants reach the API; `lunas serve` needs an https one.
  LUNAS_CHECKOUT_URL_BASE  is the address at which customers reach the checkout; the base URL when not set.
  LUNAS_RATE_LIMIT  is the number of requests a second that each key may make; 100 when not set, and 0 lifts every limit.
  LUNAS_TRUSTED_PROXIES  lists the networks, between commas, whose X-Forwarded-For is believed; none when not set.
  LUNAS_FEE_QRIS_BASIS_POINTS  is the QRIS fee in hundredths of a percent; 70 when not set.
  LUNAS_FEE_VIRTUAL_ACCOUNT  is the virtual account fee in rupiah; 4000 when not set.
  LUNAS_SETTLE_SANDBOX_SECONDS  is how long sandbox money stays pending; 60 when not set.
  LUNAS_SETTLE_QRIS_SECONDS  is how long QRIS money stays pending in production; 86400 when not set.
  LUNAS_SETTLE_VIRTUAL_ACCOUNT_SECONDS  is the same for virtual accounts; 86400 when not set.
  LUNAS_WEBHOOK_ALLOW  lists networks, between commas, that webhooks may go to though they are not public; none when
    not set.
  LUNAS_WEBHOOK_SIGNATURE_HEADER  is the header that carries a webhook's signature; X-Service-Signature when not set.
  LUNAS_WEBHOOK_IN_FLIGHT  is how many webhooks of one project may be on their way at once; 4 when not set.
  LUNAS_URL  is the server that `lunas listen` and `lunas trigger` talk to; the one of `lunas dev` when not set.
  LUNAS_API_KEY  is the API key that they use; the demo project's when not set.
  LUNAS_WEBHOOK_SECRET  is the secret that `lunas listen` signs with and `lunas webhook verify` checks with.

Environment variables without a flag:
  LUNAS_SECRET_KEY  is the base64 of the 32 bytes that stored secrets are sealed with. `openssl rand -base64 32` makes
    one. `lunas serve` needs it; other commands also find it in secret.key, where `lunas dev` puts it: beside lunas.db,
    or in the directory that LUNAS_DATA names when the database is on a server.
  LUNAS_LOG  chooses what is logged to standard error, such as `debug` or `warn,engine=debug`.
  NO_COLOR  turns the colours of this help off; nothing else has any.

The first steps: run `lunas dev`, and copy the commands that it prints.";

/// A payment service that you run yourself: QRIS and virtual accounts, payment links and webhooks.
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
    /// Start everything for development: an embedded database, a sandbox project and its API key. A PostgreSQL server that
    /// --database names takes the embedded one's place.
    Dev(Box<dev::DevOptions>),
    /// Serve for real. It refuses to start, with one line for each reason, while something unsafe is missing.
    Serve(Box<serve::ServeOptions>),
    /// Make, change and show projects.
    #[command(subcommand)]
    Project(project::ProjectCommand),
    /// Make, list and revoke API keys.
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Make and list people who sign in to the dashboard, and give them passwords and projects.
    #[command(subcommand)]
    User(user::UserCommand),
    /// Show what merchants were told, and tell them again.
    #[command(subcommand)]
    Event(event::EventCommand),
    /// Pay a sandbox payment, as a customer's bank would. Money that cannot pay it is kept as unapplied.
    Pay(simulate::SimulateOptions),
    /// Make a sandbox payment fail, as a customer's bank would.
    Fail(simulate::SimulateOptions),
    /// Send a project's events to a program on this machine, signed as webhooks are, until Ctrl-C. Each is sent once.
    Listen(Box<listen::ListenOptions>),
    /// Make an event happen in the sandbox, and print its id.
    Trigger(trigger::TriggerOptions),
    /// Check the signature of webhooks, and change the secret that they are signed with.
    #[command(subcommand)]
    Webhook(webhook::WebhookCommand),
    /// Bring the database's tables up to date, and make them where there are none. Servers do so by themselves when they
    /// start; several at once are safe.
    Migrate,
    /// Move an installation from the embedded database to PostgreSQL: everything, or nothing at all. Stop its server first;
    /// one that still runs answers 503 to whatever it would have to write until the copy is made.
    Copy(copy::CopyOptions),
    /// Look at the database and the secret key, and say what is wrong with them and what to do. It changes nothing.
    Doctor,
    /// Check that everything in the database adds up. It lists the rows that do not, and then fails.
    Verify,
    /// Print the OpenAPI document of the API.
    Openapi,
}

impl Command {
    fn log_readers(&self) -> Readers {
        match self {
            Command::Dev(_) | Command::Listen(_) => Readers::Developer,
            Command::Serve(_) => Readers::Collector,
            _ => Readers::Caller,
        }
    }
}

/// Does what the process was asked for.
pub fn run() -> ExitCode {
    run_from(std::env::args_os())
}

/// Does what `words` ask for; the first of them is the program's name.
pub fn run_from(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let Arguments { global, command } = Arguments::parse_from(words);
    let outcome = logging::start(command.log_readers()).and_then(|()| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|error| CliError::because("cannot start threads", &error))?;
        runtime.block_on(dispatch(command, &global))
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            for reason in error.reasons() {
                eprintln!("lunas: {reason}");
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
        Command::Migrate => migrate::run(global).await,
        Command::Copy(options) => copy::run(&options, global).await,
        Command::Doctor => doctor::run(global).await,
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
