//! Real processes of one installation whose bank gives money back: they are killed and started again, or one goes on for another.

use std::{fs, net::SocketAddr, path::Path, process::Command, sync::Arc};

use demobank::{NewAccount, Service};
use domain::{key_rights::KeyRights, method::Method, project::Environment, refund::RefundSettings};
use engine::{Clock, Engine, NewKey, NewProject, ProjectUpdate, SecretKey, Settings, SystemClock};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{Api, Cluster, Database, Program, Ran, Running, TestProject};
use tokio::net::TcpListener;

use super::{
    acquirers::{Acquired, contract_of},
    commands::{program, secret_key},
    history::answer_of,
    json::{id, text},
    payments::{fresh_key, status},
    rows::run_by_hand,
    wait::until,
    walks::{ledger, number},
};

const SOURCE: &str = "7000123456";
const CUSTOMER: &str = "1234567890";
const OWN_BANK: &str = "022";
const CUSTOMERS_BANK: &str = "014";
const BALANCE: i64 = 100_000_000;
/// What is given back at once.
pub(crate) const AMOUNT: i64 = 10_000;

/// How a refund goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Road {
    /// By the code that was paid, at a bank that wants no token.
    Code,
    /// To the customer's account at another bank.
    Account,
}

impl Road {
    const fn profile(self) -> &'static str {
        match self {
            Road::Code => "dana",
            Road::Account => "generic",
        }
    }

    /// The order that moves money.
    pub(crate) const fn order(self) -> Service {
        match self {
            Road::Code => Service::DebitRefund,
            Road::Account => Service::Interbank,
        }
    }

    /// What the bank is asked before anything is committed.
    pub(crate) const fn question(self) -> Option<Service> {
        match self {
            Road::Code => None,
            Road::Account => Some(Service::ExternalInquiry),
        }
    }
}

/// A request for a refund, which may be repeated.
#[derive(Clone)]
pub(crate) struct Wish {
    key: String,
    path: String,
    body: Value,
}

/// An installation for development, which may call banks of this machine, between its starts.
pub(crate) struct RefundNodes {
    program: Program,
    pub(crate) database: Database,
    key: String,
    pub(crate) road: Road,
    pub(crate) bank: Acquired,
    /// The directory of the second node.
    elsewhere: TempDir,
}

impl RefundNodes {
    pub(crate) async fn on_sqlite(road: Road) -> RefundNodes {
        let program = program();
        fs::create_dir(program.data()).unwrap();
        let database = Database::sqlite_in(&program.data());
        RefundNodes::on(database, program, road).await
    }

    pub(crate) async fn on_postgres(road: Road) -> RefundNodes {
        RefundNodes::on(Database::Postgres { url: Cluster::shared().fresh_database() }, program(), road).await
    }

    async fn on(database: Database, program: Program, road: Road) -> RefundNodes {
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
            ("own_bank", OWN_BANK),
        ];
        let bank = contract_of(&engine, clock, project, road.profile(), Method::Qris, &settings).await;
        let account = |bank: &str, number: &str, owner: Option<String>, balance| NewAccount {
            bank: bank.to_owned(),
            number: number.to_owned(),
            name: "SITI".to_owned(),
            owner,
            balance,
        };
        bank.asked.open_account(account(OWN_BANK, SOURCE, Some(bank.client_id.clone()), BALANCE));
        bank.asked.open_account(account(CUSTOMERS_BANK, CUSTOMER, None, 0));
        store.close().await;
        RefundNodes { program, database, key, road, bank, elsewhere: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program.command(arguments);
        command.env("LUNAS_DATABASE", self.database.url()).env("LUNAS_SECRET_KEY", &self.key);
        command.env("LUNAS_RATE_LIMIT", "0").env("LUNAS_LOG", "debug");
        command
    }

    fn start_in(&self, data: &Path) -> Running {
        let mut command = self.command(&["dev", "--json", "--listen", "127.0.0.1:0", "--data"]);
        command.arg(data);
        tokio::task::block_in_place(|| Running::start(command, data.parent().unwrap()))
    }

    /// Starts the server; the merchant and the bank call it from now on.
    pub(crate) fn start(&mut self) -> Running {
        let running = self.start_in(&self.program.data());
        self.moved_to(running.address());
        running
    }

    /// Starts another node, which nobody calls yet.
    pub(crate) fn start_beside(&self) -> Running {
        let data = self.elsewhere.path().join("lunas-data");
        if !data.exists() {
            fs::create_dir(&data).unwrap();
            for file in fs::read_dir(self.program.data()).unwrap().map(Result::unwrap) {
                fs::copy(file.path(), data.join(file.file_name())).unwrap();
            }
        }
        self.start_in(&data)
    }

    /// The merchant and the bank call this node from now on.
    pub(crate) fn moved_to(&mut self, address: SocketAddr) {
        self.bank.project.api = Api::new(address, Some(&self.bank.project.key));
        self.bank.told_at(address);
    }

    /// `lunas verify` finds no fault.
    pub(crate) fn is_sound(&self) {
        let verified = Ran::from(self.command(&["verify", "--json"]).output().unwrap()).json(0);
        assert_eq!((&verified["ok"], &verified["breaches"]), (&json!(true), &json!([])));
    }

