//! `lunas project`: creates, lists and shows projects. Changing one is in `project_update`.

use clap::{Args, Subcommand};
use domain::{
    id::ProjectId,
    money::Rupiah,
    project::{Environment, Project},
};
use engine::{Engine, NewProject, Settings};
use secrecy::ExposeSecret;
use serde::Serialize;

use crate::{
    database::Installation,
    error::CliError,
    options::GlobalOptions,
    output::{Output, fields, table},
    project_update::{self, UpdateOptions},
};

#[derive(Subcommand)]
pub(crate) enum ProjectCommand {
    /// Create a project, and the database if it is missing. The answer contains the project's webhook secret.
    Create(CreateOptions),
    /// Change a project's settings. Settings that are not given stay as they are.
    Update(Box<UpdateOptions>),
    /// List all projects.
    List,
    /// Show a project's settings.
    Show {
        /// The project's id, prj_….
        id: String,
    },
}

#[derive(Args)]
pub(crate) struct CreateOptions {
    /// The project's name.
    #[arg(long)]
    name: String,
    /// The environment: sandbox, without real money, or production. A production project works once it is approved.
    #[arg(long, value_parser = environment)]
    environment: Environment,
    /// The name that customers see. Without it, they see the project's name.
    #[arg(long)]
    merchant_name: Option<String>,
}

fn environment(word: &str) -> Result<Environment, String> {
    Environment::parse(word).ok_or_else(|| "it must be `sandbox` or `production`".to_owned())
}

/// A new project, with its webhook secret.
#[derive(Serialize)]
struct CreatedJson {
    id: String,
    name: String,
    environment: &'static str,
    merchant_name: String,
    webhook_secret: String,
}

/// A project's settings, without its secret.
#[derive(Serialize)]
struct ProjectJson {
    id: String,
    name: String,
    environment: &'static str,
    merchant_name: String,
    merchant_city: String,
    merchant_postal_code: String,
    active: bool,
    approved: bool,
    success_status: &'static str,
    webhook_url: Option<String>,
    extra_events: Vec<&'static str>,
    allowed_origins: Vec<String>,
    frame_origins: Vec<String>,
    /// The project's own fees; none where the installation's fees apply.
    fee_qris_basis_points: Option<i64>,
    fee_virtual_account: Option<i64>,
    banks: Vec<&'static str>,
    default_methods: Vec<String>,
    refund_approval_above: Option<i64>,
    refund_key_accounts_wait: bool,
    refund_returns_fee: bool,
    created_at: String,
}

impl ProjectJson {
    async fn of(engine: &Engine, project: Project) -> Result<ProjectJson, CliError> {
        Ok(ProjectJson {
            allowed_origins: engine.allowed_origins(project.id).await?,
            id: project.id.to_string(),
            name: project.name,
            environment: project.environment.word(),
            merchant_name: project.merchant.name,
            merchant_city: project.merchant.city,
            merchant_postal_code: project.merchant.postal_code,
            active: project.active,
            approved: project.approved,
            success_status: project.success_word.word(),
            webhook_url: project.webhook_url,
            extra_events: project.extra_events.iter().map(|kind| kind.word()).collect(),
            frame_origins: project.frame_origins,
            fee_qris_basis_points: project.fees.qris_basis_points,
            fee_virtual_account: project.fees.virtual_account.map(Rupiah::get),
            banks: project.banks.iter().map(|bank| bank.code()).collect(),
            default_methods: project.default_methods.iter().map(ToString::to_string).collect(),
            refund_approval_above: project.refunds.approval_above.map(Rupiah::get),
            refund_key_accounts_wait: project
                .refunds
                .key_destination_needs_approval
                .unwrap_or(project.environment == Environment::Production),
            refund_returns_fee: project.refunds.returns_fee,
            created_at: project.created_at.to_string(),
        })
    }

    fn text(&self) -> String {
        fields(&[
            ("id", self.id.clone()),
            ("name", self.name.clone()),
            ("environment", self.environment.to_owned()),
            ("merchant", self.merchant_name.clone()),
            ("city", format!("{} {}", self.merchant_city, self.merchant_postal_code)),
            ("active", yes_or_no(self.active)),
            ("approved", yes_or_no(self.approved)),
            ("success status", self.success_status.to_owned()),
            ("webhook URL", self.webhook_url.clone().unwrap_or_else(|| "none".to_owned())),
            ("extra events", none_or_joined(&self.extra_events)),
            ("allowed origins", none_or_joined(&self.allowed_origins)),
            ("frame origins", none_or_joined(&self.frame_origins)),
            ("QRIS fee", own_fee(self.fee_qris_basis_points.map(|points| format!("{points} basis points")))),
            ("account fee", own_fee(self.fee_virtual_account.map(|fee| Rupiah::new(fee).to_string()))),
            ("banks", self.banks.join(", ")),
            ("default methods", self.default_methods.join(", ")),
            ("refunds to approve", self.refund_approval_above.map_or_else(|| "none".to_owned(), above)),
            (
                "refunds of keys",
                if self.refund_key_accounts_wait { "accounts wait for an approval" } else { "go" }.to_owned(),
            ),
            ("refunds return fee", yes_or_no(self.refund_returns_fee)),
            ("created", self.created_at.clone()),
        ])
    }
}

