//! `lunas dev --rehearse`: a production project whose accounts are at a bank of our own. The bank runs in the same process, calls
//! the doors over HTTP as any bank does, and has its screens at `/bank`. No real money is in it, and `lunas serve` never offers it.
//!
//! Project, API key and link are found again by a file of the data directory, the accounts by their assignments. The bank's keys
//! are made anew at each start and rotated in, so that no private key of it is ever kept.

mod acquirer;
mod setup;

use std::{collections::BTreeMap, net::SocketAddr, path::Path, sync::Arc};

use axum::response::{IntoResponse, Response};
use demobank::{Bank, BankKey, BankServices, Contract, Style};
use domain::{
    access::Role,
    bank::Bank as BankCode,
    id::{BankAccountId, LinkId, ProjectId},
    link::{Link, LinkStatus},
    method::Method,
    orders::LinkRequest,
    project::{Environment, Project},
};
use engine::{BankAccountFile, Created, Engine, NewBankAccount, NewInbound, NewProject, ProjectUpdate};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use url::Url;
use web::{App, Failure, FailureWording, Surface};

use self::{
    acquirer::Acquirer,
    setup::{MERCHANT_NAME, PROJECT_NAME, promote},
};
use crate::{
    demo_credentials::{self, OWNER_EMAIL},
    error::CliError,
    private_files, remote,
};

const FILE: &str = "rehearsal.json";
const UNSTARTED: &str = "cannot start the rehearsal's bank";
/// The first segment of the paths of the bank's screens.
const FOLDER: &str = "bank";
const LINK_TITLE: &str = "Rehearsal order";
const LINK_AMOUNT: i64 = 25_000;
/// The setting that numbers of an account begin with.
const COMPANY_CODE: &str = "partner_service_id";
/// The accounts: a bank of each profile, and what its numbers begin with. They differ, so that a number tells its bank.
const ACCOUNTS: [(Style, BankCode, &str); 5] = [
    (Style::BCA, BankCode::Bca, "70014"),
    (Style::BRIVA_ONLINE, BankCode::Bri, "70002"),
    (Style::BSI, BankCode::Bsi, "70451"),
    (Style::MANDIRI, BankCode::Mandiri, "70008"),
    (Style::GENERIC, BankCode::Bni, "70009"),
];

/// A bank with contracts, and the project that takes payments by it.
pub(crate) struct Rehearsal {
    bank: Arc<Bank>,
    acquirer: Acquirer,
    contracts: Vec<(BankAccountId, Contract)>,
    kept: Kept,
}

/// Whose screens a server shows: the bank that asks for bills, and the acquirer that issues codes.
#[derive(Clone)]
pub(crate) struct Screens {
    bank: Arc<Bank>,
    asked: Arc<BankServices>,
}

/// What is kept between two runs. Without `Debug`, so that the key cannot end up in a log.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    project_id: String,
    api_key: String,
    link_id: String,
}

/// What the ready line says about the rehearsal.
#[derive(Serialize)]
pub(crate) struct RehearsalReady {
    rehearsal_project_id: String,
    rehearsal_api_key: String,
    rehearsal_checkout_url: String,
    bank_url: String,
}

impl Rehearsal {
    /// Creates what is missing. Callers must hold the lock of the data directory, and the demo's owner must exist.
    pub(crate) async fn prepare(engine: &Engine, data: &Path) -> Result<Rehearsal, CliError> {
        let path = data.join(FILE);
        let kept = read(&path)?;
        let project = match &kept {
            Some(kept) => production_project(engine, &kept.project_id).await?,
            None => None,
        };
        let project = match project {
            Some(project) => project,
            None => create_project(engine).await?,
        };
        ensure_owner(engine, project.id).await?;
        let key = BankKey::generate().map_err(|error| CliError::because(UNSTARTED, &error))?;
        let contracts = contracts(engine, project.id, &key).await?;
        let clock = engine.clone();
        let clock: demobank::Clock = Arc::new(move || clock.now().as_millis());
        let acquirer = Acquirer::prepare(engine, project.id, &key, Arc::clone(&clock)).await?;
        ensure_qris(engine, project.id).await?;
        // Read again: its methods are those of the accounts that it has by now.
        let project = engine.project(project.id).await?;
        let found = Kept {
            api_key: ensure_key(engine, project.id, kept.as_ref()).await?,
            link_id: ensure_link(engine, &project, kept.as_ref()).await?.to_string(),
            project_id: project.id.to_string(),
        };
        if kept.as_ref() != Some(&found) {
            write(&path, &found)?;
        }
        let bank = Arc::new(Bank::new(clock).map_err(|error| CliError::because(UNSTARTED, &error))?);
        Ok(Rehearsal { bank, acquirer, contracts, kept: found })
    }

