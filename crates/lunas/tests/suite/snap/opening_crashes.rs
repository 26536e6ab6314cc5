//! Real processes that end while banks issue codes: for each order there is one code that can be paid and one payment,
//! whether the merchant tries again or not.

use std::{fs, net::SocketAddr, path::Path, process::Command, sync::Arc};

use demobank::{CodeState, Fault, Service};
use domain::{bank::Bank, method::Method, project::Environment};
use engine::{Clock, Engine, NewProject, ProjectUpdate, SecretKey, Settings, SystemClock};
use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::{Api, Cluster, Database, Program, Ran, Running, TestProject, request_bytes};
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::support::{
    acquirers::{Acquired, code_of, contract_of},
    commands::{program, secret_key},
    held_writes::HeldWrites,
    payments::{count_payments, fresh_key, status, unapplied},
    wait::{PATIENCE, until},
};

/// A bank for each way to go on after a lost answer, and one for virtual accounts.
const BANKS: [(&str, Method); 4] = [
    ("midtrans", Method::Qris),
    ("dana", Method::Qris),
    ("bri-qris", Method::Qris),
    ("briva-ws", Method::VirtualAccount(Bank::Bri)),
];
/// It keeps a code that nobody has seen.
const CANNOT_VOID: &str = "bri-qris";
/// Calls to it carry no token, so nothing comes between the commit and the call.
const WITHOUT_TOKEN: &str = "dana";

/// When the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// The order is committed, and the bank has not been asked.
    Committed,
    /// The bank has been asked, and does its work after the process has died.
    Sent,
    /// The bank has issued the code and has not answered.
    Done,
    /// The bank has answered, and the payment is not committed.
    Answered,
    /// The payment is committed, and the merchant has no answer.
    Issued,
}

const MOMENTS: [Moment; 5] = [Moment::Committed, Moment::Sent, Moment::Done, Moment::Answered, Moment::Issued];

/// An installation for development, which may call banks of this machine, between its starts.
struct Installation {
    program: Program,
    database: Database,
    key: String,
    banks: Vec<Acquired>,
    /// Orders of each bank so far.
    ordered: i64,
}

impl Installation {
    async fn on_sqlite() -> Installation {
        let program = program();
        fs::create_dir(program.data()).unwrap();
        let database = Database::sqlite_in(&program.data());
        Installation::on(database, program).await
    }

    async fn on_postgres() -> Installation {
        Installation::on(Database::Postgres { url: Cluster::shared().fresh_database() }, program()).await
    }

    async fn on(database: Database, program: Program) -> Installation {
        let (key, store) = (secret_key(), database.open().await);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let sealing = SecretKey::from_base64(&key.clone().into()).unwrap();
        let engine = Engine::new(store.clone(), Arc::clone(&clock), Settings::default(), sealing);
        engine.mark_development().await.unwrap();
        let mut banks = Vec::new();
        for (profile, method) in BANKS {
            let project = production(&engine).await;
            banks.push(contract_of(&engine, Arc::clone(&clock), project, profile, method, &[]).await);
        }
        store.close().await;
        Installation { program, database, key, banks, ordered: 0 }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program.command(arguments);
        command.env("LUNAS_DATABASE", self.database.url()).env("LUNAS_SECRET_KEY", &self.key);
        command.env("LUNAS_RATE_LIMIT", "0").env("LUNAS_LOG", "debug");
        command
    }

    fn start_in(&self, data: &Path) -> Running {
        let mut command = self.command(&["dev", "--json", "--listen", "127.0.0.1:0", "--data"]);
        command.arg(data);
        Running::start(command, data.parent().unwrap())
    }

    /// Starts the server; merchants and banks call it from now on.
    fn start(&mut self) -> Running {
        let running = self.start_in(&self.program.data());
        self.moved_to(running.address());
        running
    }

    fn moved_to(&mut self, address: SocketAddr) {
        for bank in &mut self.banks {
            bank.project.api = Api::new(address, Some(&bank.project.key));
            bank.told_at(address);
        }
    }

    fn is_sound(&self) {
        let verified = Ran::from(self.command(&["verify", "--json"]).output().unwrap()).json(0);
        assert_eq!((&verified["ok"], &verified["breaches"]), (&json!(true), &json!([])));
    }

