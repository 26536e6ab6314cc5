//! A production installation with the binary, and what tests do there.

use std::{
    io::Write,
    process::{Command, Stdio},
    sync::Arc,
};

use domain::audit::AuditLine;
use engine::{Engine, SecretKey, Settings, SystemClock};
use gateway::snap::PrivateKey;
use secrecy::ExposeSecret;
use serde_json::Value;
use store::Store;
use testkit::{Cluster, Database, Program, Ran, Running};

use crate::support::{
    bank_keys::public_bank_key,
    commands::{program, secret_key},
    dashboard::audit_log,
};

pub(super) struct Site {
    pub(super) program: Program,
    pub(super) database: Database,
    secret_key: String,
}

impl Site {
    pub(super) fn on_sqlite() -> Site {
        let program = program();
        let directory = program.directory.path().join("data");
        std::fs::create_dir(&directory).unwrap();
        let database = Database::sqlite_in(&directory);
        Site::new(program, database)
    }

    pub(super) fn on_postgres() -> Site {
        Site::new(program(), Database::Postgres { url: Cluster::shared().fresh_database() })
    }

    fn new(program: Program, database: Database) -> Site {
        let site = Site { program, database, secret_key: secret_key() };
        site.json(&["migrate"]);
        site
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program.served(arguments, &self.secret_key);
        command.env("LUNAS_DATABASE", self.database.url()).env("LUNAS_RATE_LIMIT", "0");
        command
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Ran {
        self.command(arguments).output().unwrap().into()
    }

    #[track_caller]
    pub(super) fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[arguments, &["--json"]].concat()).json(0)
    }

    /// Runs a command that reads `input`.
    pub(super) fn run_with_input(&self, input: &str, arguments: &[&str]) -> Ran {
        let mut command = self.command(arguments);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        // A command that fails before it reads has closed the pipe.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap().into()
    }

    #[track_caller]
    pub(super) fn told_json(&self, input: &str, arguments: &[&str]) -> Value {
        self.run_with_input(input, &[arguments, &["--json"]].concat()).json(0)
    }

    pub(super) fn serve(&self) -> Running {
        Running::start(self.command(&["serve", "--json"]), self.program.directory.path())
    }

    pub(super) fn project(&self, environment: &str) -> String {
        id(&self.json(&["project", "create", "--name", "Toko", "--environment", environment]))
    }

    /// A production project that is approved.
    pub(super) fn approved(&self) -> String {
        let project = self.project("production");
        self.json(&["project", "update", &project, "--approve"]);
        project
    }

    /// An account of BCA that is disabled, and has nothing but its service id.
    pub(super) fn bare_account(&self) -> String {
        let add = ["bank", "add", "--profile", "bca", "--name", "BCA Toko", "--set", "partner_service_id=88899"];
        id(&self.json(&add))
    }

    /// An account of BCA that takes money as soon as it is assigned.
    pub(super) fn enabled_account(&self) -> String {
        let account = self.bare_account();
        self.told_json(&public_bank_key(), &["bank", "key", &account, "--import", "-"]);
        self.json(&["bank", "inbound", &account]);
        self.json(&["bank", "enable", &account]);
        account
    }

    pub(super) fn show(&self, account: &str) -> Value {
        self.json(&["bank", "show", account])
    }

    /// The same installation without a process of its own, to set up what only a running bank can have done.
    pub(super) async fn engine(&self) -> (Store, Engine) {
        let (store, key) = (self.store().await, SecretKey::from_base64(&self.secret_key.clone().into()).unwrap());
        let engine = Engine::new(store.clone(), Arc::new(SystemClock), Settings::default(), key);
        (store, engine)
    }

    pub(super) async fn store(&self) -> Store {
        self.database.open().await
    }

    /// The audit log, newest first.
    pub(super) async fn audit(&self) -> Vec<AuditLine> {
        let store = self.store().await;
        let log = audit_log(&store, None).await;
        store.close().await;
        log
    }
}

pub(super) fn id(answer: &Value) -> String {
    answer["id"].as_str().unwrap().to_owned()
}

/// A private key, which belongs to nobody but its owner.
pub(super) fn private_key() -> String {
    PrivateKey::generate().unwrap().to_pkcs8_pem().expose_secret().to_owned()
}