pub(crate) async fn run(command: ProjectCommand, global: &GlobalOptions) -> Result<(), CliError> {
    let installation = match &command {
        ProjectCommand::Create(_) => Installation::sealing(global).await?,
        ProjectCommand::Update(options) => {
            Installation::existing(global, options.targets.with(Settings::default())).await?
        }
        _ => Installation::existing(global, Settings::default()).await?,
    };
    let answer = answer(command, &installation.engine, global.output()).await;
    installation.close().await;
    answer
}

async fn answer(command: ProjectCommand, engine: &Engine, output: Output) -> Result<(), CliError> {
    match command {
        ProjectCommand::Create(options) => create(options, engine, output).await,
        ProjectCommand::List => list(engine, output).await,
        ProjectCommand::Show { id } => {
            let project = find(engine, &id).await?;
            output.show(&ProjectJson::of(engine, project).await?, ProjectJson::text)
        }
        ProjectCommand::Update(options) => {
            let project = find(engine, &options.id).await?;
            let changed = project_update::update(*options, project, engine).await?;
            output.show(&ProjectJson::of(engine, changed).await?, ProjectJson::text)
        }
    }
}

async fn create(options: CreateOptions, engine: &Engine, output: Output) -> Result<(), CliError> {
    let CreateOptions { name, environment, merchant_name } = options;
    let (project, secret) = engine.create_project(NewProject { name, environment, merchant_name }).await?;
    let created = CreatedJson {
        id: project.id.to_string(),
        name: project.name.clone(),
        environment: project.environment.word(),
        merchant_name: project.merchant.name.clone(),
        webhook_secret: secret.expose_secret().to_owned(),
    };
    output.show(&created, |created| {
        let next = match project.is_usable() {
            true => format!("Create a key for it: lunas key create --project {} --name NAME", created.id),
            false => format!("It works once it is approved: lunas project update {} --approve", created.id),
        };
        let fields = fields(&[
            ("id", created.id.clone()),
            ("name", created.name.clone()),
            ("environment", created.environment.to_owned()),
            ("merchant", created.merchant_name.clone()),
            ("webhook secret", created.webhook_secret.clone()),
        ]);
        format!("{fields}\n\n{next}")
    })
}

async fn list(engine: &Engine, output: Output) -> Result<(), CliError> {
    let mut projects = Vec::new();
    for project in engine.projects().await? {
        projects.push(ProjectJson::of(engine, project).await?);
    }
    output.show(projects.as_slice(), |projects| {
        let row = |project: &ProjectJson| {
            [
                project.id.clone(),
                project.name.clone(),
                project.environment.to_owned(),
                yes_or_no(project.active),
                yes_or_no(project.approved),
                project.created_at.clone(),
            ]
        };
        let rows: Vec<_> = projects.iter().map(row).collect();
        table(["ID", "NAME", "ENVIRONMENT", "ACTIVE", "APPROVED", "CREATED"], &rows)
    })
}

/// The project with the id that the user has given.
/// The project that a command names, or the only one that there is.
pub(crate) async fn chosen(engine: &Engine, id: Option<&str>) -> Result<Project, CliError> {
    if let Some(id) = id {
        return find(engine, id).await;
    }
    let mut projects = engine.projects().await?;
    match (projects.pop(), projects.len()) {
        (Some(only), 0) => Ok(only),
        (Some(_), others) => Err(CliError::new(format!(
            "there are {} projects; name one with `--project ID`, `lunas project list` lists them",
            others + 1
        ))),
        (None, _) => {
            Err(CliError::new("there is no project yet; `lunas project create --help` says how to create one"))
        }
    }
}

pub(crate) async fn find(engine: &Engine, id: &str) -> Result<Project, CliError> {
    let unknown = || {
        let id = id.escape_debug();
        CliError::new(format!("there is no project {id} in this database; `lunas project list` lists them"))
    };
    let parsed: ProjectId = id.parse().map_err(|_| unknown())?;
    match engine.project(parsed).await {
        Err(engine::Error::NotFound(_)) => Err(unknown()),
        found => Ok(found?),
    }
}

pub(crate) fn yes_or_no(value: bool) -> String {
    if value { "yes" } else { "no" }.to_owned()
}

/// Which refunds wait for an approval.
fn above(amount: i64) -> String {
    format!("above {}", Rupiah::new(amount))
}

fn own_fee(fee: Option<String>) -> String {
    fee.unwrap_or_else(|| "the installation's".to_owned())
}

fn none_or_joined<T: AsRef<str>>(values: &[T]) -> String {
    let words: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}
