//! Real processes that end while banks give money back: for each refund one order is carried out, and books and bank agree,
//! whenever the process dies.

use std::{fs, process::Command, sync::Arc};

use demobank::{Fault, NewAccount, Service};
use domain::{key_rights::KeyRights, method::Method, project::Environment, refund::RefundSettings};
use engine::{Clock, Engine, NewKey, NewProject, ProjectUpdate, SecretKey, Settings, SystemClock};
use serde_json::{Value, json};
use testkit::{Api, Cluster, Database, Program, Ran, Running, TestProject};

use crate::support::{
    acquirers::{Acquired, contract_of},
    commands::{program, secret_key},
    held_writes::HeldWrites,
    payments::status,
    refunds::{ask, fetch_refund},
    wait::{PATIENCE, until},
};

const SOURCE: &str = "7000123456";
const CUSTOMER: &str = "1234567890";
const CUSTOMERS_BANK: &str = "014";
const AMOUNT: i64 = 10_000;

/// When the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// Nothing is committed: the bank is asked for a token, or whose the account is.
    Before,
    /// The attempt is committed, and the bank does its work after the process has died.
    Sent,
    /// The bank has carried it out and has not answered.
    Done,
    /// The bank has answered, and nothing of that is committed.
    Answered,
    /// All is committed.
    Concluded,
}

const MOMENTS: [Moment; 5] = [Moment::Before, Moment::Sent, Moment::Done, Moment::Answered, Moment::Concluded];

/// How a refund goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Road {
    Code,
    Account,
}

impl Road {
    const fn profile(self) -> &'static str {
        match self {
            Road::Code => "dana",
            Road::Account => "generic",
        }
    }

    const fn order(self) -> Service {
        match self {
            Road::Code => Service::DebitRefund,
            Road::Account => Service::Interbank,
        }
    }

    /// What is asked before anything is committed; calls of some banks need nothing.
    const fn question(self) -> Option<Service> {
        match self {
            Road::Code => None,
            Road::Account => Some(Service::ExternalInquiry),
        }
    }
}

/// An installation for development, which may call banks of this machine, between its starts.
struct Installation {
    program: Program,
    database: Database,
    key: String,
    road: Road,
    bank: Acquired,
}

impl Installation {
    async fn on_sqlite(road: Road) -> Installation {
        let program = program();
        fs::create_dir(program.data()).unwrap();
        let database = Database::sqlite_in(&program.data());
        Installation::on(database, program, road).await
    }

    async fn on_postgres(road: Road) -> Installation {
        Installation::on(Database::Postgres { url: Cluster::shared().fresh_database() }, program(), road).await
    }

    async fn on(database: Database, program: Program, road: Road) -> Installation {
        let (key, store) = (secret_key(), database.open().await);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let sealing = SecretKey::from_base64(&key.clone().into()).unwrap();
        let engine = Engine::new(store.clone(), Arc::clone(&clock), Settings::default(), sealing);
        engine.mark_development().await.unwrap();
        let project = production(&engine).await;
        let settings = [
            ("refund", if road == Road::Code { "58" } else { "78" }),
            ("transfer", if road == Road::Code { "none" } else { "bi_fast" }),
            ("source_account", SOURCE),
            ("own_bank", "022"),
        ];
        let bank = contract_of(&engine, clock, project, road.profile(), Method::Qris, &settings).await;
        let account = |bank: &str, number: &str, owner: Option<String>, balance| NewAccount {
            bank: bank.to_owned(),
            number: number.to_owned(),
            name: "SITI".to_owned(),
            owner,
            balance,
        };
        bank.asked.open_account(account("022", SOURCE, Some(bank.client_id.clone()), 100_000_000));
        bank.asked.open_account(account(CUSTOMERS_BANK, CUSTOMER, None, 0));
        store.close().await;
        Installation { program, database, key, road, bank }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program.command(arguments);
        command.env("LUNAS_DATABASE", self.database.url()).env("LUNAS_SECRET_KEY", &self.key);
        command.env("LUNAS_RATE_LIMIT", "0").env("LUNAS_LOG", "debug");
        command
    }

    fn start(&mut self) -> Running {
        let mut command = self.command(&["dev", "--json", "--listen", "127.0.0.1:0", "--data"]);
        command.arg(self.program.data());
        let running = Running::start(command, self.program.data().parent().unwrap());
        self.bank.project.api = Api::new(running.address(), Some(&self.bank.project.key));
        self.bank.told_at(running.address());
        running
    }

    fn is_sound(&self) {
        let verified = Ran::from(self.command(&["verify", "--json"]).output().unwrap()).json(0);
        assert_eq!((&verified["ok"], &verified["breaches"]), (&json!(true), &json!([])));
    }

    /// A payment that is paid.
    async fn paid(&self) -> Value {
        let payment = self.bank.payment().await;
        self.bank.pays(&payment).await;
        until(async || status(&self.bank.project, &payment).await == "paid").await;
        payment
    }