    pub(crate) fn screens(&self) -> Screens {
        Screens { bank: Arc::clone(&self.bank), asked: Arc::clone(&self.acquirer.asked) }
    }

    /// Tells the bank where the doors are: it calls the address that the server listens on, and signs the path of the public URL.
    pub(crate) fn open(self, listen: SocketAddr, base_url: &str, pages_url: &str) -> RehearsalReady {
        let address = remote::reachable(listen);
        let prefix = Url::parse(base_url).map(|url| url.path().trim_end_matches('/').to_owned()).unwrap_or_default();
        let doors = |account| (format!("http://{address}/snap/{account}"), format!("{prefix}/snap/{account}"));
        for (account, contract) in self.contracts {
            let (inbound_url, signed_prefix) = doors(account);
            self.bank.register(Contract { inbound_url, signed_prefix: Some(signed_prefix), ..contract });
        }
        let (inbound_url, signed_prefix) = doors(self.acquirer.account);
        self.acquirer.notify_at(&self.bank, inbound_url, signed_prefix);
        RehearsalReady {
            rehearsal_project_id: self.kept.project_id,
            rehearsal_api_key: self.kept.api_key,
            rehearsal_checkout_url: format!("{pages_url}/p/{}", self.kept.link_id),
            bank_url: format!("{pages_url}/{FOLDER}"),
        }
    }
}

impl RehearsalReady {
    /// What to do next, in three steps.
    pub(crate) fn steps(&self) -> String {
        let RehearsalReady { rehearsal_checkout_url, bank_url, .. } = self;
        format!(
            r#"
Rehearse a production payment, through the doors that real banks use and without real money:

  1. Open this link, and choose QRIS or a bank. Save the QR code as a picture, or copy the account number:
     {rehearsal_checkout_url}
  2. Open the bank, scan the picture or enter the number, and press "Pay":
     {bank_url}
  3. Look at the link's page again: it says by itself that the payment is paid. The dashboard has it in the project
     {PROJECT_NAME}, where you can create more links.
"#
        )
    }
}

/// The bank's screens, as a server mounts them.
pub(crate) fn surface(app: &App, screens: Screens) -> Surface {
    let base = format!("/{FOLDER}");
    let links = app.settings.urls.url(&base);
    Surface {
        folders: &[FOLDER],
        routes: demobank::screens_with_codes(screens.bank, screens.asked, &base, &links)
            .fallback(async || worded(Failure::NoSuchPath, "")),
        wording: FailureWording::Envelope(worded),
        assets: Vec::new(),
        secret_paths: &[],
    }
}

fn worded(failure: Failure, _: &str) -> Response {
    (failure.status(), failure.to_string()).into_response()
}

