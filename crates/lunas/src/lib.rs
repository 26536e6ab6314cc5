//! The `lunas` program: its command line, its configuration, and the assembly of engine, server and surfaces. It handles no
//! request itself.
//!
//! Commands answer on standard output; everything else goes to standard error. The exit status is 0 for success, 1 for failure
//! and 2 for a command line that cannot be parsed.

mod allocator;
mod api_client;
mod api_objects;
mod bank;
mod config;
mod configuration;
mod copy;
mod database;
mod demo_credentials;
mod dev;
mod doctor;
mod error;
mod event;
mod event_cursor;
mod key;
mod link;
mod listen;
mod logging;
mod mail;
mod mail_options;
mod manual;
mod migrate;
mod notice_options;
mod open_files;
mod options;
mod output;
mod password;
mod payment;
mod private_files;
mod project;
mod project_refunds;
mod project_update;
mod refund;
mod rehearsal;
mod remote;
mod request_lines;
mod running_server;
mod secret;
mod secret_key;
mod serve;
mod service_manager;
mod settings;
mod simulate;
mod surfaces;
mod trigger;
mod user;
mod variables;
mod verify;
mod webhook;

use std::{ffi::OsString, process::ExitCode};

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use configuration::Configuration;
use error::CliError;
use logging::LogReader;
use options::GlobalOptions;
use settings::Setting;
use simulate::Report;

pub use surfaces::bind;

/// A self-hosted payment service: QRIS and virtual accounts, payment links and webhooks.
#[derive(Parser)]
#[command(name = "lunas", version = env!("LUNAS_VERSION"), arg_required_else_help = true)]
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
    /// Create, list, show and cancel payment links, through the API of a running server.
    #[command(subcommand)]
    Link(link::LinkCommand),
    /// Create, list, search and show payments, through the API of a running server.
    #[command(subcommand)]
    Payment(payment::PaymentCommand),
    /// Give money of payments back: ask for refunds, follow and decide about them.
    #[command(subcommand)]
    Refund(Box<refund::RefundCommand>),
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
    /// Try whether letters arrive, and show those that wait and those that were sent.
    #[command(subcommand)]
    Mail(mail::MailCommand),
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
    /// Show the settings, where their values come from, and what is wrong with them.
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Print the OpenAPI document of the API.
    Openapi,
    /// Print a script that completes commands and flags in a shell.
    Completions(manual::CompletionsOptions),
    /// Write the manual pages, lunas.1 and one for each command.
    Man(manual::ManOptions),
}

impl Command {
    fn log_reader(&self) -> LogReader {
        match self {
            Command::Dev(options) => LogReader::Developer { with_requests: !options.quiet },
            Command::Listen(_) => LogReader::Developer { with_requests: true },
            Command::Serve(_) => LogReader::Collector,
            _ => LogReader::CommandUser,
        }
    }

    /// Whether it needs no setting, so that it also works where some are wrong. `lunas config` tells of those itself.
    fn needs_no_setting(&self) -> bool {
        matches!(self, Command::Config(_) | Command::Openapi | Command::Completions(_) | Command::Man(_))
    }
}

/// Runs the command of this process's arguments.
pub fn run() -> ExitCode {
    run_from(std::env::args_os())
}

/// Runs the command that `words` ask for; the first of them is the program's name.
pub fn run_from(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let words: Vec<OsString> = words.into_iter().collect();
    let configuration = Configuration::read(&Arguments::command(), &words);
    let matches = parse(&configuration, &words);
    let Arguments { global, command } = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let given = Given { global: &global, configuration: &configuration, matches: innermost(&matches) };
    exit_code(prepare(&command, &configuration).and_then(|()| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|error| CliError::because("cannot start threads", &error))?;
        runtime.block_on(dispatch(command, given))
    }))
}

/// Parses the command line. Where a value in the environment is wrong, `lunas config` runs all the same and tells of it.
fn parse(configuration: &Configuration, words: &[OsString]) -> ArgMatches {
    configuration.fill(command_line()).try_get_matches_from(words).unwrap_or_else(|error| {
        let alone = command_line().mut_args(|argument| argument.env(None::<&str>)).try_get_matches_from(words);
        match alone {
            Ok(matches) if matches.subcommand_name() == Some("config") => matches,
            _ => error.exit(),
        }
    })
}