    /// Asks for a refund, and returns once it has come as far as it shall.
    async fn refund(&self, payment: &Value, moment: Moment) -> Value {
        let asked = &self.bank.asked;
        match (moment, self.road.question()) {
            (Moment::Before, Some(question)) => asked.fail_next_of(question, Fault::HeldBefore),
            (Moment::Before, None) | (Moment::Concluded, _) => {}
            (Moment::Sent, _) => asked.fail_next_of(self.road.order(), Fault::HeldBefore),
            (Moment::Done | Moment::Answered, _) => asked.fail_next_of(self.road.order(), Fault::HeldAfter),
        }
        let to = json!({ "bank": CUSTOMERS_BANK, "account_number": CUSTOMER });
        let body = match self.road {
            Road::Code => json!({ "amount": AMOUNT }),
            Road::Account => json!({ "amount": AMOUNT, "destination": to }),
        };
        let refund = ask(&self.bank.project, payment, &body).await.expect(201);
        match (moment, self.road.question()) {
            (Moment::Before, None) => {}
            (Moment::Concluded, _) => self.succeeds(&refund).await,
            _ => tokio::time::timeout(PATIENCE, asked.wait_held(1)).await.expect("the bank is not asked"),
        }
        refund
    }

    async fn succeeds(&self, refund: &Value) {
        until(async || fetch_refund(&self.bank.project, refund).await["status"] == "succeeded").await;
    }

    /// Kills the server, and what the bank still has to do it does then.
    async fn kill(&self, running: Running, moment: Moment) {
        if moment != Moment::Answered {
            running.kill();
            self.bank.asked.release();
            return;
        }
        let held = HeldWrites::of(&self.database, "refund_attempts").await;
        self.bank.asked.release();
        let answer = format!("200{}00", if self.road == Road::Code { "58" } else { "18" });
        let is_answer = |line: &str| line.contains("a bank answered a call") && line.contains(&answer);
        until(async || running.log().lines().any(is_answer)).await;
        running.kill();
        held.end_of_the_dead();
    }

    /// What a process has begun that is dead now is asked about when its lease ends; here that is at once.
    fn end_leases(&self) {
        let end = "UPDATE refund_attempts SET ask_at = sent_at WHERE ask_at IS NOT NULL";
        match &self.database {
            Database::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path).unwrap();
                connection.busy_timeout(std::time::Duration::from_secs(10)).unwrap();
                connection.execute_batch(end).unwrap();
            }
            Database::Postgres { url } => {
                tokio::task::block_in_place(|| Cluster::shared().run(url, end)).unwrap();
            }
        }
    }
}

/// A project whose keys may name accounts without an approval.
async fn production(engine: &Engine) -> TestProject {
    let new = NewProject { name: "Toko".to_owned(), environment: Environment::Production, merchant_name: None };
    let (project, _) = engine.create_project(new).await.unwrap();
    let refunds = RefundSettings { key_destination_needs_approval: Some(false), ..RefundSettings::default() };
    let update = ProjectUpdate { approved: Some(true), refunds: Some(refunds), ..ProjectUpdate::default() };
    engine.update_project(project.id, update).await.unwrap();
    let new = NewKey { rights: KeyRights::ALL, ..NewKey::from("first".to_owned()) };
    let (api_key, secret) = engine.create_key(project.id, new).await.unwrap();
    let api = Api::new(([127, 0, 0, 1], 1).into(), Some(secret.reveal()));
    TestProject { id: project.id, key_id: api_key.id, key: secret.reveal().to_owned(), api }
}

/// Kills the server at each moment, and lets a new one go on.
async fn survives_every_moment(mut installation: Installation) {
    for (index, moment) in MOMENTS.into_iter().enumerate() {
        let running = installation.start();
        let payment = installation.paid().await;
        let refund = installation.refund(&payment, moment).await;
        installation.kill(running, moment).await;
        installation.is_sound();
        let running = installation.start();
        installation.end_leases();
        installation.succeeds(&refund).await;
        let made = installation.bank.asked.transfers();
        assert_eq!(made.len(), index + 1, "{moment:?}: each refund is carried out once");
        assert_eq!(made.iter().map(|one| one.amount).sum::<i64>(), AMOUNT * i64::try_from(index + 1).unwrap());
        assert_eq!(running.terminate(), Some(0));
        installation.is_sound();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_at_any_moment_of_a_refund_by_code_has_it_made_once_on_sqlite() {
    survives_every_moment(Installation::on_sqlite(Road::Code).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_at_any_moment_of_a_refund_by_code_has_it_made_once_on_postgres() {
    survives_every_moment(Installation::on_postgres(Road::Code).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_at_any_moment_of_a_transfer_has_it_made_once_on_sqlite() {
    survives_every_moment(Installation::on_sqlite(Road::Account).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_at_any_moment_of_a_transfer_has_it_made_once_on_postgres() {
    survives_every_moment(Installation::on_postgres(Road::Account).await).await;
}
