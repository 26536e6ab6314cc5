//! `lunas link`: creates, lists, shows and cancels payment links through the API of a running server, as a merchant's program would.

use clap::{Args, Subcommand, ValueEnum, value_parser};
use domain::{id::LinkId, method::Method};
use serde_json::{Map, Value, json};

use crate::{
    api_client::ApiClient,
    api_objects::{self, Members, RequestMembers, metadata, query, rupiah, text},
    error::CliError,
    options::GlobalOptions,
    output::{Output, fields, table},
    payment,
    remote::RemoteOptions,
};

const PATH: &str = "/v1/payment-links";

#[derive(Subcommand)]
pub(crate) enum LinkCommand {
    /// Create a payment link, and print the URL at which customers pay.
    Create(Box<CreateOptions>),
    /// List payment links, newest first.
    List(Box<ListOptions>),
    /// Show a payment link.
    Show(OneOptions),
    /// Cancel a payment link and its pending payments at once. This cannot be undone.
    Cancel(OneOptions),
}

#[derive(Args)]
pub(crate) struct CreateOptions {
    /// What is sold, for the customer.
    #[arg(long, value_name = "TEXT")]
    title: String,
    /// The amount in whole rupiah.
    #[arg(long, value_name = "RUPIAH", required_unless_present = "amount_min", conflicts_with_all = ["amount_min", "amount_max"])]
    amount: Option<i64>,
    /// Let the customer type the amount: at least this.
    #[arg(long, value_name = "RUPIAH", requires = "amount_max")]
    amount_min: Option<i64>,
    /// Let the customer type the amount: at most this.
    #[arg(long, value_name = "RUPIAH", requires = "amount_min")]
    amount_max: Option<i64>,
    /// Let the customer choose how many pieces, up to this number.
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["amount_min", "amount_max"])]
    quantity_max: Option<i64>,
    /// Your own order id. Without it, one is generated.
    #[arg(long, value_name = "TEXT")]
    reference: Option<String>,
    /// More about it, below the title.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// When the link expires, such as 2026-12-31T17:00:00+07:00. Without it, never.
    #[arg(long, value_name = "TIME")]
    expires_at: Option<String>,
    /// A method that customers can choose: qris, or the bank of a virtual account, such as bca. May be given several times.
    /// Without it, those of the project.
    #[arg(long, value_name = "METHOD", value_parser = method)]
    method: Vec<Method>,
    /// Take more than one payment.
    #[arg(long)]
    multiple: bool,
    /// A detail that the checkout page asks the customer for. May be given several times.
    #[arg(long, value_name = "FIELD")]
    ask: Vec<CustomerField>,
    /// Where the customer goes back to from the checkout page.
    #[arg(long, value_name = "URL")]
    return_url: Option<String>,
    /// A text of your own, as NAME=VALUE. May be given several times.
    #[arg(long, value_name = "NAME=VALUE", value_parser = metadata)]
    metadata: Vec<(String, String)>,
    /// Create the link once, however often the command is run with this key. Without it, each run creates one.
    #[arg(long, value_name = "TEXT")]
    idempotency_key: Option<String>,
    #[command(flatten)]
    remote: RemoteOptions,
}

#[derive(Clone, Copy, ValueEnum)]
enum CustomerField {
    Name,
    Email,
    Phone,
    Address,
}

impl CustomerField {
    const fn member(self) -> &'static str {
        match self {
            CustomerField::Name => "name",
            CustomerField::Email => "email",
            CustomerField::Phone => "phone",
            CustomerField::Address => "address",
        }
    }
}

#[derive(Args)]
pub(crate) struct ListOptions {
    /// Only links with this text in their title or reference.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// How many links to show.
    #[arg(long, value_name = "NUMBER", default_value_t = api_objects::LISTED,
          value_parser = value_parser!(u16).range(1..=api_objects::LISTED_MOST))]
    limit: u16,
    #[command(flatten)]
    remote: RemoteOptions,
}

#[derive(Args)]
pub(crate) struct OneOptions {
    /// The link's id, pl_….
    id: String,
    #[command(flatten)]
    remote: RemoteOptions,
}

fn method(word: &str) -> Result<Method, String> {
    match Method::parse(word) {
        Some(method) => Ok(method),
        None => payment::bank(word)
            .map(Method::VirtualAccount)
            .map_err(|banks| format!("it must be qris or a bank; {banks}")),
    }
}