async fn production_project(engine: &Engine, id: &str) -> Result<Option<Project>, CliError> {
    let Ok(id) = id.parse::<ProjectId>() else { return Ok(None) };
    match engine.project(id).await {
        Ok(project) => Ok(Some(project).filter(|project| project.environment == Environment::Production)),
        Err(engine::Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn create_project(engine: &Engine) -> Result<Project, CliError> {
    let new = NewProject {
        name: PROJECT_NAME.to_owned(),
        environment: Environment::Production,
        merchant_name: Some(MERCHANT_NAME.to_owned()),
    };
    let (project, _) = engine.create_project(new).await?;
    let banks = ACCOUNTS.map(|(_, bank, _)| Method::VirtualAccount(bank));
    let methods = std::iter::once(Method::Qris).chain(banks).collect();
    let update = ProjectUpdate { approved: Some(true), default_methods: Some(methods), ..ProjectUpdate::default() };
    Ok(engine.update_project(project.id, update).await?)
}

/// Lets a project of an earlier version, which had no acquirer, offer QRIS too.
async fn ensure_qris(engine: &Engine, project_id: ProjectId) -> Result<(), CliError> {
    let project = engine.project(project_id).await?;
    if !project.default_methods.contains(&Method::Qris) {
        let methods = std::iter::once(Method::Qris).chain(project.default_methods.iter().copied()).collect();
        let update = ProjectUpdate { default_methods: Some(methods), ..ProjectUpdate::default() };
        engine.update_project(project_id, update).await?;
    }
    Ok(())
}

/// Lets the demo's owner see the project.
async fn ensure_owner(engine: &Engine, project_id: ProjectId) -> Result<(), CliError> {
    let user = engine.user_by_email(OWNER_EMAIL).await?;
    if !engine.projects_of(user.id).await?.iter().any(|(project, _)| project.id == project_id) {
        engine.add_member(project_id, &user, Role::Owner).await?;
    }
    Ok(())
}

async fn ensure_key(engine: &Engine, project_id: ProjectId, kept: Option<&Kept>) -> Result<String, CliError> {
    match kept {
        Some(kept) if demo_credentials::is_valid_key(engine, &kept.api_key, project_id).await? => {
            Ok(kept.api_key.clone())
        }
        _ => demo_credentials::new_key(engine, project_id).await,
    }
}

/// The link of the last run, or a new one if that can no longer be paid.
async fn ensure_link(engine: &Engine, project: &Project, kept: Option<&Kept>) -> Result<LinkId, CliError> {
    let is_open = |link: &Link| {
        let is_active = link.claimed_by.is_none() && link.status_at(engine.now(), project) == LinkStatus::Active;
        is_active && link.methods.contains(&Method::Qris)
    };
    if let Some(id) = kept.and_then(|kept| kept.link_id.parse::<LinkId>().ok()) {
        match engine.link(project.id, id).await {
            Ok(link) if is_open(&link) => return Ok(id),
            Ok(_) | Err(engine::Error::NotFound(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let request =
        LinkRequest { title: Some(LINK_TITLE.to_owned()), amount: Some(LINK_AMOUNT), ..LinkRequest::default() };
    match engine.create_link(project, None, request).await? {
        Created::New(link) | Created::Replayed(link) => Ok(link.id),
    }
}

/// A contract of each profile, with keys that both sides have from now on.
async fn contracts(
    engine: &Engine,
    project_id: ProjectId,
    key: &BankKey,
) -> Result<Vec<(BankAccountId, Contract)>, CliError> {
    let known = engine.bank_accounts().await?;
    let mut contracts = Vec::new();
    for (style, bank, code) in ACCOUNTS {
        let method = Method::VirtualAccount(bank);
        let is_it = |file: &&BankAccountFile| file.assignments.contains(&(project_id, method));
        let (account, code, inbound) = match known.iter().find(is_it) {
            Some(file) => {
                let code = file.account.settings.get(COMPANY_CODE).map_or(code, String::as_str);
                (file.account.id, code, give_keys(engine, file.account.id, key).await?)
            }
            None => {
                let id = create_account(engine, style.profile, bank, code).await?;
                let inbound = give_keys(engine, id, key).await?;
                engine.enable_bank_account(id, true).await?;
                engine.assign_bank_account(id, project_id, method).await?;
                (id, code, inbound)
            }
        };
        let contract = Contract {
            name: bank.name().to_owned(),
            inbound_url: String::new(),
            signed_prefix: None,
            client_id: inbound.client_id,
            client_secret: inbound.secret.expose_secret().to_owned(),
            company_code: code.to_owned(),
            key: key.clone(),
            style,
        };
        contracts.push((account, contract));
    }
    Ok(contracts)
}

async fn create_account(engine: &Engine, profile: &str, bank: BankCode, code: &str) -> Result<BankAccountId, CliError> {
    let new = NewBankAccount {
        name: format!("{PROJECT_NAME} {}", bank.name()),
        profile: profile.to_owned(),
        settings: BTreeMap::from([(COMPANY_CODE.to_owned(), code.to_owned())]),
    };
    Ok(engine.create_bank_account(new).await?.id)
}

/// Gives the account the bank's public key and a new client, both in use at once.
async fn give_keys(engine: &Engine, id: BankAccountId, key: &BankKey) -> Result<NewInbound, CliError> {
    engine.import_bank_key(id, &key.public_key_pem()).await?;
    let inbound = engine.set_bank_inbound(id, None, None).await?;
    promote(engine, id).await?;
    Ok(inbound)
}

/// What an earlier run has kept. A damaged file counts as none, with a warning.
fn read(path: &Path) -> Result<Option<Kept>, CliError> {
    let text = private_files::read_if_present(path).map_err(|error| CliError::file("read", path, &error))?;
    let Some(text) = text else { return Ok(None) };
    let kept = serde_json::from_str(&text).ok();
    if kept.is_none() {
        tracing::warn!("{} is damaged; created a new project to rehearse with", path.display());
    }
    Ok(kept)
}

fn write(path: &Path, kept: &Kept) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(kept).map_err(|error| CliError::because("cannot write JSON", &error))?;
    private_files::replace_private(path, &format!("{text}\n")).map_err(|error| CliError::file("write", path, &error))
}
