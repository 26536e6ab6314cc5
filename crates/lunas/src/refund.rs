//! `lunas refund`: asks for refunds, lists, shows and cancels them through the API of a running server, as a merchant's program would.
//! What no key may do, such as approving one, works on the database, as the operator does it.

mod account;
mod attempts;
mod decide;

use clap::{Args, Subcommand, ValueEnum, value_parser};
use domain::id::PaymentId;
use serde_json::{Value, json};

use crate::{
    api_client::ApiClient,
    api_objects::{self, Members, RequestMembers, metadata, query, rupiah, text},
    error::CliError,
    options::GlobalOptions,
    output::{Output, fields, table},
    remote::RemoteOptions,
};
use account::{AccountOptions, refund_id};
pub(crate) use decide::DecideCommand;

const PATH: &str = "/v1/refunds";

#[derive(Subcommand)]
pub(crate) enum RefundCommand {
    /// Give money of a paid payment back to the customer: all that is left of it, or a part.
    Create(Box<CreateOptions>),
    /// List refunds, newest first.
    List(Box<ListOptions>),
    /// Show a refund.
    Show(OneOptions),
    /// Cancel a refund of which nothing was sent.
    Cancel(OneOptions),
    /// Let the sandbox's bank say what has become of a refund.
    Simulate(SimulateOptions),
    /// List the banks that transfers reach.
    Banks(BanksOptions),
    #[command(flatten)]
    Decide(DecideCommand),
}

#[derive(Args)]
pub(crate) struct CreateOptions {
    /// The payment's id, pay_….
    payment_id: String,
    /// The amount in whole rupiah. Without it, all that is left.
    #[arg(long, value_name = "RUPIAH")]
    amount: Option<i64>,
    /// Why, for the customer.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    account: Option<AccountOptions>,
    /// A text of your own, as NAME=VALUE. May be given several times.
    #[arg(long, value_name = "NAME=VALUE", value_parser = metadata)]
    metadata: Vec<(String, String)>,
    /// Create the refund once, however often the command is run with this key. Without it, each run creates one.
    #[arg(long, value_name = "TEXT")]
    idempotency_key: Option<String>,
    #[command(flatten)]
    remote: RemoteOptions,
}

#[derive(Args)]
pub(crate) struct ListOptions {
    /// Only refunds of this payment, pay_….
    #[arg(long, value_name = "ID")]
    payment: Option<String>,
    /// Only refunds with this status: requires_action, pending, succeeded, failed, cancelled or returned.
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// How many refunds to show.
    #[arg(long, value_name = "NUMBER", default_value_t = api_objects::LISTED,
          value_parser = value_parser!(u16).range(1..=api_objects::LISTED_MOST))]
    limit: u16,
    #[command(flatten)]
    remote: RemoteOptions,
}

#[derive(Args)]
pub(crate) struct OneOptions {
    /// The refund's id, rfd_….
    id: String,
    #[command(flatten)]
    remote: RemoteOptions,
}

#[derive(Args)]
pub(crate) struct SimulateOptions {
    /// The refund's id, rfd_….
    id: String,
    /// What has become of it; returned only of one that has succeeded.
    outcome: Outcome,
    #[command(flatten)]
    remote: RemoteOptions,
}

#[derive(Clone, Copy, ValueEnum)]
enum Outcome {
    Succeeded,
    Failed,
    Returned,
}

impl Outcome {
    const fn word(self) -> &'static str {
        match self {
            Outcome::Succeeded => "succeeded",
            Outcome::Failed => "failed",
            Outcome::Returned => "returned",
        }
    }
}

#[derive(Args)]
pub(crate) struct BanksOptions {
    #[command(flatten)]
    remote: RemoteOptions,
}

pub(crate) async fn run(command: RefundCommand, global: &GlobalOptions) -> Result<(), CliError> {
    let output = global.output();
    match command {
        RefundCommand::Create(options) => create(&options, &options.remote.find(global)?.client()?, output).await,
        RefundCommand::List(options) => list(&options, &options.remote.find(global)?.client()?, output).await,
        RefundCommand::Show(options) => {
            let id = refund_id(&options.id)?;
            let refund = options.remote.find(global)?.client()?.get(&format!("{PATH}/{id}")).await?;
            output.show(&refund, shown)
        }
        RefundCommand::Cancel(options) => {
            let id = refund_id(&options.id)?;
            let api = options.remote.find(global)?.client()?;
            let refund = api.post(&format!("{PATH}/{id}/cancel"), None, &json!({})).await?;
            output.show(&refund, shown)
        }
        RefundCommand::Simulate(options) => {
            let id = refund_id(&options.id)?;
            let api = options.remote.find(global)?.client()?;
            let body = json!({ "outcome": options.outcome.word() });
            let refund = api.post(&format!("/v1/sandbox/refunds/{id}/simulate"), None, &body).await?;
            output.show(&refund, shown)
        }
        RefundCommand::Banks(options) => banks(&options.remote.find(global)?.client()?, output).await,
        RefundCommand::Decide(command) => decide::run(command, global).await,
    }
}