pub(crate) async fn run(command: LinkCommand, global: &GlobalOptions) -> Result<(), CliError> {
    let output = global.output();
    match command {
        LinkCommand::Create(options) => create(&options, &options.remote.find(global)?.client()?, output).await,
        LinkCommand::List(options) => list(&options, &options.remote.find(global)?.client()?, output).await,
        LinkCommand::Show(options) => {
            let id: LinkId = api_objects::id("link", &options.id)?;
            let link = options.remote.find(global)?.client()?.get(&format!("{PATH}/{id}")).await?;
            output.show(&link, shown)
        }
        LinkCommand::Cancel(options) => {
            let id: LinkId = api_objects::id("link", &options.id)?;
            let api = options.remote.find(global)?.client()?;
            let link = api.post(&format!("{PATH}/{id}/cancel"), None, &json!({})).await?;
            output.show(&link, shown)
        }
    }
}

async fn create(options: &CreateOptions, api: &ApiClient, output: Output) -> Result<(), CliError> {
    let mut order = RequestMembers::default();
    order.set("project_id", api.project_id().await?);
    order.set("title", options.title.as_str());
    order.set_if_given("amount", options.amount);
    order.set_if_given("amount_min", options.amount_min);
    order.set_if_given("amount_max", options.amount_max);
    order.set_if_given("quantity_max", options.quantity_max);
    order.set_if_given("reference", options.reference.as_deref());
    order.set_if_given("description", options.description.as_deref());
    order.set_if_given("expires_at", options.expires_at.as_deref());
    order.set_if_given("return_url", options.return_url.as_deref());
    order.set("allow_multiple_payments", options.multiple);
    order.set("allowed_payment_methods", options.method.iter().copied().map(method_json).collect::<Vec<_>>());
    let asked = options.ask.iter().map(|field| (field.member().to_owned(), Value::Bool(true)));
    order.set("customer_fields", asked.collect::<Map<_, _>>());
    order.set_metadata(&options.metadata);
    let key = options.idempotency_key.clone().unwrap_or_else(api_objects::random_key);
    let link = api.post(PATH, Some(&key), &order.into_body()).await?;
    output.show(&link, shown)
}

fn method_json(method: Method) -> Value {
    match method {
        Method::Qris => json!({ "type": method.kind().word() }),
        Method::VirtualAccount(bank) => json!({ "type": method.kind().word(), "bank": bank.code() }),
    }
}

async fn list(options: &ListOptions, api: &ApiClient, output: Output) -> Result<(), CliError> {
    let filter = query(&[("search", options.search.as_deref())]);
    let links = api.list(PATH, &filter, options.limit.into()).await?;
    output.show(links.as_slice(), |links| {
        let row = |link: &Value| {
            let members = Members(link);
            [
                text(link, "id"),
                members.cell("title"),
                price(link),
                text(link, "status"),
                members.cell("reference"),
                text(link, "created_at"),
            ]
        };
        let rows: Vec<_> = links.iter().map(row).collect();
        table(["ID", "TITLE", "AMOUNT", "STATUS", "REFERENCE", "CREATED"], &rows)
    })
}

/// What a payment costs: the amount, or the range within which the customer types it.
fn price(link: &Value) -> String {
    match link["amount_min"].is_i64() {
        true => format!("{} to {}", rupiah(link, "amount_min"), rupiah(link, "amount_max")),
        false => rupiah(link, "amount"),
    }
}

fn shown(link: &Value) -> String {
    let members = Members(link);
    let methods = link["allowed_payment_methods"].as_array().map(Vec::as_slice).unwrap_or_default();
    let method = |method: &Value| if method["bank"].is_string() { text(method, "bank") } else { text(method, "type") };
    let multiple = if link["allow_multiple_payments"] == true { "many" } else { "one" };
    let rows = [
        ("id", text(link, "id")),
        ("status", text(link, "status")),
        ("url", text(link, "url")),
        ("title", text(link, "title")),
        ("amount", price(link)),
        ("quantity", members.number("quantity_max").map(|most| format!("up to {most}")).unwrap_or_default()),
        ("payments", multiple.to_owned()),
        ("reference", text(link, "reference")),
        ("description", text(link, "description")),
        ("methods", methods.iter().map(method).collect::<Vec<_>>().join(", ")),
        ("created", text(link, "created_at")),
        ("expires", text(link, "expires_at")),
        ("metadata", members.metadata()),
    ];
    fields(&rows.into_iter().filter(|(_, value)| !value.is_empty()).collect::<Vec<_>>())
}