    /// Orders a code of each bank; nobody reads the answers. Returns once each order has come as far as it shall.
    async fn order(&mut self, running: &Running, key: &str, moment: Moment) -> Vec<TcpStream> {
        for bank in &self.banks {
            match moment {
                Moment::Committed if bank.name() != WITHOUT_TOKEN => {
                    bank.asked.fail_next_of(Service::Token, Fault::HeldBefore);
                }
                Moment::Committed | Moment::Sent => bank.asked.fail_next_of(issuing(bank), Fault::HeldBefore),
                Moment::Done | Moment::Answered => bank.asked.fail_next_of(issuing(bank), Fault::HeldAfter),
                Moment::Issued => {}
            }
        }
        let sockets = join_all(self.banks.iter().map(|bank| sent(running.address(), bank, key))).await;
        for bank in &self.banks {
            match moment {
                Moment::Issued => until(async || count_payments(&bank.project, "").await > self.ordered).await,
                _ => tokio::time::timeout(PATIENCE, bank.asked.wait_held(1)).await.expect("the bank is not asked"),
            }
        }
        self.ordered += 1;
        sockets
    }

    /// Kills the server, and whatever banks still have to do they do then.
    async fn kill(&self, running: Running, moment: Moment) {
        if moment != Moment::Answered {
            running.kill();
            self.banks.iter().for_each(|bank| bank.asked.release());
            return;
        }
        let held = HeldWrites::of(&self.database, "payments").await;
        self.banks.iter().for_each(|bank| bank.asked.release());
        until(async || {
            let log = running.log();
            self.banks.iter().all(|bank| log.lines().any(|line| is_answered(line, bank)))
        })
        .await;
        running.kill();
        held.end_of_the_dead();
    }