async fn create(options: &CreateOptions, api: &ApiClient, output: Output) -> Result<(), CliError> {
    let payment: PaymentId = api_objects::id("payment", &options.payment_id)?;
    let mut request = RequestMembers::default();
    request.set_if_given("amount", options.amount);
    request.set_if_given("reason", options.reason.as_deref());
    request.set_if_given("destination", options.account.as_ref().map(destination));
    request.set_metadata(&options.metadata);
    let key = options.idempotency_key.clone().unwrap_or_else(api_objects::random_key);
    let refund = api.post(&format!("/v1/payments/{payment}/refunds"), Some(&key), &request.into_body()).await?;
    output.show(&refund, shown)
}

fn destination(account: &AccountOptions) -> Value {
    let mut members = RequestMembers::default();
    members.set("bank", account.bank.as_str());
    members.set("account_number", account.account_number.as_str());
    members.set_if_given("account_name", account.account_name.as_deref());
    members.into_body()
}

async fn list(options: &ListOptions, api: &ApiClient, output: Output) -> Result<(), CliError> {
    let filter = query(&[("payment_id", options.payment.as_deref()), ("status", options.status.as_deref())]);
    let refunds = api.list(PATH, &filter, options.limit.into()).await?;
    output.show(refunds.as_slice(), |refunds| {
        let row = |refund: &Value| {
            [
                text(refund, "id"),
                text(refund, "payment_id") + &text(refund, "receipt_id"),
                rupiah(refund, "amount"),
                text(refund, "road"),
                status(refund),
                text(refund, "created_at"),
            ]
        };
        let rows: Vec<_> = refunds.iter().map(row).collect();
        table(["ID", "OF", "AMOUNT", "ROAD", "STATUS", "CREATED"], &rows)
    })
}

/// The status, and what a pending refund waits for.
fn status(refund: &Value) -> String {
    let status = text(refund, "status");
    match refund["pending_reason"].is_string() {
        true => format!("{status}, {}", text(refund, "pending_reason")),
        false => status,
    }
}

fn shown(refund: &Value) -> String {
    let destination = &refund["destination"];
    let account = match destination["bank"].is_string() {
        true => format!("{} …{}", text(destination, "bank"), text(destination, "last_four")),
        false => String::new(),
    };
    let rows = [
        ("id", text(refund, "id")),
        ("status", status(refund)),
        ("amount", rupiah(refund, "amount")),
        ("payment", text(refund, "payment_id")),
        ("receipt", text(refund, "receipt_id")),
        ("road", text(refund, "road")),
        ("reason", text(refund, "reason")),
        ("account", account),
        ("account name", text(destination, "account_name")),
        ("for the customer", text(refund, "claim_url")),
        ("bank reference", text(refund, "bank_reference")),
        ("failure", text(refund, "failure_reason")),
        ("created", text(refund, "created_at")),
        ("succeeded", text(refund, "succeeded_at")),
        ("metadata", Members(refund).metadata()),
    ];
    fields(&rows.into_iter().filter(|(_, value)| !value.is_empty()).collect::<Vec<_>>())
}

async fn banks(api: &ApiClient, output: Output) -> Result<(), CliError> {
    let banks = api.list("/v1/banks", "", usize::try_from(api_objects::LISTED_MOST).unwrap_or(usize::MAX)).await?;
    output.show(banks.as_slice(), |banks| {
        let row = |bank: &Value| {
            let rails = bank["rails"].as_array().into_iter().flatten().map(|rail| text(rail, "rail"));
            [text(bank, "code"), text(bank, "name"), rails.collect::<Vec<_>>().join(", ")]
        };
        let rows: Vec<_> = banks.iter().map(row).collect();
        table(["CODE", "NAME", "RAILS"], &rows)
    })
}
