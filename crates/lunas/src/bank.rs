//! `lunas bank`: accounts at banks, by which production projects take real money, strays, and days compared with banks. No flag takes a secret, because the
//! process list shows flags; a secret that was made here is in the answer that made it and in no other.

mod account;
mod assign;
mod credential;
mod decide;
mod differences;
mod health;
mod input;
mod profiles;
mod reconcile;
mod settings;
mod show;
mod test;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use domain::method::Method;
use engine::{Engine, Settings};

use self::{
    account::Desk,
    assign::method,
    decide::{DecideOptions, ListOptions},
    differences::{DifferencesOptions, SettleOptions},
    reconcile::ReconcileOptions,
    settings::Assignment,
};
use crate::{
    database::{Database, Installation},
    error::CliError,
    options::{GlobalOptions, PublicUrl},
    remote,
};

#[derive(Args)]
pub(crate) struct BankArguments {
    #[command(flatten)]
    public_url: PublicUrl,
    #[command(subcommand)]
    command: BankCommand,
}

#[derive(Subcommand)]
enum BankCommand {
    /// Create an account for a contract with a bank, disabled. The answer has the address to give to the bank.
    Add {
        /// How the bank speaks SNAP: a name from `lunas bank profiles`.
        #[arg(long)]
        profile: String,
        /// A name for the account, for you.
        #[arg(long)]
        name: String,
        /// A setting that differs from the profile; may be repeated. `lunas bank profiles PROFILE` lists them.
        #[arg(long = "set", value_name = "NAME=VALUE")]
        settings: Vec<Assignment>,
    },
    /// Change settings of an account. With an empty value the profile's holds again.
    Set {
        /// The account's id, bac_….
        id: String,
        /// The settings, such as partner_service_id=88899.
        #[arg(value_name = "NAME=VALUE", required = true)]
        settings: Vec<Assignment>,
    },
    /// Make our RSA key for a bank, or import the bank's public key. Where there is one already, the new one waits for `rotate`.
    Key(KeyOptions),
    /// Set the client id and the secret that the bank uses at our token door. What is not given is made, and shown once.
    Inbound {
        /// The account's id, bac_….
        id: String,
        /// The client id, where the bank has chosen it.
        #[arg(long, value_name = "TEXT")]
        client_id: Option<String>,
        /// The file with the secret as one line, where the bank has chosen it; - is standard input.
        #[arg(long, value_name = "FILE")]
        secret_file: Option<PathBuf>,
    },
    /// Set the client id and the secret that the bank has given us for calls to it.
    Outbound {
        /// The account's id, bac_….
        id: String,
        /// The client id.
        #[arg(long, value_name = "TEXT")]
        client_id: String,
        /// The file with the secret as one line; - is standard input.
        #[arg(long, value_name = "FILE")]
        secret_file: PathBuf,
    },
    /// Let a production project take payments of a method by an account, in place of the account that it used before.
    Assign {
        /// The account's id, bac_….
        id: String,
        /// The project's id, prj_….
        #[arg(long, value_name = "ID")]
        project: String,
        /// The method: the code of a bank, such as bca, or qris.
        #[arg(long, value_parser = method)]
        method: Method,
    },
    /// Take a method away from a production project. Payments that wait can still be paid.
    Unassign {
        /// The project's id, prj_….
        #[arg(long, value_name = "ID")]
        project: String,
        /// The method: the code of a bank, such as bca, or qris.
        #[arg(long, value_parser = method)]
        method: Method,
    },
    /// Let an account take money. It is refused while something is missing, with what that is.
    Enable {
        /// The account's id, bac_….
        id: String,
    },
    /// Stop an account: it gives out no numbers, and the bank's calls are refused.
    Disable {
        /// The account's id, bac_….
        id: String,
    },
    /// Ask the bank for a token, and about a code that does not exist: whether its address, our key, client id and signature are right.
    Test {
        /// The account's id, bac_….
        id: String,
    },
    /// Put every key and secret that waits as `next` into use, and end those that it replaces.
    Rotate {
        /// The account's id, bac_….
        id: String,
    },
    /// Show an account: its settings, keys without their secret parts, projects, what is missing, and the latest calls.
    Show {
        /// The account's id, bac_….
        id: String,
    },
    /// List all accounts.
    List,
    /// List the profiles, or with a name the settings of one.
    Profiles {
        /// The profile's name.
        name: Option<String>,
    },
    /// List money that banks have taken and that fits no payment, newest first.
    Strays(ListOptions),
    /// Decide about such money: assign it to the payment that it was meant for, or record that the bank returns it.
    Stray(Box<DecideOptions>),
    /// Compare a day of an account with what its bank says: by the bank's report, or by asking about each code. Money that we did
    /// not know of is booked.
    Reconcile(Box<ReconcileOptions>),
    /// List what banks say otherwise than we do, newest first.
    Differences(DifferencesOptions),
    /// Record that such a difference was seen to, and how. It changes no money.
    Settle(SettleOptions),
}