    /// What a process has begun that is dead now is due when its lease ends; here that is at once.
    fn end_leases(&self) {
        let end = "UPDATE bank_jobs SET due_at = created_at WHERE kind = 'issue' AND due_at IS NOT NULL";
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

    /// Each bank has issued one code that can be paid; it is paid, and nothing is left over.
    async fn is_paid_once(&self, key: &str, moment: Moment) {
        for bank in &self.banks {
            until(async || count_payments(&bank.project, "").await == self.ordered).await;
            let reply = bank.pay(key).await;
            assert_eq!(reply.header("idempotent-replayed"), Some("true"), "{moment:?} {}", reply.text);
            let payment = reply.expect(200);
            let reference = bank.asked.code(code_of(&payment)).unwrap().reference;
            match bank.name() {
                CANNOT_VOID => assert!(payable(bank).contains(&reference), "{moment:?}"),
                _ => until(async || payable(bank) == [reference.clone()]).await,
            }
            bank.pays(&payment).await;
            until(async || status(&bank.project, &payment).await == "paid").await;
            assert_eq!((count_payments(&bank.project, "").await, unapplied(&bank.project).await), (self.ordered, 0));
        }
    }
}

async fn production(engine: &Engine) -> TestProject {
    let new = NewProject { name: "Toko".to_owned(), environment: Environment::Production, merchant_name: None };
    let (project, _) = engine.create_project(new).await.unwrap();
    let approved = ProjectUpdate { approved: Some(true), ..ProjectUpdate::default() };
    engine.update_project(project.id, approved).await.unwrap();
    let (api_key, secret) = engine.create_key(project.id, "first".to_owned()).await.unwrap();
    let nowhere = ([127, 0, 0, 1], 1).into();
    let api = Api::new(nowhere, Some(secret.reveal()));
    TestProject { id: project.id, key_id: api_key.id, key: secret.reveal().to_owned(), api }
}

fn issuing(bank: &Acquired) -> Service {
    if bank.method == Method::Qris { Service::Generate } else { Service::CreateVa }
}

/// Whether a line of the log says that this bank has issued a code.
fn is_answered(line: &str, bank: &Acquired) -> bool {
    let code = if bank.method == Method::Qris { "2004700" } else { "2002700" };
    line.contains("a bank answered a call") && line.contains(&bank.account.to_string()) && line.contains(code)
}

/// The references of the codes that could be paid.
fn payable(bank: &Acquired) -> Vec<String> {
    let codes = bank.asked.codes().into_iter().filter(|code| code.state == CodeState::Unpaid);
    codes.map(|code| code.reference).collect()
}

/// Sends an order of a code, and reads no answer.
async fn sent(address: SocketAddr, bank: &Acquired, key: &str) -> TcpStream {
    let authorization = format!("Bearer {}", bank.project.key);
    let headers =
        [("Authorization", authorization.as_str()), ("Idempotency-Key", key), ("Content-Type", "application/json")];
    let bytes = request_bytes("POST", "/v1/payments", &headers, bank.order().to_string().as_bytes());
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(&bytes).await.unwrap();
    socket
}

/// Kills the server at each moment, and lets a new one go on with a retry of the key or without.
async fn survives_every_moment(mut installation: Installation, retried: bool) {
    for moment in MOMENTS {
        let (running, key) = (installation.start(), fresh_key());
        let before = installation.ordered;
        let sockets = installation.order(&running, &key, moment).await;
        installation.kill(running, moment).await;
        drop(sockets);
        installation.is_sound();
        let asked: Vec<usize> = installation.banks.iter().map(Acquired::asked_to_issue).collect();
        let running = installation.start();
        for bank in &installation.banks {
            let there = before + i64::from(moment == Moment::Issued);
            assert_eq!(count_payments(&bank.project, "").await, there, "{moment:?} {}", bank.name());
        }
        let retries = join_all(installation.banks.iter().filter(|_| retried).map(|bank| bank.pay(&key)));
        let (replies, ()) = futures_util::future::join(retries, async { installation.end_leases() }).await;
        for reply in replies {
            reply.expect(200);
        }
        installation.is_paid_once(&key, moment).await;
        if moment == Moment::Issued {
            let asked_now: Vec<usize> = installation.banks.iter().map(Acquired::asked_to_issue).collect();
            assert_eq!(asked_now, asked, "a code that is there is not asked for again");
        }
        assert_eq!(running.terminate(), Some(0));
        installation.is_sound();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_at_any_moment_of_an_order_gives_a_retry_the_one_payment_on_sqlite() {
    survives_every_moment(Installation::on_sqlite().await, true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_killed_at_any_moment_of_an_order_gives_a_retry_the_one_payment_on_postgres() {
    survives_every_moment(Installation::on_postgres().await, true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_is_finished_without_a_retry_at_whichever_moment_the_server_was_killed_on_sqlite() {
    survives_every_moment(Installation::on_sqlite().await, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_is_finished_without_a_retry_at_whichever_moment_the_server_was_killed_on_postgres() {
    survives_every_moment(Installation::on_postgres().await, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_at_another_node_finishes_what_a_killed_node_has_begun() {
    let mut installation = Installation::on_postgres().await;
    // The first start makes the files that the other node has too.
    installation.start().terminate();
    let elsewhere = tempfile::tempdir().unwrap();
    let data = elsewhere.path().join("lunas-data");
    fs::create_dir(&data).unwrap();
    for file in fs::read_dir(installation.program.data()).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), data.join(file.file_name())).unwrap();
    }
    let other = installation.start_in(&data);
    for moment in [Moment::Committed, Moment::Sent, Moment::Done] {
        let (killed, key) = (installation.start(), fresh_key());
        let sockets = installation.order(&killed, &key, moment).await;
        installation.moved_to(other.address());
        installation.kill(killed, moment).await;
        drop(sockets);
        let retries = join_all(installation.banks.iter().map(|bank| bank.pay(&key)));
        let (replies, ()) = futures_util::future::join(retries, async { installation.end_leases() }).await;
        let payments: Vec<Value> = replies.into_iter().map(|reply| reply.expect(200)).collect();
        assert_eq!(payments.len(), BANKS.len());
        installation.is_paid_once(&key, moment).await;
        installation.is_sound();
    }
    assert_eq!(other.terminate(), Some(0));
}

/// Stops the server in good order while banks work and no client waits.
async fn waits_for_its_calls(mut installation: Installation) {
    let (mut running, key) = (installation.start(), fresh_key());
    drop(installation.order(&running, &key, Moment::Done).await);
    running.signal("TERM");
    until(async || running.log().contains("stopping after the requests in flight")).await;
    installation.banks.iter().for_each(|bank| bank.asked.release());
    assert_eq!(running.ended(), Some(0));
    drop(running);
    installation.is_sound();
    let running = installation.start();
    // No lease has ended, so nobody could have asked meanwhile.
    for bank in &installation.banks {
        assert_eq!((count_payments(&bank.project, "").await, bank.asked_to_issue()), (1, 1), "{}", bank.name());
    }
    installation.is_paid_once(&key, Moment::Done).await;
    assert_eq!(running.terminate(), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_stopped_waits_for_its_calls_to_banks_on_sqlite() {
    waits_for_its_calls(Installation::on_sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_stopped_waits_for_its_calls_to_banks_on_postgres() {
    waits_for_its_calls(Installation::on_postgres().await).await;
}
