//! A real server that is killed while banks pay: what the bank was told is there, and a resend gets the first result.

use std::{
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use demobank::{Conclusion, Knobs, Payment, Prepared, Style};
use domain::project::Environment;
use engine::{Clock, Engine, NewProject, ProjectUpdate, SecretKey, Settings, SystemClock};
use serde_json::{Value, json};
use testkit::{Api, Cluster, Database, Program, Ran, Running, TestProject};
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::support::{
    banks::{AMOUNT, Contracted, contract_of, number},
    commands::{program, secret_key},
    history::answer_of,
    payments::{create, fresh_key, status},
    samples::virtual_account,
    wait::{until, until_within},
};

const CLIENTS: usize = 8;
/// Payments that the bank has booked before each kill, different so that kills fall at different points.
const BOOKED: [usize; 4] = [1, 17, 40, 64];
const PATIENCE: Duration = Duration::from_secs(120);

/// A production installation with a contract, between its starts.
pub(super) struct Installation {
    program: Program,
    pub(super) database: Database,
    key: String,
    pub(super) contracted: Contracted,
}

impl Installation {
    /// With settings of the bank account's own.
    pub(super) async fn on_sqlite(settings: &[(&str, &str)]) -> Installation {
        let program = program();
        let path = program.directory.path().join("served.db");
        Installation::on(Database::Sqlite(path), program, settings).await
    }

    pub(super) async fn on_postgres(settings: &[(&str, &str)]) -> Installation {
        let url = Cluster::shared().fresh_database();
        Installation::on(Database::Postgres { url }, program(), settings).await
    }

    async fn on(database: Database, program: Program, settings: &[(&str, &str)]) -> Installation {
        let (key, store) = (secret_key(), database.open().await);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let sealing = SecretKey::from_base64(&key.clone().into()).unwrap();
        let engine = Engine::new(store.clone(), Arc::clone(&clock), Settings::default(), sealing);
        let new = NewProject { name: "Toko".to_owned(), environment: Environment::Production, merchant_name: None };
        let (project, _) = engine.create_project(new).await.unwrap();
        let approved = ProjectUpdate { approved: Some(true), ..ProjectUpdate::default() };
        engine.update_project(project.id, approved).await.unwrap();
        let (api_key, secret) = engine.create_key(project.id, "first".to_owned()).await.unwrap();
        let nowhere = ([127, 0, 0, 1], 1).into();
        let project = TestProject {
            id: project.id,
            key_id: api_key.id,
            key: secret.reveal().to_owned(),
            api: Api::new(nowhere, Some(secret.reveal())),
        };
        let contracted = contract_of(&engine, clock, project, Style::BCA, settings).await;
        store.close().await;
        Installation { program, database, key, contracted }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program.served(arguments, &self.key);
        command.env("LUNAS_DATABASE", self.database.url()).env("LUNAS_RATE_LIMIT", "0").env("LUNAS_LOG", "debug");
        command
    }

    /// Starts the server; banks and merchants call it where it listens now.
    pub(super) fn start(&mut self) -> Running {
        let running = Running::start(self.command(&["serve", "--json"]), self.program.directory.path());
        self.contracted.moved_to(running.address());
        self.contracted.project.api = Api::new(running.address(), Some(&self.contracted.project.key));
        running
    }

    pub(super) fn is_sound(&self) {
        let verified = Ran::from(self.command(&["verify", "--json"]).output().unwrap()).json(0);
        assert_eq!((&verified["ok"], &verified["breaches"]), (&json!(true), &json!([])));
    }

    /// Asks again as a bank that has read no answer does, and checks that the money is booked on both sides.
    async fn resend(&self, payment: &Value, sent: &Prepared) {
        let order = Payment { paid_at_ms: Some(sent.paid_at_ms), ..Payment::of(&sent.number, sent.amount) };
        let answer = self.contracted.pay_as(order, Knobs::resend_of(sent)).await;
        assert_eq!((answer.flag(), answer.conclusion), ("00", Some(Conclusion::Booked)), "{}", answer.text);
        // It is no repetition if midnight in Jakarta has passed.
        assert!(["2002500", "4042518"].contains(&answer.code()), "{}", answer.text);
        assert_eq!(status(&self.contracted.project, payment).await, "paid");
        assert_eq!(self.contracted.bank.booked(&self.contracted.contract, &sent.number), AMOUNT);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_between_commit_and_answer_gives_the_resend_the_first_result_on_sqlite() {
    answers_a_resend_after_its_death(Installation::on_sqlite(&[]).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_between_commit_and_answer_gives_the_resend_the_first_result_on_postgres() {
    answers_a_resend_after_its_death(Installation::on_postgres(&[]).await).await;
}

async fn answers_a_resend_after_its_death(mut installation: Installation) {
    let running = installation.start();
    let bank = installation.contracted.method.bank().unwrap();
    let order = virtual_account(&installation.contracted.project, bank.code(), AMOUNT);
    let payment = create(&installation.contracted.project, &order).await;
    let sent = installation.contracted.prepared(&number(&payment), &Knobs::default()).await;
    // The bank sends and reads nothing; the server dies once the money is committed.
    let mut socket = TcpStream::connect(running.address()).await.unwrap();
    socket.write_all(&sent.to_http()).await.unwrap();
    until(async || status(&installation.contracted.project, &payment).await == "paid").await;
    let log = running.log();
    running.kill();
    drop(socket);
    for secret in
        [&installation.contracted.contract.client_secret, &installation.key, &installation.contracted.project.key]
    {
        assert!(!log.contains(secret.as_str()), "a secret is in the log");
    }
    let token = sent.header("authorization").unwrap().trim_start_matches("Bearer ");
    assert!(log.contains("/snap/") && !log.contains(token) && !log.contains("Budi"), "{log}");
    installation.is_sound();
    let running = installation.start();
    installation.resend(&payment, &sent).await;
    let events = installation.contracted.project.api.get("/v1/events?type=payment.paid").await.expect(200);
    assert_eq!(events["pagination"]["total_items"], 1);
    running.terminate();
    installation.is_sound();
}

/// What the bank has sent, and what it was told.
#[derive(Default)]
struct Sent {
    calls: Mutex<Vec<(Value, Prepared, Option<String>)>>,
    booked: AtomicUsize,
    over: AtomicBool,
}

async fn client(contracted: Arc<Contracted>, sent: Arc<Sent>) {
    let order = virtual_account(&contracted.project, contracted.method.bank().unwrap().code(), AMOUNT);
    while !sent.over.load(Ordering::SeqCst) {
        let request = contracted.project.api.request(reqwest::Method::POST, "/v1/payments");
        let request = request.header("Idempotency-Key", fresh_key()).json(&order);
        let Some((201, payment)) = answer_of(request).await else { return };
        let asked = Payment::of(number(&payment), AMOUNT);
        let Ok(prepared) = contracted.bank.prepare_payment(&contracted.contract, asked, &Knobs::default()).await else {
            return;
        };
        let answer = contracted.bank.send(&prepared).await;
        let told = (!answer.is_silence()).then(|| answer.flag().to_owned());
        if told.as_deref() == Some("00") {
            sent.booked.fetch_add(1, Ordering::SeqCst);
        }
        sent.calls.lock().unwrap().push((payment, prepared, told));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn money_that_banks_booked_is_there_after_kill_9_and_every_resend_agrees_on_sqlite() {
    agrees_with_the_bank_after_each_kill(Installation::on_sqlite(&[]).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn money_that_banks_booked_is_there_after_kill_9_and_every_resend_agrees_on_postgres() {
    agrees_with_the_bank_after_each_kill(Installation::on_postgres(&[]).await).await;
}

async fn agrees_with_the_bank_after_each_kill(mut installation: Installation) {
    let mut paid = 0;
    for enough in BOOKED {
        let running = installation.start();
        let sent = Arc::new(Sent::default());
        let contracted = Arc::new(installation.contracted);
        let clients: Vec<_> =
            (0..CLIENTS).map(|_| tokio::spawn(client(Arc::clone(&contracted), Arc::clone(&sent)))).collect();
        until_within(PATIENCE, async || sent.booked.load(Ordering::SeqCst) >= enough).await;
        running.kill();
        sent.over.store(true, Ordering::SeqCst);
        for client in clients {
            tokio::time::timeout(PATIENCE, client).await.expect("a client hangs").unwrap();
        }
        let Ok(back) = Arc::try_unwrap(contracted) else { panic!("a client is still there") };
        installation.contracted = back;
        installation.is_sound();
        let running = installation.start();
        let calls = std::mem::take(&mut *sent.calls.lock().unwrap());
        for (payment, prepared, told) in &calls {
            assert!(told.is_none() || told.as_deref() == Some("00"), "{told:?}");
            installation.resend(payment, prepared).await;
        }
        paid += calls.len();
        let listed = installation.contracted.project.api.get("/v1/payments?status=paid").await.expect(200);
        assert_eq!(listed["pagination"]["total_items"], paid, "each payment is paid, and nothing else");
        running.terminate();
        installation.is_sound();
    }
}
