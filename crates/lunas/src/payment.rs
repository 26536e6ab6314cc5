//! `lunas payment`: creates, lists and shows payments through the API of a running server, as a merchant's program would.

use clap::{Args, Subcommand, value_parser};
use domain::{bank::Bank, id::PaymentId, method::MethodKind};
use serde_json::{Value, json};

use crate::{
    api_client::ApiClient,
    api_objects::{self, Members, RequestMembers, metadata, query, rupiah, text},
    error::CliError,
    options::GlobalOptions,
    output::{Output, fields, table},
    remote::RemoteOptions,
};

const PATH: &str = "/v1/payments";

#[derive(Subcommand)]
pub(crate) enum PaymentCommand {
    /// Create a direct payment, by QRIS unless a bank is given.
    Create(Box<CreateOptions>),
    /// List payments, newest first.
    List(Box<ListOptions>),
    /// Show a payment.
    Show(ShowOptions),
}

#[derive(Args)]
pub(crate) struct CreateOptions {
    /// The amount in whole rupiah.
    #[arg(long, value_name = "RUPIAH")]
    amount: i64,
    /// Your own order id.
    #[arg(long, value_name = "TEXT")]
    reference: String,
    /// Take the payment by a virtual account of this bank, such as bca, in place of QRIS.
    #[arg(long, value_name = "BANK", value_parser = bank)]
    bank: Option<Bank>,
    /// How long it can be paid. Without it, 15 minutes by QRIS and a day by virtual account.
    #[arg(long, value_name = "MINUTES")]
    expires_in_minutes: Option<i64>,
    /// Where the customer goes back to from the checkout page.
    #[arg(long, value_name = "URL")]
    return_url: Option<String>,
    /// A text of your own, as NAME=VALUE. May be given several times.
    #[arg(long, value_name = "NAME=VALUE", value_parser = metadata)]
    metadata: Vec<(String, String)>,
    /// Create the payment once, however often the command is run with this key. Without it, each run creates one.
    #[arg(long, value_name = "TEXT")]
    idempotency_key: Option<String>,
    #[command(flatten)]
    remote: RemoteOptions,
}

#[derive(Args)]
pub(crate) struct ListOptions {
    /// Only payments in which all these words occur: in reference, customer, account number, link, metadata, amount or id.
    #[arg(long, value_name = "WORDS")]
    search: Option<String>,
    /// Only payments with this status: pending, processing, paid, failed, expired or cancelled.
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// Only payments by this method.
    #[arg(long, value_name = "METHOD", value_parser = [MethodKind::Qris.word(), MethodKind::VirtualAccount.word()])]
    method: Option<String>,
    /// Only payments of this link, pl_….
    #[arg(long, value_name = "ID")]
    link: Option<String>,
    /// How many payments to show.
    #[arg(long, value_name = "NUMBER", default_value_t = api_objects::LISTED,
          value_parser = value_parser!(u16).range(1..=api_objects::LISTED_MOST))]
    limit: u16,
    #[command(flatten)]
    remote: RemoteOptions,
}

#[derive(Args)]
pub(crate) struct ShowOptions {
    /// The payment's id, pay_….
    id: String,
    #[command(flatten)]
    remote: RemoteOptions,
}

/// A bank by its code.
pub(crate) fn bank(code: &str) -> Result<Bank, String> {
    Bank::from_code(code).ok_or_else(|| format!("the banks are {}", Bank::ALL.map(Bank::code).join(", ")))
}

pub(crate) async fn run(command: PaymentCommand, global: &GlobalOptions) -> Result<(), CliError> {
    let output = global.output();
    match command {
        PaymentCommand::Create(options) => create(&options, &options.remote.find(global)?.client()?, output).await,
        PaymentCommand::List(options) => list(&options, &options.remote.find(global)?.client()?, output).await,
        PaymentCommand::Show(options) => {
            let id: PaymentId = api_objects::id("payment", &options.id)?;
            let payment = options.remote.find(global)?.client()?.get(&format!("{PATH}/{id}")).await?;
            output.show(&payment, shown)
        }
    }
}

async fn create(options: &CreateOptions, api: &ApiClient, output: Output) -> Result<(), CliError> {
    let method = match options.bank {
        None => json!({ "type": MethodKind::Qris.word() }),
        Some(bank) => json!({ "type": MethodKind::VirtualAccount.word(), "bank": bank.code() }),
    };
    let mut order = RequestMembers::default();
    order.set("project_id", api.project_id().await?);
    order.set("amount", options.amount);
    order.set("reference", options.reference.as_str());
    order.set("payment_method", method);
    order.set_if_given("expires_in_minutes", options.expires_in_minutes);
    order.set_if_given("return_url", options.return_url.as_deref());
    order.set_metadata(&options.metadata);
    let key = options.idempotency_key.clone().unwrap_or_else(api_objects::random_key);
    let payment = api.post(PATH, Some(&key), &order.into_body()).await?;
    output.show(&payment, shown)
}

async fn list(options: &ListOptions, api: &ApiClient, output: Output) -> Result<(), CliError> {
    let filter = query(&[
        ("q", options.search.as_deref()),
        ("status", options.status.as_deref()),
        ("method", options.method.as_deref()),
        ("payment_link_id", options.link.as_deref()),
    ]);
    let payments = api.list(PATH, &filter, options.limit.into()).await?;
    output.show(payments.as_slice(), |payments| {
        let row = |payment: &Value| {
            let members = Members(payment);
            [
                text(payment, "id"),
                members.cell("reference"),
                rupiah(payment, "amount"),
                method(payment),
                text(payment, "status"),
                text(payment, "created_at"),
            ]
        };
        let rows: Vec<_> = payments.iter().map(row).collect();
        table(["ID", "REFERENCE", "AMOUNT", "METHOD", "STATUS", "CREATED"], &rows)
    })
}

/// `qris`, or the bank of a virtual account.
fn method(payment: &Value) -> String {
    let method = &payment["payment_method"];
    match method["bank"].is_string() {
        true => text(method, "bank"),
        false => text(method, "type"),
    }
}

/// What was given back; empty where nothing was.
fn refunded(payment: &Value) -> String {
    match payment["refunded_amount"].as_i64() {
        Some(0) => String::new(),
        _ => rupiah(payment, "refunded_amount"),
    }
}

fn shown(payment: &Value) -> String {
    let members = Members(payment);
    let instructions = &payment["instructions"];
    let code = match instructions["virtual_account_number"].is_string() {
        true => ("account number", text(instructions, "virtual_account_number")),
        false => ("QRIS", text(instructions, "qr_string")),
    };
    let rows = [
        ("id", text(payment, "id")),
        ("status", text(payment, "status")),
        ("amount", rupiah(payment, "amount")),
        ("fee", rupiah(payment, "fee_amount")),
        ("net", rupiah(payment, "merchant_net")),
        ("refunded", refunded(payment)),
        ("reference", text(payment, "reference")),
        ("method", method(payment)),
        code,
        ("link", text(payment, "payment_link_id")),
        ("customer", text(&payment["customer"], "name")),
        ("checkout", text(payment, "checkout_url")),
        ("created", text(payment, "created_at")),
        ("expires", text(payment, "expires_at")),
        ("paid", text(payment, "paid_at")),
        ("metadata", members.metadata()),
    ];
    fields(&rows.into_iter().filter(|(_, value)| !value.is_empty()).collect::<Vec<_>>())
}