    /// A payment that is paid.
    pub(crate) async fn paid(&self) -> Value {
        let payment = self.bank.payment().await;
        self.bank.pays(&payment).await;
        until(async || status(&self.bank.project, &payment).await == "paid").await;
        payment
    }

    /// A request for a refund of this amount, or of all that is left.
    pub(crate) fn wish(&self, payment: &Value, amount: Option<i64>) -> Wish {
        let to = json!({ "bank": CUSTOMERS_BANK, "account_number": CUSTOMER });
        let destination = if self.road == Road::Account { to } else { Value::Null };
        let path = format!("/v1/payments/{}/refunds", id(payment));
        Wish { key: fresh_key(), path, body: json!({ "amount": amount, "destination": destination }) }
    }

    /// Sends a request until it is answered.
    pub(crate) async fn ask(&self, wish: &Wish) -> (u16, Value) {
        send_until_answered(&self.bank.project.api, wish).await
    }

    /// A refund as it stands; none while the database is away.
    pub(crate) async fn look(&self, refund: &Value) -> Option<Value> {
        let reply = self.bank.project.api.get(&format!("/v1/refunds/{}", id(refund))).await;
        match reply.status {
            StatusCode::SERVICE_UNAVAILABLE => None,
            _ => Some(reply.expect(200)),
        }
    }

    pub(crate) async fn has_succeeded(&self, refund: &Value) -> bool {
        self.look(refund).await.is_some_and(|refund| text(&refund, "status") == "succeeded")
    }

    /// Lets the bank be asked about what was sent, again and again, until the refund has succeeded. What a dead process has begun is
    /// due when its lease ends; here that is at once.
    pub(crate) async fn is_asked_until_it_succeeds(&self, refund: &Value) {
        while !self.has_succeeded(refund).await {
            let questions = self.questions();
            self.end_leases();
            until(async || {
                let is_sent = self.count("SELECT COUNT(*) FROM refund_attempts WHERE ask_at IS NOT NULL") > 0;
                (is_sent && self.questions() > questions) || self.has_succeeded(refund).await
            })
            .await;
        }
    }

    /// How many questions about refunds were begun and ended.
    pub(crate) fn questions(&self) -> i64 {
        self.count("SELECT COALESCE(SUM(asked), 0) FROM refund_attempts WHERE answer IS NOT NULL")
    }

    pub(crate) fn end_leases(&self) {
        let end = "UPDATE refund_attempts SET ask_at = sent_at WHERE ask_at IS NOT NULL";
        tokio::task::block_in_place(|| run_by_hand(&self.database, end));
    }

    /// A number that the database answers.
    pub(crate) fn count(&self, sql: &str) -> i64 {
        number(&self.database, sql)
    }

    /// Whether PostgreSQL lets a statement wait for a lock.
    pub(crate) fn has_waiting_statements(&self) -> bool {
        let database = "(SELECT oid FROM pg_database WHERE datname = current_database())";
        self.count(&format!("SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND database = {database}")) > 0
    }

    /// The bank is there, and takes no call: what is sent to it is lost once this ends.
    pub(crate) async fn mute_bank(&self) -> TcpListener {
        let address: SocketAddr = self.bank.doors.url().trim_start_matches("http://").parse().unwrap();
        self.bank.doors.close().await;
        TcpListener::bind(address).await.unwrap()
    }

    /// The bank has moved the money of so many refunds, each once, and the books say so; so many more are on their way.
    pub(crate) fn has_moved(&self, refunds: usize, on_their_way: usize, of: i64) {
        let made = self.bank.asked.transfers();
        assert_eq!(made.len(), refunds, "each refund is carried out once: {made:?}");
        let sum = of * i64::try_from(refunds).unwrap();
        assert_eq!(made.iter().map(|one| one.amount).sum::<i64>(), sum);
        assert_eq!(self.bank.asked.books_total(), 0);
        if self.road == Road::Account {
            let holds = |bank: &str, number: &str| self.bank.asked.account(bank, number).unwrap().balance;
            assert_eq!([holds(CUSTOMERS_BANK, CUSTOMER), holds(OWN_BANK, SOURCE)], [sum, BALANCE - sum]);
        }
        let books = ledger(&self.database, &self.bank.project.id.to_string());
        let held = |account: &str| books.get(account).copied().unwrap_or_default();
        let expected = [sum, of * i64::try_from(on_their_way).unwrap()];
        assert_eq!([held("refunded"), held("refunding")], expected, "{books:?}");
        assert_eq!(books.values().sum::<i64>(), 0);
    }
}

/// Sends a request once; none if it was not answered.
pub(crate) async fn send(api: &Api, wish: &Wish) -> Option<(u16, Value)> {
    let request = api.request(reqwest::Method::POST, &wish.path).header("Idempotency-Key", &wish.key);
    answer_of(request.json(&wish.body)).await
}

/// The same while the database may be away for a while.
async fn send_until_answered(api: &Api, wish: &Wish) -> (u16, Value) {
    let answer = tokio::sync::Mutex::new(None);
    until(async || {
        let sent = send(api, wish).await.filter(|(status, _)| *status != 503);
        let is_answered = sent.is_some();
        *answer.lock().await = sent;
        is_answered
    })
    .await;
    answer.into_inner().unwrap()
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