/// Gives the settings to the command and starts the log, or says what is wrong with the settings.
fn prepare(command: &Command, configuration: &Configuration) -> Result<(), CliError> {
    if command.needs_no_setting() {
        return Ok(());
    }
    if !configuration.mistakes.is_empty() {
        return Err(CliError::several(configuration.mistakes.clone()));
    }
    variables::remember(configuration.file_values());
    logging::start(command.log_reader())
}

/// Tells why a command failed.
fn exit_code(outcome: Result<(), CliError>) -> ExitCode {
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

/// The whole command line, with a help that names every setting.
fn command_line() -> clap::Command {
    let command = Arguments::command();
    let settings = settings::all(&command);
    let width = settings.iter().map(|setting| setting.variable.len()).max().unwrap_or_default();
    let line = |setting: &Setting| format!("  {:width$}  {}\n", setting.variable, setting.first_sentence());
    let lines: String = settings.iter().map(line).collect();
    command.after_help(format!(
        "Environment variables; `lunas config list` explains them. A flag overrides its variable, and that overrides lunas.toml:\n\
         {lines}  {:width$}  Turns off the colours of this help\n\n\
         To start: run `lunas dev`, and copy the commands that it prints.",
        "NO_COLOR"
    ))
}

/// What was given to the command itself, which also has the options of all commands.
fn innermost(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, matches)| innermost(matches))
}

/// What commands know besides their own arguments.
struct Given<'a> {
    global: &'a GlobalOptions,
    configuration: &'a Configuration,
    matches: &'a ArgMatches,
}

async fn dispatch(command: Command, Given { global, configuration, matches }: Given<'_>) -> Result<(), CliError> {
    match command {
        Command::Dev(options) => dev::run(*options, global).await,
        Command::Serve(options) => serve::run(*options, global).await,
        Command::Project(command) => project::run(command, global).await,
        Command::Key(command) => key::run(command, global).await,
        Command::User(command) => user::run(command, global).await,
        Command::Link(command) => link::run(command, global).await,
        Command::Payment(command) => payment::run(command, global).await,
        Command::Refund(command) => refund::run(*command, global).await,
        Command::Event(command) => event::run(command, global).await,
        Command::Pay(options) => simulate::run(Report::Paid, options, global).await,
        Command::Fail(options) => simulate::run(Report::Failed, options, global).await,
        Command::Listen(options) => listen::run(*options, global).await,
        Command::Trigger(options) => trigger::run(options, global).await,
        Command::Webhook(command) => webhook::run(command, global).await,
        Command::Bank(arguments) => bank::run(*arguments, global).await,
        Command::Mail(command) => mail::run(command, global).await,
        Command::Secret(command) => secret::run(command, global).await,
        Command::Migrate => migrate::run(global).await,
        Command::Copy(options) => copy::run(&options, global).await,
        Command::Doctor(options) => doctor::run(&options, global).await,
        Command::Verify => verify::run(global).await,
        Command::Config(command) => config::run(&command, configuration, matches, global),
        Command::Openapi => output::print(&api::openapi_json()),
        Command::Completions(options) => manual::completions(&options, command_line()),
        Command::Man(options) => manual::man(&options, command_line()),
    }
}

#[cfg(test)]
mod tests {
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
    fn every_setting_has_a_name_and_a_meaning_of_its_own() {
        let settings = settings::all(&Arguments::command());
        assert!(settings.len() > 20);
        for setting in &settings {
            let (variable, meaning) = (&setting.variable, &setting.meaning);
            assert!(variable.starts_with("LUNAS_") && setting.key() == setting.key().to_lowercase(), "{variable}");
            assert!(meaning.len() > 10 && meaning.ends_with('.') && !meaning.contains('\n'), "{variable}: {meaning}");
            assert!(!setting.first_sentence().contains(". "), "{variable}");
        }
        let keys: std::collections::BTreeSet<String> = settings.iter().map(Setting::key).collect();
        assert_eq!(keys.len(), settings.len());
    }
}