#[derive(Args)]
struct KeyOptions {
    /// The account's id, bac_….
    id: String,
    #[command(flatten)]
    source: KeySource,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct KeySource {
    /// Make our key, and print its public part for the bank.
    #[arg(long)]
    make: bool,
    /// Import the bank's public key from this PEM file; - is standard input.
    #[arg(long, value_name = "FILE")]
    import: Option<PathBuf>,
}

impl BankCommand {
    /// Whether it encrypts or decrypts a secret, and so needs the secret key.
    fn needs_secret_key(&self) -> bool {
        match self {
            BankCommand::Key(options) => options.source.make,
            BankCommand::Inbound { .. }
            | BankCommand::Outbound { .. }
            | BankCommand::Test { .. }
            | BankCommand::Reconcile(_) => true,
            _ => false,
        }
    }

    /// The settings of the installation that it depends on.
    fn engine_settings(&self) -> Settings {
        match self {
            BankCommand::Stray(options) => options.money.settings(),
            BankCommand::Reconcile(options) => options.money.settings(),
            _ => Settings::default(),
        }
    }
}

pub(crate) async fn run(arguments: BankArguments, global: &GlobalOptions) -> Result<(), CliError> {
    let BankArguments { public_url, command } = arguments;
    if let BankCommand::Profiles { name } = &command {
        return profiles::run(name.as_deref(), global.output());
    }
    let installation = match command.needs_secret_key() {
        true => Installation::sealing_existing(global, command.engine_settings()).await?,
        false => Installation::existing(global, command.engine_settings()).await?,
    };
    let answer = match reached_at(&installation.engine, &public_url, global).await {
        Ok(base_url) => {
            let desk = Desk { engine: &installation.engine, output: global.output(), base_url };
            answer(command, &desk).await
        }
        Err(error) => Err(error),
    };
    installation.close().await;
    answer
}

/// Where banks reach this service: the given URL, or where `lunas dev` listens.
async fn reached_at(
    engine: &Engine,
    public_url: &PublicUrl,
    global: &GlobalOptions,
) -> Result<Option<String>, CliError> {
    let is_development = engine.is_development().await?;
    match public_url.checked(is_development)? {
        None if is_development => remote::read_address(&Database::of(global)?.home()),
        url => Ok(url),
    }
}

async fn answer(command: BankCommand, desk: &Desk<'_>) -> Result<(), CliError> {
    match command {
        BankCommand::Add { profile, name, settings } => show::add(desk, profile, name, settings).await,
        BankCommand::Set { id, settings } => show::set(desk, &id, settings).await,
        BankCommand::Key(KeyOptions { id, source }) => match source.import {
            Some(path) => credential::import_key(desk, &id, &path).await,
            None => credential::make_key(desk, &id).await,
        },
        BankCommand::Inbound { id, client_id, secret_file } => {
            credential::set_inbound(desk, &id, client_id, secret_file.as_deref()).await
        }
        BankCommand::Outbound { id, client_id, secret_file } => {
            credential::set_outbound(desk, &id, client_id, &secret_file).await
        }
        BankCommand::Assign { id, project, method } => assign::assign(desk, &id, &project, method).await,
        BankCommand::Unassign { project, method } => assign::unassign(desk, &project, method).await,
        BankCommand::Enable { id } => show::enable(desk, &id, true).await,
        BankCommand::Disable { id } => show::enable(desk, &id, false).await,
        BankCommand::Test { id } => test::run(desk, &id).await,
        BankCommand::Rotate { id } => credential::rotate(desk, &id).await,
        BankCommand::Show { id } => show::show(desk, &id).await,
        BankCommand::List => show::list(desk).await,
        BankCommand::Profiles { name } => profiles::run(name.as_deref(), desk.output),
        BankCommand::Strays(options) => decide::list(desk, &options).await,
        BankCommand::Stray(options) => decide::decide(desk, *options).await,
        BankCommand::Reconcile(options) => reconcile::reconcile(desk, *options).await,
        BankCommand::Differences(options) => differences::list(desk, &options).await,
        BankCommand::Settle(options) => differences::settle(desk, options).await,
    }
}
